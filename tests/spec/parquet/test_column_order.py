"""The orders of columns: literals for each, and agreement with Python's own comparison and bit patterns."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from each import each
from pqassay_spec.grammar.thrift import UnknownField
from pqassay_spec.grammar.thrift_wire import WireType
from pqassay_spec.parquet.column_order import (
    SIGNED_ORDERS,
    TYPE_DEFINED,
    Order,
    annotation_fits,
    is_bound,
    is_nan,
    is_unordered,
    key,
    key_by_signed_bytes,
    number_of,
    order_of,
    shown,
    signed_key,
    type_order,
    width_of,
    zeros,
)
from pqassay_spec.parquet.thrift import (
    BsonType,
    ColumnOrder,
    ConvertedType,
    DateType,
    DecimalType,
    EnumType,
    FileType,
    Float16Type,
    GeographyType,
    GeometryType,
    IEEE754TotalOrder,
    Int96TimestampOrder,
    IntType,
    JsonType,
    ListType,
    LogicalType,
    MapType,
    MicroSeconds,
    MilliSeconds,
    NanoSeconds,
    NullType,
    SchemaElement,
    StringType,
    TimestampType,
    TimeType,
    TimeUnit,
    Type,
    UUIDType,
    VariantType,
)

TOTAL_ORDER = ColumnOrder(IEEE_754_TOTAL_ORDER=IEEE754TotalOrder())
INT96_ORDER = ColumnOrder(INT96_TIMESTAMP_ORDER=Int96TimestampOrder())
LATER = UnknownField(99, WireType.STRUCT, b"\0")
MILLIS, MICROS, NANOS = (
    TimeUnit(MILLIS=MilliSeconds()),
    TimeUnit(MICROS=MicroSeconds()),
    TimeUnit(NANOS=NanoSeconds()),
)


def leaf(
    physical: Type, length: int | None = None, converted: ConvertedType | None = None, **logical: Any
) -> SchemaElement:
    """A leaf of a schema; a member of `LogicalType` by its name."""
    annotation = LogicalType(**logical) if logical else None
    return SchemaElement(
        name="a", type=physical, type_length=length, converted_type=converted, logicalType=annotation
    )


FIXED, BYTES = Type.FIXED_LEN_BYTE_ARRAY, Type.BYTE_ARRAY
DECIMAL = DecimalType(scale=2, precision=9)


def integer(bits: int, *, signed: bool) -> IntType:
    return IntType(bitWidth=bits, isSigned=signed)


def moment(unit: TimeUnit) -> TimestampType:
    return TimestampType(isAdjustedToUTC=True, unit=unit)


def clock(unit: TimeUnit) -> TimeType:
    return TimeType(isAdjustedToUTC=True, unit=unit)


ORDERS: list[tuple[SchemaElement, Order | None]] = [
    (leaf(Type.BOOLEAN), Order.BOOLEAN),
    (leaf(Type.INT32), Order.SIGNED),
    (leaf(Type.INT64), Order.SIGNED),
    (leaf(Type.INT96), None),
    (leaf(Type.FLOAT), Order.FLOAT),
    (leaf(Type.DOUBLE), Order.FLOAT),
    (leaf(BYTES), Order.BYTES),
    (leaf(FIXED, 5), Order.BYTES),
    (leaf(BYTES, STRING=StringType()), Order.BYTES),
    (leaf(BYTES, ENUM=EnumType()), Order.BYTES),
    (leaf(BYTES, JSON=JsonType()), Order.BYTES),
    (leaf(BYTES, BSON=BsonType()), Order.BYTES),
    (leaf(FIXED, 16, UUID=UUIDType()), Order.BYTES),
    (leaf(FIXED, 2, FLOAT16=Float16Type()), Order.HALF),
    (leaf(Type.INT32, DECIMAL=DECIMAL), Order.SIGNED),
    (leaf(Type.INT64, DECIMAL=DECIMAL), Order.SIGNED),
    (leaf(BYTES, DECIMAL=DECIMAL), Order.DECIMAL),
    (leaf(FIXED, 4, DECIMAL=DECIMAL), Order.DECIMAL),
    (leaf(Type.INT32, DATE=DateType()), Order.SIGNED),
    (leaf(Type.INT32, TIME=clock(MILLIS)), Order.SIGNED),
    (leaf(Type.INT64, TIME=clock(MICROS)), Order.SIGNED),
    (leaf(Type.INT64, TIME=clock(NANOS)), Order.SIGNED),
    (leaf(Type.INT64, TIMESTAMP=moment(MILLIS)), Order.SIGNED),
    (leaf(Type.INT64, TIMESTAMP=moment(NANOS)), Order.SIGNED),
    (leaf(FIXED, 12, TIMESTAMP=moment(NANOS)), Order.SIGNED_12),
    *((leaf(Type.INT32, INTEGER=integer(bits, signed=True)), Order.SIGNED) for bits in (8, 16, 32)),
    *((leaf(Type.INT32, INTEGER=integer(bits, signed=False)), Order.UNSIGNED) for bits in (8, 16, 32)),
    (leaf(Type.INT64, INTEGER=integer(64, signed=True)), Order.SIGNED),
    (leaf(Type.INT64, INTEGER=integer(64, signed=False)), Order.UNSIGNED),
    (leaf(BYTES, GEOMETRY=GeometryType()), None),
    (leaf(BYTES, GEOGRAPHY=GeographyType()), None),
    (leaf(Type.INT32, UNKNOWN=NullType()), None),
    (leaf(BYTES, converted=ConvertedType.UTF8), Order.BYTES),
    (leaf(BYTES, converted=ConvertedType.ENUM), Order.BYTES),
    (leaf(BYTES, converted=ConvertedType.JSON), Order.BYTES),
    (leaf(BYTES, converted=ConvertedType.BSON), Order.BYTES),
    (leaf(BYTES, converted=ConvertedType.DECIMAL), Order.DECIMAL),
    (leaf(FIXED, 9, converted=ConvertedType.DECIMAL), Order.DECIMAL),
    (leaf(Type.INT32, converted=ConvertedType.DECIMAL), Order.SIGNED),
    (leaf(Type.INT32, converted=ConvertedType.DATE), Order.SIGNED),
    (leaf(Type.INT32, converted=ConvertedType.TIME_MILLIS), Order.SIGNED),
    (leaf(Type.INT64, converted=ConvertedType.TIME_MICROS), Order.SIGNED),
    (leaf(Type.INT64, converted=ConvertedType.TIMESTAMP_MILLIS), Order.SIGNED),
    (leaf(Type.INT64, converted=ConvertedType.TIMESTAMP_MICROS), Order.SIGNED),
    (leaf(Type.INT32, converted=ConvertedType.INT_8), Order.SIGNED),
    (leaf(Type.INT64, converted=ConvertedType.INT_64), Order.SIGNED),
    (leaf(Type.INT32, converted=ConvertedType.UINT_8), Order.UNSIGNED),
    (leaf(Type.INT32, converted=ConvertedType.UINT_16), Order.UNSIGNED),
    (leaf(Type.INT32, converted=ConvertedType.UINT_32), Order.UNSIGNED),
    (leaf(Type.INT64, converted=ConvertedType.UINT_64), Order.UNSIGNED),
    (leaf(FIXED, 12, converted=ConvertedType.INTERVAL), None),
    # The logical type counts where both are given.
    (leaf(Type.INT32, converted=ConvertedType.UINT_32, INTEGER=integer(32, signed=True)), Order.SIGNED),
]


@each(("element", "expected"), ORDERS)
def test_the_type_defined_order_follows_the_logical_type(
    element: SchemaElement, expected: Order | None
) -> None:
    assert annotation_fits(element)
    assert expected == type_order(element) == order_of(element, TYPE_DEFINED)


IGNORED = [
    leaf(Type.INT32, unknown=[LATER]),
    leaf(BYTES, converted=ConvertedType.UTF8, unknown=[LATER]),
    leaf(Type.INT32, STRING=StringType()),
    leaf(FIXED, 15, UUID=UUIDType()),
    leaf(FIXED, 4, FLOAT16=Float16Type()),
    leaf(Type.DOUBLE, DECIMAL=DECIMAL),
    leaf(Type.INT64, DATE=DateType()),
    leaf(Type.INT64, TIME=clock(MILLIS)),
    leaf(Type.INT32, TIME=clock(MICROS)),
    leaf(Type.INT32, TIMESTAMP=moment(MILLIS)),
    leaf(FIXED, 11, TIMESTAMP=moment(NANOS)),
    leaf(FIXED, 12, converted=ConvertedType.TIMESTAMP_MILLIS),
    leaf(Type.INT64, INTEGER=integer(32, signed=True)),
    leaf(Type.INT32, INTEGER=integer(64, signed=True)),
    leaf(Type.INT32, INTEGER=integer(7, signed=True)),
    leaf(Type.INT64, TIME=TimeType(isAdjustedToUTC=True, unit=TimeUnit(unknown=[LATER]))),
    leaf(BYTES, VARIANT=VariantType()),
    leaf(BYTES, FILE=FileType()),
    leaf(BYTES, LIST=ListType()),
    leaf(BYTES, MAP=MapType()),
    leaf(Type.INT32, converted=ConvertedType.UTF8),
    leaf(Type.INT64, converted=ConvertedType.UINT_32),
    leaf(FIXED, 11, converted=ConvertedType.INTERVAL),
    leaf(BYTES, converted=ConvertedType.LIST),
    SchemaElement(name="a", type=BYTES, converted_type=99),
]


@each("element", IGNORED)
def test_an_annotation_that_nobody_knows_or_that_fits_no_such_column_leaves_no_order(
    element: SchemaElement,
) -> None:
    assert not annotation_fits(element)
    assert type_order(element) is None


def test_only_geometries_intervals_and_columns_of_nulls_are_without_an_order() -> None:
    unordered = [element for element, _ in ORDERS if is_unordered(element)]

    assert [
        leaf(BYTES, GEOMETRY=GeometryType()),
        leaf(BYTES, GEOGRAPHY=GeographyType()),
        leaf(Type.INT32, UNKNOWN=NullType()),
        leaf(FIXED, 12, converted=ConvertedType.INTERVAL),
    ] == unordered


@each(
    ("column_order", "element", "expected"),
    [
        (None, leaf(Type.INT32), None),
        (ColumnOrder(unknown=[LATER]), leaf(Type.INT32), None),
        (TOTAL_ORDER, leaf(Type.FLOAT), Order.TOTAL),
        (TOTAL_ORDER, leaf(Type.DOUBLE), Order.TOTAL),
        (TOTAL_ORDER, leaf(FIXED, 2, FLOAT16=Float16Type()), Order.HALF_TOTAL),
        (TOTAL_ORDER, leaf(FIXED, 2), None),
        (TOTAL_ORDER, leaf(Type.INT32), None),
        (TOTAL_ORDER, leaf(Type.INT96), None),
        (INT96_ORDER, leaf(Type.INT96), Order.TIMESTAMP),
        (INT96_ORDER, leaf(Type.INT64), None),
        (TYPE_DEFINED, leaf(Type.INT96), None),
    ],
)
def test_a_column_order_holds_for_the_columns_it_is_made_for(
    column_order: ColumnOrder | None, element: SchemaElement, expected: Order | None
) -> None:
    assert expected == order_of(element, column_order)


# ---------------------------------------------------------------------------------------------- literals

ASCENDING: dict[Order, list[str]] = {
    Order.BOOLEAN: ["00", "01"],
    # -2147483648, -1, 0, 1, 256, 2147483647
    Order.SIGNED: ["00000080", "ffffffff", "00000000", "01000000", "00010000", "ffffff7f"],
    # 0, 1, 256, 2147483648, 4294967295
    Order.UNSIGNED: ["00000000", "01000000", "00010000", "00000080", "ffffffff"],
    # -inf, -1.5, 0.0, 5e-324, 1.0, inf
    Order.FLOAT: [
        "000000000000f0ff", "000000000000f8bf", "0000000000000000", "0100000000000000", "000000000000f03f",
        "000000000000f07f",
    ],
    # -inf, -1.0, 0.0, 1.0, 65504.0, inf
    Order.HALF: ["00fc", "00bc", "0000", "003c", "ff7b", "007c"],
    Order.BYTES: ["", "00", "0000", "00ff", "7f", "80", "80ff", "c3a9", "ff"],
    # -32768, -256, -150, -129, -128, -1, 0, 1, 127, 128, 255, 256
    Order.DECIMAL: [
        "8000", "ff00", "ff6a", "ff7f", "80", "ff", "00", "01", "7f", "0080", "00ff", "0100",
    ],
    # -2^95, -256, -1, 0, 1, 256, 2^64
    Order.SIGNED_12: [
        "000000000000000000000080", "00ffffffffffffffffffffff", "ff" * 12, "00" * 12, "01" + "00" * 11, "0001" + "00" * 10,
        "00" * 8 + "01" + "00" * 3,
    ],
    # -NaN with a great and a small payload, -inf, -1.0, -0.0, 0.0, 1.0, inf, NaN
    Order.TOTAL: [
        "ffffffff", "0100c0ff", "000080ff", "000080bf", "00000080", "00000000", "0000803f", "0000807f",
        "0000c07f", "ffffff7f",
    ],
    Order.HALF_TOTAL: ["ffff", "01fe", "00fc", "00bc", "0080", "0000", "0100", "003c", "007c", "007e"],
    # nanoseconds (8 bytes), Julian day (4): the day first, both signed
    Order.TIMESTAMP: [
        "0000000000000000 ffffffff", "ffffffffffffffff 00000000", "0000000000000000 00000000",
        "0100000000000000 00000000", "ffffff7f00000000 8c3d2500", "0000000000000000 8d3d2500",
    ],
}  # fmt: skip


def test_there_are_literals_of_every_order() -> None:
    assert set(Order) == set(ASCENDING)


@each("order", Order)
def test_literals_ascend(order: Order) -> None:
    given_ = [bytes.fromhex(text) for text in ASCENDING[order]]
    keys = [key(order, raw) for raw in given_]

    assert None not in keys
    assert all(least < greatest for least, greatest in pairwise(keys))
    assert given_ == sorted(set(given_), key=partial(key, order))


@each(
    ("order", "raw"),
    [
        (Order.BOOLEAN, b""),
        (Order.SIGNED, b"\0\0\0"),
        (Order.SIGNED, b""),
        (Order.UNSIGNED, bytes(5)),
        (Order.FLOAT, bytes(2)),
        (Order.HALF, bytes(4)),
        (Order.TOTAL, bytes(2)),
        (Order.HALF_TOTAL, bytes(8)),
        (Order.DECIMAL, b""),
        (Order.TIMESTAMP, bytes(8)),
        (Order.TIMESTAMP, bytes(13)),
    ],
)
def test_bytes_of_another_length_have_no_place(order: Order, raw: bytes) -> None:
    assert key(order, raw) is None
    assert not is_nan(order, raw)


NANS = [("0000c07f", Order.FLOAT), ("0000c0ff", Order.FLOAT), ("010000000000f87f", Order.FLOAT), ("007e", Order.HALF)]  # fmt: skip


@pytest.mark.parametrize(("text", "order"), NANS)
def test_nan_has_a_place_in_total_orders_alone(text: str, order: Order) -> None:
    raw = bytes.fromhex(text)
    total = {Order.FLOAT: Order.TOTAL, Order.HALF: Order.HALF_TOTAL}[order]

    assert is_nan(order, raw)
    assert is_nan(total, raw)
    assert key(order, raw) is None
    assert key(total, raw) is not None


@pytest.mark.parametrize("code", ["<e", "<f", "<d"])
def test_the_two_zeros_of_a_type_are_those_of_python(code: str) -> None:
    assert (struct.pack(code, -0.0), struct.pack(code, 0.0)) == zeros(struct.calcsize(code))


@given(raw=st.binary(min_size=1), other=st.binary(min_size=1))
def test_signed_bytes_compare_one_by_one_as_signed_numbers(raw: bytes, other: bytes) -> None:
    def signed(given: bytes) -> list[int]:
        return [byte - 256 if byte > 127 else byte for byte in given]

    assert (signed(raw) < signed(other)) == (key_by_signed_bytes(raw) < key_by_signed_bytes(other))


def test_zeros_are_one_number_and_two_places_of_the_total_order() -> None:
    negative, positive = struct.pack("<d", -0.0), struct.pack("<d", 0.0)

    assert key(Order.FLOAT, negative) == key(Order.FLOAT, positive)
    assert key(Order.TOTAL, negative) < key(Order.TOTAL, positive)


# -------------------------------------------------------------------------------------------- properties


def packed(code: str) -> Callable[[Any], bytes]:
    return partial(struct.pack, f"<{code}")


NUMBERS: dict[str, tuple[Order, st.SearchStrategy[Any]]] = {
    "i": (Order.SIGNED, st.integers(-(1 << 31), (1 << 31) - 1)),
    "q": (Order.SIGNED, st.integers(-(1 << 63), (1 << 63) - 1)),
    "I": (Order.UNSIGNED, st.integers(0, (1 << 32) - 1)),
    "Q": (Order.UNSIGNED, st.integers(0, (1 << 64) - 1)),
    "?": (Order.BOOLEAN, st.booleans()),
    "e": (Order.HALF, st.floats(allow_nan=False, width=16)),
    "f": (Order.FLOAT, st.floats(allow_nan=False, width=32)),
    "d": (Order.FLOAT, st.floats(allow_nan=False)),
}


@pytest.mark.parametrize("code", NUMBERS)
@settings(deadline=None)
@given(data=st.data())
def test_numbers_compare_as_python_compares_them(code: str, data: st.DataObject) -> None:
    order, numbers = NUMBERS[code]
    left, right = data.draw(numbers), data.draw(numbers)

    assert left == number_of(order, packed(code)(left))
    assert (left < right) == (key(order, packed(code)(left)) < key(order, packed(code)(right)))
    assert (left == right) == (key(order, packed(code)(left)) == key(order, packed(code)(right)))


@settings(deadline=None)
@given(st.integers(), st.integers(0, 3), st.integers(), st.integers(0, 3))
def test_decimals_of_any_length_compare_as_numbers(left: int, more: int, right: int, further: int) -> None:
    def raw(number: int, extra: int) -> bytes:
        return number.to_bytes(number.bit_length() // 8 + 1 + extra, "big", signed=True)

    assert (left < right) == (key(Order.DECIMAL, raw(left, more)) < key(Order.DECIMAL, raw(right, further)))
    assert key(Order.DECIMAL, raw(left, more)) == key(Order.DECIMAL, raw(left, further))


@settings(deadline=None)
@given(st.binary(max_size=6), st.binary(max_size=6))
def test_bytes_compare_unsigned_from_the_first_on(left: bytes, right: bytes) -> None:
    assert (left < right) == (key(Order.BYTES, left) < key(Order.BYTES, right))


PATTERNS = [("e", 2, Order.HALF_TOTAL), ("f", 4, Order.TOTAL), ("d", 8, Order.TOTAL)]


def total_order(value: float, raw: bytes) -> tuple[int, int, int]:
    """The place of a float by the words of IEEE 754: first its sign, then how far it is from zero."""
    sign = math.copysign(1, value) if not math.isnan(value) else (-1 if raw[-1] & 0x80 else 1)
    unsigned = int.from_bytes(raw, "little") & ((1 << 8 * len(raw) - 1) - 1)
    return (-1, -unsigned, 0) if sign < 0 else (1, unsigned, 0)


@pytest.mark.parametrize(("code", "width", "order"), PATTERNS)
@settings(deadline=None)
@given(data=st.data())
def test_the_total_order_is_that_of_sign_and_magnitude(
    code: str, width: int, order: Order, data: st.DataObject
) -> None:
    patterns = st.binary(min_size=width, max_size=width)
    left, right = data.draw(patterns), data.draw(patterns)
    places = [total_order(struct.unpack(f"<{code}", raw)[0], raw) for raw in (left, right)]

    assert (places[0] < places[1]) == (key(order, left) < key(order, right))
    assert (left == right) == (key(order, left) == key(order, right))


@settings(deadline=None)
@given(
    st.integers(-(1 << 31), (1 << 31) - 1),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.integers(-(1 << 31), (1 << 31) - 1),
    st.integers(-(1 << 63), (1 << 63) - 1),
)
def test_int96_timestamps_compare_by_day_and_then_by_nanosecond(
    day: int, nanosecond: int, other_day: int, other_nanosecond: int
) -> None:
    left = struct.pack("<qi", nanosecond, day)
    right = struct.pack("<qi", other_nanosecond, other_day)

    before = (day, nanosecond) < (other_day, other_nanosecond)
    assert before == (key(Order.TIMESTAMP, left) < key(Order.TIMESTAMP, right))


# ---------------------------------------------------------------------------------------- bounds as bytes


@each(
    ("element", "good", "bad"),
    [
        (leaf(Type.BOOLEAN), ["00", "01"], ["", "02", "ff", "0000"]),
        (leaf(Type.INT32), ["00000000"], ["", "000000", "0000000000000000"]),
        (leaf(Type.INT64), ["0000000000000000"], ["00000000"]),
        (leaf(Type.INT96), ["00" * 12], ["00" * 8]),
        (leaf(Type.FLOAT), ["0000c07f"], ["00" * 8]),
        (leaf(Type.DOUBLE), ["00" * 8], ["00" * 4]),
        (leaf(BYTES), ["", "ff", "00" * 99], []),
        (leaf(BYTES, STRING=StringType()), ["", "ff"], []),
        (leaf(BYTES, DECIMAL=DECIMAL), ["00", "ff6a"], [""]),
        (leaf(FIXED, 5), ["0000000000", "00"], ["", "000000000000"]),
        (leaf(FIXED, 4, DECIMAL=DECIMAL), ["00000000"], ["", "000000", "0000000000"]),
        (leaf(FIXED, 2, FLOAT16=Float16Type()), ["003c"], ["3c", "00003c"]),
    ],
)
def test_a_bound_has_the_bytes_of_a_value(element: SchemaElement, good: list[str], bad: list[str]) -> None:
    assert [True] * len(good) == [is_bound(element, bytes.fromhex(text)) for text in good]
    assert [False] * len(bad) == [is_bound(element, bytes.fromhex(text)) for text in bad]


def test_widths_are_those_of_the_types() -> None:
    assert [1, 4, 8, 12, 4, 8, None, 7] == [width_of(leaf(kind, 7)) for kind in Type]


def test_deprecated_bounds_know_signed_comparison_alone() -> None:
    assert -1 == signed_key(leaf(Type.INT32), b"\xff" * 4)
    assert -150 == signed_key(leaf(BYTES, DECIMAL=DECIMAL), bytes.fromhex("ff6a"))
    assert signed_key(leaf(BYTES), b"a") is None
    assert signed_key(leaf(Type.INT32, INTEGER=integer(32, signed=False)), bytes(4)) is None
    assert signed_key(leaf(Type.INT96), bytes(12)) is None
    assert not {Order.UNSIGNED, Order.BYTES} & set(SIGNED_ORDERS)


@each(
    ("order", "text", "expected"),
    [
        (Order.SIGNED, "ffffffff", "-1"),
        (Order.UNSIGNED, "ffffffff", "4294967295"),
        (Order.BOOLEAN, "01", "True"),
        (Order.FLOAT, "00000080", "-0.0"),
        (Order.FLOAT, "0000c07f", "nan"),
        (Order.DECIMAL, "ff6a", "-150"),
        (Order.TIMESTAMP, "01000000000000008c3d2500", "Julian day 2440588, 1 ns"),
        (Order.BYTES, "c3a9", "'é'"),
        (Order.BYTES, "ff", "0xff"),
        (Order.BYTES, "", "''"),
        (Order.BYTES, "ff" * 30, "0x" + "ff" * 20 + "…"),
        (Order.SIGNED, "ff", "0xff"),
        (None, "ff", "0xff"),
    ],
)
def test_values_are_shown_as_what_they_are(order: Order | None, text: str, expected: str) -> None:
    assert expected == shown(order, bytes.fromhex(text))
