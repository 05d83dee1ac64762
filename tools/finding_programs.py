"""What the guide pages of findings say, and the programs in them.

A section of such a page begins with its title and with a line that names the software, what was observed and
which rules it is about:

    ### No page holds any value

    **parquet-go 0.32.0** · severity 1, wrong rows from a valid file · [PIX-081](../spec/page_index.md#pix-081)

Its programs are blocks of code, and a block of text holds what those before it print.  Programs that need a library which is
not a Python distribution are built with what building the driver of that library has left, and without any network.

Every program runs in a process with a limit of time, since libraries may hang where files are damaged.  Those that need Spark run in this
one, since they share a session; there Java reads the files.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from python_programs import PythonPrograms

from pqassay_suite.drivers.implementations import Implementation, implementation

ROOT = Path(__file__).resolve().parent.parent
GUIDES = ROOT / "docs" / "guide"
READERS = GUIDES / "findings-readers.md"
WRITERS = GUIDES / "findings-writers.md"
SPARK = "Spark"

SECONDS = 60.0
"""Time for a program in another language than Python; none takes a twentieth of that on a quiet machine."""

BUILD_SECONDS = 400.0
"""Time for building programs."""

_SECTION = re.compile(r"^### ", re.MULTILINE)
_FACTS = re.compile(
    r"\*\*(?P<who>[^*\n]+)\*\* · severity (?P<severity>\d), (?P<observed>[^·\n]+) · (?P<rules>[^\n]+)\n"
)
_BLOCK = re.compile(
    r"^```(?P<language>python|go|rust|java|js|text)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_GO_MODULES = {"github.com/parquet-go/parquet-go": "parquet-go", "github.com/apache/arrow-go/": "arrow-go"}
_OF_LANGUAGE = {"rust": "parquet-rs", "java": "parquet-java"}


@dataclass(frozen=True)
class Program:
    """A block of code.

    Attributes:
        language: As the block names it.
        text: The code.
    """

    language: str
    text: str

    @property
    def needs(self) -> str | None:
        """The driver whose library it uses, `SPARK`, or ``None`` if Python distributions suffice."""
        if self.language == "python":
            return SPARK if "spark." in self.text else None
        if self.language == "go":
            return next(name for module, name in _GO_MODULES.items() if f'"{module}' in self.text)
        if self.language == "js":
            return "hyparquet-writer" if "'hyparquet-writer'" in self.text else "hyparquet"
        return _OF_LANGUAGE[self.language]


@dataclass(frozen=True)
class Demonstration:
    """Programs that are run one after another in one folder.

    Attributes:
        programs: In order.
        printed: What the page says that they print.
    """

    programs: tuple[Program, ...]
    printed: str

    @property
    def needs(self) -> frozenset[str]:
        """What its programs need, see `Program.needs`."""
        return frozenset(program.needs for program in self.programs if program.needs)


@dataclass(frozen=True)
class Finding:
    """A section.

    Attributes:
        title: Its title.
        software: Names with their versions.
        severity: What was observed, see ``pqassay.report.run.model.SEVERITIES``.
        observed: The same in words.
        rules: Ids of the rules, as links.
        text: All that is below the title.
        page: The page.
    """

    title: str
    software: tuple[str, ...]
    severity: int
    observed: str
    rules: str
    text: str
    page: Path

    @property
    def anchor(self) -> str:
        """Where the section is on its page."""
        return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", self.title.lower())).strip("-")

    @cached_property
    def demonstrations(self) -> tuple[Demonstration, ...]:
        """Its programs with what they print."""
        return tuple(_demonstrations(self.text))


def _demonstrations(text: str) -> Iterator[Demonstration]:
    programs: list[Program] = []
    for block in _BLOCK.finditer(text):
        if block["language"] != "text":
            programs.append(Program(block["language"], block["text"]))
        elif programs:
            yield Demonstration(tuple(programs), block["text"])
            programs = []
    if programs:
        raise ValueError(f"no block says what this prints: {programs[0].text}")


def findings(page: Path) -> list[Finding]:
    """The sections of a page, in order.

    Raises:
        ValueError: A section has no line of facts, or a program without what it prints.
    """
    found: list[Finding] = []
    for section in _SECTION.split(page.read_text("utf-8"))[1:]:
        title, _, text = section.partition("\n")
        facts = _FACTS.match(text.lstrip("\n"))
        if facts is None:
            raise ValueError(f"{page.name}: {title!r} does not begin with its software, severity and rules")
        who, severity, observed, rules = facts.groups()
        found.append(Finding(title, tuple(who.split(", ")), int(severity), observed, rules, text, page))
    return found


def helpers(page: Path) -> list[Program]:
    """What is before the sections of a page, for the programs in them."""
    before, *_ = _SECTION.split(page.read_text("utf-8"))
    return [Program(block["language"], block["text"]) for block in _BLOCK.finditer(before)]


Built = Mapping[Program, Sequence[str]]
"""The command that runs a program."""


@dataclass
class Workshop:
    """Where programs are built and run.

    Attributes:
        folder: A folder of its own.
        spark: Makes the session that programs call ``spark``.
        seconds: Time for a program in another language than Python.
    """

    folder: Path
    spark: Callable[[], Any] | None = None
    seconds: float = SECONDS
    _built: dict[str, Built] = field(default_factory=dict[str, "Built"])

    def __enter__(self) -> Self:
        self._python.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self._python.close()

    @cached_property
    def _python(self) -> PythonPrograms:
        return PythonPrograms(self.folder / "python")

    @cached_property
    def _programs(self) -> list[Program]:
        return [
            program
            for page in (READERS, WRITERS)
            for finding in findings(page)
            for demonstration in finding.demonstrations
            for program in demonstration.programs
        ]

    @cached_property
    def _helpers(self) -> list[Program]:
        return [*helpers(READERS), *helpers(WRITERS)]

    def printed(self, demonstration: Demonstration, place: Path) -> str:
        """Run programs in a folder that has the golden files in it.

        Args:
            demonstration: The programs.
            place: The folder, which is the current one for each.

        Returns:
            What they print, or why one fails or does not end in time.

        Raises:
            ValueError: One cannot be built.
        """
        return "".join(self._printed(program, place) for program in demonstration.programs)

    def _printed(self, program: Program, place: Path) -> str:
        if program.language != "python":
            return printed_by(self._command(program), place, self.seconds)
        texts = [*(one.text for one in self._helpers if one.language == "python"), program.text]
        if program.needs != SPARK:
            return self._python.printed(texts, place)
        names: dict[str, Any] = {} if self.spark is None else {"spark": self.spark()}
        stream = io.StringIO()
        with contextlib.chdir(place), contextlib.redirect_stdout(stream):
            for text in texts:
                exec(text, names)
        return stream.getvalue()

    def _command(self, program: Program) -> Sequence[str]:
        """What runs a program, which is built with all others that need the same library."""
        name = program.needs
        assert name is not None
        if name not in self._built:
            folder = self.folder / name
            folder.mkdir(parents=True)
            mine = list(dict.fromkeys(one for one in self._programs if one.needs == name))
            self._built[name] = _BUILDERS[program.language](
                folder,
                implementation(name),
                mine,
                [one.text for one in self._helpers if one.language == program.language],
            )
        return self._built[name][program]


def printed_by(command: Sequence[str], place: Path, seconds: float = SECONDS) -> str:
    """What a command prints in a folder, or why it fails or does not end in time."""
    try:
        ended = subprocess.run(
            command, cwd=place, capture_output=True, text=True, check=False, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return f"not ended after {seconds:g} s\n"
    if ended.returncode:
        return f"exit status {ended.returncode}\n{ended.stderr}{ended.stdout}"
    return ended.stdout


def _go(folder: Path, driver: Implementation, programs: list[Program], _: list[str]) -> Built:
    """One executable for all: each is a package, since linking takes longer than compiling."""
    required = [
        line for line in (driver.folder / "go.mod").read_text().splitlines() if "pqassay/protocol" not in line
    ]
    (folder / "go.mod").write_text("\n".join(["module findings", *required[1:], ""]))
    (folder / "go.sum").write_bytes((driver.folder / "go.sum").read_bytes())
    names = [f"finding{number}" for number in range(len(programs))]
    for name, program in zip(names, programs, strict=True):
        (folder / name).mkdir()
        text = program.text.replace("package main\n", f"package {name}\n").replace(
            "func main()", "func Main()"
        )
        (folder / name / "finding.go").write_text(text)
    imports = "".join(f'import "findings/{name}"\n' for name in names)
    cases = "".join(f'\tcase "{name}":\n\t\t{name}.Main()\n' for name in names)
    (folder / "main.go").write_text(
        f'package main\n\nimport "os"\n{imports}\nfunc main() {{\n\tswitch os.Args[1] {{\n{cases}\t}}\n}}\n'
    )
    # With -trimpath the packages of the driver's build are found in the cache.
    _build(["go", "build", "-trimpath", "-o", "findings", "."], folder, GOPROXY="off", GOFLAGS="-mod=mod")
    return {program: [str(folder / "findings"), name] for name, program in zip(names, programs, strict=True)}


def _rust(folder: Path, driver: Implementation, programs: list[Program], _: list[str]) -> Built:
    """One executable for each, linked with the crates that the driver was built with."""
    crates = driver.build_folder / "release" / "deps"
    linked = ["-L", f"dependency={crates}"]
    for crate in ("parquet", "arrow_array"):
        # A build of other versions leaves its own there.
        library = max(crates.glob(f"lib{crate}-*.rlib"), key=lambda path: path.stat().st_mtime)
        linked += ["--extern", f"{crate}={library}"]
    commands: dict[Program, Sequence[str]] = {}
    for number, program in enumerate(programs):
        source = folder / f"finding{number}.rs"
        source.write_text(program.text)
        _build(["rustc", "--edition", "2024", *linked, source.name, "-o", source.stem], folder)
        commands[program] = [str(folder / source.stem)]
    return commands


def _java(folder: Path, driver: Implementation, programs: list[Program], shared: list[str]) -> Built:
    """All compiled at once, and started as the driver is."""
    names: list[str] = []
    for text in (*shared, *(program.text for program in programs)):
        (name,) = re.findall(r"^final class (\w+)", text, re.MULTILINE)
        (folder / f"{name}.java").write_text(text)
        names.append(name)
    libraries = f"{driver.build_folder}/lib/*"
    _build(["javac", "-proc:none", "-cp", libraries, *(f"{name}.java" for name in names)], folder)
    java = [
        "java",
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-Xlog:disable",
        "-cp",
        f"{folder}:{libraries}",
    ]
    return {program: [*java, name] for name, program in zip(names[len(shared) :], programs, strict=True)}


def _js(folder: Path, driver: Implementation, programs: list[Program], _: list[str]) -> Built:
    """Modules beside the packages that the driver uses."""
    (folder / "node_modules").symlink_to(driver.build_folder / "node_modules")
    commands: dict[Program, Sequence[str]] = {}
    for number, program in enumerate(programs):
        source = folder / f"finding{number}.mjs"
        source.write_text(program.text)
        commands[program] = ["node", str(source)]
    return commands


_BUILDERS = {"go": _go, "rust": _rust, "java": _java, "js": _js}


def _build(command: Sequence[str], folder: Path, **environment: str) -> None:
    try:
        ended = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=BUILD_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"{' '.join(command[:2])} did not end within {BUILD_SECONDS:g} s") from None
    if ended.returncode:
        raise ValueError(f"{' '.join(command[:2])} ended with {ended.returncode}:\n{ended.stderr}")
