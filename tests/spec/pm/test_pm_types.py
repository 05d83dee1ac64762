from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from each import each
from pqassay_spec.parquet.thrift import (
    ConvertedType,
    DateType,
    DecimalType,
    EnumType,
    Float16Type,
    IntType,
    JsonType,
    LogicalType,
    MicroSeconds,
    MilliSeconds,
    NanoSeconds,
    SchemaElement,
    StringType,
    TimestampType,
    TimeUnit,
    Type,
    UUIDType,
)
from pqassay_spec.pm import types as pm_types
from pqassay_spec.pm.codes import NO_TYPE, ColumnType
from pqassay_spec.pm.types import TypeParts, inferred_type, type_parts

NANOSECONDS = 262152
"""TIMESTAMP in nanoseconds, as QuestDB numbers it."""


def element(physical: Type, **members: Any) -> SchemaElement:
    return SchemaElement(name="c", type=physical, **members)


def timestamp(unit: TimeUnit) -> LogicalType:
    return LogicalType(TIMESTAMP=TimestampType(isAdjustedToUTC=True, unit=unit))


def integer(width: int, *, signed: bool) -> LogicalType:
    return LogicalType(INTEGER=IntType(bitWidth=width, isSigned=signed))


@each(
    ("code", "element"),
    [
        (1, element(Type.BOOLEAN)),
        (5, element(Type.INT32)),
        (2, element(Type.INT32, logicalType=integer(8, signed=True))),
        (3, element(Type.INT32, logicalType=integer(16, signed=True))),
        (5, element(Type.INT32, logicalType=integer(32, signed=True))),
        (5, element(Type.INT32, logicalType=integer(8, signed=False))),
        (2, element(Type.INT32, converted_type=ConvertedType.INT_8)),
        (3, element(Type.INT32, converted_type=ConvertedType.INT_16)),
        (5, element(Type.INT32, converted_type=ConvertedType.UINT_16)),
        (7, element(Type.INT32, logicalType=LogicalType(DATE=DateType()))),
        (7, element(Type.INT32, converted_type=ConvertedType.DATE)),
        (5, element(Type.INT32, converted_type=99)),
        (6, element(Type.INT64)),
        (6, element(Type.INT64, logicalType=integer(64, signed=False))),
        (8, element(Type.INT64, logicalType=timestamp(TimeUnit(MICROS=MicroSeconds())))),
        (7, element(Type.INT64, logicalType=timestamp(TimeUnit(MILLIS=MilliSeconds())))),
        (NANOSECONDS, element(Type.INT64, logicalType=timestamp(TimeUnit(NANOS=NanoSeconds())))),
        (6, element(Type.INT64, logicalType=timestamp(TimeUnit()))),
        (8, element(Type.INT64, converted_type=ConvertedType.TIMESTAMP_MICROS)),
        (7, element(Type.INT64, converted_type=ConvertedType.TIMESTAMP_MILLIS)),
        (NANOSECONDS, element(Type.INT96)),
        (9, element(Type.FLOAT)),
        (10, element(Type.DOUBLE)),
        (26, element(Type.BYTE_ARRAY, logicalType=LogicalType(STRING=StringType()))),
        (26, element(Type.BYTE_ARRAY, converted_type=ConvertedType.UTF8)),
        (18, element(Type.BYTE_ARRAY)),
        (18, element(Type.BYTE_ARRAY, logicalType=LogicalType(JSON=JsonType()))),
        (18, element(Type.BYTE_ARRAY, logicalType=LogicalType(ENUM=EnumType()))),
        (19, element(Type.FIXED_LEN_BYTE_ARRAY, type_length=16, logicalType=LogicalType(UUID=UUIDType()))),
        (24, element(Type.FIXED_LEN_BYTE_ARRAY, type_length=16)),
        (13, element(Type.FIXED_LEN_BYTE_ARRAY, type_length=32)),
        (NO_TYPE, element(Type.FIXED_LEN_BYTE_ARRAY, type_length=12)),
        (
            NO_TYPE,
            element(Type.FIXED_LEN_BYTE_ARRAY, type_length=2, logicalType=LogicalType(FLOAT16=Float16Type())),
        ),
        (0x10121F, element(Type.INT64, logicalType=LogicalType(DECIMAL=DecimalType(scale=4, precision=18)))),
        (0xC091E, element(Type.INT32, converted_type=ConvertedType.DECIMAL, precision=9, scale=3)),
        (0x4021C, element(Type.BYTE_ARRAY, converted_type=ConvertedType.DECIMAL, precision=2, scale=1)),
        (
            0x142620,
            element(Type.FIXED_LEN_BYTE_ARRAY, type_length=16, converted_type=5, precision=38, scale=5),
        ),
        (NO_TYPE, element(Type.BYTE_ARRAY, converted_type=ConvertedType.DECIMAL, precision=77, scale=1)),
        (NO_TYPE, element(Type.BYTE_ARRAY, converted_type=ConvertedType.DECIMAL)),
    ],
)
def test_types_are_inferred(code: int, element: SchemaElement) -> None:
    assert code == inferred_type(element)


def test_lists_of_doubles_are_arrays() -> None:
    double, integers = element(Type.DOUBLE), element(Type.INT64)

    assert [2587, 18971, 10] == [inferred_type(double, list_dimensions=depth) for depth in (1, 2, 0)]
    assert 6 == inferred_type(integers, list_dimensions=1)


@each(
    ("code", "parts", "words"),
    [
        (0x4021C, TypeParts(28, precision=2, scale=1), "DECIMAL(2,1)"),
        (0x184C21, TypeParts(33, precision=76, scale=6), "DECIMAL(76,6)"),
        (0x1050E, TypeParts(14, bits=5), "GEOHASH(5b)"),
        (0x13C11, TypeParts(17, bits=60), "GEOHASH(60b)"),
        (2587, TypeParts(27, element=10, dimensions=1), "DOUBLE[]"),
        (18971, TypeParts(27, element=10, dimensions=2), "DOUBLE[][]"),
        (131080, TypeParts(8), "TIMESTAMP designated"),
        (393224, TypeParts(8), "TIMESTAMP NS designated"),
        (-1, TypeParts(-1), "none"),
    ],
)
def test_codes_are_taken_apart_and_described(code: int, parts: TypeParts, words: str) -> None:
    assert (parts, words) == (type_parts(code), pm_types.described_type(code))


@given(st.integers(1, 76).flatmap(lambda precision: st.tuples(st.just(precision), st.integers(0, precision))))
def test_decimals_are_put_together_and_taken_apart(digits: tuple[int, int]) -> None:
    found = type_parts(pm_types.decimal_type(*digits))

    assert digits == (found.precision, found.scale)


@given(st.integers(1, pm_types.MOST_DIMENSIONS))
def test_arrays_are_put_together_and_taken_apart(dimensions: int) -> None:
    code = pm_types.array_type(ColumnType.DOUBLE, dimensions)

    assert TypeParts(ColumnType.ARRAY, element=ColumnType.DOUBLE, dimensions=dimensions) == type_parts(code)


def test_only_timestamps_are_designated() -> None:
    assert [True, True, False, False, False] == [
        pm_types.is_designated(code) for code in (131080, 393224, 8, -1, 131080 - 8 + 6)
    ]
    assert [True, False] == [pm_types.is_descending(code) for code in (131080 | 1 << 20, 131080)]
