"""The order of a row group's rows, compared with what its ``sorting_columns`` say.

Each pair of neighbouring rows is compared by the first column, and where that calls them equal by the next one.

Source: apache/parquet-format, ``parquet.thrift``, ``RowGroup.sorting_columns`` and ``SortingColumn``.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The type stubs of pyarrow leave parts of what is used here unknown.
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pqassay.under_test.file import NotChecked
from pqassay.values.keys import equal, is_nan_key, keys_of, less
from pqassay.values.order import decimal_width, stored_bytes
from pqassay.values.physical import leaf_of, read_chunk, require_physical
from pqassay_spec.parquet.column_order import FLOATING, Order
from pqassay_spec.parquet.schema import SchemaLeaf


@dataclass(frozen=True)
class SortedColumn:
    """A column by which rows are sorted.

    Attributes:
        ordinal: Its position among all leaves.
        leaf: The column, without lists around it.
        order: How its values compare.
        descending, nulls_first: How they are sorted.
    """

    ordinal: int
    leaf: SchemaLeaf
    order: Order
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class Disorder:
    """Where rows are not sorted.

    Attributes:
        row: The first row that should stand before the one before it.
        column: The column that says so.
        before, after: Its PLAIN values in the row before and in this one, ``None`` for null.
        count: How many such rows there are.
    """

    row: int
    column: SortedColumn
    before: bytes | None
    after: bytes | None
    count: int


@dataclass
class _Read:
    """A column of a row group: which rows hold a value, where that stands among the values, and the values."""

    valid: NDArray[np.bool_]
    places: NDArray[np.int64]
    values: Any

    def raw(self, row: int) -> bytes | None:
        if not self.valid[row]:
            return None
        one = self.values.slice(int(self.places[row]), 1)
        return stored_bytes(one.combine_chunks() if isinstance(one, pa.ChunkedArray) else one)


def disorder(file: pq.ParquetFile, row_group: int, columns: Sequence[SortedColumn]) -> Disorder | None:
    """The first row of a row group that is out of order, ``None`` without.

    NaN stands somewhere, nobody says where: a row with one is in order beside any other.

    Args:
        file: A file from `pqassay.values.physical.open_physical`.
        row_group: Position of the row group.
        columns: The columns, the first one counts first.

    Raises:
        NotChecked: A column cannot be decoded.
    """
    undecided: NDArray[np.bool_] | None = None
    wrong: NDArray[np.int8] | None = None
    """For each row behind the first, 1 + the column that puts it out of order, 0 where none does."""
    reads: list[_Read] = []
    for number, column in enumerate(columns):
        read = _read(file, row_group, column)
        reads.append(read)
        if undecided is None or wrong is None:
            undecided = np.ones(max(len(read.valid) - 1, 0), np.bool_)
            wrong = np.zeros(len(undecided), np.int8)
        elif len(undecided) != max(len(read.valid) - 1, 0):
            raise NotChecked(f"the columns of row group {row_group} have different numbers of rows")
        falls, same = _compared(read, column)
        wrong[undecided & falls] = number + 1
        undecided &= same
    if wrong is None or not wrong.any():
        return None
    place = int((wrong != 0).argmax())
    number = int(wrong[place]) - 1
    return Disorder(
        place + 1,
        columns[number],
        reads[number].raw(place),
        reads[number].raw(place + 1),
        int((wrong != 0).sum()),
    )


def _read(file: pq.ParquetFile, row_group: int, column: SortedColumn) -> _Read:
    leaves = [leaf_of(piece) for piece in read_chunk(file, row_group, column.ordinal, column.leaf.name)]
    for leaf in leaves:
        require_physical(leaf, column.leaf)
    valid = np.concatenate([np.asarray(leaf.is_valid(), np.bool_) for leaf in leaves])
    values: Any = pa.chunked_array([leaf.drop_null() for leaf in leaves])
    if len(leaves) == 1 or not pa.types.is_binary(values.type):
        values = pa.concat_arrays(values.chunks)
    return _Read(valid, np.cumsum(valid) - 1, values)


def _compared(read: _Read, column: SortedColumn) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Of each row behind the first: whether it belongs before the one before it, and whether both are equal."""
    before, after = read.valid[:-1], read.valid[1:]
    same = ~before & ~after
    falls = (before & ~after) if column.nulls_first else (~before & after)
    both = np.flatnonzero(before & after)
    if not len(both):
        return falls, same
    width = max(decimal_width(read.values), 1) if column.order is Order.DECIMAL else 0
    keys: Any = keys_of(column.order, read.values, width)  # of long byte arrays, a chunked array
    left, right = keys[:-1], keys[1:]  # of two rows with values, these are neighbours among the values
    pairs = read.places[:-1][both]
    descends = less(left, right) if column.descending else less(right, left)
    equals = equal(left, right)
    if column.order in FLOATING:
        nan = is_nan_key(column.order, keys)
        descends &= ~(nan[:-1] | nan[1:])
    falls[both] = descends[pairs]
    same[both] = equals[pairs]
    return falls, same
