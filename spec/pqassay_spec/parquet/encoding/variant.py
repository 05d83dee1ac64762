"""Variants: a value that describes itself, and the dictionary of its field names, each stored as separate bytes.

    >>> names = read_metadata(bytes.fromhex("11 02 00 01 02 61 62"))
    >>> names
    (b'a', b'b')
    >>> read_value(bytes.fromhex("02 02 00 01 00 02 04 0c07 0c08"), names).names
    (b'a', b'b')

Source: apache/parquet-format, ``VariantEncoding.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

from pqassay_spec.base.errors import Malformed, Unsupported

VERSION = 1
"""The version in the header of metadata."""

VERSION_MASK, SORTED_BIT, OFFSET_SHIFT = 0x0F, 0x10, 6
"""The fields of the metadata header: its version, whether names are sorted, and the lowest bit of the width of offsets, minus 1."""


class Basic(IntEnum):
    """The kind of a value, in the lowest bits of its first byte."""

    PRIMITIVE = 0
    SHORT_STRING = 1
    OBJECT = 2
    ARRAY = 3


BASIC_MASK, HEADER_SHIFT, WIDTH_MASK = 3, 2, 3
"""The kind in the first byte, the lowest bit of the rest of that byte, and the mask of a width, minus 1, in the rest."""

ID_SHIFT, OBJECT_LARGE, ARRAY_LARGE = 2, 0x10, 0x04
"""The header of an object: the lowest bit of the width of field ids, and the bits of objects and arrays with counts of 4 bytes."""

COUNT_WIDTHS = (1, 4)
"""Bytes of the count of a small and of a large object or array."""

LENGTH_WIDTH = 4
"""Bytes of the length of a long string or binary."""

STRING, BINARY = 16, 15
"""The primitive types whose bytes follow a length."""

DECIMALS = (8, 9, 10)
"""The primitive types that begin with a scale."""

MOST_SCALE = 38

SIZES = (0, 0, 0, 1, 2, 4, 8, 8, 5, 9, 17, 4, 8, 8, 4, None, None, 8, 8, 8, 16)
"""Bytes after the first one, by primitive type; ``None`` if a length gives their number."""

DEEPEST = 250
"""Deepest nesting of values that is followed."""


class Parts(NamedTuple):
    """The parts of a value.

    Attributes:
        basic: Its kind.
        names: The names of the fields of an object, in their order.
    """

    basic: Basic
    names: tuple[bytes, ...] = ()


def read_metadata(raw: bytes) -> tuple[bytes, ...]:
    """The names of the dictionary, by their ids.

    Raises:
        Malformed: The bytes are not the metadata of a variant.
    """
    if not raw:
        raise Malformed("it is empty", offset=0)
    if raw[0] & VERSION_MASK != VERSION:
        raise Malformed(f"its version is {raw[0] & VERSION_MASK}", offset=0)
    width = (raw[0] >> OFFSET_SHIFT) + 1
    count = _number(raw, 1, width)
    start = 1 + width * (count + 2)
    if start > len(raw):
        raise Malformed(f"its {count + 1} offsets do not fit in {len(raw)} bytes", offset=1)
    offsets = [_number(raw, 1 + width * (place + 1), width) for place in range(count + 1)]
    if offsets[0] or any(left > right for left, right in pairwise(offsets)):
        raise Malformed("its offsets do not begin with 0 and ascend", offset=1 + width)
    if offsets[-1] != len(raw) - start:
        raise Malformed(
            f"its last offset is {offsets[-1]}, and {len(raw) - start} bytes follow", offset=start
        )
    names = tuple(raw[start + left : start + right] for left, right in pairwise(offsets))
    for name in names:
        _require_text(name, "a name in its dictionary", start)
    return names


def is_sorted(raw: bytes) -> bool:
    """Whether readable metadata claims that its names are sorted and unique."""
    return bool(raw[0] & SORTED_BIT)


def ascend(names: Sequence[bytes]) -> bool:
    """Whether names are sorted by their bytes, without duplicates."""
    return all(left < right for left, right in pairwise(names))


def read_value(raw: bytes, names: Sequence[bytes] | None = None) -> Parts:
    """Read a value with all values in it.

    Args:
        raw: Its bytes.
        names: The dictionary; ``None`` to ignore field ids.

    Raises:
        Malformed: The bytes are not a variant value.
        Unsupported: It has a type that this version does not know, or is nested too deeply.
    """
    end, parts = _value(raw, 0, len(raw), names, 0)
    if end != len(raw):
        raise Malformed(f"{len(raw) - end} bytes follow it", offset=end)
    return parts


def _value(
    raw: bytes, start: int, limit: int, names: Sequence[bytes] | None, depth: int
) -> tuple[int, Parts]:
    """The end of a value, which may not exceed ``limit``, and its parts."""
    if start >= limit:
        raise Malformed("a value has no first byte", offset=start)
    if depth > DEEPEST:
        raise Unsupported(f"it is nested more than {DEEPEST} deep, which pqassay does not follow")
    basic, header = Basic(raw[start] & BASIC_MASK), raw[start] >> HEADER_SHIFT
    if basic in (Basic.OBJECT, Basic.ARRAY):
        return _container(raw, start, limit, names, depth)
    if basic is Basic.SHORT_STRING:
        size, text = header, start + 1
    else:
        if header >= len(SIZES):
            raise Unsupported(
                f"it has a value of type {header}, which this version of the format does not have"
            )
        fixed, text = SIZES[header], start + 1 + LENGTH_WIDTH
        size = LENGTH_WIDTH + _number(raw, start + 1, LENGTH_WIDTH, limit) if fixed is None else fixed
    end = start + 1 + size
    if end > limit:
        raise Malformed(f"a value of {size + 1} bytes is cut off after {limit - start}", offset=start)
    if basic is Basic.SHORT_STRING or header == STRING:
        _require_text(raw[text:end], "a text", text)
    elif header in DECIMALS and raw[start + 1] > MOST_SCALE:
        raise Malformed(f"a decimal has a scale of {raw[start + 1]}", offset=start + 1)
    return end, Parts(basic)


def _container(
    raw: bytes, start: int, limit: int, names: Sequence[bytes] | None, depth: int
) -> tuple[int, Parts]:
    basic, header = Basic(raw[start] & BASIC_MASK), raw[start] >> HEADER_SHIFT
    is_object = basic is Basic.OBJECT
    count_width = COUNT_WIDTHS[bool(header & (OBJECT_LARGE if is_object else ARRAY_LARGE))]
    id_width = ((header >> ID_SHIFT & WIDTH_MASK) + 1) * is_object
    width = (header & WIDTH_MASK) + 1
    count = _number(raw, start + 1, count_width, limit)
    ids = start + 1 + count_width
    offsets = ids + count * id_width
    values = offsets + (count + 1) * width
    if values > limit:
        raise Malformed(f"the ids and offsets of {count} values are cut off", offset=start)
    end = values + _number(raw, values - width, width)
    if end > limit:
        raise Malformed(
            f"an object or array of {end - start} bytes is cut off after {limit - start}", offset=start
        )
    taken = 0
    for place in range(count):
        begin = values + _number(raw, offsets + place * width, width)
        # In an array, values follow each other; those of an object may be stored in any order.
        until = end if is_object else values + _number(raw, offsets + (place + 1) * width, width)
        if begin > until or until > end:
            raise Malformed("the offsets of an object or array lead beyond its values", offset=offsets)
        taken += _value(raw, begin, until, names, depth + 1)[0] - begin
        if taken > end - values:  # or else few bytes would make much work
            raise Malformed("values of an object or array overlap", offset=values)
    if not is_object or names is None:
        return end, Parts(basic)
    return end, Parts(
        basic, _fields([_number(raw, ids + place * id_width, id_width) for place in range(count)], names, ids)
    )


def _fields(ids: Sequence[int], names: Sequence[bytes], offset: int) -> tuple[bytes, ...]:
    """The names of the fields of an object, which must ascend."""
    beyond = next((number for number in ids if number >= len(names)), None)
    if beyond is not None:
        raise Malformed(f"field id {beyond} is beyond the {len(names)} names of its metadata", offset=offset)
    fields = tuple(names[number] for number in ids)
    if not ascend(fields):
        raise Malformed("the names of an object's fields do not ascend", offset=offset)
    return fields


def _number(raw: bytes, start: int, width: int, limit: int | None = None) -> int:
    if start + width > (len(raw) if limit is None else limit):
        raise Malformed(f"a number of {width} bytes is cut off", offset=start)
    return int.from_bytes(raw[start : start + width], "little")


def _require_text(raw: bytes, what: str, offset: int) -> None:
    try:
        raw.decode()
    except UnicodeDecodeError:
        raise Malformed(f"{what} is not UTF-8", offset=offset) from None
