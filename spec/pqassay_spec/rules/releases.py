"""Releases of the formats that rules are about: from which one a rule obliges, and what shows that a writer knew it.

The table ``releases.toml`` holds them.  A rule is younger than a file if the file shows nothing of the release from which the
rule obliges, nor of a later one; then its writer may have kept all that was asked of it.

    >>> release("2.13.0").date.isoformat(), sorted(marks_since("2.14.0"))
    ('2026-06-13', ['ColumnOrder.INT96_TIMESTAMP_ORDER', 'Encoding.ALP', 'LogicalType.FILE'])
    >>> marks_since("1.0.0")
    frozenset()

A mark is a member of a struct or enum of the grammar that a file uses; `pqassay_spec.parquet.release_marks` finds them.
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
    """A release of a format, or a feature flag that came without one.

    ``marks`` are members of structs and enums of the grammar that it brought; a release without is taken as known to all writers.
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
    """Every release by its version, those of a format in their order."""
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
    """The marks of a release and of later ones of its format; none if every writer is taken to know it. Raises `KeyError`."""
    own = release(version)
    line = [one for one in releases().values() if one.format == own.format]
    earlier = line[: line.index(own) + 1]
    if not any(one.marks for one in earlier):
        return frozenset()
    return frozenset(mark for one in line[line.index(own) :] for mark in one.marks)
