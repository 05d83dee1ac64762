"""Whether the statistics of a chunk and of its pages are well-formed, and true of the values.

Source: apache/parquet-format, ``parquet.thrift``, ``Statistics`` and ``SizeStatistics``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from pqassay_reference.columns.page_values import DataPage
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.parquet.column_order import (
    FLOATING,
    TOTAL,
    Order,
    is_nan,
    key,
    key_by_signed_bytes,
    order_of,
    type_order,
    width_of,
)
from pqassay_spec.parquet.schema import SchemaLeaf, is_string
from pqassay_spec.parquet.thrift import ColumnMetaData, ColumnOrder, Statistics, Type
from pqassay_spec.parquet.wkb import coordinates


def lint_statistics(
    leaf: SchemaLeaf,
    column_order: ColumnOrder | None,
    facts: ColumnMetaData,
    pages: Sequence[DataPage] | None,
) -> None:
    """Raise what is wrong with statistics.

    Args:
        leaf: The column.
        column_order: What the footer says of its order.
        facts: The chunk.
        pages: Its pages; ``None`` where they cannot be decoded.

    Raises:
        FormatError: With the rule that is broken.
    """
    if facts.statistics is not None:
        decoded = None if pages is None or any(page.values is None for page in pages) else pages
        values = None if decoded is None else [raw for page in decoded for raw in page.values or ()]
        nulls = None if pages is None else sum(page.null_count(leaf) for page in pages)
        _Said(leaf, column_order, facts.statistics, facts.num_values, values, nulls).lint()
    _lint_sizes(leaf, facts, pages)
    _lint_box(leaf, facts, pages)
    counted: list[int | None] = []
    for page in pages or ():
        said, second = page.data.statistics, page.header.data_page_header_v2
        if said is not None:
            _Said(leaf, column_order, said, page.data.num_values, page.values, page.null_count(leaf)).lint()
        counted.append(second.num_nulls if second else said.null_count if said else None)
    whole = facts.statistics.null_count if facts.statistics else None
    known = [count for count in counted if count is not None]
    if whole is not None and counted and len(known) == len(counted) and sum(known) != whole:
        raise _wrong("STA-031", "the null counts of the pages do not add up")


def _wrong(rule: str, message: str) -> FormatError:
    return Malformed(message, rule=rule, field="statistics")


class _Said:
    """Statistics, and what they are about."""

    def __init__(
        self,
        leaf: SchemaLeaf,
        column_order: ColumnOrder | None,
        said: Statistics,
        count: int,
        values: Sequence[bytes] | None,
        nulls: int | None,
    ) -> None:
        self.leaf, self.said, self.count = leaf, said, count
        self.values, self.nulls = values, nulls
        self.order: Order | None = order_of(leaf.element, column_order)
        self.by_type = type_order(leaf.element)

    def lint(self) -> None:
        """Raise the first thing that is wrong."""
        self._counts()
        self._forms()
        if self.order is not None:
            self._bounds(self.order)
        self._deprecated()

    def _counts(self) -> None:
        said, nulls = self.said, self.said.null_count
        if nulls is not None and (
            not 0 <= nulls <= self.count or (nulls and not self.leaf.max_definition_level)
        ):
            raise _wrong("STA-010", f"{nulls} nulls among {self.count} values")
        if nulls is not None and self.nulls is not None and nulls != self.nulls:
            raise _wrong("STA-043", f"{nulls} nulls, where there are {self.nulls}")
        if said.distinct_count is not None and not 0 <= said.distinct_count <= self.count:
            raise _wrong("STA-012", f"{said.distinct_count} distinct values among {self.count}")
        if said.nan_count is None:
            if self.order in TOTAL:
                raise _wrong("STA-024", "NaN is not counted under the total order")
            return
        if self.by_type not in FLOATING or not 0 <= said.nan_count <= self.count - (nulls or 0):
            raise _wrong("STA-013", f"{said.nan_count} NaN among {self.count} values")
        if self.values is not None:
            nans = sum(is_nan(self.by_type, raw) for raw in self.values)
            if nans != said.nan_count:
                raise _wrong("STA-044", f"{said.nan_count} NaN, where there are {nans}")

    def _forms(self) -> None:
        """Whether the bounds are values of the type."""
        said, width, element = self.said, width_of(self.leaf.element), self.leaf.element
        for raw in (said.min_value, said.max_value, said.min, said.max):
            if raw is None or width is None:
                continue
            cut = (
                element.type == Type.FIXED_LEN_BYTE_ARRAY and len(raw) < width and self.by_type is Order.BYTES
            )
            if len(raw) != width and not cut:
                raise _wrong("STA-005", f"a bound has {len(raw)} bytes")
        annotated = element.logicalType is not None or element.converted_type is not None
        for raw in (said.min_value, said.max_value):
            if raw is not None and is_string(self.leaf) and annotated:
                try:
                    raw.decode()
                except UnicodeDecodeError:
                    raise _wrong("STA-018", "a bound of text is not UTF-8") from None

    def _bounds(self, order: Order) -> None:
        said = self.said
        low, high = said.min_value, said.max_value
        for raw in (low, high):
            if raw is None or said.nan_count is None or order not in FLOATING:
                continue
            only_nan = said.null_count is not None and said.nan_count == self.count - said.null_count > 0
            if is_nan(order, raw) != (order in TOTAL and only_nan):
                raise _wrong("STA-008", "a bound is NaN, or should be")
        least = None if low is None else key(order, low)
        greatest = None if high is None else key(order, high)
        if least is not None and greatest is not None and least > greatest:
            raise _wrong("STA-006", "the lower bound is greater than the upper one")
        values = self.values
        if values is None:
            return
        nan_counts = bool(values) and all(is_nan(order, raw) for raw in values)
        found = [key(order, raw) for raw in values if nan_counts or not is_nan(order, raw)]
        zero = order in FLOATING and order not in TOTAL
        for one in found:
            if one is None or (zero and one == 0 and 0 in (least, greatest)):
                continue
            if least is not None and one < least:
                raise _wrong("STA-040", "a value is less than the lower bound")
            if greatest is not None and one > greatest:
                raise _wrong("STA-041", "a value is greater than the upper bound")
        for exact, bound in ((said.is_min_value_exact, least), (said.is_max_value_exact, greatest)):
            if exact and bound is not None and bound not in found:
                raise _wrong("STA-042", "an exact bound does not occur")

    def _deprecated(self) -> None:
        low, high = self.said.min, self.said.max
        if low is None or high is None:
            return
        if self.by_type in (Order.BYTES, Order.DECIMAL):
            self._deprecated_bytes(self.by_type, low, high)
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

    def _deprecated_bytes(self, order: Order, low: bytes, high: bytes) -> None:
        """Some writers compared bytes as signed ones, others as the type does: one of both must hold."""

        def by_type(raw: bytes) -> Any:
            return key(order, raw)

        values = self.values or ()
        if all(
            any(not of(low) <= of(raw) <= of(high) for raw in values) for of in (by_type, key_by_signed_bytes)
        ):
            raise _wrong("STA-048", "a value lies outside the deprecated bounds")


def _lint_sizes(leaf: SchemaLeaf, facts: ColumnMetaData, pages: Sequence[DataPage] | None) -> None:
    """The level histograms of a chunk."""
    sizes = facts.size_statistics
    if sizes is None:
        return
    for name, most in (("repetition", leaf.max_repetition_level), ("definition", leaf.max_definition_level)):
        counts: list[int] | None = getattr(sizes, f"{name}_level_histogram")
        if not counts:
            continue
        if len(counts) != most + 1 or min(counts) < 0 or sum(counts) != facts.num_values:
            raise _wrong("STA-019", "a level histogram is not one of the levels of the chunk")
        if pages is not None:
            found = list(itertools.chain.from_iterable(getattr(page, name) for page in pages))
            if counts != [found.count(level) for level in range(most + 1)]:
                raise _wrong("STA-046", "a level histogram does not count the levels")
        nulls = facts.statistics.null_count if facts.statistics else None
        if name == "definition" and nulls is not None and sum(counts[:-1]) != nulls:
            raise _wrong("STA-020", "the levels leave other nulls than null_count says")


def _lint_box(leaf: SchemaLeaf, facts: ColumnMetaData, pages: Sequence[DataPage] | None) -> None:
    """The bounding box of a chunk, and whether its coordinates lie in it."""
    said, logical = facts.geospatial_statistics, leaf.element.logicalType
    if said is None:
        return
    if logical is None or (logical.GEOMETRY is None and logical.GEOGRAPHY is None):
        raise _wrong("STA-022", "a box of what is no geometry")
    box = said.bbox
    if box is None:
        return
    axes = [(box.ymin, box.ymax), (box.zmin, box.zmax), (box.mmin, box.mmax)]
    numbers = [one for pair in [(box.xmin, box.xmax), *axes] for one in pair if one is not None]
    if any(one != one for one in numbers) or any(  # noqa: PLR0124 - NaN alone differs from itself
        low is not None and high is not None and low > high for low, high in axes
    ):
        raise _wrong("STA-022", "the box holds NaN, or is upside down")
    for page in pages or ():
        for raw in page.values or ():
            for x, *others in coordinates(raw):
                inside = box.xmin <= x <= box.xmax if box.xmin <= box.xmax else x >= box.xmin or x <= box.xmax
                if not (inside or math.isnan(x)) or any(
                    one is not None and low is not None and high is not None and (one < low or one > high)
                    for one, (low, high) in zip(others, axes, strict=True)
                ):
                    raise _wrong("STA-049", "a coordinate lies outside the box")
