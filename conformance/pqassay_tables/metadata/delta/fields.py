"""The columns that readers of a Delta table look for in its data files, from ``schemaString``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from pqassay_spec.base.errors import Malformed
from pqassay_spec.table.delta import COLUMN_ID, INTEGER_BITS, MAX_COLUMN_ID, PHYSICAL_NAME
from pqassay_tables.metadata.column_types import MICROS, Held, TableField, TableSchema
from pqassay_tables.metadata.delta.actions import Json, object_of, parse
from pqassay_tables.metadata.delta.schema import DEEPEST, DeltaSchema, decimal_of
from pqassay_tables.metadata.delta.widening import is_widened

_HELD = {
    **{name: Held("int", bits) for name, bits in INTEGER_BITS.items()},
    "float": Held("float", 32),
    "double": Held("float", 64),
    "string": Held("text"),
    "boolean": Held("boolean"),
    "binary": Held("binary"),
    "date": Held("date"),
    "timestamp": Held("timestamp", MICROS, utc=True),
    "timestamp_ntz": Held("timestamp", MICROS, utc=False),
}
_NAMES = {held: name for name, held in _HELD.items()}

_INNER = {"array": (("element", "elementType"),), "map": (("key", "keyType"), ("value", "valueType"))}


def table_schema(metadata: Json, schema: DeltaSchema, *, may_be_wider: bool) -> TableSchema:
    """The columns of a table.

    Args:
        metadata: The ``metaData`` action.
        schema: The parsed schema.
        may_be_wider: Whether types may have been widened.
    """
    partition = {column.name for column in schema.partition}
    fields = _members(parse(metadata["schemaString"]), "", schema.mode, 0, is_required=True)
    return TableSchema(
        tuple(one._replace(is_constant=one.name in partition) for one in fields),
        may_have_been if may_be_wider else was_never,
        schema.mode,
        _last_id(metadata) if schema.mode != "none" else 0,
    )


def _last_id(metadata: Json) -> int:
    """The greatest id of any column so far, from the table properties; 0 if unknown."""
    given = str(object_of(metadata.get("configuration")).get(MAX_COLUMN_ID, ""))
    return int(given[:10]) if given.isdecimal() else 0


def was_never(_: Held, __: Held) -> bool:
    """Always false, for tables whose types never change."""
    return False


def may_have_been(table: Held, file: Held) -> bool:
    """Whether the file's type may have been widened to the table's."""
    return is_widened(_NAMES.get(file, str(file)), _NAMES.get(table, str(table)))


def _members(struct: Any, within: str, mode: str, depth: int, *, is_required: bool) -> Iterator[TableField]:
    """Yield the members of a struct; inside a list or a map, only members with a valid declaration."""
    fields = struct.get("fields")
    for given in fields if isinstance(fields, list) else ():
        declared: Json = object_of(given)
        name, metadata = declared.get("name"), declared.get("metadata")
        if not isinstance(name, str):
            continue
        found = cast("Json", metadata) if isinstance(metadata, dict) and mode != "none" else {}
        needed = is_required and declared.get("nullable") is False
        made = _of_type(declared.get("type"), f"{within}{name}", mode, depth, is_required=needed)
        field_id = found.get(COLUMN_ID) if mode == "id" else None
        physical = str(found.get(PHYSICAL_NAME, name))
        yield made._replace(names=() if mode == "id" else (physical,), field_id=field_id)


def _of_type(kind: Any, name: str, mode: str, depth: int, *, is_required: bool = False) -> TableField:
    """The column of a type; its identification in files comes from the field with the type."""
    inner: Json = cast("Json", kind) if isinstance(kind, dict) else {"type": kind}
    shown = str(inner.get("type"))
    held = _held(shown) if isinstance(kind, str) else None
    made = TableField(name, (), None, shown, held, "open" if held is None else "leaf", is_required)
    if depth > DEEPEST or not isinstance(kind, dict):
        return made
    if shown == "struct":
        members = _members(kind, f"{name}.", mode, depth + 1, is_required=is_required)
        return made._replace(form="struct", members=tuple(members))
    parts = _INNER.get(shown)
    if parts is None:
        return made
    items = (_of_type(inner.get(member), f"{name}.{part}", mode, depth + 1) for part, member in parts)
    return made._replace(form="map" if shown == "map" else "list", members=tuple(items))


def _held(kind: str) -> Held | None:
    if not kind.startswith("decimal"):
        return _HELD.get(kind)
    try:
        precision, scale = decimal_of(kind, kind) or (0, 0)
    except Malformed:
        return None  # inside a list or a map
    return Held("decimal", precision, scale)
