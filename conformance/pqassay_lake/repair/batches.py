"""SQL conditions on many files: the number of files per statement, and partitions that speed up the search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pqassay_lake.repair.open_tables import OpenTable, quoted

AT_ONCE = 500
"""The number of files per statement, which is one commit and whose text must be parsed."""

Made = tuple[list[str], list[str]]
"""Statements and notes of a repair."""

PARTITIONS = 50
"""The number of partitions in a condition; with more, there is no condition, and the statement reads every file of the table."""


def batches(files: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the files in batches, with files of one folder next to each other."""
    ordered = sorted(files)
    for first in range(0, len(ordered), AT_ONCE):
        yield ordered[first : first + AT_ONCE]


def of_partitions(table: OpenTable, files: Sequence[str], alias: str = "") -> str:
    """The condition that a row is in the partitions of some files; empty if it would be useless or is unknown.

    Args:
        table: Their table.
        files: The files, relative to it.
        alias: The prefix of column names.
    """
    partitions = dict.fromkeys(table.live[path].partition for path in files)
    if () in partitions or len(partitions) > PARTITIONS:
        return ""
    each = [
        " AND ".join(
            f"{alias}{quoted(column)} {'IS NULL' if literal is None else f'= {literal}'}"
            for column, literal in one
        )
        for one in partitions
    ]
    return each[0] if len(each) == 1 else " OR ".join(f"({one})" for one in each)
