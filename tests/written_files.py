"""Files by every writer: the same table, with the page indexes and bloom filters that the writer can make."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import datafusion
import duckdb
import fastparquet  # type: ignore[import-untyped] # it has no types
import pandas as pd  # type: ignore[import-untyped] # its stubs are not installed
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from pqassay_reference.rewrite.embed import IndexingWriter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROW_COUNT = 6_000
ROW_GROUP = 2_048
"""Rows of a row group; DuckDB makes none that are smaller."""
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


def write_pyarrow(path: Path, data: pa.Table, **options: Any) -> None:
    pq.write_table(data, path, row_group_size=ROW_GROUP, **options)


def write_indexed(path: Path, data: pa.Table, column: str, **options: Any) -> None:
    """As `write_pyarrow`, with an index that is embedded before page indexes and bloom filters are written."""
    with IndexingWriter(path, data.schema, column, **options) as writer:
        for start in range(0, data.num_rows, ROW_GROUP):
            writer.write(data.slice(start, ROW_GROUP))


def write_duckdb(path: Path, data: pa.Table, options: str = "") -> None:
    with duckdb.connect() as connection:
        connection.register("data", data)
        connection.execute(f"COPY (SELECT * FROM data) TO '{path}' (FORMAT parquet{options})")


def write_polars(path: Path, data: pa.Table, **options: Any) -> None:
    frame = pl.from_arrow(data)
    assert isinstance(frame, pl.DataFrame)
    frame.write_parquet(path, row_group_size=ROW_GROUP, **options)


def write_datafusion(path: Path, data: pa.Table, **options: Any) -> None:
    context = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(1))
    context.from_arrow(data).write_parquet_with_options(path, datafusion.ParquetWriterOptions(**options))


def write_fastparquet(path: Path, data: pa.Table, **options: Any) -> None:
    nullable = {pa.bool_(): pd.BooleanDtype(), pa.int32(): pd.Int32Dtype(), pa.int64(): pd.Int64Dtype()}
    fastparquet.write(str(path), data.to_pandas(types_mapper=nullable.get), **options)


def write_spark(session: SparkSession, path: Path, data: pa.Table, **options: str) -> None:
    folder = path.with_name(f"{path.name}.folder")
    session.createDataFrame(data).coalesce(1).write.options(**options).parquet(str(folder))
    (written,) = folder.glob("part-*.parquet")
    written.rename(path)


PYARROW_OPTIONS: dict[str, Any] = {
    "write_page_index": True,
    "max_rows_per_page": PAGE,
    "bloom_filter_options": {column: {"ndv": ROW_GROUP, "fpp": 0.001} for column in BLOOM_COLUMNS},
}

WRITERS: dict[str, tuple[Callable[..., None], dict[str, Any]]] = {
    "pyarrow": (write_pyarrow, PYARROW_OPTIONS),
    "pyarrow-v2": (
        write_pyarrow,
        {
            **PYARROW_OPTIONS,
            "data_page_version": "2.0",
            "compression": "zstd",
            "use_dictionary": False,
            "write_page_checksum": True,
        },
    ),
    # bloom filters for the chunks that it encodes with a dictionary, and no page index
    "duckdb": (
        write_duckdb,
        {"options": f", ROW_GROUP_SIZE {ROW_GROUP}, DICTIONARY_SIZE_LIMIT {ROW_GROUP}"},
    ),
    "polars": (write_polars, {"data_page_size": 2_048, "statistics": "full"}),
    "datafusion": (
        write_datafusion,
        {
            "max_row_group_size": ROW_GROUP,
            "write_batch_size": PAGE,
            "data_page_row_count_limit": PAGE,
            "bloom_filter_on_write": True,
            "bloom_filter_ndv": ROW_GROUP,
        },
    ),
    # neither page index nor bloom filters
    "fastparquet": (write_fastparquet, {"row_group_offsets": ROW_GROUP}),
}
"""Writers that need no session, with the options that make them add all that they can."""

SPARK_OPTIONS = {
    "parquet.page.row.count.limit": str(PAGE),
    "parquet.block.row.count.limit": str(ROW_GROUP),
    "parquet.enable.dictionary": "false",  # a chunk that stays in its dictionary gets no bloom filter
    **{f"parquet.bloom.filter.enabled#{column}": "true" for column in BLOOM_COLUMNS},
    **{f"parquet.bloom.filter.expected.ndv#{column}": str(ROW_GROUP) for column in BLOOM_COLUMNS},
}
