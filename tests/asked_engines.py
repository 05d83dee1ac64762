"""Engines that query an Arrow dataset by a condition, or join it with a list of values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import datafusion
import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pads

from pqassay_reader.condition.rows import expression_of

FIELDS: dict[str, pa.DataType] = {"id": pa.int64(), "nation": pa.string(), "amount": pa.float64()}
SCHEMA = pa.schema(FIELDS)

Tree = list[Any]


class Asked(ABC):
    """An engine that queries a dataset by a condition, or by a join with a list of wanted values."""

    @abstractmethod
    def ids(self, dataset: Any, tree: Tree) -> list[int]:
        """The ids of the rows that satisfy a condition, in order."""

    @abstractmethod
    def joined(self, dataset: Any, wanted: Sequence[str], how: str) -> list[int]:
        """The ids of a semi-join or an anti-join."""


def sql(tree: Tree) -> str:
    """The condition as SQL."""
    match tree:
        case [("and" | "or") as name, *parts]:
            return f"({f' {name} '.join(map(sql, parts))})"
        case ["not", part]:
            return f"(not {sql(part)})"
        case [("is null" | "is not null") as name, column]:
            return f"{column} {name}"
        case [("in" | "not in") as name, column, values]:
            return f"{column} {name} ({', '.join(map(literal, values))})"
        case [name, column, value]:
            return f"{column} {name} {literal(value)}"
        case _:
            raise ValueError(tree)


def literal(value: Any) -> str:
    if value is None:
        return "null"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


JOINS = {
    "semi": "nation in (select v from wanted)",
    "anti": "not exists (select 1 from wanted where v = nation)",
}


class DuckDB(Asked):
    def __init__(self) -> None:
        self._connection = duckdb.connect()

    def ids(self, dataset: Any, tree: Tree) -> list[int]:
        return self._run(dataset, sql(tree))

    def joined(self, dataset: Any, wanted: Sequence[str], how: str) -> list[int]:
        self._connection.register("wanted", pa.table({"v": wanted}))
        return self._run(dataset, JOINS[how])

    def _run(self, dataset: Any, condition: str) -> list[int]:
        self._connection.register("lake", dataset)
        found = self._connection.execute(f"select id from lake where {condition}").fetchall()
        return sorted(number for (number,) in found)


class DataFusion(Asked):
    def ids(self, dataset: Any, tree: Tree) -> list[int]:
        return self._run(datafusion.SessionContext(), dataset, sql(tree))

    def joined(self, dataset: Any, wanted: Sequence[str], how: str) -> list[int]:
        context = datafusion.SessionContext()
        context.register_record_batches("wanted", [pa.table({"v": wanted}).to_batches()])
        return self._run(context, dataset, JOINS[how])

    def _run(self, context: datafusion.SessionContext, dataset: Any, condition: str) -> list[int]:
        context.register_dataset("lake", dataset)
        batches = context.sql(f"select id from lake where {condition}").collect()
        numbers: list[Any] = [number for batch in batches for number in batch.column(0).to_pylist()]
        return sorted(numbers)


class Polars(Asked):
    def ids(self, dataset: Any, tree: Tree) -> list[int]:
        frame = pl.scan_pyarrow_dataset(dataset).filter(self._expression(tree)).select("id").collect()
        return sorted(frame["id"].to_list())

    def joined(self, dataset: Any, wanted: Sequence[str], how: Any) -> list[int]:
        others = pl.LazyFrame({"nation": wanted})
        frame = pl.scan_pyarrow_dataset(dataset).join(others, on="nation", how=how).select("id").collect()
        return sorted(frame["id"].to_list())

    def _expression(self, tree: Tree) -> pl.Expr:
        match tree:
            case ["and", *parts]:
                return pl.all_horizontal([self._expression(part) for part in parts])
            case ["or", first, second]:
                return self._expression(first) | self._expression(second)
            case ["not", part]:
                return ~self._expression(part)
            case ["is null", column]:
                return pl.col(column).is_null()
            case ["is not null", column]:
                return pl.col(column).is_not_null()
            case ["in", column, values]:
                return pl.col(column).is_in(values)
            case ["not in", column, values]:
                return ~pl.col(column).is_in(values)
            case [name, column, value]:
                value = pl.lit(value)
                return {
                    "=": pl.col(column) == value,
                    "!=": pl.col(column) != value,
                    "<": pl.col(column) < value,
                    "<=": pl.col(column) <= value,
                    ">": pl.col(column) > value,
                    ">=": pl.col(column) >= value,
                }[name]
            case _:
                raise ValueError(tree)


class PyArrow(Asked):
    def ids(self, dataset: Any, tree: Tree) -> list[int]:
        found = dataset.to_table(columns=["id"], filter=expression_of(tree, SCHEMA))
        return sorted(found.column("id").to_pylist())

    def joined(self, dataset: Any, wanted: Sequence[str], how: str) -> list[int]:
        others = pads.dataset(pa.table({"nation": pa.array(wanted, pa.string())}))
        found = dataset.join(others, "nation", join_type=f"left {how}").to_table()
        return sorted(found.column("id").to_pylist())
