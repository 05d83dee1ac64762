"""The schema of a file from the columns of its ``_pm``; fields and leaves are made on demand.

A query uses few columns of a file, so only names and types of all columns are kept.

Source: chapter ``scan.md``, section "Metadata".
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar, overload

import pyarrow as pa
import pyarrow.parquet as pq

from pqassay_reader.query.facts.footer_facts import SchemaField
from pqassay_reader.query.fetching.ranges import Piece
from pqassay_reference.errors import Refused
from pqassay_reference.pages.mini_file import ROOT, mini_file
from pqassay_reference.pm.query import PlannedRange
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf, leaves
from pqassay_spec.parquet.thrift import (
    ColumnMetaData,
    Encoding,
    FieldRepetitionType,
    FileMetaData,
    ListType,
    LogicalType,
    SchemaElement,
)
from pqassay_spec.pm.codes import Repetition
from pqassay_spec.pm.from_parquet.snapshot import ENCODING_BITS
from pqassay_spec.pm.types import logical_type
from pqassay_spec.pm.value import SnapshotColumn

_ENCODING_BITS = [(encoding, int(bit)) for encoding, bit in ENCODING_BITS.items()]
# Plain numbers: flags with names take many times longer to combine, and a scan uses each chunk.


def pieces_of(chunks: Iterable[PlannedRange], until: Sequence[float]) -> list[Piece]:
    """The ranges of column chunks to fetch, each needed until the end of its row group."""
    return [Piece(chunk.offset, chunk.offset + chunk.length, until[chunk.row_group]) for chunk in chunks]


def facts_of(schema: Sequence[SchemaElement], codec: int, encodings: int, num_values: int) -> ColumnMetaData:
    """The metadata of a chunk, for the footer of a small file."""
    named = [encoding for encoding, bit in _ENCODING_BITS if encodings & bit]
    return ColumnMetaData(
        type=schema[-1].type or 0,
        encodings=[*named, Encoding.RLE],
        path_in_schema=[element.name for element in schema],
        codec=codec,
        num_values=num_values,
        total_uncompressed_size=0,
        total_compressed_size=0,
        data_page_offset=0,
    )


def schema_of(column: SnapshotColumn, *, logical: bool = True) -> list[SchemaElement]:
    """A schema whose only leaf has the levels of a column: lists in lists for its repetition levels, the rest optional.

    Which of the groups are optional is not in ``_pm``; the rows are the same for every distribution, except
    for the difference between an empty list and null.

    >>> from pqassay_spec.pm.codes import PhysicalType
    >>> flat = SnapshotColumn("n", PhysicalType.INT32, max_def_level=1, repetition=Repetition.OPTIONAL)
    >>> [(element.name, int(element.repetition_type)) for element in schema_of(flat)]
    [('n', 1)]
    >>> nested = SnapshotColumn("a", PhysicalType.DOUBLE, max_rep_level=1, max_def_level=3, repetition=Repetition.OPTIONAL)
    >>> [(element.name, int(element.repetition_type)) for element in schema_of(nested)]
    [('a', 1), ('list', 2), ('element', 1)]

    Raises:
        Refused: No schema can have such levels.
    """
    lists, optionals = column.max_rep_level, column.max_def_level - column.max_rep_level
    if optionals < 0:
        raise Refused(
            f"column {column.name} has repetition level {lists} and definition level "
            f"{column.max_def_level}, which is not possible"
        )
    # The field itself and the leaf are the same element if there are no lists.
    is_optional = [False] * (lists + 1)
    order = (
        [0, lists, *range(1, lists)] if column.repetition == Repetition.OPTIONAL else [lists, *range(lists)]
    )
    for place in list(dict.fromkeys(order))[:optionals]:
        is_optional[place] = True
    extra = optionals - sum(is_optional)
    elements: list[SchemaElement] = []
    for depth in range(lists):
        elements.append(_group("element" if depth else column.name, is_optional[depth], is_list=True))
        elements.append(_group("list", None))
    name = "element" if lists else column.name
    elements += [_group(name if not number else "group", True) for number in range(extra)]
    leaf = SchemaElement(
        type=column.physical_type,
        name="leaf" if extra else name,
        repetition_type=_repetition(is_optional[lists]),
        type_length=column.fixed_byte_len or None,
    )
    if logical:
        leaf.logicalType = logical_type(column.type, column.physical_type)
    return [*elements, leaf]


def _group(name: str, optional: bool | None, *, is_list: bool = False) -> SchemaElement:
    element = SchemaElement(name=name, num_children=1, repetition_type=_repetition(optional))
    if is_list:
        element.logicalType = LogicalType(LIST=ListType())
    return element


def _repetition(optional: bool | None) -> int:
    """The repetition type of a field; ``None`` means the inner group of a list."""
    kinds = FieldRepetitionType
    return kinds.REPEATED if optional is None else kinds.OPTIONAL if optional else kinds.REQUIRED


Item = TypeVar("Item")


class _Kind(NamedTuple):
    """The shared facts of columns that differ only in their names.

    Attributes:
        elements: The schema elements of the first of them.
        field: The Arrow field of the first of them.
    """

    elements: Sequence[SchemaElement]
    field: pa.Field[Any]


_decisive = attrgetter(
    "type", "physical_type", "fixed_byte_len", "max_rep_level", "max_def_level", "repetition"
)
"""The facts that decide the kind of a column."""


def _kinds_of(columns: Sequence[SnapshotColumn], *, logical: bool) -> list[_Kind]:
    """The kind of each column; Arrow is asked once for each kind. Raises `Refused` if no schema can have the levels of a column."""
    known: dict[Any, _Kind] = {}
    for column in columns:
        if _decisive(column) not in known:
            elements = schema_of(column, logical=logical)
            read: pa.Schema = pq.ParquetFile(pa.BufferReader(mini_file(elements, [], 0))).schema_arrow
            known[_decisive(column)] = _Kind(elements, read.field(0))
    return [known[_decisive(column)] for column in columns]


class Made(Sequence[Item]):
    """Items that are made on demand, each once."""

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


def described(
    columns: Sequence[SnapshotColumn], *, logical: bool = True
) -> tuple[pa.Schema, Made[SchemaField], Made[SchemaLeaf]]:
    """The schema of columns as Arrow reads it, its top-level fields, and the single leaf of each field.

    Args:
        columns: The columns of a snapshot.
        logical: Whether values get the types of QuestDB's type codes.

    Raises:
        Refused: No schema can have the levels of a column.
    """
    kinds = _kinds_of(columns, logical=logical)
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


__all__ = ["Made", "described", "facts_of", "pieces_of", "schema_of"]
