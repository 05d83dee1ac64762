"""Check a ``_pm`` as a careful reader does: its parts, their places, and the whole chain of snapshots.

It is the reference's own check, without the judge, and raises the first error.  Problems that only
waste space or time are not reported.  `pqassay_reader.lint.pm_data` compares the Parquet file
beside it.

Source: chapter ``pm.md``.
"""

from __future__ import annotations

import bisect
import math
import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from pqassay_reference.pm.txn import read_file
from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import FileSource, Source
from pqassay_spec.parquet.bloom import BLOCK_SIZE as BITSET_STEP
from pqassay_spec.parquet.column_order import WIDTHS
from pqassay_spec.parquet.file import MAGIC_SIZE
from pqassay_spec.pm import block as pm_block
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import header as pm_header
from pqassay_spec.pm.block import MIN, SIDES, Block, Side, Statistic
from pqassay_spec.pm.codes import (
    DECIMALS,
    KNOWN_COLUMN_FLAGS,
    MOST_INLINE,
    NO_COLUMN,
    NO_TYPE,
    REQUIRED_FEATURES,
    Codec,
    ColumnFlag,
    ColumnType,
    EncodingBit,
    FooterFeature,
    HeaderFeature,
    PhysicalType,
    Repetition,
    StatFlag,
    repetition,
    type_tag,
)
from pqassay_spec.pm.file import KNOWN_FOOTER_FEATURES, Snapshot
from pqassay_spec.pm.header import Header
from pqassay_spec.pm.skip import INTEGERS, PERHAPS_UNSIGNED, PLAIN_FORMATS, UNSIGNED
from pqassay_spec.pm.txn import FILE_NAME as TXN_NAME
from pqassay_spec.pm.txn import Txn


def lint_file(path: str | os.PathLike[str]) -> None:
    """Raise an error if a ``_pm``, or its description of the ``data.parquet`` beside it, is wrong.

    Raises:
        FormatError: The file is wrong, or does not fit the Parquet file.
        Undecodable: The Parquet file cannot be decoded.
    """
    with FileSource(path) as source:
        linted = lint(source)
        beside = Path(path).with_name(pm.DATA_NAME)
        if beside.is_file():
            from pqassay_reader.lint.pm_data import lint_data  # noqa: PLC0415 - most files have none beside them

            lint_data(source, linted.header, linted.snapshots, beside)
        table = Path(path).with_name(TXN_NAME)
        if table.is_file():
            _pinned(linted.snapshots, read_file(table), beside)


def _pinned(snapshots: Sequence[Snapshot], txn: Txn, data: Path) -> None:
    """Check that the snapshot which the table's transaction pins exists, and that its Parquet file is complete."""
    partitions = [each for each in txn.partitions if each.is_parquet]
    partition = partitions[0] if len(partitions) == 1 else txn.partition_in(data.absolute().parent.name)
    if partition is None or not partition.is_parquet:
        return
    size = partition.parquet_file_size
    sizes = {snapshot.fields.parquet_file_size for snapshot in snapshots}
    _require(size in sizes, "PM-151", f"no snapshot describes {size} bytes", "parquet_file_size")
    is_there = not data.is_file() or data.stat().st_size >= size
    _require(is_there, "PM-152", f"the Parquet file is shorter than {size} bytes", "parquet_file_size")


@dataclass(frozen=True)
class Linted:
    """A checked file: its header, its snapshots, the newest first, and the blocks of all of them by offset."""

    header: Header
    snapshots: Sequence[Snapshot]
    blocks: dict[int, Block]


def lint(source: Source) -> Linted:
    """Raise an error if a ``_pm`` is wrong.

    Raises:
        Malformed: With the rule, and the field and the offset if they are known.
    """
    size = pm_header.read_committed_size(source)
    header = pm_header.read_header(source, size)
    _header(header)
    for position, column in enumerate(header.descriptors):
        _column(position, column)
        pm_header.read_name(source, header, position)
    _designated_timestamp(header)
    _ids(header)
    snapshots = list(pm_file.walk(source, header, size))
    for snapshot, computed in zip(snapshots, pm_file.checksums(source, snapshots), strict=True):
        rule = "PM-018" if snapshot.number else "PM-017"
        _require(snapshot.checksum == computed, rule, "the checksum is wrong", f"{snapshot.path}.checksum")
        _footer(header, snapshot)
    _chain(snapshots)
    blocks: dict[int, Block] = {}
    for snapshot in snapshots:
        _extents(header, snapshot, snapshots)
        for offset in snapshot.blocks:
            blocks.setdefault(offset, pm_block.read_block(source, header, offset, snapshot.start))
    linted = Linted(header, snapshots, blocks)
    following = sorted({*blocks, *(snapshot.start for snapshot in snapshots)})
    for offset, block in blocks.items():
        _block(source, header, block, following[bisect.bisect_right(following, offset)])
    for snapshot in snapshots:
        _ranges(linted, snapshot)
        _times(source, linted, snapshot)
        _blooms(source, linted, snapshot, following)
    return linted


def _require(holds: object, rule: str, words: str, field: str, offset: int | None = None) -> None:
    if not holds:
        raise Malformed(words, rule=rule, field=field, offset=offset)


# ---------------------------------------------------------------------------------------- header and columns


def _header(header: Header) -> None:
    fixed = header.fixed
    _require(fixed.reserved == 0, "PM-003", f"RESERVED is {fixed.reserved}", "header.reserved")
    if HeaderFeature.SORTING_IS_DTS_ASC in header.features:
        count = fixed.sorting_column_count
        _require(
            count == 0,
            "PM-009",
            f"{count} sorting columns, although a flag replaces them",
            "header.sorting_column_count",
        )
    for position, column in enumerate(header.sorting_columns):
        field = f"sorting_columns[{position}].index"
        _require(column < header.column_count, "PM-037", f"sorted by the unknown column {column}", field)
    _require(header.squash_tracker != -1, "PM-087", "SQUASH_TRACKER is -1", "header_sections.squash_tracker")


def _column(position: int, column: pm.ColumnDescriptor) -> None:
    path = f"column_descriptors[{position}]"
    unused = column.flags & ~KNOWN_COLUMN_FLAGS
    _require(column.reserved == 0, "PM-025", f"RESERVED is {column.reserved}", f"{path}.reserved")
    _require(not unused, "PM-026", f"flags without a meaning: {unused:#x}", f"{path}.flags")
    _require(
        repetition(column.flags) in set(Repetition),
        "PM-027",
        "no repetition has this number",
        f"{path}.flags",
    )
    known = column.physical_type in set(PhysicalType)
    _require(known, "PM-028", f"no physical type {column.physical_type}", f"{path}.physical_type")
    is_fixed = column.physical_type == PhysicalType.FIXED_LEN_BYTE_ARRAY
    length = column.fixed_byte_len
    _require(
        length > 0 if is_fixed else length == 0, "PM-029", f"a length of {length}", f"{path}.fixed_byte_len"
    )


def _designated_timestamp(header: Header) -> None:
    position, field = header.fixed.designated_timestamp, "header.designated_timestamp"
    _require(NO_COLUMN <= position < header.column_count, "PM-033", f"{position} is not a column", field)
    if position == NO_COLUMN:
        return
    column = header.descriptors[position]
    is_timestamp = type_tag(column.type) == ColumnType.TIMESTAMP or (
        column.type == NO_TYPE and column.physical_type in (PhysicalType.INT64, PhysicalType.INT96)
    )
    _require(is_timestamp, "PM-034", f"column {position} is not a timestamp", field)
    levels = column.max_def_level, column.max_rep_level
    _require(levels == (0, 0), "PM-035", f"column {position} may hold nulls or lists", field)
    descending = column.flags & ColumnFlag.DESCENDING
    if HeaderFeature.SORTING_IS_DTS_ASC in header.features:
        path = f"column_descriptors[{position}].flags"
        _require(not descending, "PM-010", "the header says ascending, but the column says descending", path)
    _require(
        header.sorted_by[:1] == [(position, False)],
        "PM-036",
        "the rows are not sorted by the designated timestamp, ascending",
        "sorting_columns[0].index",
    )


def _ids(header: Header) -> None:
    ids = [column.id for column in header.descriptors if column.id != NO_COLUMN]
    _require(len(set(ids)) == len(ids), "PM-043", "two columns have the same ID", "column_descriptors")


# -------------------------------------------------------------------------------------- footers and the chain


def _footer(header: Header, snapshot: Snapshot) -> None:
    flags, path = snapshot.fields.footer_feature_flags, snapshot.path
    unknown_optional = flags & ~REQUIRED_FEATURES & ~KNOWN_FOOTER_FEATURES
    over = snapshot.checksum_offset - snapshot.sections_end
    _require(
        over == 0 or unknown_optional,
        "PM-013",
        f"{over} bytes that nothing announces",
        f"{path}.footer_length",
    )
    if "scratchpad" in snapshot.sections:
        notes, _ = snapshot.sections["scratchpad"]
        head = pm.ScratchpadHead.size
        length = pm.SECTION_COUNT_SIZE + sum(head + note.length for note in notes.entries)
        fits = notes.entry_count > 0 and length <= pm.MOST_SCRATCHPAD
        _require(fits, "PM-085", f"{notes.entry_count} notes of {length} bytes", f"{path}.scratchpad")
    if "covering_index" in snapshot.sections:
        index, _ = snapshot.sections["covering_index"]
        field = f"{path}.covering_index"
        _require(index.index_count > 0, "PM-086", "a list of no index files", field)
        _require(flags & FooterFeature.COVERING_INDEX_REQUIRED, "PM-086", "bit 32 is not set", field)
        strange = {entry.column_id for entry in index.indexes} - {column.id for column in header.descriptors}
        _require(not strange, "PM-086", "an index of a missing column", field)


def _chain(snapshots: Sequence[Snapshot]) -> None:
    for snapshot in snapshots:
        unused, size = snapshot.fields.unused_bytes, snapshot.fields.parquet_file_size
        words = f"{unused} unused bytes, of {size}"
        _require(unused <= size, "PM-080", words, f"{snapshot.path}.footer.unused_bytes")
    for newer, older in pairwise(snapshots):
        here, before, path = newer.fields, older.fields, f"{newer.path}.footer"
        _require(
            before.unused_bytes <= here.unused_bytes,
            "PM-080",
            f"{here.unused_bytes} unused bytes, fewer than the previous {before.unused_bytes}",
            f"{path}.unused_bytes",
        )
        _require(
            before.parquet_file_size <= here.parquet_file_size,
            "PM-081",
            (
                f"a Parquet file of {here.parquet_file_size} bytes, fewer than the previous "
                f"{before.parquet_file_size}"
            ),
            f"{path}.parquet_footer_offset",
        )


def _extents(header: Header, snapshot: Snapshot, snapshots: Sequence[Snapshot]) -> None:
    """Check that the blocks of a snapshot do not overlap each other or earlier footers."""
    field, size = f"{snapshot.path}.row_group_entries", header.block_size
    starts = sorted(snapshot.blocks)
    for first, second in pairwise(starts):
        _require(first + size <= second, "PM-052", "two row groups share a block", field, second)
    for start in starts:
        for earlier in snapshots[snapshot.number + 1 :]:
            apart = start + size <= earlier.start or earlier.size <= start
            _require(apart, "PM-050", "the block reaches into an earlier footer", field, start)


# ---------------------------------------------------------------------------------------------------- blocks


def _block(source: Source, header: Header, block: Block, end: int) -> None:
    """Check a block; ``end`` is the start of the next structure."""
    for position, (column, chunk) in enumerate(zip(header.descriptors, block.chunks, strict=True)):
        path = f"blocks[{block.offset}].column_chunks[{position}]"
        rows, values = block.num_rows, chunk.num_values
        agrees = values >= rows if column.max_rep_level else values == rows
        _require(agrees, "PM-054", f"{values} values in {rows} rows", f"{path}.num_values")
        nulls = chunk.null_count if chunk.stat_flags & StatFlag.NULL_COUNT_PRESENT else 0
        _require(nulls <= values, "PM-056", f"{nulls} nulls among {values} values", f"{path}.null_count")
        _require(
            nulls == 0 or column.max_def_level, "PM-057", "nulls in a required column", f"{path}.null_count"
        )
        distinct = chunk.distinct_count if chunk.stat_flags & StatFlag.DISTINCT_COUNT_PRESENT else 0
        _require(
            distinct <= values - nulls, "PM-058", f"{distinct} distinct values", f"{path}.distinct_count"
        )
        _require(chunk.reserved == 0, "PM-059", f"RESERVED is {chunk.reserved}", f"{path}.reserved")
        _require(chunk.codec in set(Codec), "PM-060", f"no codec {chunk.codec}", f"{path}.codec")
        strange = chunk.encodings & ~sum(EncodingBit)
        _require(not strange, "PM-061", f"encodings without a name: {strange:#x}", f"{path}.encodings")
        _statistics(source, block, position, column, end)


def _statistics(source: Source, block: Block, position: int, column: pm.ColumnDescriptor, end: int) -> None:
    bounds: list[bytes] = []
    for side in SIDES:
        chunk, path = block.chunks[position], f"blocks[{block.offset}].column_chunks[{position}].{side.field}"
        statistic = pm_block.find_statistic(block, position, side)
        size = side.size(chunk)
        if not chunk.stat_flags & side.inlined:
            _require(size == 0, "PM-065", f"a size of {size}, but an empty slot", path)
        if statistic is None:
            continue
        bound = _bound(source, block, position, side, statistic, end)
        width = _width(column)
        _require(
            width in (None, len(bound)),
            "PM-066" if statistic.inlined else "PM-070",
            f"{len(bound)} bytes, but a value has {width}",
            path,
            statistic.offset,
        )
        bounds.append(bound)
    if len(bounds) == 2:
        _require(
            _in_order(column, *bounds),
            "PM-072",
            f"MIN {bounds[0].hex()} is greater than MAX {bounds[1].hex()}",
            f"blocks[{block.offset}].column_chunks[{position}].{MIN.field}",
        )


def _bound(source: Source, block: Block, position: int, side: Side, statistic: Statistic, end: int) -> bytes:
    """The bytes of a statistic, after checking its place."""
    path = f"blocks[{block.offset}].column_chunks[{position}].{side.field}"
    bound = pm_block.read_statistic(source, block, position, side, end) or b""
    if statistic.inlined:
        _require(
            side.slot(block.chunks[position]) >> 8 * len(bound) == 0,
            "PM-067",
            "bytes behind the statistic are not 0",
            path,
        )
    else:
        _require(
            len(bound) > MOST_INLINE,
            "PM-068",
            f"{len(bound)} bytes are stored out of line",
            path,
            statistic.offset,
        )
    return bound


def _width(column: pm.ColumnDescriptor) -> int | None:
    """Bytes of each value of a column; ``None`` for byte arrays."""
    if column.physical_type == PhysicalType.FIXED_LEN_BYTE_ARRAY:
        return column.fixed_byte_len
    return WIDTHS.get(PhysicalType(column.physical_type))


def _in_order(column: pm.ColumnDescriptor, least: bytes, greatest: bytes) -> bool:
    """Whether the lower bound is not above the upper one, in at least one order that the writer may have used."""
    orders = [
        (first, second)
        for first, second in zip(_readings(column, least), _readings(column, greatest), strict=True)
        if not any(isinstance(one, float) and math.isnan(one) for one in (first, second))
    ]
    return column.physical_type == PhysicalType.INT96 or any(first <= second for first, second in orders)


def _readings(column: pm.ColumnDescriptor, raw: bytes) -> list[Any]:
    """A bound as Python values, in each possible order of its column."""
    tag = type_tag(column.type)
    if column.physical_type in PLAIN_FORMATS:
        code = PLAIN_FORMATS[PhysicalType(column.physical_type)]
        if column.physical_type not in INTEGERS:
            return list(struct.unpack(code, raw))
        codes = [code.upper()] if tag in UNSIGNED else [code]
        codes += [code.upper()] if tag in PERHAPS_UNSIGNED else []
        return [struct.unpack(one, raw)[0] for one in codes]
    signed = int.from_bytes(raw, "big", signed=True)
    if tag in DECIMALS:
        return [signed]
    return [raw, signed] if tag not in set(ColumnType) else [raw]


# --------------------------------------------------------------------------------------------- uses of blocks


def _ranges(linted: Linted, snapshot: Snapshot) -> None:
    """Check that the chunks of a snapshot are in the body of its Parquet file and do not overlap."""
    field, end = f"{snapshot.path}.row_group_entries", snapshot.fields.parquet_footer_offset
    ranges = sorted(
        (chunk.byte_range_start, chunk.byte_range_start + chunk.total_compressed)
        for offset in snapshot.blocks
        for chunk in linted.blocks[offset].chunks
    )
    for start, stop in ranges:
        _require(
            MAGIC_SIZE <= start <= stop <= end, "PM-062", f"a chunk at [{start}, {stop}), of {end}", field
        )
    for (start, stop), (after, _) in pairwise(ranges):
        _require(stop <= after, "PM-063", f"the chunk at {start} overlaps that at {after}", field)


def _times(source: Source, linted: Linted, snapshot: Snapshot) -> None:
    """Check that the row groups ascend by the designated timestamp."""
    position = linted.header.fixed.designated_timestamp
    if position == NO_COLUMN or linted.header.descriptors[position].physical_type not in INTEGERS:
        return
    last: int | None = None
    for offset in snapshot.blocks:
        block = linted.blocks[offset]
        bounds = [pm_block.read_statistic(source, block, position, side, snapshot.start) for side in SIDES]
        least, greatest = (
            None if bound is None else int.from_bytes(bound, "little", signed=True) for bound in bounds
        )
        ascends = last is None or least is None or last <= least
        words = f"a row group begins at {least}, after one that ends at {last}"
        _require(ascends, "PM-075", words, f"{snapshot.path}.row_group_entries", offset)
        last = greatest if greatest is not None else last


def _blooms(source: Source, linted: Linted, snapshot: Snapshot, following: Sequence[int]) -> None:
    """Check that bloom filters are at allowed places and do not overlap."""
    header = linted.header
    if not snapshot.bloom_count:
        return
    external = HeaderFeature.BLOOM_FILTERS_EXTERNAL in header.features
    width = len(header.bloom_columns)
    taken: list[tuple[int, int]] = []
    for number, entry in enumerate(pm_file.read_bloom_entries(source, header, snapshot)):
        path = f"{snapshot.path}.bloom_entries[{number}].offset"
        if entry == pm.NO_BLOOM:
            continue
        if external:
            end = entry.offset + entry.length
            inside = MAGIC_SIZE <= entry.offset < end <= snapshot.fields.parquet_footer_offset
            words = f"a bloom filter of {entry.length} bytes at {entry.offset} of the Parquet file"
            _require(inside and entry.length % BITSET_STEP == 0, "PM-079", words, path)
            continue
        block = linted.blocks[snapshot.blocks[number // width]]
        behind = following[bisect.bisect_right(following, block.offset)]
        start = _statistics_end(block)
        _require(start <= entry.offset < behind, "PM-076", f"a bloom filter at {entry.offset}", path)
        bitset = pm_block.read_inlined_bloom(source, entry.offset, behind)
        taken.append((entry.offset, entry.offset + pm.BLOOM_LENGTH_SIZE + len(bitset)))
    for (_, stop), (after, _) in pairwise(sorted(taken)):
        _require(
            stop <= after, "PM-078", "two bloom filters overlap", f"{snapshot.path}.bloom_entries", after
        )


def _statistics_end(block: Block) -> int:
    """Offset of the end of the block's out-of-line statistics."""
    found = [
        pm_block.find_statistic(block, position, side)
        for position in range(len(block.chunks))
        for side in SIDES
    ]
    ends = [one.offset + one.length for one in found if one is not None and not one.inlined]
    return max([block.region_start, *ends])
