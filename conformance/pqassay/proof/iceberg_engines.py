"""The engines that queries of an Iceberg table are tried on: those that find its files through the ``pyiceberg`` library.

Programs as in `pqassay.proof.engines`, which read the folder of a table instead of a file.  Paths in the metadata of Iceberg tables are absolute: where
a table is in another folder than its ``location`` says, programs translate them.
"""

from __future__ import annotations

from pqassay.lake.table_files import TableAt
from pqassay.proof.engines import Engine, Unwritable, imports, polars_filter, python_value, string, strings
from pqassay.proof.queries import Comparison, Query
from pqassay.tables.iceberg.metadata import NotKnownError, metadata_file, read_metadata
from pqassay_spec.base.errors import FormatError

LIBRARY = "pyiceberg"
"""The library, as pip calls it."""

_OPERATORS = {
    "=": "EqualTo",
    ">=": "GreaterThanOrEqual",
    "<=": "LessThanOrEqual",
    "is null": "IsNull",
    "is not null": "NotNull",
}
"""Operators, by what pyiceberg calls them."""


def _opened(path: str) -> str:
    """Statements that open a table as ``t``; raises `Unwritable` if it has no metadata that can be read."""
    try:
        table = TableAt("iceberg", path, path)
        name = metadata_file(table)
        metadata, _ = read_metadata(table, name)
    except (FormatError, NotKnownError, OSError) as error:
        raise Unwritable(f"the metadata file of the table is not known: {error}") from None
    opened = f"t = StaticTable.from_metadata({string(f'{path}/{name}')})"
    begin = "from pyiceberg.table import StaticTable; "
    if metadata["location"] == path:
        return f"{begin}{opened}"
    # Manifests are kept by their paths, which copies of a table share.
    return (
        f"from os.path import abspath; from pyiceberg.io.pyarrow import PyArrowFileIO as IO; from pyiceberg.manifest import clear_manifest_cache; {begin}"
        "parse = IO.parse_location; "
        "IO.parse_location = staticmethod(lambda path, *more: parse(path.replace("
        f"{string(metadata['location'])}, abspath({string(path)}), 1), *more)); clear_manifest_cache(); {opened}"
    )


def _condition(part: Comparison) -> str:
    name = string(part.column.name)
    if part.value is None:
        return f"pe.{_OPERATORS[part.operator]}({name})"
    return f"pe.{_OPERATORS[part.operator]}({name}, {python_value(part.column, part.value)})"


def _pyiceberg(path: str, query: Query) -> str:
    fields = strings(column.name for column in query.columns)
    where, uses = "", ""
    if query.where:
        first, *others = map(_condition, query.where)
        for other in others:
            first = f"pe.And({first}, {other})"
        where, uses = f"row_filter={first}, ", "from pyiceberg import expressions as pe; "
    return f"{imports(query)}{uses}{_opened(path)}; result = t.scan({where}selected_fields=({fields},)).to_arrow()"


def _polars(path: str, query: Query) -> str:
    names = strings(column.name for column in query.columns)
    scan = f"pl.scan_iceberg(t, reader_override={string(LIBRARY)})"
    return f"{imports(query)}import polars as pl; {_opened(path)}; result = {scan}{polars_filter(query)}.select({names}).collect()"


ICEBERG_ENGINES: tuple[Engine, ...] = (
    Engine("pyiceberg", "pyiceberg", LIBRARY, _pyiceberg),
    Engine("polars", "Polars over pyiceberg", "polars", _polars, "result.rows()"),
)
"""The engines, in the order of reports."""
