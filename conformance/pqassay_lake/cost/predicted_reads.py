"""The predicted reads of a check of a file, from its footer: the model of ``pqassay estimate`` and of the guide on scale.

Only the footer is read. The code that reads structures determines their places and pieces. The code for stores then computes the requests
from these reads, without a store. All pages are assumed to have the same size, and damaged files to cost the same as sound ones.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from pqassay.stores.remote_source import RemoteSource, Tails
from pqassay.under_test.body_gaps import named_offsets
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked
from pqassay.under_test.index_reads import index_pieces
from pqassay.under_test.pages.walk import BATCH, header_reads
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import Source
from pqassay_spec.parquet.file import HEAD_SIZE, TAIL_SIZE, chunk_start
from pqassay_spec.parquet.thrift import ColumnMetaData, PageType

Read = tuple[int, int]
"""Offset and length of a read."""

USUAL_PAGE = 1 << 20
"""The assumed size of a page in bytes, if the footer does not show the number of pages."""


class FarSource:
    """A source that pretends to be remote, so that reads are planned as for a store, and records the reads."""

    def __init__(self, source: Source) -> None:
        self.name = source.name
        self.size = source.size
        self.reads: list[Read] = []
        self._source = source

    def read(self, offset: int, length: int) -> bytes:
        """See `Source.read`."""
        self.reads.append((offset, length))
        return self._source.read(offset, length)


def predicted_reads(file: FileUnderTest) -> list[Read]:
    """The reads of a check of a file under test whose source is a `FarSource`, in approximate order.

    For a file whose footer cannot be decoded, these are the reads up to the error.
    """
    options = file.options
    try:
        framing = file.framing
        reads = [(framing.tail_start, TAIL_SIZE), (framing.footer_start, framing.footer_length)]
        metadata = file.metadata
    except FormatError:
        return [(max(0, file.source.size - TAIL_SIZE), min(TAIL_SIZE, file.source.size))]
    try:
        chunks = [] if not options.reaches("pages") or file.is_summary else list(_chunk_reads(file))
        pieces = index_pieces(file) if options.reaches("index") else []
    except (FormatError, NotApplicable, NotChecked):
        chunks, pieces = [], []
    structures = [(start, end - start) for start, end in pieces]
    if options.reads_bodies and chunks:
        reads += [*chunks[0], *structures]
        chunks = chunks[1:]
        structures = []
    for of_chunk in chunks:
        reads += of_chunk
    reads += structures
    if options.reaches("index"):
        named = [offset for offset, _ in named_offsets(metadata.key_value_metadata or [])]
        reads += _up_to_the_next(file, named)
    return [*reads, (0, min(HEAD_SIZE, file.source.size))]


def _chunk_reads(file: FileUnderTest) -> Iterator[list[Read]]:
    """Yield the reads of each chunk: page headers and, if bodies are read, the bodies, once for the survey and once for decoding."""
    for _, _, _, chunk in file.own_chunks:
        start, facts = chunk_start(chunk), chunk.meta_data
        if facts is None or start is None:
            continue
        end = start + facts.total_compressed_size
        if not file.framing.body_start <= start < end <= file.framing.footer_start:
            continue
        reads = list(header_reads(start, end, pages_of(facts)))
        if file.options.reads_bodies:
            bodies = [(place, min(BATCH, end - place)) for place in range(start, end, BATCH)]
            reads += bodies
            if file.options.reaches("values"):
                reads += bodies
        yield reads


def pages_of(facts: ColumnMetaData) -> int:
    """The number of pages of a chunk according to its footer; at least one."""
    told = facts.encoding_stats
    if told and any(given.page_type != PageType.DICTIONARY_PAGE for given in told):
        return max(1, sum(max(0, given.count) for given in told))
    return max(1, facts.total_compressed_size // USUAL_PAGE)


def _up_to_the_next(file: FileUnderTest, offsets: list[int]) -> Iterator[Read]:
    """Yield reads from offsets in the body to the start of the next structure."""
    start, end = file.framing.body_start, file.framing.footer_start
    inside = [offset for offset in offsets if start <= offset < end]
    if not inside:
        return
    known = sorted({end, *inside, *_starts(file)})
    for offset in inside:
        yield offset, known[bisect_right(known, offset)] - offset


def _starts(file: FileUnderTest) -> Iterator[int]:
    """Yield the starts of the structures in the footer."""
    for _, _, _, chunk in file.own_chunks:
        bloom = chunk.meta_data.bloom_filter_offset if chunk.meta_data is not None else None
        for start in (chunk_start(chunk), chunk.column_index_offset, chunk.offset_index_offset, bloom):
            if start is not None:
                yield start


# ------------------------------------------------------------------------------------------------------ requests


class Traffic:
    """The load on a store: the number of requests, including opening an object, and of bytes."""

    def __init__(self, requests: float = 0, read: float = 0) -> None:
        self.requests = requests
        self.read = read

    def add(self, other: Traffic, times: float = 1) -> None:
        """Add other traffic, multiplied."""
        self.requests += other.requests * times
        self.read += other.read * times


def traffic_of(name: str, size: int, reads: list[Read], tails: Tails) -> Traffic:
    """The traffic to a store for some reads of one object.

    Args:
        name: The name of the object.
        size: The size of the object in bytes.
        reads: The reads.
        tails: The knowledge about ends of earlier objects; this object is added.
    """
    object_ = _EmptyObject(size)
    source = _Unread(object_, name, tails)
    for offset, length in reads:
        source.read(offset, length)
    source.close()
    return object_.traffic


class _EmptyObject:
    """An object in no store, which answers reads with values that have the right length but no bytes."""

    def __init__(self, size: int) -> None:
        self.traffic = Traffic()
        self._size = size

    def size(self) -> int:
        self.traffic.requests += 1
        return self._size

    def read_at(self, nbytes: int, offset: int) -> Any:
        self.traffic.requests += 1
        self.traffic.read += nbytes
        return range(offset, offset + nbytes)  # has a length and parts like bytes, but takes no memory

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


class _Unread(RemoteSource):
    """A source whose bytes are never examined."""

    def _joined(self, pieces: list[bytes]) -> bytes:  # noqa: ARG002 - there are no pieces
        return b""
