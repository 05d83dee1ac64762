"""The same table written by every writer, with the page indexes and bloom filters that the writer can make."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import datafusion
import duckdb
import fastparquet  # type: ignore[import-untyped] # it has no types
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from pqassay_reference.embed import IndexingWriter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROW_COUNT = 6_000
ROW_GROUP = 2_048
"""Rows of a row group; DuckDB makes no smaller ones."""
PAGE = 256
"""Rows of a page, where the writer can be told."""

NATIONS = ["Singapore", "Peru", "", "Côte d'Ivoire", "日本", "Perú", "e\u0301", "😀", None]


def table() -> pa.Table:
    """The table: ids that ascend, names in no order, few nations, and nulls that fill whole pages."""
    names = [
        f"{'ключ' if i % 3 else 'name'}-{i * 2_741 % ROW_COUNT * 2:05d}" if i % 10 else None
        for i in range(ROW_COUNT)
    ]
    return pa.table(
        {
            "id": pa.array(range(ROW_COUNT), pa.int64()),
            "name": pa.array(names, pa.string()),
            "nation": pa.array([NATIONS[i // 7 % len(NATIONS)] for i in range(ROW_COUNT)], pa.string()),
            "amount": pa.array([None if 2_900 <= i < 3_500 else i * i for i in range(ROW_COUNT)], pa.int64()),
            "price": pa.array([i / 7 for i in range(ROW_COUNT)], pa.float64()),
        }
    )


BLOOM_COLUMNS = ("id", "name", "nation")

PYARROW_OPTIONS: dict[str, Any] = {
    "write_page_index": True,
    "max_rows_per_page": PAGE,
    "bloom_filter_options": {key: {"ndv": ROW_GROUP, "fpp": 0.001} for key in BLOOM_COLUMNS},
}


def write_pyarrow(path: Path, data: pa.Table) -> None:
    pq.write_table(data, path, row_group_size=ROW_GROUP, **PYARROW_OPTIONS)


def write_pyarrow_v2(path: Path, data: pa.Table) -> None:
    pq.write_table(
        data,
        path,
        row_group_size=ROW_GROUP,
        data_page_version="2.0",
        compression="zstd",
        use_dictionary=False,
        write_page_checksum=True,
        **PYARROW_OPTIONS,
    )


def write_indexed(path: Path, data: pa.Table) -> None:
    """As `write_pyarrow`, with an index of ``nation`` embedded before page indexes and bloom filters are written."""
    with IndexingWriter(path, data.schema, "nation", **PYARROW_OPTIONS) as writer:
        for start in range(0, data.num_rows, ROW_GROUP):
            writer.write(data.slice(start, ROW_GROUP))


def write_duckdb(path: Path, data: pa.Table) -> None:
    """DuckDB writes a bloom filter for each chunk that it encodes with a dictionary, and no page index."""
    with duckdb.connect() as connection:
        connection.register("data", data)
        connection.execute(
            f"COPY (SELECT * FROM data) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE {ROW_GROUP}, "
            f"DICTIONARY_SIZE_LIMIT {ROW_GROUP})"
        )


def write_polars(path: Path, data: pa.Table) -> None:
    frame = pl.from_arrow(data)
    assert isinstance(frame, pl.DataFrame)
    frame.write_parquet(path, row_group_size=ROW_GROUP, data_page_size=2_048, statistics="full")


def write_datafusion(path: Path, data: pa.Table) -> None:
    options = datafusion.ParquetWriterOptions(
        max_row_group_size=ROW_GROUP,
        write_batch_size=PAGE,
        data_page_row_count_limit=PAGE,
        bloom_filter_on_write=True,
        bloom_filter_ndv=ROW_GROUP,
    )
    context = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(1))
    frame = context.from_arrow(data)
    frame.write_parquet_with_options(path, options)


def write_fastparquet(path: Path, data: pa.Table) -> None:
    """fastparquet writes neither page index nor bloom filters."""
    frame = data.to_pandas(types_mapper=None, integer_object_nulls=True)
    frame["amount"] = frame["amount"].astype("Int64")
    fastparquet.write(str(path), frame, row_group_offsets=ROW_GROUP, stats=True)


WRITERS: dict[str, Callable[[Path, pa.Table], None]] = {
    "pyarrow": write_pyarrow,
    "pyarrow-v2": write_pyarrow_v2,
    "duckdb": write_duckdb,
    "polars": write_polars,
    "datafusion": write_datafusion,
    "fastparquet": write_fastparquet,
}


def write_spark(session: SparkSession, path: Path, data: pa.Table, **options: str) -> None:
    """Write one file with Spark, by default with all that it can add to chunks and pages."""
    chosen = {
        "parquet.page.row.count.limit": str(PAGE),
        "parquet.block.row.count.limit": str(ROW_GROUP),
        # a chunk that stays in its dictionary gets no bloom filter
        "parquet.enable.dictionary": "false",
        **{f"parquet.bloom.filter.enabled#{column}": "true" for column in BLOOM_COLUMNS},
        **{f"parquet.bloom.filter.expected.ndv#{column}": str(ROW_GROUP) for column in BLOOM_COLUMNS},
    }
    folder = path.with_name(f"{path.name}.folder")
    session.createDataFrame(data).coalesce(1).write.options(**{**chosen, **options}).parquet(str(folder))
    (written,) = folder.glob("part-*.parquet")
    written.rename(path)
