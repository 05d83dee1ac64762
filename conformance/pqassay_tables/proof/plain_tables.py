"""Tables of given rows without claims: one file, no partitions, no statistics.

A wrong answer about such a table is the engine's own mistake.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq

from pqassay_spec.table.avro import (
    BLOCK_HEADER,
    CODEC_KEY,
    CONTAINER_HEADER,
    MAGIC,
    SCHEMA_KEY,
    SYNC,
    grammar_of,
)
from pqassay_spec.table.delta import PRIMITIVE_TYPES, PROVIDER
from pqassay_spec.table.iceberg import DATA_FILE, MANIFEST_ENTRY, MANIFEST_FILE
from pqassay_spec.table.json_objects import JsonObject
from pqassay_spec.table.layout import DELTA_LOG, ICEBERG_METADATA, commit_name

Json = dict[str, Any]

DATA = "part-0.parquet"

MARKER = bytes(SYNC)

FIELD_ID = b"PARQUET:field_id"
"""The metadata key of pyarrow for the id of a column."""


def write_rows(table: pa.Table, path: Path) -> int:
    """Write rows as a Parquet file without statistics; return its size in bytes."""
    pq.write_table(table, path, write_statistics=False)
    return path.stat().st_size


def write_delta(table: pa.Table, folder: Path, metadata: Mapping[str, Any], features: Sequence[str]) -> None:
    """Write rows as a Delta table.

    Args:
        table: The rows.
        folder: The folder of the new table.
        metadata: The ``metaData`` action of a table with at least these columns.
        features: The reader features that the columns need.
    """
    (folder / DELTA_LOG).mkdir(parents=True)
    size = write_rows(table, folder / DATA)
    schema: Mapping[str, Any] = json.loads(metadata["schemaString"])
    fields = [_known(one, table) for one in schema["fields"] if one["name"] in table.column_names]
    about = {
        "id": str(UUID(int=0)),  # the table's own metadata may be wrong
        "format": {"provider": PROVIDER, "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": fields}),
        "partitionColumns": [],
        "configuration": {},
    }
    protocol: Json = {"minReaderVersion": 1, "minWriterVersion": 2}
    if features:
        names = {"readerFeatures": list(features), "writerFeatures": list(features)}
        protocol = {"minReaderVersion": 3, "minWriterVersion": 7, **names}
    add = {"path": DATA, "partitionValues": {}, "size": size, "modificationTime": 0, "dataChange": True}
    lines = [{"protocol": protocol}, {"metaData": about}, {"add": add}]
    text = "".join(f"{json.dumps(line, default=str)}\n" for line in lines)
    (folder / DELTA_LOG / commit_name(0)).write_text(text, "utf-8")


def _known(field: Json, table: pa.Table) -> Json:
    """A schema field; if the protocol does not define its type, with the type of its values."""
    kind = field["type"]
    if not isinstance(kind, str) or kind in PRIMITIVE_TYPES or kind.startswith("decimal("):
        return field
    stored = str(table.schema.field(field["name"]).type)
    return {**field, "type": STORED_AS.get(stored, stored)}


STORED_AS = {"int8": "byte", "int16": "short", "int32": "integer", "int64": "long", "bool": "boolean", "date32[day]": "date"}  # fmt: skip
"""Delta's names for types that Arrow names differently."""


def write_iceberg(table: pa.Table, folder: Path, fields: Sequence[Json]) -> None:
    """Write rows as an Iceberg table of version 2.

    Args:
        table: The rows.
        folder: The folder of the new table, an absolute path, since paths in its metadata are absolute.
        fields: The columns in the schema of the table, which have the ids by name.
    """
    out = folder / ICEBERG_METADATA
    out.mkdir(parents=True)
    ids = {one["name"]: one["id"] for one in fields}
    columns = [one.with_metadata({FIELD_ID: str(ids[one.name])}) for one in table.schema]
    data, manifest, listed = folder / DATA, out / "manifest.avro", out / "snap.avro"
    size = write_rows(table.cast(pa.schema(columns)), data)
    file = {
        "content": 0,
        "file_path": str(data),
        "file_format": "PARQUET",
        "partition": {},
        "record_count": len(table),
        "file_size_in_bytes": size,
    }
    numbers = {"snapshot_id": 1, "sequence_number": None, "file_sequence_number": None}
    schema = {"type": "struct", "schema-id": 0, "fields": list(fields)}
    about = {
        "schema": json.dumps(schema, default=str),
        "partition-spec": "[]",
        "partition-spec-id": "0",
        "format-version": "2",
        "content": "data",
    }
    manifest.write_bytes(_container(MANIFEST_ENTRY, {"status": 1, **numbers, "data_file": file}, about))
    place = {"manifest_path": str(manifest), "manifest_length": manifest.stat().st_size}
    since = {"sequence_number": 1, "min_sequence_number": 1, "added_snapshot_id": 1}
    files = {"added_files_count": 1, "existing_files_count": 0, "deleted_files_count": 0}
    rows = {"added_rows_count": len(table), "existing_rows_count": 0, "deleted_rows_count": 0}
    facts = {**place, "partition_spec_id": 0, "content": 0, **since, **files, **rows}
    listed.write_bytes(_container(MANIFEST_FILE, facts, {"format-version": "2"}))
    snapshot = {
        "snapshot-id": 1,
        "sequence-number": 1,
        "timestamp-ms": 0,
        "manifest-list": str(listed),
        "summary": {"operation": "append"},
        "schema-id": 0,
    }
    metadata: Json = {
        "format-version": 2,
        "table-uuid": "6f0e3d4c-8a35-4d1a-9a52-0d4b6a3f3a10",
        "location": str(folder),
        "last-sequence-number": 1,
        "last-updated-ms": 0,
        "last-column-id": max(ids.values()),
        "current-schema-id": 0,
        "schemas": [schema],
        "default-spec-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "last-partition-id": 999,
        "default-sort-order-id": 0,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "properties": {},
        "current-snapshot-id": 1,
        "refs": {"main": {"snapshot-id": 1, "type": "branch"}},
        "snapshots": [snapshot],
        "snapshot-log": [],
        "metadata-log": [],
    }
    (out / "v1.metadata.json").write_text(json.dumps(metadata, default=str), "utf-8")


RECORDS = {"data_file": "r2", "partition": "r102"}
"""The names that readers expect for nested records."""


def _record(name: str, declared: JsonObject, value: Json) -> Json:
    """The schema of a record for a value with declared members."""
    members: list[Json] = []
    for key, part in value.items():
        member = declared.member(key)
        assert member is not None
        kind: Any = member.type
        if isinstance(part, dict):
            kind = _record(RECORDS[key], DATA_FILE, cast("Json", part))
        elif declared is MANIFEST_ENTRY and member.presence == "optional":
            kind = ["null", kind]
        default: Json = {"default": None} if isinstance(kind, list) else {}
        members.append({"name": key, "type": kind, "field-id": member.id, **default})
    return {"type": "record", "name": name, "fields": members}


def _container(declared: JsonObject, value: Json, about: Mapping[str, str]) -> bytes:
    """An object container with one record."""
    schema = _record(declared.name, declared, value)
    texts = {SCHEMA_KEY: json.dumps(schema), CODEC_KEY: "null", **about}
    metadata = {key: text.encode() for key, text in texts.items()}
    packed = grammar_of(schema).build(value)
    header = CONTAINER_HEADER.build({"magic": MAGIC, "metadata": metadata, "sync": MARKER})
    return b"".join([header, BLOCK_HEADER.build({"count": 1, "size": len(packed)}), packed, MARKER])
