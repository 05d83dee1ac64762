"""A first look at the page index of a column chunk that finds most of them in order, at once.

The rules stand in `pqassay.checks.page_index`, one by one.  Where files are many and small, or chunks are many, asking thirty rules
about each chunk takes most of the time.  An index whose shape is returned here breaks none of them; one without may be sound
all the same, and is judged by the rules.  How shapes are used is said in `pqassay.checks.asking`; tests hold screens and rules
against each other.
"""

from __future__ import annotations

from operator import ge, le, lt
from typing import TYPE_CHECKING

from pqassay.under_test.file import NotApplicable, NotChecked
from pqassay.under_test.page_bounds import PageBounds
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.column_order import TOTAL, Order
from pqassay_spec.parquet.thrift import BoundaryOrder, ColumnIndex, Type

if TYPE_CHECKING:
    from pqassay.under_test.chunks import ColumnChunkUnderTest

NUMBERS = (Order.FLOAT, Order.HALF)
"""The type-defined orders of floating point columns, in which NaN has no place."""

_NOT_SOUND = (FormatError, NotApplicable, NotChecked)


Shape = tuple[object, ...]
"""What decides which rules apply to a sound index."""


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
    if chunk.offset_index_shape is None or chunk.leaf.max_repetition_level:
        return None
    try:
        index, bounds = chunk.column_index, chunk.page_bounds
        rows = chunk.page_places.row_counts
    except _NOT_SOUND:
        return None
    if True in index.null_pages or index.nan_counts is not None or bounds.order in TOTAL:
        return None
    statistics = chunk.statistics
    if statistics is None or not (
        _counts_are_sound(chunk, index, rows) and _bounds_are_sound(chunk, index, bounds)
    ):
        return None
    return (
        bounds.order,
        chunk.leaf.element.type,
        chunk.leaf.max_definition_level,
        index.definition_level_histograms is None,
        statistics.is_min_value_exact,
        statistics.is_max_value_exact,
    )


def _counts_are_sound(chunk: ColumnChunkUnderTest, index: ColumnIndex, rows: list[int]) -> bool:
    nulls, statistics = index.null_counts, chunk.statistics
    if nulls is None or statistics is None or min(nulls) < 0 or not all(map(lt, nulls, rows)):
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


def _bounds_are_sound(chunk: ColumnChunkUnderTest, index: ColumnIndex, bounds: PageBounds) -> bool:
    statistics, least, greatest = chunk.statistics, bounds.least, bounds.greatest
    if statistics is None or not bounds.sound or least is None or greatest is None or least > greatest:
        return False
    lows, highs, said = bounds.lows, bounds.highs, index.boundary_order
    if max(lows) > greatest or min(highs) < least:
        return False
    if statistics.is_min_value_exact and min(lows) > least:
        return False
    if statistics.is_max_value_exact and max(highs) < greatest:
        return False
    if said in (BoundaryOrder.ASCENDING, BoundaryOrder.DESCENDING):
        compare = le if said == BoundaryOrder.ASCENDING else ge
        if len(lows) > 1 and not (all(map(compare, lows, lows[1:])) and all(map(compare, highs, highs[1:]))):
            return False
    else:
        return said == BoundaryOrder.UNORDERED
    return True
