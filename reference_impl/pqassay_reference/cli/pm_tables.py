"""Tables about a ``_pm`` for people: of a snapshot, of the chain of snapshots, of a plan.

A table is text; `pqassay_reference.cli.tables` prints it in a form that depends on the output.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pqassay_reference.cli.tables import PrintedTable, counted
from pqassay_reference.errors import Refused
from pqassay_reference.pm.column_values import shown_value
from pqassay_reference.pm.read import PmReader
from pqassay_spec.base.errors import FormatError
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm.codes import (
    Codec,
    ColumnFlag,
    EncodingBit,
    FooterFeature,
    HeaderFeature,
    PhysicalType,
    repetition_name,
)
from pqassay_spec.pm.types import described_type
from pqassay_spec.pm.value import ExternalBloom, SnapshotChunk, SnapshotColumn, SnapshotValue

MOST_CHUNKS = 1000
"""Column chunks that are shown by default."""


# ------------------------------------------------------------------------------------------------------ a snapshot


def snapshot_lines(reader: PmReader, file_size: int) -> Iterator[str]:
    """The header and the footer, in sentences.

    Args:
        reader: The snapshot.
        file_size: Bytes of the file, including uncommitted ones.
    """
    fields, header = reader.footer.fields, reader.header
    committed = counted(reader.size, "committed byte")
    behind = file_size - reader.size
    yield committed + (f", {behind} behind them that do not count" if behind else "")
    yield (
        f"describes a Parquet file of {counted(fields.parquet_file_size, 'byte')}, "
        f"its footer at {fields.parquet_footer_offset}, {fields.parquet_footer_length} bytes long"
    )
    if fields.unused_bytes:
        yield f"{counted(fields.unused_bytes, 'byte')} of it unused since it was updated"
    columns, row_groups = counted(header.column_count, "column"), counted(reader.row_group_count, "row group")
    yield f"{columns}, {row_groups}"
    names = [column.name for column in reader.columns]
    designated = header.fixed.designated_timestamp
    if 0 <= designated < len(names):
        yield f"designated timestamp: {names[designated]}"
    sorting = [
        f"{names[by]}{' descending' if descending else ''}"
        for by, descending in header.sorted_by
        if 0 <= by < len(names)
    ]
    yield f"rows sorted by: {', '.join(sorting)}" if sorting else "rows not sorted"
    if header.bloom_columns:
        where = (
            "in the Parquet file" if HeaderFeature.BLOOM_FILTERS_EXTERNAL in header.features else "inlined"
        )
        yield f"bloom filters ({where}): {', '.join(names[by] for by in header.bloom_columns)}"
    flags = _names(header.fixed.feature_flags, HeaderFeature)
    flags += _names(fields.footer_feature_flags, FooterFeature)
    yield f"feature flags: {', '.join(flags) or 'none'}"


def _names(bits: int, names: type[HeaderFeature | FooterFeature]) -> list[str]:
    known = [flag for flag in names if bits & flag]
    rest = bits & ~sum(known)
    return [flag.name or "" for flag in known] + ([f"{rest:#x} (unknown)"] if rest else [])


def column_table(value: SnapshotValue) -> PrintedTable:
    """The table of the columns."""
    rows = [
        [
            index,
            column.name,
            described_type(column.type),
            _physical(column),
            repetition_name(column.repetition).lower(),
            f"{column.max_def_level}/{column.max_rep_level}",
            column.id if column.id >= 0 else "-",
            ", ".join(_column_flags(column)),
        ]
        for index, column in enumerate(value.columns)
    ]
    headings = ("#", "column", "type", "in Parquet", "repetition", "def/rep", "id", "flags")
    return PrintedTable("Columns", headings, rows, right=frozenset((0, 6)))


def _physical(column: SnapshotColumn) -> str:
    names = {member.value: member.name for member in PhysicalType}
    name = names.get(column.physical_type, f"unknown {column.physical_type}")
    return f"{name}({column.fixed_byte_len})" if column.fixed_byte_len else name


def _column_flags(column: SnapshotColumn) -> Iterator[str]:
    if column.is_ascii:
        yield str(ColumnFlag.IS_ASCII.name)
    if column.local_key_is_global:
        yield str(ColumnFlag.LOCAL_KEY_IS_GLOBAL.name)


def chunk_tables(
    value: SnapshotValue, row_groups: Sequence[int], columns: Sequence[int]
) -> Iterator[PrintedTable]:
    """The column chunks, a table for each row group.

    Args:
        value: The snapshot.
        row_groups: Positions of the row groups.
        columns: Positions of the columns.

    Raises:
        Refused: There is no such row group.
    """
    for number in row_groups:
        if not 0 <= number < len(value.row_groups):
            raise Refused(f"there is no row group {number}, of {len(value.row_groups)}")
        group = value.row_groups[number]
        rows = [_chunk_row(value.columns[index], group.chunks[index]) for index in columns]
        title = f"Row group {number}: {counted(group.num_rows, 'row')}"
        yield PrintedTable(title, _CHUNK_HEADINGS, rows, right=frozenset((3, 4, 5, 6, 7)))


_CHUNK_HEADINGS = (
    *("column", "codec", "encodings", "values", "nulls", "distinct", "offset", "length"),
    *("bloom filter", "min", "max"),
)


def _chunk_row(column: SnapshotColumn, chunk: SnapshotChunk) -> list[object]:
    return [
        column.name,
        {member.value: member.name for member in Codec}.get(chunk.codec, f"unknown {chunk.codec}"),
        ", ".join(bit.name or "" for bit in EncodingBit if chunk.encodings & bit) or "-",
        chunk.num_values,
        "-" if chunk.null_count is None else chunk.null_count,
        "-" if chunk.distinct_count is None else chunk.distinct_count,
        chunk.offset,
        chunk.length,
        _bloom(chunk.bloom),
        _bound(chunk.min, column, "" if chunk.min_exact else "≥ "),
        _bound(chunk.max, column, "" if chunk.max_exact else "≤ "),
    ]


def _bound(raw: bytes | None, column: SnapshotColumn, sign: str) -> str:
    return "-" if raw is None else sign + shown_value(raw, column)


def _bloom(bloom: bytes | ExternalBloom | None) -> str:
    if bloom is None:
        return "-"
    return f"{bloom.length} at {bloom.offset}" if isinstance(bloom, ExternalBloom) else str(len(bloom))


# ------------------------------------------------------------------------------------------------------- the chain


class ChainLink(NamedTuple):
    """A snapshot of the chain, and whether its checksum is right."""

    number: int
    size: int
    parquet_file_size: int
    row_groups: int
    new_row_groups: int
    unused_bytes: int
    is_intact: bool


def chain(reader: PmReader) -> tuple[list[ChainLink], FormatError | None]:
    """The snapshots of a file, the newest first, and the error that breaks the chain, if there is one."""
    snapshots: list[pm_file.Snapshot] = []
    broken: FormatError | None = None
    try:
        snapshots.extend(pm_file.walk(reader.source, reader.header, reader.size))
    except FormatError as error:
        broken = error
    computed = pm_file.checksums(reader.source, snapshots)
    links: list[ChainLink] = []
    for index, (snapshot, crc) in enumerate(zip(snapshots, computed, strict=True)):
        before = set(snapshots[index + 1].blocks) if index + 1 < len(snapshots) else set[int]()
        links.append(
            ChainLink(
                snapshot.number,
                snapshot.size,
                snapshot.fields.parquet_file_size,
                len(snapshot.blocks),
                len(set(snapshot.blocks) - before),
                snapshot.fields.unused_bytes,
                crc == snapshot.checksum,
            )
        )
    return links, broken


def chain_table(links: Sequence[ChainLink], data_size: int | None) -> PrintedTable:
    """The chain; the snapshot that describes a ``data.parquet`` of ``data_size`` bytes is marked."""
    rows = [
        [
            *link[:-1],
            "ok" if link.is_intact else "WRONG",
            "data.parquet as it is" if link.parquet_file_size == data_size else "",
        ]
        for link in links
    ]
    headings = ("#", "_pm bytes", "Parquet bytes", "row groups", "new", "unused bytes", "CRC", "")
    return PrintedTable("Snapshots, the newest first", headings, rows, right=frozenset(range(6)))


# ------------------------------------------------------------------------------------------------ search of times


def times_found(reader: PmReader, row_groups: Sequence[int]) -> list[tuple[int, int, str, str]]:
    """Row groups with their rows, and the bounds of the designated timestamp in each."""
    position = reader.header.fixed.designated_timestamp
    column = reader.columns[position]

    def shown(raw: bytes | None) -> str:
        return "-" if raw is None else shown_value(raw, column)

    found: list[tuple[int, int, str, str]] = []
    for number in row_groups:
        least, greatest = reader.bounds(number, position)
        found.append((number, reader.block(number).num_rows, shown(least), shown(greatest)))
    return found


def times_table(name: str, rows: Sequence[tuple[int, int, str, str]]) -> PrintedTable:
    """The table of row groups with the bounds of the searched time column."""
    return PrintedTable(
        "", ("row group", "rows", f"first {name}", f"last {name}"), rows, right=frozenset((0, 1))
    )
