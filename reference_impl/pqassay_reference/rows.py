"""Rows as literals: from the JSON of requests to Arrow tables, and back.

Source: ``conformance/PROTOCOL.md``, section "Values".
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The type stubs of pyarrow leave parts of what is used here unknown.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from pqassay_reference.errors import Refused
from pqassay_reference.literals import json_value, python_value

TYPES: dict[str, pa.DataType] = {
    "int32": pa.int32(),
    "int64": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
}
"""The column types of the protocol."""


def table_of(rows: dict[str, Any]) -> pa.Table:
    """The table of ``{"columns": [{"name", "type", "nullable"}, ...], "rows": [[...], ...]}``.

    Raises:
        Refused: A value that its column cannot hold.
    """
    fields: list[pa.Field[Any]] = []
    arrays: list[pa.Array[Any]] = []
    for number, column in enumerate(rows["columns"]):
        kind = TYPES[column["type"]]
        values = [python_value(row[number]) for row in rows["rows"]]
        try:
            arrays.append(pa.array(values, kind))
        except (pa.ArrowException, UnicodeError, OverflowError) as error:
            raise Refused(f"column {column['name']}: {error}") from None
        fields.append(pa.field(column["name"], kind, nullable=column["nullable"]))
    return pa.table(arrays, schema=pa.schema(fields))


def rows_of(table: pa.Table, columns: Sequence[str]) -> list[list[Any]]:
    """The rows of a table as JSON holds them, these columns in this order."""
    values = [table.column(name).to_pylist() for name in columns]
    return [[json_value(value) for value in row] for row in zip(*values, strict=True)]
