"""What a condition leaves over of a file by the distinct sets in its index directory: row groups, and rows by pages.

A part of the file is left out if the condition is true for no value that its set allows.  A test of one column, or several joined, is tried
on the values themselves, so that whatever can be asked of a column is decided.  Of tests on several columns joined by AND, one is enough to
leave a part out; joined by OR, each has to.

Source: chapter ``directory.md``, section "Distinct sets".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pqassay_reader.predicate.expressions import TableColumns, columns_named, evaluated
from pqassay_reference.directory.reading.arrays import Mask, Sets
from pqassay_reference.directory.reading.blob import Numbers
from pqassay_spec.directory.codes import Granularity
from pqassay_spec.parquet.page_search import Rows, intersection, union

Left = TypeVar("Left")
"""What is left over: a mask of row groups, or rows."""

EVERY = tuple(Granularity)
"""Sets of all granularities."""

FAILURES = (pa.ArrowException, ValueError, OverflowError)
"""Errors of Arrow for values that are no values of the column's type."""


class Truth(NamedTuple):
    """For each part of a set, whether a condition may be true of a row, is true of one, and is true of all rows."""

    may: Mask
    some: Mask
    must: Mask


class ColumnSets:
    """The sets of one column of one granularity, in the type in which conditions compare the column.

    Args:
        sets: As they were read.
        name: What conditions call the column.
        kind: The type in which it is compared.

    Attributes:
        values: The values of all sets in that type.

    Raises:
        ArrowException, ValueError: The values are none of that type.
    """

    def __init__(self, sets: Sets, name: str, kind: pa.DataType) -> None:
        self.sets, self.name = sets, name
        self.values = sets.values if sets.values.type == kind else sets.values.cast(kind)
        self._known: dict[str, Truth] = {}

    @cached_property
    def _table(self) -> tuple[pa.Table, Numbers]:
        """A row for each distinct value, one for null and one for NaN; and for each value of each set its row."""
        encoded = self.values.dictionary_encode()
        kind = encoded.dictionary.type
        nan = math.nan if pa.types.is_floating(kind) else None
        rows = pa.concat_arrays([encoded.dictionary, pa.nulls(1, kind), pa.array([nan], kind)])
        return pa.table([rows], [self.name]), encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)

    def truth(self, predicate: Sequence[Any]) -> Truth:
        """Whether a condition on this column alone may be true of some row of each part, or is of all.

        Raises:
            Refused: The condition does not fit the column.
        """
        key = repr(predicate)
        if key not in self._known:
            self._known[key] = self._truth(predicate)
        return self._known[key]

    def _truth(self, predicate: Sequence[Any]) -> Truth:
        table, codes = self._table
        mask = pc.fill_null(evaluated(predicate, TableColumns(table)), False)
        mask = mask.combine_chunks() if isinstance(mask, pa.ChunkedArray) else mask
        true: Mask = np.asarray(mask)
        counts = np.concatenate([[0], np.cumsum(true[codes])])
        starts, sets = self.sets.starts, self.sets
        found = counts[starts[1:]] - counts[starts[:-1]]
        null, nan = bool(true[-2]), bool(true[-1])
        some = (found > 0) | (sets.nulls & null) | (sets.nans & nan)
        must = (found == np.diff(starts)) & ~(sets.nulls & (not null)) & ~(sets.nans & (not nan))
        return Truth(some | ~sets.complete, some, must & sets.complete)


class FileSets:
    """All sets of one file, asked for row groups or for rows; or of the row groups of many files, which `by_group` tells apart.

    Args:
        columns: For each column by the name that conditions call it, its sets; of several granularities or none.
        row_counts: Rows of each row group.
    """

    def __init__(self, columns: Mapping[str, Sequence[ColumnSets]], row_counts: Sequence[int]) -> None:
        self.columns, self._row_counts = columns, row_counts

    def has_any(self, granularities: Collection[Granularity]) -> bool:
        """Whether there is a set of one of some granularities."""
        return any(one.sets.granularity in granularities for sets in self.columns.values() for one in sets)

    def row_groups(self, predicate: Sequence[Any], granularities: Collection[Granularity]) -> Mask:
        """For each row group, whether a row of it may satisfy a condition.

        Args:
            predicate: A tree as in the protocol.
            granularities: Of the sets that are asked; those of pages leave out a row group of which they leave out every page.

        Raises:
            Refused: It is no predicate, or does not fit the columns.
        """
        count = len(self._row_counts)

        def ask(name: str, tree: Sequence[Any]) -> Mask:
            left = np.ones(count, np.bool_)
            for one in self._of(name, granularities):
                left &= self.by_group(one, one.truth(tree).may, otherwise=True)
            return left

        return _left(
            predicate, self._known(granularities), ask, np.ones(count, np.bool_), _all_masks, _any_mask
        )

    def certain_row_groups(self, predicate: Sequence[Any]) -> Mask:
        """For each row group, whether all rows of it satisfy a condition: each of its parts that AND joins."""
        count = len(self._row_counts)
        known = self._known((Granularity.FILE, Granularity.ROW_GROUP))

        def certain(tree: Sequence[Any]) -> Mask:
            named = columns_named(tree)
            if len(named) == 1 and named <= known:
                (name,) = named
                sure = np.zeros(count, np.bool_)
                for one in self._of(name, (Granularity.FILE, Granularity.ROW_GROUP)):
                    sure |= self.by_group(one, one.truth(tree).must, otherwise=False)
                return sure
            match tree:
                case ["and", *parts] if parts:
                    return _all_masks([certain(part) for part in parts])
                case ["or", *parts] if parts:
                    return _any_mask([certain(part) for part in parts])
                case _:
                    return np.zeros(count, np.bool_)

        return certain(predicate)

    def row_groups_with_some(self, predicate: Sequence[Any]) -> Mask:
        """For each row group, whether sets of row groups say that a row satisfies a condition on one column."""
        found = np.zeros(len(self._row_counts), np.bool_)
        named = columns_named(predicate)
        if len(named) == 1:
            for one in self._of(next(iter(named)), (Granularity.ROW_GROUP,)):
                found |= self.by_group(one, one.truth(predicate).some, otherwise=False)
        return found

    def rows(self, predicate: Sequence[Any], row_group: int) -> Rows:
        """The rows of a row group that all sets leave over. Raises as `row_groups`."""
        count = self._row_counts[row_group]
        everything: Rows = [range(count)] if count else []

        def ask(name: str, tree: Sequence[Any]) -> Rows:
            left = everything
            for one in self._of(name, EVERY):
                left = intersection(left, _rows(one, one.truth(tree).may, row_group, everything))
            return left

        def met(parts: Sequence[Rows]) -> Rows:
            left = everything
            for part in parts:
                left = intersection(left, part)
            return left

        return _left(predicate, self._known(EVERY), ask, everything, met, union)

    def by_group(self, one: ColumnSets, mask: Mask, *, otherwise: bool) -> Mask:
        """What is true of the parts of a set, for each row group: of any part in it.

        Args:
            one: The set.
            mask: What is true of its parts.
            otherwise: What is taken for true of a row group that the set says nothing about.
        """
        count = len(self._row_counts)
        if one.sets.granularity is Granularity.FILE:
            return np.full(count, bool(mask[0]))
        places = one.sets.parts.row_group
        found = np.full(count, otherwise)
        found[places] = False
        found[places[mask]] = True
        return found

    def _known(self, granularities: Collection[Granularity]) -> frozenset[str]:
        return frozenset(name for name in self.columns if self._of(name, granularities))

    def _of(self, name: str, granularities: Collection[Granularity]) -> list[ColumnSets]:
        return [one for one in self.columns.get(name, ()) if one.sets.granularity in granularities]


def _left(
    predicate: Sequence[Any],
    known: frozenset[str],
    ask: Callable[[str, Sequence[Any]], Left],
    everything: Left,
    met: Callable[[Sequence[Left]], Left],
    joined: Callable[[Sequence[Left]], Left],
) -> Left:
    """What a condition leaves over.

    Args:
        predicate: The condition.
        known: Columns that have sets.
        ask: What a condition on one of them leaves over.
        everything: What is left where nothing is known.
        met: What all parts leave.
        joined: What any part leaves.
    """
    named = columns_named(predicate)
    if len(named) == 1 and named <= known:
        return ask(next(iter(named)), predicate)
    if not named & known:
        return everything

    def left(tree: Sequence[Any]) -> Left:
        return _left(tree, known, ask, everything, met, joined)

    match predicate:
        case ["and", *parts] if parts:
            return met([left(part) for part in _by_column(parts)])
        case ["or", *parts] if parts:
            return joined([left(part) for part in parts])
        case ["not", ["not", part]]:
            return left(part)
        case ["not", ["and", *parts]] if parts:
            return joined([left(["not", part]) for part in parts])
        case ["not", ["or", *parts]] if parts:
            return met([left(part) for part in _by_column([["not", part] for part in parts])])
        case _:
            return everything


def _by_column(parts: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    """Parts that AND joins, with those about the same columns as one: a value has to satisfy them together."""
    alike: dict[frozenset[str], list[Any]] = {}
    for part in parts:
        match part:
            case ["and", *inner] if inner:
                flat = _by_column(inner)
            case _:
                flat = [part]
        for one in flat:
            alike.setdefault(frozenset(columns_named(one)), []).append(one)
    return [
        group[0] if len(group) == 1 else ["and", *group]
        for named, parts_of_it in alike.items()
        for group in ([parts_of_it] if len(named) == 1 else [[one] for one in parts_of_it])
    ]


def _all_masks(masks: Sequence[Mask]) -> Mask:
    found: Mask = np.logical_and.reduce(np.stack(masks))
    return found


def _any_mask(masks: Sequence[Mask]) -> Mask:
    found: Mask = np.logical_or.reduce(np.stack(masks))
    return found


def _rows(one: ColumnSets, mask: Mask, row_group: int, everything: Rows) -> Rows:
    """The rows of a row group that are in parts of which something is true."""
    parts = one.sets.parts
    if one.sets.granularity is Granularity.FILE:
        return everything if mask[0] else []
    chosen = np.flatnonzero(mask & (parts.row_group == row_group))
    starts = parts.first_row[chosen].tolist()
    ends = (parts.first_row[chosen] + parts.row_count[chosen]).tolist()
    return union([[range(start, end)] for start, end in zip(starts, ends, strict=True) if end > start])


__all__ = ["EVERY", "FAILURES", "ColumnSets", "FileSets", "Truth"]
