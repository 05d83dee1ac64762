"""The table of logical types agrees with the structs that it is about."""

from __future__ import annotations

import pytest

from each import each
from pqassay_spec.parquet.schema.types import ANNOTATIONS, CONVERTED, annotation_of, converted_of, most_digits
from pqassay_spec.parquet.thrift import (
    ConvertedType,
    IntType,
    LogicalType,
    MicroSeconds,
    SchemaElement,
    TimestampType,
    TimeType,
    TimeUnit,
    Type,
)


def test_every_logical_type_has_a_row() -> None:
    names = {name.partition("(")[0] for name in ANNOTATIONS}

    assert {field.name for field in LogicalType.fields} == names


def test_every_converted_type_has_a_row() -> None:
    assert {int(kind) for kind in ConvertedType} == set(CONVERTED)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("signed", [True, False])
def test_integers_have_the_converted_type_of_their_width(bits: int, signed: bool) -> None:
    logical = LogicalType(INTEGER=IntType(bitWidth=bits, isSigned=signed))
    name = annotation_of(SchemaElement(name="a", logicalType=logical))

    assert name is not None
    assert ConvertedType[f"{'' if signed else 'U'}INT_{bits}"] in ANNOTATIONS[name].converted
    assert [Type.INT64 if bits == 64 else Type.INT32] == [carrier.type for carrier in ANNOTATIONS[name].on]


def test_times_and_timestamps_are_named_by_their_unit() -> None:
    unit = TimeUnit(MICROS=MicroSeconds())
    moment = LogicalType(TIMESTAMP=TimestampType(isAdjustedToUTC=True, unit=unit))
    time = LogicalType(TIME=TimeType(isAdjustedToUTC=False, unit=unit))

    assert "TIMESTAMP(MICROS)" == annotation_of(SchemaElement(name="a", logicalType=moment))
    assert "TIME(MICROS)" == annotation_of(SchemaElement(name="a", logicalType=time))


def test_a_converted_type_of_the_future_is_none() -> None:
    assert converted_of(SchemaElement(name="a", converted_type=99)) is None
    assert "JSON" == converted_of(SchemaElement(name="a", converted_type=ConvertedType.JSON))


@each("length", range(1, 40))
def test_as_many_digits_fit_as_the_greatest_number_has_nines(length: int) -> None:
    element = SchemaElement(name="a", type=Type.FIXED_LEN_BYTE_ARRAY, type_length=length)
    digits = most_digits(element)

    assert digits is not None
    assert 10**digits - 1 <= 2 ** (8 * length - 1) - 1 < 10 ** (digits + 1) - 1


def test_a_hostile_length_takes_no_time() -> None:
    element = SchemaElement(name="a", type=Type.FIXED_LEN_BYTE_ARRAY, type_length=(1 << 31) - 1)

    assert 5_171_655_943 == most_digits(element)
