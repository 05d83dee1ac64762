"""The sections at the end of a footer of ``_pm``, which later revisions added.

A section can have very many entries. They are checked when the footer is read, and parsed when they are used.

Source: "Parquet metadata file" (``parquet-metadata.md``), later revisions.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar, overload

from construct import Container

from pqassay_spec.base.errors import Malformed
from pqassay_spec.pm import grammar as pm

Entry = TypeVar("Entry")


class Entries(Sequence[Entry], Generic[Entry]):
    """The entries of a section, parsed again at each use; only the section's bytes are stored."""

    def __init__(self, part: bytes, count: int, read: Callable[[bytes, int], Iterable[Entry]]) -> None:
        self._part, self._count, self._read = part, count, read

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._read(self._part, self._count))

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | Sequence[Entry]:
        return list(self)[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as of every sequence that is compared by its members

    def __repr__(self) -> str:
        return f"<{self._count} entries>"


def _read_seq_txn(part: bytes) -> tuple[Any, int]:
    return pm.SEQ_TXN.parse(part), pm.SEQ_TXN.sizeof()


def _notes(part: bytes, count: int) -> Iterator[pm.ScratchpadEntry]:
    position = pm.SECTION_COUNT_SIZE
    for _ in range(count):
        code, length = pm.ScratchpadHead.read(part, position)
        position += pm.ScratchpadHead.size
        yield pm.ScratchpadEntry(code, length, part[position : position + length])
        position += length


def _read_scratchpad(part: bytes) -> tuple[Any, int]:
    count = int(pm.SCRATCHPAD.subcons[0].parse(part))
    part, position = part[: pm.MOST_SCRATCHPAD], pm.SECTION_COUNT_SIZE
    head = pm.ScratchpadHead.layout
    for _ in range(count):
        (_, length) = head.unpack_from(part, position)
        position += head.size
        if position + length > len(part):
            raise Malformed(f"an entry of {length} bytes, where {len(part) - position} are left for it")
        position += length
    return Container(entry_count=count, entries=Entries(part[:position], count, _notes)), position


def _indexes(part: bytes, count: int) -> Iterator[pm.CoveringIndexEntry]:
    return pm.CoveringIndexEntry.iterate(part, pm.SECTION_COUNT_SIZE, count)


def _read_covering_index(part: bytes) -> tuple[Any, int]:
    count = int(pm.COVERING_INDEX.subcons[0].parse(part))
    end = pm.SECTION_COUNT_SIZE + count * pm.CoveringIndexEntry.size
    if end > len(part):
        raise struct.error(f"{count} records of {pm.CoveringIndexEntry.size} bytes do not fit")
    return Container(index_count=count, indexes=Entries(part[:end], count, _indexes)), end


READERS: Mapping[str, Callable[[bytes], tuple[Any, int]]] = {
    "seq_txn": _read_seq_txn,
    "scratchpad": _read_scratchpad,
    "covering_index": _read_covering_index,
}
"""The reader of each section of a footer; it returns the parsed section and its length.

It takes the bytes from the section's start up to the checksum, and raises `Malformed` or `struct.error` if the section
does not fit.
"""
