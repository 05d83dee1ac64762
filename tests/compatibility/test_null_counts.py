"""What engines do with a null count that leaves out nulls: the table of the chapter on statistics is what they do here."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datafusion
import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest

from places import ROOT
from pqassay_spec.mutation.mutations import Mutation, mutate

ROWS: list[dict[str, Any]] = [
    {"f": 1, "s": {"x": 1}, "l": [7]},
    {"f": None, "s": None, "l": None},
    {"f": 3, "s": {"x": 3}, "l": []},
    {"f": 4, "s": {"x": 4}, "l": [7, None]},
    {"f": 5, "s": {"x": 5}, "l": [8, 9]},
]
FLAT, STRUCT, LIST = 1, 2, 3
FALSE_COUNTS = {
    "nulls of a flat column": (FLAT, 0),
    "nulls of a struct around its field": (STRUCT, 0),
    "empty lists, and nulls in the place of lists": (LIST, 1),
    "all nulls of a list, including those among its values": (LIST, 0),
    "nothing, and counts every value of a list as null": (LIST, 7),
}
"""What a null count does, as the table says it: column and count."""

TRUTH: dict[str, Callable[[dict[str, Any]], bool]] = {
    "flat is null": lambda row: row["f"] is None,
    "field is null": lambda row: row["s"] is None,
    "field is not null": lambda row: row["s"] is not None,
    "list is null": lambda row: row["l"] is None,
    "list is not null": lambda row: row["l"] is not None,
    "list is empty": lambda row: row["l"] == [],
    "list holds 7": lambda row: 7 in (row["l"] or []),
    "list holds null": lambda row: None in (row["l"] or []),
    "first is null": lambda row: not row["l"],
}

SQL = {
    "flat is null": "f IS NULL",
    "field is null": "s.x IS NULL",
    "field is not null": "s.x IS NOT NULL",
    "list is null": "l IS NULL",
    "list is not null": "l IS NOT NULL",
    "list is empty": "cardinality(l) = 0 AND l IS NOT NULL",
    "list holds 7": "array_contains(l, 7)",
    "list holds null": "exists(l, e -> e IS NULL)",
    "first is null": "try_element_at(l, 1) IS NULL",
}
DUCKDB = SQL | {
    "list is empty": "len(l) = 0",
    "list holds null": "list_position(l, NULL) IS NOT NULL",
    "first is null": "l[1] IS NULL",
}
DATAFUSION = SQL | {
    "field is null": "s['x'] IS NULL",
    "field is not null": "s['x'] IS NOT NULL",
    "list holds 7": "array_has(l, 7)",
    "list holds null": "array_position(l, NULL) IS NOT NULL",
    "first is null": "l[1] IS NULL",
}
FIELD, LISTED = pl.col("s").struct.field("x"), pl.col("l")
POLARS = {
    "flat is null": pl.col("f").is_null(),
    "field is null": FIELD.is_null(),
    "field is not null": FIELD.is_not_null(),
    "list is null": LISTED.is_null(),
    "list is not null": LISTED.is_not_null(),
    "list is empty": LISTED.list.len() == 0,
    "list holds 7": LISTED.list.contains(7),
    "list holds null": LISTED.list.eval(pl.element().is_null()).list.any(),
    "first is null": LISTED.list.get(0, null_on_oob=True).is_null(),
}
PYARROW: dict[str, Any] = {
    "flat is null": pads.field("f").is_null(),
    "field is null": pads.field("s", "x").is_null(),
    "field is not null": ~pads.field("s", "x").is_null(),
    "list is null": pads.field("l").is_null(),
    "list is not null": ~pads.field("l").is_null(),
}


def by_duckdb(path: str, query: str) -> list[int]:
    with duckdb.connect(config={"enable_external_file_cache": False}) as connection:
        found = connection.execute(f"SELECT id FROM '{path}' WHERE {DUCKDB[query]}").fetchall()
    return [number for (number,) in found]


def by_datafusion(path: str, query: str) -> list[int]:
    context = datafusion.SessionContext()
    context.register_parquet("file", path)
    batches: list[Any] = context.sql(f"SELECT id FROM file WHERE {DATAFUSION[query]}").collect()
    return [number for batch in batches for number in batch.column(0).to_pylist()]


def by_polars(path: str, query: str) -> list[int]:
    frame = pl.scan_parquet(path).filter(POLARS[query]).select("id").collect()
    return frame["id"].to_list()


def by_pyarrow(path: str, query: str) -> list[int]:
    if query not in PYARROW:
        return truth(query)
    found: Any = pads.dataset(path, format="parquet").to_table(columns=["id"], filter=PYARROW[query])
    return list(found.column("id").to_pylist())


def truth(query: str) -> list[int]:
    return [number for number, row in enumerate(ROWS) if TRUTH[query](row)]


def written(folder: Path) -> dict[str, str]:
    """A file for each false count."""
    columns = {"id": pa.array(range(len(ROWS)), pa.int64())}
    columns |= {name: pa.array([row[name] for row in ROWS]) for name in ("f", "s", "l")}
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), buffer, write_page_index=False)
    paths: dict[str, str] = {}
    for number, (what, (column, count)) in enumerate(FALSE_COUNTS.items()):
        facts = f"footer.row_groups[0].columns[{column}].meta_data"
        data = mutate(buffer.getvalue().to_pybytes(), Mutation("remove", f"{facts}.size_statistics"))
        data = mutate(data, Mutation("set", f"{facts}.statistics.null_count", count))
        path = folder / f"{number}.parquet"
        path.write_bytes(data)
        paths[what] = str(path)
    return paths


def answers(folder: Path, ask: Callable[[str, str], list[int]]) -> dict[str, str]:
    """What an engine does with each file, in the words of the table."""
    return {
        what: "loses rows" if any(set(truth(query)) - set(ask(path, query)) for query in TRUTH) else "right"
        for what, path in written(folder).items()
    }


def said() -> dict[str, dict[str, str]]:
    """The table of the chapter: by engine, what it does with each count."""
    lines = (ROOT / "spec" / "chapters" / "statistics.md").read_text().splitlines()
    start = next(
        number for number, line in enumerate(lines) if line.startswith("| A null count that leaves out")
    )
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[start:]]
    table = rows[: rows.index([""])]
    return {
        engine: {row[0]: row[column] for row in table[2:]} for column, engine in enumerate(table[0]) if column
    }


@pytest.mark.parametrize(
    ("engine", "ask"),
    [("DuckDB", by_duckdb), ("DataFusion", by_datafusion), ("Polars", by_polars), ("pyarrow", by_pyarrow)],
)
def test_the_table_says_what_an_engine_does(
    engine: str, ask: Callable[[str, str], list[int]], tmp_path: Path
) -> None:
    assert said()[engine] == answers(tmp_path, ask)


@pytest.mark.spark
def test_the_table_says_what_spark_does(spark: Any, tmp_path: Path) -> None:
    """All files are asked all queries in one job: a job costs more than what it reads."""
    from pyspark.sql import functions

    paths = list(written(tmp_path).values())
    schema = spark.read.parquet(paths[0]).schema
    asked = [(path, query) for path in paths for query in TRUTH]
    frames = [
        spark.read.schema(schema)
        .parquet(path)
        .where(SQL[query])
        .select("id", functions.lit(number).alias("n"))
        for number, (path, query) in enumerate(asked)
    ]
    found: dict[tuple[str, str], list[int]] = {one: [] for one in asked}
    for row in functools.reduce(lambda one, other: one.union(other), frames).collect():
        found[asked[row.n]].append(row.id)

    assert said()["Spark"] == answers(tmp_path, lambda path, query: found[path, query])
