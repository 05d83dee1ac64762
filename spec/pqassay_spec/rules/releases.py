"""Releases of the formats: the release from which a rule obliges, and the marks that show that a writer knew a release.

The table ``releases.toml`` lists them.  A rule is newer than a file if the file has no mark of the release from which the
rule obliges, nor of a later one; its writer may then have followed all rules of its time.

    >>> release("2.13.0").date.isoformat(), sorted(marks_since("2.14.0"))
    ('2026-06-13', ['ColumnOrder.INT96_TIMESTAMP_ORDER', 'Encoding.ALP', 'LogicalType.FILE'])
    >>> marks_since("1.0.0")
    frozenset()

A mark is a member of a struct or enum of the grammar; `pqassay_spec.parquet.release_marks` lists those that a file uses.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Release:
    """A release of a format, or a feature flag without a release of its own.

    ``marks`` are members of structs and enums of the grammar that it added; all writers are assumed to know a release without marks.
    """

    format: str
    version: str
    date: date | None = None
    marks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Format and version, for people."""
        return (
            f"{self.format} {self.version}"
            if self.date
            else f"the feature flag {self.version} of {self.format}"
        )


@cache
def releases() -> dict[str, Release]:
    """Every release by its version; releases of one format are in order."""
    rows: list[dict[str, Any]] = tomllib.loads(
        (files("pqassay_spec.rules") / "releases.toml").read_text("utf-8")
    )["release"]
    marked: list[dict[str, Any]] = [{**row, "marks": tuple(row.get("marks", ()))} for row in rows]
    return {row["version"]: Release(**row) for row in marked}


def release(version: str) -> Release:
    """A release by its version. Raises `KeyError`."""
    return releases()[version]


@cache
def marks_since(version: str) -> frozenset[str]:
    """The marks of a release and of later ones of its format; empty if all writers are assumed to know it. Raises `KeyError`."""
    own = release(version)
    line = [one for one in releases().values() if one.format == own.format]
    earlier = line[: line.index(own) + 1]
    if not any(one.marks for one in earlier):
        return frozenset()
    return frozenset(mark for one in line[line.index(own) :] for mark in one.marks)
