"""Screens of many column chunks of a ``_pm`` file: the chunks that break a rule, and the facts about blocks.

The chunks come as arrays, see `pqassay.values.pm.batches`, a few megabytes at a time. The conditions are those of the rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pqassay.report.model import FIRST_POSITIONS
from pqassay.under_test.file import NotChecked
from pqassay.under_test.pm.blooms import FilterFields
from pqassay.under_test.pm.chunks import CONDITIONS, MOST_OFFSET, BlockFacts, ChunkUnderTest, PmChunks
from pqassay.under_test.violation import Suspects
from pqassay.values.pm.batches import Array, Batch, Shape
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.block import SIDES
from pqassay_spec.pm.codes import ALIGNMENT, BLOCK_SHIFT

BATCH_BYTES = 1 << 22
"""The number of bytes of chunks per batch: enough to outweigh the calls, but little enough for memory."""


def screen(chunks: PmChunks) -> tuple[dict[str, Suspects[ChunkUnderTest]], list[BlockFacts]]:
    """Screen the chunks of all readable blocks.

    Returns:
        The chunks that break each rule, and the facts about each block.
    """
    gathered = {rule: _Gathered() for rule in CONDITIONS}
    facts: list[BlockFacts] = []
    shape = Shape(chunks)
    step = max(1, BATCH_BYTES // max(1, shape.count * pm.ColumnChunk.size))
    for first in range(0, len(chunks.places), step):
        batch = Batch(shape, chunks.places[first : first + step])
        for rule, cases in CONDITIONS.items():
            try:
                gathered[rule].note([batch.evaluated(conditions) for conditions in cases], first)
            except NotChecked as reason:
                gathered[rule].problem = str(reason)
        facts += block_facts(batch)
    return {rule: broken.suspects(chunks) for rule, broken in gathered.items()}, facts


@dataclass
class _Gathered:
    """The chunks that break one rule, collected batch by batch.

    Attributes:
        first: For each column with such chunks, the block positions of the first ones.
        more: For each of these columns, the number of violations at further chunks.
        problem: Why some chunks were not examined.
    """

    first: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    more: dict[int, int] = field(default_factory=dict[int, int])
    problem: str | None = None

    def note(self, masks: Sequence[Array], start: int) -> None:
        """Add the chunks of a batch; ``start`` is the position of its first block."""
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

    def suspects(self, chunks: PmChunks) -> Suspects[ChunkUnderTest]:
        """The chunks, column by column."""
        names, more = chunks.parsed.names, dict[str | None, int]()
        for column, count in self.more.items():
            more[names[column]] = more.get(names[column], 0) + count
        things = [
            chunks.chunk(chunks.places[place], column)
            for column, places in sorted(self.first.items())
            for place in places
        ]
        return Suspects(things, more, self.problem)


# --------------------------------------------------------------------------------------------- whole blocks


def block_facts(batch: Batch) -> Iterator[BlockFacts]:
    """Like `pqassay.under_test.pm.chunks.block_facts`, for many blocks; in doubt, a block counts as tangled."""
    start, length = np.asarray(batch.given.byte_range_start), np.asarray(batch.given.total_compressed)
    end = start + length
    wraps = np.any(end < start, axis=1)
    is_tangled = wraps | np.any(start[:, 1:] < end[:, :-1], axis=1)
    if not length.all():
        start, end = np.where(length == 0, MOST_OFFSET, start), np.where(length == 0, 0, end)
    last = np.where(wraps, MOST_OFFSET, end.max(axis=1))
    first = np.minimum(start.min(axis=1), last)
    facts = (first, last, is_tangled, *_regions(batch))
    return map(BlockFacts, *(numbers.tolist() for numbers in facts))


def _regions(batch: Batch) -> tuple[Array, Array, Array]:
    """For each block, the end of its out-of-line statistics, whether these are contiguous, and whether some are outside."""
    start = np.asarray(batch.region_start)[:, 0]
    nothing: Array = np.zeros(len(start), bool)
    if not any(np.any(batch.is_out_of_line(side)) for side in SIDES):
        return start, ~nothing, nothing
    inside, offset, length = (
        np.stack(numbers, axis=-1).reshape(len(start), -1)
        for numbers in zip(
            *((batch.is_out_of_line(side) > batch.is_stray(side), *batch.reference(side)) for side in SIDES),
            strict=True,
        )
    )
    length = length * inside
    is_packed = ~np.any(inside & (offset != np.cumsum(length, axis=1) - length), axis=1)
    has_strays = np.any([batch.is_stray(side) for side in SIDES], axis=(0, 2))
    return start + ((offset + length) * inside).max(axis=1), is_packed, has_strays


# -------------------------------------------------------------------------------------------- bloom filters


def end_of_filters(content: memoryview, entries: bytes, room: tuple[int, int]) -> int | None:
    """Screen the bloom filters of a row group.

    Args:
        content: The file.
        entries: The row group's entries.
        room: The end of the statistics of the block, and the start of the next structure.

    Returns:
        The end of the last filter if every filter has a valid place and length, with only padding in between;
        otherwise ``None``.
    """
    data = np.frombuffer(content, np.uint8)
    starts: Any = np.sort(np.frombuffer(entries, np.dtype(f"<u{pm.InlinedBloom.size}")).astype(np.int64))
    starts = starts[starts > 0] << BLOCK_SHIFT
    if not len(starts):
        return room[0]
    if starts[-1] + pm.BLOOM_LENGTH_SIZE > room[1]:
        return None
    heads = data[starts[:, None] + np.arange(pm.BLOOM_LENGTH_SIZE)]
    lengths: Any = heads.view(np.dtype(f"<i{pm.BLOOM_LENGTH_SIZE}"))[:, 0].astype(np.int64)
    filters = FilterFields(starts, lengths, room)
    ends: Any = filters.end
    gaps: Array = starts - np.concatenate((room[:1], ends[:-1]))
    if (
        np.any(filters.is_misplaced)
        or not np.all(filters.is_sized)
        or gaps.min() < 0
        or gaps.max() >= ALIGNMENT
    ):
        return None
    steps = np.arange(1, ALIGNMENT)
    padding = data[starts[:, None] - steps]  # a header is always followed by this number of bytes
    return None if padding[steps <= gaps[:, None]].any() else int(ends[-1])
