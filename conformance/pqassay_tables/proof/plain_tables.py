"""Tables of given rows of which nothing is said but that they are there: one file, no partitions, no statistics.

What an engine gets wrong there as well is its own mistake, and no metadata's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq

from pqassay_spec.table import iceberg_field_ids as field_ids
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
"""The key by which pyarrow has the id of a column."""


def write_rows(table: pa.Table, path: Path) -> int:
    """Write rows as a Parquet file without statistics, and say how many bytes it has."""
    pq.write_table(table, path, write_statistics=False)
    return path.stat().st_size


def write_delta(table: pa.Table, folder: Path, metadata: Mapping[str, Any], features: Sequence[str]) -> None:
    """Write rows as a Delta table.

    Args:
        table: The rows.
        folder: Where to.
        metadata: The ``metaData`` action of the table with the same columns, and maybe more.
        features: The features of readers that the columns take.
    """
    (folder / DELTA_LOG).mkdir(parents=True)
    size = write_rows(table, folder / DATA)
    schema: Mapping[str, Any] = json.loads(metadata["schemaString"])
    fields = [_known(one, table) for one in schema["fields"] if one["name"] in table.column_names]
    about = {
        "id": str(UUID(int=0)),  # what the table says of itself may be what is wrong
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
    """A field of a schema; where its type is none that the protocol has, with the one of its values."""
    kind = field["type"]
    if not isinstance(kind, str) or kind in PRIMITIVE_TYPES or kind.startswith("decimal("):
        return field
    stored = str(table.schema.field(field["name"]).type)
    return {**field, "type": STORED_AS.get(stored, stored)}


STORED_AS = {"int8": "byte", "int16": "short", "int32": "integer", "int64": "long", "bool": "boolean", "date32[day]": "date"}  # fmt: skip
"""Types of Arrow that Delta calls otherwise."""


def write_iceberg(table: pa.Table, folder: Path, fields: Sequence[Json]) -> None:
    """Write rows as an Iceberg table of version 2.

    Args:
        table: The rows.
        folder: Where to, an absolute path; so are the paths in its metadata.
        fields: The columns in the schema of the table, by whose names their ids are found.
    """
    out = folder / ICEBERG_METADATA
    out.mkdir(parents=True)
    ids = {one["name"]: one["id"] for one in fields}
    columns = [one.with_metadata({FIELD_ID: str(ids[one.name])}) for one in table.schema]
    data, manifest, listed = folder / DATA, out / "manifest.avro", out / "snap.avro"
    size = write_rows(table.cast(pa.schema(columns)), data)
    entry = [1, 1, None, None, [0, str(data), "PARQUET", [], len(table), size]]
    schema = {"type": "struct", "schema-id": 0, "fields": list(fields)}
    about = {
        "schema": json.dumps(schema, default=str),
        "partition-spec": "[]",
        "partition-spec-id": "0",
        "format-version": "2",
        "content": "data",
    }
    manifest.write_bytes(_container(_MANIFEST_ENTRY, entry, about))
    facts = [str(manifest), manifest.stat().st_size, 0, 0, 1, 1, 1, 1, 0, 0, len(table), 0, 0]
    listed.write_bytes(_container(_MANIFEST_FILE, facts, {"format-version": "2"}))
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


def _record(name: str, declared: JsonObject, numbers: Sequence[int], **types: Any) -> Json:
    """The schema of a record with some of its declared fields; ``types`` are those that the declaration has in other words."""
    members: list[Json] = []
    numbered = {member.id: member for member in declared.members}
    for number in numbers:
        member = numbered[number]
        kind = types.get(member.name, member.type)
        members.append({"name": member.name, "type": kind, "field-id": number})
        if isinstance(kind, list):
            members[-1]["default"] = None
    return {"type": "record", "name": name, "fields": members}


_NULLABLE = ["null", "long"]

_DATA_FILE = _record(
    "r2",
    DATA_FILE,
    (
        field_ids.CONTENT,
        field_ids.FILE_PATH,
        field_ids.FILE_FORMAT,
        field_ids.PARTITION,
        field_ids.RECORD_COUNT,
        field_ids.FILE_SIZE_IN_BYTES,
    ),
    partition={"type": "record", "name": "r102", "fields": []},
)

_MANIFEST_ENTRY = _record(
    "manifest_entry",
    MANIFEST_ENTRY,
    (
        field_ids.STATUS,
        field_ids.SNAPSHOT_ID,
        field_ids.SEQUENCE_NUMBER,
        field_ids.FILE_SEQUENCE_NUMBER,
        field_ids.DATA_FILE,
    ),
    snapshot_id=_NULLABLE,
    sequence_number=_NULLABLE,
    file_sequence_number=_NULLABLE,
    data_file=_DATA_FILE,
)

_MANIFEST_FILE = _record(
    "manifest_file",
    MANIFEST_FILE,
    (
        field_ids.MANIFEST_PATH,
        field_ids.MANIFEST_LENGTH,
        field_ids.PARTITION_SPEC_ID,
        field_ids.MANIFEST_CONTENT,
        field_ids.MANIFEST_SEQUENCE_NUMBER,
        field_ids.MIN_SEQUENCE_NUMBER,
        field_ids.ADDED_SNAPSHOT_ID,
        field_ids.ADDED_FILES_COUNT,
        field_ids.EXISTING_FILES_COUNT,
        field_ids.DELETED_FILES_COUNT,
        field_ids.ADDED_ROWS_COUNT,
        field_ids.EXISTING_ROWS_COUNT,
        field_ids.DELETED_ROWS_COUNT,
    ),
)


def _container(schema: Json, values: Sequence[Any], about: Mapping[str, str]) -> bytes:
    """An object container of one record, whose values are in the order of its schema, those of records in it as well."""
    texts = {SCHEMA_KEY: json.dumps(schema), CODEC_KEY: "null", **about}
    metadata = {key: text.encode() for key, text in texts.items()}
    packed = grammar_of(schema).build(_named(schema, values))
    return b"".join(
        [
            CONTAINER_HEADER.build({"magic": MAGIC, "metadata": metadata, "sync": MARKER}),
            BLOCK_HEADER.build({"count": 1, "size": len(packed)}),
            packed,
            MARKER,
        ]
    )


def _named(schema: Any, value: Any) -> Any:
    if isinstance(schema, dict) and schema["type"] == "record":
        pairs = zip(schema["fields"], value, strict=True)
        return {one["name"]: _named(one["type"], part) for one, part in pairs}
    return value
