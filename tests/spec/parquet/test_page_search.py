"""The search in page indexes loses no row, reads no page without reason, and finds the same pages in both ways."""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pqassay_spec.parquet.column_order import Order
from pqassay_spec.parquet.page_search import (
    Condition,
    candidate_pages,
    candidate_range,
    intersection,
    may_satisfy,
    pages_of_rows,
    reads,
    rows_of_pages,
    union,
)
from pqassay_spec.parquet.thrift import BoundaryOrder, ColumnIndex, OffsetIndex, PageLocation

COMPARISONS: dict[Condition, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
SORTED = (BoundaryOrder.ASCENDING, BoundaryOrder.DESCENDING)

numbers = st.integers(-20, 20)
nullable = st.none() | numbers
page_values = st.lists(nullable, min_size=1, max_size=6)


def raw(number: int) -> bytes:
    return struct.pack("<i", number)


def double(number: float) -> bytes:
    return struct.pack("<d", number)


def column_index(
    pages: Sequence[Sequence[int | None]], order: int = BoundaryOrder.UNORDERED, *, slack: int = 0
) -> ColumnIndex:
    """The column index of pages of numbers, with bounds that are wider than the values by ``slack``."""
    known = [[value for value in page if value is not None] for page in pages]
    return ColumnIndex(
        null_pages=[not values for values in known],
        min_values=[raw(min(values) - slack) if values else b"" for values in known],
        max_values=[raw(max(values) + slack) if values else b"" for values in known],
        boundary_order=order,
        null_counts=[len(page) - len(values) for page, values in zip(pages, known, strict=True)],
    )


def offset_index(sizes: Sequence[int]) -> OffsetIndex:
    """The offset index of pages with these numbers of rows."""
    starts = [sum(sizes[:page]) for page in range(len(sizes))]
    return OffsetIndex(
        page_locations=[
            PageLocation(offset=4 + 10 * page, compressed_page_size=10, first_row_index=start)
            for page, start in enumerate(starts)
        ]
    )


def sorted_pages(values: list[int | None], cuts: list[int], *, descending: bool) -> list[list[int | None]]:
    """Values in order, nulls where they were, cut into pages."""
    ascending = sorted((value for value in values if value is not None), reverse=descending)
    following = iter(ascending)
    placed = [None if value is None else next(following) for value in values]
    edges = sorted({0, len(values), *(cut % (len(values) + 1) for cut in cuts)})
    return [placed[start:end] for start, end in pairwise(edges)]


@settings(deadline=None)
@given(st.lists(page_values, max_size=8), st.sampled_from(list(COMPARISONS)), numbers, st.integers(0, 3))
def test_no_page_is_left_out_that_holds_a_match(
    pages: list[list[int | None]], condition: Condition, sought: int, slack: int
) -> None:
    found = candidate_pages(column_index(pages, slack=slack), Order.SIGNED, condition, raw(sought))
    holding = [
        number
        for number, page in enumerate(pages)
        if any(value is not None and COMPARISONS[condition](value, sought) for value in page)
    ]

    assert set(holding) <= set(found)


@settings(deadline=None)
@given(st.lists(page_values, max_size=8), st.sampled_from(["<", "<=", ">", ">="]), numbers)
def test_with_tight_bounds_an_inequality_keeps_only_pages_that_hold_a_match(
    pages: list[list[int | None]], condition: Condition, sought: int
) -> None:
    found = candidate_pages(column_index(pages), Order.SIGNED, condition, raw(sought))
    holding = [
        number
        for number, page in enumerate(pages)
        if any(value is not None and COMPARISONS[condition](value, sought) for value in page)
    ]

    assert holding == found


@settings(deadline=None)
@given(
    st.lists(nullable, max_size=40),
    st.lists(st.integers(0, 40), max_size=8),
    st.sampled_from(SORTED),
    st.sampled_from(["=", "<", "<=", ">", ">="]),
    st.integers(-22, 22),
)
def test_halving_finds_the_pages_that_looking_at_each_finds(
    values: list[int | None], cuts: list[int], order: BoundaryOrder, condition: Condition, sought: int
) -> None:
    pages = sorted_pages(values, cuts, descending=order is BoundaryOrder.DESCENDING)
    index = column_index(pages, order)

    assert candidate_pages(index, Order.SIGNED, condition, raw(sought)) == candidate_range(
        index, Order.SIGNED, condition, raw(sought)
    )


def test_a_point_lookup_in_distinct_ordered_values_reads_one_page() -> None:
    pages = [list(range(start, start + 10)) for start in range(0, 1000, 10)]
    index = column_index(pages, BoundaryOrder.ASCENDING)

    assert [42] == candidate_range(index, Order.SIGNED, "=", raw(427))


@pytest.mark.parametrize("condition", ["!=", "is null", "is not null"])
def test_halving_is_no_answer_to_conditions_that_both_ends_satisfy(condition: Condition) -> None:
    with pytest.raises(ValueError, match="nothing to compare with"):
        candidate_range(column_index([[1]], BoundaryOrder.ASCENDING), Order.SIGNED, condition, raw(1))


def test_halving_is_no_answer_to_unordered_bounds() -> None:
    with pytest.raises(ValueError, match="the bounds are not sorted"):
        candidate_range(column_index([[1]]), Order.SIGNED, "=", raw(1))


def test_nulls_are_found_where_the_counts_say_so() -> None:
    index = column_index([[1, None], [None], [2]])

    assert [0, 1] == candidate_pages(index, Order.SIGNED, "is null")
    assert [0, 2] == candidate_pages(index, Order.SIGNED, "is not null")


def test_without_counts_every_page_may_hold_a_null() -> None:
    index = column_index([[1, None], [None], [2]])
    index.null_counts = None

    assert [0, 1, 2] == candidate_pages(index, Order.SIGNED, "is null")


def test_without_an_order_only_pages_of_nulls_are_left_out() -> None:
    assert [0, 2] == candidate_pages(column_index([[1], [None], [9]]), None, "=", raw(5))


def floats(low: float, high: float, nan_counts: list[int] | None) -> ColumnIndex:
    return ColumnIndex(
        null_pages=[False],
        min_values=[double(low)],
        max_values=[double(high)],
        boundary_order=BoundaryOrder.UNORDERED,
        nan_counts=nan_counts,
    )


@pytest.mark.parametrize(
    ("nan_counts", "nan", "kept"),
    [(None, False, False), (None, True, True), ([0], True, False), ([2], True, True)],
)
def test_a_page_that_may_hold_nan_is_kept_where_nan_counts_as_a_match(
    nan_counts: list[int] | None, nan: bool, kept: bool
) -> None:
    assert kept == may_satisfy(floats(1, 2, nan_counts), 0, Order.FLOAT, ">", double(5), nan=nan)


@pytest.mark.parametrize("order", [Order.FLOAT, Order.TOTAL])
def test_who_looks_for_nan_gets_every_page(order: Order) -> None:
    assert may_satisfy(floats(1, 2, [1]), 0, order, "=", double(float("nan")))


@pytest.mark.parametrize("order", [Order.FLOAT, Order.TOTAL])
@pytest.mark.parametrize(("held", "sought"), [(0.0, -0.0), (-0.0, 0.0)])
def test_a_zero_of_one_sign_is_found_by_the_other(order: Order, held: float, sought: float) -> None:
    assert may_satisfy(floats(held, held, [0]), 0, order, "=", double(sought))


@pytest.mark.parametrize("bounds", [(b"", b""), (raw(2), raw(1))])
def test_bounds_that_are_none_leave_no_page_out(bounds: tuple[bytes, bytes]) -> None:
    index = ColumnIndex(null_pages=[False], min_values=[bounds[0]], max_values=[bounds[1]], boundary_order=0)

    assert [0] == candidate_pages(index, Order.SIGNED, "=", raw(9))


sizes = st.lists(st.integers(1, 9), min_size=1, max_size=8)


@settings(deadline=None)
@given(sizes, st.data())
def test_pages_become_the_rows_that_they_hold(counts: list[int], data: st.DataObject) -> None:
    pages = sorted(data.draw(st.sets(st.integers(0, len(counts) - 1))))
    rows = rows_of_pages(offset_index(counts), sum(counts), pages)
    held = [page for page, count in enumerate(counts) for _ in range(count)]

    assert [row for row, page in enumerate(held) if page in pages] == [row for part in rows for row in part]
    assert pages == pages_of_rows(offset_index(counts), sum(counts), rows)


row_sets = st.sets(st.integers(0, 30))


def ranges(rows: set[int]) -> list[range]:
    return union([range(row, row + 1)] for row in rows)


@settings(deadline=None)
@given(row_sets, row_sets)
def test_rows_of_both_and_of_either_are_those_of_sets(one: set[int], other: set[int]) -> None:
    assert ranges(one & other) == intersection(ranges(one), ranges(other))
    assert ranges(one | other) == union([ranges(one), ranges(other)])
    assert sorted(one | other) == [row for part in union([ranges(one), ranges(other)]) for row in part]


@settings(deadline=None)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.sets(st.integers(0, 40)))
def test_a_reader_takes_the_rows_and_no_others(counts: list[int], wanted: set[int]) -> None:
    index, total = offset_index(counts), sum(counts)
    rows = ranges({row for row in wanted if row < total})
    first = {location.offset: location.first_row_index for location in index.page_locations}
    taken = [
        first[location.offset] + row
        for location, parts in reads(index, total, rows)
        for part in parts
        for row in part
    ]

    assert [row for part in rows for row in part] == taken


@settings(deadline=None)
@given(st.lists(nullable, min_size=1, max_size=30), st.lists(st.integers(0, 30), max_size=6), sizes, numbers)
def test_a_search_by_one_column_finds_the_rows_of_another(
    values: list[int | None], cuts: list[int], other: list[int], sought: int
) -> None:
    edges = sorted({0, len(values), *(cut % (len(values) + 1) for cut in cuts)})
    counts = [end - start for start, end in pairwise(edges)]
    pages = [values[start:end] for start, end in pairwise(edges)]
    elsewhere: list[int] = []  # the pages of another column, which end at rows of their own
    for size in other * len(values):
        elsewhere.append(min(size, len(values) - sum(elsewhere)))
    elsewhere = [size for size in elsewhere if size]

    found = candidate_pages(column_index(pages), Order.SIGNED, "=", raw(sought))
    rows = rows_of_pages(offset_index(counts), len(values), found)
    reached = {
        location.first_row_index + row
        for location, parts in reads(offset_index(elsewhere), len(values), rows)
        for part in parts
        for row in part
    }

    assert {row for row, value in enumerate(values) if value == sought} <= reached
