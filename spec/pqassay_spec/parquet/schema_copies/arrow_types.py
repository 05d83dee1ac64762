"""The Parquet columns that store the types of Arrow.

A type that Parquet lacks is stored as another type, and only ``ARROW:schema`` distinguishes the two: a duration is a bare
INT64. A bare integer may therefore be one of several types, while the annotation of an annotated one decides.

    >>> column = SchemaElement(name="n", type=Type.INT64)
    >>> fit(ArrowType(Kind.DURATION), column).name, fit(ArrowType(Kind.UTF8), column).name
    ('FITS', 'IGNORED')
    >>> column.converted_type = ConvertedType.INT_64
    >>> fit(ArrowType(Kind.DURATION), column).name
    'FOLLOWED'

Source: apache/arrow and apache/arrow-rs, the behavior of their writers. Which false types readers follow was measured with
pyarrow 26.0, Polars 2.1 and DataFusion 55.0.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from pqassay_spec.parquet.schema.types import annotation_of, converted_of
from pqassay_spec.parquet.schema_copies.arrow import (
    BYTES,
    LISTS,
    NESTED,
    TEXTS,
    ArrowField,
    ArrowType,
    DateUnit,
    Kind,
    Precision,
    Unit,
)
from pqassay_spec.parquet.thrift import ConvertedType, SchemaElement, Type


class Fit(Enum):
    """How well a type of Arrow fits a column."""

    FITS = "stored like this"
    IGNORED = "not stored like this, and readers take the type of the column"
    FOLLOWED = "not stored like this, and a reader follows it"


class ArrowColumn(NamedTuple):
    """A column as writers of Arrow see it.

    Attributes:
        physical: Its physical type.
        annotation: The name of its annotation, parameters included; empty without one.
        length: The bytes of a fixed byte array.
        digits: Precision and scale of a decimal.
        is_local: Whether its logical type marks its times as local.
    """

    physical: int | None
    annotation: str
    length: int
    digits: tuple[int, int]
    is_local: bool

    @classmethod
    def of(cls, element: SchemaElement) -> ArrowColumn:
        """The column of a leaf."""
        logical = element.logicalType
        if logical is None:
            name = _LOGICAL.get(converted_of(element) or "", converted_of(element) or "")
        else:
            name = annotation_of(element) or "UNKNOWN"
        decimal = logical.DECIMAL if logical is not None else None
        digits = (
            (element.precision or 0, element.scale or 0)
            if decimal is None
            else (decimal.precision, decimal.scale)
        )
        local = logical.TIMESTAMP if logical is not None else None
        is_local = local is not None and not local.isAdjustedToUTC
        return cls(element.type, name, element.type_length or 0, digits, is_local)

    @property
    def is_bare(self) -> bool:
        """Whether the column has no annotation."""
        return not self.annotation

    @property
    def is_integer(self) -> bool:
        """Whether readers treat it as a signed integer of the width of its physical type."""
        return self.is_bare or self.annotation in ("INTEGER(32, signed)", "INTEGER(64, signed)")


_LOGICAL = {
    ConvertedType.UTF8.name: "STRING",
    ConvertedType.TIME_MILLIS.name: "TIME(MILLIS)",
    ConvertedType.TIME_MICROS.name: "TIME(MICROS)",
    ConvertedType.TIMESTAMP_MILLIS.name: "TIMESTAMP(MILLIS)",
    ConvertedType.TIMESTAMP_MICROS.name: "TIMESTAMP(MICROS)",
    **{f"INT_{bits}": f"INTEGER({bits}, signed)" for bits in (8, 16, 32, 64)},
    **{f"UINT_{bits}": f"INTEGER({bits}, unsigned)" for bits in (8, 16, 32, 64)},
}
"""Converted types whose name as a logical type is different."""

_INTEGERS = (Type.INT32, Type.INT64)
_UNITS = {"MILLIS": Unit.MS, "MICROS": Unit.US, "NANOS": Unit.NS}
_HELD = {32: 9, 64: 18}
"""Most digits of decimals of 32 and 64 bits."""


def fit(type_: ArrowType, element: SchemaElement) -> Fit:
    """How well a type fits a leaf. A type that is not in this table fits everything."""
    column = ArrowColumn.of(element)
    if type_.kind in NESTED:
        return Fit.IGNORED
    if type_.kind == Kind.RUN_END_ENCODED:
        return fit(type_.children[1].type, element)
    if type_.kind == Kind.NULL or column.annotation == "UNKNOWN":
        return Fit.FITS
    if type_.kind in TEXTS:
        return _text(column)
    if type_.kind in BYTES:
        return _bytes(column)
    return _BY_KIND[type_.kind](type_, column)


def carrier(element: SchemaElement) -> str:
    """The type of a column, as text for messages."""
    column = ArrowColumn.of(element)
    name = next((kind.name for kind in Type if kind == element.type), f"type {element.type}")
    if element.type == Type.FIXED_LEN_BYTE_ARRAY:
        name = f"{name}({element.type_length})"
    if not column.annotation:
        return f"{name} without annotation"
    annotation = column.annotation
    if annotation == "DECIMAL":
        annotation = f"DECIMAL{column.digits}"
    elif column.is_local:
        annotation = f"local {annotation}"
    return f"{name} annotated as {annotation}"


def meaning(type_: ArrowType) -> ArrowType:
    """A type without the details of its layout in memory: widths of offsets, views, dictionaries and runs.

    >>> meaning(ArrowType(Kind.LARGE_UTF8, entries=128)) == meaning(ArrowType(Kind.UTF8_VIEW))
    True
    """
    if type_.kind == Kind.RUN_END_ENCODED:
        return meaning(type_.children[1].type)
    has_names = type_.kind == Kind.STRUCT
    children = tuple(
        ArrowField(each.name if has_names else "", meaning(each.type)) for each in type_.children
    )
    return type_._replace(kind=_ALIKE.get(type_.kind, type_.kind), entries=0, children=children)


_ALIKE = {
    **dict.fromkeys(TEXTS, Kind.UTF8),
    **dict.fromkeys(BYTES, Kind.BINARY),
    **dict.fromkeys(LISTS - {Kind.FIXED_SIZE_LIST}, Kind.LIST),
}
"""Types with the same values."""


def is_storage(type_: ArrowType) -> bool:
    """Whether a type is a storage type of its extension type; ``True`` if that is missing or unknown.

    >>> is_storage(ArrowType(Kind.INT, bits=64, extension="arrow.uuid"))
    False
    """
    wanted = _STORAGE.get(type_.extension)
    return wanted is None or wanted(type_)


_STORAGE: dict[str, Callable[[ArrowType], bool]] = {
    "arrow.uuid": lambda type_: type_.kind == Kind.FIXED_SIZE_BINARY and type_.width == 16,
    "arrow.json": lambda type_: type_.kind in TEXTS,
    "arrow.bool8": lambda type_: type_.kind == Kind.INT and type_.bits == 8 and type_.signed,
    "arrow.fixed_shape_tensor": lambda type_: type_.kind == Kind.FIXED_SIZE_LIST,
}
"""The storage types of Arrow's extension types whose readers refuse other storage types."""

KEEP_UNITS = ("Polars*", "parquet-rs", "datafusion")
"""Applications, as `Writer` names them, that store times and timestamps in their own unit; others may convert them."""


def has_unit_of(type_: ArrowType, element: SchemaElement) -> bool:
    """Whether a time or timestamp has the unit of the column; ``True`` if one of the two has no unit.

    >>> column = SchemaElement(name="t", type=Type.INT64, converted_type=ConvertedType.TIMESTAMP_MICROS)
    >>> [has_unit_of(ArrowType(Kind.TIMESTAMP, unit=unit), column) for unit in (Unit.US, Unit.MS)]
    [True, False]
    """
    name, _, unit = ArrowColumn.of(element).annotation.partition("(")
    kinds = {"TIME": Kind.TIME, "TIMESTAMP": Kind.TIMESTAMP}
    return kinds.get(name) != type_.kind or _UNITS.get(unit.removesuffix(")"), type_.unit) == type_.unit


def _fits(condition: bool) -> Fit:
    return Fit.FITS if condition else Fit.IGNORED


def _text(column: ArrowColumn) -> Fit:
    if column.physical != Type.BYTE_ARRAY:
        return Fit.IGNORED
    if column.annotation in ("STRING", "JSON", "ENUM"):
        return Fit.FITS
    return Fit.FOLLOWED if column.is_bare else Fit.IGNORED


def _bytes(column: ArrowColumn) -> Fit:
    if column.physical == Type.BYTE_ARRAY and column.annotation == "STRING":
        return Fit.FOLLOWED
    return _fits(
        column.physical in (Type.BYTE_ARRAY, Type.FIXED_LEN_BYTE_ARRAY) and column.annotation != "DECIMAL"
    )


def _bool(_: ArrowType, column: ArrowColumn) -> Fit:
    return _fits(column.physical == Type.BOOLEAN)


def _int(type_: ArrowType, column: ArrowColumn) -> Fit:
    if type_.bits > 64:
        return _fits(column.physical == Type.FIXED_LEN_BYTE_ARRAY)
    if column.physical not in _INTEGERS or (type_.bits == 64 and column.physical == Type.INT32):
        return Fit.IGNORED
    wanted = f"INTEGER({type_.bits}, {'' if type_.signed else 'un'}signed)"
    return _fits(column.is_bare or column.annotation == wanted)


def _float(type_: ArrowType, column: ArrowColumn) -> Fit:
    match type_.unit:
        case Precision.HALF:
            return _fits(column.physical == Type.FLOAT or column.length == 2)
        case Precision.SINGLE:
            return _fits(column.physical == Type.FLOAT)
        case _:
            return _fits(column.physical == Type.DOUBLE)


def _decimal(type_: ArrowType, column: ArrowColumn) -> Fit:
    if column.annotation != "DECIMAL":
        return Fit.IGNORED
    precision, scale = column.digits
    if (type_.precision, type_.scale) == column.digits:
        return Fit.FITS
    is_followed = type_.bits != 128 and (type_.scale != scale or precision > _HELD.get(type_.bits, precision))
    return Fit.FOLLOWED if is_followed else Fit.IGNORED


def _date(type_: ArrowType, column: ArrowColumn) -> Fit:
    if column.annotation == "DATE":
        return Fit.FITS
    if type_.unit == DateUnit.DAY or column.physical != Type.INT64:
        return Fit.IGNORED
    if column.annotation in ("", "TIMESTAMP(MILLIS)"):
        return Fit.FITS
    return Fit.FOLLOWED if column.is_integer else Fit.IGNORED


def _time(type_: ArrowType, column: ArrowColumn) -> Fit:
    if column.annotation.startswith("TIME("):
        return Fit.FITS
    if not column.is_integer or column.physical != (Type.INT32 if type_.bits == 32 else Type.INT64):
        return Fit.IGNORED
    return Fit.FITS if column.is_bare and type_.unit in (Unit.S, Unit.NS) else Fit.FOLLOWED


def _timestamp(type_: ArrowType, column: ArrowColumn) -> Fit:
    if column.physical == Type.INT96:
        return Fit.FITS
    if column.annotation.startswith("TIMESTAMP("):
        stored = _UNITS[column.annotation.removeprefix("TIMESTAMP(").removesuffix(")")]
        is_finer = column.is_local and stored == Unit.NS != type_.unit
        is_moved = column.is_local and bool(type_.zone)
        if not is_finer and not is_moved:
            return Fit.FITS
        return Fit.FOLLOWED if is_finer or type_.unit == stored else Fit.IGNORED
    if not column.is_integer or column.physical not in _INTEGERS:
        return Fit.IGNORED
    is_unsaid = column.is_bare and column.physical == Type.INT64 and type_.unit in (Unit.S, Unit.NS)
    return Fit.FITS if is_unsaid else Fit.FOLLOWED


def _duration(_: ArrowType, column: ArrowColumn) -> Fit:
    if column.physical != Type.INT64 or not column.is_integer:
        return Fit.IGNORED
    return Fit.FITS if column.is_bare else Fit.FOLLOWED


def _interval(_: ArrowType, column: ArrowColumn) -> Fit:
    return _fits(column.physical == Type.FIXED_LEN_BYTE_ARRAY)


def _fixed(type_: ArrowType, column: ArrowColumn) -> Fit:
    return _fits(column.physical == Type.FIXED_LEN_BYTE_ARRAY and column.length == type_.width)


_BY_KIND = {
    Kind.BOOL: _bool,
    Kind.INT: _int,
    Kind.FLOATING_POINT: _float,
    Kind.DECIMAL: _decimal,
    Kind.DATE: _date,
    Kind.TIME: _time,
    Kind.TIMESTAMP: _timestamp,
    Kind.DURATION: _duration,
    Kind.INTERVAL: _interval,
    Kind.FIXED_SIZE_BINARY: _fixed,
}
