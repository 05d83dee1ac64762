"""The engines that queries of an Iceberg table are tried on.

Programs as in `pqassay.proof.engines`, which read the folder of a table instead of a file.  Paths in the metadata of Iceberg tables are absolute: where
a table is in another folder than its ``location`` says, pyiceberg is told so, and the others are given a copy, see `pqassay_tables.proof.moved_table`.
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
"""The library, as pip calls it, by which most of these engines find the files of a table."""

_OPERATORS = {
    "=": "EqualTo",
    ">=": "GreaterThanOrEqual",
    "<=": "LessThanOrEqual",
    "is null": "IsNull",
    "is not null": "NotNull",
}
"""Operators, by what pyiceberg calls them."""


def location_of(path: str) -> tuple[str, str]:
    """The metadata file of a table, relative to it, and the folder in which it says that the table is.

    Raises:
        Unwritable: There is no metadata that can be read.
    """
    try:
        table = TableAt("iceberg", path, path)
        name = metadata_file(table)
        metadata, _ = read_metadata(table, name)
    except (FormatError, NotKnownError, OSError) as error:
        raise Unwritable(f"the metadata file of the table is not known: {error}") from None
    return name, str(metadata["location"]).rstrip("/")


def _opened(path: str) -> str:
    """Statements that open a table as ``t``; raises `Unwritable` if it has no metadata that can be read."""
    name, location = location_of(path)
    opened = f"t = StaticTable.from_metadata({string(f'{path}/{name}')})"
    begin = "from pyiceberg.table import StaticTable; "
    # Manifests are kept by their paths, which copies of a table share.
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
        spark_packages: The packages that Spark is given, as its ``--packages`` has them.
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
