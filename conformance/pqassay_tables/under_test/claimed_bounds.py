"""Bounds that a table gives, as the bytes that a data file would store for them.

A table's type and the file's need not be the same: columns are widened, timestamps are stored in other units, decimals in other widths.
Where the file's type does not hold a bound exactly, the next value is taken that encloses the same values.
"""

from __future__ import annotations

import math
import struct
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import NamedTuple

from pqassay.tables.claims import Bound, ValueKind
from pqassay.under_test.file import NotChecked
from pqassay_spec.parquet.column_order import FLOATING, Order, key, shown, type_order, width_of
from pqassay_spec.parquet.encoding.plain import JULIAN_DAY_OF_1970, Int96Timestamp
from pqassay_spec.parquet.schema.logical_values import EPOCH, UNITS, logical_name
from pqassay_spec.parquet.thrift import SchemaElement, Type
from pqassay_tables.metadata.moments import DAY, SECOND

DIGITS = Context(prec=1000)
"""Digits of numbers that are compared; no bound that is read has as many."""

MOST_WIDTH = 64
"""Bytes of the longest number that a bound is made into."""


class StoredBound(NamedTuple):
    """A bound in the form of a column of a data file.

    Attributes:
        raw: Its bytes; ``None`` where it encloses whatever the column can hold.
        order: How they compare.
        is_beyond: Whether it leaves out whatever the column can hold.
    """

    raw: bytes | None
    order: Order
    is_beyond: bool = False


class Form(NamedTuple):
    """What values of a column are.

    Attributes:
        element: The column's element in the file.
        order: How its values compare, whatever the footer says of column orders; ``None`` where that is not known.
        name: Its logical type; empty without one.
    """

    element: SchemaElement
    order: Order | None
    name: str


def form_of(element: SchemaElement) -> Form:
    """What values of a column are, by its element in the file."""
    order = Order.TIMESTAMP if element.type == Type.INT96 else type_order(element)
    return Form(element, order, logical_name(element) or "")


def stored_bound(element: SchemaElement, bound: Bound, *, above: bool) -> StoredBound | None:
    """A bound in the form of a column, by its element in the file; see `bound_in`."""
    return bound_in(form_of(element), bound, above=above)


def bound_in(form: Form, bound: Bound, *, above: bool) -> StoredBound | None:
    """A bound in the form of a column.

    Args:
        form: What values of the column are.
        bound: The bound.
        above: Whether it is an upper one.

    Returns:
        The bound; ``None`` if it bounds nothing, as NaN does.

    Raises:
        NotChecked: There is no such form: the types have nothing to do with each other.
    """
    element, order, _ = form
    if order is None:
        raise _strange(element, bound)
    if bound.kind in (ValueKind.TEXT, ValueKind.BYTES):
        if order is not Order.BYTES or not isinstance(bound.value, bytes):
            raise _strange(element, bound)
        return StoredBound(bound.value, order)
    if bound.kind is ValueKind.BOOLEAN:
        if order is not Order.BOOLEAN:
            raise _strange(element, bound)
        return StoredBound(bytes([int(bool(bound.value))]), order)
    if isinstance(bound.value, float) and math.isnan(bound.value):
        return None
    if order in FLOATING:
        return StoredBound(_floating(element, bound), order)
    if isinstance(bound.value, float) and math.isinf(bound.value):
        is_open = (bound.value > 0) is above
        return StoredBound(None, order, is_beyond=not is_open)
    number = _number(form, bound, above=above)
    if order is Order.TIMESTAMP:
        days, rest = divmod(number, DAY)
        return _in_range(days + JULIAN_DAY_OF_1970, 4, order, above=above) or StoredBound(
            Int96Timestamp(rest, days + JULIAN_DAY_OF_1970).build(), order
        )
    return _integer(element, order, number, above=above)


def shown_value(element: SchemaElement, order: Order, raw: bytes) -> str:
    """A value of a column as its type means it, for messages: a decimal with its point, a date as one.

    >>> from pqassay_spec.parquet.thrift import ConvertedType
    >>> price = SchemaElement(name="price", type=Type.INT32, converted_type=ConvertedType.DECIMAL, precision=9, scale=2)
    >>> shown_value(price, Order.SIGNED, (693).to_bytes(4, "little"))
    '6.93'
    """
    name, number = logical_name(element) or "", key(order, raw)
    if not isinstance(number, int) or order in (Order.BYTES, Order.BOOLEAN):
        return shown(order, raw)
    if name == "DECIMAL":
        return f"{Decimal(number).scaleb(-_scale(element), DIGITS):f}"
    unit = (
        UNITS.get(name.removeprefix("TIMESTAMP(").removesuffix(")"), 0)
        if name.startswith("TIMESTAMP(")
        else 0
    )
    try:
        if name == "DATE":
            return (EPOCH + timedelta(number)).isoformat()
        if unit:
            seconds, rest = divmod(number, unit)
            moment = datetime(1970, 1, 1) + timedelta(seconds=seconds)  # noqa: DTZ001 - local ones have no zone
            return f"{moment.isoformat()}.{rest:0{len(str(unit)) - 1}}"
    except OverflowError:
        pass
    return shown(order, raw)


def _scale(element: SchemaElement) -> int:
    logical = element.logicalType
    return (
        logical.DECIMAL.scale if logical is not None and logical.DECIMAL is not None else element.scale
    ) or 0


def _strange(element: SchemaElement, bound: Bound) -> NotChecked:
    kind = logical_name(element) or next((one.name for one in Type if one == element.type), "unknown")
    return NotChecked(f"a {bound.kind.value} cannot be compared with values of type {kind}", "tool")


def _floating(element: SchemaElement, bound: Bound) -> bytes:
    value = bound.value
    if bound.kind not in (ValueKind.FLOATING, ValueKind.NUMBER) or isinstance(value, bytes):
        raise _strange(element, bound)
    width = width_of(element) or 8
    number = float(value)
    if width == 8:
        return struct.pack("<d", number)
    try:
        return struct.pack("<f" if width == 4 else "<e", number)
    except OverflowError:
        return struct.pack("<f" if width == 4 else "<e", math.copysign(math.inf, number))


def _number(form: Form, bound: Bound, *, above: bool) -> int:
    """The number that a column of integers stores for a bound, rounded so that it encloses the same values."""
    element, _, name = form
    if bound.kind is ValueKind.DATE or bound.kind is ValueKind.TIMESTAMP:
        moment = int(bound.value) * (DAY if bound.kind is ValueKind.DATE else 1)
        moment += bound.slack if above else -bound.slack
        if name == "DATE":
            return _divided(moment, DAY, above=above)
        if element.type == Type.INT96:
            return moment
        unit = UNITS.get(name.removeprefix("TIMESTAMP(").removesuffix(")"))
        if not name.startswith("TIMESTAMP(") or unit is None:
            raise _strange(element, bound)
        return _divided(moment, SECOND // unit, above=above)
    if bound.kind is ValueKind.TIME:
        unit = UNITS.get(name.removeprefix("TIME(").removesuffix(")"))
        if not name.startswith("TIME(") or unit is None:
            raise _strange(element, bound)
        return _divided(int(bound.value), SECOND // unit, above=above)
    if isinstance(bound.value, bytes) or (name and name != "DECIMAL" and not name.startswith("INTEGER")):
        raise _strange(element, bound)
    value = Decimal(bound.value)
    if name == "DECIMAL":
        value = value.scaleb(_scale(element), DIGITS)
    if abs(value.adjusted()) > DIGITS.prec:
        raise _strange(element, bound)
    return int(value.to_integral_value(ROUND_FLOOR if above else ROUND_CEILING, DIGITS))


def _divided(value: int, by: int, *, above: bool) -> int:
    return value // by if above else -(-value // by)


def _integer(element: SchemaElement, order: Order, number: int, *, above: bool) -> StoredBound:
    width = width_of(element)
    if order is Order.DECIMAL:
        needed = number.bit_length() // 8 + 1
        if width is None:
            return StoredBound(number.to_bytes(needed, "big", signed=True), order)
        if needed <= width:
            return StoredBound(number.to_bytes(width, "big", signed=True), order)
        return StoredBound(None, order, is_beyond=(number > 0) is not above)
    signed = order is not Order.UNSIGNED
    found = _in_range(number, width or 8, order, above=above, signed=signed)
    return found or StoredBound(number.to_bytes(width or 8, "little", signed=signed), order)


def _in_range(
    number: int, width: int, order: Order, *, above: bool, signed: bool = True
) -> StoredBound | None:
    """A bound that no value of so many bytes reaches; ``None`` for one that is such a value."""
    bits = 8 * width
    least, greatest = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if least <= number <= greatest:
        return None
    return StoredBound(None, order, is_beyond=(number > greatest) is not above)
