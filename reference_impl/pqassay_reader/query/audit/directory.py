"""The audit of a file's index directory: whether distinct sets hold the values of their parts, and KLL sketches their count and bounds.

What is audited is what the condition meets: the entries that a scan asks that believes them.  A set that lists more than there is, and bounds that are wider
than the values, mislead nobody and are true here; for those there is ``pqassay check``.

Source: chapter ``directory.md``, sections "Distinct sets" and "Sketches"; chapter ``scan.md``, section "Distrust".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay_reader.condition.normal import Condition
from pqassay_reader.condition.rows import column_of
from pqassay_reader.pages.excluding import ColumnSets, FileSets
from pqassay_reader.query.audit.distrust import NAMED, Lie, Structure, so_many
from pqassay_reader.query.audit.row_group import GroupAudit
from pqassay_reader.query.facts.footer_facts import FileFacts
from pqassay_reader.query.indexes.quantiles import FileQuantiles, Quantiles
from pqassay_spec.directory.codes import Granularity
from pqassay_spec.directory.sketches import kll_item
from pqassay_spec.parquet.page_search import Rows

Mask = NDArray[np.bool_]


class _Part(NamedTuple):
    """A set in the row group that is looked at: its number, its page, and its rows there."""

    number: int
    page: int | None
    rows: slice


@dataclass
class _Found:
    """What is in the rows of a set and the set does not say."""

    missing: int = 0
    named: list[Any] = field(default_factory=list[Any])
    nulls: int = 0
    nans: int = 0
    lost: int = 0


@dataclass
class _Numbers:
    """The numbers of a column that one sketch describes."""

    sketch: Quantiles
    count: int = 0
    least: float | None = None
    greatest: float | None = None
    lost: int = 0


class DirectoryAudit:
    """The entries of one file that a condition meets, while its row groups are read.

    Args:
        file: The file.
        facts: What its metadata says.
        predicate: The condition.
        sets: Distinct sets of its columns.
        quantiles: KLL sketches of its columns.
    """

    def __init__(
        self,
        file: str,
        facts: FileFacts,
        predicate: Condition,
        sets: FileSets | None,
        quantiles: FileQuantiles | None,
    ) -> None:
        self._file, self._facts, self._predicate = file, facts, predicate
        self._sets, self._quantiles = sets, quantiles
        self._of_file: dict[str, _Found] = {}
        self._numbers_of_file: dict[str, _Numbers] = {}
        self.is_whole = False
        """Whether all row groups were seen."""

    def see(self, audit: GroupAudit) -> Iterator[Lie]:
        """What is false of a row group or its pages. Raises as `GroupAudit.lies` does."""
        for name, several in self._sets.columns.items() if self._sets is not None else ():
            values = self._values(audit, name)
            for one in several:
                lost = self._lost_to_set(audit, name, one)
                for part in _parts(one, audit.row_group, audit.row_count):
                    is_of_file = one.sets.granularity is Granularity.FILE
                    found = self._of_file.setdefault(name, _Found()) if is_of_file else _Found()
                    _compare(found, one, part.number, values[part.rows])
                    found.lost += int(lost[part.rows].sum())
                    if not is_of_file:
                        place = audit.row_group, part.page
                        yield from self._false(name, one, part.number, found, *place)
        for name in self._quantiles.names if self._quantiles is not None else ():
            yield from self._see_numbers(audit, name)

    def lies(self) -> Iterator[Lie]:
        """What was found false of the whole file so far."""
        for name, found in self._of_file.items():
            assert self._sets is not None
            for one in self._sets.columns[name]:
                if one.sets.granularity is Granularity.FILE:
                    yield from self._false(name, one, 0, found, None, None)
        for name, numbers in self._numbers_of_file.items():
            yield from self._false_numbers(name, numbers, None, is_whole=self.is_whole)

    # -------------------------------------------------------------------------------------------- distinct sets

    def _values(self, audit: GroupAudit, name: str) -> Any:
        """The values of a column in all rows of a row group, as conditions compare them, in one array."""
        place = self._facts.place_of(name)
        table = pa.table([audit.columns[place]], [self._facts.schema.field(place).name])
        values = column_of(table, name)
        return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values

    def _lost_to_set(self, audit: GroupAudit, name: str, one: ColumnSets) -> Mask:
        """The rows that satisfy the condition and are lost to one set: those that all sets together leave out, and it alone, or no other."""
        assert self._sets is not None
        every = _left_out(self._sets, audit, self._predicate)
        if not every.any():
            return every
        counts = self._facts.row_counts
        others = {
            column: [other for other in several if other is not one]
            for column, several in self._sets.columns.items()
        }
        by_itself = _left_out(FileSets({name: [one]}, counts), audit, self._predicate)
        by_others = _left_out(FileSets(others, counts), audit, self._predicate)
        lost: Mask = every & (by_itself | ~by_others)
        return lost

    def _false(
        self, name: str, one: ColumnSets, part: int, found: _Found, row_group: int | None, page: int | None
    ) -> Iterator[Lie]:
        said: list[tuple[str, str]] = []
        if found.missing:
            listed = int(one.sets.starts[part + 1] - one.sets.starts[part])
            names = ", ".join(repr(value)[:40] for value in found.named)
            rows = "1 row with another" if found.missing == 1 else f"{found.missing} rows with others"
            said.append((f"no value but its {listed}", f"{rows}: {names}"))
        if found.nulls:
            said.append(("no null", so_many(found.nulls, "null")))
        if found.nans:
            said.append(("no NaN", f"{found.nans} NaN"))
        for claim, instead in said:
            where = self._file, row_group, name, page
            yield Lie(*where, Structure.DISTINCT_SET, claim, instead, found.lost)

    # ------------------------------------------------------------------------------------------------ sketches

    def _see_numbers(self, audit: GroupAudit, name: str) -> Iterator[Lie]:
        quantiles, ordered = self._quantiles, audit.ordered(name)
        sketch = quantiles.of(name, audit.row_group) if quantiles is not None else None
        if quantiles is None or sketch is None or ordered is None:
            return
        by_file = quantiles.is_of_file(name)
        numbers = self._numbers_of_file.setdefault(name, _Numbers(sketch)) if by_file else _Numbers(sketch)
        rows = 0, audit.row_count
        numbers.count += audit.row_count - ordered.null_count(*rows) - ordered.nan_count(*rows)
        extremes = ordered.extremes(*rows)
        if extremes is not None:
            least, greatest = (kll_item(sketch.leaf, raw) for raw in extremes)
            numbers.least = least if numbers.least is None else min(least, numbers.least)
            numbers.greatest = greatest if numbers.greatest is None else max(greatest, numbers.greatest)
        if not quantiles.only(name).may_match(self._predicate, audit.row_group):
            numbers.lost += audit.matched
        if not by_file:
            yield from self._false_numbers(name, numbers, audit.row_group, is_whole=True)

    def _false_numbers(
        self, name: str, found: _Numbers, row_group: int | None, *, is_whole: bool
    ) -> Iterator[Lie]:
        said: list[tuple[str, str]] = []
        sketch = found.sketch
        if found.count > sketch.count or (is_whole and found.count < sketch.count):
            said.append((so_many(sketch.count, "value"), so_many(found.count, "value")))
        if sketch.count and found.least is not None and found.greatest is not None:
            low, high = sketch.bounds
            if found.least < low:
                said.append((f"no value is less than {low!r}", repr(found.least)))
            if found.greatest > high:
                said.append((f"no value is greater than {high!r}", repr(found.greatest)))
        for claim, instead in said:
            yield Lie(self._file, row_group, name, None, Structure.KLL, claim, instead, found.lost)


def _left_out(sets: FileSets, audit: GroupAudit, predicate: Condition) -> Mask:
    """The rows that satisfy the condition, and that sets leave out."""
    assert audit.matching is not None
    lost: Mask = audit.matching.copy()
    left: Rows = sets.rows(predicate, audit.row_group)
    for rows in left:
        lost[rows.start : rows.stop] = False
    return lost


def _parts(one: ColumnSets, row_group: int, row_count: int) -> Iterator[_Part]:
    """The sets that are about rows of a row group."""
    parts = one.sets.parts
    if one.sets.granularity is Granularity.FILE:
        yield _Part(0, None, slice(0, row_count))
        return
    is_page = one.sets.granularity is Granularity.PAGE
    for page, number in enumerate(np.flatnonzero(parts.row_group == row_group).tolist()):
        start, rows = int(parts.first_row[number]), int(parts.row_count[number])
        yield _Part(number, page if is_page else None, slice(start, start + rows))


def _compare(found: _Found, one: ColumnSets, part: int, values: Any) -> None:
    """Add to what was found what some rows hold and their set does not say."""
    sets = one.sets
    if not sets.nulls[part]:
        found.nulls += values.null_count
    values = values.drop_null()
    if pa.types.is_floating(values.type):
        is_nan = pc.is_nan(values)
        if not sets.nans[part]:
            found.nans += int(pc.sum(is_nan).as_py() or 0)
        values = _zeros_alike(values.filter(pc.invert(is_nan)))
    if not sets.complete[part]:
        return
    start, stop = sets.starts[part : part + 2].tolist()
    missing = values.filter(pc.invert(pc.is_in(values, value_set=_zeros_alike(one.values[start:stop]))))
    found.missing += len(missing)
    if len(found.named) < NAMED:
        named = [*found.named, *pc.unique(missing.slice(0, 1 << 16)).slice(0, NAMED).to_pylist()]
        found.named = list(dict.fromkeys(named))[:NAMED]


def _zeros_alike(values: Any) -> Any:
    """Values with -0.0 as 0.0, which whoever looks for one looks for as well."""
    return pc.add(values, pa.scalar(0.0, values.type)) if pa.types.is_floating(values.type) else values


__all__ = ["DirectoryAudit"]
