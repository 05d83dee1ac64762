"""Survey what engines do with files whose metadata is wrong, and write ``docs/data/engine_survey.json``.

    python tools/engine_survey.py [ENGINE ...]

A good file is written and damaged in every way below; twelve queries are tried on each damaged file by each engine that is
installed, and their rows compared with those that were written.  With names of engines, only their columns are written
anew.  The table stands in ``docs/engines.md``.  It takes some minutes.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import pqassay
from pqassay.judge.workers import Limits
from pqassay.proof.engines import ENGINES, Engine, Unwritable, spark_row_reader
from pqassay.proof.queries import Column, Comparison, Kind, Query, true_rows
from pqassay.proof.trial import Asked, EngineProcesses
from pqassay.proof.worker import Answered
from pqassay_spec.base.sources import write_whole
from pqassay_spec.mutation.mutations import FORMS, Mutation, mutate

DATA = Path(__file__).resolve().parent.parent / "docs" / "data" / "engine_survey.json"

# ----------------------------------------------------------------------------------------------- the good file

ROWS, ROW_GROUP, PAGE = 20_000, 5_000, 500


def table() -> pa.Table:
    """The rows: ids that ascend, categories in no order, values some of which are null."""
    categories = [f"category {(number // PAGE * 7 + number % 3) % 40:02}" for number in range(ROWS)]
    values = [None if number % 10_000 in range(1_000, 1_020) else number / 2 for number in range(ROWS)]
    return pa.table(
        {
            "id": pa.array(range(ROWS), pa.int64()),
            "category": categories,
            "val": pa.array(values, pa.float64()),
        }
    )


def good_file() -> bytes:
    """The file: four row groups of ten pages each, page indexes, bloom filters, and an IDX1 index of the categories."""
    buffer = pa.BufferOutputStream()
    dictionaries: Any = ["category"]  # which the type stubs of pyarrow do not know
    pq.write_table(
        table(),
        buffer,
        row_group_size=ROW_GROUP,
        max_rows_per_page=PAGE,
        write_batch_size=PAGE,
        write_page_index=True,
        use_dictionary=dictionaries,
        compression="none",
        bloom_filter_options={name: {"ndv": ROW_GROUP} for name in ("id", "category")},
    )
    categories: list[Any] = table().column("category").to_pylist()
    payload = "\n".join(sorted(set(categories))).encode()
    return mutate(buffer.getvalue().to_pybytes(), Mutation("insert", "idx1", {"payload": payload}))


# ------------------------------------------------------------------------------------------------- the damages


@dataclass(frozen=True)
class Damage:
    """A way in which the file is wrong.

    Attributes:
        name: What the table calls it.
        what: The same in words.
        mutations: What is done to the good file, given as a tree.
    """

    name: str
    what: str
    mutations: Callable[[Any], Sequence[Mutation]]


ID, CATEGORY, VAL = (f"row_groups[1].columns[{ordinal}]" for ordinal in range(3))
WITH_NULLS = "row_groups[0].columns[2]"
"""The chunk whose page 2 holds nulls."""


def _set(path: str, to: Any) -> Callable[[Any], Sequence[Mutation]]:
    return lambda _: [Mutation("set", path, to)]


def _swap(one: str, other: str) -> Callable[[Any], Sequence[Mutation]]:
    return lambda _: [Mutation("swap", one, other)]


def _long(value: int) -> bytes:
    return struct.pack("<q", value)


def _statistics(chunk: str, name: str) -> str:
    return f"footer.{chunk}.meta_data.statistics.{name}"


def _next_page(chunk: str, ordinal: int) -> Callable[[Any], Sequence[Mutation]]:
    def mutations(tree: Any) -> Sequence[Mutation]:
        locations = tree.row_groups[1].columns[ordinal].offset_index.page_locations
        return [Mutation("set", f"{chunk}.offset_index.page_locations[3].offset", locations[4].offset)]

    return mutations


def _added(path: str, amount: int, read: Callable[[Any], int]) -> Callable[[Any], Sequence[Mutation]]:
    return lambda tree: [Mutation("set", path, read(tree) + amount)]


def _facts(tree: Any, ordinal: int) -> Any:
    return tree.footer.row_groups[1].columns[ordinal].meta_data


DAMAGES = (
    Damage(
        "idx1 stale",
        "The IDX1 index lacks a category.",
        lambda tree: [
            Mutation("set", "idx1.payload", tree.idx1.payload.replace(b"category 07", b"category 99"))
        ],
    ),
    Damage(
        "max too small",
        "max_value and max of a chunk of id are too small.",
        lambda _: [Mutation("set", _statistics(ID, name), _long(5_100)) for name in ("max_value", "max")],
    ),
    Damage(
        "bounds swapped",
        "min_value and max_value of a chunk of id are swapped, as are min and max.",
        lambda _: [
            Mutation("swap", _statistics(ID, "min_value"), _statistics(ID, "max_value")),
            Mutation("swap", _statistics(ID, "min"), _statistics(ID, "max")),
        ],
    ),
    Damage(
        "null_count 0",
        "The null_count of a chunk with nulls is 0.",
        _set(_statistics(WITH_NULLS, "null_count"), 0),
    ),
    Damage(
        "bloom filter zeroed",
        "No bit of the bloom filter of a chunk of id is set.",
        lambda tree: [
            Mutation(
                "set",
                f"{ID}.bloom_filter.bitset",
                bytes(len(tree.row_groups[1].columns[0].bloom_filter.bitset)),
            )
        ],
    ),
    Damage(
        "bloom filters swapped",
        "The bloom filters of id and category are swapped.",
        _swap(f"{ID}.bloom_filter.bitset", f"{CATEGORY}.bloom_filter.bitset"),
    ),
    Damage(
        "page null_count 0",
        "A page with nulls has none by the column index.",
        _set(f"{WITH_NULLS}.column_index.null_counts[2]", 0),
    ),
    Damage(
        "page called nulls",
        "A page of values is a page of nulls by the column index.",
        _set(f"{ID}.column_index.null_pages[3]", True),
    ),
    Damage(
        "page bounds swapped",
        "The bounds of a page of id are swapped.",
        _swap(f"{ID}.column_index.min_values[3]", f"{ID}.column_index.max_values[3]"),
    ),
    Damage(
        "page max too small",
        "The upper bound of a page of id is too small.",
        _set(f"{ID}.column_index.max_values[3]", _long(6_501)),
    ),
    Damage(
        "column indexes swapped",
        "The column indexes of id of two row groups are swapped.",
        _swap(f"{ID}.column_index", "row_groups[2].columns[0].column_index"),
    ),
    Damage(
        "category called ascending",
        "The page bounds of category, which have no order, are called ascending.",
        _set(f"{CATEGORY}.column_index.boundary_order", 1),
    ),
    Damage(
        "id called descending",
        "The page bounds of id, which ascend, are called descending.",
        _set(f"{ID}.column_index.boundary_order", 2),
    ),
    Damage(
        "next page of id", "The offset index takes a page of id for the one before it.", _next_page(ID, 0)
    ),
    Damage(
        "next page of val", "The offset index takes a page of val for the one before it.", _next_page(VAL, 2)
    ),
    Damage(
        "next page of category",
        "The offset index takes a page of category for the one before it.",
        _next_page(CATEGORY, 1),
    ),
    Damage(
        "first row 7 too late",
        "A page of val begins 7 rows too late by the offset index.",
        _set(f"{VAL}.offset_index.page_locations[3].first_row_index", 3 * PAGE + 7),
    ),
    Damage(
        "offset indexes swapped",
        "The offset indexes of id of two row groups are swapped.",
        _swap(f"{ID}.offset_index", "row_groups[2].columns[0].offset_index"),
    ),
    Damage(
        "page index displaced",
        "The page index stands further back than the footer says, as behind bytes that a writer did not count.",
        lambda _: [Mutation("displace", "row_groups[3].columns[1].bloom_filter")],
    ),
    Damage(
        "bloom filters displaced as well",
        "So do page index and bloom filters.",
        lambda _: [Mutation("displace", "row_groups[3].columns[2].pages")],
    ),
    Damage(
        "chunk 1 byte too long",
        "total_compressed_size of id is 1 too great.",
        _added(
            f"footer.{ID}.meta_data.total_compressed_size",
            1,
            lambda tree: _facts(tree, 0).total_compressed_size,
        ),
    ),
    Damage(
        "chunk 1 byte too short",
        "total_compressed_size of id is 1 too small.",
        _added(
            f"footer.{ID}.meta_data.total_compressed_size",
            -1,
            lambda tree: _facts(tree, 0).total_compressed_size,
        ),
    ),
    Damage(
        "data page elsewhere",
        "data_page_offset of id is that of the second page.",
        lambda tree: [
            Mutation(
                "set",
                f"footer.{ID}.meta_data.data_page_offset",
                tree.row_groups[1].columns[0].offset_index.page_locations[1].offset,
            )
        ],
    ),
    Damage(
        "1 value too few",
        "num_values of id is 1 too small.",
        _set(f"footer.{ID}.meta_data.num_values", ROW_GROUP - 1),
    ),
    Damage(
        "1 row too few",
        "num_rows of a row group is 1 too small.",
        _set("footer.row_groups[1].num_rows", ROW_GROUP - 1),
    ),
    Damage(
        "5 rows of the file too few",
        "num_rows of the file is 5 too small.",
        _set("footer.num_rows", ROWS - 5),
    ),
)


def damaged(damage: Damage, good: bytes) -> bytes:
    """The good file with a damage."""
    data = good
    for mutation in damage.mutations(FORMS["parquet"].take_apart(good)):
        data = mutate(data, mutation)
    return data


def rules_of(data: bytes) -> list[str]:
    """The rules that pqassay reports, those that cost readers nothing but time left out."""
    (file,) = pqassay.check(data, tier="values").files
    grave = ("rows lost", "wrong rows", "read fails")
    return sorted({finding.rule for finding in file.findings if finding.could in grave})


# ------------------------------------------------------------------------------------------------- the queries

_ID, _CATEGORY, _VAL = (
    Column("id", Kind.INTEGER, pa.int64()),
    Column("category", Kind.TEXT, pa.large_string()),
    Column("val", Kind.DOUBLE, pa.float64()),
)
_ALL = (_ID, _CATEGORY, _VAL)
_RANGE = (Comparison(">=", _ID, 6_400), Comparison("<=", _ID, 7_100))

QUERIES: Mapping[str, Query] = {
    "everything": Query(_ALL),
    "val of everything": Query((_VAL,)),
    "an id": Query(_ALL, (Comparison("=", _ID, 6_777),)),
    "another id": Query(_ALL, (Comparison("=", _ID, 9_876),)),
    "a range of ids": Query(_ALL, _RANGE),
    "ids from one on": Query((_ID,), (Comparison(">=", _ID, 6_000),)),
    "a category": Query((_ID, _CATEGORY), (Comparison("=", _CATEGORY, "category 11"),)),
    "another category": Query((_CATEGORY,), (Comparison("=", _CATEGORY, "category 30"),)),
    "nulls": Query((_ID, _VAL), (Comparison("is null", _VAL),)),
    "a value": Query((_VAL,), (Comparison("=", _VAL, 3_388.5),)),
    "val of a range of ids": Query((_ID, _VAL), _RANGE),
}
"""Queries beside the number of all rows. The values are where the damages are."""

UNFILTERED = ("everything", "val of everything")

COUNT = "count(*)"

COUNTS: Mapping[str, str] = {
    "duckdb": "import duckdb; result = duckdb.connect().read_parquet({path!r}).aggregate('count(*) AS count').to_arrow_table()",
    "datafusion": "from datafusion import SessionContext; context = SessionContext(); context.register_parquet('file', {path!r}); "
    "result = context.sql('SELECT count(*) AS count FROM file').to_arrow_table()",
    "datafusion-pushdown": "from datafusion import SessionConfig, SessionContext; "
    "context = SessionContext(SessionConfig().set('datafusion.execution.parquet.pushdown_filters', 'true')); "
    "context.register_parquet('file', {path!r}); "
    "result = context.sql('SELECT count(*) AS count FROM file').to_arrow_table()",
    "polars": "import polars as pl; result = pl.scan_parquet({path!r}).select(pl.len().alias('count')).collect()",
    "pyarrow": "import pyarrow as pa, pyarrow.dataset as ds; "
    "result = pa.table({{'count': [ds.dataset({path!r}, format='parquet').count_rows()]}})",
    "fastparquet": "import fastparquet, pyarrow as pa; "
    "result = pa.table({{'count': [fastparquet.ParquetFile({path!r}).count()]}})",
    "spark": "from pyspark.sql import SparkSession; spark = SparkSession.builder.master('local[1]').getOrCreate(); "
    "result = spark.read.parquet({path!r}).groupBy().count().toArrow()",
}
"""The number of all rows, which some engines take from the footer."""

SURVEYED = (
    *ENGINES,
    Engine(
        "spark-rows",
        "Spark, row reader",
        "pyspark",
        spark_row_reader,
        starts_slowly=True,
        runs_on_java=True,
    ),
)


def cell(found: Mapping[str, Answered]) -> str:
    """Answer of an engine about a file, in a few characters."""
    errors = [one for one in found.values() if one.error]
    wrong = [name for name, one in found.items() if not one.error and (one.lost or one.wrong)]
    text = ""
    if wrong:
        text = "W!" if set(wrong) & set(UNFILTERED) else "Wc" if wrong == [COUNT] else "W"
    if errors:
        text += f"E{'p' * any(one.has_panicked for one in errors)}{len(errors)}"
    return text or "."


def survey(
    engine: Engine, files: Mapping[str, Path], truth: Mapping[str, Path], running: EngineProcesses
) -> dict[str, str]:
    """The column of an engine: a cell for each file."""
    column: dict[str, str] = {}
    for name, path in files.items():
        asked: dict[str, Asked] = {
            COUNT: (COUNTS[engine.name.removesuffix("-rows")].format(path=str(path)), truth[COUNT])
        }
        for query_name, query in QUERIES.items():
            try:
                asked[query_name] = engine.program(str(path), query), truth[query_name]
            except Unwritable as reason:
                raise SystemExit(f"{engine.title}: {query_name}: {reason}") from None
        found = running.ask(engine, str(path), list(asked.values()), path.stat().st_size)
        column[name] = cell(dict(zip(asked, found, strict=True)))
        print(f"{engine.title}: {name}: {column[name]}", flush=True)
    return column


def _write_truth(folder: Path) -> dict[str, Path]:
    tables = {name: true_rows(query, table()) for name, query in QUERIES.items()}
    tables[COUNT] = pa.table({"count": pa.array([ROWS], pa.int64())})
    paths = {name: folder / f"truth-{number}.arrow" for number, name in enumerate(tables)}
    for name, rows in tables.items():
        with pa.OSFile(str(paths[name]), "wb") as file, pa.ipc.new_file(file, rows.schema) as writer:
            writer.write_table(rows)
    return paths


def main(names: Sequence[str]) -> None:
    """Survey the engines of some names, all without any, and write what comes of it."""
    old: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {"engines": []}
    columns = {one["engine"]: one for one in old["engines"]}
    good = good_file()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        files = {"(the good file)": folder / "good.parquet"}
        files["(the good file)"].write_bytes(good)
        rules: dict[str, list[str]] = {}
        for number, damage in enumerate(DAMAGES):
            data = damaged(damage, good)
            files[damage.name] = folder / f"damaged-{number}.parquet"
            files[damage.name].write_bytes(data)
            rules[damage.name] = rules_of(data)
        truth = _write_truth(folder)
        with EngineProcesses(SURVEYED, Limits(2)) as running:
            for engine in SURVEYED:
                if engine.version is not None and (not names or engine.name in names):
                    cells = survey(engine, files, truth, running)
                    columns[engine.title] = {
                        "engine": engine.title,
                        "version": engine.version,
                        "cells": cells,
                    }
                    _store(columns, rules)


def _store(columns: Mapping[str, Any], rules: Mapping[str, Sequence[str]]) -> None:
    """Write what is known so far, whole."""
    content = {
        "queries": [COUNT, *(query.sql for query in QUERIES.values())],
        "damages": [{"name": one.name, "what": one.what, "rules": rules[one.name]} for one in DAMAGES],
        "engines": [columns[engine.title] for engine in SURVEYED if engine.title in columns],
    }
    DATA.parent.mkdir(exist_ok=True)
    write_whole(DATA, (json.dumps(content, indent=1, ensure_ascii=False) + os.linesep).encode())


if __name__ == "__main__":
    main(sys.argv[1:])
