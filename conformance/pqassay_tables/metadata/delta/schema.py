"""The columns of a Delta table, as declared in ``schemaString``, flattened: members of structs are separate columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

from pqassay_spec.base.errors import Malformed
from pqassay_spec.table.delta import COLUMN_ID, GREATEST_PRECISION, MAPPING_MODE, PHYSICAL_NAME, TYPE_CHANGES
from pqassay_tables.metadata.delta.actions import Json, object_of, parse

SCHEMA = "DLT-005"

DEEPEST = 100
"""The number of nested struct levels that are read."""

_DECIMAL = re.compile(r"decimal\(\s*(\d{1,2})\s*,\s*(-?\d{1,2})\s*\)", re.ASCII)

DEFAULT_DECIMAL = (10, 0)
"""The precision and scale that Spark assumes for a decimal without them."""

NESTED = ("array", "map", "struct")
"""Types that are declared by an object; for arrays and maps, only null counts are compared."""


@dataclass(frozen=True)
class DeltaColumn:
    """A column, or a member of a struct.

    Attributes:
        name: The name that users see, as a path joined by dots.
        path: Its path in data files and in statistics.
        type: The name of its type; ``array`` or ``map``.
        field_id: Its id, with column mapping.
        decimal: Precision and scale of a decimal.
        is_partition: Whether its values are in the log.
        is_required: Whether it and all structs around it cannot be null.
        changes: The changes of its type, from its metadata; changes inside a list or a map have a path.
    """

    name: str
    path: tuple[str, ...]
    type: str
    field_id: int | None = None
    decimal: tuple[int, int] | None = None
    is_partition: bool = False
    is_required: bool = False
    changes: Any = field(default=None, compare=False)

    @cached_property
    def key(self) -> str | tuple[str, ...]:
        """Its unique key: its name in statistics, or its names."""
        return self.path[0] if len(self.path) == 1 else self.path


@dataclass(frozen=True)
class DeltaSchema:
    """The columns of a table.

    Attributes:
        columns: All columns except structs, in order.
        structs: The paths of structs.
        partition: The partition columns, in the order of ``partitionColumns``.
        mode: The column mapping mode: ``none``, ``name`` or ``id``.
        logical: The path in files by the name that users see, for columns with different names in files.
    """

    columns: tuple[DeltaColumn, ...]
    structs: frozenset[tuple[str, ...]]
    partition: tuple[DeltaColumn, ...]
    mode: str
    logical: Mapping[str, str]

    @cached_property
    def required(self) -> tuple[DeltaColumn, ...]:
        """The columns that cannot be null, except partition columns."""
        return tuple(column for column in self.columns if column.is_required and not column.is_partition)

    @cached_property
    def roots(self) -> frozenset[str]:
        """The names of top-level columns in statistics, in their own case and in lower case."""
        names = {path[0] for path in (*(column.path for column in self.columns), *self.structs)}
        return frozenset(names | {name.casefold() for name in names})


def schema_of(metadata: Json, is_mapped: bool) -> DeltaSchema:
    """The columns that a ``metaData`` action declares.

    Args:
        metadata: The action.
        is_mapped: Whether the protocol has column mapping; otherwise its properties are ignored.

    Raises:
        Malformed: DLT-005.
    """
    text = metadata.get("schemaString")
    if not isinstance(text, str):
        raise _wrong("metaData has no schemaString", "a text", text)
    try:
        root = parse(text)
    except ValueError as error:
        raise _wrong(f"schemaString is not JSON: {error}", "a JSON object", text[:80]) from None
    configuration = object_of(metadata.get("configuration")) if is_mapped else {}
    mode = str(configuration.get(MAPPING_MODE, "none"))
    if mode not in ("none", "name", "id"):
        raise _wrong(f"{MAPPING_MODE} is {mode!r}", "none, name or id", mode)
    structs: set[tuple[str, ...]] = set()
    columns_there = list(_columns(root, (), (), mode, structs, 0))
    mapped = [one for one in columns_there if mode != "none"]
    ids = [str(one.field_id) for one in mapped if one.field_id is not None]
    for member, used in ((PHYSICAL_NAME, [one.path for one in mapped]), (COLUMN_ID, ids)):
        if len(set(used)) < len(used):
            raise _wrong(f"two columns have the same {member}", "one for each column", str(sorted(used))[:80])
    names = metadata.get("partitionColumns")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _wrong("partitionColumns is not a list of names", "a list of names", names, "partitionColumns")
    by_name = {column.name: column for column in columns_there if len(column.path) == 1}
    partition: list[DeltaColumn] = []
    for name in cast("list[str]", names):
        column = by_name.get(name)
        if column is None:
            said = f"partitionColumns names {name!r}, which is not a column of the schema"
            raise _wrong(said, "a column of the schema", name, "partitionColumns")
        partition.append(column)
    chosen = {column.path for column in partition}
    columns = tuple(replace(one, is_partition=one.path in chosen) for one in columns_there)
    logical = {one.name: one.path[0] for one in columns if len(one.path) == 1 and one.name != one.path[0]}
    own = {one.path[0] for one in columns}
    return DeltaSchema(
        columns,
        frozenset(structs),
        tuple(next(one for one in columns if one.path == own_one.path) for own_one in partition),
        mode,
        {name: path for name, path in logical.items() if name not in own},
    )


def _columns(
    node: Any,
    names: tuple[str, ...],
    path: tuple[str, ...],
    mode: str,
    structs: set[tuple[str, ...]],
    depth: int,
    is_required: bool = True,
) -> Iterator[DeltaColumn]:
    if depth > DEEPEST:
        raise _wrong(f"schemaString nests structs more than {DEEPEST} levels deep", "fewer levels", "more")
    fields: Any = object_of(node).get("fields")
    if not isinstance(fields, list) or cast("Json", node).get("type") != "struct":
        raise _wrong(f"{'.'.join(names) or 'schemaString'} is not a struct", "a struct with fields", node)
    seen: set[str] = set()
    for given in fields:
        declared: Json = object_of(given)
        name, kind = declared.get("name"), declared.get("type")
        if not isinstance(name, str):
            raise _wrong("a field of schemaString has no name", "a name", given)
        if name.lower() in seen:
            raise _wrong(f"schemaString has two columns called {name!r}, ignoring case", "unique names", name)  # fmt: skip
        seen.add(name.lower())
        metadata: Json = object_of(declared.get("metadata"))
        physical = name if mode == "none" else metadata.get(PHYSICAL_NAME)
        field_id = None if mode == "none" else metadata.get(COLUMN_ID)
        own = ".".join((*names, name))
        if not isinstance(physical, str) or (mode == "id" and not isinstance(field_id, int)):
            raise _wrong(f"column {own} has no {PHYSICAL_NAME if not isinstance(physical, str) else COLUMN_ID}", "one, since columns are mapped", metadata)  # fmt: skip
        below = (*path, physical)
        needed = is_required and declared.get("nullable") is False
        changes = metadata.get(TYPE_CHANGES)
        if isinstance(kind, dict):
            inner = str(cast("Json", kind).get("type"))
            if inner == "struct":
                structs.add(below)
                yield from _columns(kind, (*names, name), below, mode, structs, depth + 1, needed)
            elif inner in NESTED:
                yield DeltaColumn(own, below, inner, field_id, is_required=needed, changes=changes)
            else:
                raise _wrong(f"column {own} has the type {inner!r}", "a type of the protocol", inner)
            continue
        if not isinstance(kind, str):
            raise _wrong(f"column {own} has no type", "a type of the protocol", kind)
        decimal = decimal_of(own, kind)
        yield DeltaColumn(own, below, kind, field_id, decimal, is_required=needed, changes=changes)


def decimal_of(name: str, kind: str) -> tuple[int, int] | None:
    """The precision and scale of a decimal; ``None`` for other types. Raises `Malformed`, DLT-005."""
    if not kind.startswith("decimal"):
        return None  # unknown types are not judged
    if kind == "decimal":
        return DEFAULT_DECIMAL
    match = _DECIMAL.fullmatch(kind)
    if match is None or not 0 < int(match[1]) <= GREATEST_PRECISION or int(match[2]) > int(match[1]):
        raise _wrong(f"column {name} has the type {kind!r}", "a type of the protocol", kind)
    return int(match[1]), int(match[2])


def _wrong(reason: str, expected: str, actual: Any, member: str = "schemaString") -> Malformed:
    shown = actual if isinstance(actual, str) else repr(actual)
    return Malformed(reason, rule=SCHEMA, field=member, expected=expected, actual=shown[:80])
