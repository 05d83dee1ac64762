"""The order in which the bounds of a ``_pm`` column are compared, by its physical type and QuestDB's type."""

from __future__ import annotations

import math
import struct
from enum import Enum
from typing import NamedTuple

from pqassay_spec.grammar.hexdump import show
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.codes import DECIMALS, NO_TYPE, ColumnType, PhysicalType, type_tag


class Comparison(Enum):
    """The comparison of two bounds."""

    SIGNED = "signed integers, little-endian"
    UNSIGNED = "unsigned integers, little-endian"
    EITHER = "integers of unknown sign, little-endian"
    FLOAT = "floats"
    BYTES = "bytes, unsigned"
    DECIMAL = "signed integers, big-endian"
    EITHER_BYTES = "bytes or signed integers, big-endian"


class BoundOrder(NamedTuple):
    """An order; ``width`` is the number of bytes of every value, 0 where they differ."""

    comparison: Comparison
    width: int

    def is_nan(self, raw: bytes) -> bool:
        """Whether a bound is NaN."""
        return self.comparison is Comparison.FLOAT and math.isnan(_float(raw))

    def is_greater(self, least: bytes, greatest: bytes) -> bool:
        """Whether a lower bound is above an upper one; of unknown orders, whether it is in all of them."""
        match self.comparison:
            case Comparison.SIGNED:
                return _integer(least) > _integer(greatest)
            case Comparison.UNSIGNED:
                return _natural(least) > _natural(greatest)
            case Comparison.EITHER:
                return _integer(least) > _integer(greatest) and _natural(least) > _natural(greatest)
            case Comparison.FLOAT:
                return _float(least) > _float(greatest)
            case Comparison.BYTES:
                return least > greatest
            case Comparison.DECIMAL:
                return _decimal(least) > _decimal(greatest)
            case Comparison.EITHER_BYTES:
                return least > greatest and _decimal(least) > _decimal(greatest)

    def shown(self, raw: bytes) -> str:
        """A bound for people."""
        match self.comparison:
            case Comparison.FLOAT:
                return repr(_float(raw))
            case Comparison.UNSIGNED:
                return str(_natural(raw))
            case Comparison.SIGNED | Comparison.EITHER:
                return str(_integer(raw))
            case Comparison.DECIMAL:
                return str(_decimal(raw))
            case Comparison.BYTES | Comparison.EITHER_BYTES:
                return show(raw)


def _integer(raw: bytes) -> int:
    return int.from_bytes(raw, "little", signed=True)


def _natural(raw: bytes) -> int:
    return int.from_bytes(raw, "little")


def _decimal(raw: bytes) -> int:
    return int.from_bytes(raw, "big", signed=True)


def _float(raw: bytes) -> float:
    value: float = struct.unpack("<d" if len(raw) == struct.calcsize("<d") else "<f", raw)[0]
    return value


_FLOATS = (PhysicalType.FLOAT, PhysicalType.DOUBLE)
_INTEGERS = (PhysicalType.INT32, PhysicalType.INT64)
_SIGN_UNKNOWN = (NO_TYPE, ColumnType.INT, ColumnType.LONG)
"""Types that unsigned integers of other writers have as well."""


def order_of(described: pm.ColumnDescriptor, width: int, *, is_questdb: bool) -> BoundOrder | None:
    """The order of a column's bounds; ``None`` where nobody can tell.

    Args:
        described: The column.
        width: Bytes of its statistics, 0 where they differ.
        is_questdb: Whether QuestDB made the table, which knows no unsigned integers but IPv4 addresses.
    """
    kind, tag = described.physical_type, type_tag(described.type)
    if kind in _FLOATS:
        return BoundOrder(Comparison.FLOAT, width)
    if kind == PhysicalType.BOOLEAN or (kind in _INTEGERS and tag == ColumnType.IPV4):
        return BoundOrder(Comparison.UNSIGNED, width)
    if kind in _INTEGERS:
        is_unknown = tag in _SIGN_UNKNOWN and not is_questdb
        return BoundOrder(Comparison.EITHER if is_unknown else Comparison.SIGNED, width)
    if kind == PhysicalType.BYTE_ARRAY:
        if tag in DECIMALS:
            return BoundOrder(Comparison.DECIMAL, 0)
        return BoundOrder(Comparison.EITHER_BYTES if tag == NO_TYPE else Comparison.BYTES, 0)
    if kind == PhysicalType.FIXED_LEN_BYTE_ARRAY and width and tag != NO_TYPE:
        # Without a type it may be a half-precision float, an interval, anything.
        return BoundOrder(Comparison.DECIMAL if tag in DECIMALS else Comparison.BYTES, width)
    return None
