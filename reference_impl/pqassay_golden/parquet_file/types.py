"""Golden cases of types and pages: every type that a column can have, nested columns, both page versions, dictionaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pqassay_golden.recipes import Good
from pqassay_golden.tiny.parquet import (
    Column,
    Encoding,
    Layout,
    ListOf,
    MapOf,
    Member,
    Repeated,
    Struct,
    TinyParquet,
    decimal,
    fixed,
    timestamp,
)
from pqassay_spec.parquet.thrift import Type

NAMES = ["a", None, "b", "c", "b"]
NAME = Column("name", "string", NAMES)
B: Sequence[Any] = ("=", "name", "b")

NUMBERS = (
    NAME,
    Column("flag", "boolean", [True, None, False, True, True]),
    Column("small", "int8", [-128, None, 127, 0, 1]),
    Column("short", "int16", [-32768, None, 32767, 0, 1]),
    Column("u8", "uint8", [255, None, 0, 128, 1]),
    Column("u16", "uint16", [65535, None, 0, 32768, 1]),
    Column("u32", "uint32", [4294967295, None, 0, 1 << 31, 1]),
    Column("single", "float", [1.5, -2.0, 0.0, float("inf"), 0.1], optional=False),
)
UNSIGNED_64 = (NAME, Column("u64", "uint64", [(1 << 64) - 1, None, 0, 1 << 63, 1]))
CENTS = [-1, None, 99999, 0, 12345]
DECIMALS = (
    NAME,
    Column("in_int32", decimal(9, 2, Type.INT32), CENTS),
    Column("in_int64", decimal(9, 2, Type.INT64), CENTS),
    Column("in_fixed", decimal(9, 2, Type.FIXED_LEN_BYTE_ARRAY, 5), CENTS),
)
TIMES = (
    NAME,
    Column("day", "date", [0, None, -1, 19000, 7]),
    Column("millis", "timestamp_millis", [0, None, -1, 1_700_000_000_000, 7]),
    Column("micros", "timestamp_micros", [0, None, -1, 1_700_000_000_000_000, 7]),
    Column("local", timestamp("micros", utc=False), [0, None, -1, 1_700_000_000_000_000, 7]),
)
NESTED = (
    NAME,
    Column("tags", ListOf("string"), [["x", None], [], None, ["y"], ["z", "x", "y"]]),
    Column("places", ListOf(Struct((Member("x", "int32"), Member("y", "double")))), [[{"x": 1, "y": None}], None, [], [None], [{"x": 2, "y": 0.5}, {"x": None, "y": -1.0}]]),
    Column("grid", ListOf(ListOf("int64")), [[[1, 2], [], None], [], None, [[3]], [[None], [4]]]),
    Column("counts", MapOf("string", "int32"), [[("k", 1), ("l", None)], None, [], [("m", 2)], [("k", 3)]]),
)  # fmt: skip
PAGED = (
    NAME,
    Column("number", "int64", [3, 1, 4, 1, 5], optional=False),
    Column("tags", ListOf("string"), [["x", None], [], None, ["y"], ["z", "x", "y"]]),
)
DICTIONARY = Layout(dictionary=Encoding.RLE_DICTIONARY, encoding_stats=True)

GOOD = (
    Good("pqf/numbers", "Booleans, integers narrower than their physical type, unsigned ones, and floats", TinyParquet(NUMBERS, page_rows=2, page_index=True), B, since="0.5.0"),
    Good("pqf/unsigned-64", "Unsigned integers of 64 bits", TinyParquet(UNSIGNED_64, page_rows=2, page_index=True), B, misread_by=("Spark",), since="0.5.0"),
    Good("pqf/decimals", "The same decimals in three physical types of fixed width", TinyParquet(DECIMALS, page_rows=2, page_index=True), B, misread_by=("fastparquet",), since="0.5.0"),
    Good("pqf/decimal-bytes", "Decimals in as many bytes as each needs", TinyParquet((NAME, Column("in_bytes", decimal(9, 2, Type.BYTE_ARRAY), CENTS)), page_rows=2, page_index=True), B, misread_by=("fastparquet", "Spark"), since="0.5.0"),
    Good("pqf/times", "Dates, and timestamps of two units, in UTC and local", TinyParquet(TIMES, page_rows=2, page_index=True), B, since="0.5.0"),
    Good("pqf/nanoseconds", "Timestamps in nanoseconds", TinyParquet((NAME, Column("nanos", "timestamp_nanos", [0, None, -1, 1_700_000_000_000_000_000, 7])), page_rows=2, page_index=True), B, misread_by=("Spark",), since="0.5.0"),
    Good("pqf/times-of-day", "Times of day of three units", TinyParquet((NAME, Column("millis", "time_millis", [0, None, 1, 86_399_999, 7]), Column("micros", "time_micros", [0, None, 1, 86_399_999_999, 7])), page_rows=2, page_index=True), B, misread_by=("Spark",), since="0.5.0"),
    Good("pqf/int96", "INT96 timestamps, which have neither bounds nor a column index under the order of their type", TinyParquet((NAME, Column("time", "int96", [0, None, -1_000, 1_700_000_000_000_000_000, 7_000])), page_rows=2, page_index=True), B, since="0.5.0"),
    Good("pqf/fixed", "Byte strings of one length", TinyParquet((NAME, Column("code", fixed(3), [b"abc", None, b"\xff\0\0", b"\0\0\0", b"abd"])), page_rows=2, page_index=True), B, misread_by=("fastparquet",), since="0.5.0"),
    Good("pqf/uuid", "UUIDs", TinyParquet((NAME, Column("id", "uuid", [bytes(range(16)), None, bytes(16), b"\xff" * 16, bytes(range(16))])), page_rows=2, page_index=True), B, misread_by=("fastparquet", "Spark"), since="0.5.0"),
    Good("pqf/half", "Floats of two bytes", TinyParquet((NAME, Column("half", "float16", [1.5, -2.0, -0.0, float("inf"), 0.5], optional=False)), page_rows=2, page_index=True), B, misread_by=("fastparquet", "Spark"), since="0.5.0"),
    Good("pqf/nested", "Lists, lists of structs, lists of lists and maps, with nulls on every level", TinyParquet(NESTED, row_group_rows=3, page_rows=2, page_index=True), B, misread_by=("fastparquet",), since="0.5.0"),
    Good("pqf/repeated", "A repeated field without a list around it", TinyParquet((NAME, Column("codes", Repeated("int32"), [[1, 2], [], [3], [4], [5]], optional=False)), page_rows=2, page_index=True), B, misread_by=("fastparquet",), since="0.5.0"),
    Good("pqf/pages-v2", "Data pages of version 2, of a flat and of a nested column", TinyParquet(PAGED, row_group_rows=3, page_rows=2, page_index=True, layout=Layout(version=2)), B, misread_by=("fastparquet",), since="0.5.0"),
    Good("pqf/dictionaries", "Columns with a dictionary; one writer calls it by its old name, one gives it up after a page", TinyParquet((NAME, Column("old", "string", NAMES, layout=Layout(dictionary=Encoding.PLAIN_DICTIONARY)), Column("given_up", "string", NAMES, layout=Layout(dictionary=Encoding.RLE_DICTIONARY, dictionary_pages=1))), page_rows=2, page_index=True, layout=DICTIONARY), B, since="0.5.0"),
    Good("pqf/pages-apart", "Pages of different columns begin with different rows, and levels are packed", TinyParquet(PAGED, page_index=True, layout=Layout(page_rows=(2, 3), packed_levels=True), layouts={"number": Layout(page_rows=(1, 1, 3)), "tags.list.element": Layout(page_rows=4, version=2, packed_levels=True)}), B, misread_by=("fastparquet",), since="0.5.0"),
    Good("pqf/without-checksums", "Pages without CRC", TinyParquet(PAGED, page_rows=2, layout=Layout(crc=False)), B, since="0.5.0"),
)  # fmt: skip
