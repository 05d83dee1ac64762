"""Bounds in table metadata, converted to the bytes that a data file would store.

A table's type and the file's need not be the same: columns are widened, timestamps are stored in other units, decimals in other widths.
If the file's type cannot represent a bound exactly, the next value that encloses the same values is used.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from enum import Enum
from functools import partial
from typing import Any, Literal, NamedTuple

from pqassay.tables.claims import Typed, ValueKind
from pqassay.under_test.file import NotChecked
from pqassay_spec.parquet.column_order import FLOATING, Order, key, shown, type_order, width_of
from pqassay_spec.parquet.encoding.plain import JULIAN_DAY_OF_1970, Int96Timestamp
from pqassay_spec.parquet.schema.logical_values import EPOCH, UNITS, logical_name
from pqassay_spec.parquet.thrift import SchemaElement, Type
from pqassay_tables.metadata.moments import DAY, SECOND

DIGITS = Context(prec=1000)
"""The precision of compared numbers in digits; no bound that is read has as many."""


class Unreached(Enum):
    """A placeholder for a bound that a column cannot store."""

    BY_ANY = "excludes every possible value of the column"


Stored = bytes | Unreached | None
"""A bound in the form of a column: its bytes; or ``None`` if it has no effect, such as NaN or a bound of all possible values."""


class Form(NamedTuple):
    """The form of a column's values.

    Attributes:
        element: The column's element in the file.
        order: The order of its type, independent of the footer's column orders; ``None`` if unknown.
        name: Its logical type; empty if it has none.
    """

    element: SchemaElement
    order: Order | None
    name: str


def form_of(element: SchemaElement) -> Form:
    """The form of a column's values, from its element in the file."""
    order = Order.TIMESTAMP if element.type == Type.INT96 else type_order(element)
    return Form(element, order, logical_name(element) or "")


Stores = Callable[[Any, int, bool], Stored]
"""A function that converts a bound to the form of a column: given the value, its tolerance in its unit, and whether it is an upper bound."""


def stored_bound(element: SchemaElement, bound: Typed, *, above: bool) -> Stored:
    """A bound in the form of a column, given its element in the file; see `storing`."""
    return storing(form_of(element), bound.kind)(bound.value, 0, above)


def storing(form: Form, kind: ValueKind) -> Stores:
    """A function that converts bounds of this kind to the form of a column.

    Args:
        form: The form of the column's values.
        kind: The kind.

    Raises:
        NotChecked: The types are unrelated, so there is no conversion.
    """
    order = form.order
    if order is None:
        raise _strange(form.element, kind)
    if kind in (ValueKind.TEXT, ValueKind.BYTES):
        if order is not Order.BYTES:
            raise _strange(form.element, kind)
        return lambda value, _, __: bytes(value)
    if kind is ValueKind.BOOLEAN:
        if order is not Order.BOOLEAN:
            raise _strange(form.element, kind)
        return lambda value, _, __: bytes([bool(value)])
    if order in FLOATING:
        if kind not in (ValueKind.FLOATING, ValueKind.NUMBER):
            raise _strange(form.element, kind)
        return partial(_floating, struct.Struct(_FLOATS[width_of(form.element) or 8]))
    whole, integer = _whole(form, kind), _integer(form.element, order)

    def store(value: Any, slack: int, above: bool) -> Stored:
        if kind is ValueKind.FLOATING and not math.isfinite(value):
            return None if math.isnan(value) or (value > 0) is above else Unreached.BY_ANY
        return integer(whole(value, slack, above), above)

    return store


def shown_value(element: SchemaElement, order: Order, raw: bytes) -> str:
    """A value of a column for messages, by its logical type: a decimal with its point, or a date.

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


def _strange(element: SchemaElement, kind: ValueKind) -> NotChecked:
    name = logical_name(element) or next((one.name for one in Type if one == element.type), "unknown")
    return NotChecked(f"a {kind.value} cannot be compared with values of type {name}", "tool")


_FLOATS = {8: "<d", 4: "<f", 2: "<e"}


def _floating(packed: struct.Struct, value: Any, _: int, __: bool) -> Stored:
    number = float(value)
    if math.isnan(number):
        return None
    try:
        return packed.pack(number)
    except OverflowError:
        return packed.pack(math.copysign(math.inf, number))


def _whole(form: Form, kind: ValueKind) -> Callable[[Any, int, bool], int]:
    """A function that converts a bound to the integer that a column stores, rounded so that it encloses the same values."""
    element, _, name = form
    if kind in (ValueKind.DATE, ValueKind.TIMESTAMP):
        if name == "DATE":
            unit = DAY
        elif element.type == Type.INT96:
            unit = 1
        else:
            unit = _unit("TIMESTAMP(", name)
        factor = DAY if kind is ValueKind.DATE else 1
        if not unit:
            raise _strange(element, kind)

        def moment(value: Any, slack: int, above: bool) -> int:
            at = int(value) * factor
            return (at + slack) // unit if above else -((slack - at) // unit)

        return moment
    if kind is ValueKind.TIME:
        unit = _unit("TIME(", name)
        if not unit:
            raise _strange(element, kind)
        return lambda value, _, above: int(value) // unit if above else -(-int(value) // unit)
    if name and name != "DECIMAL" and not name.startswith("INTEGER"):
        raise _strange(element, kind)
    scale = _scale(element) if name == "DECIMAL" else 0

    def number(value: Any, _: int, above: bool) -> int:
        if not scale and type(value) is int:
            return value
        value = Decimal(value).scaleb(scale, DIGITS)
        if abs(value.adjusted()) > DIGITS.prec:
            raise _strange(element, kind)
        return int(value.to_integral_value(ROUND_FLOOR if above else ROUND_CEILING, DIGITS))

    return number


def _unit(begin: str, name: str) -> int:
    """The nanoseconds of one unit of a logical type; 0 for other types."""
    parts = UNITS.get(name.removeprefix(begin).removesuffix(")"), 0) if name.startswith(begin) else 0
    return SECOND // parts if parts else 0


def _integer(element: SchemaElement, order: Order) -> Callable[[int, bool], Stored]:
    """A function that encodes an integer as a column stores it."""
    width, signed = width_of(element), order is not Order.UNSIGNED
    end: Literal["big", "little"] = "big" if order is Order.DECIMAL else "little"
    if order is Order.TIMESTAMP:
        width = 4  # times of the day, which need fewer bits
    elif width is None:
        if order is Order.DECIMAL:
            return lambda number, _: number.to_bytes(number.bit_length() // 8 + 1, end, signed=True)
        width = 8
    least = -(1 << 8 * width - 1) if signed else 0
    greatest = least + (1 << 8 * width) - 1

    def store(number: int, above: bool) -> Stored:
        if least <= number <= greatest:
            return number.to_bytes(width, end, signed=signed)
        return None if (number > greatest) is above else Unreached.BY_ANY

    def store_moment(number: int, above: bool) -> Stored:
        days, rest = divmod(number, DAY)
        days += JULIAN_DAY_OF_1970
        return Int96Timestamp(rest, days).build() if least <= days <= greatest else store(days, above)

    return store_moment if order is Order.TIMESTAMP else store
