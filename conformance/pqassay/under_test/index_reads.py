"""Reads of page indexes and bloom filters: neighbors are read at once, since they are usually contiguous.

A file of 500 columns and 100 row groups has 100,000 page indexes. Read one by one they would cost as many system calls, and from an object
store as many requests. In a store, bloom filters are read with them, since a request takes as long as reading many filters.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Container, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from pqassay.under_test.layout import FILTERS, INDEXES
from pqassay_spec.base.sources import is_near
from pqassay_spec.parquet.file import BLOOM_HEADER_LIMIT, chunk_start
from pqassay_spec.rules.catalogue import file_rules

if TYPE_CHECKING:
    from pqassay.under_test.file import FileUnderTest

KEPT = 4
"""The number of cached pieces. Offset indexes, column indexes and filters are read alternately, mostly from three places."""


class Stride(NamedTuple):
    """The lengths of reads.

    Attributes:
        gap: The largest gap between two structures that are read together, in bytes.
        piece: The largest number of bytes per read; a longer structure is still read at once.
    """

    gap: int
    piece: int


LOCAL = Stride(64 << 10, 4 << 20)
REMOTE = Stride(1 << 20, 16 << 20)
"""The lengths for stores, where a request takes as long as reading a megabyte."""

Piece = tuple[int, int]
"""Start and end of a range that is read at once."""


class FilterNeeds(NamedTuple):
    """Whether the tested rules need the headers and the bitsets of bloom filters."""

    headers: bool
    bitsets: bool


NONE_NEEDED = FilterNeeds(headers=False, bitsets=False)


class IndexReads:
    """The bytes of a file's page indexes, and in a store of its bloom filters, in pieces that are read on first use.

    It is available as ``file.part(IndexReads)``, and is a `Source` that reads all other bytes directly.
    """

    def __init__(self, file: FileUnderTest) -> None:
        self.name = file.source.name
        self.size = file.source.size
        self._source = file.source
        self._kept: OrderedDict[int, bytes] = OrderedDict()
        pieces = index_pieces(file)
        self._starts = [start for start, _ in pieces]
        self._ends = [end for _, end in pieces]

    def read(self, offset: int, length: int) -> bytes:
        """The bytes of a range. Raises the errors of the source."""
        piece, start = self.around(offset, length)
        return piece[offset - start : offset - start + length]

    def around(self, offset: int, length: int) -> tuple[bytes, int]:
        """The bytes of a range, perhaps with neighbors, and the offset of the first byte. Raises the errors of the source."""
        place = bisect_right(self._starts, offset) - 1
        if place < 0 or offset + length > self._ends[place]:
            return self._source.read(offset, length), offset
        start = self._starts[place]
        piece = self._kept.get(place)
        if piece is None:
            piece = self._kept[place] = self._source.read(start, self._ends[place] - start)
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        elif place != next(reversed(self._kept)):
            self._kept.move_to_end(place)
        return piece, start


def index_pieces(file: FileUnderTest) -> list[Piece]:
    """The pieces in which page indexes and bloom filters of a file are read, without structures that no rule needs."""
    is_local = is_near(file.source)
    stride = LOCAL if is_local else REMOTE
    needs = NONE_NEEDED if is_local else filter_needs(file.left_out)
    pieces: list[Piece] = []
    for start, end in _structures(file, needs, stride):
        if pieces:
            first, last = pieces[-1]
            joined = max(end, last)
            if start - last <= stride.gap and joined - first <= stride.piece:
                pieces[-1] = first, joined
                continue
        pieces.append((start, end))
    return pieces


def filter_needs(left_out: Container[str]) -> FilterNeeds:
    """The parts of bloom filters that rules need, given the rules that are not tested."""
    headers, bitsets = _rules_of_filters()
    needs_bitsets = any(rule not in left_out for rule in bitsets)
    return FilterNeeds(needs_bitsets or any(rule not in left_out for rule in headers), needs_bitsets)


@cache
def _rules_of_filters() -> tuple[Sequence[str], Sequence[str]]:
    """The rules about headers of bloom filters, and the rules about bitsets."""

    def about(field: str) -> Sequence[str]:
        return [
            rule.id
            for rule in file_rules().values()
            if not rule.excluded and rule.field.startswith(f"row_groups.columns.bloom_filter.{field}")
        ]

    return about("header"), about("bitset")


def _structures(file: FileUnderTest, needs: FilterNeeds, stride: Stride) -> Sequence[Piece]:
    """The ranges of the structures to read, sorted. They may overlap in a file that is not sound."""
    layout = file.layout
    if layout is not None and not needs.headers:
        return layout.places(*INDEXES)
    body_end = file.framing.footer_start

    def filter_end(start: int, end: int) -> int:
        return min(body_end, max(end if needs.bitsets else start, start + BLOOM_HEADER_LIMIT))

    if layout is not None:
        filters = [(start, filter_end(start, end)) for start, end in layout.places(FILTERS)]
        return sorted([*layout.places(*INDEXES), *filters])
    structures = [
        given for given in _stated_indexes(file) if file.framing.body_start <= given[0] < given[1] <= body_end
    ]
    if needs.headers:
        for start, end in _stated_filters(file, stride.piece):
            if file.framing.body_start <= start < end <= body_end:
                structures.append((start, filter_end(start, end)))
    return sorted(structures)


def _stated_indexes(file: FileUnderTest) -> Iterator[Piece]:
    if file.is_summary:
        return
    for _, _, _, chunk in file.own_chunks:
        for start, length in (
            (chunk.column_index_offset, chunk.column_index_length),
            (chunk.offset_index_offset, chunk.offset_index_length),
        ):
            if start and length:
                yield start, start + length


def _stated_filters(file: FileUnderTest, most: int) -> Iterator[Piece]:
    """Yield the ranges of bloom filters. If the footer omits a length, the range ends at the next structure."""
    if file.is_summary:
        return
    filters: list[tuple[int, int | None]] = []
    starts = {file.framing.footer_start}
    for _, _, _, chunk in file.own_chunks:
        starts.update(
            start
            for start in (chunk_start(chunk), chunk.column_index_offset, chunk.offset_index_offset)
            if start is not None
        )
        if chunk.meta_data is not None and (start := chunk.meta_data.bloom_filter_offset):
            filters.append((start, chunk.meta_data.bloom_filter_length))
            starts.add(start)
    following = sorted(starts)
    for start, length in filters:
        if length and length > 0:
            yield start, start + length
            continue
        place = bisect_right(following, start)
        room = following[place] - start if place < len(following) else 0
        yield start, start + (room if room <= most else BLOOM_HEADER_LIMIT)
