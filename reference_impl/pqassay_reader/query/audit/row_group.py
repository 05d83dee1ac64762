"""The audit of one row group: what its statistics, bloom filters and page indexes claim, against the values.

What is audited are the claims that a condition meets: of the columns that it names, in the row groups that are read.  The values
are those that are stored, without their logical types, and the order is that of the column, so that what is
compared is what the claim is about.

Source: chapter ``scan.md``; the orders are those of `pqassay_spec.parquet.column_order`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay_reader.condition.normal import ColumnTest, Condition
from pqassay_reader.pages.chunk_claims import SORTED, ChunkClaims, Mistrusted
from pqassay_reader.pages.extremes import Extremes, OrderedValues
from pqassay_reader.pages.row_selection import by_pages, by_statistics_and_bloom, rows_left
from pqassay_reader.query.audit.distrust import Lie, Structure, so_many
from pqassay_reader.query.facts.footer_facts import FileFacts
from pqassay_reader.query.fetching.page_layout import leaf_of
from pqassay_reader.query.fetching.ranges import FetchedRanges, Piece
from pqassay_reader.query.group_scan import GroupScan, Question
from pqassay_reader.query.rungs import Rung
from pqassay_reference.columns.chunk_structures import may_hold
from pqassay_reference.errors import Undecodable
from pqassay_reference.pages.literal_bytes import plain_bytes
from pqassay_reference.pages.stored_values import StoredPage, StoredValues, stored_pages
from pqassay_spec.parquet.column_order import FLOATING, Order, key, shown
from pqassay_spec.parquet.file import chunk_start
from pqassay_spec.parquet.page_search import Rows
from pqassay_spec.parquet.thrift import BoundaryOrder, OffsetIndex

Answer = Callable[[ChunkClaims, ColumnTest], Rows]
Chunks = Callable[[str], ChunkClaims | None]

Mask = NDArray[np.bool_]
"""A choice of the rows of the row group."""


class _Stretch(NamedTuple):
    """Rows that a claim is about: those of a page, or of the whole row group, where ``page`` is ``None``."""

    page: int | None
    start: int
    stop: int


class GroupAudit:
    """One row group, its condition put to all rows.

    Args:
        facts: The file's facts.
        ranges: Its bytes.
        group: The row group.
        question: What is asked.

    Attributes:
        columns: The fields of the condition, by their positions, whole.
        matching: The rows that satisfy the condition; ``None`` for all.

    Raises:
        Refused: The condition does not fit the columns.
        Undecodable, Malformed: The pages cannot be decoded.
    """

    def __init__(self, facts: FileFacts, ranges: FetchedRanges, group: GroupScan, question: Question) -> None:
        self._facts, self._ranges, self._group, self._question = facts, ranges, group, question
        self._stored: dict[int, StoredValues] = {}
        self.matching, self.columns = group.condition()

    @property
    def matched(self) -> int:
        """Rows that satisfy the condition."""
        return self._group.row_count if self.matching is None else int(self.matching.sum())

    @property
    def row_group(self) -> int:
        """The position of the row group."""
        return self._group.row_group

    @property
    def row_count(self) -> int:
        """Its rows."""
        return self._group.row_count

    def ordered(self, name: str) -> OrderedValues | None:
        """The values of a column of the condition, to be asked for extremes; ``None`` of one without one value in each row. Raises as the class does."""
        claims = self._claims.get(name)
        return None if claims is None else OrderedValues(self._values_of(name).values, claims.order)

    def lies(self) -> Iterator[Lie]:
        """What is claimed and false. Raises as the class does."""
        rungs, predicate = self._question.rungs, self._question.condition
        for name, claims in self._claims.items():
            ordered = OrderedValues(self._values_of(name).values, claims.order)
            if Rung.ROW_GROUPS in rungs:
                yield from self._of_statistics(name, claims, ordered)
            if Rung.PAGES in rungs:
                yield from self._of_column_index(name, claims, ordered)
        if Rung.ROW_GROUPS in rungs and predicate is not None:
            yield from self._of_bloom_filters(predicate)
        if Rung.PAGES in rungs:
            places = set(self.columns) | (set(self._question.output) if self.matched else set())
            for place in sorted(places):
                for leaf in self._facts.fields[place].leaves:
                    yield from self._of_offset_index(leaf)

    # ------------------------------------------------------------------------------------- claims and values

    @cached_property
    def _claims(self) -> dict[str, ChunkClaims]:
        """What is claimed of the columns of the condition, by their names there: of those with one value in each row."""
        condition = self._question.condition
        names = frozenset[str]() if condition is None else condition.columns
        found = {name: self._group.claims_of(name) for name in sorted(names)}
        return {name: claims for name, claims in found.items() if claims is not None and claims.is_flat}

    @cached_property
    def _names(self) -> dict[int, str]:
        """The names that the condition has for leaves, by their positions."""
        return {self._group.leaf_called(name): name for name in self._claims}

    def _values_of(self, name: str) -> StoredValues:
        return self._values_at(self._group.leaf_called(name))

    def _values_at(self, leaf: int) -> StoredValues:
        """All values of a leaf as they are stored."""
        if leaf not in self._stored:
            field = next(one for one in self._facts.fields if leaf in one.leaves)
            claims = self._facts.claims_of(self._ranges, self._group.row_group, leaf)
            number, raw = leaf - field.leaves.start, self._raw(claims)
            try:
                found = StoredValues(field.elements, number, claims.facts, raw, self._group.row_count)
            except Undecodable as error:
                raise Undecodable(f"{self._ranges.name}: column {claims.leaf.name}: {error}") from None
            self._stored[leaf] = found
        return self._stored[leaf]

    def _raw(self, claims: ChunkClaims) -> bytes:
        """The bytes of a chunk."""
        chunk = leaf_of(claims, self._facts.body, self._group.row_group, self._ranges.name)
        end = self._group.first_row + self._group.row_count
        self._ranges.want([Piece(chunk.start, chunk.stop, end)])
        return self._ranges.read(chunk.start, chunk.stop - chunk.start)

    def _lie(
        self, column: str, structure: Structure, page: int | None, claim: str, found: str, lost: int
    ) -> Lie:
        where = self._ranges.name, self._group.row_group
        return Lie(*where, column, page, structure, claim, found, lost)

    # -------------------------------------------------------------------------------------- what would be lost

    def _left_out(self, answer: Answer, chunks: Chunks) -> Mask:
        """The rows that satisfy the condition, and that some claims leave out."""
        if self._question.condition is None or self.matching is None:
            return np.zeros(0, np.bool_)
        lost = self.matching.copy()
        for rows in rows_left(self._question.condition, chunks, self._group.row_count, answer):
            lost[rows.start : rows.stop] = False
        return lost

    def _lost(self, answer: Answer, name: str, alone: ChunkClaims | None, others: ChunkClaims | None) -> Mask:
        """The rows that are lost to a structure of one column.

        They are those that all claims together leave out, and that this one leaves out alone, or the others would keep without it.

        Args:
            answer: What is asked of each chunk.
            name: The column.
            alone: Its chunk with this structure and no other.
            others: Its chunk without this structure.
        """
        every = self._left_out(answer, self._claims.get)
        if not every.any():
            return every
        by_itself = self._left_out(answer, lambda one: alone if one == name else None)
        by_others = self._left_out(answer, lambda one: others if one == name else self._claims.get(one))
        kept: Mask = every & (by_itself | ~by_others)
        return kept

    def _lost_to_statistics(self, name: str, claims: ChunkClaims) -> int:
        alone, others = _changed(claims, bloom_filter_offset=None), _changed(claims, statistics=None)
        return int(self._lost(by_statistics_and_bloom, name, alone, others).sum())

    def _lost_to_bloom_filter(self, name: str, claims: ChunkClaims) -> int:
        alone, others = _changed(claims, statistics=None), _changed(claims, bloom_filter_offset=None)
        return int(self._lost(by_statistics_and_bloom, name, alone, others).sum())

    def _lost_to_pages(self, name: str, claims: ChunkClaims) -> Mask:
        return self._lost(by_pages, name, claims, None)

    # ---------------------------------------------------------------------------------------- the structures

    def _of_statistics(self, name: str, claims: ChunkClaims, ordered: OrderedValues) -> Iterator[Lie]:
        try:
            summary = claims.summary
        except Mistrusted:
            return
        stretch = _Stretch(None, 0, self._group.row_count)
        false = list(_false_counts(ordered, stretch, summary.null_counts, summary.nan_counts, claims.order))
        if claims.has_bounds and not summary.null_pages[0]:
            false += _false_bounds(claims.order, ordered, stretch, summary.min_values, summary.max_values)
        lost = self._lost_to_statistics(name, claims) if false else 0
        for claim, found in false:
            yield self._lie(claims.leaf.name, Structure.STATISTICS, None, claim, found, lost)

    def _of_column_index(self, name: str, claims: ChunkClaims, ordered: OrderedValues) -> Iterator[Lie]:
        try:
            index = claims.column_index
        except Mistrusted:
            return
        stored = self._values_of(name)
        if len(stored.pages) != len(index.null_pages):
            return  # the offset index is false as well, and says so
        lost: Mask | None = None
        rows = stored.first_rows.tolist()
        for page, (start, stop) in enumerate(pairwise(rows)):
            stretch = _Stretch(page, start, stop)
            false = list(_false_nulls(ordered, stretch, is_null=index.null_pages[page]))
            false += _false_counts(ordered, stretch, index.null_counts, index.nan_counts, claims.order)
            if not index.null_pages[page]:
                false += _false_bounds(claims.order, ordered, stretch, index.min_values, index.max_values)
            if not false:
                continue
            lost = self._lost_to_pages(name, claims) if lost is None else lost
            for claim, found in false:
                of_page = int(lost[start:stop].sum())
                yield self._lie(claims.leaf.name, Structure.COLUMN_INDEX, page, claim, found, of_page)
        if claims.order is not None and index.boundary_order in SORTED and not claims.is_sorted:
            claim = f"the bounds are in {BoundaryOrder(index.boundary_order).name} order"
            # The bounds themselves tell, so a scan that believes them searches without halving.
            yield self._lie(claims.leaf.name, Structure.COLUMN_INDEX, None, claim, "they are in another", 0)

    def _of_bloom_filters(self, predicate: Condition) -> Iterator[Lie]:
        sought: dict[tuple[str, bytes], Any] = {}
        names = {id(claims): name for name, claims in self._claims.items()}

        def noted(chunk: ChunkClaims, test: ColumnTest) -> Rows:
            for ends in test.values.ends:
                literal = None if ends.point is None else test.kind.constant(ends.point)
                raw = None if literal is None else plain_bytes(chunk.leaf, literal)
                if raw is not None:
                    sought[names[id(chunk)], raw] = literal
            return [range(chunk.row_count)]

        rows_left(predicate, self._claims.get, self._group.row_count, noted)
        for (name, raw), literal in sought.items():
            claims = self._claims[name]
            try:
                is_denied = not may_hold(claims.bitset, claims.leaf, raw)
            except Mistrusted:
                continue
            count = _count_of(self._values_of(name).values, raw) if is_denied else 0
            if count:
                claim = f"no row holds {str(literal)[:40]!r}"
                found = so_many(count, "row")
                lost = self._lost_to_bloom_filter(name, claims)
                yield self._lie(claims.leaf.name, Structure.BLOOM_FILTER, None, claim, found, lost)

    def _of_offset_index(self, leaf: int) -> Iterator[Lie]:
        name = self._names.get(leaf)
        claims = self._facts.claims_of(self._ranges, self._group.row_group, leaf)
        claims = claims if name is None else self._claims[name]
        try:
            index = claims.offset_index
        except Mistrusted:
            return
        raw = self._raw(claims)
        pages = [page for page in stored_pages(raw, claims.facts.num_values) if page.entries is not None]
        if claims.is_flat:
            rows = np.cumsum([0, *(page.entries or 0 for page in pages)])
        else:
            rows = self._values_at(leaf).first_rows
        lost: Mask | None = None
        for page, claim, found in _false_places(claims, index, pages, rows):
            if lost is None:
                lost = self._lost_elsewhere(name, claims, index, rows)
            of_page = lost if page is None or page + 1 >= len(rows) else lost[rows[page] : rows[page + 1]]
            count = int(of_page.sum())
            yield self._lie(claims.leaf.name, Structure.OFFSET_INDEX, page, claim, found, count)

    def _lost_elsewhere(
        self, name: str | None, claims: ChunkClaims, index: OffsetIndex, rows: NDArray[np.int64]
    ) -> Mask:
        """The rows that are lost because they are thought to be in another page."""
        if name is None:
            return np.zeros(0, np.bool_)
        every = np.arange(self._group.row_count)
        thought = np.searchsorted([one.first_row_index for one in index.page_locations], every, "right")
        is_elsewhere: Mask = thought != np.searchsorted(rows, every, "right")
        kept: Mask = self._lost_to_pages(name, claims) & is_elsewhere
        return kept


# ------------------------------------------------------------------------------------------------ single claims

_False = Iterator[tuple[str, str]]
"""What is claimed, and what is there."""


def _false_nulls(ordered: OrderedValues, rows: _Stretch, *, is_null: bool) -> _False:
    count = rows.stop - rows.start
    nulls = ordered.null_count(rows.start, rows.stop)
    if is_null != (nulls == count) and count:
        claim = "all are null" if is_null else "not all are null"
        yield claim, "all are null" if nulls == count else so_many(count - nulls, "value")


def _false_counts(
    ordered: OrderedValues,
    rows: _Stretch,
    null_counts: list[int] | None,
    nan_counts: list[int] | None,
    order: Order | None,
) -> _False:
    at = rows.page or 0
    nulls = ordered.null_count(rows.start, rows.stop)
    if null_counts is not None and null_counts[at] != nulls:
        yield so_many(null_counts[at], "null"), so_many(nulls, "null")
    nans = ordered.nan_count(rows.start, rows.stop)
    if nan_counts is not None and order in FLOATING and nan_counts[at] != nans:
        yield f"{nan_counts[at]} NaN", f"{nans} NaN"


def _false_bounds(
    order: Order | None, ordered: OrderedValues, rows: _Stretch, lows: list[bytes], highs: list[bytes]
) -> list[tuple[str, str]]:
    found: Extremes | None = None if order is None else ordered.extremes(rows.start, rows.stop)
    if order is None or found is None:
        return []
    low, high = lows[rows.page or 0], highs[rows.page or 0]
    false: list[tuple[str, str]] = []
    if key(order, found.least) < key(order, low):
        false.append((f"no value is less than {shown(order, low)}", shown(order, found.least)))
    if key(order, found.greatest) > key(order, high):
        claim = f"no value is greater than {shown(order, high)}"
        false.append((claim, shown(order, found.greatest)))
    return false


def _false_places(
    claims: ChunkClaims, index: OffsetIndex, pages: list[StoredPage], rows: NDArray[np.int64]
) -> Iterator[tuple[int | None, str, str]]:
    """What an offset index says and is not so: the page, what is claimed, and what is there."""
    places = index.page_locations
    if len(places) != len(pages):
        yield None, so_many(len(places), "page"), so_many(len(pages), "page")
        return
    start = chunk_start(claims.chunk) or 0
    for number, (place, page) in enumerate(zip(places, pages, strict=True)):
        end = place.offset + place.compressed_page_size
        if (place.offset, end) != (start + page.start, start + page.stop):
            claim = f"bytes {place.offset} to {end}"
            yield number, claim, f"bytes {start + page.start} to {start + page.stop}"
        first = int(rows[number])
        if first != place.first_row_index:
            claim = f"begins with row {place.first_row_index}"
            yield number, claim, "begins within a row" if first < 0 else f"begins with row {first}"


def _changed(claims: ChunkClaims, **facts: Any) -> ChunkClaims:
    """The claims of a chunk with other metadata."""
    changed = copy.copy(claims)
    changed.__dict__ = {
        name: value for name, value in claims.__dict__.items() if name not in ("summary", "bitset")
    }
    changed.chunk, changed.used = copy.copy(claims.chunk), set()
    changed.chunk.meta_data = copy.copy(claims.facts)
    for name, value in facts.items():
        setattr(changed.chunk.meta_data, name, value)
    if "bloom_filter_offset" not in facts and "bitset" in claims.__dict__:
        changed.__dict__["bitset"] = claims.bitset
    return changed


def _count_of(values: Any, raw: bytes) -> int:
    """The rows with a value, given by its PLAIN bytes; both zeros are one value."""
    kind = values.type
    if pa.types.is_binary(kind) or pa.types.is_fixed_size_binary(kind):
        sought = pa.scalar(raw, kind)
    else:
        sought = pa.Array.from_buffers(kind, 1, [None, pa.py_buffer(raw)])[0]
    return int(pc.sum(pc.equal(values, sought)).as_py() or 0)


__all__ = ["GroupAudit"]
