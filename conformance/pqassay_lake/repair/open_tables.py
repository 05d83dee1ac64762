"""The current state of a plan's tables: live files, their partitions, and SQL names of table and columns."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pqassay.errors import UsageError
from pqassay.stores.table_files import TableAt
from pqassay.stores.targets import find
from pqassay_lake.owners import owners_in
from pqassay_spec.base.errors import FormatError
from pqassay_spec.table.layout import TableKind
from pqassay_tables.metadata.delta.actions import object_of, parse
from pqassay_tables.metadata.delta.state import DeltaState
from pqassay_tables.metadata.iceberg.metadata import NotKnownError
from pqassay_tables.metadata.iceberg.state import ElsewhereError, IcebergState
from pqassay_tables.metadata.owner import UNKNOWN
from pqassay_tables.under_test.states import delta_state, iceberg_state

VECTORS = "delta.enableDeletionVectors"

PLAIN_TYPES = ("STRING", "INT", "BIGINT", "SMALLINT", "TINYINT", "DATE", "BOOLEAN")
"""Types whose partition values SQL reads in the form of the log."""

FIXED_KEYS = ("delta.identity.start", "delta.generationExpression")
"""Keys of column metadata that mark columns whose values cannot be set."""


@dataclass(frozen=True)
class LiveFile:
    """A live file.

    Attributes:
        name: The name of the file in the table.
        partition: The values of its partition columns as SQL literals, by column; empty if unknown.
    """

    name: str
    partition: tuple[tuple[str, str | None], ...] = ()


@dataclass(frozen=True)
class OpenTable:
    """The current state of a table.

    Attributes:
        at: Its place.
        path: Its name in the report.
        kind: Its format.
        name: Its name in statements.
        moment: Its version or snapshot id.
        column: A column that can be set to itself; empty if there is none.
        compared: Columns whose values SQL can compare.
        has_vectors: Whether its rows may be marked as deleted.
        live: Its live data files, by path relative to the table.
        deletes: Its live delete files, by path relative to the table.
        manifests: The sizes of its manifests, by partition spec and content.
        properties: Its properties.
    """

    at: TableAt
    path: str
    kind: TableKind
    name: str
    moment: int | None
    column: str
    live: Mapping[str, LiveFile]
    compared: tuple[str, ...] = ()
    has_vectors: bool = False
    properties: Mapping[str, str] = field(default_factory=dict[str, str])
    deletes: frozenset[str] = frozenset()
    manifests: Mapping[tuple[int, int], list[int]] = field(default_factory=dict[tuple[int, int], list[int]])

    def relative(self, path: str) -> str:
        """The path of a file relative to the table."""
        return path.removeprefix(f"{self.path.rstrip('/')}/")

    def owners(self, paths: Iterable[str]) -> dict[str, str]:
        """The writers of live files, by path relative to the table, one line each; unknown writers are omitted."""
        found = owners_in(self.at, [path for path in paths if path in self.live])
        return {path: owners.wrote.line for path, owners in found.items() if owners.wrote.name != UNKNOWN}


def open_table(path: str, kind: TableKind, name: str, catalog: str) -> OpenTable:
    """Read the current state of a table.

    Args:
        path: Its name in the report.
        kind: Its format.
        name: Its name in statements; empty for its path.
        catalog: The catalog of an Iceberg table without a name, in which it has the name of its folder.

    Raises:
        UsageError: The table does not exist, or cannot be read.
    """
    at = next((one.table for one in find([path]).targets if one.is_table and one.table is not None), None)
    if at is None or at.kind != kind:
        raise UsageError(f"{path} is no longer a table of {kind.capitalize()}")
    try:
        if kind == "delta":
            return _delta(at, path, name, delta_state(at))
        return _iceberg(at, path, name, catalog, iceberg_state(at))
    except (FormatError, NotKnownError, ElsewhereError, OSError) as error:
        raise UsageError(
            f"{path}: the table cannot be read, so that no statement would run: {error}"
        ) from None


def folder(at: TableAt) -> str:
    """The address of a table for SQL: an absolute path, or the URI of its folder in a store."""
    return at.name.rstrip("/") if at.store else os.path.abspath(at.path)  # noqa: PTH100 - paths stay text


def quoted(name: str) -> str:
    """A name in Spark SQL."""
    return f"`{name.replace('`', '``')}`"


def text(value: str) -> str:
    """A text literal in Spark SQL."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _delta(at: TableAt, path: str, name: str, state: DeltaState) -> OpenTable:
    types = {field.name: _sql_type(field.type, field.decimal) for field in state.schema.partition}
    entries = {entry.inside: entry for entry in state.entries if entry.inside is not None}
    live = {
        path: LiveFile(entry.path, _partition(entry.action.get("partitionValues"), types))
        for path, entry in entries.items()
    }
    fields = _fields(state)
    partition = {field.name for field in state.schema.partition}
    properties = object_of(state.metadata.get("configuration"))
    free = [field["name"] for field in fields if field["name"] not in partition and not _is_made(field)]
    return OpenTable(
        at,
        path,
        "delta",
        name or f"delta.{quoted(folder(at))}",
        state.segment.version,
        free[0] if free else "",
        live,
        tuple(
            field["name"]
            for field in fields
            if field["name"] not in partition and _is_comparable(field.get("type"))
        ),
        properties.get(VECTORS) == "true",
        properties,
    )


def _fields(state: DeltaState) -> list[dict[str, Any]]:
    """The columns as declared in the log."""
    declared: Any = parse(str(state.metadata.get("schemaString")))
    return [one for one in declared.get("fields", []) if isinstance(one.get("name"), str)]


def _is_made(declared: dict[str, Any]) -> bool:
    """Whether Delta generates the values of a column, so that they cannot be set."""
    given = declared.get("metadata") or {}
    return any(key in given for key in FIXED_KEYS)


def _is_comparable(declared: Any) -> bool:
    """Whether SQL can compare values of a type for equality, whatever their content."""
    if isinstance(declared, str):
        return declared != "variant"
    if not isinstance(declared, dict) or declared.get("type") == "map":
        return False
    inner = (
        [declared.get("elementType")]
        if declared.get("type") == "array"
        else [one.get("type") for one in declared.get("fields", [])]
    )
    return all(map(_is_comparable, inner))


def _sql_type(name: str, decimal: tuple[int, int] | None) -> str:
    if decimal is not None:
        return f"DECIMAL({decimal[0]},{decimal[1]})"
    return {"long": "BIGINT", "integer": "INT", "short": "SMALLINT", "byte": "TINYINT"}.get(
        name, name.upper()
    )


def _partition(values: Any, types: Mapping[str, str]) -> tuple[tuple[str, str | None], ...]:
    """The values of partition columns as literals; empty if SQL cannot read the log's form."""
    if not isinstance(values, dict) or not types or values.keys() != types.keys():
        return ()
    parts: list[tuple[str, str | None]] = []
    for column, type_ in types.items():
        given: Any = values[column]
        if given is None or given == "":
            parts.append((column, None))
        elif isinstance(given, str) and type_ in PLAIN_TYPES:
            parts.append((column, text(given) if type_ == "STRING" else f"CAST({text(given)} AS {type_})"))
    return tuple(parts)


def _iceberg(at: TableAt, path: str, name: str, catalog: str, state: IcebergState) -> OpenTable:
    entries = {entry.inside: entry for entry in state.data if entry.inside is not None}
    live = {path: LiveFile(entry.path) for path, entry in entries.items()}
    schema_id = state.metadata.get("current-schema-id")
    schemas: Any = state.metadata.get("schemas") or [state.metadata.get("schema")]
    schema: Any = next(
        (candidate for candidate in schemas if candidate.get("schema-id") == schema_id), schemas[-1]
    )
    specs: Any = state.metadata.get("partition-specs") or []
    sources = {field.get("source-id") for spec in specs for field in spec.get("fields", [])}
    fields = [field for field in schema["fields"] if field.get("id") not in sources] or schema["fields"]
    manifests: dict[tuple[int, int], list[int]] = {}
    for manifest in state.manifests:
        manifests.setdefault((manifest.listed.spec, manifest.listed.content), []).append(manifest.size)
    return OpenTable(
        at,
        path,
        "iceberg",
        name or f"{catalog}.{quoted(folder(at).rpartition('/')[2])}",
        state.snapshot_id if state.snapshot is not None else None,
        str(fields[0]["name"]) if fields else "",
        live,
        properties=object_of(state.metadata.get("properties")),
        deletes=frozenset(entry.inside for entry in state.entries if entry.inside is not None) - live.keys(),
        manifests=manifests,
    )
