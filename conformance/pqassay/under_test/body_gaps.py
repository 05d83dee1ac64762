"""The gaps of a file's body: bytes to which the footer does not refer.

Gaps are between the ranges of a footer. Some writers repeat the metadata of a column chunk after it, some pad to a boundary with zeros, and
some write blobs that a key of the footer names. A rewritten footer leaves structures without a reference. All of these are recognized by
their bytes. Other bytes may be a mistake of the writer.

Source: chapter ``parquet_file.md``, section "Gaps".
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, cast

from pqassay_spec.base.errors import FormatError, Truncated, boundary
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.thrift_decoder import decoder
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import (
    BloomFilterHeader,
    ColumnChunk,
    ColumnIndex,
    ColumnMetaData,
    FileMetaData,
    KeyValue,
    OffsetIndex,
    PageHeader,
    PageType,
)


class Filler(Enum):
    """A kind of bytes in a gap."""

    COPY = "a copy of column metadata"
    PADDING = "zeros"
    INDEX = "an IDX1 blob"
    NAMED = "a blob that a key names"
    LEFT = "an index or bloom filter that nothing refers to"
    OPEN = "a structure whose length the footer does not give"
    HIDDEN = "perhaps a chunk whose metadata is encrypted"
    FILE = "perhaps bytes that a FILE value refers to"
    UNSEEN = "more than pqassay looks at"
    PAGES = "pages that no column chunk claims"
    UNKNOWN = "unknown bytes"


UNCLAIMED = frozenset((Filler.PAGES, Filler.UNKNOWN))
"""Kinds of bytes that should belong to a structure."""


class Run(NamedTuple):
    """Neighboring bytes of a gap of one kind; ``key`` is the footer key that refers to them, if any."""

    start: int
    end: int
    filler: Filler
    key: str = ""


NEAR = 1 << 12
"""The number of bytes that are first searched for a structure; nearly all structures are shorter."""

WINDOW = 1 << 16
"""The number of bytes that are read to recognize a structure; longer structures are not recognized."""

MOST_WORK = 64 << 20
"""The number of bytes of one file's gaps that are examined."""

LONGEST_VALUE = 10_000
"""The largest number of characters of a key's value that is parsed as a JSON object with an offset."""

MOST_DIGITS = 19
"""The largest number of digits of an offset."""


class Surroundings(NamedTuple):
    """Facts of a footer that help to recognize the bytes of its gaps.

    Attributes:
        named: Offsets in key-values, sorted, each with its key.
        open: Offsets of structures whose length is not in the footer.
        leaves: The leaves of the schema, by their last names.
        otherwise: The kind of unrecognized bytes.
    """

    named: Sequence[tuple[int, str]]
    open: Collection[int]
    leaves: Mapping[str, Sequence[SchemaLeaf]]
    otherwise: Filler


def surroundings(
    metadata: FileMetaData, leaves: Iterable[SchemaLeaf], open_offsets: Collection[int]
) -> Surroundings:
    """Collect the facts of a footer beside its ranges."""
    by_name: dict[str, list[SchemaLeaf]] = {}
    for leaf in leaves:
        by_name.setdefault(leaf.element.name, []).append(leaf)
    otherwise = Filler.UNKNOWN
    if any(chunk.meta_data is None for group in metadata.row_groups for chunk in group.columns):
        otherwise = Filler.HIDDEN
    elif any(element.logicalType and element.logicalType.FILE for element in metadata.schema):
        otherwise = Filler.FILE
    return Surroundings(
        sorted(named_offsets(metadata.key_value_metadata or [])), open_offsets, by_name, otherwise
    )


def named_offsets(pairs: Iterable[KeyValue]) -> Iterator[tuple[int, str]]:
    """Yield the offsets in key-values with their keys: decimal numbers, or the member ``offset`` of JSON objects."""
    for pair in pairs:
        text = pair.value or ""
        if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS:
            yield int(text), pair.key
        elif text.startswith("{") and '"offset"' in text and len(text) <= LONGEST_VALUE:
            try:
                found: Any = json.loads(text)
            except (ValueError, RecursionError):
                continue
            offset = cast("dict[str, Any]", found).get("offset") if isinstance(found, dict) else None
            if isinstance(offset, int) and not isinstance(offset, bool):
                yield offset, pair.key


def holes(ranges: Iterable[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of [start, end) outside sorted ranges."""
    for first, last in ranges:
        if first > start:
            yield start, first
        start = max(start, last)
    if start < end:
        yield start, end


class Gaps:
    """The gaps of one file.

    Args:
        source: The file.
        around: Its footer.
    """

    def __init__(self, source: Source, around: Surroundings) -> None:
        self._source = source
        self._around = around
        self._work = MOST_WORK

    def runs(self, start: int, end: int) -> Iterator[Run]:
        """Yield the contents of the gap [start, end), in order; neighbors of the same kind are one run."""
        last: Run | None = None
        for run in self._pieces(start, end):
            if last is not None and (last.filler, last.key) == (run.filler, run.key):
                last = last._replace(end=run.end)
                continue
            if last is not None:
                yield last
            last = run
        if last is not None:
            yield last

    def _pieces(self, start: int, end: int) -> Iterator[Run]:
        while start < end:
            if self._work <= 0:
                yield Run(start, end, Filler.UNSEEN)
                return
            run = self._next(start, end)
            yield run
            start = run.end

    def _next(self, start: int, end: int) -> Run:
        """The run that begins at ``start``."""
        named, key = self._named_from(start, end)
        if named == start:
            return Run(start, self._named_from(start + 1, end)[0], Filler.NAMED, key)
        data = self._source.read(start, min(WINDOW, end - start))
        self._work -= len(data)
        if data.startswith(idx1.MAGIC):
            return Run(start, self._blob_end(start, end), Filler.INDEX)
        if start in self._around.open:
            return Run(start, named, Filler.OPEN)
        if zeros := len(data) - len(data.lstrip(b"\0")):
            return Run(start, min(start + zeros, named), Filler.PADDING)
        found = self._structure(data, end - start)
        if found is not None:
            length, filler = found
            is_hidden = filler is Filler.PAGES and self._around.otherwise is Filler.HIDDEN
            return Run(start, start + length, Filler.HIDDEN if is_hidden else filler)
        return Run(start, named, self._around.otherwise)

    def _named_from(self, start: int, end: int) -> tuple[int, str]:
        """The first offset in [start, end) that a key refers to, and the key; ``end`` if there is none."""
        place = bisect_left(self._around.named, (start,))
        found = self._around.named[place] if place < len(self._around.named) else (end, "")
        return found if found[0] < end else (end, "")

    def _blob_end(self, start: int, end: int) -> int:
        try:
            return idx1.read_blob(self._source, start, end).end
        except FormatError:
            return end  # the rules of IDX1 report its errors

    def _structure(self, data: bytes, room: int) -> tuple[int, Filler] | None:
        """Length and kind of the structure at the beginning of some bytes, if it fits; ``None`` otherwise."""
        chunk = self._decoded(ColumnChunk, data)
        if chunk is not None and chunk[0].meta_data is not None and self._is_ours(chunk[0].meta_data):
            return chunk[1], Filler.COPY
        facts = self._decoded(ColumnMetaData, data)
        if facts is not None and self._is_ours(facts[0]):
            return facts[1], Filler.COPY
        header = self._decoded(PageHeader, data)
        if header is not None and header[0].type in list(PageType):
            size = header[1] + header[0].compressed_page_size
            if header[0].compressed_page_size >= 0 and size <= room:
                return size, Filler.PAGES
        bloom = self._decoded(BloomFilterHeader, data)
        if bloom is not None and 0 < bloom[0].numBytes <= room - bloom[1]:
            return bloom[1] + bloom[0].numBytes, Filler.LEFT
        for kind in (ColumnIndex, OffsetIndex):
            index = self._decoded(kind, data)
            if index is not None:
                return index[1], Filler.LEFT
        return None

    def _decoded(self, kind: type[Any], data: bytes) -> tuple[Any, int] | None:
        """The struct at the beginning of some bytes, and its length; ``None`` if they are not such a struct."""
        for window in (NEAR, WINDOW):
            part = data[:window]
            self._work -= len(part)
            try:
                with boundary():
                    return cast("tuple[Any, int]", _decoder(kind)(part, 0, len(part)))
            except Truncated:
                if len(part) == len(data):
                    return None
            except FormatError:
                return None
        return None

    def _is_ours(self, facts: ColumnMetaData) -> bool:
        path = facts.path_in_schema
        return any(leaf.is_at(path) for leaf in self._around.leaves.get(path[-1] if path else "", ()))


def _decoder(kind: type[Any]) -> Any:
    """The decoder of a struct, which also reports whether bytes end too early."""
    read = decoder(kind)

    def reading(data: bytes, start: int, end: int) -> Any:
        try:
            return read(data, start, end)
        except IndexError:
            raise Truncated("the bytes end inside the struct") from None

    return reading
