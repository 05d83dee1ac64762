"""The data source ``pqassay`` of Python: reads files and row groups that indexes leave over, and a writer that embeds.

    from pqassay_spark.query.datasource import register
    register(spark)
    sales = spark.read.format("pqassay").option("prune", "once").load("sales")
    sales.where("nation = 'Peru'")
    frame.write.format("pqassay").option("column", "nation").mode("append").save("sales")

`pqassay_spark.read` reads through it where ``row_groups=True`` is given, and leaves out what is not needed for its condition.  By itself the source
reads everything, unless the option ``prune`` says ``once``: then it leaves out what is not needed for the filters that Spark passes on, so that
nobody has to say them twice.  Spark applies all of them again to the rows.

Why that is no default: Spark (4.0 to 4.3) plans the reading of a source in Python once for a DataFrame and all that are made from it.  What was left
out for the filters of one query is missing in the next one, and in another part of the same query.  So ``once`` is for a DataFrame that is
loaded for a single query, and named in it once.

What Spark does not pass on are ``OR``, functions and the columns that a query needs: every column of what is left is read and handed over.

What this module does runs in processes of their own beside the driver and the executors: they need this package, too.
"""

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
from pqassay_reference.rewrite.extract import Trust
from pqassay_spark.jobs.uris import is_remote, local_path
from pqassay_spark.query.arrow_writer import IndexWriter
from pqassay_spark.query.file_parts import PARTS, FilePart, packed, parts_left, parts_of
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


def register(spark: SparkSession) -> None:
    """Make the source known to a session, and let Spark pass filters on to it (`PUSH_DOWN`)."""
    spark.dataSource.register(PqassayDataSource)
    spark.conf.set(PUSH_DOWN, "true")


class PqassayDataSource(ds.DataSource):
    """Parquet files with indexes.

    Options, besides the path:

    ``table``          a folder with an index table, or ``auto`` for the one beside the path
    ``trust``          ``companion`` (default) or ``published``, see `pqassay_reader.lake.indexed_dataset.open_indexed`
    ``column``         reading: what indexes without companion record describe; writing: the column to index
    ``caseSensitive``  ``true`` tells columns apart by case, as the setting ``spark.sql.caseSensitive``
    ``prune``          reading: ``never`` (default) reads everything; ``once`` leaves out what no filter of the one query needs for which the
                       DataFrame is loaded
    ``report``         reading, with ``prune``: a file to which each query adds a line of JSON, which says what was left out and why; see
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
        lake = Lake(self._path())
        case_sensitive = str(self.options.get("caseSensitive", "false")).lower() == "true"
        given = self.options.get(PARTS)
        if given is not None or not _prune(str(self.options.get("prune", "never"))):
            parts = None if given is None else parts_of(given)
            return PartsReader(lake, schema, case_sensitive=case_sensitive, parts=parts)
        believed = Believed(
            self.options.get("table"),
            _trust(str(self.options.get("trust", "companion"))),
            self.options.get("column"),
        )
        report = self._report()
        return PrunedReader(lake, schema, believed, case_sensitive=case_sensitive, report=report)

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


def _prune(text: str) -> bool:
    if text not in ("never", "once"):
        raise Refused(f"the option prune is {text!r}; it takes never or once")
    return text == "once"


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
    """What one task reads."""

    parts: tuple[FilePart, ...]


class PartsReader(ds.DataSourceReader):
    """Reads parts of files that were decided on, or everything.

    It takes no filters, which Spark does not hand to a source unless it is told to.
    """

    def __init__(
        self,
        lake: Lake,
        schema: st.StructType,
        *,
        case_sensitive: bool,
        parts: Sequence[FilePart] | None = None,
    ) -> None:
        self._lake, self._schema = lake, schema
        self._case_sensitive, self._parts = case_sensitive, parts

    def partitions(self) -> Sequence[ds.InputPartition]:
        """What is read, in groups for tasks."""
        return [FileGroup(tuple(group)) for group in packed(self._chosen(), os.cpu_count() or 1)]

    def _chosen(self) -> Sequence[FilePart]:
        return parts_left(self._lake.files(), NOTHING) if self._parts is None else self._parts

    def read(self, partition: ds.InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a group."""
        if not isinstance(partition, FileGroup):
            return  # Spark's stand-in where there are no groups
        schema = arrow_schema(self._schema)
        for part in partition.parts:
            file = part.file
            name = f"{self._lake.root}/{file.name}"
            constants = constants_of(file.partition, self._schema, name)
            with self._lake.open(file.name) as handle:
                # Of another file than the one whose indexes were asked, everything is read.
                left = part.left if handle.size() == file.size else None
                yield from read_rows(
                    handle, name, schema, constants, case_sensitive=self._case_sensitive, left=left
                )


class PrunedReader(PartsReader):
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
        super().__init__(lake, schema, case_sensitive=case_sensitive)
        self._believed, self._report = believed, report
        self._filters: list[ds.Filter] = []

    def pushFilters(self, filters: list[ds.Filter]) -> Iterable[ds.Filter]:  # noqa: N802 - Spark's name
        """Take note of the filters. All are handed back: Spark applies them to the rows that are read."""
        self._filters = list(filters)
        return self._filters

    def _chosen(self) -> Sequence[FilePart]:
        """What is left; and the report, if one is wanted."""
        files = self._lake.files()
        left, aside = self.left_out(files)
        if self._report is not None:
            write_report(self._report, self._lake.root, self._filters, len(files), left, aside)
        return parts_left(files, left)

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


def constants_of(partition: Mapping[str, str | None], schema: st.StructType, file: str) -> dict[str, Any]:
    """The values of partition columns in the rows of a file, as scalars of Arrow.

    Raises:
        Refused: A value is none of its column's type, or the type is none that this source makes of a text.
    """
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
