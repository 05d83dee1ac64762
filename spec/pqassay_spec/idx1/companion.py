"""The companion record of an IDX1 index: facts that the format itself does not have.

It is the JSON object in a second footer key, which is ours. It states the column that the index describes, how many rows, values
and nulls it was made from, and that no value was altered.  Readers that do not know the key lose nothing.

Source: chapter ``idx1.md``, section "The companion key".
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pqassay_spec.base import strict_json
from pqassay_spec.base.errors import Malformed
from pqassay_spec.idx1.blob import COMPANION_KEY, HEADER_SIZE, U64_MAX, Blob, exact_values
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf, is_string


@dataclass(frozen=True)
class CompanionField:
    """One member of the companion record."""

    name: str
    type: type
    doc: str


COMPANION_FIELDS = (
    CompanionField(
        "column", list, "Names from below the schema's root to the indexed leaf, as in path_in_schema."
    ),
    CompanionField("offset", int, "Offset of the blob; equals the key distinct_index_offset."),
    CompanionField("length", int, "Bytes of the payload; equals the blob's length field."),
    CompanionField("crc32", int, "CRC-32 (as in gzip) of the whole blob: magic, length and payload."),
    CompanionField("row_count", int, "Rows in the file when the index was made."),
    CompanionField("value_count", int, "Number of values in the index."),
    CompanionField("null_count", int, "Nulls in the column; the index itself cannot hold null."),
    CompanionField(
        "lossless", bool, "True: the values between line feeds are the column's values, none altered."
    ),
)
"""The members of the companion record, in the order in which they are written. All are required."""


@dataclass(frozen=True)
class Companion:
    """The companion record; its attributes are `COMPANION_FIELDS`."""

    column: tuple[str, ...]
    offset: int
    length: int
    crc32: int
    row_count: int
    value_count: int
    null_count: int
    lossless: bool

    def to_json(self) -> str:
        """The value of the key `COMPANION_KEY`."""
        members = {field.name: getattr(self, field.name) for field in COMPANION_FIELDS}
        return json.dumps(members, ensure_ascii=False, separators=(",", ":"))


def blob_crc(blob: bytes) -> int:
    """The CRC-32 of a blob, for the companion record.

    >>> from pqassay_spec.idx1.blob import build_blob
    >>> blob_crc(build_blob({"foo", "bar"}))
    3490453832
    """
    return zlib.crc32(blob)


def make_companion(
    blob: bytes, *, offset: int, column: Sequence[str], row_count: int, value_count: int, null_count: int
) -> Companion:
    """The companion record for a blob with all values of a column."""
    return Companion(
        column=tuple(column),
        offset=offset,
        length=len(blob) - HEADER_SIZE,
        crc32=blob_crc(blob),
        row_count=row_count,
        value_count=value_count,
        null_count=null_count,
        lossless=True,
    )


def companion_disagreements(record: Companion, blob: Blob, raw: bytes) -> Iterator[tuple[str, int, int]]:
    """Yield name, recorded value and true value of every member that disagrees with the blob; ``raw`` are the bytes of the blob.

    Raises:
        Malformed: Rule IDX1-010, the payload is not UTF-8.
    """
    count = len(set(exact_values(blob.payload))) if blob.payload else 0
    for name, there, here in (
        ("offset", record.offset, blob.start),
        ("length", record.length, len(blob.payload)),
        ("crc32", record.crc32, blob_crc(raw)),
        ("value_count", record.value_count, count),
    ):
        if there != here:
            yield name, there, here


# --8<-- [start:trust]
def why_not_trusted(
    record: Companion, blob: Blob, raw: bytes, *, row_count: int, columns: Iterable[SchemaLeaf]
) -> str:
    """The reason why a companion record must be ignored; empty if it may be trusted."""
    for name, there, here in companion_disagreements(record, blob, raw):
        return f"its {name} is {there}, the blob's is {here}"
    if record.row_count != row_count:
        return f"its row_count is {record.row_count}, but the file has {row_count} rows"
    if not is_described(record.column, columns):
        return f"{'.'.join(record.column)} is not a string column with one value a row"
    return "" if record.lossless else "it says that values were lost"


def is_described(column: Sequence[str], columns: Iterable[SchemaLeaf]) -> bool:
    """Whether a path names exactly one column that an index can describe: a string column with one value a row."""
    named = [leaf for leaf in columns if leaf.is_at(column)]
    return len(named) == 1 and is_string(named[0]) and not named[0].max_repetition_level


# --8<-- [end:trust]


def parse_companion(text: str) -> Companion:
    """Parse the companion record. Members that are not declared are ignored.

    Raises:
        Malformed: Rule IDX1-020: not a JSON object, or a member is missing or has another type.
    """
    field = f"key {COMPANION_KEY}"
    try:
        record = strict_json.parse(text)
    except ValueError as error:
        raise Malformed(f"no JSON: {error}", rule="IDX1-020", field=field) from None
    if not isinstance(record, dict):
        raise Malformed("no JSON object", rule="IDX1-020", field=field)
    members = cast("dict[str, Any]", record)
    values: dict[str, Any] = {}
    for declared in COMPANION_FIELDS:
        value: Any = members.get(declared.name)
        if not _IS_GOOD[declared.type](value):
            what = "missing" if declared.name not in members else f"not {_WORDS[declared.type]}"
            raise Malformed(f"member {declared.name!r} is {what}", rule="IDX1-020", field=field)
        values[declared.name] = tuple(value) if declared.type is list else value
    return Companion(**values)


_WORDS = {list: "a list of names", int: "a whole number from 0 to 2^64-1", bool: "true or false"}


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= U64_MAX


def _is_path(value: Any) -> bool:
    if not isinstance(value, list):
        return False
    names = value
    return bool(names) and all(isinstance(name, str) for name in names)


_IS_GOOD: dict[type, Callable[[Any], bool]] = {
    list: _is_path,
    int: _is_count,
    bool: lambda value: isinstance(value, bool),
}
