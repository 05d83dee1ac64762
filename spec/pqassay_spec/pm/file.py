"""The snapshots of ``_pm``: a footer, the chain of footers, the checksums.

Every range is checked against the committed size before it is read through a `Source`. The size of the file is
requested only once, to check that the committed bytes exist. Errors name the broken rule.

Source: "Parquet metadata file" (``parquet-metadata.md``), sections "Footer" and "Concurrent access".
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pqassay_spec.base.errors import FormatError, Malformed, boundary
from pqassay_spec.base.sources import BytesSource, Source
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import section as pm_sections
from pqassay_spec.pm.codes import REQUIRED_FEATURES, FooterFeature, HeaderFeature, block_offset
from pqassay_spec.pm.header import Header, read_u32s, why_refused

KNOWN_FOOTER_FEATURES = sum(FooterFeature)


@dataclass(frozen=True)
class Snapshot:
    """The footer of one snapshot.

    Attributes:
        number: 0 for the newest, 1 for the previous one, and so on; field paths contain it.
        size: Committed size when this was the newest.
        start: Offset of the footer.
        length: Bytes of the footer through its checksum, according to the trailer.
        fields: Its first 40 bytes.
        blocks: Offsets of the row groups' blocks in the file, according to the entries.
        bloom_start: Offset of the entries of bloom filters.
        bloom_count: How many of them there are: one for each row group and each column with bloom filters.
        sections: Extensions of later revisions, by name: their parsed value and their offset.
        sections_end: Offset of the end of all known sections; the bytes between it and the checksum are unknown.
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
        """Offset of the checksum, which is also the end of the bytes that it covers."""
        return self.start + self.length - pm.CHECKSUM_SIZE

    @property
    def entries_start(self) -> int:
        """Offset of the entries of the row groups."""
        return self.start + pm.FooterFields.size

    def place(self, name: str) -> tuple[int, int]:
        """Offset and length of one of the footer's fields."""
        return pm.FooterFields.place(name, self.start)


def read_snapshot(source: Source, header: Header, size: int, number: int = 0) -> Snapshot:
    """Read the footer of the snapshot that was committed with ``size`` bytes.

    Raises:
        Malformed: Rules PM-012 (the trailer leads nowhere), PM-014 (the row groups' entries do not fit), PM-015 (a required
            feature that is unknown), PM-013 (sections do not fit), PM-085 and PM-086 (extensions). For earlier snapshots,
            each of these errors is PM-020.
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
            f"a footer of {length} bytes, where there are {trailer - header.end} behind the header",
            rule="PM-012",
            field=f"{path}.footer_length",
            offset=trailer,
            length=pm.TRAILER_SIZE,
            expected=f"between {pm.LEAST_FOOTER} and {trailer - header.end}",
            actual=str(length),
        )
    raw = source.read(start, length)
    fields = pm.FooterFields.read(raw)
    known = KNOWN_FOOTER_FEATURES
    if not fields.footer_feature_flags & FooterFeature.COVERING_INDEX:
        # A flag's own complement lacks the unknown bits.
        known &= ~int(FooterFeature.COVERING_INDEX_REQUIRED)
    if unknown := fields.footer_feature_flags & REQUIRED_FEATURES & ~known:
        offset, width = pm.FooterFields.place("footer_feature_flags", start)
        raise Malformed(
            why_refused(unknown),
            rule="PM-015",
            field=f"{path}.footer.footer_feature_flags",
            offset=offset,
            length=width,
            actual=f"{fields.footer_feature_flags:#x}",
        )
    bloom_start = pm.FooterFields.size + pm.RowGroupEntry.size * fields.row_group_count
    if bloom_start > length - pm.CHECKSUM_SIZE:
        offset, width = pm.FooterFields.place("row_group_count", start)
        raise Malformed(
            f"{fields.row_group_count} row groups do not fit into a footer of {length} bytes",
            rule="PM-014",
            field=f"{path}.footer.row_group_count",
            offset=offset,
            length=width,
        )
    blocks = [block_offset(entry) for entry in read_u32s(raw, pm.FooterFields.size, fields.row_group_count)]
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
    sections: dict[str, tuple[Any, int]] = {}
    room = len(raw) - pm.CHECKSUM_SIZE
    for section in pm.FOOTER_SECTIONS:
        if flags & section.bit:
            rule = "PM-086" if section.bit is FooterFeature.COVERING_INDEX else "PM-085"
            # The limit is checked first: a count above it must not be used.
            part = raw[position:room]
            with boundary(rule=rule, field=f"{path}.{section.name}", offset=start + position):
                value, width = pm_sections.READERS[section.name](part)
            sections[section.name] = (value, start + position)
            position += width
    return sections, position


def bloom_entry_size(header: Header) -> int:
    """Bytes of one entry for a bloom filter in the footer."""
    external = HeaderFeature.BLOOM_FILTERS_EXTERNAL in header.features
    return pm.BloomEntry.size if external else pm.InlinedBloom.size


def read_bloom_entries(source: Source, header: Header, snapshot: Snapshot) -> list[pm.BloomEntry]:
    """The entries of bloom filters, row group by row group; their offsets are bytes of this file or of the Parquet file."""
    width = bloom_entry_size(header)
    raw = source.read(snapshot.bloom_start, width * snapshot.bloom_count)
    if HeaderFeature.BLOOM_FILTERS_EXTERNAL in header.features:
        return pm.BloomEntry.read_many(raw, 0, snapshot.bloom_count)
    return [pm.BloomEntry(block_offset(entry), 0) for entry in read_u32s(raw, 0, snapshot.bloom_count)]


def walk(source: Source, header: Header, size: int, number: int = 0) -> Iterator[Snapshot]:
    """The snapshots from the one with this committed size and number (0 is the newest) back to the first.

    The chain is finite: each snapshot was committed with fewer bytes than the next one.

    Raises:
        Malformed: Rules PM-019 (the size of the previous snapshot is not smaller, or too small for a file), and the rules of
            `read_snapshot`; earlier results stay valid.
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
        Malformed: The chain breaks before the snapshot is reached, see `walk`.
    """
    for snapshot in walk(source, header, size):
        if snapshot.fields.parquet_file_size == parquet_file_size:
            return snapshot
    return None


# --------------------------------------------------------------------------------------------------- checksums

CRC_STEP = 1 << 24
"""Bytes to read at once when a checksum is computed."""


def checksums(source: Source, snapshots: Sequence[Snapshot]) -> list[int]:
    """The right checksum of each snapshot, computed in one pass over the file.

    Each checksum covers all bytes after the committed size, including earlier footers: the pass continues where
    the previous snapshot ended.
    """
    by_end: dict[int, int] = {}
    position, crc = pm.CRC_START, 0
    for end in sorted({snapshot.checksum_offset for snapshot in snapshots}):
        while position < end:
            step = min(CRC_STEP, end - position)
            crc = zlib.crc32(_bytes(source, position, step), crc)
            position += step
        by_end[end] = crc
    return [by_end[snapshot.checksum_offset] for snapshot in snapshots]


def _bytes(source: Source, offset: int, length: int) -> bytes | memoryview:
    """A range of the committed bytes, not copied if it is in memory."""
    if isinstance(source, BytesSource):
        return source.view[offset : offset + length]
    return source.read(offset, length)
