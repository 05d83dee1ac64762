"""The driver of Apache Spark: statistics, dictionaries, page index and bloom filters, read in batches or row by row.

    pqassay suite run --timeout 120 -- python3 driver.py
    pqassay suite run --timeout 120 -- python3 driver.py --rows

Starting Java takes seconds: run it with ``--serve``, as `pqassay suite run` does.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).parents[1] / "skeletons" / "python"))

from pqassay_driver import (
    ALL_FAMILIES,
    Driver,
    Expressions,
    Predicate,
    Query,
    Unsupported,
    Written,
    expression,
    lacks,
    main,
    native,
    options_for,
    replacing,
    tag_of,
    written_integer,
)

ROW_BY_ROW = "--rows"
"""The option that turns off Spark's reader of batches. Spark itself does so for types that this reader lacks."""

UNHURRIED = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""What makes large queries fast is off: for a few rows it costs more than it saves, and no reader of files asks for it."""

SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # no query is worth more compiling
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.caseSensitive": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # the type that requests name; INT96 by default
    **UNHURRIED,
}

SKIPPING = ("stats", "dictionary", "columnindex", "bloom")
"""What Spark's Parquet library can skip by: ``parquet.filter.<name>.enabled``."""

UNSIGNED_64 = "decimal(20,0)"
"""What Spark makes of unsigned numbers of 64 bits."""

TYPES = {
    "boolean": "BOOLEAN",
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INT",
    "int64": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "STRING",
    "binary": "BINARY",
    "date": "DATE",
    "timestamp_micros": "TIMESTAMP",
}
"""Types of columns in requests as Spark's."""


class Spark(Driver):
    """Apache Spark."""

    distribution = "pyspark"
    language = "Scala, driven from Python"
    nan = "greatest"
    index_off = True
    capabilities: ClassVar = (
        *("parquet", "read", *(f"{family}.scan" for family in ALL_FAMILIES)),
        *("pqf.encode", "sta.encode", "pix.encode", "blm.encode", "idx1.encode", "nested", "nested.map"),
        *("type.unsigned", "type.decimal", "type.date", "type.timestamp", "type.int96", "type.fixed"),
        *("type.enum", "type.json", "type.bson", "type.geometry", "type.variant", "type.unknown"),
        *("codec.snappy", "codec.gzip", "codec.zstd", "codec.lz4", "codec.lz4-raw"),
    )

    def __init__(self, *, row_by_row: bool = False) -> None:
        self.row_by_row = row_by_row
        self._known: tuple[Any, Any] = (None, None)

    @property
    def name(self) -> str:  # type: ignore[override] # of two readers
        """Which of the two readers it is."""
        return "Apache Spark, row by row" if self.row_by_row else "Apache Spark"

    @functools.cached_property
    def session(self) -> Any:
        """Spark, started when it is first needed."""
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[1]").appName("driver of Spark")
        batches = str(not self.row_by_row).lower()
        for key, value in (SETTINGS | {"spark.sql.parquet.enableVectorizedReader": batches}).items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        return session

    # ------------------------------------------------------------------------------------------------- reading

    def read(self, path: str, columns: list[str]) -> list[list[Written]]:
        """All rows."""
        return self._rows(self._opened(path, skipping=True), path, columns)

    def scan(self, path: str, query: Query) -> list[list[Written]]:
        """The rows that satisfy a predicate."""
        return self._rows(self.found(path, query), path, query.columns)

    def found(self, path: str, query: Query) -> Any:
        """A data frame with the rows that satisfy a predicate, and all columns."""
        frame = self._opened(path, skipping=query.index)
        types = {field.name: field.dataType for field in frame.schema}
        return frame.filter(self.condition(query.predicate, types))

    def _opened(self, path: str, *, skipping: bool) -> Any:
        self.session.conf.set("spark.sql.parquet.filterPushdown", str(skipping).lower())
        options = {f"parquet.filter.{part}.enabled": str(skipping).lower() for part in SKIPPING}
        reader = self.session.read.options(**options)
        status = os.stat(path)  # noqa: PTH116 - the path is text everywhere else
        file = path, status.st_mtime_ns, status.st_size
        if file == self._known[0]:  # to find out the schema again costs as much as a query
            return reader.schema(self._known[1]).parquet(_url(path))
        frame = reader.parquet(_url(path))
        self._known = file, frame.schema
        return frame

    def _rows(self, frame: Any, path: str, columns: list[str]) -> list[list[Written]]:
        from arrow_tables import values_of

        kinds = {field.name: field.dataType for field in frame.schema}
        table = frame.select(*(_shown(name, kinds[name]) for name in columns)).toArrow()
        found = [values_of(column) for column in table.columns]
        if any(kinds[name].simpleString() == UNSIGNED_64 for name in columns):
            unsigned = self._unsigned(path)
            found = [
                _integers(values) if name in unsigned else values
                for name, values in zip(columns, found, strict=True)
            ]
        return [list(row) for row in zip(*found, strict=True)]

    def _unsigned(self, path: str) -> set[str]:
        """The columns of unsigned numbers of 64 bits, as the footer says, for Spark's type is that of decimals."""
        java = self._java
        name = java.org.apache.hadoop.fs.Path(_url(path))
        configuration = self.session.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001 - see `_java`
        source = java.org.apache.parquet.hadoop.util.HadoopInputFile.fromPath(name, configuration)
        reader = java.org.apache.parquet.hadoop.ParquetFileReader.open(source)
        fields = reader.getFileMetaData().getSchema().getFields()
        reader.close()
        return {
            field.getName()
            for field in fields
            if str(field.getLogicalTypeAnnotation()) == "INTEGER(64,false)"
        }

    @property
    def _java(self) -> Any:
        return self.session.sparkContext._jvm  # noqa: SLF001 - there is no public way to Spark's Parquet library

    def condition(self, predicate: Predicate, types: Mapping[str, Any]) -> Any:
        """A predicate as an expression of Spark, on columns of these types.

        Raises:
            Unsupported: A comparison with a nested column, or with what Spark has no literal for.
        """
        from pyspark.sql import functions as f

        def column(name: str) -> Any:
            return f.col(quoted(name))

        def literal(name: str, written: Written) -> Any:
            return _literal(written, types[name])

        made = Expressions(
            column=column,
            literal=literal,
            is_null=lambda of: of.isNull(),
            is_not_null=lambda of: of.isNotNull(),
            among=lambda name, values: column(name).isin(*(literal(name, value) for value in values)),
            nothing=lambda: f.lit(False),
        )
        return expression(predicate, made)

    # ------------------------------------------------------------------------------------------------- errors

    def is_crash(self, error: Exception) -> bool:
        """An error of Java (memory, stack, a missing class), or the end of its process.

        Without memory, Java ends soon after Spark has reported an error that names it in its text.
        """
        if "OutOfMemoryError" in str(error):
            return True
        cause = _cause(error)
        if cause is None:
            return not self._lives() or super().is_crash(error)
        return bool(self._java.java.lang.Class.forName("java.lang.Error").isInstance(cause))

    def class_name(self, error: Exception) -> str:
        """What was first thrown: Spark wraps everything that goes wrong in a task."""
        cause = _cause(error)
        return super().class_name(error) if cause is None else str(cause.getClass().getName())

    def message(self, error: Exception) -> str:
        """What the first exception says, or where it was thrown if it says nothing."""
        cause = _cause(error)
        if cause is None:
            return super().message(error)
        return str(cause.getMessage() or cause.getStackTrace()[0].toString())

    def _lives(self) -> bool:
        try:
            return not self.session.sparkContext._jsc.sc().isStopped()  # noqa: SLF001 - see `_java`
        except Exception:  # noqa: BLE001 - then it does not
            return False

    # ------------------------------------------------------------------------------------------------- writing

    def encode(self, request: Mapping[str, Any]) -> None:
        """A file that Spark writes; of IDX1, with an index behind its rows that Spark does not know of."""
        from arrow_tables import table_of

        rows, output = request["rows"], request["output"]
        index = _index(rows, request["column"]) if request["family"] == "IDX1" else None
        options = _options(request)
        schema = ", ".join(
            f"{quoted(column['name'])} {_type(column['type'])}{'' if column['nullable'] else ' NOT NULL'}"
            for column in rows["columns"]
        )
        values = [tuple(row.values()) for row in table_of(rows).to_pylist()]
        folder = f"{output}.spark"
        try:
            frame = self.session.createDataFrame(values, schema).coalesce(1)
            frame.write.options(**options).parquet(f"file://{folder}")
            (part,) = Path(folder).glob("part-*")
            data = part.read_bytes()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        with replacing(output) as temporary:
            Path(temporary).write_bytes(data if index is None else self._with_index(data, index))

    def _with_index(self, data: bytes, payload: bytes) -> bytes:
        """The file with an index where its footer began, and with the key in a footer that Spark's Parquet library writes."""
        java, length = self._java, int.from_bytes(data[-8:-4], "little")
        start = len(data) - 8 - length
        thrift = java.org.apache.parquet.format
        footer = thrift.Util.readFileMetaData(java.java.io.ByteArrayInputStream(data[start:-8]))
        pair = thrift.KeyValue("distinct_index_offset")
        pair.setValue(str(start))
        footer.addToKey_value_metadata(pair)
        sink = java.java.io.ByteArrayOutputStream()
        thrift.Util.writeFileMetaData(footer, sink)
        written = bytes(sink.toByteArray())
        blob = b"IDX1" + len(payload).to_bytes(8, "little") + payload
        return data[:start] + blob + written + len(written).to_bytes(4, "little") + data[-4:]


def _url(path: str) -> str:
    """A path as Spark takes it, for which some characters mean patterns."""
    return "file://" + re.sub(r"([\\{}\[\]*?])", r"\\\1", path)


def quoted(name: str) -> str:
    """A column's name, dots and all, as Spark takes it."""
    return f"`{name.replace('`', '``')}`"


def _shown(name: str, kind: Any) -> Any:
    """A column as Arrow can have it: of geometries, their WKB."""
    from pyspark.sql import functions as f

    column = f.col(quoted(name))
    return f.st_asbinary(column).alias(name) if kind.typeName().startswith("geo") else column


def _integers(values: list[Written]) -> list[Written]:
    """Whole numbers that were given as decimals."""
    return [None if value is None else written_integer(int(value["decimal"])) for value in values]


def _cause(error: Exception) -> Any:
    """The exception of Java that was thrown first; ``None`` if none was."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped] # it has no types

    # Exceptions of PySpark keep that of Java; others are those of the library that talks to it.
    thrown: Any = (
        error.java_exception if isinstance(error, Py4JJavaError) else getattr(error, "_origin", None)
    )
    while thrown is not None and (cause := thrown.getCause()) is not None:
        thrown = cause
    return thrown


def _literal(written: Written, kind: Any) -> Any:
    """A value as Spark's literal, of the type of the column that it is compared with where that keeps it."""
    from pyspark.sql import functions as f

    name = kind.simpleString()
    if name.startswith(("array", "map", "struct", "variant", "geo")):
        raise Unsupported(f"a comparison with a column of type {name}")
    value = native(written)
    tag = tag_of(written)
    if tag == "date":
        return f.expr(f"date_from_unix_date({value})")
    if tag == "timestamp":
        if value % 1000:
            raise Unsupported("a literal with nanoseconds")
        return f.expr(f"timestamp_micros({value // 1000})").cast(name)
    if tag == "time":
        raise Unsupported("a literal of a time of day")
    if tag == "bytes":
        return f.lit(bytearray(value))
    if tag == "float" and name == "float":
        return f.lit(value).cast(name)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return f.lit(str(value)).cast("decimal(38,0)")
    return f.lit(value)


# ------------------------------------------------------------------------------------------------------ writing


def _type(name: str) -> str:
    """A type of a request as Spark's.

    Raises:
        Unsupported: Spark does not write it.
    """
    if name in TYPES:
        return TYPES[name]
    if name.startswith("decimal("):
        return name
    if name.startswith("list<"):
        return f"ARRAY<{_type(name[5:-1])}>"
    raise Unsupported(f"type {name}")


def _options(request: Mapping[str, Any]) -> dict[str, str]:
    """Options of Spark's writer that fulfil the wishes of a request."""
    options: Mapping[str, Callable[[Any], dict[str, Any]]] = {
        # The limit is looked at where the size of a page is, which is after 100 rows by default.
        "page_rows": lambda count: {
            "parquet.page.row.count.limit": count,
            "parquet.page.size.row.check.min": count,
            "parquet.page.size.row.check.max": count,
        },
        "row_group_rows": lambda count: {"parquet.block.row.count.limit": count},
        "dictionary": lambda used: {"parquet.enable.dictionary": used},
        "bloom_filter": lambda names: {f"parquet.bloom.filter.enabled#{name}": True for name in names},
        "page_index": lambda used: {} if used else lacks("page_index"),
        "statistics": lambda used: {"parquet.column.statistics.enabled": used},
        "data_page_version": lambda version: {"parquet.writer.version": f"v{version}"},
        "codec": lambda codec: lacks("codec") if codec == "brotli" else {"compression": codec},
    }
    return {key: str(value).lower() for key, value in options_for(request, options).items()}


def _index(rows: Mapping[str, Any], column: str) -> bytes:
    """The distinct values of a column, one a line.

    They come in an order in which no reader loses one: the empty one first, one with a carriage return last.

    Raises:
        ValueError: They cannot be written so.
    """
    names = [each["name"] for each in rows["columns"]]
    if column not in names or rows["columns"][names.index(column)]["type"] != "string":
        raise ValueError("there is no such column of text")
    found = {row[names.index(column)] for row in rows["rows"]} - {None}
    values = sorted(found, key=lambda value: (value.endswith("\r"), value))
    if any("\n" in value for value in values):
        raise ValueError("a value holds a line feed")
    if values == [""]:
        raise ValueError("the index of one empty value is that of no value")
    if any(value.endswith("\r") for value in values[:-1]) or values[-1:] == [""]:
        raise ValueError("more than one value ends in a carriage return")
    return "\n".join(values).encode()


if __name__ == "__main__":
    by_row = ROW_BY_ROW in sys.argv
    sys.argv = [argument for argument in sys.argv if argument != ROW_BY_ROW]
    main(Spark(row_by_row=by_row))
