"""The Thrift structs of pages and their metadata: statistics, page headers, bloom filter headers and the page index.

`pqassay_spec.parquet.thrift` exports the names of this module, and lists the declared version.

Source: apache/parquet-format, ``src/main/thrift/parquet.thrift``.
"""

from __future__ import annotations

from enum import IntEnum

from pqassay_spec.grammar.thrift import (
    BINARY,
    BOOL,
    DOUBLE,
    I32,
    I64,
    EnumOf,
    ListOf,
    Record,
    optional,
    required,
    thrift_struct,
    thrift_union,
)

# ---------------------------------------------------------------------------------------------------- enums


class Encoding(IntEnum):
    """Encoding of values or levels in a page."""

    PLAIN = 0
    PLAIN_DICTIONARY = 2
    RLE = 3
    BIT_PACKED = 4
    DELTA_BINARY_PACKED = 5
    DELTA_LENGTH_BYTE_ARRAY = 6
    DELTA_BYTE_ARRAY = 7
    RLE_DICTIONARY = 8
    BYTE_STREAM_SPLIT = 9
    ALP = 10


DICTIONARY_ENCODINGS = (Encoding.PLAIN_DICTIONARY, Encoding.RLE_DICTIONARY)
"""Encodings of data pages whose values are indexes into a dictionary: two names for the same encoding."""


class CompressionCodec(IntEnum):
    """Compression of pages."""

    UNCOMPRESSED = 0
    SNAPPY = 1
    GZIP = 2
    LZO = 3
    BROTLI = 4
    LZ4 = 5
    ZSTD = 6
    LZ4_RAW = 7


class PageType(IntEnum):
    """The content of a page."""

    DATA_PAGE = 0
    INDEX_PAGE = 1
    DICTIONARY_PAGE = 2
    DATA_PAGE_V2 = 3


class BoundaryOrder(IntEnum):
    """The order of the page bounds of a column index."""

    UNORDERED = 0
    ASCENDING = 1
    DESCENDING = 2


# ----------------------------------------------------------------------------------------------- statistics


@thrift_struct
class SizeStatistics(Record):
    """Sizes and level histograms of a column chunk, from which memory needs can be estimated."""

    unencoded_byte_array_data_bytes: int | None = optional(
        1, I64, "Bytes of all BYTE_ARRAY values without their length prefixes; for that physical type only."
    )
    repetition_level_histogram: list[int] | None = optional(
        2,
        ListOf(I64),
        "Entry r counts the values at repetition level r; may be left out if the maximum is 0.",
    )
    definition_level_histogram: list[int] | None = optional(
        3,
        ListOf(I64),
        "Entry d counts the values at definition level d; may be left out if the maximum is 0 or 1.",
    )


@thrift_struct
class BoundingBox(Record):
    """Extent of the geometries of a chunk on each axis; ``xmin > xmax`` wraps around the antimeridian."""

    xmin: float = required(1, DOUBLE, "Least x (longitude).")
    xmax: float = required(2, DOUBLE, "Greatest x (longitude).")
    ymin: float = required(3, DOUBLE, "Least y (latitude).")
    ymax: float = required(4, DOUBLE, "Greatest y (latitude).")
    zmin: float | None = optional(5, DOUBLE, "Least z.")
    zmax: float | None = optional(6, DOUBLE, "Greatest z.")
    mmin: float | None = optional(7, DOUBLE, "Least m.")
    mmax: float | None = optional(8, DOUBLE, "Greatest m.")


@thrift_struct
class GeospatialStatistics(Record):
    """Statistics of a GEOMETRY or GEOGRAPHY column."""

    bbox: BoundingBox | None = optional(1, BoundingBox, "Box that holds every instance.")
    geospatial_types: list[int] | None = optional(
        2, ListOf(I32), "WKB type codes that occur; empty if not known."
    )


@thrift_struct
class Statistics(Record):
    """Bounds and counts of the values of a column chunk or page."""

    max: bytes | None = optional(1, BINARY, "Deprecated upper bound, always by signed comparison.")
    min: bytes | None = optional(2, BINARY, "Deprecated lower bound, always by signed comparison.")
    null_count: int | None = optional(3, I64, "Number of nulls; absent does not mean 0.")
    distinct_count: int | None = optional(4, I64, "Number of distinct values.")
    max_value: bytes | None = optional(
        5, BINARY, "Upper bound under the column order, PLAIN without a length prefix."
    )
    min_value: bytes | None = optional(
        6, BINARY, "Lower bound under the column order, PLAIN without a length prefix."
    )
    is_max_value_exact: bool | None = optional(7, BOOL, "True if max_value occurs in the data.")
    is_min_value_exact: bool | None = optional(8, BOOL, "True if min_value occurs in the data.")
    nan_count: int | None = optional(9, I64, "Number of NaN values of a floating point column.")


# --------------------------------------------------------------------------------------------- page headers


@thrift_struct
class DataPageHeader(Record):
    """Header of a data page, version 1."""

    num_values: int = required(1, I32, "Number of values, nulls included.")
    encoding: int = required(2, EnumOf(Encoding), "Encoding of the values.")
    definition_level_encoding: int = required(3, EnumOf(Encoding), "Encoding of the definition levels.")
    repetition_level_encoding: int = required(4, EnumOf(Encoding), "Encoding of the repetition levels.")
    statistics: Statistics | None = optional(5, Statistics, "Statistics of the page.")


@thrift_struct
class IndexPageHeader(Record):
    """Header of an index page; never used."""


@thrift_struct
class DictionaryPageHeader(Record):
    """Header of a dictionary page."""

    num_values: int = required(1, I32, "Number of dictionary entries.")
    encoding: int = required(2, EnumOf(Encoding), "Encoding of the entries.")
    is_sorted: bool | None = optional(3, BOOL, "True if the entries ascend.")


@thrift_struct
class DataPageHeaderV2(Record):
    """Header of a data page, version 2: levels precede the values, uncompressed."""

    num_values: int = required(1, I32, "Number of values, nulls included.")
    num_nulls: int = required(2, I32, "Number of nulls.")
    num_rows: int = required(3, I32, "Number of rows; a row does not cross pages.")
    encoding: int = required(4, EnumOf(Encoding), "Encoding of the values.")
    definition_levels_byte_length: int = required(5, I32, "Bytes of the definition levels.")
    repetition_levels_byte_length: int = required(6, I32, "Bytes of the repetition levels.")
    is_compressed: bool | None = optional(7, BOOL, "Whether the values are compressed; absent means yes.")
    statistics: Statistics | None = optional(8, Statistics, "Statistics of the page.")


# -------------------------------------------------------------------------------------------- bloom filters


@thrift_struct
class SplitBlockAlgorithm(Record):
    """Split blocks of 256 bits."""


@thrift_union
class BloomFilterAlgorithm(Record):
    """Algorithm that sets the bits; a union."""

    BLOCK: SplitBlockAlgorithm | None = optional(1, SplitBlockAlgorithm, "Split blocks.")


@thrift_struct
class XxHash(Record):
    """XXH64 with seed 0."""


@thrift_union
class BloomFilterHash(Record):
    """Hash function; a union."""

    XXHASH: XxHash | None = optional(1, XxHash, "XXH64 of the PLAIN bytes.")


@thrift_struct
class Uncompressed(Record):
    """No compression."""


@thrift_union
class BloomFilterCompression(Record):
    """Compression of the bitset; a union."""

    UNCOMPRESSED: Uncompressed | None = optional(1, Uncompressed, "Not at all.")


@thrift_struct
class BloomFilterHeader(Record):
    """Header before the bitset of a bloom filter."""

    numBytes: int = required(1, I32, "Bytes of the bitset that follows.")
    algorithm: BloomFilterAlgorithm = required(2, BloomFilterAlgorithm, "How bits are set.")
    hash: BloomFilterHash = required(3, BloomFilterHash, "How values are hashed.")
    compression: BloomFilterCompression = required(4, BloomFilterCompression, "How the bitset is compressed.")


# ------------------------------------------------------------------------------------------------- pages


@thrift_struct
class PageHeader(Record):
    """Header before every page."""

    type: int = required(1, EnumOf(PageType), "Which of the headers below is set.")
    uncompressed_page_size: int = required(
        2, I32, "Bytes of the page before compression, without this header."
    )
    compressed_page_size: int = required(3, I32, "Bytes of the page as stored, without this header.")
    crc: int | None = optional(4, I32, "CRC-32 (as in gzip) of the page as stored, without this header.")
    data_page_header: DataPageHeader | None = optional(5, DataPageHeader, "For DATA_PAGE.")
    index_page_header: IndexPageHeader | None = optional(6, IndexPageHeader, "For INDEX_PAGE.")
    dictionary_page_header: DictionaryPageHeader | None = optional(
        7, DictionaryPageHeader, "For DICTIONARY_PAGE."
    )
    data_page_header_v2: DataPageHeaderV2 | None = optional(8, DataPageHeaderV2, "For DATA_PAGE_V2.")


# ----------------------------------------------------------------------------------------------- page index


@thrift_struct
class PageLocation(Record):
    """The place of a data page."""

    offset: int = required(1, I64, "Offset of the page header.")
    compressed_page_size: int = required(2, I32, "Bytes of the page as stored, header included.")
    first_row_index: int = required(3, I64, "Index in the row group of the page's first row.")


@thrift_struct
class OffsetIndex(Record):
    """The places of the data pages of a chunk."""

    page_locations: list[PageLocation] = required(1, ListOf(PageLocation), "The data pages, by offset.")
    unencoded_byte_array_data_bytes: list[int] | None = optional(
        2, ListOf(I64), "Per page: bytes of its BYTE_ARRAY values without length prefixes."
    )


@thrift_struct
class ColumnIndex(Record):
    """Bounds and counts per data page; entry i describes page i of the OffsetIndex."""

    null_pages: list[bool] = required(1, ListOf(BOOL), "True where a page holds only nulls.")
    min_values: list[bytes] = required(2, ListOf(BINARY), "Lower bounds; empty where null_pages is true.")
    max_values: list[bytes] = required(3, ListOf(BINARY), "Upper bounds; empty where null_pages is true.")
    boundary_order: int = required(4, EnumOf(BoundaryOrder), "Whether both lists of bounds are sorted.")
    null_counts: list[int] | None = optional(5, ListOf(I64), "Nulls per page; absent does not mean 0.")
    repetition_level_histograms: list[int] | None = optional(
        6, ListOf(I64), "Repetition level histograms of all pages, one after the other."
    )
    definition_level_histograms: list[int] | None = optional(
        7, ListOf(I64), "Definition level histograms of all pages, one after the other."
    )
    nan_counts: list[int] | None = optional(8, ListOf(I64), "NaN values per page, floating point only.")
