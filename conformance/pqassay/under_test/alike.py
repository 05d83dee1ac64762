"""The similar column chunks of a footer (with the same encoding), as columns of numbers.

Chunks of one group have the same shape (`pqassay_spec.grammar.thrift_runs`) and leaves of the same type,
levels and order, with any names.  Their differences are in their columns.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from pqassay.under_test.schemas.known_schemas import Schema
from pqassay_spec.grammar.thrift_decoder import decoder
from pqassay_spec.grammar.thrift_runs import AlikeList, AlikeStructs, Slots
from pqassay_spec.grammar.thrift_shapes import LONGEST_LIST, LONGEST_TEXT, Shape, Slot, column, reader
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import (
    ColumnChunk,
    ColumnIndex,
    ColumnOrder,
    FileMetaData,
    OffsetIndex,
    Type,
    TypeDefinedOrder,
)

CHUNKS: AlikeStructs[ColumnChunk] = AlikeStructs(
    ColumnChunk, lambda chunk: chunk.meta_data is not None and chunk.meta_data.type != Type.BYTE_ARRAY
)
"""The decoder that reads column chunks of footers as columns of numbers."""

ROWS = 0
"""The key of the column with the row counts of row groups; the columns of slots follow."""

FEW = 6
"""The number of chunks up to which they are examined one by one, since columns would cost more than they save."""

NAMES = ("name", "field_id")
"""Fields of a schema leaf that no rule about its chunks depends on."""


_interned: dict[Hashable, object] = {}

MOST_INTERNED = 10_000


def interned(value: Hashable) -> Hashable:
    """One shared object for equal values, so that hashing and comparing is fast; not shared if too many others were used meanwhile."""
    found = _interned.get(value)
    if found is None:
        if len(_interned) >= MOST_INTERNED:
            _interned.clear()
        found = _interned[value] = object()
    return found


class LeafKind(NamedTuple):
    """The kind of a leaf: leaves that differ only in their names have the same kind.

    Attributes:
        key: Equal for equal kinds.
        path: The names of the leaf as encoded in the footer; ``None`` if they are too long for a shape.
    """

    key: Hashable
    path: tuple[bytes, ...] | None


def leaf_kinds(schema: Schema) -> list[LeafKind]:
    """The kind of each leaf."""
    return [
        LeafKind(
            (repr(without_names(leaf.element)), leaf.max_definition_level, leaf.max_repetition_level),
            _encoded_path(leaf),
        )
        for leaf in schema.leaves
    ]


def without_names(element: Any, **names: Any) -> Any:
    """A copy of a leaf with the given names, or without names."""
    fields = {field.name: getattr(element, field.name) for field in element.fields}
    return type(element)(**{**fields, **dict.fromkeys(NAMES), **names}, unknown=element.unknown)


def _encoded_path(leaf: SchemaLeaf) -> tuple[bytes, ...] | None:
    if leaf.parent.depth >= LONGEST_LIST or leaf.parent.path_length > LONGEST_LIST * LONGEST_TEXT:
        return None
    raws = [name.encode("utf-8", "surrogateescape") for name in leaf.path]
    return None if max(map(len, raws)) > LONGEST_TEXT else tuple(bytes((len(raw),)) + raw for raw in raws)


@lru_cache(maxsize=256)
def _slots_of(shapes: tuple[Shape, ...]) -> tuple[list[tuple[Slot, int, int]], list[Callable[[bytes], Any]]]:
    """The slots of shapes in order, each with the number of its shape and its own number; and the reader of each slot."""
    slots = [
        (slot, part, number) for part, shape in enumerate(shapes) for number, slot in enumerate(shape.slots)
    ]
    return slots, [reader(slot) for slot, _, _ in slots]


class _Traits(NamedTuple):
    """Properties that all chunks of a shape share.

    These are the slots of their path, whether they are unencrypted, and whether they have only deprecated bounds.
    """

    path: slice
    is_plain: bool
    has_old_bounds: bool


@lru_cache(maxsize=256)
def _traits_of(shape: Shape) -> _Traits:
    chunk: ColumnChunk = decoder(ColumnChunk)(shape.example, 0, len(shape.example))[0]
    steps = [
        place for place, slot in enumerate(shape.slots) if slot.path[:2] == ("meta_data", "path_in_schema")
    ]
    facts = chunk.meta_data
    return _Traits(
        slice(steps[0], steps[-1] + 1) if steps else slice(0, 0),
        facts is not None and chunk.crypto_metadata is None,
        facts is not None and has_old_bounds(facts.statistics),
    )


def has_old_bounds(statistics: Any) -> bool:
    """Whether statistics have only deprecated bounds."""
    return (
        statistics is not None
        and statistics.min_value is None
        and statistics.max_value is None
        and (statistics.min is not None or statistics.max is not None)
    )


class AlikeChunks(dict[int, Sequence[Any]]):
    """Similar column chunks: the chunks, and the page indexes that are read, have the same encoding.

    Its items are columns of the numbers that differ: the rows of row groups, then the slots of the shapes. Each column is created on first
    use.

    Attributes:
        kind: The kind of their leaves, and the order of their values.
        shapes: The shape of the chunks, and the shapes of their indexes.
        totals: The rows of the row group of each chunk of the footer.
        places: Their positions among all chunks of the footer.
        rows: The slot values of each chunk, by shape.
    """

    def __init__(self, kind: Hashable, shapes: tuple[Shape, ...], totals: Sequence[int]) -> None:
        super().__init__()
        self.kind = kind
        self.shapes = shapes
        self.totals = totals
        self.places: list[int] = []
        self.rows: list[list[Slots]] = [[] for _ in shapes]

    def __missing__(self, place: int) -> Sequence[Any]:
        slots, readers = _slots_of(self.shapes)
        if len(self.places) <= FEW:
            # All at once. The slots of the footer may already be known.
            known = len(self)
            things = (
                [read(raw) for read, raw in zip(readers[known and known - 1 :], chain(*rows), strict=True)]
                for rows in zip(*self.rows[known > 0 :], strict=True)
            )
            self.update(enumerate(zip(*things, strict=True), known or 1))
            self[ROWS] = [self.totals[number] for number in self.places]
        elif place == ROWS:
            self[ROWS] = [self.totals[number] for number in self.places]
        else:
            slot, part, number = slots[place - 1]
            self[place] = column(slot, [row[number] for row in self.rows[part]])
        return self[place]

    @property
    def are_read(self) -> bool:
        """Whether the shapes include their existing indexes."""
        kinds = [shape.record for shape in self.shapes]
        return (ColumnIndex in kinds or not self.has("column_index_offset")) and (
            OffsetIndex in kinds or not self.has("offset_index_offset")
        )

    @property
    def has_old_bounds(self) -> bool:
        """Whether they have only deprecated bounds."""
        return _traits_of(self.shapes[0]).has_old_bounds

    def named(self, *path: str) -> Sequence[int] | None:
        """The column of a numeric field of `ColumnChunk`; ``None`` if they lack it."""
        place = self.shapes[0].places.get(path)
        return None if place is None else self[place + 1]

    def has(self, *path: str) -> bool:
        """Whether they have a field of `ColumnChunk` that is a slot."""
        return path in self.shapes[0].places

    def are_plain(self, kinds: Sequence[LeafKind]) -> bool:
        """Whether all are unencrypted, and have the path of the leaf at their position."""
        steps, is_plain, _ = _traits_of(self.shapes[0])
        count = len(kinds)
        return is_plain and all(
            row[steps] == kinds[place % count].path
            for row, place in zip(self.rows[0], self.places, strict=True)
        )


class Alike(NamedTuple):
    """All chunks of a footer, grouped by similarity.

    Attributes:
        groups: The groups of similar chunks.
        others: The positions of chunks without a shape.
    """

    groups: Sequence[AlikeChunks]
    others: Sequence[int]


_USUAL_ORDER = ColumnOrder(TYPE_ORDER=TypeDefinedOrder())


def alike_chunks(metadata: FileMetaData, schema: Schema) -> Alike | None:
    """The chunks of a footer by similarity; ``None`` unless each row group has one unencrypted chunk per leaf and some are alike."""
    if not schema.are_defined:
        return None
    kinds = schema.view(leaf_kinds)
    orders = [None] * len(kinds) if metadata.column_orders is None else metadata.column_orders
    if len(orders) != len(kinds):
        return None
    keys = [
        interned((kind.key, None if order is None or order == _USUAL_ORDER else repr(order)))
        for kind, order in zip(kinds, orders, strict=True)
    ]
    totals = [group.num_rows for group in metadata.row_groups for _ in keys]
    groups: dict[tuple[Hashable, Shape], AlikeChunks] = {}
    others: list[int] = []
    for number, group in enumerate(metadata.row_groups):
        chunks = group.columns
        if not isinstance(chunks, AlikeList) or len(chunks) != len(keys):
            return None
        for place, (key, shape, slots) in enumerate(
            zip(keys, chunks.shapes, chunks.slots, strict=True), number * len(keys)
        ):
            if shape is None:
                others.append(place)
                continue
            alike = groups.get((key, shape))
            if alike is None:
                alike = groups[key, shape] = AlikeChunks(key, (shape,), totals)
            alike.places.append(place)
            alike.rows[0].append(slots)
    for place in others:
        number, ordinal = divmod(place, len(keys))
        chunk = metadata.row_groups[number].columns[ordinal]
        if chunk.meta_data is None or chunk.crypto_metadata is not None:
            return None
        if not schema.leaves[ordinal].is_at(chunk.meta_data.path_in_schema):
            return None
    if not groups or not all(alike.are_plain(kinds) for alike in groups.values()):
        return None
    return Alike([*groups.values()], others)
