"""The nightly job: check the lake, keep what was found, name its owner, and plan its repair.

    python nightly.py

What is checked, how deep, and what counts is in pqassay.toml; what is known and does not count, in known.json.  The job ends
with the exit code of `pqassay check`: 0 where nothing is wrong that is not known, 1 where something is.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

KNOWN = Path("known.json")


def pqassay(*arguments: str) -> int:
    """Run a command of pqassay; return its exit code."""
    return subprocess.run([sys.executable, "-m", "pqassay", *arguments], check=False).returncode


def baseline() -> tuple[str, ...]:
    """The options that name what is known; none before something was accepted."""
    return ("--baseline", str(KNOWN)) if KNOWN.exists() else ()


def night() -> int:
    """Do the night's work."""
    files = ("--history", "findings", "--metrics", "lake.prom", "--format", "json", "--output", "report.json")
    code = pqassay("check", *baseline(), *files)
    pqassay("report", "report.json", "--format", "markdown", "--output", "summary.md")
    pqassay("history", "findings", "--new")
    pqassay("history", "findings", "--by", "owner")
    if code == 1:
        pqassay("repair", "report.json", "--known")
    return code


def accept() -> int:
    """Accept what is broken now, by the software that wrote it: from now on it is known."""
    return pqassay("baseline", *baseline(), "--output", str(KNOWN), "--by-writer")


if __name__ == "__main__":
    sys.exit(accept() if sys.argv[1:] == ["--accept"] else night())
