"""The fast encoder of compact Thrift: one Python function per declared struct, made from its table.

It writes the same bytes as `pqassay_spec.grammar.thrift.grammar`, about five times as fast. The grammar builds the headers of
fields once, and also everything that is not in the table.

Tests show that it equals the grammar on random structs and foreign footers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pqassay_spec.grammar.thrift import (
    BOOL,
    I32,
    STRING,
    EnumOf,
    Field,
    FieldType,
    ListOf,
    Record,
    build_field_header,
    build_list_header,
    grammar,
    value_grammar,
    wire_type,
)
from pqassay_spec.grammar.thrift_wire import VARINT_GOES_ON, WireType, varint, zigzag

Writer = Callable[[Any, list[bytes]], None]
"""A function that appends the bytes of a value to a list."""

SHORT_LIST = 64
"""List lengths below this have headers that are built once."""

_SMALL = tuple(varint(value) for value in range(VARINT_GOES_ON))
_STOP = bytes((WireType.STOP,))


def encode(record: Record) -> bytes:
    """The bytes of a struct.

    Raises:
        ValueError: A required field is missing, or a number does not fit into its field.
    """
    parts: list[bytes] = []
    _struct_writer(type(record))(record, parts)
    return b"".join(parts)


def _unsigned(value: int) -> bytes:
    return _SMALL[value] if value < VARINT_GOES_ON else varint(value)


_writers: dict[type[Record], Writer] = {}


def _struct_writer(record: type[Record]) -> Writer:
    """The function that writes a struct; cached."""
    if record not in _writers:
        _writers[record] = _made_struct_writer(record)
    return _writers[record]


def _made_struct_writer(record: type[Record]) -> Writer:
    built = grammar(record)
    rows = [_row(field) for field in sorted(record.fields, key=lambda field: field.id)]
    required = {field.name for field in record.fields if field.required}

    def write(value: Record, parts: list[bytes]) -> None:
        if value.unknown:
            parts.append(bytes(built.build(value)))
            return
        last = 0
        for name, identifier, headers, false_headers, write_value in rows:
            member = getattr(value, name)
            if member is None:
                if name in required:
                    raise ValueError(f"{record.__name__}.{name} is required")
                continue
            if write_value is None:
                parts.append((headers if member else false_headers)[last])
            else:
                parts.append(headers[last])
                write_value(member, parts)
            last = identifier
        parts.append(_STOP)

    return write


def _row(field: Field) -> tuple[str, int, list[bytes], list[bytes], Writer | None]:
    """Name and id of a field, its headers by the id of the previous field, the headers for false, and the writer of its value."""
    wires = (WireType.TRUE, WireType.FALSE) if field.type is BOOL else (wire_type(field.type),) * 2
    true, false = ([build_field_header(last, field.id, wire) for last in range(field.id)] for wire in wires)
    return field.name, field.id, true, false, None if field.type is BOOL else _value_writer(field.type)


def _value_writer(kind: FieldType) -> Writer:
    if isinstance(kind, type):
        return _struct_writer(kind)
    if isinstance(kind, ListOf):
        return _list_writer(kind.element)
    if isinstance(kind, EnumOf):
        return _integer_writer(I32.bits)
    if kind.wire == WireType.BINARY:
        return _write_text if kind is STRING else _write_binary
    if kind.wire in (WireType.I16, WireType.I32, WireType.I64):
        return _integer_writer(kind.bits)
    built = value_grammar(kind, in_list=True)
    return lambda value, parts: parts.append(bytes(built.build(value)))


def _integer_writer(bits: int) -> Writer:
    least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1

    def write(value: int, parts: list[bytes]) -> None:
        if not least <= value <= most:
            raise ValueError(f"{value} does not fit into {bits} bits")
        parts.append(_unsigned(zigzag(value)))

    return write


def _write_binary(value: bytes, parts: list[bytes]) -> None:
    parts += (_unsigned(len(value)), value)


def _write_text(value: str, parts: list[bytes]) -> None:
    _write_binary(value.encode("utf-8", "surrogateescape"), parts)


def _list_writer(element: FieldType) -> Writer:
    write_element = _value_writer(element)
    wire = wire_type(element)
    headers = [build_list_header(size, wire) for size in range(SHORT_LIST)]

    def write(values: list[Any], parts: list[bytes]) -> None:
        size = len(values)
        parts.append(headers[size] if size < SHORT_LIST else build_list_header(size, wire))
        for value in values:
            write_element(value, parts)

    return write


__all__ = ["encode"]
