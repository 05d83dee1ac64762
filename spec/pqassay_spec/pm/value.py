"""The logical value of a snapshot of ``_pm``: its content, without the layout of the file.

Writers take one and readers return one; two files with the same content have equal values.

Source: "Parquet metadata file" (``parquet-metadata.md``).
"""

from __future__ import annotations

from dataclasses import dataclass

from pqassay_spec.pm.codes import NO_COLUMN, NO_TYPE, Repetition


@dataclass(frozen=True)
class SnapshotColumn:
    """A column, the same in all row groups.

    Attributes:
        name: Its name.
        physical_type: Parquet's number.
        id: Its number in QuestDB's table, -1 if it is unknown to every table.
        type: QuestDB's type code, -1 if unknown.
        fixed_byte_len: Bytes of a FIXED_LEN_BYTE_ARRAY, 0 for other types.
        max_rep_level, max_def_level: Greatest levels.
        repetition: FIELD_REPETITION.
        is_ascii, local_key_is_global: The flags of these names.
    """

    name: str
    physical_type: int
    id: int = NO_COLUMN
    type: int = NO_TYPE
    fixed_byte_len: int = 0
    max_rep_level: int = 0
    max_def_level: int = 0
    repetition: int = Repetition.REQUIRED
    is_ascii: bool = False
    local_key_is_global: bool = False


@dataclass(frozen=True)
class SnapshotSorting:
    """A column by which the rows are sorted: its position, and the direction."""

    column: int
    descending: bool = False


@dataclass(frozen=True)
class ExternalBloom:
    """A bloom filter's bitset in the Parquet file."""

    offset: int
    length: int


@dataclass(frozen=True)
class SnapshotChunk:
    """A column chunk.

    Attributes:
        codec: Parquet's number.
        encodings: `pqassay_spec.pm.codes.EncodingBit`.
        num_values: Values, nulls included.
        offset, length: Its range in the Parquet file.
        null_count, distinct_count: ``None`` if the file lacks them.
        min, max: The bounds in Parquet's encoding, ``None`` if the file lacks them.
        min_exact, max_exact: Whether the bounds are values of the chunk.
        bloom: The bitset, or its place in the Parquet file; ``None`` without a filter.
    """

    codec: int
    encodings: int
    num_values: int
    offset: int
    length: int
    null_count: int | None = None
    distinct_count: int | None = None
    min: bytes | None = None
    max: bytes | None = None
    min_exact: bool = False
    max_exact: bool = False
    bloom: bytes | ExternalBloom | None = None


@dataclass(frozen=True)
class SnapshotRowGroup:
    """A row group: its rows, and a chunk for each column."""

    num_rows: int
    chunks: tuple[SnapshotChunk, ...]


@dataclass(frozen=True)
class SnapshotValue:
    """A snapshot.

    Attributes:
        columns: The columns.
        row_groups: The row groups, in order.
        parquet_footer_offset, parquet_footer_length: The place of the Parquet file's footer.
        unused_bytes: Unused bytes in the Parquet file.
        designated_timestamp: Position of the designated timestamp, -1 if there is none.
        sorting: The columns that the rows are sorted by.
        bloom_columns: Positions of the columns with bloom filters, ascending.
        bloom_external: Whether the filters are stored in the Parquet file.
        squash_tracker, seq_txn: Extensions of later revisions, ``None`` if absent.
        previous_sizes: Sizes of the Parquet file at earlier snapshots, newest first.
    """

    columns: tuple[SnapshotColumn, ...]
    row_groups: tuple[SnapshotRowGroup, ...]
    parquet_footer_offset: int
    parquet_footer_length: int
    unused_bytes: int = 0
    designated_timestamp: int = NO_COLUMN
    sorting: tuple[SnapshotSorting, ...] = ()
    bloom_columns: tuple[int, ...] = ()
    bloom_external: bool = False
    squash_tracker: int | None = None
    seq_txn: int | None = None
    previous_sizes: tuple[int, ...] = ()
