"""Six engines that read a Parquet file into the same rows, whole or through a filter.

An engine here is the foreign software as its users run it, with everything switched on that makes it rely on
metadata: row group statistics, page index, bloom filters.  What an engine tells about how much it skipped is there
too, since a filter that reads everything proves nothing about an index.

Rows are compared as multisets of tuples; `cell` makes the values of different engines comparable.
"""

from __future__ import annotations

import datetime as dt
import decimal
import functools
import json
import re
import uuid
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

import datafusion
import duckdb
import fastparquet  # type: ignore[import-untyped] # it has no types
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
from _pytest.mark.structures import ParameterSet

from driver_modules import driver_module

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

Rows = Counter[tuple[Any, ...]]
"""A multiset of rows."""

Answers = dict[tuple[Path, "Query"], Rows | Exception]
"""By file and query the rows that were read, or the error."""

ENGINES = ("pyarrow", "duckdb", "polars", "datafusion", "fastparquet", "spark")
"""Names of the engines, which are those of their distributions but for pyspark."""


class Tagged(NamedTuple):
    """A value that Python would call equal to one of another type, or unequal to itself."""

    kind: str
    text: str


class Where(NamedTuple):
    """A filter on one column: ``=``, ``!=``, ``in``, ``between`` (both ends included) or ``is null``."""

    column: str
    operator: Literal["=", "!=", "in", "between", "is null"]
    values: tuple[Any, ...] = ()

    def holds(self, value: Any) -> bool:
        """Whether a row with this value passes, as SQL says: null passes ``is null`` alone."""
        if self.operator == "is null" or value is None:
            return self.operator == "is null" and value is None
        if self.operator == "between":
            return bool(self.values[0] <= value <= self.values[1])
        return (value in self.values) is (self.operator != "!=")


@dataclass(frozen=True)
class Limit:
    """Something that an engine does not get right on a good file.

    Attributes:
        version: The engine's version that was tried.
        reason: What in the engine it comes from.
        says: Part of the error or of the wrong rows that it gives instead; or several, one of which each answer has.
    """

    version: str
    reason: str
    says: str | tuple[str, ...]

    def explains(self, answer: Rows | Exception) -> bool:
        """Whether an answer is the wrong one that is known."""
        told = f"{answer} {answer!r}" if isinstance(answer, Exception) else repr(answer)
        return any(part in told for part in ((self.says,) if isinstance(self.says, str) else self.says))


@dataclass(frozen=True)
class Query:
    """Which columns of which rows; everything by default."""

    where: Where | None = None
    columns: tuple[str, ...] | None = None


WHOLE = Query()


def cell(value: Any) -> Any:
    """A value as all engines can give it.

    Floats and booleans are tagged, so that 1.0, True and 1 differ, -0.0 and 0.0 differ, and NaN equals itself; so are
    decimals, dates and times, which keep their digits, and are counted in days and nanoseconds.  UUIDs become bytes.
    Timestamps become nanoseconds since 1970 in UTC, whatever zone and unit an engine prefers.  Lists and the pairs of
    maps and structs become tuples.
    """
    if isinstance(value, Tagged):
        return value
    return next((made(value) for kind, made in CELLS if isinstance(value, kind)), value)


def _timestamp(value: dt.datetime) -> Tagged:
    aware = value if value.tzinfo else value.replace(tzinfo=dt.UTC)
    since = aware - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    microseconds = since // dt.timedelta(microseconds=1)
    return Tagged("timestamp", str(microseconds * 1000 + getattr(value, "nanosecond", 0)))


def _time(value: dt.time) -> Tagged:
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return Tagged("time", str((seconds * 1_000_000 + value.microsecond) * 1000))


CELLS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (bool, lambda value: Tagged("boolean", str(value))),
    (float, lambda value: Tagged("float", repr(float(value)))),
    (dt.datetime, _timestamp),
    (dt.date, lambda value: Tagged("date", str((value - dt.date(1970, 1, 1)).days))),
    (dt.time, _time),
    (decimal.Decimal, lambda value: Tagged("decimal", f"{value:f}")),
    (uuid.UUID, lambda value: value.bytes),
    ((bytearray, memoryview), bytes),
    ((list, tuple), lambda value: tuple(map(cell, value))),
    (dict, lambda value: tuple((name, cell(member)) for name, member in value.items())),
)
"""What is made of the values of a type; a type stands before those that it belongs to as well."""


def rows(table: Mapping[str, Sequence[Any]], columns: Sequence[str] | None = None) -> Rows:
    """The rows of a table given column by column, in the order of ``columns``."""
    names = list(table) if columns is None else columns
    return Counter(zip(*([cell(value) for value in table[name]] for name in names), strict=True))


def expected(table: Mapping[str, Sequence[Any]], query: Query) -> Rows:
    """The rows that a query must return from a table given column by column."""
    if query.where is not None:
        kept = [query.where.holds(value) for value in table[query.where.column]]
        table = {
            name: [value for value, keep in zip(column, kept, strict=True) if keep]
            for name, column in table.items()
        }
    return rows(table, query.columns)


def _quoted(name: str, mark: str = '"') -> str:
    """A column name as SQL identifier."""
    return mark + name.replace(mark, mark * 2) + mark


def _arrow_rows(table: pa.Table) -> Rows:
    return rows({name: table.column(name).to_pylist() for name in table.column_names})


class Engine(ABC):
    """Reads Parquet files."""

    name: str

    @abstractmethod
    def read(self, path: Path, query: Query = WHOLE) -> Rows:
        """The rows of a file that a query asks for; raises whatever the engine raises."""

    def read_all(self, paths: Sequence[Path], queries: Sequence[Query]) -> Answers:
        """Every query on every one of several files with the same columns."""
        return {(path, query): self._answer(path, query) for path in paths for query in queries}

    def _answer(self, path: Path, query: Query) -> Rows | Exception:
        try:
            return self.read(path, query)
        except Exception as error:  # noqa: BLE001 - the engines share no class of errors
            return error


class PyArrow(Engine):
    """Datasets of pyarrow, which skip row groups by their statistics."""

    name = "pyarrow"

    def read(self, path: Path, query: Query = WHOLE) -> Rows:
        wanted = None if query.where is None else self._expression(query.where)
        dataset = pyarrow.dataset.dataset(path, format="parquet")
        columns = None if query.columns is None else list(query.columns)
        return _arrow_rows(dataset.to_table(columns=columns, filter=wanted))

    def _expression(self, where: Where) -> Any:
        field: Any = pyarrow.dataset.field(where.column)
        if where.operator == "=":
            return field == where.values[0]
        if where.operator == "!=":
            return field != where.values[0]
        if where.operator == "in":
            return field.isin(list(where.values))
        if where.operator == "between":
            return (field >= where.values[0]) & (field <= where.values[1])
        return field.is_null()


class DuckDB(Engine):
    """DuckDB, which skips row groups by their statistics and bloom filters."""

    name = "duckdb"

    @functools.cached_property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        # without the cache of bytes that it has read before: a test may have changed them
        return duckdb.connect(config={"enable_external_file_cache": False})

    def read(self, path: Path, query: Query = WHOLE) -> Rows:
        statement, values = self._statement(path, query)
        return _arrow_rows(self._connection.sql(statement, params=values).to_arrow_table())

    def row_groups_read(self, path: Path, query: Query) -> tuple[int, int]:
        """How many row groups a query scanned, of how many."""
        profile = path.with_suffix(".profile.json")
        with duckdb.connect() as connection:
            connection.execute("PRAGMA enable_profiling = 'json'")
            connection.execute(f"PRAGMA profiling_output = '{profile}'")
            connection.execute(*self._statement(path, query)).fetchall()
        told = json.loads(profile.read_text())["query"]
        return told["total_row_groups_scanned"], told["total_row_groups_to_scan"]

    def _statement(self, path: Path, query: Query) -> tuple[str, list[Any]]:
        columns = "*" if query.columns is None else ", ".join(map(_quoted, query.columns))
        condition = "true" if query.where is None else self._condition(query.where)
        return (
            f"SELECT {columns} FROM read_parquet(?, hive_partitioning = false) WHERE {condition}",
            [str(path), *(query.where.values if query.where else ())],
        )

    def _condition(self, where: Where) -> str:
        marks = {
            "=": "= ?",
            "!=": "<> ?",
            "in": f"IN ({', '.join('?' * len(where.values))})",
            "between": "BETWEEN ? AND ?",
            "is null": "IS NULL",
        }
        return f"{_quoted(where.column)} {marks[where.operator]}"


class Polars(Engine):
    """Lazy scans of Polars, which skip row groups by their statistics."""

    name = "polars"

    def read(self, path: Path, query: Query = WHOLE) -> Rows:
        scan = pl.scan_parquet(path, hive_partitioning=False, glob=False)
        if query.where is not None:
            scan = scan.filter(self._expression(query.where))
        if query.columns is not None:
            scan = scan.select(query.columns)
        return _arrow_rows(scan.collect().to_arrow())

    def _expression(self, where: Where) -> pl.Expr:
        column = pl.col(where.column)
        if where.operator == "=":
            return column.eq(where.values[0])
        if where.operator == "!=":
            return column.ne(where.values[0])
        if where.operator == "in":
            return column.is_in(list(where.values))
        if where.operator == "between":
            least, greatest = map(pl.lit, where.values)  # bare text would name a column
            return column.is_between(least, greatest)
        return column.is_null()


class DataFusion(Engine):
    """DataFusion with filters pushed into the scan: statistics, bloom filters and page index, then single rows."""

    name = "datafusion"

    SETTINGS: ClassVar = dict.fromkeys(driver_module("datafusion").SKIPPING, "true")

    def read(self, path: Path, query: Query = WHOLE) -> Rows:
        return _arrow_rows(self._frame(self._context(), path, query).to_arrow_table())

    def skipped(self, path: Path, query: Query) -> dict[str, tuple[int, int]]:
        """By ``statistics``, ``bloom_filter`` and ``page_index``: row groups or pages kept, of how many looked at."""
        context = self._context()
        plan = self._frame(context, path, query).execution_plan()
        for partition in range(plan.partition_count):
            for _ in context.execute(plan, partition):
                pass
        told = " ".join(str(metrics) for _, metrics in plan.collect_metrics())
        names = {
            "statistics": "row_groups_pruned_statistics",
            "bloom_filter": "row_groups_pruned_bloom_filter",
            "page_index": "page_index_pages_pruned",
        }
        found: dict[str, tuple[int, int]] = {}
        for kind, name in names.items():
            counts = re.findall(rf"{name}(?:{{[^}}]*}})?=(\d+) total → (\d+) matched", told)
            found[kind] = sum(int(kept) for _, kept in counts), sum(int(total) for total, _ in counts)
        return found

    def _context(self) -> datafusion.SessionContext:
        config = datafusion.SessionConfig().with_target_partitions(1)
        for key, value in self.SETTINGS.items():
            config = config.set(key, value)
        return datafusion.SessionContext(config)

    def _frame(self, context: datafusion.SessionContext, path: Path, query: Query) -> datafusion.DataFrame:
        frame = context.read_parquet(path)
        if query.where is not None:
            frame = frame.filter(self._expression(query.where))
        if query.columns is not None:
            frame = frame.select(*(self._column(name) for name in query.columns))
        return frame

    def _column(self, name: str) -> datafusion.Expr:
        return datafusion.col(_quoted(name))  # unquoted names are taken in lower case

    def _expression(self, where: Where) -> datafusion.Expr:
        column, values = self._column(where.column), [datafusion.lit(value) for value in where.values]
        if where.operator == "=":
            return column == values[0]
        if where.operator == "!=":
            return column != values[0]
        if where.operator == "in":
            return datafusion.functions.in_list(column, values)
        if where.operator == "between":
            return column.between(values[0], values[1])
        return column.is_null()


class FastParquet(Engine):
    """fastparquet, which skips row groups by their statistics.

    It does not filter single rows here: with ``row_filter=True`` it returns zeros and uninitialised memory
    from chunks with several pages.  Rows of the row groups that it kept are filtered afterwards.
    """

    name = "fastparquet"

    def read(self, path: Path, query: Query = WHOLE) -> Rows:
        with ExitStack() as stack:  # it leaves files open

            def opened(name: str, mode: str = "rb") -> IO[Any]:
                return stack.enter_context(Path(name).open(mode))

            file = fastparquet.ParquetFile(str(path), open_with=opened)
            where, columns = query.where, list(query.columns or file.columns)
            if where is None:
                return rows(self._columns(file, columns, []))
            needed = [*columns, *({where.column} - set(columns))]
            kept = self._columns(file, needed, self._row_group_filter(where))
        return expected(kept, Query(where, tuple(columns)))

    def _columns(self, file: Any, columns: list[str], filters: list[Any]) -> dict[str, list[Any]]:
        frame = file.to_pandas(columns=columns, filters=filters)
        return {name: self._values(frame[name]) for name in columns}

    def _values(self, column: Any) -> list[Any]:
        """The values of a pandas column. In objects None and in nullable types NA is null; in plain floats nothing is."""
        nulls = [None] * len(column) if column.dtype.kind == "f" else column.isna().tolist()
        return [None if null else value for value, null in zip(column.tolist(), nulls, strict=True)]

    def _row_group_filter(self, where: Where) -> list[Any]:
        if where.operator == "between":
            return [(where.column, ">=", where.values[0]), (where.column, "<=", where.values[1])]
        if where.operator == "is null":
            return []  # it has no such filter
        if where.operator == "in":
            return [(where.column, "in", set(where.values))]
        return [(where.column, "==" if where.operator == "=" else "!=", where.values[0])]


class Spark(Engine):
    """Spark, which skips row groups by statistics, dictionaries and bloom filters, and pages by the page index.

    Args:
        session: The session that the tests share.
        vectorized: Decode in batches, or row by row as Spark does for types that the batch reader lacks.
    """

    SKIPPING: ClassVar[tuple[str, ...]] = driver_module("spark").SKIPPING

    UNHURRIED: ClassVar[dict[str, str]] = driver_module("spark").UNHURRIED
    """What makes large queries fast: for a few rows it takes longer than it saves, and no reader of files asks for it."""

    _schemas: ClassVar[dict[tuple[Path, int], StructType]] = {}
    """What Spark found out about the first of several files of one schema: to ask again costs as much as to read them."""

    def __init__(self, session: SparkSession, *, vectorized: bool = True) -> None:
        self._session, self._vectorized = session, vectorized
        self.name = "spark" if vectorized else "spark, row by row"

    def read(self, path: Path, query: Query = WHOLE) -> Rows:
        return self._job([path], [query])[path, query]

    def read_all(self, paths: Sequence[Path], queries: Sequence[Query]) -> Answers:
        """As many files and queries in one job as have the same columns: a job costs more than what it reads."""
        alike: dict[tuple[str, ...] | None, list[Query]] = defaultdict(list)
        for query in queries:
            alike[query.columns].append(query)
        found: Answers = {}
        for group in alike.values():
            found |= self._search(paths, group)
        return found

    def _search(self, paths: Sequence[Path], queries: Sequence[Query]) -> Answers:
        """One job; where it fails, one for each file; where that fails, one for each query."""
        if len(paths) == 1 and len(queries) == 1:
            return super().read_all(paths, queries)
        try:
            return {**self._job(paths, queries)}
        except Exception:  # noqa: BLE001 - which file or query it was, smaller jobs will tell
            found: Answers = {}
            for path in paths if len(paths) > 1 else ():
                found |= self._search([path], queries)
            for query in queries if len(paths) == 1 else ():
                found |= self._search(paths, [query])
            return found

    def rows_decoded(self, path: Path, query: Query, *, without: Sequence[str] = ()) -> int:
        """Rows that the scan handed on before the filter saw them; ``without`` names parts of `SKIPPING` to leave out."""
        with self._reader():
            frame = self._asked(self._opened([path], without), query)
            frame.toArrow()
            plan: Any = frame._jdf.queryExecution().executedPlan()
            if plan.getClass().getSimpleName() == "AdaptiveSparkPlanExec":
                plan = plan.executedPlan()
            return int(plan.collectLeaves().head().metrics().apply("numOutputRows").value())

    @contextmanager
    def _reader(self) -> Iterator[None]:
        asked = {"spark.sql.parquet.enableVectorizedReader": str(self._vectorized).lower(), **self.UNHURRIED}
        before = {key: self._session.conf.get(key) for key in asked}
        for key, value in asked.items():
            self._session.conf.set(key, value)
        try:
            yield
        finally:
            for key, old in before.items():
                self._session.conf.set(key, str(old))

    def _job(self, paths: Sequence[Path], queries: Sequence[Query]) -> dict[tuple[Path, Query], Rows]:
        from pyspark.sql import functions  # heavy, and without Java of no use

        with self._reader():
            opened = self._opened(paths)
            frames = [
                self._asked(opened, query).withColumn("\0query", functions.lit(number))
                for number, query in enumerate(queries)
            ]
            table = functools.reduce(lambda one, other: one.union(other), frames).toArrow()
        files, *columns, numbers = (
            [cell(value) for value in table.column(position).to_pylist()]
            for position in range(table.num_columns)
        )
        found: dict[tuple[Path, Query], Rows] = {
            (path, query): Counter() for path in paths for query in queries
        }
        for url, number, *row in zip(files, numbers, *columns, strict=True):
            found[Path(unquote(urlsplit(url).path)), queries[number]][tuple(row)] += 1
        return found

    def _opened(self, paths: Sequence[Path], without: Sequence[str] = ()) -> DataFrame:
        skipping = {
            f"parquet.filter.{part}.enabled": str(part not in without).lower() for part in self.SKIPPING
        }
        reader = self._session.read.options(**skipping)
        key = paths[0], paths[0].stat().st_mtime_ns
        if key in self._schemas:
            reader = reader.schema(self._schemas[key])
        frame = reader.parquet(*map(str, paths))
        self._schemas[key] = frame.schema
        return frame

    def _asked(self, frame: DataFrame, query: Query) -> DataFrame:
        from pyspark.sql import functions  # heavy, and without Java of no use

        columns = query.columns or tuple(frame.columns)
        if query.where is not None:
            column = functions.col(_quoted(query.where.column, "`"))
            values = query.where.values
            conditions: dict[str, Callable[[], Any]] = {
                "=": lambda: column == values[0],
                "!=": lambda: column != values[0],
                "in": lambda: column.isin(list(values)),
                "between": lambda: column.between(values[0], values[1]),
                "is null": column.isNull,
            }
            frame = frame.filter(conditions[query.where.operator]())
        return frame.select("_metadata.file_path", *(functions.col(_quoted(name, "`")) for name in columns))


PLAIN: dict[str, Callable[[], Engine]] = {
    kind.name: kind for kind in (PyArrow, DuckDB, Polars, DataFusion, FastParquet)
}


def engine(name: str, spark: Callable[[], SparkSession] | None = None) -> Engine:
    """An engine by its name; ``spark`` is asked for its session only where that is needed."""
    if spark is None or name in PLAIN:
        return PLAIN[name]()
    return Spark(spark(), vectorized=name == "spark")


def parameters(names: Iterable[str | tuple[str, ...]]) -> list[ParameterSet]:
    """Parameters of a test of which the first names an engine or writer; Spark needs Java."""
    found = []
    for name in names:
        values = (name,) if isinstance(name, str) else name
        marks = [pytest.mark.spark] if values[0].startswith("spark") else []
        found.append(pytest.param(*values, marks=marks))
    return found
