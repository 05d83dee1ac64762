"""Subjects of the rules of ``_pm``, alone and with the Parquet file beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from operator import attrgetter

from pqassay.checks.pm.pair import FilePair
from pqassay.checks.pm.pair_parts import (
    BloomFilterOfPair,
    ChunkOfPair,
    ColumnOfPair,
    RowGroupOfPair,
    bloom_filters_of,
    chunks_of,
    columns_of,
    row_groups_of,
)
from pqassay.checks.subjects import Subject
from pqassay.under_test.file import FileUnderTest, NotApplicable
from pqassay.under_test.pm.blooms import BloomFilters, GroupFilters
from pqassay.under_test.pm.chunks import BlockUnderTest, ChunksOfColumns, ChunkUnderTest, PmChunks
from pqassay.under_test.pm.file import (
    Chain,
    ColumnUnderTest,
    PmUnderTest,
    SnapshotUnderTest,
    SortingColumnUnderTest,
)
from pqassay.under_test.violation import Suspects
from pqassay_spec.pm.codes import HeaderFeature, PhysicalType

# ---------------------------------------------------------------------------------------- header and columns


def _opened(file: FileUnderTest) -> PmUnderTest:
    """The file, if its newest footer can be read. Without that, the end of the header is uncertain, and so are the columns."""
    parsed = file.part(PmUnderTest)
    _ = parsed.newest
    return parsed


def _with_columns(file: FileUnderTest) -> list[PmUnderTest]:
    parsed = _opened(file)
    return [parsed] if parsed.header.descriptors else []


def _designated(file: FileUnderTest) -> list[ColumnUnderTest]:
    parsed = _opened(file)
    return [parsed.columns[parsed.designated]]


PM: Subject[PmUnderTest] = Subject("_pm file", lambda file: [file.part(PmUnderTest)])
"""The whole file, before anything is read."""

OPENED_PM: Subject[PmUnderTest] = Subject("opened _pm file", lambda file: [_opened(file)])
"""The whole file, if its header and newest footer can be read."""

COLUMNS: Subject[PmUnderTest] = Subject("columns", _with_columns)
"""All columns together."""

COLUMN: Subject[ColumnUnderTest] = Subject(
    "column", lambda file: _opened(file).columns, shape=attrgetter("shape")
)
"""A column with its descriptor."""

TIMESTAMP: Subject[ColumnUnderTest] = Subject("designated timestamp", _designated)
"""The column that is the designated timestamp."""

SORTING_COLUMN: Subject[SortingColumnUnderTest] = Subject(
    "sorting column", lambda file: _opened(file).sorting_columns
)
"""A sorting column in the header."""


# ------------------------------------------------------------------------------------------------- snapshots


def _snapshots(file: FileUnderTest) -> list[SnapshotUnderTest]:
    parsed = file.part(PmUnderTest)
    return [SnapshotUnderTest(parsed, snapshot) for snapshot in parsed.in_reach]


SNAPSHOT: Subject[SnapshotUnderTest] = Subject("snapshot", _snapshots)
"""A snapshot that the tier examines: the newest, or each that can be read."""

CHAIN: Subject[Chain] = Subject("chain of snapshots", lambda file: [file.part(PmUnderTest).chain])
"""The snapshots from the newest to the oldest."""


# -------------------------------------------------------------------------- blocks, chunks and bloom filters


def _with_blocks(file: FileUnderTest) -> list[PmUnderTest]:
    parsed = file.part(PmUnderTest)
    return [parsed] if parsed.places else []


def _blocks(file: FileUnderTest) -> Sequence[BlockUnderTest]:
    parsed = file.part(PmUnderTest)
    return file.part(PmChunks).blocks if parsed.places and parsed.header.column_count else []


def _chunks_of(file: FileUnderTest, columns: Sequence[int]) -> Sequence[ChunkUnderTest]:
    return ChunksOfColumns(file.part(PmChunks), columns) if columns else []


def _timestamp_chunks(file: FileUnderTest) -> Sequence[ChunkUnderTest]:
    """The column chunks of the designated timestamp, except INT96, which is never stored in a slot."""
    (column,) = _designated(file)
    is_stored = column.described.physical_type == PhysicalType.INT64
    return _chunks_of(file, [column.position] if is_stored else [])


def _suspects(file: FileUnderTest) -> Mapping[str, Suspects[ChunkUnderTest]] | None:
    screened = file.part(PmChunks).screened
    return None if screened is None else screened[0]


def _bloom_rows(file: FileUnderTest, *, external: bool) -> Sequence[GroupFilters]:
    parsed, blooms = file.part(PmUnderTest), file.part(BloomFilters)
    is_here = parsed.has(HeaderFeature.BLOOM_FILTERS) and blooms.are_external == external
    return blooms.rows if is_here and parsed.places else []


BLOCKS: Subject[PmUnderTest] = Subject("blocks", _with_blocks)
"""All blocks together, including unreadable blocks."""

BLOCK: Subject[BlockUnderTest] = Subject("block", _blocks)
"""A readable block with column chunks."""

CHUNK: Subject[ChunkUnderTest] = Subject(
    "column chunk",
    lambda file: _chunks_of(file, range(_opened(file).header.column_count)),
    suspects=_suspects,
)
"""A column chunk of a readable block."""

TIMESTAMP_CHUNK: Subject[ChunkUnderTest] = Subject(
    "column chunk of the designated timestamp", _timestamp_chunks, suspects=_suspects
)
"""A column chunk of the designated timestamp, if it is stored in 64 bits."""

BLOOM_ROW: Subject[GroupFilters] = Subject(
    "bloom filters of a row group", partial(_bloom_rows, external=False), shape=attrgetter("shape")
)
"""The bloom filter entries of a row group whose filters are in this file."""

EXTERNAL_BLOOM_ROW: Subject[GroupFilters] = Subject(
    "external bloom filters of a row group", partial(_bloom_rows, external=True)
)
"""The bloom filter entries of a row group whose filters are in the Parquet file."""


# ------------------------------------------------------------------------------- with the Parquet file beside it


def _questdb_pair(file: FileUnderTest) -> list[FilePair]:
    _ = file.part(FilePair).said_by_questdb
    return [file.part(FilePair)]


def _questdb_columns(file: FileUnderTest) -> list[ColumnOfPair]:
    _ = file.part(FilePair).said_by_questdb
    return columns_of(file)


def _bitsets(file: FileUnderTest) -> list[BloomFilterOfPair]:
    if not file.part(PmUnderTest).header.bloom_columns:
        raise NotApplicable
    return file.part(bloom_filters_of)


PAIR: Subject[FilePair] = Subject("_pm file and Parquet file", lambda file: [file.part(FilePair)])
"""``_pm`` and the Parquet file beside it, before anything is compared."""

QUESTDB_PAIR: Subject[FilePair] = Subject("_pm file and QuestDB's Parquet file", _questdb_pair)
"""Both files, if QuestDB's own key in the Parquet file can be read."""

COLUMN_OF_PAIR: Subject[ColumnOfPair] = Subject("column of both files", columns_of, agrees_if_empty=True)
"""A column of both files."""

QUESTDB_COLUMN: Subject[ColumnOfPair] = Subject(
    "column of both files and QuestDB's key", _questdb_columns, agrees_if_empty=True
)
"""A column of both files, if QuestDB's own key in the Parquet file can be read."""

ROW_GROUP_OF_PAIR: Subject[RowGroupOfPair] = Subject(
    "row group of both files", lambda file: file.part(row_groups_of), agrees_if_empty=True
)
"""A row group of both files."""

CHUNK_OF_PAIR: Subject[ChunkOfPair] = Subject("column chunk of both files", chunks_of, agrees_if_empty=True)
"""A column chunk of both files whose metadata in the Parquet file is not encrypted."""

BLOOM_FILTER_OF_PAIR: Subject[BloomFilterOfPair] = Subject(
    "bloom filter of both files", lambda file: file.part(bloom_filters_of)
)
"""The bloom filter of a column chunk; either file may lack it."""

BITSET_OF_PAIR: Subject[BloomFilterOfPair] = Subject("bitset of both files", _bitsets, agrees_if_empty=True)
"""The bloom filter of a column chunk, if ``_pm`` has columns with bloom filters."""
