"""The claims of one column chunk: statistics, bloom filter, column index and offset index, and when they count.

An index may save work, but never excludes more than it proves.  A structure therefore only counts if it agrees with
itself and with related structures: lists of equal length, bounds that are values of the type and in order,
counts that add up, ascending rows and places.  Bounds only count under a known order; zeros have two
signs, and bounds do not include NaN.

Source: chapters ``page_index.md`` and ``bloom.md``; the search is that of `pqassay_spec.parquet.page_search`.
"""

from __future__ import annotations

import operator
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from pqassay_reader.condition.normal import ColumnTest
from pqassay_reader.condition.values import Sides, Values
from pqassay_reference.columns.chunk_structures import (
    HASHED_DIFFERENTLY,
    may_hold,
    read_bloom_filter,
    read_column_index,
    read_offset_index,
)
from pqassay_reference.pages.literal_bytes import plain_bytes
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import Source
from pqassay_spec.parquet.column_order import Order, keys, order_of, width_of
from pqassay_spec.parquet.file import chunk_start
from pqassay_spec.parquet.page_search import (
    Condition,
    Rows,
    candidate_pages,
    candidate_range,
    may_hold_nan,
    rows_of_pages,
    zeros_of,
)
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import (
    BoundaryOrder,
    ColumnChunk,
    ColumnIndex,
    ColumnMetaData,
    ColumnOrder,
    OffsetIndex,
)

Side = tuple[Condition, bytes | None]
"""A comparison, and the PLAIN bytes of its constant; ``None`` if the column does not store such bytes."""

SORTED = (BoundaryOrder.ASCENDING, BoundaryOrder.DESCENDING)


class Mistrusted(Exception):  # noqa: N818 - says what is wrong with a structure, which is then not used
    """A structure of an index contradicts itself or a related structure."""


@contextmanager
def _mistrusting() -> Generator[None]:
    try:
        yield
    except FormatError as error:
        raise Mistrusted(str(error)) from None


def _ascends(values: list[Any], *, strictly: bool = False) -> bool:
    return all(map(operator.lt if strictly else operator.le, values, values[1:]))


@dataclass
class ChunkClaims:
    """One column chunk with its index structures, which are read on demand.

    Attributes:
        source: The file.
        body: Start and end offset of the body.
        row_count: Number of rows of its row group.
        chunk: The facts of the footer about it.
        leaf: Its column.
        column_order: The facts of the footer about the column's order.
        used: Names of the structures that were used in a decision.
    """

    source: Source
    body: range
    row_count: int
    chunk: ColumnChunk
    leaf: SchemaLeaf
    column_order: ColumnOrder | None
    used: set[str] = field(default_factory=set[str])

    @property
    def facts(self) -> ColumnMetaData:
        """The metadata. Raises `Mistrusted` if it is encrypted, or describes a chunk in another file."""
        if self.chunk.meta_data is None or self.chunk.file_path or self.chunk.crypto_metadata is not None:
            raise Mistrusted("the chunk cannot be read here")
        return self.chunk.meta_data

    @property
    def is_readable(self) -> bool:
        """Whether its metadata is in this file, and fits its column."""
        try:
            return self.leaf.is_at(self.facts.path_in_schema)
        except Mistrusted:
            return False

    @cached_property
    def order(self) -> Order | None:
        """The order of its values; ``None`` if it is unknown."""
        return order_of(self.leaf.element, self.column_order)

    @property
    def is_flat(self) -> bool:
        """Whether every row has exactly one entry."""
        return not self.leaf.max_repetition_level

    # ------------------------------------------------------------------------------------------ its structures

    # --8<-- [start:offset_index]
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
        rows = [place.first_row_index for place in places]
        offsets = [place.offset for place in places]
        ends = [place.offset + place.compressed_page_size for place in places]
        if not _ascends(rows, strictly=True) or any(map(operator.ge, offsets, ends)) or offsets[0] < start:
            raise Mistrusted("the pages of the offset index are not in order")
        end = start + self.facts.total_compressed_size
        if ends[-1] != end or rows[-1] >= self.row_count or offsets[0] != self.facts.data_page_offset:
            raise Mistrusted("the offset index does not cover the chunk")
        if offsets[1:] != ends[:-1]:
            raise Mistrusted("there are bytes between two pages")
        return index

    # --8<-- [end:offset_index]

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
        self._require_null_counts(index)
        if self.order is not None:
            pages = [page for page, null in enumerate(index.null_pages) if not null]
            self._require_bounds(
                self.order,
                [index.min_values[page] for page in pages],
                [index.max_values[page] for page in pages],
            )
        return index

    def _require_null_counts(self, index: ColumnIndex) -> None:
        counts = index.null_counts
        if counts is None:
            return
        if any(count < 0 for count in counts):
            raise Mistrusted("a page has a negative null count")
        if not self.is_flat:
            return
        starts = [place.first_row_index for place in self.offset_index.page_locations]
        rows = list(map(operator.sub, [*starts[1:], self.row_count], starts))
        if any(map(operator.gt, counts, rows)) or list(map(operator.eq, counts, rows)) != index.null_pages:
            raise Mistrusted("the null counts of the pages contradict their rows or null_pages")

    def _require_bounds(self, order: Order, lows: list[bytes], highs: list[bytes]) -> None:
        width = width_of(self.leaf.element)
        if width is not None and any(len(raw) != width for raw in (*lows, *highs)):
            raise Mistrusted("the width of a bound differs from that of its type")
        least, greatest = keys(order, lows), keys(order, highs)
        if None in least or None in greatest or any(map(operator.gt, least, greatest)):
            raise Mistrusted("the bounds are not valid")

    @cached_property
    def is_sorted(self) -> bool:
        """Whether the column index claims an order of its bounds, and the bounds are in that order."""
        index, order = self.column_index, self.order
        if order is None or index.boundary_order not in SORTED:
            return False
        pages = [page for page, null in enumerate(index.null_pages) if not null]
        if index.boundary_order == BoundaryOrder.DESCENDING:
            pages.reverse()
        return all(
            _ascends(keys(order, [bounds[page] for page in pages]))
            for bounds in (index.min_values, index.max_values)
        )

    @cached_property
    def summary(self) -> ColumnIndex:
        """The statistics of the chunk as a column index with one page. Raises `Mistrusted`."""
        stored, count = self.facts.statistics, self.facts.num_values
        if stored is None or (stored.null_count is not None and not 0 <= stored.null_count <= count):
            raise Mistrusted("there are no statistics")
        index = ColumnIndex(
            null_pages=[self.is_flat and stored.null_count == count == self.row_count],
            min_values=[stored.min_value or b""],
            max_values=[stored.max_value or b""],
            boundary_order=BoundaryOrder.UNORDERED,
            null_counts=None if stored.null_count is None else [stored.null_count],
            nan_counts=None if stored.nan_count is None else [stored.nan_count],
        )
        if not index.null_pages[0] and self.order is not None and self.has_bounds:
            self._require_bounds(self.order, index.min_values, index.max_values)
        return index

    @property
    def has_bounds(self) -> bool:
        """Whether the statistics have both bounds."""
        stored = self.facts.statistics
        return stored is not None and stored.min_value is not None and stored.max_value is not None

    @cached_property
    def bitset(self) -> bytes:
        """The bitset of the bloom filter. Raises `Mistrusted`."""
        if self.leaf.element.type in HASHED_DIFFERENTLY:
            raise Mistrusted("the hashed bytes of such values are disputed")
        with _mistrusting():
            bloom_filter = read_bloom_filter(self.source, self.body, self.facts)
        if bloom_filter is None:
            raise Mistrusted("there is no bloom filter")
        if self.facts.bloom_filter_length not in (None, bloom_filter.length):
            raise Mistrusted("the length of the bloom filter differs from the one in the footer")
        if not bloom_filter.bitset.strip(b"\0"):
            # The chunk has no values; the null count shows the same.
            raise Mistrusted("the bloom filter is empty")
        return bloom_filter.bitset

    # -------------------------------------------------------------------------------------------- its decisions

    def may_match(self, test: ColumnTest, *, asks_bloom: bool = True) -> bool:
        """Whether any row of the chunk may satisfy a test, according to its statistics and its bloom filter.

        Args:
            test: The test.
            asks_bloom: Whether the bloom filter is used; without it, nothing is read.
        """
        if not self.is_flat or not self.row_count:
            return True
        order = self.order if self.has_bounds else None
        try:
            index: ColumnIndex | None = self.summary
        except Mistrusted:
            index = None
        if index is not None and (order is not None or index.null_counts is not None):
            self.used.add("statistics")
        if index is None:
            if test.values.null or test.values.nan or test.values.has_all:
                return True
        elif _beside_intervals(index, order, test.values):
            return True
        for ends in test.values.ends:
            sides = self._sides(test, ends)
            if index is not None and not self._pages_between(index, order, sides, is_sorted=False):
                continue
            points = [raw for name, raw in sides if name == "=" and raw is not None]
            if not points or not asks_bloom or not self._is_not_held(points[0]):
                return True
        return False

    def rows(self, test: ColumnTest) -> Rows:
        """The rows whose value may satisfy a test, according to the bounds of their pages. See `may_match`."""
        everything = [range(self.row_count)]
        if not self.is_flat or not self.row_count:
            return everything
        order = self.order
        try:
            index = self.column_index
            pages = set(_beside_intervals(index, order, test.values))
            if not test.values.has_all:
                for ends in test.values.ends:
                    pages |= self._pages_between(
                        index, order, self._sides(test, ends), is_sorted=self.is_sorted
                    )
        except Mistrusted:
            return everything
        if order is not None or test.values.null or test.values.has_all:
            self.used.add("column index")
        return rows_of_pages(self.offset_index, self.row_count, sorted(pages))

    def _sides(self, test: ColumnTest, ends: Sides) -> list[Side]:
        """The comparisons for the values of an interval, with the bytes of their constants."""
        return [
            (cast("Condition", name), plain_bytes(self.leaf, test.kind.constant(value)))
            for name, value in ends
        ]

    def _pages_between(
        self, index: ColumnIndex, order: Order | None, sides: Sequence[Side], *, is_sorted: bool
    ) -> set[int]:
        """The pages that may have a value of an interval: by binary search if the bounds are sorted, otherwise by testing each page."""
        pages: set[int] | None = None
        for name, raw in sides:
            if order is None or raw is None:
                continue
            if is_sorted and zeros_of(order, raw) is not None:
                self.used.add("boundary order")
                of_side = candidate_range(index, order, name, raw)
            else:
                of_side = candidate_pages(index, order, name, raw)
            pages = set(of_side) if pages is None else pages.intersection(of_side)
        return set(candidate_pages(index, None, "is not null")) if pages is None else pages

    def _is_not_held(self, raw: bytes) -> bool:
        """Whether the bloom filter excludes a value. Zeros of both signs are equal, but have different hashes; NaN equals nothing."""
        try:
            bitset = self.bitset
        except Mistrusted:
            return False
        self.used.add("bloom filter")
        return not may_hold(bitset, self.leaf, raw)


def _beside_intervals(index: ColumnIndex, order: Order | None, values: Values) -> list[int]:
    """The pages that may have a null or a NaN that is in the set, or any value if the set has all values."""
    pages: set[int] = set()
    if values.null:
        pages.update(candidate_pages(index, None, "is null"))
    if values.has_all or values.nan:
        pages.update(
            page
            for page in candidate_pages(index, None, "is not null")
            if values.has_all or order is None or may_hold_nan(index, page, order)
        )
    return sorted(pages)
