"""The logical value of a ``_pm`` snapshot as JSON, for golden files, requests and answers.

The members have short names.  Physical types are written as their names in Parquet; codecs, encodings and type codes as
numbers.  Bytes are ``{"bytes": "00ff"}``, whole numbers beyond 2^53 are ``{"int": "9007199254740993"}``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from pqassay_spec.base.strict_json import WHOLE_NUMBER, exact_integer
from pqassay_spec.pm.codes import PhysicalType
from pqassay_spec.pm.value import (
    ExternalBloom,
    SnapshotChunk,
    SnapshotColumn,
    SnapshotRowGroup,
    SnapshotSorting,
    SnapshotValue,
)


class NotAValueError(ValueError):
    """JSON that is not a logical value. The message begins with the member's path."""


def to_json(value: SnapshotValue) -> dict[str, Any]:
    """A value as JSON; members of extensions are only present if the file has them.

    >>> to_json(SnapshotValue((), (), 4, 10, unused_bytes=2**60))["unused_bytes"]
    {'int': '1152921504606846976'}
    """
    return cast("dict[str, Any]", _SNAPSHOT.write(value))


def from_json(record: object) -> SnapshotValue:
    """Read the value from JSON. Nullable members may be left out; unknown members are errors.

    Raises:
        NotAValueError: A member is missing, unknown, or of another type; the message names it.
    """
    return cast("SnapshotValue", _SNAPSHOT.read(record, ""))


# ------------------------------------------------------------------------------------------- kinds of members


@dataclass(frozen=True)
class _Kind:
    """One kind of member.

    Attributes:
        write: Converts a value to JSON.
        read: Converts JSON to a value; also takes the path for messages.
        nullable: Whether the value may be missing: null, or no member.
        left_out: Whether a missing value is written as no member rather than as null.
    """

    write: Callable[[Any], Any]
    read: Callable[[object, str], Any]
    nullable: bool = False
    left_out: bool = False


def _nullable(kind: _Kind, *, left_out: bool = False) -> _Kind:
    def write(value: Any) -> Any:
        return None if value is None else kind.write(value)

    return replace(kind, write=write, nullable=True, left_out=left_out)


def _list(kind: _Kind) -> _Kind:
    def write(values: tuple[Any, ...]) -> list[Any]:
        return [kind.write(value) for value in values]

    def read(items: object, path: str) -> tuple[Any, ...]:
        if not isinstance(items, list):
            raise NotAValueError(f"{path}: no list")
        return tuple(
            kind.read(item, f"{path}[{number}]") for number, item in enumerate(cast("list[object]", items))
        )

    return _Kind(write, read)


def _object(record: type[Any], members: Mapping[str, _Kind], **attributes: str) -> _Kind:
    """The kind of a dataclass; ``attributes`` maps members to attributes with other names."""

    def write(value: Any) -> dict[str, Any]:
        written = {
            name: kind.write(getattr(value, attributes.get(name, name))) for name, kind in members.items()
        }
        return {
            name: member
            for name, member in written.items()
            if member is not None or not members[name].left_out
        }

    def read(value: object, path: str) -> Any:
        if not isinstance(value, dict):
            raise NotAValueError(f"{path or 'the value'}: no object")
        members_in_json, prefix = cast("dict[str, object]", value), path and f"{path}."
        values: dict[str, Any] = {}
        for name, kind in members.items():
            attribute = attributes.get(name, name)
            if kind.nullable and members_in_json.get(name) is None:
                values[attribute] = None
            elif name not in members_in_json:
                raise NotAValueError(f"{prefix}{name}: missing")
            else:
                values[attribute] = kind.read(members_in_json[name], f"{prefix}{name}")
        if unknown := members_in_json.keys() - members.keys():
            raise NotAValueError(f"{prefix}{min(unknown)}: unknown")
        return record(**values)

    return _Kind(write, read)


def _read_integer(value: object, path: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    text = _tagged(value, "int")
    if not isinstance(text, str) or not WHOLE_NUMBER.fullmatch(text):
        raise NotAValueError(f"{path}: no whole number")
    return int(text)


def _tagged(value: object, tag: str) -> object:
    """The content of an object whose only member is ``tag``; ``None`` for anything else."""
    if not isinstance(value, dict):
        return None
    members = cast("dict[str, object]", value)
    return members.get(tag) if len(members) == 1 else None


def _read_boolean(value: object, path: str) -> bool:
    if not isinstance(value, bool):
        raise NotAValueError(f"{path}: neither true nor false")
    return value


def _read_text(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise NotAValueError(f"{path}: no text")
    return value


def _write_bytes(data: bytes) -> dict[str, str]:
    return {"bytes": data.hex()}


def _read_bytes(value: object, path: str) -> bytes:
    text = _tagged(value, "bytes")
    if not isinstance(text, str) or not re.fullmatch(r"([0-9a-fA-F]{2})*", text, re.ASCII):
        raise NotAValueError(f"{path}: no bytes in hexadecimal")
    return bytes.fromhex(text)


_NAMES: Mapping[int, str] = {member.value: member.name for member in PhysicalType}
_NUMBERS = {name: number for number, name in _NAMES.items()}


def _write_physical_type(number: int) -> str | int:
    return _NAMES.get(number, int(number))


def _read_physical_type(value: object, path: str) -> int:
    if isinstance(value, str) and value not in _NUMBERS:
        raise NotAValueError(f"{path}: {value[:60]!r} is not one of {', '.join(_NUMBERS)}")
    return _NUMBERS[value] if isinstance(value, str) else _read_integer(value, path)


def _write_bloom(bloom: bytes | ExternalBloom) -> Any:
    return _EXTERNAL_BLOOM.write(bloom) if isinstance(bloom, ExternalBloom) else _write_bytes(bloom)


def _read_bloom(value: object, path: str) -> bytes | ExternalBloom:
    if isinstance(value, dict) and "offset" in value:
        return cast("ExternalBloom", _EXTERNAL_BLOOM.read(cast("object", value), path))
    return _read_bytes(value, path)


_INTEGER = _Kind(exact_integer, _read_integer)
_BOOLEAN = _Kind(bool, _read_boolean)
_TEXT = _Kind(str, _read_text)
_BYTES = _Kind(_write_bytes, _read_bytes)
_PHYSICAL_TYPE = _Kind(_write_physical_type, _read_physical_type)
_BLOOM = _Kind(_write_bloom, _read_bloom)

# ------------------------------------------------------------------------------------- the members, in order

_EXTERNAL_BLOOM = _object(ExternalBloom, {"offset": _INTEGER, "length": _INTEGER})

_CHUNK = _object(
    SnapshotChunk,
    {
        **dict.fromkeys(("codec", "encodings", "num_values", "offset", "length"), _INTEGER),
        **dict.fromkeys(("null_count", "distinct_count"), _nullable(_INTEGER)),
        "min": _nullable(_BYTES),
        "min_exact": _BOOLEAN,
        "max": _nullable(_BYTES),
        "max_exact": _BOOLEAN,
        "bloom": _nullable(_BLOOM),
    },
)

_COLUMN = _object(
    SnapshotColumn,
    {
        "name": _TEXT,
        "id": _INTEGER,
        "type": _INTEGER,
        "physical_type": _PHYSICAL_TYPE,
        **dict.fromkeys(("fixed_byte_len", "max_rep_level", "max_def_level", "repetition"), _INTEGER),
        "ascii": _BOOLEAN,
        "global_key": _BOOLEAN,
    },
    ascii="is_ascii",
    global_key="local_key_is_global",
)

_SNAPSHOT = _object(
    SnapshotValue,
    {
        "designated_timestamp": _INTEGER,
        "sorting": _list(_object(SnapshotSorting, {"column": _INTEGER, "descending": _BOOLEAN})),
        "columns": _list(_COLUMN),
        "bloom_columns": _list(_INTEGER),
        "bloom_external": _BOOLEAN,
        "row_groups": _list(_object(SnapshotRowGroup, {"num_rows": _INTEGER, "chunks": _list(_CHUNK)})),
        **dict.fromkeys(("parquet_footer_offset", "parquet_footer_length", "unused_bytes"), _INTEGER),
        "previous_sizes": _list(_INTEGER),
        **dict.fromkeys(("squash_tracker", "seq_txn"), _nullable(_INTEGER, left_out=True)),
    },
)
