"""Values of a described column in forms for comparison: by bits, as numbers, as raw bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay.values.decoding.chunk_values import ChunkValues, buffer_view, plain
from pqassay.values.decoding.hashes import physical_rows
from pqassay.values.decoding.keys import is_half_type, keys_of
from pqassay_spec.parquet.column_order import FLOATING, Order

_BITS = {1: pa.int8(), 2: pa.int16(), 4: pa.int32(), 8: pa.int64()}
_CODES = {1: "<i1", 2: "<i2", 4: "<i4", 8: "<i8"}


def one_array(values: Any) -> Any:
    """Values without a dictionary, in one array."""
    if isinstance(values, pa.ChunkedArray):
        values = values.cast(pa.large_binary()).combine_chunks()
        if isinstance(values, pa.ChunkedArray):
            values = pa.concat_arrays(values.chunks)
    return plain(values)


def by_bits(values: Any) -> Any:
    """Values in a form whose equality is equality of bytes: integers, booleans, or large byte arrays."""
    values = one_array(values)
    if pa.types.is_boolean(values.type):
        return values
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        return values.view(_BITS[values.type.bit_width // 8])
    return values.cast(pa.large_binary())


def listed(raws: Sequence[bytes], like: pa.DataType) -> Any:
    """Raw values as an array in the form of `by_bits` for the type of ``like``."""
    if pa.types.is_boolean(like):
        return pa.array([raw != b"\0" for raw in raws], like)
    if pa.types.is_integer(like):
        numbers: Any = np.frombuffer(b"".join(raws), _CODES[like.bit_width // 8])
        return pa.array(numbers, like)
    return pa.array(raws, pa.large_binary())


def raws_of(values: Any) -> list[bytes]:
    """The PLAIN bytes of each value, without the length of byte arrays; a boolean is one byte."""
    values = one_array(values)
    if pa.types.is_boolean(values.type):
        return [bytes((value,)) for value in values.to_pylist()]
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        rows = physical_rows(values)
        data, width = rows.tobytes(), rows.shape[1]
        return [data[place : place + width] for place in range(0, len(data), width)]
    found: list[bytes] = values.to_pylist()
    return found


def without_nan(order: Order, values: Any) -> tuple[Any, NDArray[np.bool_]]:
    """The values, in the form of `one_array`, that are not NaN; and a bool mask of them."""
    if order not in FLOATING:
        return values, np.zeros(len(values), np.bool_)
    is_half = is_half_type(values.type)
    nan = np.isnan(buffer_view(values) if is_half else values.to_numpy(zero_copy_only=False))
    return (values.filter(pa.array(~nan)) if nan.any() else values), nan


def doubles(order: Order, values: Any) -> NDArray[np.float64]:
    """Numbers as doubles, decimals without their scale."""
    if order in (Order.HALF, Order.HALF_TOTAL):
        return np.asarray(buffer_view(values), np.float64)
    if order is Order.DECIMAL and not pa.types.is_integer(values.type):
        return np.array(
            [float(int.from_bytes(raw, "big", signed=True)) for raw in raws_of(values)], np.float64
        )
    numbers = values.to_numpy(zero_copy_only=False)
    if order is Order.UNSIGNED:
        numbers = numbers.view(f"u{numbers.dtype.itemsize}")
    return np.asarray(numbers, np.float64)


def wholes(order: Order, values: Any) -> list[int]:
    """Integers; decimals without their scale."""
    if not pa.types.is_integer(values.type):
        return [int.from_bytes(raw, "big", signed=True) for raw in raws_of(values)]
    numbers = values.to_numpy(zero_copy_only=False)
    found: list[int] = (
        numbers.view(f"u{numbers.dtype.itemsize}") if order is Order.UNSIGNED else numbers
    ).tolist()
    return found


def ranks(order: Order, values: Any) -> NDArray[Any]:
    """Numbers that compare like the values in an order, and are equal for equal values."""
    if order in (Order.BYTES, Order.DECIMAL, Order.SIGNED_12) and not pa.types.is_integer(values.type):
        width = 0
        if order is Order.DECIMAL:
            lengths: Any = pc.binary_length(values.cast(pa.large_binary()))
            width = int(pc.max(lengths).as_py() or 1)
        keys: Any = keys_of(order, values, width)
        if not len(keys):
            return np.zeros(0, np.int64)
        encoded: Any = pc.dictionary_encode(keys.cast(pa.large_binary()))
        rank: Any = pc.rank(encoded.dictionary, sort_keys="ascending", tiebreaker="first")
        return np.asarray(np.asarray(rank, np.int64)[np.asarray(encoded.indices, np.int64)], np.int64)
    if order is Order.DECIMAL:
        return np.asarray(values.to_numpy(zero_copy_only=False))
    return np.asarray(keys_of(order, values))


def numbered(values: Any) -> tuple[NDArray[np.int64], list[bytes]]:
    """A number for each value, and the raw bytes for each number."""
    encoded: Any = values if pa.types.is_dictionary(values.type) else pc.dictionary_encode(by_bits(values))
    return np.asarray(encoded.indices, np.int64), raws_of(encoded.dictionary)


def value_starts(values: ChunkValues, rows: Sequence[int]) -> NDArray[np.int64]:
    """The number of non-null values before each of some rows."""
    before = np.concatenate(([0], np.cumsum(values.valid)))
    return np.asarray(before[np.asarray(rows, np.int64)], np.int64)
