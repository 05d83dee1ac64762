"""Common parts of programs that read tables: SQL statements, conditions for Daft, and Spark with its packages."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pqassay.literals.predicate import NULL_TESTS
from pqassay.proof.engines import (
    OPERATORS,
    SPARK_SETTINGS,
    Engine,
    SqlLiteral,
    Unwritable,
    all_of,
    condition,
    imports,
    names_of,
    python_value,
    spark_literal,
    string,
)
from pqassay.proof.queries import COUNT, Query, QueryColumn, QueryKind
from pqassay_spec.table.layout import TableKind


def select(query: Query, literal: SqlLiteral, table: str = "t", mark: str = '"') -> str:
    """A query in SQL. Raises `Unwritable`."""
    where = f" WHERE {condition(query, literal, mark)}" if query.where else ""
    return f"SELECT {', '.join(names_of(query, mark)) or COUNT} FROM {table}{where}"  # noqa: S608 - names and values are quoted


# ------------------------------------------------------------------------------------------------------- chDB


def chdb_literal(column: QueryColumn, value: Any) -> str:
    """A literal in the syntax of ClickHouse. Raises `Unwritable`."""
    type_: Any = column.type
    match column.kind:
        case QueryKind.BOOLEAN:
            return str(value).lower()
        case QueryKind.SINGLE:
            return f"toFloat32({value!r})"
        case QueryKind.DECIMAL:
            return f"toDecimal128('{value:f}', {type_.scale})"
        case QueryKind.DATE:
            return f"toDate32('{value.isoformat()}')"
        case QueryKind.TEXT:
            if "\0" in value:
                raise Unwritable("a text with a zero character has no SQL literal")
            escaped = value.replace("\\", "\\\\").replace("'", "''")
            return f"'{escaped}'"
        case QueryKind.BYTES:
            return f"unhex('{value.hex()}')"
        case QueryKind.TIMESTAMP:
            if type_.unit == "ns":
                raise Unwritable("the engines read nanoseconds in different ways")
            text = value.replace(tzinfo=None).isoformat(sep=" ")
            return f"toDateTime64('{text}', 6, 'UTC')"
        case _:
            return repr(value)


def chdb_program(function: str, path: str, query: Query) -> str:
    """A program of chDB, which runs in the root folder, since chDB opens only tables below its folder."""
    table = f"{function}('%s')"
    sql = select(query, chdb_literal, table, "`")
    if "%" in sql.replace(table, ""):
        sql = sql.replace("%", "%%").replace("%%s", "%s")
    return (
        f"import os, chdb; path = os.path.abspath({string(path)}); os.chdir({string('/')}); "
        f"result = chdb.query({string(sql)} % path, {string('ArrowTable')})"
    )


# ------------------------------------------------------------------------------------------------------- Daft


def daft_filter(query: Query) -> str:
    """The condition of a query as a Daft call; empty without a condition. Raises `Unwritable`."""
    parts: list[str] = []
    for part in query.where:
        column = f"daft.col({string(part.column.name)})"
        if part.operator in NULL_TESTS:
            parts.append(f"{column}.{'is' if NULL_TESTS[part.operator] else 'not'}_null()")
            continue
        value = python_value(part.column, part.value)
        if part.column.kind is QueryKind.SINGLE:
            value = f"daft.lit({value}).cast(daft.DataType.float32())"
        parts.append(f"{column} {OPERATORS[part.operator]} {value}")
    return f".where({all_of(parts)})" if parts else ""


def daft_program(opened: str, frame: str, query: Query) -> str:
    """A program of Daft.

    Args:
        opened: Statements that precede it.
        frame: An expression for the data frame.
        query: The query.
    """
    begin = f"{imports(query)}import daft; {opened}"
    if query.is_count:
        counted = f"{frame}{daft_filter(query)}.count_rows()"
        return f"import pyarrow as pa; {begin}result = pa.table([[{counted}]], [{string('n')}])"
    names = ", ".join(string(column.name) for column in query.columns)
    return f"{begin}result = {frame}{daft_filter(query)}.select({names}).to_arrow()"


# ------------------------------------------------------------------------------------------------------ Spark

SPARK = "4.1"
"""The release of Spark for which both formats have packages."""

PACKAGES: Mapping[TableKind, str] = {
    "delta": "io.delta:delta-spark_4.1_2.13:4.4.0",
    "iceberg": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
}
"""The packages on Maven Central that Spark of that release needs for tables of a format."""

ARTIFACTS: Mapping[TableKind, str] = {"delta": "delta-spark", "iceberg": "iceberg-spark-runtime"}
"""The artifact names that identify packages for Spark."""

SUBMIT_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"
"""The environment variable for packages of Spark."""

DELTA_SETTINGS: Mapping[str, str] = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "1",
}
"""Settings of a session that reads Delta tables; the last one avoids fifty tasks for each log."""


@dataclass(frozen=True, kw_only=True)
class SparkEngine(Engine):
    """Spark with the package for tables of a format.

    Attributes:
        kind: The format.
        packages: The packages that Spark downloads, as in ``--packages``; empty if they are already configured.
    """

    kind: TableKind
    packages: str = ""

    @property
    def process(self) -> str:
        """A separate process for each format, since packages are given to Spark when it starts."""
        return f"{self.name}-{self.kind}"

    @property
    def version(self) -> str | None:
        """The versions of Spark and, if known, of the package; ``None`` without Spark."""
        spark = super().version
        package = next((one for one in self.packages.split(",") if ARTIFACTS[self.kind] in one), "")
        told = f" with {self.kind.capitalize()} {package.rpartition(':')[2]}" if package else ""
        return None if spark is None else spark + told

    @property
    def how_to_install(self) -> str | None:
        """The command that installs its missing parts; ``None`` if nothing is missing."""
        lacking = super().how_to_install
        artifact = ARTIFACTS[self.kind]
        if artifact in self.packages or artifact in os.environ.get(SUBMIT_ARGUMENTS, ""):
            return lacking
        version = super().version
        fits = version is not None and version.startswith(f"{SPARK}.")
        pip = "" if fits else f"python -m pip install 'pyspark=={SPARK}.*', then "
        why = "" if version is None or fits else f" (none for Spark {version} is known)"
        return f"{pip}--spark-packages {PACKAGES[self.kind]}{why}"


def spark_engine(kind: TableKind, packages: str, opened: Callable[[str], str] = str) -> SparkEngine:
    """Spark for tables of a format.

    Args:
        kind: The format.
        packages: The packages for Spark, as in its option ``--packages``.
        opened: Converts the folder of a table to the path that Spark opens.
    """

    def program(path: str, query: Query) -> str:
        given: dict[str, str] = dict(SPARK_SETTINGS)
        if ARTIFACTS[kind] in packages:
            given["spark.jars.packages"] = packages
        if kind == "delta":
            given |= DELTA_SETTINGS
        settings = "".join(f".config({string(key)}, {string(value)})" for key, value in given.items())
        columns = ", ".join(map(string, names_of(query, "`") or [COUNT]))
        where = f".where({string(condition(query, spark_literal, '`'))})" if query.where else ""
        return (
            "from pyspark.sql import SparkSession; "
            f"spark = SparkSession.builder.master({string('local[1]')}){settings}.getOrCreate(); "
            f"rows = spark.read.format({string(kind)}).load({string(opened(path))}){where}.selectExpr({columns}); "
            # A Java error in `toArrow` would make Python wait forever, but `count` raises it. A write without output would raise it too, but
            # Delta does not prepare the scans below a write through the version 2 interface: it skips no files, and refuses deletion vectors.
            "rows = rows.cache(); rows.count(); result = rows.toArrow()"
        )

    return SparkEngine(
        "spark",
        "Spark",
        "pyspark",
        program,
        starts_slowly=True,
        runs_on_java=True,
        needs_its_paths=kind == "iceberg",
        kind=kind,
        packages=packages,
    )
