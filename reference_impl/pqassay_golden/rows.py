"""The rows of a golden case for its manifest: literals, with type tags for values that JSON lacks.

    >>> from pqassay_golden.tiny.columns import decimal
    >>> literal(decimal(9, 2), -5), literal("uint64", 2**64 - 1), literal(ListOf("date"), [1, None])
    (Decimal(decimal='-0.05'), LongInteger(int='18446744073709551615'), List(list=[Date(date='1'), None]))

Source: ``conformance/PROTOCOL.md``, section "Values".
"""

from __future__ import annotations

from typing import Any

from pqassay_golden.tiny.columns import (
    KINDS,
    NANOSECONDS_OF_A_DAY,
    AnyType,
    ListOf,
    MapOf,
    Repeated,
    Scalar,
    Struct,
    raw_value,
    type_name,
)
from pqassay_golden.tiny.parquet import TinyParquet
from pqassay_reference.columns.literals import decimal_text
from pqassay_spec.golden.literals import (
    Column,
    Date,
    Decimal,
    Float,
    List,
    Map,
    Rows,
    Time,
    Timestamp,
    Written,
    write_value,
)
from pqassay_spec.golden.literals import Struct as WrittenStruct
from pqassay_spec.parquet.column_order import Order, number_of
from pqassay_spec.parquet.encoding.plain import JULIAN_DAY_OF_1970, Int96Timestamp
from pqassay_spec.parquet.thrift import LogicalType, TimeUnit, Type


def literal_rows(file: TinyParquet) -> Rows:
    """The columns and rows of a file."""
    columns = [
        Column(name=column.name, type=type_name(column.kind), nullable=column.optional)
        for column in file.columns
    ]
    rows = [
        [literal(column.kind, value) for value, column in zip(row, file.columns, strict=True)]
        for row in file.rows()
    ]
    return Rows(columns, rows)


def literal(kind: AnyType, value: Any) -> Written:
    """One value in the form of a manifest."""
    match kind:
        case Repeated():
            return List([literal(kind.element, item) for item in value or ()])
        case _ if value is None:
            return None
        case ListOf():
            return List([literal(kind.element, item) for item in value])
        case MapOf():
            return Map([(literal(kind.key, key), literal(kind.value, item)) for key, item in value])
        case Struct():
            return WrittenStruct({part.name: literal(part.type, value[part.name]) for part in kind.members})
        case Scalar():
            return _single(kind, value)
        case _:
            return _single(KINDS[kind], value)


_FLOATS = {Type.FLOAT: Order.FLOAT, Type.DOUBLE: Order.FLOAT}


def _single(scalar: Scalar, value: Any) -> Written:
    """A single value, by its logical type."""
    logical, raw = scalar.logical, raw_value(scalar, value)
    order = Order.HALF if logical is not None and logical.FLOAT16 else _FLOATS.get(scalar.physical)
    if order is not None:
        return Float(repr(number_of(order, raw)))
    if scalar.physical is Type.BOOLEAN:
        return raw != b"\0"
    if scalar.physical is Type.INT96:
        stamp = Int96Timestamp.read(raw)
        days = stamp.julian_day - JULIAN_DAY_OF_1970
        return Timestamp(str(days * NANOSECONDS_OF_A_DAY + stamp.nanoseconds))
    if scalar.is_decimal:
        return Decimal(decimal_text(_unscaled(scalar, raw), scalar.scale or 0))
    if scalar.physical in (Type.INT32, Type.INT64):
        return _integer(scalar, raw)
    if logical is not None and logical.TIMESTAMP is not None:
        return Timestamp(
            str(int(number_of(Order.SIGNED_12, raw) or 0) * _nanoseconds(logical.TIMESTAMP.unit))
        )
    return write_value(raw.decode() if scalar.is_text else raw)


def _integer(scalar: Scalar, raw: bytes) -> Written:
    logical = scalar.logical or LogicalType()
    number = int(number_of(Order.UNSIGNED if scalar.is_unsigned else Order.SIGNED, raw) or 0)
    if logical.DATE is not None:
        return Date(str(number))
    if logical.TIME is not None:
        return Time(str(number * _nanoseconds(logical.TIME.unit)))
    if logical.TIMESTAMP is not None:
        return Timestamp(str(number * _nanoseconds(logical.TIMESTAMP.unit)))
    return write_value(number)


def _unscaled(scalar: Scalar, raw: bytes) -> int:
    signed = Order.SIGNED if scalar.physical in (Type.INT32, Type.INT64) else Order.DECIMAL
    return int(number_of(signed, raw) or 0)


def _nanoseconds(unit: TimeUnit) -> int:
    if unit.MILLIS is not None:
        return 1_000_000
    return 1_000 if unit.MICROS is not None else 1
