"""The columns that readers of an Iceberg table look for in its data files, from the snapshot's schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from pqassay_tables.metadata.column_types import MICROS, NANOS, Held, TableField, TableSchema
from pqassay_tables.metadata.delta.actions import Json
from pqassay_tables.metadata.iceberg.schema import DECIMAL, DEEPEST, FIXED

DATES_WIDENED_SINCE = 3
"""The format version from which dates may be promoted to timestamps."""

_HELD = {
    "boolean": Held("boolean"),
    "int": Held("int", 32),
    "long": Held("int", 64),
    "float": Held("float", 32),
    "double": Held("float", 64),
    "date": Held("date"),
    "time": Held("time", MICROS),
    "timestamp": Held("timestamp", MICROS, utc=False),
    "timestamptz": Held("timestamp", MICROS, utc=True),
    "timestamp_ns": Held("timestamp", NANOS, utc=False),
    "timestamptz_ns": Held("timestamp", NANOS, utc=True),
    "string": Held("text"),
    "binary": Held("binary"),
    "uuid": Held("uuid", 16),
}

_INNER = {"list": ("element",), "map": ("key", "value")}


def table_schema(
    declared: Json, names: Mapping[int, tuple[str, ...]], version: int, last_id: Any
) -> TableSchema:
    """The columns of a schema.

    Args:
        declared: The schema.
        names: The names of columns in files without ids, by column id.
        version: The format version.
        last_id: The greatest id of any column so far, from the metadata.
    """
    fields = tuple(_members(declared, "", names, 0, is_required=True))
    widens = may_have_been if version >= DATES_WIDENED_SINCE else may_have_been_number
    return TableSchema(fields, widens, "id", last_id if type(last_id) is int else 0)


def may_have_been_number(table: Held, file: Held) -> bool:
    """Whether the file's type may have been promoted to the table's, up to version 2."""
    if table.kind != file.kind or file.size > table.size or file.utc != table.utc:
        return False
    if table.kind == "decimal":
        return file.scale == table.scale
    return table.kind == "int" or (table.kind, file.size) == ("float", 32)


def may_have_been(table: Held, file: Held) -> bool:
    """Whether the file's type may have been promoted to the table's, from version 3 on."""
    is_moment = table.kind == "timestamp" and not table.utc
    return may_have_been_number(table, file) or (is_moment and file.kind == "date")


def _members(
    struct: Json, within: str, names: Mapping[int, tuple[str, ...]], depth: int, *, is_required: bool
) -> Iterator[TableField]:
    for one in cast("list[Json]", struct["fields"]):
        needed = is_required and one["required"] is True
        has_default = one.get("initial-default") is not None
        made = _of_type(one["type"], f"{within}{one['name']}", names, depth, is_required=needed)
        yield made._replace(
            names=names.get(one["id"], ()), field_id=one["id"], is_required=needed and not has_default
        )


def _of_type(
    kind: Any, name: str, names: Mapping[int, tuple[str, ...]], depth: int, *, is_required: bool
) -> TableField:
    if isinstance(kind, str):
        plain = kind.replace(" ", "")
        held = _held(plain)
        return TableField(name, (), None, kind, held, "open" if held is None else "leaf")
    declared = cast("Json", kind)
    shown = str(declared["type"])
    if depth > DEEPEST:
        return TableField(name, (), None, shown, None, "open")
    if shown == "struct":
        members = tuple(_members(declared, f"{name}.", names, depth + 1, is_required=is_required))
        return TableField(name, (), None, shown, None, "struct", members=members)
    items = (
        _of_type(declared[part], f"{name}.{part}", names, depth + 1, is_required=False)
        for part in _INNER[shown]
    )
    return TableField(name, (), None, shown, None, "map" if shown == "map" else "list", members=tuple(items))


def _held(kind: str) -> Held | None:
    if (match := DECIMAL.fullmatch(kind)) is not None:
        return Held("decimal", int(match[1]), int(match[2]))
    if (match := FIXED.fullmatch(kind)) is not None:
        return Held("fixed", int(match[1]))
    return Held("geometry") if kind.startswith(("geometry", "geography")) else _HELD.get(kind)
