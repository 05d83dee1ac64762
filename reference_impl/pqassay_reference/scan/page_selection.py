"""Selection of rows: those of a file that a condition leaves over, by everything that the file says about its values.

Of each row group: the bounds and null counts of its chunks, their bloom filters, and the bounds of their pages.  What is
left are ranges of rows; which pages of which column hold them, the offset indexes say.

An index may save work, it may never decide more than it knows.  So a structure counts only where it agrees with itself and
with its neighbours: lists of one length, bounds that are values of the type and stand in their order, counts that add up,
rows and places in ascending order.  The order that a column index claims for its bounds is not used at all: every page is
looked at.  Bounds count only under an order that is known; zeros have two signs, and NaN is nowhere in them.

Source: chapters ``page_index.md`` and ``bloom.md``; the search is that of `pqassay_spec.parquet.page_search`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any, cast

from construct import ConstructError

from pqassay_reference.columns.chunk_structures import (
    HASHED_DIFFERENTLY,
    may_hold,
    read_bloom_filter,
    read_column_index,
    read_offset_index,
)
from pqassay_reference.errors import Refused
from pqassay_reference.predicate.expressions import OPPOSITES
from pqassay_reference.predicate.literals import python_value
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.base.sources import Source
from pqassay_spec.parquet.column_order import Order, key, order_of, width_of
from pqassay_spec.parquet.file import chunk_start
from pqassay_spec.parquet.page_search import (
    Condition,
    Rows,
    candidate_pages,
    intersection,
    may_satisfy,
    rows_of_page,
    rows_of_pages,
    union,
)
from pqassay_spec.parquet.plain_encoding import FIXED_WIDTH, UNSIGNED
from pqassay_spec.parquet.schema import SchemaLeaf
from pqassay_spec.parquet.thrift import (
    BoundaryOrder,
    ColumnChunk,
    ColumnIndex,
    ColumnMetaData,
    ColumnOrder,
    FileMetaData,
    OffsetIndex,
    RowGroup,
    Type,
)


class Mistrusted(Exception):  # noqa: N818 - says what is wrong with a structure, which is then not used
    """A structure of an index contradicts itself or its neighbours."""


@contextmanager
def _mistrusting() -> Generator[None]:
    try:
        yield
    except FormatError as error:
        raise Mistrusted(str(error)) from None


@dataclass
class ChunkParts:
    """One column chunk with what is attached to it, read when first asked for.

    Attributes:
        source: The file.
        body: Where the body begins and ends.
        group: Its row group.
        chunk: What the footer says of it.
        leaf: Its column.
        column_order: What the footer says of the column's order.
        used: Names of what took part in a decision.
    """

    source: Source
    body: range
    group: RowGroup
    chunk: ColumnChunk
    leaf: SchemaLeaf
    column_order: ColumnOrder | None
    used: set[str] = field(default_factory=set[str])

    @property
    def facts(self) -> ColumnMetaData:
        """The metadata. Raises `Mistrusted` where it is encrypted, or about another file."""
        if self.chunk.meta_data is None or self.chunk.file_path or self.chunk.crypto_metadata is not None:
            raise Mistrusted("the chunk is not to be read here")
        return self.chunk.meta_data

    @cached_property
    def order(self) -> Order | None:
        """The order of its values; ``None`` where nobody knows."""
        return order_of(self.leaf.element, self.column_order)

    @property
    def is_flat(self) -> bool:
        """True if every row holds one entry."""
        return not self.leaf.max_repetition_level

    # ------------------------------------------------------------------------------------------ its structures

    @cached_property
    def offset_index(self) -> OffsetIndex:
        """The offset index. Raises `Mistrusted`."""
        with _mistrusting():
            index = read_offset_index(self.source, self.body, self.chunk)
        if index is None:
            raise Mistrusted("there is no offset index")
        places = index.page_locations
        start = chunk_start(self.chunk)
        if not places or start is None or places[0].first_row_index:
            raise Mistrusted("the offset index does not begin with the first row")
        end = start + self.facts.total_compressed_size
        at, row = start, -1
        for place in places:
            if place.offset < at or place.compressed_page_size <= 0 or place.first_row_index <= row:
                raise Mistrusted("the pages of the offset index are in no order")
            at, row = place.offset + place.compressed_page_size, place.first_row_index
        first = self.facts.data_page_offset
        if at != end or row >= self.group.num_rows or places[0].offset != first:
            raise Mistrusted("the offset index does not cover the chunk")
        if any(one.offset + one.compressed_page_size != other.offset for one, other in pairwise(places)):
            raise Mistrusted("bytes between two pages belong to none")
        return index

    @cached_property
    def column_index(self) -> ColumnIndex:
        """The column index. Raises `Mistrusted`."""
        with _mistrusting():
            index = read_column_index(self.source, self.body, self.chunk)
        if index is None:
            raise Mistrusted("there is no column index")
        count = len(self.offset_index.page_locations)
        for name in ("null_pages", "min_values", "max_values", "null_counts", "nan_counts"):
            entries: list[Any] | None = getattr(index, name)
            if entries is not None and len(entries) != count:
                raise Mistrusted(f"{name} has {len(entries)} entries for {count} pages")
        if index.boundary_order not in list(BoundaryOrder):
            raise Mistrusted("the order of the bounds is unknown")
        for page in range(count):
            self._require_page(index, page)
        return index

    def _require_page(self, index: ColumnIndex, page: int) -> None:
        rows = len(rows_of_page(self.offset_index, self.group.num_rows, page))
        nulls = None if index.null_counts is None else index.null_counts[page]
        if nulls is not None and (
            nulls < 0 or (self.is_flat and (nulls > rows or (nulls == rows) != index.null_pages[page]))
        ):
            raise Mistrusted(f"page {page} holds {rows} rows and is said to hold {nulls} nulls")
        if not index.null_pages[page] and self.order is not None:
            self._require_bounds(self.order, index.min_values[page], index.max_values[page])

    def _require_bounds(self, order: Order, low: bytes, high: bytes) -> None:
        width = width_of(self.leaf.element)
        if width is not None and not len(low) == len(high) == width:
            raise Mistrusted("a bound has another width than the type")
        least, greatest = key(order, low), key(order, high)
        if least is None or greatest is None or least > greatest:
            raise Mistrusted("the bounds are none")

    @cached_property
    def summary(self) -> ColumnIndex:
        """The statistics of the chunk as the index of a column of one page. Raises `Mistrusted`."""
        stored, count = self.facts.statistics, self.facts.num_values
        if stored is None or (stored.null_count is not None and not 0 <= stored.null_count <= count):
            raise Mistrusted("there are no statistics")
        index = ColumnIndex(
            null_pages=[self.is_flat and stored.null_count == count == self.group.num_rows],
            min_values=[stored.min_value or b""],
            max_values=[stored.max_value or b""],
            boundary_order=BoundaryOrder.UNORDERED,
            null_counts=None if stored.null_count is None else [stored.null_count],
            nan_counts=None if stored.nan_count is None else [stored.nan_count],
        )
        if not index.null_pages[0] and self.order is not None and self.has_bounds:
            self._require_bounds(self.order, index.min_values[0], index.max_values[0])
        return index

    @property
    def has_bounds(self) -> bool:
        """True if the statistics hold both bounds."""
        said = self.facts.statistics
        return said is not None and said.min_value is not None and said.max_value is not None

    @cached_property
    def bitset(self) -> bytes:
        """The bitset of the bloom filter. Raises `Mistrusted`."""
        if self.leaf.element.type in HASHED_DIFFERENTLY:
            raise Mistrusted("what of such values is hashed is disputed")
        with _mistrusting():
            bloom_filter = read_bloom_filter(self.source, self.body, self.facts)
        if bloom_filter is None:
            raise Mistrusted("there is no bloom filter")
        if self.facts.bloom_filter_length not in (None, bloom_filter.length):
            raise Mistrusted("the bloom filter has another length than the footer says")
        if not bloom_filter.bitset.strip(b"\0"):
            # Of a chunk without values; the null count tells as much.
            raise Mistrusted("the bloom filter is empty")
        return bloom_filter.bitset

    # -------------------------------------------------------------------------------------------- its decisions

    def rows(self, condition: Condition, literal: Any = None, *, nan: bool = False) -> Rows:
        """The rows whose value may satisfy a condition.

        Args:
            condition: The condition.
            literal: What is looked for, as Python has it; ``None`` satisfies nothing.
            nan: Whether NaN satisfies it.
        """
        count = self.group.num_rows
        everything = [range(count)]
        if not self.is_flat or not count:
            return everything
        tests_null = condition in ("is null", "is not null")
        if not tests_null and literal is None:
            return []
        raw = b"" if tests_null else plain_bytes(self.leaf, literal)
        order = None if raw is None else self.order
        if self._excluded(condition, order, raw or b"", nan=nan):
            return []
        if raw is not None and condition == "=" and self._not_held(raw):
            return []
        try:
            pages = candidate_pages(self.column_index, order, condition, raw or b"", nan=nan)
        except Mistrusted:
            return everything
        if tests_null or order is not None:
            self.used.add("column index")
        return rows_of_pages(self.offset_index, count, pages)

    def _excluded(self, condition: Condition, order: Order | None, raw: bytes, *, nan: bool) -> bool:
        try:
            index = self.summary
        except Mistrusted:
            return False
        known = order if self.has_bounds else None
        if known is not None or index.null_counts is not None:
            self.used.add("statistics")
        return not may_satisfy(index, 0, known, condition, raw, nan=nan)

    def _not_held(self, raw: bytes) -> bool:
        """True if the bloom filter leaves no row. Zeros of both signs are equal, and hash apart; NaN equals nothing."""
        try:
            bitset = self.bitset
        except Mistrusted:
            return False
        self.used.add("bloom filter")
        return not may_hold(bitset, self.leaf, raw)


def plain_bytes(leaf: SchemaLeaf, literal: Any) -> bytes | None:
    """The PLAIN bytes of a literal, of a byte array without its length; ``None`` where none of the column are equal to it alone.

    Only what the column holds as it is: no dates and no decimals, whose literals are written otherwise.
    """
    element = leaf.element
    kind, logical = element.type, element.logicalType
    plain = logical is None and element.converted_type is None
    integer = logical.INTEGER if logical is not None else None
    text = logical is not None and None in (logical.STRING, logical.ENUM, logical.JSON) and any(
        one is not None for one in (logical.STRING, logical.ENUM, logical.JSON)
    )  # fmt: skip
    try:
        match literal:
            case bool():
                return bytes((literal,)) if plain and kind == Type.BOOLEAN else None
            case int() if kind in (Type.INT32, Type.INT64) and (plain or integer is not None):
                unsigned = integer is not None and not integer.isSigned
                numbers = UNSIGNED if unsigned else FIXED_WIDTH
                return bytes(numbers[Type(kind)].build(literal))
            case int() | float() if kind in (Type.FLOAT, Type.DOUBLE) and plain:
                raw = struct.pack("<f" if kind == Type.FLOAT else "<d", literal)
                exact = struct.unpack("<f" if kind == Type.FLOAT else "<d", raw)[0] == literal
                return raw if exact and not math.isnan(literal) else None
            case str() if kind == Type.BYTE_ARRAY and (plain or text or element.converted_type is not None):
                return literal.encode()
            case bytes() if plain and kind in (Type.BYTE_ARRAY, Type.FIXED_LEN_BYTE_ARRAY):
                fits = kind == Type.BYTE_ARRAY or len(literal) == element.type_length
                return literal if fits else None
            case _:
                return None
    except (ConstructError, OverflowError, struct.error, UnicodeError):
        return None  # beyond what the type holds


# ------------------------------------------------------------------------------------------------ row groups


def chunks_by_name(
    source: Source, body: range, metadata: FileMetaData, leaves: Sequence[SchemaLeaf], number: int
) -> dict[str, ChunkParts]:
    """The chunks of a row group by the names of their columns; those that nothing can be said of are left out."""
    group = metadata.row_groups[number]
    orders = metadata.column_orders
    if len(group.columns) != len(leaves):
        raise Malformed(
            f"row group {number} lists {len(group.columns)} chunks", rule="PQF-012", field="footer"
        )
    names = [leaf.name for leaf in leaves]
    return {
        leaf.name: ChunkParts(source, body, group, chunk, leaf, orders[at] if orders and at < len(orders) else None)
        for at, (leaf, chunk) in enumerate(zip(leaves, group.columns, strict=True))
        if names.count(leaf.name) == 1
        and len(leaf.path) == 1
        and chunk.meta_data is not None
        and leaf.is_at(chunk.meta_data.path_in_schema)
        and not chunk.file_path
        and chunk.crypto_metadata is None
    }  # fmt: skip


def rows_left(
    predicate: Sequence[Any], chunks: dict[str, ChunkParts], row_count: int, *, negated: bool = False
) -> Rows:
    """The rows of a row group for which a predicate may be true, or, ``negated``, may be false.

    Raises:
        Refused: It is no predicate.
    """
    everything = [range(row_count)] if row_count else []
    match predicate:
        case ["not", part]:
            return rows_left(part, chunks, row_count, negated=not negated)
        case [("and" | "or") as name, *parts] if parts:
            found = [rows_left(part, chunks, row_count, negated=negated) for part in parts]
            if (name == "and") == negated:
                return union(found)
            return reduce(intersection, found, everything)
        case [str(operator), str(column), *rest] if operator in OPPOSITES:
            chunk = chunks.get(column)
            if chunk is None:
                return everything
            return _rows_of(
                chunk, OPPOSITES[operator] if negated else operator, rest, everything, negated=negated
            )
        case _:
            raise Refused(f"{str(predicate)[:80]} is no predicate")


def _rows_of(
    chunk: ChunkParts, operator: str, rest: Sequence[Any], everything: Rows, *, negated: bool
) -> Rows:
    if operator in ("in", "not in"):
        literals = cast("list[Any]", rest[0]) if rest and isinstance(rest[0], list) else []
        found = [chunk.rows("=" if operator == "in" else "!=", python_value(one), nan=operator == "not in") for one in literals]  # fmt: skip
        return union(found) if operator == "in" else reduce(intersection, found, everything)
    literal = python_value(rest[0]) if rest else None
    nan = operator == "!=" or (negated and operator != "=")  # no comparison with NaN is true but that one
    return chunk.rows(cast("Condition", operator), literal, nan=nan)
