"""The schema that Arrow stores under the key ``ARROW:schema``: base64 of an IPC message, which is a FlatBuffer.

    >>> value = (
    ...     "/////4AAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAEAAAAUAAAAEAAUAAgABgAHAAwAAAAQABAAAAAA"
    ...     "AAECEAAAACAAAAAEAAAAAAAAAAQAAAB5ZWFyAAAAAAgADAAIAAcACAAAAAAAAAFAAAAAAAAAAA=="
    ... )
    >>> [(field.name, str(field.type)) for field in read_arrow_schema(value, most=10).fields]
    [('year', 'int64')]

Source: apache/arrow, ``format/Schema.fbs`` and ``format/Message.fbs``; "Encapsulated message format" in the columnar format; FlatBuffers,
"Internals".
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import NamedTuple

from pqassay_spec.base.errors import Malformed
from pqassay_spec.parquet.schema_copies.flat_buffer import FlatBuffer, FlatTable

ARROW_KEY = "ARROW:schema"
"""The key whose value is the schema."""

ARROW_RULE = "PQF-111"

EXTENSION_KEY = "ARROW:extension:name"
"""The key of a field whose value is the name of its extension type."""

CONTINUATION = b"\xff\xff\xff\xff"
"""The first bytes of an encapsulated message; its length follows, then the message."""

_LENGTH = struct.Struct("<i")

DEEPEST = 123
"""Deepest nesting of fields that is read; Arrow C++ refuses deeper messages."""


class Kind(IntEnum):
    """The types of Arrow, by their number in the union ``Type``."""

    NULL = 1
    INT = 2
    FLOATING_POINT = 3
    BINARY = 4
    UTF8 = 5
    BOOL = 6
    DECIMAL = 7
    DATE = 8
    TIME = 9
    TIMESTAMP = 10
    INTERVAL = 11
    LIST = 12
    STRUCT = 13
    UNION = 14
    FIXED_SIZE_BINARY = 15
    FIXED_SIZE_LIST = 16
    MAP = 17
    DURATION = 18
    LARGE_BINARY = 19
    LARGE_UTF8 = 20
    LARGE_LIST = 21
    RUN_END_ENCODED = 22
    BINARY_VIEW = 23
    UTF8_VIEW = 24
    LIST_VIEW = 25
    LARGE_LIST_VIEW = 26


class Unit(IntEnum):
    """The units of times, timestamps and durations."""

    S = 0
    MS = 1
    US = 2
    NS = 3


class DateUnit(IntEnum):
    """The units of dates."""

    DAY = 0
    MILLISECOND = 1


class Precision(IntEnum):
    """The widths of floats."""

    HALF = 0
    SINGLE = 1
    DOUBLE = 2


class MetadataVersion(IntEnum):
    """The versions of the message that current readers accept."""

    V4 = 3
    V5 = 4


SCHEMA_HEADER = 1
"""The number of a schema in the union ``MessageHeader``."""

LISTS = frozenset((Kind.LIST, Kind.LARGE_LIST, Kind.FIXED_SIZE_LIST, Kind.LIST_VIEW, Kind.LARGE_LIST_VIEW))
TEXTS = frozenset((Kind.UTF8, Kind.LARGE_UTF8, Kind.UTF8_VIEW))
BYTES = frozenset((Kind.BINARY, Kind.LARGE_BINARY, Kind.BINARY_VIEW))
NESTED = frozenset((*LISTS, Kind.STRUCT, Kind.MAP, Kind.UNION))

_CHILDREN = {**dict.fromkeys(LISTS, 1), Kind.MAP: 1, Kind.RUN_END_ENCODED: 2}
_INTEGERS = (8, 16, 32, 64, 128)
"""Widths of integers in bits; only Polars writes the last one, which Arrow C++ does not read."""

_DECIMALS = (32, 64, 128, 256)


class ArrowType(NamedTuple):
    """A type of Arrow; for an extension type, its storage type, and for a dictionary, the type of its values.

    Attributes:
        kind: Its number in the union ``Type``.
        bits: The width of an integer, a decimal or a time.
        signed: Whether an integer has a sign.
        unit: The unit of a date, time, timestamp or duration; the precision of a float.
        zone: The time zone of a timestamp.
        precision, scale: The digits of a decimal.
        width: The bytes of a binary of fixed size, the items of a list of fixed size.
        children: The fields below it.
        entries: How many values the indexes of a dictionary can distinguish; 0 if it is not a dictionary.
        extension: The name of the extension type around it; empty if there is none.
    """

    kind: Kind
    bits: int = 0
    signed: bool = False
    unit: int = 0
    zone: str = ""
    precision: int = 0
    scale: int = 0
    width: int = 0
    children: tuple[ArrowField, ...] = ()
    entries: int = 0
    extension: str = ""

    def __str__(self) -> str:
        name = _NAMES.get(self.kind)
        return self.kind.name.lower() if name is None else name(self)


_NAMES: dict[Kind, Callable[[ArrowType], str]] = {
    Kind.INT: lambda type_: f"{'' if type_.signed else 'u'}int{type_.bits}",
    Kind.FLOATING_POINT: lambda type_: f"{Precision(type_.unit).name.lower()} float",
    Kind.DECIMAL: lambda type_: f"decimal{type_.bits}({type_.precision}, {type_.scale})",
    Kind.DATE: lambda type_: "date32" if type_.unit == DateUnit.DAY else "date64",
    Kind.TIME: lambda type_: f"time{type_.bits}[{Unit(type_.unit).name.lower()}]",
    Kind.TIMESTAMP: lambda type_: (
        ", ".join(filter(None, (f"timestamp[{Unit(type_.unit).name.lower()}", type_.zone))) + "]"
    ),
    Kind.DURATION: lambda type_: f"duration[{Unit(type_.unit).name.lower()}]",
    Kind.FIXED_SIZE_BINARY: lambda type_: f"fixed_size_binary[{type_.width}]",
}
"""Functions that name the types with parameters."""


class ArrowField(NamedTuple):
    """A field: its name, and its type."""

    name: str
    type: ArrowType


class ArrowSchema(NamedTuple):
    """A schema: its fields, and its keys and values."""

    fields: tuple[ArrowField, ...]
    metadata: tuple[tuple[str, str], ...]


def read_arrow_schema(value: str, *, most: int) -> ArrowSchema:
    """Read the value of `ARROW_KEY`.

    Args:
        value: The value.
        most: Most fields to read, nested fields included: as many as the columns and groups that they describe.

    Raises:
        Malformed: It is not base64, not a message or not a schema, or has more than ``most`` fields.
    """
    try:
        raw = base64.b64decode(value.encode("ascii"), validate=True)
    except (UnicodeEncodeError, binascii.Error) as error:
        raise _bad(f"it is not base64: {error}") from None
    if base64.b64encode(raw).decode() != value:
        raise _bad("its base64 ends in bits that belong to no byte")
    head = len(CONTINUATION) + _LENGTH.size
    if len(raw) < head:
        raise _bad(f"it has {len(raw)} bytes, too few for a message")
    if not raw.startswith(CONTINUATION):
        raise _bad(f"it begins with {raw[:4].hex(' ')}, not with {CONTINUATION.hex(' ')}")
    (length,) = _LENGTH.unpack_from(raw, len(CONTINUATION))
    if not 0 < length <= len(raw) - head:
        raise _bad(f"its message has {length} bytes of {len(raw) - head}")
    return _Reader(raw[head : head + length], most).schema()


def _bad(reason: str) -> Malformed:
    return Malformed(reason, rule=ARROW_RULE)


class _Reader:
    """Reads the schema in a message. The slots of a table are the positions of its members in the source files."""

    def __init__(self, message: bytes, most: int) -> None:
        self.buffer = FlatBuffer(message, ARROW_RULE)
        self.left = most

    def schema(self) -> ArrowSchema:
        message = self.buffer.root()
        version, header = message.number(0, "h"), message.number(1, "B")
        if version not in tuple(MetadataVersion):
            raise _bad(f"its message is of version {version}")
        if header != SCHEMA_HEADER:
            raise _bad(f"its message has a header of type {header}, and a schema has {SCHEMA_HEADER}")
        schema = message.table(2)
        if schema is None:
            raise _bad("its message has no header")
        fields = schema.tables(1)
        if fields is None:
            raise _bad("its schema has no list of fields")
        return ArrowSchema(
            tuple(self.field(field, 0) for field in fields),
            _pairs(schema.tables(2)),
        )

    def field(self, field: FlatTable, depth: int) -> ArrowField:
        self.left -= 1
        if self.left < 0:
            raise Malformed("it has more fields than the file has columns and groups", rule="PQF-112")
        if depth > DEEPEST:
            raise _bad(f"its fields are nested more than {DEEPEST} deep")
        number, table = field.number(2, "B"), field.table(3)
        if number not in tuple(Kind) or table is None:
            raise _bad(f"a field has a type of number {number}" if table else "a field has no type")
        name = field.text(0) or ""
        children = tuple(self.field(child, depth + 1) for child in field.tables(5) or ())
        kind, dictionary = Kind(number), field.table(4)
        extension = dict(_pairs(field.tables(6))).get(EXTENSION_KEY, "")
        entries = 0
        if dictionary is not None:
            indexes = dictionary.table(1)
            if indexes is None:
                raise _bad(f"field {name!r} has a dictionary without a type of its indexes")
            index = _type(Kind.INT, indexes, ())
            entries = 1 << index.bits - index.signed
        wanted = _CHILDREN.get(kind)
        if wanted is not None and len(children) != wanted:
            raise _bad(f"field {name!r} is of type {kind.name}, with {len(children)} children")
        if kind == Kind.MAP and (children[0].type.kind, len(children[0].type.children)) != (Kind.STRUCT, 2):
            raise _bad(f"field {name!r} is a map of something else than pairs")
        read = _type(kind, table, children)
        return ArrowField(name, read._replace(entries=entries, extension=extension))


def _pairs(tables: Iterator[FlatTable] | None) -> tuple[tuple[str, str], ...]:
    """The keys and values in some tables."""
    pairs = [(pair.text(0), pair.text(1)) for pair in tables or ()]
    if any(key is None or value is None for key, value in pairs):
        raise _bad("a key or a value of its metadata is missing")
    return tuple((key or "", value or "") for key, value in pairs)


def _type(kind: Kind, table: FlatTable, children: tuple[ArrowField, ...]) -> ArrowType:
    """A type from its table; omitted members have the defaults of the source."""
    read = _TYPES.get(kind)
    if read is None:
        width = table.number(0, "i") if kind == Kind.FIXED_SIZE_LIST else 0
        return ArrowType(kind, width=width, children=children)
    return read(table)


def _int(table: FlatTable) -> ArrowType:
    return ArrowType(
        Kind.INT, bits=_among(_INTEGERS, table.number(0, "i")), signed=bool(table.number(1, "B"))
    )


def _decimal(table: FlatTable) -> ArrowType:
    bits = _among(_DECIMALS, table.number(2, "i", 128))
    return ArrowType(Kind.DECIMAL, bits=bits, precision=table.number(0, "i"), scale=table.number(1, "i"))


def _time(table: FlatTable) -> ArrowType:
    unit = _among(Unit, table.number(0, "h", Unit.MS))
    bits = _among((32,) if unit in (Unit.S, Unit.MS) else (64,), table.number(1, "i", 32))
    return ArrowType(Kind.TIME, unit=unit, bits=bits)


def _timestamp(table: FlatTable) -> ArrowType:
    return ArrowType(Kind.TIMESTAMP, unit=_among(Unit, table.number(0, "h")), zone=table.text(1) or "")


def _with_unit(kind: Kind, units: type[IntEnum], default: int) -> Callable[[FlatTable], ArrowType]:
    return lambda table: ArrowType(kind, unit=_among(units, table.number(0, "h", default)))


_TYPES: dict[Kind, Callable[[FlatTable], ArrowType]] = {
    Kind.INT: _int,
    Kind.FLOATING_POINT: _with_unit(Kind.FLOATING_POINT, Precision, Precision.HALF),
    Kind.DECIMAL: _decimal,
    Kind.DATE: _with_unit(Kind.DATE, DateUnit, DateUnit.MILLISECOND),
    Kind.TIME: _time,
    Kind.TIMESTAMP: _timestamp,
    Kind.DURATION: _with_unit(Kind.DURATION, Unit, Unit.MS),
    Kind.FIXED_SIZE_BINARY: lambda table: ArrowType(Kind.FIXED_SIZE_BINARY, width=table.number(0, "i")),
}
"""Functions that read the types with parameters."""


def _among(allowed: tuple[int, ...] | type[IntEnum], number: int) -> int:
    if number not in tuple(allowed):
        raise _bad(f"a type has the parameter {number}")
    return number
