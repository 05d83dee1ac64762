"""Screens of ``_pm``: for many chunks at a time, which of them break a rule of `pqassay.checks.pm.chunks`.

The rules there are the law. A screen says the same of arrays; tests compare them on real and on mutated files. The chunks
come as arrays, see `pqassay.values.pm.batches`, a few megabytes at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from pqassay.report.model import FIRST_POSITIONS
from pqassay.under_test.pm.chunks import (
    MOST_OFFSET,
    MOST_UNDECIDED,
    BlockFacts,
    ChunkUnderTest,
    PmChunks,
)
from pqassay.under_test.violation import Suspects
from pqassay.values.pm.batches import CHUNK, Array, Batch, Shape
from pqassay.values.pm.bound_screen import bounds_out_of_order
from pqassay_spec.parquet.bloom import BLOCK_SIZE
from pqassay_spec.parquet.file import HEAD_SIZE
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.block import SIDES
from pqassay_spec.pm.codes import (
    ALIGNMENT,
    BLOCK_SHIFT,
    MOST_INLINE,
    SIZE_MASK,
    Codec,
    EncodingBit,
    StatFlag,
)

BATCH_BYTES = 1 << 22
"""Bytes of chunks that are screened at a time: enough for the work to outweigh the calls, few enough for the memory."""

Masks = Sequence[Array]
"""For each violation that a chunk can have of a rule, which chunks have it: arrays of blocks x columns."""

_U64 = np.uint64

GREATEST_OF_SIZE = np.full(SIZE_MASK + 1, MOST_OFFSET, _U64)
"""The greatest number that fits into so many bytes; sizes that are impossible limit nothing."""
GREATEST_OF_SIZE[1:MOST_INLINE] = [(1 << 8 * size) - 1 for size in range(1, MOST_INLINE)]


def screen(chunks: PmChunks) -> tuple[dict[str, Suspects[ChunkUnderTest]], list[BlockFacts]]:
    """Screen the chunks of all blocks that can be read.

    Returns:
        The suspects of each rule, and the facts about each block.
    """
    suspected = {rule: _Found() for rule in SCREENS}
    facts: list[BlockFacts] = []
    shape = Shape(chunks)
    step = max(1, BATCH_BYTES // max(1, shape.count * CHUNK.itemsize))
    for first in range(0, len(chunks.places), step):
        batch = Batch(shape, chunks.places[first : first + step])
        for rule, find in SCREENS.items():
            suspected[rule].note(find(batch), first)
        certain, undecided = bounds_out_of_order(batch)
        suspected[ORDER].note((certain & ~undecided,), first)
        suspected[ORDER].note_undecided(undecided, first)
        facts += block_facts(batch)
    return {rule: one.suspects(chunks) for rule, one in suspected.items()}, facts


@dataclass
class _Found:
    """The suspects of one rule, while they are gathered.

    Attributes:
        first: For each column with chunks that break the rule, the first of them, as positions of blocks.
        more: For each of these columns, how many violations there are at further chunks.
        undecided: Chunks that the rule itself has to judge, as positions of column and block.
        left: How many more of those there are.
    """

    first: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    more: dict[int, int] = field(default_factory=dict[int, int])
    undecided: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    left: int = 0

    def note(self, masks: Masks, start: int) -> None:
        """Add the chunks of a batch that break the rule, the first of whose blocks has the position ``start``."""
        masks = [mask for mask in masks if mask.any()]
        if not masks:
            return
        violations: Array = np.sum(masks, axis=0)
        for column in np.flatnonzero(violations.any(axis=0)).tolist():
            known = self.first.setdefault(column, [])
            shown = np.flatnonzero(violations[:, column])[: FIRST_POSITIONS - len(known)]
            known += (shown + start).tolist()
            more = violations[:, column].sum() - violations[shown, column].sum()
            self.more[column] = self.more.get(column, 0) + int(more)

    def note_undecided(self, mask: Array, start: int) -> None:
        """Add the chunks of a batch that the rule itself has to judge."""
        rows, columns = np.nonzero(mask)
        room = MOST_UNDECIDED - len(self.undecided)
        self.undecided += zip(columns[:room].tolist(), (rows[:room] + start).tolist(), strict=True)
        self.left += max(len(rows) - room, 0)

    def suspects(self, chunks: PmChunks) -> Suspects[ChunkUnderTest]:
        """The chunks, column by column."""
        names, more = chunks.parsed.names, dict[str | None, int]()
        for column, count in self.more.items():
            more[names[column]] = more.get(names[column], 0) + count
        first = [(column, place) for column, places in self.first.items() for place in places]
        return Suspects(
            [chunks.chunk(chunks.places[place], column) for column, place in sorted(first + self.undecided)],
            more,
            f"more than {MOST_UNDECIDED:,} chunks would have to be compared one by one"
            if self.left
            else None,
        )


# ------------------------------------------------------------------------- the screens, in the order of rules


def _num_values(batch: Batch) -> Masks:
    values, rows = batch.field("num_values"), batch.num_rows
    differs = values != rows
    if not differs.any():
        return ()
    return (differs & np.where(batch.shape.has_lists, values < rows, True),)


def _null_count_is_absent(batch: Batch) -> Masks:
    return (~batch.flag(StatFlag.NULL_COUNT_PRESENT),)


def _too_many_nulls(batch: Batch) -> Masks:
    more = batch.field("null_count") > batch.field("num_values")
    return (more & batch.flag(StatFlag.NULL_COUNT_PRESENT),)


def _nulls_in_required_columns(batch: Batch) -> Masks:
    nulls = batch.flag(StatFlag.NULL_COUNT_PRESENT) & (batch.field("null_count") != 0)
    return (nulls & batch.shape.is_required,)


def _too_many_distinct(batch: Batch) -> Masks:
    present = batch.flag(StatFlag.DISTINCT_COUNT_PRESENT)
    if not present.any():
        return ()
    values = batch.field("num_values")
    nulls = np.where(batch.flag(StatFlag.NULL_COUNT_PRESENT), batch.field("null_count"), _U64(0))
    return (present & (nulls <= values) & (batch.field("distinct_count") > values - nulls),)


def _reserved(batch: Batch) -> Masks:
    return (batch.field("reserved") != 0,)


def _codecs(batch: Batch) -> Masks:
    return (batch.field("codec") > max(Codec),)


def _encodings(batch: Batch) -> Masks:
    return ((batch.field("encodings") & np.uint8(0xFF & ~sum(EncodingBit))) != 0,)


def _ranges(batch: Batch) -> Masks:
    start, stop, end = batch.field("byte_range_start"), batch.stop(), batch.body_end
    if batch.are_filled() and start.min(initial=HEAD_SIZE) >= HEAD_SIZE and (stop <= end).all():
        return ()  # most files; the rest is for empty chunks, and for numbers so great that the sum wraps
    length = np.maximum(batch.field("total_compressed"), _U64(1))
    outside = (start < HEAD_SIZE) | (start > end) | (length > end - np.minimum(start, end))
    return (outside & ((batch.field("total_compressed") != 0) | (batch.field("num_values") != 0)),)


def _absent(batch: Batch) -> Masks:
    masks: list[Array] = []
    for flag, name in (
        (StatFlag.NULL_COUNT_PRESENT, "null_count"),
        (StatFlag.DISTINCT_COUNT_PRESENT, "distinct_count"),
        *((side.present, side.field) for side in SIDES),
    ):
        absent = ~batch.flag(flag)
        if absent.any():
            masks.append(absent & (batch.field(name) != 0))
    flags = batch.field("stat_flags")
    for side in SIDES:
        absent = ~batch.flag(side.present)
        if absent.any():
            masks.append(absent & (flags & np.uint8(side.inlined | side.exact) != 0))
    return masks


def _sizes(batch: Batch) -> Masks:
    masks: list[Array] = []
    for side in SIDES:
        masks.append(batch.inlined(side) & ~batch.good_size(side))
        masks.append(~batch.flag(side.inlined) & (batch.size(side) != 0))
    return masks


def _widths_inline(batch: Batch) -> Masks:
    width = np.minimum(batch.shape.width, 0xFF).astype(np.uint8)
    return [batch.good_size(side) & (width != 0) & (batch.size(side) != width) for side in SIDES]


def _rest_of_slots(batch: Batch) -> Masks:
    return [
        batch.inlined(side) & (batch.field(side.field) > GREATEST_OF_SIZE.take(batch.size(side)))
        for side in SIDES
    ]


def _short_out_of_line(batch: Batch) -> Masks:
    return [
        batch.out_of_line(side) & (batch.length(side) <= MOST_INLINE)
        for side in SIDES
        if batch.any_out_of_line(side)
    ]


def _outside(batch: Batch) -> Masks:
    return [batch.out_of_line(side) & ~batch.inside(side) for side in SIDES if batch.any_out_of_line(side)]


def _widths_out_of_line(batch: Batch) -> Masks:
    width = batch.shape.width.astype(_U64)
    return [
        batch.out_of_line(side)
        & (batch.length(side) > MOST_INLINE)
        & (width != 0)
        & (batch.length(side) != width)
        for side in SIDES
        if batch.any_out_of_line(side)
    ]


def _timestamp_without_bounds(batch: Batch) -> Masks:
    column = batch.shape.designated
    if column is None:
        return ()
    wanted = sum({flag for side in SIDES for flag in (side.present, side.inlined)})
    mask = np.zeros(batch.extent, bool)
    mask[:, column] = (batch.num_rows[:, 0] != 0) & ~batch.flag(wanted)[:, column]
    return (mask,)


ORDER = "PM-072"
"""The rule whose screen leaves chunks undecided, see `bounds_out_of_order`."""

SCREENS: dict[str, Callable[[Batch], Masks]] = {
    "PM-054": _num_values,
    "PM-055": _null_count_is_absent,
    "PM-056": _too_many_nulls,
    "PM-057": _nulls_in_required_columns,
    "PM-058": _too_many_distinct,
    "PM-059": _reserved,
    "PM-060": _codecs,
    "PM-061": _encodings,
    "PM-062": _ranges,
    "PM-064": _absent,
    "PM-065": _sizes,
    "PM-066": _widths_inline,
    "PM-067": _rest_of_slots,
    "PM-068": _short_out_of_line,
    "PM-069": _outside,
    "PM-070": _widths_out_of_line,
    ORDER: lambda _: (),
    "PM-074": _timestamp_without_bounds,
}
"""The screen of each rule about chunks."""


# --------------------------------------------------------------------------------------------- whole blocks


def block_facts(batch: Batch) -> Iterator[BlockFacts]:
    """The same as `pqassay.under_test.pm.chunks.block_facts`, for many blocks; in doubt, a block is called tangled."""
    blocks = batch.extent[0]
    region_end = batch.region_start[:, 0].copy()
    is_packed, has_strays = np.ones(blocks, bool), np.zeros(blocks, bool)
    if not batch.shape.count:
        for end in region_end.tolist():
            yield BlockFacts(0, 0, is_tangled=False, region_end=end, is_packed=True)
        return
    start, end = batch.field("byte_range_start"), batch.stop()
    wraps, ends, starts = np.zeros(blocks, bool), end, start
    if not batch.are_filled():
        wraps, is_empty = np.any(end < start, axis=1), batch.field("total_compressed") == 0
        ends, starts = np.where(is_empty, _U64(0), end), np.where(is_empty, _U64(MOST_OFFSET), start)
    last: Array = np.where(wraps, _U64(MOST_OFFSET), ends.max(axis=1))
    first: Array = np.minimum(starts.min(axis=1), last)
    is_tangled: Array = wraps | np.any(start[:, 1:] < end[:, :-1], axis=1)
    if any(batch.any_out_of_line(side) for side in SIDES):
        is_packed, region_end, has_strays = _regions(batch)
    yield from map(
        BlockFacts,
        first.tolist(),
        last.tolist(),
        is_tangled.tolist(),
        region_end.tolist(),
        is_packed.tolist(),
        has_strays.tolist(),
    )


def _regions(batch: Batch) -> tuple[Array, Array, Array]:
    """Whether the statistics out of line of each block follow each other, where they end, and whether some are outside."""
    shape = (*batch.extent, len(SIDES))
    inside, offset, length = np.zeros(shape, bool), np.zeros(shape, _U64), np.zeros(shape, _U64)
    has_strays: Array = np.zeros(shape[0], bool)
    for side in SIDES:
        has_strays = has_strays | np.any(batch.out_of_line(side) & ~batch.inside(side), axis=1)
        inside[..., side.position] = batch.inside(side)
        offset[..., side.position] = batch.offset(side)
        length[..., side.position] = batch.length(side)
    length[~inside] = 0
    in_a_row: Array = length.reshape(shape[0], -1)
    expected: Array = (np.cumsum(in_a_row, axis=1) - in_a_row).reshape(shape)
    is_packed = ~np.any(inside & (offset != expected), axis=(1, 2))
    ends: Array = np.where(inside, offset + length, _U64(0)).max(axis=(1, 2))
    return is_packed, batch.region_start[:, 0] + ends, has_strays


# -------------------------------------------------------------------------------------------- bloom filters


def end_of_filters(content: memoryview, entries: bytes, region_end: int, follows: int) -> int | None:
    """Screen the bloom filters of a row group.

    Args:
        content: The file.
        entries: The row group's entries.
        region_end: Where the statistics of the block end.
        follows: Where the next structure begins.

    Returns:
        Where the last filter ends, if every one is where it may be, has a length that is possible, and follows the one
        before with nothing but padding between them; else ``None``.
    """
    data = np.frombuffer(content, np.uint8)
    starts: Array = np.sort(np.frombuffer(entries, np.dtype(f"<u{pm.InlinedBloom.size}")).astype(np.int64))
    starts = starts[np.count_nonzero(starts == 0) :] << BLOCK_SHIFT
    if not len(starts):
        return region_end
    if starts[0] < region_end or starts[-1] + pm.BLOOM_LENGTH_SIZE > follows:
        return None
    heads = data[starts[:, None] + np.arange(pm.BLOOM_LENGTH_SIZE)]
    lengths = heads.view(np.dtype(f"<i{pm.BLOOM_LENGTH_SIZE}"))[:, 0].astype(np.int64)
    ends: Array = starts + pm.BLOOM_LENGTH_SIZE + lengths
    gaps: Array = starts - np.concatenate(([region_end], ends[:-1]))
    if (lengths <= 0).any() or (lengths % BLOCK_SIZE).any() or ends[-1] > follows:
        return None
    if (gaps < 0).any() or (gaps >= ALIGNMENT).any():
        return None
    steps = np.arange(1, ALIGNMENT)
    padding = data[starts[:, None] - steps]  # behind the header there are always that many bytes
    return None if padding[steps <= gaps[:, None]].any() else int(ends[-1])
