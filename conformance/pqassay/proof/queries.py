"""Queries that may show the effect of a false claim: columns, condition, and true rows."""

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
    """No query can show the effect of a finding, for any true rows; the message says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, "tool")


class QueryKind(StrEnum):
    """Kinds of values in queries."""

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
        type: The type in which values are compared with an engine's; see `pqassay.proof.true_values`.
        has_nan: Whether its values include NaN, which some engines do not distinguish from null.
    """

    name: str
    kind: QueryKind
    type: Any
    has_nan: bool = False


@dataclass(frozen=True)
class ColumnQuery:
    """A comparison of a column with a value; ``is null`` and ``is not null`` have no value."""

    operator: str
    column: QueryColumn
    value: Any = None


COUNT = "count(*)"
"""The number of rows in SQL; also the column name of a table with a true count."""

Condition = tuple[ColumnQuery, ...]
"""Comparisons that must all hold; if empty, every row is selected."""


@dataclass(frozen=True)
class Query:
    """Some columns of the rows that satisfy a condition; without columns, the number of these rows."""

    columns: tuple[QueryColumn, ...]
    where: Condition = ()

    @property
    def is_count(self) -> bool:
        """Whether it counts rows, which engines may answer from metadata."""
        return not self.columns

    @property
    def used(self) -> list[QueryColumn]:
        """The selected and compared columns, without duplicates."""
        every = [*self.columns, *(part.column for part in self.where)]
        return list({column.name: column for column in every}.values())

    @property
    def sql(self) -> str:
        """The query as SQL for people; the table is called ``file``."""
        return self.sql_from("file")

    def sql_from(self, table: str) -> str:
        """The query as SQL for people, on a table with some name."""
        names = ", ".join(named(column.name) for column in self.columns) or COUNT
        selected = f"SELECT {names} FROM {table}"  # noqa: S608 - for people
        if not self.where:
            return selected
        return f"{selected} WHERE {' AND '.join(_shown(part) for part in self.where)}"

    @property
    def tree(self) -> list[Any] | None:
        """The condition as a tree of JSON values; ``None`` if there is no condition."""
        parts = [
            [part.operator, part.column.name, *([] if part.operator in NULL_TESTS else [written(part.value)])]
            for part in self.where
        ]
        return None if not parts else parts[0] if len(parts) == 1 else ["and", *parts]


def named(name: str, mark: str = '"') -> str:
    """A name in SQL: quoted, unless every dialect accepts it unquoted."""
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
    """A value in the JSON form of `pqassay.literals.rows`."""
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
"""The meaning of the operators in queries; a comparison with null is null."""


def true_rows(query: Query, values: pa.Table) -> pa.Table:
    """The rows of a table that a query selects; rows with an unknown comparison are excluded.

    For a count, the result is one row with the number, in a marked table; see `is_of_count`.
    """
    if query.where:
        mask = reduce(pc.and_kleene, [_holds(part, values.column(part.column.name)) for part in query.where])
        values = values.filter(mask)
    if query.is_count:
        schema = pa.schema([(COUNT, pa.int64())], {COUNT: ""})
        return pa.table({COUNT: [len(values)]}, schema=schema)
    return values.select([column.name for column in query.columns])


def is_of_count(table: pa.Table) -> bool:
    """Whether a table of `true_rows` has the number of rows instead of the rows."""
    return COUNT.encode() in (table.schema.metadata or {})


def number_of(table: pa.Table) -> int:
    """The number of rows that a table of `true_rows` represents."""
    return table.column(0)[0].as_py() if is_of_count(table) else len(table)


def _holds(part: ColumnQuery, values: Any) -> Any:
    if part.operator in NULL_TESTS:
        is_null = pc.is_null(values)
        return is_null if NULL_TESTS[part.operator] else pc.invert(is_null)
    return _COMPARED[part.operator](values, pa.scalar(part.value, part.column.type))
