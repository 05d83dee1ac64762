"""The schema of a file by the columns of its ``_pm``: fields and leaves, each made when it is asked for.

A query looks at few columns of a file, however many there are; so what is made of all of them is kept to their names and types.

Source: chapter ``scan.md``, section "Metadata".
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar, overload

import pyarrow as pa
import pyarrow.parquet as pq

from pqassay_reader.query.facts.footer_facts import SchemaField
from pqassay_reader.query.facts.pm_chunks import schema_of
from pqassay_reference.pages.mini_file import ROOT, mini_file
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf, leaves
from pqassay_spec.parquet.thrift import FileMetaData, SchemaElement
from pqassay_spec.pm.value import SnapshotColumn

Item = TypeVar("Item")


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
    """The kind of each column; Arrow is asked once for each kind. Raises `Refused` where a column's levels are none that a schema has."""
    known: dict[Any, _Kind] = {}
    found: list[_Kind] = []
    for column in columns:
        key = _decisive(column)
        kind = known.get(key)
        if kind is None:
            elements = schema_of(column)
            read: pa.Schema = pq.ParquetFile(pa.BufferReader(mini_file(elements, [], 0))).schema_arrow
            kind = known[key] = _Kind(elements, read.field(0))
        found.append(kind)
    return found


class Made(Sequence[Item]):
    """Items that are made when they are asked for, each once."""

    def __init__(self, count: int, make: Callable[[int], Item]) -> None:
        self._places, self._make = range(count), cache(make)

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | Sequence[Item]:
        chosen = self._places[index]
        return self._make(chosen) if isinstance(chosen, int) else list(map(self._make, chosen))


def described(columns: Sequence[SnapshotColumn]) -> tuple[pa.Schema, Made[SchemaField], Made[SchemaLeaf]]:
    """The schema of columns as Arrow reads it, the fields below its root, and the one leaf that each has.

    Args:
        columns: The columns of a snapshot, their names distinct.

    Raises:
        Refused: A column's levels are none that a schema has.
    """
    kinds = _kinds_of(columns)
    schema = pa.schema(
        [kind.field.with_name(column.name) for kind, column in zip(kinds, columns, strict=True)]
    )

    def field(place: int) -> SchemaField:
        first, *others = kinds[place].elements
        named = copy.copy(first)
        named.name = columns[place].name
        return SchemaField(schema.field(place), [named, *others], range(place, place + 1))

    fields = Made(len(columns), field)

    def leaf(place: int) -> SchemaLeaf:
        root = SchemaElement(name=ROOT, num_children=1)
        alone = FileMetaData(version=1, schema=[root, *fields[place].elements], num_rows=0, row_groups=[])
        return leaves(alone)[0]

    return schema, fields, Made(len(columns), leaf)


__all__ = ["Made", "described"]
