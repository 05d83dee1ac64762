"""The column types of a table and of a data file, and whether one can be read as the other.

>>> from pqassay_spec.parquet.thrift import SchemaElement, Type
>>> number = held_in(SchemaElement(name="n", type=Type.INT32))
>>> fit(Held("int", 64), number), fit(Held("int", 16), Held("int", 64)), str(number)
(<Fit.NARROWER: 1>, <Fit.NOT: 3>, 'int of 32')

Source: the Delta protocol, "Primitive Types"; the Iceberg specification, "Parquet" and "Schema Evolution".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from hashlib import sha256
from typing import Literal, NamedTuple

from pqassay_spec.parquet.schema.logical_values import UNITS, logical_name, precision_of
from pqassay_spec.parquet.thrift import ConvertedType, SchemaElement, Type


class Held(NamedTuple):
    """The type of the values of a column.

    Attributes:
        kind: The kind of type: ``int``, ``unsigned``, ``float``, ``decimal``, ``timestamp``, ``time``, ``fixed`` and others.
        size: The bits of a number, the digits of a decimal, the bytes of a ``fixed``, or the units per second of a timestamp.
        scale: The scale of a decimal.
        utc: Whether timestamps are in UTC; ``None`` if unknown.
    """

    kind: str
    size: int = 0
    scale: int = 0
    utc: bool | None = None

    def __str__(self) -> str:
        """The type as text for messages."""
        if self.kind == "decimal":
            return f"decimal({self.size},{self.scale})"
        zone = {None: "", True: ", in UTC", False: ", without a zone"}[self.utc]
        return f"{self.kind} of {self.size:,}{zone}" if self.size else self.kind


class Fit(IntEnum):
    """Whether values of one type can be read as values of another, the best first."""

    SAME = 0
    NARROWER = 1
    """The type of the file is narrower, of the same family: every reader with type promotion reads it."""
    OTHER = 2
    """The values may be readable, but the type is another one."""
    NOT = 3


MILLIS, MICROS, NANOS = UNITS.values()
_INTEGER = re.compile(r"INTEGER\((\d+), (un)?signed\)")
_PHYSICAL: dict[int, Held] = {
    Type.BOOLEAN: Held("boolean"),
    Type.INT32: Held("int", 32),
    Type.INT64: Held("int", 64),
    Type.INT96: Held("timestamp"),
    Type.FLOAT: Held("float", 32),
    Type.DOUBLE: Held("float", 64),
    Type.BYTE_ARRAY: Held("binary"),
}
_LOGICAL = {
    "DATE": Held("date"),
    "STRING": Held("text"),
    "ENUM": Held("text"),
    "JSON": Held("text"),
    "BSON": Held("binary"),
    "UUID": Held("uuid", 16),
    "FLOAT16": Held("float", 16),
    "GEOMETRY": Held("geometry"),
    "GEOGRAPHY": Held("geometry"),
}


def held_in(element: SchemaElement) -> Held | None:
    """The type of a leaf of a file; ``None`` if unknown, for example if all values are null."""
    name = logical_name(element)
    if name is None:
        if element.logicalType is None and element.converted_type == ConvertedType.INTERVAL:
            return Held("interval")
        if element.logicalType is not None or element.converted_type is not None:
            return None  # from another version of the format, or wrong, as other rules report
        if element.type == Type.FIXED_LEN_BYTE_ARRAY:
            return Held("fixed", element.type_length or 0)
        return None if element.type is None else _PHYSICAL.get(element.type)
    if (match := _INTEGER.fullmatch(name)) is not None:
        return Held("unsigned" if match[2] else "int", int(match[1]))
    logical = element.logicalType
    if name == "DECIMAL":
        given = None if logical is None else logical.DECIMAL
        return Held(
            "decimal", precision_of(element) or 0, (element.scale if given is None else given.scale) or 0
        )
    kind, _, unit = name.partition("(")
    if kind in ("TIME", "TIMESTAMP"):
        time = None if logical is None else logical.TIMESTAMP
        utc = None if kind == "TIME" else time is None or bool(time.isAdjustedToUTC)
        return Held(kind.lower(), UNITS[unit.rstrip(")")], utc=utc)
    return _LOGICAL.get(name)


_BYTES = ("text", "binary", "fixed", "uuid", "geometry")


def fit(table: Held, file: Held) -> Fit:
    """Whether the values of a column of a file can be read as values of the column of a table."""
    if table == file:
        return Fit.SAME
    if table.kind == file.kind:
        return _OF_ONE_KIND.get(table.kind, _same)(table, file)
    if table.kind == "int" and file.kind == "unsigned":
        return Fit.OTHER if file.size <= table.size else Fit.NOT
    if table.kind in _BYTES and file.kind in _BYTES:
        is_whole = (table.kind in ("text", "geometry") and file.kind == "binary") or (
            table.kind == "uuid" and file == Held("fixed", 16)
        )
        if is_whole:
            return Fit.SAME
        return Fit.NOT if table.kind == "text" or {table.size, file.size, 0} - {0, file.size} else Fit.OTHER
    return Fit.NOT


def _same(_: Held, __: Held) -> Fit:
    return Fit.SAME


def _numbers(table: Held, file: Held) -> Fit:
    if table.size < file.size:
        return Fit.OTHER if table.kind == "int" and file.size == INT32 else Fit.NOT
    if table.kind == "int" and table.size <= INT32:
        return Fit.SAME  # all of them are stored in the same number of bytes
    return Fit.OTHER if file == Held("float", 16) else Fit.NARROWER


INT32 = 32


def _decimals(table: Held, file: Held) -> Fit:
    return Fit.NARROWER if table.scale == file.scale and file.size < table.size else Fit.NOT


def _moments(table: Held, file: Held) -> Fit:
    if not file.size:
        return Fit.SAME  # INT96, which old writers use for all of them
    is_read = file.size == table.size or (table.size, file.size) == (MICROS, MILLIS)
    return Fit.SAME if is_read and table.utc == file.utc else Fit.OTHER


def _lengths(table: Held, file: Held) -> Fit:
    return Fit.SAME if table.size == file.size else Fit.NOT


_OF_ONE_KIND: dict[str, Callable[[Held, Held], Fit]] = {
    "int": _numbers,
    "float": _numbers,
    "decimal": _decimals,
    "timestamp": _moments,
    "time": _moments,
    "fixed": _lengths,
}
"""The comparison of types of one kind that have a size; two geometries are the same."""

Form = Literal["leaf", "struct", "list", "map", "open"]


class TableField(NamedTuple):
    """A column of a table, or a nested field of it.

    Attributes:
        name: The name that users see, as a path joined by dots.
        names: The names that it may have in a file.
        field_id: Its id in a file, if files have ids.
        type: Its type in the words of the format.
        held: The type of a leaf; ``None`` if it is not compared.
        form: The form of storage; ``open`` for any form.
        is_required: Whether a file without it has nulls that the table does not allow.
        is_constant: Whether readers take its values from the table's metadata instead of the file.
        members: Its nested fields: the members of a struct, the element of a list, key and value of a map.
    """

    name: str
    names: tuple[str, ...]
    field_id: int | None
    type: str
    held: Held | None
    form: Form = "leaf"
    is_required: bool = False
    is_constant: bool = False
    members: tuple[TableField, ...] = ()


@dataclass(frozen=True, eq=False)
class TableSchema:
    """The columns that readers of a table look for in its data files.

    Attributes:
        fields: The columns.
        widens: Whether values may have been written with the file's type before a change to the table's type: ``(table, file)``.
        mode: How columns are identified in files: by ``id``, by a physical ``name``, or by the users' name (``none``).
        last_id: The greatest id of any column so far; 0 if columns have no ids.
    """

    fields: tuple[TableField, ...]
    widens: Callable[[Held, Held], bool] = field(repr=False)
    mode: str
    last_id: int

    @cached_property
    def _digest(self) -> str:
        return sha256(
            repr((self.fields, self.mode, self.last_id, self.widens.__name__)).encode(
                "utf-8", "surrogatepass"
            )
        ).hexdigest()

    def __repr__(self) -> str:
        """A text that is equal for equal columns in every process, since stamps of files contain it."""
        return f"TableSchema({self._digest})"
