"""The kinds of files from the future: one for every enum, union and struct in the declarations of ``parquet.thrift``.

Source: apache/parquet-format, ``parquet.thrift``; ``README.md``, section "Extensibility".
"""

from __future__ import annotations

from enum import IntEnum
from typing import Literal, TypeAlias

from pqassay_spec.grammar.thrift import (
    BINARY,
    BOOL,
    DOUBLE,
    I8,
    I16,
    I32,
    I64,
    EnumOf,
    ListOf,
    Record,
    UnknownField,
    grammar,
    optional,
    thrift_struct,
    unknown_field,
)
from pqassay_spec.grammar.thrift_wire import WireType
from pqassay_spec.parquet import thrift
from pqassay_spec.parquet.thrift import (
    CompressionCodec,
    Encoding,
    FieldRepetitionType,
    Type,
)

Promise: TypeAlias = Literal["rows", "column"]
"""The promise of the format: every row, as physical values; or at most the changed column is refused and the others are read."""

OF_A_COLUMN: frozenset[type] = frozenset({Type, FieldRepetitionType, Encoding, CompressionCodec})
"""Enums without which the values of a column cannot be read. All others are hints, annotations or safely skipped."""

_KEYS = "only encrypted files have it, and drivers get no keys"
_INDEX_PAGES = "no writer writes index pages, and no golden file has one"

WITHOUT_FILE: dict[str, str] = {
    "union/ColumnCryptoMetaData": _KEYS,
    "union/EncryptionAlgorithm": _KEYS,
    "struct/AesGcmV1": _KEYS,
    "struct/AesGcmCtrV1": _KEYS,
    "struct/EncryptionWithFooterKey": _KEYS,
    "struct/EncryptionWithColumnKey": _KEYS,
    "struct/FileCryptoMetaData": _KEYS,
    "struct/IndexPageHeader": _INDEX_PAGES,
}
"""Kinds without a file, each with the reason."""


@thrift_struct
class _Nested(Record):
    """The struct in a `_Later`."""

    numbers: list[int] | None = optional(1, ListOf(I64), "A list of numbers.")
    flags: list[bool] | None = optional(40, ListOf(BOOL), "A list of flags, far from the field before.")


@thrift_struct
class _Later(Record):
    """A struct with every wire type."""

    yes: bool | None = optional(1, BOOL, "A flag.")
    no: bool | None = optional(2, BOOL, "Another flag, which is another wire type.")
    byte: int | None = optional(3, I8, "One byte.")
    short: int | None = optional(4, I16, "A number.")
    number: int | None = optional(5, I32, "A number.")
    long: int | None = optional(6, I64, "A number of the greatest length.")
    double: float | None = optional(7, DOUBLE, "A floating point number.")
    text: bytes | None = optional(8, BINARY, "Bytes.")
    nested: _Nested | None = optional(9, _Nested, "A struct.")
    several: list[_Nested] | None = optional(10, ListOf(_Nested), "Structs.")


def declared() -> tuple[list[type[IntEnum]], list[type[Record]], list[type[Record]]]:
    """The declared enums, unions and structs, each sorted by name."""
    every = [getattr(thrift, name) for name in sorted(thrift.__all__)]
    types = [one for one in every if isinstance(one, type)]
    enums = [one for one in types if issubclass(one, IntEnum)]
    records = [one for one in types if issubclass(one, Record)]
    return (
        enums,
        [one for one in records if one.is_union],
        [one for one in records if not one.is_union],
    )


def next_value(enum: type[IntEnum]) -> int:
    """The first value after the declared ones."""
    return max(enum) + 1


def next_field(kind: type[Record]) -> int:
    """The first id after the declared ones."""
    return max((field.id for field in kind.fields), default=0) + 1


def later_member(kind: type[Record]) -> UnknownField:
    """An undeclared member of a union: an empty struct, like most members."""
    return unknown_field(next_field(kind), WireType.STRUCT, bytes([WireType.STOP]))


def later_field(kind: type[Record]) -> UnknownField:
    """An undeclared field of a struct: a struct with every wire type, which a reader has to skip."""
    nested = _Nested(numbers=[1, -1, 1 << 62], flags=[True, False])
    value = _Later(
        yes=True, no=False, byte=-1, short=300, number=1 << 30, long=-(1 << 63), double=0.5, text=b"\xff\0",
        nested=nested, several=[nested, _Nested()],
    )  # fmt: skip
    raw = bytes(grammar(_Later).build(value))
    return unknown_field(next_field(kind), WireType.STRUCT, raw)


def enum_fields(kind: type[Record], enum: type[IntEnum]) -> list[tuple[str, bool]]:
    """The fields of a struct whose type is an enum, each with whether it is a list."""
    fields: list[tuple[str, bool]] = []
    for field in kind.fields:
        is_list = isinstance(field.type, ListOf)
        element = field.type.element if isinstance(field.type, ListOf) else field.type
        if isinstance(element, EnumOf) and element.names is enum:
            fields.append((field.name, is_list))
    return fields
