"""Layout of the chunks of a column by the tiny writer: everything that may differ for the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pqassay_spec.parquet.column_order import TYPE_DEFINED
from pqassay_spec.parquet.thrift import (
    BoundaryOrder,
    ColumnOrder,
    CompressionCodec,
    Encoding,
    GeospatialStatistics,
    IEEE754TotalOrder,
    Int96TimestampOrder,
)

OrderName = Literal["type", "total", "timestamp"]

ORDERS: dict[OrderName, ColumnOrder] = {
    "type": TYPE_DEFINED,
    "total": ColumnOrder(IEEE_754_TOTAL_ORDER=IEEE754TotalOrder()),
    "timestamp": ColumnOrder(INT96_TIMESTAMP_ORDER=Int96TimestampOrder()),
}
"""Column orders: that of the type, that of floating point columns with an ordered NaN, and that of INT96 columns."""


@dataclass(frozen=True)
class Layout:
    """Layout of the chunks of a column.

    Attributes:
        order: The column's order in the footer (`ORDERS`); bounds follow it. A column whose type has no order has no
            bounds.

        page_rows: Rows in each page; or the rows of each page of a row group in turn, 0 for an empty page, with the
            other rows in one more page. By default as in the file.
        version: Version of the data pages.
        dictionary: RLE_DICTIONARY, or PLAIN_DICTIONARY as in old writers; no dictionary by default.
        dictionary_pages: Data pages of a chunk that use the dictionary before the writer abandons it;
            all by default.
        sorted_dictionary: Whether the dictionary page claims that its entries ascend. They are in the order of the rows.
        encoding: The encoding of values in pages without dictionary, which must support their type.
        codec: The codec of pages of version 1; those of version 2 are not compressed.
        packed_levels: Whether levels that do not repeat are packed, instead of always written as runs.
        bit_packed_levels: Whether levels of pages of version 1 have the deprecated encoding BIT_PACKED.
        crc: Whether page headers have a CRC.
        page_statistics: Whether page headers have statistics.
        encoding_stats: Whether chunks count their pages by type and encoding.
        index_page_offset: The offset of an index page that chunks claim to have; 0 for no page.
        behind: Data after the pages of a chunk that do not belong to a structure: a copy of its ColumnMetaData or
            ColumnChunk, which ``file_offset`` then points to, or other bytes.

        statistics: Whether chunks have statistics; by default as in the file.
        bounds: Whether statistics have ``min_value`` and ``max_value``.
        exact: Whether statistics state that the bounds are values.
        truncate: Length in bytes to which bounds of byte arrays are cut; an upper bound is then increased.
        null_count, distinct_count: Whether statistics have these.
        nan_count: Whether statistics and page index count NaN; by default only under the total order, which needs it.
        deprecated: Whether statistics have ``min`` and ``max``, which are only true for columns of signed numbers.
        size_statistics: Whether chunks have level histograms and the bytes of byte arrays.
        geospatial: The geospatial statistics of chunks.

        column_index, offset_index: Whether chunks have these; by default as in the file. A chunk without an order,
            or with a page of only NaN under the type-defined order, never has a column index.
        boundary_order: By default the first of ascending, descending and unordered that is true.
        index_truncate: Like `truncate`, for the bounds in the column index.
        null_counts: Whether the column index has these.
        histograms: Whether the column index has level histograms.
        unencoded_bytes: Whether the offset index has the bytes of byte arrays.

        bloom_bytes: Bytes of the bitset; by default about one block for every eight distinct values.
    """

    order: OrderName = "type"

    page_rows: int | Sequence[int] | None = None
    version: Literal[1, 2] = 1
    dictionary: Literal[Encoding.RLE_DICTIONARY, Encoding.PLAIN_DICTIONARY] | None = None
    dictionary_pages: int | None = None
    sorted_dictionary: bool = False
    encoding: Encoding = Encoding.PLAIN
    codec: CompressionCodec = CompressionCodec.UNCOMPRESSED
    packed_levels: bool = False
    bit_packed_levels: bool = False
    crc: bool = True
    page_statistics: bool = False
    encoding_stats: bool = False
    index_page_offset: int | None = None
    behind: Literal["ColumnMetaData", "ColumnChunk"] | bytes = b""

    statistics: bool | None = None
    bounds: bool = True
    exact: bool = False
    truncate: int | None = None
    null_count: bool = True
    distinct_count: bool = False
    nan_count: bool | None = None
    deprecated: bool = False
    size_statistics: bool = False
    geospatial: GeospatialStatistics | None = None

    column_index: bool | None = None
    offset_index: bool | None = None
    boundary_order: BoundaryOrder | None = None
    index_truncate: int | None = None
    null_counts: bool = True
    histograms: bool = False
    unencoded_bytes: bool = False

    bloom_bytes: int | None = None
