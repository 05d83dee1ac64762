"""Reading a snapshot of ``_pm`` whole: what a file says, and what cannot be read."""

from __future__ import annotations

import zlib
from typing import Any

import pytest

from each import each
from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import header as pm_header
from pqassay_spec.pm.codes import HeaderFeature, StatFlag, reference, stat_sizes, stored_offset
from pqassay_spec.pm.reading import read_value
from pqassay_spec.pm.value import (
    ExternalBloom,
    SnapshotChunk,
    SnapshotColumn,
    SnapshotRowGroup,
    SnapshotValue,
)

LONG = bytes(range(12))
BITSET = b"\x55" * 32


def built(
    *,
    designated: int = -1,
    sorting: tuple[int, ...] = (),
    name: bytes = b"x",
    external: bool = False,
    blocks: int = 1,
    sizes: int = stat_sizes(2, 0),
    out_of_line: int = reference(0, 12),
    bloom: int | None = None,
) -> bytes:
    """A file of one column, whose blocks hold an inlined MIN, a MAX out of line and, in the first row group, a filter."""
    flags = HeaderFeature.BLOOM_FILTERS | HeaderFeature.BLOOM_FILTERS_EXTERNAL * external
    start = pm.FixedHeader.size + pm.ColumnDescriptor.size + pm.SortingColumn.size * len(sorting)
    head = pm.ColumnDescriptor(start, 7, 11, 0b0110, 0, len(name), 6, 0, 1, 0).build()
    head += b"".join(pm.SortingColumn(index).build() for index in sorting) + name
    head += pm.BLOOM_COLUMNS.build({"bloom_col_count": 1, "bloom_filter_columns": [0]})
    block = -(-(pm.FixedHeader.size + len(head)) // 8) * 8
    given = StatFlag.MIN_STAT_PRESENT | StatFlag.MIN_STAT_INLINED | StatFlag.MAX_STAT_PRESENT
    given |= StatFlag.MAX_STAT_VALUE_EXACT | StatFlag.NULL_COUNT_PRESENT
    chunk = pm.ColumnChunk(1, 2, given, sizes, 0, 9, 100, 50, 3, 0, 0x6261, out_of_line)
    body = pm.BlockHeader(8).build() + pm.ColumnChunk.build(chunk) + LONG
    place = -(-(block + len(body)) // 8) * 8
    body = body.ljust(place - block, b"\0") + pm.BLOOM_BITSET.build({"length": 32, "bitset": BITSET})
    footer_start = block + len(body)
    footer = pm.FooterFields(1000, 92, blocks, 5, 0, 0).build()
    footer += pm.RowGroupEntry(stored_offset(block)).build() * blocks
    if external:
        footer += pm.BloomEntry(200, 64).build()
    else:
        footer += pm.InlinedBloom(stored_offset(place) if bloom is None else bloom).build()
        footer += pm.InlinedBloom(0).build() * (blocks - 1)
    size = footer_start + len(footer) + pm.CHECKSUM_SIZE + pm.TRAILER_SIZE
    fixed = pm.FixedHeader(size, flags, designated, len(sorting), 1, 0).build()
    data = (fixed + head).ljust(block, b"\0") + body + footer
    data += pm.CHECKSUM.build({"checksum": zlib.crc32(data[pm.CRC_START :])})
    return data + pm.TRAILER.build({"footer_length": len(footer) + pm.CHECKSUM_SIZE})


def value_of(data: bytes) -> SnapshotValue:
    source = BytesSource(data)
    size = pm_header.read_committed_size(source)
    header = pm_header.read_header(source, size)
    return read_value(source, header, pm_file.read_snapshot(source, header, size))


CHUNK = SnapshotChunk(
    codec=1,
    encodings=2,
    num_values=9,
    offset=100,
    length=50,
    null_count=3,
    min=b"ab",
    max=LONG,
    max_exact=True,
    bloom=BITSET,
)
COLUMN = SnapshotColumn("x", 6, id=7, type=11, max_def_level=1, repetition=1, is_ascii=True)


def test_everything_that_a_snapshot_says_stands_in_its_value() -> None:
    assert SnapshotValue(
        (COLUMN,),
        (SnapshotRowGroup(8, (CHUNK,)),),
        1000,
        92,
        unused_bytes=5,
        designated_timestamp=-1,
        bloom_columns=(0,),
    ) == value_of(built())


def test_bloom_filters_in_the_parquet_file_are_ranges_and_absent_ones_are_none() -> None:
    assert ExternalBloom(200, 64) == value_of(built(external=True)).row_groups[0].chunks[0].bloom
    assert value_of(built(bloom=0)).row_groups[0].chunks[0].bloom is None


@each(
    ("changes", "rule"),
    [
        ({"designated": 1}, "PM-033"),
        ({"designated": -2}, "PM-033"),
        ({"sorting": (0, 3)}, "PM-037"),
        ({"name": b"\xff"}, "PM-023"),
        ({"sizes": stat_sizes(0, 0)}, "PM-065"),
        ({"sizes": stat_sizes(9, 0)}, "PM-065"),
        ({"out_of_line": reference(1 << 20, 12)}, "PM-069"),
        ({"out_of_line": 12 << 32}, "PM-069"),
        ({"bloom": 1 << 20}, "PM-076"),
        ({"bloom": 1}, "PM-077"),
    ],
)
def test_what_a_value_needs_and_cannot_be_read_is_raised_with_its_rule(
    changes: dict[str, Any], rule: str
) -> None:
    with pytest.raises(Malformed) as raised:
        value_of(built(**changes))
    assert (rule, True) == (raised.value.rule, raised.value.offset is not None)


def test_a_small_file_whose_entries_all_lead_to_one_block_does_not_fill_memory() -> None:
    with pytest.raises(Malformed, match="the contents of blocks overlap"):
        value_of(built(blocks=100_000))


def test_a_small_file_whose_columns_share_a_long_name_does_not_fill_memory() -> None:
    columns, length = 100, 5000
    start = pm.FixedHeader.size + columns * pm.ColumnDescriptor.size
    size = start + length + pm.LEAST_FOOTER + pm.TRAILER_SIZE
    data = pm.FixedHeader(size, 0, -1, 0, columns, 0).build()
    data += pm.ColumnDescriptor(start, -1, -1, 0, 0, length, 1, 0, 0, 0).build() * columns
    data += b"x" * length + bytes(pm.LEAST_FOOTER) + pm.TRAILER.build({"footer_length": pm.LEAST_FOOTER})
    with pytest.raises(Malformed) as caught:
        value_of(data)

    assert (caught.value.rule, caught.value.field) == ("PM-022", "names")
