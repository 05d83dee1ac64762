"""Logical values of ``_pm`` for tests: a small one by hand, and any by hypothesis."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from pqassay_spec.pm.codes import ColumnType, PhysicalType
from pqassay_spec.pm.value import (
    ExternalBloom,
    SnapshotChunk,
    SnapshotColumn,
    SnapshotRowGroup,
    SnapshotSorting,
    SnapshotValue,
)

MICROSECONDS = 1_000_000
TIMESTAMP = SnapshotColumn("ts", PhysicalType.INT64, 0, ColumnType.TIMESTAMP | 1 << 17)
NATION = SnapshotColumn(
    "größe", PhysicalType.BYTE_ARRAY, 1, ColumnType.VARCHAR, max_def_level=1, repetition=1
)
KEY = SnapshotColumn("key", PhysicalType.FIXED_LEN_BYTE_ARRAY, 2, ColumnType.UUID, 16, 0, 1, 1)
COLUMNS = (TIMESTAMP, NATION, KEY)


def time(seconds: int) -> bytes:
    """A timestamp, as Parquet has it."""
    return struct.pack("<q", seconds * MICROSECONDS)


def row_group(
    number: int, *, bloom: bytes | ExternalBloom | None = None, version: int = 0
) -> SnapshotRowGroup:
    """A row group that follows those of smaller numbers in time; ``version`` moves it in the Parquet file."""
    offset = 4 + 1000 * (number + 100 * version)
    return SnapshotRowGroup(
        10,
        (
            SnapshotChunk(
                0, 4, 10, offset, 100, 0, None, time(60 * number), time(60 * number + 59), True, True
            ),
            SnapshotChunk(1, 2, 10, offset + 100, 50, 3, 2, b"Chad", b"Peru and more", True, False, bloom),
            SnapshotChunk(6, 1, 10, offset + 150, 160),
        ),
    )


def snapshot(*groups: SnapshotRowGroup, footer: int = 10_000, **given: Any) -> SnapshotValue:
    """A snapshot of these row groups."""
    return replace(
        SnapshotValue(
            COLUMNS,
            groups,
            footer,
            500,
            designated_timestamp=0,
            sorting=(SnapshotSorting(0),),
            bloom_columns=(1,),
        ),
        **given,
    )


# ----------------------------------------------------------------------------------------------------- any value

u8, u32, u64 = (st.integers(0, (1 << bits) - 1) for bits in (8, 32, 64))
i32, i64 = (st.integers(-(1 << bits - 1), (1 << bits - 1) - 1) for bits in (32, 64))
bounds = st.none() | st.binary(min_size=1, max_size=20)
bitsets = st.integers(1, 3).flatmap(lambda blocks: st.binary(min_size=32 * blocks, max_size=32 * blocks))

columns = st.builds(
    SnapshotColumn,
    name=st.text(max_size=5),
    physical_type=st.integers(0, 7),
    id=i32,
    type=i32,
    fixed_byte_len=st.integers(0, 40),
    max_rep_level=u8,
    max_def_level=u8,
    repetition=st.integers(0, 2),
    is_ascii=st.booleans(),
    local_key_is_global=st.booleans(),
)


@st.composite
def chunks(draw: st.DrawFn, blooms: st.SearchStrategy[bytes | ExternalBloom | None]) -> SnapshotChunk:
    """Any chunk."""
    least, greatest = draw(bounds), draw(bounds)
    return SnapshotChunk(
        draw(u8),
        draw(u8),
        draw(u64),
        draw(u64),
        draw(u64),
        draw(st.none() | u64),
        draw(st.none() | u64),
        least,
        greatest,
        least is not None and draw(st.booleans()),
        greatest is not None and draw(st.booleans()),
        draw(blooms),
    )


@st.composite
def row_groups(draw: st.DrawFn, value: SnapshotValue) -> SnapshotRowGroup:
    """Any row group for the columns of a value."""
    external = st.builds(ExternalBloom, u64, st.integers(1, 9).map(lambda blocks: 32 * blocks))
    filters: st.SearchStrategy[bytes | ExternalBloom] = external if value.bloom_external else bitsets
    return SnapshotRowGroup(
        draw(u64),
        tuple(
            draw(chunks(st.none() | filters if position in value.bloom_columns else st.none()))
            for position in range(len(value.columns))
        ),
    )


@st.composite
def snapshots(draw: st.DrawFn) -> SnapshotValue:
    """Any snapshot that no other comes before."""
    found = tuple(draw(st.lists(columns, max_size=4)))
    positions = st.sampled_from(range(len(found))) if found else st.nothing()
    sorting = draw(st.lists(positions, max_size=2, unique=True)) if found else []
    blooms = tuple(sorted(draw(st.sets(positions)))) if found else ()
    value = SnapshotValue(
        columns=found,
        row_groups=(),
        parquet_footer_offset=draw(st.integers(0, 1 << 50)),
        parquet_footer_length=draw(u32),
        unused_bytes=draw(st.integers(0, 1 << 50)),
        designated_timestamp=draw(st.integers(-1, len(found) - 1)),
        sorting=tuple(SnapshotSorting(column, draw(st.booleans())) for column in sorting),
        bloom_columns=blooms,
        bloom_external=bool(blooms) and draw(st.booleans()),
        squash_tracker=draw(st.none() | i64.filter(lambda number: number != -1)),
        seq_txn=draw(st.none() | i64.filter(lambda number: number != -1)),
    )
    return replace(value, row_groups=tuple(draw(st.lists(row_groups(value), max_size=3))))


@st.composite
def next_snapshots(draw: st.DrawFn, value: SnapshotValue) -> SnapshotValue:
    """Any snapshot that may come behind another: row groups kept, replaced, moved, dropped and added."""
    kept = draw(st.permutations(value.row_groups)) if value.row_groups else []
    added = draw(st.lists(row_groups(value), max_size=2))
    return replace(
        value,
        row_groups=(*kept[: draw(st.integers(0, len(kept)))], *added),
        parquet_footer_offset=value.parquet_footer_offset + draw(st.integers(1, 1 << 40)),
        unused_bytes=value.unused_bytes + draw(st.integers(0, 1 << 20)),
        seq_txn=draw(st.none() | i64.filter(lambda number: number != -1)),
    )
