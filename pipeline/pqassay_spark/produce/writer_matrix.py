"""Small files for each option, each codec and each type of Spark's Parquet writer, and for empty tables.

Every case has its rows as literals, so the expected rows never come from Spark. It also names the features
that its file must have and must lack, in the words of this module's test.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pqassay_spark.jobs.session import session_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = tuple[Any, ...]


@dataclass(frozen=True)
class WriterCase:
    """A table and the options for writing it with Spark.

    Attributes:
        name: Name of its folder.
        title: What it shows, in one line.
        schema: Its columns, as Spark's SQL declares them.
        rows: Its rows, as Python values.
        holds: Features that its file has.
        lacks: Features that its file does not have.
        settings: Settings of the session.
        options: Options of the writer.
        select: SQL expressions for the written columns, if Python has no values for them.
        column: A column of text that an index may describe.
        partition_by: The column whose values become folders.
    """

    name: str
    title: str
    schema: str
    rows: tuple[Row, ...]
    holds: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    select: tuple[str, ...] = ()
    column: str | None = None
    partition_by: str | None = None


FLAT = "city STRING, founded BIGINT NOT NULL, area DOUBLE NOT NULL, district INT, code BINARY"

CITIES: tuple[Row, ...] = (
    ("Oslo", 1040, 454.12, 17, b"\x00\xff"),
    ("München", 1158, 310.7, 25, b"MUC"),
    (None, -753, 0.1, None, None),
    ("東京", 1457, 2194.07, 62, b""),
    ("Lagos", 1472, -0.0, -2147483648, b"PAR1"),
    ("Oslo", 1048, 1e-300, 2147483647, b"\x00"),
    ("", 9007199254740993, 0.0, 0, None),
    ("Łódź", 1423, 293.25, 5, "Łódź".encode()),
)
"""Rows with a repeated value, nulls, an empty text, text beyond ASCII, the ends of int32, and both zeros."""

SERIES: tuple[Row, ...] = tuple((f"city-{n * 7919 % 60:02d}", n, n / 8, n % 5, bytes([n])) for n in range(60))
"""Sixty rows, each with a different city."""

PAGES = {"parquet.page.row.count.limit": "20", "parquet.page.size.row.check.min": "10"}
GROUPS = {"parquet.block.row.count.limit": "25"}
BLOOM = {"parquet.bloom.filter.enabled#city": "true", "parquet.bloom.filter.expected.ndv#city": "60"}
NO_DICTIONARY = {"parquet.enable.dictionary": "false"}
V2 = {"parquet.writer.version": "v2"}
SMALL_PAGES = {"parquet.page.row.count.limit": "10", "parquet.page.size.row.check.min": "5"}
EVERYTHING = {**GROUPS, **BLOOM, **NO_DICTIONARY, **V2, **SMALL_PAGES, "compression": "zstd"}

MOMENTS: tuple[Row, ...] = tuple(
    (f"moment {n}", moment)
    for n, moment in enumerate(
        (
            dt.datetime(2024, 2, 29, 23, 59, 59, 123000, dt.UTC),
            None,
            dt.datetime(1969, 12, 31, 23, 59, 59, 999000, dt.UTC),
            dt.datetime(1900, 1, 1, tzinfo=dt.UTC),
            dt.datetime(2262, 4, 11, tzinfo=dt.UTC),
        )
    )
)
NAIVE = tuple((name, moment and moment.replace(tzinfo=None)) for name, moment in MOMENTS)


DECIMALS: tuple[Row, ...] = (
    (Decimal("1234567.89"), Decimal("-12345678901234.5678"), Decimal("1234567890123456789012345678.0123456789")),
    (None, None, None),
    (Decimal("-0.01"), Decimal("0.0001"), Decimal("-0.0000000001")),
    (Decimal("0.00"), Decimal("99999999999999.9999"), Decimal("0E-10")),
)  # fmt: skip
OF_DECIMALS = "small DECIMAL(9,2), medium DECIMAL(18,4), large DECIMAL(38,10)"

NESTED: tuple[Row, ...] = (
    (1, ["a", None, "ü"], {"x": 1, "日": None}, {"city": "Oslo", "at": {"lat": 59.9, "lon": 10.7}}, [[1, 2], [], None]),
    (2, [], {}, {"city": None, "at": None}, []),
    (3, None, None, None, None),
    (4, ["a"], {"x": 2}, {"city": "Lagos", "at": {"lat": None, "lon": 3.4}}, [[None]]),
)  # fmt: skip
OF_NESTED = "id INT NOT NULL, tags ARRAY<STRING>, counts MAP<STRING, INT>, place STRUCT<city: STRING, at: STRUCT<lat: DOUBLE, lon: DOUBLE>>, grid ARRAY<ARRAY<INT>>"

LEGACY = {"spark.sql.parquet.writeLegacyFormat": "true"}
MODERN = {"spark.sql.parquet.writeLegacyFormat": "false"}


def _case(
    name: str, title: str, schema: str, rows: tuple[Row, ...], holds: str, lacks: str = "", **more: Any
) -> WriterCase:
    """A case as one line of a table; features are separated by commas."""
    return WriterCase(name, title, schema, rows, _features(holds), _features(lacks), **more)


def _flat(
    name: str, title: str, holds: str, lacks: str = "", *, rows: tuple[Row, ...] = CITIES, **more: Any
) -> WriterCase:
    return _case(name, title, FLAT, rows, holds, lacks, column="city", **more)


def _codec(name: str, title: str, codec: str) -> WriterCase:
    holds = f"city: codec {codec}, area: codec {codec}"
    folder = f"codec-{name.replace('_', '-')}"
    return _flat(folder, f"Compressed with {title}", holds, options={"compression": name})


def _times(name: str, title: str, holds: str, lacks: str = "", *, stored: str) -> WriterCase:
    settings = {"spark.sql.parquet.outputTimestampType": stored}
    schema = "name STRING, at TIMESTAMP"
    return _case(f"timestamp-{name}", title, schema, MOMENTS, holds, lacks, settings=settings, column="name")


def _features(text: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split(",") if part.strip())


CONTAINERS = (
    _flat("defaults", "What Spark writes by default", "row groups: 1, city: codec SNAPPY, city: DATA_PAGE, city: dictionary, city: column index, city: offset index, city: crc, city: bounds, city: STRING, founded: encoding PLAIN", "city: bloom filter, city: pages, code: STRING"),
    _codec("none", "nothing", "UNCOMPRESSED"),
    _codec("gzip", "gzip", "GZIP"),
    _codec("zstd", "Zstandard", "ZSTD"),
    _codec("lz4_raw", "LZ4 blocks", "LZ4_RAW"),
    _codec("lz4", "LZ4 in the frame of Hadoop, which the format has given up", "LZ4"),
    _flat("pages-v2", "Data pages of version 2, with dictionaries", "city: DATA_PAGE_V2, city: encoding RLE_DICTIONARY, founded: DATA_PAGE_V2", "city: DATA_PAGE", options=V2),
    _flat("pages-v2-delta", "Data pages of version 2 without dictionaries: delta encodings", "founded: encoding DELTA_BINARY_PACKED, city: encoding DELTA_BYTE_ARRAY, area: encoding PLAIN", "city: dictionary", options=V2 | NO_DICTIONARY),
    _flat("no-dictionary", "Plain values only", "city: encoding PLAIN", "city: dictionary", options=NO_DICTIONARY),
    _flat("dictionary-given-up", "A dictionary that grew too large: pages with it, then pages without", "city: dictionary, city: encoding PLAIN_DICTIONARY, city: encoding PLAIN, city: pages", rows=tuple((f"a long name of {n % 2 if n < 20 else n}", n, 0.0, 0, None) for n in range(60)), options={"parquet.dictionary.page.size": "256", **PAGES}),
    _flat("pages", "Three pages in each chunk", "city: pages, founded: pages, row groups: 1", rows=SERIES, options=PAGES),
    _flat("row-groups", "Three row groups", "row groups: 3, city: column index", rows=SERIES, options=GROUPS),
    _flat("bloom-filter", "A bloom filter, for which the dictionary must be off", "city: bloom filter", "founded: bloom filter, city: dictionary", options=BLOOM | NO_DICTIONARY),
    _flat("bloom-filter-beside-dictionary", "A bloom filter that is asked for and left out, since the dictionary says more", "city: dictionary", "city: bloom filter", options=BLOOM),
    _flat("everything", "Row groups, pages of version 2, bloom filters and page indexes in one file", "row groups: 3, city: pages, city: bloom filter, city: column index, city: DATA_PAGE_V2, city: codec ZSTD", rows=SERIES, options=EVERYTHING),
    _flat("no-checksums", "Pages without checksum", "", "city: crc", options={"parquet.page.write-checksum.enabled": "false"}),
    _flat("no-statistics", "Chunks without bounds, and so without column index", "city: offset index", "city: bounds, founded: bounds, city: column index", options={"parquet.column.statistics.enabled": "false"}),
    _flat("bounds-cut-short", "Bounds of text cut to four bytes in the page index, which is one character there", "city: longest page bound 3, city: bounds", options={"parquet.columnindex.truncate.length": "4"}),
    _flat("no-rows", "A table without rows: one file, no row group", "row groups: 0", rows=()),
    _flat("one-row", "One row", "row groups: 1", rows=CITIES[:1]),
    _case("only-nulls", "A column of nulls: no bounds", "city STRING, founded BIGINT", ((None, 1), (None, None), (None, 3)), "founded: bounds, city: column index", "city: bounds", column="city"),
    _flat("partitioned", "A folder for each district, and that column in no file", "founded: INT64", "district: INT32", partition_by="district"),
)  # fmt: skip
"""Cases about the container; every reader knows their types."""

TYPES = (
    _times("int96", "Times of 96 bits: no bounds, no column index", "at: INT96, at: offset index", "at: bounds, at: column index", stored="INT96"),
    _times("micros", "Times in microseconds", "at: INT64, at: TIMESTAMP, at: bounds, at: column index", stored="TIMESTAMP_MICROS"),
    _times("millis", "Times in milliseconds", "at: INT64, at: TIMESTAMP, at: bounds, at: column index", stored="TIMESTAMP_MILLIS"),
    _case("timestamp-without-zone", "Times of no zone", "name STRING, at TIMESTAMP_NTZ", NAIVE, "at: INT64, at: TIMESTAMP", column="name"),
    _case("date", "Days, some of them before 1970", "name STRING, day DATE", (("leap", dt.date(2024, 2, 29)), ("none", None), ("early", dt.date(1900, 1, 1)), ("late", dt.date(9999, 12, 31))), "day: INT32, day: DATE, day: bounds", column="name"),
    _case("decimal", "Decimals in 32 bits, 64 bits and 16 bytes", OF_DECIMALS, DECIMALS, "small: INT32, medium: INT64, large: FIXED_LEN_BYTE_ARRAY, small: DECIMAL", settings=MODERN),
    _case("decimal-legacy", "Decimals as Spark once wrote them: bytes at any precision", OF_DECIMALS, DECIMALS, "small: FIXED_LEN_BYTE_ARRAY, medium: FIXED_LEN_BYTE_ARRAY, large: FIXED_LEN_BYTE_ARRAY", settings=LEGACY),
    _case("small-numbers", "Integers of 8 and 16 bits, booleans, floats of 32 bits", "tiny TINYINT, short SMALLINT, flag BOOLEAN, ratio FLOAT", ((-128, 32767, True, 0.5), (None, None, None, None), (127, -32768, False, -0.0), (0, 0, True, 1.5)), "tiny: INT32, tiny: INTEGER, short: INTEGER, flag: BOOLEAN, ratio: FLOAT"),
    _case("not-a-number", "NaN among doubles, and a column of nothing else: no column index", "some DOUBLE NOT NULL, only DOUBLE NOT NULL", ((math.nan, math.nan), (1.0, math.nan), (math.inf, math.nan), (-math.inf, math.nan)), "some: DOUBLE", "some: column index, only: column index"),
    _case("nested", "Lists, maps and structs, null and empty at every level", OF_NESTED, NESTED, "tags: LIST, counts: MAP, tags.list.element: STRING, place.at.lat: DOUBLE", settings=MODERN),
    _case("nested-legacy", "Lists in two levels less, as Spark once wrote them", OF_NESTED, NESTED, "tags: LIST, tags.bag.array: STRING", settings=LEGACY),
    _case("variant", "A variant, shredded", "id INT NOT NULL, json STRING", ((1, '{"city":"Oslo","area":454}'), (2, "[1,2]"), (3, None), (4, '"text"')), "v: VARIANT", select=("id", "parse_json(json) AS v")),
    _case("intervals", "Intervals, which Parquet sees as plain integers", "id INT NOT NULL, took INTERVAL DAY TO SECOND", ((1, dt.timedelta(days=1, seconds=2, microseconds=3)), (2, None), (3, dt.timedelta(days=-1))), "took: INT64", "took: INTEGER"),
    _case("odd-names", "Columns with dots, spaces, quotes and characters beyond ASCII in their names", '`a.b` STRING, `größe in m` INT, `日本` STRING, `say "x"` INT', (("one", 1, "一", 1), (None, None, None, None), ("two", 2, "二", 2)), "a.b: STRING, 日本: STRING", column="日本"),
    _case("long-text", "Values longer than bounds may be: they are cut, the largest upwards", "id INT NOT NULL, text STRING", ((1, "a" * 200), (2, "\U0010ffff" * 100), (3, "ü" * 500), (4, None), (5, "")), "text: column index", column="text"),
)  # fmt: skip
"""Cases about types that some readers do not know."""

MATRIX: tuple[WriterCase, ...] = (*CONTAINERS, *TYPES)
"""All cases."""


def write_matrix(spark: SparkSession, out: str) -> None:
    """Write every case into a folder with its name below ``out``."""
    for case in MATRIX:
        write_case(spark, case, f"{out}/{case.name}")


def write_case(spark: SparkSession, case: WriterCase, out: str) -> None:
    """Write a case with Spark into the folder ``out``, which must not exist, as one file unless it is partitioned.

    The session has the settings of the case during that time. Cases must be written one after the other: when several are
    written at the same time, some lose their options.
    """
    with session_settings(spark, {"spark.sql.session.timeZone": "UTC", **case.settings}):
        frame = spark.createDataFrame(list(case.rows), case.schema).coalesce(1)
        if case.select:
            frame = frame.selectExpr(*case.select)
        writer = frame.write.options(**case.options)
        if case.partition_by:
            writer = writer.partitionBy(case.partition_by)
        writer.parquet(out)
