"""The row groups, and rows by pages, that a condition keeps according to the distinct sets in index directories.

A part of the file is excluded if the condition is false for all values in its set.  A test of one
column, or several joined tests, is evaluated on the values themselves, so every test of a column can be decided.  If
AND joins tests on several columns, one false test excludes a part; if OR joins them, all must be false.

Source: chapter ``directory.md``, section "Distinct sets".
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from pqassay_reader.condition.normal import ColumnTest, Condition, folded
from pqassay_reader.condition.rows import rows_in
from pqassay_reader.directory.arrays import Mask, Sets
from pqassay_reference.directory.reading.blob import Numbers
from pqassay_spec.directory.codes import Granularity
from pqassay_spec.parquet.page_search import Rows, intersection, union

EVERY = tuple(Granularity)
"""Sets of all granularities."""

FAILURES = (pa.ArrowException, ValueError, OverflowError)
"""Errors of Arrow for values of another type than the column's."""


class Truth(NamedTuple):
    """For each part of a set, whether a condition may be true of a row, and whether it is true of all rows."""

    may: Mask
    must: Mask


class ColumnSets:
    """The sets of one column with one granularity, in the type in which conditions compare the column.

    Args:
        sets: The sets as they were read.
        name: The name of the column in conditions.
        kind: The type in which it is compared.

    Attributes:
        values: The values of all sets in that type.

    Raises:
        ArrowException, ValueError: The values are not of that type.
    """

    def __init__(self, sets: Sets, name: str, kind: pa.DataType) -> None:
        self.sets, self.name = sets, name
        self.values = sets.values if sets.values.type == kind else sets.values.cast(kind)
        self._known: dict[ColumnTest, Truth] = {}

    @cached_property
    def _distinct(self) -> tuple[Any, Numbers]:
        """The distinct values, null and NaN; and for each value of each set, its position among them."""
        encoded = self.values.dictionary_encode()
        kind = encoded.dictionary.type
        nan = math.nan if pa.types.is_floating(kind) else None
        values = pa.concat_arrays([encoded.dictionary, pa.nulls(1, kind), pa.array([nan], kind)])
        return values, encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)

    def truth(self, test: ColumnTest) -> Truth:
        """Whether a test may be true for some row of each part, or is true for all rows."""
        if test not in self._known:
            self._known[test] = self._truth(test)
        return self._known[test]

    def _truth(self, test: ColumnTest) -> Truth:
        values, codes = self._distinct
        true = rows_in(test, values)
        counts = np.concatenate([[0], np.cumsum(true[codes])])
        starts, sets = self.sets.starts, self.sets
        found = counts[starts[1:]] - counts[starts[:-1]]
        null, nan = bool(true[-2]), bool(true[-1])
        some = (found > 0) | (sets.nulls & null) | (sets.nans & nan)
        must = (found == np.diff(starts)) & ~(sets.nulls & (not null)) & ~(sets.nans & (not nan))
        return Truth(some | ~sets.complete, must & sets.complete)


class FileSets:
    """All sets of one file, or of many, for excluding row groups or rows.

    Args:
        columns: For each column, by its name in conditions, its sets, which may have several granularities.
        file_of: For each row group the number of its file; sets of whole files are found by it.
        files: Number of files.
    """

    def __init__(self, columns: Mapping[str, Sequence[ColumnSets]], file_of: Numbers, files: int = 1) -> None:
        self.columns, self._file_of, self._files = columns, file_of, files

    def has_any(self, granularities: Collection[Granularity]) -> bool:
        """Whether there is a set with one of the granularities."""
        return any(one.sets.granularity in granularities for sets in self.columns.values() for one in sets)

    def row_groups(self, condition: Condition, granularities: Collection[Granularity]) -> Mask:
        """For each row group, whether a row of it may satisfy a condition.

        Args:
            condition: The condition.
            granularities: The granularities of the sets to use; sets of pages exclude a row group if they
                exclude every page.
        """

        def of_test(test: ColumnTest) -> Mask:
            left = np.ones(len(self._file_of), np.bool_)
            for one in self._of(test.column, granularities):
                left &= self.by_group(one, one.truth(test).may, otherwise=True)
            return left

        return folded(condition, of_test, all_masks, any_mask)

    def certain_row_groups(self, condition: Condition) -> Mask:
        """For each row group, whether all rows of it satisfy a condition."""

        def of_test(test: ColumnTest) -> Mask:
            sure = np.zeros(len(self._file_of), np.bool_)
            for one in self._of(test.column, (Granularity.FILE, Granularity.ROW_GROUP)):
                sure |= self.by_group(one, one.truth(test).must, otherwise=False)
            return sure

        return folded(condition, of_test, all_masks, any_mask)

    def rows(self, condition: Condition, row_group: int, row_count: int) -> Rows:
        """The rows of a row group of one file that all sets keep."""
        everything: Rows = [range(row_count)] if row_count else []

        def of_test(test: ColumnTest) -> Rows:
            parts = (
                _rows(one, one.truth(test).may, row_group, everything) for one in self._of(test.column, EVERY)
            )
            return reduce(intersection, parts, everything)

        return folded(condition, of_test, lambda parts: reduce(intersection, parts, everything), union)

    def by_group(self, column_sets: ColumnSets, mask: Mask, *, otherwise: bool) -> Mask:
        """Convert a mask of the parts of a set to a mask of row groups: true if it is true of any part in the row group.

        Args:
            column_sets: The set.
            mask: The mask of its parts.
            otherwise: The assumed result for a row group that the set does not describe.
        """
        by_file = column_sets.sets.granularity is Granularity.FILE
        places = column_sets.sets.parts.row_group
        answers = np.full(self._files if by_file else len(self._file_of), otherwise)
        answers[places] = False
        answers[places[mask]] = True
        return answers[self._file_of] if by_file else answers

    def _of(self, name: str, granularities: Collection[Granularity]) -> list[ColumnSets]:
        return [one for one in self.columns.get(name, ()) if one.sets.granularity in granularities]


def all_masks(masks: Iterable[Mask]) -> Mask:
    """The conjunction of masks; true everywhere if there are none."""
    return reduce(np.logical_and, masks, np.ones((), np.bool_))


def any_mask(masks: Iterable[Mask]) -> Mask:
    """The disjunction of masks; false everywhere if there are none."""
    return reduce(np.logical_or, masks, np.zeros((), np.bool_))


def _rows(column_sets: ColumnSets, mask: Mask, row_group: int, everything: Rows) -> Rows:
    """The rows of a row group in parts for which the mask is true."""
    parts = column_sets.sets.parts
    if column_sets.sets.granularity is Granularity.FILE:
        return everything if mask[0] else []
    chosen = np.flatnonzero(mask & (parts.row_group == row_group))
    starts = parts.first_row[chosen].tolist()
    ends = (parts.first_row[chosen] + parts.row_count[chosen]).tolist()
    return union([[range(start, end)] for start, end in zip(starts, ends, strict=True) if end > start])


__all__ = ["EVERY", "FAILURES", "ColumnSets", "FileSets", "Truth", "all_masks", "any_mask"]
