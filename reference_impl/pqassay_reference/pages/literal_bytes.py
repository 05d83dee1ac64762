"""Convert literals of a condition to the bytes that a column stores, for comparisons with bounds and for bloom filters."""

from __future__ import annotations

import math
import struct
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

from construct import ConstructError

from pqassay_reference.columns.literals import Moment, TypedText
from pqassay_spec.parquet.column_order import Order, type_order
from pqassay_spec.parquet.encoding.plain import FIXED_WIDTH, UNSIGNED
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import LogicalType, SchemaElement, Type


def plain_bytes(leaf: SchemaLeaf, literal: Any) -> bytes | None:
    """The PLAIN bytes of a literal (without the length for a byte array); ``None`` if no value of the column equals it exactly.

    Numbers, texts and bytes are stored as they are.  Dates, times and timestamps are written as text, and stored as numbers.
    Decimals have bytes only if they are stored as numbers.
    """
    element = leaf.element
    try:
        match literal:
            case bool():
                return bytes((literal,)) if element.type == Type.BOOLEAN and _is_plain(element) else None
            case Moment():
                return _counted(element, literal)
            case int() | float() | Decimal():
                return _number(element, literal)
            case str():
                return _text(element, literal)
            case bytes():
                logical = element.logicalType
                is_raw = _is_plain(element) or (logical is not None and logical.UUID is not None)
                return literal if is_raw and _holds(element, literal) else None
            case _:
                return None
    except (ConstructError, OverflowError, struct.error, UnicodeError, ArithmeticError):
        return None  # beyond what the type holds


def _is_plain(element: SchemaElement) -> bool:
    return element.logicalType is None and element.converted_type is None


def _holds(element: SchemaElement, raw: bytes) -> bool:
    """Whether a column of byte arrays may have text with these bytes."""
    if element.type == Type.FIXED_LEN_BYTE_ARRAY:
        return len(raw) == element.type_length
    return element.type == Type.BYTE_ARRAY


def _number(element: SchemaElement, number: float | Decimal) -> bytes | None:
    logical = element.logicalType
    if element.type in (Type.FLOAT, Type.DOUBLE) and _is_plain(element) and not isinstance(number, Decimal):
        code = "<f" if element.type == Type.FLOAT else "<d"
        raw = struct.pack(code, number)
        return raw if struct.unpack(code, raw)[0] == number and not math.isnan(number) else None
    is_decimal = logical is not None and logical.DECIMAL is not None
    if element.type not in (Type.INT32, Type.INT64, *([Type.FIXED_LEN_BYTE_ARRAY] if is_decimal else [])):
        return None
    scale = 0
    if logical is not None and logical.DECIMAL is not None:
        scale = logical.DECIMAL.scale
    elif not _is_plain(element) and (logical is None or logical.INTEGER is None):
        return None
    if not math.isfinite(number):
        return None
    unscaled = Fraction(str(number)) * 10**scale
    if unscaled.denominator != 1:
        return None
    if element.type == Type.FIXED_LEN_BYTE_ARRAY:
        return int(unscaled).to_bytes(element.type_length or 0, "big", signed=True)
    return _integer(element, int(unscaled))


def _text(element: SchemaElement, text: str) -> bytes | None:
    logical = element.logicalType
    if element.type in (Type.INT32, Type.INT64) and logical is not None:
        return _moment(element, logical, str(text))
    if element.type != Type.BYTE_ARRAY or isinstance(text, TypedText):
        return None
    is_text = logical is None or any(one is not None for one in (logical.STRING, logical.ENUM, logical.JSON))
    return text.encode() if is_text else None


def _integer(element: SchemaElement, number: int) -> bytes:
    numbers = UNSIGNED if type_order(element) is Order.UNSIGNED else FIXED_WIDTH
    # Written directly in Python: it runs for each row group, and calling the grammar would take longer than everything else.
    code: str = cast("Any", numbers[Type(element.type or 0)]).fmtstr
    return struct.pack(code, number)


def _moment(element: SchemaElement, logical: LogicalType, text: str) -> bytes | None:
    """A date, a time or a timestamp in the unit of the column, from its text as Arrow reads it."""
    import pyarrow as pa  # noqa: PLC0415 - golden recipes need no pyarrow for their numbers

    target: Any = _arrow_type(logical)
    if target is None:
        return None
    try:
        width: Any = pa.int32() if target.bit_width == pa.int32().bit_width else pa.int64()
        number = pa.scalar(text, pa.string()).cast(target).cast(width).as_py()
    except (pa.ArrowException, ValueError):
        return None  # not such a text, or finer than the unit
    return None if number is None else _integer(element, number)


def _counted(element: SchemaElement, moment: Moment) -> bytes | None:
    """A date or a time in the unit of the column, from its own unit."""
    logical = element.logicalType
    if element.type not in (Type.INT32, Type.INT64) or logical is None:
        return None
    of = logical.TIME if moment.kind == "time" else logical.TIMESTAMP if moment.kind == "timestamp" else None
    if moment.kind == "date":
        return _integer(element, moment.number) if logical.DATE is not None else None
    unit = of and next(
        (NANOSECONDS[row.name] for row in type(of.unit).fields if getattr(of.unit, row.name) is not None),
        None,
    )
    return _integer(element, moment.number // unit) if unit and moment.number % unit == 0 else None


NANOSECONDS = {"MILLIS": 1_000_000, "MICROS": 1_000, "NANOS": 1}
"""Nanoseconds in each unit of times and timestamps."""


def _arrow_type(logical: LogicalType) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - as above

    if logical.DATE is not None:
        return pa.date32()
    moment = logical.TIMESTAMP or logical.TIME
    if moment is None:
        return None
    unit: Any = next(
        (
            short
            for name, short in (("MILLIS", "ms"), ("MICROS", "us"), ("NANOS", "ns"))
            if getattr(moment.unit, name) is not None
        ),
        None,
    )
    if unit is None:
        return None
    if logical.TIME is not None:
        return pa.time32(unit) if unit == "ms" else pa.time64(unit)
    return pa.timestamp(unit, "UTC") if moment.isAdjustedToUTC else pa.timestamp(unit)
