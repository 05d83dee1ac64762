"""The stored results of ``make matrix`` in ``docs/data/results``: their places, and the golden files that they are about."""

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
"""A folder for each implementation with a file for each version, and a file about exchanges between writers and readers."""

EXCHANGE = "exchange.json"
"""The name of the file about exchanges between writers and readers."""

NOT_IN_THE_MATRIX = ("published-idx1", "directory-go")
"""Drivers of our own formats, which represent no library."""

ONLY_READERS = ("spark-rows",)
"""Drivers that differ from another only in reading, and write the same files."""


@dataclass(frozen=True)
class Kept:
    """The stored result of a run.

    Attributes:
        name: Name of the implementation's folder.
        path: The file.
        report: The report without passed results.
    """

    name: str
    path: Path
    report: RunReport

    @property
    def is_submitted(self) -> bool:
        """Whether it was submitted by others."""
        return self.report.submitted is not None

    @property
    def version(self) -> str:
        """The version of the library, according to its driver."""
        return self.report.driver.version or "unknown"


@dataclass(frozen=True)
class Trouble:
    """A wrong answer about a written file."""

    case: str
    operation: str
    outcome: str
    because: str
    actual: str


@dataclass(frozen=True)
class Reading:
    """The answers of a reader about files of a writer: questions, right answers, wrong ones."""

    version: str | None
    asked: int
    passed: int
    wrong: list[Trouble] = field(default_factory=list[Trouble])


@dataclass(frozen=True)
class Written:
    """The files of a writer: the number of valid ones, and the answers of each reader, by name."""

    files: int
    readers: dict[str, Reading]
    version: str | None = None


def in_the_matrix() -> list[Implementation]:
    """The implementations that come with pqassay and represent a library."""
    return [one for one in implementations() if one.name not in NOT_IN_THE_MATRIX]


@cache
def asked_cases() -> Sequence[GoldenCase]:
    """All cases for implementations: the golden files, and tables to write."""
    return update_cases.asked_cases()


def place(name: str, version: str | None, folder: Path = RESULTS) -> Path:
    """The result file of an implementation and its version."""
    stem = re.sub(r"[^\w.+-]", "_", version or "unknown")
    return folder / name / f"{stem}.json"


def results(folder: Path = RESULTS) -> list[Kept]:
    """The stored results by name, older versions first.

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
    """The answers of readers about the files of each writer; empty if no reader was asked.

    Raises:
        pydantic.ValidationError: The file has another form.
    """
    path = folder / EXCHANGE
    if not path.exists():
        return {}
    return TypeAdapter(dict[str, Written]).validate_json(path.read_bytes(), strict=True, extra="forbid")
