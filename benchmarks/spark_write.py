"""Cost of indexes when Spark writes: its own writer with the indexing pass, against the writer alone.

    python benchmarks/spark_write.py [--rows 2000000] [--files 8] [--rounds 5] [--cores 2]

The rows are those of `pqassay_spark.produce.sales`, kept in memory, so that only writing is measured.  In turns: Spark's own
writer; the same and then `index_files`, which embeds an index of the nations into every file and keeps an index table; and
the same without the table.  Every round writes into a new folder.

Goal: writing and indexing takes at most 1.3 times as long as writing.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from _measure import goal, print_table, seconds
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as f

from pqassay_reference.rewrite.extract import extract_file
from pqassay_spark.index.run import index_files
from pqassay_spark.jobs.session import spark_session
from pqassay_spark.produce.sales import sales

RATIO = 1.3
"""Goal, in times the cost of writing alone."""

COLUMN = "nation"

PLAIN, INDEXED, EMBEDDED = "write", "write + index", "write + index, no table"


def ways(spark: SparkSession, frame: DataFrame, home: Path) -> dict[str, Callable[[], Path]]:
    """The ways to write the rows; each call writes a folder of its own and returns it."""
    numbers = itertools.count()

    def plain() -> Path:
        root = home / f"out-{next(numbers)}"
        frame.write.parquet(f"file://{root}")
        return root

    def indexed() -> Path:
        root = plain()
        index_files(spark, root, [COLUMN])
        return root

    def embedded() -> Path:
        root = plain()
        index_files(spark, root, [COLUMN], table=False)
        return root

    return {PLAIN: plain, INDEXED: indexed, EMBEDDED: embedded}


def digest(frame: DataFrame) -> Row:
    """Sum of rows, whatever their order: equal rows give equal numbers, and others hardly ever do."""
    whole = f.xxhash64(*frame.columns)
    row = frame.select(
        f.count(f.lit(1)), f.sum(whole.cast("decimal(38,0)")), f.bit_xor(f.xxhash64(whole, f.lit(1)))
    ).first()
    assert row is not None
    return row


def emptied(work: Callable[[], Path]) -> Callable[[], None]:
    """The work, after which its folder is removed: the disk stays as empty as it was."""

    def once() -> None:
        root = work()
        shutil.rmtree(root)
        shutil.rmtree(root.with_name(f"{root.name}.index"), ignore_errors=True)

    return once


def main(arguments: list[str]) -> int:
    """Measure and print; exit 1 if the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args(arguments)
    with (
        tempfile.TemporaryDirectory(prefix="pqassay-spark-write-") as folder,
        spark_session(name="spark_write", cores=options.cores) as spark,
    ):
        frame = sales(spark, options.rows, files=options.files).cache()
        expected = digest(frame)
        assert expected[0] == options.rows
        works = ways(spark, frame, Path(folder))
        size = 0
        for name, work in works.items():
            files = sorted(work().glob("*.parquet"))
            assert len(files) == options.files, name
            size = size or sum(path.stat().st_size for path in files)
            if name != PLAIN:
                assert all(extract_file(path).companion is not None for path in files), name
            written = spark.read.parquet(*(f"file://{path}" for path in files))
            assert digest(written.select(frame.columns)) == expected, name
        measured = seconds({name: emptied(work) for name, work in works.items()}, options.rounds)
    print(f"{options.rows} rows in {options.files} files, {size / 1e6:.0f} MB; {options.cores} cores")
    print_table(
        ["way", "seconds", "times writing"],
        [[name, f"{taken:.2f}", f"{taken / measured[PLAIN]:.2f}"] for name, taken in measured.items()],
    )
    ratio = measured[INDEXED] / measured[PLAIN]
    reached = ratio <= RATIO
    print()
    print(
        goal(
            f"writing and indexing takes at most {RATIO} times as long as writing ({ratio:.2f})",
            reached=reached,
        )
    )
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
