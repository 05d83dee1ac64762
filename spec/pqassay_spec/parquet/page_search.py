"""The pages that a search has to read: from the bounds of pages to rows, and from rows to the pages of every column.

A row group stores its values column by column, and each column is cut into pages at different rows.  The column index
of one column shows which pages may have a value.  The offset index turns these pages into ranges of rows, and
the offset indexes of the other columns turn rows into pages again:

    >>> index = ColumnIndex(
    ...     null_pages=[False, False, False],
    ...     min_values=[b"ash", b"fir", b"oak"],
    ...     max_values=[b"elm", b"lime", b"yew"],
    ...     boundary_order=BoundaryOrder.ASCENDING,
    ... )
    >>> pages = candidate_pages(index, Order.BYTES, "=", b"larch")
    >>> pages
    [1]
    >>> trees = OffsetIndex(page_locations=[PageLocation(offset=4 + i, compressed_page_size=1, first_row_index=i * 100) for i in range(3)])
    >>> rows = rows_of_pages(trees, 300, pages)
    >>> rows
    [range(100, 200)]
    >>> heights = OffsetIndex(page_locations=[PageLocation(offset=7 + i, compressed_page_size=1, first_row_index=i * 150) for i in range(2)])
    >>> pages_of_rows(heights, 300, rows)
    [0, 1]

A page that is left out does not have a row that satisfies the condition.  A page that is kept may not have one either: bounds
may be wider than the values.  This module is not optimized.

Source: apache/parquet-format, ``PageIndex.md``; ``parquet.thrift``, ``ColumnIndex``, ``OffsetIndex``, ``ColumnOrder``.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from pqassay_spec.parquet.column_order import FLOATING, Order, is_nan, key, zeros
from pqassay_spec.parquet.thrift import BoundaryOrder, ColumnIndex, OffsetIndex, PageLocation

Condition = Literal["=", "!=", "<", "<=", ">", ">=", "is null", "is not null"]
"""A comparison of the column with a value; the last two need no value."""

Rows = list[range]
"""Rows of a row group: ranges in ascending order that neither overlap nor touch."""


# ------------------------------------------------------------------------------------------ from bounds to pages


# --8<-- [start:page]
def may_satisfy(
    index: ColumnIndex,
    page: int,
    order: Order | None,
    condition: Condition,
    value: bytes = b"",
    *,
    nan: bool = False,
) -> bool:
    """Whether a page may hold a value that satisfies a condition.

    Args:
        index: The column index.
        page: Which page.
        order: The order of the column's values; without an order, bounds have no meaning.
        condition: The condition.
        value: The PLAIN bytes of the value, without a length for a byte array.
        nan: Whether NaN satisfies the condition; engines disagree, and bounds do not include NaN.
    """
    if condition == "is null":
        return may_hold_null(index, page)
    if index.null_pages[page]:
        return False  # nulls satisfy no comparison
    if condition == "is not null" or order is None or (sought := zeros_of(order, value)) is None:
        return True
    least, greatest = sought
    low, high = key(order, index.min_values[page]), key(order, index.max_values[page])
    if low is None or high is None or low > high:
        return True  # invalid bounds; a column index that holds them should not be used at all
    if nan and may_hold_nan(index, page, order):
        return True
    satisfied: dict[str, bool] = {
        "=": low <= greatest and high >= least,
        "!=": low < least or high > greatest,
        "<": low < greatest,
        "<=": low <= greatest,
        ">": high > least,
        ">=": high >= least,
    }
    return satisfied[condition]


# --8<-- [end:page]


def zeros_of(order: Order, value: bytes) -> tuple[Any, Any] | None:
    """The least and the greatest key that engines may treat as equal to a value: they differ for a zero, which has two signs.

    ``None`` for NaN and for bytes that are not a value, which bounds cannot exclude.
    """
    if is_nan(order, value) or (found := key(order, value)) is None:
        return None
    if order in FLOATING and value in (both := zeros(len(value))):
        return key(order, both.negative), key(order, both.positive)
    return found, found


def may_hold_null(index: ColumnIndex, page: int) -> bool:
    """Whether a page may hold a null. Without ``null_counts``, every page may."""
    return index.null_pages[page] or index.null_counts is None or index.null_counts[page] > 0


def may_hold_nan(index: ColumnIndex, page: int, order: Order) -> bool:
    """Whether a page may hold a NaN that its bounds do not show. Without ``nan_counts``, every page of numbers may."""
    return order in FLOATING and (index.nan_counts is None or index.nan_counts[page] > 0)


# --8<-- [start:candidates]
def candidate_pages(
    index: ColumnIndex, order: Order | None, condition: Condition, value: bytes = b"", *, nan: bool = False
) -> list[int]:
    """The pages that may hold a value that satisfies a condition; tests each page with `may_satisfy`."""
    return [
        page
        for page in range(len(index.null_pages))
        if may_satisfy(index, page, order, condition, value, nan=nan)
    ]


def candidate_range(index: ColumnIndex, order: Order, condition: Condition, value: bytes) -> list[int]:
    """The same pages as `candidate_pages`, by binary search: for columns whose bounds ascend or descend.

    Both lists of bounds are sorted the same way, without all-null pages.  The pages that may hold the value are therefore
    adjacent.  They may still overlap: the last value of a page may be the first of the next one.

    Args:
        index: A column index whose ``boundary_order`` is ``ASCENDING`` or ``DESCENDING``, and true.
        order: The order of the column's values.
        condition: ``=`` or an inequality.
        value: The PLAIN bytes of the value; not NaN.

    Raises:
        ValueError: The bounds are not sorted, or the condition or the value is not supported.
    """
    sought = zeros_of(order, value)
    ascending = index.boundary_order == BoundaryOrder.ASCENDING
    if not ascending and index.boundary_order != BoundaryOrder.DESCENDING:
        raise ValueError("the bounds are not sorted")
    if condition not in SIDED or sought is None:
        raise ValueError("nothing to compare with")
    least, greatest = sought
    pages = [page for page, null in enumerate(index.null_pages) if not null]
    if not ascending:
        pages.reverse()

    def low(page: int) -> Any:
        return key(order, index.min_values[page])

    def high(page: int) -> Any:
        return key(order, index.max_values[page])

    first, end = 0, len(pages)
    if condition in ("=", ">", ">="):  # leave out the pages that end below the value
        first = (bisect_right if condition == ">" else bisect_left)(pages, least, key=high)
    if condition in ("=", "<", "<="):  # leave out those that begin above it
        end = (bisect_left if condition == "<" else bisect_right)(pages, greatest, key=low)
    found = pages[first:end]
    return found if ascending else found[::-1]


# --8<-- [end:candidates]


SIDED = ("=", "<", "<=", ">", ">=")
"""The conditions that can use sorted bounds; pages for the others may be at both ends."""


# --------------------------------------------------------------------------------------- between pages and rows


# --8<-- [start:rows]
def rows_of_page(index: OffsetIndex, row_count: int, page: int) -> range:
    """The rows of a page: from its first row to the first row of the next page, or to the end of the row group."""
    locations = index.page_locations
    end = locations[page + 1].first_row_index if page + 1 < len(locations) else row_count
    return range(locations[page].first_row_index, end)


def rows_of_pages(index: OffsetIndex, row_count: int, pages: Sequence[int]) -> Rows:
    """The rows of several pages, given in ascending order."""
    return union([rows_of_page(index, row_count, page)] for page in pages)


def pages_of_rows(index: OffsetIndex, row_count: int, rows: Rows) -> list[int]:
    """The pages of a column with at least one of these rows."""
    return [
        page
        for page in range(len(index.page_locations))
        if intersection(rows, [rows_of_page(index, row_count, page)])
    ]


# --8<-- [end:rows]


# --8<-- [start:sets]
def intersection(rows: Rows, other: Rows) -> Rows:
    """The rows in both: the result of two conditions joined by AND."""
    met = [range(max(a.start, b.start), min(a.stop, b.stop)) for a in rows for b in other]
    return union([rows] for rows in met if rows)


def union(parts: Iterable[Rows]) -> Rows:
    """The rows in any of the parts: the result of conditions joined by OR."""
    joined: Rows = []
    for rows in sorted((rows for part in parts for rows in part if rows), key=lambda rows: rows.start):
        if joined and rows.start <= joined[-1].stop:
            joined[-1] = range(joined[-1].start, max(joined[-1].stop, rows.stop))
        else:
            joined.append(rows)
    return joined


# --8<-- [end:sets]


# --8<-- [start:reads]
def reads(index: OffsetIndex, row_count: int, rows: Rows) -> list[tuple[PageLocation, Rows]]:
    """The work of a reader of a column for some rows: the pages to read, and the rows to take from each page.

    Returns:
        For each page with at least one of the rows, its place in the file, and the rows relative to its first row.
    """
    tasks: list[tuple[PageLocation, Rows]] = []
    for page in pages_of_rows(index, row_count, rows):
        held = rows_of_page(index, row_count, page)
        taken = [
            range(part.start - held.start, part.stop - held.start) for part in intersection(rows, [held])
        ]
        tasks.append((index.page_locations[page], taken))
    return tasks


# --8<-- [end:reads]
