"""Use of KLL sketches for a condition: excluding row groups by minimum and maximum, and estimating the number of rows by ranks.

The minimum and the maximum in a sketch are exact, and exclude a row group as statistics do.  Ranks are estimates, which never exclude
a row: they only decide which part of a condition is evaluated first.

A sketch stores numbers as doubles.  Rounding keeps their order and may make two of them equal; a constant that equals a bound
therefore excludes nothing.  A sketch counts neither nulls nor NaN, only the other values.

Source: chapter ``directory.md``, section "Sketches"; chapter ``scan.md``, section "Distinct sets".
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from pqassay_reader.condition.normal import ColumnTest, Condition, folded
from pqassay_reader.condition.values import Sides
from pqassay_reader.directory.sketches import LIBRARY_FAILURES, EntrySketches, read_sketches
from pqassay_reader.query.conditions import Part, share_of
from pqassay_reader.query.facts.footer_facts import FileFacts
from pqassay_reference.directory.making.sketches import library
from pqassay_reference.directory.reading.usable_entries import LeftAside, UsableEntry
from pqassay_reference.errors import Refused
from pqassay_reference.pages.literal_bytes import plain_bytes
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import Source
from pqassay_spec.directory.codes import Granularity, IndexType
from pqassay_spec.directory.sketches import has_quantiles, kll_item
from pqassay_spec.parquet.column_order import FLOATING, type_order
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf

WORTH = 8
"""A sketch is read if its possible savings are this many times its bytes."""

GRANULARITIES = (Granularity.ROW_GROUP, Granularity.FILE)
"""The granularities of sketches to use, in order: row groups first, then the whole file."""


@dataclass
class Quantiles:
    """The sketch of one column in one row group, or in the whole file.

    Attributes:
        leaf: The column.
        sketch: The sketch object of the library.
        described: Number of rows that it describes.
    """

    leaf: SchemaLeaf
    sketch: Any
    described: int

    @cached_property
    def count(self) -> int:
        """The number of values that are neither null nor NaN."""
        return int(self.sketch.n)

    def _numbers(self, test: ColumnTest, sides: Sides) -> list[tuple[str, float | None]]:
        """The sides of an interval with their numbers in the sketch; ``None`` for a side without a number."""
        numbers: list[tuple[str, float | None]] = []
        for name, value in sides:
            raw = plain_bytes(self.leaf, test.kind.constant(value))
            number = math.nan if raw is None else kll_item(self.leaf, raw)
            numbers.append((name, None if math.isnan(number) else number))
        return numbers

    def may_match(self, test: ColumnTest) -> bool:
        """Whether a row may satisfy a test, according to the minimum and the maximum."""
        values = test.values
        may_hold_nan = type_order(self.leaf.element) in FLOATING and self.count < self.described
        if values.null or (may_hold_nan and values.nan):
            return True
        if not self.count:
            return False
        least, greatest = float(self.sketch.get_min_value()), float(self.sketch.get_max_value())
        return any(
            all(
                number is None
                or ((name[0] == "<" or number <= greatest) and (name[0] == ">" or number >= least))
                for name, number in self._numbers(test, sides)
            )
            for sides in values.ends
        )

    def share(self, test: ColumnTest) -> float | None:
        """The expected share of rows that satisfy a test; ``None`` if the sketch cannot estimate it."""
        there = self.count / max(self.described, 1)
        share = 1.0 - there if test.values.null else 0.0
        for sides in test.values.ends if self.count else ():
            ranks = [0.0, 1.0]
            for name, number in self._numbers(test, sides):
                if number is None:
                    return None
                if name[0] != "<":
                    ranks[0] = float(self.sketch.get_rank(number, name == ">"))
                if name[0] != ">":
                    ranks[1] = float(self.sketch.get_rank(number, name != "<"))
            share += (ranks[1] - ranks[0]) * there
        return share


class FileQuantiles:
    """The sketches of some columns of one file.

    Args:
        columns: For each column, by its name in the condition, its leaf and its sketches, the finest first.
        row_counts: Number of rows of each row group.
    """

    def __init__(
        self, columns: Mapping[str, tuple[SchemaLeaf, EntrySketches]], row_counts: Sequence[int]
    ) -> None:
        self._columns, self._row_counts = columns, row_counts
        self._of = cache(self._read)

    def _read(self, name: str, row_group: int) -> Quantiles | None:
        """The readable sketch for a column in a row group, if there is one."""
        if name not in self._columns:
            return None
        leaf, entry = self._columns[name]
        by_file = entry.granularity is Granularity.FILE
        described = sum(self._row_counts) if by_file else self._row_counts[row_group]
        try:
            sketch = library().kll_doubles_sketch.deserialize(entry.sketches[0 if by_file else row_group])
        except LIBRARY_FAILURES:
            return None
        # One of more values cannot be about these rows.
        return None if sketch.n > described else Quantiles(leaf, sketch, described)

    def may_match(self, condition: Condition, row_group: int) -> bool:
        """Whether a row of a row group may satisfy a condition."""

        def of_test(test: ColumnTest) -> bool:
            column = self._of(test.column, row_group)
            return column is None or column.may_match(test)

        return folded(condition, of_test, all, any)

    def shared(self, parts: Sequence[Part], row_group: int) -> list[Part]:
        """The parts of a condition with their expected shares of rows in a row group."""

        def estimate(test: ColumnTest) -> float | None:
            column = self._of(test.column, row_group)
            return None if column is None else column.share(test)

        return [part._replace(share=share_of(part.condition, estimate)) for part in parts]


def file_quantiles(
    source: Source, facts: FileFacts, names: Collection[str], saved: int
) -> tuple[FileQuantiles | None, list[LeftAside]]:
    """The KLL sketches of some columns that are worth reading.

    Args:
        source: The file.
        facts: Its metadata; `pqassay_reader.query.indexes.distinct_sets.file_sets` has read the entries.
        names: The column names in the condition.
        saved: Bytes that sketches may save.

    Returns:
        The sketches (``None`` if there are none, or no library for them), and the ignored entries.

    Raises:
        OSError: The file cannot be read.
    """
    columns: dict[str, tuple[SchemaLeaf, EntrySketches]] = {}
    aside: list[LeftAside] = []
    entries = facts.directory.entries if facts.directory is not None else []
    for name in sorted(names):
        place = facts.leaf_of(name)
        if place is None or not has_quantiles(facts.leaves[place]):
            continue
        entry = _entry_of(entries, facts.leaves[place])
        if entry is None or entry.entry.head.stored_length * WORTH > saved:
            continue
        key = entry.entry.key
        try:
            library()
            if key not in facts.sketches:
                facts.sketches[key] = read_sketches(entry, source, facts.framing, facts.metadata)
            columns[name] = facts.leaves[place], facts.sketches[key]
        except Refused:
            return None, aside
        except FormatError as error:
            aside.append(LeftAside(entry.name, error.reason or str(error)))
    return (FileQuantiles(columns, facts.row_counts) if columns else None), aside


def _entry_of(entries: Sequence[UsableEntry], leaf: SchemaLeaf) -> UsableEntry | None:
    """The entry with the most precise sketches of a column."""
    found = [one for one in entries if one.type is IndexType.KLL and one.leaves[0] == leaf]
    return next((one for kind in GRANULARITIES for one in found if one.granularity is kind), None)


__all__ = ["FileQuantiles", "Quantiles", "file_quantiles"]
