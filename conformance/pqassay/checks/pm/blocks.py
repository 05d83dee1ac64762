"""Checks of ``_pm``: where blocks stand, what row groups say together, and bytes that belong to nothing."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from pqassay.checks import rule
from pqassay.checks.subjects import FILE
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked
from pqassay.under_test.pm import Place, PmUnderTest
from pqassay.under_test.pm_blooms import BloomFilters
from pqassay.under_test.pm_chunks import BlockFacts, ChunkUnderTest, Sweep
from pqassay.under_test.violation import Violation
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.pm.block import SIDES
from pqassay_spec.pm.codes import ALIGNMENT, REQUIRED_FEATURES, PhysicalType
from pqassay_spec.pm.file import Snapshot
from pqassay_spec.pm.header import KNOWN_HEADER_FEATURES

MOST_COMPARED = 2_000_000
"""Chunks that are compared one by one where row groups lie between each other in the Parquet file."""

SHOWN_GAP = 16
"""Bytes of a gap that a message shows."""


def _require_row_groups(parsed: PmUnderTest) -> None:
    if not parsed.places:
        raise NotApplicable


# ------------------------------------------------------------------------------------------ where blocks are


@rule("PM-050", of=FILE)
def blocks_lie_before_their_footers(file: FileUnderTest) -> Iterator[Violation]:
    """Each block once, at the entry of the newest snapshot that refers to it."""
    parsed = file.part(PmUnderTest)
    _require_row_groups(parsed)
    footers = parsed.footers
    for place in parsed.places.values():
        if expected := parsed.why_misplaced(place, footers):
            end = place.offset + parsed.header.block_size
            yield parsed.in_entry(
                parsed.snapshots[place.snapshot],
                place.row_group,
                f"the block of row group {place.row_group} is said to stand at [{place.offset}, {end})",
                expected=expected,
                actual=f"[{place.offset}, {end})",
            )


@rule("PM-052", of=FILE)
def blocks_are_apart(file: FileUnderTest) -> Iterator[Violation]:
    """Of each snapshot. The same blocks in several snapshots are said once."""
    parsed = file.part(PmUnderTest)
    _require_row_groups(parsed)
    told: set[tuple[int, int]] = set()
    size = parsed.header.block_size
    placed = {place.offset for place in parsed.blocks}
    for snapshot in parsed.snapshots:
        ordered = sorted((offset, n) for n, offset in enumerate(snapshot.blocks) if offset in placed)
        for (before, first), (offset, second) in pairwise(ordered):
            if offset - before >= size or (before, offset) in told:
                continue
            told.add((before, offset))
            same = "is that of" if offset == before else "overlaps that of"
            yield parsed.in_entry(
                snapshot,
                second,
                f"the block of row group {second} {same} row group {first}",
                expected=f"a block at {before + size} or behind, or before {before}",
                actual=str(offset),
            )


@rule("PM-053", of=FILE)
def no_byte_is_left_over(file: FileUnderTest) -> Iterator[Violation]:
    """Everything that is known takes its bytes; what is left is padding, or what an append left behind.

    Where a reference leads astray, bytes are left that belong to something: that is the matter of other rules.
    """
    parsed = file.part(PmUnderTest)
    header = parsed.header
    if parsed.chain.problem is not None or parsed.chain.cut:
        parsed.chain.require_whole()
    taken = [(0, header.end), *parsed.footers]
    if parsed.places:
        facts = file.part(Sweep).facts
        if len(parsed.blocks) < len(parsed.places):
            raise NotChecked("PM-050 is broken")
        if any(fact.has_strays for fact in facts):
            raise NotChecked("PM-069 is broken")
        if any(len(set(snapshot.blocks)) < len(snapshot.blocks) for snapshot in parsed.snapshots):
            raise NotChecked("PM-052 is broken")
        taken += [(place.offset, fact.region_end) for place, fact in zip(parsed.blocks, facts, strict=True)]
    appended = {snapshot.size for snapshot in parsed.snapshots[1:]}
    found: list[Violation] = []
    offsets = list(parsed.places)
    for start, end in file.part(BloomFilters).gaps(taken):
        if start in appended:  # an append that failed left its bytes; the next one went on behind them
            continue
        raw = parsed.source.read(start, min(end - start, SHOWN_GAP))
        is_padding = end - start < ALIGNMENT and not any(raw)
        if not is_padding and not (start == header.end and _has_unknown_section(parsed)):
            violation = Violation(
                f"{end - start} bytes belong to nothing: {show(raw)}",
                _owner(offsets, start),
                start,
                end - start,
                expected=f"fewer than {ALIGNMENT} bytes, all zero",
                actual=f"{end - start} bytes",
            )
            found.append(violation)
    yield from found


def _has_unknown_section(parsed: PmUnderTest) -> bool:
    """Whether a header bit that is not known may have brought a section behind those that are."""
    return bool(parsed.fixed.feature_flags & ~REQUIRED_FEATURES & ~KNOWN_HEADER_FEATURES)


def _owner(offsets: Sequence[int], offset: int) -> str:
    """Field path of the block before an offset; of all blocks, if there is none."""
    before = bisect_left(offsets, offset)
    return f"blocks[{before - 1}]" if before else "blocks"


# --------------------------------------------------------------------------- what row groups say together


@rule("PM-063", of=FILE)
def byte_ranges_are_apart(file: FileUnderTest) -> Iterator[Violation]:
    """Within each block, and between the blocks of each snapshot."""
    parsed, sweep = file.part(PmUnderTest), file.part(Sweep)
    _require_row_groups(parsed)
    blocks = {place.offset: (place, fact) for place, fact in zip(parsed.blocks, sweep.facts, strict=True)}
    tangled = {offset for offset, (_, fact) in blocks.items() if fact.is_tangled}
    room, found = MOST_COMPARED, False
    for offset in sorted(tangled):
        for violation in _overlaps(parsed, [blocks[offset][0]]):
            found = True
            yield violation
    told: set[tuple[int, ...]] = set()
    for snapshot in parsed.snapshots:
        for offsets in _mixed(_of(snapshot, blocks)):
            room -= len(offsets) * parsed.header.column_count
            if room < 0:
                if not found:
                    raise NotChecked(
                        "row groups lie between each other in the Parquet file, too many to compare all chunks"
                    )
                return
            if offsets not in told:
                told.add(offsets)
                for violation in _overlaps(parsed, [blocks[offset][0] for offset in offsets]):
                    found = True
                    yield violation


def _of(snapshot: Snapshot, blocks: dict[int, tuple[Place, BlockFacts]]) -> Iterator[tuple[int, BlockFacts]]:
    for offset in dict.fromkeys(snapshot.blocks):
        if offset in blocks:
            yield offset, blocks[offset][1]


def _mixed(facts: Iterable[tuple[int, BlockFacts]]) -> Iterator[tuple[int, ...]]:
    """Yield the offsets of blocks whose chunks lie between those of others in the Parquet file, together with those."""
    end, together = -1, list[int]()
    for first, last, offset in sorted((fact.first, fact.last, offset) for offset, fact in facts):
        if first >= end:
            if len(together) > 1:
                yield tuple(together)
            together = []
        together.append(offset)
        end = max(end, last)
    if len(together) > 1:
        yield tuple(together)


def _overlaps(parsed: PmUnderTest, places: Sequence[Place]) -> Iterator[Violation]:
    """Where byte ranges of one block overlap, or those of one with those of another."""
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
            yield parsed.in_chunk(
                places[number],
                column,
                "byte_range_start",
                f"the chunk [{start}, {stop}) begins before that of column {parsed.names[widest[1]]} in row group "
                f"{other.row_group} ends",
                expected=f"{end} or more",
                actual=str(start),
            )
        if stop > end:
            end, widest = stop, (number, column)


@rule("PM-071", of=FILE)
def statistics_follow_each_other(file: FileUnderTest) -> Iterator[Violation]:
    """Those that lie outside the region are the matter of PM-069."""
    parsed, sweep = file.part(PmUnderTest), file.part(Sweep)
    _require_row_groups(parsed)
    if not parsed.header.column_count:
        raise NotApplicable
    for place, fact in zip(parsed.blocks, sweep.facts, strict=True):
        if not fact.is_packed:
            yield from _scattered(parsed, sweep, place)


def _scattered(parsed: PmUnderTest, sweep: Sweep, place: Place) -> Iterator[Violation]:
    end = total = 0
    for column in range(parsed.header.column_count):
        chunk = sweep.chunk(place, column)
        for side in SIDES:
            if not chunk.is_out_of_line(side):
                continue
            offset, length = chunk.reference(side)
            # Of one that was moved, those behind it are not to blame.
            if offset + length > chunk.region_length:
                offset = end
            elif offset not in (end, total):
                yield parsed.in_chunk(
                    place,
                    column,
                    side.field,
                    f"{side.name} stands at {offset} of the region behind the chunks, and the one before ends at {end}",
                    expected=str(end),
                    actual=str(offset),
                )
            end, total = offset + length, total + length


@rule("PM-075", of=FILE)
def row_groups_ascend(file: FileUnderTest) -> Iterator[Violation]:
    """By the bounds of the designated timestamp, where they stand in their slots."""
    parsed, sweep = file.part(PmUnderTest), file.part(Sweep)
    column = parsed.designated
    described = parsed.header.descriptors[column]
    _require_row_groups(parsed)
    if described.physical_type != PhysicalType.INT64:
        raise NotApplicable
    bounds = {place.offset: _bounds(sweep.chunk(place, column)) for place in parsed.blocks}
    told: set[tuple[int, int]] = set()
    is_incomplete = False
    for snapshot in parsed.snapshots:
        last: tuple[int, int, int] | None = None  # MAX, row group, block
        for row_group, offset in enumerate(snapshot.blocks):
            found = bounds.get(offset)
            if found is None:
                is_incomplete = is_incomplete or offset not in bounds
                continue
            low, high = found
            if last is not None and low < last[0] and offset != last[2] and (last[2], offset) not in told:
                told.add((last[2], offset))
                place = parsed.places[offset]
                yield parsed.in_chunk(
                    place,
                    column,
                    "min_stat",
                    f"row group {row_group} begins at {low}, and row group {last[1]} before it ends at {last[0]}",
                    expected=f"at least {last[0]}",
                    actual=str(low),
                )
            last = high, row_group, offset
    if is_incomplete and not told:
        raise NotChecked("PM-050 is broken")


def _bounds(chunk: ChunkUnderTest) -> tuple[int, int] | None:
    """MIN and MAX of the designated timestamp; ``None`` without rows, or where PM-072 or PM-074 is broken."""
    low, high = (chunk.bound(side) for side in SIDES)
    if low is None or high is None or not chunk.num_rows:
        return None
    least, greatest = (int.from_bytes(raw, "little", signed=True) for raw in (low, high))
    return (least, greatest) if least <= greatest else None
