"""The judge has nothing to say against files as the common writers write them, with an index and without.

All options of the writers, and values at the edges of their types, are in ``test_edge_values.py``.
"""

from __future__ import annotations

import datetime as dt
import decimal
import functools
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
from damage import EXAMPLES
from pqassay_reference.directory.embedding import add_indexes
from pqassay_reference.directory.making.entry import Request
from pqassay_reference.rewrite.embed import embed_file
from pqassay_reference.rewrite.extract import extract_file
from pqassay_spec.directory.codes import Granularity, IndexType
from verdicts import serious
from written_files import (
    SPARK_OPTIONS,
    write_datafusion,
    write_duckdb,
    write_fastparquet,
    write_polars,
    write_pyarrow,
    write_spark,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pqassay.report.model import Report

ROWS = 3_000
CITIES = ["Lima", "", "東京", "Zürich", "a\rb", "tab\t", None, "\u2028", "😀"]


def every(count: int, step: int, make: Callable[[int], Any]) -> list[Any]:
    """``count`` values of which every ``step``-th is null, but never the first."""
    return [None if i % step == step - 1 else make(i) for i in range(count)]


@functools.cache
def flat_table(count: int) -> pa.Table:
    """Types that every writer knows, with nulls and the values at the edges of each type."""
    doubles = [0.0, -0.0, float("nan"), float("inf"), float("-inf"), 0.1, -1e300]
    wide = [0, 1, -1, 2**63 - 1, -(2**63), 1 << 53]
    moment = dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC)
    return pa.table(
        {
            "tag": pa.array(
                every(count, 11, lambda i: f"{CITIES[i % len(CITIES)] or 'tag'} {i % 500}"), pa.string()
            ),
            "flag": pa.array(every(count, 5, lambda i: i % 3 == 0), pa.bool_()),
            "small": pa.array(every(count, 7, lambda i: i % 65_536 - 32_768), pa.int32()),
            "wide": pa.array(every(count, 6, lambda i: wide[i % len(wide)]), pa.int64()),
            "single": pa.array([i / 3 for i in range(count)], pa.float32()),
            "double": pa.array([doubles[i % len(doubles)] for i in range(count)], pa.float64()),
            "not_a_number": pa.array([float("nan")] * count, pa.float64()),
            "bytes": pa.array(every(count, 13, lambda i: i.to_bytes(2, "big") + b"\xff\x00"), pa.binary()),
            "when": pa.array([moment + dt.timedelta(hours=i) for i in range(count)], pa.timestamp("us")),
        }
    )


@functools.cache
def rich_table(count: int) -> pa.Table:
    """`flat_table`, and types that some writers lack."""
    day, cents = dt.date(1969, 12, 31), decimal.Decimal("-0.01")
    place = pa.struct([("city", pa.string()), ("height", pa.int32())])
    more: dict[str, pa.Array[Any]] = {
        "nothing": pa.array([None] * count, pa.int32()),
        "day": pa.array(every(count, 4, lambda i: day + dt.timedelta(days=i)), pa.date32()),
        "price": pa.array(every(count, 9, lambda i: cents * i), pa.decimal128(9, 2)),
        "total": pa.array(every(count, 9, lambda i: cents * i**4), pa.decimal128(38, 10)),
        "place": pa.array(
            every(count, 8, lambda i: {"city": CITIES[i % len(CITIES)], "height": None if i % 2 else i}),
            place,
        ),
        "words": pa.array(
            every(count, 5, lambda i: [CITIES[i % 9], None, "x"][: i % 4]), pa.list_(pa.string())
        ),
        "places": pa.array(
            every(count, 6, lambda i: [{"city": "a", "height": i}] * (i % 3)), pa.list_(place)
        ),
        "grid": pa.array(every(count, 7, lambda i: [[i], [], None][: i % 5]), pa.list_(pa.list_(pa.int64()))),
    }
    table = flat_table(count)
    for name, column in more.items():
        table = table.append_column(name, column)
    return table


@functools.cache
def arrow_table(count: int) -> pa.Table:
    """`rich_table`, and types that only Arrow has."""
    more: dict[str, pa.Array[Any]] = {
        "unsigned": pa.array([(i * 7_919) % 2**32 for i in range(count)], pa.uint32()),
        "tiny": pa.array([i % 256 - 128 for i in range(count)], pa.int8()),
        "time": pa.array([i * 1_000 for i in range(count)], pa.time64("us")),
        "nanoseconds": pa.array([i * 1_001 - 500 for i in range(count)], pa.timestamp("ns")),
        "half": pa.array([i / 4 for i in range(count)], pa.float16()),
        "fixed": pa.array([i.to_bytes(5, "little") for i in range(count)], pa.binary(5)),
        "large": pa.array(every(count, 3, str), pa.large_string()),
        "category": pa.array(every(count, 4, lambda i: f"c{i % 3}"), pa.string()).dictionary_encode(),
        "pairs": pa.array(
            every(count, 5, lambda i: [(f"k{n}", n) for n in range(i % 3)]), pa.map_(pa.string(), pa.int64())
        ),
    }
    table = rich_table(count)
    for name, column in more.items():
        table = table.append_column(name, column)
    return table


SMALL_PAGES = {"data_page_size": 512, "write_page_index": True}

WRITERS: dict[str, tuple[Callable[..., None], Callable[[int], pa.Table], dict[str, dict[str, Any]]]] = {
    "pyarrow": (
        write_pyarrow,
        arrow_table,
        {
            "default": {},
            "V2 pages": {"data_page_version": "2.0", **SMALL_PAGES},
            "INT96": {"use_deprecated_int96_timestamps": True, **SMALL_PAGES},
            "version 1.0": {"version": "1.0", "coerce_timestamps": "us", "allow_truncated_timestamps": True},
            "for Spark": {"flavor": "spark"},
            "bloom filters": {"bloom_filter_options": {"tag": {"ndv": 500}, "wide": True}},
            "short dictionary": {"dictionary_pagesize_limit": 100, **SMALL_PAGES},
        },
    ),
    "duckdb": (
        write_duckdb,
        rich_table,
        {
            "default": {},
            "row groups": {"options": ", ROW_GROUP_SIZE 2048"},
            "V2": {"options": ", PARQUET_VERSION V2"},
        },
    ),
    "polars": (
        write_polars,
        rich_table,
        {
            "default": {},
            "full statistics": {"statistics": "full", "data_page_size": 512},
        },
    ),
    "datafusion": (
        write_datafusion,
        rich_table,
        {
            "default": {},
            "V2": {"writer_version": "2.0", "data_page_row_count_limit": 200, "write_batch_size": 100},
            "bloom filters": {"bloom_filter_on_write": True, "max_row_group_size": 1_000},
            "cut bounds": {"column_index_truncate_length": 3, "statistics_truncate_length": 3},
        },
    ),
    "fastparquet": (
        write_fastparquet,
        flat_table,
        {
            "default": {},
            "row groups": {"row_group_offsets": 1_000},
            "INT96": {"times": "int96"},
        },
    ),
}

SPARK: dict[str, dict[str, str]] = {
    "default": {},
    "pages": SPARK_OPTIONS,
    "V2": {"parquet.writer.version": "v2"},
    "no page index": {
        "parquet.page.write-checksum.enabled": "false",
        "parquet.page.row.count.limit": "100000",
    },
    "Hadoop's lz4": {"compression": "lz4"},
}

ODDITIES: dict[tuple[str, str], set[str]] = {
    # switched on for all columns, and so for the boolean one
    ("datafusion", "bloom filters"): {"BLM-011"},
}
"""Writer and options to the rules, of less than verdict FAIL, that the file breaks."""


def broken(report: Report) -> set[str]:
    """The rules that a report says are broken, but for remarks; it must have judged every file."""
    assert ["conformant"] * len(report.files) == [file.outcome for file in report.files]
    return {finding.rule for file in report.files for finding in serious(file)}


def judge_and_index(writer: str, options: str, path: Path, count: int) -> None:
    """Check a file of ``count`` rows with an index of a column and one of a member of a struct; where options are its writer's own, without them, too.

    Without an index, all options are tried in ``test_edge_values.py``.
    """
    assert pq.read_metadata(path).num_rows == count
    oddities = ODDITIES.get((writer, options), set())
    if options == "default" or EXAMPLES == 1:
        assert oddities == broken(pqassay.check(path, tier="values"))
    table = rich_table(count)
    indexed = path.with_name("indexed.parquet")
    shutil.copyfile(path, indexed)
    embed_file(indexed, "tag")
    kept = {"IDX1-009", "IDX1-016", "IDX1-017", "IDX1-022", "IDX1-023"}
    if "place" in pq.read_schema(path).names:
        add_indexes(indexed, [Request(IndexType.DISTINCT_SET, (("place", "city"),), Granularity.ROW_GROUP)])
        kept |= {"DIR-016", "DIR-020", "DIR-022"}
    report = pqassay.check(indexed, tier="values")

    assert oddities == broken(report)
    (coverage,) = report.coverages.values()
    assert kept <= set(coverage.checked)
    assert set(table.column("tag").to_pylist()) - {None} == set(extract_file(indexed).values)


@pytest.mark.parametrize("count", [0, 1])
@pytest.mark.parametrize("writer", WRITERS)
def test_a_file_with_hardly_any_rows_is_judged_right(writer: str, count: int, tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    write, make, _ = WRITERS[writer]
    write(path, make(count))

    judge_and_index(writer, f"{count} rows", path, count)


@pytest.mark.parametrize(
    ("writer", "name"), [(writer, name) for writer, (_, _, options) in WRITERS.items() for name in options]
)
def test_a_file_is_judged_right(writer: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    write, make, options = WRITERS[writer]
    write(path, make(ROWS), **options[name])

    judge_and_index(writer, name, path, ROWS)


@pytest.mark.spark
@pytest.mark.parametrize("name", SPARK)
def test_a_file_of_spark_is_judged_right(name: str, spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    write_spark(spark, path, rich_table(ROWS), **SPARK[name])

    judge_and_index("spark", name, path, ROWS)


@pytest.mark.spark
@pytest.mark.parametrize("count", [0, 1])
def test_a_file_of_spark_with_hardly_any_rows_is_judged_right(
    count: int, spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "data.parquet"
    write_spark(spark, path, rich_table(count))

    judge_and_index("spark", f"{count} rows", path, count)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS"),
        ("spark.sql.parquet.writeLegacyFormat", "true"),
    ],
)
def test_a_file_of_spark_with_another_layout_of_types_is_judged_right(
    key: str, value: str, spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "data.parquet"
    spark.conf.set(key, value)
    try:
        write_spark(spark, path, rich_table(ROWS))
    finally:
        spark.conf.unset(key)

    judge_and_index("spark", key, path, ROWS)
