"""The column chunks of a file in groups that are alike, each with an example and columns: by the footer, and with their page indexes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple, cast

from pqassay.under_test.alike import Alike, AlikeChunks, Columns, interned
from pqassay.under_test.examples import ExampleChunk, make_unknown, situation
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.index_reads import IndexReads
from pqassay.under_test.unknown import Conditions, Reading
from pqassay_spec.base.errors import FormatError
from pqassay_spec.grammar.thrift import BINARY, STRING, Record
from pqassay_spec.grammar.thrift_decoder import collector_paused, decoder
from pqassay_spec.grammar.thrift_runs import AlikeList, KnownShapes, Slots
from pqassay_spec.grammar.thrift_shapes import NUMBERS, Shape, column, text_of
from pqassay_spec.parquet.thrift import ColumnChunk, ColumnIndex, OffsetIndex, Type

COLUMN_INDEXES = KnownShapes(ColumnIndex, 0)
OFFSET_INDEXES = KnownShapes(OffsetIndex, 0)
"""The shapes of indexes. They are looked at where the chunks have one."""


class _Part(NamedTuple):
    """A structure that the chunks of a group have: its shape, and what is in its slots in each of them."""

    kind: type[Record]
    shape: Shape
    rows: Sequence[Slots]


class _AllColumns:
    """The columns of a group: the rows of row groups, then the slots of all structures, each computed when first asked for."""

    def __init__(self, rows: Sequence[int], parts: Sequence[Columns]) -> None:
        self._known: dict[int, Sequence[Any]] = {0: rows}
        self._parts = parts

    def __getitem__(self, place: int) -> Sequence[Any]:
        found = self._known.get(place)
        if found is None:
            number = place - 1
            for part in self._parts:
                if number < len(part):
                    found = self._known[place] = part[number]
                    return found
                number -= len(part)
            raise IndexError(place)
        return found


class AlikeGroup:
    """Column chunks that are alike.

    Attributes:
        key: Equal for groups, of this file or another one, of whose examples rules say the same.
        readings: How the value of each column is read from what is in the slots.
    """

    def __init__(
        self,
        file: FileUnderTest,
        alike: AlikeChunks,
        numbers: Sequence[int],
        parts: Sequence[_Part],
        key: Hashable,
    ) -> None:
        """Of some of those chunks that are alike, with the indexes that they have."""
        self._file = file
        self._alike = alike
        self._numbers = numbers
        self._parts = parts
        self.key = key

    def __len__(self) -> int:
        return len(self._numbers)

    def place(self, number: int) -> int:
        """The position of a chunk among all chunks of the file."""
        member = self._numbers[number]
        return self._alike.row_groups[member] * len(self._file.leaves) + self._alike.ordinals[member]

    @property
    def is_read(self) -> bool:
        """Whether those indexes of the chunks that the tier reads are among the columns."""
        kinds = [part.kind for part in self._parts]
        return not self._file.options.reaches("index") or all(
            kind in kinds or not self._alike.has(name)
            for kind, name in ((ColumnIndex, "column_index_offset"), (OffsetIndex, "offset_index_offset"))
        )

    @property
    def readings(self) -> list[Reading | None]:
        """How the value of each column is read from a `row`."""
        shapes = [self._alike.shape, *(part.shape for part in self._parts)]
        return [
            None,
            *(
                _READINGS.get(slot.type, (NUMBERS, "{0}[{1}]"))
                if slot.type != BINARY
                else _BINARIES[slot.has_length]
                for shape in shapes
                for slot in shape.slots
            ),
        ]

    def row(self, number: int) -> tuple[Any, ...]:
        """The rows of the row group of a chunk, and what is in its slots."""
        member = self._numbers[number]
        rows = self._file.metadata.row_groups[self._alike.row_groups[member]].num_rows
        row = (rows, *self._alike.rows[member])
        for part in self._parts:
            row += part.rows[number]
        return row

    @cached_property
    def columns(self) -> _AllColumns:
        """What differs among the chunks: the rows of row groups, then the slots."""
        alike, groups = self._alike, self._file.metadata.row_groups
        rows = [groups[alike.row_groups[number]].num_rows for number in self._numbers]
        own = alike.columns
        if len(self._numbers) < len(alike.rows):
            own = Columns([alike.rows[number] for number in self._numbers], alike.shape)
        return _AllColumns(rows, [own, *(Columns(part.rows, part.shape) for part in self._parts)])

    def example(self, number: int, conditions: Conditions) -> ExampleChunk:
        """A chunk that stands for all, with the numbers of one of them."""
        member = self._numbers[number]
        row_group, ordinal = self._alike.row_groups[member], self._alike.ordinals[member]
        group = self._file.metadata.row_groups[row_group]
        chunk = cast("AlikeList[ColumnChunk]", group.columns).decoded_anew(ordinal)
        _fill(chunk, self._alike.shape, self._alike.rows[member], conditions, 1)
        indexes: dict[type[Record], Any] = {}
        first = 1 + len(self._alike.shape.slots)
        for part in self._parts:
            record = decoder(part.kind)(part.shape.example, 0, len(part.shape.example))[0]
            _fill(record, part.shape, part.rows[number], conditions, first)
            first += len(part.shape.slots)
            indexes[part.kind] = record
        return ExampleChunk(
            self._file,
            conditions,
            ordinal,
            group.num_rows,
            chunk,
            indexes.get(ColumnIndex),
            indexes.get(OffsetIndex),
        )


_BINARIES: tuple[Reading | None, Reading | None] = (None, (slice(1, None), "{1}[{0}]"))
_READINGS: dict[Any, Reading] = {STRING: (text_of, "{0}({1})")}


def _fill(record: Record, shape: Shape, slots: Slots, conditions: Conditions, first: int) -> None:
    values = [column(slot, [raw])[0] for slot, raw in zip(shape.slots, slots, strict=True)]
    make_unknown(record, shape, values, conditions, first)


class Groups(NamedTuple):
    """All column chunks of a file.

    Attributes:
        groups: Those that are alike.
        others: The positions of all others among the chunks.
    """

    groups: Sequence[AlikeGroup]
    others: Sequence[int]


def groups_by_footer(file: FileUnderTest) -> Groups | None:
    """The chunks, alike by the footer; ``None`` where not all chunks are those of this file, or the layout is not sound."""
    alike = file.alike
    if alike is None or file.layout is None:
        return None
    case = interned(situation(file))
    return Groups(
        [
            AlikeGroup(file, chunks, range(len(chunks.rows)), (), (case, chunks.kind, chunks.shape))
            for chunks in alike.groups
        ],
        _others(file, alike),
    )


def _others(file: FileUnderTest, alike: Alike) -> list[int]:
    return [number * len(file.leaves) + ordinal for number, ordinal in alike.others]


def groups_by_index(file: FileUnderTest) -> Groups | None:
    """The chunks, alike by the footer and by those page indexes that have a shape; as `groups_by_footer`."""
    alike = file.alike
    if alike is None or file.layout is None or not file.options.reaches("index"):
        return groups_by_footer(file)
    case = interned(situation(file))
    column_indexes = _IndexReading(file, COLUMN_INDEXES, "column_index")
    offset_indexes = _IndexReading(file, OFFSET_INDEXES, "offset_index")
    found: dict[tuple[AlikeChunks, Shape | None, Shape | None], _Members] = {}
    runs = sorted(((run, chunks) for chunks in alike.groups for run in chunks.runs), key=itemgetter(0))
    # In the order of row groups, in which indexes are stored.
    with collector_paused():
        for (_, first, last), chunks in runs:
            for number in range(first, last):
                column_shape, column_slots = column_indexes.find(chunks, number)
                offset_shape, offset_slots = offset_indexes.find(chunks, number)
                key = chunks, column_shape, offset_shape
                members = found.get(key)
                if members is None:
                    members = found[key] = _Members([], [], [])
                members.numbers.append(number)
                members.column_indexes.append(column_slots)
                members.offset_indexes.append(offset_slots)
    groups: list[AlikeGroup] = []
    for (chunks, column_shape, offset_shape), members in found.items():
        parts = [
            _Part(kind, shape, rows)
            for kind, shape, rows in (
                (ColumnIndex, column_shape, members.column_indexes),
                (OffsetIndex, offset_shape, members.offset_indexes),
            )
            if shape is not None
        ]
        kind = case, chunks.kind, chunks.shape, column_shape, offset_shape
        groups.append(AlikeGroup(file, chunks, members.numbers, parts, kind))
    return Groups(groups, _others(file, alike))


class _Members(NamedTuple):
    numbers: list[int]
    column_indexes: list[Slots]
    offset_indexes: list[Slots]


NO_SHAPE: tuple[None, Slots] = None, ()


class _IndexReading:
    """Reads indexes of one kind."""

    def __init__(self, file: FileUnderTest, known: KnownShapes[Any], name: str) -> None:
        self._around = file.part(IndexReads).around
        self._known = known
        self._paths = (f"{name}_offset",), (f"{name}_length",)
        self._places: dict[AlikeChunks, tuple[Sequence[int] | None, Sequence[int] | None]] = {}
        self._likely: dict[AlikeChunks, Shape] = {}
        self._leaves = file.leaves
        self._piece, self._start, self._end = b"", 0, -1

    def find(self, chunks: AlikeChunks, number: int) -> tuple[Shape | None, Slots]:
        """Shape and slots of the index of a chunk, if it has one that has a shape."""
        places = self._places.get(chunks)
        if places is None:
            offset_path, length_path = self._paths
            places = self._places[chunks] = chunks.named(*offset_path), chunks.named(*length_path)
        offsets, lengths = places
        if offsets is None or lengths is None:
            return NO_SHAPE
        offset, length = offsets[number], lengths[number]
        end = offset + length
        if not self._start <= offset < end <= self._end:
            if length <= 0 or not offset:
                return NO_SHAPE
            try:
                self._piece, self._start = self._around(offset, length)
            except (OSError, MemoryError):
                return NO_SHAPE  # the rules themselves say so
            self._end = self._start + len(self._piece)
        start, end = offset - self._start, end - self._start
        shape = self._likely.get(chunks)
        match = None if shape is None else shape.match(self._piece, start, end)
        if shape is None or match is None or match.end() != end:
            raw = self._piece[start:end]
            located = self._known.find(raw)
            if located is None or located[1].end() != length:
                self._learn(chunks, number, raw)
                return NO_SHAPE
            shape, match = located
            self._likely[chunks] = shape
        self._known.count(1, 1)
        return shape, match.groups()

    def _learn(self, chunks: AlikeChunks, number: int, raw: bytes) -> None:
        self._known.count(1, 0)
        if self._known.is_due():
            try:
                taken = decoder(self._known.record)(raw, 0, len(raw))[1]
            except (FormatError, ValueError, IndexError):
                return
            if taken == len(raw):
                kind = self._leaves[chunks.ordinals[number]].element.type
                self._known.learn(raw, of_one_length=kind != Type.BYTE_ARRAY)
