"""The PLAIN encoding of values, and the length before levels and byte arrays.

Source: apache/parquet-format, ``Encodings.md``, sections "Plain" and "Run Length Encoding / Bit-Packing Hybrid".
"""

from __future__ import annotations

from collections.abc import Sequence

from construct import Float32l, Float64l, Int32sl, Int32ul, Int64sl, Int64ul

from pqassay_spec.grammar.constructs import AnyConstruct
from pqassay_spec.grammar.flat_records import FlatStruct, flat_struct, member
from pqassay_spec.parquet.thrift import Type

FIXED_WIDTH: dict[Type, AnyConstruct] = {
    Type.INT32: Int32sl,
    Type.INT64: Int64sl,
    Type.FLOAT: Float32l,
    Type.DOUBLE: Float64l,
}
"""The construct of a value of each physical type whose width is a fixed number of whole bytes."""

UNSIGNED: dict[Type, AnyConstruct] = {Type.INT32: Int32ul, Type.INT64: Int64ul}
"""The constructs of unsigned integers."""


@flat_struct
class Int96Timestamp(FlatStruct):
    """The timestamp in an INT96: Impala and Hive wrote it, and Spark writes it on request."""

    nanoseconds: int = member(Int64sl, "Nanoseconds since midnight.")
    julian_day: int = member(
        Int32sl, "Days since noon, 1 January 4713 BC, counted by Julius Caesar's calendar."
    )


JULIAN_DAY_OF_1970 = 2_440_588
"""The Julian day of 1 January 1970."""

NANOSECONDS_OF_DAY = 86_400_000_000_000
"""Nanoseconds of a day; the nanoseconds of an INT96 timestamp are fewer."""

LENGTH = Int32ul
"""Byte length, before the bytes of a BYTE_ARRAY value and before the levels of a data page of version 1."""


def packed_booleans(values: Sequence[bool]) -> bytes:
    """Booleans as stored in a page: eight to the byte, the first one in its lowest bit.

    >>> packed_booleans([True, False, True]).hex()
    '05'
    """
    bits = sum(value << place for place, value in enumerate(values))
    return bits.to_bytes(-(-len(values) // 8), "little")
