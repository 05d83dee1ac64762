"""Convert rows between the JSON of requests and Arrow tables.

Source: ``conformance/PROTOCOL.md``, section "Values".
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from pqassay_reader.condition.kinds import UNITS
from pqassay_reference.columns.literals import json_value, python_value
from pqassay_reference.errors import Refused

TYPES: dict[str, pa.DataType] = {
    "int32": pa.int32(),
    "int64": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
}
"""The column types of the protocol."""


def table_of(rows: dict[str, Any]) -> pa.Table:
    """The table for ``{"columns": [{"name", "type", "nullable"}, ...], "rows": [[...], ...]}``.

    Raises:
        Refused: A column cannot store a value.
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
    """The rows of a table in JSON form, with these columns in this order.

    Raises:
        Refused: A text is not UTF-8.
    """
    try:
        values = [_json_values(table.column(name)) for name in columns]
    except UnicodeDecodeError as error:
        raise Refused(f"a text is not UTF-8: {error.reason} at its byte {error.start}") from None
    return [list(row) for row in zip(*values, strict=True)]


def _json_values(values: Any) -> list[Any]:
    kind = values.type
    if isinstance(kind, pa.BaseExtensionType) or pa.types.is_nested(kind):
        whole: Any = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        return _nested(whole) if pa.types.is_nested(kind) else _json_values(whole.storage)
    if pa.types.is_decimal(kind):
        return [None if one is None else {"decimal": f"{one:f}"} for one in values.to_pylist()]
    for tag, holds in (
        ("date", pa.types.is_date32),
        ("time", pa.types.is_time),
        ("timestamp", pa.types.is_timestamp),
    ):
        if holds(kind):
            unit = 1 if tag == "date" else UNITS[kind.unit]
            numbers = values.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).to_pylist()
            return [None if number is None else {tag: str(number * unit)} for number in numbers]
    return [json_value(value) for value in values.to_pylist()]


def _nested(values: Any) -> list[Any]:
    tagged: list[dict[str, Any]]
    if pa.types.is_struct(values.type):
        names = [field.name for field in values.type]
        members = zip(*map(_json_values, values.flatten()), strict=True)
        tagged = [{"struct": dict(zip(names, row, strict=True))} for row in members]
    else:
        if pa.types.is_fixed_size_list(values.type):
            values = values.cast(pa.list_(values.type.value_field))
        tag, items = "list", _json_values(values.values)
        if pa.types.is_map(values.type):
            tag, items = "map", [list(item["struct"].values()) for item in items]
        offsets = values.offsets.to_pylist()
        tagged = [{tag: items[start:end]} for start, end in itertools.pairwise(offsets)]
    return [one if there else None for one, there in zip(tagged, values.is_valid().to_pylist(), strict=True)]
