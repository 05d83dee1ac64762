"""A first look at what the footer says of a column chunk, which finds most chunks in order, at once.

The rules stand in `pqassay.checks.parquet_file` and `pqassay.checks.statistics`.  A chunk whose shape is returned here breaks none of
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
    annotation_fits,
    is_bound,
    key,
)
from pqassay_spec.parquet.encodings import CODECS, ENCODINGS
from pqassay_spec.parquet.file import chunk_start
from pqassay_spec.parquet.schema import is_string
from pqassay_spec.parquet.thrift import ColumnMetaData, SchemaElement, Statistics

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
    return dictionary is None, leaf.max_repetition_level == 0, has_index, facts.bloom_filter_offset is None


def _are_known(facts: ColumnMetaData) -> bool:
    """Whether codec and encodings are those of the format."""
    return (
        facts.codec in CODECS
        and ENCODINGS.issuperset(facts.encodings)
        and all(entry.encoding in ENCODINGS for entry in facts.encoding_stats or ())
    )


def _is_pair(offset: int | None, length: int | None) -> bool:
    """Whether offset and length of an index are both left out, or both possible."""
    if offset is None or length is None:
        return offset is length
    return offset > 0 < length


@once_for_each
def statistics_shape(chunk: ColumnChunkUnderTest) -> Shape | None:
    """The shape of statistics that certainly break no rule; NaN counts and the total order are left to the rules."""
    statistics, element = chunk.statistics, chunk.leaf.element
    try:
        order = chunk.order
    except (FormatError, NotChecked):
        return None
    if statistics is None or order is None or not annotation_fits(element):
        return None
    text = is_string(chunk.leaf)
    if not (_counts_are_sound(chunk, statistics) and _bounds_are_sound(order, element, statistics, text)):
        return None
    return (
        order,
        element.type,
        text,
        element.logicalType is None and element.converted_type is None,
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


def _bounds_are_sound(order: Order, element: SchemaElement, statistics: Statistics, text: bool) -> bool:
    low, high = statistics.min_value, statistics.max_value
    old = statistics.min, statistics.max
    if low is None or high is None:
        flags = statistics.is_min_value_exact, statistics.is_max_value_exact
        return (low, high, *old, *flags) == (None,) * 6
    if not _are_in_order(order, element, low, high) or (text and not (_is_text(low) and _is_text(high))):
        return False
    return old == (None, None) or (old == (low, high) and order in SIGNED_ORDERS)


def _are_in_order(order: Order, element: SchemaElement, low: bytes, high: bytes) -> bool:
    least, greatest = key(order, low), key(order, high)
    if order in TOTAL or least is None or greatest is None or least > greatest:
        return False
    return is_bound(element, low) and is_bound(element, high)


def _is_text(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
