"""The blocks of ``_pm``: a row group's rows and column chunks, its statistics, its bloom filters.

Errors name the broken rule; every range is checked against the snapshot's footer before it is read.

Source: "Parquet metadata file" (``parquet-metadata.md``), sections "Row group blocks" to "Bloom filters".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import Source
from pqassay_spec.parquet.bloom import BLOCK_SIZE as BITSET_STEP
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.codes import MAX_SIZE_SHIFT, SIZE_MASK, StatFlag, split_reference
from pqassay_spec.pm.header import Header


class Block(NamedTuple):
    """A row group's block: its offset, its rows, and its column chunks."""

    offset: int
    num_rows: int
    chunks: Sequence[pm.ColumnChunk]

    @property
    def region_start(self) -> int:
        """Offset of the region of statistics that are stored out of line."""
        return self.offset + pm.BlockHeader.size + pm.ColumnChunk.size * len(self.chunks)


def read_block(source: Source, header: Header, offset: int, end: int) -> Block:
    """Read the block at an offset; ``end`` is the start of the snapshot's footer.

    Raises:
        Malformed: Rule PM-050, the block does not lie between header and footer.
    """
    if offset < header.end or offset + header.block_size > end:
        raise Malformed(
            f"a block of {header.block_size} bytes at {offset}",
            rule="PM-050",
            offset=offset,
            expected=f"within [{header.end}, {end})",
            actual=f"[{offset}, {offset + header.block_size})",
        )
    raw = source.read(offset, header.block_size)
    rows = pm.BlockHeader.read(raw).num_rows
    return Block(offset, rows, pm.ColumnChunk.read_many(raw, pm.BlockHeader.size, header.column_count))


class Statistic(NamedTuple):
    """The place of a statistic, and whether it is exact. An ``inlined`` statistic is stored in the chunk's slot."""

    offset: int
    length: int
    inlined: bool
    exact: bool


class Side(NamedTuple):
    """MIN or MAX, the two bounds of a chunk: the fields and bits for each bound in the record of a chunk.

    Flags are plain numbers here, which are many times faster to combine than flags with names.

    Attributes:
        name: ``MIN`` or ``MAX``.
        field: The field of the record that is its slot.
        parquet_field: The field of Parquet's statistics with the same bound.
        position: Its position in lists of both bounds.
        present: The bit of STAT_FLAGS for a bound that exists.
        inlined: The bit for a bound that is stored in its slot.
        exact: The bit for a bound that is a value of the chunk.
    """

    name: str
    field: str
    parquet_field: str
    position: int
    present: int
    inlined: int
    exact: int

    def slot(self, chunk: pm.ColumnChunk) -> int:
        """Content of the slot, as a number."""
        return chunk.max_stat if self.position else chunk.min_stat

    def size(self, chunk: pm.ColumnChunk) -> int:
        """Bytes of the slot that are used, according to STAT_SIZES."""
        return chunk.stat_sizes >> MAX_SIZE_SHIFT if self.position else chunk.stat_sizes & SIZE_MASK


MIN, MAX = (
    Side(
        name,
        f"{name.lower()}_stat",
        f"{name.lower()}_value",
        position,
        *(int(StatFlag[f"{name}_STAT_{what}"]) for what in ("PRESENT", "INLINED", "VALUE_EXACT")),
    )
    for position, name in enumerate(("MIN", "MAX"))
)
SIDES = (MIN, MAX)
"""Both bounds, in the order in which they are stored."""


def find_statistic(block: Block, column: int, side: Side) -> Statistic | None:
    """The place of a chunk's statistic, which is not checked; ``None`` if there is none."""
    chunk = block.chunks[column]
    if not chunk.stat_flags & side.present:
        return None
    is_exact = bool(chunk.stat_flags & side.exact)
    if chunk.stat_flags & side.inlined:
        record = block.offset + pm.BlockHeader.size + column * pm.ColumnChunk.size
        return Statistic(record + pm.ColumnChunk.offsets[side.field], side.size(chunk), True, is_exact)
    offset, length = split_reference(side.slot(chunk))
    return Statistic(block.region_start + offset, length, False, is_exact)


def read_statistic(source: Source, block: Block, column: int, side: Side, end: int) -> bytes | None:
    """The bytes of a chunk's statistic, in Parquet's encoding; ``None`` if there is none.

    Raises:
        Malformed: Rules PM-065 (the size of an inlined statistic is not 1 to 8), PM-069 (it lies outside the block's region).
    """
    place = find_statistic(block, column, side)
    if place is None:
        return None
    if place.inlined:
        width = pm.ColumnChunk.widths[side.field]
        if not 0 < place.length <= width:
            raise Malformed(
                f"a statistic of {place.length} bytes in its slot", rule="PM-065", offset=place.offset
            )
        return side.slot(block.chunks[column]).to_bytes(width, "little")[: place.length]
    if place.offset + place.length > end:
        raise Malformed(
            f"a statistic at [{place.offset}, {place.offset + place.length}), where {end} bytes may be read",
            rule="PM-069",
            offset=min(place.offset, end),
        )
    return source.read(place.offset, place.length)


def read_inlined_bloom(source: Source, offset: int, end: int) -> bytes:
    """The bitset of the bloom filter at an offset of this file; ``end`` is the start of the snapshot's footer.

    Raises:
        Malformed: Rules PM-076 (it does not fit), PM-077 (its length is not a multiple of a block's length).
    """
    if offset + pm.BLOOM_LENGTH_SIZE > end:
        raise Malformed(f"a bloom filter at {offset}, behind {end}", rule="PM-076", offset=offset)
    length = int(pm.BLOOM_LENGTH.parse(source.read(offset, pm.BLOOM_LENGTH_SIZE)).length)
    start = offset + pm.BLOOM_LENGTH_SIZE
    if length <= 0 or length % BITSET_STEP:
        raise Malformed(
            f"a bitset of {length} bytes is not a multiple of {BITSET_STEP}",
            rule="PM-077",
            offset=offset,
            length=pm.BLOOM_LENGTH_SIZE,
        )
    if start + length > end:
        raise Malformed(
            f"a bloom filter of {length} bytes, where there are {end - start} before the footer",
            rule="PM-076",
            offset=offset,
            length=pm.BLOOM_LENGTH_SIZE,
        )
    return source.read(start, length)
