"""Thrift's compact protocol: the wire format of the Parquet footer, page headers and page index.

A struct is declared once, as a table: a class whose body lists its fields in the order and with the names of
``parquet.thrift``, each with its id, type and doc.

    >>> @thrift_struct
    ... class Point(Record):
    ...     "A place on a grid."
    ...     x: int = required(1, I32, "Distance to the right.")
    ...     label: str | None = optional(4, STRING, "What people call it.")
    >>> Point(x=-3, label="home")
    Point(x=-3, label='home')
    >>> grammar(Point).build(Point(x=-3, label="home")).hex(" ")
    '15 05 38 04 68 6f 6d 65 00'
    >>> grammar(Point).parse(bytes.fromhex("15 05 38 04 68 6f 6d 65 00")).label
    'home'

From the table come the construct grammar in this module (parse, build, trace), the fast decoder
(`pqassay_spec.grammar.thrift_decoder`), the field tables of the site and the hypothesis strategies of the judge.
Fields that are not in the table keep their raw bytes and are built again in their places.

Source: Thrift compact protocol specification.  There is one deviation from it: doubles are little-endian, as
in every Parquet writer.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias, TypeVar, cast

from construct import Bytes

from pqassay_spec.base.errors import Malformed
from pqassay_spec.grammar.constructs import AnyConstruct
from pqassay_spec.grammar.thrift_values import (
    Binary,
    FieldHeader,
    ListedBool,
    ListHeader,
    Varint,
)
from pqassay_spec.grammar.thrift_wire import FIXED, WireType, skip

if TYPE_CHECKING:
    from pqassay_spec.grammar.trace import Recorder


# ---------------------------------------------------------------------------------------------- the tables


@dataclass(frozen=True)
class Scalar:
    """A type without parts."""

    name: str
    wire: WireType
    bits: int = 0
    """Bits of an integer; 0 for other types."""


BOOL = Scalar("bool", WireType.TRUE)
I8 = Scalar("i8", WireType.BYTE, 8)
I16 = Scalar("i16", WireType.I16, 16)
I32 = Scalar("i32", WireType.I32, 32)
I64 = Scalar("i64", WireType.I64, 64)
DOUBLE = Scalar("double", WireType.DOUBLE)
BINARY = Scalar("binary", WireType.BINARY)
STRING = Scalar("string", WireType.BINARY)
"""Text.  Bytes that are not UTF-8 become lone surrogates, so they survive a round trip; see `is_text`."""


@dataclass(frozen=True)
class EnumOf:
    """An i32 whose values have names. Unknown values are kept: a newer writer may know more names."""

    names: type[IntEnum]
    wire: ClassVar[WireType] = WireType.I32

    @property
    def name(self) -> str:
        """The name of the enum."""
        return self.names.__name__

    def label(self, value: int) -> str:
        """``"INT32"`` for 1, ``"unknown"`` for a value without a name."""
        member = self.names._value2member_map_.get(value)  # the class itself would raise for other values
        return "unknown" if member is None else member.name


@dataclass(frozen=True)
class ListOf:
    """A list of one element type."""

    element: FieldType
    wire: ClassVar[WireType] = WireType.LIST

    @property
    def name(self) -> str:
        """``list<i64>``."""
        return f"list<{type_name(self.element)}>"


class UnknownField(NamedTuple):
    """A field that is not in the table, or has another type than declared: its raw bytes."""

    id: int
    wire: int
    raw: bytes


@cache
def _flag(identifier: int, wire: int) -> UnknownField:
    return UnknownField(identifier, wire, b"")


def unknown_field(identifier: int, wire: int, raw: bytes) -> UnknownField:
    """Make an unknown field; fields without bytes are shared objects.

    A bool is stored in its header alone, so a hostile footer of millions of bools would otherwise
    grow 120 times in memory.  At most 2 x 65,536 objects are shared.
    """
    return UnknownField(identifier, wire, raw) if raw else _flag(identifier, wire)


@dataclass(frozen=True)
class Field:
    """One row of a struct's table; in the body of a class it does not have its name yet."""

    id: int
    name: str
    type: FieldType
    required: bool
    doc: str


class Record:
    """Base of all declared structs: attributes by field name, ``None`` for an absent field."""

    __slots__: ClassVar[tuple[str, ...]] = ("unknown",)
    fields: ClassVar[tuple[Field, ...]] = ()
    is_union: ClassVar[bool] = False
    members: ClassVar[attrgetter[Any]] = attrgetter("unknown")
    _names: ClassVar[frozenset[str]] = frozenset()
    unknown: tuple[UnknownField, ...]

    def __init__(self, **values: Any) -> None:
        if stray := values.keys() - self._names - {"unknown"}:
            raise TypeError(f"{type(self).__name__} has no field {', '.join(sorted(stray))}")
        for name in self._names:
            setattr(self, name, values.get(name))
        self.unknown = tuple(values.get("unknown", ()))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.members(self) == self.members(other)

    __hash__ = None  # type: ignore[assignment]  # records are mutable

    def __repr__(self) -> str:
        shown = [f"{f.name}={v!r}" for f in self.fields if (v := getattr(self, f.name)) is not None]
        if self.unknown:
            shown.append(f"unknown={self.unknown!r}")
        return f"{type(self).__name__}({', '.join(shown)})"


FieldType: TypeAlias = Scalar | EnumOf | ListOf | type[Record]
AnyRecord = TypeVar("AnyRecord", bound=Record)


def required(id: int, type: FieldType, doc: str) -> Any:  # noqa: A002 - the words of the Thrift IDL
    """Declare a field that every instance has."""
    return Field(id, "", type, True, doc)


def optional(id: int, type: FieldType, doc: str) -> Any:  # noqa: A002 - the words of the Thrift IDL
    """Declare a field that may be absent."""
    return Field(id, "", type, False, doc)


def thrift_struct(declaration: type[AnyRecord]) -> type[AnyRecord]:
    """Turn a class body of `required` and `optional` rows into a record class with slots."""
    rows = {name: row for name, row in vars(declaration).items() if isinstance(row, Field)}
    table = tuple(replace(row, name=name) for name, row in rows.items())
    namespace = {
        "__doc__": declaration.__doc__,
        "__module__": declaration.__module__,
        "__qualname__": declaration.__qualname__,
        "__slots__": tuple(rows),
        "fields": table,
        "_names": frozenset(rows),
        "members": attrgetter(*rows, "unknown"),
    }
    return cast("type[AnyRecord]", type(declaration.__name__, (Record,), namespace))


def thrift_union(declaration: type[AnyRecord]) -> type[AnyRecord]:
    """`thrift_struct` for a union: exactly one member is set, which may be an unknown one."""
    record = thrift_struct(declaration)
    record.is_union = True
    return record


def type_name(kind: FieldType) -> str:
    """The name of a type as ``parquet.thrift`` spells it."""
    return kind.__name__ if isinstance(kind, type) else kind.name


def wire_type(kind: FieldType) -> WireType:
    """The wire type in the header of a field of this type, or of a list of such elements (`TRUE` for bool)."""
    return WireType.STRUCT if isinstance(kind, type) else kind.wire


def is_text(value: str) -> bool:
    """Whether a decoded `STRING` was valid UTF-8."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


# -------------------------------------------------------------------------------- the grammar, as construct


class CompactList(AnyConstruct):
    """A list: header, then the elements back to back."""

    def __init__(self, element: FieldType) -> None:
        super().__init__()
        self.kind = element
        self.wire = wire_type(element)
        self.header: AnyConstruct = ListHeader()
        self.element: AnyConstruct = value_grammar(element, in_list=True)
        self.recorder: Recorder | None = None

    def traced(self, recorder: Recorder) -> AnyConstruct:
        """A copy that records the header and every element under its index."""
        twin = copy.copy(self)
        twin.header = recorder.part("count", self.header, "Element count and element wire type.")
        twin.element = recorder.copy(self.element, kind=self.kind)
        twin.recorder = recorder
        return twin

    def _parse(self, stream: Any, context: Any, path: str) -> list[Any]:
        size, kind = self.header._parsereport(stream, context, path)
        same = kind == self.wire or (self.wire == WireType.TRUE and kind == WireType.FALSE)
        if size and not same:
            raise Malformed(f"a list of wire type {kind} where {self.wire} is declared")
        elements: list[Any] = []
        for index in range(size):
            if self.recorder is None:
                elements.append(self.element._parsereport(stream, context, path))
            else:
                self.recorder.enter(index)
                elements.append(self.element._parsereport(stream, context, path))
                self.recorder.leave()
                self.recorder.hand_on()
        return elements

    def _build(self, obj: list[Any], stream: Any, context: Any, path: str) -> Any:
        self.header._build((len(obj), self.wire), stream, context, path)
        for element in obj:
            self.element._build(element, stream, context, path)
        return obj


class _TracedValues(dict[int, AnyConstruct]):
    """Traced copies of the values of a struct, each made for the first such field: most files lack most fields."""

    def __init__(self, struct: CompactStruct, recorder: Recorder) -> None:
        super().__init__()
        self.struct, self.recorder = struct, recorder

    def __missing__(self, identifier: int) -> AnyConstruct:
        value, kind = self.struct.values[identifier], self.struct.by_id[identifier].type
        self[identifier] = traced = self.recorder.copy(value, kind=kind)
        return traced


@cache
def _about(identifier: int, wire: int) -> str:
    """The description of a field header for the trace."""
    return f"Field {identifier}, wire type {WireType(wire).name}."


class CompactStruct(AnyConstruct):
    """A declared struct: fields in any order, unknown fields kept raw, a stop byte.

    ``build(record, incomplete=True)`` leaves out required fields that are ``None``, to make a damaged file.
    """

    def __init__(self, record: type[Record]) -> None:
        super().__init__()
        self.record = record
        self.by_id = {field.id: field for field in sorted(record.fields, key=lambda field: field.id)}
        self.values = {field.id: value_grammar(field.type) for field in record.fields}
        self.header: AnyConstruct = FieldHeader()
        self.recorder: Recorder | None = None

    def traced(self, recorder: Recorder) -> AnyConstruct:
        """A copy that records every field under its name."""
        twin = copy.copy(self)
        twin.values = _TracedValues(self, recorder)
        twin.recorder = recorder
        return twin

    def _parse(self, stream: Any, context: Any, path: str) -> Record:
        values: dict[int, Any] = {}
        unknown: list[UnknownField] = []
        last = 0
        while True:
            start = stream.tell()
            context._last = last
            last, wire = self.header._parsereport(stream, context, path)
            if wire == WireType.STOP:
                break
            field = self.by_id.get(last)
            known = field is not None and (
                wire == wire_type(field.type) or (field.type is BOOL and wire == WireType.FALSE)
            )
            if field is not None and known:
                values[last] = self._known(field, wire, start, stream, context, path)
            else:
                unknown.append(self._unknown(last, wire, start, stream))
        if self.recorder is not None:
            self.recorder.note("stop", start, stream.tell(), 0, "Ends the struct.")
        record = self.record(
            **{self.by_id[i].name: value for i, value in values.items()}, unknown=tuple(unknown)
        )
        require_fields(record)
        return record

    def _known(self, field: Field, wire: int, start: int, stream: Any, context: Any, path: str) -> Any:
        recorder = self.recorder
        if field.type is BOOL:
            if recorder is not None:
                recorder.enter(field.name, field.doc)
                recorder.note("", start, stream.tell(), wire == WireType.TRUE)
                recorder.leave()
            return wire == WireType.TRUE
        if recorder is None:
            return self.values[field.id]._parsereport(stream, context, path)
        recorder.enter(field.name, field.doc)
        recorder.note("header", start, stream.tell(), (field.id, wire), _about(field.id, wire))
        value = self.values[field.id]._parsereport(stream, context, path)
        recorder.leave()
        return value

    def _unknown(self, identifier: int, wire: int, start: int, stream: Any) -> UnknownField:
        view = stream.getvalue()
        position = stream.tell()
        end = skip(view, position, wire)
        field = unknown_field(identifier, wire, view[position:end])
        stream.seek(end)
        if self.recorder is not None:
            self.recorder.enter(f"unknown_{identifier}", "A field that the declaration does not know.")
            self.recorder.note("header", start, position, (identifier, wire), "An unknown field.")
            self.recorder.note("", position, end, field.raw)
            self.recorder.leave()
        return field

    def _build(self, obj: Record, stream: Any, context: Any, path: str) -> Any:
        entries: Iterable[Field | UnknownField] = self.by_id.values()
        if obj.unknown:
            entries = sorted([*entries, *obj.unknown], key=lambda entry: entry.id)
        last = 0
        for entry in entries:
            identifier = entry.id
            if isinstance(entry, Field):
                value = getattr(obj, entry.name)
                if value is None:
                    if entry.required and not context.get("incomplete"):
                        raise ValueError(f"{self.record.__name__}.{entry.name} is required")
                    continue
                wire = wire_type(entry.type)
                if entry.type is BOOL and not value:
                    wire = WireType.FALSE
            else:
                value, wire = entry.raw, WireType(entry.wire)
            context._last = last
            self.header._build((identifier, wire), stream, context, path)
            last = identifier
            if isinstance(entry, UnknownField):
                stream.write(entry.raw)
            elif entry.type is not BOOL:
                self.values[identifier]._build(value, stream, context, path)
        stream.write(bytes((WireType.STOP,)))
        return obj


def require_fields(record: Record) -> None:
    """Raise `Malformed` if a struct lacks a required field, or a union its member."""
    for field in record.fields:
        if field.required and getattr(record, field.name) is None:
            raise Malformed(f"{type(record).__name__} lacks its required field {field.id}, {field.name}")
    if record.is_union and not record.unknown and all(getattr(record, f.name) is None for f in record.fields):
        raise Malformed(f"{type(record).__name__} is a union without a member")


def value_grammar(kind: FieldType, *, in_list: bool = False) -> AnyConstruct:
    """The construct for a value of a declared type."""
    if isinstance(kind, type):
        return grammar(kind)
    if isinstance(kind, ListOf):
        return CompactList(kind.element)
    if isinstance(kind, EnumOf):
        return Varint(I32.bits)
    if kind is BOOL:
        return ListedBool() if in_list else Bytes(0)
    if kind.wire == WireType.BINARY:
        return Binary(text=kind is STRING)
    return FIXED[kind.wire] if kind.wire in FIXED else Varint(kind.bits)


def build_field_header(last: int, identifier: int, wire: int) -> bytes:
    """The header of a field that follows the field ``last`` (0 at the start of a struct)."""
    return bytes(FieldHeader().build((identifier, wire), _last=last))


def build_list_header(size: int, wire: int) -> bytes:
    """The header of a list of ``size`` elements."""
    return bytes(ListHeader().build((size, wire)))


_grammars: dict[type[Record], CompactStruct] = {}


def grammar(record: type[Record]) -> CompactStruct:
    """The construct that parses and builds a declared struct; cached."""
    if record not in _grammars:
        _grammars[record] = CompactStruct(record)
    return _grammars[record]
