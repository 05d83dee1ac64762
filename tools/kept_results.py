"""Results that ``make matrix`` keeps below ``docs/data/results``: where they are, and which golden files they are about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter

from pqassay.report.reading import parse
from pqassay.report.run.model import RunReport
from pqassay_suite.cases import update_cases
from pqassay_suite.cases.case import GoldenCase
from pqassay_suite.drivers.implementations import Implementation, implementations

RESULTS = Path(__file__).resolve().parent.parent / "docs" / "data" / "results"
"""A folder for each implementation, with a file for each version; and what writers wrote for readers."""

EXCHANGE = "exchange.json"
"""Name of the file about what writers wrote for readers."""

NOT_IN_THE_MATRIX = ("published-idx1", "directory-go")
"""Drivers of formats of our own, which stand for no library."""

ONLY_READERS = ("spark-rows",)
"""Drivers that differ from another in how they read, and write the same files."""


@dataclass(frozen=True)
class Kept:
    """What is kept of a run.

    Attributes:
        name: Name of the implementation's folder.
        path: The file.
        report: What it holds: all results but those that passed.
    """

    name: str
    path: Path
    report: RunReport

    @property
    def is_submitted(self) -> bool:
        """Whether others produced it."""
        return self.report.submitted is not None

    @property
    def version(self) -> str:
        """The version of the library, as its driver says."""
        return self.report.driver.version or "unknown"


@dataclass(frozen=True)
class Trouble:
    """A question about a written file that was answered wrongly."""

    case: str
    operation: str
    outcome: str
    because: str
    actual: str


@dataclass(frozen=True)
class Reading:
    """What a reader made of the files of a writer: questions, right answers, wrong ones."""

    version: str | None
    asked: int
    passed: int
    wrong: list[Trouble] = field(default_factory=list[Trouble])


@dataclass(frozen=True)
class Written:
    """The files of a writer: how many it wrote as wished, and what each reader made of them, by name."""

    files: int
    readers: dict[str, Reading]
    version: str | None = None


def in_the_matrix() -> list[Implementation]:
    """The implementations that come with pqassay and stand for a library."""
    return [one for one in implementations() if one.name not in NOT_IN_THE_MATRIX]


@cache
def asked_cases() -> Sequence[GoldenCase]:
    """Everything that an implementation is asked about: the golden files, and tables to write."""
    return update_cases.asked_cases()


def place(name: str, version: str | None, folder: Path = RESULTS) -> Path:
    """The file of an implementation and its version."""
    stem = re.sub(r"[^\w.+-]", "_", version or "unknown")
    return folder / name / f"{stem}.json"


def results(folder: Path = RESULTS) -> list[Kept]:
    """What is kept, by name, and older versions first.

    Raises:
        UsageError: A file is not a result of a run.
    """
    found: list[Kept] = []
    for path in folder.glob("*/*.json"):
        report = parse(path.read_bytes(), f"{path.parent.name}/{path.name}")
        assert isinstance(report, RunReport), path
        found.append(Kept(path.parent.name, path, report))
    return sorted(found, key=lambda one: (one.name, _numbers(one.version), one.version))


def newest(kept: Sequence[Kept]) -> list[Kept]:
    """The newest version of each implementation, by name."""
    return list({one.name: one for one in kept}.values())


def _numbers(version: str) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", version)]


def exchange(folder: Path = RESULTS) -> dict[str, Written]:
    """What readers made of the files of each writer; nothing if no reader was asked.

    Raises:
        pydantic.ValidationError: The file is of another form.
    """
    path = folder / EXCHANGE
    if not path.exists():
        return {}
    return TypeAdapter(dict[str, Written]).validate_json(path.read_bytes(), strict=True, extra="forbid")
