"""The report: what a check found, and what it did and did not look at.

Every renderer and every consumer works on these classes; `to_json` and the JSON Schema in ``schemas/`` are derived
from them.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from pqassay_spec.catalogue import Effect, Level, Tier, Verdict

SCHEMA_VERSION = 1

Outcome = Literal["conformant", "nonconformant", "errored"]
"""``errored``: the file could not be judged, through nobody's proven fault; never a kind of pass."""

Threshold = Literal["must", "should"]
"""From which verdict on a finding counts: ``must``: FAIL; ``should``: FAIL and WARN."""

COUNTED: dict[Threshold, tuple[Verdict, ...]] = {"must": ("FAIL",), "should": ("FAIL", "WARN")}

FIRST_POSITIONS = 3
"""Positions that a finding lists; further ones are counted."""


@dataclass(frozen=True)
class Position:
    """One place where a rule is broken.

    ``field`` is a grammar path, ``offset`` and ``length`` are bytes of the file (-1 and 0 where the thing is
    absent), ``expected`` and ``actual`` are for people.
    """

    field: str
    offset: int
    length: int
    expected: str
    actual: str
    row_group: int | None = None
    page: int | None = None


@dataclass(frozen=True)
class Finding:
    """One rule broken in one column of one file.

    ``hexdump`` shows the bytes at the first position with carets under them, so that a report can be
    rendered without the file.  ``remedy`` is a command that mends the file, where there is one.
    """

    rule: str
    level: Level
    verdict: Verdict
    effect: Effect
    path: str
    count: int
    at: list[Position]
    message: str
    column: str | None = None
    remedy: str | None = None
    hexdump: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Coverage:
    """Which rules were tested on a file, which were not and why, and which have no subject in it."""

    tier: Tier
    checked: list[str]
    not_checked: dict[str, str]
    not_applicable: list[str]


@dataclass(frozen=True)
class FileReport:
    """The verdict on one file. ``coverage`` is a key of `Report.coverages`; files often share one."""

    path: str
    kind: str
    size: int
    outcome: Outcome
    coverage: str
    findings: list[Finding]
    error: str | None = None


@dataclass(frozen=True)
class Summary:
    """Counts over all files."""

    files: int
    conformant: int
    nonconformant: int
    errored: int
    findings: dict[str, int]


@dataclass(frozen=True)
class Report:
    """The result of one run of ``pqassay check``."""

    schema_version: int
    kind: Literal["check"]
    pqassay: str
    rules_sha256: str
    coverages: dict[str, Coverage]
    files: list[FileReport]
    summary: Summary

    @property
    def exit_code(self) -> int:
        """0 all conformant, 1 something nonconformant, 4 something could not be judged; the highest wins."""
        if self.summary.errored:
            return 4
        return 1 if self.summary.nonconformant else 0

    def to_json(self, indent: int | None = 2) -> str:
        """The report as JSON text in ASCII. Members that are ``None`` or an empty hexdump are left out."""
        return members_json(self, indent)


def members_json(record: Any, indent: int | None) -> str:
    """A dataclass as JSON text in ASCII. Members whose value is their default ``None`` are left out."""
    return json.dumps(_members(record), indent=indent)


def _members(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = ((f.name, getattr(value, f.name), f.default) for f in dataclasses.fields(value))
        return {
            name: _members(member)
            for name, member, default in pairs
            if member is not None or default is dataclasses.MISSING
        }
    if isinstance(value, list):
        return [_members(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: _members(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, str):  # a file name or a value may hold what JSON readers refuse
        return value.encode("utf-8", "backslashreplace").decode()
    return value


def summarise(files: list[FileReport]) -> Summary:
    """Count outcomes and verdicts."""
    outcomes = [file.outcome for file in files]
    verdicts = [finding.verdict for file in files for finding in file.findings]
    return Summary(
        files=len(files),
        conformant=outcomes.count("conformant"),
        nonconformant=outcomes.count("nonconformant"),
        errored=outcomes.count("errored"),
        findings={verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))},
    )


def json_schema() -> dict[str, Any]:
    """JSON Schema of `Report.to_json`, derived from the classes."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - only this needs it

    schema = TypeAdapter(Report).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
