"""The bloom filters inside a ``_pm`` file: their entries, and their ranges."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pqassay.under_test.file import Broken, FileUnderTest, Remembered
from pqassay.under_test.pm.chunks import PmChunks
from pqassay.under_test.pm.file import BlockPlace, PmUnderTest
from pqassay.under_test.violation import Spot, Violation
from pqassay_spec.parquet.bloom import BLOCK_SIZE
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.codes import HeaderFeature, block_offset
from pqassay_spec.pm.file import Snapshot


class GroupFilters(NamedTuple):
    """The bloom filter entries of one row group.

    Attributes:
        blooms: All bloom filters of the file.
        snapshot: The snapshot to which they belong.
        row_group: Its number.
        place: The place of its block; ``None`` if it cannot be read.
        raw: The bytes of the entries.
        packed_end: The end of the last filter in this file if a screen proves that all filters are right;
            otherwise ``None``.
    """

    blooms: BloomFilters
    snapshot: Snapshot
    row_group: int
    place: BlockPlace | None
    raw: bytes
    packed_end: int | None

    @property
    def shape(self) -> Hashable | None:
        """A key that is equal for all rows whose filters a screen proves to be right."""
        return None if self.packed_end is None else "packed"

    def entry_field(self, position: int, name: str) -> Spot:
        """The spot of a field of an entry."""
        header = self.blooms.parsed.header
        number = self.row_group * len(header.bloom_columns) + position
        offset = self.snapshot.bloom_start + number * pm_file.bloom_entry_size(header)
        record = pm.BloomEntry if self.blooms.are_external else pm.InlinedBloom
        return Spot.member(f"{self.snapshot.path}.bloom_entries[{number}]", record, name, offset)

    def external(self) -> list[pm.BloomEntry]:
        """The entries whose filters are stored in the Parquet file."""
        return pm.BloomEntry.read_many(self.raw, 0, len(self.blooms.parsed.header.bloom_columns))

    def inlined(self) -> list[BloomFilter]:
        """The filters in this file, without absent ones; empty if the block cannot be read."""
        filters: list[BloomFilter] = []
        if self.place is None:
            return filters
        stored = memoryview(self.raw).cast("B")
        content, step = self.blooms.parsed.content, pm.InlinedBloom.size
        start = self.blooms.region_ends[self.place.offset]
        for position, column in enumerate(self.blooms.parsed.header.bloom_columns):
            entry = int.from_bytes(stored[position * step : (position + 1) * step], "little")
            if not entry:
                continue
            offset, length, follows = block_offset(entry), 0, self.place.follows
            if offset + pm.BLOOM_LENGTH_SIZE <= follows:
                raw = content[offset : offset + pm.BLOOM_LENGTH_SIZE]
                length = int.from_bytes(raw, "little", signed=True)
            filters.append(BloomFilter(offset, length, (start, follows), self, position, column))
        return filters


@dataclass(frozen=True)
class FilterFields:
    """The place of one bloom filter as integers, or of many as arrays of integers.

    Attributes:
        offset: The offset of its first byte.
        length: Its LENGTH; 0 if LENGTH does not fit in the room.
        room: The permitted range.
    """

    offset: int
    length: int
    room: tuple[int, int]

    @property
    def bitset(self) -> int:
        """The offset of its bitset."""
        return self.offset + pm.BLOOM_LENGTH_SIZE

    @property
    def end(self) -> int:
        """The offset of its end, if LENGTH is possible."""
        return self.bitset + self.length * (self.length > 0)

    @property
    def is_sized(self) -> bool:
        """Whether LENGTH is possible."""
        return (self.length > 0) & (self.length % BLOCK_SIZE == 0)

    @property
    def is_misplaced(self) -> bool:
        """Whether it is outside the permitted range; with an impossible LENGTH, whether LENGTH itself is."""
        start, end = self.room
        return (self.offset < start) | (self.bitset + self.length * self.is_sized > end)


@dataclass(frozen=True)
class BloomFilter(FilterFields):
    """A bloom filter in the file.

    Attributes:
        row: The entries of its row group.
        position: The position of its entry.
        column: The position of its column.
    """

    row: GroupFilters
    position: int
    column: int

    @property
    def column_name(self) -> str:
        """The name of its column."""
        return self.row.blooms.parsed.names[self.column]

    def violation(self, message: str, expected: str) -> Violation:
        """The violation at its entry."""
        spot = self.row.entry_field(self.position, "offset")
        actual = f"[{self.offset}, {self.end})" if self.is_sized else str(self.offset)
        return spot.violation(
            message, expected, actual, column=self.column_name, row_group=self.row.row_group
        )


class BloomFilters:
    """All bloom filters of a file, row group by row group; they are never all in memory."""

    def __init__(self, file: FileUnderTest) -> None:
        self.parsed = file.part(PmUnderTest)
        self._chunks = file.part(PmChunks)

    @Remembered
    def rows(self) -> list[GroupFilters]:
        """The entries of every row group; equal entries for the same block are listed for one snapshot."""
        known = {place.offset: place for place in self.parsed.blocks} if self.parsed.places else {}
        return [
            GroupFilters(self, snapshot, row_group, place, raw, self._packed_end(place, raw))
            for snapshot, row_group, raw in self.parsed.distinct_bloom_rows()
            for place in [known.get(snapshot.blocks[row_group])]
        ]

    def _packed_end(self, place: BlockPlace | None, raw: bytes) -> int | None:
        if place is None or self.are_external or self._chunks.screened is None:
            return None
        room, screens = (self.region_ends[place.offset], place.follows), self._chunks.screens
        return None if screens is None else screens.end_of_filters(self.parsed.content, raw, room)

    @property
    def are_external(self) -> bool:
        """Whether the filters are stored in the Parquet file."""
        return self.parsed.has(HeaderFeature.BLOOM_FILTERS_EXTERNAL)

    @Remembered
    def region_ends(self) -> dict[int, int]:
        """The end of out-of-line statistics for each readable block, by offset of the block."""
        return {block.place.offset: block.facts.region_end for block in self._chunks.blocks}

    def gaps(self, taken: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """Yield the ranges of the file that neither ``taken`` nor a bloom filter covers.

        Args:
            taken: The ranges of all other structures; the range of a block begins at its first byte.

        Raises:
            Broken: The place or the length of a filter is impossible.
        """
        of_block: dict[int, list[GroupFilters]] = {}
        if self.parsed.header.bloom_columns and not self.are_external:
            for row in self.rows:
                if row.place is not None:
                    of_block.setdefault(row.place.offset, []).append(row)
        position = 0
        for start, end in sorted(taken):
            if start > position:
                yield position, start
            position = max(position, end)
            rows = of_block.get(start, [])
            if len(rows) == 1 and rows[0].packed_end is not None:
                position = max(position, rows[0].packed_end)
                continue
            blooms = [bloom for row in rows for bloom in row.inlined()]
            for bloom in blooms:
                if bloom.is_misplaced or not bloom.is_sized:
                    raise Broken("PM-076" if bloom.is_misplaced else "PM-077")
            for begin, stop in sorted({(bloom.offset, bloom.end) for bloom in blooms}):
                if begin > position:
                    yield position, begin
                position = max(position, stop)
