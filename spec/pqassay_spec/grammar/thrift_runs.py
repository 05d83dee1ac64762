"""Long lists of structs with similar bytes: read at once, decoded only when an element is used.

`AlikeStructs` reads a list as a decoder does, and returns an `AlikeList`, which has the shape of each element and the content of
its slots (`pqassay_spec.grammar.thrift_shapes`). An element is decoded when one of its fields is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from threading import RLock
from typing import Any, Generic, TypeVar

from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.grammar.record_walk import has_unknown
from pqassay_spec.grammar.thrift import Record
from pqassay_spec.grammar.thrift_decoder import decoder
from pqassay_spec.grammar.thrift_shapes import Shape, shape_of
from pqassay_spec.grammar.thrift_wire import WireType, read_list_header

AnyRecord = TypeVar("AnyRecord", bound=Record)

Slots = tuple[bytes, ...]
"""The encoded contents of the slots of a struct."""

MOST_SHAPES = 64
"""Most shapes that are remembered; the most recently used ones stay."""

MOST_PLACES = 10_000
"""Most places in a list for which the likely shape is remembered."""

SEEN_FIRST = 32
"""Structs to decode before a shape is made: a small file alone never makes one."""

AT_ONCE = 8
"""Shapes to make at that point."""

MATCHED_BETWEEN, SEEN_BETWEEN = 16, 512
"""How many structs of known shapes, and how many structs in all, must come before another shape is made.

Making a shape takes as long as judging a dozen structs, and is useless if no other struct has it.
"""


class AlikeList(list[AnyRecord], Generic[AnyRecord]):
    """A read-only list of records, some of which are not decoded yet.

    Attributes:
        shapes: The shape of each element; ``None`` for an element without a shape.
        slots: The slots of each element; empty for an element without a shape.
    """

    def __init__(self) -> None:
        super().__init__()
        self.shapes: list[Shape | None] = []
        self.slots: list[Slots] = []


_DECODING = RLock()


def undecoded(record: type[AnyRecord]) -> Callable[[bytes, int], AnyRecord]:
    """A function that makes records from bytes and a position; each record is decoded when one of its fields is first used."""
    fields = [vars(record)[field.name] for field in record.fields]
    place = vars(Record)["unknown"]  # it holds where the record is encoded

    def decoded(self: Any) -> Any:
        with _DECODING:
            if type(self) is undecoded_class:
                data, position = place.__get__(self)
                whole = decoder(record)(data, position, len(data))[0]
                for field in (*fields, place):
                    field.__set__(self, field.__get__(whole))
                object.__setattr__(self, "__class__", record)
        return self

    undecoded_class = type(
        record.__name__,
        (record,),
        {
            "__slots__": (),
            "unknown": property(lambda self: decoded(self).unknown),
            "__getattr__": lambda self, name: getattr(decoded(self), name),
            "__setattr__": lambda self, name, value: setattr(decoded(self), name, value),
            "__eq__": lambda self, other: decoded(self) == other,
            "__reduce_ex__": lambda self, protocol: decoded(self).__reduce_ex__(protocol),
        },
    )

    def make(data: bytes, position: int) -> AnyRecord:
        made: AnyRecord = object.__new__(undecoded_class)
        place.__set__(made, (data, position))
        return made

    return make


_NO_SLOTS: Slots = ()


class KnownShapes(Generic[AnyRecord]):
    """The most recently used shapes of a struct.

    Some of the structs become shapes; each shape is tried on all later structs, in other files as well.

    Args:
        record: The table of the struct.
        seen_first: How many structs to see before a shape is made.

    Attributes:
        seen: How many structs were seen; the finder of shapes counts them, list by list.
    """

    def __init__(self, record: type[AnyRecord], seen_first: int) -> None:
        self.record = record
        self._seen_first = seen_first
        self._shapes: list[Shape] = []
        self._likely: dict[int, Shape] = {}
        self.seen = self._matched = self._made = 0

    def find(self, data: bytes, position: int, column: int) -> tuple[Shape, re.Match[bytes]] | None:
        """The known shape of the struct at a position, and its match; ``None`` if it has no known shape.

        ``column`` is its position in the list: each row group has the same columns.
        """
        shape = self._likely.get(column)
        match = None if shape is None else shape.match(data, position)
        if match is None:
            for place, shape in enumerate(self._shapes):
                if (match := shape.match(data, position)) is not None:
                    self._shapes = [shape, *self._shapes[:place], *self._shapes[place + 1 :]]
                    if column < MOST_PLACES:
                        self._likely[column] = shape
                    break
        if shape is None or match is None:
            return None
        self._matched += 1
        return shape, match

    def learn(self, data: bytes, *, of_one_length: bool) -> None:
        """Make a shape from a struct without one, if it is time for one and the struct decodes; see `shape_of` for the arguments."""
        most = AT_ONCE + self._matched // MATCHED_BETWEEN + self.seen // SEEN_BETWEEN
        if self.seen < self._seen_first or self._made >= most:
            return
        self._made += 1
        try:
            taken = decoder(self.record)(data, 0, len(data))[1]
        except (FormatError, ValueError, IndexError):
            return
        shape = shape_of(self.record, data[:taken], of_one_length=of_one_length)
        if shape is not None:
            self._shapes = [shape, *self._shapes[: MOST_SHAPES - 1]]


class AlikeStructs(Generic[AnyRecord]):
    """The reader of lists of a struct, for `pqassay_spec.grammar.thrift_decoder.decode`.

    Args:
        record: The table of the struct.
        has_one_length: Whether all structs of a shape have binaries of the same length.
        seen_first: How many structs to see before a shape is made.
    """

    def __init__(
        self,
        record: type[AnyRecord],
        has_one_length: Callable[[AnyRecord], bool] = lambda _: True,
        seen_first: int = SEEN_FIRST,
    ) -> None:
        self.record = record
        self._has_one_length = has_one_length
        self._known = KnownShapes(record, seen_first)
        self._undecoded = undecoded(record)

    def __call__(self, data: bytes, position: int, end: int) -> tuple[list[AnyRecord], int]:
        """The list at a position, and the position after it. Raises the errors of a decoder."""
        read, find, undecoded = decoder(self.record), self._known.find, self._undecoded
        size, position = _size(data, position, end)
        listed: AlikeList[AnyRecord] = AlikeList()
        for column in range(size):
            located = find(data, position, column)
            if located is None:
                record, after = read(data, position, end)
                self._known.learn(data[position:after], of_one_length=self._has_one_length(record))
                shape, slots = None, _NO_SLOTS
            else:
                shape, match = located
                record, slots, after = undecoded(data, position), match.groups(), match.end()
            listed.append(record)
            listed.shapes.append(shape)
            listed.slots.append(slots)
            position = after
        self._known.seen += size
        return listed, position


def _size(data: bytes, position: int, end: int) -> tuple[int, int]:
    """How many structs the list at a position has, and where the first one begins."""
    size, kind, position = read_list_header(data, position)
    if size > end - position or (size and kind != WireType.STRUCT):
        raise Malformed("not a list of structs")
    return size, position


MOST_SHARED = 4
"""Most lists that are remembered; a search among more would take longer than decoding one."""

LONGEST_SHARED = 1 << 16
"""Most bytes of a list that is remembered."""


class SharedStructs(Generic[AnyRecord]):
    """The reader of lists of a struct that returns the same object for the same bytes; callers must not change that object.

    The bytes of a list determine its end, so any data that begins with those bytes begins with this list. A list with unknown
    fields is not remembered, because each file records its own.
    """

    def __init__(self, record: type[AnyRecord]) -> None:
        self.record = record
        self._known: list[tuple[bytes, list[AnyRecord]]] = []

    def __call__(self, data: bytes, position: int, end: int) -> tuple[list[AnyRecord], int]:
        """Read a list, as `AlikeStructs` does."""
        for encoded, known in self._known:
            if data.startswith(encoded, position):
                return known, position + len(encoded)
        read, records = decoder(self.record), list[AnyRecord]()
        size, after = _size(data, position, end)
        for _ in range(size):
            record, after = read(data, after, end)
            records.append(record)
        if after - position <= LONGEST_SHARED and not any(map(has_unknown, records)):
            self._known = [(data[position:after], records), *self._known[: MOST_SHARED - 1]]
        return records, after
