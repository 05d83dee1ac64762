"""The column chunks of a ``_pm`` file during its check: one by one, or screened in bulk if there are many."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pqassay.under_test.file import FileUnderTest, NotChecked, Remembered
from pqassay.under_test.pm.bounds import BoundOrder, StoredBound, order_of
from pqassay.under_test.pm.file import BlockPlace, PmUnderTest
from pqassay.under_test.violation import Suspects, Violation
from pqassay_spec.parquet.column_order import WIDTHS
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.block import SIDES, Block, Side
from pqassay_spec.pm.codes import (
    DESIGNATED_TYPE_BIT,
    MOST_INLINE,
    NO_TYPE,
    PhysicalType,
    split_reference,
)

SCREENED_FROM = 2_000
"""The number of chunks from which loading numpy is worthwhile."""

SCREENED_FROM_IF_LOADED = 64
"""The number of chunks from which numpy is worthwhile if it is already loaded."""

MOST_OVERLAP = 1 << 20
"""The number of bytes of blocks that are judged beyond twice the file's bytes, since blocks can overlap."""

MOST_OFFSET = (1 << 64) - 1
"""The greatest number in the record of a chunk."""

Condition = Callable[["PmChunkFields"], bool]
"""Whether a column chunk breaks a rule; for many chunks, an array of booleans."""

Conditions = Sequence[Condition]
"""Conditions that all hold if a rule is broken; cheap conditions that exclude most chunks come first."""

CONDITIONS: dict[str, Sequence[Conditions]] = {}
"""For each rule about chunks, the conditions of each possible violation; `pqassay.checks.pm.chunks` declares them."""


class ColumnFacts(NamedTuple):
    """Properties derived from a descriptor: the size of a statistic in bytes (0 if variable or unknown), and the order of bounds."""

    width: int
    order: BoundOrder | None


def column_facts(descriptors: Sequence[pm.ColumnDescriptor]) -> list[ColumnFacts]:
    """The properties derived from each descriptor."""
    is_questdb = any(
        described.type != NO_TYPE and described.type & DESIGNATED_TYPE_BIT for described in descriptors
    )
    kinds: dict[tuple[int, int, int], ColumnFacts] = {}
    listed: list[ColumnFacts] = []
    for described in descriptors:
        key = described.physical_type, described.type, described.fixed_byte_len
        facts = kinds.get(key)
        if facts is None:
            if described.physical_type == PhysicalType.FIXED_LEN_BYTE_ARRAY:
                width = max(described.fixed_byte_len, 0)
            else:
                width = WIDTHS.get(described.physical_type, 0)
            order = order_of(described, width, is_questdb=is_questdb)
            facts = kinds[key] = ColumnFacts(width, order)
        listed.append(facts)
    return listed


class PmChunkFields:
    """The fields of one column chunk as integers, or of many as arrays of integers.

    The condition of a violation is written once for both forms: with comparisons, ``&`` and ``|``, and
    without relevant sums or differences of more than 64 bits.

    Attributes:
        given: The record of the chunk.
        described: The descriptor of its column.
        num_rows: The number of rows of its row group.
        body_end: The end of the body of the shortest Parquet file that a snapshot describes with its block.
        region_length: The number of bytes between the chunks of its block and the next structure.
        width: The size in bytes of a statistic of its column; 0 if variable or unknown.
    """

    __slots__ = ()
    if TYPE_CHECKING:
        given: pm.ColumnChunk
        described: pm.ColumnDescriptor
        num_rows: int
        body_end: int
        region_length: int
        width: int

    @property
    def is_timestamp(self) -> bool:
        """Whether its column is the designated timestamp."""
        raise NotImplementedError

    def is_out_of_order(self) -> bool:
        """Whether its bounds break the order of its column, see `BoundOrder.is_broken`; false if the order is unknown."""
        raise NotImplementedError

    def has(self, flags: int) -> bool:
        """Whether STAT_FLAGS sets all bits of a mask."""
        return self.given.stat_flags & flags == flags

    def lacks(self, flag: int) -> bool:
        """Whether STAT_FLAGS leaves a bit clear."""
        return self.given.stat_flags & flag == 0

    def is_inlined(self, side: Side) -> bool:
        """Whether a statistic is present and is in its slot."""
        return self.has(side.present | side.inlined)

    def is_out_of_line(self, side: Side) -> bool:
        """Whether a statistic is present and is not in its slot."""
        return self.given.stat_flags & (side.present | side.inlined) == side.present

    def has_size(self, side: Side) -> bool:
        """Whether a statistic is present and in its slot, with a possible size."""
        size = self.size(side)
        return self.is_inlined(side) & (size >= 1) & (size <= MOST_INLINE)

    def size(self, side: Side) -> int:
        """The size of a statistic, from STAT_SIZES."""
        return side.size(self.given)

    def slot(self, side: Side) -> int:
        """The slot as a number."""
        return side.slot(self.given)

    def reference(self, side: Side) -> tuple[int, int]:
        """The slot as a reference: offset in the region after the chunks, and length."""
        return split_reference(self.slot(side))

    def is_stray(self, side: Side) -> bool:
        """Whether a statistic is present and out of line, but outside the region."""
        offset, length = self.reference(side)
        return self.is_out_of_line(side) & (offset + length > self.region_length)


class ChunkUnderTest(PmChunkFields):
    """One chunk, with everything that rules about one chunk use."""

    __slots__ = (
        "_content",
        "_parsed",
        "_region_start",
        "body_end",
        "column",
        "described",
        "given",
        "num_rows",
        "order",
        "place",
        "region_length",
        "width",
    )

    def __init__(self, parsed: PmUnderTest, place: BlockPlace, column: int, facts: ColumnFacts) -> None:
        self._parsed, self._content, header = parsed, parsed.content, parsed.header
        self._region_start = place.offset + header.block_size
        self.region_length = max(place.follows - self._region_start, 0)
        self.place, self.body_end, self.column = place, place.body_end, column
        start = place.offset + pm.BlockHeader.size
        self.num_rows = int.from_bytes(self._content[place.offset : start], "little")
        self.given = pm.ColumnChunk.read(self._content, start + column * pm.ColumnChunk.size)
        self.described = header.descriptors[column]
        self.width, self.order = facts

    @property
    def is_timestamp(self) -> bool:
        """See `PmChunkFields`."""
        return self.column == self._parsed.header.fixed.designated_timestamp

    def is_out_of_order(self) -> bool:
        """See `PmChunkFields`."""
        if self.order is None:
            return False
        least, greatest = (StoredBound(self.bound(side)) for side in SIDES)
        return self.order.is_broken(least, greatest)

    def shown(self, side: Side) -> str:
        """A bound as text for people; empty if it is absent or cannot be read."""
        raw = self.bound(side)
        return "" if raw is None or self.order is None else self.order.shown(raw)

    def violation(self, name: str, message: str, expected: str, actual: str) -> Violation:
        """The violation at a field of its record."""
        return self._parsed.in_chunk(self.place, self.column, name, message, expected, actual)

    def bound(self, side: Side) -> bytes | None:
        """A bound as stored; ``None`` if it is absent, or if its place or width is impossible."""
        if self.has_size(side):
            raw = self.slot(side).to_bytes(MOST_INLINE, "little")[: self.size(side)]
        elif self.is_out_of_line(side):
            offset, length = self.reference(side)
            if not length or offset + length > self.region_length:
                return None
            start = self._region_start + offset
            raw = bytes(self._content[start : start + length])
        else:
            return None
        return raw if len(raw) == (self.width or len(raw)) else None


class BlockFacts(NamedTuple):
    """The facts that rules about whole blocks use.

    Attributes:
        first, last: The start and the end of all byte ranges of its chunks in the Parquet file; both are 0 if all ranges are empty.
        is_tangled: Whether two byte ranges overlap, or one exceeds 64 bits.
        region_end: The end of the out-of-line statistics inside the region.
        is_packed: Whether these are contiguous, column by column, MIN before MAX.
        has_strays: Whether some statistics lie outside the region, so that the owner of its bytes is unknown.
    """

    first: int
    last: int
    is_tangled: bool
    region_end: int
    is_packed: bool
    has_strays: bool = False


def block_facts(block: Block, follows: int) -> BlockFacts:
    """Compute the facts, chunk by chunk."""
    ranges = sorted(
        (chunk.byte_range_start, chunk.total_compressed) for chunk in block.chunks if chunk.total_compressed
    )
    end = first = ranges[0][0] if ranges else 0
    is_tangled, expected, region_end, is_packed, has_strays = False, 0, block.region_start, True, False
    for start, length in ranges:
        is_tangled = is_tangled or start < end
        end = max(end, start + length)
    for chunk in block.chunks:
        for side in SIDES:
            if chunk.stat_flags & (side.present | side.inlined) != side.present:
                continue
            offset, length = split_reference(side.slot(chunk))
            if offset + length > max(follows - block.region_start, 0):
                has_strays = True
                continue
            is_packed = is_packed and offset == expected
            expected = offset + length
            region_end = max(region_end, block.region_start + expected)
    return BlockFacts(first, min(end, MOST_OFFSET), is_tangled, region_end, is_packed, has_strays)


class Screens(Protocol):
    """A screen of many chunks at once. `pqassay.values.pm.screens` implements it with numpy, which this package does not use."""

    def screen(self, chunks: PmChunks) -> tuple[dict[str, Suspects[ChunkUnderTest]], list[BlockFacts]]:
        """The chunks that break each of `CONDITIONS`, by rule and column, and the facts about each readable block."""
        ...

    def end_of_filters(self, content: memoryview, entries: bytes, room: tuple[int, int]) -> int | None:
        """The end of the last bloom filter of a row group if all filters are right; otherwise ``None``."""
        ...


class PmChunks:
    """The blocks and column chunks of a file; if there are many, they are screened in one pass on first use."""

    def __init__(self, file: FileUnderTest) -> None:
        self.parsed = file.part(PmUnderTest)

    @Remembered
    def screens(self) -> Screens | None:
        """The screens of chunks in bulk, loaded on first use; ``None`` if not available."""
        screens: Screens | None = self.parsed.file.pm_screens()
        return screens

    @Remembered
    def columns(self) -> list[ColumnFacts]:
        """The properties derived from each descriptor."""
        return column_facts(self.parsed.header.descriptors)

    @Remembered
    def places(self) -> list[BlockPlace]:
        """The places of the readable blocks.

        Raises:
            NotChecked: The blocks overlap, so that a small file has very many chunks.
        """
        places = self.parsed.blocks
        if len(places) * self.parsed.header.block_size > 2 * self.parsed.size + MOST_OVERLAP:
            raise NotChecked("the blocks overlap, and together are too long to be read", "tool")
        return places

    @Remembered
    def screened(self) -> tuple[dict[str, Suspects[ChunkUnderTest]], list[BlockFacts]] | None:
        """The results of the screens; ``None`` if all chunks are judged one by one."""
        chunks = len(self.places) * self.parsed.header.column_count
        if chunks < (SCREENED_FROM_IF_LOADED if "numpy" in sys.modules else SCREENED_FROM):
            return None
        return None if self.screens is None else self.screens.screen(self)

    @Remembered
    def facts(self) -> list[BlockFacts]:
        """The facts about each readable block."""
        if self.screened is not None:
            return self.screened[1]
        return [block_facts(self.parsed.block(place), place.follows) for place in self.places]

    @Remembered
    def blocks(self) -> list[BlockUnderTest]:
        """The readable blocks."""
        return [BlockUnderTest(self, *both) for both in zip(self.places, self.facts, strict=True)]

    def chunk(self, place: BlockPlace, column: int) -> ChunkUnderTest:
        """One chunk of a readable block."""
        return ChunkUnderTest(self.parsed, place, column, self.columns[column])


class BlockUnderTest(NamedTuple):
    """A readable block, with its place and facts."""

    of: PmChunks
    place: BlockPlace
    facts: BlockFacts

    @property
    def chunks(self) -> Iterator[ChunkUnderTest]:
        """Its column chunks."""
        return (self.of.chunk(self.place, column) for column in range(len(self.of.columns)))


class ChunksOfColumns(Sequence[ChunkUnderTest]):
    """The chunks of some columns, column by column as in the results of screens; each is created on use."""

    def __init__(self, chunks: PmChunks, columns: Sequence[int]) -> None:
        self._chunks, self._columns, self._places = chunks, columns, chunks.places

    def __len__(self) -> int:
        return len(self._columns) * len(self._places)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        column, place = divmod(index, len(self._places))
        return self._chunks.chunk(self._places[place], self._columns[column])
