"""Small folders of Parquet files with indexes, and how many of the files Spark opens."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from pqassay_reference.rewrite.embed import embed_file

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


def write_file(path: Path, nations: Sequence[str | None], *, index: bool = True, **columns: Any) -> Path:
    """A file of some nations, and an ``id`` that tells every row from all others; with an index of its nations."""
    path.parent.mkdir(parents=True, exist_ok=True)
    ids = [f"{path.name} {number}" for number in range(len(nations))]
    table = pa.table({"id": ids, "nation": pa.array(nations, pa.string()), **columns})
    with pa.OSFile(str(path), "wb") as sink:
        pq.write_table(table, sink)
    if index:
        embed_file(path, "nation")
    return path


def write_lake(root: Path, files: Mapping[str, Sequence[str | None]]) -> Path:
    """A folder of files, each with its nations and their index."""
    for name, nations in files.items():
        write_file(root / name, nations)
    return root


@contextlib.contextmanager
def setting(spark: SparkSession, name: str, value: str) -> Generator[None]:
    """A setting of the session, for a while; then as it was."""
    before = spark.conf.get(name, None)
    spark.conf.set(name, value)
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, before)


def rows_of(frame: DataFrame) -> list[Any]:
    """The rows, in an order that does not depend on the files'."""
    return sorted((tuple(row) for row in frame.collect()), key=repr)


def files_opened(frame: DataFrame) -> int:
    """How many files Spark opened for the rows that were collected, by its own count."""
    plan: Any = frame._jdf.queryExecution().executedPlan()
    leaves = plan.collectLeaves()
    counted = [leaves.apply(number).metrics() for number in range(leaves.size())]
    return sum(metrics.apply("numFiles").value() for metrics in counted if metrics.contains("numFiles"))
