"""Undeclared enum values and union members, and unions with more than one member.

Formats grow: a later version may define a value that this version lacks, so its meaning is unknown today.  Two members of one
union are different: no version allows them.

    >>> from pqassay_spec.parquet.thrift import JsonType, LogicalType, SchemaElement, StringType
    >>> [found] = undefined_members(SchemaElement(name="x", converted_type=77))
    >>> found.path, found.name, found.defined
    ('converted_type', 'value 77 of ConvertedType', '0 to 21')
    >>> both = LogicalType(STRING=StringType(), JSON=JsonType())
    >>> list(crowded_unions(SchemaElement(name="x", logicalType=both)))
    [Crowded(path='logicalType', members=('STRING', 'JSON'))]

Source: apache/parquet-format, ``src/main/thrift/parquet.thrift``; ``README.md``, section "Extensibility".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from pqassay_spec.grammar.record_walk import structs_in
from pqassay_spec.grammar.thrift import EnumOf, ListOf, Record
from pqassay_spec.parquet.extension_fields import FIELD, MISTAKEN_FIELD


class Undefined(NamedTuple):
    """An enum value or a union member that is not declared.

    Attributes:
        path: Path of the enum or union, relative to the struct.
        name: The undeclared value or member, for messages.
        defined: The declared ones, for messages.
        number: The value, or the id of the member.
    """

    path: str
    name: str
    defined: str
    number: int


class Crowded(NamedTuple):
    """A union with more than one member: its path, relative to the struct, and its members."""

    path: str
    members: tuple[str, ...]


def is_as_defined(record: Record) -> bool:
    """Whether a struct and all structs in it only have declared enum values, declared union members and valid unions."""
    if record.is_union and (record.unknown or _set_members(record) > 1):
        return next(_oddities(record), None) is None
    enums, structs = _looked_at(type(record))
    for name, enum in enums:
        value = getattr(record, name)
        if value is not None and not (
            all(number in enum.names._value2member_map_ for number in value)
            if isinstance(value, list)
            else value in enum.names._value2member_map_
        ):
            return False
    for name in structs:
        value = getattr(record, name)
        if value is not None and not (
            all(map(is_as_defined, value)) if isinstance(value, list) else is_as_defined(value)
        ):
            return False
    return True


def undefined_members(record: Record) -> Iterator[Undefined]:
    """Yield the undeclared enum values and union members in a struct and in all structs in it."""
    return (found for found in _oddities(record) if isinstance(found, Undefined))


def crowded_unions(record: Record) -> Iterator[Crowded]:
    """Yield the unions with more than one member in a struct and in all structs in it."""
    return (found for found in _oddities(record) if isinstance(found, Crowded))


def _oddities(record: Record) -> Iterator[Undefined | Crowded]:
    for path, struct in structs_in(record):
        if struct.is_union:
            yield from _of_union(struct, path)
            continue
        for name, enum in _looked_at(type(struct))[0]:
            value: int | list[int] | None = getattr(struct, name)
            if value is None:
                continue
            place = f"{path}.{name}" if path else name
            values = enumerate(value) if isinstance(value, list) else ((None, value),)
            for index, number in values:
                if number not in enum.names._value2member_map_:
                    where = place if index is None else f"{place}[{index}]"
                    yield Undefined(where, f"value {number} of {enum.name}", _defined(enum), number)


def _of_union(union: Record, path: str) -> Iterator[Undefined | Crowded]:
    """The problems of the members of a union; extensions are ignored."""
    declared = {field.id: field.name for field in union.fields}
    members = [field.id for field in union.fields if getattr(union, field.name) is not None]
    members += [each.id for each in union.unknown if each.id not in (FIELD, MISTAKEN_FIELD)]
    if len(members) > 1:
        yield Crowded(path, tuple(declared.get(member, str(member)) for member in members))
    elif members and members[0] not in declared:
        ids = ", ".join(map(str, declared))
        yield Undefined(path, f"member {members[0]} of {type(union).__name__}", ids, members[0])


def _set_members(union: Record) -> int:
    """How many of the declared members of a union are set."""
    return len(union.fields) - int(union.members(union).count(None))


_Parts: TypeAlias = tuple[tuple[tuple[str, EnumOf], ...], tuple[str, ...]]
_PARTS: dict[type[Record], _Parts] = {}


def _looked_at(kind: type[Record]) -> _Parts:
    """The fields of a struct that are enums or lists of enums, and the fields that are structs with enums or unions."""
    if kind not in _PARTS:
        items = [
            (field.name, field.type.element if isinstance(field.type, ListOf) else field.type)
            for field in kind.fields
        ]
        enums = tuple((name, item) for name, item in items if isinstance(item, EnumOf))
        structs = (
            name
            for name, item in items
            if isinstance(item, type) and (item.is_union or any(_looked_at(item)))
        )
        _PARTS[kind] = enums, tuple(structs)
    return _PARTS[kind]


def _defined(enum: EnumOf) -> str:
    values = [int(member) for member in enum.names]
    return f"{min(values)} to {max(values)}"
