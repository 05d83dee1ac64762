"""The files of golden Iceberg tables: metadata, manifest lists and manifests; each claim can be given."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from pqassay_golden.tiny.avro import Codec, container, list_of, record_schema
from pqassay_spec.table.iceberg import DATA_FILE, FIELD_SUMMARY, MANIFEST_ENTRY, MANIFEST_FILE, ROW_IDS_SINCE

Json = dict[str, Any]
Files = dict[str, bytes]

METADATA = "metadata/v1.metadata.json"
LIST = "metadata/snap-1.avro"
MANIFEST = "metadata/manifest-0.avro"
DELETES = "metadata/deletes-0.avro"
LOCATION = "file:///warehouse/metals"

SNAPSHOT = 5_000_000_000_000_000_001

EARLIER = 4_000_000_000_000_000_001
"""The id of a snapshot that is no longer in the metadata, although its files still exist."""


REQUIRED = (
    "content",
    "sequence_number",
    "min_sequence_number",
    "added_snapshot_id",
    "added_files_count",
    "existing_files_count",
    "deleted_files_count",
    "added_rows_count",
    "existing_rows_count",
    "deleted_rows_count",
)
"""Fields of manifest lists and data files that are optional in version 1 and required later; some readers want their types so."""


NEW_IN_2 = ("content", "sequence_number", "min_sequence_number", "file_sequence_number")
"""Fields of manifest lists, entries and data files that version 1 lacks."""


def metadata(
    columns: Sequence[Json],
    partition: Sequence[Json] = (),
    *,
    snapshot: int = SNAPSHOT,
    version: int = 2,
    rows: int | None = 16,
    sequence: int = 1,
    **more: Any,
) -> bytes:
    """A metadata file with one snapshot; if ``rows`` is ``None``, without a total of its rows.

    ``more`` are its other members, with ``_`` for ``-``.
    """
    totals = {} if rows is None else {"total-records": str(rows)}
    snapshot_record: Json = {
        "snapshot-id": SNAPSHOT,
        "sequence-number": sequence,
        "timestamp-ms": 1_700_000_000_000,
        "manifest-list": f"{LOCATION}/{LIST}",
        "schema-id": 0,
        "summary": {"operation": "append", **totals, "engine-name": "pqassay-reference"},
    }
    content: Json = {
        "format-version": version,
        "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
        "location": LOCATION,
        "last-sequence-number": sequence,
        "last-updated-ms": 1_700_000_000_000,
        "last-column-id": len(columns),
        "current-schema-id": 0,
        "schemas": [{"type": "struct", "schema-id": 0, "fields": list(columns)}],
        "default-spec-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": list(partition)}],
        "last-partition-id": 999 + len(partition),
        "default-sort-order-id": 0,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "properties": {},
        "current-snapshot-id": snapshot,
        "refs": {"main": {"snapshot-id": snapshot, "type": "branch"}},
        "snapshots": [snapshot_record],
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    if version >= ROW_IDS_SINCE:
        content.setdefault("next-row-id", 0)
        snapshot_record |= {"first-row-id": 0, "added-rows": content["next-row-id"]}
    if version == 1:
        # Some readers refuse a snapshot whose sequence number is greater than the one that they assume for version 1.
        del snapshot_record["sequence-number"], content["last-sequence-number"]
        content |= {"schema": {"type": "struct", "fields": list(columns)}, "partition-spec": list(partition)}
    return f"{json.dumps(content, separators=(',', ':'))}\n".encode()


def pairs(values: Mapping[int, Any] | None) -> list[Json] | None:
    """A map in the form of manifests."""
    return None if values is None else [{"key": key, "value": value} for key, value in values.items()]


MAPS = (
    "column_sizes",
    "value_counts",
    "null_value_counts",
    "nan_value_counts",
    "lower_bounds",
    "upper_bounds",
)


def data_file(path: str, data: bytes, rows: int, partition: Json | None = None, **more: Any) -> Json:
    """The claims of a manifest about a file; maps are given as dicts."""
    empty = {one.name: None for one in DATA_FILE.members}
    return {
        **empty,
        "content": 0,
        "file_path": f"{LOCATION}/{path}",
        "file_format": "PARQUET",
        "partition": partition or {},
        "record_count": rows,
        "file_size_in_bytes": len(data),
        "split_offsets": [4],
        **more,
    }


def entry(file: Json, *, status: int = 1, sequence: int | None = None, snapshot: int = SNAPSHOT) -> Json:
    """An entry of a manifest."""
    packed = {name: pairs(value) if name in MAPS else value for name, value in file.items()}
    return {
        "status": status,
        "snapshot_id": snapshot,
        "sequence_number": sequence,
        "file_sequence_number": sequence,
        "data_file": packed,
    }


def manifest(
    entries: Sequence[Json],
    partition: Sequence[tuple[int, str, Any]] = (),
    *,
    content: str = "data",
    columns: Sequence[Json] = (),
    partitioned_by: Sequence[Json] = (),
    codec: Codec = "null",
    version: int = 2,
    spec: int = 0,
    schema: int = 0,
) -> bytes:
    """A manifest.

    Args:
        entries: Its entries.
        partition: Number, name and Avro type of each partition field.
        content: The content according to the header.
        columns: The columns of the table, for the header.
        partitioned_by: Its partition fields, for the header.
        codec: Its compression.
        version: The version of the format.
        spec: The id of the partition spec.
        schema: The id of the schema with these columns.
    """
    fields = [
        {"name": name, "type": ["null", kind], "default": None, "field-id": identifier}
        for identifier, name, kind in partition
    ]
    absent = NEW_IN_2 if version == 1 else ()
    of_file = record_schema(
        DATA_FILE, REQUIRED, absent, partition={"type": "record", "name": "r102", "fields": fields}
    )
    columns_of = {"type": "struct", "schema-id": schema, "fields": list(columns)}
    about = {
        "schema": json.dumps(columns_of, separators=(",", ":")),
        "partition-spec": json.dumps(list(partitioned_by), separators=(",", ":")),
        "partition-spec-id": str(spec),
        "format-version": str(version),
        "content": content,
    }
    of_entry = record_schema(MANIFEST_ENTRY, (), absent, data_file=of_file)
    return container(of_entry, entries, about, codec=codec, block=3)


def listed(path: str, data: bytes, entries: Sequence[Json], **more: Any) -> Json:
    """The entry for a manifest in a manifest list, with true counts."""
    empty = {one.name: None for one in MANIFEST_FILE.members}
    rows = [
        sum(one["data_file"]["record_count"] for one in entries if one["status"] == status)
        for status in range(3)
    ]
    files = [sum(one["status"] == status for one in entries) for status in range(3)]
    return {
        **empty,
        "manifest_path": f"{LOCATION}/{path}",
        "manifest_length": len(data),
        "partition_spec_id": 0,
        "content": 0,
        "sequence_number": 1,
        "min_sequence_number": 1,
        "added_snapshot_id": SNAPSHOT,
        "existing_files_count": files[0],
        "added_files_count": files[1],
        "deleted_files_count": files[2],
        "existing_rows_count": rows[0],
        "added_rows_count": rows[1],
        "deleted_rows_count": rows[2],
        **more,
    }


def manifest_list(manifests: Sequence[Json], *, codec: Codec = "null", version: int = 2) -> bytes:
    """A manifest list."""
    required = [name for name in REQUIRED if all(one[name] is not None for one in manifests)]
    absent = NEW_IN_2 if version == 1 else ()
    summaries = list_of(record_schema(FIELD_SUMMARY), 508)
    schema = record_schema(MANIFEST_FILE, required, absent, partitions=summaries)
    about = {"snapshot-id": str(SNAPSHOT), "format-version": str(version)}
    return container(schema, manifests, about, codec=codec)


def parts_of(datas: Sequence[bytes]) -> Files:
    """Data files, by path."""
    return {f"data/part-{number}.parquet": data for number, data in enumerate(datas)}


def table(
    columns: Sequence[Json],
    entries: Sequence[Json],
    files: Mapping[str, bytes],
    *,
    partition: Sequence[Json] = (),
    avro: Sequence[tuple[int, str, Any]] = (),
    manifests_of: int = 2,
    of_list: Json | None = None,
    deletes: Sequence[Json] = (),
    of_deletes: Json | None = None,
    **more: Any,
) -> Files:
    """A table with one manifest of data files and, if there are deletes, one of delete files.

    Args:
        columns: Its columns.
        entries: The entries of its data files.
        files: Its data files and delete files.
        partition, avro: Its partition fields, in JSON and as Avro types.
        manifests_of: The version of the format of the manifests.
        of_list, of_deletes: Claims of the manifest list about the two manifests.
        deletes: The entries of its delete files.
        **more: Further metadata, see `metadata`.
    """
    written = {
        MANIFEST: manifest(entries, avro, columns=columns, partitioned_by=partition, version=manifests_of)
    }
    lists = [listed(MANIFEST, written[MANIFEST], entries, **(of_list or {}))]
    if deletes:
        written[DELETES] = manifest(deletes, content="deletes", columns=columns, version=manifests_of)
        lists.append(listed(DELETES, written[DELETES], deletes, content=1, **(of_deletes or {})))
    return {METADATA: metadata(columns, partition, **more), LIST: manifest_list(lists), **written, **files}


def int32(value: int) -> bytes:
    """A bound of type int or date."""
    return value.to_bytes(4, "little", signed=True)


def int64(value: int) -> bytes:
    """A bound of type long or timestamp."""
    return value.to_bytes(8, "little", signed=True)


def double(value: float) -> bytes:
    """A bound of type double."""
    return struct.pack("<d", value)


def decimal(unscaled: int) -> bytes:
    """A bound of a decimal, with as few bytes as possible."""
    return unscaled.to_bytes(unscaled.bit_length() // 8 + 1, "big", signed=True)
