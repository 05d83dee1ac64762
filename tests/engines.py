"""Six engines that read a Parquet file into the same rows, whole or through a filter.

An engine here is the foreign software as its driver in ``conformance/implementations`` runs it, with everything switched on that
makes it rely on metadata: row group statistics, page index, bloom filters.  What an engine tells about how much it skipped is
here, since a filter that reads everything proves nothing about an index.

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
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

import datafusion
import pytest
from _pytest.mark.structures import ParameterSet
from polars.exceptions import PanicException

from driver_modules import driver_module, driver_query, new_driver
from pqassay_spark.jobs.session import session_settings
from pqassay_spec.base.strict_json import EXACT_INTEGERS
from pqassay_suite.cases.file_facts import facts_of

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
    if isinstance(value, Tagged) or type(value) in PLAIN:
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


PLAIN = frozenset({int, str, bytes, type(None)})
"""Types whose values are cells as they are, which most values have."""

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
"""What is made of the values of a type; a type is before those that it belongs to as well."""


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


def literal(value: Any) -> Any:
    """A value as manifests and drivers write it, whose type is tagged where JSON has no such type."""
    if not isinstance(value, dict):
        return value
    ((tag, content),) = value.items()
    readers: dict[str, Callable[[Any], Any]] = {
        "int": int,
        "float": float,
        "bytes": bytes.fromhex,
        "list": lambda items: [literal(item) for item in items],
        "map": lambda pairs: [tuple(map(literal, pair)) for pair in pairs],
        "struct": lambda members: {name: literal(member) for name, member in members.items()},
    }
    return readers[tag](content) if tag in readers else Tagged(tag, content)


def written(value: Any) -> Any:
    """A value as predicates have it: the way back from `cell`."""
    match cell(value):
        case Tagged("boolean", text):
            return text == "True"
        case Tagged(tag, text):
            return {tag: text}
        case bytes(content):
            return {"bytes": content.hex()}
        case int(number):
            return number if abs(number) <= EXACT_INTEGERS else {"int": str(number)}
        case other:
            return other


def predicate_of(where: Where) -> list[Any]:
    """A filter as a tree."""
    values = [written(value) for value in where.values]
    if where.operator == "between":
        least, greatest = values
        return ["and", [">=", where.column, least], ["<=", where.column, greatest]]
    return [where.operator, where.column, *([values] if where.operator == "in" else values)]


def column_names(path: Path) -> tuple[str, ...]:
    """The columns of a file, as its footer says."""
    state = path.stat()
    return _column_names(path, (state.st_ino, state.st_mtime_ns, state.st_size))


@functools.lru_cache(maxsize=1000)
def _column_names(path: Path, _: tuple[int, ...]) -> tuple[str, ...]:
    """Those of a file in a state: engines and queries ask for them again and again."""
    return tuple(facts_of(path.read_bytes()).names)


def asked_of_driver(path: Path, query: Query) -> Any:
    """A query with a filter as drivers in Python take it."""
    assert query.where is not None
    columns = list(query.columns or column_names(path))
    return driver_query(predicate_of(query.where), columns, index=True)


def _rows_of(answer: Iterable[Sequence[Any]]) -> Rows:
    return Counter(
        tuple([value if type(value) in PLAIN else cell(literal(value)) for value in row]) for row in answer
    )


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
        except PanicException as error:
            return RuntimeError(f"a panic: {error}")
        except Exception as error:  # noqa: BLE001 - the engines share no class of errors
            return error


class DriverEngine(Engine):
    """An engine as its driver asks it, which is the one that `pqassay suite run` asks.

    Args:
        name: The driver's folder.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.driver = new_driver(name)

    def read(self, path: Path, query: Query = WHOLE) -> Rows:
        columns = list(query.columns or column_names(path))
        if query.where is None:
            return _rows_of(self.driver.read(str(path), columns))
        return self.scanned(path, predicate_of(query.where), columns)

    def scanned(self, path: Path, predicate: list[Any], columns: list[str]) -> Rows:
        """The rows that satisfy a predicate, which is a tree of JSON values."""
        return _rows_of(self.driver.scan(str(path), driver_query(predicate, columns, index=True)))


class DuckDB(DriverEngine):
    """DuckDB, which tells how many row groups it skipped."""

    def __init__(self) -> None:
        super().__init__("duckdb")

    def row_groups_read(self, path: Path, query: Query) -> tuple[int, int]:
        """How many row groups a query scanned, of how many."""
        profile = path.with_suffix(".profile.json")
        connection = self.driver.connection
        connection.execute("PRAGMA enable_profiling = 'json'")
        connection.execute(f"PRAGMA profiling_output = '{profile}'")
        self.driver.found(str(path), asked_of_driver(path, query)).fetchall()
        connection.execute("PRAGMA disable_profiling")
        told = json.loads(profile.read_text())["query"]
        return told["total_row_groups_scanned"], told["total_row_groups_to_scan"]


class DataFusion(DriverEngine):
    """DataFusion, which tells which of its means skipped what."""

    def __init__(self) -> None:
        super().__init__("datafusion")

    def skipped(self, path: Path, query: Query) -> dict[str, tuple[int, int]]:
        """By ``statistics``, ``bloom_filter`` and ``page_index``: row groups or pages kept, of how many looked at."""
        plan = self.driver.found(str(path), asked_of_driver(path, query)).execution_plan()
        context = datafusion.SessionContext()
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


class Spark(Engine):
    """Spark, which skips row groups by statistics, dictionaries and bloom filters, and pages by the page index.

    Args:
        session: The session that the tests share.
        vectorized: Decode in batches, or row by row as Spark does for types that the batch reader lacks.
    """

    MODULE: ClassVar = driver_module("spark")

    _schemas: ClassVar[dict[tuple[Path, int], StructType]] = {}
    """What Spark found out about the first of several files of one schema: to ask again costs as much as to read them."""

    def __init__(self, session: SparkSession, *, vectorized: bool = True) -> None:
        self._session, self._vectorized = session, vectorized
        self._driver = new_driver("spark")
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

    def rows_decoded(self, scans: Sequence[tuple[Path, Query, Sequence[str]]]) -> list[int]:
        """Rows that each of several scans of the same columns handed on before the filter saw them, all in one job.

        Args:
            scans: For each the file, what is asked, and the parts of the driver's ``SKIPPING`` to leave out.
        """
        with self._reader():
            frames = [self._asked(self._opened([path], without), query) for path, query, without in scans]
            frame = functools.reduce(lambda one, other: one.union(other), frames)
            frame.toArrow()
            plan: Any = frame._jdf.queryExecution().executedPlan()
            leaves = plan.collectLeaves()
            assert len(scans) == leaves.size()
            return [
                int(leaves.apply(number).metrics().apply("numOutputRows").value())
                for number in range(len(scans))
            ]

    @contextmanager
    def _reader(self) -> Iterator[None]:
        asked = {
            "spark.sql.parquet.enableVectorizedReader": str(self._vectorized).lower(),
            "spark.sql.files.minPartitionNum": "1",  # a task costs more than what it reads
            "spark.sql.sources.parallelPartitionDiscovery.threshold": "1000",  # no job that lists files
            **self.MODULE.UNHURRIED,
        }
        with session_settings(self._session, asked):
            yield

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
            f"parquet.filter.{part}.enabled": str(part not in without).lower()
            for part in self.MODULE.SKIPPING
        }
        reader = self._session.read.options(**skipping)
        key = paths[0], paths[0].stat().st_mtime_ns
        if key not in self._schemas and (schema := self._inferred(paths[0])) is not None:
            self._schemas[key] = schema
        if key in self._schemas:
            reader = reader.schema(self._schemas[key])
        return reader.parquet(*map(str, paths))

    def _inferred(self, path: Path) -> StructType | None:
        """The schema that Spark infers from a file, without the job in which it does so; ``None`` where it fails, as the job will."""
        from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # heavy, and without Java of no use
        from pyspark.errors.exceptions.captured import CapturedException
        from pyspark.sql.types import StructType

        context: Any = self._session.sparkContext
        java, settings = context._jvm, context._jsc.hadoopConfiguration()
        parquet = java.org.apache.spark.sql.execution.datasources.parquet
        session: Any = self._session
        place = java.org.apache.hadoop.fs.Path(f"file://{path}")
        try:
            footer = java.org.apache.parquet.hadoop.ParquetFileReader.readFooter(settings, place)
            converter = parquet.ParquetToSparkSchemaConverter(session._jsparkSession.sessionState().conf())
            schema = parquet.ParquetFileFormat.readSchemaFromFooter(
                java.org.apache.parquet.hadoop.Footer(place, footer), converter
            )
        except (Py4JJavaError, CapturedException):
            return None
        return StructType.fromJson(json.loads(schema.asNullable().json()))

    def _asked(self, frame: DataFrame, query: Query) -> DataFrame:
        from pyspark.sql import functions  # heavy, and without Java of no use

        columns = query.columns or tuple(frame.columns)
        if query.where is not None:
            types = {field.name: field.dataType for field in frame.schema}
            frame = frame.filter(self._driver.condition(predicate_of(query.where), types))
        return frame.select(
            "_metadata.file_path", *(functions.col(self.MODULE.quoted(name)) for name in columns)
        )


TELLING: dict[str, Callable[[], Engine]] = {"duckdb": DuckDB, "datafusion": DataFusion}


def engine(name: str, spark: Callable[[], SparkSession] | None = None) -> Engine:
    """An engine by its name; ``spark`` is asked for its session only where that is needed."""
    if spark is None or not name.startswith("spark"):
        return TELLING.get(name, lambda: DriverEngine(name))()
    return Spark(spark(), vectorized=name == "spark")


def parameters(names: Iterable[str | tuple[str, ...]]) -> list[ParameterSet]:
    """Parameters of a test of which the first names an engine or writer; Spark needs Java."""
    found = []
    for name in names:
        values = (name,) if isinstance(name, str) else name
        marks = [pytest.mark.spark] if values[0].startswith("spark") else []
        found.append(pytest.param(*values, marks=marks))
    return found
