"""Columns of the tiny writer: their types, their values as bytes, and nested values split into levels.

A column has one value a row.  Its type is a kind (`KINDS`: ``"int32"``, ``"string"``, ``"uint16"``, ``"date"``, ...), a
custom `Scalar` (`decimal`, `fixed`), or nested: `ListOf`, `MapOf`, `Struct`, `Repeated`.

    >>> [leaf] = leaves_of(Column("tags", ListOf("string"), [["a", None], [], None]))
    >>> leaf.name, leaf.max_definition, leaf.max_repetition
    ('tags.list.element', 3, 1)
    >>> [[tuple(entry) for entry in row] for row in leaf.rows]
    [[(0, 3, b'a'), (1, 2, None)], [(0, 1, None)], [(0, 0, None)]]

Values have the physical type: days for a date, the unscaled number for a decimal, nanoseconds since 1970 for an
INT96.  For a value of fixed width, its bytes may be given instead, for example to write NaN with any payload.
Lists are lists, maps lists of pairs, structs dictionaries, and ``None`` is null.

Source: apache/parquet-format, ``README.md``, section "Nested Encoding"; ``LogicalTypes.md``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

from construct import ConstructError

from pqassay_reference.errors import Refused
from pqassay_spec.parquet.column_order import WIDTHS
from pqassay_spec.parquet.encoding.plain import (
    FIXED_WIDTH,
    JULIAN_DAY_OF_1970,
    UNSIGNED,
    Int96Timestamp,
)
from pqassay_spec.parquet.schema.types import WIDE_TIMESTAMP
from pqassay_spec.parquet.thrift import (
    ConvertedType,
    FieldRepetitionType,
    LogicalType,
    MicroSeconds,
    MilliSeconds,
    NanoSeconds,
    SchemaElement,
    TimeUnit,
    Type,
)

if TYPE_CHECKING:
    from pqassay_golden.tiny.layout import Layout

NANOSECONDS_OF_A_DAY = 86_400_000_000_000

# ------------------------------------------------------------------------------------------------------- types


UNSIGNED_CONVERTED = frozenset(
    (ConvertedType.UINT_8, ConvertedType.UINT_16, ConvertedType.UINT_32, ConvertedType.UINT_64)
)
"""The converted types of unsigned integers."""


@dataclass(frozen=True)
class Scalar:
    """A type of single values.

    Attributes:
        physical: The physical type.
        logical: The logical type.
        converted: The equivalent converted type.
        length: Bytes of a FIXED_LEN_BYTE_ARRAY.
        scale, precision: Those of a decimal, for the converted type.
    """

    physical: Type
    logical: LogicalType | None = None
    converted: ConvertedType | None = None
    length: int | None = None
    scale: int | None = None
    precision: int | None = None

    @property
    def is_unsigned(self) -> bool:
        """Whether values are unsigned integers."""
        if self.logical is None:
            return self.converted in UNSIGNED_CONVERTED
        return self.logical.INTEGER is not None and not self.logical.INTEGER.isSigned

    @property
    def is_text(self) -> bool:
        """Whether values are text by their logical type."""
        logical = self.logical
        return logical is not None and any((logical.STRING, logical.ENUM, logical.JSON))

    @property
    def is_decimal(self) -> bool:
        """Whether values are unscaled decimals."""
        return self.converted is ConvertedType.DECIMAL or (
            self.logical is not None and self.logical.DECIMAL is not None
        )


def meaning(name: str, **members: Any) -> LogicalType:
    """A logical type, from its name in the union and its members."""
    declared: Any = next(field.type for field in LogicalType.fields if field.name == name)
    named: dict[str, Any] = {name: declared(**members)}
    return LogicalType(**named)


def decimal(precision: int, scale: int, physical: Type = Type.INT64, length: int | None = None) -> Scalar:
    """A decimal in any physical type; ``length`` is that of a FIXED_LEN_BYTE_ARRAY."""
    logical = meaning("DECIMAL", scale=scale, precision=precision)
    return Scalar(physical, logical, ConvertedType.DECIMAL, length, scale, precision)


def fixed(length: int, logical: LogicalType | None = None) -> Scalar:
    """Byte strings of one length."""
    return Scalar(Type.FIXED_LEN_BYTE_ARRAY, logical, length=length)


def _integer(bits: int, signed: bool) -> Scalar:
    converted = ConvertedType[f"{'' if signed else 'U'}INT_{bits}"]
    logical = meaning("INTEGER", bitWidth=bits, isSigned=signed)
    return Scalar(Type.INT64 if bits > 32 else Type.INT32, logical, converted)


UNITS = {
    "millis": TimeUnit(MILLIS=MilliSeconds()),
    "micros": TimeUnit(MICROS=MicroSeconds()),
    "nanos": TimeUnit(NANOS=NanoSeconds()),
}


def timestamp(unit: Literal["millis", "micros", "nanos"], utc: bool = True) -> Scalar:
    """Timestamps, in UTC or local. Converted types exist for milliseconds and microseconds in UTC."""
    older = unit != "nanos" and utc
    converted = ConvertedType[f"TIMESTAMP_{unit.upper()}"] if older else None
    return Scalar(Type.INT64, meaning("TIMESTAMP", isAdjustedToUTC=utc, unit=UNITS[unit]), converted)


def wide_timestamp(unit: Literal["millis", "micros", "nanos"]) -> Scalar:
    """Timestamps in twelve bytes, which cover more years than 64 bits. They do not have a converted type."""
    return fixed(WIDE_TIMESTAMP, timestamp(unit).logical)


def time(unit: Literal["millis", "micros", "nanos"]) -> Scalar:
    """Times of day in UTC."""
    converted = None if unit == "nanos" else ConvertedType[f"TIME_{unit.upper()}"]
    logical = meaning("TIME", isAdjustedToUTC=True, unit=UNITS[unit])
    return Scalar(Type.INT32 if unit == "millis" else Type.INT64, logical, converted)


Kind = Literal[
    "boolean", "int32", "int64", "int96", "float", "double", "binary",
    "string", "enum", "json", "bson", "uuid", "float16", "interval", "geometry", "geography", "unknown",
    "int8", "int16", "uint8", "uint16", "uint32", "uint64", "date",
    "time_millis", "time_micros", "time_nanos", "timestamp_millis", "timestamp_micros", "timestamp_nanos",
]  # fmt: skip

KINDS: dict[Kind, Scalar] = {
    "boolean": Scalar(Type.BOOLEAN),
    "int32": Scalar(Type.INT32),
    "int64": Scalar(Type.INT64),
    "int96": Scalar(Type.INT96),
    "float": Scalar(Type.FLOAT),
    "double": Scalar(Type.DOUBLE),
    "binary": Scalar(Type.BYTE_ARRAY),
    "string": Scalar(Type.BYTE_ARRAY, meaning("STRING"), ConvertedType.UTF8),
    "enum": Scalar(Type.BYTE_ARRAY, meaning("ENUM"), ConvertedType.ENUM),
    "json": Scalar(Type.BYTE_ARRAY, meaning("JSON"), ConvertedType.JSON),
    "bson": Scalar(Type.BYTE_ARRAY, meaning("BSON"), ConvertedType.BSON),
    "uuid": fixed(16, meaning("UUID")),
    "float16": fixed(2, meaning("FLOAT16")),
    "interval": Scalar(Type.FIXED_LEN_BYTE_ARRAY, None, ConvertedType.INTERVAL, 12),
    "geometry": Scalar(Type.BYTE_ARRAY, meaning("GEOMETRY")),
    "geography": Scalar(Type.BYTE_ARRAY, meaning("GEOGRAPHY")),
    "unknown": Scalar(Type.INT32, meaning("UNKNOWN")),
    "int8": _integer(8, signed=True),
    "int16": _integer(16, signed=True),
    "uint8": _integer(8, signed=False),
    "uint16": _integer(16, signed=False),
    "uint32": _integer(32, signed=False),
    "uint64": _integer(64, signed=False),
    "date": Scalar(Type.INT32, meaning("DATE"), ConvertedType.DATE),
    "time_millis": time("millis"),
    "time_micros": time("micros"),
    "time_nanos": time("nanos"),
    "timestamp_millis": timestamp("millis"),
    "timestamp_micros": timestamp("micros"),
    "timestamp_nanos": timestamp("nanos"),
}
"""The named types."""


@dataclass(frozen=True)
class ListOf:
    """Lists in three levels: ``<name>.list.element``."""

    element: AnyType
    optional: bool = True


@dataclass(frozen=True)
class MapOf:
    """Maps, given as lists of pairs: ``<name>.key_value.key`` and ``.value``."""

    key: AnyType
    value: AnyType
    optional: bool = True


@dataclass(frozen=True)
class Repeated:
    """A field that is repeated itself, without a list around it: null and empty are the same."""

    element: AnyType


@dataclass(frozen=True)
class Member:
    """A member of a struct."""

    name: str
    type: AnyType
    optional: bool = True


@dataclass(frozen=True)
class Struct:
    """Structs, given as dictionaries."""

    members: Sequence[Member]
    logical: LogicalType | None = None


AnyType: TypeAlias = "Kind | Scalar | ListOf | MapOf | Repeated | Struct"

VARIANT = Struct(
    (Member("metadata", "binary", optional=False), Member("value", "binary", optional=False)),
    meaning("VARIANT", specification_version=1),
)
"""A variant that is not shredded."""


@dataclass(frozen=True)
class Column:
    """A column: its values in row order, ``None`` for null.

    Attributes:
        name: Its name.
        kind: Its type.
        values: One value a row.
        optional: Whether the schema allows null.
        layout: How its chunks are written, if it differs from the whole file.
        field_id: Its id in an external schema.
    """

    name: str
    kind: AnyType
    values: Sequence[Any]
    optional: bool = True
    layout: Layout | None = None
    field_id: int | None = None


def type_name(kind: AnyType) -> str:
    """The name of a type in messages and manifests.

    >>> type_name(ListOf(decimal(9, 2))), type_name(Struct((Member("a", "date"),)))
    ('list<decimal(9,2)>', 'struct<a: date>')
    """
    match kind:
        case str():
            return kind
        case ListOf() | Repeated():
            return f"list<{type_name(kind.element)}>"
        case MapOf():
            return f"map<{type_name(kind.key)}, {type_name(kind.value)}>"
        case Struct():
            members = ", ".join(f"{member.name}: {type_name(member.type)}" for member in kind.members)
            return f"struct<{members}>"
        case Scalar():
            if kind.is_decimal:
                return f"decimal({kind.precision},{kind.scale})"
            named = next((name for name, scalar in KINDS.items() if scalar == kind), None)
            return named or (f"fixed({kind.length})" if kind.length else kind.physical.name.lower())


# ------------------------------------------------------------------------------------------------------ values


def raw_value(scalar: Scalar, value: Any) -> bytes:
    """The PLAIN encoding of one value without a length, as in bounds and hashes; one byte for a boolean.

    Raises:
        ConstructError, TypeError, ValueError, AttributeError, OverflowError, struct.error: It is not a value of the type.
    """
    width = scalar.length if scalar.physical is Type.FIXED_LEN_BYTE_ARRAY else WIDTHS.get(scalar.physical)
    if width is None:
        if scalar.is_decimal and not isinstance(value, bytes):
            return cast("int", value).to_bytes(value.bit_length() // 8 + 1, "big", signed=True)
        return value.encode() if isinstance(value, str) else b"".join((value,))  # refuses what is not bytes
    raw = value if isinstance(value, bytes) else _number(scalar, value, width)
    if len(raw) != width:
        raise ValueError(f"{len(raw)} bytes where {width} belong")
    return raw


def _number(scalar: Scalar, value: Any, width: int) -> bytes:
    if scalar.physical is Type.BOOLEAN:
        if not isinstance(value, bool):
            raise TypeError(f"{value!r} is neither true nor false")
        return bytes((value,))
    if scalar.physical is Type.INT96:
        days, nanoseconds = divmod(value, NANOSECONDS_OF_A_DAY)
        return Int96Timestamp(nanoseconds, days + JULIAN_DAY_OF_1970).build()
    if scalar.physical is Type.FIXED_LEN_BYTE_ARRAY:
        if scalar.is_decimal:
            return cast("int", value).to_bytes(width, "big", signed=True)
        if width == WIDE_TIMESTAMP:
            return cast("int", value).to_bytes(width, "little", signed=True)
        return struct.pack("<e", value)
    numbers = UNSIGNED if scalar.is_unsigned else FIXED_WIDTH
    return bytes(numbers[scalar.physical].build(value))


# ----------------------------------------------------------------------------------------------------- nesting


class Entry(NamedTuple):
    """An entry of a leaf column: its levels, and the value's bytes if the levels mean a value."""

    repetition: int
    definition: int
    raw: bytes | None


@dataclass
class Leaf:
    """A leaf of the schema with its content.

    Attributes:
        column: The column that it belongs to.
        path: The names from below the root.
        scalar, element: Its type.
        max_definition, max_repetition: The greatest levels.
        rows: The entries of each row.
    """

    column: Column
    path: tuple[str, ...]
    scalar: Scalar
    element: SchemaElement
    max_definition: int
    max_repetition: int
    rows: list[list[Entry]] = field(default_factory=list[list[Entry]])

    @cached_property
    def name(self) -> str:
        """The path joined by dots."""
        return ".".join(self.path)


@dataclass
class _Node:
    """A node of the schema tree, and how its value is taken from that of its parent."""

    element: SchemaElement
    pick: Callable[[Any], Any]
    children: list[_Node]
    leaf: Leaf | None = None

    def leaves(self) -> list[Leaf]:
        return [self.leaf] if self.leaf else [leaf for child in self.children for leaf in child.leaves()]

    def elements(self) -> list[SchemaElement]:
        return [self.element, *(element for child in self.children for element in child.elements())]


def _same(value: Any) -> Any:
    return value


def _tree(column: Column) -> _Node:
    """The schema tree of a column, with empty leaves."""

    def node(
        kind: AnyType,
        name: str,
        optional: bool | None,
        above: tuple[int, int],
        path: tuple[str, ...] = (),
        pick: Callable[[Any], Any] = _same,
    ) -> _Node:
        if isinstance(kind, Repeated):
            return node(kind.element, name, None, above, path, pick)
        path = (*path, name)
        repetition = {
            None: FieldRepetitionType.REPEATED,
            True: FieldRepetitionType.OPTIONAL,
            False: FieldRepetitionType.REQUIRED,
        }[optional]
        levels = above[0] + (optional is not False), above[1] + (optional is None)
        element = SchemaElement(name=name, repetition_type=repetition)
        children: list[_Node] = []
        match kind:
            case ListOf():
                element.logicalType = meaning("LIST")
                element.converted_type = ConvertedType.LIST
                inner = Struct((Member("element", kind.element, kind.optional),))
                children = [node(inner, "list", None, levels, path)]
                children[0].children[0].pick = _same
            case MapOf():
                element.logicalType = meaning("MAP")
                element.converted_type = ConvertedType.MAP
                pair = Struct((Member("key", kind.key, False), Member("value", kind.value, kind.optional)))
                children = [node(pair, "key_value", None, levels, path)]
                for place, child in enumerate(children[0].children):
                    child.pick = itemgetter(place)
            case Struct():
                element.logicalType = kind.logical
                children = [
                    node(member.type, member.name, member.optional, levels, path, itemgetter(member.name))
                    for member in kind.members
                ]
            case _:
                scalar = KINDS[kind] if isinstance(kind, str) else kind
                element.type, element.type_length = scalar.physical, scalar.length
                element.converted_type, element.logicalType = scalar.converted, scalar.logical
                element.scale, element.precision = scalar.scale, scalar.precision
                return _Node(element, pick, [], Leaf(column, path, scalar, element, *levels))
        element.num_children = len(children)
        return _Node(element, pick, children)

    root = node(column.kind, column.name, column.optional, (0, 0))
    root.element.field_id = column.field_id
    return root


def elements_of(column: Column) -> list[SchemaElement]:
    """The nodes of a column's schema, depth first."""
    return _tree(column).elements()


def leaves_of(column: Column) -> list[Leaf]:
    """The leaves of a column with their entries, row by row.

    Raises:
        Refused: A value that the column's type cannot hold.
    """
    tree = _tree(column)
    leaves = tree.leaves()
    for value in column.values:
        for leaf in leaves:
            leaf.rows.append([])
        try:
            _take_apart(tree, value, 0, 0, 0)
        except (ConstructError, TypeError, ValueError, AttributeError, LookupError, ArithmeticError, struct.error) as error:  # fmt: skip
            raise Refused(
                f"column {column.name} holds a value that is not {type_name(column.kind)}: {error}"
            ) from None
    return leaves


def _take_apart(node: _Node, value: Any, repetition: int, definition: int, depth: int) -> None:
    """Add the entries of one value, and of everything nested in it, to the last row of its leaves."""
    occurs = node.element.repetition_type
    if occurs == FieldRepetitionType.REPEATED:
        for place, item in enumerate(value or ()):
            _present(node, item, repetition if place == 0 else depth + 1, definition + 1, depth + 1)
        if not value:
            _absent(node, repetition, definition)
    elif value is None:
        if occurs == FieldRepetitionType.REQUIRED:
            leaf = node.leaves()[0]
            raise Refused(f"column {leaf.column.name} is required and holds a null")
        _absent(node, repetition, definition)
    else:
        _present(node, value, repetition, definition + (occurs == FieldRepetitionType.OPTIONAL), depth)


def _present(node: _Node, value: Any, repetition: int, definition: int, depth: int) -> None:
    if node.leaf is not None:
        node.leaf.rows[-1].append(Entry(repetition, definition, raw_value(node.leaf.scalar, value)))
    for child in node.children:
        _take_apart(child, child.pick(value), repetition, definition, depth)


def _absent(node: _Node, repetition: int, definition: int) -> None:
    for leaf in node.leaves():
        leaf.rows[-1].append(Entry(repetition, definition, None))
