"""Build a release into ``dist/``: sdist, wheel, checksums, and the notes from the changelog.

    python tools/release.py            build; refuse if the tree is not clean, or the changelog lacks this version
    python tools/release.py --draft    build the current state, with the notes of *Unreleased*

The wheel is installed into a fresh virtual environment, where it has to judge a good and a damaged file and to test its own
reference. ``dist/`` is replaced as a whole at the end, so a failed build leaves the old one.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from run_checks import PYTHON, ROOT

from pqassay_spec import __version__

CHECKSUMS = "SHA256SUMS"
NOTES = "NOTES.md"

TRIED = (
    (0, ("check", "{golden}/idx1/plain/data.parquet")),
    (1, ("check", "{golden}/sta/max-too-small/data.parquet")),
    (0, ("explain", "PIX-050")),
    (0, ("suite", "run", "--case", "idx1/plain", "--", "{bin}/pqassay", "driver")),
)
"""The trials of the installed command: expected exit status, and arguments."""


class ReleaseError(Exception):
    """The reason why no release was built, and what to do."""


def notes(changelog: str, version: str) -> str:
    """The entries of a version, a section of the changelog without its heading.

    Raises:
        ReleaseError: The section is missing or empty, or *Unreleased* still has entries.
    """
    _, *sections = re.split(r"^## ", changelog, flags=re.MULTILINE)
    texts = {title.split(" - ")[0]: text.strip() for title, _, text in (s.partition("\n") for s in sections)}
    if version != "Unreleased" and texts.get("Unreleased"):
        raise ReleaseError(
            f"CHANGELOG.md has entries under Unreleased. Give them the version {version} and a date."
        )
    if not texts.get(version):
        raise ReleaseError(
            f"CHANGELOG.md has no entries for {version}. Add a section `## {version} - <date>`."
        )
    return texts[version] + "\n"


def checksums(folder: Path) -> str:
    """A line for each file of a folder, in the format of `sha256sum --check`."""
    files = sorted(path for path in folder.iterdir() if path.name != CHECKSUMS)
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A context with a new folder beside a target; at the end, it replaces the target unless an error occurred."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as work:
        made, old = Path(work, "made"), Path(work, "old")
        made.mkdir()
        yield made
        for path in made.iterdir():
            with path.open("rb") as file:
                os.fsync(file.fileno())
        if target.exists():
            target.rename(old)
        made.rename(target)


def run(*command: str | Path, expected: int = 0) -> str:
    """Run a program from the top of the repository; return its output.

    Raises:
        ReleaseError: Its exit status is not the expected one.
    """
    environment = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")
    }
    done = subprocess.run(
        list(map(str, command)),
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != expected:
        raise ReleaseError(
            f"{' '.join(map(str, command))}: exit status {done.returncode}, not {expected}.\n{done.stdout}"
        )
    return done.stdout


def build(out: Path) -> Path:
    """Build the sdist, and from it the wheel, with the commit's time in them; return the wheel."""
    if "SOURCE_DATE_EPOCH" not in os.environ:
        os.environ["SOURCE_DATE_EPOCH"] = run("git", "log", "-1", "--format=%ct").strip()
    run(PYTHON, "-m", "build", "--outdir", out, ROOT)
    (wheel,) = out.glob("*.whl")
    return wheel


def try_wheel(wheel: Path, version: str) -> None:
    """Install a wheel with its requirements into a fresh virtual environment, and use it there."""
    with tempfile.TemporaryDirectory() as work:
        home = Path(work, "venv")
        run(PYTHON, "-m", "venv", home)
        run(
            home / "bin/python", "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wheel
        )  # an editable installation of this repository is not visible there
        package = run(
            home / "bin/python", "-I", "-c", "import pqassay_spec; print(pqassay_spec.__path__[0])"
        ).strip()
        if not Path(package).is_relative_to(home):
            raise ReleaseError(f"the fresh environment imports pqassay_spec from {package}")
        if (printed := run(home / "bin/pqassay", "--version")) != f"pqassay {version}\n":
            raise ReleaseError(f"the installed command prints {printed!r}, not version {version}")
        for status, arguments in TRIED:
            words = [word.format(golden=f"{package}/golden_files", bin=home / "bin") for word in arguments]
            run(home / "bin/pqassay", *words, expected=status)
            print(f"ok  pqassay {' '.join(arguments[:2])} (exit status {status})", flush=True)


def release(target: Path, *, draft: bool) -> None:
    """Build a release into a folder."""
    text = notes((ROOT / "CHANGELOG.md").read_text("utf-8"), "Unreleased" if draft else __version__)
    if not draft and (changed := run("git", "status", "--porcelain")):
        raise ReleaseError(f"The tree has changes that are not committed:\n{changed}")
    with replacing(target) as made:
        wheel = build(made)
        try_wheel(wheel, __version__)
        (made / NOTES).write_text(text, "utf-8")
        (made / CHECKSUMS).write_text(checksums(made), "utf-8")
    for path in sorted(target.iterdir()):
        print(f"{path.stat().st_size:>12,}  {path.relative_to(target.parent)}")
    if not draft:
        print(f"Next: git tag v{__version__}, upload these files, and publish the site (make docs).")


def main(arguments: Sequence[str] | None = None) -> None:
    """Build a release."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draft", action="store_true", help="build an unreleased state, to try it")
    try:
        release(ROOT / "dist", draft=parser.parse_args(arguments).draft)
    except ReleaseError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
