"""The ``questdb`` key of a Parquet footer: QuestDB's facts about the columns for which Parquet has no field.

Its value is a JSON object.  The type codes and flags of ``_pm`` come from it; files of other writers do not have it.

    >>> found = parse('{"version":1,"schema":[{"column_type":131080,"column_top":0}]}')
    >>> found.schema[0].column_type, found.unused_bytes
    (131080, 0)
    >>> build(found)
    '{"version":1,"schema":[{"column_type":131080,"column_top":0}]}'

Source: "Parquet metadata file" (``parquet-metadata.md``), beginning.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from pqassay_spec.base import strict_json
from pqassay_spec.base.errors import Malformed
from pqassay_spec.parquet.thrift import FileMetaData
from pqassay_spec.pm.grammar import JSON_KEY

VERSION = 1
"""The only version that exists."""

LOCAL_KEY_IS_GLOBAL = 1
"""``format`` of a symbol column whose numbers in the file are those of the table."""


class JsonField(NamedTuple):
    """One member of an object: its name, its type, whether it is required, and its meaning."""

    name: str
    type: type
    required: bool
    doc: str


QUESTDB_FIELDS = (
    JsonField("version", int, True, "1."),
    JsonField("schema", list, True, "An object for each column, in the order of the Parquet file's columns."),
    JsonField(
        "unused_bytes", int, False, "Dead bytes in the Parquet file, from updates; left out where it is 0."
    ),
)
"""The members of the object, in the order in which they are written."""

COLUMN_FIELDS = (
    JsonField("column_type", int, True, "QuestDB's type code, which becomes TYPE."),
    JsonField(
        "column_top",
        int,
        True,
        "Rows at the beginning from before the column was added. Their nulls are in the Parquet file nevertheless.",
    ),
    JsonField(
        "format", int, False, "1 for a symbol column whose keys are those of the table: LOCAL_KEY_IS_GLOBAL."
    ),
    JsonField("ascii", bool, False, "Whether all text of a varchar column is ASCII: IS_ASCII."),
    JsonField(
        "id", int, False, "The column's number in QuestDB's table, if the Parquet file's field_id is not it."
    ),
)
"""The members of a column's object, in the order in which they are written."""


@dataclass(frozen=True)
class QuestDBColumn:
    """A column; its attributes are `COLUMN_FIELDS`, and ``others`` has the undeclared members."""

    column_type: int
    column_top: int = 0
    format: int | None = None
    ascii: bool | None = None
    id: int | None = None
    others: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)


@dataclass(frozen=True)
class QuestDBMetadata:
    """The value of the key; its attributes are `QUESTDB_FIELDS`, and ``others`` has the undeclared members."""

    schema: tuple[QuestDBColumn, ...]
    unused_bytes: int = 0
    version: int = VERSION
    others: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)


def parse(text: str) -> QuestDBMetadata:
    """Parse the value of the key. Undeclared members are kept.

    Raises:
        Malformed: Rule PM-121: not a JSON object, another version, or a member that is missing or of another type. The field is
            the path of the member, below ``key questdb``.
    """
    root = f"key {JSON_KEY}"
    try:
        value = strict_json.parse(text)
    except ValueError as error:
        raise Malformed(f"no JSON: {error}", rule="PM-121", field=root) from None
    members = _members(value, QUESTDB_FIELDS, root)
    if members["version"] != VERSION:
        raise Malformed(
            f"version {members['version']} is unknown",
            rule="PM-121",
            field=f"{root}.version",
            expected=str(VERSION),
            actual=str(members["version"]),
        )
    columns = [
        QuestDBColumn(**_members(column, COLUMN_FIELDS, f"{root}.schema[{index}]"))
        for index, column in enumerate(members.pop("schema"))
    ]
    return QuestDBMetadata(schema=tuple(columns), **members)


def build(metadata: QuestDBMetadata) -> str:
    """The value of the key, as QuestDB writes it: without blanks, and without members that have no content."""
    columns: list[dict[str, Any]] = []
    for column in metadata.schema:
        members = {declared.name: getattr(column, declared.name) for declared in COLUMN_FIELDS}
        columns.append(
            {name: value for name, value in members.items() if value is not None} | dict(column.others)
        )
    whole: dict[str, Any] = {"version": metadata.version, "schema": columns}
    if metadata.unused_bytes:
        whole["unused_bytes"] = metadata.unused_bytes
    return json.dumps(whole | dict(metadata.others), ensure_ascii=False, separators=(",", ":"))


def text_in(metadata: FileMetaData) -> str | None:
    """The value of the key in a footer; ``None`` if it is missing. If it occurs several times, the first counts."""
    found = (pair.value for pair in metadata.key_value_metadata or () if pair.key == JSON_KEY)
    return next(found, None)


def read(metadata: FileMetaData, column_count: int) -> QuestDBMetadata | None:
    """Parse the key of a footer; ``None`` if it is missing.

    Raises:
        Malformed: Rule PM-121, as in `parse`, and also if it does not describe ``column_count`` columns.
    """
    text = text_in(metadata)
    if text is None:
        return None
    return of_columns(parse(text), column_count)


def of_columns(metadata: QuestDBMetadata, column_count: int) -> QuestDBMetadata:
    """Return the same metadata, if it describes ``column_count`` columns.

    Raises:
        Malformed: Rule PM-121, it describes fewer or more.
    """
    if len(metadata.schema) != column_count:
        raise Malformed(
            f"{len(metadata.schema)} columns are described, the Parquet file has {column_count}",
            rule="PM-121",
            field=f"key {JSON_KEY}.schema",
            expected=str(column_count),
            actual=str(len(metadata.schema)),
        )
    return metadata


# --------------------------------------------------------------------------------------------- reading members


def _members(value: Any, declared: Sequence[JsonField], place: str) -> dict[str, Any]:
    """The declared members of an object, checked, and the others under ``others``; ``null`` counts as a missing member."""
    if not isinstance(value, dict):
        raise Malformed("no JSON object", rule="PM-121", field=place)
    given_members = cast("dict[str, Any]", value)
    members: dict[str, Any] = {}
    for member in declared:
        got = given_members.get(member.name)
        if got is None and not member.required:
            continue
        good, form = _RANGES.get(member.name) or _TYPES[member.type]
        if not good(got):
            raise Malformed(
                "the member is missing" if member.name not in given_members else f"the member is not {form}",
                rule="PM-121",
                field=f"{place}.{member.name}",
                expected=form,
                actual=_shown(got) if member.name in given_members else "",
            )
        members[member.name] = got
    names = {member.name for member in declared}
    members["others"] = {name: other for name, other in given_members.items() if name not in names}
    return members


def _shown(value: Any) -> str:
    """A value for a message; only the type of a list or object, because it may be as long as the file."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return json.dumps(value)[:60]


def _within(least: int, most: int) -> tuple[Callable[[Any], bool], str]:
    def good(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most

    return good, f"a whole number from {least} to {most}"


_I32_MAX = (1 << 31) - 1
_I64_MAX = (1 << 63) - 1
_I32 = _within(-_I32_MAX - 1, _I32_MAX)
_COUNT = _within(0, _I64_MAX)
_RANGES = {"column_type": _I32, "id": _I32, "column_top": _COUNT, "unused_bytes": _COUNT}
_TYPES: dict[type, tuple[Callable[[Any], bool], str]] = {
    int: _I32,
    bool: (lambda value: isinstance(value, bool), "true or false"),
    list: (lambda value: isinstance(value, list), "a list"),
}
