"""A first look at what the footer says of a column chunk, which finds most chunks in order, at once.

The rules are in `pqassay.checks.parquet_file` and `pqassay.checks.statistics`.  A chunk whose shape is returned here breaks none of
those that name the screen; one without may be sound all the same, and is judged by the rules.  How shapes are used is said
in `pqassay.checks.asking`; tests hold screens and rules against each other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import NotChecked
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.column_order import (
    SIGNED_ORDERS,
    TOTAL,
    Order,
    is_bound,
    key,
)
from pqassay_spec.parquet.encoding.names import CODECS, ENCODINGS, PAGE_TYPES
from pqassay_spec.parquet.file import chunk_start
from pqassay_spec.parquet.thrift import ColumnMetaData, SizeStatistics, Statistics, Type

Shape = tuple[object, ...]
"""The properties that decide which rules apply to something sound."""

ChunkScreen = Callable[[ColumnChunkUnderTest], Shape | None]


def once_for_each(screen: ChunkScreen) -> ChunkScreen:
    """Remember the shape of each chunk, since several panels of rules ask for it."""

    @wraps(screen)
    def shape(chunk: ColumnChunkUnderTest) -> Shape | None:
        return chunk.part(screen)

    return shape


@once_for_each
def facts_shape(chunk: ColumnChunkUnderTest) -> Shape | None:
    """The shape of a chunk whose type, number of values and offsets certainly break no rule."""
    facts, leaf = chunk.facts, chunk.leaf
    if facts.type != leaf.element.type or facts.geospatial_statistics is not None or not _are_known(facts):
        return None
    if not leaf.max_repetition_level and (facts.num_values != chunk.group.num_rows or facts.num_values < 0):
        return None
    dictionary, data = facts.dictionary_page_offset, facts.data_page_offset
    if dictionary is not None and not 0 < dictionary < data:
        return None
    record = chunk.chunk
    indexes = (
        (record.column_index_offset, record.column_index_length),
        (record.offset_index_offset, record.offset_index_length),
    )
    if facts.bloom_filter_offset == 0 or not all(_is_pair(*index) for index in indexes):
        return None
    if record.offset_index_offset is None and record.column_index_offset is not None:
        return None
    start, given = chunk_start(record), record.file_offset
    if start is None or (given and given not in (start, data, start + facts.total_compressed_size)):
        return None
    has_index = indexes != ((None, None), (None, None))
    return (
        dictionary is None,
        leaf.max_repetition_level == 0,
        has_index,
        facts.bloom_filter_offset is None,
        bool(facts.encoding_stats),
    )


def _are_known(facts: ColumnMetaData) -> bool:
    """Whether codec, encodings and types of pages are those of the format."""
    return (
        facts.codec in CODECS
        and ENCODINGS.issuperset(facts.encodings)
        and all(
            entry.encoding in ENCODINGS and entry.page_type in PAGE_TYPES
            for entry in facts.encoding_stats or ()
        )
    )


def _is_pair(offset: int | None, length: int | None) -> bool:
    """Whether offset and length of an index are both left out, or both possible."""
    if offset is None or length is None:
        return offset is length
    return offset > 0 < length


@once_for_each
def statistics_shape(chunk: ColumnChunkUnderTest) -> Shape | None:
    """The shape of statistics that certainly break no rule; NaN counts and the total order are left to the rules."""
    statistics, leaf = chunk.statistics, chunk.leaf_facts
    try:
        order = chunk.order
    except (FormatError, NotChecked):
        return None
    if statistics is None or order is None or not leaf.fits:
        return None
    if not (_counts_are_sound(chunk, statistics) and _bounds_are_sound(order, chunk, statistics)):
        return None
    return (
        order,
        chunk.leaf.element.type,
        leaf.text,
        leaf.is_plain,
        statistics.min_value is None,
        statistics.min is None,
        statistics.distinct_count is None,
        statistics.is_min_value_exact is None,
        statistics.is_max_value_exact is None,
    )


def _counts_are_sound(chunk: ColumnChunkUnderTest, statistics: Statistics) -> bool:
    nulls, distinct, most = statistics.null_count, statistics.distinct_count, chunk.facts.num_values
    if nulls is None or not 0 <= nulls <= (most if chunk.leaf.max_definition_level else 0):
        return False
    return statistics.nan_count is None and (distinct is None or 0 <= distinct <= most)


def _bounds_are_sound(order: Order, chunk: ColumnChunkUnderTest, statistics: Statistics) -> bool:
    low, high = statistics.min_value, statistics.max_value
    old = statistics.min, statistics.max
    if low is None or high is None:
        flags = statistics.is_min_value_exact, statistics.is_max_value_exact
        return (low, high, *old, *flags) == (None,) * 6
    if not _are_in_order(order, chunk, low, high):
        return False
    if chunk.leaf_facts.text and not (_is_text(low) and _is_text(high)):
        return False
    return old == (None, None) or (old == (low, high) and order in SIGNED_ORDERS)


def _are_in_order(order: Order, chunk: ColumnChunkUnderTest, low: bytes, high: bytes) -> bool:
    least, greatest = key(order, low), key(order, high)
    if order in TOTAL or least is None or greatest is None or least > greatest:
        return False
    width, element = chunk.leaf_facts.width, chunk.leaf.element
    if width is None:
        return is_bound(element, low) and is_bound(element, high)
    return len(low) == width == len(high)


def _is_text(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def sizes_shape(chunk: ColumnChunkUnderTest) -> Shape | None:
    """The shape of size statistics that certainly break no rule: every level is counted, and so is every null."""
    sizes, leaf = chunk.facts.size_statistics, chunk.leaf
    if sizes is None or not _levels_are_counted(chunk, sizes):
        return None
    counts, statistics = sizes.definition_level_histogram, chunk.statistics
    nulls = None if statistics is None else statistics.null_count
    if counts and nulls is not None and nulls != sum(counts) - counts[-1]:
        return None
    size = sizes.unencoded_byte_array_data_bytes
    if size is not None and (size < 0 or leaf.element.type != Type.BYTE_ARRAY):
        return None
    return (
        bool(counts),
        bool(sizes.repetition_level_histogram),
        nulls is None,
        size is None,
        leaf.max_repetition_level == 0,
    )


def _levels_are_counted(chunk: ColumnChunkUnderTest, sizes: SizeStatistics) -> bool:
    leaf, values = chunk.leaf, chunk.facts.num_values
    return all(
        not histogram or (len(histogram) == greatest + 1 and min(histogram) >= 0 and sum(histogram) == values)
        for histogram, greatest in (
            (sizes.repetition_level_histogram, leaf.max_repetition_level),
            (sizes.definition_level_histogram, leaf.max_definition_level),
        )
    )
