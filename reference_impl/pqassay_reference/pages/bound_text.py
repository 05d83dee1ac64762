"""Bounds as text for people: numbers, dates, times, decimals and texts in the form that a condition has them."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from pqassay_spec.base.terminal import printable
from pqassay_spec.parquet.column_order import Order, number_of, shown
from pqassay_spec.parquet.logical_values import logical_name
from pqassay_spec.parquet.thrift import SchemaElement, Type

MOST_SHOWN = 32
"""Characters of a bound that are shown."""

UNITS = {
    "DATE": "D",
    "TIMESTAMP(MILLIS)": "ms",
    "TIMESTAMP(MICROS)": "us",
    "TIMESTAMP(NANOS)": "ns",
    "TIME(MILLIS)": "ms",
    "TIME(MICROS)": "us",
    "TIME(NANOS)": "ns",
}
"""What a number of each logical type counts, as numpy calls it."""


def bound_text(element: SchemaElement, order: Order, raw: bytes) -> str:
    """A bound in Parquet's encoding, as text of 32 characters at most.

    >>> from pqassay_spec.parquet.thrift import ConvertedType
    >>> day = SchemaElement(name="day", type=Type.INT32, converted_type=ConvertedType.DATE)
    >>> bound_text(day, Order.SIGNED, (366).to_bytes(4, "little"))
    '1971-01-02'
    """
    number = number_of(order, raw)
    text = None if number is None else _number_text(element, number)
    if text is None:
        text = _plain_text(raw) if order is Order.BYTES else shown(order, raw)
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


def _number_text(element: SchemaElement, number: float) -> str | None:
    """A number with the meaning that its logical type gives it; ``None`` where that gives none."""
    name = logical_name(element) or ""
    if isinstance(number, float):
        return f"{number:.9g}" if element.type == Type.FLOAT else None
    if name == "DECIMAL":
        annotation = element.logicalType.DECIMAL if element.logicalType is not None else None
        scale = element.scale if annotation is None else annotation.scale
        return f"{Decimal(number).scaleb(-(scale or 0)):f}"
    unit = UNITS.get(name)
    if unit is None:
        return None
    moment = str(np.datetime64(number, unit))  # type: ignore[call-overload]
    return moment.partition("T")[2] if name.startswith("TIME(") else moment.replace("T", " ")


def _plain_text(raw: bytes) -> str:
    """Bytes as text in quotes as a condition has it, or in hexadecimal where they are no text."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return f"x'{raw.hex()}'"
    return f"'{printable(text)}'"


__all__ = ["bound_text"]
