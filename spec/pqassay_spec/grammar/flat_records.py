"""Structures of nothing but integers, read many at a time: faster readings that follow from the grammar.

The grammar stays the definition. From it come a ``struct`` format, which reads thousands of records in a millisecond
without any other library, and a description of the same record as a numpy dtype.

    >>> from typing import NamedTuple
    >>> from construct import Int8ul, Int32ul, Struct
    >>> class Point(NamedTuple):
    ...     x: int
    ...     y: int
    >>> POINT = FlatRecord(Struct("x" / Int8ul, "y" / Int32ul), Point)
    >>> POINT.read(bytes((1, 2, 0, 0, 0))), POINT.dtype
    (Point(x=1, y=2), [('x', '<u1'), ('y', '<u4')])
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, Generic, NamedTuple, TypeVar, cast

from construct import FormatField, Renamed

from pqassay_spec.grammar.labelled import Labelled

Row = TypeVar("Row", bound=NamedTuple)
Bytes = bytes | bytearray | memoryview


class FlatRecord(Generic[Row]):
    """A ``Struct`` of little-endian integers.

    Args:
        grammar: The structure.
        row: A named tuple with the names of its fields, in their order.
    """

    def __init__(self, grammar: Any, row: type[Row]) -> None:
        members = [_integer(member) for member in grammar.subcons]
        names = tuple(member.name for member in members)
        if names != row._fields:
            raise TypeError(f"{row.__name__} has fields {row._fields}, the grammar {names}")
        self.row = row
        self.grammar = grammar
        self.struct = struct.Struct("<" + "".join(member.code for member in members))
        self.size = self.struct.size
        """Bytes of a record."""
        self.dtype = [
            (member.name, f"<{'u' if member.code.isupper() else 'i'}{member.width}") for member in members
        ]
        """What ``numpy.dtype`` takes."""
        self.offsets: dict[str, int] = {}
        """Where each field stands in a record, in bytes."""
        self.widths: dict[str, int] = {}
        """Bytes of each field."""
        position = 0
        for member in members:
            self.offsets[member.name], self.widths[member.name] = position, member.width
            position += member.width

    def read(self, data: Bytes, offset: int = 0) -> Row:
        """The record at an offset. Raises `struct.error` where it does not fit."""
        return self.row._make(self.struct.unpack_from(data, offset))

    def read_many(self, data: Bytes, offset: int, count: int) -> list[Row]:
        """``count`` records, one behind the other. Raises `struct.error` where they do not fit."""
        return list(self.iterate(data, offset, count))

    def iterate(self, data: Bytes, offset: int, count: int) -> Iterator[Row]:
        """The same, one by one."""
        part = memoryview(data)[offset : offset + count * self.size]
        if len(part) != count * self.size:
            raise struct.error(f"{count} records of {self.size} bytes do not fit")
        return map(self.row._make, self.struct.iter_unpack(part))

    def build(self, row: Row) -> bytes:
        """The bytes of a record. Raises `struct.error` where a number does not fit into its field."""
        return self.struct.pack(*row)


class _Integer(NamedTuple):
    """A member of a structure: its name, its code in a ``struct`` format, its bytes."""

    name: str
    code: str
    width: int


def _integer(member: Any) -> _Integer:
    field = member
    while isinstance(field, (Renamed, Labelled)):
        field = cast("Any", field).subcon
    if not isinstance(field, FormatField) or (field.length > 1 and field.fmtstr[0] != "<"):
        raise TypeError(f"{member.name} is no little-endian integer")
    return _Integer(member.name, field.fmtstr[-1], field.length)
