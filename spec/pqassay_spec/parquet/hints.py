"""Footer fields that are only hints: rows are the same without them. Examples are places of indexes, statistics, and repeated facts.

A reader that skips a hint reads more than necessary, but nothing wrong.

    >>> from pqassay_spec.parquet.thrift import ColumnMetaData, SchemaElement
    >>> is_hint(ColumnMetaData, "bloom_filter_length"), is_hint(ColumnMetaData, "dictionary_page_offset")
    (True, False)
    >>> is_hint(SchemaElement, "repetition_type")
    False

Source: apache/parquet-format, ``parquet.thrift``; chapter ``parquet_file.md``, section "Fields of another type".
"""

from __future__ import annotations

from collections.abc import Mapping

from pqassay_spec.grammar.thrift import Record
from pqassay_spec.parquet.thrift import (
    BoundingBox,
    ColumnChunk,
    ColumnMetaData,
    GeospatialStatistics,
    RowGroup,
    SizeStatistics,
    Statistics,
)

HINTS: Mapping[type[Record], frozenset[str]] = {
    RowGroup: frozenset({"sorting_columns", "file_offset", "total_compressed_size", "ordinal"}),
    ColumnChunk: frozenset(
        {"offset_index_offset", "offset_index_length", "column_index_offset", "column_index_length"}
    ),
    ColumnMetaData: frozenset(
        {
            "key_value_metadata",
            "index_page_offset",
            "statistics",
            "encoding_stats",
            "bloom_filter_offset",
            "bloom_filter_length",
            "size_statistics",
            "geospatial_statistics",
        }
    ),
    **{
        kind: frozenset(field.name for field in kind.fields if not field.required)
        for kind in (Statistics, SizeStatistics, GeospatialStatistics, BoundingBox)
    },
}
"""The hints of each struct."""


def is_hint(owner: type[Record], name: str) -> bool:
    """Whether a reader that ignores a field of a struct still reads the same rows."""
    return name in HINTS.get(owner, ())
