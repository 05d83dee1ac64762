"""Extensions: the binary field 32767, in which any software may add data to any Thrift struct of a file.

The field's id is written in the long form: one byte for the wire type, then the id as a zigzag varint.  The example in the
document that reserves the field writes the id as a plain varint, which parsers read as field -16384:

    >>> long_form(FIELD, WireType.BINARY).hex(" "), long_form(MISTAKEN_FIELD, WireType.BINARY).hex(" ")
    ('08 fe ff 03', '08 ff ff 01')

Source: apache/parquet-format, ``BinaryProtocolExtensions.md``; Thrift compact protocol specification.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pqassay_spec.grammar.record_walk import unknown_fields
from pqassay_spec.grammar.thrift import Record
from pqassay_spec.grammar.thrift_wire import WireType, read_varint, varint, zigzag
from pqassay_spec.parquet.thrift import EXTENSION_FIELD

FIELD = EXTENSION_FIELD
"""The field id that is reserved in every struct."""

MISTAKEN_FIELD = -16384
"""The id that a parser reads if 32767 was written without zigzag."""

UNIQUE_BYTES = 16
"""Bytes that an extension needs at its beginning to be unique: those of a UUID."""


def long_form(identifier: int, wire: int) -> bytes:
    """The header of a field in the long form."""
    return bytes((wire,)) + varint(zigzag(identifier))


_MARKS = tuple(long_form(identifier, 0)[1:] for identifier in (FIELD, MISTAKEN_FIELD))


def has_extensions(data: bytes) -> bool:
    """Whether encoded structs may have extensions: whether their bytes contain the bytes of the field's id."""
    return any(mark in data for mark in _MARKS)


class Extension(NamedTuple):
    """One extension field.

    Attributes:
        struct: Path of the struct that it belongs to.
        id: The field's id, `FIELD` or `MISTAKEN_FIELD`.
        wire: Its wire type.
        raw: The bytes of its value, as the wire type encodes them.
        start, end: Its offsets in the bytes of the outermost struct, header included.
    """

    struct: str
    id: int
    wire: int
    raw: bytes
    start: int
    end: int

    @property
    def content(self) -> bytes:
        """The extension's own bytes; for a field that is not binary, its encoded value."""
        return self.raw[read_varint(self.raw, 0)[1] :] if self.wire == WireType.BINARY else self.raw


def extensions(record: Record, data: bytes, path: str) -> Iterator[Extension]:
    """Yield the extension fields of a struct decoded from ``data`` and of all structs in it, in the order of their bytes.

    A struct without extensions costs one search of its bytes.
    """
    if not has_extensions(data):
        return
    position = 0
    for struct, _, field in unknown_fields(record, path):
        if field.id == FIELD or (field.id == MISTAKEN_FIELD and field.wire == WireType.BINARY):
            encoded = long_form(field.id, field.wire) + field.raw
            start = data.find(encoded, position)
            if start < 0:  # fields of a struct may come in any order
                start = data.find(encoded)
            if start >= 0:  # a header that is longer than it need be is passed over
                position = start + len(encoded)
                yield Extension(struct, field.id, field.wire, field.raw, start, position)
