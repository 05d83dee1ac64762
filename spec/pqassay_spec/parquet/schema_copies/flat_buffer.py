"""FlatBuffers for a reader without generated code: tables, their members, texts and lists of tables.

Every offset is checked before it is followed. The content of a buffer is limited as in the verifiers of Arrow.

Source: FlatBuffers, "Internals".
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from pqassay_spec.base.errors import Malformed

_CODES = {code: struct.Struct(f"<{code}") for code in "BhHiI"}
_OFFSET_SIZE = _CODES["I"].size
_ENTRY_SIZE = _CODES["H"].size
_VTABLE_HEAD = 2 * _ENTRY_SIZE
"""Bytes of a vtable before its entries: its own size, and the size of the table."""


class FlatBuffer(NamedTuple):
    """The bytes of a FlatBuffer, and the rule that is broken if they are not one."""

    data: bytes
    rule: str

    def bad(self, reason: str) -> Malformed:
        """The error for bytes that are not a FlatBuffer."""
        return Malformed(f"not a FlatBuffer: {reason}", rule=self.rule)

    def number(self, code: str, at: int) -> int:
        """The number at a position; ``code`` is its format in `struct`."""
        width = _CODES[code]
        if not 0 <= at <= len(self.data) - width.size or at % width.size:
            raise self.bad(f"a number of {width.size} bytes at {at} of {len(self.data)}")
        return int(width.unpack_from(self.data, at)[0])

    def target(self, at: int) -> int:
        """The position that the offset at a position points to."""
        offset = self.number("I", at)
        if not offset:
            raise self.bad(f"the offset at {at} leads nowhere")
        return at + offset

    def root(self) -> FlatTable:
        """The root table."""
        return self.table_at(self.target(0))

    def table_at(self, at: int) -> FlatTable:
        """The table at a position."""
        vtable = at - self.number("i", at)
        size, table_size = self.number("H", vtable), self.number("H", vtable + _ENTRY_SIZE)
        end = vtable + size
        if size < _VTABLE_HEAD or size % _ENTRY_SIZE or end > len(self.data):
            raise self.bad(f"a vtable of {size} bytes at {vtable}")
        if table_size < _OFFSET_SIZE or at + table_size > len(self.data):
            raise self.bad(f"a table of {table_size} bytes at {at}")
        return FlatTable(self, at, vtable, size, table_size)


class FlatTable(NamedTuple):
    """A table: its buffer and position, the position and size of its vtable, and its own size."""

    buffer: FlatBuffer
    at: int
    vtable: int
    vtable_size: int
    size: int

    def place(self, slot: int) -> int:
        """The position of the member in a slot; 0 if it is omitted."""
        entry = _VTABLE_HEAD + slot * _ENTRY_SIZE
        if entry + _ENTRY_SIZE > self.vtable_size:
            return 0
        offset = self.buffer.number("H", self.vtable + entry)
        if offset and not _OFFSET_SIZE <= offset < self.size:
            raise self.buffer.bad(
                f"member {slot} lies {offset} bytes behind its table, which has {self.size}"
            )
        return self.at + offset if offset else 0

    def number(self, slot: int, code: str, default: int = 0) -> int:
        """The number in a slot."""
        place = self.place(slot)
        return self.buffer.number(code, place) if place else default

    def table(self, slot: int) -> FlatTable | None:
        """The table in a slot."""
        place = self.place(slot)
        return self.buffer.table_at(self.buffer.target(place)) if place else None

    def text(self, slot: int) -> str | None:
        """The text in a slot."""
        place = self.place(slot)
        if not place:
            return None
        at = self.buffer.target(place)
        start = at + _OFFSET_SIZE
        end = start + self.buffer.number("I", at)
        if end >= len(self.buffer.data) or self.buffer.data[end]:
            raise self.buffer.bad(f"a text of {end - start} bytes at {at}")
        try:
            return self.buffer.data[start:end].decode()
        except UnicodeDecodeError:
            raise self.buffer.bad(f"a text at {at} that is not UTF-8") from None

    def tables(self, slot: int) -> Iterator[FlatTable] | None:
        """The tables of the list in a slot."""
        place = self.place(slot)
        if not place:
            return None
        at = self.buffer.target(place)
        start, count = at + _OFFSET_SIZE, self.buffer.number("I", at)
        if count > (len(self.buffer.data) - start) // _OFFSET_SIZE:
            raise self.buffer.bad(f"a list of {count} tables at {at}")
        return (
            self.buffer.table_at(self.buffer.target(start + index * _OFFSET_SIZE)) for index in range(count)
        )
