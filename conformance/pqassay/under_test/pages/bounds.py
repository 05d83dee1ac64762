"""The bounds of a column chunk's pages in its column index, and the bounds of the chunk itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import le
from typing import TYPE_CHECKING, Any

from pqassay.under_test.file import Broken, NotApplicable, Remembered
from pqassay_spec.parquet.column_order import TOTAL, Order, is_nan, key, keys, width_of
from pqassay_spec.parquet.thrift import ColumnIndex, SchemaElement

if TYPE_CHECKING:
    from pqassay.under_test.chunks import ColumnChunkUnderTest


def unequal_lists(index: ColumnIndex, pages: int) -> list[tuple[str, int]]:
    """The names and lengths of column index lists without one entry per page: PIX-021."""
    lists = (index.null_pages, index.min_values, index.max_values, index.null_counts, index.nan_counts)
    names = ("null_pages", "min_values", "max_values", "null_counts", "nan_counts")
    return [
        (name, len(values))
        for name, values in zip(names, lists, strict=True)
        if values is not None and len(values) != pages
    ]


def page_count(chunk: ColumnChunkUnderTest) -> int:
    """The number of pages in the offset index, or without it in the column index. Raises PIX-011 and the errors of the indexes."""
    try:
        pages = len(chunk.offset_index.page_locations)
    except NotApplicable:
        return len(chunk.column_index.null_pages)
    if not pages and chunk.facts.num_values > 0:
        raise Broken("PIX-011")
    return pages


def even_column_index(chunk: ColumnChunkUnderTest) -> ColumnIndex:
    """The column index, checked to have lists with an entry for each page. Raises PIX-021 and the errors of the indexes."""
    index, pages = chunk.column_index, page_count(chunk)
    if unequal_lists(index, pages):
        raise Broken("PIX-021")
    return index


def present_values(chunk: ColumnChunkUnderTest) -> list[int] | None:
    """The number of non-null values of each page, from the indexes; ``None`` if they do not contain it.

    In a column without lists, each row is a value. In a column with lists, the definition level histograms are used.

    Raises:
        Malformed: PIX-015, PIX-016, PIX-021, and the errors of the indexes.
    """
    index, leaf = chunk.even_column_index, chunk.leaf
    if leaf.max_repetition_level:
        histograms, levels = index.definition_level_histograms, leaf.max_definition_level + 1
        if histograms is None or len(histograms) != levels * len(index.null_pages):
            return None
        return histograms[levels - 1 :: levels]
    if index.null_counts is None or chunk.chunk.offset_index_offset is None:
        return None
    return [rows - nulls for rows, nulls in zip(chunk.page_places.row_counts, index.null_counts, strict=True)]


def false_null_pages(nulls: Sequence[bool], present: Sequence[int]) -> list[int]:
    """The pages that are wrongly marked as all-null pages, or wrongly not marked: PIX-026."""
    return [
        page
        for page, (null, count) in enumerate(zip(nulls, present, strict=True))
        if (count != 0 if null else count <= 0)
    ]


def keys_of(order: Order, element: SchemaElement, raws: Sequence[bytes]) -> list[Any]:
    """The sort keys of bounds; ``None`` for NaN, and for bytes that are not a value of the physical type.

    Bounds of fixed-length byte arrays that are ordered bytewise may be truncated.
    """
    width = width_of(element)
    if order is Order.BYTES:
        return list(raws) if width is None else [raw if 0 < len(raw) <= width else None for raw in raws]
    if width is not None and any(len(raw) != width for raw in raws):
        return [key(order, raw) if len(raw) == width else None for raw in raws]
    found = keys(order, raws)
    if order is Order.BOOLEAN and found and max(found) > 1:
        return [value if value <= 1 else None for value in found]
    return found


def _columns(found: Iterable[tuple[int, Any, Any]]) -> tuple[list[int], list[Any], list[Any]]:
    """The first, second and third items of some tuples, as lists."""
    kept = list(found)
    return [page for page, _, _ in kept], [low for _, low, _ in kept], [high for _, _, high in kept]


class PageBounds:
    """The bounds of the pages of a chunk, except all-null pages.

    Attributes:
        chunk: The chunk.
        order: The order of its values.
        index: Its column index; its lists have an entry for each page.
        pages: Positions of the pages.
        lows, highs: The keys of their bounds, see `pqassay_spec.parquet.column_order.key`; ``None`` if there is no key.
        sound: Whether every page has two keys in the right order, so that no page must be skipped.
        least, greatest: The keys of the bounds of the chunk; ``None`` if absent or not a value.
    """

    def __init__(self, chunk: ColumnChunkUnderTest) -> None:
        order = chunk.order
        if order is None:
            raise NotApplicable
        self.chunk = chunk
        self.order = order
        self.index = index = chunk.even_column_index
        self.pages: Sequence[int] = range(len(index.null_pages))
        minima, maxima = index.min_values, index.max_values
        if True in index.null_pages:
            self.pages = [page for page in self.pages if not index.null_pages[page]]
            minima, maxima = [minima[page] for page in self.pages], [maxima[page] for page in self.pages]
        statistics, ends = chunk.statistics, []
        if statistics is not None:
            ends = [raw for raw in (statistics.min_value, statistics.max_value) if raw is not None]
        # All at once: where files are small, each call counts.
        keys = keys_of(order, chunk.leaf.element, [*minima, *maxima, *ends])
        count = len(minima)
        self.lows, self.highs = keys[:count], keys[count : 2 * count]
        self.sound = None not in self.lows and None not in self.highs and all(map(le, self.lows, self.highs))
        self.least: Any = None
        self.greatest: Any = None
        if statistics is not None and statistics.max_value is not None:
            self.greatest = keys.pop()
        if statistics is not None and statistics.min_value is not None:
            self.least = keys.pop()

    @Remembered
    def comparable(self) -> tuple[Sequence[int], list[Any], list[Any]]:
        """Positions, lower and upper keys of the pages whose own bounds break no rule."""
        if self.sound:
            return self.pages, self.lows, self.highs
        return _columns(
            found
            for found in zip(self.pages, self.lows, self.highs, strict=True)
            if found[1] is not None and found[2] is not None and found[1] <= found[2]
        )

    @Remembered
    def numbers(self) -> tuple[Sequence[int], list[Any], list[Any]]:
        """Like `comparable`, without all-NaN pages.

        Under the total order, all-NaN pages have NaN bounds, but the chunk's bounds describe only the other values.
        """
        if self.order not in TOTAL:
            return self.comparable
        minima = self.index.min_values
        return _columns(
            found for found in zip(*self.comparable, strict=True) if not self._is_nan(minima[found[0]])
        )

    @Remembered
    def swapped(self) -> list[int]:
        """Positions of the pages whose lower bound is greater than the upper bound: PIX-024."""
        return [
            page
            for page, low, high in zip(self.pages, self.lows, self.highs, strict=True)
            if low is not None and high is not None and low > high
        ]

    def no_values(self, raws: Sequence[bytes], found: Sequence[Any]) -> list[int]:
        """The pages whose bound in a list is not a value of the physical type; ``found`` has the keys of that list."""
        return [page for page in self._without_key(found) if not self._is_nan(raws[page])]

    def not_numbers(self, raws: Sequence[bytes], found: Sequence[Any]) -> list[int]:
        """The pages whose bound in a list is NaN; ``found`` has the keys of that list."""
        return [page for page in self._without_key(found) if self._is_nan(raws[page])]

    def _without_key(self, found: Sequence[Any]) -> list[int]:
        return [page for page, value in zip(self.pages, found, strict=True) if value is None]

    def _is_nan(self, raw: bytes) -> bool:
        return len(raw) == width_of(self.chunk.leaf.element) and is_nan(self.order, raw)

    @property
    def of_chunk(self) -> tuple[Any, Any]:
        """The keys of the chunk's own bounds; ``None`` if absent or not a value. Raises STA-006."""
        low, high = self.least, self.greatest
        if low is not None and high is not None and low > high:
            raise Broken("STA-006")
        return low, high

    def require_true_null_pages(self) -> None:
        """Raise PIX-026 if pages marked as all-null have values, and the errors of `present_values`."""
        if True in self.index.null_pages:
            present = present_values(self.chunk)
            if present is not None and false_null_pages(self.index.null_pages, present):
                raise Broken("PIX-026")

    @Remembered
    def outside_of_chunk(self) -> list[int]:
        """The pages whose bounds lie completely below or above the chunk's bounds: PIX-034. Raises STA-006."""
        least, greatest = self.of_chunk
        return [
            page
            for page, low, high in zip(*self.numbers, strict=True)
            if (least is not None and high < least) or (greatest is not None and low > greatest)
        ]
