"""Queries that may show the effect of a finding, made of the values that its false claim hides.

A false claim about a column chunk or a page concerns certain values: values beyond a bound, values that a bloom filter lacks, nulls of a
page with a null count of 0, or rows of a page at another place. A reader that trusts the claim loses these values, or returns others.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pqassay.plugins import rooms
from pqassay.proof.queries import ColumnQuery, NoQuery, Query, QueryColumn, QueryKind
from pqassay.proof.true_values import TrueValues, bound_value, meaning_of
from pqassay.report.model import Finding, Position
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import NotApplicable, NotChecked
from pqassay.values.decoding.hashes import hashes_of, held
from pqassay_spec.base.errors import FormatError
from pqassay_spec.rules.catalogue import family_of

MOST_QUERIES = 12
"""The number of queries that are tried for one finding."""

_PLACE = re.compile(r"row_groups\[(\d+)\](?:\.columns\[(\d+)\])?\.?(.*)")
_ENTRY = re.compile(r"(?:_values|null_pages|_counts|page_locations|histograms)\[(\d+)\]")
_PAGE = re.compile(r"^pages\[(\d+)\]")


@dataclass(frozen=True)
class RowStretch:
    """Some rows of a column chunk: the rows of a page, or all.

    Attributes:
        chunk: The chunk.
        column: Its column.
        rows: All values of the chunk, in the type used for comparison.
        page: The data page, ``None`` for the whole chunk.
        start, end: The rows of the row group.
        part: The rest of the field path: the part of the chunk with the finding.
    """

    chunk: ColumnChunkUnderTest
    column: QueryColumn
    rows: Any
    page: int | None
    start: int
    end: int
    part: str

    @property
    def values(self) -> Any:
        """The values that are neither null nor NaN."""
        return _without_nan(self.rows.slice(self.start, self.end - self.start).drop_null())


def _without_nan(values: Any) -> Any:
    return values.filter(pc.invert(pc.is_nan(values))) if pa.types.is_floating(values.type) else values


def candidates(finding: Finding, values: TrueValues) -> list[Query]:
    """The queries to try for a finding, the most promising first.

    Raises:
        NotChecked: There are none; the message says why.
    """
    if reason := unread(finding.rule):
        raise NoQuery(reason)
    if finding.column is None:
        return [every_column(values)]
    values.column(finding.column)  # raises if no query can name it
    queries: dict[Query, None] = {}
    streams = [
        _around(stretch, values)
        for position in finding.at
        if (stretch := _stretch(position, finding.column, values))
    ]
    if not streams:
        return [Query((values.column(finding.column),))]
    # The first position gets most of the queries; the others share the rest.
    while streams and len(queries) < MOST_QUERIES:
        for stream in list(streams):
            if (query := next(stream, None)) is None:
                streams.remove(stream)
            elif len(queries) < MOST_QUERIES:
                queries[query] = None
    return list(queries)


def by_ends(column: QueryColumn, row_groups: Iterable[Any]) -> list[Query]:
    """Queries for the smallest and the greatest of some values, or for nulls if there are no others."""
    values = _without_nan(pa.chunked_array(list(row_groups), column.type).drop_null())
    if not len(values):
        return [Query((column,), (ColumnQuery("is null", column),))]
    if column.kind is QueryKind.BOOLEAN:
        return [_equal(column, values[0])]
    ends = pc.min_max(values)
    return [
        _equal(column, ends["min"]),
        _equal(column, ends["max"]),
        _between(column, ends["min"], ends["max"]),
    ]


def unread(rule: str) -> str:
    """Why no installed engine can be asked about a rule: none reads the structure; empty if one does."""
    found = rooms(f"checks.{family_of(rule).module}")
    return next((str(room.UNREAD) for room in found if hasattr(room, "UNREAD")), "")


def every_column(values: TrueValues) -> Query:
    """A query for all rows of the first columns that queries can name, at most two.

    Raises:
        NoQuery: No column can be named.
    """
    columns: list[QueryColumn] = []
    for leaf in values.file.leaves:
        with contextlib.suppress(NotChecked):
            columns.append(values.column(leaf.name))
        if len(columns) == 2:
            break
    if not columns:
        raise NoQuery("no column can be queried by all engines")
    return Query(tuple(columns))


def _stretch(position: Position, name: str, values: TrueValues) -> RowStretch | None:
    """The rows at a position; ``None`` if it names no row group."""
    match = _PLACE.search(position.field)
    group = position.row_group if position.row_group is not None else int(match[1]) if match else None
    if group is None or not 0 <= group < len(values.file.metadata.row_groups):
        return None
    part = match[3] if match else ""
    rows = values.by_row_group(name)[group]
    page = position.page
    if page is None and (entry := _ENTRY.search(part) or _PAGE.match(part)):
        page = int(entry[1])
    starts = _page_starts(values, group, name)
    if page is None or page >= len(starts) - 1:
        page, start, end = None, 0, len(rows)
    else:
        start, end = int(starts[page]), int(starts[page + 1])
    return RowStretch(values.chunks[group, name], values.column(name), rows, page, start, end, part)


def _page_starts(values: TrueValues, group: int, name: str) -> Any:
    return np.concatenate(([0], np.cumsum(values.counts(group, name).rows)))


def _around(stretch: RowStretch, values: TrueValues) -> Iterator[Query]:
    """Yield queries about one position."""
    part, column = stretch.part, stretch.column
    if "bloom_filter" in part:
        yield from _lacking(stretch, values)
    moves_rows = any(word in part for word in ("offset_index", "pages", "num_rows", "num_values", "_offset"))
    if moves_rows or ("statistics" not in part and "column_index" not in part and "bloom" not in part):
        yield Query((column,))
        yield from _beside(stretch, values)
    if "null" in part or "histogram" in part:
        yield from nulls(stretch)
    yield from _beyond(stretch)
    yield from within(stretch)
    yield from nulls(stretch)
    yield Query((column,))


def _is(column: QueryColumn, operator: str, value: Any) -> ColumnQuery:
    return ColumnQuery(operator, column, value.as_py() if isinstance(value, pa.Scalar) else value)


def _equal(column: QueryColumn, value: Any) -> Query:
    return Query((column,), (_is(column, "=", value),))


def _range(column: QueryColumn, low: pa.Scalar[Any], high: pa.Scalar[Any]) -> tuple[ColumnQuery, ...]:
    """The condition that a value lies between two bounds; simpler if they are equal."""
    if low == high:
        return (_is(column, "=", low),)
    return _is(column, ">=", low), _is(column, "<=", high)


def _between(column: QueryColumn, low: Any, high: Any) -> Query:
    return Query((column,), _range(column, low, high))


def _at_places(values: Any, count: int) -> Iterator[Any]:
    """Values at evenly spaced places, including the first and the last."""
    if len(values):
        for place in dict.fromkeys(np.linspace(0, len(values) - 1, count).astype(int).tolist()):
            yield values[place]


def _lacking(stretch: RowStretch, values: TrueValues) -> Iterator[Query]:
    """Yield queries for values that the bloom filter lacks."""
    try:
        bitset = stretch.chunk.bitset
    except (FormatError, NotChecked, NotApplicable):
        return
    stored = values.stored(stretch.chunk.row_group, stretch.column.name)
    valid = stretch.rows.drop_null()
    absent = _without_nan(valid.filter(pa.array(~held(bitset, hashes_of(stored.drop_null())))))
    for value in _at_places(pc.unique(absent), 6):
        yield _equal(stretch.column, value)


def _beside(stretch: RowStretch, values: TrueValues) -> Iterator[Query]:
    """Yield queries for rows of a page by a condition on another column that selects few other rows."""
    group = stretch.chunk.row_group
    starts = [stretch.start] if stretch.page is None else _page_starts(values, group, stretch.column.name)
    places = {stretch.start, max(stretch.end - 1, stretch.start)}
    if stretch.page is not None and stretch.page + 2 < len(starts):
        places.add(int(starts[stretch.page + 1]))
    for other in islice(_selective(stretch, values), 2):
        rows = values.by_row_group(other.name)[group]
        if len(rows) != len(stretch.rows):
            continue
        columns = (other, stretch.column)
        part = rows.slice(stretch.start, stretch.end - stretch.start)
        ends = pc.min_max(part)
        if ends["min"].is_valid:
            yield Query(columns, _range(other, ends["min"], ends["max"]))
        for place in sorted(places):
            if place < len(rows) and rows[place].is_valid:
                yield Query(columns, (_is(other, "=", rows[place]),))


def _selective(stretch: RowStretch, values: TrueValues) -> Iterator[QueryColumn]:
    """Other columns that can select rows of the stretch; those with most distinct values come first."""
    others: list[tuple[int, int, QueryColumn]] = []
    for ordinal, leaf in enumerate(values.file.leaves):
        if leaf.name == stretch.column.name or len(others) == 8:
            continue
        with contextlib.suppress(NotChecked):
            if meaning_of(leaf)[0] in (QueryKind.BOOLEAN, QueryKind.SINGLE, QueryKind.DOUBLE):
                continue
            column = values.column(leaf.name)
            rows = values.by_row_group(leaf.name)[stretch.chunk.row_group]
            part = rows.slice(stretch.start, stretch.end - stretch.start)
            others.append((-len(pc.unique(part)), ordinal, column))
    for _, _, column in sorted(others, key=lambda pick: pick[:2]):
        yield column


def nulls(stretch: RowStretch) -> Iterator[Query]:
    """Yield queries for nulls, and for values that are not null."""
    column, rows = stretch.column, stretch.rows
    if rows.null_count and not column.has_nan:
        yield Query((column,), (ColumnQuery("is null", column),))
    if rows.null_count < len(rows):
        yield Query((column,), (ColumnQuery("is not null", column),))


def _bounds(stretch: RowStretch) -> Iterator[tuple[Any, Any]]:
    """Yield the claimed smallest and greatest values, of the page and of the chunk."""
    leaf = stretch.chunk.leaf
    if stretch.page is not None and "column_index" in stretch.part:
        with contextlib.suppress(FormatError, NotChecked, NotApplicable, IndexError):
            index = stretch.chunk.column_index
            least, greatest = index.min_values[stretch.page], index.max_values[stretch.page]
            yield bound_value(leaf, least), bound_value(leaf, greatest)
    if (statistics := stretch.chunk.statistics) is not None:
        for low, high in ((statistics.min_value, statistics.max_value), (statistics.min, statistics.max)):
            yield bound_value(leaf, low), bound_value(leaf, high)


def _beyond(stretch: RowStretch) -> Iterator[Query]:
    """Yield queries for values beyond the claimed bounds."""
    for low, high in _bounds(stretch):
        yield from outside(stretch, low, high)


def outside(stretch: RowStretch, low: Any, high: Any) -> Iterator[Query]:
    """Yield queries for values outside two bounds, which are scalars or ``None``."""
    values, column = stretch.values, stretch.column
    if column.kind is not QueryKind.BOOLEAN:
        above = values.filter(pc.greater(values, high)) if high is not None and high.is_valid else values[:0]
        below = values.filter(pc.less(values, low)) if low is not None and low.is_valid else values[:0]
        if len(above):
            ends = pc.min_max(above)
            yield Query((column,), (_is(column, ">=", ends["min"]),))
            yield _equal(column, ends["max"])
            yield _equal(column, ends["min"])
            yield _between(column, ends["min"], ends["max"])
        if len(below):
            ends = pc.min_max(below)
            yield Query((column,), (_is(column, "<=", ends["max"]),))
            yield _equal(column, ends["min"])
            yield _equal(column, ends["max"])


def within(stretch: RowStretch) -> Iterator[Query]:
    """Yield queries for values of the stretch, regardless of claims."""
    values, column = stretch.values, stretch.column
    for value in _at_places(values, 3):
        yield _equal(column, value)
    if len(values) and column.kind is not QueryKind.BOOLEAN:
        ends = pc.min_max(values)
        yield _between(column, ends["min"], ends["max"])
        yield Query((column,), (_is(column, ">=", ends["min"]),))
        yield Query((column,), (_is(column, "<=", ends["max"]),))
