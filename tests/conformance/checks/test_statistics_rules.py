"""Rules of statistics: columns of every type as the tiny writer and pyarrow write them, with a footer changed in one way."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
from each import each
from idx1_files import edited
from pqassay_golden.tiny.columns import KINDS, Column, Kind, ListOf, Scalar, decimal, fixed
from pqassay_golden.tiny.layout import Layout
from pqassay_golden.tiny.parquet import TinyParquet
from pqassay_spec.grammar.thrift import UnknownField
from pqassay_spec.grammar.thrift_wire import WireType
from pqassay_spec.parquet.column_order import TYPE_DEFINED
from pqassay_spec.parquet.thrift import (
    BoundingBox,
    ColumnMetaData,
    ColumnOrder,
    ConvertedType,
    FileMetaData,
    GeographyType,
    GeospatialStatistics,
    IEEE754TotalOrder,
    LogicalType,
    SizeStatistics,
    Statistics,
    StringType,
    Type,
    UUIDType,
)

NAN = float("nan")
LATER = UnknownField(99, WireType.STRUCT, b"\0")
TOTAL, TIMESTAMP = Layout(order="total"), Layout(order="timestamp")


def written(kind: Any, values: list[Any], layout: Layout | None = None, *, optional: bool = True) -> bytes:
    """A file with one column called ``a``."""
    return TinyParquet((Column("a", kind, values, optional, layout),)).build()


@dataclass
class Chunk:
    """The records of the only column of a file, to be changed."""

    metadata: FileMetaData

    @property
    def facts(self) -> ColumnMetaData:
        return self.metadata.row_groups[0].columns[0].meta_data or ColumnMetaData()

    @property
    def statistics(self) -> Statistics:
        return self.facts.statistics or Statistics()


def changed(data: bytes, change: Callable[[Chunk], None]) -> bytes:
    """A file with another footer."""
    return edited(data, lambda metadata: change(Chunk(metadata)))


def stated(**fields: Any) -> Callable[[Chunk], None]:
    """Other statistics than those that were written: these fields are set."""

    def change(chunk: Chunk) -> None:
        for name, value in fields.items():
            setattr(chunk.statistics, name, value)

    return change


def ordered(order: ColumnOrder, **fields: Any) -> Callable[[Chunk], None]:
    """Another column order, and statistics."""

    def change(chunk: Chunk) -> None:
        chunk.metadata.column_orders = [order]
        stated(**fields)(chunk)

    return change


def annotated(
    logical: LogicalType | None, converted: ConvertedType | None = None, **fields: Any
) -> Callable[[Chunk], None]:
    """Another annotation of the column, and statistics."""

    def change(chunk: Chunk) -> None:
        chunk.metadata.schema[1].logicalType, chunk.metadata.schema[1].converted_type = logical, converted
        stated(**fields)(chunk)

    return change


def sized(**fields: Any) -> Callable[[Chunk], None]:
    """Other size statistics: these fields alone."""

    def change(chunk: Chunk) -> None:
        chunk.facts.size_statistics = SizeStatistics(**fields)

    return change


def boxed(**sides: float) -> Callable[[Chunk], None]:
    """Geospatial statistics with a box."""
    box = {"xmin": 0.0, "xmax": 1.0, "ymin": 0.0, "ymax": 1.0, **sides}

    def change(chunk: Chunk) -> None:
        chunk.facts.geospatial_statistics = GeospatialStatistics(bbox=BoundingBox(**box))

    return change


def both(*changes: Callable[[Chunk], None]) -> Callable[[Chunk], None]:
    """One change after the other."""

    def change(chunk: Chunk) -> None:
        for one in changes:
            one(chunk)

    return change


def reported(data: bytes, tier: Any = "footer") -> set[str]:
    """The rules of statistics that a check reports."""
    (file,) = pqassay.check(data, tier=tier).files
    return {finding.rule for finding in file.findings if finding.rule.startswith("STA")}


def checked(data: bytes) -> set[str]:
    """The rules of statistics that were tested."""
    (coverage,) = pqassay.check(data, tier="footer").coverages.values()
    return {rule for rule in coverage.checked if rule.startswith("STA")}


# ------------------------------------------------------------------------------------------------ good files

VALUES: dict[Kind, list[Any]] = {
    "boolean": [True, None, False],
    "int32": [-1, None, 1],
    "int64": [-1, None, 1],
    "int96": [-1, None, 1],
    "float": [-1.5, None, 0.0, NAN],
    "double": [-1.5, None, 0.0, NAN],
    "binary": [b"\xff", None, b""],
    "string": ["é", None, ""],
    "enum": ["b", None, "a"],
    "json": ["{}", None, "[]"],
    "bson": [b"\x05\0\0\0\0", None, b"\xff"],
    "uuid": [b"\xff" * 16, None, bytes(16)],
    "float16": [-1.5, None, 0.0, NAN],
    "interval": [b"\xff" * 12, None, bytes(12)],
    "geometry": [b"\x01", None, b"\xff"],
    "geography": [b"\x01", None, b"\xff"],
    "unknown": [None, None, None],
    "int8": [-128, None, 127],
    "int16": [-32768, None, 32767],
    "uint8": [0, None, 255],
    "uint16": [0, None, 65535],
    "uint32": [1, None, (1 << 32) - 1],
    "uint64": [1, None, (1 << 64) - 1],
    "date": [-1, None, 1],
    "time_millis": [0, None, 1],
    "time_micros": [0, None, 1],
    "time_nanos": [0, None, 1],
    "timestamp_millis": [-1, None, 1],
    "timestamp_micros": [-1, None, 1],
    "timestamp_nanos": [-1, None, 1],
}
ALL = Layout(exact=True, distinct_count=True, nan_count=True, size_statistics=True, page_statistics=True)


def test_there_are_values_of_every_kind() -> None:
    assert set(KINDS) == set(VALUES)


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("version", [1, 2])
def test_nothing_is_said_against_columns_of_any_kind(kind: Kind, version: Any) -> None:
    assert set() == reported(written(kind, VALUES[kind], replace(ALL, version=version)), "pages")


@pytest.mark.parametrize("kind", ["float", "double", "float16"])
@pytest.mark.parametrize("values", [[1.0, NAN, None], [NAN, NAN], [None], [-0.0, 0.0]])
def test_nothing_is_said_against_the_total_order(kind: Kind, values: list[Any]) -> None:
    data = written(kind, values, replace(ALL, order="total"))

    assert set() == reported(data, "pages")
    assert {"STA-004", "STA-024"} <= checked(data)


@pytest.mark.parametrize(
    "kind",
    [
        decimal(9, 2, Type.INT32),
        decimal(18, 2, Type.INT64),
        decimal(30, 2, Type.BYTE_ARRAY),
        decimal(9, 2, Type.FIXED_LEN_BYTE_ARRAY, 5),
    ],
    ids=str,
)
def test_nothing_is_said_against_decimals_of_any_physical_type(kind: Scalar) -> None:
    data = written(kind, [-129, None, 128, -1, 0], ALL)

    assert set() == reported(data, "pages")
    assert "STA-006" in checked(data)


def test_nothing_is_said_against_nested_columns() -> None:
    data = written(ListOf(ListOf("string")), [[["a", None], []], None, [], [None]], ALL)

    assert set() == reported(data, "pages")
    assert {"STA-019", "STA-020", "STA-021"} <= checked(data)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("kind", ["string", "binary", fixed(9)])
def test_nothing_is_said_against_bounds_that_were_cut(kind: Any, size: int) -> None:
    values = (
        ["東京都庁", "Zürich" * 3]
        if kind == "string"
        else [b"\xff\xff\xff\xff\xff\xff\xff\xff\x01", bytes(9)]
    )
    data = written(kind, values, Layout(truncate=size, exact=True))
    cut = changed(data, stated(min_value=bytes(size))) if isinstance(kind, Scalar) else data

    assert set() == reported(cut)


def test_shredded_variants_are_judged_by_the_types_of_their_parts() -> None:
    shredded = pa.table({"event": pa.array([{"metadata": b"\x01\0", "value": None, "typed_value": 7}])})
    buffer = io.BytesIO()
    pq.write_table(shredded, buffer)

    def swap(metadata: FileMetaData) -> None:
        facts = metadata.row_groups[0].columns[2].meta_data
        assert facts is not None
        facts.statistics = Statistics(
            min_value=struct.pack("<q", 8), max_value=struct.pack("<q", 7), null_count=0
        )

    assert set() == reported(buffer.getvalue())
    assert {"STA-006"} == reported(edited(buffer.getvalue(), swap))


# ------------------------------------------------------------------------------------------------ changed footers


@dataclass
class Case:
    """A file changed in one way, and the rules that are reported of it; what every implementation must see is a golden case."""

    name: str
    data: bytes
    change: Callable[[Chunk], None]
    rules: set[str]


INT = written("int32", [1, 5])
UINT = written("uint32", [1, (1 << 32) - 1])
COUNTED = written("double", [1.0, NAN, None], Layout(nan_count=True))
TEXT = written("string", ["a", "b", None])
LIST = written(ListOf("int32"), [[1, 2], None, [None]], Layout(size_statistics=True))
TOTALLY = written("double", [1.0, NAN, None], TOTAL)
INT96 = written("int96", [0, 5], TIMESTAMP)
GEOMETRY = written("geometry", [b"\x01"])
GEOGRAPHY = written("geography", [b"\x01"])
NAN8, ZERO, MINUS_ZERO = (struct.pack("<d", value) for value in (NAN, 0.0, -0.0))


def only_deprecated(chunk: Chunk) -> None:
    chunk.metadata.column_orders = None
    chunk.facts.statistics = Statistics(
        min=chunk.statistics.min_value, max=chunk.statistics.max_value, null_count=0
    )


UNKNOWN_ORDER = ColumnOrder(unknown=[LATER])
TOTAL_ORDER = ColumnOrder(IEEE_754_TOTAL_ORDER=IEEE754TotalOrder())
LATER_TYPE = LogicalType(unknown=[LATER])

CASES = [
    # column orders
    Case("no orders, deprecated bounds", INT, only_deprecated, set()),
    Case("an unknown order, bounds of unknown form", INT, ordered(UNKNOWN_ORDER, min_value=b"zz", max_value=b""), {"STA-003"}),
    Case("an unknown order, a deprecated bound", INT, ordered(UNKNOWN_ORDER, min=b"zz", max=b"zz"), {"STA-003", "STA-005"}),
    Case("the total order of doubles", COUNTED, ordered(TOTAL_ORDER), set()),
    # the bytes of bounds
    Case("a deprecated bound of another width", INT, stated(max=bytes(8)), {"STA-005"}),
    Case("a bound with the length of its text", TEXT, stated(min_value=b"\1\0\0\0a"), set()),
    Case("an empty bound of text", TEXT, stated(min_value=b""), set()),
    Case("a short float16", written("float16", [1.0]), stated(min_value=b"\0"), {"STA-005"}),
    Case("an empty bound of fixed bytes", written(fixed(3), [b"abc"]), stated(min_value=b""), {"STA-005"}),
    # bounds in their order
    Case("unsigned numbers beyond the signed ones", UINT, stated(min_value=b"\1\0\0\0", max_value=b"\xff" * 4), set()),
    Case("decimals of unequal length", written(decimal(30, 2, Type.BYTE_ARRAY), [5]), stated(min_value=b"\x7f", max_value=b"\0\x80"), set()),
    Case("INT96 by day first", INT96, stated(min_value=b"\xff" * 7 + bytes(5), max_value=bytes(8) + b"\1\0\0\0"), set()),
    Case("swapped zeros of the total order", TOTALLY, stated(min_value=ZERO, max_value=MINUS_ZERO), {"STA-006"}),
    Case("swapped deprecated bounds", INT, stated(min=struct.pack("<i", 9), max=struct.pack("<i", 8), min_value=None, max_value=None), {"STA-006"}),
    Case("swapped deprecated bounds of text, by no order at all", TEXT, stated(min=b"b", max=b"a"), {"STA-014"}),
    Case("an unknown logical type", INT, annotated(LATER_TYPE, min_value=b"\xff" * 4, max_value=bytes(4)), set()),
    Case("an unknown logical type beside a known one of old", TEXT, annotated(LATER_TYPE, ConvertedType.UTF8, min_value=b"\xff", max_value=b""), set()),
    Case("text on integers", INT, annotated(LogicalType(STRING=StringType()), min_value=b"\xff" * 9), set()),
    Case("UUIDs of other bytes", INT, annotated(LogicalType(UUID=UUIDType()), min_value=b"\xff" * 9), set()),
    # NaN
    Case("a NaN bound of a float16", written("float16", [1.0]), stated(max_value=b"\0\x7e"), {"STA-007"}),
    Case("a NaN bound though all is NaN", written("double", [NAN, None], Layout(nan_count=True)), stated(min_value=NAN8, max_value=NAN8), {"STA-008"}),
    Case("a NaN bound of the total order, nulls not counted", TOTALLY, stated(max_value=NAN8, null_count=None), {"STA-011"}),
    Case("a NaN bound of the total order without any NaN", TOTALLY, stated(max_value=NAN8, nan_count=0, null_count=None), {"STA-008", "STA-011"}),
    # counts
    Case("as many nulls as values", INT, stated(null_count=2), set()),
    Case("a NaN count of an unknown type", INT, annotated(LATER_TYPE, nan_count=0), set()),
    # deprecated bounds
    Case("deprecated bounds of integers", INT, stated(min=b"\1\0\0\0", max=b"\5\0\0\0"), set()),
    Case("deprecated bounds of one text", TEXT, stated(min=b"a", max=b"a"), set()),
    Case("deprecated bounds of decimals", written(decimal(30, 2, Type.BYTE_ARRAY), [5]), stated(min=b"\5", max=b"\5"), set()),
    Case("another deprecated bound of unsigned numbers", UINT, stated(min=b"\xff" * 4, max=b"\xff" * 4), set()),
    # types without an order
    Case("INT96 by type, without bounds", INT96, ordered(TYPE_DEFINED, min_value=None, max_value=None), set()),
    Case("INT96 by an unknown order", INT96, ordered(UNKNOWN_ORDER), {"STA-003"}),
    Case("deprecated bounds of a geography", GEOGRAPHY, stated(min=b"\x01", max=b"\x02"), {"STA-017"}),
    Case("bounds of nulls", written("unknown", [None]), stated(min_value=bytes(4), max_value=bytes(4)), {"STA-017"}),
    # text
    Case("a deprecated bound within a character", TEXT, stated(min=b"\xff", max=b"\xff"), {"STA-018"}),
    Case("bytes that are not text", written("binary", [b"\xff"]), stated(max_value=b"\xff"), set()),
    # levels and sizes
    Case("a histogram that is right", LIST, sized(repetition_level_histogram=[3, 1]), set()),
    Case("empty histograms", LIST, sized(repetition_level_histogram=[], definition_level_histogram=[]), set()),
    Case("a histogram with the number of nulls", LIST, sized(definition_level_histogram=[1, 0, 1, 2]), set()),
    Case("bytes of text", TEXT, sized(unencoded_byte_array_data_bytes=2), set()),
    # geospatial
    Case("a box", GEOMETRY, boxed(), set()),
    Case("a box across the antimeridian", GEOGRAPHY, boxed(xmin=179.0, xmax=-179.0), set()),
    Case("a box with height and measure", GEOGRAPHY, boxed(zmin=1.0, zmax=1.0, mmin=-5.0, mmax=0.0), set()),
    Case("a box with m upside down", GEOMETRY, boxed(mmin=2.0, mmax=1.0), {"STA-022"}),
    Case("a box with NaN", GEOMETRY, boxed(xmax=NAN), {"STA-076"}),
    Case("a box with a height of NaN", GEOMETRY, boxed(zmin=NAN, zmax=1.0), {"STA-076"}),
    Case("a box of nothing", GEOMETRY, boxed(xmin=float("inf"), xmax=float("-inf"), ymin=float("inf"), ymax=float("-inf")), {"STA-076"}),
    Case("a box of an unknown type", GEOMETRY, both(annotated(LATER_TYPE), boxed()), set()),
    Case("a box of integers that are called a geography", INT, both(annotated(LogicalType(GEOGRAPHY=GeographyType())), boxed()), set()),
    # flags
    Case("a flag with its bound", INT, stated(is_min_value_exact=False), set()),
]  # fmt: skip


@each("case", CASES)
def test_exactly_the_expected_rules_are_reported(case: Case) -> None:
    assert case.rules == reported(changed(case.data, case.change))
