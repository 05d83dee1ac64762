"""Sort keys: values and bounds in a form that numpy or Arrow compares in the order of the column.

Numbers become numpy arrays; bytes, decimals and timestamps become Arrow arrays of bytes that compare from the first byte on.
`pqassay_spec.parquet.column_order.key` defines the key of one value; tests compare both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay.under_test.file import NotChecked
from pqassay.values.decoding.hashes import buffer_of, physical_rows
from pqassay_spec.parquet.column_order import FLOATING, SIGN, TOTAL, WIDTHS, Order
from pqassay_spec.parquet.thrift import Type

Keys: TypeAlias = "NDArray[Any] | pa.Array[Any]"
"""Sort keys: numbers, or bytes."""

INT96_WIDTH = WIDTHS[Type.INT96]
DAYS_FROM = 8
"""The offset of the days in an INT96 timestamp, after the nanoseconds."""

HALF_WIDTH = 2

MOST_DECIMAL = 256
"""The size in bytes of the longest decimals that are compared; no decimal type has more than 32."""


def keys_of(order: Order, values: Any, width: int = 0) -> Keys:
    """The keys of values.

    Args:
        order: Their order.
        values: Values without nulls and without a dictionary, as returned by `pqassay.values.decoding.physical`.
        width: The size in bytes to which decimals are extended; 0 for the size of the longest.

    Raises:
        NotChecked: The type of the values does not have this order.
    """
    if order is Order.BOOLEAN:
        return np.asarray(values.cast(pa.uint8()))
    if order is Order.BYTES:
        texts: Keys = values.cast(pa.large_binary()) if pa.types.is_fixed_size_binary(values.type) else values
        return texts
    if order is Order.DECIMAL:
        return _signed_rows(extended(values, width or max(decimal_width(values), 1)), 0)
    if order is Order.SIGNED_12:
        return _signed_rows(np.array(physical_rows(values)[:, ::-1]), 0)
    if order is Order.TIMESTAMP:
        return _signed_rows(np.array(physical_rows(values)[:, ::-1]), 0, INT96_WIDTH - DAYS_FROM)
    if order in (Order.HALF, Order.HALF_TOTAL):
        if not is_half_type(values.type):
            raise NotChecked(f"values of {values.type} are not FLOAT16", "another rule")
        numbers: NDArray[Any] = physical_rows(values).reshape(-1).view("<f2")
    else:
        numbers = values.to_numpy(zero_copy_only=False)
    return _of_numbers(order, numbers)


def nanoseconds_of(values: Any) -> NDArray[np.int64]:
    """The nanoseconds of INT96 timestamps, without nulls, as stored."""
    return physical_rows(values)[:, :DAYS_FROM].copy().view("<i8")[:, 0]


def decimal_width(array: Any) -> int:
    """The size in bytes of the longest decimal of an array or of its dictionary; 0 if there is none."""
    if pa.types.is_dictionary(array.type):
        return decimal_width(array.dictionary)
    if pa.types.is_fixed_size_binary(array.type):
        return int(array.type.byte_width)
    lengths: Any = pc.binary_length(array)
    return int(pc.max(lengths).as_py() or 0)


def extended(values: Any, width: int) -> NDArray[np.uint8]:
    """Big-endian numbers sign-extended to one width, as rows of bytes.

    Raises:
        NotChecked: A number is longer than `MOST_DECIMAL` bytes.
    """
    if width > MOST_DECIMAL:
        raise NotChecked(f"decimals of {width} bytes are not compared", "tool")
    if pa.types.is_fixed_size_binary(values.type):
        given = physical_rows(values)
        sign = np.where(given[:, :1] >= SIGN, 0xFF, 0).astype(np.uint8)
        return np.concatenate([np.repeat(sign, width - given.shape[1], axis=1), given], axis=1)
    values = values.cast(pa.large_binary())
    ends = buffer_of(values, 1, np.int64)[values.offset : values.offset + len(values) + 1]
    raw = buffer_of(values, 2, np.uint8)
    lengths = np.diff(ends)
    filled = lengths > 0
    result = np.zeros((len(values), width), np.uint8)
    result[filled] = np.where(raw[ends[:-1][filled]] >= SIGN, 0xFF, 0).astype(np.uint8)[:, np.newaxis]
    behind = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    columns = np.repeat(width - lengths, lengths) + behind
    result[np.repeat(np.arange(len(values)), lengths), columns] = raw[ends[0] : ends[0] + len(columns)]
    return result


def is_half_type(kind: pa.DataType) -> bool:
    """Whether values of a type can be FLOAT16."""
    return pa.types.is_fixed_size_binary(kind) and kind.byte_width == HALF_WIDTH


def _of_numbers(order: Order, numbers: NDArray[Any]) -> NDArray[Any]:
    if order is Order.UNSIGNED:
        return numbers.view(f"u{numbers.dtype.itemsize}")
    if order is Order.HALF:
        return numbers.astype(np.float32)
    if order in TOTAL:
        bits = numbers.view(f"i{numbers.dtype.itemsize}")
        return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)
    return numbers


def _signed_rows(rows: NDArray[np.uint8], *signs: int) -> pa.Array[Any]:
    """Rows of big-endian numbers as bytes that compare in the same order; ``signs`` are the first columns of the numbers."""
    for column in signs:
        rows[:, column] ^= SIGN  # so that unsigned comparison orders signed numbers
    content: Any = np.ascontiguousarray(rows)
    return pa.Array.from_buffers(pa.binary(rows.shape[1]), len(rows), [None, pa.py_buffer(content)])


def is_nan_key(order: Order, keys: Keys) -> NDArray[np.bool_]:
    """A bool mask of the keys of NaN."""
    if order not in FLOATING or not isinstance(keys, np.ndarray):
        return np.zeros(len(keys), np.bool_)
    if order not in TOTAL:
        return np.isnan(keys)
    width = keys.dtype.itemsize
    infinity = int(np.array(np.inf, f"f{width}").view(f"i{width}"))
    found: NDArray[np.bool_] = (keys > infinity) | (keys < ~infinity)
    return found


_BOUNDS: dict[Order, dict[int, str]] = {
    Order.BOOLEAN: {1: "u1"},
    Order.SIGNED: {4: "<i4", 8: "<i8"},
    Order.UNSIGNED: {4: "<u4", 8: "<u8"},
    Order.FLOAT: {4: "<f4", 8: "<f8"},
    Order.TOTAL: {4: "<f4", 8: "<f8"},
    Order.HALF: {2: "<f2"},
    Order.HALF_TOTAL: {2: "<f2"},
}


def bound_keys(
    order: Order, raws: Sequence[bytes | None], like: pa.DataType, width: int
) -> tuple[Keys, NDArray[np.bool_]]:
    """The keys of bounds, and a bool mask of the bounds that are usable.

    Not usable are ``None``, a bound that is not a value of its type, and NaN under the type-defined order.

    Args:
        order: The order of the column.
        raws: The bounds.
        like: The type of the values.
        width: The size in bytes to which decimals are extended.
    """
    lengths = np.fromiter((-1 if raw is None else len(raw) for raw in raws), np.int64, len(raws))
    if order is Order.BYTES:
        usable = lengths >= 0
        return pa.array([raw or b"" for raw in raws], pa.large_binary()), usable
    if order is Order.DECIMAL:
        usable = lengths > 0
        filled = pa.array([raw or b"\0" for raw in raws], pa.large_binary())
        return keys_of(order, filled, width), usable
    size = max(like.bit_width // 8, 1)
    usable = lengths == size
    joined = b"".join(raw if raw is not None and len(raw) == size else bytes(size) for raw in raws)
    if order in (Order.SIGNED_12, Order.TIMESTAMP):
        rows = pa.Array.from_buffers(pa.binary(size), len(raws), [None, pa.py_buffer(joined)])
        return keys_of(order, rows), usable
    code = _BOUNDS[order].get(size)
    if code is None:
        return np.zeros(len(raws)), np.zeros(len(raws), np.bool_)
    keys = _of_numbers(order, np.frombuffer(joined, code))
    return keys, usable if order in TOTAL else usable & ~is_nan_key(order, keys)


def less(left: Any, right: Any) -> NDArray[np.bool_]:
    """A bool mask of the keys that are less than the other keys, or than a single other key."""
    return _compared(pc.less, np.less, left, right)


def equal(left: Any, right: Any) -> NDArray[np.bool_]:
    """A bool mask of the keys that equal the other keys, or a single other key."""
    return _compared(pc.equal, np.equal, left, right)


def _compared(
    by_arrow: Callable[..., Any], by_numpy: Callable[..., Any], left: Any, right: Any
) -> NDArray[np.bool_]:
    is_arrow = isinstance(left, (pa.Array, pa.ChunkedArray)) or isinstance(right, pa.Array)
    return np.asarray((by_arrow if is_arrow else by_numpy)(left, right), np.bool_)


def chosen(keys: Keys, places: NDArray[Any]) -> Keys:
    """The keys at some places."""
    if isinstance(keys, np.ndarray):
        found: NDArray[Any] = keys[places]
        return found
    where: Any = pa.array(places)
    return keys.take(where)


def with_signs_turned(values: Any) -> Any:
    """Byte arrays with inverted signs, so that their unsigned order is the signed order of the originals."""
    if pa.types.is_dictionary(values.type):
        return pa.DictionaryArray.from_arrays(values.indices, with_signs_turned(values.dictionary))
    if isinstance(values, pa.ChunkedArray):
        return pa.chunked_array([with_signs_turned(piece) for piece in values.chunks], values.type)
    place = 1 if pa.types.is_fixed_size_binary(values.type) else 2
    turned: Any = buffer_of(values, place, np.uint8) ^ np.uint8(SIGN)
    buffers = values.buffers()
    return pa.Array.from_buffers(
        values.type, len(values), [*buffers[:place], pa.py_buffer(turned)], values.null_count, values.offset
    )
