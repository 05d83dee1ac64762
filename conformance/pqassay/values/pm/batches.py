"""The column chunks of a ``_pm`` file as arrays, some blocks at a time, in the layout of the grammar."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pqassay.under_test.file import NotChecked
from pqassay.under_test.pm.bounds import BYTES, DECIMAL, READINGS, SIGNED, UNSIGNED
from pqassay.under_test.pm.chunks import Conditions, PmChunkFields, PmChunks
from pqassay.under_test.pm.file import BlockPlace
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.block import SIDES, Side

Array: TypeAlias = NDArray[Any]

DESCRIPTOR = np.dtype(pm.ColumnDescriptor.dtype)
_U64 = np.dtype("<u8")

WORD = _U64.itemsize
"""The size in bytes of a word. Column chunks consist of words: a field is a word or lies within one."""

TURNED_AT_ONCE = 1 << 18
"""The number of bytes of records that are transposed at a time."""

MOST_COMPARED = 1 << 30
"""The number of bytes of bounds that are compared one by one because they begin alike; the rest is not judged."""


class Shape:
    """The data that all batches share: the bytes of the file, and one number per column from each descriptor.

    Attributes:
        compared: The number of bytes of bounds that were compared one by one.
    """

    def __init__(self, chunks: PmChunks) -> None:
        parsed, columns = chunks.parsed, chunks.columns
        self.content = np.frombuffer(parsed.content, np.uint8)
        self.count, self.compared = len(columns), 0
        start = pm.FixedHeader.size
        stored = self.content[start : start + self.count * DESCRIPTOR.itemsize].view(DESCRIPTOR)
        described: list[Any] = [stored[name] for name in pm.ColumnDescriptor.offsets]
        self.described = pm.ColumnDescriptor(*described)
        widths = [facts.width for facts in columns]
        self.width: Any = np.array(widths, np.min_scalar_type(max(widths, default=0)))
        self.is_timestamp: Any = np.arange(self.count) == parsed.header.fixed.designated_timestamp
        kinds: dict[int, list[int]] = {}
        for column, facts in enumerate(
            columns
        ):  # columns of one kind share their facts, and are often evenly spaced
            kinds.setdefault(id(facts), []).append(column)
        ordered = [(columns[members[0]].order, _selection(members)) for members in kinds.values()]
        self.orders = [(order, members) for order, members in ordered if order is not None]


def _selection(columns: list[int]) -> Any:
    """Columns as an index, which copies nothing if they are evenly spaced."""
    distances = {after - before for before, after in pairwise(columns)}
    if len(distances) > 1:
        return np.array(columns)
    return slice(columns[0], columns[-1] + 1, distances.pop() if distances else 1)


def _blocks(content: Array, starts: Sequence[int], size: int) -> Array:
    """Blocks of a file as rows of bytes, not copied if they are evenly spaced, as most are."""
    distances = {after - before for before, after in pairwise(starts)}
    if len(distances) < 2:
        distance = distances.pop() if distances else size
        if distance >= size:
            return np.ndarray((len(starts), size), np.uint8, content, starts[0], (distance, 1))
    return np.stack([content[start : start + size] for start in starts])


def _turned(records: Array, count: int) -> Array:
    """Records of whole words, transposed: words x rows x records, from ``count`` records per row of bytes.

    A few rows are processed at a time, so that they stay in the cache.
    """
    rows = len(records)
    words = records.view(_U64).reshape(rows, count, pm.ColumnChunk.size // WORD)
    turned = np.empty((words.shape[2], rows, count), _U64)
    step = max(TURNED_AT_ONCE // max(records.shape[1], 1), 1)
    for start in range(0, rows, step):
        turned[:, start : start + step] = words[start : start + step].transpose(2, 0, 1)
    return turned


def _field(words: Array, offset: int, kind: str) -> Any:
    """A field of all records, contiguous in memory."""
    word, within = divmod(offset, WORD)
    if np.dtype(kind) == _U64:
        return words[word]
    octets = words[word].view(np.uint8).reshape(*words.shape[1:], WORD)
    return np.ascontiguousarray(octets[..., within : within + np.dtype(kind).itemsize].view(kind)[..., 0])


class Batch(PmChunkFields):
    """The chunks of some blocks: every field is an array of blocks x columns, or an array that broadcasts to it."""

    def __init__(self, shape: Shape, places: Sequence[BlockPlace]) -> None:
        size = pm.BlockHeader.size + pm.ColumnChunk.size * shape.count
        blocks = _blocks(shape.content, [place.offset for place in places], size)
        words = _turned(blocks[:, pm.BlockHeader.size :], shape.count)
        fields = [_field(words, pm.ColumnChunk.offsets[name], kind) for name, kind in pm.ColumnChunk.dtype]
        self.given = pm.ColumnChunk(*fields)
        self.shape, self.extent = shape, (len(places), shape.count)
        """The data that all batches share, and the number of blocks and columns of this batch."""
        self.described, self.width = shape.described, shape.width
        starts = [place.offset + size for place in places]
        # A block that overlaps the next one has no region.
        rooms = [max(place.follows - start, 0) for place, start in zip(places, starts, strict=True)]
        by_block: tuple[Any, ...] = tuple(
            np.array(numbers, _U64)[:, None]
            for numbers in (starts, rooms, [place.body_end for place in places])
        )
        self.region_start, self.region_length, self.body_end = by_block
        rows: Any = blocks[:, : pm.BlockHeader.size].view(_U64)
        self.num_rows = rows

    def evaluated(self, conditions: Conditions) -> Array:
        """The chunks for which all conditions hold."""
        first, *others = conditions
        mask: Any = first(self)
        for condition in others:
            if mask.any():
                mask = mask & condition(self)
        return mask if mask.shape == self.extent else np.broadcast_to(mask, self.extent)

    @property
    def is_timestamp(self) -> Any:
        """See `PmChunkFields`."""
        return self.shape.is_timestamp

    def is_out_of_order(self) -> Any:
        """See `PmChunkFields`."""
        broken: Any = np.zeros(self.extent, bool)
        bounds = [BoundsOfMany.in_batch(self, side) for side in SIDES]
        for order, columns in self.shape.orders:
            both: list[Any] = [bound.of(columns, order.width) for bound in bounds]
            broken[:, columns] = order.is_broken(*both)
        return broken


class BoundsOfMany(NamedTuple):
    """MIN or MAX of many chunks, with the members of `pqassay.under_test.pm.bounds.StoredBound`.

    Attributes:
        shape: The data that all batches share.
        is_there: See `StoredBound`.
        size: The size of each bound in bytes.
        head: The first eight bytes of each as a little-endian number; after a shorter bound, further bytes are arbitrary.
        start: The offset of each out-of-line bound.
        width: The common size of all bounds in bytes; 0 if they differ.
    """

    shape: Shape
    is_there: Any
    size: Any
    head: Any
    start: Any
    width: int = 0

    @classmethod
    def in_batch(cls, batch: Batch, side: Side) -> BoundsOfMany:
        """The bounds of all chunks of a batch."""
        is_there: Any = batch.has_size(side)
        size, head = np.asarray(batch.size(side)), np.asarray(batch.slot(side))
        inside: Any = batch.is_out_of_line(side)
        if not inside.any():
            return cls(batch.shape, is_there, size, head, head)
        offset, length = (np.asarray(numbers) for numbers in batch.reference(side))
        inside = inside & ~np.asarray(batch.is_stray(side)) & (length != 0)
        start, head = batch.region_start + offset, np.array(head)
        steps, content = np.arange(WORD), batch.shape.content
        rows = content[np.minimum(start[inside].astype(np.int64)[:, None] + steps, len(content) - 1)]
        rows[steps >= length[inside][:, None]] = 0
        head[inside] = rows.view(_U64)[:, 0]
        return cls(batch.shape, is_there | inside, np.where(inside, length, size), head, start)

    def of(self, columns: Any, width: int) -> BoundsOfMany:
        """The bounds of some columns; each has ``width`` bytes unless that is 0."""
        is_there, size, head, start = (numbers[:, columns] for numbers in self[1:5])
        return BoundsOfMany(
            self.shape, is_there & (size == width) if width else is_there, size, head, start, width
        )

    @property
    def is_nan(self) -> Any:
        """See `StoredBound`."""
        return self.is_there & np.isnan(self.numbers("f"))

    def is_above(self, other: Any, reading: str, among: Any) -> Any:
        """See `StoredBound`. Bounds that begin alike are compared one by one.

        Raises:
            NotChecked: Too many bounds begin alike.
        """
        if reading not in (BYTES, DECIMAL):
            kind = {SIGNED: "i", UNSIGNED: "u"}.get(reading, "f")
            with np.errstate(invalid="ignore"):
                return among & (self.numbers(kind) > other.numbers(kind))
        low, high = self.keys(reading), other.keys(reading)
        are_short = (self.size <= WORD) & (other.size <= WORD)
        above = among & (low > high)
        alike = among & ~are_short & (low == high)
        if reading == BYTES:  # if one is a prefix of the other, the longer one is greater
            above |= among & are_short & (low == high) & (self.size > other.size)
        else:
            alike |= among & ~are_short & (self.size != other.size)
        if alike.any():
            self.shape.compared += int(self.size[alike].sum() + other.size[alike].sum())
            if self.shape.compared > MOST_COMPARED:
                raise NotChecked(f"there are more than {MOST_COMPARED:,} bytes of bounds to compare", "tool")
            read = READINGS[reading]
            above[alike] = [
                read(least) > read(greatest)
                for least, greatest in zip(self.whole(alike), other.whole(alike), strict=True)
            ]
        return above

    def numbers(self, kind: str) -> Array:
        """The bounds as numbers of a numpy type."""
        numbers: Array = self.head.astype(f"<u{self.width}", copy=False)
        return numbers.view(f"<{kind}{self.width}")

    def keys(self, reading: str) -> Array:
        """The first eight bytes as a big-endian number; for a shorter number, all of it with its sign."""
        unused = 8 * (WORD - np.minimum(self.size, WORD)).astype(_U64)
        keys: Array = (self.head << unused >> unused).byteswap()
        return keys if reading == BYTES else keys.view(np.int64) >> unused.astype(np.int64)

    def whole(self, mask: Array) -> list[bytes]:
        """Some of the bounds, as stored."""
        content = self.shape.content.data
        numbers = (all_of[mask].tolist() for all_of in (self.start, self.size, self.head))
        return [
            bytes(content[start : start + size]) if size > WORD else head.to_bytes(WORD, "little")[:size]
            for start, size, head in zip(*numbers, strict=True)
        ]
