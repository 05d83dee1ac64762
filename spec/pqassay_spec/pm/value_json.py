"""The logical value of a ``_pm`` snapshot as JSON, as golden files, requests and answers hold it.

The members have short names of their own.  Physical types go by their names in Parquet; codecs, encodings and type codes by
their numbers.  Bytes are ``{"bytes": "00ff"}``, whole numbers beyond 2^53 are ``{"int": "9007199254740993"}``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from pqassay_spec.base.strict_json import EXACT_INTEGERS
from pqassay_spec.pm.codes import PhysicalType
from pqassay_spec.pm.value import Chunk, Column, ExternalBloom, RowGroup, SnapshotValue, SortingColumn

Thing = TypeVar("Thing")


class NotAValueError(ValueError):
    """JSON that is no logical value. The message begins with the member's path."""


# ------------------------------------------------------------------------------------------------- to JSON


def to_json(value: SnapshotValue) -> dict[str, Any]:
    """A value as JSON; members of extensions are there only if the file has them.

    >>> to_json(SnapshotValue((), (), 4, 10, unused_bytes=2**60))["unused_bytes"]
    {'int': '1152921504606846976'}
    """
    record: dict[str, Any] = {
        "designated_timestamp": value.designated_timestamp,
        "sorting": [{"column": by.column, "descending": by.descending} for by in value.sorting],
        "columns": [_column_json(column) for column in value.columns],
        "bloom_columns": list(value.bloom_columns),
        "bloom_external": value.bloom_external,
        "row_groups": [
            {"num_rows": _int_json(group.num_rows), "chunks": [_chunk_json(chunk) for chunk in group.chunks]}
            for group in value.row_groups
        ],
        "parquet_footer_offset": _int_json(value.parquet_footer_offset),
        "parquet_footer_length": _int_json(value.parquet_footer_length),
        "unused_bytes": _int_json(value.unused_bytes),
        "previous_sizes": [_int_json(size) for size in value.previous_sizes],
    }
    if value.squash_tracker is not None:
        record["squash_tracker"] = _int_json(value.squash_tracker)
    if value.seq_txn is not None:
        record["seq_txn"] = _int_json(value.seq_txn)
    return record


def _column_json(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "id": int(column.id),
        "type": int(column.type),
        "physical_type": _NAMES.get(column.physical_type, int(column.physical_type)),
        "fixed_byte_len": int(column.fixed_byte_len),
        "max_rep_level": int(column.max_rep_level),
        "max_def_level": int(column.max_def_level),
        "repetition": int(column.repetition),
        "ascii": column.is_ascii,
        "global_key": column.local_key_is_global,
    }


def _chunk_json(chunk: Chunk) -> dict[str, Any]:
    return {
        "codec": int(chunk.codec),
        "encodings": int(chunk.encodings),
        "num_values": _int_json(chunk.num_values),
        "offset": _int_json(chunk.offset),
        "length": _int_json(chunk.length),
        "null_count": _int_json(chunk.null_count),
        "distinct_count": _int_json(chunk.distinct_count),
        "min": _bytes_json(chunk.min),
        "min_exact": chunk.min_exact,
        "max": _bytes_json(chunk.max),
        "max_exact": chunk.max_exact,
        "bloom": {"offset": _int_json(chunk.bloom.offset), "length": _int_json(chunk.bloom.length)}
        if isinstance(chunk.bloom, ExternalBloom)
        else _bytes_json(chunk.bloom),
    }


def _int_json(number: int | None) -> Any:
    # Members of enums become plain numbers.
    return (
        None
        if number is None
        else int(number)
        if abs(number) <= EXACT_INTEGERS
        else {"int": str(int(number))}
    )


def _bytes_json(data: bytes | None) -> Any:
    return None if data is None else {"bytes": data.hex()}


_NAMES: Mapping[int, str] = {member.value: member.name for member in PhysicalType}
_NUMBERS = {name: number for number, name in _NAMES.items()}


# ----------------------------------------------------------------------------------------------- from JSON


def from_json(record: object) -> SnapshotValue:
    """The value that JSON holds. Members that may be null may be left out; others that are not known are errors.

    Raises:
        NotAValueError: A member is missing, unknown, or of another type; the message says which.
    """
    given = _Members(record, "")
    value = SnapshotValue(
        designated_timestamp=given.take("designated_timestamp", _integer),
        sorting=given.take_list("sorting", _sorting_column),
        columns=given.take_list("columns", _column),
        bloom_columns=given.take_list("bloom_columns", _integer),
        bloom_external=given.take("bloom_external", _boolean),
        row_groups=given.take_list("row_groups", _row_group),
        parquet_footer_offset=given.take("parquet_footer_offset", _integer),
        parquet_footer_length=given.take("parquet_footer_length", _integer),
        unused_bytes=given.take("unused_bytes", _integer),
        previous_sizes=given.take_list("previous_sizes", _integer),
        squash_tracker=given.take_or_none("squash_tracker", _integer),
        seq_txn=given.take_or_none("seq_txn", _integer),
    )
    given.end()
    return value


def _sorting_column(given: object, path: str) -> SortingColumn:
    members = _Members(given, path)
    found = SortingColumn(members.take("column", _integer), members.take("descending", _boolean))
    members.end()
    return found


def _column(given: object, path: str) -> Column:
    members = _Members(given, path)
    found = Column(
        name=members.take("name", _text),
        id=members.take("id", _integer),
        type=members.take("type", _integer),
        physical_type=members.take("physical_type", _physical_type),
        fixed_byte_len=members.take("fixed_byte_len", _integer),
        max_rep_level=members.take("max_rep_level", _integer),
        max_def_level=members.take("max_def_level", _integer),
        repetition=members.take("repetition", _integer),
        is_ascii=members.take("ascii", _boolean),
        local_key_is_global=members.take("global_key", _boolean),
    )
    members.end()
    return found


def _row_group(given: object, path: str) -> RowGroup:
    members = _Members(given, path)
    found = RowGroup(members.take("num_rows", _integer), members.take_list("chunks", _chunk))
    members.end()
    return found


def _chunk(given: object, path: str) -> Chunk:
    members = _Members(given, path)
    found = Chunk(
        codec=members.take("codec", _integer),
        encodings=members.take("encodings", _integer),
        num_values=members.take("num_values", _integer),
        offset=members.take("offset", _integer),
        length=members.take("length", _integer),
        null_count=members.take_or_none("null_count", _integer),
        distinct_count=members.take_or_none("distinct_count", _integer),
        min=members.take_or_none("min", _bytes),
        min_exact=members.take("min_exact", _boolean),
        max=members.take_or_none("max", _bytes),
        max_exact=members.take("max_exact", _boolean),
        bloom=members.take_or_none("bloom", _bloom),
    )
    members.end()
    return found


def _bloom(given: object, path: str) -> bytes | ExternalBloom:
    if isinstance(given, dict) and "offset" in given:
        members = _Members(cast("dict[str, object]", given), path)
        found = ExternalBloom(members.take("offset", _integer), members.take("length", _integer))
        members.end()
        return found
    return _bytes(cast("object", given), path)


class _Members:
    """The members of an object, taken one by one."""

    def __init__(self, given: object, path: str) -> None:
        if not isinstance(given, dict):
            raise NotAValueError(f"{path or 'the value'}: no object")
        self._left = dict(cast("dict[str, object]", given))
        self._path = path

    def take(self, name: str, read: Callable[[object, str], Thing]) -> Thing:
        """A member that must be there."""
        path = self._at(name)
        if name not in self._left:
            raise NotAValueError(f"{path}: missing")
        return read(self._left.pop(name), path)

    def take_or_none(self, name: str, read: Callable[[object, str], Thing]) -> Thing | None:
        """A member that may be null or absent."""
        given = self._left.pop(name, None)
        return None if given is None else read(given, self._at(name))

    def take_list(self, name: str, read: Callable[[object, str], Thing]) -> tuple[Thing, ...]:
        """A list that must be there."""
        path = self._at(name)
        items = self.take(name, _list)
        return tuple(read(item, f"{path}[{number}]") for number, item in enumerate(items))

    def end(self) -> None:
        """Raise if a member was not taken."""
        if self._left:
            raise NotAValueError(f"{self._at(min(self._left))}: unknown")

    def _at(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name


def _integer(given: object, path: str) -> int:
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    text = _tagged(given, "int")
    if not isinstance(text, str) or not re.fullmatch(r"-?[0-9]{1,40}", text, re.ASCII):
        raise NotAValueError(f"{path}: no whole number")
    return int(text)


def _tagged(given: object, tag: str) -> object:
    """What an object with this one member holds, ``None`` of anything else."""
    if not isinstance(given, dict):
        return None
    members = cast("dict[str, object]", given)
    return members.get(tag) if len(members) == 1 else None


def _boolean(given: object, path: str) -> bool:
    if not isinstance(given, bool):
        raise NotAValueError(f"{path}: neither true nor false")
    return given


def _text(given: object, path: str) -> str:
    if not isinstance(given, str):
        raise NotAValueError(f"{path}: no text")
    return given


def _list(given: object, path: str) -> Sequence[object]:
    if not isinstance(given, list):
        raise NotAValueError(f"{path}: no list")
    return cast("list[object]", given)


def _bytes(given: object, path: str) -> bytes:
    text = _tagged(given, "bytes")
    if not isinstance(text, str) or not re.fullmatch(r"([0-9a-fA-F]{2})*", text, re.ASCII):
        raise NotAValueError(f"{path}: no bytes in hexadecimal")
    return bytes.fromhex(text)


def _physical_type(given: object, path: str) -> int:
    if isinstance(given, str):
        if given not in _NUMBERS:
            raise NotAValueError(f"{path}: {given[:60]!r} is none of {', '.join(_NUMBERS)}")
        return _NUMBERS[given]
    return _integer(given, path)
