"""The values that a logical type allows its leaf: numbers in a range, or bytes of a form.

The physical type may allow more values than the annotation does. A reader that trusts the annotation then returns
another value:

    >>> from pqassay_spec.parquet.thrift import IntType, LogicalType, SchemaElement, Type
    >>> depth = LogicalType(INTEGER=IntType(bitWidth=8, isSigned=True))
    >>> element = SchemaElement(name="depth", type=Type.INT32, logicalType=depth)
    >>> logical_name(element), range_of(element)
    ('INTEGER(8, signed)', NumberRange(least=-128, greatest=127))

This module ignores leaves whose annotation does not fit their physical type; PQF-027 reports them.

Source: apache/parquet-format, ``LogicalTypes.md``; ``parquet.thrift``, ``NullType``.
"""

from __future__ import annotations

import math
from datetime import date
from enum import Enum
from typing import NamedTuple

from pqassay_spec.parquet.column_order import annotation_fits
from pqassay_spec.parquet.schema.types import ANNOTATIONS, annotation_of
from pqassay_spec.parquet.thrift import SchemaElement, Type


class NumberRange(NamedTuple):
    """The least and the greatest allowed number."""

    least: int
    greatest: int


SECONDS_OF_A_DAY = 86_400

UNITS = {"MILLIS": 10**3, "MICROS": 10**6, "NANOS": 10**9}
"""The number of units in a second, for times and timestamps."""

EPOCH = date(1970, 1, 1)
YEARS = date.min, date.max
"""The first and the last day that every reader supports: those of the years 1 to 9999."""

_NAMES = {int(kind): name for name, row in ANNOTATIONS.items() for kind in row.converted}
"""The logical type of each converted type."""

NARROW = (8, 16)
"""Widths in bits of integers that are stored in a wider type; integers of 32 and 64 bits fill their physical type."""

_INTEGERS = {
    **{f"INTEGER({bits}, signed)": NumberRange(-(1 << bits - 1), (1 << bits - 1) - 1) for bits in NARROW},
    **{f"INTEGER({bits}, unsigned)": NumberRange(0, (1 << bits) - 1) for bits in NARROW},
}

_TIMES = {f"TIME({unit})": NumberRange(0, SECONDS_OF_A_DAY * each) for unit, each in UNITS.items()}

_DAYS = NumberRange(*((day - EPOCH).days for day in YEARS))

_CALENDAR = {
    "DATE": _DAYS,
    **{
        f"TIMESTAMP({unit})": NumberRange(
            _DAYS.least * SECONDS_OF_A_DAY * each, (_DAYS.greatest + 1) * SECONDS_OF_A_DAY * each - 1
        )
        for unit, each in UNITS.items()
    },
}

_RANGES = _INTEGERS | _TIMES | _CALENDAR


class Allowed(Enum):
    """The kinds of values that logical types allow, if their physical type allows more."""

    INTEGERS = "integers narrower than their physical type"
    DECIMALS = "decimals within their precision"
    TIMES = "times of a day"
    CALENDAR = "dates and timestamps"
    TEXT = "UTF-8"
    JSON = "UTF-8 that is JSON"
    BSON = "BSON documents"
    GEOMETRIES = "well-known binary"
    NULLS = "nulls alone"


_ALLOWED = {
    **dict.fromkeys(_INTEGERS, Allowed.INTEGERS),
    **dict.fromkeys(_TIMES, Allowed.TIMES),
    **dict.fromkeys(_CALENDAR, Allowed.CALENDAR),
    "DECIMAL": Allowed.DECIMALS,
    "STRING": Allowed.TEXT,
    "ENUM": Allowed.TEXT,
    "JSON": Allowed.JSON,
    "BSON": Allowed.BSON,
    "GEOMETRY": Allowed.GEOMETRIES,
    "GEOGRAPHY": Allowed.GEOMETRIES,
    "UNKNOWN": Allowed.NULLS,
}


def logical_name(element: SchemaElement) -> str | None:
    """The name in `ANNOTATIONS` of a leaf's logical type; without one, of its converted type.

    ``None`` if it has neither, or the annotation is unknown or does not fit the leaf.
    """
    if (element.logicalType is None and element.converted_type is None) or not annotation_fits(element):
        return None
    if element.logicalType is not None:
        return annotation_of(element)
    return _NAMES.get(element.converted_type or 0)


def allowed_by(element: SchemaElement) -> Allowed | None:
    """The kind of values that a leaf's logical type allows; ``None`` if it allows all values of the physical type."""
    name = logical_name(element)
    if (name == "DECIMAL" and precision_of(element) is None) or _is_any_number(element, name):
        return None
    return None if name is None else _ALLOWED.get(name)


def range_of(element: SchemaElement) -> NumberRange | None:
    """The numbers that a leaf's logical type allows; ``None`` if the type does not give a range.

    A time may be midnight at the end of the day.  The years of dates and timestamps are 1 to 9999; nanoseconds in 64 bits reach from
    1677 to 2262.

    >>> from pqassay_spec.parquet.thrift import ConvertedType, SchemaElement, Type
    >>> range_of(SchemaElement(name="day", type=Type.INT32, converted_type=ConvertedType.DATE))
    NumberRange(least=-719162, greatest=2932896)
    """
    name = logical_name(element)
    return None if _is_any_number(element, name) else _RANGES.get(name or "")


def _is_any_number(element: SchemaElement, name: str | None) -> bool:
    """Whether the range includes all numbers of the physical type."""
    return name == "TIMESTAMP(NANOS)" and element.type == Type.INT64


def precision_of(element: SchemaElement) -> int | None:
    """The most digits of a decimal; ``None`` if the schema does not give them, or gives a number that is not positive."""
    decimal = element.logicalType.DECIMAL if element.logicalType is not None else None
    precision = element.precision if decimal is None else decimal.precision
    return precision if precision is not None and precision > 0 else None


def decimal_range(precision: int) -> NumberRange:
    """The range of unscaled numbers with this many digits.

    >>> decimal_range(4)
    NumberRange(least=-9999, greatest=9999)
    """
    greatest = 10**precision - 1
    return NumberRange(-greatest, greatest)


def digits_in(width: int) -> int:
    """The digits of the longest number of a width in bytes; no number of that width is too long for a decimal with so much precision.

    >>> digits_in(4), len(str(1 << 31))
    (10, 10)
    """
    return math.ceil((8 * width - 1) * math.log10(2))


SHORTEST_BSON = 5
"""Bytes of a document without elements: its length, and the zero that ends it."""
