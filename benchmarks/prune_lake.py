"""Gain of a query when indexes say which files to read: `open_indexed` against the engines by themselves.

    python benchmarks/prune_lake.py [--files 1000] [--rounds 9] [--write]

Two lakes of 1,000 files with 20,000 rows each, of which about 10 hold the value that is asked for.  In the first one, minimum
and maximum of every file are such that they exclude none, and there are no bloom filters: an index is set against nothing.  In the
second one, values come in about the order in which the files were written, so that bounds leave 40 files over, and bloom filters
nearly none but those that hold the value: an index is set against what engines have by themselves, and each piece of metadata
against the others.

Each engine finds the rows natively, opening the files by itself, and through an `IndexedDataset`: with the indexes loaded
before, and with loading included, from the ends of the files or from an index table.  DuckDB also reads with its own reader the
files that the indexes keep.  The rows are asserted to be equal.  The fastest of all rounds counts for each way.

``--write`` keeps the figures in ``prune_figures.json``, from which the site makes the tables of the
guide.

Goals, in the first lake: with indexes loaded, DuckDB takes at most a quarter of its native time, pyarrow and DataFusion at
most a twentieth; with loading included, DuckDB at most a third.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import datafusion
import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
from _measure import fastest, goal, print_table, share
from _pieces import PIECES, attached_bytes, left_by, left_by_set
from _pruned_lakes import ROWS, Lake, clustered_lake, spread_lake

from pqassay_reader.lake.index_table import default_folder, read_entries
from pqassay_reader.lake.indexed_dataset import IndexedDataset, open_indexed
from pqassay_spec.base.sources import write_whole

FIGURES = Path(__file__).resolve().parent / "prune_figures.json"

WARM_GOALS = {"DuckDB": 4.0, "DataFusion": 20.0, "pyarrow": 20.0}
"""Speed with indexes loaded, as a multiple."""

COLD_GOALS = {"DuckDB, its own reader": 3.0}
"""The same with loading from the index table included."""

Answer: TypeAlias = tuple[int, float]
Ask: TypeAlias = Callable[[], Answer]


@dataclass(frozen=True)
class Question:
    """The question to a lake: how many rows have a value, and the sum of their amounts."""

    column: str
    value: str

    def sql(self, source: str) -> str:
        """In SQL."""
        return f"select count(*), sum(amount) from {source} where {self.column} = '{self.value}'"

    @property
    def condition(self) -> pc.Expression:
        """The condition alone."""
        return pc.field(self.column) == self.value


@dataclass(frozen=True)
class Engine:
    """One engine.

    Attributes:
        native: Answers from the files of a folder.
        opened: Answers from a dataset.
    """

    native: Callable[[Question, Path], Answer]
    opened: Callable[[Question, IndexedDataset], Answer]


def duckdb_sql(question: Question, source: str, **tables: Any) -> Answer:
    """The answer of DuckDB."""
    connection = DUCKDB.cursor()
    for name, table in tables.items():
        connection.register(name, table)
    count, total = connection.execute(question.sql(source)).fetchall()[0]
    return int(count), float(total or 0)


DUCKDB = duckdb.connect()


def duckdb_native(question: Question, root: Path) -> Answer:
    """All files, by its own reader."""
    return duckdb_sql(question, f"read_parquet('{root}/*.parquet')")


def duckdb_kept(question: Question, dataset: IndexedDataset) -> Answer:
    """The files that are left over, by its own reader."""
    return duckdb_sql(question, f"read_parquet({list(dataset.prune(question.condition).kept)})")


def datafusion_answer(question: Question, *, root: Path | None = None, dataset: Any = None) -> Answer:
    """The answer of DataFusion, in a session of its own."""
    context = datafusion.SessionContext()
    if root is not None:
        context.register_parquet("lake", str(root))
    else:
        context.register_dataset("lake", dataset)
    count, total = context.sql(question.sql("lake")).to_pydict().values()
    return int(count[0]), float(total[0])


def polars_answer(question: Question, frame: pl.LazyFrame) -> Answer:
    """The answer of Polars."""
    rows = frame.filter(pl.col(question.column) == question.value)
    found = rows.select(pl.len(), pl.col("amount").sum()).collect()
    return int(found.item(0, 0)), float(found.item(0, 1))


def pyarrow_answer(question: Question, dataset: Any) -> Answer:
    """The answer of pyarrow."""
    table = dataset.to_table(columns=["amount"], filter=question.condition)
    return table.num_rows, float(pc.sum(table.column("amount")).as_py())


ENGINES = {
    "DuckDB": Engine(duckdb_native, lambda question, dataset: duckdb_sql(question, "opened", opened=dataset)),
    "DuckDB, its own reader": Engine(duckdb_native, duckdb_kept),
    "DataFusion": Engine(
        lambda question, root: datafusion_answer(question, root=root),
        lambda question, dataset: datafusion_answer(question, dataset=dataset),
    ),
    "Polars": Engine(
        lambda question, root: polars_answer(question, pl.scan_parquet(f"{root}/*.parquet")),
        lambda question, dataset: polars_answer(question, pl.scan_pyarrow_dataset(dataset)),
    ),
    "pyarrow": Engine(
        lambda question, root: pyarrow_answer(question, pads.dataset(root)),
        pyarrow_answer,
    ),
}

Times: TypeAlias = dict[str, dict[str, float]]
"""Seconds by engine and way."""


def ways(lake: Lake, engine: Engine, opened: IndexedDataset) -> dict[str, Ask]:
    """The ways in which an engine answers."""
    question = Question(lake.column, lake.value)

    def cold(table: str | None = None) -> Answer:
        return engine.opened(question, open_indexed(lake.indexed, table=table))

    by_name: dict[str, Ask] = {
        "native": partial(engine.native, question, lake.plain),
        "warm": partial(engine.opened, question, opened),
        "cold": cold,
        "table": partial(cold, "auto"),
    }
    if lake.plain != lake.indexed:
        by_name["bloom"] = partial(engine.native, question, lake.indexed)
    return by_name


def same_rows(works: Mapping[str, Mapping[str, Ask]]) -> int:
    """The rows that every engine finds in every way."""
    answers = {(name, way): ask() for name, asks in works.items() for way, ask in asks.items()}
    rows, total = answers["pyarrow", "native"]
    for (name, way), (count, found) in answers.items():
        if count != rows or abs(found - total) > 1e-6 * total:
            raise SystemExit(f"{name} finds {count} rows {way}, pyarrow natively {rows}")
    return rows


def query_times(lake: Lake, rounds: int) -> tuple[int, Times]:
    """The rows that are found, and how long each engine takes to find them."""
    opened = open_indexed(lake.indexed)
    works = {name: ways(lake, engine, opened) for name, engine in ENGINES.items()}
    rows = same_rows(works)
    flat = {(name, way): ask for name, asks in works.items() for way, ask in asks.items()}
    taken = fastest({f"{name}/{way}": ask for (name, way), ask in flat.items()}, rounds)
    return rows, {name: {way: taken[f"{name}/{way}"] for way in asks} for name, asks in works.items()}


def opening_times(lake: Lake, rounds: int) -> dict[str, float]:
    """How long it takes to open a lake, without a query."""
    return fastest(
        {
            "ends": lambda: open_indexed(lake.indexed),
            "table": lambda: open_indexed(lake.indexed, table="auto"),
            "listing": lambda: pads.dataset(lake.indexed),
            "rows": lambda: read_entries(default_folder(lake.indexed)),
        },
        rounds,
    )


def pieces(lake: Lake, rounds: int) -> dict[str, dict[str, float]]:
    """For each piece of metadata the files that it keeps, and the seconds to find out and to read them."""
    question = Question(lake.column, lake.value)
    deciding: dict[str, Callable[[], list[str]]] = {
        **{name: partial(left_by, lake, piece) for name, piece in PIECES.items()},
        "set": partial(left_by_set, lake),
        "table": partial(left_by_set, lake, "auto"),
    }
    left = {"nothing": [str(path) for path in lake.files]}
    left |= {name: decide() for name, decide in deciding.items()}
    reading = {name: partial(duckdb_sql, question, f"read_parquet({files})") for name, files in left.items()}
    if len({ask()[0] for ask in reading.values()}) != 1:
        raise SystemExit("the pieces leave files over that hold different rows")
    decided = {"nothing": 0.0, **fastest(deciding, rounds)}
    read = fastest(reading, rounds)
    return {
        name: {"files": len(files), "decided": decided[name], "read": read[name]}
        for name, files in left.items()
    }


def measured(lake: Lake, rounds: int) -> dict[str, Any]:
    """The figures of a lake."""
    rows, engines = query_times(lake, rounds)
    holding = left_by_set(lake)
    blooms, index = attached_bytes(Path(holding[0]), lake.column)
    return {
        "files": len(lake.files),
        "bytes": sum(path.stat().st_size for path in lake.files),
        "rows": rows,
        "holding": len(holding),
        "bloom_bytes": blooms,
        "index_bytes": index,
        "engines": engines,
        "opening": opening_times(lake, rounds),
    }


def versions() -> str:
    """What ran, and on what."""
    programs = {
        "Python": platform.python_version(),
        "DuckDB": duckdb.__version__,
        "DataFusion": datafusion.__version__,
        "Polars": pl.__version__,
        "pyarrow": pa.__version__,
    }
    named = ", ".join(f"{name} {version}" for name, version in programs.items())
    return f"{os.cpu_count()} cores, {platform.system()} on {platform.machine()}, {named}"


def rounded(value: Any) -> Any:
    """Figures with the digits that a measurement has."""
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    return float(f"{value:.4g}") if isinstance(value, float) else value


def show(name: str, figures: Mapping[str, Any]) -> None:
    """Print the figures of a lake."""
    print(
        f"\n{name}: {figures['files']} files, {figures['bytes'] / 1e6:.0f} MB, {figures['holding']} of them hold "
        f"the value, {figures['rows']:,} rows found; milliseconds, and times as fast as native\n"
    )
    names = {
        "native": "native",
        "bloom": "native, bloom",
        "warm": "indexes loaded",
        "cold": "loading included",
        "table": "from the table",
    }
    shown = [way for way in names if way in figures["engines"]["DuckDB"]]
    print_table(
        ("", *(names[way] for way in shown)),
        [
            (engine, *(f"{times[way] * 1e3:.1f}  {times['native'] / times[way]:5.1f}" for way in shown))
            for engine, times in figures["engines"].items()
        ],
    )
    opening = figures["opening"]
    print(f"\nopening with the indexes in the files: {opening['ends'] * 1e3:.1f} ms")
    print(f"opening with the index table:          {opening['table'] * 1e3:.1f} ms")
    print(f"pyarrow.dataset.dataset, no indexes:   {opening['listing'] * 1e3:.1f} ms")
    print(f"rows of the index table alone:         {opening['rows'] * 1e3:.1f} ms")
    own = figures["engines"]["DuckDB, its own reader"]
    floor = opening["listing"] + opening["rows"] + own["warm"]
    print(
        f"floor of DuckDB's own reader with the index table: {floor * 1e3:.1f} ms, {own['native'] / floor:.1f} times as fast as native"
    )


def show_pieces(pieces: Mapping[str, Mapping[str, float]]) -> None:
    """Print what each piece of metadata keeps."""
    print()
    print_table(
        ("left over by", "files", "deciding, ms", "DuckDB reads them, ms"),
        [
            (name, f"{row['files']:.0f}", f"{row['decided'] * 1e3:.1f}", f"{row['read'] * 1e3:.1f}")
            for name, row in pieces.items()
        ],
    )


def judged(engines: Times) -> bool:
    """Print whether the goals were reached; return whether all were."""
    print()
    reached = True
    for goals, way, words in (
        (WARM_GOALS, "warm", "indexes loaded"),
        (COLD_GOALS, "table", "loading from the index table included"),
    ):
        for name, least in goals.items():
            ratio = engines[name]["native"] / engines[name][way]
            reached &= ratio >= least
            sentence = (
                f"{name} is at least {least:.0f} times as fast with {words}; it is {ratio:.1f} times as fast"
            )
            print(goal(sentence, reached=ratio >= least))
    return reached


def main() -> int:
    """Measure and print; the exit status says whether the goals were reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--write", action="store_true", help=f"keep the figures in {FIGURES.name}")
    options = parser.parse_args()
    spread, clustered = spread_lake(options.files), clustered_lake(options.files)
    cores = os.cpu_count() or 1
    left = share(cores)
    figures: dict[str, Any] = {
        "machine": versions(),
        "rounds": options.rounds,
        "rows_per_file": ROWS,
        "spread": measured(spread, options.rounds),
        "clustered": measured(clustered, options.rounds),
        "pieces": pieces(clustered, options.rounds),
    }
    figures["share"] = min(left, share(cores))
    print(f"the machine left {figures['share']:.0%} of its processors to this")
    show("bounds exclude no file", figures["spread"])
    show("bounds and bloom filters exclude most", figures["clustered"])
    show_pieces(figures["pieces"])
    reached = judged(figures["spread"]["engines"])
    if options.write:
        write_whole(FIGURES, (json.dumps(rounded(figures), indent=2) + "\n").encode())
        print(f"\nwritten to {FIGURES.name}")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
