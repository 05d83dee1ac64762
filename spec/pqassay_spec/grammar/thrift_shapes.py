"""Structs that are encoded alike: the same fields in the same order, with other numbers and texts in them.

A footer lists thousands of column chunks, most of which differ in a few numbers.  A *shape* is made from one of them by its
table.  It is a regular expression that matches structs with the same fields, enums, flags and list lengths. The parts that may
differ are its *slots*, the groups.  The decoder would read a match in the same way, so a match is decoded only when the record
is used. Other structs go to the decoder (`pqassay_spec.grammar.thrift_decoder`), which is normative.

>>> from pqassay_spec.parquet.thrift import PageLocation
>>> shape = shape_of(PageLocation, bytes.fromhex("16 08 15 c8 01 16 00 00"))
>>> [slot.path for slot in shape.slots]
[('offset',), ('compressed_page_size',), ('first_row_index',)]
>>> match = shape.match(bytes.fromhex("16 d0 0f 15 02 16 14 00"))
>>> [column(slot, [raw])[0] for slot, raw in zip(shape.slots, match.groups())]
[1000, 1, 10]

Source: Thrift compact protocol specification.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

from pqassay_spec.base.errors import FormatError
from pqassay_spec.grammar.thrift import (
    BINARY,
    BOOL,
    I16,
    I32,
    I64,
    STRING,
    EnumOf,
    FieldType,
    ListOf,
    Record,
    wire_type,
)
from pqassay_spec.grammar.thrift_wire import (
    VARINT_BITS,
    VARINT_GOES_ON,
    VARINT_MASK,
    WireType,
    read_list_header,
    read_varint,
    unzigzag,
)

LONGEST_TEXT = 63
"""Bytes of the longest text or binary of a shape."""

LONGEST_LIST = 64
"""Elements of the longest list of a shape."""

MOST_SLOTS = 90
"""Most slots of a shape; with more, making the expression takes longer than it saves."""

MOST_TEXTS = 16
"""Most texts and binaries of any length in a shape: the expression of one takes as long to make as that of twenty numbers."""

_WIDTH = 8
"""Bytes of the longest varint of a shape: 56 bits."""


class Slot(NamedTuple):
    """A part that may differ among structs of one shape.

    Attributes:
        path: The path from the struct to it, in names and positions.
        type: Its type.
        has_length: Whether its group begins with the length, in one byte, of the text or binary.
    """

    path: tuple[str | int, ...]
    type: FieldType
    has_length: bool = False


@dataclass(frozen=True, eq=False)
class Shape:
    """A shape of encoded structs.

    Attributes:
        record: The table of the structs.
        match: Matches a struct at a position in some bytes; the groups are the encoded slots.
        slots: The slots.
        example: The bytes of the struct that the shape was made from.
    """

    record: type[Record]
    match: Callable[..., re.Match[bytes] | None]
    slots: tuple[Slot, ...]
    example: bytes

    @cached_property
    def places(self) -> dict[tuple[str | int, ...], int]:
        """The position of each slot, by its path."""
        return {slot.path: place for place, slot in enumerate(self.slots)}


class _Unusual(Exception):  # noqa: N818 - an outcome, not an error
    """Raised if a struct has something that shapes do not support."""


def shape_of(record: type[Record], data: bytes, *, of_one_length: bool = False) -> Shape | None:
    """The shape of an encoded struct that decodes; ``None`` if it does not have one.

    Args:
        record: Its table.
        data: Its bytes.
        of_one_length: Whether binaries must have the same length in all structs of the shape. Texts may always differ in length.
    """
    writing = _Writing(data, of_one_length)
    try:
        if writing.struct(record, 0, ()) != len(data):
            return None
    except (_Unusual, FormatError, IndexError):
        return None
    match = re.compile(b"".join(writing.pieces), re.DOTALL).match
    return Shape(record, match, tuple(writing.slots), bytes(data))


class _Writing:
    """Writes the regular expression of a struct."""

    def __init__(self, data: bytes, of_one_length: bool) -> None:
        self.data = data
        self.of_one_length = of_one_length
        self.pieces: list[bytes] = []
        self.slots: list[Slot] = []
        self.texts = 0

    def literal(self, start: int, end: int) -> int:
        self.pieces.append(re.escape(self.data[start:end]))
        return end

    def struct(self, record: type[Record], position: int, path: tuple[str | int, ...]) -> int:
        fields = {field.id: field for field in record.fields}
        last = 0
        while header := self.data[position]:
            last += header >> 4
            field, wire = fields.get(last), header & 15
            # Fields in long form, out of order or unknown are left to the decoder.
            if field is None or not header >> 4:
                raise _Unusual
            if wire != wire_type(field.type) and (field.type is not BOOL or wire != WireType.FALSE):
                raise _Unusual
            position = self.literal(position, position + 1)
            if field.type is not BOOL:
                position = self.value(field.type, position, (*path, field.name))
        return self.literal(position, position + 1)

    def value(self, kind: FieldType, position: int, path: tuple[str | int, ...]) -> int:
        if isinstance(kind, type):
            return self.struct(kind, position, path)
        if isinstance(kind, ListOf):
            return self.list(kind.element, position, path)
        if isinstance(kind, EnumOf):
            return self.literal(position, read_varint(self.data, position)[1])
        if kind is BOOL:
            return self.literal(position, position + 1)
        if kind is BINARY or kind is STRING:
            length, start = read_varint(self.data, position)
            if length > LONGEST_TEXT:
                raise _Unusual
            if kind is BINARY and self.of_one_length:
                self.literal(position, start)
                return self.slot(Slot(path, kind), b"(.{%d})" % length, start + length)
            return self.slot(Slot(path, kind, has_length=True), _OPEN, start + length)
        if kind is I16 or kind is I32 or kind is I64:
            # So short that the value fits the type.
            longest = min(kind.bits // VARINT_BITS, _WIDTH)
            pattern = b"([\\x80-\\xff]{0,%d}[\\x00-\\x7f])" % (longest - 1)
            return self.slot(Slot(path, kind), pattern, read_varint(self.data, position)[1])
        raise _Unusual

    def list(self, kind: FieldType, position: int, path: tuple[str | int, ...]) -> int:
        size, _, start = read_list_header(self.data, position)
        if size > LONGEST_LIST:
            raise _Unusual
        position = self.literal(position, start)
        for number in range(size):
            position = self.value(kind, position, (*path, number))
        return position

    def slot(self, slot: Slot, pattern: bytes, after: int) -> int:
        self.pieces.append(pattern)
        self.slots.append(slot)
        self.texts += slot.has_length
        if len(self.slots) > MOST_SLOTS or self.texts > MOST_TEXTS:
            raise _Unusual
        return after


def _of_length(length: int) -> bytes:
    return re.escape(bytes((length,))) + b".{%d}" % length


_OPEN = b"((?>%b))" % b"|".join(map(_of_length, range(LONGEST_TEXT + 1)))
"""A text or binary of any length. Its first byte selects the alternative, and no other is tried."""


# ------------------------------------------------------------------------------------------------ values of slots


def column(slot: Slot, raws: Sequence[bytes]) -> Sequence[Any]:
    """The values of a slot in many structs of one shape, from the bytes of its group in each struct.

    >>> list(column(Slot((), I32), [bytes.fromhex("02"), bytes.fromhex("d0 0f")]))
    [1, 1000]
    """
    if slot.type is BINARY or slot.type is STRING:
        return list(map(reader(slot), raws))
    joined = b"".join(raws)
    if len(joined) == len(raws):
        if max(joined) & 1 == 0 and not joined.translate(None, _EVEN):
            return joined.translate(_HALVES)
        return [unzigzag(byte) for byte in joined]
    return _numbers(raws)


class _Numbers(dict[bytes, int]):
    """The signed numbers of varints of at most eight bytes each; short ones are cached."""

    def __missing__(self, raw: bytes) -> int:
        value = unzigzag(read_varint(raw, 0)[0])
        if len(raw) <= 2:
            self[raw] = value
        return value


_NUMBERS = _Numbers()


def reader(slot: Slot) -> Callable[[bytes], Any]:
    """A function that reads the value of a slot in one struct, from the bytes of its group."""
    if slot.type is BINARY:
        return itemgetter(slice(1, None)) if slot.has_length else bytes
    return _text_of if slot.type is STRING else _NUMBERS.__getitem__


def _text_of(raw: bytes) -> str:
    return str(raw[1:], "utf-8", "surrogateescape")


_EVEN = bytes(range(0, VARINT_GOES_ON, 2))
_HALVES = bytes(byte >> 1 for byte in range(1 << 8))


def _numbers(raws: Sequence[bytes]) -> Sequence[int]:
    """Signed numbers of at most eight bytes each, all at once: one large integer is shifted to remove the continuation bits."""
    longest = max(map(len, raws))
    width = next(width for width in _CODES if width >= longest)
    count = len(raws)
    bits = int.from_bytes(b"".join([raw.ljust(width, b"\0") for raw in raws]), "little")
    size = 1
    bits &= _mask(bytes([VARINT_MASK]), count * width)
    while size < width:
        low = ((1 << VARINT_BITS * size) - 1).to_bytes(size, "little")
        pairs = count * width // size // 2
        bits = bits & _mask(low + bytes(size), pairs) | (bits & _mask(bytes(size) + low, pairs)) >> size
        size *= 2
    is_negative = bits & _mask(b"\1" + bytes(width - 1), count)
    values = struct.unpack(
        f"<{count}{_CODES[width]}", (bits if is_negative else bits >> 1).to_bytes(width * count, "little")
    )
    return list(map(unzigzag, values)) if is_negative else values


_CODES = {2: "H", 4: "I", 8: "Q"}
"""Python's formats of numbers, by their width in bytes."""


def _mask(pattern: bytes, count: int) -> int:
    return int.from_bytes(pattern * count, "little")
