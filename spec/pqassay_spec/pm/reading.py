"""Read a whole snapshot of ``_pm``: from its bytes to its logical value.

An error that makes a value impossible is raised with its rule. A value that is merely wrong (a bound above another, a codec
without a name) is returned as it is in the file.

Source: "Parquet metadata file" (``parquet-metadata.md``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.base.sources import Source
from pqassay_spec.pm import block as pm_block
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import header as pm_header
from pqassay_spec.pm.block import MAX, MIN, SIDES, Block
from pqassay_spec.pm.codes import NO_COLUMN, ColumnFlag, HeaderFeature, StatFlag, repetition
from pqassay_spec.pm.file import Snapshot
from pqassay_spec.pm.header import Header
from pqassay_spec.pm.value import (
    ExternalBloom,
    SnapshotChunk,
    SnapshotColumn,
    SnapshotRowGroup,
    SnapshotSorting,
    SnapshotValue,
)

_IS_ASCII, _LOCAL_KEY_IS_GLOBAL = int(ColumnFlag.IS_ASCII), int(ColumnFlag.LOCAL_KEY_IS_GLOBAL)
# Plain numbers: flags with names take many times longer to combine, and each column has some.

Bloom = bytes | ExternalBloom
"""A bitset, or its place in the Parquet file."""


def read_value(source: Source, header: Header, snapshot: Snapshot) -> SnapshotValue:
    """The logical value of any snapshot of a file.

    Raises:
        Malformed: A part that the value needs cannot be read: rules PM-019 and PM-020 (the chain), PM-021 to PM-023 (names),
            PM-033 (designated timestamp), PM-037 (sorting columns), PM-050 and PM-052 (blocks), PM-065 and PM-069 (statistics),
            PM-076, PM-077 and PM-078 (bloom filters).
    """
    squash, seq_txn = header.squash_tracker, snapshot.sections.get("seq_txn")
    return SnapshotValue(
        columns=read_columns(source, header),
        row_groups=_row_groups(source, header, snapshot),
        parquet_footer_offset=snapshot.fields.parquet_footer_offset,
        parquet_footer_length=snapshot.fields.parquet_footer_length,
        unused_bytes=snapshot.fields.unused_bytes,
        designated_timestamp=_designated_timestamp(header),
        sorting=_sorting(header),
        bloom_columns=tuple(header.bloom_columns),
        bloom_external=HeaderFeature.BLOOM_FILTERS_EXTERNAL in header.features,
        squash_tracker=squash,
        seq_txn=None if seq_txn is None else int(seq_txn[0].seq_txn),
        previous_sizes=previous_sizes(source, header, snapshot),
    )


def previous_sizes(source: Source, header: Header, snapshot: Snapshot) -> tuple[int, ...]:
    """Sizes in bytes of the Parquet file at the earlier snapshots, newest first.

    Raises:
        Malformed: The chain breaks, rules PM-019 and PM-020.
    """
    chain = pm_file.walk(source, header, snapshot.size, snapshot.number)
    return tuple(earlier.fields.parquet_file_size for earlier in chain if earlier.number != snapshot.number)


def read_columns(source: Source, header: Header) -> tuple[SnapshotColumn, ...]:
    """The columns of a file. Raises `Malformed`, rule PM-022, if their names overlap."""
    if sum(described.name_length for described in header.descriptors) > header.end:
        raise Malformed(
            "the names overlap: together they have more bytes than the header",
            rule="PM-022",
            field="names",
            offset=header.names_start,
        )
    return tuple(
        SnapshotColumn(
            name=pm_header.read_name(source, header, position),
            physical_type=described.physical_type,
            id=described.id,
            type=described.type,
            fixed_byte_len=described.fixed_byte_len,
            max_rep_level=described.max_rep_level,
            max_def_level=described.max_def_level,
            repetition=repetition(described.flags),
            is_ascii=bool(described.flags & _IS_ASCII),
            local_key_is_global=bool(described.flags & _LOCAL_KEY_IS_GLOBAL),
        )
        for position, described in enumerate(header.descriptors)
    )


def _designated_timestamp(header: Header) -> int:
    column = header.fixed.designated_timestamp
    if not NO_COLUMN <= column < header.column_count:
        offset, length = pm.FixedHeader.place("designated_timestamp")
        raise Malformed(
            f"the designated timestamp is column {column}, of {header.column_count}",
            rule="PM-033",
            field="header.designated_timestamp",
            offset=offset,
            length=length,
        )
    return column


def _sorting(header: Header) -> tuple[SnapshotSorting, ...]:
    for position, column in enumerate(header.sorting_columns):
        if column >= header.column_count:
            raise Malformed(
                f"rows are sorted by column {column}, of {header.column_count}",
                rule="PM-037",
                field=f"sorting_columns[{position}].index",
                offset=header.names_start - pm.SortingColumn.size * (len(header.sorting_columns) - position),
                length=pm.SortingColumn.size,
            )
    return tuple(SnapshotSorting(column, descending) for column, descending in header.sorted_by)


class _Budget:
    """The number of bytes of a file that may still be read: initially its size.

    Structures without overlap never need more. In a hostile small file, all references could lead to one large structure
    and fill memory.
    """

    def __init__(self, size: int) -> None:
        self.left = size

    def spend(self, length: int, rule: str, offset: int) -> None:
        """Subtract a number of bytes; raise an error if too few are left."""
        self.left -= length
        if self.left < 0:
            raise Malformed(
                "the contents of blocks overlap: they have more bytes than the file",
                rule=rule,
                offset=offset,
            )


def _row_groups(source: Source, header: Header, snapshot: Snapshot) -> tuple[SnapshotRowGroup, ...]:
    entries = pm_file.read_bloom_entries(source, header, snapshot) if snapshot.bloom_count else []
    width, budget = len(header.bloom_columns), _Budget(snapshot.start)
    row_groups: list[SnapshotRowGroup] = []
    for number, offset in enumerate(snapshot.blocks):
        entry = snapshot.entries_start + pm.RowGroupEntry.size * number
        try:
            budget.spend(header.block_size, "PM-052", entry)
            block = pm_block.read_block(source, header, offset, snapshot.start)
        except FormatError as error:
            error.field = f"{snapshot.path}.row_group_entries[{number}].block_offset"
            error.offset = entry
            raise
        blooms = _blooms(source, header, snapshot, entries[number * width : (number + 1) * width], budget)
        chunks = tuple(
            _chunk(source, snapshot, block, column, blooms.get(column), budget)
            for column in range(header.column_count)
        )
        row_groups.append(SnapshotRowGroup(block.num_rows, chunks))
    return tuple(row_groups)


def _blooms(
    source: Source, header: Header, snapshot: Snapshot, entries: Sequence[pm.BloomEntry], budget: _Budget
) -> Mapping[int, Bloom]:
    """The bloom filters of a row group by column."""
    blooms: dict[int, Bloom] = {}
    for column, entry in zip(header.bloom_columns, entries, strict=True):
        if entry == pm.NO_BLOOM:
            continue
        if HeaderFeature.BLOOM_FILTERS_EXTERNAL in header.features:
            blooms[column] = ExternalBloom(*entry)
            continue
        blooms[column] = bitset = pm_block.read_inlined_bloom(source, entry.offset, snapshot.start)
        budget.spend(len(bitset), "PM-078", entry.offset)
    return blooms


def _chunk(
    source: Source, snapshot: Snapshot, block: Block, column: int, bloom: Bloom | None, budget: _Budget
) -> SnapshotChunk:
    record, flags = block.chunks[column], block.chunks[column].stat_flags
    bounds: list[bytes | None] = []
    for side in SIDES:
        found = pm_block.find_statistic(block, column, side)
        if found is not None and not found.inlined:
            budget.spend(found.length, "PM-069", found.offset)
        bounds.append(pm_block.read_statistic(source, block, column, side, snapshot.start) if found else None)
    least, greatest = bounds
    return SnapshotChunk(
        codec=record.codec,
        encodings=record.encodings,
        num_values=record.num_values,
        offset=record.byte_range_start,
        length=record.total_compressed,
        null_count=record.null_count if flags & StatFlag.NULL_COUNT_PRESENT else None,
        distinct_count=record.distinct_count if flags & StatFlag.DISTINCT_COUNT_PRESENT else None,
        min=least,
        max=greatest,
        min_exact=least is not None and bool(flags & MIN.exact),
        max_exact=greatest is not None and bool(flags & MAX.exact),
        bloom=bloom,
    )
