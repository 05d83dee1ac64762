"""Kinds of columns: their values, their types in Arrow, and their spelling in a recipe of a golden case.

Values have the physical type: days for a date, the unscaled number for a decimal, counts of the unit for times.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pqassay_spec.golden.literals import Value
from pqassay_suite.drivers.arrow_values import rows_of

Values = Sequence[Any]


@dataclass(frozen=True)
class ColumnKind:
    """A kind of column.

    Attributes:
        name: Its name, as in golden cases.
        type: The type of Arrow for the writer.
        pool: Values that are drawn most, the simplest first.
        storage: The type of Arrow for the drawn values, if that is different.
        bits: Width of its numbers, if numbers outside the pool are also drawn; negative for signed numbers.
        encodings: Encodings that pyarrow can write in addition to PLAIN and dictionaries.
        is_nested: Whether only tests for null are asked.
        is_ordered: Whether ``<`` is asked.
        recipe: Its spelling in a recipe, if that is not its name in quotes.
    """

    name: str
    type: pa.DataType
    pool: tuple[Any, ...]
    storage: pa.DataType | None = None
    bits: int = 0
    encodings: tuple[str, ...] = ()
    is_nested: bool = False
    is_ordered: bool = True
    recipe: str = ""

    def array(self, values: Values) -> pa.Array[Any]:
        """The values as an Arrow array."""
        if pa.types.is_decimal(self.type):
            scale = self.type.scale
            context = decimal.Context(prec=40)
            return pa.array(
                [
                    None if value is None else decimal.Decimal(value).scaleb(-scale, context)
                    for value in values
                ],
                self.type,
            )
        if self.storage is None:
            return pa.array(values, self.type)
        return pa.array(values, self.storage).cast(self.type)

    def values(self, values: Values) -> list[Value]:
        """The values in the form of the protocol."""
        return [row[0] for row in rows_of(pa.table({"c": self.array(values)}), ["c"])]


def _integers(name: str, kind: pa.DataType, bits: int, *more: int, **other: Any) -> ColumnKind:
    width = abs(bits)
    ends = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if bits < 0 else (2 ** (width - 1), 2**width - 1)
    encodings = ("DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT")
    return ColumnKind(
        name,
        kind,
        (1, 2, 3, 0, *(() if bits > 0 else (-1,)), *more, *ends),
        bits=bits,
        encodings=encodings,
        **other,
    )


def _counted(name: str, kind: pa.DataType, storage: pa.DataType, *pool: int) -> ColumnKind:
    return ColumnKind(name, kind, pool, storage, encodings=("DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"))


NAN = float("nan")
FLOATS = (1.0, 2.0, NAN, 3.0, 0.0, -0.0, float("inf"), -float("inf"))
DAY = 24 * 60 * 60
TEXTS = ("a", "b", "c", "", "ab", "é", "\U0001f600", "a" * 20)

_KINDS: tuple[ColumnKind, ...] = (
    _integers("int32", pa.int32(), -32),
    _integers("int64", pa.int64(), -64, 2**31, 2**53 + 1),
    ColumnKind("double", pa.float64(), FLOATS, encodings=("BYTE_STREAM_SPLIT",)),
    ColumnKind("string", pa.string(), TEXTS, encodings=("DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY")),
    ColumnKind("boolean", pa.bool_(), (False, True), encodings=("RLE",), is_ordered=False),
    ColumnKind("float", pa.float32(), FLOATS, encodings=("BYTE_STREAM_SPLIT",)),
    ColumnKind("binary", pa.binary(), (*(text.encode() for text in TEXTS), b"\x80", b"\xff\xff", b"\x00"),
         encodings=("DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY")),
    _integers("int8", pa.int8(), -8),
    _integers("int16", pa.int16(), -16),
    _integers("uint8", pa.uint8(), 8),
    _integers("uint16", pa.uint16(), 16),
    _integers("uint32", pa.uint32(), 32),
    _integers("uint64", pa.uint64(), 64),
    _counted("date", pa.date32(), pa.int32(), 0, 1, 2, -1, 20_000),
    _counted("time_millis", pa.time32("ms"), pa.int32(), 0, 1, DAY * 1000 - 1),
    _counted("time_micros", pa.time64("us"), pa.int64(), 0, 1, DAY * 10**6 - 1),
    _counted("timestamp_millis", pa.timestamp("ms", "UTC"), pa.int64(), 0, 1, -1, 1_700_000_000_000),
    _counted("timestamp_micros", pa.timestamp("us", "UTC"), pa.int64(), 0, 1, -1, 1_700_000_000_000_001),
    _counted("timestamp_nanos", pa.timestamp("ns", "UTC"), pa.int64(), 0, 1, -1, 1_700_000_000_000_000_001),
    ColumnKind("decimal(9,2)", pa.decimal128(9, 2), (100, 200, 1, 0, -1, 99_999, -12_800),
         recipe="decimal(9, 2, Type.FIXED_LEN_BYTE_ARRAY, 4)"),
    ColumnKind("decimal(20,3)", pa.decimal128(20, 3), (1000, 2000, 1, 0, -1, 10**19, -(10**19)),
         recipe="decimal(20, 3, Type.FIXED_LEN_BYTE_ARRAY, 9)"),
    ColumnKind("fixed(2)", pa.binary(2), (b"aa", b"ab", b"\x00\x00", b"\xff\xff", b"a\x00"), recipe="fixed(2)"),
    ColumnKind("float16", pa.float16(), FLOATS, pa.float32()),
    ColumnKind("list<int32>", pa.list_(pa.int32()), ((1,), (1, 2), (), (None,), (1, None, 3)), is_nested=True,
         recipe='ListOf("int32")'),
    ColumnKind("struct<x: int32, y: string>", pa.struct([("x", pa.int32()), ("y", pa.string())]),
         ({"x": 1, "y": "a"}, {"x": None, "y": "b"}, {"x": 2, "y": None}, {"x": None, "y": None}), is_nested=True,
         recipe='Struct((Member("x", "int32"), Member("y", "string")))'),
    ColumnKind("map<string, int32>", pa.map_(pa.string(), pa.int32()), ((("a", 1),), (), (("a", None),), (("a", 1), ("b", 2))),
         is_nested=True, recipe='MapOf("string", "int32")'),
)  # fmt: skip

KINDS: Mapping[str, ColumnKind] = {kind.name: kind for kind in _KINDS}
"""All kinds by name, the simplest first."""

SPECIAL: Mapping[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "NaN": lambda value: isinstance(value, float) and value != value,  # noqa: PLR0124 - NaN equals nothing
    "negative zero": lambda value: isinstance(value, float) and str(value) == "-0.0",
    "zero": lambda value: isinstance(value, float) and str(value) == "0.0",
    "infinity": lambda value: isinstance(value, float) and abs(value) == float("inf"),
    "empty value": lambda value: isinstance(value, str | bytes | tuple) and not value,
}
"""Tests for special values, which readers treat differently."""
