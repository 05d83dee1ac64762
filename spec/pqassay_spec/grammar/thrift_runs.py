"""Long lists of structs that are encoded alike, which are read at once and decoded when somebody looks.

`AlikeStructs` reads a list as a decoder does, and returns an `AlikeList`: it says of which shape each element is and what is in
its slots (`pqassay_spec.grammar.thrift_shapes`), and makes the records when it is asked for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Generic, SupportsIndex, TypeVar, cast, overload

from pqassay_spec.base.errors import Malformed
from pqassay_spec.grammar.thrift import Record
from pqassay_spec.grammar.thrift_decoder import Reader, decoder
from pqassay_spec.grammar.thrift_shapes import Shape, shape_of
from pqassay_spec.grammar.thrift_wire import WireType, read_list_header

AnyRecord = TypeVar("AnyRecord", bound=Record)

Slots = tuple[bytes, ...]
"""What is in the slots of a struct, as it is encoded."""

MOST_SHAPES = 64
"""Shapes that are remembered, those that occurred last."""

MOST_PLACES = 10_000
"""Places of a list for which the shape that is likely there is remembered."""

SEEN_FIRST = 32
"""Structs that are decoded before a shape is made: of a small file alone, none is."""

AT_ONCE = 8
"""Shapes that are made then."""

MATCHED_BETWEEN, SEEN_BETWEEN = 16, 512
"""Structs of known shapes, and structs of any, that are met before a further one is made.

To make one takes as long as to judge a dozen structs, and is in vain where no other struct has it.
"""


class AlikeList(list[AnyRecord], Generic[AnyRecord]):
    """A list of records, each of which is decoded when it is first asked for. It is read, and neither changed nor added to a list by ``+``.

    It has no ``__radd__``: with one, ``others += alike`` would make another list of ``others``.

    Attributes:
        shapes: The shape of each element; ``None`` of those that are of none.
        slots: What is in the slots of each; empty of those that are of none.
    """

    def __init__(self, read: Reader, data: bytes) -> None:
        super().__init__()
        self.shapes: list[Shape | None] = []
        self.slots: list[Slots] = []
        self._read = read
        self._data = data
        self._starts: list[int] = []
        self._is_whole = False

    @property
    def matched(self) -> int:
        """How many elements have a shape."""
        return len(self.shapes) - self.shapes.count(None)

    def add(self, shape: Shape, start: int, slots: Slots) -> None:
        """Add an element that is encoded from a position on."""
        super().append(cast("AnyRecord", None))
        self.shapes.append(shape)
        self.slots.append(slots)
        self._starts.append(start)

    def add_record(self, record: AnyRecord) -> None:
        """Add an element of no shape."""
        super().append(record)
        self.shapes.append(None)
        self.slots.append(())
        self._starts.append(-1)

    def decoded_anew(self, place: int) -> AnyRecord:
        """An element that is decoded once more."""
        record: AnyRecord = self._read(self._data, self._starts[place], len(self._data))[0]
        return record

    def _decoded(self, place: int) -> AnyRecord:
        record = super().__getitem__(place)
        if record is None:
            record = self.decoded_anew(place)
            super().__setitem__(place, record)
        return record

    def _whole(self) -> None:
        if not self._is_whole:
            for place in range(len(self)):
                self._decoded(place)
            self._is_whole = True

    @overload
    def __getitem__(self, place: SupportsIndex) -> AnyRecord: ...
    @overload
    def __getitem__(self, place: slice) -> list[AnyRecord]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> AnyRecord | list[AnyRecord]:
        """An element, or several."""
        if isinstance(place, slice):
            self._whole()
            return super().__getitem__(place)
        return self._decoded(range(len(self))[place])

    def __iter__(self) -> Iterator[AnyRecord]:
        """All elements, each decoded when its turn comes."""
        return super().__iter__() if self._is_whole else map(self._decoded, range(len(self)))

    def __reversed__(self) -> Iterator[AnyRecord]:
        """All elements, the last one first."""
        self._whole()
        return super().__reversed__()

    def __eq__(self, other: object) -> bool:
        """Whether the elements are equal."""
        self._whole()
        return super().__eq__(list(other) if isinstance(other, AlikeList) else other)

    def __ne__(self, other: object) -> bool:
        """Whether an element is another one."""
        return not self == other

    __hash__ = None  # lists are mutable

    def copy(self) -> list[AnyRecord]:
        """The elements, as a plain list."""
        return list(self)

    def __add__(self, other: list[Any]) -> list[Any]:
        """The elements, and others behind them."""
        return [*self, *other]

    def count(self, record: object) -> int:
        """How often a record occurs."""
        return list(self).count(record)  # type: ignore[arg-type]

    def __contains__(self, record: object) -> bool:
        """Whether an element is equal to a record."""
        self._whole()
        return super().__contains__(record)

    def __repr__(self) -> str:
        """The elements."""
        self._whole()
        return super().__repr__()

    def index(self, *arguments: Any) -> int:
        """The position of an element."""
        return list(self).index(*arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are plain lists."""
        return list, (list(self),)


class KnownShapes(Generic[AnyRecord]):
    """The shapes of a struct that occurred last.

    Shapes are made of what is met, not too often, and tried on all that follows, in other files as well.

    Args:
        record: The table of the struct.
        seen_first: Structs that are met before a shape is made.
    """

    def __init__(self, record: type[AnyRecord], seen_first: int) -> None:
        self.record = record
        self._seen_first = seen_first
        self._shapes: list[Shape] = []
        self._seen = self._matched = self._made = 0

    def find(self, data: bytes, position: int = 0) -> tuple[Shape, re.Match[bytes]] | None:
        """The shape of the struct at a position, and its match; ``None`` if it has none that is known."""
        shapes = self._shapes
        for place, shape in enumerate(shapes):
            match = shape.match(data, position)
            if match is not None:
                if place:
                    self._shapes = [shape, *shapes[:place], *shapes[place + 1 :]]
                return shape, match
        return None

    def count(self, structs: int, matched: int) -> None:
        """Take note of structs that were met, and how many of them had a shape that was known."""
        self._seen += structs
        self._matched += matched

    def is_due(self) -> bool:
        """Whether a shape may be made of a struct that has none; if so, it has to be."""
        most = AT_ONCE + self._matched // MATCHED_BETWEEN + self._seen // SEEN_BETWEEN
        if self._seen < self._seen_first or self._made >= most:
            return False
        self._made += 1
        return True

    def learn(self, data: bytes, *, of_one_length: bool) -> None:
        """Make a shape of a struct that decodes; see `shape_of` for the arguments."""
        shape = shape_of(self.record, bytes(data), of_one_length=of_one_length)
        if shape is not None:
            self._shapes = [shape, *self._shapes[: MOST_SHAPES - 1]]


class AlikeStructs(Generic[AnyRecord]):
    """The reader of lists of a struct, for `pqassay_spec.grammar.thrift_decoder.decode`.

    Args:
        record: The table of the struct.
        has_one_length: Whether the binaries of a struct have that length in all that are alike.
        seen_first: Structs that are met before a shape is made.
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
        self._likely: list[Shape] = []

    def __call__(self, data: bytes, position: int, end: int) -> tuple[list[AnyRecord], int]:
        """The list at a position, and the position after it. Raises like a decoder."""
        read = decoder(self.record)
        size, kind, position = read_list_header(data, position)
        if size > end - position or (size and kind != WireType.STRUCT):
            raise Malformed("not a list of structs")
        listed: AlikeList[AnyRecord] = AlikeList(read, data)
        likely, known = self._likely, self._known
        for number in range(size):
            # In row group after row group, the columns are the same.
            shape = likely[number] if number < len(likely) else None
            match = None if shape is None else shape.match(data, position)
            if shape is None or match is None:
                located = known.find(data, position)
                if located is None:
                    record, after = read(data, position, end)
                    listed.add_record(record)
                    if known.is_due():
                        known.learn(data[position:after], of_one_length=self._has_one_length(record))
                    position = after
                    continue
                shape, match = located
                if number < len(likely):
                    likely[number] = shape
                elif number == len(likely) < MOST_PLACES:
                    likely.append(shape)
            listed.add(shape, position, match.groups())
            position = match.end()
        known.count(size, listed.matched)
        return listed, position
