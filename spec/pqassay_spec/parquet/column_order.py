"""The order of a column's values, which gives its bounds, its page index and its sorting their meaning.

Bounds are bytes.  The footer's `ColumnOrder` of the column decides how they compare. If it is the type-defined
order, the column's logical type decides, or its physical type if it has no logical type:

    >>> element = SchemaElement(name="depth", type=Type.INT32)
    >>> order = order_of(element, ColumnOrder(TYPE_ORDER=TypeDefinedOrder()))
    >>> key(order, bytes.fromhex("ffffffff")), key(order, bytes.fromhex("01000000"))
    (-1, 1)

`key` turns bytes into a value that Python compares in that order.  It is slow and readable; tests show that fast
versions agree with it.

Source: apache/parquet-format, ``parquet.thrift``, ``ColumnOrder``; ``LogicalTypes.md``.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple, cast

from construct import Float16l, Float32l, Float64l, Int8ul, Int32sl, Int32ul, Int64sl, Int64ul

from pqassay_spec.base.stand_ins import StandIn
from pqassay_spec.grammar.constructs import AnyConstruct
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.parquet.encoding.plain import FIXED_WIDTH, Int96Timestamp
from pqassay_spec.parquet.schema.types import ANNOTATIONS, CONVERTED, WIDE_TIMESTAMP, annotation_of
from pqassay_spec.parquet.thrift import ColumnOrder, ConvertedType, SchemaElement, Type, TypeDefinedOrder

TYPE_DEFINED = ColumnOrder(TYPE_ORDER=TypeDefinedOrder())
"""The order that the type defines: the only one in early versions of the format."""


class Order(Enum):
    """An order of a column's values."""

    BOOLEAN = "false before true"
    SIGNED = "signed numbers"
    UNSIGNED = "unsigned numbers"
    FLOAT = "IEEE numbers"
    HALF = "IEEE numbers of two bytes"
    BYTES = "bytes from the first on, unsigned"
    DECIMAL = "signed numbers, big-endian"
    SIGNED_12 = "signed numbers of twelve bytes, little-endian"
    TOTAL = "IEEE 754 total order"
    HALF_TOTAL = "IEEE 754 total order of two bytes"
    TIMESTAMP = "days, then nanoseconds"

    __hash__ = object.__hash__  # that of `Enum` takes ten times as long


FLOATING = (Order.FLOAT, Order.HALF, Order.TOTAL, Order.HALF_TOTAL)
"""The orders of floating point columns."""

SIGNED_ORDERS = (Order.BOOLEAN, Order.SIGNED, Order.FLOAT, Order.HALF, Order.DECIMAL, Order.SIGNED_12)
"""The type-defined orders with signed comparison, the only comparison of the deprecated ``min`` and ``max``."""

TOTAL = (Order.TOTAL, Order.HALF_TOTAL)
"""The orders that include NaN."""

_BY_TYPE: dict[int | None, Order] = {
    Type.BOOLEAN: Order.BOOLEAN,
    Type.INT32: Order.SIGNED,
    Type.INT64: Order.SIGNED,
    Type.FLOAT: Order.FLOAT,
    Type.DOUBLE: Order.FLOAT,
    Type.BYTE_ARRAY: Order.BYTES,
    Type.FIXED_LEN_BYTE_ARRAY: Order.BYTES,
}
_UNSIGNED = (ConvertedType.UINT_8, ConvertedType.UINT_16, ConvertedType.UINT_32, ConvertedType.UINT_64)


def annotation_fits(element: SchemaElement) -> bool:
    """Whether a leaf has no annotation, or a known annotation that fits its physical type.

    In other cases, readers ignore the annotation and all statistics, whose order is unknown.
    """
    if element.logicalType is not None:
        row = ANNOTATIONS.get(annotation_of(element) or "")
    elif element.converted_type is not None:
        row = CONVERTED.get(element.converted_type)
    else:
        return True
    return row is not None and row.fits(element)


def type_order(element: SchemaElement) -> Order | None:
    """The type-defined order of a leaf; ``None`` if Parquet does not define one, as for INT96 and intervals.

    A leaf whose annotation does not fit (`annotation_fits`) does not have an order either: its bounds must be ignored.
    """
    if not annotation_fits(element) or is_unordered(element):
        return None
    order = _BY_TYPE.get(element.type)
    logical, converted = element.logicalType, element.converted_type
    if order is Order.SIGNED:
        integer = logical.INTEGER if logical is not None else None
        unsigned = converted in _UNSIGNED if logical is None else integer is not None and not integer.isSigned
        return Order.UNSIGNED if unsigned else order
    if order is not Order.BYTES:
        return order
    if logical is None:
        return Order.DECIMAL if converted == ConvertedType.DECIMAL else order
    if logical.DECIMAL is not None:
        return Order.DECIMAL
    if logical.TIMESTAMP is not None:
        return Order.SIGNED_12
    return order if logical.FLOAT16 is None else Order.HALF


def is_unordered(element: SchemaElement) -> bool:
    """Whether Parquet defines that the type of a leaf has no order, or no value to order."""
    logical = element.logicalType
    if logical is None:
        return element.converted_type == ConvertedType.INTERVAL
    return logical.GEOMETRY is not None or logical.GEOGRAPHY is not None or logical.UNKNOWN is not None


def order_of(element: SchemaElement, column_order: ColumnOrder | None = TYPE_DEFINED) -> Order | None:
    """The order of a leaf's values under a column order; ``None`` if it has no order, or an unknown one.

    Args:
        element: The leaf.
        column_order: The column order in the footer. Without it (``None``), bounds have no meaning. The same is
            true of an order without a member, which comes from a later version of the format.
    """
    if column_order is None:
        return None
    if column_order.TYPE_ORDER is not None:
        return type_order(element)
    by_type = type_order(element)
    if column_order.IEEE_754_TOTAL_ORDER is not None:
        return {Order.FLOAT: Order.TOTAL, Order.HALF: Order.HALF_TOTAL}.get(by_type) if by_type else None
    if column_order.INT96_TIMESTAMP_ORDER is not None and element.type == Type.INT96:
        return Order.TIMESTAMP
    return None


WIDTHS: dict[int, int] = {
    Type.BOOLEAN: Int8ul.sizeof(),
    Type.INT96: Int96Timestamp.size,
    **{kind: value.sizeof() for kind, value in FIXED_WIDTH.items()},
}
"""Bytes of a bound of each physical type."""


def width_of(element: SchemaElement) -> int | None:
    """Bytes of every bound of a leaf; ``None`` if they vary, or the schema does not give the width."""
    if element.type == Type.FIXED_LEN_BYTE_ARRAY:
        return element.type_length
    return None if element.type is None else WIDTHS.get(element.type)


def bound_width(element: SchemaElement) -> int | None:
    """Width in bytes that is enough to be a valid bound of a leaf whose annotation fits; ``None`` if `is_bound` must check more.

    >>> bound_width(SchemaElement(name="id", type=Type.INT64))
    8
    """
    if element.type == Type.BOOLEAN:
        return None
    if element.type == Type.FIXED_LEN_BYTE_ARRAY and type_order(element) is Order.BYTES:
        return None
    return width_of(element)


def is_bound(element: SchemaElement, raw: bytes) -> bool:
    """Whether bytes can bound the values of a leaf whose annotation fits.

    They are the PLAIN bytes of one value, without a length. For a FIXED_LEN_BYTE_ARRAY that compares byte by byte,
    a prefix is enough: writers truncate long bounds.
    """
    if element.type == Type.BOOLEAN:
        return raw in (b"\0", b"\1")
    width = width_of(element)
    if width is None:
        return bool(raw) or type_order(element) is not Order.DECIMAL
    if element.type == Type.FIXED_LEN_BYTE_ARRAY and type_order(element) is Order.BYTES:
        return 0 < len(raw) <= width
    return len(raw) == width


def signed_key(element: SchemaElement, raw: bytes) -> Any:
    """The key of a deprecated bound, by signed comparison; ``None`` if the leaf does not have that order."""
    order = type_order(element)
    return key(order, raw) if order in SIGNED_ORDERS else None


_NUMBERS: dict[Order, tuple[AnyConstruct, ...]] = {
    Order.BOOLEAN: (Int8ul,),
    Order.SIGNED: (Int32sl, Int64sl),
    Order.UNSIGNED: (Int32ul, Int64ul),
    Order.FLOAT: (Float32l, Float64l),
    Order.HALF: (Float16l,),
    Order.TOTAL: (Float32l, Float64l),
    Order.HALF_TOTAL: (Float16l,),
}
_FORMATS: dict[tuple[Order, int], str] = {
    (order, number.sizeof()): cast("Any", number).fmtstr
    for order, numbers in _NUMBERS.items()
    for number in numbers
}
"""The formats of Python's ``struct`` for the numbers of each order, by width in bytes."""


def number_of(order: Order, raw: bytes) -> int | float | None:
    """The number that bytes encode, NaN included; ``None`` if they are not a number of this order."""
    if isinstance(raw, StandIn):
        found: int | float | None = raw.result(_numbers, order)
        return found
    if order is Order.DECIMAL:
        return int.from_bytes(raw, "big", signed=True) if raw else None
    if order is Order.SIGNED_12:
        return int.from_bytes(raw, "little", signed=True) if len(raw) == WIDE_TIMESTAMP else None
    code = _FORMATS.get((order, len(raw)))
    if code is None:
        return None
    value: int | float = struct.unpack(code, raw)[0]
    return value


def _numbers(order: Order, raws: Sequence[bytes]) -> list[int | float | None]:
    """The `number_of` each of many values, faster if all have the same width."""
    if len(raws) > 1 and len(set(map(len, raws))) == 1:
        code = _FORMATS.get((order, len(raws[0])))
        if code is not None:
            return list(struct.unpack(f"{code[0]}{len(raws)}{code[1]}", b"".join(raws)))
    return [number_of(order, raw) for raw in raws]


def is_nan(order: Order, raw: bytes) -> bool:
    """Whether bytes encode a NaN of a floating point column."""
    value = number_of(order, raw) if order in FLOATING else None
    return value is not None and value != value  # noqa: PLR0124 - NaN alone differs from itself


def excludes_numbers(order: Order, raw: bytes, *, above: bool) -> bool:
    """Whether a bound is a NaN that, by its sign, excludes all numbers.

    A reader that treats NaN as the greatest value finds no number above such a lower bound.

    Args:
        order: The order of the column.
        raw: The bound.
        above: Whether it is the upper bound.

    >>> [excludes_numbers(Order.FLOAT, bytes.fromhex("0000c07f"), above=above) for above in (False, True)]
    [True, False]
    """
    return is_nan(order, raw) and bool(raw[-1] & SIGN) == above


def key(order: Order, raw: bytes) -> Any:
    """The sort key of bytes in an order; ``None`` if they are not in the order: NaN, or not a value of the type.

    >>> key(Order.DECIMAL, bytes.fromhex("ff6a")), key(Order.FLOAT, bytes.fromhex("0000c07f"))
    (-150, None)
    >>> key(Order.TOTAL, bytes.fromhex("00000080")) < key(Order.TOTAL, bytes.fromhex("00000000"))
    True
    """
    if order is Order.BYTES:
        return raw
    if order is Order.TIMESTAMP:
        if len(raw) != Int96Timestamp.size:
            return None
        nanoseconds, days = Int96Timestamp.read(raw)
        return days, nanoseconds
    value = number_of(order, raw)
    if value is None:
        return None
    if order in TOTAL:
        bits = int.from_bytes(raw, "little", signed=True)
        magnitude = (1 << 8 * len(raw) - 1) - 1
        return bits if bits >= 0 else bits ^ magnitude
    return None if value != value else value  # noqa: PLR0124 - NaN alone differs from itself


_COMPARED_AS_NUMBERS = (Order.BOOLEAN, Order.SIGNED, Order.UNSIGNED, Order.FLOAT, Order.HALF)

SIGN = 0x80
"""The sign bit within the byte that contains it: the last byte of a little-endian number, the first of a big-endian one."""


class Zeros(NamedTuple):
    """The two zeros of a floating point type, as their PLAIN bytes."""

    negative: bytes
    positive: bytes


def zeros(width: int) -> Zeros:
    """The two zeros of a floating point type of the given width in bytes.

    >>> [raw.hex() for raw in zeros(4)]
    ['00000080', '00000000']
    """
    positive = bytes(width)
    return Zeros(positive[:-1] + bytes([SIGN]), positive)


def key_by_signed_bytes(raw: bytes) -> bytes:
    """The sort key of bytes in the order of signed bytes, which some writers of the deprecated bounds used.

    >>> key_by_signed_bytes(bytes.fromhex("ff")) < key_by_signed_bytes(bytes.fromhex("01"))
    True
    """
    return bytes(byte ^ SIGN for byte in raw)


def keys(order: Order, raws: Sequence[bytes]) -> list[Any]:
    """The `key` of each of many values, faster if all are numbers of the same width.

    >>> keys(Order.SIGNED, [bytes.fromhex("ffffffff"), bytes.fromhex("01000000")])
    [-1, 1]
    """
    if order is Order.BYTES:
        return list(raws)
    if order in _COMPARED_AS_NUMBERS and not any(isinstance(raw, StandIn) for raw in raws):
        values = _numbers(order, raws)
        return [None if value != value else value for value in values]  # noqa: PLR0124 - NaN
    return [key(order, raw) for raw in raws]


def shown(order: Order | None, raw: bytes) -> str:
    """A value or a bound as text for messages."""
    if order is Order.TIMESTAMP and (found := key(order, raw)):
        return f"Julian day {found[0]}, {found[1]} ns"
    value = None if order is None else number_of(order, raw)
    if value is not None:
        return str(bool(value)) if order is Order.BOOLEAN else repr(value)
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = "\0"
    return show(text, width=40) if text.isprintable() else f"0x{raw[:20].hex()}" + "…" * (len(raw) > 20)
