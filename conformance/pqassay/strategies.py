"""Hypothesis strategies for Parquet's Thrift structs, derived from their declared tables.

A field that is added to a table in `pqassay_spec.parquet.thrift` is generated automatically.

    >>> from hypothesis import given, settings
    >>> from pqassay_spec.grammar.thrift import grammar
    >>> from pqassay_spec.grammar.thrift_decoder import decode
    >>> from pqassay_spec.parquet.thrift import PageHeader
    >>> @settings(max_examples=20, database=None)
    ... @given(records(PageHeader))
    ... def decoding_gives_back_what_was_built(header):
    ...     built = grammar(PageHeader).build(header)
    ...     assert decode(PageHeader, built) == (header, len(built))
    >>> decoding_gives_back_what_was_built()

The generated records are well-formed, not sensible: offsets point anywhere, enums have values without names,
text holds bytes that are not UTF-8, and any struct may carry fields that its table does not know.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar, cast

from hypothesis import strategies as st

from pqassay_spec.grammar.thrift import (
    BINARY,
    BOOL,
    DOUBLE,
    STRING,
    EnumOf,
    Field,
    FieldType,
    ListOf,
    Record,
    Scalar,
    UnknownField,
    wire_type,
)
from pqassay_spec.grammar.thrift_wire import LONG_LIST, WireType, varint

AnyRecord = TypeVar("AnyRecord", bound=Record)

FEW = 3
"""The largest number of structs in a list, of unknown fields in a struct, and of optional fields set at once."""

MANY = LONG_LIST + 2
"""The largest number of scalars in a list: enough for the long form of the list header."""

DEEPEST = 3
"""The deepest nesting inside an unknown field."""


def records(record_class: type[AnyRecord], *, unknown: bool = True) -> st.SearchStrategy[AnyRecord]:
    """Generate instances of a declared struct.

    All required fields are set, and a random choice of the optional fields; a union has one member. Encoding and decoding a record returns
    an equal record: its unknown fields are sorted by id, and no double is NaN.

    Args:
        record_class: The declared struct, a subclass of `pqassay_spec.grammar.thrift.Record`.
        unknown: Whether structs carry fields that their table does not know, or declares with another type.
    """
    made = _records(record_class, unknown)  # type: ignore[arg-type] # a class is hashable, whatever its records are
    return cast("st.SearchStrategy[AnyRecord]", made)


def values(kind: FieldType, *, unknown: bool = True) -> st.SearchStrategy[Any]:
    """Generate values of a declared type, over its whole range."""
    if isinstance(kind, type):
        return records(kind, unknown=unknown)
    if isinstance(kind, ListOf):
        most = FEW if isinstance(kind.element, type) else MANY
        return st.lists(values(kind.element, unknown=unknown), max_size=most)
    if isinstance(kind, EnumOf):
        return st.sampled_from([member.value for member in kind.names]) | _signed(32)
    scalars: dict[Scalar, st.SearchStrategy[Any]] = {
        BOOL: st.booleans(),
        DOUBLE: st.floats(allow_nan=False),
        BINARY: st.binary(max_size=MANY),
        STRING: _text(),
    }
    return scalars[kind] if kind in scalars else _signed(kind.bits)


@st.composite
def unknown_fields(draw: st.DrawFn, record_class: type[Record]) -> UnknownField:
    """Generate a field that a struct's table does not declare, or declares with another wire type."""
    declared = {field.id: wire_type(field.type) for field in record_class.fields}
    identifier = draw(_signed(16) | st.sampled_from(sorted(declared)) if declared else _signed(16))
    wires = [wire for wire in WireType if wire not in (WireType.STOP, declared.get(identifier))]
    if declared.get(identifier) == WireType.TRUE:
        wires.remove(WireType.FALSE)  # both are bool
    wire = draw(st.sampled_from(wires))
    return UnknownField(identifier, int(wire), draw(encoded_values(wire)))


def encoded_values(wire: WireType, depth: int = DEEPEST) -> st.SearchStrategy[bytes]:
    """Generate the encoded bytes of any value of a wire type, without a field header."""
    widths = {WireType.BYTE: 1, WireType.DOUBLE: 8, WireType.UUID: 16}
    if wire in (WireType.TRUE, WireType.FALSE):
        return st.just(b"")
    if wire in widths:
        return st.binary(min_size=widths[wire], max_size=widths[wire])
    if wire in (WireType.I16, WireType.I32, WireType.I64):
        return st.integers(0, 2**64 - 1).map(varint)
    if wire == WireType.BINARY:
        return st.binary(max_size=MANY).map(lambda raw: varint(len(raw)) + raw)
    return _encoded_containers(wire, depth)


@cache
def _records(record_class: type[Record], unknown: bool) -> st.SearchStrategy[Record]:
    needed = [field for field in record_class.fields if field.required]
    spare = [field for field in record_class.fields if not field.required]
    members = {field.name: values(field.type, unknown=unknown) for field in record_class.fields}
    strays = st.lists(unknown_fields(record_class), max_size=FEW) if unknown else st.just([])
    # Most structs of a real file have no unknown fields, and shrinking should end there.
    strays = st.one_of(st.just([]), st.just([]), st.just([]), strays)

    def build(draw: st.DrawFn) -> Record:
        present: list[Field] = list(needed)
        if record_class.is_union:
            present.append(draw(st.sampled_from(spare)))
        elif spare:
            present += draw(st.lists(st.sampled_from(spare), unique_by=lambda field: field.id, max_size=FEW))
        found = {field.name: draw(members[field.name]) for field in present}
        return record_class(**found, unknown=sorted(draw(strays), key=lambda field: field.id))

    return st.composite(build)()


@st.composite
def _encoded_containers(draw: st.DrawFn, wire: WireType, depth: int) -> bytes:
    """Generate lists, sets, maps and structs with any content, nested up to ``depth`` levels."""
    scalars = [WireType.TRUE, WireType.BYTE, WireType.I32, WireType.DOUBLE, WireType.BINARY]
    inner = st.sampled_from(
        scalars if depth == 0 else [*scalars, WireType.LIST, WireType.MAP, WireType.STRUCT]
    )
    size = draw(st.integers(0, FEW))
    if wire == WireType.STRUCT:
        fields = b""
        for _ in range(size):
            kind = draw(inner)
            fields += bytes((1 << 4 | kind,)) + draw(encoded_values(kind, depth - 1))
        return fields + bytes((WireType.STOP,))
    kinds = [draw(inner) for _ in range(2 if wire == WireType.MAP else 1)]
    if wire == WireType.MAP:
        header = varint(size) + (bytes((kinds[0] << 4 | kinds[1],)) if size else b"")
    else:
        header = bytes((size << 4 | kinds[0],))
    return header + b"".join(draw(_element(kind, depth)) for _ in range(size) for kind in kinds)


def _element(kind: WireType, depth: int) -> st.SearchStrategy[bytes]:
    """Generate an encoded element of a container, where a bool takes a byte."""
    return st.sampled_from([b"\x01", b"\x02"]) if kind == WireType.TRUE else encoded_values(kind, depth - 1)


def _signed(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def _text() -> st.SearchStrategy[str]:
    """Generate text as decoded: bytes that are not UTF-8 become lone surrogates."""
    foreign = st.binary(max_size=FEW).map(lambda raw: raw.decode("utf-8", "surrogateescape"))
    return st.text(max_size=MANY) | foreign
