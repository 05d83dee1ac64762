"""The data source ``pqassay`` of Python: plain SQL over files that are skipped by their indexes, and a writer that embeds.

    from pqassay_spark.query.datasource import register
    register(spark)
    spark.read.format("pqassay").load("sales").where("nation = 'Peru'")
    frame.write.format("pqassay").option("column", "nation").mode("append").save("sales")

Spark passes the filters of a query on, so that nobody has to say them twice; it applies all of them again to the rows.
What it does not pass on are ``OR``, functions and the columns that a query needs: every column of the files that are
left is read and handed over.  `pqassay_spark.read` is faster where the predicate can be given to it.

What this module does runs in processes of their own beside the driver and the executors: they need this package, too.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The type stubs of pyarrow leave parts of what is used here unknown.
from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import datasource as ds
from pyspark.sql import types as st

from pqassay_reference.errors import Refused, Undecodable
from pqassay_reference.rewrite.extract import Trust
from pqassay_spark.jobs.uris import is_remote, local_path
from pqassay_spark.query.arrow_writer import IndexWriter
from pqassay_spark.query.lake_indexes import Believed, LakeIndexes
from pqassay_spark.query.lake_listing import Lake, LakeFile
from pqassay_spark.query.parquet_rows import arrow_schema, read_rows, require_supported, spark_schema
from pqassay_spark.query.partition_names import kind_of_values
from pqassay_spark.query.predicates import SchemaColumn, arrow_condition

NAME = "pqassay"
"""Name of the source in ``format(...)``."""

PUSH_DOWN = "spark.sql.python.filterPushdown.enabled"
"""The setting without which Spark passes no filter on; it is off by default."""

MOST_BYTES = 128 << 20
"""Bytes of the files that one task reads, unless a single file has more; as ``spark.sql.files.maxPartitionBytes``."""

OPEN_COST = 4 << 20
"""Bytes that opening a file counts for; as ``spark.sql.files.openCostInBytes``."""


def register(spark: SparkSession) -> None:
    """Make the source known to a session, and let Spark pass filters on to it (`PUSH_DOWN`)."""
    spark.dataSource.register(PqassayDataSource)
    spark.conf.set(PUSH_DOWN, "true")


class PqassayDataSource(ds.DataSource):
    """Parquet files with indexes.

    Options, besides the path:

    ``table``          a folder with an index table, or ``auto`` for the one beside the path
    ``trust``          ``companion`` (default) or ``published``, see `pqassay_reference.lake.indexed_dataset.open_indexed`
    ``column``         reading: what indexes without companion record describe; writing: the column to index
    ``caseSensitive``  ``true`` tells columns apart by case, as the setting ``spark.sql.caseSensitive``
    ``compression``    writing: ``snappy`` (default), ``zstd``, ``gzip``, ``lz4``, ``brotli`` or ``none``
    """

    @classmethod
    def name(cls) -> str:
        """Name of the source in ``format(...)``."""
        return NAME

    def schema(self) -> st.StructType:
        """The schema that Spark's own reader finds: that of the first file by name, and the partition columns.

        Raises:
            Refused: There are no files; a type or a partition column that this source does not have.
        """
        lake = Lake(self._path())
        files = lake.files()
        if not files:
            raise Refused(f"{lake.root} has no Parquet files; give a schema")
        with _opened(lake, files[0].name) as file:
            found = spark_schema(file, f"{lake.root}/{files[0].name}")
        return _with_partitions(found, files)

    def reader(self, schema: st.StructType) -> ds.DataSourceReader:
        """A reader of rows of a schema."""
        require_supported(schema)
        return PrunedReader(
            Lake(self._path()),
            schema,
            Believed(
                self.options.get("table"),
                _trust(str(self.options.get("trust", "companion"))),
                self.options.get("column"),
            ),
            case_sensitive=str(self.options.get("caseSensitive", "false")).lower() == "true",
        )

    def writer(self, schema: st.StructType, overwrite: bool) -> ds.DataSourceWriter:
        """A writer that embeds an index into every file."""
        return IndexWriter(
            self._path(),
            schema,
            column=self.options.get("column"),
            overwrite=overwrite,
            compression=self.options.get("compression", "snappy"),
        )

    def _path(self) -> str:
        path = self.options.get("path")
        if not path:
            raise Refused("give a path: .load(path) or .save(path)")
        # Absolute here, on the driver: the executors work in folders of their own.
        return str(path) if is_remote(path) else os.path.abspath(local_path(path))  # noqa: PTH100 - links stay


def _trust(text: str) -> Trust:
    match text:
        case "companion" | "published":
            return text
        case _:
            raise Refused(f"the option trust is {text!r}; it takes companion or published")


def _opened(lake: Lake, name: str) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(lake.open(name))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Undecodable(f"{lake.root}/{name} cannot be read: {' '.join(str(error).split())}") from error


def _with_partitions(found: st.StructType, files: Sequence[LakeFile]) -> st.StructType:
    """The schema of the rows of files in the folders of partitions: what the folders say goes before what is stored."""
    fields = {field.name.lower(): field for field in found.fields}
    for name in files[0].partition:
        kind = kind_of_values(file.partition[name] for file in files)
        if kind is None:
            raise Refused(
                f"the values of partition column {name} look like numbers or times, of which Spark has its own reading; "
                "say what they are with .schema(...)"
            )
        same = fields.get(name.lower())
        fields[name.lower()] = st.StructField(same.name if same else name, PARTITION_KINDS[kind])
    return st.StructType(list(fields.values()))


PARTITION_KINDS: dict[str, st.DataType] = {
    "int": st.IntegerType(),
    "bigint": st.LongType(),
    "date": st.DateType(),
    "string": st.StringType(),
    "void": st.NullType(),
}


@dataclass
class FileGroup(ds.InputPartition):
    """The files that one task reads."""

    files: tuple[LakeFile, ...]


class PrunedReader(ds.DataSourceReader):
    """Reads the files that the filters of a query leave over."""

    def __init__(
        self, lake: Lake, schema: st.StructType, believed: Believed, *, case_sensitive: bool
    ) -> None:
        self._lake, self._schema, self._believed = lake, schema, believed
        self._case_sensitive = case_sensitive
        self._filters: list[ds.Filter] = []

    def pushFilters(self, filters: list[ds.Filter]) -> Iterable[ds.Filter]:  # noqa: N802 - Spark's name
        """Take note of the filters. All are handed back: Spark applies them to the rows that are read."""
        self._filters = list(filters)
        return self._filters

    def partitions(self) -> Sequence[ds.InputPartition]:
        """The files that are left, in groups for tasks."""
        files = self._lake.files()
        skipped = self.ruled_out(files)
        kept = [file for file in files if file.name not in skipped]
        return [FileGroup(tuple(group)) for group in packed(kept, os.cpu_count() or 1)]

    def ruled_out(self, files: Sequence[LakeFile]) -> dict[str, str]:
        """The files that hold no row that the filters would let pass, and why."""
        partitions = {name.lower() for file in files for name in file.partition}
        columns = {
            field.name: field.name
            for field in self._schema.fields
            if SchemaColumn((field.name,), field.dataType, dict(field.metadata or {})).compares_bytes
            and field.name.lower() not in partitions
        }
        asked = [filter_condition(given, columns) for given in self._filters]
        conditions = [condition for condition in asked if condition is not None]
        if not conditions:
            return {}
        indexes = LakeIndexes.load(self._lake.root, columns, self._believed)
        return indexes.ruled_out(reduce(lambda left, right: left & right, conditions))

    def read(self, partition: ds.InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of the files of a group."""
        if not isinstance(partition, FileGroup):
            return  # Spark's stand-in where there are no groups
        schema = arrow_schema(self._schema)
        for file in partition.files:
            name = f"{self._lake.root}/{file.name}"
            constants = _constants(file.partition, self._schema, name)
            with self._lake.open(file.name) as handle:
                yield from read_rows(handle, name, schema, constants, case_sensitive=self._case_sensitive)


def packed(files: Iterable[LakeFile], tasks: int) -> list[list[LakeFile]]:
    """Files in groups of about the same size, at least as many as there are tasks at a time; as Spark packs them."""
    ordered = sorted(files, key=lambda file: -file.size)
    total = sum(file.size + OPEN_COST for file in ordered)
    most = min(MOST_BYTES, max(OPEN_COST, total // tasks))
    groups: list[list[LakeFile]] = []
    size = most
    for file in ordered:
        if size + file.size > most:
            groups.append([])
            size = 0
        groups[-1].append(file)
        size += file.size + OPEN_COST
    return groups


def _constants(partition: Mapping[str, str | None], schema: st.StructType, file: str) -> dict[str, Any]:
    kinds = {field.name.lower(): field for field in schema.fields}
    found: dict[str, Any] = {}
    for name, text in partition.items():
        field = kinds.get(name.lower())
        if field is not None:
            found[field.name] = _constant(text, field, file)
    return found


def _constant(text: str | None, field: st.StructField, file: str) -> Any:
    kind = arrow_schema(st.StructType([field])).field(0).type
    if text is None:
        return pa.scalar(None, kind)
    readers: dict[type[st.DataType], Any] = {
        st.StringType: str,
        st.DateType: date.fromisoformat,
        st.DecimalType: Decimal,
        **dict.fromkeys((st.DoubleType, st.FloatType), float),
        **dict.fromkeys((st.ByteType, st.ShortType, st.IntegerType, st.LongType), int),
    }
    reader = readers.get(type(field.dataType))
    if reader is None:
        raise Refused(
            f"partition column {field.name} is read as text, a number or a date, not as {field.dataType.simpleString()}"
        )
    try:
        return pa.scalar(reader(text), kind)
    except (ValueError, InvalidOperation, pa.ArrowException):
        raise Refused(
            f"{file}: {text!r} of partition column {field.name} is no {field.dataType.simpleString()}"
        ) from None


COMPARISONS: dict[type[ds.Filter], str] = {
    ds.EqualTo: "=",
    ds.GreaterThan: ">",
    ds.GreaterThanOrEqual: ">=",
    ds.LessThan: "<",
    ds.LessThanOrEqual: "<=",
}

MATCHES: dict[type[ds.Filter], Any] = {
    ds.StringStartsWith: pc.starts_with,
    ds.StringEndsWith: pc.ends_with,
    ds.StringContains: pc.match_substring,
}


def filter_condition(given: ds.Filter, columns: Mapping[str, str]) -> pc.Expression | None:
    """The question to the indexes of some columns of text for one of Spark's filters; ``None`` where there is none."""
    negated = isinstance(given, ds.Not)
    inner: Any = given.child if isinstance(given, ds.Not) else given
    if isinstance(inner, ds.Not) or len(getattr(inner, "attribute", ())) != 1:
        return None
    name = inner.attribute[0]
    if type(inner) in MATCHES:
        if name not in columns or not isinstance(inner.value, str):
            return None
        found: pc.Expression = MATCHES[type(inner)](pc.field(columns[name]), inner.value)
        return ~found if negated else found
    tree = _tree(inner, name)
    if tree is None:
        return None
    return arrow_condition(["not", tree] if negated else tree, columns)


def _tree(pushed: Any, name: str) -> list[Any] | None:
    match pushed:
        case ds.IsNull():
            return ["is null", name]
        case ds.IsNotNull():
            return ["is not null", name]
        case ds.In():
            return ["in", name, list(pushed.value)]
        case ds.EqualNullSafe(value=None):
            return ["is null", name]
        case ds.EqualNullSafe():  # never unknown: so its negation holds for null
            return ["and", ["is not null", name], ["=", name, pushed.value]]
        case _ if type(pushed) in COMPARISONS:
            return [COMPARISONS[type(pushed)], name, pushed.value]
        case _:
            return None
