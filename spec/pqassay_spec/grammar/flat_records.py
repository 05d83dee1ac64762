"""Structures that consist only of little-endian integers: declared once, parsed one by one or many at a time.

A structure is a class whose body lists its fields in the order of the format, each with its construct and its doc.

    >>> from construct import Int8ul, Int32ul
    >>> @flat_struct
    ... class Point(FlatStruct):
    ...     "A place on a grid."
    ...     x: int = member(Int8ul, "Distance to the right.")
    ...     y: int = member(Int32ul, "Distance up.")
    >>> Point.read(bytes((1, 2, 0, 0, 0))), Point(1, 2).build().hex(" ")
    (Point(x=1, y=2), '01 02 00 00 00')
    >>> Point.grammar.sizeof(), Point.dtype
    (5, [('x', '<u1'), ('y', '<u4')])

The class is a named tuple. Three things are derived from the declaration: the construct grammar (parse, build, trace, field
tables), a numpy dtype of a record, and a format of ``struct``. The format reads thousands of records in a millisecond
without any other library.
"""

from __future__ import annotations

import struct
from collections import namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast, dataclass_transform

from construct import FormatField, Struct

from pqassay_spec.grammar.constructs import bare
from pqassay_spec.grammar.labelled import Labelled

Row = TypeVar("Row", bound="FlatStruct")
Bytes = bytes | bytearray | memoryview


@dataclass(frozen=True)
class _Member:
    """A field in the class body; the decorator names it."""

    construct: Any
    doc: str


def member(construct: Any, doc: str) -> Any:
    """Declare a field of a flat structure: a little-endian integer, `Labelled` or not."""
    return _Member(construct, doc)


@dataclass_transform(field_specifiers=(member,), frozen_default=True)
class FlatStruct:
    """Base of all declared flat structures: a named tuple of integers.

    Attributes:
        grammar: The construct ``Struct``.
        layout: The same structure as a format of Python's ``struct``.
        size: Bytes of a record.
        dtype: The argument of ``numpy.dtype``.
        offsets: Where each field starts in a record, in bytes.
        widths: Bytes of each field.
    """

    __slots__ = ()
    grammar: ClassVar[Any]
    layout: ClassVar[struct.Struct]
    size: ClassVar[int]
    dtype: ClassVar[list[tuple[str, str]]]
    offsets: ClassVar[dict[str, int]]
    widths: ClassVar[dict[str, int]]

    if TYPE_CHECKING:  # what a named tuple has

        def __iter__(self) -> Iterator[int]: ...
        def __getitem__(self, position: int) -> int: ...
        def _asdict(self) -> dict[str, int]: ...
        def _replace(self, **values: int) -> Self: ...
        @classmethod
        def _make(cls, values: tuple[int, ...]) -> Self: ...

    @classmethod
    def read(cls, data: Bytes, offset: int = 0) -> Self:
        """The record at an offset. Raises `struct.error` if it does not fit."""
        return cls._make(cls.layout.unpack_from(data, offset))

    @classmethod
    def read_many(cls, data: Bytes, offset: int, count: int) -> list[Self]:
        """``count`` records, one after the other. Raises `struct.error` if they do not fit."""
        return list(cls.iterate(data, offset, count))

    @classmethod
    def iterate(cls, data: Bytes, offset: int, count: int) -> Iterator[Self]:
        """Yield ``count`` records, one after the other. Raises `struct.error` if they do not fit."""
        part = memoryview(data)[offset : offset + count * cls.size]
        if len(part) != count * cls.size:
            raise struct.error(f"{count} records of {cls.size} bytes do not fit")
        return map(cls._make, cls.layout.iter_unpack(part))

    @classmethod
    def place(cls, name: str, start: int = 0) -> tuple[int, int]:
        """Offset and length of a field of the record at ``start``."""
        return start + cls.offsets[name], cls.widths[name]

    def build(self) -> bytes:
        """The bytes of a record. Raises `struct.error` if a number does not fit into its field."""
        return self.layout.pack(*self)

    def members(self) -> dict[str, int]:
        """The fields by their names."""
        return self._asdict()

    def changed(self, **values: int) -> Self:
        """The same record with other values of some fields."""
        return self._replace(**values)


def flat_struct(declaration: type[Row]) -> type[Row]:
    """Turn a class body of `member` rows into a class of named tuples.

    Raises:
        TypeError: A field is not a little-endian integer, or has the name of an attribute of `FlatStruct`.
    """
    rows = {name: row for name, row in vars(declaration).items() if isinstance(row, _Member)}
    if taken := sorted(
        rows.keys() & vars(FlatStruct).keys() | rows.keys() & FlatStruct.__annotations__.keys()
    ):
        raise TypeError(f"{declaration.__name__} cannot have a field {', '.join(taken)}")
    integers = {name: _integer(name, row.construct) for name, row in rows.items()}
    layout = struct.Struct("<" + "".join(field.fmtstr[-1] for field in integers.values()))
    widths = {name: int(field.length) for name, field in integers.items()}
    made: Any = namedtuple  # noqa: PYI024 - its fields are known at run time only
    others = {name: value for name, value in vars(declaration).items() if name not in rows}
    return cast(
        "type[Row]",
        type(
            declaration.__name__,
            (made(declaration.__name__, rows), FlatStruct),
            {
                **others,
                "__slots__": (),
                "grammar": Struct(*(name / row.construct * row.doc for name, row in rows.items())),
                "layout": layout,
                "size": layout.size,
                "dtype": [
                    (name, f"<{'u' if field.fmtstr[-1].isupper() else 'i'}{field.length}")
                    for name, field in integers.items()
                ],
                "offsets": {
                    name: sum(list(widths.values())[:position]) for position, name in enumerate(widths)
                },
                "widths": widths,
            },
        ),
    )


def integer_format(structure: Any, name: str) -> struct.Struct:
    """One integer of a construct ``Struct``, flat or not, as a format of Python's ``struct``."""
    construct = next(part for part in structure.subcons if part.name == name)
    return struct.Struct("<" + _integer(name, construct).fmtstr[-1])


def _integer(name: str, construct: Any) -> Any:
    """The integer inside a field's construct."""
    inner = bare(construct)
    if isinstance(inner, Labelled):
        inner = bare(inner.subcon)
    if not isinstance(inner, FormatField) or (inner.length > 1 and inner.fmtstr[0] != "<"):
        raise TypeError(f"{name} is not a little-endian integer")
    return cast("Any", inner)
