from __future__ import annotations

import struct
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqassay_reference.errors import Refused
from pqassay_reference.pm.column_values import shown_value, stored_value, with_stored_values
from pqassay_spec.pm.codes import ColumnType, PhysicalType
from pqassay_spec.pm.types import decimal_type
from pqassay_spec.pm.value import SnapshotColumn

P, C = PhysicalType, ColumnType
NANOSECONDS = 262152


def column(physical: int, code: int = -1, width: int = 0) -> SnapshotColumn:
    return SnapshotColumn("c", physical, type=code, fixed_byte_len=width)


def i32(value: int) -> bytes:
    return struct.pack("<i", value)


def i64(value: int) -> bytes:
    return struct.pack("<q", value)


MICROS, MILLIS, NANOS = column(P.INT64, C.TIMESTAMP), column(P.INT64, C.DATE), column(P.INT64, NANOSECONDS)
DAYS = column(P.INT32, C.DATE)
DECIMAL = column(P.FIXED_LEN_BYTE_ARRAY, decimal_type(4, 2), 2)
UUID = column(P.FIXED_LEN_BYTE_ARRAY, C.UUID, 16)
IPV4, CHAR = column(P.INT32, C.IPV4), column(P.INT32, C.CHAR)
TEXT, BYTES = column(P.BYTE_ARRAY, C.VARCHAR), column(P.BYTE_ARRAY, C.BINARY)


@pytest.mark.parametrize(
    ("shown", "raw", "column"),
    [
        ("-5", i32(-5), column(P.INT32, C.INT)),
        ("-5", i64(-5), column(P.INT64)),
        ("x'05'", b"\x05", column(P.INT32, C.INT)),
        ("true", b"\x01", column(P.BOOLEAN, C.BOOLEAN)),
        ("0.1", struct.pack("<d", 0.1), column(P.DOUBLE, C.DOUBLE)),
        ("0.100000001", struct.pack("<f", 0.1), column(P.FLOAT, C.FLOAT)),
        ("nan", struct.pack("<d", float("nan")), column(P.DOUBLE, C.DOUBLE)),
        ("2024-01-01 00:00:00", i64(1704067200000000), MICROS),
        ("2024-01-01 00:00:00.000001", i64(1704067200000001), MICROS),
        ("1969-12-31 23:59:59.999999", i64(-1), MICROS),
        ("2024-01-01 00:00:00.000000001", i64(1704067200000000001), NANOS),
        ("2024-01-01 00:00:00.007", i64(1704067200007), MILLIS),
        ("2024-01-01", i32(19723), DAYS),
        ("9223372036854775807 microseconds", i64((1 << 63) - 1), MICROS),
        ("-9223372036854775808 microseconds", i64(-(1 << 63)), MICROS),
        ("-62135596800000 milliseconds", i64(-62135596800000), MILLIS),
        ("-1.23", bytes.fromhex("ff85"), DECIMAL),
        ("0.05", bytes.fromhex("0005"), DECIMAL),
        ("-0.05", i32(-5), column(P.INT32, decimal_type(9, 2))),
        ("7", b"\x07", column(P.BYTE_ARRAY, decimal_type(9, 0))),
        ("1e36d10b-a7ae-47dd-95b9-86f88b0361ba", bytes.fromhex("1e36d10ba7ae47dd95b986f88b0361ba"), UUID),
        ("192.168.0.255", bytes((255, 0, 168, 192)), IPV4),
        ("'A'", i32(65), CHAR),
        ("0", i32(0), CHAR),
        ("'é'", "é".encode(), TEXT),
        ("x'ff00'", b"\xff\x00", TEXT),
        (repr("x" * 39 + "…"), b"x" * 100_000, TEXT),
        ("x'ff00'", b"\xff\x00", BYTES),
        ("x'" + "ab" * 20 + "…'", b"\xab" * 21, BYTES),
        ("x'" + "00" * 12 + "'", bytes(12), column(P.INT96, NANOSECONDS)),
    ],
)
def test_values_are_shown(shown: str, raw: bytes, column: SnapshotColumn) -> None:
    assert shown == shown_value(raw, column)


@pytest.mark.parametrize(
    ("stored", "value", "column"),
    [
        (5, 5, column(P.INT32, C.INT)),
        (Fraction(11, 2), 5.5, column(P.INT64)),
        (True, True, column(P.BOOLEAN, C.BOOLEAN)),
        (None, None, UUID),
        ("a", "a", TEXT),
        (b"a", b"a", TEXT),
        (float("inf"), "inf", column(P.DOUBLE, C.DOUBLE)),
        (1704067200000000, "2024-01-01", MICROS),
        (1704067200000000, "2024-01-01T00:00Z", MICROS),
        (1704063600000000, "2024-01-01 00:00:00+01:00", MICROS),
        (1704067200000001, "2024-01-01 00:00:00.000001", MICROS),
        (-500000, "1969-12-31 23:59:59.5", MICROS),
        (17, 17, MICROS),
        (1704067200000000001, "2024-01-01 00:00:00.000000001", NANOS),
        (1704067200007, "2024-01-01 00:00:00.007", MILLIS),
        (19723, "2024-01-01", DAYS),
        (Fraction(17040672000000001, 10), "2024-01-01 00:00:00.0000001", MICROS),
        (Fraction(19723 * 2 + 1, 2), "2024-01-01 12:00", DAYS),
        (Fraction(1234, 10), "1.234", DECIMAL),
        (-123, "-1.23", DECIMAL),
        (150, 1.5, DECIMAL),
        (300, 3, DECIMAL),
        (3232235775, "192.168.0.255", IPV4),
        (65, "A", CHAR),
        (bytes.fromhex("1e36d10ba7ae47dd95b986f88b0361ba"), "1E36D10B-A7AE-47DD-95B9-86F88B0361BA", UUID),
        (bytes(16), bytes(16), UUID),
    ],
)
def test_constants_become_what_the_file_holds(stored: Any, value: Any, column: SnapshotColumn) -> None:
    found = stored_value(value, column)

    assert (stored, type(stored)) == (found, type(found))


@pytest.mark.parametrize(
    ("value", "column", "words"),
    [
        ("5", column(P.INT32, C.INT), "column c holds INT; '5' is not such a value"),
        (True, column(P.INT32, C.INT), "True is not such a value"),
        (b"\x01", column(P.INT32, C.INT), "x'01' is not such a value"),
        (5, TEXT, "column c holds VARCHAR; 5 is not such a value"),
        (1, column(P.BOOLEAN, C.BOOLEAN), "holds BOOLEAN"),
        ("x", column(P.DOUBLE, C.DOUBLE), "holds DOUBLE"),
        ("yesterday", MICROS, "holds TIMESTAMP; 'yesterday' is not such a value"),
        ("2024-02-30", MICROS, "is not such a value"),
        ("2024-01-01 25:00", MICROS, "is not such a value"),
        ("x", DECIMAL, "is not such a value"),
        ("inf", DECIMAL, "is not such a value"),
        ("1.2.3", IPV4, "holds IPV4"),
        ("AB", CHAR, "holds CHAR"),
        ("x", UUID, "holds UUID"),
        ("x", column(P.FIXED_LEN_BYTE_ARRAY, width=5), "holds FIXED_LEN_BYTE_ARRAY; 'x' is not such a value"),
        (5, column(P.INT96, NANOSECONDS), "is not such a value"),
    ],
)
def test_constants_that_are_no_values_are_refused(value: Any, column: SnapshotColumn, words: str) -> None:
    with pytest.raises(Refused) as caught:
        stored_value(value, column)

    assert words in str(caught.value)


def test_every_constant_of_a_predicate_is_taken_as_its_column_says() -> None:
    columns = {"t": MICROS, "d": DECIMAL}
    tree = ["and", [">=", "t", "2024-01-01"], ["or", ["not", ["in", "d", ["1.5", None]]], ["is null", "d"]]]

    assert [
        "and",
        [">=", "t", 1704067200000000],
        ["or", ["not", ["in", "d", [150, None]]], ["is null", "d"]],
    ] == with_stored_values(tree, columns)
    with pytest.raises(Refused, match="there is no column x; columns are t, d"):
        with_stored_values(["=", "x", 1], columns)


@given(st.integers(-30_000_000_000_000_000, 250_000_000_000_000_000))
def test_a_timestamp_that_is_shown_can_be_asked_for(count: int) -> None:
    assert count == stored_value(shown_value(i64(count), MICROS), MICROS)


@given(st.integers(-9999, 9999))
def test_a_decimal_that_is_shown_can_be_asked_for(unscaled: int) -> None:
    assert unscaled == stored_value(shown_value(unscaled.to_bytes(2, "big", signed=True), DECIMAL), DECIMAL)


@given(
    st.binary(max_size=50),
    st.sampled_from(PhysicalType),
    st.integers(-(1 << 31), (1 << 31) - 1) | st.sampled_from([*ColumnType, NANOSECONDS, 0x10121F]),
)
def test_any_bytes_are_shown(raw: bytes, physical: PhysicalType, code: int) -> None:
    assert shown_value(raw, SnapshotColumn("c", physical, type=code)).isprintable()
