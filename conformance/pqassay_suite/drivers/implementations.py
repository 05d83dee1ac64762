"""The shipped drivers: a folder for each, with the commands that start and build it.

The file ``driver.toml`` has these members:

    title = "arrow-go"
    language = "Go"
    needs = ["go"]                                # programs; "python:duckdb": a Python distribution; "java:21": a JDK of a release
    build = ["go build -o {build}/driver ."]      # lines for a shell, run in the folder
    command = ["{build}/driver"]                  # {folder}, {build}, {python} and, with "java:21", {java} are replaced
    decoder = "parquet-java"                      # whose code decodes its files; default: its own
    package = "duckdb"                            # for Python: the distribution whose older releases can be tested
    release_build = ["… {release} …"]             # for other languages: lines that build it with another release of its library
    older = ["1.3.2"]                             # the releases whose results are kept: ``duckdb@1.3.2``
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from pqassay_suite.drivers.driver import MOST_FRESH
from pqassay_suite.drivers.jdk import java_home
from pqassay_suite.drivers.process import end_group

DRIVER = "driver.toml"
EXPECTATIONS = "expectations.toml"
SKELETONS = "skeletons"
JAVA = "java:"
PYTHON = "python:"
VENV = "'{python}' -m venv --clear '{build}/venv'"
VENV_PYTHON = "{build}/venv/bin/python"
REQUIREMENTS = "requirements.txt"

NOT_BUILT = (EXPECTATIONS, "README.md")
"""Files in the folder of a driver that do not affect its build."""

BUILD_SECONDS = 1800.0
"""Time limit in seconds for a line of a build, which may download and compile a lot."""

MARK = ".built"
"""The file that marks a completed build in its folder, with the digest of its sources."""


class ImplementationError(Exception):
    """There is no such driver, or it cannot be built. The message says what to do."""


@dataclass(frozen=True)
class Implementation:
    """A shipped driver.

    Attributes:
        name: The name of its folder, which identifies it.
        folder: The folder of its sources.
        title: Its name in tables.
        language: Its programming language.
        command: The command that starts it; see the module.
        needs: Programs, Python distributions after ``python:``, and the least release of a JDK after ``java:``.
        build: Lines for a shell that build it, in its folder; empty if it needs no build.
        timeout: Seconds of processor time for a request.
        queries: The most queries of a case, for a driver that is slow at queries.
        jobs: Most requests at the same time, for a driver whose answers depend on earlier ones; by default one for each processor.
        fresh: The most bad answers that are retried in a fresh process, for a driver that starts slowly.
        decoder: Name of the code that decodes its files: two drivers that share it are not independent readers.
        package: The Python distribution whose releases `of_release` accepts; empty if none.
        release_build: As ``build``, with another release of its library, ``{release}``; empty if only ``package`` has releases.
        older: Releases of it whose results are kept beside those of the newest.
        release: The release of this object; empty for the one of its sources or its environment.
    """

    name: str
    folder: Path
    title: str
    language: str
    command: tuple[str, ...]
    needs: tuple[str, ...] = ()
    build: tuple[str, ...] = ()
    timeout: float = 10.0
    queries: int | None = None
    jobs: int | None = None
    fresh: int = MOST_FRESH
    decoder: str = ""
    package: str = ""
    release_build: tuple[str, ...] = ()
    older: tuple[str, ...] = ()
    release: str = ""

    @property
    def label(self) -> str:
        """Its name, with the release if it is an older one."""
        return f"{self.name}@{self.release}" if self.release else self.name

    def of_release(self, release: str) -> Implementation:
        """The same driver with another release of its library, in its own environment or build.

        The other Python distributions that it needs are those of this environment.

        Raises:
            ImplementationError: Nothing says how to install another release of its library.
        """
        if self.release_build:
            build = tuple(line.replace("{release}", release) for line in self.release_build)
            return replace(self, release=release, build=build, older=())
        if not self.package:
            raise ImplementationError(f"{self.name}: there are no other releases")
        others = [need.removeprefix(PYTHON) for need in self.needs if need.startswith(PYTHON)]
        pinned = [f"{name}=={metadata.version(name)}" for name in others if name != self.package]
        distributions = " ".join(shlex.quote(one) for one in (f"{self.package}=={release}", *pinned))
        install = "-m pip install --quiet --disable-pip-version-check"
        build = (
            VENV,
            f"PIP_CONSTRAINT= '{VENV_PYTHON}' {install} {distributions}",
        )
        command = tuple(part.replace("{python}", VENV_PYTHON) for part in self.command)
        return replace(self, release=release, build=build, command=command, older=())

    @property
    def build_folder(self) -> Path:
        """The folder of its build."""
        of_skeleton = self.folder.parent.name == SKELETONS
        return builds() / (f"{SKELETONS}-{self.name}" if of_skeleton else self.label)

    def filled(self, text: str) -> str:
        """A text of ``driver.toml`` with its placeholders replaced."""
        places = {"{folder}": str(self.folder), "{build}": str(self.build_folder), "{python}": sys.executable}
        for need in self.needs:
            if need.startswith(JAVA):
                places["{java}"] = str(java_home(int(need.removeprefix(JAVA))) or "")
        for mark, place in places.items():
            text = text.replace(mark, place)
        return text

    @property
    def argv(self) -> list[str]:
        """The command that starts it."""
        return [self.filled(part) for part in self.command]

    @property
    def missing(self) -> list[str]:
        """The requirements that are not installed."""
        return [need for need in self.needs if not _is_here(need)]

    @property
    def is_built(self) -> bool:
        """Whether it can be started: whether its build is up to date with its sources."""
        if not self.build:
            return True
        mark = self.build_folder / MARK
        return mark.is_file() and mark.read_text("ascii") == self.state

    @property
    def state(self) -> str:
        """A digest of its sources and of the sources that all drivers of its language share."""
        total = hashlib.sha256()
        if VENV in self.build:  # the environment is built; the driver itself runs without a build
            requirements = self.folder / REQUIREMENTS
            total.update("\n".join(self.build).encode())
            total.update(requirements.read_bytes() if requirements.is_file() else b"")
            return total.hexdigest()
        shared = self.folder.parent / SKELETONS / self.language.lower()
        for folder in (self.folder, shared):
            for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
                if path.is_file() and "__pycache__" not in path.parts and path.name not in NOT_BUILT:
                    total.update(f"{path.relative_to(self.folder.parent)}\n".encode())
                    total.update(hashlib.sha256(path.read_bytes()).digest())
        return total.hexdigest()

    def make(self, say: Callable[[str], object] = lambda _: None, seconds: float = BUILD_SECONDS) -> None:
        """Build it, unless it is built.

        Args:
            say: Called with each line of the build before it runs.
            seconds: Time for each line.

        Raises:
            ImplementationError: Something is missing, or a line fails or does not end in time.
        """
        if self.missing:
            raise ImplementationError(f"{self.label} needs {', '.join(self.missing)}")
        if self.is_built:
            return
        self.build_folder.mkdir(parents=True, exist_ok=True)
        state = self.state
        for line in self.build:
            say(self.filled(line))
            self._run(line, seconds)
        (self.build_folder / MARK).write_text(state, "ascii")

    def _run(self, line: str, seconds: float) -> None:
        """Run a line of the build. Raises `ImplementationError`, and ends all processes that it started."""
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(  # noqa: S602 - a line of ours for a shell
                self.filled(line),
                shell=True,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
            try:
                code = process.wait(seconds)
            except subprocess.TimeoutExpired:
                message = f"{self.label}: {line} did not end within {seconds:g} s; raise --timeout"
                raise ImplementationError(message) from None
            finally:
                end_group(process.pid)
                process.wait()
            if code:
                output.seek(0)
                last = "\n".join(output.read().decode("utf-8", "replace").strip().splitlines()[-12:])
                raise ImplementationError(f"{self.label}: {line} ended with {code}:\n{last}")


def folder() -> Path:
    """The folder of the implementations: in an installed package beside the modules, in a checkout beside the package.

    Raises:
        ImplementationError: There is no such folder.
    """
    package = Path(__file__).resolve().parents[1]
    for place in (package / "implementations", package.parent / "implementations"):
        if place.is_dir():
            return place
    raise ImplementationError("this installation has no drivers")


def builds() -> Path:
    """The folder for builds of drivers: ``PQASSAY_DRIVERS``, ``.drivers`` in a checkout, or a folder of the user's cache."""
    if chosen := os.environ.get("PQASSAY_DRIVERS"):
        return Path(chosen)
    place = folder()
    if place.parent.name == "conformance":
        return place.parents[1] / ".drivers"
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache, "pqassay", "drivers")


def implementations() -> list[Implementation]:
    """All shipped drivers, by name."""
    return [_read(path) for path in sorted(folder().glob(f"*/{DRIVER}"))]


def implementation(name: str) -> Implementation:
    """The driver with this name, such as ``duckdb``, or ``duckdb@1.3.2`` for a release of its library.

    Raises:
        ImplementationError: There is no such driver.
    """
    known = {one.name: one for one in implementations()}
    base, _, release = name.partition("@")
    if base not in known:
        raise ImplementationError(f"there is no driver {name!r}; there are {', '.join(known)}")
    return known[base].of_release(release) if release else known[base]


def skeletons() -> list[Implementation]:
    """The driver skeletons, one for each language, which is their name."""
    return [_read(path) for path in sorted((folder() / SKELETONS).glob(f"*/{DRIVER}"))]


def skeleton(language: str) -> Implementation:
    """The driver skeleton for a language.

    Raises:
        ImplementationError: There is no skeleton for it.
    """
    known = {one.name: one for one in skeletons()}
    if language.lower() not in known:
        raise ImplementationError(f"there is no skeleton for {language}; there are {', '.join(known)}")
    return known[language.lower()]


def _read(path: Path) -> Implementation:
    members: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in tomllib.loads(path.read_text("utf-8")).items()
    }
    name = path.parent.name
    return Implementation(name=name, folder=path.parent, **{"decoder": name, **members})


def _is_here(need: str) -> bool:
    if need.startswith(JAVA):
        return java_home(int(need.removeprefix(JAVA))) is not None
    kind, _, name = need.rpartition(":")
    if f"{kind}:" != PYTHON:
        return shutil.which(need) is not None
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True
