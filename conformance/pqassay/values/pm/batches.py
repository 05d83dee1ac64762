"""The column chunks of a ``_pm`` as arrays, some blocks at a time, as the layout of the grammar gives their records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pqassay.under_test.pm.bounds import BoundOrder
from pqassay.under_test.pm.chunks import PmChunks
from pqassay.under_test.pm.file import Place
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.block import Side
from pqassay_spec.pm.codes import (
    MAX_SIZE_SHIFT,
    MOST_INLINE,
    MOST_OUT_OF_LINE,
    REFERENCE_SHIFT,
    SIZE_MASK,
    PhysicalType,
)

Array: TypeAlias = NDArray[Any]

CHUNK = np.dtype(pm.ColumnChunk.dtype)
DESCRIPTOR = np.dtype(pm.ColumnDescriptor.dtype)
BLOCK_HEADER = np.dtype(pm.BlockHeader.dtype)
_U64 = np.uint64

_FIELDS = {name: (np.dtype(kind), pm.ColumnChunk.offsets[name]) for name, kind in pm.ColumnChunk.dtype}
"""Type and offset of each field of a column chunk."""

WORD = 8
"""Bytes of a word, of which column chunks consist: a field is a word, or lies in one."""

TURNED_AT_ONCE = 1 << 18
"""Bytes of records that are turned into words at a time."""


class Shape:
    """The part that all batches share: the bytes, and what descriptors say, one number for each column."""

    def __init__(self, chunks: PmChunks) -> None:
        parsed, columns = chunks.parsed, chunks.columns
        descriptors = parsed.header.descriptors
        self.content = np.frombuffer(parsed.content, np.uint8)
        self.count = len(descriptors)
        start = pm.FixedHeader.size
        stored = self.content[start : start + self.count * pm.ColumnDescriptor.size].view(DESCRIPTOR)
        self.has_lists = stored["max_rep_level"] > 0
        self.is_required = stored["max_def_level"] == 0
        self.width = np.array([facts.width for facts in columns], np.int64)
        designated = parsed.header.fixed.designated_timestamp
        self.designated: int | None = None
        if 0 <= designated < self.count and descriptors[designated].physical_type == PhysicalType.INT64:
            self.designated = designated
        # Columns of one kind share their facts, and an order is slow to hash.
        kinds: dict[int, list[int]] = {}
        for column, facts in enumerate(columns):
            kinds.setdefault(id(facts), []).append(column)
        orders: dict[BoundOrder, list[int]] = {}
        for members in kinds.values():
            if (order := columns[members[0]].order) is not None:
                orders.setdefault(order, []).extend(members)
        self.orders = {order: _selection(sorted(members)) for order, members in orders.items()}


def _selection(columns: list[int]) -> Any:
    """Columns as an index, which copies nothing where they are equally far apart."""
    distances = {after - before for before, after in pairwise(columns)}
    if len(distances) > 1:
        return np.array(columns)
    return slice(columns[0], columns[-1] + 1, distances.pop() if distances else 1)


def _blocks(content: Array, starts: Sequence[int], size: int) -> Array:
    """Blocks of a file as rows of bytes, not copied where they follow each other at one distance, as most do."""
    distances = {after - before for before, after in pairwise(starts)}
    if len(distances) < 2:
        distance = distances.pop() if distances else size
        if distance >= size:
            return np.ndarray((len(starts), size), np.uint8, content, starts[0], (distance, 1))
    return np.stack([content[start : start + size] for start in starts])


def _turned(records: Array, count: int) -> Array:
    """Records of whole words, ``count`` to a row of bytes, as words x rows x records: each word of all of them side by side.

    A few rows at a time, which stay in the cache: a word of many records is far apart from the next one's.
    """
    rows = len(records)
    words = records.view(_U64).reshape(rows, count, CHUNK.itemsize // WORD)
    turned = np.empty((words.shape[2], rows, count), _U64)
    step = max(TURNED_AT_ONCE // max(records.shape[1], 1), 1)
    for start in range(0, rows, step):
        turned[:, start : start + step] = words[start : start + step].transpose(2, 0, 1)
    return turned


class Batch:
    """The chunks of some blocks, as arrays of blocks x columns, each made when first asked for."""

    def __init__(self, shape: Shape, places: Sequence[Place]) -> None:
        self.shape = shape
        size = pm.BlockHeader.size + pm.ColumnChunk.size * shape.count
        blocks = _blocks(shape.content, [place.offset for place in places], size)
        self.num_rows: Array = blocks[:, : BLOCK_HEADER.itemsize].view(BLOCK_HEADER)["num_rows"].astype(_U64)
        self.extent = len(places), shape.count
        """Blocks and columns."""
        self.body_end = np.array([place.body_end for place in places], _U64)[:, None]
        self.region_start = np.array([place.offset + size for place in places], _U64)[:, None]
        # A block that the next one overlaps has no region at all.
        rooms = [max(place.follows - place.offset - size, 0) for place in places]
        self.region_length = np.array(rooms, _U64)[:, None]
        self._words = _turned(blocks[:, BLOCK_HEADER.itemsize :], shape.count)
        self._fields: dict[object, Array] = {}

    def field(self, name: str) -> Array:
        """A field of all chunks, side by side in memory."""
        if name not in self._fields:
            kind, offset = _FIELDS[name]
            word, within = divmod(offset, WORD)
            found = self._words[word]
            if kind != _U64 or within:
                octets = found.view(np.uint8).reshape(*found.shape, WORD)
                parts = octets[..., within : within + kind.itemsize].view(kind)[..., 0]
                found = np.ascontiguousarray(parts)
            self._fields[name] = found
        return self._fields[name]

    def _kept(self, key: object, make: Callable[[], Array]) -> Array:
        if key not in self._fields:
            self._fields[key] = make()
        return self._fields[key]

    def flag(self, flag: int) -> Array:
        """Where all bits of a mask are set in STAT_FLAGS."""
        return self._kept(("flag", flag), lambda: self.field("stat_flags") & np.uint8(flag) == flag)

    def inlined(self, side: Side) -> Array:
        """Where a statistic is present and is in its slot."""
        return self.flag(side.present | side.inlined)

    def out_of_line(self, side: Side) -> Array:
        """Where it is present and does not."""
        return self._kept(
            ("out of line", side.position),
            lambda: self.field("stat_flags") & np.uint8(side.present | side.inlined) == side.present,
        )

    def any_out_of_line(self, side: Side) -> bool:
        """Whether any statistic is out of line."""
        return bool(self._kept(("any", side.position), lambda: np.array(self.out_of_line(side).any())))

    def size(self, side: Side) -> Array:
        """The sizes of a side, by STAT_SIZES."""
        sizes = self.field("stat_sizes")
        return self._kept(
            ("size", side.position),
            lambda: sizes >> MAX_SIZE_SHIFT if side.position else sizes & SIZE_MASK,
        )

    def good_size(self, side: Side) -> Array:
        """Where an inlined statistic has a size that is possible."""
        size = self.size(side)
        return self._kept(
            ("good", side.position),
            lambda: self.inlined(side) & (size - np.uint8(1) < np.uint8(MOST_INLINE)),  # 0 wraps
        )

    def offset(self, side: Side) -> Array:
        """Slots as references: the offsets."""
        return self.field(side.field) >> _U64(REFERENCE_SHIFT)

    def length(self, side: Side) -> Array:
        """Slots as references: the lengths."""
        return self.field(side.field) & _U64(MOST_OUT_OF_LINE)

    def inside(self, side: Side) -> Array:
        """Where a statistic out of line lies inside the region of its block."""
        return self._kept(
            ("inside", side.position),
            lambda: self.out_of_line(side) & (self.offset(side) + self.length(side) <= self.region_length),
        )

    def stop(self) -> Array:
        """The ends of the byte ranges; of numbers that are too great, the sum wraps."""
        return self._kept("stop", lambda: self.field("byte_range_start") + self.field("total_compressed"))

    def are_filled(self) -> bool:
        """Whether every byte range has a byte, and ends at a number that is not too great."""
        return bool(
            self._kept("filled", lambda: np.array((self.field("byte_range_start") < self.stop()).all()))
        )

    def none(self) -> Array:
        """No chunk at all."""
        return self._kept("none", lambda: np.zeros(self.extent, bool))
