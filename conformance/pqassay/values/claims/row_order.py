"""The order of a row group's rows by some of its columns.

Each pair of neighboring rows is compared by the first column and, if equal there, by the next column.

Source: apache/parquet-format, ``parquet.thrift``, ``RowGroup.sorting_columns`` and ``SortingColumn``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pqassay.under_test.file import NotChecked
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay.values.decoding.extremes import comparable_keys
from pqassay.values.decoding.keys import decimal_width, equal, is_nan_key, less
from pqassay_spec.parquet.column_order import FLOATING, Order


@dataclass(frozen=True)
class RowsCompared:
    """The comparison of a row group's neighboring rows by one column.

    For each row after the first, it has whether the row belongs before the previous one, and whether both are equal.
    """

    values: ChunkValues
    falls: NDArray[np.bool_]
    same: NDArray[np.bool_]

    def raw(self, row: int) -> bytes | None:
        """The PLAIN bytes of the value in a row; ``None`` for null."""
        valid = self.values.valid
        return self.values.raw_of(int(np.count_nonzero(valid[:row]))) if valid[row] else None


class Descent(NamedTuple):
    """A row that belongs before the previous row.

    Attributes:
        row: Its number in the row group.
        column: The number of the compared column that decides this.
        before, after: The PLAIN bytes of the previous value and of its own value; ``None`` for null.
        total: The number of such rows.
    """

    row: int
    column: int
    before: bytes | None
    after: bytes | None
    total: int


def first_descent(compared: Sequence[RowsCompared]) -> Descent | None:
    """The first row that is out of order; ``None`` if there is none. If two rows are equal in a column, the next column decides.

    Raises:
        NotChecked: The columns have different numbers of rows.
    """
    undecided = np.ones(len(compared[0].falls), np.bool_)
    wrong = np.zeros(len(undecided), np.int8)
    """For each row after the first, 1 + the column that puts it out of order; 0 if it is in order."""
    for place, column in enumerate(compared):
        if len(column.falls) != len(undecided):
            raise NotChecked("the columns have different numbers of rows", "file")
        wrong[undecided & column.falls] = place + 1
        undecided &= column.same
    if not wrong.any():
        return None
    row = int((wrong != 0).argmax()) + 1
    place = int(wrong[row - 1]) - 1
    by = compared[place]
    return Descent(row, place, by.raw(row - 1), by.raw(row), int(np.count_nonzero(wrong)))


def compared(values: ChunkValues, order: Order, *, descending: bool, nulls_first: bool) -> RowsCompared:
    """Compare each row with the previous one, by a column without lists.

    Args:
        values: The values of the column.
        order: The order of the values.
        descending, nulls_first: The direction of the sorting.

    The place of NaN is undefined, so a row with NaN is in order beside any row. Likewise, a zero is in order beside the other zero. Since
    their equality is undefined, no further column is compared.
    """
    width = max(decimal_width(values.values), 1) if order is Order.DECIMAL else 0
    stored: Any = values.values
    if order in FLOATING and pa.types.is_dictionary(stored.type):
        stored = stored.cast(stored.type.value_type)  # ranks would order NaN
    keys: Any = comparable_keys(order, stored, width)
    left, right = keys[:-1], keys[1:]
    descends = less(left, right) if descending else less(right, left)
    equals = equal(left, right)
    if order in FLOATING:
        nan = is_nan_key(order, keys)
        descends &= ~(nan[:-1] | nan[1:])
        equals &= np.signbit(left) == np.signbit(right)
    falls, same = with_nulls(values, descends, equals, nulls_first=nulls_first)
    return RowsCompared(values, falls, same)


def with_nulls(
    values: ChunkValues, descends: NDArray[np.bool_], equals: NDArray[np.bool_], *, nulls_first: bool
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For each row after the first, whether it belongs before the previous row, and whether both are equal.

    Args:
        values: The values.
        descends, equals: The same results for each value after the first, without nulls.
        nulls_first: Whether nulls come first.
    """
    if values.count == values.entries:
        return descends, equals
    before, after = values.valid[:-1], values.valid[1:]
    same = ~before & ~after
    falls = (before & ~after) if nulls_first else (~before & after)
    both = np.flatnonzero(before & after)
    # Two rows with values are neighbors among the values.
    pairs = np.cumsum(values.valid)[both] - 1
    falls[both] = descends[pairs]
    same[both] = equals[pairs]
    return falls, same
