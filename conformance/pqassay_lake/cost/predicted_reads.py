"""The reads of a check of a file, predicted from its footer: the model of ``pqassay estimate`` and of the guide on scale.

Nothing is read but the footer.  The code that reads structures determines their places and pieces. The code
for stores then determines the requests: it gets the same reads, without a store.  Pages are taken to be of
one length, and damaged files to cost what sound ones do.
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
"""Bytes of a page, where the footer does not tell how many there are."""


class FarSource:
    """A source that hides that it is near: what reads it plans as if it were in a store, and what it reads is noted."""

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
    """The reads of a check at the tier of a file under test, whose source is a `FarSource`, in about their order.

    For a file whose footer cannot be decoded, these are the reads that show it.
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
    """The reads of each chunk: its page headers; where bodies are read, these as well, once surveyed and once decoded."""
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
    """How many pages a chunk has, as far as its footer tells; at least one."""
    told = facts.encoding_stats
    if told and any(given.page_type != PageType.DICTIONARY_PAGE for given in told):
        return max(1, sum(max(0, given.count) for given in told))
    return max(1, facts.total_compressed_size // USUAL_PAGE)


def _up_to_the_next(file: FileUnderTest, offsets: list[int]) -> Iterator[Read]:
    """Reads from offsets in the body to the beginning of what is stored after them."""
    start, end = file.framing.body_start, file.framing.footer_start
    inside = [offset for offset in offsets if start <= offset < end]
    if not inside:
        return
    known = sorted({end, *inside, *_starts(file)})
    for offset in inside:
        yield offset, known[bisect_right(known, offset)] - offset


def _starts(file: FileUnderTest) -> Iterator[int]:
    """Where structures begin that the footer names."""
    for _, _, _, chunk in file.own_chunks:
        bloom = chunk.meta_data.bloom_filter_offset if chunk.meta_data is not None else None
        for start in (chunk_start(chunk), chunk.column_index_offset, chunk.offset_index_offset, bloom):
            if start is not None:
                yield start


# ------------------------------------------------------------------------------------------------------ requests


class Traffic:
    """The load of a store: requests, including the one that opens an object, and bytes."""

    def __init__(self, requests: float = 0, read: float = 0) -> None:
        self.requests = requests
        self.read = read

    def add(self, other: Traffic, times: float = 1) -> None:
        """Add what is asked elsewhere."""
        self.requests += other.requests * times
        self.read += other.read * times


def traffic_of(name: str, size: int, reads: list[Read], tails: Tails) -> Traffic:
    """The requests to a store for some reads of one object.

    Args:
        name: Its name.
        size: Its length.
        reads: The reads.
        tails: The facts about the ends of objects before; this one is added.
    """
    object_ = _EmptyObject(size)
    source = _Unread(object_, name, tails)
    for offset, length in reads:
        source.read(offset, length)
    source.close()
    return object_.traffic


class _EmptyObject:
    """An object in no store, which answers with as many bytes as it is asked for, and has none."""

    def __init__(self, size: int) -> None:
        self.traffic = Traffic()
        self._size = size

    def size(self) -> int:
        self.traffic.requests += 1
        return self._size

    def read_at(self, nbytes: int, offset: int) -> Any:
        self.traffic.requests += 1
        self.traffic.read += nbytes
        return range(offset, offset + nbytes)  # has a length and parts, as bytes have, and takes no memory

    def close(self) -> None:
        """Nothing to give back."""


class _Unread(RemoteSource):
    """A source whose bytes are never looked at."""

    def _joined(self, pieces: list[bytes]) -> bytes:  # noqa: ARG002 - there are no pieces
        return b""
