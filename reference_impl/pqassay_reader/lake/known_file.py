"""A file of which the footer is known; blobs of its indexes are read when they are first asked for."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import pyarrow as pa

from pqassay_reader.directory.arrays import Located, OpenIndex, open_index
from pqassay_reader.query.facts.footer_facts import FileFacts
from pqassay_reader.query.fetching.tails import LOCAL_REQUEST_SIZE, REQUEST_SIZE, NativeSource, TailSource
from pqassay_reference.directory.reading.usable_entries import FileDirectory, UsableEntry, read_entries
from pqassay_reference.errors import about
from pqassay_spec.base.sources import FileSource
from pqassay_spec.directory.codes import IndexType
from pqassay_spec.directory.entries import EntryKey
from pqassay_spec.parquet.file import read_footer, read_framing

WORTH = {IndexType.DISTINCT_SET: 4, IndexType.ZONE_SUMS: 1}
"""An index is read where the rows that it may spare take this many times its bytes; one read with the footer always is."""


@dataclass
class KnownFile:
    """One file, and the source from which its blobs are read: what came along with its footer is kept.

    Attributes:
        name: What messages call it: of a local file below the working directory, the path from there.
        path: Its path.
        filesystem: Where it is; ``None`` for that of the computer.
        size: Its bytes.
        facts: Its footer, without Arrow's schema.
        directory: Its entries, and what is left aside of them.
        length: Bytes of metadata that were read so far.
        requests: In how many requests.
    """

    name: str
    path: str
    filesystem: Any
    size: int
    facts: FileFacts
    directory: FileDirectory
    length: int
    requests: int
    start: int
    tail: bytes
    blobs: dict[EntryKey, Any] = field(default_factory=dict[EntryKey, Any])

    @classmethod
    def open(
        cls,
        path: str,
        filesystem: Any,
        types: Collection[IndexType] = tuple(IndexType),
        *,
        keeps_tail: bool = False,
    ) -> KnownFile:
        """Read a footer, and keep what came along with it if there are indexes, or always.

        Raises:
            FormatError: It is not a Parquet file.
            OSError: It cannot be read.
        """
        below = f"{os.getcwd()}{os.sep}"  # noqa: PTH109 - text, as the path is
        whole: Any = FileSource(path) if filesystem is None else NativeSource(filesystem, path)
        with whole, about(path):
            source = TailSource(whole, LOCAL_REQUEST_SIZE if filesystem is None else REQUEST_SIZE)
            framing = read_framing(source)
            facts = FileFacts(read_footer(source, framing)[0], framing, pa.schema([]))
            _ = facts.leaves  # the footer has to describe a tree
            facts.require_counts()
        more = max(source.start - framing.footer_start, 0)
        directory = read_entries(facts.metadata, types)
        name = path.removeprefix(below) if filesystem is None else path
        tail = source.tail if directory.entries or keeps_tail else b""
        length, requests, start = len(source.tail) + more, 1 + bool(more), source.size - len(tail)
        return cls(name, path, filesystem, source.size, facts, directory, length, requests, start, tail)

    def drop_tail(self) -> None:
        """Let go of what came along with the footer, if there are no indexes."""
        if not self.directory.entries:
            self.start, self.tail = self.size, b""

    def read(self, offset: int, length: int) -> bytes:
        """Return a range. See `pqassay_spec.base.sources.Source.read`."""
        if offset >= self.start:
            return self.tail[offset - self.start :][:length]
        whole: Any = (
            FileSource(self.path) if self.filesystem is None else NativeSource(self.filesystem, self.path)
        )
        with whole:
            self.length, self.requests = self.length + length, self.requests + 1
            return cast("bytes", whole.read(offset, length))

    @cached_property
    def entries(self) -> dict[tuple[IndexType, str], list[UsableEntry]]:
        """Its usable entries by type and the last of their columns."""
        found: defaultdict[tuple[IndexType, str], list[UsableEntry]] = defaultdict(list)
        for one in self.directory.entries:
            found[one.type, one.columns[-1]].append(one)
        return found

    @property
    def fields(self) -> Collection[str]:
        """The fields at the top level."""
        return self._leaves_of

    @cached_property
    def _leaves_of(self) -> dict[str, list[int]]:
        by_field: defaultdict[str, list[int]] = defaultdict(list)
        for place, leaf in enumerate(self.facts.leaves):
            by_field[leaf.path[0]].append(place)
        return by_field

    def data_length(self, fields: Collection[str], row_groups: Any = slice(None)) -> int:
        """Bytes of the chunks of some fields at the top level in some row groups."""
        places = [place for name in fields for place in self._leaves_of.get(name, ())]
        return int(self.facts.sizes.lengths[row_groups][:, places].sum())

    def is_worth(self, entry: UsableEntry, fields: Collection[str]) -> bool:
        """Whether to read an entry in order to spare rows of some fields."""
        head = entry.entry.head
        is_here = head.offset >= self.start or head.stored_length <= LOCAL_REQUEST_SIZE
        return is_here or WORTH[entry.type] * head.stored_length <= self.data_length(fields)

    def opened(self, entry: UsableEntry) -> OpenIndex | None:
        """An index, but for its values; ``None`` if it is left aside. Raises `OSError`."""
        return open_index(Located(entry, self, self.facts.framing, self.facts.metadata, self.directory.aside))


__all__ = ["KnownFile"]
