"""Values of the golden ``_pm`` files, made from literals, with byte ranges as in a Parquet file."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pqassay_golden.tiny.page_index import bitset_of
from pqassay_spec.parquet import bloom
from pqassay_spec.parquet.file import TAIL_SIZE
from pqassay_spec.pm.codes import (
    DESIGNATED_TYPE_BIT,
    Codec,
    ColumnType,
    EncodingBit,
    PhysicalType,
    Repetition,
)
from pqassay_spec.pm.value import (
    SnapshotChunk,
    SnapshotColumn,
    SnapshotRowGroup,
    SnapshotSorting,
    SnapshotValue,
)

FIRST_CHUNK = 4
"""Offset of the first chunk of a Parquet file."""

FOOTER_LENGTH = 600
"""Bytes of the described Parquet footers, which are never read."""

# ------------------------------------------------------------------------------------------- values as bytes

ENCODED: Mapping[int, Callable[[Any], bytes]] = {
    PhysicalType.BOOLEAN: lambda value: bytes((value,)),
    PhysicalType.INT32: lambda value: struct.pack("<i", value),
    PhysicalType.INT64: lambda value: struct.pack("<q", value),
    PhysicalType.INT96: bytes,
    PhysicalType.FLOAT: lambda value: struct.pack("<f", value),
    PhysicalType.DOUBLE: lambda value: struct.pack("<d", value),
    PhysicalType.BYTE_ARRAY: lambda value: value.encode() if isinstance(value, str) else bytes(value),
    PhysicalType.FIXED_LEN_BYTE_ARRAY: bytes,
}
"""Parquet's encoding of a value in statistics, by physical type."""


def required(name: str, physical: PhysicalType, type_code: int, number: int, **more: Any) -> SnapshotColumn:
    """A column without nulls."""
    return SnapshotColumn(name, physical, number, type_code, **more)


def optional(name: str, physical: PhysicalType, type_code: int, number: int, **more: Any) -> SnapshotColumn:
    """A column with nulls."""
    return SnapshotColumn(
        name, physical, number, type_code, max_def_level=1, repetition=Repetition.OPTIONAL, **more
    )


def chunk(column: SnapshotColumn, values: Sequence[Any], **more: Any) -> SnapshotChunk:
    """The chunk of a column with these values, without a place yet."""
    known = sorted(value for value in values if value is not None)
    encode = ENCODED[column.physical_type]
    facts: dict[str, Any] = {
        "codec": Codec.UNCOMPRESSED,
        "encodings": EncodingBit.PLAIN,
        "num_values": len(values),
        "offset": 0,
        "length": 20 + sum(len(encode(value)) for value in known),
        "null_count": len(values) - len(known),
    }
    if known:
        facts |= {"min": encode(known[0]), "max": encode(known[-1]), "min_exact": True, "max_exact": True}
    return SnapshotChunk(**{**facts, **more})


def row_group(
    columns: Sequence[SnapshotColumn], rows: Sequence[Sequence[Any]], **more: Any
) -> SnapshotRowGroup:
    """A row group with these rows. ``more`` has further members of chunks, by column name."""
    taken = [[row[number] for row in rows] for number in range(len(columns))]
    return SnapshotRowGroup(
        len(rows),
        tuple(
            chunk(column, values, **more.get(column.name, {}))
            for column, values in zip(columns, taken, strict=True)
        ),
    )


def bitset(column: SnapshotColumn, values: Sequence[Any], size: int = bloom.BLOCK_SIZE) -> bytes:
    """The bloom filter of these values."""
    encode = ENCODED[column.physical_type]
    return bitset_of([encode(value) for value in values if value is not None], size)


# --------------------------------------------------------------------------------------- places in a Parquet file


def placed(group: SnapshotRowGroup, start: int) -> SnapshotRowGroup:
    """The row group with its chunks one after the other."""
    chunks: list[SnapshotChunk] = []
    for one in group.chunks:
        chunks.append(replace(one, offset=start))
        start += one.length
    return replace(group, chunks=tuple(chunks))


def end_of(group: SnapshotRowGroup) -> int:
    """End of the last chunk of a row group."""
    return group.chunks[-1].offset + group.chunks[-1].length


def snapshot(
    columns: Sequence[SnapshotColumn], groups: Sequence[SnapshotRowGroup], **more: Any
) -> SnapshotValue:
    """The first snapshot of a file: the row groups from the start of the Parquet file on, then the footer."""
    position = FIRST_CHUNK
    laid: list[SnapshotRowGroup] = []
    for group in groups:
        laid.append(placed(group, position))
        position = end_of(laid[-1])
    return SnapshotValue(tuple(columns), tuple(laid), position, FOOTER_LENGTH, **more)


def size_of(value: SnapshotValue) -> int:
    """Bytes of the Parquet file that a snapshot describes."""
    return value.parquet_footer_offset + value.parquet_footer_length + TAIL_SIZE


def appended(before: SnapshotValue, group: SnapshotRowGroup) -> SnapshotValue:
    """The next snapshot: one more row group, after the previous footer, which is now unused."""
    new = placed(group, size_of(before))
    return _behind(before, (*before.row_groups, new), new, 0)


def replaced(before: SnapshotValue, number: int, group: SnapshotRowGroup) -> SnapshotValue:
    """The next snapshot: a row group is rewritten after the previous footer, and its old version is unused."""
    new, old = placed(group, size_of(before)), before.row_groups[number]
    groups = (*before.row_groups[:number], new, *before.row_groups[number + 1 :])
    return _behind(before, groups, new, end_of(old) - old.chunks[0].offset)


def _behind(
    before: SnapshotValue, groups: tuple[SnapshotRowGroup, ...], new: SnapshotRowGroup, dead: int
) -> SnapshotValue:
    dead += before.parquet_footer_length + TAIL_SIZE
    return replace(
        before,
        row_groups=groups,
        parquet_footer_offset=end_of(new),
        unused_bytes=before.unused_bytes + dead,
        previous_sizes=(size_of(before), *before.previous_sizes),
    )


# ------------------------------------------------------------------------------------------------- the values

DESIGNATED = ColumnType.TIMESTAMP | DESIGNATED_TYPE_BIT

TS = required("ts", PhysicalType.INT64, DESIGNATED, 0)
PRICE = optional("price", PhysicalType.DOUBLE, ColumnType.DOUBLE, 1)
VENUE = optional("venue", PhysicalType.BYTE_ARRAY, ColumnType.VARCHAR, 2, is_ascii=True)
ORDER = optional("order_id", PhysicalType.FIXED_LEN_BYTE_ARRAY, ColumnType.UUID, 3, fixed_byte_len=16)
TRADES = (TS, PRICE, VENUE, ORDER)
BY_TS = (SnapshotSorting(0),)

MIDNIGHT = 1_704_067_200_000_000
NOON = 1_704_110_400_000_000
"""2024-01-01T12:00:00Z in microseconds."""


def uuid(number: int) -> bytes:
    """Sixteen bytes in the order of the numbers."""
    return number.to_bytes(2, "big") + bytes(range(14))


MORNING = [
    (NOON, 1.5, "XETR", uuid(1)),
    (NOON + 1, None, "XNYS", uuid(9)),
    (NOON + 5, 2.25, None, None),
    (NOON + 5, -0.5, "XETR", uuid(4)),
]
AFTERNOON = [
    (NOON + 5, 7.75, "XLON", uuid(12)),
    (NOON + 60, None, None, uuid(11)),
    (NOON + 61, 8.0, "XTKS", None),
]
EVENING = [(NOON + 900, None, None, uuid(700)), (NOON + 901, None, None, uuid(3))]
MORNING_MENDED = [(NOON, 1.5, "XETR", uuid(1)), (NOON + 3, 99.0, "XNAS", uuid(2))]

PLAIN = snapshot(
    TRADES,
    [row_group(TRADES, MORNING), row_group(TRADES, AFTERNOON)],
    designated_timestamp=0,
    sorting=BY_TS,
)
"""Four columns, two row groups, sorted by the designated timestamp."""

THEN_APPENDED = appended(PLAIN, row_group(TRADES, EVENING))
THEN_REPLACED = replaced(THEN_APPENDED, 0, row_group(TRADES, MORNING_MENDED))
CHAIN = (PLAIN, THEN_APPENDED, THEN_REPLACED)
"""Three snapshots of a file: written, a row group appended, the first row group replaced."""
