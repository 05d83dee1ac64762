"""Checks of the statistics in page headers against the values of their pages, tier ``values``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pqassay.checks.value_rules import value_rule
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.fields import Field
from pqassay.under_test.file import NotChecked
from pqassay.values.claims.bound_claims import (
    BoundsOfPages,
    DeprecatedBoundsOfPages,
    ExactBoundsOfPages,
    order_of_readers,
    require_order,
)
from pqassay.values.claims.count_claims import CountsOfPages, DistinctCounts, nulls_of_chunk
from pqassay.values.claims.value_rules import Claim
from pqassay.values.claims.wording import named
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.column_order import FLOATING, type_order
from pqassay_spec.parquet.thrift import Statistics

if TYPE_CHECKING:
    from pqassay.values.decoding.chunk_values import ChunkValues

SIDES = (("lower", "min"), ("upper", "max"))
"""The word for the bounds of each side, and the prefix of their fields."""


def _stored(chunk: ColumnChunkUnderTest) -> Sequence[Statistics]:
    """The statistics of each data page; empty if no page has any, or the pages cannot be walked."""
    try:
        stored = [page.data_header.statistics for page in chunk.data_pages]
    except (FormatError, NotChecked):
        return ()
    return [each or Statistics() for each in stored] if any(stored) else ()


def _of_pages(chunk: ColumnChunkUnderTest, name: str) -> Sequence[Any]:
    """A member of the statistics of each page, ``None`` if a page lacks it; empty if all pages lack it."""
    given = [getattr(statistics, name) for statistics in chunk.part(_stored)]
    return given if any(each is not None for each in given) else ()


def _field(chunk: ColumnChunkUnderTest, name: str, page: int) -> Field:
    """The field of a statistics member in the header of a data page."""
    return chunk.fields.own_header(chunk.data_pages[page]) / "statistics" / name


def _fields(chunk: ColumnChunkUnderTest, name: str) -> Callable[[int], Field]:
    return partial(_field, chunk, name)


def _null_counts(chunk: ColumnChunkUnderTest, *, of_lists: bool) -> Iterator[Claim]:
    if nulls := _of_pages(chunk, "null_count"):
        field = _fields(chunk, "null_count")
        yield CountsOfPages(
            chunk, "null_count", nulls, "nulls", lambda values: values.counts.nulls, field, of_lists
        )


@value_rule("STA-050")
def statistics_of_page_headers_are_true(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader without a page index skips pages by their statistics."""
    yield from _null_counts(chunk, of_lists=False)
    for side, name in SIDES:
        if raws := _of_pages(chunk, f"{name}_value"):
            yield BoundsOfPages(chunk, side, raws, require_order(chunk), _fields(chunk, f"{name}_value"))


@value_rule("STA-071")
def empty_lists_count_as_nulls(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Some writers count only the nulls among the values."""
    if chunk.leaf.max_repetition_level:
        yield from nulls_of_chunk(chunk, of_lists=True)
        yield from _null_counts(chunk, of_lists=True)


@value_rule("STA-052")
def no_value_is_outside_the_deprecated_bounds_of_its_page(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Page filters fall back to the deprecated bounds if there are no others."""
    natural = chunk.order or type_order(chunk.leaf.element)
    for side, name in SIDES:
        if raws := _of_pages(chunk, name):
            field = _fields(chunk, name)
            yield DeprecatedBoundsOfPages(chunk, f"deprecated {side}", raws, natural, field)


@value_rule("STA-054")
def distinct_values_of_pages_are_counted(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """No reader is known to use this count."""
    if distinct := _of_pages(chunk, "distinct_count"):
        field = _fields(chunk, "distinct_count")
        yield DistinctCounts(distinct, _distinct, lambda page: f"page {page} of {named(chunk)}", field)


def _distinct(values: ChunkValues) -> Sequence[tuple[int, int]]:
    """The least and the greatest correct distinct count of each page."""
    least = most = values.distinct_in_pages()
    if type_order(values.chunk.leaf.element) in FLOATING:
        least = values.distinct_numbers_in_pages()
    most = most + (values.counts.nulls > 0)
    return list(zip(least.tolist(), most.tolist(), strict=True))


@value_rule("STA-055")
def no_value_is_outside_bounds_of_its_page_without_an_order(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Readers that give the bounds of pages to a filter do not check for an order first."""
    natural = order_of_readers(chunk)
    if natural is not None and chunk.order is None:
        for side, name in SIDES:
            if raws := _of_pages(chunk, f"{name}_value"):
                yield BoundsOfPages(chunk, side, raws, natural, _fields(chunk, f"{name}_value"))


@value_rule("STA-056")
def nan_values_are_counted_in_page_headers(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A page filter that looks for NaN skips a page with a NaN count of 0."""
    if nans := _of_pages(chunk, "nan_count"):
        yield CountsOfPages(
            chunk,
            "nan_count",
            nans,
            "NaN values",
            lambda values: values.sums(values.is_nan),
            _fields(chunk, "nan_count"),
        )


@value_rule("STA-057")
def exact_bounds_of_pages_occur(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader may answer min() and max() from exact bounds."""
    for side, name in SIDES:
        flags = _of_pages(chunk, f"is_{name}_value_exact")
        raws = _of_pages(chunk, f"{name}_value")
        if chunk.order is not None and raws and any(flags):
            exact = [raw if flag else None for raw, flag in zip(raws, flags, strict=True)]
            field, flag = _fields(chunk, f"{name}_value"), _fields(chunk, f"is_{name}_value_exact")
            yield ExactBoundsOfPages(chunk, side, exact, chunk.order, field, flag)
