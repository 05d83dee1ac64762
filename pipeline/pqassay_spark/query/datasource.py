"""The data source ``pqassay`` of Python: plain SQL over files and row groups that are skipped by their indexes, and a writer that embeds.

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
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import datasource as ds
from pyspark.sql import types as st

from pqassay_reference.errors import Refused, Undecodable
from pqassay_reference.lake.indexed_dataset import RowGroups
from pqassay_reference.rewrite.extract import Trust
from pqassay_spark.jobs.uris import is_remote, local_path
from pqassay_spark.query.arrow_writer import IndexWriter
from pqassay_spark.query.lake_indexes import NOTHING, Believed, LakeIndexes, LeftOut
from pqassay_spark.query.lake_listing import Lake, LakeFile
from pqassay_spark.query.parquet_rows import arrow_schema, read_rows, require_supported, spark_schema
from pqassay_spark.query.partition_names import kind_of_values
from pqassay_spark.query.predicates import SchemaColumn
from pqassay_spark.query.pushed_filters import columns_of, filter_condition
from pqassay_spark.query.questions import AskedColumn
from pqassay_spark.query.scan_report import write_report

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
    ``report``         reading: a file to which each query adds a line of JSON, which says what was left out and why; see
                       `pqassay_spark.query.scan_report`
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
            report=self._report(),
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

    def _report(self) -> str | None:
        path = self.options.get("report")
        # Absolute here, where the driver works.
        return os.path.abspath(local_path(path)) if path else None  # noqa: PTH100 - links stay

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


@dataclass(frozen=True)
class FilePart:
    """What is read of a file.

    Attributes:
        file: The file.
        left: The row groups of it that are read; ``None`` for all.
    """

    file: LakeFile
    left: RowGroups | None = None

    @property
    def size(self) -> int:
        """Its bytes, about."""
        return (
            self.file.size if self.left is None else self.file.size * len(self.left.kept) // self.left.count
        )


@dataclass
class FileGroup(ds.InputPartition):
    """What one task reads."""

    parts: tuple[FilePart, ...]


class PrunedReader(ds.DataSourceReader):
    """Reads the files, and of these the row groups, that the filters of a query leave over."""

    def __init__(
        self,
        lake: Lake,
        schema: st.StructType,
        believed: Believed,
        *,
        case_sensitive: bool,
        report: str | None = None,
    ) -> None:
        self._lake, self._schema, self._believed = lake, schema, believed
        self._case_sensitive, self._report = case_sensitive, report
        self._filters: list[ds.Filter] = []

    def pushFilters(self, filters: list[ds.Filter]) -> Iterable[ds.Filter]:  # noqa: N802 - Spark's name
        """Take note of the filters. All are handed back: Spark applies them to the rows that are read."""
        self._filters = list(filters)
        return self._filters

    def partitions(self) -> Sequence[ds.InputPartition]:
        """What is left, in groups for tasks; and the report, if one is wanted."""
        files = self._lake.files()
        left, aside = self.left_out(files)
        if self._report is not None:
            write_report(self._report, self._lake.root, self._filters, len(files), left, aside)
        kept = [
            FilePart(file, left.row_groups.get(file.name)) for file in files if file.name not in left.files
        ]
        return [FileGroup(tuple(group)) for group in packed(kept, os.cpu_count() or 1)]

    def left_out(self, files: Sequence[LakeFile]) -> tuple[LeftOut, tuple[str, ...]]:
        """What holds no row that the filters would let pass, and why; and the indexes that are left aside."""
        partitions = {name.lower() for file in files for name in file.partition}
        found = [
            AskedColumn.of(SchemaColumn((field.name,), field.dataType, dict(field.metadata or {})))
            for field in self._schema.fields
            if field.name.lower() not in partitions
        ]
        columns = {column.name: column for column in found if column is not None}
        asked = [filter_condition(given, columns) for given in self._filters]
        conditions = [condition for condition in asked if condition is not None]
        if not conditions:
            return NOTHING, ()
        named = {given for one in self._filters for given in columns_of(one)}
        kinds = {name: column.arrow_type for name, column in columns.items() if name in named}
        indexes = LakeIndexes.load(self._lake.root, kinds, self._believed)
        return indexes.left_out(reduce(lambda left, right: left & right, conditions)), indexes.aside

    def read(self, partition: ds.InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a group."""
        if not isinstance(partition, FileGroup):
            return  # Spark's stand-in where there are no groups
        schema = arrow_schema(self._schema)
        for part in partition.parts:
            file = part.file
            name = f"{self._lake.root}/{file.name}"
            constants = _constants(file.partition, self._schema, name)
            with self._lake.open(file.name) as handle:
                # Of another file than the one whose indexes were asked, everything is read.
                left = part.left if handle.size() == file.size else None
                yield from read_rows(
                    handle, name, schema, constants, case_sensitive=self._case_sensitive, left=left
                )


def packed(parts: Iterable[FilePart], tasks: int) -> list[list[FilePart]]:
    """Parts of files in groups of about the same size, at least as many as there are tasks at a time; as Spark packs files."""
    ordered = sorted(parts, key=lambda part: -part.size)
    total = sum(part.size + OPEN_COST for part in ordered)
    most = min(MOST_BYTES, max(OPEN_COST, total // tasks))
    groups: list[list[FilePart]] = []
    size = most
    for part in ordered:
        if size + part.size > most:
            groups.append([])
            size = 0
        groups[-1].append(part)
        size += part.size + OPEN_COST
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
