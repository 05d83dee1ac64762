"""The Thrift structs of Parquet, as tables in the order and with the names of ``parquet.thrift``.

Everything that a Parquet file says about itself is one of these: the footer (`FileMetaData`), the page index
(`ColumnIndex`, `OffsetIndex`), the bloom filter header and the page headers.  Declared up to format
version 2.14.0 (FILE logical type, chronological INT96 order, ALP encoding); what a later version adds
arrives as an unknown field and keeps its bytes.

Source: apache/parquet-format, ``src/main/thrift/parquet.thrift``.
"""

from __future__ import annotations

from enum import IntEnum

from pqassay_spec.grammar.thrift import (
    BINARY,
    BOOL,
    DOUBLE,
    I8,
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

EXTENSION_FIELD = 32767
"""Id of a binary field that every struct leaves to extensions; see ``BinaryProtocolExtensions.md``."""

# ---------------------------------------------------------------------------------------------------- enums


class Type(IntEnum):
    """Physical types: how values are laid out."""

    BOOLEAN = 0
    INT32 = 1
    INT64 = 2
    INT96 = 3
    FLOAT = 4
    DOUBLE = 5
    BYTE_ARRAY = 6
    FIXED_LEN_BYTE_ARRAY = 7


class ConvertedType(IntEnum):
    """The older annotation of what values mean; superseded by `LogicalType`."""

    UTF8 = 0
    MAP = 1
    MAP_KEY_VALUE = 2
    LIST = 3
    ENUM = 4
    DECIMAL = 5
    DATE = 6
    TIME_MILLIS = 7
    TIME_MICROS = 8
    TIMESTAMP_MILLIS = 9
    TIMESTAMP_MICROS = 10
    UINT_8 = 11
    UINT_16 = 12
    UINT_32 = 13
    UINT_64 = 14
    INT_8 = 15
    INT_16 = 16
    INT_32 = 17
    INT_64 = 18
    JSON = 19
    BSON = 20
    INTERVAL = 21


class FieldRepetitionType(IntEnum):
    """The number of times that a field occurs in its parent."""

    REQUIRED = 0
    OPTIONAL = 1
    REPEATED = 2


class EdgeInterpolationAlgorithm(IntEnum):
    """The bend of the edges of a GEOGRAPHY between two points."""

    SPHERICAL = 0
    VINCENTY = 1
    THOMAS = 2
    ANDOYER = 3
    KARNEY = 4


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
"""Encodings of data pages whose values are indexes into a dictionary: two names of one encoding."""


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


# -------------------------------------------------------------------------------------------- logical types


@thrift_struct
class StringType(Record):
    """UTF-8 text in a BYTE_ARRAY."""


@thrift_struct
class UUIDType(Record):
    """A UUID in 16 fixed bytes."""


@thrift_struct
class MapType(Record):
    """A map of keys to values."""


@thrift_struct
class ListType(Record):
    """A list."""


@thrift_struct
class EnumType(Record):
    """An enum value as UTF-8 text in a BYTE_ARRAY."""


@thrift_struct
class DateType(Record):
    """Days since 1970-01-01 in an INT32."""


@thrift_struct
class Float16Type(Record):
    """A half-precision float in 2 fixed bytes."""


@thrift_struct
class NullType(Record):
    """A column of nulls whose type nobody knew."""


@thrift_struct
class DecimalType(Record):
    """An integer scaled by a power of ten."""

    scale: int = required(1, I32, "Digits after the decimal point, 0 to precision.")
    precision: int = required(2, I32, "Digits in all, at least 1.")


@thrift_struct
class MilliSeconds(Record):
    """10^-3 seconds."""


@thrift_struct
class MicroSeconds(Record):
    """10^-6 seconds."""


@thrift_struct
class NanoSeconds(Record):
    """10^-9 seconds."""


@thrift_union
class TimeUnit(Record):
    """Resolution of a time or timestamp; a union, one member is set."""

    MILLIS: MilliSeconds | None = optional(1, MilliSeconds, "Milliseconds.")
    MICROS: MicroSeconds | None = optional(2, MicroSeconds, "Microseconds.")
    NANOS: NanoSeconds | None = optional(3, NanoSeconds, "Nanoseconds.")


@thrift_struct
class TimestampType(Record):
    """A moment or a local date and time, in an INT64."""

    isAdjustedToUTC: bool = required(1, BOOL, "True for a moment, false for a local date and time.")
    unit: TimeUnit = required(2, TimeUnit, "Resolution.")


@thrift_struct
class TimeType(Record):
    """A time of day, in an INT32 (milliseconds) or INT64."""

    isAdjustedToUTC: bool = required(1, BOOL, "True if normalised to UTC.")
    unit: TimeUnit = required(2, TimeUnit, "Resolution.")


@thrift_struct
class IntType(Record):
    """An integer narrower than, or unlike in sign to, its physical type."""

    bitWidth: int = required(1, I8, "8, 16, 32 or 64.")
    isSigned: bool = required(2, BOOL, "False for unsigned integers.")


@thrift_struct
class JsonType(Record):
    """A JSON document in a BYTE_ARRAY."""


@thrift_struct
class BsonType(Record):
    """A BSON document in a BYTE_ARRAY."""


@thrift_struct
class VariantType(Record):
    """A group that holds a variant value."""

    specification_version: int | None = optional(1, I8, "Version of the variant encoding.")


@thrift_struct
class GeometryType(Record):
    """WKB features with straight edges."""

    crs: str | None = optional(1, STRING, "Coordinate reference system; absent means OGC:CRS84.")


@thrift_struct
class GeographyType(Record):
    """WKB features whose edges bend over the globe."""

    crs: str | None = optional(1, STRING, "Coordinate reference system; absent means OGC:CRS84.")
    algorithm: int | None = optional(
        2, EnumOf(EdgeInterpolationAlgorithm), "How edges bend; absent means SPHERICAL."
    )


@thrift_struct
class FileType(Record):
    """A group that refers to a file, or to a range of one."""


@thrift_union
class LogicalType(Record):
    """The meaning of values; a union, one member is set. An unknown member arrives as an unknown field."""

    STRING: StringType | None = optional(1, StringType, "UTF-8 text.")
    MAP: MapType | None = optional(2, MapType, "A map.")
    LIST: ListType | None = optional(3, ListType, "A list.")
    ENUM: EnumType | None = optional(4, EnumType, "An enum value.")
    DECIMAL: DecimalType | None = optional(5, DecimalType, "A decimal.")
    DATE: DateType | None = optional(6, DateType, "A date.")
    TIME: TimeType | None = optional(7, TimeType, "A time of day.")
    TIMESTAMP: TimestampType | None = optional(8, TimestampType, "A timestamp.")
    INTEGER: IntType | None = optional(10, IntType, "An integer (9 is reserved for intervals).")
    UNKNOWN: NullType | None = optional(11, NullType, "Only nulls.")
    JSON: JsonType | None = optional(12, JsonType, "A JSON document.")
    BSON: BsonType | None = optional(13, BsonType, "A BSON document.")
    UUID: UUIDType | None = optional(14, UUIDType, "A UUID.")
    FLOAT16: Float16Type | None = optional(15, Float16Type, "A half-precision float.")
    VARIANT: VariantType | None = optional(16, VariantType, "A variant.")
    GEOMETRY: GeometryType | None = optional(17, GeometryType, "A geometry.")
    GEOGRAPHY: GeographyType | None = optional(18, GeographyType, "A geography.")
    FILE: FileType | None = optional(19, FileType, "A reference to a file.")


@thrift_struct
class SchemaElement(Record):
    """One node of the schema tree; nodes are listed depth first, the root comes first."""

    type: int | None = optional(1, EnumOf(Type), "Physical type; leaves only.")
    type_length: int | None = optional(2, I32, "Byte length of FIXED_LEN_BYTE_ARRAY values.")
    repetition_type: int | None = optional(
        3, EnumOf(FieldRepetitionType), "Required, optional or repeated; all but the root."
    )
    name: str = required(4, STRING, "Name of the field.")
    num_children: int | None = optional(5, I32, "Number of children; groups only.")
    converted_type: int | None = optional(6, EnumOf(ConvertedType), "Deprecated annotation, see logicalType.")
    scale: int | None = optional(7, I32, "Deprecated scale of a decimal.")
    precision: int | None = optional(8, I32, "Deprecated precision of a decimal.")
    field_id: int | None = optional(9, I32, "Id of the field in the model it came from.")
    logicalType: LogicalType | None = optional(10, LogicalType, "What the values mean.")


# ---------------------------------------------------------------------------------------------- page headers


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


# --------------------------------------------------------------------------------------------- bloom filters


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
    """Stands before the bitset of a bloom filter."""

    numBytes: int = required(1, I32, "Bytes of the bitset that follows.")
    algorithm: BloomFilterAlgorithm = required(2, BloomFilterAlgorithm, "How bits are set.")
    hash: BloomFilterHash = required(3, BloomFilterHash, "How values are hashed.")
    compression: BloomFilterCompression = required(4, BloomFilterCompression, "How the bitset is compressed.")


@thrift_struct
class PageHeader(Record):
    """Stands before every page."""

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


# ------------------------------------------------------------------------------------------------ the footer


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
    """The order of the logical type, else of the physical type."""


@thrift_struct
class IEEE754TotalOrder(Record):
    """Total order of floating point numbers."""


@thrift_struct
class Int96TimestampOrder(Record):
    """Days, then nanoseconds, of an INT96 timestamp."""


@thrift_union
class ColumnOrder(Record):
    """Under which order the bounds of a column hold; a union."""

    TYPE_ORDER: TypeDefinedOrder | None = optional(1, TypeDefinedOrder, "Order of the type.")
    IEEE_754_TOTAL_ORDER: IEEE754TotalOrder | None = optional(
        2, IEEE754TotalOrder, "Total order, floats only."
    )
    INT96_TIMESTAMP_ORDER: Int96TimestampOrder | None = optional(
        3, Int96TimestampOrder, "Chronological, INT96 only."
    )


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
    """Stands before an encrypted footer."""

    encryption_algorithm: EncryptionAlgorithm = required(1, EncryptionAlgorithm, "How modules are encrypted.")
    key_metadata: bytes | None = optional(2, BINARY, "How to find the footer's key.")
