"""The places of the structures of ``_pm``, as expressions of Kaitai Struct.

The algorithms in `header`, `file` and `block` also check what these expressions cannot: invalid offsets and wrong checksums.

Source: "Parquet metadata file" (``parquet-metadata.md``).
"""

from __future__ import annotations

from typing import Any

from construct import Array, GreedyBytes, If, Struct, this

from pqassay_spec.grammar.constructs import expressed
from pqassay_spec.grammar.kaitai import Definition, Place
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.block import MIN, SIDES
from pqassay_spec.pm.codes import BLOCK_SHIFT, REFERENCE_SHIFT, HeaderFeature

NAMES = {
    "fixed_header": pm.FixedHeader,
    "column_descriptor": pm.ColumnDescriptor,
    "sorting_column": pm.SortingColumn,
    "bloom_columns": pm.BLOOM_COLUMNS,
    "squash_tracker": pm.SQUASH_TRACKER,
    "block_header": pm.BlockHeader,
    "column_chunk": pm.ColumnChunk,
    "bloom_bitset": pm.BLOOM_BITSET,
    "footer_fields": pm.FooterFields,
    "row_group_entry": pm.RowGroupEntry,
    "inlined_bloom": pm.InlinedBloom,
    "bloom_entry": pm.BloomEntry,
    "scratchpad_entry": pm.SCRATCHPAD_ENTRY,
    "covering_index_entry": pm.CoveringIndexEntry,
    "checksum": pm.CHECKSUM,
    "trailer": pm.TRAILER,
}
"""The names of the structures."""

_COLUMNS = "_root.header.column_count"
_WIDTH = pm.RowGroupEntry.size
"""Bytes of a stored position."""

FILE = Struct(
    "header" / pm.FixedHeader.grammar * "The beginning of the file.",
    "column_descriptors"
    / Array(this.header.column_count, pm.ColumnDescriptor.grammar)
    * "The columns, the same in all row groups.",
    "sorting_columns"
    / Array(this.header.sorting_column_count, pm.SortingColumn.grammar)
    * "The columns by which the rows are sorted.",
)
"""The beginning of a file."""


def _has(flags: str, feature: int) -> str:
    return f"({flags} & {int(feature)}) != 0"


def _sections() -> Any:
    """The sections of a footer, selected by its flags."""

    def announced(bit: int) -> Any:
        return expressed(_has("flags", bit))(lambda context: context.flags & bit)

    members = [section.name / If(announced(section.bit), section.structure) for section in pm.FOOTER_SECTIONS]
    return Struct(*members, "unknown" / GreedyBytes * "Fields of features that are not known.")


_IN_HEADER = (
    Place(
        "names_start",
        "Where the names begin, behind the sorting columns.",
        value=f"{pm.FixedHeader.size} + {pm.ColumnDescriptor.size} * header.column_count"
        f" + {pm.SortingColumn.size} * header.sorting_column_count",
    ),
    Place("names", "The names of the columns.", "column_name(_index)", count="header.column_count"),
    Place(
        "sections_start",
        "Where the sections begin: behind the last name.",
        value="header.column_count == 0 ? names_start : names[header.column_count - 1].furthest.as<u8>",
    ),
    Place("has_blooms", "Bloom filters.", value=_has("header.feature_flags", HeaderFeature.BLOOM_FILTERS)),
    Place(
        "has_external_blooms",
        "Bloom filters in the Parquet file.",
        value=_has("header.feature_flags", HeaderFeature.BLOOM_FILTERS_EXTERNAL),
    ),
    Place(
        "bloom_filters",
        "The columns with bloom filters.",
        pm.BLOOM_COLUMNS,
        at="sections_start",
        when="has_blooms",
    ),
    Place("bloom_columns", "How many they are.", value="has_blooms ? bloom_filters.bloom_col_count : 0"),
    Place(
        "squash_tracker",
        "An extension of later revisions.",
        pm.SQUASH_TRACKER,
        at=f"sections_start + (has_blooms ? {_WIDTH} * (1 + bloom_columns) : 0)",
        when=_has("header.feature_flags", HeaderFeature.SQUASH_TRACKER),
    ),
    Place("newest", "The newest snapshot.", "snapshot(header.parquet_meta_file_size)"),
)

_NAME = (
    Place("start", "Its offset.", value="_root.column_descriptors[column].name_offset"),
    Place("length", "Its bytes.", value="_root.column_descriptors[column].name_length"),
    Place(
        "before",
        "The end before.",
        value="column == 0 ? _root.names_start : _root.names[column - 1].furthest.as<u8>",
    ),
    Place(
        "furthest",
        "The greatest end of this name and those before.",
        value="start + length > before ? start + length : before",
    ),
    Place("text", "The name, UTF-8.", at="start", size="length"),
)

_SNAPSHOT = (
    Place("trailer", "The end of the snapshot.", pm.TRAILER, at=f"size - {pm.TRAILER_SIZE}"),
    Place("start", "Where the footer starts.", value=f"size - {pm.TRAILER_SIZE} - trailer.footer_length"),
    Place("footer", "The beginning of the footer.", pm.FooterFields, at="start"),
    Place(
        "row_group_entries",
        "An entry for each row group.",
        pm.RowGroupEntry,
        at=f"start + {pm.FooterFields.size}",
        count="footer.row_group_count",
    ),
    Place(
        "bloom_start",
        "Where the entries of bloom filters begin.",
        value=f"start + {pm.FooterFields.size} + {pm.RowGroupEntry.size} * footer.row_group_count",
    ),
    Place("bloom_count", "How many they are.", value="footer.row_group_count * _root.bloom_columns"),
    Place(
        "inlined_blooms",
        "Those of filters in this file.",
        pm.InlinedBloom,
        at="bloom_start",
        count="bloom_count",
        when="not _root.has_external_blooms",
    ),
    Place(
        "external_blooms",
        "Those of filters in the Parquet file.",
        pm.BloomEntry,
        at="bloom_start",
        count="bloom_count",
        when="_root.has_external_blooms",
    ),
    Place(
        "sections_start",
        "Where the sections begin.",
        value=f"bloom_start + bloom_count * (_root.has_external_blooms ? {pm.BloomEntry.size} : {pm.InlinedBloom.size})",
    ),
    Place("checksum_start", "Where the checksum is.", value=f"size - {pm.TRAILER_SIZE + pm.CHECKSUM_SIZE}"),
    Place(
        "sections",
        "The sections of the footer.",
        "footer_sections(footer.footer_feature_flags)",
        at="sections_start",
        size="checksum_start - sections_start",
    ),
    Place("checksum", "The checksum.", pm.CHECKSUM, at="checksum_start"),
    Place("blocks", "The row groups' blocks.", "block(_index)", count="footer.row_group_count"),
    Place(
        "previous",
        "The snapshot before.",
        "snapshot(footer.prev_parquet_meta_file_size)",
        when="footer.prev_parquet_meta_file_size != 0",
    ),
)

_BLOCK = (
    Place(
        "start", "Its offset.", value=f"_parent.row_group_entries[index].block_offset * {1 << BLOCK_SHIFT}"
    ),
    Place("header", "The beginning of the block.", pm.BlockHeader, at="start"),
    Place(
        "column_chunks",
        "The column chunks.",
        pm.ColumnChunk,
        at=f"start + {pm.BlockHeader.size}",
        count=_COLUMNS,
    ),
    Place(
        "region",
        "Where statistics begin that are stored out of line.",
        value=f"start + {pm.BlockHeader.size} + {pm.ColumnChunk.size} * {_COLUMNS}",
    ),
    Place("statistics", "These statistics.", "out_of_line(_index)", count=_COLUMNS),
    Place(
        "bloom_filters",
        "The bloom filters in this file.",
        "bloom_filter(_index)",
        count="_root.bloom_columns",
        when="not _root.has_external_blooms",
    ),
)

_OUT_OF_LINE = tuple(
    Place(
        side.field,
        f"The {'least' if side is MIN else 'greatest'} value, if it is stored out of line.",
        at=f"_parent.region + _parent.column_chunks[column].{side.field} / {1 << REFERENCE_SHIFT}",
        size=f"_parent.column_chunks[column].{side.field} % {1 << REFERENCE_SHIFT}",
        when=f"(_parent.column_chunks[column].stat_flags & {side.present | side.inlined}) == {side.present}",
    )
    for side in SIDES
)

_BLOOM = (
    Place(
        "start",
        "Its offset, 0 if there is none.",
        value=f"_parent._parent.inlined_blooms[_parent.index * _root.bloom_columns + position].offset * {1 << BLOCK_SHIFT}",
    ),
    Place("filter", "The filter.", pm.BLOOM_BITSET, at="start", when="start != 0"),
)


def definition() -> Definition:
    """The definition of ``_pm``."""
    return (
        Definition(
            "questdb_pm",
            "QuestDB's _pm: metadata of a Parquet file, with a chain of footers",
            NAMES,
            doc="Not expressed: the checksums, and what a reader does where an offset leads nowhere.",
        )
        .with_root(FILE, _IN_HEADER)
        .with_type("column_name", places=_NAME, params={"column": "s4"})
        .with_type("snapshot", places=_SNAPSHOT, params={"size": "u8"})
        .with_type("footer_sections", _sections(), params={"flags": "u8"})
        .with_type("block", places=_BLOCK, params={"index": "s4"})
        .with_type("out_of_line", places=_OUT_OF_LINE, params={"column": "s4"})
        .with_type("bloom_filter", places=_BLOOM, params={"position": "s4"})
    )


__all__ = ["definition"]
