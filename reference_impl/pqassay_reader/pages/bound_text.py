"""Bounds as text for people: numbers, dates, times, decimals and texts in the form that a condition has them."""

from __future__ import annotations

import codecs
import re
from decimal import Context, Decimal

import numpy as np

from pqassay_spec.base.terminal import printable
from pqassay_spec.parquet.column_order import Order, number_of, shown
from pqassay_spec.parquet.schema.logical_values import logical_name
from pqassay_spec.parquet.thrift import SchemaElement, Type

MOST_SHOWN = 32
"""Characters of a bound that are shown."""

MOST_BYTES = (MOST_SHOWN - 3) // 2
"""Bytes of a bound that are shown in hexadecimal."""

MOST_DIGITS = 76
"""Bytes and decimal places of a decimal that is written out: more than any engine has digits."""

EXACT = Context(prec=400)
"""Digits enough for the integers of so many bytes."""

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
    if order is Order.DECIMAL and len(raw) > MOST_DIGITS:
        return f"x'{raw[:MOST_BYTES].hex()}…"
    number = number_of(order, raw)
    text = None if number is None else _number_text(element, number)
    if text is None:
        text = _plain_text(raw) if order is Order.BYTES else shown(order, raw)
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


def _number_text(element: SchemaElement, number: float) -> str | None:
    """A number with the meaning that its logical type gives it; ``None`` where that gives none."""
    name = logical_name(element) or ""
    if isinstance(number, float):
        return str(np.float32(number)) if element.type == Type.FLOAT else None
    if name == "DECIMAL":
        annotation = element.logicalType.DECIMAL if element.logicalType is not None else None
        scale = element.scale if annotation is None else annotation.scale
        return (
            f"{Decimal(number).scaleb(-(scale or 0), EXACT):f}" if 0 <= (scale or 0) <= MOST_DIGITS else None
        )
    unit = UNITS.get(name)
    if unit is None:
        return None
    moment = re.sub(r"\.0+$", "", str(np.array(number, f"datetime64[{unit}]")))
    if moment == "NaT":
        return None
    return moment.partition("T")[2] if name.startswith("TIME(") else moment.replace("T", " ")


def _plain_text(raw: bytes) -> str:
    """Bytes as text in quotes as a condition has it, or in hexadecimal where they are no text."""
    start = raw[: MOST_SHOWN * 4]  # which may end within a character
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(start, final=len(start) == len(raw))
    except UnicodeDecodeError:
        return f"x'{start.hex()}'"
    return f"'{printable(text)}'"


__all__ = ["bound_text"]
