"""Comparison of the order of a file's rows with the claim of its table, across row groups.

Points that the Iceberg specification leaves open are accepted: zeros of both signs in any order, and NaN with
the sign set.  Other NaN is greater than every number.  Texts compare by the bytes of their UTF-8.

Source: the Iceberg specification, "Sorting".
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from pqassay.tables.claims import SortedBy
from pqassay.under_test.file import NotChecked
from pqassay.values.claims.row_order import RowsCompared, with_nulls
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay.values.decoding.extremes import comparable_keys
from pqassay.values.decoding.keys import decimal_width, equal, less
from pqassay_spec.parquet.column_order import FLOATING, Order, key, shown, type_order
from pqassay_spec.parquet.thrift import Type
from pqassay_tables.values.transforms import transformed


class Cell(NamedTuple):
    """The value of one row: its sort key, ``None`` for null, and its text for messages."""

    value: Any
    shown: str


class SortedRows(NamedTuple):
    """The rows of a row group by one column.

    Attributes:
        compared: The comparison of each row with the previous one.
        first, last: The first and the last row; ``None`` without rows.
    """

    compared: RowsCompared
    first: Cell | None
    last: Cell | None


def sorted_rows(values: ChunkValues, column: SortedBy) -> SortedRows:
    """Compare each row of a chunk with the previous one. Raises `NotChecked`."""
    if values.chunk.leaf.max_repetition_level:
        raise NotChecked(f"the format defines no order for lists, as in column {column.name}", "file")
    order = type_order(values.chunk.leaf.element)
    is_identity = column.transform == "identity"
    if is_identity:
        if order is None:
            raise NotChecked(f"the format defines no order for column {column.name}", "file")
        keys = _keys(values, order)
        results: Any = None
    else:
        keys = results = transformed(values, column.transform, column.type)
        if isinstance(keys, (pa.Array, pa.ChunkedArray)) and pa.types.is_fixed_size_binary(keys.type):
            keys = keys.cast(pa.binary())
    left, right = keys[:-1], keys[1:]
    descends = less(left, right) if column.descending else less(right, left)
    equals = equal(left, right)
    if isinstance(keys, np.ndarray) and keys.dtype.kind == "f":
        nan, negative = np.isnan(keys), np.signbit(keys)
        great = nan & ~negative
        falls = great[:-1] & ~nan[1:] if not column.descending else ~nan[:-1] & great[1:]
        descends = (descends & ~(nan[:-1] | nan[1:])) | falls
        equals = (equals & (negative[:-1] == negative[1:])) | (great[:-1] & great[1:])
    falls, same = with_nulls(values, np.asarray(descends), np.asarray(equals), nulls_first=column.nulls_first)
    first = last = None
    if values.entries:
        first, last = (_cell(values, row, column, results) for row in (0, values.entries - 1))
    return SortedRows(RowsCompared(values, falls, same), first, last)


def shown_cell(values: ChunkValues, raw: bytes | None) -> str:
    """A value of a column for messages."""
    return "null" if raw is None else shown(type_order(values.chunk.leaf.element), raw)


def out_of_order_by(columns: Sequence[SortedBy], before: Sequence[Cell], after: Sequence[Cell]) -> int | None:
    """The column that puts a row out of order after another row; ``None`` if the rows are in order."""
    for place, (column, one, other) in enumerate(zip(columns, before, after, strict=True)):
        if one.value is None or other.value is None:
            if one.value is None and other.value is None:
                continue
            is_right = (one.value is None) is column.nulls_first
            return None if is_right else place
        low, high = (other.value, one.value) if column.descending else (one.value, other.value)
        if _is_less(high, low):
            return place
        if not _is_same(low, high):
            return None
    return None


def _keys(values: ChunkValues, order: Order) -> Any:
    width = max(decimal_width(values.values), 1) if order is Order.DECIMAL else 0
    stored: Any = values.values
    if order in FLOATING and pa.types.is_dictionary(stored.type):
        stored = stored.cast(stored.type.value_type)  # ranks would order NaN differently
    return comparable_keys(order, stored, width)


def _cell(values: ChunkValues, row: int, column: SortedBy, results: Any) -> Cell:
    """The value of a row, for comparison with rows of other row groups."""
    if not values.valid[row]:
        return Cell(None, "null")
    place = int(np.count_nonzero(values.valid[:row]))
    order, raw = type_order(values.chunk.leaf.element), values.raw_of(place)
    text = shown(order, raw)
    if column.transform != "identity":
        one = results[place]
        return Cell(one.as_py() if isinstance(one, pa.Scalar) else one.item(), text)
    if order in FLOATING and values.chunk.leaf.element.type in (Type.FLOAT, Type.DOUBLE):
        return Cell(struct.unpack("<f" if len(raw) == 4 else "<d", raw)[0], text)
    return Cell(None if order is None else key(order, raw), text)


def _is_less(one: Any, other: Any) -> bool:
    if isinstance(one, str):
        return one.encode() < str(other).encode()
    if isinstance(one, float) and isinstance(other, float) and (math.isnan(one) or math.isnan(other)):
        great = math.isnan(other) and math.copysign(1, other) > 0
        return great and not math.isnan(one)
    return bool(one < other)


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        if math.isnan(one) or math.isnan(other):
            return (
                math.isnan(one)
                and math.isnan(other)
                and math.copysign(1, one) == math.copysign(1, other) == 1
            )
        return one == other and math.copysign(1, one) == math.copysign(1, other)
    return bool(one == other)
