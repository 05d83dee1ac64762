"""A tiny Parquet writer: the same bytes for the same rows, on every machine and with every library version.

Golden files come from here.  It writes uncompressed PLAIN pages of four physical types, flat columns, required or
optional, cut into row groups and pages as asked, with statistics, page index, bloom filters and an IDX1 index in
any order.  Nothing here is fast, and nothing depends on a clock, a random number or a library's taste.

    >>> file = TinyParquet([Column("metal", "string", ["tin", None, "lead"])])
    >>> data = file.build()
    >>> data[:4], data[-4:], file.rows()
    (b'PAR1', b'PAR1', [['tin'], [None], ['lead']])

Source: apache/parquet-format, ``README.md`` and ``Encodings.md``; chapters ``parquet_file.md`` and ``idx1.md``.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from construct import ConstructError

from pqassay_reference.errors import Refused
from pqassay_reference.footer_splice import footer_and_tail
from pqassay_spec import bloom, idx1, idx1_companion
from pqassay_spec.compact_thrift import Record, grammar
from pqassay_spec.compact_thrift_values import Varint
from pqassay_spec.parquet_file import HEAD
from pqassay_spec.parquet_thrift import (
    BloomFilterAlgorithm,
    BloomFilterCompression,
    BloomFilterHash,
    BloomFilterHeader,
    BoundaryOrder,
    ColumnChunk,
    ColumnIndex,
    ColumnMetaData,
    ColumnOrder,
    CompressionCodec,
    ConvertedType,
    DataPageHeader,
    Encoding,
    FieldRepetitionType,
    FileMetaData,
    KeyValue,
    LogicalType,
    OffsetIndex,
    PageHeader,
    PageLocation,
    PageType,
    RowGroup,
    SchemaElement,
    SplitBlockAlgorithm,
    Statistics,
    StringType,
    Type,
    TypeDefinedOrder,
    Uncompressed,
    XxHash,
)
from pqassay_spec.plain_encoding import FIXED_WIDTH, LENGTH

CREATED_BY = "pqassay-reference version 1 (build golden)"
"""The version is that of the bytes that this module writes; it never follows the package's."""

Kind = Literal["int32", "int64", "double", "string", "binary"]

PHYSICAL: dict[Kind, Type] = {
    "int32": Type.INT32,
    "int64": Type.INT64,
    "double": Type.DOUBLE,
    "string": Type.BYTE_ARRAY,
    "binary": Type.BYTE_ARRAY,
}

Part = Literal["row groups", "row group 0", "other row groups", "idx1", "column indexes", "offset indexes", "bloom filters"]  # fmt: skip

BODY: tuple[Part, ...] = ("row groups", "bloom filters", "column indexes", "offset indexes", "idx1")
"""Order of the parts of the body, where no other is asked for."""


@dataclass(frozen=True)
class Column:
    """A flat column: its values in row order, ``None`` for null."""

    name: str
    kind: Kind
    values: Sequence[Any]
    optional: bool = True


@dataclass(frozen=True)
class Index:
    """An IDX1 index to embed.

    Attributes:
        column: Name of the indexed column.
        payload: The payload; by default the column's values in `idx1.lossless_order`.
        companion: Whether to write the companion record.
        layout: Published, or one of the drafts.
    """

    column: str
    payload: bytes | None = None
    companion: bool = False
    layout: idx1.Layout = idx1.Layout.PUBLISHED


@dataclass
class TinyParquet:
    """A file to be built.

    Attributes:
        columns: The columns, all of the same length.
        row_group_rows: Rows in each row group, the last may have fewer; all rows in one by default.
        page_rows: Rows in each page; one page per chunk by default.
        page_index: Whether to write column and offset indexes.
        bloom_filters: Names of the columns that get a bloom filter.
        statistics: Whether chunks carry bounds and null counts.
        index: An IDX1 index.
        keys: Further key-value pairs of the footer; they come before those of the index.
        body: The parts of the body in their order.
    """

    columns: Sequence[Column]
    row_group_rows: int | None = None
    page_rows: int | None = None
    page_index: bool = False
    bloom_filters: Collection[str] = ()
    statistics: bool = True
    index: Index | None = None
    keys: Sequence[tuple[str, str | None]] = ()
    body: Sequence[Part] = BODY
    _out: bytearray = field(default_factory=bytearray, repr=False)

    def rows(self) -> list[list[Any]]:
        """The rows, as lists of values in column order."""
        return [list(row) for row in zip(*(column.values for column in self.columns), strict=True)]

    def build(self) -> bytes:
        """The bytes of the file.

        Raises:
            Refused: What cannot be a file: see the message.
        """
        self._require_sense()
        count = len(self.columns[0].values)
        size = self.row_group_rows or max(count, 1)
        groups = [range(start, min(start + size, count)) for start in range(0, count, size)]
        chunks = [[self._chunk(column, rows) for column in self.columns] for rows in groups]
        self._out = bytearray(HEAD.build({}))
        keys = [KeyValue(key=key, value=value) for key, value in self.keys]
        row_groups: list[RowGroup] = [RowGroup(columns=[], total_byte_size=0, num_rows=0) for _ in groups]
        for part in self.body:
            if part == "row groups":
                self._write_row_groups(chunks, row_groups, groups, 0, len(groups))
            elif part == "row group 0":
                self._write_row_groups(chunks, row_groups, groups, 0, 1)
            elif part == "other row groups":
                self._write_row_groups(chunks, row_groups, groups, 1, len(groups))
            elif part == "idx1":
                keys += self._write_index(count)
            else:
                for row in chunks:
                    for chunk in row:
                        self._write_attachment(part, chunk)
        footer = FileMetaData(
            version=1,
            schema=[
                SchemaElement(name="schema", num_children=len(self.columns)),
                *map(_element, self.columns),
            ],
            num_rows=count,
            row_groups=row_groups,
            key_value_metadata=keys or None,
            created_by=CREATED_BY,
            column_orders=[ColumnOrder(TYPE_ORDER=TypeDefinedOrder()) for _ in self.columns],
        )
        return bytes(self._out) + footer_and_tail(bytes(grammar(FileMetaData).build(footer)))

    def _require_sense(self) -> None:
        """Raise `Refused` for what would be no file, or a wrong one."""
        if not self.columns:
            raise Refused("a file has at least one column")
        if len({len(column.values) for column in self.columns}) > 1:
            raise Refused("the columns have different lengths")
        for column in self.columns:
            if not column.optional and any(value is None for value in column.values):
                raise Refused(f"column {column.name} is required and holds a null")
            try:
                for value in column.values:
                    _ = b"" if value is None else _raw(column.kind, value)
            except (ConstructError, TypeError, ValueError, AttributeError) as error:
                raise Refused(f"column {column.name} holds what is no {column.kind}: {error}") from None
        for name in ("row_group_rows", "page_rows"):
            if (rows := getattr(self, name)) is not None and rows < 1:
                raise Refused(f"{name} is {rows}")
        last = max(
            (place for place, part in enumerate(self.body) if part.endswith(("groups", "group 0"))),
            default=-1,
        )
        if "offset indexes" in self.body[: last + 1] and self.page_index:
            raise Refused("offset indexes say where pages stand, so they come behind all row groups")

    # ------------------------------------------------------------------------------------------ the body

    def _write_row_groups(
        self,
        chunks: list[list[_Chunk]],
        row_groups: list[RowGroup],
        groups: list[range],
        start: int,
        end: int,
    ) -> None:
        for number in range(start, end):
            first = len(self._out)
            for chunk in chunks[number]:
                self._write_pages(chunk)
            size = len(self._out) - first
            row_groups[number] = RowGroup(
                columns=[chunk.record for chunk in chunks[number]],
                total_byte_size=size,
                num_rows=len(groups[number]),
                file_offset=first,
                total_compressed_size=size,
                ordinal=number,
            )

    def _write_pages(self, chunk: _Chunk) -> None:
        start = len(self._out)
        for page in chunk.pages:
            page.location.offset = len(self._out)
            body = page.body()
            header = PageHeader(
                type=PageType.DATA_PAGE,
                uncompressed_page_size=len(body),
                compressed_page_size=len(body),
                crc=_signed(zlib.crc32(body)),
                data_page_header=DataPageHeader(
                    num_values=len(page.values),
                    encoding=Encoding.PLAIN,
                    definition_level_encoding=Encoding.RLE,
                    repetition_level_encoding=Encoding.RLE,
                ),
            )
            self._out += _encoded(header) + body
            page.location.compressed_page_size = len(self._out) - page.location.offset
        facts = chunk.metadata
        facts.data_page_offset = start
        facts.total_compressed_size = facts.total_uncompressed_size = len(self._out) - start

    def _write_attachment(self, part: Part, chunk: _Chunk) -> None:
        """A column index, offset index or bloom filter, if the chunk is to have one."""
        offset = len(self._out)
        if part == "bloom filters":
            if chunk.column.name in self.bloom_filters:
                self._out += _bloom_filter(chunk.column.kind, chunk.values())
                chunk.metadata.bloom_filter_offset = offset
                chunk.metadata.bloom_filter_length = len(self._out) - offset
        elif self.page_index and part == "column indexes" and not chunk.has_page_without_bounds():
            self._out += _encoded(chunk.column_index())
            chunk.record.column_index_offset = offset
            chunk.record.column_index_length = len(self._out) - offset
        elif self.page_index and part == "offset indexes":
            self._out += _encoded(OffsetIndex(page_locations=[page.location for page in chunk.pages]))
            chunk.record.offset_index_offset = offset
            chunk.record.offset_index_length = len(self._out) - offset

    def _write_index(self, row_count: int) -> list[KeyValue]:
        if self.index is None:
            return []
        column = next((c for c in self.columns if c.name == self.index.column), None)
        if column is None:
            raise Refused(f"there is no column {self.index.column} to index")
        values = {_raw(column.kind, value).decode() for value in column.values if value is not None}
        payload = self.index.payload
        if payload is None:
            payload = idx1.published_payload(idx1.lossless_order(values))
        blob = bytes(idx1.BLOB.build({"length": len(payload), "payload": payload}))
        offset = len(self._out)
        if self.index.layout is idx1.Layout.DRAFT_G0:
            self._out += payload
        else:
            self._out += blob
        keys = [KeyValue(key=idx1.KEY, value=str(offset))]
        if self.index.layout is not idx1.Layout.PUBLISHED:
            keys.append(KeyValue(key=idx1.LENGTH_KEY, value=str(len(payload))))
        if self.index.companion:
            record = idx1_companion.make_companion(
                blob,
                offset=offset,
                column=(column.name,),
                row_count=row_count,
                value_count=len(values),
                null_count=sum(value is None for value in column.values),
            )
            keys.append(KeyValue(key=idx1.COMPANION_KEY, value=record.to_json()))
        return keys

    def _chunk(self, column: Column, rows: range) -> _Chunk:
        values = [column.values[row] for row in rows]
        size = self.page_rows or max(len(values), 1)
        pages = [_Page(column, values[i : i + size], i) for i in range(0, len(values), size)]
        metadata = ColumnMetaData(
            type=PHYSICAL[column.kind],
            encodings=[Encoding.PLAIN, Encoding.RLE],
            path_in_schema=[column.name],
            codec=CompressionCodec.UNCOMPRESSED,
            num_values=len(values),
            total_uncompressed_size=0,
            total_compressed_size=0,
            data_page_offset=0,
            statistics=_statistics(column, values) if self.statistics else None,
        )
        return _Chunk(column, pages, metadata, ColumnChunk(file_offset=0, meta_data=metadata))


@dataclass
class _Page:
    """A data page: its values, and where it comes to stand."""

    column: Column
    values: list[Any]
    first_row: int

    def __post_init__(self) -> None:
        self.location = PageLocation(offset=0, compressed_page_size=0, first_row_index=self.first_row)

    def body(self) -> bytes:
        """Definition levels of an optional column, then the values that are not null."""
        values = b"".join(_plain(self.column.kind, value) for value in self.values if value is not None)
        return (_levels(self.values) if self.column.optional else b"") + values


@dataclass
class _Chunk:
    """A column chunk while the file is laid out."""

    column: Column
    pages: list[_Page]
    metadata: ColumnMetaData
    record: ColumnChunk

    def values(self) -> list[Any]:
        """The values of all pages."""
        return [value for page in self.pages for value in page.values]

    def has_page_without_bounds(self) -> bool:
        """Whether a page holds values but nothing but NaN: such a chunk can have no column index."""
        return any(
            _bounds(self.column.kind, page.values) is None and any(value is not None for value in page.values)
            for page in self.pages
        )

    def column_index(self) -> ColumnIndex:
        """Bounds and null counts of the pages."""
        bounds = [_bounds(self.column.kind, page.values) for page in self.pages]
        known = [bound for bound in bounds if bound is not None]
        lows, highs = [low for low, _ in known], [high for _, high in known]
        order = BoundaryOrder.UNORDERED
        if lows == sorted(lows) and highs == sorted(highs):
            order = BoundaryOrder.ASCENDING
        elif lows == sorted(lows, reverse=True) and highs == sorted(highs, reverse=True):
            order = BoundaryOrder.DESCENDING
        kind = self.column.kind
        return ColumnIndex(
            null_pages=[bound is None for bound in bounds],
            min_values=[b"" if bound is None else _raw(kind, bound[0]) for bound in bounds],
            max_values=[b"" if bound is None else _raw(kind, bound[1]) for bound in bounds],
            boundary_order=order,
            null_counts=[sum(value is None for value in page.values) for page in self.pages],
        )


# ----------------------------------------------------------------------------------------------- encodings


def _plain(kind: Kind, value: Any) -> bytes:
    """The PLAIN encoding of one value."""
    raw = _raw(kind, value)
    return raw if PHYSICAL[kind] in FIXED_WIDTH else LENGTH.build(len(raw)) + raw


def _raw(kind: Kind, value: Any) -> bytes:
    """The PLAIN encoding of one value without a length prefix, as bounds and hashes take it."""
    if (fixed := FIXED_WIDTH.get(PHYSICAL[kind])) is not None:
        return bytes(fixed.build(value))
    return value.encode() if isinstance(value, str) else b"".join((value,))  # refuses what is no bytes


def _levels(values: Sequence[Any]) -> bytes:
    """Definition levels of at most 1 as runs, behind their length in bytes."""
    runs = bytearray()
    for present, length in _runs([value is not None for value in values]):
        runs += Varint().build(length << 1) + bytes((present,))
    return LENGTH.build(len(runs)) + bytes(runs)


def _runs(flags: Sequence[bool]) -> Iterator[tuple[bool, int]]:
    start = 0
    for position in range(1, len(flags) + 1):
        if position == len(flags) or flags[position] != flags[start]:
            yield flags[start], position - start
            start = position


def _bounds(kind: Kind, values: Sequence[Any]) -> tuple[Any, Any] | None:
    """Least and greatest value under the type's order; ``None`` without a value that has a place in it."""
    known = [value for value in values if value is not None and value == value]  # noqa: PLR0124 - NaN differs from itself
    if not known:
        return None
    if kind == "double":  # a zero among the bounds is written so that it covers the zero of either sign
        return min(known) or -0.0, max(known) or 0.0
    if PHYSICAL[kind] in FIXED_WIDTH:
        return min(known), max(known)
    return min(known, key=lambda value: _raw(kind, value)), max(known, key=lambda value: _raw(kind, value))


def _statistics(column: Column, values: Sequence[Any]) -> Statistics:
    bounds = _bounds(column.kind, values)
    return Statistics(
        null_count=sum(value is None for value in values),
        min_value=None if bounds is None else _raw(column.kind, bounds[0]),
        max_value=None if bounds is None else _raw(column.kind, bounds[1]),
    )


def _bloom_filter(kind: Kind, values: Sequence[Any]) -> bytes:
    """Header and bitset, about one block for every eight distinct values; some readers want a power of two."""
    import xxhash  # noqa: PLC0415 - only files with bloom filters need it

    distinct = {_raw(kind, value) for value in values if value is not None}
    blocks = max(1, -(-len(distinct) // 8))
    bitset = bytearray(bloom.BLOCK_SIZE << (blocks - 1).bit_length())
    for raw in distinct:
        bloom.insert(bitset, xxhash.xxh64_intdigest(raw))
    header = BloomFilterHeader(
        numBytes=len(bitset),
        algorithm=BloomFilterAlgorithm(BLOCK=SplitBlockAlgorithm()),
        hash=BloomFilterHash(XXHASH=XxHash()),
        compression=BloomFilterCompression(UNCOMPRESSED=Uncompressed()),
    )
    return _encoded(header) + bytes(bitset)


def _element(column: Column) -> SchemaElement:
    text = column.kind == "string"
    return SchemaElement(
        type=PHYSICAL[column.kind],
        repetition_type=FieldRepetitionType.OPTIONAL if column.optional else FieldRepetitionType.REQUIRED,
        name=column.name,
        converted_type=ConvertedType.UTF8 if text else None,
        logicalType=LogicalType(STRING=StringType()) if text else None,
    )


def _encoded(record: Record) -> bytes:
    return bytes(grammar(type(record)).build(record))


def _signed(value: int) -> int:
    """The same 32 bits as a signed number."""
    return value - (1 << 32) if value >> 31 else value
