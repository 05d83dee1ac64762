"""Logical types: the physical types and lengths that each of them annotates, and the equivalent converted type.

The table `ANNOTATIONS` has a row for each logical type, parameters included: ``TIME(MILLIS)`` and ``TIME(MICROS)`` annotate
different physical types.  `CONVERTED` is the table of the older annotation, the only one that old readers know.

    >>> from pqassay_spec.parquet.thrift import DateType
    >>> annotation_of(SchemaElement(name="day", type=Type.INT64, logicalType=LogicalType(DATE=DateType())))
    'DATE'
    >>> ANNOTATIONS["DATE"].on
    (Carrier(type=<Type.INT32: 1>, length=None),)

Source: apache/parquet-format, ``LogicalTypes.md``; ``parquet.thrift``, ``LogicalType`` and ``ConvertedType``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from pqassay_spec.parquet.thrift import (
    EXTENSION_FIELD,
    ConvertedType,
    LogicalType,
    SchemaElement,
    TimeUnit,
    Type,
)


class Carrier(NamedTuple):
    """A kind of element that an annotation fits: a physical type, with a length if that matters; ``type`` is ``None`` for a group."""

    type: Type | None
    length: int | None = None

    def __str__(self) -> str:
        if self.type is None:
            return "a group"
        return self.type.name if self.length is None else f"{self.type.name}({self.length})"

    def is_of(self, element: SchemaElement) -> bool:
        """Whether an element is of this kind; a missing length is not an error here."""
        has_length = self.length is None or not element.type_length or element.type_length == self.length
        return element.type == self.type and has_length


class Annotation(NamedTuple):
    """A logical type.

    Attributes:
        on: The kinds of elements that it annotates; empty for any.
        converted: The converted types with the same meaning for old readers, the usual one first; may be empty.
        wider: Further kinds of elements that it annotates, for which there is no converted type.
    """

    on: tuple[Carrier, ...]
    converted: tuple[ConvertedType, ...] = ()
    wider: tuple[Carrier, ...] = ()

    def fits(self, element: SchemaElement) -> bool:
        """Whether it may annotate an element."""
        return not self.on or any(carrier.is_of(element) for carrier in (*self.on, *self.wider))

    def converted_on(self, element: SchemaElement) -> tuple[ConvertedType, ...]:
        """The converted types with the same meaning for an element."""
        return () if any(carrier.is_of(element) for carrier in self.wider) else self.converted

    @property
    def carriers(self) -> str:
        """The kinds of elements that it annotates, as text for messages."""
        return " or ".join(map(str, (*self.on, *self.wider))) or "any type"


GROUP = (Carrier(None),)
BYTES = (Carrier(Type.BYTE_ARRAY),)
INT32 = (Carrier(Type.INT32),)
INT64 = (Carrier(Type.INT64),)
NUMBERS = (*INT32, *INT64, Carrier(Type.FIXED_LEN_BYTE_ARRAY), *BYTES)


def fixed(length: int) -> tuple[Carrier, ...]:
    """The kind of elements with a fixed number of bytes."""
    return (Carrier(Type.FIXED_LEN_BYTE_ARRAY, length),)


WIDE_TIMESTAMP = 12
"""Bytes of a timestamp that needs more than 64 bits: a signed little-endian number of units since 1970."""
WIDE = fixed(WIDE_TIMESTAMP)


# --8<-- [start:table]
ANNOTATIONS: dict[str, Annotation] = {
    "STRING": Annotation(BYTES, (ConvertedType.UTF8,)),
    "MAP": Annotation(GROUP, (ConvertedType.MAP, ConvertedType.MAP_KEY_VALUE)),
    "LIST": Annotation(GROUP, (ConvertedType.LIST,)),
    "ENUM": Annotation(BYTES, (ConvertedType.ENUM,)),
    "DECIMAL": Annotation(NUMBERS, (ConvertedType.DECIMAL,)),
    "DATE": Annotation(INT32, (ConvertedType.DATE,)),
    "TIME(MILLIS)": Annotation(INT32, (ConvertedType.TIME_MILLIS,)),
    "TIME(MICROS)": Annotation(INT64, (ConvertedType.TIME_MICROS,)),
    "TIME(NANOS)": Annotation(INT64),
    "TIMESTAMP(MILLIS)": Annotation(INT64, (ConvertedType.TIMESTAMP_MILLIS,), WIDE),
    "TIMESTAMP(MICROS)": Annotation(INT64, (ConvertedType.TIMESTAMP_MICROS,), WIDE),
    "TIMESTAMP(NANOS)": Annotation(INT64, wider=WIDE),
    "INTEGER(8, signed)": Annotation(INT32, (ConvertedType.INT_8,)),
    "INTEGER(16, signed)": Annotation(INT32, (ConvertedType.INT_16,)),
    "INTEGER(32, signed)": Annotation(INT32, (ConvertedType.INT_32,)),
    "INTEGER(64, signed)": Annotation(INT64, (ConvertedType.INT_64,)),
    "INTEGER(8, unsigned)": Annotation(INT32, (ConvertedType.UINT_8,)),
    "INTEGER(16, unsigned)": Annotation(INT32, (ConvertedType.UINT_16,)),
    "INTEGER(32, unsigned)": Annotation(INT32, (ConvertedType.UINT_32,)),
    "INTEGER(64, unsigned)": Annotation(INT64, (ConvertedType.UINT_64,)),
    "UNKNOWN": Annotation(()),
    "JSON": Annotation(BYTES, (ConvertedType.JSON,)),
    "BSON": Annotation(BYTES, (ConvertedType.BSON,)),
    "UUID": Annotation(fixed(16)),
    "FLOAT16": Annotation(fixed(2)),
    "VARIANT": Annotation(GROUP),
    "GEOMETRY": Annotation(BYTES),
    "GEOGRAPHY": Annotation(BYTES),
    "FILE": Annotation(GROUP),
}
"""Every logical type by its name and parameters."""

CONVERTED: dict[int, Annotation] = {
    **{int(kind): row._replace(wider=()) for row in ANNOTATIONS.values() for kind in row.converted},
    int(ConvertedType.INTERVAL): Annotation(fixed(12)),
}
"""Every converted type with the kinds of elements that it annotates. An interval does not have a logical type."""
# --8<-- [end:table]


def annotation_of(element: SchemaElement) -> str | None:
    """The name in `ANNOTATIONS` of an element's logical type, its parameters included.

    ``None`` without a logical type, and for one that is unknown (readers ignore it) or ambiguous because two are set. A name that
    is not in the table, such as ``INTEGER(7, signed)``, is a logical type with invalid parameters.
    """
    logical = element.logicalType
    if logical is None:
        return None
    name = _member(logical)
    time = logical.TIME or logical.TIMESTAMP
    if time is not None:
        known = _member(time.unit)
        return name and known and f"{name}({known})"
    if name == "INTEGER" and logical.INTEGER is not None:
        return f"INTEGER({logical.INTEGER.bitWidth}, {'' if logical.INTEGER.isSigned else 'un'}signed)"
    return name


def _member(union: LogicalType | TimeUnit) -> str | None:
    """The name of the only member of a union; ``None`` if it is unknown, or there are two."""
    if union.unknown and any(unknown.id != EXTENSION_FIELD for unknown in union.unknown):
        return None
    names = [row.name for row in union.fields if getattr(union, row.name) is not None]
    return names[0] if len(names) == 1 else None


def converted_of(element: SchemaElement) -> str | None:
    """The name of an element's converted type; ``None`` if there is none, or it is unknown."""
    kind = element.converted_type
    return ConvertedType(kind).name if kind is not None and kind in CONVERTED else None


def most_digits(element: SchemaElement) -> int | None:
    """Digits of the greatest decimal that an element's physical type can store; ``None`` if there is no limit.

    >>> most_digits(SchemaElement(name="price", type=Type.FIXED_LEN_BYTE_ARRAY, type_length=16))
    38
    """
    if element.type == Type.INT32:
        return 9
    if element.type == Type.INT64:
        return 18
    if element.type == Type.FIXED_LEN_BYTE_ARRAY and element.type_length and element.type_length > 0:
        return math.floor((8 * element.type_length - 1) * math.log10(2))
    return None
