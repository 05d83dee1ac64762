"""The column chunks of a footer that are encoded alike, as columns of numbers.

Chunks of one group have the same shape (`pqassay_spec.grammar.thrift_runs`) and leaves of the same kind: of the same type, levels and
order, whatever they are called.  What differs among them is in their columns.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from pqassay.under_test.schemas.known_schemas import Schema
from pqassay_spec.grammar.thrift import Record
from pqassay_spec.grammar.thrift_decoder import decoder
from pqassay_spec.grammar.thrift_runs import AlikeList, AlikeStructs, Slots
from pqassay_spec.grammar.thrift_shapes import LONGEST_LIST, LONGEST_TEXT, NUMBERS, Shape, column
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import ColumnChunk, ColumnOrder, FileMetaData, SchemaElement, Type

CHUNKS: AlikeStructs[ColumnChunk] = AlikeStructs(
    ColumnChunk, lambda chunk: chunk.meta_data is not None and chunk.meta_data.type != Type.BYTE_ARRAY
)
"""Reads the column chunks of footers."""

FEW = 6
"""Chunks that are looked at one by one: columns of so few cost more than they save."""

PATH = ("meta_data", "path_in_schema")

NAMES = ("name", "field_id")
"""Fields of a leaf of the schema on which no rule about its chunks depends."""


class Interned:
    """Stands for everything that is equal to something: it is hashed and compared in no time."""


_interned: dict[Hashable, Interned] = {}

MOST_INTERNED = 10_000


def interned(value: Hashable) -> Interned:
    """The same object for equal values, unless there were very many others meanwhile."""
    found = _interned.get(value)
    if found is None:
        if len(_interned) >= MOST_INTERNED:
            _interned.clear()
        found = _interned[value] = Interned()
    return found


class LeafKind(NamedTuple):
    """The kind of a leaf, which all leaves have that are equal but for their names.

    Attributes:
        key: Equal for equal kinds.
        path: The names of the leaf as the footer encodes them; none where they are too long for a shape.
    """

    key: Hashable
    path: tuple[bytes, ...]


def leaf_kinds(schema: Schema) -> list[LeafKind]:
    """The kind of each leaf."""
    return [
        LeafKind(
            interned((_identity(leaf.element), leaf.max_definition_level, leaf.max_repetition_level)),
            _encoded_path(leaf),
        )
        for leaf in schema.leaves
    ]


def _encoded_path(leaf: SchemaLeaf) -> tuple[bytes, ...]:
    """The names of a leaf as shapes have them; none where one is longer, or there are more of them."""
    if leaf.parent.depth >= LONGEST_LIST or leaf.parent.path_length > LONGEST_LIST * LONGEST_TEXT:
        return ()
    raws = [name.encode("utf-8", "surrogateescape") for name in leaf.path]
    return () if max(map(len, raws)) > LONGEST_TEXT else tuple(bytes((len(raw),)) + raw for raw in raws)


def _identity(record: Record) -> Hashable:
    """The fields of a record and of those in it, but for names."""
    skipped = NAMES if isinstance(record, SchemaElement) else ()
    found: list[Hashable] = [record.unknown]
    for field in record.fields:
        value = getattr(record, field.name)
        if value is not None and field.name not in skipped:
            found.append((field.id, _identity(value) if isinstance(value, Record) else value))
    return tuple(found)


def _order_identity(order: ColumnOrder) -> Hashable:
    is_usual = order.TYPE_ORDER is not None and not order.unknown and not order.TYPE_ORDER.unknown
    return None if is_usual else _identity(order)


class Columns:
    """Columns of things that are alike, each computed when first asked for."""

    def __init__(self, rows: Sequence[Slots], shape: Shape) -> None:
        self.raws: list[Sequence[bytes]] = list(zip(*rows, strict=True))
        self._shape = shape
        self._known: list[Sequence[Any] | None] = [None] * len(self.raws)

    def __len__(self) -> int:
        return len(self._known)

    def __getitem__(self, place: int) -> Sequence[Any]:
        found = self._known[place]
        if found is None:
            found = self._known[place] = column(self._shape.slots[place], self.raws[place])
        return found


class AlikeChunks:
    """Column chunks that are encoded alike.

    Attributes:
        shape: Their shape.
        kind: The kind of their leaves, and the order of those.
        row_groups, ordinals: Their row groups, and their positions there.
        runs: Row groups, each with the first and the last but one of its chunks among these.
        rows: What is in the slots of each.
    """

    def __init__(self, shape: Shape, kind: Hashable) -> None:
        self.shape = shape
        self.kind = kind
        self.row_groups: list[int] = []
        self.ordinals: list[int] = []
        self.runs: list[tuple[int, int, int]] = []
        self.rows: list[Slots] = []
        self._columns: Columns | None = None

    @property
    def columns(self) -> Columns:
        """What differs among them."""
        if self._columns is None:
            self._columns = Columns(self.rows, self.shape)
        return self._columns

    def named(self, *path: str) -> Sequence[int] | None:
        """The column of a field of `ColumnChunk` that is a number; ``None`` where these chunks do not have it."""
        place = self.shape.places.get(path)
        if place is None:
            return None
        if len(self.rows) > FEW:
            return self.columns[place]
        return [NUMBERS[row[place]] for row in self.rows]

    @property
    def has_old_bounds(self) -> bool:
        """Whether these chunks have deprecated bounds and no others."""
        return _has_old_bounds(self.shape)

    def has(self, *path: str) -> bool:
        """Whether these chunks have a field of `ColumnChunk`, one of those that are slots."""
        return path in self.shape.places

    def are_at_their_leaves(self, kinds: Sequence[LeafKind]) -> bool:
        """Whether each chunk has the path of the leaf at its position."""
        if len(self.rows) <= FEW:
            return all(
                self._is_at(row, kinds[ordinal])
                for row, ordinal in zip(self.rows, self.ordinals, strict=True)
            )
        raws = [
            self.columns.raws[place] for place, slot in enumerate(self.shape.slots) if slot.path[:2] == PATH
        ]
        paths = [kinds[ordinal].path for ordinal in self.ordinals]
        return set(map(len, paths)) == {len(raws)} and list(zip(*paths, strict=True)) == raws

    def _is_at(self, row: Slots, kind: LeafKind) -> bool:
        first = self.shape.places.get((*PATH, 0))
        path = () if first is None else row[first : first + len(kind.path)]
        return path == kind.path and (*PATH, len(path)) not in self.shape.places


class Alike(NamedTuple):
    """All chunks of a footer.

    Attributes:
        groups: Those that are alike.
        others: Row group and position of those that are of no shape.
    """

    groups: Sequence[AlikeChunks]
    others: Sequence[tuple[int, int]]


def alike_chunks(metadata: FileMetaData, schema: Schema) -> Alike | None:
    """The chunks of a footer: one for each leaf in each row group, none of which is encrypted; ``None`` where that is not so, or none are alike."""
    if not metadata.row_groups or not schema.are_defined:
        return None
    kinds = schema.view(leaf_kinds)
    orders = metadata.column_orders
    named = [kind.key for kind in kinds]
    if orders is not None:
        if len(orders) != len(kinds):
            return None
        named = [(kind, _order_identity(order)) for kind, order in zip(named, orders, strict=True)]
    numbers: dict[Hashable, int] = {}
    keys = [numbers.setdefault(name, len(numbers)) for name in named]
    found: dict[tuple[Shape, int], AlikeChunks] = {}
    others: list[tuple[int, int]] = []
    known: list[_Arrangement] = []
    for number, group in enumerate(metadata.row_groups):
        chunks = group.columns
        if not isinstance(chunks, AlikeList) or len(chunks) != len(keys):
            return None
        arrangement = next((before for before in known if before.shapes == chunks.shapes), None)
        if arrangement is None:
            arrangement = _Arrangement.of(chunks.shapes, keys, named, found)
            known = [arrangement, *known[: MOST_ARRANGEMENTS - 1]]
        others += [(number, ordinal) for ordinal in arrangement.others]
        for alike, ordinals, select in arrangement.parts:
            before = len(alike.rows)
            alike.runs.append((number, before, before + len(ordinals)))
            alike.row_groups += [number] * len(ordinals)
            alike.ordinals += ordinals
            alike.rows += select(chunks.slots)
    groups = list(found.values())
    for number, ordinal in others:
        chunk = metadata.row_groups[number].columns[ordinal]
        if chunk.meta_data is None or chunk.crypto_metadata is not None:
            return None
        if not schema.leaves[ordinal].is_at(chunk.meta_data.path_in_schema):
            return None
    if not groups or not all(_is_plain(alike.shape) and alike.are_at_their_leaves(kinds) for alike in groups):
        return None
    return Alike(groups, others)


@lru_cache(maxsize=256)
def _has_old_bounds(shape: Shape) -> bool:
    new, old = (
        any(("meta_data", "statistics", name) in shape.places for name in names)
        for names in (("min_value", "max_value"), ("min", "max"))
    )
    return old and not new


@lru_cache(maxsize=256)
def _is_plain(shape: Shape) -> bool:
    """Whether chunks of a shape are not encrypted."""
    chunk: ColumnChunk = decoder(ColumnChunk)(shape.example, 0, len(shape.example))[0]
    return chunk.meta_data is not None and chunk.crypto_metadata is None


MOST_ARRANGEMENTS = 4
"""Row groups whose shapes are remembered: mostly, those of the next one are the same."""


class _Arrangement(NamedTuple):
    """Which chunks of a row group are alike: of each group their positions, and what selects them."""

    shapes: Sequence[Shape | None]
    parts: Sequence[tuple[AlikeChunks, list[int], Callable[[Sequence[Slots]], Sequence[Slots]]]]
    others: Sequence[int]

    @classmethod
    def of(
        cls,
        shapes: Sequence[Shape | None],
        keys: Sequence[int],
        named: Sequence[Hashable],
        found: dict[tuple[Shape, int], AlikeChunks],
    ) -> _Arrangement:
        """That of a row group; groups that are new are added to those that were found."""
        ordinals: dict[AlikeChunks, list[int]] = {}
        others: list[int] = []
        for ordinal, (shape, key) in enumerate(zip(shapes, keys, strict=True)):
            if shape is None:
                others.append(ordinal)
                continue
            alike = found.get((shape, key))
            if alike is None:
                alike = found[shape, key] = AlikeChunks(shape, named[ordinal])
            ordinals.setdefault(alike, []).append(ordinal)
        return cls(shapes, [(alike, places, selecting(places)) for alike, places in ordinals.items()], others)


def selecting(places: Sequence[int]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """What selects the items at some positions, at once."""
    if len(places) == 1:
        (place,) = places
        return lambda items: (items[place],)
    return itemgetter(*places)
