"""Distrust: what a scan finds out about the claims that its condition meets, when it takes none of them on trust.

A well-formed lie misleads every reader: a bound that is too small, a null count that is false, a bloom filter without a value.  A scan
that distrusts leaves nothing out on the word of a claim.  It reads the columns of the condition whole, one row group after the
other, returns the rows that are there, and names each claim that the values disprove.

Source: chapter ``scan.md``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

SHOWN = 10
"""Lies that a warning shows; of the others it says how many there are."""

NAMED = 3
"""Values that an index lacks and that are named."""


class Structure(StrEnum):
    """A structure that makes claims about values."""

    IDX1 = "IDX1"
    STATISTICS = "statistics"
    BLOOM_FILTER = "bloom filter"
    COLUMN_INDEX = "column index"
    OFFSET_INDEX = "offset index"
    DISTINCT_SET = "distinct set"
    KLL = "KLL sketch"


@dataclass(frozen=True)
class Lie:
    """A claim that is well-formed and false.

    Attributes:
        file: The file.
        row_group: Position of the row group; ``None`` for a claim about the whole file.
        column: The column, its path joined by dots.
        page: Position of the data page; ``None`` for a claim about the whole chunk, or the whole file.
        structure: What makes the claim.
        claim: What it says: ``no value is greater than 12``.
        found: What is there: ``15``.
        lost: Rows that satisfy the condition and that a scan which believes it leaves out.
    """

    file: str
    row_group: int | None
    column: str
    page: int | None
    structure: Structure
    claim: str
    found: str
    lost: int

    def __str__(self) -> str:
        """The lie as a line of a warning."""
        places = [self.file]
        if self.row_group is not None:
            places.append(f"row group {self.row_group}")
        places.append(f"column {self.column}")
        if self.page is not None:
            places.append(f"page {self.page}")
        said = f"{', '.join(places)}: {self.structure}: {self.claim}; found: {self.found}"
        rows = "1 matching row" if self.lost == 1 else f"{self.lost} matching rows"
        return f"{said}; {rows} would be lost" if self.lost else said


class Lies:
    """The lies that a scan has met, each once, in the order in which they were found."""

    def __init__(self) -> None:
        self.found: list[Lie] = []
        self._known: set[Lie] = set()

    def note(self, lie: Lie) -> None:
        """Keep a lie that is new."""
        if lie not in self._known:
            self._known.add(lie)
            self.found.append(lie)


def so_many(count: int, one: str) -> str:
    """A number of things, for people.

    >>> so_many(1, "null"), so_many(2, "null")
    ('1 null', '2 nulls')
    """
    return f"1 {one}" if count == 1 else f"{count} {one}s"


def warning_of(lies: Iterable[Lie]) -> str:
    """A warning for people, a line for each of the first lies; empty without any."""
    told = list(lies)
    if not told:
        return ""
    claims = "1 false claim" if len(told) == 1 else f"{len(told)} false claims"
    first = f"the query met {claims}; the rows that are returned are right all the same"
    lines = [first, *map(str, told[:SHOWN])]
    if len(told) > SHOWN:
        lines.append(f"and {len(told) - SHOWN} more")
    return "\n  ".join(lines)


__all__ = ["NAMED", "SHOWN", "Lie", "Lies", "Structure", "so_many", "warning_of"]
