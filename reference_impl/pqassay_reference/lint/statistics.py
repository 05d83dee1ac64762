"""Lint of the statistics of a chunk and of its pages: they are well-formed, and true of the values.

Source: apache/parquet-format, ``parquet.thrift``, ``Statistics`` and ``SizeStatistics``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pqassay_reference.columns.page_values import DataPage
from pqassay_reference.lint.decoded_chunk import DecodedChunk
from pqassay_reference.lint.parquet_file_footer import wrong
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.column_order import (
    FLOATING,
    TOTAL,
    Order,
    is_bound,
    is_nan,
    key,
    key_by_signed_bytes,
    type_order,
)
from pqassay_spec.parquet.encoding.null_counts import null_counts
from pqassay_spec.parquet.encoding.wkb import Coordinate, coordinates, type_of
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf, is_string
from pqassay_spec.parquet.thrift import (
    DICTIONARY_ENCODINGS,
    BoundingBox,
    ColumnMetaData,
    Encoding,
    PageType,
    SizeStatistics,
    Statistics,
)

DATA_PAGES = (PageType.DATA_PAGE, PageType.DATA_PAGE_V2)
"""Types of pages that hold values."""


def lint_statistics(chunk: DecodedChunk) -> None:
    """Raise what is wrong with the statistics of a chunk and of its pages.

    Raises:
        FormatError: With the rule that is broken.
    """
    facts, leaf, pages = chunk.facts, chunk.leaf, chunk.pages
    if facts.statistics is not None:
        values = None if pages is None else _values(pages)
        nulls = None if pages is None else _nulls(leaf, pages)
        _Described(leaf, chunk.order_of_readers, facts.statistics, facts.num_values, values, nulls).lint()
    _lint_histograms(chunk)
    _lint_geospatial(chunk)
    _lint_encodings(facts, pages or ())
    for page in pages or ():
        if (said := page.data.statistics) is not None:
            nulls = _nulls(leaf, [page])
            _Described(leaf, chunk.order_of_readers, said, page.data.num_values, page.values, nulls).lint()
    _lint_null_counts(facts, pages or ())


def _values(pages: Sequence[DataPage]) -> Sequence[bytes] | None:
    """The values of some pages; ``None`` if those of one could not be decoded."""
    decoded = [page.values for page in pages if page.values is not None]
    return list(itertools.chain.from_iterable(decoded)) if len(decoded) == len(pages) else None


def _nulls(leaf: SchemaLeaf, pages: Sequence[DataPage]) -> list[int]:
    """The null counts that the levels of some pages allow."""
    levels = [level for page in pages for level in page.definition]
    return null_counts(leaf, [levels.count(level) for level in range(leaf.max_definition_level + 1)])


def _lint_null_counts(facts: ColumnMetaData, pages: Sequence[DataPage]) -> None:
    """The null counts in the headers of all pages, against that of their chunk."""
    counts: list[int] = []
    for page in pages:
        said, second = page.data.statistics, page.header.data_page_header_v2
        count = second.num_nulls if second else said.null_count if said else None
        if count is None:
            return
        counts.append(count)
    whole = (facts.statistics or Statistics()).null_count
    if counts and whole not in (None, sum(counts)):
        raise _wrong("STA-031", "the null counts of the pages do not add up")


def _wrong(rule: str, message: str) -> FormatError:
    return wrong(rule, message, "statistics")


@dataclass(frozen=True)
class _Described:
    """Statistics, and what they describe: a chunk or a page of ``count`` values and nulls; ``None`` for what is not known.

    Of ``nulls`` the first is the number of nulls, and the others leave out what is around the values of a list.
    """

    leaf: SchemaLeaf
    order: Order | None
    statistics: Statistics
    count: int
    values: Sequence[bytes] | None
    nulls: Sequence[int] | None

    @property
    def by_type(self) -> Order | None:
        """The order of the values by their type alone."""
        return type_order(self.leaf.element)

    def lint(self) -> None:
        """Raise the first thing that is wrong."""
        self._null_count()
        self._distinct_count()
        self._nan_count()
        self._forms()
        if self.order is not None:
            self._bounds(self.order)
        self._deprecated()

    def _null_count(self) -> None:
        count = self.statistics.null_count
        if count is None:
            return
        if not 0 <= count <= self.count or (count and not self.leaf.max_definition_level):
            raise _wrong("STA-010", f"{count} nulls among {self.count} values")
        if self.nulls is not None and count != self.nulls[0]:
            rule = "STA-071" if count in self.nulls else "STA-043"
            raise _wrong(rule, f"{count} nulls, where there are {self.nulls[0]}")

    def _distinct_count(self) -> None:
        count = self.statistics.distinct_count
        if count is not None and not 0 <= count <= self.count:
            raise _wrong("STA-012", f"{count} distinct values among {self.count}")

    def _nan_count(self) -> None:
        count, order = self.statistics.nan_count, self.by_type
        if count is None:
            if self.order in TOTAL:
                raise _wrong("STA-024", "NaN is not counted under the total order")
            return
        if order not in FLOATING:
            raise _wrong("STA-073", "NaN is counted where none can be")
        if not 0 <= count <= self.count - (self.statistics.null_count or 0):
            raise _wrong("STA-013", f"{count} NaN among {self.count} values")
        if self.values is not None:
            nans = sum(is_nan(order, raw) for raw in self.values)
            if nans != count:
                raise _wrong("STA-044", f"{count} NaN, where there are {nans}")

    def _forms(self) -> None:
        said, element = self.statistics, self.leaf.element
        for raw in (said.min_value, said.max_value, said.min, said.max):
            if raw is not None and not is_bound(element, raw):
                raise _wrong("STA-005", f"a bound has {len(raw)} bytes")
        annotated = element.logicalType is not None or element.converted_type is not None
        for raw in (said.min_value, said.max_value):
            if raw is not None and is_string(self.leaf) and annotated:
                try:
                    raw.decode()
                except UnicodeDecodeError:
                    raise _wrong("STA-018", "a bound of text is not UTF-8") from None

    def _bounds(self, order: Order) -> None:
        """The bounds, against each other and against the values."""
        self._nan_bounds(order)
        stored = self.statistics
        least = None if stored.min_value is None else key(order, stored.min_value)
        greatest = None if stored.max_value is None else key(order, stored.max_value)
        if least is not None and greatest is not None and least > greatest:
            raise _wrong("STA-006", "the lower bound is greater than the upper one")
        if self.values is None:
            return
        numbers = [raw for raw in self.values if not is_nan(order, raw)]
        # NaN counts only where there is nothing else; under an order in which it has no place, its key is None.
        found = [place for raw in numbers or self.values if (place := key(order, raw)) is not None]
        if least is not None and any(place < least for place in found):
            raise _wrong("STA-040", "a value is less than the lower bound")
        if greatest is not None and any(place > greatest for place in found):
            raise _wrong("STA-041", "a value is greater than the upper bound")
        for is_exact, bound in ((stored.is_min_value_exact, least), (stored.is_max_value_exact, greatest)):
            if is_exact and bound is not None and bound not in found:
                raise _wrong("STA-042", "an exact bound does not occur")

    def _nan_bounds(self, order: Order) -> None:
        """Bounds are NaN under the total order alone, and there only where all values are."""
        nans, nulls = self.statistics.nan_count, self.statistics.null_count
        if nans is None or order not in FLOATING:
            return
        only_nan = nulls is not None and nans == self.count - nulls > 0
        for raw in (self.statistics.min_value, self.statistics.max_value):
            if raw is not None and is_nan(order, raw) != (only_nan and order in TOTAL):
                raise _wrong("STA-008", "a bound is NaN, or should be")

    def _deprecated(self) -> None:
        low, high = self.statistics.min, self.statistics.max
        if self.by_type in (Order.BYTES, Order.DECIMAL, Order.UNSIGNED):
            self._deprecated_otherwise(self.by_type, low, high)
        if low is None or high is None:
            return
        if self.by_type not in (Order.SIGNED, Order.FLOAT):
            return
        least, greatest = key(self.by_type, low), key(self.by_type, high)
        if least is None or greatest is None:
            return
        if least > greatest:
            raise _wrong("STA-006", "the deprecated lower bound is greater than the upper one")
        for raw in self.values or ():
            one = key(self.by_type, raw)
            if one is not None and not least <= one <= greatest:
                raise _wrong("STA-048", "a value lies outside the deprecated bounds")

    def _deprecated_otherwise(self, order: Order, low: bytes | None, high: bytes | None) -> None:
        """Some writers compared by sign, others as the type does: one of both must hold."""
        by_sign = partial(key, Order.SIGNED) if order is Order.UNSIGNED else key_by_signed_bytes
        keys: tuple[Callable[[bytes], Any], ...] = (partial(key, order), by_sign)
        if not any(
            all(
                (low is None or of(low) <= of(raw)) and (high is None or of(raw) <= of(high))
                for raw in self.values or ()
            )
            for of in keys
        ):
            raise _wrong("STA-048", "a value lies outside the deprecated bounds")


def _lint_histograms(chunk: DecodedChunk) -> None:
    """The level histograms of a chunk, against its levels and its nulls."""
    leaf, pages = chunk.leaf, chunk.pages or ()
    sizes = chunk.facts.size_statistics or SizeStatistics()
    for counts, most, levels in (
        (sizes.repetition_level_histogram, leaf.max_repetition_level, [page.repetition for page in pages]),
        (sizes.definition_level_histogram, leaf.max_definition_level, [page.definition for page in pages]),
    ):
        if not counts:
            continue
        if len(counts) != most + 1 or min(counts) < 0 or sum(counts) != chunk.facts.num_values:
            raise _wrong("STA-019", "a level histogram is not one of the levels of the chunk")
        occurring = list(itertools.chain.from_iterable(levels))
        if chunk.pages is not None and counts != [occurring.count(level) for level in range(most + 1)]:
            raise _wrong("STA-046", "a level histogram does not count the levels")
    nulls = (chunk.facts.statistics or Statistics()).null_count
    definition = sizes.definition_level_histogram
    if definition and nulls not in (None, sum(definition[:-1])):
        rule = "STA-070" if nulls in null_counts(leaf, definition) else "STA-020"
        raise _wrong(rule, "the levels leave other nulls than null_count says")


# --------------------------------------------------------------------------------------------------- encodings


def _lint_encodings(facts: ColumnMetaData, pages: Sequence[DataPage]) -> None:
    """What the footer says of the encodings of a chunk, against those of its pages."""
    counted = facts.encoding_stats
    if any(entry.page_type not in set(PageType) for entry in counted or ()):
        raise _wrong("STA-059", "pages are counted of a type that is not defined")
    if counted is None:
        said = set(facts.encodings) - {Encoding.RLE, Encoding.BIT_PACKED}
        is_dictionary = said == {Encoding.PLAIN_DICTIONARY}
    else:
        of_data = {entry.encoding for entry in counted if entry.page_type in DATA_PAGES}
        is_dictionary = bool(of_data) and of_data <= set(DICTIONARY_ENCODINGS)
    if is_dictionary and any(page.data.encoding not in DICTIONARY_ENCODINGS for page in pages):
        raise _wrong("STA-058", "a page has no dictionary, where all are said to have one")


# -------------------------------------------------------------------------------------------------- geometries


def _lint_geospatial(chunk: DecodedChunk) -> None:
    """The bounding box and the types of a chunk, and whether all geometries are in them."""
    geospatial, logical = chunk.facts.geospatial_statistics, chunk.leaf.element.logicalType
    if geospatial is None:
        return
    if logical is None or (logical.GEOMETRY is None and logical.GEOGRAPHY is None):
        raise _wrong("STA-075", "a bounding box of what is no geometry")
    values = [raw for page in chunk.pages or () for raw in page.values or ()]
    is_geography = logical.GEOGRAPHY is not None
    types = geospatial.geospatial_types
    if types and any(type_of(raw) not in types for raw in values):
        raise _wrong("STA-063", "a geometry is of a type that is not listed")
    if geospatial.bbox is None:
        return
    if _is_no_box(geospatial.bbox):
        raise _wrong("STA-022", "the bounding box holds NaN, or is upside down")
    for raw in values:
        if not all(_holds(geospatial.bbox, point, is_geography) for point in coordinates(raw)):
            raise _wrong("STA-049", "a coordinate lies outside the bounding box")


def _axes(box: BoundingBox) -> list[tuple[float | None, float | None]]:
    """The bounds of all axes but x, which alone may run across the antimeridian."""
    return [(box.ymin, box.ymax), (box.zmin, box.zmax), (box.mmin, box.mmax)]


def _is_no_box(box: BoundingBox) -> bool:
    bounds = [box.xmin, box.xmax, *itertools.chain.from_iterable(_axes(box))]
    if any(bound is not None and math.isnan(bound) for bound in bounds):
        return True
    return any(low is not None and high is not None and low > high for low, high in _axes(box))


def _holds(box: BoundingBox, point: Coordinate, is_geography: bool) -> bool:
    """True if a bounding box holds a point. A coordinate that is missing, NaN, or none of a GEOGRAPHY lies everywhere."""
    x, y, *heights = point
    if is_geography:
        x = x if abs(x) <= 180 else math.nan
        y = y if abs(y) <= 90 else math.nan
    others = (y, *heights)
    is_between = box.xmin <= x <= box.xmax
    if box.xmin > box.xmax:  # the box runs across the antimeridian
        is_between = x >= box.xmin or x <= box.xmax
    return (is_between or math.isnan(x)) and all(
        value is None or low is None or high is None or math.isnan(value) or low <= value <= high
        for value, (low, high) in zip(others, _axes(box), strict=True)
    )
