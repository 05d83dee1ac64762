"""The Thrift structs of Parquet, as tables in the order and with the names of ``parquet.thrift``.

All metadata of a Parquet file are in these structs: the footer (`FileMetaData`), the page index
(`ColumnIndex`, `OffsetIndex`), the bloom filter header and the page headers.  This module declares the footer. The
schema is in `pqassay_spec.parquet.thrift_schema`, the rest in `pqassay_spec.parquet.thrift_pages`; this module exports their names.

The declarations go up to format version 2.14.0 (FILE logical type, chronological INT96 order, ALP encoding). Additions of later
versions become unknown fields and keep their bytes.

Source: apache/parquet-format, ``src/main/thrift/parquet.thrift``.
"""

from __future__ import annotations

from pqassay_spec.grammar.thrift import (
    BINARY,
    BOOL,
    I16,
    I32,
    I64,
    STRING,
    EnumOf,
    ListOf,
    Record,
    optional,
    required,
    thrift_struct,
    thrift_union,
)
from pqassay_spec.parquet.thrift_pages import (
    DICTIONARY_ENCODINGS,
    BloomFilterAlgorithm,
    BloomFilterCompression,
    BloomFilterHash,
    BloomFilterHeader,
    BoundaryOrder,
    BoundingBox,
    ColumnIndex,
    CompressionCodec,
    DataPageHeader,
    DataPageHeaderV2,
    DictionaryPageHeader,
    Encoding,
    GeospatialStatistics,
    IndexPageHeader,
    OffsetIndex,
    PageHeader,
    PageLocation,
    PageType,
    SizeStatistics,
    SplitBlockAlgorithm,
    Statistics,
    Uncompressed,
    XxHash,
)
from pqassay_spec.parquet.thrift_schema import (
    EXTENSION_FIELD,
    BsonType,
    ConvertedType,
    DateType,
    DecimalType,
    EdgeInterpolationAlgorithm,
    EnumType,
    FieldRepetitionType,
    FileType,
    Float16Type,
    GeographyType,
    GeometryType,
    IntType,
    JsonType,
    ListType,
    LogicalType,
    MapType,
    MicroSeconds,
    MilliSeconds,
    NanoSeconds,
    NullType,
    SchemaElement,
    StringType,
    TimestampType,
    TimeType,
    TimeUnit,
    Type,
    UUIDType,
    VariantType,
)

__all__ = [
    "DICTIONARY_ENCODINGS",
    "EXTENSION_FIELD",
    "AesGcmCtrV1",
    "AesGcmV1",
    "BloomFilterAlgorithm",
    "BloomFilterCompression",
    "BloomFilterHash",
    "BloomFilterHeader",
    "BoundaryOrder",
    "BoundingBox",
    "BsonType",
    "ColumnChunk",
    "ColumnCryptoMetaData",
    "ColumnIndex",
    "ColumnMetaData",
    "ColumnOrder",
    "CompressionCodec",
    "ConvertedType",
    "DataPageHeader",
    "DataPageHeaderV2",
    "DateType",
    "DecimalType",
    "DictionaryPageHeader",
    "EdgeInterpolationAlgorithm",
    "Encoding",
    "EncryptionAlgorithm",
    "EncryptionWithColumnKey",
    "EncryptionWithFooterKey",
    "EnumType",
    "FieldRepetitionType",
    "FileCryptoMetaData",
    "FileMetaData",
    "FileType",
    "Float16Type",
    "GeographyType",
    "GeometryType",
    "GeospatialStatistics",
    "IEEE754TotalOrder",
    "IndexPageHeader",
    "Int96TimestampOrder",
    "IntType",
    "JsonType",
    "KeyValue",
    "ListType",
    "LogicalType",
    "MapType",
    "MicroSeconds",
    "MilliSeconds",
    "NanoSeconds",
    "NullType",
    "OffsetIndex",
    "PageEncodingStats",
    "PageHeader",
    "PageLocation",
    "PageType",
    "RowGroup",
    "SchemaElement",
    "SizeStatistics",
    "SortingColumn",
    "SplitBlockAlgorithm",
    "Statistics",
    "StringType",
    "TimeType",
    "TimeUnit",
    "TimestampType",
    "Type",
    "TypeDefinedOrder",
    "UUIDType",
    "Uncompressed",
    "VariantType",
    "XxHash",
]


@thrift_struct
class KeyValue(Record):
    """A key of the writer's choice and its value."""

    key: str = required(1, STRING, "The key.")
    value: str | None = optional(2, STRING, "The value.")


@thrift_struct
class SortingColumn(Record):
    """A column by which the rows of a row group are sorted."""

    column_idx: int = required(1, I32, "Ordinal of the leaf column.")
    descending: bool = required(2, BOOL, "True if values descend.")
    nulls_first: bool = required(3, BOOL, "True if nulls come before values.")


@thrift_struct
class PageEncodingStats(Record):
    """The number of pages of a type that have an encoding."""

    page_type: int = required(1, EnumOf(PageType), "Type of the pages.")
    encoding: int = required(2, EnumOf(Encoding), "Encoding of the pages.")
    count: int = required(3, I32, "Number of such pages.")


@thrift_struct
class ColumnMetaData(Record):
    """The content of a column chunk, and its place."""

    type: int = required(1, EnumOf(Type), "Physical type.")
    encodings: list[int] = required(2, ListOf(EnumOf(Encoding)), "Every encoding that occurs in the chunk.")
    path_in_schema: list[str] = required(3, ListOf(STRING), "Names from below the root to the leaf.")
    codec: int = required(4, EnumOf(CompressionCodec), "Compression of the pages.")
    num_values: int = required(5, I64, "Number of values, nulls included.")
    total_uncompressed_size: int = required(
        6, I64, "Bytes of all pages before compression, headers included."
    )
    total_compressed_size: int = required(7, I64, "Bytes of all pages as stored, headers included.")
    key_value_metadata: list[KeyValue] | None = optional(8, ListOf(KeyValue), "Keys of the writer's choice.")
    data_page_offset: int = required(9, I64, "Offset of the first data page.")
    index_page_offset: int | None = optional(10, I64, "Offset of the index page; never used.")
    dictionary_page_offset: int | None = optional(11, I64, "Offset of the dictionary page.")
    statistics: Statistics | None = optional(12, Statistics, "Statistics of the chunk.")
    encoding_stats: list[PageEncodingStats] | None = optional(
        13, ListOf(PageEncodingStats), "Page counts by type and encoding."
    )
    bloom_filter_offset: int | None = optional(14, I64, "Offset of the bloom filter header.")
    bloom_filter_length: int | None = optional(15, I32, "Bytes of the bloom filter, header included.")
    size_statistics: SizeStatistics | None = optional(16, SizeStatistics, "Sizes and level histograms.")
    geospatial_statistics: GeospatialStatistics | None = optional(
        17, GeospatialStatistics, "Statistics of a geospatial column."
    )


@thrift_struct
class EncryptionWithFooterKey(Record):
    """The column is encrypted with the footer's key."""


@thrift_struct
class EncryptionWithColumnKey(Record):
    """The column is encrypted with a key of its own."""

    path_in_schema: list[str] = required(1, ListOf(STRING), "Names from below the root to the leaf.")
    key_metadata: bytes | None = optional(2, BINARY, "How to find the key.")


@thrift_union
class ColumnCryptoMetaData(Record):
    """The key that a column is encrypted with; a union."""

    ENCRYPTION_WITH_FOOTER_KEY: EncryptionWithFooterKey | None = optional(
        1, EncryptionWithFooterKey, "The footer's key."
    )
    ENCRYPTION_WITH_COLUMN_KEY: EncryptionWithColumnKey | None = optional(
        2, EncryptionWithColumnKey, "A key of its own."
    )


@thrift_struct
class ColumnChunk(Record):
    """One column of one row group."""

    file_path: str | None = optional(1, STRING, "File that holds the pages, if it is another one.")
    file_offset: int = required(2, I64, "Deprecated; writers disagree on its meaning, 0 is right.")
    meta_data: ColumnMetaData | None = optional(
        3, ColumnMetaData, "The chunk's metadata; all but encrypted columns."
    )
    offset_index_offset: int | None = optional(4, I64, "Offset of the OffsetIndex.")
    offset_index_length: int | None = optional(5, I32, "Bytes of the OffsetIndex.")
    column_index_offset: int | None = optional(6, I64, "Offset of the ColumnIndex.")
    column_index_length: int | None = optional(7, I32, "Bytes of the ColumnIndex.")
    crypto_metadata: ColumnCryptoMetaData | None = optional(
        8, ColumnCryptoMetaData, "Key of an encrypted column."
    )
    encrypted_column_metadata: bytes | None = optional(9, BINARY, "The metadata of an encrypted column.")


@thrift_struct
class RowGroup(Record):
    """A horizontal slice of the table."""

    columns: list[ColumnChunk] = required(1, ListOf(ColumnChunk), "One chunk per leaf, in schema order.")
    total_byte_size: int = required(2, I64, "Bytes of all chunks before compression.")
    num_rows: int = required(3, I64, "Number of rows.")
    sorting_columns: list[SortingColumn] | None = optional(
        4, ListOf(SortingColumn), "How the rows are sorted."
    )
    file_offset: int | None = optional(5, I64, "Offset of the first page.")
    total_compressed_size: int | None = optional(6, I64, "Bytes of all chunks as stored.")
    ordinal: int | None = optional(7, I16, "Position of the row group in the file.")


@thrift_struct
class TypeDefinedOrder(Record):
    """The order of the logical type, or of the physical type if there is no logical type."""


@thrift_struct
class IEEE754TotalOrder(Record):
    """Total order of floating point numbers."""


@thrift_struct
class Int96TimestampOrder(Record):
    """Days, then nanoseconds, of an INT96 timestamp."""


@thrift_union
class ColumnOrder(Record):
    """The order that the bounds of a column follow; a union."""

    TYPE_ORDER: TypeDefinedOrder | None = optional(1, TypeDefinedOrder, "Order of the type.")
    IEEE_754_TOTAL_ORDER: IEEE754TotalOrder | None = optional(
        2, IEEE754TotalOrder, "Total order, floats only."
    )
    INT96_TIMESTAMP_ORDER: Int96TimestampOrder | None = optional(
        3, Int96TimestampOrder, "Chronological, INT96 only."
    )


@thrift_struct
class AesGcmV1(Record):
    """AES-GCM for everything."""

    aad_prefix: bytes | None = optional(1, BINARY, "Prefix of the authenticated data.")
    aad_file_unique: bytes | None = optional(2, BINARY, "Part of the authenticated data that names the file.")
    supply_aad_prefix: bool | None = optional(3, BOOL, "True if the reader has to supply the prefix.")


@thrift_struct
class AesGcmCtrV1(Record):
    """AES-GCM for metadata, AES-CTR for pages."""

    aad_prefix: bytes | None = optional(1, BINARY, "Prefix of the authenticated data.")
    aad_file_unique: bytes | None = optional(2, BINARY, "Part of the authenticated data that names the file.")
    supply_aad_prefix: bool | None = optional(3, BOOL, "True if the reader has to supply the prefix.")


@thrift_union
class EncryptionAlgorithm(Record):
    """Encryption of modules; a union."""

    AES_GCM_V1: AesGcmV1 | None = optional(1, AesGcmV1, "AES-GCM.")
    AES_GCM_CTR_V1: AesGcmCtrV1 | None = optional(2, AesGcmCtrV1, "AES-GCM and AES-CTR.")


@thrift_struct
class FileMetaData(Record):
    """The footer."""

    version: int = required(1, I32, "1; readers take 2 for the same.")
    schema: list[SchemaElement] = required(2, ListOf(SchemaElement), "The schema tree, depth first.")
    num_rows: int = required(3, I64, "Number of rows in the file.")
    row_groups: list[RowGroup] = required(4, ListOf(RowGroup), "The row groups.")
    key_value_metadata: list[KeyValue] | None = optional(5, ListOf(KeyValue), "Keys of the writer's choice.")
    created_by: str | None = optional(6, STRING, "Writer: application, version and build.")
    column_orders: list[ColumnOrder] | None = optional(7, ListOf(ColumnOrder), "One order per leaf column.")
    encryption_algorithm: EncryptionAlgorithm | None = optional(
        8, EncryptionAlgorithm, "Set in encrypted files with a plaintext footer."
    )
    footer_signing_key_metadata: bytes | None = optional(
        9, BINARY, "How to find the key that signs the footer."
    )


@thrift_struct
class FileCryptoMetaData(Record):
    """Metadata before an encrypted footer."""

    encryption_algorithm: EncryptionAlgorithm = required(1, EncryptionAlgorithm, "How modules are encrypted.")
    key_metadata: bytes | None = optional(2, BINARY, "How to find the footer's key.")
