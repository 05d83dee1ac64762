"""Gain of Spark when indexes say which files to read: `pqassay_spark.read` against Spark by itself.

    python benchmarks/spark_query.py [--files 1000] [--rounds 5] [--cores 2]

The lake is that of ``prune_lake.py``: 1,000 files of 20,000 rows, of which 10 hold the nation that is asked for.  Each
way is measured from the call to the collected answer: Spark lists the files, finds the schema and plans the scan in
each; the pruned ones load the indexes besides, `pqassay_spark.read` while Spark lists.  The rows are asserted to be
equal, and so is Spark's count of files.

Goal: a pruned scan takes at most a third of the time of an unpruned one.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from _measure import cached, goal, print_table, seconds
from _pruned_lakes import MATCHING, ROWS, WANTED, make_lake
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from pqassay_spark.jobs.session import spark_session
from pqassay_spark.query.pruned_scan import plan_read, spark_location

SHARE = 1 / 3
"""Goal, of the time of an unpruned scan."""

PREDICATE = f"nation = '{WANTED}'"

NATIVE, PRUNED, TABLE = "spark.read.parquet", "pqassay_spark.read", "with an index table"


def answer(frame: DataFrame) -> tuple[int, int]:
    """Count the rows and add up their ids: exact, in whatever order they come."""
    (row,) = frame.agg(f.count("*"), f.sum("id")).collect()
    return int(row[0]), int(row[1] or 0)


def ways(spark: SparkSession, root: Path) -> dict[str, Callable[[], DataFrame]]:
    """The same question, asked in each way."""

    def native() -> DataFrame:
        return spark.read.parquet(spark_location(root)).where(PREDICATE)

    def pruned(**options: Any) -> DataFrame:
        return plan_read(spark, root, PREDICATE, **options).frame

    return {NATIVE: native, PRUNED: pruned, TABLE: partial(pruned, table="auto")}


def answered(way: Callable[[], DataFrame]) -> Callable[[], tuple[int, int]]:
    """From the question to the answer."""
    return lambda: answer(way())


def main(arguments: list[str]) -> int:
    """Measure and print; exit 1 if the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args(arguments)
    root = cached(f"pruned-{options.files}-of-{ROWS}-rows", partial(make_lake, files=options.files)) / "lake"
    with spark_session(name="spark_query", cores=options.cores) as spark:
        asked = ways(spark, root)
        columns = asked[NATIVE]().columns
        rows = {name: Counter(map(tuple, way().select(columns).collect())) for name, way in asked.items()}
        assert all(found == rows[NATIVE] for found in rows.values())
        assert rows[NATIVE]
        works = {name: answered(way) for name, way in asked.items()}
        plan = plan_read(spark, root, PREDICATE)
        assert plan.files - len(plan.skipped) == min(MATCHING, options.files), plan.files
        measured = seconds(works, options.rounds)
    table = [
        [name, f"{taken * 1000:.0f}", f"{measured[NATIVE] / taken:.1f}"] for name, taken in measured.items()
    ]
    print(f"{options.files} files, {min(MATCHING, options.files)} of which match; {options.cores} cores")
    print_table(["way", "ms", "times as fast"], table)
    share = measured[PRUNED] / measured[NATIVE]
    reached = share <= SHARE
    print()
    print(
        goal(
            f"a pruned scan takes at most a third of the time of an unpruned one ({share:.2f})",
            reached=reached,
        )
    )
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
