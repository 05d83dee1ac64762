"""Lint of the page index of a column chunk: it agrees with itself, with the footer, and with the pages.

Source: chapter ``page_index.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any

from pqassay_reference.columns.page_values import DataPage
from pqassay_reference.lint.decoded_chunk import DecodedChunk
from pqassay_reference.lint.parquet_file_footer import wrong
from pqassay_spec.parquet.column_order import FLOATING, TOTAL, Order, is_nan, key, type_order, width_of
from pqassay_spec.parquet.encoding.null_counts import null_counts
from pqassay_spec.parquet.file import chunk_start
from pqassay_spec.parquet.thrift import (
    BoundaryOrder,
    ColumnIndex,
    OffsetIndex,
    PageLocation,
    SizeStatistics,
    Statistics,
    Type,
)


def lint_page_index(
    chunk: DecodedChunk, offset_index: OffsetIndex | None, column_index: ColumnIndex | None
) -> None:
    """Raise what is wrong with the page index of a chunk.

    Args:
        chunk: The chunk.
        offset_index: Its offset index, if it has one.
        column_index: Its column index, if it has one.

    Raises:
        FormatError: With the rule that is broken.
    """
    if offset_index is not None:
        _lint_offset_index(chunk, offset_index)
    if column_index is not None:
        if offset_index is None:
            raise wrong("PIX-001", "there is a column index and no offset index", "column_index")
        _lint_column_index(chunk, column_index, len(offset_index.page_locations))


# ------------------------------------------------------------------------------------------------ offset index


def _lint_offset_index(chunk: DecodedChunk, index: OffsetIndex) -> None:
    places, sizes = index.page_locations, index.unencoded_byte_array_data_bytes
    if sizes is not None:
        is_byte_array = chunk.leaf.element.type == Type.BYTE_ARRAY
        if not is_byte_array or len(sizes) != len(places) or min(sizes, default=0) < 0:
            raise wrong("PIX-018", "the sizes of byte arrays are not those of the pages", "offset_index")
    if not chunk.facts.num_values:
        return
    _lint_places(chunk, places)
    if chunk.pages is not None:
        _lint_places_of_pages(places, chunk.pages)


def _lint_places(chunk: DecodedChunk, places: Sequence[PageLocation]) -> None:
    """The places of the pages, against each other and against the chunk."""
    start = chunk_start(chunk.chunk)
    if start is None:
        return
    if not places or places[0].first_row_index != 0:
        raise wrong("PIX-015", "the first page does not begin with row 0", "offset_index")
    ends = [place.offset + place.compressed_page_size for place in places]
    starts = [place.offset for place in places]
    chunk_end = start + chunk.facts.total_compressed_size
    if ends != [*starts[1:], chunk_end] or any(place.compressed_page_size <= 0 for place in places):
        raise wrong("PIX-014", "a page does not end where the next one begins", "offset_index")
    first_rows = [place.first_row_index for place in places]
    if any(row >= next_row for row, next_row in pairwise([*first_rows, chunk.row_count])):
        raise wrong("PIX-016", "the rows of the pages do not ascend", "offset_index")


def _lint_places_of_pages(places: Sequence[PageLocation], pages: Sequence[DataPage]) -> None:
    listed = [(place.offset, place.compressed_page_size) for place in places]
    if listed != [(page.offset, page.size) for page in pages]:
        raise wrong("PIX-040", "the pages are stored elsewhere", "offset_index")
    row = 0
    for place, page in zip(places, pages, strict=True):
        if place.first_row_index != row:
            raise wrong("PIX-054", f"a page begins with row {row}", "offset_index")
        if page.repetition and page.repetition[0]:
            raise wrong("PIX-055", "a page begins within a row", "offset_index")
        row += page.row_count


# ------------------------------------------------------------------------------------------------ column index


def _lint_column_index(chunk: DecodedChunk, index: ColumnIndex, page_count: int) -> None:
    lists: list[Sequence[Any] | None] = [index.null_pages, index.min_values, index.max_values]
    for entries in (*lists, index.null_counts, index.nan_counts):
        if entries is not None and len(entries) != page_count:
            raise wrong(
                "PIX-021", f"a list has {len(entries)} entries for {page_count} pages", "column_index"
            )
    _lint_counts(chunk, index)
    _lint_histograms(chunk, index, page_count)
    _lint_bounds(chunk, index)
    for number, page in enumerate(chunk.pages or ()):
        _lint_page(chunk, index, number, page)


def _lint_counts(chunk: DecodedChunk, index: ColumnIndex) -> None:
    """The nulls and NaN of the pages, against those of the chunk."""
    if index.nan_counts is not None and type_order(chunk.leaf.element) not in FLOATING:
        raise wrong("PIX-073", "NaN is counted where none can be", "column_index.nan_counts")
    whole = chunk.facts.statistics or Statistics()
    for counts, total, rule in (
        (index.null_counts, whole.null_count, "PIX-028"),
        (index.nan_counts, whole.nan_count, "PIX-032"),
    ):
        if counts is None:
            continue
        if min(counts, default=0) < 0 or total not in (None, sum(counts)):
            raise wrong(rule, "the counts of the pages do not add up to that of the chunk", "column_index")


def _lint_histograms(chunk: DecodedChunk, index: ColumnIndex, page_count: int) -> None:
    """The level histograms of the pages, against those of the chunk and against the levels.

    They follow each other in one list: as many counts for each page as there are levels.
    """
    leaf, pages = chunk.leaf, chunk.pages or ()
    whole = chunk.facts.size_statistics or SizeStatistics()
    repetition, definition = [page.repetition for page in pages], [page.definition for page in pages]
    for counts, total, width, levels in (
        (index.repetition_level_histograms, whole.repetition_level_histogram, leaf.max_repetition_level + 1, repetition),
        (index.definition_level_histograms, whole.definition_level_histogram, leaf.max_definition_level + 1, definition),
    ):  # fmt: skip
        if counts is None:
            continue
        if len(counts) != width * page_count:
            raise wrong("PIX-029", "a histogram has other entries than pages and levels", "column_index")
        if total and [sum(counts[level::width]) for level in range(width)] != total:
            raise wrong("PIX-072", "the level histograms do not add up", "column_index")
        if pages and counts != [page.count(level) for page in levels for level in range(width)]:
            raise wrong("PIX-058", "a level histogram is not that of its page", "column_index")


def _lint_bounds(chunk: DecodedChunk, index: ColumnIndex) -> None:
    """The bounds of the pages that hold values, against each other and against the bounds of the chunk."""
    if index.boundary_order not in list(BoundaryOrder):
        raise wrong("PIX-025", "the order of the bounds is unknown", "column_index.boundary_order")
    bounds = [
        (low, high)
        for low, high, is_null in zip(index.min_values, index.max_values, index.null_pages, strict=True)
        if not is_null
    ]
    width = width_of(chunk.leaf.element)
    if width is not None and any(len(bound) != width for bound in chain.from_iterable(bounds)):
        raise wrong("PIX-023", "a bound has another width than the type", "column_index")
    if chunk.order is None:
        return
    lows = [key(chunk.order, low) for low, _ in bounds]
    highs = [key(chunk.order, high) for _, high in bounds]
    if None in lows or None in highs:
        raise wrong("PIX-030", "a bound is NaN, or no value", "column_index")
    if any(low > high for low, high in zip(lows, highs, strict=True)):
        raise wrong("PIX-024", "a lower bound is greater than the upper one", "column_index")
    if not (_is_sorted(lows, index.boundary_order) and _is_sorted(highs, index.boundary_order)):
        raise wrong("PIX-025", "the bounds are not in the order that is claimed", "column_index")
    # The bounds of a page of nothing but NaN are NaN. They say nothing of the numbers.
    _lint_reach(chunk, chunk.order, [pair for pair in bounds if not is_nan(chunk.order, pair[0])])


def _is_sorted(keys: Sequence[Any], order: int) -> bool:
    if order == BoundaryOrder.UNORDERED:
        return True
    return list(keys) == sorted(keys, reverse=order == BoundaryOrder.DESCENDING)


def _lint_reach(chunk: DecodedChunk, order: Order, bounds: Sequence[tuple[bytes, bytes]]) -> None:
    """The bounds of the pages that hold numbers, against those of the chunk."""
    whole = chunk.facts.statistics
    if not bounds or whole is None or whole.min_value is None or whole.max_value is None:
        return
    least, greatest = key(order, whole.min_value), key(order, whole.max_value)
    if least is None or greatest is None or is_nan(order, whole.min_value):
        return
    lows, highs = [key(order, low) for low, _ in bounds], [key(order, high) for _, high in bounds]
    if max(lows) > greatest or min(highs) < least:
        raise wrong("PIX-034", "the bounds of a page lie outside those of the chunk", "column_index")
    if (whole.is_min_value_exact and min(lows) > least) or (
        whole.is_max_value_exact and max(highs) < greatest
    ):
        raise wrong("PIX-035", "no page reaches an exact bound of the chunk", "column_index")


# ------------------------------------------------------------------------------------ column index and values


def _lint_page(chunk: DecodedChunk, index: ColumnIndex, number: int, page: DataPage) -> None:
    nulls = page.null_count(chunk.leaf)
    if index.null_pages[number] != (nulls == len(page.definition)):
        raise wrong("PIX-052", f"page {number} holds {nulls} nulls", "column_index.null_pages")
    if index.null_counts is not None and index.null_counts[number] != nulls:
        levels = [page.definition.count(level) for level in range(chunk.leaf.max_definition_level + 1)]
        rule = "PIX-070" if index.null_counts[number] in null_counts(chunk.leaf, levels) else "PIX-053"
        raise wrong(rule, f"page {number} holds {nulls} nulls", "column_index.null_counts")
    order = chunk.order_of_readers
    if page.values is not None and order is not None and not index.null_pages[number]:
        _lint_values(order, index, number, page.values)


def _lint_values(order: Order, index: ColumnIndex, number: int, values: Sequence[bytes]) -> None:
    """The bounds and the NaN count of a page, against its values."""
    numbers = [raw for raw in values if not is_nan(order, raw)]
    nans = len(values) - len(numbers)
    if index.nan_counts is not None and index.nan_counts[number] != nans:
        raise wrong("PIX-056", f"page {number} holds {nans} NaN", "column_index.nan_counts")
    least, greatest = key(order, index.min_values[number]), key(order, index.max_values[number])
    if nans and not numbers and order not in TOTAL and (least, greatest) != (-math.inf, math.inf):
        raise wrong("PIX-057", f"page {number} holds nothing but NaN", "column_index")
    # NaN counts only where there is nothing else; under an order in which it has no place, its key is None.
    found = [key(order, raw) for raw in numbers or values]
    if any(value is not None and not least <= value <= greatest for value in found):
        raise wrong("PIX-050", f"page {number} holds a value outside its bounds", "column_index")
