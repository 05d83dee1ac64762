r"""Iceberg's single-value serialization, for bounds of columns and of partition fields.

>>> value_of("int", bytes([5, 0, 0, 0])).value, value_of("decimal(9, 2)", b"\x01\x00").value
(5, Decimal('2.56'))

Source: the Iceberg specification, "Appendix D: Single-value serialization" and "Schema Evolution".
"""

from __future__ import annotations

import math
import struct
from collections.abc import Collection
from decimal import Context, Decimal
from functools import partial
from typing import Any, Literal
from uuid import UUID

from pqassay.tables.claims import Reading, Scalar, Typed, UnknownType, ValueKind
from pqassay_spec.table.single_values import MOST_DECIMAL, NANOSECONDS, POINT_WIDTHS, WIDTHS
from pqassay_tables.metadata.iceberg.schema import DECIMAL, FIXED
from pqassay_tables.metadata.moments import DAY

_DIGITS = Context(prec=100)


def reading_of(kind: str) -> Reading:
    """The conversion of a type's values from bytes.

    Args:
        kind: The type in the schema.

    Raises:
        UnknownType: Values of the type are not compared.
    """
    if kind == "string":
        return Reading(ValueKind.TEXT, _text)
    if kind == "binary":
        return Reading(ValueKind.BYTES, bytes)
    if kind in WIDTHS:
        return Reading(KINDS[kind], partial(_primitive, kind, WIDTHS[kind]))
    if (match := DECIMAL.fullmatch(kind)) is not None:
        return Reading(ValueKind.NUMBER, partial(_decimal, int(match[1]), int(match[2])))
    if (match := FIXED.fullmatch(kind)) is not None:
        return Reading(ValueKind.BYTES, partial(_fixed, int(match[1])))
    raise UnknownType(kind)


def value_of(kind: str, raw: bytes) -> Typed:
    """The value of a type in some bytes. Raises `ValueError`, and as `reading_of` does."""
    reading = reading_of(kind)
    return Typed(reading.kind, reading.read(raw))


KINDS = {
    "boolean": ValueKind.BOOLEAN,
    "date": ValueKind.DATE,
    "time": ValueKind.TIME,
    "uuid": ValueKind.BYTES,
    **dict.fromkeys(("int", "long"), ValueKind.NUMBER),
    **dict.fromkeys(("float", "double"), ValueKind.FLOATING),
    **dict.fromkeys(("timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"), ValueKind.TIMESTAMP),
}
"""The kinds of values of fixed-width types."""


def _text(raw: bytes) -> bytes:
    if not raw.isascii():
        _ = raw.decode()
    return raw


def _fixed(width: int, raw: bytes) -> bytes:
    if len(raw) > width:  # writers truncate long bounds
        raise ValueError(f"it has {len(raw)} bytes, not {width}")
    return raw


def _primitive(kind: str, widths: Collection[int], raw: bytes) -> Scalar:
    width = len(raw)
    if width not in widths:
        raise ValueError(f"it has {width} bytes, not {' or '.join(map(str, widths))}")
    if kind in ("float", "double"):
        number: float = struct.unpack("<f" if width == 4 else "<d", raw)[0]
        return number
    if kind == "uuid":
        return raw
    if kind == "boolean":
        return raw != b"\0"
    unit = NANOSECONDS.get(kind, 1)
    if width == 4 and unit != 1:
        unit = DAY  # of a date that was promoted to a timestamp
    return int.from_bytes(raw, "little", signed=True) * unit


def _decimal(precision: int, scale: int, raw: bytes) -> Decimal:
    if not 1 <= len(raw) <= MOST_DECIMAL:
        raise ValueError(f"it has {len(raw)} bytes, not 1 to {MOST_DECIMAL}")
    number = int.from_bytes(raw, "big", signed=True)
    if abs(number) >= 10**precision:
        raise ValueError(f"it has more than {precision} digits")
    return Decimal(number).scaleb(-scale, _DIGITS)


def shown(kind: str, raw: bytes) -> str:
    """A serialized value for messages; its bytes if it cannot be read."""
    try:
        return written(value_of(kind, raw))
    except (ValueError, UnknownType):
        return f"0x{raw[:32].hex()}" if raw else "no bytes"


def written(typed: Typed) -> str:
    """A parsed value for messages."""
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
    """A partition value in the form of a bound; ``None`` if it does not fit."""
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
    if kind.startswith(("time", "decimal")):  # entries have timestamps in the same units as bounds
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
    """The bytes of a text, or of a UUID, which some Avro writers store as text."""
    if kind != "uuid":
        return value.encode()
    try:
        return UUID(value).bytes
    except ValueError:
        return None


def geospatial(kind: str) -> Literal["geometry", "geography"] | None:
    """The geospatial type without its parameters; ``None`` for other types."""
    name = kind.partition("(")[0].strip()
    return "geometry" if name == "geometry" else "geography" if name == "geography" else None


def point(raw: bytes) -> tuple[float, ...] | None:
    """The coordinates of a geospatial bound: x, y, optionally z, which may be NaN, and optionally m; ``None`` if it is not a point.

    >>> point(struct.pack("<2d", 1.0, 2.0)), point(bytes(17))
    ((1.0, 2.0), None)
    """
    if len(raw) not in POINT_WIDTHS:
        return None
    found = struct.unpack(f"<{len(raw) // 8}d", raw)
    needed = found if len(found) < 4 else (*found[:2], found[3])
    return None if any(math.isnan(one) for one in needed) else found
