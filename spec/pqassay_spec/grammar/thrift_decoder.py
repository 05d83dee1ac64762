"""The fast decoder of compact Thrift: one Python function per declared struct, generated from its table.

The generated source does what the grammar in `pqassay_spec.grammar.thrift` does field by field. Varints are inlined, and fields are
expected in ascending order.  Fields out of order, in long form, unknown or of another type go through `_remaining`.
A decoder only detects *that* something is wrong; the traced grammar then finds *where*.

Tests show that it equals the grammar on golden files, foreign footers and random structs.
"""

from __future__ import annotations

import gc
import struct
from collections.abc import Callable, Collection, Container, Iterator, Mapping
from contextlib import suppress
from typing import Any, Protocol, TypeGuard, TypeVar

from construct import Float64l

from pqassay_spec.base.errors import Malformed, boundary
from pqassay_spec.grammar.thrift import (
    BOOL,
    DOUBLE,
    I8,
    I32,
    STRING,
    EnumOf,
    FieldType,
    ListOf,
    Record,
    Scalar,
    UnknownField,
    grammar,
    type_name,
    unknown_field,
    wire_type,
)
from pqassay_spec.grammar.thrift_wire import (
    LONG_LIST,
    VARINT_BITS,
    VARINT_GOES_ON,
    VARINT_MASK,
    WireType,
    read_field_id,
    read_varint,
    skip,
    unzigzag,
)
from pqassay_spec.grammar.trace import locate

AnyRecord = TypeVar("AnyRecord", bound=Record)
Reader = Callable[[bytes, int, int], tuple[Any, int]]
"""``(data, position, end) -> (value, position after it)``."""


class ListReader(Protocol):
    """A reader of lists of one struct: it returns the same lists as the generated function, and raises the same errors."""

    @property
    def record(self) -> type[Record]:
        """The struct of the list's elements."""

    def __call__(self, data: bytes, position: int, end: int) -> tuple[Any, int]:
        """Read a list, as `Reader` does."""


SHORT = 1 << 14
"""Bytes below which the cycle collector is not paused: it runs less than twice, so pausing would take longer."""


class WatchedBytes(bytes):
    """Encoded structs whose decoding records whether there were unknown or mistyped fields."""

    has_unknown = False
    """Whether a struct that was decoded from these bytes has such a field."""


def decode(
    record: type[AnyRecord],
    data: bytes,
    *,
    root: str = "",
    base: int = 0,
    rule: str | None = None,
    readers: Collection[ListReader] = (),
) -> tuple[AnyRecord, int]:
    """Decode one struct from the start of ``data``; return it with the number of bytes it took.

    Args:
        record: The declared struct.
        data: The encoded bytes; bytes after the struct are ignored.
        root: Path of the struct in messages.
        base: Offset of ``data`` in the file, for messages.
        rule: Id of the rule that ``data`` breaks if it does not decode.
        readers: Readers for lists of some structs at any depth, used instead of the generated function.

    Raises:
        Malformed: With path and file offset. Memory stays proportional to ``data``: a length is only trusted
            if the bytes that it counts exist.
    """
    read = decoder(record, tuple(readers))
    if len(data) <= SHORT:
        with suppress(Exception):  # what is wrong is said below
            return read(data, 0, len(data))
    try:
        with boundary(rule=rule, field=root, offset=base), collector_paused():
            return read(data, 0, len(data))
    except Malformed as error:
        place = locate(grammar(record), data, root=root, base=base, rule=rule)
        raise (place or error) from None


class collector_paused:  # noqa: N801 - used like a function; a generator would take four times as long
    """Pause the cycle collector, which would walk the growing tree again and again: a tree does not have cycles.

    Measured on a footer of 5.8 MB: about twice as fast.
    """

    __slots__ = ("_was_running",)

    def __enter__(self) -> None:
        self._was_running = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._was_running:
            gc.enable()


_decoders: dict[tuple[type[Record], tuple[ListReader, ...]], Reader] = {}


def decoder(record: type[Record], readers: tuple[ListReader, ...] = ()) -> Reader:
    """The generated function of a struct, cached; ``readers`` are those of `decode`."""
    key = record, readers
    if key not in _decoders:
        names: dict[str, Any] = dict(_RUNTIME)
        source: list[str] = []
        _write_struct(record, source, names, set(), {reader.record: reader for reader in readers})
        exec(compile("\n".join(source), f"<decoder of {record.__name__}>", "exec"), names)  # noqa: S102 - our own text
        _decoders[key] = names[f"read_{record.__name__}"]
    return _decoders[key]


# ------------------------------------------------------------------------------ helpers of generated code


def _varint(data: bytes, position: int, bits: int) -> tuple[int, int]:
    value, position = read_varint(data, position)
    if value >> bits:
        _refuse(f"a value that exceeds {bits} bits")
    return value, position


def _refuse(message: str) -> None:
    raise Malformed(message)


def _listed_bool(byte: int) -> bool:
    if byte > WireType.FALSE:
        raise Malformed(f"{byte} is not a bool")
    return byte == WireType.TRUE


def _remaining(
    data: bytes, position: int, header: int, identifier: int, readers: dict[tuple[int, int], Reader]
) -> tuple[dict[int, Any], tuple[UnknownField, ...], int]:
    """Read the fields from ``header`` on, in any order; ``identifier`` already includes the header's delta."""
    end = len(data)
    values: dict[int, Any] = {}
    unknown: list[UnknownField] = []
    identifier -= header >> 4
    while header:
        identifier, position = read_field_id(data, position, header, identifier)
        wire = header & 15
        reader = readers.get((identifier, wire))
        if reader is not None:
            values[identifier], position = reader(data, position, end)
        else:
            after = skip(data, position, wire)
            unknown.append(unknown_field(identifier, wire, data[position:after]))
            position = after
        header = data[position]
        position += 1
    if unknown and isinstance(data, WatchedBytes):
        data.has_unknown = True
    return values, tuple(unknown), position


def _true(_data: bytes, position: int, _end: int) -> tuple[bool, int]:
    return True, position


def _false(_data: bytes, position: int, _end: int) -> tuple[bool, int]:
    return False, position


_CALLED = (_varint, _refuse, _listed_bool, _remaining)
_RUNTIME: dict[str, Any] = {
    **{function.__name__: function for function in _CALLED},
    "_zigzag": tuple(map(unzigzag, range(VARINT_GOES_ON))),
    # Addends for the second to fourth byte of a varint: each removes its continuation bit; the addend of the second
    # byte also removes the bit of the first.
    "_second": tuple(((value & VARINT_MASK) << VARINT_BITS) - VARINT_GOES_ON for value in range(256)),
    "_third": tuple((value & VARINT_MASK) << 2 * VARINT_BITS for value in range(256)),
    "_fourth": tuple((value & VARINT_MASK) << 3 * VARINT_BITS for value in range(256)),
    "_double": struct.Struct(Float64l.fmtstr).unpack_from,
    "_new": object.__new__,
}


# ---------------------------------------------------------------------------------------- writing the code

_SHORT = "_refuse(f'a length beyond the {end - p} bytes left')"


def _write_struct(
    record: type[Record],
    source: list[str],
    names: dict[str, Any],
    done: set[str],
    readers: Mapping[type[Record], ListReader],
) -> None:
    """Append the readers of a struct and of everything it contains, innermost first."""
    if record.__name__ in done:
        return
    done.add(record.__name__)
    for field in record.fields:
        for part in _structs_in(field.type):
            if isinstance(field.type, ListOf) and part in readers:
                names[f"list_{part.__name__}"] = readers[part]
            else:
                _write_struct(part, source, names, done, readers)
    name = record.__name__
    names[name] = record
    table: dict[tuple[int, int], Reader] = {}
    names[f"{name}_readers"] = table
    for field in record.fields:
        if field.type is BOOL:
            table[field.id, WireType.TRUE], table[field.id, WireType.FALSE] = _true, _false
        else:
            reader = f"read_{name}_{field.id}"
            table[field.id, wire_type(field.type)] = _deferred(names, reader)
            source += [
                f"def {reader}(b, p, end):",
                *_value(field.type, "x", 1, readers),
                "    return x, p",
                "",
            ]
    source += [
        f"def read_{name}(b, p, end):",
        *_struct(record, "o", "f", 1, readers),
        "    return o, p",
        "",
    ]


def _deferred(names: dict[str, Any], function: str) -> Reader:
    """A reader that is looked up at its first call, because its source is compiled after the table is made."""

    def read(data: bytes, position: int, end: int) -> tuple[Any, int]:
        value: tuple[Any, int] = names[function](data, position, end)
        return value

    return read


def _structs_in(kind: FieldType) -> Iterator[type[Record]]:
    if isinstance(kind, ListOf):
        yield from _structs_in(kind.element)
    elif isinstance(kind, type):
        yield kind


def _struct(
    record: type[Record],
    target: str,
    prefix: str,
    depth: int,
    readers: Container[type[Record]] = (),
) -> list[str]:
    """Lines that read a struct at ``b[p]`` into ``target``; ``prefix`` makes the names of its variables unique."""
    name, fields = record.__name__, sorted(record.fields, key=lambda field: field.id)
    variables = {field.id: f"{prefix}{field.id}" for field in fields}
    lines: list[str] = []
    if fields:
        lines.append(" = ".join(variables.values()) + " = None")
    # The upper nibble of a short header is the distance from the id before: t combines id and wire type.
    lines.append("t = h = b[p]; p += 1")
    for field in fields:
        variable, base = variables[field.id], field.id << 4
        if field.type is BOOL:
            lines += [
                f"if {base | WireType.TRUE} <= t <= {base | WireType.FALSE}:",
                f"    {variable} = t == {base | WireType.TRUE}",
            ]
        else:
            lines.append(f"if t == {base | wire_type(field.type)}:")
            if _is_inlined(field.type):
                lines += _struct(field.type, variable, f"{variable}_", 1, readers)
            else:
                lines += _value(field.type, variable, 1, readers)
        lines.append(f"    h = b[p]; p += 1; t = h + {base}")
    lines += ["if h:", f"    d, u, p = _remaining(b, p, h, t >> 4, {name}_readers)"]
    lines += [f"    {variable} = d.get({i}, {variable})" for i, variable in variables.items()]
    lines.append("else: u = ()")
    if needed := [variables[field.id] for field in fields if field.required]:
        absent = " or ".join(f"{variable} is None" for variable in needed)
        lines.append(f"if {absent}: _refuse('{name} lacks a required field')")
    if record.is_union:
        nothing = " and ".join(f"{variable} is None" for variable in variables.values())
        lines.append(f"if not u and {nothing}: _refuse('{name} is a union without a member')")
    lines.append(f"{target} = _new({name})")
    lines += [f"{target}.{field.name} = {variables[field.id]}" for field in fields]
    lines.append(f"{target}.unknown = u")
    return ["    " * depth + line for line in lines]


def _is_inlined(kind: FieldType) -> TypeGuard[type[Record]]:
    """Whether a struct is read in place rather than by a call, which costs as much as two fields.

    Unions are not: they have many members, of which one is present.
    """
    return isinstance(kind, type) and len(kind.fields) > 1 and not kind.is_union


def _is_flat(kind: FieldType) -> TypeGuard[type[Record]]:
    """Whether a struct has only fields without parts: list elements of that kind are read in place."""
    return (
        isinstance(kind, type)
        and bool(kind.fields)
        and all(isinstance(field.type, Scalar | EnumOf) for field in kind.fields)
    )


def _value(kind: FieldType, target: str, depth: int, readers: Container[type[Record]] = ()) -> list[str]:
    """Lines that read one value at ``b[p]`` into ``target``; ``readers`` are the structs whose lists have their own reader."""
    if isinstance(kind, type):
        lines = [f"{target}, p = read_{kind.__name__}(b, p, end)"]
    elif isinstance(kind, ListOf) and kind.element in readers:
        lines = [f"{target}, p = list_{type_name(kind.element)}(b, p, end)"]
    elif isinstance(kind, ListOf):
        lines = _list(kind.element, target)
    elif isinstance(kind, EnumOf):
        lines = _integer(target, I32.bits)
    elif kind.wire == WireType.BINARY:
        lines = _binary(kind, target)
    elif kind is DOUBLE:
        width = Float64l.sizeof()
        lines = [f"if p + {width} > end: {_SHORT}", f"{target} = _double(b, p)[0]", f"p += {width}"]
    elif kind is I8:
        lines = [f"{target} = b[p]", f"if {target} > 127: {target} -= 256", "p += 1"]
    elif kind is BOOL:
        lines = [f"{target} = _listed_bool(b[p]); p += 1"]
    else:
        lines = _integer(target, kind.bits)
    return ["    " * depth + line for line in lines]


def _unsigned(target: str, bits: int, short: str = "") -> list[str]:
    """Lines that read a varint; forms of one to four bytes are inlined, because nearly all varints in a footer are short.

    ``short`` is the code that follows on the line of the one-byte form.
    """
    return [
        f"{target} = b[p]",
        f"if {target} < {VARINT_GOES_ON}: p += 1{short}",
        "else:",
        "    c = b[p + 1]",
        f"    if c < {VARINT_GOES_ON}: {target} += _second[c]; p += 2",
        "    else:",
        "        e = b[p + 2]",
        f"        if e < {VARINT_GOES_ON}: {target} += _second[c] + _third[e]; p += 3",
        "        else:",
        "            g = b[p + 3]",
        f"            if g < {VARINT_GOES_ON}: {target} += _second[c] + _third[e] + _fourth[g]; p += 4",
        f"            else: {target}, p = _varint(b, p, {bits})",
    ]


def _integer(target: str, bits: int) -> list[str]:
    lines = _unsigned("v", bits, f"; {target} = _zigzag[v]")
    if bits < 4 * VARINT_BITS:  # four bytes may already hold too much
        lines.append(f"    if v >> {bits}: _refuse('a value that exceeds {bits} bits')")
    return [*lines, f"    {target} = ~(v >> 1) if v & 1 else v >> 1"]


def _binary(kind: Scalar, target: str) -> list[str]:
    text = "str(b[p:q], 'utf-8', 'surrogateescape')"
    return [
        *_unsigned("n", 64),
        "q = p + n",
        f"if q > end: {_SHORT}",
        f"{target} = {text if kind is STRING else 'b[p:q]'}",
        "p = q",
    ]


def _list(element: FieldType, target: str) -> list[str]:
    if isinstance(element, ListOf):
        raise TypeError("a list of lists needs loop variables of its own; Parquet has none")
    declared = int(wire_type(element))
    bad = f"w != {declared}" if element is not BOOL else "w != 1 and w != 2"
    return [
        "w = b[p]; p += 1",
        "n = w >> 4; w &= 15",
        f"if n == {LONG_LIST}:",
        *("    " + line for line in _unsigned("n", 64)),
        f"if n > end - p: {_SHORT}",
        f"if n and ({bad}): _refuse(f'a list of wire type {{w}} where {declared} is declared')",
        f"{target} = []",
        f"a = {target}.append",
        "for _ in range(n):",
        *(_struct(element, "y", "y", 1) if _is_flat(element) else _value(element, "y", 1)),
        "    a(y)",
    ]
