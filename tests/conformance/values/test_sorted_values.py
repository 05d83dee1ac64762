"""Rows against the sorting columns of their row group."""

from __future__ import annotations

import math
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audited_values import rules_of
from damage import tries
from each import each
from pqassay_golden.tiny.parquet import Column, Encoding, Layout, SortingColumn, TinyParquet

SORTS: dict[str, tuple[list[Any], list[Any], tuple[bool, bool], tuple[bool, bool], bool]] = {
    "ascending": ([1, 1, 2, None], ["a", "b", "a", "a"], (False, False), (False, False), True),
    "nulls last, and they are first": ([None, 1], ["a", "a"], (False, False), (False, False), False),
    "nulls first": ([None, 1], ["a", "a"], (False, True), (False, False), True),
    "descending": ([2, 1, 1], ["a", "b", "a"], (True, False), (True, False), True),
    "second column falls": ([1, 1], ["b", "a"], (False, False), (False, False), False),
    "second column falls where the first rises": ([1, 2], ["b", "a"], (False, False), (False, False), True),
    "nulls are equal": ([None, None], ["b", "a"], (False, False), (False, False), False),
    "no rows": ([], [], (False, False), (False, False), True),
}


@each("name", SORTS)
def test_rows_are_compared_with_their_sorting_columns(name: str) -> None:
    numbers, texts, *given_orders, is_sorted = SORTS[name]
    columns = (Column("n", "int32", numbers), Column("t", "string", texts))
    sorting: list[SortingColumn] = []
    for place, (descending, nulls_first) in enumerate(given_orders):
        sorting.append(SortingColumn(column_idx=place, descending=descending, nulls_first=nulls_first))
    data = TinyParquet(columns, sorting_columns=sorting, row_group_rows=[len(numbers)]).build()
    assert (set() if is_sorted else {"PQF-075"}) == rules_of(data)


@given(st.lists(st.none() | st.floats(width=32), max_size=8), st.booleans(), st.booleans())
@tries(60)
def test_sorted_rows_are_in_order_wherever_nan_stands(
    values: list[float | None], descending: bool, nulls_first: bool
) -> None:
    numbers = sorted((v for v in values if v is not None and not math.isnan(v)), reverse=descending)
    nulls = [None] * values.count(None)
    rows = [*nulls, *numbers, float("nan")] if nulls_first else [*numbers, float("nan"), *nulls]
    sorting = [SortingColumn(column_idx=0, descending=descending, nulls_first=nulls_first)]
    file = TinyParquet((Column("c", "float", rows),), sorting_columns=sorting)
    assert set() == rules_of(file.build(), only=("PQF-075",))


@pytest.mark.parametrize("order", ["type", "total"])
@pytest.mark.parametrize("dictionary", [None, Encoding.RLE_DICTIONARY])
@pytest.mark.parametrize(
    ("first", "is_sorted"),
    [
        ([1.0, float("nan"), 2.0], True),
        ([0.0, -0.0, 1.0], True),
        ([-0.0, 0.0, 1.0], True),  # the second column falls between the zeros, which some take for two values
        ([1.0, 2.0, 0.0], False),
    ],
)
def test_nobody_says_where_nan_and_zeros_stand_among_sorted_rows(
    order: Literal["type", "total"],
    dictionary: Literal[Encoding.RLE_DICTIONARY] | None,
    first: list[float],
    is_sorted: bool,
) -> None:
    layout = Layout(order=order, dictionary=dictionary)
    columns = (
        Column("c", "double", first, optional=False, layout=layout),
        Column("n", "int32", [3, 2, 1], optional=False),
    )
    sorting = [SortingColumn(column_idx=at, descending=False, nulls_first=False) for at in (0, 1)]
    data = TinyParquet(columns, sorting_columns=sorting).build()
    assert (set() if is_sorted else {"PQF-075"}) == rules_of(data, only=("PQF-075",))
