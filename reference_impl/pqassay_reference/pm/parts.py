"""The parts of a ``_pm`` file as bytes: header, block, footer.

A value has their content, but not their places: the header is the same for all snapshots, a block can be at any
aligned offset, and a footer is given the places of its blocks.

Source: "Parquet metadata file" (``parquet-metadata.md``).
"""

from __future__ import annotations

import struct
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from construct import ConstructError

from pqassay_reference.errors import Refused
from pqassay_spec.parquet.bloom import BLOCK_SIZE as BITSET_STEP
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.block import MAX, MIN
from pqassay_spec.pm.codes import (
    ALIGNMENT,
    MOST_INLINE,
    MOST_OUT_OF_LINE,
    NO_COLUMN,
    REPETITION_SHIFT,
    ColumnFlag,
    FooterFeature,
    HeaderFeature,
    Repetition,
    StatFlag,
    reference,
    stat_sizes,
    stored_offset,
)
from pqassay_spec.pm.value import ExternalBloom, SnapshotChunk, SnapshotColumn, SnapshotValue

LATEST_REPETITION = max(Repetition)
NONE = -1
"""The value of an absent extension; it is never written."""


@contextmanager
def naming(field: str) -> Generator[None]:
    """Add the name of the field to the error if a number or text does not fit into its bytes."""
    try:
        yield
    except (struct.error, ConstructError, ValueError) as error:
        text = str(error).splitlines()[-1] if str(error) else type(error).__name__
        raise Refused(f"{field} cannot be written: {text}") from error


# -------------------------------------------------------------------------------------------------- the header


def sorted_by_designated_timestamp(value: SnapshotValue) -> bool:
    """Whether the sorting is only by the designated timestamp, ascending, which a single bit can express."""
    return (
        value.designated_timestamp >= 0
        and [value.designated_timestamp] == [by.column for by in value.sorting]
        and not value.sorting[0].descending
    )


def header_features(value: SnapshotValue, *, sorting_written_out: bool = False) -> HeaderFeature:
    """The feature flags of a file, which follow from its content."""
    features = HeaderFeature(0)
    if value.bloom_columns:
        features |= HeaderFeature.BLOOM_FILTERS
        features |= HeaderFeature.BLOOM_FILTERS_EXTERNAL if value.bloom_external else HeaderFeature(0)
    if sorted_by_designated_timestamp(value) and not sorting_written_out:
        features |= HeaderFeature.SORTING_IS_DTS_ASC
    if value.squash_tracker is not None:
        features |= HeaderFeature.SQUASH_TRACKER
    return features


def header_bytes(value: SnapshotValue, *, sorting_written_out: bool = False) -> bytes:
    """The header of a file that is not committed yet: its committed size is 0.

    Args:
        value: The first snapshot.
        sorting_written_out: Write the sorting columns explicitly, even if one bit would be enough.

    Raises:
        Refused: A number does not fit, or the columns contradict each other.
    """
    _require_columns(value)
    features = header_features(value, sorting_written_out=sorting_written_out)
    sorting = () if HeaderFeature.SORTING_IS_DTS_ASC in features else value.sorting
    with naming("header"):
        fixed = pm.FixedHeader(
            0, features, value.designated_timestamp, len(sorting), len(value.columns), 0
        ).build()
    names: list[bytes] = []
    for index, column in enumerate(value.columns):
        with naming(f"names[{index}]"):
            names.append(column.name.encode())
    descending = {by.column for by in value.sorting if by.descending}
    position = (
        len(fixed) + pm.ColumnDescriptor.size * len(value.columns) + pm.SortingColumn.size * len(sorting)
    )
    descriptors: list[bytes] = []
    for index, (column, name) in enumerate(zip(value.columns, names, strict=True)):
        with naming(f"column_descriptors[{index}]"):
            descriptors.append(_descriptor(column, position, len(name), index in descending))
        position += len(name)
    parts = [fixed, *descriptors]
    parts += [pm.SortingColumn(by.column).build() for by in sorting]
    parts += names
    if value.bloom_columns:
        columns = list(value.bloom_columns)
        parts.append(
            pm.BLOOM_COLUMNS.build({"bloom_col_count": len(columns), "bloom_filter_columns": columns})
        )
    if value.squash_tracker is not None:
        with naming("header_sections.squash_tracker"):
            parts.append(pm.SQUASH_TRACKER.build({"squash_tracker": value.squash_tracker}))
    return b"".join(parts)


def _descriptor(column: SnapshotColumn, name_offset: int, name_length: int, descending: bool) -> bytes:
    flags = (
        ColumnFlag.LOCAL_KEY_IS_GLOBAL * column.local_key_is_global
        | ColumnFlag.IS_ASCII * column.is_ascii
        | ColumnFlag.DESCENDING * descending
        | column.repetition << REPETITION_SHIFT
    )
    return pm.ColumnDescriptor(
        name_offset,
        column.id,
        column.type,
        flags,
        column.fixed_byte_len,
        name_length,
        column.physical_type,
        column.max_rep_level,
        column.max_def_level,
        0,
    ).build()


def _require_columns(value: SnapshotValue) -> None:
    count = len(value.columns)
    for index, column in enumerate(value.columns):
        if not 0 <= column.repetition <= LATEST_REPETITION:
            raise Refused(f"column {index} has repetition {column.repetition}, which has no meaning")
    if not NO_COLUMN <= value.designated_timestamp < count:
        raise Refused(f"the designated timestamp is column {value.designated_timestamp}, of {count}")
    for by in value.sorting:
        if not 0 <= by.column < count:
            raise Refused(f"the rows are sorted by column {by.column}, of {count}")
    if list(value.bloom_columns) != sorted(set(value.bloom_columns)):
        raise Refused(f"columns with bloom filters are not in ascending order: {list(value.bloom_columns)}")
    if value.bloom_columns and not 0 <= value.bloom_columns[0] <= value.bloom_columns[-1] < count:
        raise Refused(f"columns with bloom filters are {list(value.bloom_columns)}, of {count}")
    if value.bloom_external and not value.bloom_columns:
        raise Refused("bloom filters are marked as in the Parquet file, but no column has any")
    if value.squash_tracker == NONE:
        raise Refused("a squash tracker of -1 means none: leave it out")


# --------------------------------------------------------------------------------------------------- the block


class BlockBytes(NamedTuple):
    """A block that can be at any aligned offset.

    Attributes:
        raw: Its bytes.
        blooms: The places of the inlined bloom filters: offsets from its start, one for each column with bloom
            filters; ``None`` for a missing filter, or one in the Parquet file.
    """

    raw: bytes
    blooms: tuple[int | None, ...]


def block_bytes(value: SnapshotValue, number: int) -> BlockBytes:
    """The block of a row group: its records, its out-of-line statistics, its inlined bloom filters.

    Raises:
        Refused: A number does not fit, a statistic is too long, or a column has an undeclared bloom filter.
    """
    group, path = value.row_groups[number], f"row group {number}"
    if len(group.chunks) != len(value.columns):
        raise Refused(f"{path} has {len(group.chunks)} column chunks, for {len(value.columns)} columns")
    with naming(f"{path}: num_rows"):
        parts = [pm.BlockHeader(group.num_rows).build()]
    statistics: list[bytes] = []
    used = 0
    for column, chunk in enumerate(group.chunks):
        record, spilled = _chunk(chunk, used, f"{path}, column {column}")
        with naming(f"{path}, column {column}"):
            parts.append(record.build())
        statistics += spilled
        used += sum(map(len, spilled))
    parts += statistics
    blooms: list[int | None] = [None] * len(value.bloom_columns)
    size = sum(map(len, parts))
    for position, bitset in inlined_blooms(value, number):
        size += (padding := -size % ALIGNMENT)
        blooms[position] = size
        parts += [bytes(padding), _bitset(bitset, f"{path}, column {value.bloom_columns[position]}")]
        size += len(parts[-1])
    return BlockBytes(b"".join(parts), tuple(blooms))


def _chunk(chunk: SnapshotChunk, used: int, path: str) -> tuple[pm.ColumnChunk, list[bytes]]:
    """The record of a chunk, and its out-of-line statistics, which follow the ``used`` bytes of earlier ones."""
    flags = 0
    sizes, slots, spilled = [0, 0], [0, 0], list[bytes]()
    for side, bound, exact in ((MIN, chunk.min, chunk.min_exact), (MAX, chunk.max, chunk.max_exact)):
        if bound is None:
            continue
        flags |= side.present | (side.exact if exact else 0)
        if 1 <= len(bound) <= MOST_INLINE:
            flags |= side.inlined
            sizes[side.position], slots[side.position] = len(bound), int.from_bytes(bound, "little")
            continue
        if not bound:
            raise Refused(f"{path}: an empty bound looks like a missing one: leave it out")
        if len(bound) > MOST_OUT_OF_LINE:
            raise Refused(
                f"{path}: a bound of {len(bound)} bytes; at most {MOST_OUT_OF_LINE} are possible: "
                "leave it out, or let the Parquet writer shorten it"
            )
        with naming(path):
            slots[side.position] = reference(used + sum(map(len, spilled)), len(bound))
        spilled.append(bound)
    if chunk.distinct_count is not None:
        flags |= DISTINCT_COUNT_PRESENT
    if chunk.null_count is not None:
        flags |= NULL_COUNT_PRESENT
    return (
        pm.ColumnChunk(
            chunk.codec,
            chunk.encodings,
            flags,
            stat_sizes(*sizes),
            0,
            chunk.num_values,
            chunk.offset,
            chunk.length,
            chunk.null_count or 0,
            chunk.distinct_count or 0,
            *slots,
        ),
        spilled,
    )


# Plain numbers: there are thousands of chunks, and flags are slow to combine.
DISTINCT_COUNT_PRESENT, NULL_COUNT_PRESENT = (
    int(StatFlag.DISTINCT_COUNT_PRESENT),
    int(StatFlag.NULL_COUNT_PRESENT),
)


def inlined_blooms(value: SnapshotValue, number: int) -> list[tuple[int, bytes]]:
    """The inlined bloom filters of a row group: position among the columns with bloom filters, and bitset.

    Raises:
        Refused: A column without bloom filters has one, or a filter is not where the flags of the file declare it.
    """
    positions = {column: position for position, column in enumerate(value.bloom_columns)}
    bitsets: list[tuple[int, bytes]] = []
    for column, chunk in enumerate(value.row_groups[number].chunks):
        if chunk.bloom is None:
            continue
        path = f"row group {number}, column {column}"
        if column not in positions:
            raise Refused(
                f"{path} has a bloom filter, and the file announces those of columns {list(positions)} only"
            )
        if isinstance(chunk.bloom, ExternalBloom) != value.bloom_external:
            where = "the Parquet file" if value.bloom_external else "this file"
            raise Refused(
                f"{path}: the bloom filters of this file are stored in {where}, those of this one are not"
            )
        if isinstance(chunk.bloom, ExternalBloom):
            if chunk.bloom.length <= 0 or chunk.bloom.length % BITSET_STEP:
                raise Refused(
                    f"{path}: a bloom filter of {chunk.bloom.length} bytes, not a multiple of {BITSET_STEP}"
                )
        else:
            bitsets.append((positions[column], chunk.bloom))
    return bitsets


def _bitset(bitset: bytes, path: str) -> bytes:
    if not bitset or len(bitset) % BITSET_STEP:
        raise Refused(f"{path}: a bloom filter of {len(bitset)} bytes, not a multiple of {BITSET_STEP}")
    with naming(f"{path}: bloom filter"):
        return pm.BLOOM_BITSET.build({"length": len(bitset), "bitset": bitset})


# -------------------------------------------------------------------------------------------------- the footer


@dataclass(frozen=True)
class Extensions:
    """Sections of a footer that later revisions added and that are not part of the logical value.

    Attributes:
        scratchpad: Notes of the writer: a code, and anything.
        covering_index: Index files of the snapshot: the column's number in the table, transaction, committed size.
    """

    scratchpad: Sequence[tuple[int, bytes]] = ()
    covering_index: Sequence[tuple[int, int, int]] = ()


NO_EXTENSIONS = Extensions()


class Place(NamedTuple):
    """Place of a row group's block in this file, and of its inlined bloom filters, as offsets from the file's start."""

    block: int
    blooms: tuple[int | None, ...]


def footer_bytes(value: SnapshotValue, places: Sequence[Place], before: int, extensions: Extensions) -> bytes:
    """The bytes of a footer before its checksum.

    Args:
        value: The snapshot.
        places: The place of each row group's block.
        before: Committed size of the previous snapshot, 0 for the first.
        extensions: Sections of later revisions.

    Raises:
        Refused: A number does not fit.
    """
    entries: list[bytes] = []
    for number, place in enumerate(places):
        with naming(f"row group {number}: offset of its block"):
            entries.append(pm.RowGroupEntry(stored_offset(place.block)).build())
    for number, place in enumerate(places):
        entries += _bloom_entries(value, number, place)
    features, sections = FooterFeature(0), list[bytes]()
    if value.seq_txn is not None:
        if value.seq_txn == NONE:
            raise Refused("a sequencer transaction of -1 means none: leave it out")
        features |= FooterFeature.SEQ_TXN
        with naming("seq_txn"):
            sections.append(pm.SEQ_TXN.build({"seq_txn": value.seq_txn}))
    if extensions.scratchpad:
        features |= FooterFeature.SCRATCHPAD
        sections.append(_scratchpad(extensions.scratchpad))
    if extensions.covering_index:
        features |= FooterFeature.COVERING_INDEX | FooterFeature.COVERING_INDEX_REQUIRED
        indexes = [
            dict(zip(("column_id", "index_txn", "im_file_size"), index, strict=True))
            for index in extensions.covering_index
        ]
        with naming("covering_index"):
            sections.append(pm.COVERING_INDEX.build({"index_count": len(indexes), "indexes": indexes}))
    with naming("footer"):
        fields = pm.FooterFields(
            value.parquet_footer_offset,
            value.parquet_footer_length,
            len(places),
            value.unused_bytes,
            before,
            features,
        ).build()
    return b"".join((fields, *entries, *sections))


def _bloom_entries(value: SnapshotValue, number: int, place: Place) -> list[bytes]:
    entries: list[bytes] = []
    chunks = value.row_groups[number].chunks
    for position, column in enumerate(value.bloom_columns):
        with naming(f"row group {number}, column {column}: place of the bloom filter"):
            if value.bloom_external:
                bloom: Any = chunks[column].bloom or ExternalBloom(0, 0)
                entries.append(pm.BloomEntry(bloom.offset, bloom.length).build())
            else:
                offset = place.blooms[position]
                stored = 0 if offset is None else stored_offset(offset)
                entries.append(pm.InlinedBloom(stored).build())
    return entries


def _scratchpad(entries: Sequence[tuple[int, bytes]]) -> bytes:
    with naming("scratchpad"):
        raw = pm.SCRATCHPAD.build(
            {
                "entry_count": len(entries),
                "entries": [{"code": code, "length": len(data), "data": data} for code, data in entries],
            }
        )
    if len(raw) > pm.MOST_SCRATCHPAD:
        raise Refused(f"a scratchpad of {len(raw)} bytes; at most {pm.MOST_SCRATCHPAD} are possible")
    return raw
