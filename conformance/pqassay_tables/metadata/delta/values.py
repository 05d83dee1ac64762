"""Bounds and partition values of a Delta log as values of their columns' types."""

# ruff: noqa: TRY004 - whatever JSON holds instead, it is no value of the column's type

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from pqassay.tables.claims import Scalar, ValueKind
from pqassay_spec.table.delta import FLOATING, INTEGER_BITS
from pqassay_tables.metadata import moments
from pqassay_tables.metadata.delta.schema import DeltaColumn

GREATEST_EXPONENT = 400
"""Decimal places, before and behind the point, of a number that is taken for one: a text of few characters may stand for a number of
billions of digits."""


class Typed(NamedTuple):
    """A value in the form in which claims hold it."""

    kind: ValueKind
    value: Scalar


class UnknownType(Exception):  # noqa: N818 - no error: of such columns nothing is judged
    """Nobody says how values of this type are written."""


def bound_value(column: DeltaColumn, raw: Any) -> Typed:
    """A bound of a column as JSON holds it.

    Args:
        column: The column.
        raw: A number, a text or a boolean.

    Raises:
        ValueError: It is no value of the column's type.
        UnknownType: See there.
    """
    if column.type in INTEGER_BITS:
        return _integer(column.type, raw)
    if column.type in FLOATING:
        return Typed(ValueKind.FLOATING, _floating(raw))
    if column.decimal is not None:
        return Typed(ValueKind.NUMBER, _decimal(raw))
    read = _BOUNDS.get(column.type)
    if read is None:
        raise UnknownType
    return read(raw)


def partition_value(column: DeltaColumn, text: str) -> Typed:
    """A value of a partition column, which is a text that is not empty. Raises as `bound_value` does."""
    if column.type in INTEGER_BITS:
        if not text.lstrip("+-").isdecimal():
            raise ValueError("it is no whole number")
        return _integer(column.type, int(text[:40]))
    if column.type in FLOATING:
        return Typed(ValueKind.FLOATING, _floating(text))
    if column.decimal is not None:
        return Typed(ValueKind.NUMBER, _decimal(text))
    read = _PARTITIONS.get(column.type)
    if read is None:
        raise UnknownType
    return read(text)


def _integer(kind: str, raw: Any) -> Typed:
    if type(raw) is not int:
        raise ValueError("it is no whole number")
    if not -(1 << INTEGER_BITS[kind] - 1) <= raw < 1 << INTEGER_BITS[kind] - 1:
        raise ValueError(f"it is beyond what the type {kind} holds")
    return Typed(ValueKind.NUMBER, raw)


_WORDS = {
    "nan": math.nan,
    "infinity": math.inf,
    "+infinity": math.inf,
    "inf": math.inf,
    "+inf": math.inf,
    "-infinity": -math.inf,
    "-inf": -math.inf,
}
"""What JSON cannot say in numbers."""


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
            raise ValueError("it is beyond what the type holds") from None
    raise ValueError("it is no number")


def _decimal(raw: Any) -> int | Decimal:
    if isinstance(raw, str):
        raw = _number(raw)
    if type(raw) is int or isinstance(raw, Decimal):
        if isinstance(raw, Decimal) and not (raw.is_finite() and abs(raw.adjusted()) <= GREATEST_EXPONENT and len(raw.as_tuple().digits) <= GREATEST_EXPONENT):  # fmt: skip
            raise ValueError("it is beyond what any decimal holds")
        return raw
    raise ValueError("it is no number")


def _number(text: str) -> Decimal:
    try:
        return Decimal(text.strip())
    except InvalidOperation:
        raise ValueError("it is no number") from None


def _text(raw: Any) -> Typed:
    if not isinstance(raw, str):
        raise ValueError("it is no text")
    return Typed(ValueKind.TEXT, raw.encode())  # a lone surrogate is no Unicode, and a ValueError


def _boolean(raw: Any) -> Typed:
    if isinstance(raw, str) and raw in ("true", "false"):
        raw = raw == "true"
    if not isinstance(raw, bool):
        raise ValueError("it is neither true nor false")
    return Typed(ValueKind.BOOLEAN, raw)


def _date(raw: Any) -> Typed:
    if not isinstance(raw, str):
        raise ValueError("it is no date")
    return Typed(ValueKind.DATE, moments.days(raw))


def _timestamp(raw: Any) -> Typed:
    if not isinstance(raw, str):
        raise ValueError("it is no timestamp")
    return Typed(ValueKind.TIMESTAMP, moments.nanoseconds(raw, zone=True))


def _local_timestamp(raw: Any) -> Typed:
    if not isinstance(raw, str):
        raise ValueError("it is no timestamp")
    return Typed(ValueKind.TIMESTAMP, moments.nanoseconds(raw, zone=None))


def _zoned_partition(text: str) -> Typed:
    value = moments.nanoseconds(text, zone=None)
    if not text.endswith("Z"):
        raise UnknownType  # in the zone of the system that wrote it, which nobody knows
    return Typed(ValueKind.TIMESTAMP, value)


_BOUNDS: dict[str, Callable[[Any], Typed]] = {
    "string": _text,
    "boolean": _boolean,
    "date": _date,
    "timestamp": _timestamp,
    "timestamp_ntz": _local_timestamp,
}
_PARTITIONS: dict[str, Callable[[str], Typed]] = {
    **_BOUNDS,
    "timestamp": _zoned_partition,
    "binary": lambda text: Typed(ValueKind.BYTES, text.encode("latin-1")),
}
