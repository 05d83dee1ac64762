"""The order of a row group's rows, compared with what its ``sorting_columns`` say.

Each pair of neighbouring rows is compared by the first column, and where that calls them equal by the next one.

Source: apache/parquet-format, ``parquet.thrift``, ``RowGroup.sorting_columns`` and ``SortingColumn``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.fields import in_footer
from pqassay.under_test.file import FileUnderTest, NotChecked
from pqassay.under_test.violation import Violation
from pqassay.values.claims.outcomes import Outcome
from pqassay.values.decoding.chunk_values import ChunkValues, excused
from pqassay.values.decoding.extremes import comparable_keys
from pqassay.values.decoding.keys import decimal_width, equal, is_nan_key, less
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.column_order import FLOATING, Order, shown, type_order
from pqassay_spec.parquet.thrift import RowGroup

SORTED = "PQF-075"


@dataclass(frozen=True)
class SortedColumn:
    """A column by which the rows of a row group are sorted.

    Attributes:
        chunk: The column chunk, without lists around it.
        order: How its values compare.
        descending, nulls_first: How they are sorted.
    """

    chunk: ColumnChunkUnderTest
    order: Order
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class _Compared:
    """Of each row behind the first: whether it belongs before the one before it, and whether both are equal."""

    values: ChunkValues
    falls: NDArray[np.bool_]
    same: NDArray[np.bool_]

    def raw(self, row: int) -> bytes | None:
        """The PLAIN bytes of the value in a row, ``None`` for null."""
        valid = self.values.valid
        return self.values.raw_of(int(np.count_nonzero(valid[:row]))) if valid[row] else None


@dataclass
class _Sorting:
    """The order that a row group claims for its rows, and what is known of the columns that were decoded so far."""

    number: int
    columns: Sequence[SortedColumn]
    is_decided: bool = False
    compared: dict[int, _Compared] = field(default_factory=dict[int, _Compared])

    def violation(self) -> Violation | None:
        """The first row that is out of order, ``None`` without. Raises `NotChecked`."""
        compared = [self.compared[place] for place in range(len(self.columns))]
        undecided = np.ones(len(compared[0].falls), np.bool_)
        wrong = np.zeros(len(undecided), np.int8)
        """For each row behind the first, 1 + the column that puts it out of order, 0 where none does."""
        for place, column in enumerate(compared):
            if len(column.falls) != len(undecided):
                raise NotChecked(
                    f"the columns of row group {self.number} have different numbers of rows", "file"
                )
            wrong[undecided & column.falls] = place + 1
            undecided &= column.same
        if not wrong.any():
            return None
        row = int((wrong != 0).argmax()) + 1
        place = int(wrong[row - 1]) - 1
        return self._violation(row, self.columns[place], compared[place], int(np.count_nonzero(wrong)))

    def _violation(self, row: int, column: SortedColumn, compared: _Compared, count: int) -> Violation:
        before, after = (
            "null" if raw is None else shown(column.order, raw)
            for raw in (compared.raw(row - 1), compared.raw(row))
        )
        how = f"{'descending' if column.descending else 'ascending'}, nulls {'first' if column.nulls_first else 'last'}"
        name = column.chunk.column
        return Violation(
            f"row {row} of row group {self.number} holds {after} in column {name}, the row before it "
            f"{before}, and the rows are said to be sorted by it, {how}",
            in_footer(self.columns[0].chunk.file, f"row_groups[{self.number}].sorting_columns"),
            column=name,
            row_group=self.number,
            expected=f"{name} {how}",
            actual=f"{before} before {after}",
            more=count - 1,
        )


class SortingFamily:
    """The claims of row groups about the order of their rows.

    Attributes:
        outcomes: What came of the rule.
    """

    def __init__(self, file: FileUnderTest) -> None:
        """Gather what they say. Raises what `ColumnChunks.all` does."""
        self._outcome = Outcome()
        self.outcomes = {SORTED: self._outcome}
        self._sortings: dict[int, _Sorting] = {}
        if SORTED in file.left_out:
            return
        chunks = {(chunk.row_group, chunk.ordinal): chunk for chunk in file.part(ColumnChunks).all}
        for number, group in enumerate(file.metadata.row_groups):
            self._outcome.applies |= bool(group.sorting_columns)
            try:
                columns = _sorted_columns(group, number, chunks)
            except (FormatError, NotChecked) as reason:
                self._outcome.hindered(reason)
            else:
                self._sortings[number] = _Sorting(number, columns)

    def claim(self, chunk: ColumnChunkUnderTest) -> _SortingClaim | None:
        """The claim about a chunk: that the rows are sorted by it."""
        sorting = self._sortings.get(chunk.row_group)
        if sorting is None or all(chunk is not column.chunk for column in sorting.columns):
            return None
        return _SortingClaim(chunk, sorting, self._outcome)


class _SortingClaim:
    """A column chunk by which rows are sorted, by itself or with others."""

    needs_values = True

    def __init__(self, chunk: ColumnChunkUnderTest, sorting: _Sorting, outcome: Outcome) -> None:
        self._chunk = chunk
        self._sorting = sorting
        self._outcome = outcome
        self._compared: dict[int, _Compared] = {}
        self._problem: NotChecked | None = None

    def judge(self, values: ChunkValues) -> None:
        """Compare each row with the one before."""
        try:
            for place, column in enumerate(self._sorting.columns):
                if column.chunk is self._chunk:
                    self._compared[place] = _compared(values, column)
        except NotChecked as reason:
            self._problem = reason

    def leave(self, reason: NotChecked) -> None:
        """Note why the values cannot be decoded; if the pages break a rule, that is why."""
        self._problem = excused(self._chunk, reason)

    def settle(self) -> None:
        """Once all columns of the sorting are compared, say what came of it."""
        sorting = self._sorting
        sorting.compared |= self._compared
        self._compared = {}
        if self._problem is not None:
            sorting.is_decided = True
            self._outcome.hindered(self._problem, self._chunk.column)
        elif not sorting.is_decided and len(sorting.compared) == len(sorting.columns):
            sorting.is_decided = True
            try:
                violation = sorting.violation()
                if violation is not None:
                    self._outcome.add(violation)
            except NotChecked as reason:
                self._outcome.hindered(reason)
        if sorting.is_decided:
            sorting.compared.clear()


def _sorted_columns(
    group: RowGroup, number: int, chunks: dict[tuple[int, int], ColumnChunkUnderTest]
) -> list[SortedColumn]:
    """The columns by which a row group is sorted. Raises `NotChecked` and STA-002 where one cannot be followed."""
    columns: list[SortedColumn] = []
    for sorting in group.sorting_columns or []:
        if not 0 <= sorting.column_idx < len(group.columns):
            raise NotChecked(
                f"row group {number} is sorted by leaf {sorting.column_idx}, and there is none", "file"
            )
        chunk = chunks.get((number, sorting.column_idx))
        if chunk is None:
            is_elsewhere = group.columns[sorting.column_idx].file_path is not None
            raise NotChecked(
                f"row group {number} is sorted by a column that is {'stored elsewhere' if is_elsewhere else 'encrypted'}",
                "file" if is_elsewhere else "key",
            )
        # Column orders are those of bounds; of the types that have an order of their own, rows follow that one.
        leaf, order = chunk.leaf, type_order(chunk.leaf.element) or chunk.order
        if order is None:
            raise NotChecked(
                f"how values of column {leaf.name}, {leaf.physical_type}, are sorted, nobody says", "file"
            )
        if leaf.max_repetition_level:
            raise NotChecked(f"how lists are sorted, as in column {leaf.name}, nobody says", "file")
        columns.append(SortedColumn(chunk, order, sorting.descending, sorting.nulls_first))
    return columns


def _compared(values: ChunkValues, column: SortedColumn) -> _Compared:
    """Compare each row with the one before.

    NaN is somewhere, nobody says where: a row with one is in order beside any other.  So is a zero beside one of the
    other sign; whether the two are equal, nobody says either, so that no further column decides between them.
    """
    width = max(decimal_width(values.values), 1) if column.order is Order.DECIMAL else 0
    stored: Any = values.values
    if column.order in FLOATING and pa.types.is_dictionary(stored.type):
        stored = stored.cast(stored.type.value_type)  # ranks would give NaN a place
    keys: Any = comparable_keys(column.order, stored, width)
    left, right = keys[:-1], keys[1:]
    descends = less(left, right) if column.descending else less(right, left)
    equals = equal(left, right)
    if column.order in FLOATING:
        nan = is_nan_key(column.order, keys)
        descends &= ~(nan[:-1] | nan[1:])
        equals &= np.signbit(left) == np.signbit(right)
    falls, same = with_nulls(values, descends, equals, nulls_first=column.nulls_first)
    return _Compared(values, falls, same)


def with_nulls(
    values: ChunkValues, descends: NDArray[np.bool_], equals: NDArray[np.bool_], *, nulls_first: bool
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Of each row behind the first, whether it belongs before the one before it, and whether both are equal.

    Args:
        values: The values.
        descends, equals: The same of each value behind the first, nulls left out.
        nulls_first: Where nulls belong.
    """
    if values.count == values.entries:
        return descends, equals
    before, after = values.valid[:-1], values.valid[1:]
    same = ~before & ~after
    falls = (before & ~after) if nulls_first else (~before & after)
    both = np.flatnonzero(before & after)
    # Of two rows with values, these are neighbours among the values.
    pairs = np.cumsum(values.valid)[both] - 1
    falls[both] = descends[pairs]
    same[both] = equals[pairs]
    return falls, same
