"""The rows of the Parquet files beside golden ``_pm`` files, and the expected results of a scan of them."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pqassay_golden.recipes import DATA
from pqassay_spec.golden.case import Scan
from pqassay_spec.golden.literals import Column, Rows, write_value

SOUGHT: Sequence[Any] = ("=", "venue", "XLON")
"""The predicate of scans of the Parquet files beside golden files."""

TYPES: Mapping[pa.DataType, str] = {
    pa.int64(): "int64",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "binary",
}
"""The types of the columns of these Parquet files, with their names in manifests."""


TIME = "ts"
"""A column that is a number in these Parquet files, and a timestamp in ``_pm``: the right value depends on which one a reader uses."""


def rows_beside(files: Mapping[str, bytes]) -> Rows | None:
    """The rows of the Parquet file beside a ``_pm``; ``None`` if there is none, or it is not readable."""
    if DATA not in files:
        return None
    try:
        table = pq.read_table(io.BytesIO(files[DATA]))
    except pa.ArrowException:
        return None
    columns = [
        Column(name=field.name, type=TYPES[field.type], nullable=field.nullable) for field in table.schema
    ]
    values = [column.to_pylist() for column in table.columns]
    return Rows(columns, [[write_value(value) for value in row] for row in zip(*values, strict=True)])


def without_time(rows: Rows) -> Rows:
    """The rows without `TIME`."""
    kept = [place for place, name in enumerate(rows.names()) if name != TIME]
    return Rows(
        [rows.columns[place] for place in kept], [[row[place] for place in kept] for row in rows.rows]
    )


def scan_of(rows: Rows | None, scan: Scan | None, *predicates: Sequence[Any] | None) -> dict[str, Any]:
    """The manifest's members about a scan of the Parquet file beside a ``_pm``, with the first predicate whose columns the file has."""
    if rows is None:
        return {}
    kept = without_time(rows)
    found = next(one for one in predicates if one is not None and one[1] in kept.names())
    return {"scan": scan, "predicate": list(found), "rows": kept}
