"""Find unknown and mistyped fields in a decoded struct and in all structs inside it.

A mistyped field has a declared id, but another wire type than the declared one; it is kept like an unknown field.  Readers
made by Thrift skip it, so its value is lost:

    >>> from pqassay_spec.grammar.thrift_wire import WireType
    >>> from pqassay_spec.parquet.thrift import SchemaElement
    >>> element = SchemaElement(name="year", unknown=[UnknownField(3, WireType.TRUE, b"")])
    >>> for found in mistyped_fields(element, "footer.schema[1]"):
    ...     print(f"{found.path} is {found.written}, should be {found.declared}")
    footer.schema[1].repetition_type is BOOL, should be I32

Source: Thrift compact protocol specification.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from pqassay_spec.grammar.thrift import Field, ListOf, Record, UnknownField, type_name, wire_type
from pqassay_spec.grammar.thrift_wire import WireType


class Mistyped(NamedTuple):
    """A field that is written with another wire type than the declared one.

    Attributes:
        struct: Path of the struct that it belongs to.
        field: Its declaration.
        wire: The wire type in the file.
        owner: The class of that struct.
    """

    struct: str
    field: Field
    wire: int
    owner: type[Record]

    @property
    def path(self) -> str:
        """The path of the field."""
        return f"{self.struct}.{self.field.name}"

    @property
    def written(self) -> str:
        """The wire type in the file, for messages."""
        return _wire_name(self.wire)

    @property
    def declared(self) -> str:
        """The declared wire type, for messages."""
        return _wire_name(wire_type(self.field.type))

    @property
    def type(self) -> str:
        """The declared type, as ``parquet.thrift`` spells it."""
        return type_name(self.field.type)


def _wire_name(wire: int) -> str:
    if wire in (WireType.TRUE, WireType.FALSE):
        return "BOOL"  # its two wire types are its two values
    return WireType(wire).name


def has_unknown(record: Record) -> bool:
    """Whether the struct, or a struct inside it, has an unknown or mistyped field."""
    left = [record]
    for one in left:  # which grows meanwhile
        if one.unknown:
            return True
        for name, is_list in _parts(type(one)):
            value: Any = getattr(one, name)
            if value is not None:
                if is_list:
                    left += value
                else:
                    left.append(value)
    return False


def structs_in(record: Record, path: str = "") -> Iterator[tuple[str, Record]]:
    """Yield all structs in a struct, each with its path: inner structs first, and the struct itself last."""
    for name, is_list in _parts(type(record)):
        value: Any = getattr(record, name)
        if value is None:
            continue
        place = f"{path}.{name}" if path else name
        if is_list:
            for index, element in enumerate(cast("list[Record]", value)):
                yield from structs_in(element, f"{place}[{index}]")
        else:
            yield from structs_in(value, place)
    yield path, record


def unknown_fields(record: Record, path: str) -> Iterator[tuple[str, Record, UnknownField]]:
    """Yield the unknown fields of the struct and of all structs in it, each with the struct and its path.

    Fields of inner structs come first; their bytes do as well if a writer puts unknown fields last.
    """
    for place, struct in structs_in(record, path):
        for unknown in struct.unknown:
            yield place, struct, unknown


def mistyped_fields(record: Record, path: str) -> Iterator[Mistyped]:
    """Yield the mistyped fields of the struct and of all structs in it."""
    if not has_unknown(record):
        return
    for struct, owner, unknown in unknown_fields(record, path):
        field = next((one for one in owner.fields if one.id == unknown.id), None)
        if field is not None:
            yield Mistyped(struct, field, unknown.wire, type(owner))


_PARTS: dict[type[Record], tuple[tuple[str, bool], ...]] = {}


def _parts(kind: type[Record]) -> tuple[tuple[str, bool], ...]:
    """The fields of a struct that hold structs: the name of each, and whether it is a list."""
    if kind not in _PARTS:
        _PARTS[kind] = tuple(
            (field.name, isinstance(field.type, ListOf))
            for field in kind.fields
            if isinstance(field.type.element if isinstance(field.type, ListOf) else field.type, type)
        )
    return _PARTS[kind]
