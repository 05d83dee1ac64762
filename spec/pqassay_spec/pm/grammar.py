"""``_pm``: QuestDB's metadata file beside ``data.parquet``, with a chain of footers, one for each snapshot.

A header describes the columns once. A block for each row group has a record for each column chunk. A footer lists the
blocks of one snapshot and links to the previous footer.  The first eight bytes are the committed size of the file:
it is written last, and bytes after it do not count.

This module contains the grammar.  The reading is in `pqassay_spec.pm.header`, `file` and
`block`.

Source: "Parquet metadata file" (``parquet-metadata.md``), the revision with which the format was first published; additions
of later revisions are marked as extensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from construct import (
    Array,
    Bytes,
    Int8ul,
    Int32sl,
    Int32ul,
    Int64sl,
    Int64ul,
    Struct,
    this,
)

from pqassay_spec.grammar.flat_records import FlatStruct, flat_struct, member
from pqassay_spec.grammar.labelled import Labelled
from pqassay_spec.parquet.file import TAIL_SIZE
from pqassay_spec.pm.codes import (
    Codec,
    ColumnFlag,
    EncodingBit,
    FooterFeature,
    HeaderFeature,
    PhysicalType,
    StatFlag,
)

FILE_NAME = "_pm"
"""The name of the file, in the folder of the partition."""

DATA_NAME = "data.parquet"
"""The name of the Parquet file that it describes, in the same folder."""

JSON_KEY = "questdb"
"""The key of the Parquet footer for QuestDB's own metadata."""


# --8<-- [start:header]
@flat_struct
class FixedHeader(FlatStruct):
    """The beginning of the file."""

    parquet_meta_file_size: int = member(
        Int64ul,
        "Bytes of this file that are committed, 0 before the first commit. Written last; no checksum covers it.",
    )
    feature_flags: int = member(Labelled(Int64ul, HeaderFeature), "What the whole file makes use of.")
    designated_timestamp: int = member(
        Int32sl, "Descriptor of the designated timestamp, -1 if there is none."
    )
    sorting_column_count: int = member(Int32ul, "Sorting columns.")
    column_count: int = member(Int32ul, "Columns.")
    reserved: int = member(Int32ul, "0.")


COMMITTED_SIZE = Struct(*FixedHeader.grammar.subcons[:1])
"""The one field of the header that changes."""


@flat_struct
class ColumnDescriptor(FlatStruct):
    """A column, the same in all row groups."""

    name_offset: int = member(Int64ul, "Offset of the name in the file.")
    id: int = member(Int32sl, "The column's number in QuestDB's table, -1 if no table knows it.")
    type: int = member(Int32sl, "QuestDB's type code, -1 if unknown.")
    flags: int = member(Labelled(Int32ul, ColumnFlag), "Flags; bits 2 and 3 are the repetition of the field.")
    fixed_byte_len: int = member(Int32sl, "Bytes of a FIXED_LEN_BYTE_ARRAY, else 0.")
    name_length: int = member(Int32ul, "Bytes of the name.")
    physical_type: int = member(Labelled(Int8ul, PhysicalType), "Parquet's physical type.")
    max_rep_level: int = member(Int8ul, "Greatest repetition level, 0 outside lists.")
    max_def_level: int = member(Int8ul, "Greatest definition level, 0 where nulls cannot be.")
    reserved: int = member(Int8ul, "0.")


@flat_struct
class SortingColumn(FlatStruct):
    """A column by which the rows are sorted; the descriptor's flags say in which direction."""

    index: int = member(Int32ul, "A descriptor's position.")


BLOOM_COLUMNS = Struct(
    "bloom_col_count" / Int32ul * "Columns with bloom filters, at least one.",
    "bloom_filter_columns"
    / Array(this.bloom_col_count, Int32ul)
    * "Positions of their descriptors, ascending.",
)
"""The header's section about bloom filters."""

SQUASH_TRACKER = Struct("squash_tracker" / Int64sl * "Tracks merged partitions; -1 is never written.")
"""An extension of later revisions."""
# --8<-- [end:header]


# --8<-- [start:block]
@flat_struct
class BlockHeader(FlatStruct):
    """The beginning of a row group's block."""

    num_rows: int = member(Int64ul, "Rows of the row group.")


@flat_struct
class ColumnChunk(FlatStruct):
    """A column chunk. All have the same size, so the n-th can be read without reading the others."""

    codec: int = member(Labelled(Int8ul, Codec), "How the pages are compressed, with Parquet's number.")
    encodings: int = member(Labelled(Int8ul, EncodingBit), "Encodings of the values, one bit each.")
    stat_flags: int = member(Labelled(Int8ul, StatFlag), "Which statistics there are, and where.")
    stat_sizes: int = member(
        Int8ul, "Sizes of the statistics in their slots: MIN_STAT low nibble, MAX_STAT high."
    )
    reserved: int = member(Int32ul, "0.")
    num_values: int = member(Int64ul, "Values, nulls included; more than rows where a row holds a list.")
    byte_range_start: int = member(
        Int64ul, "Where the chunk starts in the Parquet file, its dictionary page included."
    )
    total_compressed: int = member(Int64ul, "Bytes of the chunk's pages as they are stored.")
    null_count: int = member(Int64ul, "Nulls.")
    distinct_count: int = member(Int64ul, "Distinct values.")
    min_stat: int = member(Int64ul, "The least value in Parquet's encoding, or a reference to it.")
    max_stat: int = member(Int64ul, "The greatest value, likewise.")


BLOOM_BITSET = Struct(
    "length" / Int32sl * "Bytes of the bitset.",
    "bitset" / Bytes(this.length) * "The filter, as Parquet fills it, without Parquet's header.",
)
"""A bloom filter that is stored in this file."""

BLOOM_LENGTH = Struct(*BLOOM_BITSET.subcons[:1])
"""The length of a bloom filter, which is read and checked first."""
# --8<-- [end:block]


# --8<-- [start:footer]
@flat_struct
class FooterFields(FlatStruct):
    """The beginning of a footer. The Parquet file's size follows: footer offset + footer length + 8."""

    parquet_footer_offset: int = member(Int64ul, "Where the Parquet file's footer starts.")
    parquet_footer_length: int = member(Int32ul, "Bytes of the Parquet file's footer.")
    row_group_count: int = member(Int32ul, "Row groups of this snapshot.")
    unused_bytes: int = member(
        Int64ul, "Dead bytes in the Parquet file: old footers and row groups that were replaced."
    )
    prev_parquet_meta_file_size: int = member(
        Int64ul, "Committed size of the snapshot before, 0 if this is the first."
    )
    footer_feature_flags: int = member(Labelled(Int64ul, FooterFeature), "What this footer makes use of.")

    @property
    def parquet_file_size(self) -> int:
        """Bytes of the Parquet file that this snapshot describes."""
        return self.parquet_footer_offset + self.parquet_footer_length + TAIL_SIZE


@flat_struct
class RowGroupEntry(FlatStruct):
    """An entry for one row group."""

    block_offset: int = member(Int32ul, "Offset of the row group's block, shifted right by 3.")


@flat_struct
class InlinedBloom(FlatStruct):
    """An entry for one row group and one column with bloom filters, if the filters are stored in this file."""

    offset: int = member(Int32ul, "Offset of the bloom filter, shifted right by 3; 0 if there is none.")


@flat_struct
class BloomEntry(FlatStruct):
    """An entry for one row group and one column with bloom filters, if the filters are stored in the Parquet file.

    Readers also convert an `InlinedBloom` to it, with the offset in bytes and the length 0.
    """

    offset: int = member(Int64ul, "Offset of the bitset in the Parquet file.")
    length: int = member(Int64ul, "Bytes of the bitset. Both are 0 if there is none.")


NO_BLOOM = BloomEntry(0, 0)
"""The entry of a row group and a column without a filter."""

SEQ_TXN = Struct("seq_txn" / Int64sl * "Sequencer transaction of the snapshot, -1 if there is none.")
"""An extension of later revisions."""


@flat_struct
class ScratchpadHead(FlatStruct):
    """The beginning of an entry of the scratchpad."""

    code: int = member(Int32ul, "Whose entry it is.")
    length: int = member(Int32ul, "Bytes of its data.")


SCRATCHPAD_ENTRY = Struct(
    *ScratchpadHead.grammar.subcons,
    "data" / Bytes(this.length) * "Anything.",
)
SCRATCHPAD = Struct(
    "entry_count" / Int32ul * "Entries, at least one.",
    "entries" / Array(this.entry_count, SCRATCHPAD_ENTRY) * "The entries; the first of a code counts.",
)
"""An extension of later revisions: notes of the writer."""


@flat_struct
class CoveringIndexEntry(FlatStruct):
    """An index file beside this one."""

    column_id: int = member(Int32ul, "The column's number in QuestDB's table.")
    index_txn: int = member(Int64ul, "Transaction of the index file.")
    im_file_size: int = member(Int64ul, "Committed size of the index file.")


COVERING_INDEX = Struct(
    "index_count" / Int32ul * "Entries, at least one.",
    "indexes" / Array(this.index_count, CoveringIndexEntry.grammar) * "All index files of the snapshot.",
)
"""An extension of later revisions: the index files beside this one."""

CHECKSUM = Struct("checksum" / Int32ul * "CRC-32 of everything from offset 8 up to here.")
TRAILER = Struct("footer_length" / Int32ul * "Bytes from the footer's start through the checksum.")
# --8<-- [end:footer]

CRC_START = COMMITTED_SIZE.sizeof()
"""Offset at which the checksum's range begins: after the committed size, which changes after it is computed."""

MOST_SCRATCHPAD = 1 << 20
"""Bytes of the longest scratchpad, its count included."""


class ScratchpadEntry(NamedTuple):
    """A parsed `SCRATCHPAD_ENTRY`."""

    code: int
    length: int
    data: bytes


BLOOM_LENGTH_SIZE = BLOOM_LENGTH.sizeof()
CHECKSUM_SIZE = CHECKSUM.sizeof()
TRAILER_SIZE = TRAILER.sizeof()
SECTION_COUNT_SIZE = SCRATCHPAD.subcons[0].sizeof()
"""Bytes of the count at the beginning of scratchpad and covering index."""

LEAST_FOOTER = FooterFields.size + CHECKSUM_SIZE
"""Bytes of a footer without row groups, up to the trailer."""

LEAST_FILE = FixedHeader.size + LEAST_FOOTER + TRAILER_SIZE
"""Bytes of a file without columns and row groups."""


# -------------------------------------------------------------------------------------------- feature sections


@dataclass(frozen=True)
class FeatureSection:
    """A section that a feature bit announces: the flag, its name in field paths, and its grammar."""

    bit: HeaderFeature | FooterFeature
    name: str
    structure: Any


HEADER_SECTIONS: Sequence[FeatureSection] = (
    FeatureSection(HeaderFeature.BLOOM_FILTERS, "bloom_filters", BLOOM_COLUMNS),
    FeatureSection(HeaderFeature.SQUASH_TRACKER, "squash_tracker", SQUASH_TRACKER),
)
"""Sections at the end of the header, after the names, in the order of their bits."""

FOOTER_SECTIONS: Sequence[FeatureSection] = (
    FeatureSection(FooterFeature.SEQ_TXN, "seq_txn", SEQ_TXN),
    FeatureSection(FooterFeature.SCRATCHPAD, "scratchpad", SCRATCHPAD),
    FeatureSection(FooterFeature.COVERING_INDEX, "covering_index", COVERING_INDEX),
)
"""Sections at the end of a footer, after its entries and those of bloom filters, in the order of their bits."""
