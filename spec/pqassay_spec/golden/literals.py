"""Rows and values as JSON, in the form of the protocol and the golden files.

Whole numbers beyond 2^53, floats and bytes are objects with one member that names their type, because many JSON readers
would change them: ``{"int": "9007199254740993"}``, ``{"float": "0.1"}``, ``{"bytes": "00ff"}``.
In Python they are ``int``, ``float`` and ``bytes``.  Decimals, dates, times, timestamps, lists, structs and maps have tags as
well; in Python they are the same objects as in JSON.

Source: ``conformance/PROTOCOL.md``, section "Values".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pqassay_spec.base.strict_json import EXACT_INTEGERS, WHOLE_NUMBER, Closed


@dataclass(frozen=True)
class LongInteger(Closed):
    """A whole number in decimal that some JSON readers would change."""

    int: str


@dataclass(frozen=True)
class Float(Closed):
    """A float of 64 bits: the shortest decimal that reads back as the same float, ``nan``, ``inf``, ``-inf`` or ``-0.0``."""

    float: str


@dataclass(frozen=True)
class BinaryLiteral(Closed):
    """Bytes, two hexadecimal digits each."""

    bytes: str


@dataclass(frozen=True)
class Decimal(Closed):
    """A decimal whose digits after the point are as many as its scale: ``1.50``."""

    decimal: str


@dataclass(frozen=True)
class Date(Closed):
    """A date: days since 1970-01-01."""

    date: str


@dataclass(frozen=True)
class Time(Closed):
    """A time of day: nanoseconds since midnight."""

    time: str


@dataclass(frozen=True)
class Timestamp(Closed):
    """A timestamp: nanoseconds since 1970-01-01, in UTC or, if it is local, in local time."""

    timestamp: str


@dataclass(frozen=True)
class List(Closed):
    """A list."""

    list: list[Written]


@dataclass(frozen=True)
class Struct(Closed):
    """A struct: its members by their names."""

    struct: dict[str, Written]


@dataclass(frozen=True)
class Map(Closed):
    """A map: pairs of a key and a value, in their order."""

    map: list[tuple[Written, Written]]


Tagged = Decimal | Date | Time | Timestamp | List | Struct | Map
"""Values whose form in Python is the same as in JSON."""

Written = None | bool | int | str | LongInteger | Float | BinaryLiteral | Tagged
"""A value as it is written in JSON. Whole numbers between -2^53 and 2^53 are written as numbers."""

Value = None | bool | int | float | str | bytes | Tagged
"""A value in Python."""


class ValueNotReadableError(ValueError):
    """A tagged value whose text does not fit its tag."""


def read_value(written: Written) -> Value:
    r"""The Python value of a value in JSON.

    >>> read_value(LongInteger("9007199254740993")), read_value(BinaryLiteral("00ff")), read_value("a")
    (9007199254740993, b'\x00\xff', 'a')

    Raises:
        ValueNotReadableError: The text of a tag does not fit the tag, at any depth.
    """
    try:
        if isinstance(written, LongInteger):
            _require_whole_number(written.int)
            return int(written.int)
        if isinstance(written, Float):
            return float(written.float)
        if isinstance(written, BinaryLiteral):
            return bytes.fromhex(written.bytes)
        if isinstance(written, Decimal) and not re.fullmatch(
            r"-?[0-9]+(\.[0-9]+)?", written.decimal, re.ASCII
        ):
            raise ValueNotReadableError(f"{written.decimal[:60]!r} is not a decimal")
        if isinstance(written, Date | Time | Timestamp):
            _require_whole_number(*vars(written).values())
        for part in _parts(written):
            read_value(part)
    except ValueError as error:
        raise ValueNotReadableError(str(error)) from None
    return written


def _parts(written: Written) -> Iterable[Written]:
    """The values that a list, a struct or a map holds."""
    match written:
        case List():
            return written.list
        case Struct():
            return written.struct.values()
        case Map():
            return [part for pair in written.map for part in pair]
        case _:
            return ()


def _require_whole_number(text: str) -> None:
    if not WHOLE_NUMBER.fullmatch(text):
        raise ValueNotReadableError(f"{text[:60]!r} is not a whole number")


def write_value(value: Value) -> Written:
    """A Python value as it is written in JSON, the inverse of `read_value`."""
    if isinstance(value, float):
        return Float(repr(value))
    if isinstance(value, bytes):
        return BinaryLiteral(value.hex())
    if isinstance(value, int) and abs(value) > EXACT_INTEGERS:
        return LongInteger(str(value))
    return value


@dataclass(frozen=True)
class Column(Closed):
    """A column of a table: one value a row.

    Attributes:
        name: Its name.
        type: Its type. Writers are only asked for ``int32``, ``int64``, ``double``, ``string`` and ``binary``.
        nullable: Whether its schema allows null.
    """

    name: str
    type: str
    nullable: bool


@dataclass(frozen=True)
class Rows(Closed):
    """A table as literals: its columns, and its rows with one value a column."""

    columns: list[Column]
    rows: list[list[Written]]

    def names(self) -> list[str]:
        """The names of the columns, in order."""
        return [column.name for column in self.columns]

    def values(self) -> list[list[Value]]:
        """The rows as Python values."""
        return [[read_value(value) for value in row] for row in self.rows]
