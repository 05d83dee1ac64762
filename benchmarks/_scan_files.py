"""Files that the scan is measured on, and what is asked of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pqassay_reader.condition.text import parse_predicate
from pqassay_reference.columns.literals import Tree

ROW_BYTES = 39
"""Bytes that a row takes in the file, about."""

GROUP_ROWS = 1 << 20
"""Rows of a row group, as pyarrow has them by default."""

_COLUMNS: dict[str, Any] = {
    "key": pa.int64(),
    "device": pa.int64(),
    "percent": pa.int32(),
    "amount": pa.float64(),
    "city": pa.string(),
    "note": pa.string(),
}
SCHEMA = pa.schema(_COLUMNS)
"""``key`` ascends by 2; the others are random. ``percent`` (100 values) and ``city`` (1,000) are dictionary-encoded."""


def row_count(megabytes: int) -> int:
    """Rows of a file of about ``megabytes`` megabytes."""
    return megabytes * 1_000_000 // ROW_BYTES


def make_file(path: Path, megabytes: int) -> None:
    """Write a sorted file with a page index, row group by row group."""
    random = np.random.default_rng(0)
    rows = row_count(megabytes)
    encoded: Any = ["percent", "city"]
    with pq.ParquetWriter(path, SCHEMA, write_page_index=True, use_dictionary=encoded) as writer:
        for first in range(0, rows, GROUP_ROWS):
            writer.write_table(_rows(random, first, min(GROUP_ROWS, rows - first)), GROUP_ROWS)


def _rows(random: np.random.Generator, first: int, count: int) -> pa.Table:
    cities: Any = pa.array([f"city number {number}" for number in range(1000)])
    columns: list[Any] = [
        np.arange(first, first + count) * 2,
        devices(random, count),
        random.integers(0, 100, count).astype(np.int32),
        random.random(count),
        pa.DictionaryArray.from_arrays(random.integers(0, 1000, count).astype(np.int32), cities).cast(pa.string()),
        pa.array(np.frombuffer(random.bytes(count * 8).hex().encode(), "S16").astype("U16")),
    ]  # fmt: skip
    return pa.table(columns, schema=SCHEMA)


def devices(random: np.random.Generator, count: int) -> Any:
    """Random even numbers."""
    return random.integers(0, 1 << 61, count) * 2


@dataclass(frozen=True)
class Question:
    """What is asked.

    Attributes:
        name: What the tables call it.
        condition: In SQL.
        columns: What is returned, the key first.
        rows: Rows that satisfy it, about.
    """

    name: str
    condition: str
    columns: tuple[str, ...] = ("key", "amount", "note")
    rows: int = field(default=1, compare=False)

    @cached_property
    def tree(self) -> Tree:
        """The condition as a tree of the protocol."""
        return parse_predicate(self.condition)

    def sql(self, table: str) -> str:
        """The whole query."""
        return f"SELECT {', '.join(self.columns)} FROM {table} WHERE {self.condition}"


def questions(path: Path, megabytes: int) -> list[Question]:
    """The questions of the benchmark, about the middle of a file."""
    rows = row_count(megabytes)
    middle = rows // 2 * 2
    some = pq.ParquetFile(path).read_row_group(0, columns=["device"]).column(0)[GROUP_ROWS // 3].as_py()
    scattered = ", ".join(str(number * (rows // 20) * 2) for number in range(20))
    return [
        Question("point", f"key = {middle}"),
        Question("absent", f"key = {middle + 1}", rows=0),
        Question("range", f"key >= {middle} AND key < {middle + 10_000}", rows=5000),
        Question("20 points", f"key IN ({scattered})", rows=20),
        Question("unsorted", f"device = {some}"),
        Question("1 % at random", "percent = 7", rows=rows // 100),
    ]


def make_long_values(path: Path, rows: int = 500_000) -> None:
    """Write a file with a column of 100 values of 500 characters each."""
    random = np.random.default_rng(0)
    values: Any = pa.array([f"{number:03}" + "abcde" * 99 + "zz" for number in range(100)])
    column: Any = pa.DictionaryArray.from_arrays(random.integers(0, 100, rows).astype(np.int32), values)
    table = pa.table({"key": np.arange(rows), "text": column.cast(pa.string())})
    pq.write_table(table, path, write_page_index=True, row_group_size=1 << 17)


__all__ = ["Question", "make_file", "make_long_values", "questions", "row_count"]
