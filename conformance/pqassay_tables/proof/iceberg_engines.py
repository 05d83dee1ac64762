"""The engines that run queries on Iceberg tables.

Their programs are like those in `pqassay.proof.engines`, but read the folder of a table. Paths in Iceberg metadata are absolute. If a table
is not at its ``location``, pyiceberg receives the new location, and other engines receive a copy, see `pqassay_tables.proof.moved_table`.
"""

from __future__ import annotations

from pqassay.proof.engines import Engine, Unwritable, imports, polars_filter, python_value, string, strings
from pqassay.proof.queries import ColumnQuery, Query
from pqassay.stores.table_files import TableAt
from pqassay_spec.base.errors import FormatError
from pqassay_tables.metadata.iceberg.metadata import NotKnownError, metadata_file, read_metadata
from pqassay_tables.proof.delta_engines import LibraryEngine
from pqassay_tables.proof.table_sql import chdb_program, daft_program, spark_engine

LIBRARY = "pyiceberg"
"""The pip name of the library that most of these engines use to find the files of a table."""

_OPERATORS = {
    "=": "EqualTo",
    ">=": "GreaterThanOrEqual",
    "<=": "LessThanOrEqual",
    "is null": "IsNull",
    "is not null": "NotNull",
}
"""Operators with their names in pyiceberg."""


def location_of(path: str) -> tuple[str, str]:
    """The metadata file of a table, relative to it, and the location of the table according to this file.

    Raises:
        Unwritable: There are no readable metadata.
    """
    try:
        table = TableAt("iceberg", path, path)
        name = metadata_file(table)
        metadata, _ = read_metadata(table, name)
    except (FormatError, NotKnownError, OSError) as error:
        raise Unwritable(f"the metadata file of the table is not known: {error}") from None
    return name, str(metadata["location"]).rstrip("/")


def _opened(path: str) -> str:
    """Statements that open a table as ``t``; raises `Unwritable` without readable metadata."""
    name, location = location_of(path)
    opened = f"t = StaticTable.from_metadata({string(f'{path}/{name}')})"
    begin = "from pyiceberg.table import StaticTable; "
    # Manifests are cached by path, which is the same in copies of a table.
    if location.removeprefix("file://") == path:
        return f"{begin}{opened}"
    return (
        f"from os.path import abspath; from pyiceberg.io.pyarrow import PyArrowFileIO as IO; from pyiceberg.manifest import clear_manifest_cache; {begin}"
        "parse = IO.parse_location; "
        "IO.parse_location = staticmethod(lambda path, *more: parse(path.replace("
        f"{string(location)}, abspath({string(path)}), 1), *more)); clear_manifest_cache(); {opened}"
    )


def _condition(part: ColumnQuery) -> str:
    name = string(part.column.name)
    if part.value is None:
        return f"pe.{_OPERATORS[part.operator]}({name})"
    return f"pe.{_OPERATORS[part.operator]}({name}, {python_value(part.column, part.value)})"


def _pyiceberg(path: str, query: Query) -> str:
    where, uses = "", ""
    if query.where:
        first, *others = map(_condition, query.where)
        for other in others:
            first = f"pe.And({first}, {other})"
        where, uses = f"row_filter={first}", "from pyiceberg import expressions as pe; "
    begin = f"{imports(query)}{uses}{_opened(path)}; "
    if query.is_count:
        return f"import pyarrow as pa; {begin}result = pa.table([[t.scan({where}).count()]], [{string('n')}])"
    fields = strings(column.name for column in query.columns)
    return f"{begin}result = t.scan({where}{', ' if where else ''}selected_fields=({fields},)).to_arrow()"


def _polars(path: str, query: Query) -> str:
    names = "pl.len()" if query.is_count else strings(column.name for column in query.columns)
    return f"{imports(query)}import polars as pl; {_opened(path)}; result = pl.scan_iceberg(t){polars_filter(query)}.select({names}).collect()"


def _daft(path: str, query: Query) -> str:
    return daft_program(f"{_opened(path)}; ", "daft.read_iceberg(t)", query)


def _chdb(path: str, query: Query) -> str:
    return chdb_program("icebergLocal", path, query)


def iceberg_engines(spark_packages: str = "") -> tuple[Engine, ...]:
    """The engines, in the order of reports.

    Args:
        spark_packages: The packages for Spark, as in its option ``--packages``.
    """
    return (
        LibraryEngine("pyiceberg", "pyiceberg", LIBRARY, _pyiceberg, library=LIBRARY),
        LibraryEngine(
            "polars", "Polars", "polars", _polars, "result.rows()", library=LIBRARY, needs_its_paths=True
        ),
        LibraryEngine(
            "daft", "Daft", "daft", _daft, library=LIBRARY, needs_its_paths=True, reserves_memory=True
        ),
        Engine("chdb", "chDB", "chdb", _chdb, reserves_memory=True),
        spark_engine("iceberg", spark_packages, lambda path: f"{path}/{location_of(path)[0]}"),
    )
