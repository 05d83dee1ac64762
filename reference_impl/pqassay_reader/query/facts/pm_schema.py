"""The schema of a file by the columns of its ``_pm``: fields and leaves, each made when it is asked for.

A query looks at few columns of a file, however many there are; so what is made of all of them is kept to their names and types.

Source: chapter ``scan.md``, section "Metadata".
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from operator import attrgetter
from typing import Any, NamedTuple, overload

import pyarrow as pa
import pyarrow.parquet as pq

from pqassay_reader.query.facts.footer_facts import SchemaField
from pqassay_reader.query.facts.pm_chunks import schema_of
from pqassay_reference.pages.mini_file import ROOT, mini_file
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf, leaves
from pqassay_spec.parquet.thrift import FileMetaData, SchemaElement
from pqassay_spec.pm.value import SnapshotColumn


class _Kind(NamedTuple):
    """What columns are that differ in their names only.

    Attributes:
        elements: The schema elements of the first of them.
        field: The field that Arrow reads of it.
    """

    elements: Sequence[SchemaElement]
    field: pa.Field[Any]


_decisive = attrgetter(
    "type", "physical_type", "fixed_byte_len", "max_rep_level", "max_def_level", "repetition"
)
"""What a column's kind depends on."""


def _kinds_of(columns: Sequence[SnapshotColumn]) -> list[_Kind]:
    """The kind of each column; Arrow is asked once for each kind. Raises `Refused` where no schema has the levels of a column."""
    known: dict[Any, _Kind] = {}
    kinds: list[_Kind] = []
    for column in columns:
        key = _decisive(column)
        kind = known.get(key)
        if kind is None:
            elements = schema_of(column)
            read: pa.Schema = pq.ParquetFile(pa.BufferReader(mini_file(elements, [], 0))).schema_arrow
            kind = known[key] = _Kind(elements, read.field(0))
        kinds.append(kind)
    return kinds


class FieldsOfColumns(Sequence[SchemaField]):
    """The fields below the root, of which each has one leaf.

    Args:
        columns: The columns of a snapshot, their names distinct.

    Raises:
        Refused: No schema has the levels of a column.
    """

    def __init__(self, columns: Sequence[SnapshotColumn]) -> None:
        self._columns, self._kinds = columns, _kinds_of(columns)
        self.schema = pa.schema(
            [kind.field.with_name(column.name) for kind, column in zip(self._kinds, columns, strict=True)]
        )
        """The schema as Arrow reads it."""
        self._made: dict[int, SchemaField] = {}

    def __len__(self) -> int:
        return len(self._columns)

    @overload
    def __getitem__(self, index: int) -> SchemaField: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[SchemaField]: ...
    def __getitem__(self, index: int | slice) -> SchemaField | Sequence[SchemaField]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        if place not in self._made:
            first, *others = self._kinds[place].elements
            named = copy.copy(first)
            named.name = self._columns[place].name
            self._made[place] = SchemaField(
                self.schema.field(place), [named, *others], range(place, place + 1)
            )
        return self._made[place]


class LeavesOfColumns(Sequence[SchemaLeaf]):
    """The leaves of such fields."""

    def __init__(self, fields: Sequence[SchemaField]) -> None:
        self._fields = fields
        self._made: dict[int, SchemaLeaf] = {}

    def __len__(self) -> int:
        return len(self._fields)

    @overload
    def __getitem__(self, index: int) -> SchemaLeaf: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[SchemaLeaf]: ...
    def __getitem__(self, index: int | slice) -> SchemaLeaf | Sequence[SchemaLeaf]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        if place not in self._made:
            root = SchemaElement(name=ROOT, num_children=1)
            alone = FileMetaData(
                version=1, schema=[root, *self._fields[place].elements], num_rows=0, row_groups=[]
            )
            (self._made[place],) = leaves(alone)
        return self._made[place]


__all__ = ["FieldsOfColumns", "LeavesOfColumns"]
