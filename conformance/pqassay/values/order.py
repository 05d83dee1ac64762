"""The order of a column's values, and bounds compared with them, batch by batch.

Parquet's bounds are bytes; which of two values is less, the column's type says: signed or unsigned numbers, IEEE numbers
among which NaN stands nowhere, bytes from the first on, decimals as big-endian numbers.

Source: apache/parquet-format, ``parquet.thrift``, ``ColumnOrder`` (type-defined order).
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The type stubs of pyarrow leave parts of what is used here unknown.
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pqassay.under_test.file import NotChecked
from pqassay.values.hashes import buffer_of, physical_rows
from pqassay_spec.parquet.column_order import SIGN, Order, key

MOST_DECIMAL = 256
"""Bytes of the longest decimals that are compared; no type has more than 32."""


# -------------------------------------------------------------------------------------------- many values at once


def comparable(order: Order, array: pa.Array[Any], width: int = 0) -> pa.Array[Any]:
    """Values in such a type that pyarrow compares them in the order; nulls stay.

    Args:
        order: Their order.
        array: The values as they are stored, see `pqassay.values.physical`.
        width: Bytes to which decimals are extended.

    Raises:
        NotChecked: There are decimals of more than `MOST_DECIMAL` bytes.
    """
    if order is Order.BOOLEAN:
        return array.cast(pa.uint8())
    if order is Order.UNSIGNED:
        return array.view(pa.uint32() if array.type.bit_width == 32 else pa.uint64())
    if order is Order.BYTES:
        return array.cast(pa.binary()) if pa.types.is_fixed_size_binary(array.type) else array
    if order not in (Order.HALF, Order.DECIMAL):
        return array
    values = array.drop_null()
    if order is Order.HALF:
        halves = physical_rows(values).reshape(-1).view("<f2").astype(np.float32)
        return _with_nulls_of(array, pa.array(halves))
    rows = extended(values, max(width, 1))
    rows[:, 0] ^= SIGN  # so that unsigned comparison orders signed numbers
    return _with_nulls_of(array, _binary(rows))


def _with_nulls_of(array: pa.Array[Any], values: pa.Array[Any]) -> pa.Array[Any]:
    if not array.null_count:
        return values
    places = np.cumsum(pc.is_valid(array).to_numpy(zero_copy_only=False)) - 1
    return values.take(pc.if_else(pc.is_valid(array), pa.array(places), None))


def _binary(rows: npt.NDArray[np.uint8]) -> pa.Array[Any]:
    kind = pa.binary(rows.shape[1])
    content: Any = np.ascontiguousarray(rows)
    return pa.Array.from_buffers(kind, len(rows), [None, pa.py_buffer(content)])


def decimal_width(array: pa.Array[Any]) -> int:
    """Bytes of the longest value of an array of decimals, 0 for none."""
    if pa.types.is_fixed_size_binary(array.type):
        return int(array.type.byte_width)
    lengths: Any = pc.binary_length(cast("pa.BinaryArray", array))
    return int(pc.max(lengths).as_py() or 0)


def extended(values: pa.Array[Any], width: int) -> npt.NDArray[np.uint8]:
    """Big-endian numbers extended at the front to one width by their sign: a row of bytes for each.

    Raises:
        NotChecked: They are more than `MOST_DECIMAL` bytes long.
    """
    if width > MOST_DECIMAL:
        raise NotChecked(f"decimals of {width} bytes are not compared")
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


@dataclass
class Outside:
    """The values beyond a bound: how many there are, where the first one stands, and which it is."""

    count: int = 0
    first: int = -1
    value: bytes = b""


@dataclass
class BoundsCheck:
    """Bounds, compared with the values of a column chunk as they come.

    Attributes:
        order: The order of the values.
        minimum, maximum: The bounds; ``None`` where there is none.
        below, above: The values beyond them.
        meets_minimum, meets_maximum: Whether a value equals the bound; ``None`` where it bounds nothing.
        seen: Values seen, nulls included.
    """

    order: Order
    minimum: bytes | None
    maximum: bytes | None
    below: Outside = field(default_factory=Outside)
    above: Outside = field(default_factory=Outside)
    meets_minimum: bool | None = None
    meets_maximum: bool | None = None
    seen: int = 0

    def add(self, array: pa.Array[Any]) -> None:
        """Compare further values, as `pqassay.values.physical` gives them.

        Raises:
            NotChecked: See `comparable`.
        """
        width = 0
        if self.order is Order.DECIMAL:
            width = max(decimal_width(array), len(self.minimum or b""), len(self.maximum or b""))
        least_bound, greatest_bound = (
            _as_key(self.order, raw, array.type, width) for raw in (self.minimum, self.maximum)
        )
        if least_bound is not None or greatest_bound is not None:
            self.meets_minimum = self.meets_minimum or (None if least_bound is None else False)
            self.meets_maximum = self.meets_maximum or (None if greatest_bound is None else False)
            keys = comparable(self.order, array, width)
            found: Any = pc.min_max(keys).as_py()
            least, greatest = found["min"], found["max"]
            # Of nothing but nulls there is no least; of nothing but NaN it is NaN, which is beyond no bound.
            if least is not None and least_bound is not None:
                self.meets_minimum = self.meets_minimum or least == least_bound
                if least < least_bound:
                    self._note(self.below, pc.less(keys, pa.scalar(least_bound, keys.type)), array)
            if greatest is not None and greatest_bound is not None:
                self.meets_maximum = self.meets_maximum or greatest == greatest_bound
                if greatest > greatest_bound:
                    self._note(self.above, pc.greater(keys, pa.scalar(greatest_bound, keys.type)), array)
        self.seen += len(array)

    def _note(self, outside: Outside, mask: Any, array: pa.Array[Any]) -> None:
        if not outside.count:
            place = pc.index(mask, True).as_py()
            outside.first = self.seen + place
            outside.value = stored_bytes(array[place : place + 1])
        outside.count += pc.sum(mask).as_py()


def _as_key(order: Order, raw: bytes | None, kind: pa.DataType, width: int) -> Any:
    """A bound as `comparable` gives values; ``None`` where it bounds nothing, or is no value of this type."""
    value = None if raw is None else key(order, raw)
    if value is None or order is Order.BYTES:
        return value
    if order is Order.DECIMAL:
        longer = bytearray(int(value).to_bytes(width, "big", signed=True))
        longer[0] ^= SIGN
        return bytes(longer)
    return value if len(raw or b"") == max(kind.bit_width // 8, 1) else None


def stored_bytes(one: pa.Array[Any]) -> bytes:
    """The PLAIN bytes of an array's only value, without the length of a byte array."""
    if pa.types.is_boolean(one.type):
        one = one.cast(pa.uint8())
    if pa.types.is_binary(one.type) or pa.types.is_large_binary(one.type):
        raw: bytes = one[0].as_py()
        return raw
    return physical_rows(one).tobytes()
