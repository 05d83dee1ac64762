"""QuestDB's type codes that consist of parts, and the type of a Parquet column without a code.

A code's low byte is a `ColumnType`; decimals, geohashes, arrays and timestamps have details in the upper bits.  A
Parquet file that QuestDB did not write has no codes, so they are inferred from the schema.

Source: "Parquet metadata file" (``parquet-metadata.md``), sections "Column descriptor" and "Migration"; the layout of
the upper bits as QuestDB 9.4 writes them.
"""

from __future__ import annotations

from typing import NamedTuple

from pqassay_spec.parquet.schema.types import ANNOTATIONS, annotation_of
from pqassay_spec.parquet.thrift import (
    ConvertedType,
    DecimalType,
    IntType,
    LogicalType,
    MicroSeconds,
    MilliSeconds,
    NanoSeconds,
    SchemaElement,
    StringType,
    TimestampType,
    TimeUnit,
    Type,
    UUIDType,
)
from pqassay_spec.pm.codes import (
    ARRAY_DIMENSIONS_SHIFT,
    ARRAY_ELEMENT_MASK,
    ARRAY_ELEMENT_SHIFT,
    DECIMAL_PRECISION_MASK,
    DECIMAL_PRECISION_SHIFT,
    DECIMAL_SCALE_MASK,
    DECIMAL_SCALE_SHIFT,
    DECIMALS,
    DESCENDING_TYPE_BIT,
    DESIGNATED_TYPE_BIT,
    GEOHASH_BITS_MASK,
    GEOHASH_BITS_SHIFT,
    NANOSECONDS_TYPE_BIT,
    NO_TYPE,
    ColumnType,
    type_name,
    type_tag,
)

# ------------------------------------------------------------------------------------------------ composite codes

_DECIMAL_DIGITS = (
    (2, ColumnType.DECIMAL8),
    (4, ColumnType.DECIMAL16),
    (9, ColumnType.DECIMAL32),
    (18, ColumnType.DECIMAL64),
    (38, ColumnType.DECIMAL128),
    (76, ColumnType.DECIMAL256),
)
"""The most digits of each decimal type."""

GEOHASHES = frozenset((ColumnType.GEOBYTE, ColumnType.GEOSHORT, ColumnType.GEOINT, ColumnType.GEOLONG))

MOST_DIMENSIONS = 32
"""Most dimensions of an array."""


def decimal_type(precision: int, scale: int) -> int:
    """TYPE of a decimal; `NO_TYPE` if QuestDB has no type for it.

    >>> tuple(hex(decimal_type(*digits)) for digits in ((2, 1), (18, 4), (76, 6)))
    ('0x4021c', '0x10121f', '0x184c21')
    >>> decimal_type(77, 0)
    -1
    """
    if not 0 <= scale <= precision or precision < 1:
        return NO_TYPE
    for most, tag in _DECIMAL_DIGITS:
        if precision <= most:
            return tag | precision << DECIMAL_PRECISION_SHIFT | scale << DECIMAL_SCALE_SHIFT
    return NO_TYPE


def array_type(element: int, dimensions: int) -> int:
    """TYPE of an array; `NO_TYPE` if it has more dimensions than QuestDB supports.

    >>> array_type(ColumnType.DOUBLE, 1), array_type(ColumnType.DOUBLE, 2), array_type(ColumnType.DOUBLE, 33)
    (2587, 18971, -1)
    """
    if not 1 <= dimensions <= MOST_DIMENSIONS:
        return NO_TYPE
    return ColumnType.ARRAY | element << ARRAY_ELEMENT_SHIFT | dimensions - 1 << ARRAY_DIMENSIONS_SHIFT


def is_designated(code: int) -> bool:
    """Whether TYPE marks the column as the designated timestamp.

    >>> is_designated(131080), is_designated(8), is_designated(-1)
    (True, False, False)
    """
    return type_tag(code) == ColumnType.TIMESTAMP and bool(code & DESIGNATED_TYPE_BIT)


def is_descending(code: int) -> bool:
    """Whether TYPE marks the column as a designated timestamp in descending order."""
    return is_designated(code) and bool(code & DESCENDING_TYPE_BIT)


class TypeParts(NamedTuple):
    """The parts of a code; parts that its type lacks are 0."""

    tag: int
    precision: int = 0
    scale: int = 0
    bits: int = 0
    element: int = 0
    dimensions: int = 0


def type_parts(code: int) -> TypeParts:
    """Split a code into its parts.

    >>> type_parts(0x10121F)
    TypeParts(tag=31, precision=18, scale=4, bits=0, element=0, dimensions=0)
    """
    tag = type_tag(code)
    if tag in DECIMALS:
        return TypeParts(
            tag,
            precision=code >> DECIMAL_PRECISION_SHIFT & DECIMAL_PRECISION_MASK,
            scale=code >> DECIMAL_SCALE_SHIFT & DECIMAL_SCALE_MASK,
        )
    if tag in GEOHASHES:
        return TypeParts(tag, bits=code >> GEOHASH_BITS_SHIFT & GEOHASH_BITS_MASK)
    if tag == ColumnType.ARRAY:
        return TypeParts(
            tag,
            element=code >> ARRAY_ELEMENT_SHIFT & ARRAY_ELEMENT_MASK,
            dimensions=(code >> ARRAY_DIMENSIONS_SHIFT & MOST_DIMENSIONS - 1) + 1,
        )
    return TypeParts(tag)


def described_type(code: int) -> str:
    """A code as text for people, with the details in its upper bits.

    >>> tuple(described_type(code) for code in (0x10121F, 0x11E10, 393224, 12, -1))
    ('DECIMAL(18,4)', 'GEOHASH(30b)', 'TIMESTAMP NS designated', 'SYMBOL', 'none')
    >>> described_type(18971) == "DOUBLE" + 2 * "[]"
    True
    """
    parts = type_parts(code)
    if parts.precision:
        return f"DECIMAL({parts.precision},{parts.scale})"
    if parts.bits:
        return f"GEOHASH({parts.bits}b)"
    if parts.dimensions:
        return type_name(parts.element) + "[]" * parts.dimensions
    return type_name(code)


# ---------------------------------------------------------------------------------------------------------- storage


_DECIMAL_STORES = frozenset((Type.INT32, Type.INT64, Type.BYTE_ARRAY, Type.FIXED_LEN_BYTE_ARRAY))

STORED_AS: dict[int, frozenset[int]] = {
    ColumnType.BOOLEAN: frozenset((Type.BOOLEAN,)),
    **dict.fromkeys(
        (ColumnType.BYTE, ColumnType.SHORT, ColumnType.CHAR, ColumnType.INT), frozenset((Type.INT32,))
    ),
    **dict.fromkeys(
        (ColumnType.GEOBYTE, ColumnType.GEOSHORT, ColumnType.GEOINT, ColumnType.IPV4),
        frozenset((Type.INT32,)),
    ),
    **dict.fromkeys((ColumnType.LONG, ColumnType.GEOLONG), frozenset((Type.INT64,))),
    ColumnType.DATE: frozenset((Type.INT32, Type.INT64)),
    ColumnType.TIMESTAMP: frozenset((Type.INT64, Type.INT96)),
    ColumnType.FLOAT: frozenset((Type.FLOAT,)),
    ColumnType.DOUBLE: frozenset((Type.DOUBLE,)),
    **dict.fromkeys(
        (ColumnType.STRING, ColumnType.SYMBOL, ColumnType.VARCHAR, ColumnType.BINARY),
        frozenset((Type.BYTE_ARRAY,)),
    ),
    **dict.fromkeys(
        (ColumnType.UUID, ColumnType.LONG128, ColumnType.LONG256), frozenset((Type.FIXED_LEN_BYTE_ARRAY,))
    ),
    ColumnType.ARRAY: frozenset((Type.BYTE_ARRAY, Type.DOUBLE)),
    **dict.fromkeys(DECIMALS, _DECIMAL_STORES),
}
"""The physical types in which QuestDB stores values of each type, or from which it infers the type.

Arrays are stored as bytes, or as lists of numbers.
"""


# ------------------------------------------------------------------------------------------------------ inference


_BY_TYPE: dict[int | None, int] = {
    Type.BOOLEAN: ColumnType.BOOLEAN,
    Type.INT32: ColumnType.INT,
    Type.INT64: ColumnType.LONG,
    Type.INT96: ColumnType.TIMESTAMP | NANOSECONDS_TYPE_BIT,
    Type.FLOAT: ColumnType.FLOAT,
    Type.DOUBLE: ColumnType.DOUBLE,
    Type.BYTE_ARRAY: ColumnType.BINARY,
}
"""TYPE of each physical type without a decisive annotation."""

_BY_ANNOTATION: dict[tuple[int | None, str | None], int] = {
    (Type.INT32, "INTEGER(8, signed)"): ColumnType.BYTE,
    (Type.INT32, "INTEGER(16, signed)"): ColumnType.SHORT,
    (Type.INT32, "DATE"): ColumnType.DATE,
    (Type.INT64, "TIMESTAMP(MILLIS)"): ColumnType.DATE,
    (Type.INT64, "TIMESTAMP(MICROS)"): ColumnType.TIMESTAMP,
    (Type.INT64, "TIMESTAMP(NANOS)"): ColumnType.TIMESTAMP | NANOSECONDS_TYPE_BIT,
    (Type.FIXED_LEN_BYTE_ARRAY, "UUID"): ColumnType.UUID,
    (Type.BYTE_ARRAY, "STRING"): ColumnType.VARCHAR,
}
"""TYPE of each physical type with a decisive logical type (a name of `ANNOTATIONS`)."""

_BY_WIDTH = {16: ColumnType.LONG128, 32: ColumnType.LONG256}
"""TYPE of a FIXED_LEN_BYTE_ARRAY by its length."""

_UNANNOTATED = (Type.BOOLEAN, Type.INT96, Type.FLOAT, Type.DOUBLE)
"""Physical types whose annotations are ignored."""


def inferred_type(element: SchemaElement, *, list_dimensions: int = 0) -> int:
    """TYPE of a Parquet column without a stored code; `NO_TYPE` if QuestDB has no such type.

    ``list_dimensions`` is the depth of the leaf in a field that consists only of lists, otherwise 0.
    """
    if element.type == Type.DOUBLE and list_dimensions:
        return array_type(ColumnType.DOUBLE, list_dimensions)
    if element.type not in _UNANNOTATED:
        if (digits := decimal_digits(element)) is not None:
            return decimal_type(*digits)
        name = annotation_of(element) if element.logicalType is not None else _old_annotation(element)
        if (element.type, name) in _BY_ANNOTATION:
            return _BY_ANNOTATION[element.type, name]
    if element.type == Type.FIXED_LEN_BYTE_ARRAY:
        return _BY_WIDTH.get(element.type_length or 0, NO_TYPE)
    return _BY_TYPE.get(element.type, NO_TYPE)


def logical_type(code: int, physical_type: int) -> LogicalType | None:
    """The logical type in Parquet of a column with this TYPE; ``None`` if it needs no annotation.

    >>> logical_type(0x10121F, Type.INT64).DECIMAL, logical_type(ColumnType.LONG, Type.INT64)
    (DecimalType(scale=4, precision=18), None)
    """
    tag = type_tag(code)
    if tag in DECIMALS:
        parts = type_parts(code)
        return LogicalType(DECIMAL=DecimalType(scale=parts.scale, precision=parts.precision))
    if physical_type == Type.BYTE_ARRAY and tag in (
        ColumnType.VARCHAR,
        ColumnType.STRING,
        ColumnType.SYMBOL,
    ):
        return LogicalType(STRING=StringType())
    if physical_type == Type.INT64 and tag in (ColumnType.TIMESTAMP, ColumnType.DATE):
        unit = TimeUnit(MICROS=MicroSeconds())
        if tag == ColumnType.DATE:
            unit = TimeUnit(MILLIS=MilliSeconds())
        elif code & NANOSECONDS_TYPE_BIT:
            unit = TimeUnit(NANOS=NanoSeconds())
        return LogicalType(TIMESTAMP=TimestampType(isAdjustedToUTC=True, unit=unit))
    if physical_type == Type.INT32 and tag in _INTEGER_BITS:
        return LogicalType(INTEGER=IntType(bitWidth=_INTEGER_BITS[tag], isSigned=True))
    if physical_type == Type.FIXED_LEN_BYTE_ARRAY and tag == ColumnType.UUID:
        return LogicalType(UUID=UUIDType())
    return None


_INTEGER_BITS: dict[int, int] = {ColumnType.BYTE: 8, ColumnType.SHORT: 16}
"""Bits of the integers that Parquet stores in 32 bits."""


def _old_annotation(element: SchemaElement) -> str | None:
    """The name of the logical type that is equivalent to an element's converted type."""
    return next((name for name, row in ANNOTATIONS.items() if element.converted_type in row.converted), None)


def decimal_digits(element: SchemaElement) -> tuple[int, int] | None:
    """Precision and scale of a column annotated as decimal; ``None`` for others."""
    logical = element.logicalType
    if logical is not None and logical.DECIMAL is not None:
        return logical.DECIMAL.precision, logical.DECIMAL.scale
    if element.converted_type == ConvertedType.DECIMAL:
        return element.precision or 0, element.scale or 0
    return None
