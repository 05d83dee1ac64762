"""Conditions of SQL on many files: how many one statement takes, and the partitions by which it finds them sooner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pqassay_lake.repair.open_tables import OpenTable, quoted

AT_ONCE = 500
"""Files that one statement takes: it is one commit, and its text has to be parsed."""

Made = tuple[list[str], list[str]]
"""Statements and notes of a repair."""

PARTITIONS = 50
"""Partitions that a condition names; of more, it names none, and the statement looks at every file of the table."""


def batches(files: Sequence[str]) -> Iterator[Sequence[str]]:
    """The files, some at a time; those of one folder next to each other."""
    ordered = sorted(files)
    for first in range(0, len(ordered), AT_ONCE):
        yield ordered[first : first + AT_ONCE]


def of_partitions(table: OpenTable, files: Sequence[str], alias: str = "") -> str:
    """The condition that a row is in a partition of some files; empty if it would say nothing, or is not known.

    Args:
        table: Their table.
        files: The files, relative to it.
        alias: What is before the names of columns.
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
