"""The Thrift structs of the schema: physical and converted types, logical types, and the elements of the tree.

`pqassay_spec.parquet.thrift` exports the names of this module, and lists the declared version.

Source: apache/parquet-format, ``src/main/thrift/parquet.thrift``.
"""

from __future__ import annotations

from enum import IntEnum

from pqassay_spec.grammar.thrift import (
    BOOL,
    I8,
    I32,
    STRING,
    EnumOf,
    Record,
    optional,
    required,
    thrift_struct,
    thrift_union,
)

EXTENSION_FIELD = 32767
"""Id of a binary field that every struct reserves for extensions; see ``BinaryProtocolExtensions.md``."""


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
    """How the edges of a GEOGRAPHY bend between two points."""

    SPHERICAL = 0
    VINCENTY = 1
    THOMAS = 2
    ANDOYER = 3
    KARNEY = 4


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
    """A column of nulls of unknown type."""


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


# ------------------------------------------------------------------------------------------------- the tree


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
