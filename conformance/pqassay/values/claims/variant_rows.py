"""The rows of a variant: its metadata, its values, and its shredded columns, compared with each other.

The columns of a variant have the same *slots*: one for each time that the group may occur, null or not; an element of a shredded list has
its own slot. Each pair of a value and its metadata is examined once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pqassay.under_test.file import NotChecked
from pqassay.values.claims.texts import Flags, Ints
from pqassay.values.decoding.nested_columns import column_at
from pqassay_spec.base.errors import Malformed, Unsupported
from pqassay_spec.parquet.encoding.variant import (
    BASIC_MASK,
    Basic,
    ascend,
    is_sorted,
    read_metadata,
    read_value,
)
from pqassay_spec.parquet.schema.annotated_groups import METADATA, TYPED_VALUE, VALUE, member, parts
from pqassay_spec.parquet.schema.tree import SchemaNode

MOST_NAMES = 1 << 26
"""The largest number of pairs of metadata and shredded field that are looked up."""


class FaultOfVariant(Enum):
    """The kinds of faults of a variant."""

    METADATA = "metadata that cannot be read"
    VALUE = "a value that cannot be read"
    NAMES = "fields that are not names of the metadata, or not in order"
    UNSORTED = "names that are marked sorted, but are not"
    BESIDE = "a value beside a typed_value that is not part of the same object"
    COMMON = "a value with a field that is shredded"
    UNSHREDDED = "an object or array beside a typed_value that could hold it"
    UNNAMED = "a shredded field that is not a name of the metadata"
    MISSING = "neither a value nor a typed_value"


class FirstFault(NamedTuple):
    """The first slot of a row group with a kind of fault.

    It has the kind, the row, the number of faults, the node in the variant, and the bytes of metadata and value.
    """

    kind: FaultOfVariant
    row: int
    total: int
    node: SchemaNode
    metadata: bytes
    value: bytes | None


class Columns(NamedTuple):
    """A variant in the schema.

    It has the nodes from below the root to its group, and the position of each of its leaves among all leaves, by its place.
    """

    path: tuple[SchemaNode, ...]
    ordinals: Mapping[int, int]


@dataclass
class Looked:
    """The faults in the rows of one variant in one row group.

    Attributes:
        faults: The first fault of each kind, in each part of the variant.
        problem: Why not all values could be examined, if so.
    """

    faults: list[FirstFault] = field(default_factory=list[FirstFault])
    problem: NotChecked | None = None


def look(variant: Columns, taken: Mapping[int, Any]) -> Looked:
    """Look for faults of a variant in a row group.

    Args:
        variant: The variant.
        taken: Its columns by their ordinals, from `nested`.
    """
    return _Look(variant, taken).looked


class _VariantPart(NamedTuple):
    """A part of a variant: the variant itself, an element or a field.

    It has its node, its columns by place, the variant's slot for each of its slots, whether it must exist, and the name of a field.
    """

    node: SchemaNode
    columns: Mapping[int, Any]
    of: Ints
    needed: Flags
    name: str | None = None


def _fields(node: SchemaNode) -> list[str]:
    """The names of all shredded fields in a variant, without duplicates."""
    names: dict[str, None] = {}
    left = [node]
    while left:
        typed = member(left.pop(), TYPED_VALUE)
        if typed is not None and not typed.is_leaf:
            names.update(dict.fromkeys(child.name for child in parts(typed) if not typed.is_list))
            left.extend(parts(typed))
    return list(names)


def _places(node: SchemaNode) -> list[int]:
    """The places of the leaves of a node."""
    return [node.place] if node.is_leaf else [place for child in node.children for place in _places(child)]


class _Look:
    def __init__(self, variant: Columns, taken: Mapping[int, Any]) -> None:
        self.looked = Looked()
        at_group = {
            place: column_at(variant.path, taken[ordinal]) for place, ordinal in variant.ordinals.items()
        }
        self._columns = {place: array for place, (array, _) in at_group.items()}
        self._rows = next(iter(at_group.values()))[1]
        group = variant.path[-1]
        lengths = {len(array) for array in self._columns.values()}
        if len(lengths) > 1:
            raise NotChecked("the columns of a variant have different numbers of rows", "file")
        present = _valid(next(iter(self._columns.values())))
        metadata = member(group, METADATA)
        stored = self._leaf(self._columns, metadata) if metadata else pa.nulls(0, pa.binary())
        self._entries, entries = _of_entries(stored.drop_null())
        self._metadata = np.full(len(stored), -1, np.int64)
        self._metadata[_valid(stored)] = entries
        self._group = group
        self._look_at_metadata(metadata or group)
        left = [_VariantPart(group, self._columns, np.arange(len(present)), present)]
        while left:
            left.extend(self._look_at(left.pop()))

    def _leaf(self, columns: Mapping[int, Any], node: SchemaNode) -> Any:
        return pc.struct_field(columns[node.place], [0])

    def _note(
        self, kind: FaultOfVariant, node: SchemaNode, slots: Ints, value: Any = None, at: Ints | None = None
    ) -> None:
        """Add the first of some slots; if there is a value, ``at`` is its place in ``value``."""
        if not len(slots):
            return
        number = int(slots[0])
        entry = int(self._metadata[number])
        raw = b"" if entry < 0 else bytes(self._entries[entry].as_py())
        shown = None if value is None or at is None else bytes(value[int(at[0])].as_py())
        self.looked.faults.append(FirstFault(kind, int(self._rows[number]), len(slots), node, raw, shown))

    # ------------------------------------------------------------------------------------------- metadata

    def _look_at_metadata(self, node: SchemaNode) -> None:
        used = np.unique(self._metadata[self._metadata >= 0])
        wrong, unsorted_ = np.zeros((2, len(self._entries) + 1), np.bool_)
        fields = _fields(self._group)
        if len(fields) * len(self._entries) > MOST_NAMES:
            self.looked.problem = NotChecked(
                "a variant has more metadata and shredded fields than pqassay compares", "tool"
            )
            fields = []
        self._knows = {name: np.zeros(len(self._entries) + 1, np.bool_) for name in fields}
        known = {name.encode(): flags for name, flags in self._knows.items()}
        for entry in used.tolist():
            raw = self._entries[entry].as_py()
            names = _names(raw)
            wrong[entry] = names is None
            unsorted_[entry] = names is not None and is_sorted(raw) and not ascend(names)
            for name in known.keys() & set(names or ()):
                known[name][entry] = True
        self._note(FaultOfVariant.METADATA, node, np.flatnonzero(wrong[self._metadata]))
        self._note(FaultOfVariant.UNSORTED, node, np.flatnonzero(unsorted_[self._metadata]))
        self._is_unreadable = wrong

    # --------------------------------------------------------------------------------------------- values

    def _look_at(self, part: _VariantPart) -> Iterator[_VariantPart]:
        """Examine the values of a part, and yield the parts within its ``typed_value``."""
        node = part.node
        value, typed = member(node, VALUE), member(node, TYPED_VALUE)
        has_value, has_typed = np.zeros((2, len(part.of)), np.bool_)
        if typed is not None:
            has_typed = _valid(self._typed(part, typed))
        fields = (
            [child.name for child in parts(typed)]
            if typed and not typed.is_leaf and not typed.is_list
            else None
        )
        if value is not None:
            stored = self._leaf(part.columns, value)
            has_value = _valid(stored)
            self._look_at_values(part, value, stored, has_typed, typed, fields)
        self._note(FaultOfVariant.MISSING, node, part.of[part.needed & ~has_value & ~has_typed])
        if part.name in self._knows:
            metadata = self._metadata[part.of]
            named = self._knows[part.name][metadata] | self._is_unreadable[metadata]
            self._note(FaultOfVariant.UNNAMED, node, part.of[(has_value | has_typed) & ~named])
        if typed is not None and not typed.is_leaf:
            yield from self._inner(part, typed)

    def _typed(self, part: _VariantPart, typed: SchemaNode) -> Any:
        """The first column of a ``typed_value``, as stored."""
        return pc.struct_field(part.columns[_places(typed)[0]], [0])

    def _look_at_values(
        self,
        part: _VariantPart,
        node: SchemaNode,
        stored: Any,
        has_typed: Flags,
        typed: SchemaNode | None,
        fields: list[str] | None,
    ) -> None:
        """Examine the values that are stored as variants, each with its metadata."""
        slots = np.flatnonzero(_valid(stored))
        entries, numbers = _of_entries(stored.drop_null())
        pairs, of_pair = _pairs(numbers, self._metadata[part.of[slots]], len(self._entries) + 1)
        wrong, unnamed, common = np.zeros((3, len(pairs)), np.bool_)
        basic = np.zeros(len(pairs), np.int64)
        shredded = {name.encode() for name in fields or ()}
        for place, (value, metadata) in enumerate(pairs.tolist()):
            raw = bytes(entries[value].as_py())
            names = _names(self._entries[metadata].as_py()) if 0 <= metadata < len(self._entries) else None
            basic[place] = raw[0] & BASIC_MASK if raw else -1
            try:
                common[place] = not shredded.isdisjoint(read_value(raw, names).names)
            except Malformed:
                wrong[place] = not _can_be_read(raw)
                unnamed[place] = not wrong[place]
            except Unsupported:
                self.looked.problem = self.looked.problem or NotChecked(
                    "a variant has a value of a type that pqassay does not know, or nested too deeply", "tool"
                )
        is_object, is_array = basic == Basic.OBJECT, basic == Basic.ARRAY
        readable, both = ~wrong[of_pair], has_typed[slots]
        parts_of_one = both & is_object[of_pair] & (fields is not None)
        unshredded = (
            is_object if fields is not None else is_array if typed and typed.is_list else common & False
        )
        for kind, mask in (
            (FaultOfVariant.VALUE, ~readable),
            (FaultOfVariant.NAMES, unnamed[of_pair]),
            (FaultOfVariant.BESIDE, both & ~parts_of_one & readable),
            (FaultOfVariant.COMMON, parts_of_one & common[of_pair]),
            (FaultOfVariant.UNSHREDDED, ~both & unshredded[of_pair] & readable),
        ):
            at = np.flatnonzero(mask)
            self._note(kind, node, part.of[slots[at]], entries, pairs[of_pair[at], 0])

    def _inner(self, part: _VariantPart, typed: SchemaNode) -> Iterator[_VariantPart]:
        """Yield the elements of a list, or the fields of an object."""
        columns = {place: pc.struct_field(part.columns[place], [0]) for place in _places(typed)}
        of = part.of
        needed = np.zeros(len(of), np.bool_)
        if typed.is_list:
            lists = {place: pc.struct_field(array, [0]) for place, array in columns.items()}
            first = next(iter(lists.values()))
            of = of[pc.list_parent_indices(first).to_numpy(zero_copy_only=False)]
            columns = {place: array.flatten() for place, array in lists.items()}
            needed = np.ones(len(of), np.bool_)
            if any(len(array) != len(of) for array in columns.values()):
                raise NotChecked(
                    "the columns of a list in a variant have different numbers of elements", "file"
                )
        for child in parts(typed):
            inner = {place: pc.struct_field(columns[place], [0]) for place in _places(child)}
            yield _VariantPart(child, inner, of, needed, None if typed.is_list else child.name)


def _valid(array: Any) -> Flags:
    return np.asarray(array.is_valid(), np.bool_)


def _pairs(values: Ints, metadata: Ints, room: int) -> tuple[Ints, Ints]:
    """The distinct pairs of entries, and the pair of each value; if there would be as many pairs as values, they are not merged."""
    if len(values) and len(values) > values.max() + 1:
        codes, of = np.unique(values * room + metadata, return_inverse=True)
        return np.stack([codes // room, codes % room], axis=1), of.reshape(-1)
    return np.stack([values, metadata], axis=1), np.arange(len(values))


@lru_cache(maxsize=64)
def _names(raw: bytes) -> tuple[bytes, ...] | None:
    """The names in metadata; ``None`` if they cannot be read."""
    try:
        return read_metadata(raw)
    except Malformed:
        return None


def _can_be_read(raw: bytes) -> bool:
    """Whether a value can be read, regardless of its field names."""
    try:
        read_value(raw)
    except Malformed:
        return False
    except Unsupported:
        pass
    return True


def _of_entries(values: Any) -> tuple[Any, Ints]:
    """Values of a chunk as an array of distinct entries, and the entry of each value, int64."""
    if pa.types.is_dictionary(values.type):
        return values.dictionary, values.indices.to_numpy().astype(np.int64)
    if isinstance(values, pa.ChunkedArray):
        values = values.cast(pa.large_binary()).combine_chunks()
    return values, np.arange(len(values))
