"""The least and the greatest of stored values, in the order of their column.

What compares is `pqassay_spec.parquet.column_order.key`, for the two values that are found.  To find them, values are brought into a
form that Arrow compares like the order, all at once.  Tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay_spec.parquet.column_order import SIGN, Order, key


class Extremes(NamedTuple):
    """The PLAIN bytes of the least and of the greatest value, of a byte array without its length."""

    least: bytes
    greatest: bytes


class OrderedValues:
    """Values of one chunk that can be asked for extremes.

    Args:
        values: A chunked array, as `pqassay_reference.pages.stored_values` decodes it, of a leaf outside of lists.
        order: Its order; ``None`` where nobody knows.
    """

    def __init__(self, values: Any, order: Order | None) -> None:
        self._values = values
        self._comparable = None if order is None else comparable(order, values)

    def extremes(self, start: int, stop: int) -> Extremes | None:
        """The extremes of some rows; ``None`` where they hold nothing that has a place in the order. NaN has none."""
        if self._comparable is None:
            return None
        part = self._comparable.slice(start, stop - start)
        found: Any = pc.min_max(part)
        if not found["min"].is_valid:
            return None
        least, greatest = (start + pc.index(part, found[name]).as_py() for name in ("min", "max"))
        return Extremes(self.plain(least), self.plain(greatest))

    def plain(self, row: int) -> bytes:
        """The PLAIN bytes of the value in a row, which is not null."""
        one: Any = self._values.slice(row, 1).combine_chunks()
        one = one.chunk(0) if isinstance(one, pa.ChunkedArray) else one
        if pa.types.is_boolean(one.type):
            one = one.cast(pa.uint8())
        value = one[0].as_py()
        return value if isinstance(value, bytes) else one.to_numpy(zero_copy_only=False).tobytes()

    def null_count(self, start: int, stop: int) -> int:
        """The nulls in some rows."""
        return int(self._values.slice(start, stop - start).null_count)

    def nan_count(self, start: int, stop: int) -> int:
        """The NaN in some rows: what is there and has no place in the order."""
        if self._comparable is None:
            return 0
        return int(self._comparable.slice(start, stop - start).null_count) - self.null_count(start, stop)


def comparable(order: Order, values: Any) -> Any:
    """Values in a form that Arrow compares like their order; what has no place in it is null.

    Args:
        order: Their order.
        values: A chunked array.
    """
    change = _CHANGES.get(order)
    if change is None:
        return values
    return pa.chunked_array([change(piece) for piece in values.chunks or [pa.array([], values.type)]])


def _unsigned(array: Any) -> Any:
    return array.view(pa.uint32() if array.type.bit_width == pa.uint32().bit_width else pa.uint64())


def _halves(array: Any) -> Any:
    return array.view(pa.float16()).cast(pa.float32())


def _numbers(array: Any) -> Any:
    """Floating point numbers without NaN."""
    return pc.if_else(pc.is_nan(array), None, array)


def _ranked(array: Any) -> Any:
    """Floating point numbers without NaN, as integers in their total order."""
    width = array.type.bit_width // 8
    bits = array.view({2: pa.int16(), 4: pa.int32(), 8: pa.int64()}[width])
    most = pa.scalar((1 << 8 * width - 1) - 1, bits.type)
    turned = pc.if_else(pc.less(bits, pa.scalar(0, bits.type)), pc.bit_wise_xor(bits, most), bits)
    numbers = array.cast(pa.float32()) if width == 2 else array
    return pc.if_else(pc.is_nan(numbers), None, turned)


def _decimals(array: Any) -> Any:
    """Big-endian numbers: of one width with their sign turned, else by the ranks of their distinct values."""
    if pa.types.is_fixed_size_binary(array.type):
        rows = _rows(array)
        rows[:, 0] ^= SIGN
        return _bytes_of(rows, array)
    encoded = array.dictionary_encode()
    keys: list[Any] = [key(Order.DECIMAL, raw) for raw in encoded.dictionary.to_pylist()]
    numbers = sorted({one for one in keys if one is not None})
    ranks = {number: rank for rank, number in enumerate(numbers)}
    return pa.array([ranks.get(one) for one in keys], pa.int64()).take(encoded.indices)


def _timestamps(array: Any) -> Any:
    """Nanoseconds and days, least byte first: turned around, and both signs with them."""
    rows = np.ascontiguousarray(_rows(array)[:, ::-1])
    rows[:, [0, 4]] ^= SIGN
    return _bytes_of(rows, array)


def _rows(array: Any) -> NDArray[np.uint8]:
    """Values of one width, a row of bytes for each."""
    width = array.type.byte_width
    raw = np.frombuffer(array.buffers()[1] or b"", np.uint8)[array.offset * width :][: len(array) * width]
    return raw.reshape(len(array), width).copy()


def _bytes_of(rows: NDArray[np.uint8], like: Any) -> Any:
    made: Any = pa.Array.from_buffers(like.type, len(rows), [None, pa.py_buffer(rows.tobytes())])
    return pc.if_else(like.is_valid(), made, None)


_CHANGES: dict[Order, Callable[[Any], Any]] = {
    Order.UNSIGNED: _unsigned,
    Order.FLOAT: _numbers,
    Order.HALF: lambda array: _numbers(_halves(array)),
    Order.TOTAL: _ranked,
    Order.HALF_TOTAL: lambda array: _ranked(array.view(pa.float16())),
    Order.DECIMAL: _decimals,
    Order.TIMESTAMP: _timestamps,
}
"""How values of an order are changed; those of others Arrow compares as they are."""


__all__ = ["Extremes", "OrderedValues", "comparable"]
