"""A file with its parsed footer; blobs of its indexes are read on demand."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection
from functools import cached_property
from typing import Any, cast

import pyarrow as pa

from pqassay_reader.directory.arrays import Located, OpenIndex, open_index
from pqassay_reader.query.facts.footer_facts import FileFacts
from pqassay_reader.query.fetching.ranges import LOCAL_TAIL, REMOTE_TAIL
from pqassay_reference.directory.reading.usable_entries import UsableEntry, read_entries
from pqassay_reference.errors import about
from pqassay_reference.rewrite.stored_object import ObjectSource
from pqassay_spec.base.sources import FileSource, require_range
from pqassay_spec.directory.codes import IndexType
from pqassay_spec.directory.entries import EntryKey
from pqassay_spec.parquet.file import read_footer, read_framing

WORTH = {IndexType.DISTINCT_SET: 4, IndexType.ZONE_SUMS: 1}
"""An index is read if the rows that it may save have this many times its bytes; an index in the bytes read with the footer always is."""


class KnownFile:
    """One file, and the source of its blobs: bytes that were read with its footer are kept if there are indexes, or always.

    Args:
        path: Its path.
        filesystem: Its filesystem; ``None`` for the local one.
        types: The requested types of indexes.
        keeps_tail: Whether bytes that were read with the footer are always kept.

    Attributes:
        name: Its name in messages: for a local file below the working directory, the relative path.
        size: Its size in bytes.
        facts: Its footer, without Arrow's schema.
        directory: Its entries, and the ignored ones.
        length: Bytes of metadata that were read so far.
        requests: Number of requests for these bytes.
        start: Offset of the first byte that is kept.

    Raises:
        FormatError: It is not a Parquet file.
        OSError: It cannot be read.
    """

    def __init__(
        self,
        path: str,
        filesystem: Any,
        types: Collection[IndexType] = tuple(IndexType),
        *,
        keeps_tail: bool = False,
    ) -> None:
        self.name, self.path, self._filesystem = path, path, filesystem
        self.blobs: dict[EntryKey, Any] = {}
        with about(path):
            with self._opened() as whole:
                self.size: int = whole.size
                self.start = max(0, self.size - (LOCAL_TAIL if filesystem is None else REMOTE_TAIL))
                self._tail: bytes = whole.read(self.start, self.size - self.start)
            self.length, self.requests = len(self._tail), 1
            framing = read_framing(self)
            self.facts = FileFacts(read_footer(self, framing)[0], framing, pa.schema([]))
            _ = self.facts.leaves  # the footer has to describe a tree
        self.directory = read_entries(self.facts.metadata, types)
        if filesystem is None:
            self.name = path.removeprefix(f"{os.getcwd()}{os.sep}")  # noqa: PTH109 - text, as the path is
        if not keeps_tail:
            self.drop_tail()

    def _opened(self) -> Any:
        return (
            FileSource(self.path) if self._filesystem is None else ObjectSource(self._filesystem, self.path)
        )

    def drop_tail(self) -> None:
        """Free the bytes that were read with the footer, if there are no indexes."""
        if not self.directory.entries:
            self.start, self._tail = self.size, b""

    def read(self, offset: int, length: int) -> bytes:
        """Return a range. See `pqassay_spec.base.sources.Source.read`."""
        require_range(self, offset, length)
        kept = self._tail[max(offset - self.start, 0) : max(offset + length - self.start, 0)]
        missing = length - len(kept)
        if not missing:
            return kept
        with self._opened() as whole:
            self.length, self.requests = self.length + missing, self.requests + 1
            return cast("bytes", whole.read(offset, missing)) + kept

    @cached_property
    def entries(self) -> dict[tuple[IndexType, str], list[UsableEntry]]:
        """Its usable entries by type and the last of their columns."""
        found: defaultdict[tuple[IndexType, str], list[UsableEntry]] = defaultdict(list)
        for one in self.directory.entries:
            found[one.type, one.columns[-1]].append(one)
        return found

    @cached_property
    def fields(self) -> dict[str, list[int]]:
        """The top-level fields, each with the positions of its leaves."""
        by_field: defaultdict[str, list[int]] = defaultdict(list)
        for place, leaf in enumerate(self.facts.leaves):
            by_field[leaf.path[0]].append(place)
        return by_field

    def data_length(self, fields: Collection[str], row_groups: Any = slice(None)) -> int:
        """Bytes of the chunks of some top-level fields in some row groups."""
        places = [place for name in fields for place in self.fields.get(name, ())]
        return int(self.facts.sizes.lengths[row_groups][:, places].sum())

    def is_worth(self, entry: UsableEntry, fields: Collection[str]) -> bool:
        """Whether it pays off to read an entry, which may save reading rows of some fields."""
        head = entry.entry.head
        is_here = head.offset >= self.start or head.stored_length <= LOCAL_TAIL
        return is_here or WORTH[entry.type] * head.stored_length <= self.data_length(fields)

    def opened(self, entry: UsableEntry) -> OpenIndex | None:
        """An index without its values; ``None`` if it is ignored. Raises `OSError`."""
        return open_index(Located(entry, self, self.facts.framing, self.facts.metadata, self.directory.aside))


__all__ = ["KnownFile"]
