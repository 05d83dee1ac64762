"""What writing each index costs, beside IDX1: the figures of ``benchmarks/index_write.py --write``."""

from __future__ import annotations

from collections.abc import Iterator

from page_tables import Figures, duration, grid
from page_tables.answers import kinds_of, of_processors, times_of

INDEXES = {
    "IDX1": "IDX1 of nations",
    "distinct set": "distinct sets of nations",
    "zone sums": "sums of amounts",
    "zone sums by nation and year": "sums of amounts by nation and year",
    "the same, of whole numbers": "sums of units by nation and year",
    "the same, of the whole file": "sums of amounts by nation and year, of the file",
}
"""The indexes, as the tables call them."""


def writing(figures: Figures) -> Iterator[str]:
    """The time of each index, as a multiple of IDX1, and of IDX1 and of decoding the columns that IDX1 does not read."""
    taken, kinds = figures["taken"], kinds_of(figures)
    header = ["Index"]
    for called in kinds.values():
        header += [called, "of IDX1", "of IDX1 and of decoding the other columns"]
    rows: list[list[str]] = []
    for name, words in INDEXES.items():
        columns: list[str] = [] if name == "zone sums" else figures["besides"].get(name, [])
        row = [words]
        for kind in kinds:
            idx1, time = taken["IDX1"][kind], taken[name][kind]
            more = taken[f"decoding {', '.join(columns)}"][kind] if columns else 0.0
            row += [duration(time), times_of(time / idx1), times_of(time / (idx1 + more)) if columns else ""]
        rows.append(row)
    yield from grid(header, rows)


def measured_on(figures: Figures) -> Iterator[str]:
    """What ran, and on what."""
    yield (
        f"Measured on {figures['machine']}: a file of {figures['rows']:,} rows in ten row groups; the fastest of {figures['rounds']} rounds that take turns."
    )
    yield from of_processors(figures)


TABLES = {"writing": writing, "writing measured on": measured_on}
