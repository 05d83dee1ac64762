"""Queries that may show what a false claim does: which columns of which rows, and which rows those truly are."""

from __future__ import annotations

import datetime as dt
import decimal
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot.tokens import Tokenizer

from pqassay.literals.predicate import NULL_TESTS
from pqassay.under_test.file import NotChecked
from pqassay_spec.base.strict_json import EXACT_INTEGERS


class NoQuery(NotChecked):
    """No query can show what a finding does, whatever the true rows are; the message says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, "tool")


class QueryKind(StrEnum):
    """Kinds of values, as a query sees them."""

    INTEGER = "integer"
    SINGLE = "single"
    DOUBLE = "double"
    BOOLEAN = "boolean"
    TEXT = "text"
    BYTES = "bytes"
    DECIMAL = "decimal"
    DATE = "date"
    TIMESTAMP = "timestamp"


@dataclass(frozen=True)
class QueryColumn:
    """A column that queries may name.

    Attributes:
        name: Its name, without groups around it.
        kind: The kind of its values.
        type: The type of the values that are compared with an engine's; see `pqassay.proof.true_values`.
        has_nan: Whether NaN is among its values, which some engines do not tell from null.
    """

    name: str
    kind: QueryKind
    type: Any
    has_nan: bool = False


@dataclass(frozen=True)
class ColumnQuery:
    """One comparison of a column with a value; ``is null`` and ``is not null`` have none."""

    operator: str
    column: QueryColumn
    value: Any = None


COUNT = "count(*)"
"""The number of rows, as SQL has it; also the column of a table that holds a true number."""

Condition = tuple[ColumnQuery, ...]
"""Comparisons that all have to hold; of none, every row is wanted."""


@dataclass(frozen=True)
class Query:
    """Some columns of the rows that satisfy a condition; without columns, how many these rows are."""

    columns: tuple[QueryColumn, ...]
    where: Condition = ()

    @property
    def is_count(self) -> bool:
        """Whether it asks how many rows there are, which engines may answer from metadata."""
        return not self.columns

    @property
    def used(self) -> list[QueryColumn]:
        """The columns that are selected or compared, each once."""
        every = [*self.columns, *(part.column for part in self.where)]
        return list({column.name: column for column in every}.values())

    @property
    def sql(self) -> str:
        """The query for people; the table is called ``file``."""
        return self.sql_from("file")

    def sql_from(self, table: str) -> str:
        """The query for people, of a table of some name."""
        names = ", ".join(named(column.name) for column in self.columns) or COUNT
        selected = f"SELECT {names} FROM {table}"  # noqa: S608 - for people
        if not self.where:
            return selected
        return f"{selected} WHERE {' AND '.join(_shown(part) for part in self.where)}"

    @property
    def tree(self) -> list[Any] | None:
        """The condition as a tree of JSON values, ``None`` for every row."""
        parts = [
            [part.operator, part.column.name, *([] if part.operator in NULL_TESTS else [written(part.value)])]
            for part in self.where
        ]
        return None if not parts else parts[0] if len(parts) == 1 else ["and", *parts]


def named(name: str, mark: str = '"') -> str:
    """A name as SQL has it: in quotes, unless every dialect takes it as it is."""
    if _SIMPLE_NAME.fullmatch(name) and name.upper() not in Tokenizer.KEYWORDS:
        return name
    return mark + name.replace(mark, mark * 2) + mark


_SIMPLE_NAME = re.compile("[a-z_][a-z0-9_]*")


def _shown(part: ColumnQuery) -> str:
    name = named(part.column.name)
    if part.operator in NULL_TESTS:
        return f"{name} {part.operator.upper()}"
    if part.column.kind in (QueryKind.TEXT, QueryKind.DATE, QueryKind.TIMESTAMP):
        text = str(part.value).replace("'", "''")
        return f"{name} {part.operator} '{text}'"
    if part.column.kind is QueryKind.BYTES:
        return f"{name} {part.operator} X'{part.value.hex()}'"
    return f"{name} {part.operator} {part.value}"


_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - local times have no zone, and instants are shown in UTC


def written(value: Any) -> Any:
    """A value as it is in JSON; see `pqassay.literals.rows`."""
    match value:
        case bool() | str():
            return value
        case int():
            return value if abs(value) <= EXACT_INTEGERS else {"int": str(value)}
        case float():
            return {"float": repr(value)}
        case bytes():
            return {"bytes": value.hex()}
        case decimal.Decimal():
            return {"decimal": f"{value:f}"}
        case dt.datetime():
            return {
                "timestamp": str((value.replace(tzinfo=None) - _EPOCH) // dt.timedelta(microseconds=1) * 1000)
            }
        case _:
            return {"date": str((value - _EPOCH.date()).days)}


# ------------------------------------------------------------------------------------------------- the true rows

_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "=": pc.equal,
    ">=": pc.greater_equal,
    "<=": pc.less_equal,
}
"""Meaning of the operators that queries use; a comparison with null is null."""


def true_rows(query: Query, values: pa.Table) -> pa.Table:
    """The rows of a table that a query asks for; a row of which a comparison is unknown is not among them.

    How many rows there are is a row of one number, in a table that says so; see `is_of_count`.
    """
    if query.where:
        mask = reduce(pc.and_kleene, [_holds(part, values.column(part.column.name)) for part in query.where])
        values = values.filter(mask)
    if query.is_count:
        schema = pa.schema([(COUNT, pa.int64())], {COUNT: ""})
        return pa.table({COUNT: [len(values)]}, schema=schema)
    return values.select([column.name for column in query.columns])


def is_of_count(table: pa.Table) -> bool:
    """Whether a table of `true_rows` holds how many rows there are, rather than the rows."""
    return COUNT.encode() in (table.schema.metadata or {})


def number_of(table: pa.Table) -> int:
    """How many rows a table of `true_rows` stands for."""
    return table.column(0)[0].as_py() if is_of_count(table) else len(table)


def _holds(part: ColumnQuery, values: Any) -> Any:
    if part.operator in NULL_TESTS:
        is_null = pc.is_null(values)
        return is_null if NULL_TESTS[part.operator] else pc.invert(is_null)
    return _COMPARED[part.operator](values, pa.scalar(part.value, part.column.type))
