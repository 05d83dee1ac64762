"""Bounds and partition values of a Delta log as values of their columns' types."""

# ruff: noqa: TRY004 - whatever JSON holds instead, it is not a value of the column's type

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import partial
from typing import Any

from pqassay.tables.claims import Reading, Typed, UnknownType, ValueKind
from pqassay_spec.table.delta import FLOATING, INTEGER_BITS
from pqassay_tables.metadata import moments
from pqassay_tables.metadata.delta.schema import DeltaColumn

GREATEST_EXPONENT = 400
"""The largest number of decimal places before or after the point; a short text with an exponent may have billions of digits."""


def reading_of(column: DeltaColumn) -> Reading:
    """The conversion of a column's bounds from JSON numbers, texts or booleans.

    Raises:
        UnknownType: The written form of this type is undefined.
    """
    if column.type in INTEGER_BITS:
        end = 1 << INTEGER_BITS[column.type] - 1
        return Reading(ValueKind.NUMBER, partial(_integer, column.type, end))
    if column.type in FLOATING:
        return Reading(ValueKind.FLOATING, _floating)
    if column.decimal is not None:
        return Reading(ValueKind.NUMBER, _decimal)
    reading = _BOUNDS.get(column.type)
    if reading is None:
        raise UnknownType
    return reading


def partition_value(column: DeltaColumn, text: str) -> Typed:
    """The value of a partition column in a nonempty text. Raises `ValueError`, and as `reading_of` does."""
    kind, read = _PARTITIONS.get(column.type) or reading_of(column)
    if column.type in INTEGER_BITS:
        if not (text.isascii() and text.lstrip("+-").isdecimal()):
            raise ValueError("it is not a whole number")
        return Typed(kind, read(int(text[:40])))
    if column.type.startswith("timestamp") and ":" not in text:
        raise ValueError("it has no time of day")
    value = read(text)
    if column.decimal is not None and isinstance(value, Decimal):
        precision, scale = column.decimal
        unscaled = Fraction(value) * 10**scale
        if unscaled.denominator > 1 or abs(unscaled) >= 10**precision:
            raise ValueError(f"it does not fit {column.type}")
    return Typed(kind, value)


def _integer(kind: str, end: int, raw: Any) -> int:
    if type(raw) is not int:
        raise ValueError("it is not a whole number")
    if not -end <= raw < end:
        raise ValueError(f"it is outside the range of the type {kind}")
    return raw


_INFINITE = {f"{sign}{word}": float(f"{sign}inf") for sign in ("", "+", "-") for word in ("inf", "infinity")}
_WORDS = {"nan": math.nan, **_INFINITE}
"""Floating-point values without a JSON number."""


def _floating(raw: Any) -> float:
    if isinstance(raw, str):
        word = _WORDS.get(raw.lower())
        if word is not None:
            return word
        raw = _number(raw)
    if type(raw) is int or isinstance(raw, Decimal):
        try:
            return float(raw)
        except OverflowError:
            raise ValueError("it does not fit the type") from None
    raise ValueError("it is not a number")


def _decimal(raw: Any) -> int | Decimal:
    if isinstance(raw, str):
        raw = _number(raw)
    if type(raw) is int or isinstance(raw, Decimal):
        if isinstance(raw, Decimal) and not (raw.is_finite() and abs(raw.adjusted()) <= GREATEST_EXPONENT and len(raw.as_tuple().digits) <= GREATEST_EXPONENT):  # fmt: skip
            raise ValueError("it does not fit any decimal")
        return raw
    raise ValueError("it is not a number")


def _number(text: str) -> Decimal:
    try:
        return Decimal(text.strip() if text.isascii() and "_" not in text else "")
    except InvalidOperation:
        raise ValueError("it is not a number") from None


def _text(raw: Any) -> bytes:
    if not isinstance(raw, str):
        raise ValueError("it is not text")
    return raw.encode()  # a lone surrogate is not Unicode, so this raises a ValueError


def _boolean(raw: Any) -> bool:
    if isinstance(raw, str) and raw in ("true", "false"):
        raw = raw == "true"
    if not isinstance(raw, bool):
        raise ValueError("it is neither true nor false")
    return raw


def _moment(read: Callable[[str], int], what: str, raw: Any) -> int:
    if not isinstance(raw, str):
        raise ValueError(f"it is not a {what}")
    return read(raw)


def _zoned_partition(text: str) -> int:
    value = moments.nanoseconds(text, zone=None)
    if not text.endswith("Z"):
        raise UnknownType  # in the unknown time zone of the writer
    return value


_NANOSECONDS = {zone: partial(moments.nanoseconds, zone=zone) for zone in (True, None)}
_BOUNDS = {
    "string": Reading(ValueKind.TEXT, _text),
    "boolean": Reading(ValueKind.BOOLEAN, _boolean),
    "date": Reading(ValueKind.DATE, partial(_moment, moments.days, "date")),
    "timestamp": Reading(ValueKind.TIMESTAMP, partial(_moment, _NANOSECONDS[True], "timestamp")),
    "timestamp_ntz": Reading(ValueKind.TIMESTAMP, partial(_moment, _NANOSECONDS[None], "timestamp")),
}
_PARTITIONS = {
    "timestamp": Reading(ValueKind.TIMESTAMP, _zoned_partition),
    "binary": Reading(ValueKind.BYTES, lambda text: str(text).encode("latin-1")),
}
"""The conversions of partition value texts that differ from those of bounds."""
