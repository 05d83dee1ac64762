"""The columns and the partition fields of an Iceberg table, by id."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

from pqassay_spec.base.errors import Malformed
from pqassay_spec.table.iceberg import DELETE_COLUMNS, FIRST_PARTITION_FIELD, FIRST_RESERVED_ID, NAME_MAPPING
from pqassay_tables.metadata.delta.actions import Json, object_of, parse

METADATA = "ICE-001"

DEEPEST = 100
"""The number of nested type levels that are read."""

DECIMAL = re.compile(r"decimal\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)", re.ASCII)
FIXED = re.compile(r"fixed\[\s*(\d{1,9})\s*\]", re.ASCII)
TRANSFORM = re.compile(r"(bucket|truncate)\[\s*(\d{1,10})\s*\]", re.ASCII)


@dataclass(frozen=True, slots=True)
class IcebergColumn:
    """A primitive column, or a primitive element of a list or a map.

    Attributes:
        name: The name that users see, as a path joined by dots.
        path: Its names.
        id: Its id.
        type: Its type as the schema has it.
        is_repeated: Whether it is in a list or a map.
        is_required: Whether it and everything around it is required.
        has_default: Whether it has a default other than null for files without it.
    """

    name: str
    path: tuple[str, ...]
    id: int
    type: str
    is_repeated: bool = False
    is_required: bool = False
    has_default: bool = False


@dataclass(frozen=True)
class PartitionField:
    """A field by which a table is partitioned.

    Attributes:
        id: Its id.
        name: Its name.
        source: The id of its source column.
        transform: The name of its transform.
        parameter: The number in brackets; 0 without one.
    """

    id: int
    name: str
    source: int
    transform: str
    parameter: int = 0


@dataclass(frozen=True)
class SortField:
    """A value by which rows are sorted.

    Attributes:
        source: The id of its source column; ``None`` if it has several.
        transform: The transform, as written in the table.
        descending, nulls_first: The direction of the sorting.
        is_known: Whether the direction and the place of nulls are defined values.
    """

    source: int | None
    transform: str
    descending: bool
    nulls_first: bool
    is_known: bool = True


@dataclass
class IcebergSchema:
    """The columns of a table.

    Attributes:
        columns: The columns by id, each from the newest schema that has it.
        specs: The partition fields by spec id.
        orders: The sort fields by sort order id.
        names: The paths of columns in files without ids, by id; empty if the table has no such mapping.
        nested: The ids of structs, lists and maps.
        newest: The declaration of the schema with the highest priority.
        aliases: All names of a column in files without ids, by id, without the path around it.
    """

    columns: dict[int, IcebergColumn]
    specs: dict[int, tuple[PartitionField, ...]]
    orders: dict[int, tuple[SortField, ...]] = field(default_factory=dict[int, tuple[SortField, ...]])
    names: dict[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])
    nested: frozenset[int] = frozenset()
    newest: Json = field(default_factory=dict[str, Any])
    aliases: dict[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])

    @cached_property
    def single(self) -> frozenset[int]:
        """The ids of primitive columns outside lists and maps."""
        return (
            frozenset(number for number, column in self.columns.items() if not column.is_repeated)
            - self.nested
        )

    @property
    def greatest(self) -> int:
        """The greatest column id, except reserved ids; 0 if there are none."""
        ids = (*self.columns, *self.nested)
        return max((one for one in ids if one < FIRST_RESERVED_ID), default=0)

    def column(self, identifier: int) -> IcebergColumn | None:
        """The column with an id; ``None`` if no schema has it."""
        return self.columns.get(identifier)


def schema_of(metadata: Json, newest: int | None = None) -> IcebergSchema:
    """The columns and partition fields of a table.

    Args:
        metadata: The table metadata.
        newest: The id of the schema with the highest priority; by default, the current schema.

    Raises:
        Malformed: ICE-001.
    """
    schemas = objects(metadata, "schemas")
    if not schemas and isinstance(metadata.get("schema"), dict):
        schemas = [metadata["schema"]]
    if newest is None:
        newest = metadata.get("current-schema-id")
    ordered = sorted(schemas, key=lambda one: one.get("schema-id") == newest)
    columns: dict[int, IcebergColumn] = {
        identifier: IcebergColumn(name, (name,), identifier, kind, is_required=True)
        for identifier, name, kind in DELETE_COLUMNS
    }
    nested: set[int] = set()
    for schema in ordered:
        if schema.get("type") != "struct":
            raise broken("schemas", "a schema is not a struct", "struct", schema.get("type"))
        if type(schema.get("schema-id", 0)) is not int:
            raise broken("schemas", "the id of a schema is not a number", "a number", schema["schema-id"])
        found = _columns(schema, IcebergColumn("", (), 0, "", is_required=True), nested)
        columns.update({column.id: column for column in found})
    names, aliases = _names(metadata)
    chosen = ordered[-1] if ordered else {"fields": []}
    return IcebergSchema(
        columns, _specs(metadata), _orders(metadata), names, frozenset(nested), chosen, aliases
    )


Columns = frozenset[tuple[Any, ...]]
"""The columns of a schema in comparable form: id, name, whether it is required, and type, recursively."""


def columns_of(struct: Any, depth: int = 0) -> Columns:
    """The columns of a schema in comparable form. Raises `Malformed` if it is not a schema."""
    if not isinstance(struct, dict) or cast("Json", struct).get("type") != "struct" or depth > DEEPEST:
        raise broken("schemas", "a schema is not a struct", "struct", struct)
    fields = objects(cast("Json", struct), "fields")
    return frozenset(
        (one.get("id"), one.get("name"), one.get("required"), _type_of(one.get("type"), depth + 1))
        for one in fields
    )


def _type_of(kind: Any, depth: int) -> Any:
    if isinstance(kind, str):
        return kind.replace(" ", "")
    if not isinstance(kind, dict) or depth > DEEPEST:
        raise broken("schemas", "a type has an unknown form", "a type", kind)
    declared = cast("Json", kind)
    if declared.get("type") == "struct":
        return columns_of(declared, depth)
    return frozenset(
        (name, _type_of(value, depth + 1) if name in ("element", "key", "value") else str(value))
        for name, value in declared.items()
    )


def objects(holder: Json, name: str) -> list[Json]:
    """The objects in a list; empty if the member is absent. Raises `Malformed`."""
    given = holder.get(name)
    if given is None:
        return []
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise broken(name, f"{name} is not a list of objects", "a list of objects", given)
    return cast("list[Json]", given)


def broken(name: str, reason: str, expected: str, actual: Any) -> Malformed:
    """The error of a metadata member of unknown form."""
    return Malformed(
        reason, rule=METADATA, field=f"metadata.{name}", expected=expected, actual=str(actual)[:80]
    )


def _columns(struct: Json, at: IcebergColumn, nested: set[int], depth: int = 0) -> Iterator[IcebergColumn]:
    """Yield the primitive columns in a struct at the place of a column."""
    if depth > DEEPEST:
        raise broken("schemas", f"a schema is nested deeper than {DEEPEST} types", "fewer", "more")
    if not isinstance(struct.get("fields"), list):
        raise broken("schemas", "a struct has no fields", "a list of fields", struct)
    for one in objects(struct, "fields"):
        name, identifier, required = one.get("name"), one.get("id"), one.get("required")
        if not isinstance(name, str) or type(identifier) is not int:
            raise broken("schemas", "a field of a schema has no name or no id", "both", one)
        if type(required) is not bool:
            raise broken("schemas", f"field {name} does not say whether it is required", "true or false", required)  # fmt: skip
        path, is_required = (*at.path, name), at.is_required and required
        has_default = one.get("initial-default") is not None
        own = IcebergColumn(".".join(path), path, identifier, "", at.is_repeated, is_required, has_default)
        yield from _of_type(one.get("type"), own, nested, depth)


def _of_type(kind: Any, at: IcebergColumn, nested: set[int], depth: int) -> Iterator[IcebergColumn]:
    """Yield the column of a primitive type, or the primitive columns in a nested type."""
    if isinstance(kind, str):
        yield replace(at, type=kind)
        return
    declared: Json = object_of(kind) if depth <= DEEPEST else {}
    name = str(declared.get("type"))
    members = {"struct": (), "list": ("element",), "map": ("key", "value")}.get(name)
    if members is None:
        raise broken("schemas", f"the type of column {at.name} has an unknown form", "a type", kind)
    nested.add(at.id)
    if name == "struct":
        yield from _columns(declared, at, nested, depth + 1)
    for member in members:
        inner = declared.get(f"{member}-id")
        if type(inner) is not int:
            raise broken("schemas", f"the {member} of column {at.name} has no id", "an id", inner)
        path = (*at.path, member)
        item = IcebergColumn(".".join(path), path, inner, "", is_repeated=True)
        yield from _of_type(declared.get(member), item, nested, depth + 1)


def _specs(metadata: Json) -> dict[int, tuple[PartitionField, ...]]:
    given = objects(metadata, "partition-specs")
    if not given:
        return {0: tuple(partition_fields(objects(metadata, "partition-spec")))}
    specs: dict[int, tuple[PartitionField, ...]] = {}
    for spec in given:
        identifier = spec.get("spec-id")
        if type(identifier) is not int:
            raise broken("partition-specs", "a partition spec has no id", "an id", identifier)
        if "fields" not in spec:
            raise broken("partition-specs", f"partition spec {identifier} has no fields", "a list of fields", spec)  # fmt: skip
        specs[identifier] = tuple(partition_fields(objects(spec, "fields")))
    return specs


def partition_fields(given: list[Json]) -> Iterator[PartitionField]:
    """The fields of a partition spec. Raises `Malformed`, ICE-001."""
    for number, one in enumerate(given):
        sources: Any = one.get("source-ids")
        first: Any = sources[0] if isinstance(sources, list) and sources else None
        source = one.get("source-id", first)
        name, transform = one.get("name"), one.get("transform")
        identifier = one.get("field-id", FIRST_PARTITION_FIELD + number)
        if (
            type(source) is not int
            or type(identifier) is not int
            or not isinstance(name, str)
            or not isinstance(transform, str)
        ):
            raise broken(
                "partition-specs", "a partition field has no source, name or transform", "all three", one
            )
        kind, parameter = transform_parts(transform)
        yield PartitionField(identifier, name, source, kind, parameter)


def transform_parts(transform: str) -> tuple[str, int]:
    """The name of a transform and its parameter; the whole text and 0 without a valid positive parameter."""
    match = TRANSFORM.fullmatch(transform)
    return (match[1], int(match[2])) if match is not None and int(match[2]) > 0 else (transform, 0)


def _orders(metadata: Json) -> dict[int, tuple[SortField, ...]]:
    orders: dict[int, tuple[SortField, ...]] = {}
    for order in objects(metadata, "sort-orders"):
        identifier = order.get("order-id")
        if type(identifier) is not int or "fields" not in order:
            raise broken("sort-orders", "a sort order has no id or no fields", "both", order)
        orders[identifier] = tuple(
            SortField(
                source if type(source := one.get("source-id")) is int else None,
                str(one.get("transform"))[:80],
                (direction := str(one.get("direction")).lower()) == "desc",
                (null_order := str(one.get("null-order")).lower()) == "nulls-first",
                direction in ("asc", "desc") and null_order in ("nulls-first", "nulls-last"),
            )
            for one in objects(order, "fields")
        )
    return orders


def _names(metadata: Json) -> tuple[dict[int, tuple[str, ...]], dict[int, tuple[str, ...]]]:
    """The paths of columns with a single name by id, and all names of each id."""
    given: Any = object_of(metadata.get("properties")).get(NAME_MAPPING)
    paths: dict[int, tuple[str, ...]] = {}
    aliases: dict[int, tuple[str, ...]] = {}
    if isinstance(given, str):
        with suppress(ValueError):
            _take_names(parse(given), (), paths, aliases, 0)
    return paths, aliases


def _take_names(
    mapping: Any,
    path: tuple[str, ...] | None,
    paths: dict[int, tuple[str, ...]],
    aliases: dict[int, tuple[str, ...]],
    depth: int,
) -> None:
    """Collect the names of each id; the path only if each name on it is unique, since a file may have any of several names."""
    if not isinstance(mapping, list) or depth > DEEPEST:
        return
    for one in mapping:
        if not isinstance(one, dict):
            continue
        given: Any = cast("Json", one).get("names")
        names = tuple(name for name in given if isinstance(name, str)) if isinstance(given, list) else ()
        here = (*path, names[0]) if path is not None and len(names) == len(given or ()) == 1 else None
        identifier = cast("Json", one).get("field-id")
        if type(identifier) is int:
            aliases[identifier] = names
            if here is not None:
                paths[identifier] = here
        _take_names(cast("Json", one).get("fields"), here, paths, aliases, depth + 1)
