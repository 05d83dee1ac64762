"""Answers from index directories against DuckDB: the query of the article that user-defined indexes come from.

    python benchmarks/answer.py [--files 1000] [--rounds 15] [--write]

    SELECT year, AVG(sales_amount), SUM(units) FROM t WHERE nation = 'Singapore' GROUP BY year

Each lake has 1,000 files of 20,000 rows in four row groups.  All have distinct sets of nations by row group; half of them have zone
sums of both measures by nation and year besides, and so align with the query.  In the others, rows have to be read.

- *clustered*: each file has 8 of 800 nations, as where a file is what one branch of a company sold; about 10 files have the one that is
  asked for, as in the lakes of `prune_lake.py`.
- *everywhere*: each row group has all of 25 nations, so that every second file has to be read; no reader of them can be much faster
  than a reader of all of them.

DuckDB keeps the footers that it has read, as far as it can (``enable_object_cache``, ``parquet_metadata_cache``), and the answerer has its lake open.
Both take turns, and of each the fastest round counts and the median, by the clock and by the time of processors, which other work on the machine changes
less. Whole numbers are asserted to be equal, averages but for their last digits.

Goal, in the clustered lake: no more than DuckDB's time.

``--write`` keeps the figures in ``answer_figures.json``, from which the site makes the table of the guide.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _measure import alternating, cached, elapsed, goal, least, machine, middle, print_table, share

from pqassay_reader.answer.answerer import Answerer
from pqassay_reference.directory.embedding import add_indexes
from pqassay_reference.directory.making.entry import Request
from pqassay_spec.base.sources import write_whole
from pqassay_spec.directory.codes import Granularity, IndexType

FIGURES = Path(__file__).resolve().parent / "answer_figures.json"

QUERY = "SELECT year, AVG(sales_amount), SUM(units) FROM t WHERE nation = 'Singapore' GROUP BY year"

ROWS, GROUP = 20_000, 5_000
"""Rows of a file, and of a row group."""

GOAL = 1.0
"""Speed in the clustered lake, as a multiple of DuckDB's."""

LAKES = {"clustered": (800, 8), "everywhere": (25, 25)}
"""Nations of all files, and of one."""

REQUESTS = [
    Request(IndexType.DISTINCT_SET, (("nation",),), Granularity.ROW_GROUP),
    Request(IndexType.ZONE_SUMS, (("nation",), ("year",), ("sales_amount",)), Granularity.ROW_GROUP),
    Request(IndexType.ZONE_SUMS, (("nation",), ("year",), ("units",)), Granularity.ROW_GROUP),
]


def make_lake(path: Path, *, files: int, nations: int, each: int) -> None:
    """Write the files of a lake with their indexes."""
    folder = path.with_name(f"{path.name}.part")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    names: Any = pa.array(["Singapore", *(f"Nation {number}" for number in range(1, nations))])
    for number in range(files):
        random = np.random.default_rng(number)
        chosen = np.sort(random.choice(nations, each, replace=False))
        columns: dict[str, Any] = {
            "nation": names.take(pa.array(random.choice(chosen, ROWS))),
            "year": pa.array(random.integers(2015, 2025, ROWS), pa.int32()),
            "sales_amount": np.round(random.gamma(2, 50, ROWS), 2),
            "units": random.integers(1, 100, ROWS),
            "customer": random.integers(0, 1 << 40, ROWS),
            "note": pa.array([f"order {one}" for one in random.integers(0, 1 << 30, ROWS).tolist()]),
        }
        file = folder / f"part-{number:04}.parquet"
        pq.write_table(pa.table(columns), file, row_group_size=GROUP, compression="zstd")
        add_indexes(file, REQUESTS if number % 2 == 0 else REQUESTS[:1])
    folder.rename(path)


def of_duckdb(connection: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    """DuckDB's answer."""
    return connection.execute(QUERY).fetchall()


def require_equal(answerer: Answerer, connection: duckdb.DuckDBPyConnection) -> None:
    """Stop unless both answers are the same."""
    table = answerer.ask(QUERY).table
    ours = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    theirs = sorted(of_duckdb(connection))
    if len(ours) != len(theirs) or any(
        one[0] != other[0] or one[2] != other[2] or not math.isclose(one[1], other[1], rel_tol=1e-12)
        for one, other in zip(ours, theirs, strict=True)
    ):
        sys.exit(f"the answers differ: {ours} and {theirs}")


def measured(folder: Path, rounds: int) -> dict[str, Any]:
    """What a lake costs both."""
    opening = elapsed(partial(Answerer.open, folder))
    answerer = Answerer.open(folder)
    with duckdb.connect() as connection:
        connection.execute("SET enable_object_cache = true")
        connection.execute("SET parquet_metadata_cache = true")
        connection.execute(f"CREATE VIEW t AS FROM read_parquet('{folder}/*.parquet')")
        require_equal(answerer, connection)
        works: dict[str, Callable[[], Any]] = {
            "answer": partial(answerer.ask, QUERY),
            "duckdb": partial(of_duckdb, connection),
        }
        taken = alternating(works, rounds)
    return {
        "opening": opening,
        "effort": answerer.ask(QUERY).effort.record(),
        **{
            name: {"least": least(times)._asdict(), "median": middle(times)._asdict()}
            for name, times in taken.items()
        },
    }


def main() -> None:
    """Measure, and print a table and whether the goal is met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    free = share(os.cpu_count() or 1)
    lakes: dict[str, Any] = {}
    for name, (nations, each) in LAKES.items():
        make = partial(make_lake, files=options.files, nations=nations, each=each)
        folder = cached(f"answer-{name}-{options.files}-{nations}", make)
        lakes[name] = measured(folder, options.rounds)
    rows: list[list[str]] = []
    for name, lake in lakes.items():
        effort = lake["effort"]
        files = f"{effort['files_from_metadata']} / {effort['files_skipped']} / {effort['files_read']}"
        for which in ("least", "median"):
            ours, theirs = lake["answer"][which], lake["duckdb"][which]
            rows.append(
                [
                    f"{name}, {which}",
                    files,
                    f"{effort['data_bytes'] / 1e6:.1f}",
                    f"{effort['metadata_bytes'] / 1e6:.1f}",
                    f"{lake['opening']:.2f} s",
                    *(
                        cell
                        for kind in ("clock", "processor")
                        for cell in (
                            f"{ours[kind] * 1e3:.1f} ms",
                            f"{theirs[kind] * 1e3:.1f} ms",
                            f"{theirs[kind] / ours[kind]:.1f}x",
                        )
                    ),
                ]
            )
    headings = [
        "lake",
        "files: metadata / skipped / read",
        "MB of data",
        "MB of metadata",
        "opening",
        "clock",
        "DuckDB",
        "faster",
        "processor",
        "DuckDB",
        "less",
    ]
    print_table(headings, rows)
    print(f"share of the processors that was free: {free:.0%}")
    clustered = lakes["clustered"]
    for kind, unit in (("clock", "the clock"), ("processor", "processor time")):
        ratio = clustered["duckdb"]["least"][kind] / clustered["answer"]["least"][kind]
        print(goal(f"clustered, by {unit}: at least {GOAL:g} times as fast as DuckDB", reached=ratio >= GOAL))
    if options.write:
        record = {
            "files": options.files,
            "rounds": options.rounds,
            "rows": ROWS * options.files,
            "machine": machine(),
            "duckdb_version": duckdb.__version__,
            "share": round(free, 2),
            "lakes": lakes,
        }
        write_whole(FIGURES, (json.dumps(record, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
