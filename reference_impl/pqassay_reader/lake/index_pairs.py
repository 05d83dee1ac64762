"""The two pairs of a footer that speak of an index: where it is, and the companion record. In bytes, without Thrift or JSON.

`written_pairs` recognises both as writers write them, one after the other and the record as `Companion.to_json` spells it.
Who then reads from the file what the record should say, and finds that it is spelled just so, has parsed and judged
it by comparing bytes.  Both expressions follow from the declared members.  All other footers are parsed.  A test compares the two ways.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.grammar.thrift_wire import varint
from pqassay_spec.idx1.blob import COMPANION_KEY, KEY
from pqassay_spec.idx1.companion import COMPANION_FIELDS, CompanionField
from pqassay_spec.parquet.thrift import KeyValue


class DoubtfulError(Exception):
    """The quick look is not enough: the full parse decides."""


def _opening(key: str) -> bytes:
    """The bytes of a pair up to the length of its value."""
    empty = bytes(grammar(KeyValue).build(KeyValue(key=key, value="")))
    return empty.removesuffix(b"\0\0")  # the length, and the end of the struct


class WrittenPairs(NamedTuple):
    """What the two pairs say.

    Attributes:
        offset: Of the blob.
        record: The companion record, whose other members the file has to confirm.
        column: Its member of this name, as it is spelled.
        null_count: Its member of this name.
    """

    offset: int
    record: bytes
    column: bytes
    null_count: int


_NUMBER = "(?:0|[1-9][0-9]{0,18})"
"""A whole number below 2^63 or a little more; most of 20 digits exceed 64 bits, and are left to the full parse."""

_NAME = r'"[^"\\\x00-\x1f]*"'
"""A text of JSON without escapes."""

_BETWEEN_NAMES = '","'

_VALUES = {list: rf"\[{_NAME}(?:,{_NAME})*\]", int: _NUMBER, bool: "true"}
"""By the type of a member, the spelling of its value; an index that is not lossless needs a closer look."""


def _members(values: Callable[[CompanionField], str]) -> str:
    return ",".join(f'"{field.name}":{values(field)}' for field in COMPANION_FIELDS)


_RECORD = _members(lambda field: f"(?P<{field.name}>{_VALUES[field.type]})")

_PAIRS = re.compile(
    re.escape(_opening(KEY))
    + rf"([\x01-\x13])({_NUMBER})\x00".encode()
    + re.escape(_opening(COMPANION_KEY))
    + rf"([\x80-\xff]?[\x01-\x7f])(\{{{_RECORD}\}})\x00".encode()
)
"""Length and text of the offset, length and text of the record, and within it the members."""

_GROUPS = (1, 2, 3, 4, "column", "null_count")

_SPELLINGS = {list: "%b", int: "%d", bool: "true"}

_SPELLING = f"{{{_members(lambda field: _SPELLINGS[field.type])}}}".encode()
"""The record with places for the members, of which all but the last are read from the file."""

_STEM = COMPANION_KEY.rpartition(".")[2].encode()
"""A part of all three keys."""

_length = cache(varint)


def written_pairs(footer: bytes) -> WrittenPairs | None:
    """The pairs of an index as writers write them; ``None`` where that takes a closer look."""
    found = _PAIRS.search(footer)
    if found is None:
        return None
    offset_size, offset, record_size, record, column, null_count = found.group(*_GROUPS)
    if (
        offset_size[0] != len(offset)
        or record_size != _length(len(record))
        or footer.count(_STEM) != 2  # the two that were found: none of the keys occurs again
    ):
        return None
    return WrittenPairs(int(offset), record, column, int(null_count))


def spelled(
    column: bytes, offset: int, length: int, crc32: int, row_count: int, value_count: int, null_count: int
) -> bytes:
    """The companion record of a lossless index, as `Companion.to_json` writes it; ``column`` as it is spelled there.

    >>> spelled(b'["a"]', 4, 3, 0, 1, 1, 0)[:34]
    b'{"column":["a"],"offset":4,"length'
    """
    return _SPELLING % (column, offset, length, crc32, row_count, value_count, null_count)


def path_of(column: bytes) -> tuple[str, ...] | None:
    """The names in the column of `WrittenPairs`; ``None`` if they are not UTF-8.

    >>> path_of(b'["a","b"]')
    ('a', 'b')
    """
    try:
        return tuple(column[2:-2].decode().split(_BETWEEN_NAMES))
    except UnicodeDecodeError:
        return None
