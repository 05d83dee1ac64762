"""The order in which the bounds of a ``_pm`` column are compared, by its physical type and QuestDB's type."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from pqassay_spec.grammar.hexdump import show
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.codes import DECIMALS, NO_TYPE, ColumnType, PhysicalType, type_tag

SIGNED, UNSIGNED, FLOAT, BYTES, DECIMAL = "signed", "unsigned", "float", "bytes", "decimal"
"""Ways to read a bound: as little-endian integers, a float, bytes, or a signed big-endian integer."""

READINGS: dict[str, Callable[[bytes], Any]] = {
    SIGNED: lambda raw: int.from_bytes(raw, "little", signed=True),
    UNSIGNED: lambda raw: int.from_bytes(raw, "little"),
    FLOAT: lambda raw: struct.unpack("<d" if len(raw) == struct.calcsize("<d") else "<f", raw)[0],
    BYTES: lambda raw: raw,
    DECIMAL: lambda raw: int.from_bytes(raw, "big", signed=True),
}
"""The function that decodes a bound in each of these ways, to a comparable value."""


class StoredBound(NamedTuple):
    """The bytes of MIN or MAX of a column chunk; ``None`` without a bound of valid place and width.

    The class for many chunks has the same members, with arrays.
    """

    raw: bytes | None

    @property
    def is_there(self) -> bool:
        """Whether the bound exists."""
        return self.raw is not None

    @property
    def is_nan(self) -> bool:
        """Whether the bound exists and is NaN when read as a float."""
        value = 0 if self.raw is None else READINGS[FLOAT](self.raw)
        return bool(value != value)  # noqa: PLR0124 - nothing else differs from itself

    def is_above(self, other: StoredBound, reading: str, among: bool) -> bool:
        """Whether it is greater than another bound, with both read in one way; only where ``among`` is true."""
        return among and READINGS[reading](self.raw or b"") > READINGS[reading](other.raw or b"")


class BoundOrder(NamedTuple):
    """The order of a column's bounds.

    Attributes:
        readings: The ways to read a bound, one of which is right.
        width: Bytes of every value, 0 if they differ.
    """

    readings: tuple[str, ...]
    width: int

    def is_broken(self, least: StoredBound, greatest: StoredBound) -> bool:
        """Whether a bound is NaN, which no order contains, or the lower bound is above the upper bound in every reading."""
        broken = least.is_there & greatest.is_there
        for reading in self.readings:
            broken = least.is_above(greatest, reading, broken)
        return broken | least.is_nan | greatest.is_nan if FLOAT in self.readings else broken

    def shown(self, raw: bytes) -> str:
        """A bound as text for people."""
        value = READINGS[self.readings[0]](raw)
        return show(value) if isinstance(value, bytes) else str(value)


_FLOATS = (PhysicalType.FLOAT, PhysicalType.DOUBLE)
_INTEGERS = (PhysicalType.INT32, PhysicalType.INT64)
_SIGN_UNKNOWN = (NO_TYPE, ColumnType.INT, ColumnType.LONG)
"""Types that may also be unsigned integers of other writers."""


def order_of(described: pm.ColumnDescriptor, width: int, *, is_questdb: bool) -> BoundOrder | None:
    """The order of a column's bounds; ``None`` if it is unknown.

    Args:
        described: The column.
        width: Bytes of its statistics, 0 if they differ.
        is_questdb: Whether QuestDB wrote the table; its only unsigned integers are IPv4 addresses.
    """
    kind, tag = described.physical_type, type_tag(described.type)
    if kind in _FLOATS:
        return BoundOrder((FLOAT,), width)
    if kind == PhysicalType.BOOLEAN or (kind in _INTEGERS and tag == ColumnType.IPV4):
        return BoundOrder((UNSIGNED,), width)
    if kind in _INTEGERS:
        is_unknown = tag in _SIGN_UNKNOWN and not is_questdb
        return BoundOrder((SIGNED, UNSIGNED) if is_unknown else (SIGNED,), width)
    if kind == PhysicalType.BYTE_ARRAY:
        if tag in DECIMALS:
            return BoundOrder((DECIMAL,), 0)
        return BoundOrder((BYTES, DECIMAL) if tag == NO_TYPE else (BYTES,), 0)
    if kind == PhysicalType.FIXED_LEN_BYTE_ARRAY and width and tag != NO_TYPE:
        # Without a type it may be a half-precision float, an interval, or anything else.
        return BoundOrder((DECIMAL,) if tag in DECIMALS else (BYTES,), width)
    return None
