"""The PLAIN encoding of values, and the length that stands before levels and byte arrays.

Source: apache/parquet-format, ``Encodings.md``, sections "Plain" and "Run Length Encoding / Bit-Packing Hybrid".
"""

from __future__ import annotations

from construct import Float64l, Int32sl, Int32ul, Int64sl

from pqassay_spec.compact_thrift_values import AnyConstruct
from pqassay_spec.parquet_thrift import Type

FIXED_WIDTH: dict[Type, AnyConstruct] = {Type.INT32: Int32sl, Type.INT64: Int64sl, Type.DOUBLE: Float64l}
"""The construct of a value of each physical type of fixed width that is written here."""

LENGTH = Int32ul
"""Byte length, before the bytes of a BYTE_ARRAY value and before the levels of a data page of version 1."""
