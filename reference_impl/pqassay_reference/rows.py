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

EXACT_INTEGERS = 1 << 53
"""Whole numbers beyond are written as text."""

TYPES: dict[str, pa.DataType] = {
    "int32": pa.int32(),
    "int64": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
}
"""The column types of the protocol."""


def python_value(written: Any) -> Any:
    r"""The value that JSON holds, tagged or not.

    >>> python_value({"bytes": "00ff"}), python_value({"float": "-0.0"}), python_value("a")
    (b'\x00\xff', -0.0, 'a')
    """
    match written:
        case {"int": str(text)}:
            return int(text)
        case {"float": str(text)}:
            return float(text)
        case {"bytes": str(text)}:
            return bytes.fromhex(text)
        case _:
            return written


def json_value(value: Any) -> Any:
    """The inverse of `python_value`."""
    if isinstance(value, float):
        return {"float": repr(value)}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, int) and abs(value) > EXACT_INTEGERS:
        return {"int": str(value)}
    return value


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
