r"""Values as Iceberg serializes each by itself: bounds of columns and of partition fields.

>>> value_of("int", bytes([5, 0, 0, 0])).value, value_of("decimal(9, 2)", b"\x01\x00").value
(5, Decimal('2.56'))

Source: the Iceberg specification, "Appendix D: Single-value serialization" and "Schema Evolution".
"""

from __future__ import annotations

import math
import struct
from decimal import Context, Decimal
from typing import Any, Literal, NamedTuple
from uuid import UUID

from pqassay.tables.claims import Scalar, ValueKind
from pqassay_spec.table.single_values import MOST_DECIMAL, NANOSECONDS, POINT_WIDTHS, WIDTHS
from pqassay_tables.metadata.iceberg.schema import DECIMAL, FIXED
from pqassay_tables.metadata.moments import DAY


class Typed(NamedTuple):
    """A value, and what it is."""

    kind: ValueKind
    value: Scalar


class UnknownTypeError(Exception):
    """Values of a type are not compared."""


_DIGITS = Context(prec=100)


def value_of(kind: str, raw: bytes) -> Typed:
    """A value of a type.

    Args:
        kind: The type as the schema has it.
        raw: The bytes.

    Raises:
        ValueError: It is none.
        UnknownTypeError: Values of the type are not compared.
    """
    if kind in ("string", "binary"):
        if kind == "string":
            _ = raw.decode()
            return Typed(ValueKind.TEXT, raw)
        return Typed(ValueKind.BYTES, raw)
    if (match := DECIMAL.fullmatch(kind)) is not None:
        return _decimal(int(match[1]), int(match[2]), raw)
    if (match := FIXED.fullmatch(kind)) is not None:
        if len(raw) > int(match[1]):  # writers cut the bounds of long ones
            raise ValueError(f"it has {len(raw)} bytes, and not {match[1]}")
        return Typed(ValueKind.BYTES, raw)
    widths = WIDTHS.get(kind)
    if widths is None:
        raise UnknownTypeError(kind)
    if len(raw) not in widths:
        raise ValueError(f"it has {len(raw)} bytes, and not {' or '.join(map(str, widths))}")
    return _primitive(kind, raw)


def _primitive(kind: str, raw: bytes) -> Typed:
    if kind == "uuid":
        return Typed(ValueKind.BYTES, raw)
    if kind == "boolean":
        return Typed(ValueKind.BOOLEAN, raw != b"\0")
    if kind in ("float", "double"):
        return Typed(ValueKind.FLOATING, struct.unpack("<f" if len(raw) == 4 else "<d", raw)[0])
    number = int.from_bytes(raw, "little", signed=True)
    if kind == "date":
        return Typed(ValueKind.DATE, number)
    if kind == "time":
        return Typed(ValueKind.TIME, number * NANOSECONDS[kind])
    if kind in NANOSECONDS:
        return Typed(ValueKind.TIMESTAMP, number * (DAY if len(raw) == 4 else NANOSECONDS[kind]))
    return Typed(ValueKind.NUMBER, number)


def _decimal(precision: int, scale: int, raw: bytes) -> Typed:
    if not 1 <= len(raw) <= MOST_DECIMAL:
        raise ValueError(f"it has {len(raw)} bytes, and not 1 to {MOST_DECIMAL}")
    number = int.from_bytes(raw, "big", signed=True)
    if abs(number) >= 10**precision:
        raise ValueError(f"it has more than {precision} digits")
    return Typed(ValueKind.NUMBER, Decimal(number).scaleb(-scale, _DIGITS))


def shown(kind: str, raw: bytes) -> str:
    """A value for messages: as it is where it can be read, else its bytes."""
    try:
        return written(value_of(kind, raw))
    except (ValueError, UnknownTypeError):
        return f"0x{raw[:32].hex()}" if raw else "no bytes"


def written(typed: Typed) -> str:
    """A value that was read, for messages."""
    if isinstance(typed.value, bytes):
        if typed.kind is ValueKind.TEXT:
            return repr(typed.value.decode()[:60])
        return f"0x{typed.value[:32].hex()}"
    if typed.kind is ValueKind.DATE:
        return f"day {typed.value}"
    if typed.kind in (ValueKind.TIMESTAMP, ValueKind.TIME):
        return f"{typed.value} ns"
    return str(typed.value)


def partition_scalar(bound: Scalar, value: Any, kind: str) -> Scalar | None:
    """A partition value in the form of a bound; ``None`` where it has another."""
    if isinstance(value, str):
        value = _encoded(value, kind)
    if isinstance(value, bytes):
        if isinstance(bound, bytes):
            return value
        try:
            return value_of(kind, value).value if kind.startswith("decimal") else None
        except ValueError:
            return None
    if isinstance(value, bool) or isinstance(bound, bytes):
        return value if isinstance(bound, bool) else None
    if kind.startswith(("time", "decimal")):  # of moments, entries have the number of units that bounds have
        try:
            return (
                value_of(kind, int(value).to_bytes(8, "little", signed=True)).value
                if kind.startswith("time")
                else None
            )
        except (OverflowError, ValueError):
            return None
    return value if isinstance(value, int | float) else None


def _encoded(value: str, kind: str) -> bytes | None:
    """The bytes of a text; those of a UUID, which some writers of Avro have as a text."""
    if kind != "uuid":
        return value.encode()
    try:
        return UUID(value).bytes
    except ValueError:
        return None


def geospatial(kind: str) -> Literal["geometry", "geography"] | None:
    """Which of the two geospatial types a type is, its parameters aside; ``None`` of others."""
    name = kind.partition("(")[0].strip()
    return "geometry" if name == "geometry" else "geography" if name == "geography" else None


def point(raw: bytes) -> tuple[float, ...] | None:
    """The coordinates of a bound of a geospatial column: x and y, and maybe z, which may be NaN, and m; ``None`` where it is none.

    >>> point(struct.pack("<2d", 1.0, 2.0)), point(bytes(17))
    ((1.0, 2.0), None)
    """
    if len(raw) not in POINT_WIDTHS:
        return None
    found = struct.unpack(f"<{len(raw) // 8}d", raw)
    needed = found if len(found) < 4 else (*found[:2], found[3])
    return None if any(math.isnan(one) for one in needed) else found
