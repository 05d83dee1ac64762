"""Avro object containers with fixed bytes, and the schemas of manifests from the fields that the specification declares."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, Literal

import pyarrow as pa

from pqassay_spec.table.avro import (
    BLOCK_HEADER,
    CODEC_KEY,
    CONTAINER_HEADER,
    MAGIC,
    SCHEMA_KEY,
    SNAPPY_CHECKSUM,
    SYNC,
    grammar_of,
)
from pqassay_spec.table.json_objects import JsonMember, JsonObject

Json = dict[str, Any]
Codec = Literal["null", "deflate", "snappy", "zstandard"]

MARKER = bytes(range(0xA0, 0xA0 + SYNC))
"""The marker of all files, which is not random in golden files."""


def _snappy(plain: bytes) -> bytes:
    return pa.Codec("snappy").compress(plain, asbytes=True) + zlib.crc32(plain).to_bytes(
        SNAPPY_CHECKSUM, "big"
    )


_CODECS: dict[str, Callable[[bytes], bytes]] = {
    "null": lambda plain: plain,
    "deflate": lambda plain: zlib.compress(plain, 9, -zlib.MAX_WBITS),
    "snappy": _snappy,
    "zstandard": lambda plain: pa.Codec("zstd").compress(plain, asbytes=True),
}


def container(
    schema: Json,
    records: Sequence[Json],
    metadata: Mapping[str, str] | None = None,
    *,
    codec: Codec = "null",
    block: int = 1000,
) -> bytes:
    """An object container.

    Args:
        schema: The schema of its objects.
        records: The objects.
        metadata: Entries of the header in addition to schema and codec.
        codec: The compression of blocks.
        block: Number of objects in a block.
    """
    about = {SCHEMA_KEY: json.dumps(schema, separators=(",", ":")), CODEC_KEY: codec, **(metadata or {})}
    raw = {key: text.encode() for key, text in about.items()}
    parts = [CONTAINER_HEADER.build({"magic": MAGIC, "metadata": raw, "sync": MARKER})]
    grammar = grammar_of(schema)
    for start in range(0, len(records), block):
        some = records[start : start + block]
        packed = _CODECS[codec](b"".join(grammar.build(one) for one in some))
        parts += [BLOCK_HEADER.build({"count": len(some), "size": len(packed)}), packed, MARKER]
    return b"".join(parts)


def record_schema(
    declared: JsonObject, required: Container[str] = (), absent: Container[str] = (), **members: Json
) -> Json:
    """The schema of a kind of record, with its fields in order.

    Args:
        declared: The record.
        required: Names of required fields, in addition to those that every version of the format requires.
        absent: Names of fields to leave out.
        members: The schemas of fields that are records or lists of records, by name.
    """
    fields: list[Json] = []
    for one in declared.members:
        if one.name in absent:
            continue
        kind: Any = members.get(one.name) or _type_of(one)
        field: Json = {"name": one.name, "type": kind, "field-id": one.id}
        if one.presence == "optional" and one.name not in required:
            field |= {"type": ["null", kind], "default": None}
        fields.append(field)
    return {"type": "record", "name": declared.name, "fields": fields}


def list_of(item: Any, identifier: int) -> Json:
    """The schema of a list."""
    return {"type": "array", "items": item, "element-id": identifier}


_IDS = {
    "column_sizes": (117, 118),
    "value_counts": (119, 120),
    "null_value_counts": (121, 122),
    "nan_value_counts": (138, 139),
    "lower_bounds": (126, 127),
    "upper_bounds": (129, 130),
}
"""The ids of keys and values of the maps in manifests."""

_ELEMENTS = {"split_offsets": 133, "equality_ids": 136}


def _type_of(member: JsonMember) -> Any:
    if member.type.startswith("map of int to "):
        key, value = _IDS[member.name]
        fields = [
            {"name": "key", "type": "int", "field-id": key},
            {"name": "value", "type": member.type.rpartition(" ")[2], "field-id": value},
        ]
        pair = {"type": "record", "name": f"k{key}_v{value}", "fields": fields}
        return {"type": "array", "items": pair, "logicalType": "map"}
    if member.type.startswith("list of "):
        return list_of(member.type.removeprefix("list of "), _ELEMENTS[member.name])
    return member.type
