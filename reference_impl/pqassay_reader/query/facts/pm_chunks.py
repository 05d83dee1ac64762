"""Rows of a Parquet file by its ``_pm`` alone: the footer of the Parquet file is never read.

A chunk's range, codec, encodings and number of values are in ``_pm``, and the levels of its column.  From these a small Parquet
file is made in memory around the bytes of the chunk, which pyarrow decodes.  ``_pm`` has no logical types; what QuestDB's type
code says is put in their place, and a column without code yields the physical values.

Source: "Parquet metadata file" (``parquet-metadata.md``), section "Access patterns".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pqassay_reader.query.fetching.ranges import GAP, Fetched, FetchedRanges, Piece
from pqassay_reference.errors import Refused, Undecodable
from pqassay_reference.pages.mini_file import LeafPages, mini_file
from pqassay_reference.pages.page_headers import dictionary_end
from pqassay_reference.pm.query import PlannedRange, has_only_nulls, planned
from pqassay_reference.pm.read import PmReader
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import Source
from pqassay_spec.parquet.thrift import (
    ColumnMetaData,
    Encoding,
    FieldRepetitionType,
    ListType,
    LogicalType,
    SchemaElement,
)
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.codes import Repetition
from pqassay_spec.pm.from_parquet.snapshot import ENCODING_BITS
from pqassay_spec.pm.types import logical_type
from pqassay_spec.pm.value import SnapshotColumn

_ENCODING_BITS = [(encoding, int(bit)) for encoding, bit in ENCODING_BITS.items()]
# Plain numbers: flags with names take many times longer to combine, and a scan asks for each chunk.


def pieces_of(chunks: Iterable[PlannedRange], until: Sequence[float]) -> list[Piece]:
    """The ranges of column chunks as they are fetched, each needed until the number of its row group."""
    return [Piece(chunk.offset, chunk.offset + chunk.length, until[chunk.row_group]) for chunk in chunks]


class ChunkRows:
    """Rows of some columns, row group by row group.

    Args:
        reader: The snapshot.
        data: The Parquet file, of which column chunks are read and nothing else.
        gap: Bytes between two ranges that are fetched along, so that one request does for both.
        columns: Names of the columns; all by default. A nested one yields each of its parts.
        rows: Numbers of the rows, from 0; all by default.
        logical: Whether values get the types that QuestDB's type codes say.

    Raises:
        Refused: There is no such column, or no schema has the levels of a column.
    """

    def __init__(
        self,
        reader: PmReader,
        data: Source,
        columns: Sequence[str] | None = None,
        rows: range | None = None,
        *,
        gap: int = GAP,
        logical: bool = True,
    ) -> None:
        reader.require_distinct_blocks()
        names = [column.name for column in reader.columns] if columns is None else columns
        self._reader, self._logical = reader, logical
        self._ranges = FetchedRanges(data, gap=gap)
        self._names = list(dict.fromkeys(names))
        self._positions = [place for name in self._names for place in reader.columns_of(name)]
        self._rows = rows
        self._kinds: dict[int, Any] = {place: self._kind(place) for place in self._positions}
        self.schema = pa.schema(
            list(zip(self._labels(), (self._kinds[place] for place in self._positions), strict=True))
        )
        """Names and types of the columns."""

    @property
    def fetched(self) -> Fetched:
        """What was fetched so far."""
        return self._ranges.data

    def batches(self) -> Iterator[pa.Table]:
        """A table of each row group that has rows of those asked for. At most one is in memory at a time.

        Raises:
            Malformed: A block, or the page that a chunk begins with, cannot be read.
            Undecodable: A chunk cannot be decoded, or holds other rows than ``_pm`` says.
        """
        reader, taken, start = self._reader, dict[int, range](), 0
        for number in range(reader.row_group_count):
            stop = start + reader.block(number).num_rows
            if rows := _overlap(range(start, stop), self._rows):
                taken[number] = range(rows.start - start, rows.stop - start)
            start = stop
        chunks = planned(reader, self._names, taken, leave_out_nulls=True).ranges
        self._ranges.plan(pieces_of(chunks, range(reader.row_group_count)))
        for number, rows in taken.items():
            block = reader.block(number)
            columns = [
                self._column(number, place, block.chunks[place], block.num_rows) for place in self._positions
            ]
            yield pa.table(columns, schema=self.schema).slice(rows.start, len(rows))
            self._ranges.release(number)

    def table(self) -> pa.Table:
        """All of it. Raises as `batches` does."""
        return pa.concat_tables([self.schema.empty_table(), *self.batches()])

    def _labels(self) -> list[str]:
        """Names of the columns; the parts of a nested one are numbered."""
        labels: list[str] = []
        for place in self._positions:
            name = self._reader.columns[place].name
            parts = self._reader.columns_of(name)
            labels.append(name if len(parts) == 1 else f"{name}.{list(parts).index(place)}")
        return labels

    def _kind(self, place: int) -> pa.DataType:
        """The type of a column: that of no rows of it."""
        column = self._reader.columns[place]
        schema = schema_of(column, logical=self._logical)
        kind: pa.DataType = _decoded(column, mini_file(schema, [], 0)).type
        return kind

    def _column(self, row_group: int, place: int, chunk: pm.ColumnChunk, rows: int) -> Any:
        column = self._reader.columns[place]
        if has_only_nulls(column, chunk, rows):
            return pa.nulls(rows, self._kinds[place])
        where = f"column {column.name} in row group {row_group}"
        try:
            fetched = PlannedRange(row_group, column.name, chunk.byte_range_start, chunk.total_compressed)
            self._ranges.want(pieces_of([fetched], range(row_group + 1)))
            raw = self._ranges.view(fetched.offset, fetched.length)
            split = dictionary_end(raw)
            schema = schema_of(column, logical=self._logical)
            facts = facts_of(schema, chunk.codec, chunk.encodings, chunk.num_values)
            pages = LeafPages(facts, raw[:split], [raw[split:]])
            values = _decoded(column, mini_file(schema, [pages], rows))
        except FormatError as error:
            raise error.within(file=self._ranges.name, field=where, offset=chunk.byte_range_start) from None
        except (pa.ArrowException, OSError) as error:
            raise Undecodable(f"{where} cannot be decoded: {' '.join(str(error).split())}") from error
        if len(values) != rows:
            raise Undecodable(f"{where} holds {len(values)} rows, of which _pm says there are {rows}")
        return values


def _overlap(held: range, asked: range | None) -> range:
    if asked is None:
        return held
    return range(max(held.start, asked.start), min(held.stop, asked.stop))


def _decoded(column: SnapshotColumn, content: bytes) -> Any:
    found: Any = pq.read_table(pa.BufferReader(content), use_threads=False).column(0)
    while not column.max_rep_level and pa.types.is_struct(found.type):
        found = pc.struct_field(found, 0)  # groups stand for levels only
    return found


def facts_of(schema: Sequence[SchemaElement], codec: int, encodings: int, num_values: int) -> ColumnMetaData:
    """What the footer of a small file says about the chunk."""
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


# ------------------------------------------------------------------------------------------------------- the schema


def schema_of(column: SnapshotColumn, *, logical: bool = True) -> list[SchemaElement]:
    """A schema whose only leaf has the levels of a column: lists in lists for its repetition levels, the rest optional.

    Which of the groups are optional is not in ``_pm``; the rows are the same however they are shared out, but for the
    difference between an empty list and none.

    >>> from pqassay_spec.pm.codes import PhysicalType
    >>> flat = Column("n", PhysicalType.INT32, max_def_level=1, repetition=Repetition.OPTIONAL)
    >>> [(element.name, element.repetition_type) for element in schema_of(flat)]
    [('n', 1)]
    >>> nested = Column("a", PhysicalType.DOUBLE, max_rep_level=1, max_def_level=3, repetition=Repetition.OPTIONAL)
    >>> [(element.name, element.repetition_type) for element in schema_of(nested)]
    [('a', 1), ('list', 2), ('element', 1)]

    Raises:
        Refused: No schema has such levels.
    """
    lists, optionals = column.max_rep_level, column.max_def_level - column.max_rep_level
    if optionals < 0:
        raise Refused(
            f"column {column.name} has repetition level {lists} and definition level {column.max_def_level}: no schema does"
        )
    # The field itself and the leaf are one where there are no lists.
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
    if optional is None:
        return FieldRepetitionType.REPEATED
    return FieldRepetitionType.OPTIONAL if optional else FieldRepetitionType.REQUIRED


__all__ = ["ChunkRows", "facts_of", "pieces_of", "schema_of"]
