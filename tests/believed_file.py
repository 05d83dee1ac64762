"""A Parquet file as a reader sees it that believes whatever the file says, with the truth beside it.

Nothing is decoded: what the pages hold is known from the rows of a golden case, and which page is stored where from a walk over
its good file.  So a reader can be misled at the cost of some comparisons.
"""

from __future__ import annotations

import base64
import decimal
import json
import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, TypeVar

import pyarrow as pa

from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked, Options
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.golden.literals import Date, Decimal, Time, Timestamp, Value
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.parquet.bloom import BLOCK_SIZE
from pqassay_spec.parquet.column_order import Order, type_order
from pqassay_spec.parquet.encoding.plain import JULIAN_DAY_OF_1970, Int96Timestamp
from pqassay_spec.parquet.file import BLOOM_HEADER_LIMIT, chunk_start, decode_footer, read_framing
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf, leaves
from pqassay_spec.parquet.schema.types import annotation_of, converted_of
from pqassay_spec.parquet.thrift import (
    BloomFilterHeader,
    ColumnChunk,
    ColumnIndex,
    FileMetaData,
    OffsetIndex,
    PageHeader,
    RowGroup,
    SchemaElement,
    Type,
)
from pqassay_suite.cases.case import GoldenCase

Index = TypeVar("Index", ColumnIndex, OffsetIndex)

NANOSECONDS_OF_A_DAY = 86_400 * 10**9
UNITS = {"MILLIS": 10**6, "MICROS": 10**3, "NANOS": 1}


class FakeFailure(Exception):  # noqa: N818 - what happens to the fake, not a mistake of it
    """The reader can go no further."""


@dataclass(frozen=True)
class TruePage:
    """A page of values as it is.

    Attributes:
        column: The name of its top-level column.
        size: Its bytes, with its header.
        rows: Its rows, counted from the first of the file.
        header: Its header.
    """

    column: str
    size: int
    rows: range
    header: PageHeader


@dataclass(frozen=True)
class Zone:
    """What is said about the values of a chunk or a page.

    Attributes:
        low, high: The bounds, as Python compares them.
        null_count, nan_count: How many nulls and NaN there are.
        is_null: Whether there is said to be nothing but nulls.
        count: Its rows.
        is_floating: Whether there may be NaN.
    """

    low: Any = None
    high: Any = None
    null_count: int | None = None
    nan_count: int | None = None
    is_null: bool = False
    count: int | None = None
    is_floating: bool = False


@dataclass
class BelievedChunk:
    """A column chunk and what is attached to it, believed without a look."""

    data: bytes
    chunk: ColumnChunk
    leaf: SchemaLeaf

    @property
    def facts(self) -> Any:
        """Its metadata."""
        if self.chunk.meta_data is None:
            raise FakeFailure("no metadata")
        return self.chunk.meta_data

    @property
    def is_flat(self) -> bool:
        """Whether each row holds one value."""
        return not self.leaf.max_repetition_level

    @cached_property
    def column_index(self) -> ColumnIndex | None:
        """The column index, however long the footer calls it."""
        return self._decoded(ColumnIndex, self.chunk.column_index_offset)

    @cached_property
    def offset_index(self) -> OffsetIndex | None:
        """The offset index, however long the footer calls it."""
        return self._decoded(OffsetIndex, self.chunk.offset_index_offset)

    def _decoded(self, kind: type[Index], offset: int | None) -> Index | None:
        if not offset:
            return None
        try:
            return decode(kind, self.data[offset:])[0]
        except FormatError as error:
            raise FakeFailure(str(error)) from None

    @cached_property
    def bitset(self) -> bytes | None:
        """The bitset of the bloom filter, as many bytes as its header says."""
        offset = self.facts.bloom_filter_offset
        if not offset:
            return None
        try:
            raw = self.data[offset : offset + BLOOM_HEADER_LIMIT]
            header, taken = decode(BloomFilterHeader, raw)
        except FormatError as error:
            raise FakeFailure(str(error)) from None
        if header.numBytes < BLOCK_SIZE:
            raise FakeFailure("a filter of no block")
        return self.data[offset + taken : offset + taken + header.numBytes]


@dataclass
class BelievedFile:
    """A file, and the truth about it.

    Attributes:
        data: Its bytes.
        names: Its columns.
        rows: Its rows, one value a column.
        groups: The rows of the row groups as they are.
        pages: The pages of values as they are, by their offsets.
        described_otherwise: Columns to which a document of the writer gives another type than that of the good file.
    """

    data: bytes
    names: list[str]
    rows: list[list[Value]]
    groups: list[range] = field(default_factory=list[range])
    pages: dict[int, TruePage] = field(default_factory=dict[int, TruePage])
    described_otherwise: set[str] = field(default_factory=set[str])
    _chunks: dict[tuple[int, int], BelievedChunk] = field(
        default_factory=dict[tuple[int, int], BelievedChunk]
    )
    _headers: dict[int, PageHeader] = field(default_factory=dict[int, PageHeader])

    @classmethod
    def of(cls, golden: GoldenCase) -> BelievedFile:
        """The file of a case. Raises `FakeFailure` where its footer cannot be read."""
        known = golden.rows
        if known is None:
            raise ValueError(f"{golden.case.id} has no rows")
        found = cls(golden.content(), known.names(), known.values())
        good = FileUnderTest(BytesSource((golden.parent or golden).content()), Options("pages"))
        own = FileUnderTest(BytesSource(found.data), Options("pages"))
        counts = [group.num_rows for group in good.metadata.row_groups]
        found.groups = [range(*ends) for ends in pairwise(accumulate(counts, initial=0))]
        places = {(chunk.row_group, chunk.ordinal): chunk for chunk in _chunks(own)}
        for chunk in _chunks(good):
            pages = list(_true_pages(chunk, found.groups[chunk.row_group]))
            damaged = _offsets(places.get((chunk.row_group, chunk.ordinal)))
            offsets = damaged if len(damaged) == len(pages) else _offsets(chunk)
            found.pages |= dict(zip(offsets, pages, strict=True))
        found.described_otherwise = {
            name for name, kind in _described(good.metadata) if (name, kind) not in _described(found.metadata)
        }
        return found

    @cached_property
    def metadata(self) -> Any:
        """The footer."""
        source = BytesSource(self.data)
        try:
            framing = read_framing(source)
            footer = source.read(framing.footer_start, framing.footer_length)
            return decode_footer(footer, framing)[0]
        except FormatError as error:
            raise FakeFailure(str(error)) from None

    def header_at(self, offset: int) -> PageHeader:
        """The header of the page at an offset."""
        if offset not in self._headers:
            try:
                self._headers[offset] = decode(PageHeader, self.data[offset:])[0]
            except FormatError as error:
                raise FakeFailure(str(error)) from None
        return self._headers[offset]

    @cached_property
    def leaves(self) -> list[SchemaLeaf]:
        """The leaf columns."""
        try:
            return leaves(self.metadata)
        except FormatError as error:
            raise FakeFailure(str(error)) from None

    def leaf_of(self, name: str) -> int:
        """The position of the first leaf of a top-level column."""
        for place, leaf in enumerate(self.leaves):
            if leaf.path[0] == name:
                return place
        raise FakeFailure(f"no column {name}")

    def chunk_of(self, number: int, place: int) -> BelievedChunk:
        """The chunk that a row group lists at a position."""
        if (number, place) not in self._chunks:
            chunks = self.metadata.row_groups[number].columns
            if place >= min(len(chunks), len(self.leaves)):
                raise FakeFailure("no such chunk")
            self._chunks[number, place] = BelievedChunk(self.data, chunks[place], self.leaves[place])
        return self._chunks[number, place]

    def first_page(self, chunk: ColumnChunk) -> TruePage | None:
        """The first page of values where the footer says that a chunk is."""
        start = chunk_start(chunk)
        if start is None or chunk.meta_data is None:
            return None
        behind = (place for place in sorted(self.pages) if place >= start)
        return self.pages.get(next(behind, -1))

    def is_in_split(self, group: RowGroup) -> bool:
        """Whether a reader of splits, whose one split is the whole file, comes by: it goes by the middle of the row group."""
        chunk = group.columns[0]
        begins = chunk_start(chunk)
        start = begins if group.file_offset is None else group.file_offset
        middle = (start or 0) + (group.total_compressed_size or 0) // 2
        return start == begins and middle < len(self.data)

    def rows_of(self, group: RowGroup) -> range:
        """The rows of a row group as they are: those of the pages that it points to."""
        for chunk in group.columns:
            page = self.first_page(chunk)
            if page is not None:
                return next(rows for rows in self.groups if page.rows.start in rows)
        return range(0)


def _chunks(file: FileUnderTest) -> Sequence[ColumnChunkUnderTest]:
    try:
        return file.part(ColumnChunks).all
    except (FormatError, NotApplicable, NotChecked):
        return []


def _offsets(chunk: ColumnChunkUnderTest | None) -> list[int]:
    """Where the pages of values are."""
    try:
        return [] if chunk is None else [page.offset for page in chunk.data_pages]
    except (FormatError, NotApplicable, NotChecked):
        return []


def _true_pages(chunk: ColumnChunkUnderTest, rows: range) -> Iterator[TruePage]:
    """The pages of a chunk of a good file."""
    pages = list(chunk.data_pages) if _offsets(chunk) else []
    try:
        starts = list(chunk.page_places.first_rows)
    except (FormatError, NotApplicable, NotChecked):
        flat = chunk.leaf.max_repetition_level == 0
        counts = [
            page.v2.num_rows if page.v2 else page.data_header.num_values if flat else 0 for page in pages[:-1]
        ]
        starts = list(accumulate(counts, initial=0))
    for page, start, end in zip(pages, starts, [*starts[1:], len(rows)], strict=False):
        yield TruePage(chunk.leaf.path[0], page.stored_length, rows[start:end], page.header)


def _described(metadata: FileMetaData) -> set[tuple[str, str]]:
    """Columns and their types, by the documents in which Arrow and Spark say them; nothing by one that cannot be read."""
    found: set[tuple[str, str]] = set()
    for pair in metadata.key_value_metadata or []:
        try:
            if pair.key == "ARROW:schema":
                schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(pair.value or "")))
                found |= {(one.name, str(one.type)) for one in schema}
            elif pair.key == "org.apache.spark.sql.parquet.row.metadata":
                found |= {(one["name"], str(one["type"])) for one in json.loads(pair.value or "")["fields"]}
        except (pa.ArrowException, OSError, ValueError, KeyError):
            continue
    return found


# ------------------------------------------------------------------------------------------- values and bounds


def comparable(value: Value) -> Any:
    """What Python compares in place of a value."""
    match value:
        case str():
            return value.encode()
        case Decimal():
            return decimal.Decimal(value.decimal)
        case Date() | Time() | Timestamp():
            return int(next(iter(vars(value).values())))
        case _:
            return value


def bound(element: SchemaElement, raw: bytes | None) -> Any:
    """What Python compares in place of a bound, whatever its width; ``None`` without one."""
    if raw is None:
        return None
    order = type_order(element)
    if order in (Order.HALF, Order.HALF_TOTAL):
        return struct.unpack("<e", raw[:2].ljust(2, b"\0"))[0]
    if element.type in (Type.FLOAT, Type.DOUBLE):
        code, width = ("<f", 4) if element.type == Type.FLOAT else ("<d", 8)
        return struct.unpack(code, raw[:width].ljust(width, b"\0"))[0]
    if element.type == Type.INT96:
        nanoseconds, days = Int96Timestamp.read(raw.ljust(12, b"\0"))
        return (days - JULIAN_DAY_OF_1970) * NANOSECONDS_OF_A_DAY + nanoseconds
    if element.type in (Type.BOOLEAN, Type.INT32, Type.INT64):
        width = {Type.BOOLEAN: 1, Type.INT32: 4}.get(Type(element.type), 8)
        signed = order is not Order.UNSIGNED and element.type != Type.BOOLEAN
        return _scaled(element, int.from_bytes(raw[:width].ljust(width, b"\0"), "little", signed=signed))
    if order in (Order.DECIMAL, Order.SIGNED_12):
        return _scaled(
            element, int.from_bytes(raw, "big" if order is Order.DECIMAL else "little", signed=True)
        )
    return raw


def _scaled(element: SchemaElement, number: int) -> Any:
    name = annotation_of(element) or converted_of(element) or ""
    if name.startswith("DECIMAL"):
        return decimal.Decimal(number).scaleb(-(element.scale or 0))
    if name.startswith(("TIME", "TIMESTAMP")):
        return number * next((size for unit, size in UNITS.items() if unit in name), 1)
    return number


def is_nan(value: Any) -> bool:
    """Whether a value is NaN."""
    return isinstance(value, float) and math.isnan(value)
