"""Read compact Thrift without interpreting it: type codes, varints, headers, skipping.

Everything here works on bytes and positions. A length is only trusted if that many bytes are left,
and nesting deeper than `MAX_DEPTH` is refused.

Source: Thrift compact protocol specification.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import Any, NamedTuple

from construct import Bytes, Float64l, Int8sb

from pqassay_spec.base.errors import Malformed, Truncated


class WireType(IntEnum):
    """The type nibble of a field header or list header."""

    STOP = 0
    TRUE = 1
    FALSE = 2
    BYTE = 3
    I16 = 4
    I32 = 5
    I64 = 6
    DOUBLE = 7
    BINARY = 8
    LIST = 9
    SET = 10
    MAP = 11
    STRUCT = 12
    UUID = 13


# Plain numbers: looking up a member of an enum and comparing with it takes longer than skipping most values.
_BOOLS = frozenset((int(WireType.TRUE), int(WireType.FALSE)))
_VARINTS = frozenset((int(WireType.I16), int(WireType.I32), int(WireType.I64)))
_LISTS = frozenset((int(WireType.LIST), int(WireType.SET)))
_BINARY, _STRUCT, _MAP = int(WireType.BINARY), int(WireType.STRUCT), int(WireType.MAP)

FIXED: dict[int, Any] = {WireType.BYTE: Int8sb, WireType.DOUBLE: Float64l, WireType.UUID: Bytes(16)}
"""The construct of each wire type whose values all have the same width."""

_WIDTHS = {int(wire): int(value.sizeof()) for wire, value in FIXED.items()}

VARINT_BITS = 7
"""Bits of the number in each byte of a varint, from the lowest bit on."""

VARINT_MASK = (1 << VARINT_BITS) - 1
"""The bits of a byte of a varint that belong to the number."""

VARINT_GOES_ON = 1 << VARINT_BITS
"""The bit that is set in a byte of a varint if another byte follows."""

MAX_DEPTH = 100
"""Deepest nesting that is followed in unknown fields."""

FEW = 16
"""Largest number of elements that are skipped one by one; in longer lists, as many as possible are skipped at once."""

_STOPS = re.compile(rb"\0+")
_GOING_ON = bytes(range(VARINT_GOES_ON, 1 << 8))
_LONG_VARINT = re.compile(rb"[\x80-\xff]{9}")

LONG_LIST = 15
"""Size nibble after which the element count follows as a varint."""


def skip(data: bytes | memoryview, position: int, wire: int, depth: int = 0) -> int:
    """Return the position after a value of a wire type, without interpreting it.

    Raises:
        Truncated: The value does not end inside ``data``.
        Malformed: A wire type that does not exist, or nesting deeper than `MAX_DEPTH`.
    """
    end = len(data)
    if depth > MAX_DEPTH:
        raise Malformed(f"nesting deeper than {MAX_DEPTH} levels", offset=position)
    # the most common first: footers consist of numbers, then of strings and structs
    if wire in _VARINTS:
        return read_varint(data, position)[1]
    if wire == _BINARY:
        length, position = read_varint(data, position)
        after = position + length
    elif wire == _STRUCT:
        return _skip_struct(data, position, depth)
    elif wire in _LISTS:
        size, element, position = read_list_header(data, position)
        return _skip_elements(data, position, size, (element,), depth)
    elif wire in _BOOLS:
        return position  # a bool field stores its value in the header
    elif wire == _MAP:
        size, position = read_varint(data, position)
        if size == 0:
            return position
        kinds = read_byte(data, position)
        return _skip_elements(data, position + 1, size, (kinds >> 4, kinds & 15), depth)
    else:
        width = _WIDTHS.get(wire)
        if width is None:
            raise Malformed(f"wire type {wire} does not exist", offset=position)
        after = position + width
    if after > end:
        raise Truncated(
            f"a value of {after - position} bytes with {end - position} bytes left", offset=position
        )
    return after


def _skip_struct(data: bytes | memoryview, position: int, depth: int) -> int:
    while header := read_byte(data, position):
        position += 1
        if not header >> 4:
            position = read_varint(data, position)[1]
        position = skip(data, position, header & 15, depth + 1)
    return position + 1


def _skip_elements(
    data: bytes | memoryview, position: int, size: int, kinds: tuple[int, ...], depth: int
) -> int:
    if size * len(kinds) > len(data) - position:
        raise Truncated(f"{size} elements with {len(data) - position} bytes left", offset=position)
    if len(kinds) == 1 and size > FEW:
        position, size = _skip_at_once(data, position, size, kinds[0])
    while size:
        size -= 1
        for kind in kinds:
            if kind in _BOOLS:
                position += 1  # inside a container, a bool takes a byte
            else:
                position = skip(data, position, kind, depth + 1)
        if kinds == (_STRUCT,) and size > FEW and position < len(data) and not data[position]:
            position, size = _skip_at_once(data, position, size, _STRUCT)
    if position > len(data):
        raise Truncated("a container runs past the end", offset=len(data))
    return position


def _skip_at_once(data: bytes | memoryview, position: int, size: int, kind: int) -> tuple[int, int]:
    """Skip as many elements of one type as possible without a step for each; return the position, and how many are left.

    A list may have as many elements as a file has bytes: an empty struct, for example, takes one byte.
    """
    if kind == _STRUCT:
        empty = _match(_STOPS, data, position, size)
        return position + empty, size - empty
    if kind in _VARINTS:
        while size > FEW:
            piece = bytes(data[position : position + size])
            whole = piece.rstrip(_GOING_ON)
            if not whole or _LONG_VARINT.search(piece):
                break  # invalid or very long elements are skipped one by one
            position += len(whole)
            size -= len(whole.translate(None, _GOING_ON))
        return position, size
    width = 1 if kind in _BOOLS else _WIDTHS.get(kind)
    if width is None or position + size * width > len(data):
        return position, size
    return position + size * width, 0


def _match(pattern: re.Pattern[bytes], data: bytes | memoryview, position: int, size: int) -> int:
    found = pattern.match(data, position, position + size)
    return found.end() - position if found else 0


def read_byte(data: bytes | memoryview, position: int) -> int:
    """Return the byte at ``position``; raise `Truncated` if there is none."""
    try:
        return data[position]
    except IndexError:
        raise Truncated("the structure is not finished where its bytes end", offset=position) from None


def read_varint(data: bytes | memoryview, position: int) -> tuple[int, int]:
    """Read an unsigned varint of at most 64 bits; return the value and the position after it."""
    value = shift = 0
    start = position
    while True:
        byte = read_byte(data, position)
        position += 1
        value |= (byte & VARINT_MASK) << shift
        if byte < VARINT_GOES_ON:
            break
        shift += VARINT_BITS
        if shift > 63:
            raise Malformed("a varint longer than 10 bytes", offset=start)
    if value >> 64:
        raise Malformed("a varint that exceeds 64 bits", offset=start)
    return value, position


def varint(value: int) -> bytes:
    """The bytes of an unsigned varint.

    >>> varint(300).hex(" ")
    'ac 02'
    """
    written = bytearray()
    while value > VARINT_MASK:
        written.append(value & VARINT_MASK | VARINT_GOES_ON)
        value >>= VARINT_BITS
    return bytes((*written, value))


def zigzag(value: int) -> int:
    """A signed number as an unsigned one, so that small numbers of both signs stay small.

    >>> zigzag(0), zigzag(-1), zigzag(1), zigzag(-2)
    (0, 1, 2, 3)
    """
    return value * 2 if value >= 0 else value * -2 - 1


def unzigzag(raw: int) -> int:
    """The inverse of `zigzag`."""
    return (raw >> 1) ^ -(raw & 1)


def read_field_id(data: bytes | memoryview, position: int, header: int, last: int) -> tuple[int, int]:
    """Return the id of the field whose ``header`` byte was just read, and the position after its header.

    The upper nibble is the distance from the previous id; if it is 0, the id follows as a zigzag varint.

    Raises:
        Malformed: The id exceeds the 16 bits that Thrift gives it.
    """
    identifier = last + (header >> 4)
    if not header >> 4:
        raw, position = read_varint(data, position)
        identifier = unzigzag(raw)
    if not -0x8000 <= identifier <= 0x7FFF:
        raise Malformed(f"field id {identifier} exceeds 16 bits", offset=position)
    return identifier, position


def read_list_header(data: bytes | memoryview, position: int) -> tuple[int, int, int]:
    """Read a list header; return element count, element wire type and the position after it."""
    header = read_byte(data, position)
    position += 1
    size = header >> 4
    if size == LONG_LIST:
        size, position = read_varint(data, position)
    return size, header & 15, position


class FieldRange(NamedTuple):
    """The place of one field of an encoded struct: ``[start, value)`` is its header, ``[value, end)`` its value."""

    id: int
    wire: int
    start: int
    value: int
    end: int


def field_ranges(data: bytes, position: int = 0) -> Iterator[FieldRange]:
    """Walk the fields of an encoded struct without interpreting them, up to its stop byte.

    A writer can use this to replace one field and leave every other byte unchanged.
    """
    last = 0
    while header := read_byte(data, position):
        start = position
        position += 1
        last, position = read_field_id(data, position, header, last)
        value = position
        position = skip(data, position, header & 15)
        yield FieldRange(last, header & 15, start, value, position)


def element_ranges(data: bytes, position: int) -> list[tuple[int, int]]:
    """Return ``(start, end)`` of every element of the encoded list at ``position``."""
    size, kind, position = read_list_header(data, position)
    if size > len(data) - position:
        raise Truncated(f"{size} elements with {len(data) - position} bytes left", offset=position)
    ranges: list[tuple[int, int]] = []
    for _ in range(size):
        end = _skip_elements(data, position, 1, (kind,), 0)
        ranges.append((position, end))
        position = end
    return ranges
