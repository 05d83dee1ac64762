"""Marks of releases in decoded structs: features which show that the writer of a file knew the release that added them.

    >>> from pqassay_spec.parquet.thrift import Encoding, Statistics
    >>> list(marks_of(Statistics(null_count=0, nan_count=2)))
    ['Statistics.null_count', 'Statistics.nan_count']

`pqassay_spec.rules.releases` assigns each mark to its release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Any, NamedTuple, cast

from pqassay_spec.grammar.thrift import EnumOf, Field, ListOf, Record
from pqassay_spec.parquet.thrift import EXTENSION_FIELD

EXTENSION = "extension"
"""The mark of a struct with an extension field."""


def marks_of(record: Record) -> Iterator[str]:
    """Yield the members that a struct and all structs in it use, such as ``Statistics.nan_count``, once for each occurrence."""
    left = [record]
    for one in left:  # which grows meanwhile
        kind = type(one)
        if one.unknown and any(field.id == EXTENSION_FIELD for field in one.unknown):
            yield EXTENSION
        for name, mark, is_record, names in _members(kind):
            value: Any = getattr(one, name)
            if value is None:
                continue
            yield mark
            if is_record:
                left += value if isinstance(value, list) else [value]
            elif names is not None:
                yield from (names[item] for item in _items(value) if item in names)


def _items(value: Any) -> list[int]:
    return cast("list[int]", value) if isinstance(value, list) else [value]


class _MarkedField(NamedTuple):
    """A field of a struct: its name, its mark, whether it has structs, and the marks of its values if it is an enum."""

    name: str
    mark: str
    is_record: bool
    names: Mapping[int, str] | None


_MEMBERS: dict[type[Record], tuple[_MarkedField, ...]] = {}


def _members(kind: type[Record]) -> tuple[_MarkedField, ...]:
    if kind not in _MEMBERS:
        _MEMBERS[kind] = tuple(_member(kind, field) for field in kind.fields)
    return _MEMBERS[kind]


def _member(kind: type[Record], field: Field) -> _MarkedField:
    item = field.type.element if isinstance(field.type, ListOf) else field.type
    names = _values(item.names) if isinstance(item, EnumOf) else None
    return _MarkedField(field.name, f"{kind.__name__}.{field.name}", isinstance(item, type), names)


def _values(names: type[IntEnum]) -> dict[int, str]:
    return {int(member): f"{names.__name__}.{member.name}" for member in names}
