r"""The fast decoder of Avro: a function for each type of a schema, made once.

It decodes the same bytes as the grammar in `pqassay_spec.table.avro`, without recording places.  A decoder only detects *that*
something is wrong; the traced grammar then finds *where*.  Records become lists in the order of their fields. Arrays of records with two
fields ``key`` and ``value`` become dicts.

>>> decode = decoder({"type": "array", "items": "long"})
>>> decode(b"\x04\x02\x05\x00", 0)
([1, -3], 4)
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, cast

from pqassay_spec.base.errors import Malformed, Truncated
from pqassay_spec.table.avro import LONG_BYTES, MOST_DEPTH, Names, fields_of, fixed_size, named

Decoder = Callable[[bytes, int], tuple[Any, int]]
"""``(data, position) -> (value, position after it)``. It raises `FormatError`, `IndexError`, `ValueError` and `struct.error` on bad bytes."""

MOST_WITHOUT_BYTES = 1 << 16
"""Most elements without bytes that an array may have."""

_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")


def read_long(data: bytes, position: int) -> tuple[int, int]:
    """Read a number. Raises `IndexError` after the end of the data, and `Malformed`."""
    byte = data[position]
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), position + 1
    value = byte & 0x7F
    shift = 7
    while byte > 0x7F:
        position += 1
        byte = data[position]
        value |= (byte & 0x7F) << shift
        shift += 7
        if shift > 7 * LONG_BYTES:
            raise Malformed("a number of more than 64 bits")
    if value >> 64:
        raise Malformed("a number of more than 64 bits")
    return (value >> 1) ^ -(value & 1), position + 1


def _bytes(data: bytes, position: int) -> tuple[bytes, int]:
    length = data[position]
    if length < 0x80 and not length & 1:
        start = position + 1
        end = start + (length >> 1)
    else:
        length, start = read_long(data, position)
        end = start + length
    if not start <= end <= len(data):
        raise Truncated(f"{end - start} bytes are announced, and {len(data) - start} are left")
    return data[start:end], end


def _text(data: bytes, position: int) -> tuple[str, int]:
    raw, position = _bytes(data, position)
    return raw.decode(), position


def _boolean(data: bytes, position: int) -> tuple[bool, int]:
    byte = data[position]
    if byte > 1:
        raise Malformed(f"a boolean of {byte}")
    return byte == 1, position + 1


def _float(data: bytes, position: int) -> tuple[float, int]:
    return _FLOAT.unpack_from(data, position)[0], position + 4


def _double(data: bytes, position: int) -> tuple[float, int]:
    return _DOUBLE.unpack_from(data, position)[0], position + 8


_PRIMITIVES: dict[str, Decoder] = {
    "boolean": _boolean,
    "int": read_long,
    "long": read_long,
    "float": _float,
    "double": _double,
    "bytes": _bytes,
    "string": _text,
}


def decoder(schema: Any, depth: int = 0, names: Names | None = None) -> Decoder:
    """The decoder for values of a schema; see `grammar_of` for the arguments and errors."""
    names = {} if names is None else names
    if depth > MOST_DEPTH:
        raise Malformed(f"the schema is nested deeper than {MOST_DEPTH} types")
    if isinstance(schema, list):
        options = schema
        return _union([None if part == "null" else decoder(part, depth + 1, names) for part in options])
    if not isinstance(schema, dict):
        found = _PRIMITIVES.get(schema) or names.get(schema) if isinstance(schema, str) else None
        if found is None:
            raise Malformed(f"the schema has the type {str(schema)[:60]!r}, which is not known")
        return cast("Decoder", found)
    declared = cast("dict[str, Any]", schema)
    kind = declared.get("type")
    if kind == "record":
        members = [decoder(part.get("type"), depth + 1, names) for part in fields_of(declared)]
        return cast("Decoder", named(declared, _record(members), names))
    if kind == "array":
        items = declared.get("items")
        inner = decoder(items, depth + 1, names)
        return _map(read_long, paired) if (paired := _PAIRED.get(_pair(items))) else _blocks(inner)
    if kind == "map":
        return _map(_text, decoder(declared.get("values"), depth + 1, names))
    if kind == "fixed":
        return cast("Decoder", named(declared, _fixed(fixed_size(declared)), names))
    return decoder(kind, depth + 1, names)


def _record(members: list[Decoder]) -> Decoder:
    def decode(data: bytes, position: int) -> tuple[list[Any], int]:
        values: list[Any] = []
        add = values.append
        for member in members:
            value, position = member(data, position)
            add(value)
        return values, position

    return decode


def _union(branches: list[Decoder | None]) -> Decoder:
    def decode(data: bytes, position: int) -> tuple[Any, int]:
        number, position = read_long(data, position)
        if not 0 <= number < len(branches):
            raise Malformed(f"type {number} of a union of {len(branches)}")
        one = branches[number]
        return (None, position) if one is None else one(data, position)

    if len(branches) == 2 and branches[0] is None and (other := branches[1]) is not None:

        def optional(data: bytes, position: int) -> tuple[Any, int]:
            number = data[position]
            if number == 2:
                return other(data, position + 1)
            return (None, position + 1) if number == 0 else decode(data, position)

        return optional
    return decode


def _count(data: bytes, position: int) -> tuple[int, int]:
    """The number of elements of a block, at most one for each remaining byte."""
    count, position = read_long(data, position)
    if count < 0:
        count = -count
        _, position = read_long(data, position)
    if count > max(len(data) - position, MOST_WITHOUT_BYTES):
        raise Truncated(f"{count} elements are announced, and {len(data) - position} bytes are left")
    return count, position


def _blocks(element: Decoder) -> Decoder:
    def decode(data: bytes, position: int) -> tuple[list[Any], int]:
        values: list[Any] = []
        while True:
            count, position = _count(data, position)
            if not count:
                return values, position
            before = position
            for _ in range(count):
                value, position = element(data, position)
                values.append(value)
            if before == position and len(values) > MOST_WITHOUT_BYTES:
                raise Malformed(f"more than {MOST_WITHOUT_BYTES} elements without a byte")

    return decode


def _map(key: Decoder, element: Decoder) -> Decoder:
    def decode(data: bytes, position: int) -> tuple[dict[Any, Any], int]:
        values: dict[Any, Any] = {}
        while True:
            count, position = _count(data, position)
            if not count:
                return values, position
            for _ in range(count):
                name, position = key(data, position)
                values[name], position = element(data, position)

    return decode


def _pair(items: Any) -> str:
    """The type of the values in pairs whose key is a number; empty for other elements."""
    if not isinstance(items, dict) or cast("dict[str, Any]", items).get("type") != "record":
        return ""
    types = [(one.get("name"), one.get("type")) for one in fields_of(cast("dict[str, Any]", items))]
    if len(types) != 2 or types[0] not in (("key", "int"), ("key", "long")) or types[1][0] != "value":
        return ""
    return types[1][1] if isinstance(types[1][1], str) else ""


def _fixed(size: int) -> Decoder:
    def decode(data: bytes, position: int) -> tuple[bytes, int]:
        end = position + size
        if end > len(data):
            raise Truncated(f"{size} bytes are needed, and {len(data) - position} are left")
        return data[position:end], end

    return decode


_PAIRED: dict[str, Decoder] = {"long": read_long, "bytes": _bytes}
"""Decoders for the values of maps from ids to counts and to bounds, which most of a manifest consists of."""
