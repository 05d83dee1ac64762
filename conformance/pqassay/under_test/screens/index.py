"""A first look at the page index of a column chunk that finds most of them in order, at once.

The rules are in `pqassay.checks.page_index`, one by one.  Where files are many and small, or chunks are many, asking thirty rules
about each chunk takes most of the time.  An index whose shape is returned here breaks none of them; one without may be sound
all the same, and is judged by the rules.  How shapes are used is described in `pqassay.checks.asking`; tests hold screens and
rules against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import ge, le, lt, sub
from typing import Any

from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import NotApplicable, NotChecked
from pqassay.under_test.screens.facts import Shape, once_for_each, statistics_shape
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.column_order import TOTAL, Order
from pqassay_spec.parquet.thrift import BoundaryOrder, ColumnIndex, Statistics, Type

NUMBERS = (Order.FLOAT, Order.HALF)
"""The type-defined orders of floating point columns, in which NaN has no place."""

COMPARED: dict[int, Callable[[Any, Any], bool]] = {BoundaryOrder.ASCENDING: le, BoundaryOrder.DESCENDING: ge}
"""The comparison of a bound of a page with that of the next page, in boundary orders that have one."""

_NOT_SOUND = (FormatError, NotApplicable, NotChecked)


@once_for_each
def offset_index_shape(chunk: ColumnChunkUnderTest) -> Shape | None:
    """The shape of an offset index that certainly breaks no rule."""
    try:
        index, (start, end) = chunk.offset_index, chunk.span
    except _NOT_SOUND:
        return None
    locations, sizes = index.page_locations, index.unencoded_byte_array_data_bytes
    if not locations or locations[0].offset != chunk.facts.data_page_offset or locations[0].first_row_index:
        return None
    place, row = locations[0].offset, -1
    if place < start:
        return None
    for location in locations:
        size = location.compressed_page_size
        if location.offset != place or size <= 0 or location.first_row_index <= row:
            return None
        place += size
        row = location.first_row_index
    if sizes is not None and (
        chunk.leaf.element.type != Type.BYTE_ARRAY or len(sizes) != len(locations) or min(sizes) < 0
    ):
        return None
    return (sizes is not None,) if place == end and row < chunk.group.num_rows else None


def column_index_shape(chunk: ColumnChunkUnderTest) -> Shape | None:
    """The shape of a column index that certainly breaks no rule. Nested columns and pages of nulls are left to the rules."""
    statistics = chunk.statistics
    if statistics is None or chunk.leaf.max_repetition_level or offset_index_shape(chunk) is None:
        return None
    try:
        index, order = chunk.even_column_index, chunk.order
    except _NOT_SOUND:
        return None
    if True in index.null_pages or index.nan_counts is not None or order is None or order in TOTAL:
        return None
    first_rows = [location.first_row_index for location in chunk.offset_index.page_locations]
    rows = list(map(sub, [*first_rows[1:], chunk.group.num_rows], first_rows))
    if not (
        _counts_are_sound(chunk, statistics, index, rows) and _bounds_are_sound(chunk, statistics, index)
    ):
        return None
    return (
        order,
        chunk.leaf.element.type,
        chunk.leaf.max_definition_level,
        index.definition_level_histograms is None,
        statistics.is_min_value_exact,
        statistics.is_max_value_exact,
    )


def _counts_are_sound(
    chunk: ColumnChunkUnderTest, statistics: Statistics, index: ColumnIndex, rows: Sequence[int]
) -> bool:
    nulls = index.null_counts
    if nulls is None or min(nulls) < 0 or not all(map(lt, nulls, rows)):
        return False
    if statistics.null_count is not None and statistics.null_count != sum(nulls):
        return False
    if index.repetition_level_histograms is not None:
        return False
    counts, levels = index.definition_level_histograms, chunk.leaf.max_definition_level + 1
    if counts is None:
        return True
    if len(counts) != levels * len(rows) or min(counts) < 0:
        return False
    sizes = chunk.facts.size_statistics
    whole = None if sizes is None else sizes.definition_level_histogram
    if (
        whole is not None
        and len(whole) == levels
        and whole != [sum(counts[level::levels]) for level in range(levels)]
    ):
        return False
    return rows == [sum(counts[start : start + levels]) for start in range(0, len(counts), levels)]


def _bounds_are_sound(chunk: ColumnChunkUnderTest, statistics: Statistics, index: ColumnIndex) -> bool:
    if (
        index.min_values == [statistics.min_value]
        and index.max_values == [statistics.max_value]
        and statistics_shape(chunk) is not None
    ):
        # Of a chunk with one page, the bounds are those of the chunk.
        return index.boundary_order in (BoundaryOrder.UNORDERED, *COMPARED)
    bounds = chunk.page_bounds
    least, greatest = bounds.least, bounds.greatest
    if not bounds.sound or least is None or greatest is None or least > greatest:
        return False
    lows, highs = bounds.lows, bounds.highs
    if max(lows) > greatest or min(highs) < least:
        return False
    if statistics.is_min_value_exact and min(lows) > least:
        return False
    if statistics.is_max_value_exact and max(highs) < greatest:
        return False
    if index.boundary_order == BoundaryOrder.UNORDERED:
        return True
    if index.boundary_order not in COMPARED:
        return False
    compare = COMPARED[index.boundary_order]
    return all(map(compare, lows, lows[1:])) and all(map(compare, highs, highs[1:]))
