"""Checks of ``_pm``: places of blocks, row groups together, and unused bytes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from pqassay.checks import rule
from pqassay.checks.pm.subjects import BLOCK, BLOCKS, PM
from pqassay.under_test.file import Broken, NotApplicable, NotChecked
from pqassay.under_test.pm.blooms import BloomFilters
from pqassay.under_test.pm.chunks import BlockUnderTest, ChunkUnderTest, PmChunks
from pqassay.under_test.pm.file import BlockPlace, PmUnderTest, entry_field
from pqassay.under_test.violation import Spot, Violation
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.pm.block import SIDES
from pqassay_spec.pm.codes import ALIGNMENT, REQUIRED_FEATURES, PhysicalType
from pqassay_spec.pm.header import KNOWN_HEADER_FEATURES

MOST_COMPARED = 2_000_000
"""The number of chunks compared one by one if row groups are interleaved in the Parquet file."""

SHOWN_GAP = 16
"""The number of bytes of a gap that a message shows."""


# ------------------------------------------------------------------------------------------ where blocks are


@rule("PM-050", of=BLOCKS)
def blocks_lie_before_their_footers(parsed: PmUnderTest) -> Iterator[Violation]:
    """Each block is reported once, at the entry of the newest snapshot that refers to it."""
    footers = parsed.footers
    for place in parsed.places.values():
        if expected := parsed.why_misplaced(place, footers):
            end = place.offset + parsed.header.block_size
            said = f"_pm places the block of row group {place.row_group} at [{place.offset}, {end})"
            yield entry_field(parsed.snapshots[place.snapshot], place.row_group).violation(
                said, expected, f"[{place.offset}, {end})", row_group=place.row_group
            )


@rule("PM-052", of=BLOCKS)
def blocks_are_apart(parsed: PmUnderTest) -> Iterator[Violation]:
    """Blocks of each snapshot are compared. The same two blocks in several snapshots are reported once."""
    reported: set[tuple[int, int]] = set()
    size = parsed.header.block_size
    placed = {place.offset for place in parsed.blocks}
    for snapshot in parsed.snapshots:
        ordered = sorted((offset, n) for n, offset in enumerate(snapshot.blocks) if offset in placed)
        for (before, first), (offset, second) in pairwise(ordered):
            if offset - before >= size or (before, offset) in reported:
                continue
            reported.add((before, offset))
            same = "is that of" if offset == before else "overlaps that of"
            yield entry_field(snapshot, second).violation(
                f"the block of row group {second} {same} row group {first}",
                f"a block at {before + size} or behind, or before {before}",
                str(offset),
                row_group=second,
            )


@rule("PM-053", of=PM)
def no_byte_is_left_over(parsed: PmUnderTest) -> Iterator[Violation]:
    """Bytes outside known structures are padding, or the rest of a failed append.

    A wrong reference also leaves unused bytes; other rules judge that.
    """
    header = parsed.header
    parsed.chain.require_whole()
    taken = [(0, header.end), *parsed.footers]
    if parsed.places:
        blocks = parsed.file.part(PmChunks).blocks
        if len(blocks) < len(parsed.places):
            raise Broken("PM-050")
        if any(block.facts.has_strays for block in blocks):
            raise Broken("PM-069")
        if any(len(set(snapshot.blocks)) < len(snapshot.blocks) for snapshot in parsed.snapshots):
            raise Broken("PM-052")
        taken += [(block.place.offset, block.facts.region_end) for block in blocks]
    appended = {snapshot.size for snapshot in parsed.snapshots[1:]}
    offsets = list(parsed.places)
    # All gaps first: if one bloom filter is wrong, none of them is certain.
    for start, end in list(parsed.file.part(BloomFilters).gaps(taken)):
        if start in appended:  # A failed append left its bytes, and the next append continued after them.
            continue
        raw = parsed.source.read(start, min(end - start, SHOWN_GAP))
        is_padding = end - start < ALIGNMENT and not any(raw)
        if not is_padding and not (start == header.end and _has_unknown_section(parsed)):
            said = f"{end - start} unused bytes: {show(raw)}"
            spot = Spot(_owner(offsets, start), start, end - start)
            yield spot.violation(said, f"fewer than {ALIGNMENT} bytes, all zero", f"{end - start} bytes")


def _has_unknown_section(parsed: PmUnderTest) -> bool:
    """Whether an unknown header bit may have added a section after the known sections."""
    return bool(parsed.fixed.feature_flags & ~REQUIRED_FEATURES & ~KNOWN_HEADER_FEATURES)


def _owner(offsets: Sequence[int], offset: int) -> str:
    """Field path of the last block before an offset; of all blocks, if no block is before it."""
    before = bisect_left(offsets, offset)
    return f"blocks[{before - 1}]" if before else "blocks"


# --------------------------------------------------------------------------- comparison of row groups


@rule("PM-063", of=BLOCKS)
def byte_ranges_are_apart(parsed: PmUnderTest) -> Iterator[Violation]:
    """Ranges are compared within each block, and between the blocks of each snapshot."""
    blocks = {block.place.offset: block for block in parsed.file.part(PmChunks).blocks}
    for block in blocks.values():
        if block.facts.is_tangled:
            yield from _overlaps(parsed, [block.place])
    room = MOST_COMPARED
    reported: set[tuple[int, ...]] = set()
    for snapshot in parsed.snapshots:
        for mixed in _mixed(
            [blocks[offset] for offset in dict.fromkeys(snapshot.blocks) if offset in blocks]
        ):
            room -= len(mixed) * parsed.header.column_count
            if room < 0:
                raise NotChecked(
                    "too many interleaved row groups in the Parquet file to compare all chunks",
                    "tool",
                )
            offsets = tuple(place.offset for place in mixed)
            if offsets not in reported:
                reported.add(offsets)
                yield from _overlaps(parsed, mixed)


def _mixed(blocks: Iterable[BlockUnderTest]) -> Iterator[list[BlockPlace]]:
    """Yield the groups of blocks whose chunks are interleaved in the Parquet file."""
    end, together = -1, list[BlockPlace]()
    for first, last, _, place in sorted(
        (block.facts.first, block.facts.last, block.place.offset, block.place) for block in blocks
    ):
        if first >= end:
            if len(together) > 1:
                yield together
            together = []
        together.append(place)
        end = max(end, last)
    if len(together) > 1:
        yield together


def _overlaps(parsed: PmUnderTest, places: Sequence[BlockPlace]) -> Iterator[Violation]:
    """Violations for byte ranges that overlap, in one block or between blocks."""
    ranges = sorted(
        (chunk.byte_range_start, chunk.byte_range_start + chunk.total_compressed, number, column)
        for number, place in enumerate(places)
        for column, chunk in enumerate(parsed.block(place).chunks)
        if chunk.total_compressed
    )
    end, widest = -1, (0, 0)
    for start, stop, number, column in ranges:
        if start < end and (len(places) == 1 or number != widest[0]):
            other = places[widest[0]]
            said = (
                f"the chunk [{start}, {stop}) overlaps the chunk of column "
                f"{parsed.names[widest[1]]} in row group {other.row_group}"
            )
            yield parsed.in_chunk(
                places[number], column, "byte_range_start", said, f"{end} or more", str(start)
            )
        if stop > end:
            end, widest = stop, (number, column)


@rule("PM-071", of=BLOCK)
def statistics_follow_each_other(block: BlockUnderTest) -> Iterator[Violation]:
    """PM-069 judges statistics outside the region."""
    end = total = 0
    for chunk in () if block.facts.is_packed else block.chunks:
        for side in SIDES:
            if not chunk.is_out_of_line(side):
                continue
            offset, length = chunk.reference(side)
            # If one statistic was moved, the later ones are not wrong.
            if offset + length > chunk.region_length:
                offset = end
            elif offset not in (end, total):
                said = (
                    f"{side.name} is at {offset} of the region behind the chunks, but the "
                    f"previous one ends at {end}"
                )
                yield chunk.violation(side.field, said, str(end), str(offset))
            end, total = offset + length, total + length


@rule("PM-075", of=PM)
def row_groups_ascend(parsed: PmUnderTest) -> Iterator[Violation]:
    """Row groups are compared by the bounds of the designated timestamp that are stored in slots."""
    column, chunks = parsed.designated, parsed.file.part(PmChunks)
    if not parsed.places or parsed.header.descriptors[column].physical_type != PhysicalType.INT64:
        raise NotApplicable
    bounds = {place.offset: _bounds(chunks.chunk(place, column)) for place in parsed.blocks}
    reported: set[tuple[int, int]] = set()
    for snapshot in parsed.snapshots:
        last: tuple[int, int, int] | None = None  # MAX, row group, block
        for row_group, offset in enumerate(snapshot.blocks):
            both = bounds.get(offset)
            if both is None:
                continue
            low, high = both
            if last is not None and low < last[0] and offset != last[2] and (last[2], offset) not in reported:
                reported.add((last[2], offset))
                said = f"row group {row_group} begins at {low}, and row group {last[1]} before it ends at {last[0]}"
                yield chunks.chunk(parsed.places[offset], column).violation(
                    "min_stat", said, f"at least {last[0]}", str(low)
                )
            last = high, row_group, offset
    if len(bounds) < len(parsed.places):
        raise Broken("PM-050")


def _bounds(chunk: ChunkUnderTest) -> tuple[int, int] | None:
    """MIN and MAX of the designated timestamp; ``None`` without rows, or if PM-072 or PM-074 is broken."""
    low, high = (chunk.bound(side) for side in SIDES)
    if low is None or high is None or not chunk.num_rows:
        return None
    least, greatest = (int.from_bytes(raw, "little", signed=True) for raw in (low, high))
    return (least, greatest) if least <= greatest else None
