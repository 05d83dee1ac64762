"""The header of ``_pm``: the committed size, the columns with their names, the sorting columns, the header's sections.

Errors name the broken rule; every range is checked against the committed size before it is read.

Source: "Parquet metadata file" (``parquet-metadata.md``), sections "File header" to "Names".
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from pqassay_spec.base.errors import Malformed, boundary
from pqassay_spec.base.sources import FileSource, Source
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.codes import REQUIRED_FEATURES, ColumnFlag, HeaderFeature

KNOWN_HEADER_FEATURES = sum(HeaderFeature)


@dataclass(frozen=True)
class Header:
    """The header of a file.

    Attributes:
        fixed: Its first 32 bytes.
        descriptors: The columns.
        sorting_columns: Positions of the descriptors that the rows are sorted by, as stored in the file.
        bloom_columns: Positions of the descriptors with bloom filters.
        squash_tracker: The extension of later revisions, if there is one.
        names_start: Offset after the sorting columns, where the names begin.
        sections_start: Offset after the names.
        end: Offset after the header.
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
        """The number of columns."""
        return self.fixed.column_count

    @property
    def block_size(self) -> int:
        """Bytes of a block before its out-of-line statistics."""
        return pm.BlockHeader.size + pm.ColumnChunk.size * self.column_count

    @property
    def sorted_by(self) -> list[tuple[int, bool]]:
        """The sorting of the rows: positions of descriptors, and whether descending."""
        if HeaderFeature.SORTING_IS_DTS_ASC in self.features:
            return [(self.fixed.designated_timestamp, False)]
        return [
            (index, bool(self.descriptors[index].flags & ColumnFlag.DESCENDING))
            for index in self.sorting_columns
            if index < self.column_count
        ]


def read_committed_size(source: Source) -> int:
    """The committed size of a file; bytes after it do not count.

    An update may happen after a local file was opened and measured, but before its header is read. That
    is not damage, so the file is measured once more.

    Raises:
        Malformed: Rule PM-001 (too short for a header), PM-002 (never committed, or more than there is).
    """
    with boundary(rule="PM-001", field="header", offset=0):
        fixed = pm.FixedHeader.read(source.read(0, pm.FixedHeader.size))
    size = fixed.parquet_meta_file_size
    if size > source.size and isinstance(source, FileSource):
        source.measure()
    if not pm.LEAST_FILE <= size <= source.size:
        stated = "nothing was ever committed" if size == 0 else f"{size} bytes are said to be committed"
        raise Malformed(
            f"{stated}, of {source.size} that there are",
            rule="PM-002",
            field="header.parquet_meta_file_size",
            offset=0,
            length=pm.CRC_START,
            expected=f"between {pm.LEAST_FILE} and {source.size}",
            actual=str(size),
        )
    return size


def read_header(source: Source, size: int) -> Header:
    """Read the header, given the committed size of any snapshot.

    Raises:
        Malformed: Rules PM-004 (a required feature that is unknown), PM-007 (bit 1 without bit 0), PM-008 (bit 2 without
            designated timestamp), PM-011 (the header does not fit), PM-040 and PM-041 (bloom columns).
    """
    with boundary(rule="PM-001", field="header", offset=0):
        fixed = pm.FixedHeader.read(source.read(0, pm.FixedHeader.size))
    _require_features(fixed)
    sorting_start = pm.FixedHeader.size + pm.ColumnDescriptor.size * fixed.column_count
    names_start = sorting_start + pm.SortingColumn.size * fixed.sorting_column_count
    room = size - pm.LEAST_FOOTER - pm.TRAILER_SIZE
    if names_start > room:
        offset, length = pm.FixedHeader.place("column_count")
        raise Malformed(
            f"{fixed.column_count} columns and {fixed.sorting_column_count} sorting columns take {names_start} bytes, "
            f"of {room} before the footer",
            rule="PM-011",
            field="header.column_count",
            offset=offset,
            length=length,
        )
    raw = source.read(pm.FixedHeader.size, names_start - pm.FixedHeader.size)
    descriptors = pm.ColumnDescriptor.read_many(raw, 0, fixed.column_count)
    sorting = read_u32s(raw, sorting_start - pm.FixedHeader.size, fixed.sorting_column_count)
    names = [(column.name_offset + column.name_length, index) for index, column in enumerate(descriptors)]
    sections_start, widest = max([*names, (names_start, -1)])
    if sections_start > room:
        raise Malformed(
            f"the name of column {widest} ends at {sections_start}, where there are {room} bytes before the footer",
            rule="PM-011",
            field=f"column_descriptors[{widest}].name_offset",
            offset=descriptor_place(widest, "name_offset"),
            length=pm.ColumnDescriptor.widths["name_offset"],
        )
    end = sections_start
    bloom_columns: Sequence[int] = ()
    if fixed.feature_flags & HeaderFeature.BLOOM_FILTERS:
        bloom_columns = _read_bloom_columns(source, end, room, fixed.column_count)
        end += pm.RowGroupEntry.size * (1 + len(bloom_columns))
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
    if unknown := flags & REQUIRED_FEATURES & ~KNOWN_HEADER_FEATURES:
        rule, reason = "PM-004", why_refused(unknown)
    elif flags & HeaderFeature.BLOOM_FILTERS_EXTERNAL and not flags & HeaderFeature.BLOOM_FILTERS:
        rule, reason = "PM-007", "bloom filters are external, and there are none: bit 1 without bit 0"
    elif flags & HeaderFeature.SORTING_IS_DTS_ASC and fixed.designated_timestamp < 0:
        rule, reason = "PM-008", "sorted by the designated timestamp, and there is none: bit 2"
    else:
        return
    offset, length = pm.FixedHeader.place("feature_flags")
    raise Malformed(
        reason, rule=rule, field="header.feature_flags", offset=offset, length=length, actual=f"{flags:#x}"
    )


def why_refused(unknown: int) -> str:
    """The message about unknown required bits, in the header or in a footer."""
    bits = ", ".join(str(bit) for bit in range(64) if unknown >> bit & 1)
    return (
        f"the file requires features that are unknown (bit {bits}): a reader has to refuse it; it is damaged, or of a "
        "later revision"
    )


def _read_bloom_columns(source: Source, start: int, room: int, column_count: int) -> Sequence[int]:
    path = "header_sections.bloom_filters"
    count = (
        read_u32s(source.read(start, pm.RowGroupEntry.size), 0, 1)[0]
        if start + pm.RowGroupEntry.size <= room
        else 0
    )
    if not 0 < count <= column_count or start + pm.RowGroupEntry.size * (1 + count) > room:
        raise Malformed(
            f"{count} columns with bloom filters, of {column_count}",
            rule="PM-040",
            field=f"{path}.bloom_col_count",
            offset=start,
            length=pm.RowGroupEntry.size,
        )
    columns = read_u32s(source.read(start + pm.RowGroupEntry.size, pm.RowGroupEntry.size * count), 0, count)
    for position, column in enumerate(columns):
        if column >= column_count:
            rule, why = "PM-040", f"of {column_count} columns"
        elif position and column <= columns[position - 1]:
            rule, why = "PM-041", f"behind {columns[position - 1]}"
        else:
            continue
        raise Malformed(
            f"column {column} at position {position} of those with bloom filters, {why}",
            rule=rule,
            field=f"{path}.bloom_filter_columns[{position}]",
            offset=start + pm.RowGroupEntry.size * (1 + position),
            length=pm.RowGroupEntry.size,
        )
    return columns


def descriptor_place(column: int, name: str) -> int:
    """Offset of a field of a column descriptor."""
    return pm.FixedHeader.size + column * pm.ColumnDescriptor.size + pm.ColumnDescriptor.offsets[name]


def read_name(source: Source, header: Header, column: int) -> str:
    """The name of a column.

    Raises:
        Malformed: Rules PM-021 (it lies outside the names) and PM-023 (it is not UTF-8).
    """
    described = header.descriptors[column]
    start, end = described.name_offset, described.name_offset + described.name_length
    if start < header.names_start or end > header.sections_start:
        raise Malformed(
            f"the name of column {column} is said to be at [{start}, {end})",
            rule="PM-021",
            field=f"column_descriptors[{column}].name_offset",
            offset=descriptor_place(column, "name_offset"),
            length=pm.ColumnDescriptor.widths["name_offset"],
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


def read_u32s(raw: bytes, offset: int, count: int) -> list[int]:
    """Parse ``count`` unsigned numbers of 4 bytes, as in lists and entries."""
    return list(struct.unpack_from(f"<{count}I", raw, offset))
