"""The engines that run the queries, each as a few lines of Python.

A worker runs exactly the lines that a report shows to users, without code of this project.  The drivers of
``conformance/implementations`` query the same engines through the protocol; a test compares the results of
both for damaged files.
"""

from __future__ import annotations

import datetime as dt
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePath
from typing import Any

from pqassay.errors import UsageError
from pqassay.literals.predicate import NULL_TESTS
from pqassay.proof.queries import ColumnQuery, Query, QueryColumn, QueryKind, named
from pqassay.stores.formats import formats
from pqassay_spec.base.terminal import shell_line

PLAIN_PATH = re.compile(r"[A-Za-z0-9_./+,-]*[A-Za-z0-9]\.[A-Za-z0-9]+")
"""Paths that every engine reads as a file name. Some engines read others as patterns, partitions or URIs."""

COPY = "copy.parquet"
"""The name of the copy that a shown line makes of a file with another path."""

JAVA = 17
"""The oldest feature release of Java that runs Spark 4."""


class Unwritable(ValueError):  # noqa: N818 - says what is wrong with the request
    """A query that cannot be expressed for an engine, with the reason."""


Program = Callable[[str, Query], str]
"""A function that writes the program for a file and a query. The program stores rows in ``result``. Raises `Unwritable`."""


@dataclass(frozen=True)
class Engine:
    """An engine.

    Attributes:
        name: Its name in options.
        title: Its name in reports.
        distribution: Its name for pip.
        program: Writes its program.
        rows: An expression that converts ``result`` to a list of tuples.
        starts_slowly: Whether it starts slowly; then it is asked last, and as little as possible.
        runs_on_java: Whether it needs Java; then its process cannot have a memory limit.
        reserves_memory: Whether it reserves far more memory than it uses, so that a memory limit would end it.
        needs_its_paths: Whether it opens a table's files at the paths in the metadata. A moved table must then be copied for it.
    """

    name: str
    title: str
    distribution: str
    program: Program
    rows: str = "[tuple(row.values()) for row in result.to_pylist()]"
    starts_slowly: bool = False
    runs_on_java: bool = False
    reserves_memory: bool = False
    needs_its_paths: bool = False

    @property
    def process(self) -> str:
        """The name of its process; engines with another setup have another process."""
        return self.name

    @property
    def version(self) -> str | None:
        """The installed version; ``None`` if it is not installed."""
        try:
            return metadata.version(self.distribution)
        except metadata.PackageNotFoundError:
            return None

    @property
    def how_to_install(self) -> str | None:
        """The command that installs its missing parts; ``None`` if nothing is missing."""
        if self.version is None:
            return f"python -m pip install {self.distribution}"
        if self.runs_on_java:
            home = os.environ.get("JAVA_HOME")
            if shutil.which("java", path=str(Path(home, "bin")) if home else None) is None:
                return f"Java {JAVA} or newer, with `java` on PATH, or JAVA_HOME"
        return None


def string(text: str) -> str:
    """A Python literal that is readable in a shell: in double quotes, if possible."""
    return f'"{text}"' if text.isprintable() and not set(text) & {'"', "\\"} else repr(text)


def strings(texts: Iterable[str]) -> str:
    """Python literals, separated by commas."""
    return ", ".join(map(string, texts))


# ----------------------------------------------------------------------------------------------------- SQL

SqlLiteral = Callable[[QueryColumn, Any], str]


def _text(value: str) -> str:
    if "\0" in value:
        raise Unwritable("a text with a zero character has no SQL literal")
    return "'" + value.replace("'", "''") + "'"


def _common_literal(column: QueryColumn, value: Any) -> str:
    """A literal that DuckDB, DataFusion and Spark read in the same way."""
    match column.kind:
        case QueryKind.BOOLEAN:
            return str(value).upper()
        case QueryKind.SINGLE:
            return f"CAST({value!r} AS FLOAT)"
        case QueryKind.DOUBLE:
            text = repr(value)
            return text if "e" in text else f"{text}e0"  # without an exponent, it would be a decimal
        case QueryKind.DECIMAL:
            type_: Any = column.type
            return f"CAST('{value:f}' AS DECIMAL({type_.precision}, {type_.scale}))"
        case QueryKind.DATE:
            return f"DATE '{value.isoformat()}'"
        case QueryKind.TEXT:
            return _text(value)
        case QueryKind.BYTES:
            return f"X'{value.hex()}'"
        case _:
            return str(value)


def _moment(column: QueryColumn, value: Any) -> str:
    """A timestamp as text; instants have the offset of UTC."""
    type_: Any = column.type
    if type_.unit == "ns":
        raise Unwritable("the engines read nanoseconds in different ways")
    return str(value.isoformat(sep=" "))


def _is_instant(column: QueryColumn) -> bool:
    type_: Any = column.type
    return type_.tz is not None


def duckdb_literal(column: QueryColumn, value: Any) -> str:
    """A literal in the syntax of DuckDB. Raises `Unwritable`."""
    if column.kind is QueryKind.BYTES:
        return "'" + "".join(f"\\x{byte:02X}" for byte in value) + "'::BLOB"
    if column.kind is QueryKind.TIMESTAMP:
        return f"{'TIMESTAMPTZ' if _is_instant(column) else 'TIMESTAMP'} '{_moment(column, value)}'"
    return _common_literal(column, value)


def datafusion_literal(column: QueryColumn, value: Any) -> str:
    """A literal in the syntax of DataFusion. Raises `Unwritable`."""
    if column.kind is QueryKind.TIMESTAMP:
        return f"TIMESTAMP '{_moment(column, value)}'"
    return _common_literal(column, value)


def spark_literal(column: QueryColumn, value: Any) -> str:
    """A literal in the syntax of Spark. Raises `Unwritable`."""
    if column.kind is QueryKind.TEXT:
        return _text(value.replace("\\", "\\\\"))
    if column.kind is QueryKind.TIMESTAMP:
        return f"{'TIMESTAMP' if _is_instant(column) else 'TIMESTAMP_NTZ'} '{_moment(column, value)}'"
    if column.kind is QueryKind.INTEGER and not -(2**31) < value < 2**31:
        return f"{value}L" if -(2**63) < value < 2**63 else f"{value}BD"
    return _common_literal(column, value)


def condition(query: Query, literal: SqlLiteral, mark: str = '"') -> str:
    """The condition of a query in SQL."""
    parts = [
        f"{named(part.column.name, mark)} {part.operator.upper()}"
        if part.operator in NULL_TESTS
        else f"{named(part.column.name, mark)} {part.operator} {literal(part.column, part.value)}"
        for part in query.where
    ]
    return " AND ".join(parts)


def names_of(query: Query, mark: str = '"') -> list[str]:
    """The columns of a query in SQL."""
    return [named(column.name, mark) for column in query.columns]


def _duckdb(path: str, query: Query) -> str:
    table = f"duckdb.connect().read_parquet({string(path)}, hive_partitioning=False)"
    where = f".filter({string(condition(query, duckdb_literal))})" if query.where else ""
    columns = string(", ".join(names_of(query)))
    return f"import duckdb; result = {table}{where}.project({columns}).to_arrow_table()"


def _datafusion(
    path: str, query: Query, context: str = "SessionContext()", names: str = "SessionContext"
) -> str:
    suffix = PurePath(path).suffix
    register = f"context.register_parquet({strings(['file', path])}, file_extension={string(suffix)})"
    where = f" WHERE {condition(query, datafusion_literal)}" if query.where else ""
    sql = string(f"SELECT {', '.join(names_of(query))} FROM file{where}")  # noqa: S608 - names and values are quoted
    return (
        f"from datafusion import {names}; context = {context}; {register}; "
        f"result = context.sql({sql}).to_arrow_table()"
    )


def _datafusion_pushdown(path: str, query: Query) -> str:
    option = strings(["datafusion.execution.parquet.pushdown_filters", "true"])
    context = f"SessionContext(SessionConfig().set({option}))"
    return _datafusion(path, query, context, "SessionConfig, SessionContext")


SPARK_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.log.level": "OFF",
}
"""Settings of every session."""


def _spark(path: str, query: Query) -> str:
    settings = "".join(f".config({strings(item)})" for item in SPARK_SETTINGS.items())
    names = strings(names_of(query, "`"))
    where = f".where({string(condition(query, spark_literal, '`'))})" if query.where else ""
    return (
        "from pyspark.sql import SparkSession; "
        f"spark = SparkSession.builder.master({string('local[1]')}){settings}.getOrCreate(); "
        f"result = spark.read.parquet({string(path)}){where}.select({names}).toArrow()"
    )


# ---------------------------------------------------------------------------------------------- Python expressions

OPERATORS: Mapping[str, str] = {"=": "==", ">=": ">=", "<=": "<="}
"""Python operators by the operators of queries."""


def imports(query: Query) -> str:
    """The import statement for the values of a query; empty if they need none."""
    kinds = {part.column.kind for part in query.where}
    names = ["datetime"] * bool(kinds & {QueryKind.DATE, QueryKind.TIMESTAMP}) + ["decimal"] * (
        QueryKind.DECIMAL in kinds
    )
    return f"import {', '.join(names)}; " if names else ""


def python_value(column: QueryColumn, value: Any) -> str:
    """A value of a column as a Python literal. Raises `Unwritable`."""
    if column.kind is QueryKind.DECIMAL:
        return f"decimal.{value!r}"
    if column.kind is QueryKind.TIMESTAMP:
        _moment(column, value)
        if value.tzinfo is not None:
            value = value.astimezone(dt.UTC)
    return string(value) if column.kind is QueryKind.TEXT else repr(value)


def all_of(parts: Sequence[str]) -> str:
    """The conjunction of Python conditions."""
    return parts[0] if len(parts) == 1 else " & ".join(f"({part})" for part in parts)


def polars_filter(query: Query) -> str:
    """The condition of a query as a Polars call; empty without a condition."""
    parts: list[str] = []
    for part in query.where:
        column = f"pl.col({string(part.column.name)})"
        if part.operator in NULL_TESTS:
            parts.append(f"{column}.is_{'' if NULL_TESTS[part.operator] else 'not_'}null()")
            continue
        value = python_value(part.column, part.value)
        if part.column.kind is QueryKind.SINGLE:
            value = f"pl.lit({value}, pl.Float32)"
        parts.append(f"{column} {OPERATORS[part.operator]} {value}")
    return f".filter({all_of(parts)})" if parts else ""


def _polars(path: str, query: Query) -> str:
    where = polars_filter(query)
    names = strings(column.name for column in query.columns)
    scan = f"pl.scan_parquet({string(path)}, glob=False, hive_partitioning=False)"
    return f"{imports(query)}import polars as pl; result = {scan}{where}.select({names}).collect()"


def arrow_filter(query: Query) -> str:
    """The condition of a query as a pyarrow argument; empty without a condition."""
    parts: list[str] = []
    for part in query.where:
        column = f"ds.field({string(part.column.name)})"
        if part.operator in NULL_TESTS:
            parts.append(f"{'' if NULL_TESTS[part.operator] else '~'}{column}.is_null()")
        else:
            parts.append(f"{column} {OPERATORS[part.operator]} {python_value(part.column, part.value)}")
    return f", filter={all_of(parts)}" if parts else ""


def _pyarrow(path: str, query: Query) -> str:
    where = arrow_filter(query)
    names = strings(column.name for column in query.columns)
    dataset = f"ds.dataset({string(path)}, format={string('parquet')})"
    table = f"{dataset}.to_table(columns=[{names}]{where})"
    return f"{imports(query)}import pyarrow.dataset as ds; result = {table}"


def _fastparquet(path: str, query: Query) -> str:
    for column in (*query.columns, *(part.column for part in query.where)):
        if column.kind in (QueryKind.DECIMAL, QueryKind.DATE, QueryKind.TIMESTAMP):
            raise Unwritable(f"fastparquet reads a {column.kind} as something else")
        if column.has_nan:
            raise Unwritable("fastparquet does not distinguish NaN from null")
    names = list(dict.fromkeys([c.name for c in query.columns] + [p.column.name for p in query.where]))
    groups = ", ".join(
        f"({strings([part.column.name, OPERATORS[part.operator]])}, {python_value(part.column, part.value)})"
        for part in query.where
        if part.operator not in NULL_TESTS
    )
    filters = f", filters=[[{groups}]]" if groups else ""
    lines = [
        "import fastparquet",
        f"frame = fastparquet.ParquetFile({string(path)}).to_pandas(columns=[{strings(names)}]{filters})",
    ]
    lines += [_filtered(part) for part in query.where]
    return "; ".join([*lines, f"result = frame[[{strings(column.name for column in query.columns)}]]"])


def _filtered(part: ColumnQuery) -> str:
    name = string(part.column.name)
    if part.operator in NULL_TESTS:
        return f"frame = frame[frame[{name}].{'isna' if NULL_TESTS[part.operator] else 'notna'}()]"
    present = f"frame = frame[frame[{name}].notna()]"  # text cannot be compared with None
    return f"{present}; frame = frame[frame[{name}] {OPERATORS[part.operator]} {python_value(part.column, part.value)}]"


_ROWS_OF_PANDAS = "list(result.itertuples(index=False, name=None))"

ENGINES = (
    Engine("duckdb", "DuckDB", "duckdb", _duckdb),
    Engine("datafusion", "DataFusion", "datafusion", _datafusion),
    Engine("datafusion-pushdown", "DataFusion, filter pushdown", "datafusion", _datafusion_pushdown),
    Engine("polars", "Polars", "polars", _polars, "result.rows()"),
    Engine("pyarrow", "pyarrow dataset", "pyarrow", _pyarrow),
    Engine("fastparquet", "fastparquet", "fastparquet", _fastparquet, _ROWS_OF_PANDAS),
    Engine("spark", "Spark", "pyspark", _spark, starts_slowly=True, runs_on_java=True),
)
"""The engines, in the order of reports."""

NAMES = tuple(engine.name for engine in ENGINES)


def require_engines(names: Sequence[str]) -> tuple[Engine, ...]:
    """The engines with some names; all engines if there are no names.

    Raises:
        UsageError: A name is unknown.
    """
    of_tables = [name for one in formats().values() for name in one.engines]
    known = dict.fromkeys((*NAMES, *of_tables))
    if unknown := [name for name in names if name not in known]:
        raise UsageError(f"there is no engine {unknown[0]!r}; engines are {', '.join(known)}")
    return tuple(engine for engine in ENGINES if not names or engine.name in names)


def python_line(
    engine: Engine, program: str, wrong_row: tuple[Any, ...] | None = None, *, is_count: bool = False
) -> str:
    """A shell line that runs a program and prints the number of rows that it returns.

    Args:
        engine: The engine of the program.
        program: The program.
        wrong_row: A row that is returned but not true; the line also prints how often it is returned.
        is_count: Whether the program counts rows; then the line prints its result.
    """
    shown = f"print({engine.rows}[0][0])" if is_count else "print(len(result))"
    if wrong_row is not None:
        shown = f"rows = {engine.rows}; print(len(rows), rows.count({wrong_row!r}))"
    return shell_line(["python", "-c", f"{program}; {shown}"])


def command(path: str, engine: Engine, program: str, wrong_row: tuple[Any, ...] | None = None) -> str:
    """The shell line of `python_line` for a file.

    Args:
        path: The file that the program reads.
        engine: The engine of the program.
        program: The program, for that path; or for `COPY` if some engines cannot read the path.
        wrong_row: See `python_line`.
    """
    line = python_line(engine, program, wrong_row)
    return line if PLAIN_PATH.fullmatch(path) else f"{shell_line(['cp', '--', path, COPY])} && {line}"
