"""Gain of a query when indexes say which files to read: `open_indexed` against the engines by themselves.

    python benchmarks/prune_lake.py [--files 1000] [--rounds 5]

1,000 files of 20,000 rows, about 570 MB, of which 10 hold the nation that is asked for; the minimum and maximum of
every file are such that statistics exclude none.  Each engine finds the rows natively, opening the files by itself, and through
an `IndexedDataset`.  Loading the indexes is measured by itself, from the ends of the files and from an index table, and
together with the query; who asks several times loads once.  The rows are asserted to be equal.

Goals, for a query whose indexes are loaded: DuckDB takes at most a quarter of its native time, pyarrow and DataFusion at
most a twentieth.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datafusion
import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
from _measure import cached, goal, print_table, seconds

from pqassay_reference.lake.index_table import Entry, write_part
from pqassay_reference.lake.indexed_dataset import IndexedDataset, open_indexed
from pqassay_reference.rewrite.embed import IndexingWriter

ROWS = 20_000
MATCHING = 10
WANTED = "Singapore"
NATIONS = 10
"""Nations in one file."""

GOALS = {"DuckDB": 4.0, "DataFusion": 20.0, "pyarrow": 20.0}
"""Speed, as a multiple."""

Answer = tuple[int, float]


def make_lake(folder: Path, files: int) -> None:
    """Write the files, and an index table beside their folder."""
    root = folder / "lake"
    root.mkdir(parents=True)
    choice = random.Random(0)
    entries: list[Entry] = []
    every = max(1, files // MATCHING)
    for number in range(files):
        # From A to Z in every file, so that bounds exclude none.
        nations = [
            "Aruba",
            "Zimbabwe",
            *(f"Nation {choice.randrange(10_000):04}" for _ in range(NATIONS - 3)),
        ]
        nations.append(WANTED if number % every == 0 and number // every < MATCHING else "Suriname")
        table = pa.table(
            {
                "id": pa.array(range(number * ROWS, (number + 1) * ROWS), pa.int64()),
                "nation": pa.array(choice.choices(nations, k=ROWS)),
                "amount": pa.array([choice.random() for _ in range(ROWS)]),
                "customer": pa.array([choice.randrange(1 << 62) for _ in range(ROWS)], pa.int64()),
            }
        )
        path = root / f"part-{number:05}.parquet"
        with IndexingWriter(path, table.schema, "nation", write_page_index=True) as writer:
            writer.write(table)
        found = path.stat()
        column: list[Any] = table.column("nation").to_pylist()
        values = tuple(sorted(set(column)))
        entries.append(Entry(path.name, found.st_size, found.st_mtime_ns, "nation", ROWS, 0, values))
    write_part(folder / "lake.index", 1, 0, entries)


SQL = "select count(*), sum(amount) from {} where nation = '" + WANTED + "'"
FILTER = pc.field("nation") == WANTED


def with_duckdb(connection: duckdb.DuckDBPyConnection, source: str) -> Answer:
    """Count and sum."""
    count, total = connection.execute(SQL.format(source)).fetchall()[0]
    return int(count), float(total)


def with_datafusion(dataset: Any = None, root: Path | None = None) -> Answer:
    """The same, in a session of its own."""
    context = datafusion.SessionContext()
    if root is not None:
        context.register_parquet("lake", str(root))
    else:
        context.register_dataset("lake", dataset)
    count, total = context.sql(SQL.format("lake")).to_pydict().values()
    return int(count[0]), float(total[0])


def with_polars(frame: pl.LazyFrame) -> Answer:
    """The same."""
    found = frame.filter(pl.col("nation") == WANTED).select(pl.len(), pl.col("amount").sum()).collect()
    return int(found.item(0, 0)), float(found.item(0, 1))


def with_pyarrow(dataset: Any) -> Answer:
    """The same."""
    table = dataset.to_table(columns=["amount"], filter=FILTER)
    return table.num_rows, float(pc.sum(table.column("amount")).as_py())


def main() -> int:
    """Measure and print; the exit status says whether the goals were reached."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    home = cached(f"pruned-{options.files}-of-{ROWS}-rows", lambda path: make_lake(path, options.files))
    root = home / "lake"
    size = sum(path.stat().st_size for path in root.iterdir())

    opened = open_indexed(root)
    kept = opened.prune(FILTER).kept
    connection = duckdb.connect()
    connection.register("opened", opened)

    def anew(ask: Callable[[IndexedDataset], Answer]) -> Callable[[], Answer]:
        return lambda: ask(open_indexed(root))

    def duckdb_anew(dataset: IndexedDataset) -> Answer:
        connection.register("anew", dataset)
        return with_duckdb(connection, "anew")

    works: dict[str, tuple[Callable[[], Answer], Callable[[], Answer], Callable[[], Answer]]] = {
        "DuckDB": (
            lambda: with_duckdb(connection, f"read_parquet('{root}/*.parquet')"),
            lambda: with_duckdb(connection, "opened"),
            anew(duckdb_anew),
        ),
        "DataFusion": (
            lambda: with_datafusion(root=root),
            lambda: with_datafusion(opened),
            anew(with_datafusion),
        ),
        "Polars": (
            lambda: with_polars(pl.scan_parquet(f"{root}/*.parquet")),
            lambda: with_polars(pl.scan_pyarrow_dataset(opened)),
            anew(lambda dataset: with_polars(pl.scan_pyarrow_dataset(dataset))),
        ),
        "pyarrow": (
            lambda: with_pyarrow(pads.dataset(root)),
            lambda: with_pyarrow(opened),
            anew(with_pyarrow),
        ),
    }
    answers = {name: [ask() for ask in each] for name, each in works.items()}
    (rows, total), *_ = answers["pyarrow"]
    for name, given in answers.items():
        if any(count != rows or abs(found - total) > 1e-6 * total for count, found in given):
            raise SystemExit(f"{name} finds other rows with indexes than without: {given}")

    flat: dict[str, Callable[[], Any]] = {
        f"{name} {way}": ask
        for name, each in works.items()
        for way, ask in zip(("native", "pruned", "anew"), each, strict=True)
    }
    flat["tails"] = lambda: open_indexed(root)
    flat["table"] = lambda: open_indexed(root, table="auto")
    flat["listing"] = lambda: pads.dataset(root)
    taken = seconds(flat, options.rounds)

    print(
        f"{options.files} files, {size / 1e6:.0f} MB, {len(kept)} of them kept, {rows:,} rows found, "
        f"{os.cpu_count()} processors; milliseconds\n"
    )
    print_table(
        ("", "native", "indexes loaded", "times as fast", "loading included", "times as fast"),
        [
            (
                name,
                f"{taken[f'{name} native'] * 1e3:.1f}",
                f"{taken[f'{name} pruned'] * 1e3:.1f}",
                f"{taken[f'{name} native'] / taken[f'{name} pruned']:.1f}",
                f"{taken[f'{name} anew'] * 1e3:.1f}",
                f"{taken[f'{name} native'] / taken[f'{name} anew']:.1f}",
            )
            for name in works
        ],
    )
    print(f"\nopening with the indexes in the files: {taken['tails'] * 1e3:.1f} ms")
    print(f"opening with the index table:          {taken['table'] * 1e3:.1f} ms")
    print(f"pyarrow.dataset.dataset, no indexes:   {taken['listing'] * 1e3:.1f} ms\n")
    reached = True
    for name, wanted in GOALS.items():
        ratio = taken[f"{name} native"] / taken[f"{name} pruned"]
        reached &= ratio >= wanted
        sentence = f"{name} is at least {wanted:.0f} times as fast with indexes loaded; it is {ratio:.1f} times as fast"
        print(goal(sentence, reached=ratio >= wanted))
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
