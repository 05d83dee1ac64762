"""Enum values and union members that the declarations do not have, and unions with more than one member.

Formats grow: a later version may define a value that this one does not, and nobody can say today what it means.  Two members of one
union are another matter: no version allows them.

    >>> from pqassay_spec.parquet.thrift import JsonType, LogicalType, SchemaElement, StringType
    >>> [found] = undefined_members(SchemaElement(name="x", converted_type=77))
    >>> found.path, found.name, found.defined
    ('converted_type', 'value 77 of ConvertedType', '0 to 21')
    >>> both = LogicalType(STRING=StringType(), JSON=JsonType())
    >>> list(crowded_unions(SchemaElement(name="x", logicalType=both)))
    [('logicalType', ('STRING', 'JSON'))]

Source: apache/parquet-format, ``src/main/thrift/parquet.thrift``; ``README.md``, section "Extensibility".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pqassay_spec.grammar.record_walk import structs_in
from pqassay_spec.grammar.thrift import EnumOf, ListOf, Record
from pqassay_spec.parquet.extension_fields import FIELD, MISTAKEN_FIELD


class Undefined(NamedTuple):
    """An enum value or a union member that is not declared.

    Attributes:
        path: Path of the enum or union, below the struct that was walked.
        name: What is there, for messages.
        defined: What is declared, for messages.
        number: The value, or the id of the member.
    """

    path: str
    name: str
    defined: str
    number: int


def is_as_defined(record: Record) -> bool:
    """Whether all enum values and union members in a struct, and in all structs in it, are declared, and no union is crowded."""
    return not any(True for _ in undefined_members(record)) and not any(True for _ in crowded_unions(record))


def undefined_members(record: Record) -> Iterator[Undefined]:
    """Yield the enum values and union members without declaration in a struct and in all structs in it."""
    for path, struct in structs_in(record):
        for name, enum in _enums(type(struct)):
            value: int | list[int] | None = getattr(struct, name)
            if value is None:
                continue
            place = f"{path}.{name}" if path else name
            values = enumerate(value) if isinstance(value, list) else ((None, value),)
            for index, number in values:
                if number not in enum.names._value2member_map_:
                    where = place if index is None else f"{place}[{index}]"
                    yield Undefined(where, f"value {number} of {enum.name}", _defined(enum), number)
        if struct.is_union and struct.unknown and len(members := _members(struct)) == 1:
            [(identifier, is_declared)] = members.items()
            if not is_declared:
                ids = ", ".join(str(field.id) for field in struct.fields)
                yield Undefined(path, f"member {identifier} of {type(struct).__name__}", ids, identifier)


def crowded_unions(record: Record) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the path of each union with more than one member in a struct and in all structs in it, and the members."""
    for path, struct in structs_in(record):
        if struct.is_union and len(members := _members(struct)) > 1:
            names = {field.id: field.name for field in struct.fields}
            yield path, tuple(names.get(identifier, str(identifier)) for identifier in members)


def _members(union: Record) -> dict[int, bool]:
    """The ids of the members that are set, extensions left out, and whether each is declared."""
    declared = {field.id for field in union.fields}
    found = {field.id: True for field in union.fields if getattr(union, field.name) is not None}
    for unknown in union.unknown:
        if unknown.id not in (FIELD, MISTAKEN_FIELD):
            found[unknown.id] = unknown.id in declared
    return found


_ENUMS: dict[type[Record], tuple[tuple[str, EnumOf], ...]] = {}


def _enums(kind: type[Record]) -> tuple[tuple[str, EnumOf], ...]:
    """The fields of a struct that hold an enum or a list of enums."""
    if kind not in _ENUMS:
        items = (
            (field.name, field.type.element if isinstance(field.type, ListOf) else field.type)
            for field in kind.fields
        )
        _ENUMS[kind] = tuple((name, item) for name, item in items if isinstance(item, EnumOf))
    return _ENUMS[kind]


def _defined(enum: EnumOf) -> str:
    values = [int(member) for member in enum.names]
    return f"{min(values)} to {max(values)}"
