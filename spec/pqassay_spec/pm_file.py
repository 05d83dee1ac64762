"""Reading ``_pm``: the header, the footer of a snapshot, the chain of footers, the blocks, the checksum.

Everything is read through a `Source` in ranges that were checked against the committed size first; the size of the file
itself is asked for at the beginning only, to know that the committed bytes are there. What is wrong is raised with its rule.

Source: "Parquet metadata file" (``parquet-metadata.md``).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pqassay_spec import pm, pm_sections
from pqassay_spec.bloom import BLOCK_SIZE as BITSET_STEP
from pqassay_spec.errors import FormatError, Malformed, boundary
from pqassay_spec.hexdump import show
from pqassay_spec.pm_codes import (
    REQUIRED_FEATURES,
    ColumnFlag,
    FooterFeature,
    HeaderFeature,
    StatFlag,
    block_offset,
    split_reference,
    split_sizes,
)
from pqassay_spec.sources import FileSource, Source

KNOWN_HEADER_FEATURES = sum(HeaderFeature)
KNOWN_FOOTER_FEATURES = sum(FooterFeature)


# ------------------------------------------------------------------------------------------------- the header


@dataclass(frozen=True)
class Header:
    """The header of a file.

    Attributes:
        fixed: Its first 32 bytes.
        descriptors: The columns.
        sorting_columns: Positions of the descriptors that the rows are sorted by, as the file holds them.
        bloom_columns: Positions of the descriptors with bloom filters.
        squash_tracker: The extension of later revisions, if there is one.
        names_start: Offset behind the sorting columns, where the names begin.
        sections_start: Offset behind the names.
        end: Offset behind the header.
    """

    fixed: pm.FixedHeader
    descriptors: Sequence[pm.ColumnDescriptor]
    sorting_columns: Sequence[int]
    bloom_columns: Sequence[int]
    squash_tracker: int | None
    names_start: int
    sections_start: int
    end: int

    @property
    def features(self) -> HeaderFeature:
        """The feature flags."""
        return HeaderFeature(self.fixed.feature_flags)

    @property
    def column_count(self) -> int:
        """Columns."""
        return self.fixed.column_count

    @property
    def block_size(self) -> int:
        """Bytes of a block up to its statistics that stand out of line."""
        return pm.BLOCK_HEADER_SIZE + pm.CHUNK_SIZE * self.column_count

    @property
    def sorted_by(self) -> list[tuple[int, bool]]:
        """What the rows are sorted by: positions of descriptors, and whether descending."""
        if HeaderFeature.SORTING_IS_DTS_ASC in self.features:
            return [(self.fixed.designated_timestamp, False)]
        return [
            (index, bool(self.descriptors[index].flags & ColumnFlag.DESCENDING))
            for index in self.sorting_columns
            if index < self.column_count
        ]


def read_committed_size(source: Source) -> int:
    """The committed size of a file; nothing behind it counts.

    An update between the moment at which a local file was opened, and its size known, and the one at which its header is read is
    no damage: the size is asked for once more.

    Raises:
        Malformed: Rule PM-001 (too short for a header), PM-002 (never committed, or more than there is).
    """
    with boundary(rule="PM-001", field="header", offset=0):
        fixed = pm.HEADER_RECORD.read(source.read(0, pm.HEADER_SIZE))
    size = fixed.parquet_meta_file_size
    if size > source.size and isinstance(source, FileSource):
        source.measure()
    if not pm.LEAST_FILE <= size <= source.size:
        said = "nothing was ever committed" if size == 0 else f"{size} bytes are said to be committed"
        raise Malformed(
            f"{said}, of {source.size} that there are",
            rule="PM-002",
            field="header.parquet_meta_file_size",
            offset=0,
            length=pm.CRC_START,
            expected=f"between {pm.LEAST_FILE} and {source.size}",
            actual=str(size),
        )
    return size


def read_header(source: Source, size: int) -> Header:
    """Read the header.

    Args:
        source: The file.
        size: The committed size of any snapshot.

    Raises:
        Malformed: Rules PM-004 (a required feature that is unknown), PM-007 (bit 1 without bit 0), PM-008 (bit 2 without
            designated timestamp), PM-011 (the header does not fit), PM-040 and PM-041 (bloom columns).
    """
    with boundary(rule="PM-001", field="header", offset=0):
        fixed = pm.HEADER_RECORD.read(source.read(0, pm.HEADER_SIZE))
    _require_features(fixed)
    sorting_start = pm.HEADER_SIZE + pm.DESCRIPTOR_SIZE * fixed.column_count
    names_start = sorting_start + pm.SORTING_COLUMN_SIZE * fixed.sorting_column_count
    room = size - pm.LEAST_FOOTER - pm.TRAILER_SIZE
    if names_start > room:
        raise Malformed(
            f"{fixed.column_count} columns and {fixed.sorting_column_count} sorting columns take {names_start} bytes, "
            f"of {room} before the footer",
            rule="PM-011",
            field="header.column_count",
            offset=pm.HEADER_RECORD.offsets["column_count"],
            length=pm.HEADER_RECORD.widths["column_count"],
        )
    raw = source.read(pm.HEADER_SIZE, names_start - pm.HEADER_SIZE)
    descriptors = pm.DESCRIPTOR_RECORD.read_many(raw, 0, fixed.column_count)
    sorting = _u32s(raw, sorting_start - pm.HEADER_SIZE, fixed.sorting_column_count)
    names = [(column.name_offset + column.name_length, index) for index, column in enumerate(descriptors)]
    sections_start, widest = max([*names, (names_start, -1)])
    if sections_start > room:
        raise Malformed(
            f"the name of column {widest} ends at {sections_start}, where {room} bytes stand before the footer",
            rule="PM-011",
            field=f"column_descriptors[{widest}].name_offset",
            offset=descriptor_place(widest, "name_offset"),
            length=pm.DESCRIPTOR_RECORD.widths["name_offset"],
        )
    end = sections_start
    bloom_columns: Sequence[int] = ()
    if fixed.feature_flags & HeaderFeature.BLOOM_FILTERS:
        bloom_columns = _read_bloom_columns(source, end, room, fixed.column_count)
        end += pm.ENTRY_SIZE * (1 + len(bloom_columns))
    squash = None
    if fixed.feature_flags & HeaderFeature.SQUASH_TRACKER:
        with boundary(rule="PM-011", field="header_sections.squash_tracker", offset=end):
            width = pm.SQUASH_TRACKER.sizeof()
            if end + width > room:
                raise Malformed("the section does not fit before the footer")
            squash = int(pm.SQUASH_TRACKER.parse(source.read(end, width)).squash_tracker)
            end += width
    return Header(fixed, descriptors, sorting, bloom_columns, squash, names_start, sections_start, end)


def _require_features(fixed: pm.FixedHeader) -> None:
    flags = fixed.feature_flags
    place: dict[str, Any] = {
        "field": "header.feature_flags",
        "offset": pm.HEADER_RECORD.offsets["feature_flags"],
        "length": pm.HEADER_RECORD.widths["feature_flags"],
        "actual": f"{flags:#x}",
    }
    if unknown := flags & REQUIRED_FEATURES & ~KNOWN_HEADER_FEATURES:
        raise Malformed(_refused(unknown), rule="PM-004", **place)
    if flags & HeaderFeature.BLOOM_FILTERS_EXTERNAL and not flags & HeaderFeature.BLOOM_FILTERS:
        raise Malformed(
            "bloom filters are external, and there are none: bit 1 without bit 0", rule="PM-007", **place
        )
    if flags & HeaderFeature.SORTING_IS_DTS_ASC and fixed.designated_timestamp < 0:
        raise Malformed(
            "sorted by the designated timestamp, and there is none: bit 2", rule="PM-008", **place
        )


def _refused(unknown: int) -> str:
    bits = ", ".join(str(bit) for bit in range(64) if unknown >> bit & 1)
    return (
        f"the file requires features that are unknown (bit {bits}): a reader has to refuse it; it is damaged, or of a "
        "later revision"
    )


def _read_bloom_columns(source: Source, start: int, room: int, column_count: int) -> Sequence[int]:
    path = "header_sections.bloom_filters"
    count = _u32s(source.read(start, pm.ENTRY_SIZE), 0, 1)[0] if start + pm.ENTRY_SIZE <= room else 0
    if not 0 < count <= column_count or start + pm.ENTRY_SIZE * (1 + count) > room:
        raise Malformed(
            f"{count} columns with bloom filters, of {column_count}",
            rule="PM-040",
            field=f"{path}.bloom_col_count",
            offset=start,
            length=pm.ENTRY_SIZE,
        )
    columns = _u32s(source.read(start + pm.ENTRY_SIZE, pm.ENTRY_SIZE * count), 0, count)
    for position, column in enumerate(columns):
        wrong = "PM-040" if column >= column_count else ""
        if position and column <= columns[position - 1]:
            wrong = wrong or "PM-041"
        if wrong:
            raise Malformed(
                f"column {column} at position {position} of those with bloom filters"
                + (
                    f", of {column_count} columns"
                    if wrong == "PM-040"
                    else f", behind {columns[position - 1]}"
                ),
                rule=wrong,
                field=f"{path}.bloom_filter_columns[{position}]",
                offset=start + pm.ENTRY_SIZE * (1 + position),
                length=pm.ENTRY_SIZE,
            )
    return columns


def descriptor_place(column: int, name: str) -> int:
    """Offset of a field of a column descriptor."""
    return pm.HEADER_SIZE + column * pm.DESCRIPTOR_SIZE + pm.DESCRIPTOR_RECORD.offsets[name]


def read_name(source: Source, header: Header, column: int) -> str:
    """The name of a column.

    Raises:
        Malformed: Rules PM-021 (it lies outside the names) and PM-023 (it is not UTF-8).
    """
    described = header.descriptors[column]
    start, end = described.name_offset, described.name_offset + described.name_length
    field = f"column_descriptors[{column}].name_offset"
    if start < header.names_start or end > header.sections_start:
        raise Malformed(
            f"the name of column {column} is said to stand at [{start}, {end})",
            rule="PM-021",
            field=field,
            offset=descriptor_place(column, "name_offset"),
            length=pm.DESCRIPTOR_RECORD.widths["name_offset"],
            expected=f"within [{header.names_start}, {header.sections_start})",
            actual=f"[{start}, {end})",
        )
    raw = source.read(start, end - start)
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise Malformed(
            f"the name of column {column} is not UTF-8",
            rule="PM-023",
            field=f"names[{column}]",
            offset=start + error.start,
            length=error.end - error.start,
            expected="UTF-8",
            actual=show(raw[error.start :]),
        ) from None


# ----------------------------------------------------------------------------------------------- the snapshots


@dataclass(frozen=True)
class Snapshot:
    """The footer of one snapshot.

    Attributes:
        number: 0 for the newest, 1 for the one before, and so on; it stands in field paths.
        size: Committed size when this was the newest.
        start: Offset of the footer.
        length: Bytes of the footer through its checksum, as the trailer says.
        fields: Its first 40 bytes.
        blocks: Offsets of the row groups' blocks in the file, as the entries say.
        bloom_start: Offset of the entries of bloom filters.
        bloom_count: How many of them there are: one for each row group and each column with bloom filters.
        sections: Extensions of later revisions, by name: their parsed value and their offset.
        sections_end: Offset behind all sections that are known; behind it, up to the checksum, nobody knows.
        checksum: The stored checksum.
    """

    number: int
    size: int
    start: int
    length: int
    fields: pm.FooterFields
    blocks: Sequence[int]
    bloom_start: int
    bloom_count: int
    sections: dict[str, tuple[Any, int]]
    sections_end: int
    checksum: int

    @property
    def path(self) -> str:
        """Field path of the snapshot."""
        return f"snapshots[{self.number}]"

    @property
    def checksum_offset(self) -> int:
        """Where the checksum stands, and where the bytes that it covers end."""
        return self.start + self.length - pm.CHECKSUM_SIZE

    @property
    def entries_start(self) -> int:
        """Where the entries of the row groups stand."""
        return self.start + pm.FOOTER_FIELDS_SIZE

    def place(self, name: str) -> tuple[int, int]:
        """Offset and length of one of the footer's fields."""
        return self.start + pm.FOOTER_RECORD.offsets[name], pm.FOOTER_RECORD.widths[name]


def read_snapshot(source: Source, header: Header, size: int, number: int = 0) -> Snapshot:
    """Read the footer of the snapshot that was committed with ``size`` bytes.

    Raises:
        Malformed: Rules PM-012 (the trailer leads nowhere), PM-014 (the row groups' entries do not fit), PM-015 (a required
            feature that is unknown), PM-013 (sections do not fit), PM-085 and PM-086 (extensions). For earlier snapshots it is
            PM-020 instead of any of them.
    """
    try:
        return _read_snapshot(source, header, size, number)
    except FormatError as error:
        if number:
            error.rule = "PM-020"
        raise


def _read_snapshot(source: Source, header: Header, size: int, number: int) -> Snapshot:
    path, trailer = f"snapshots[{number}]", size - pm.TRAILER_SIZE
    with boundary(rule="PM-012", field=f"{path}.footer_length", offset=trailer):
        length = int(pm.TRAILER.parse(source.read(trailer, pm.TRAILER_SIZE)).footer_length)
    start = trailer - length
    if length < pm.LEAST_FOOTER or start < header.end:
        raise Malformed(
            f"a footer of {length} bytes, where {trailer - header.end} stand behind the header",
            rule="PM-012",
            field=f"{path}.footer_length",
            offset=trailer,
            length=pm.TRAILER_SIZE,
            expected=f"between {pm.LEAST_FOOTER} and {trailer - header.end}",
            actual=str(length),
        )
    raw = source.read(start, length)
    fields = pm.FOOTER_RECORD.read(raw)
    known = KNOWN_FOOTER_FEATURES
    if not fields.footer_feature_flags & FooterFeature.COVERING_INDEX:
        known &= ~int(
            FooterFeature.COVERING_INDEX_REQUIRED
        )  # a flag's own complement is short of unknown bits
    if unknown := fields.footer_feature_flags & REQUIRED_FEATURES & ~known:
        name = "footer_feature_flags"
        raise Malformed(
            _refused(unknown),
            rule="PM-015",
            field=f"{path}.footer.{name}",
            offset=start + pm.FOOTER_RECORD.offsets[name],
            length=pm.FOOTER_RECORD.widths[name],
            actual=f"{fields.footer_feature_flags:#x}",
        )
    bloom_start = pm.FOOTER_FIELDS_SIZE + pm.ENTRY_SIZE * fields.row_group_count
    if bloom_start > length - pm.CHECKSUM_SIZE:
        name = "row_group_count"
        raise Malformed(
            f"{fields.row_group_count} row groups do not fit into a footer of {length} bytes",
            rule="PM-014",
            field=f"{path}.footer.{name}",
            offset=start + pm.FOOTER_RECORD.offsets[name],
            length=pm.FOOTER_RECORD.widths[name],
        )
    blocks = [block_offset(entry) for entry in _u32s(raw, pm.FOOTER_FIELDS_SIZE, fields.row_group_count)]
    bloom_count = fields.row_group_count * len(header.bloom_columns)
    end = bloom_start + bloom_count * bloom_entry_size(header)
    if end > length - pm.CHECKSUM_SIZE:
        raise Malformed(
            f"{bloom_count} entries of bloom filters do not fit into a footer of {length} bytes",
            rule="PM-013",
            field=f"{path}.footer_length",
            offset=trailer,
            length=pm.TRAILER_SIZE,
        )
    sections, end = _read_sections(raw, fields.footer_feature_flags, end, path, start)
    checksum = int(pm.CHECKSUM.parse(raw[length - pm.CHECKSUM_SIZE :]).checksum)
    return Snapshot(
        number,
        size,
        start,
        length,
        fields,
        blocks,
        start + bloom_start,
        bloom_count,
        sections,
        start + end,
        checksum,
    )


def _read_sections(
    raw: bytes, flags: int, position: int, path: str, start: int
) -> tuple[dict[str, tuple[Any, int]], int]:
    found: dict[str, tuple[Any, int]] = {}
    room = len(raw) - pm.CHECKSUM_SIZE
    for section in pm.FOOTER_SECTIONS:
        if flags & section.bit:
            rule = "PM-086" if section.bit is FooterFeature.COVERING_INDEX else "PM-085"
            # The limit comes first: a count that is too great must not be believed.
            part = raw[position:room]
            with boundary(rule=rule, field=f"{path}.{section.name}", offset=start + position):
                value, width = pm_sections.READERS[section.name](part)
            found[section.name] = (value, start + position)
            position += width
    return found, position


def bloom_entry_size(header: Header) -> int:
    """Bytes of an entry of the footer's matrix of bloom filters."""
    external = HeaderFeature.BLOOM_FILTERS_EXTERNAL in header.features
    return pm.EXTERNAL_BLOOM_SIZE if external else pm.INLINED_BLOOM_SIZE


def read_bloom_entries(source: Source, header: Header, snapshot: Snapshot) -> list[pm.BloomEntry]:
    """The entries of bloom filters, row group by row group; offsets in bytes, of this file or of the Parquet file."""
    width = bloom_entry_size(header)
    raw = source.read(snapshot.bloom_start, width * snapshot.bloom_count)
    if HeaderFeature.BLOOM_FILTERS_EXTERNAL in header.features:
        return pm.EXTERNAL_BLOOM_RECORD.read_many(raw, 0, snapshot.bloom_count)
    return [pm.BloomEntry(block_offset(entry), 0) for entry in _u32s(raw, 0, snapshot.bloom_count)]


def walk(source: Source, header: Header, size: int, number: int = 0) -> Iterator[Snapshot]:
    """The snapshots from the newest back to the first. It ends: each was committed with fewer bytes than the one after.

    Args:
        source: The file.
        header: Its header.
        size: The committed size of the snapshot to begin with.
        number: That snapshot's number, 0 for the newest.

    Raises:
        Malformed: Rules PM-019 (the size of the one before is not smaller, or too small for a file), and those of
            `read_snapshot`; what was yielded before stays good.
    """
    while True:
        snapshot = read_snapshot(source, header, size, number)
        yield snapshot
        before = snapshot.fields.prev_parquet_meta_file_size
        if before == 0:
            return
        if not header.end + pm.LEAST_FOOTER + pm.TRAILER_SIZE <= before <= snapshot.start:
            offset, length = snapshot.place("prev_parquet_meta_file_size")
            raise Malformed(
                f"the snapshot before is said to have been committed with {before} bytes",
                rule="PM-019",
                field=f"{snapshot.path}.footer.prev_parquet_meta_file_size",
                offset=offset,
                length=length,
                expected=f"0, or between {header.end + pm.LEAST_FOOTER + pm.TRAILER_SIZE} and {snapshot.start}",
                actual=str(before),
            )
        size, number = before, number + 1


def find_snapshot(source: Source, header: Header, size: int, parquet_file_size: int) -> Snapshot | None:
    """The newest snapshot that describes a Parquet file of a given size; ``None`` if there is none.

    Raises:
        Malformed: The chain breaks before one is found, see `walk`.
    """
    for snapshot in walk(source, header, size):
        if snapshot.fields.parquet_file_size == parquet_file_size:
            return snapshot
    return None


# --------------------------------------------------------------------------------------------------- checksums

CRC_STEP = 1 << 24
"""Bytes that are read at once to compute a checksum."""


def checksums(source: Source, snapshots: Sequence[Snapshot]) -> list[int]:
    """The checksum that each of the snapshots should hold, in one pass over the file.

    Each covers all bytes from behind the committed size, those of earlier footers included: the pass goes on where
    the snapshot before ended.
    """
    found: dict[int, int] = {}
    position, crc = pm.CRC_START, 0
    for end in sorted({snapshot.checksum_offset for snapshot in snapshots}):
        while position < end:
            step = min(CRC_STEP, end - position)
            crc = zlib.crc32(source.read(position, step), crc)
            position += step
        found[end] = crc
    return [found[snapshot.checksum_offset] for snapshot in snapshots]


# ------------------------------------------------------------------------------------------------------ blocks


class Block(NamedTuple):
    """A row group's block: its offset, its rows, and its column chunks."""

    offset: int
    num_rows: int
    chunks: Sequence[pm.ColumnChunk]

    @property
    def region_start(self) -> int:
        """Where the statistics that stand out of line begin."""
        return self.offset + pm.BLOCK_HEADER_SIZE + pm.CHUNK_SIZE * len(self.chunks)


def read_block(source: Source, header: Header, offset: int, end: int) -> Block:
    """Read a block.

    Args:
        source: The file.
        header: Its header.
        offset: Where the block starts.
        end: Where the footer of the snapshot starts; nothing of the block stands behind.

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
    (rows,) = struct.unpack_from("<Q", raw)
    return Block(offset, rows, pm.CHUNK_RECORD.read_many(raw, pm.BLOCK_HEADER_SIZE, header.column_count))


class Statistic(NamedTuple):
    """Where a statistic stands, and whether it is exact. ``inlined`` ones stand in the chunk's slot."""

    offset: int
    length: int
    inlined: bool
    exact: bool


MIN, MAX = "min_stat", "max_stat"


def find_statistic(block: Block, column: int, side: str) -> Statistic | None:
    """Where a chunk's statistic stands, ``MIN`` or ``MAX``; ``None`` if there is none. Nothing is checked."""
    chunk = block.chunks[column]
    present, inlined, exact = _SIDES[side]
    if not chunk.stat_flags & present:
        return None
    is_exact = bool(chunk.stat_flags & exact)
    if chunk.stat_flags & inlined:
        place = block.offset + pm.BLOCK_HEADER_SIZE + column * pm.CHUNK_SIZE + pm.CHUNK_RECORD.offsets[side]
        return Statistic(place, split_sizes(chunk.stat_sizes)[side == MAX], True, is_exact)
    offset, length = split_reference(chunk.max_stat if side == MAX else chunk.min_stat)
    return Statistic(block.region_start + offset, length, False, is_exact)


_SIDES = {
    side: tuple(map(int, flags))  # plain numbers are many times faster than flags with names
    for side, flags in {
        MIN: (StatFlag.MIN_STAT_PRESENT, StatFlag.MIN_STAT_INLINED, StatFlag.MIN_STAT_VALUE_EXACT),
        MAX: (StatFlag.MAX_STAT_PRESENT, StatFlag.MAX_STAT_INLINED, StatFlag.MAX_STAT_VALUE_EXACT),
    }.items()
}


def read_statistic(source: Source, block: Block, column: int, side: str, end: int) -> bytes | None:
    """The bytes of a chunk's statistic, in Parquet's encoding; ``None`` if there is none.

    Raises:
        Malformed: Rules PM-065 (the size of an inlined one is not 1 to 8), PM-069 (it lies outside the block's region).
    """
    found = find_statistic(block, column, side)
    if found is None:
        return None
    if found.inlined:
        if not 0 < found.length <= pm.CHUNK_RECORD.widths[side]:
            raise Malformed(
                f"a statistic of {found.length} bytes in its slot", rule="PM-065", offset=found.offset
            )
        slot = block.chunks[column].max_stat if side == MAX else block.chunks[column].min_stat
        return slot.to_bytes(pm.CHUNK_RECORD.widths[side], "little")[: found.length]
    if found.offset + found.length > end:
        raise Malformed(
            f"a statistic at [{found.offset}, {found.offset + found.length}), where {end} bytes may be read",
            rule="PM-069",
            offset=min(found.offset, end),
        )
    return source.read(found.offset, found.length)


def read_inlined_bloom(source: Source, offset: int, end: int) -> bytes:
    """The bitset of a bloom filter that stands in this file.

    Args:
        source: The file.
        offset: What the footer's entry says, in bytes.
        end: Where the snapshot's footer starts.

    Raises:
        Malformed: Rules PM-076 (it does not fit), PM-077 (its length is no multiple of a block's).
    """
    if offset + pm.BLOOM_LENGTH_SIZE > end:
        raise Malformed(f"a bloom filter at {offset}, behind {end}", rule="PM-076", offset=offset)
    length = int(pm.BLOOM_LENGTH.parse(source.read(offset, pm.BLOOM_LENGTH_SIZE)).length)
    start = offset + pm.BLOOM_LENGTH_SIZE
    if length <= 0 or length % BITSET_STEP:
        raise Malformed(
            f"a bitset of {length} bytes is no number of blocks of {BITSET_STEP}",
            rule="PM-077",
            offset=offset,
            length=pm.BLOOM_LENGTH_SIZE,
        )
    if start + length > end:
        raise Malformed(
            f"a bloom filter of {length} bytes, where {end - start} stand before the footer",
            rule="PM-076",
            offset=offset,
            length=pm.BLOOM_LENGTH_SIZE,
        )
    return source.read(start, length)


def _u32s(raw: bytes, offset: int, count: int) -> list[int]:
    """So many of the 4-byte numbers of which lists and entries consist."""
    return list(struct.unpack_from(f"<{count}I", raw, offset))
