"""Checks of the page index against the values of each page, tier ``values``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pqassay.checks.subjects import COLUMN_INDEX, OFFSET_INDEX
from pqassay.checks.value_rules import value_rule
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import NotChecked
from pqassay.under_test.violation import Violation, first_places
from pqassay.values.claims.bound_claims import (
    BoundsOfPages,
    ZerosOfPages,
    bounds_of,
    order_of_readers,
    require_order,
    zero_bound,
)
from pqassay.values.claims.count_claims import CountsOfPages, require_pages
from pqassay.values.claims.value_rules import Claim, ComparedBy, TrueOfAnyValues
from pqassay.values.claims.wording import named, plural
from pqassay_spec.parquet.column_order import FLOATING, TOTAL, Order, shown
from pqassay_spec.parquet.thrift import Type

if TYPE_CHECKING:
    from pqassay.values.decoding.chunk_values import ChunkValues

COLUMN_INDEX_NAME = "column index"
LOWER, UPPER = ("lower", "min_values"), ("upper", "max_values")
"""The word and the field for the bounds of each side."""


class BoundsOfIndex(BoundsOfPages):
    """The bounds of one side that a column index lists."""

    def compare(self, values: ChunkValues) -> Iterator[Violation]:
        """Yield a violation for each page with a value beyond its bound; bounds of pages that cannot be told apart are skipped."""
        require_pages(self.raws, values, COLUMN_INDEX_NAME)
        require_pages(self.chunk.column_index.null_pages, values, COLUMN_INDEX_NAME)
        return super().compare(values)


def _bounds(chunk: ColumnChunkUnderTest, side: tuple[str, str], order: Order) -> Iterator[Claim]:
    """Claims for the bounds of pages that are not marked as null pages; bounds that contradict each other are skipped."""
    (name, member), index = side, chunk.column_index
    stored: Sequence[bytes] = getattr(index, member)
    if len(stored) != len(index.null_pages):
        raise NotChecked("the lists of the column index have different lengths", "another rule")
    skipped = set() if chunk.order is None else set(chunk.page_bounds.swapped)
    raws = [
        None if null or page in skipped else raw
        for page, (raw, null) in enumerate(zip(stored, index.null_pages, strict=True))
    ]
    yield BoundsOfIndex(chunk, name, raws, order, (chunk.fields.column_index / member).__getitem__)


def _by_order_of_column(chunk: ColumnChunkUnderTest, side: tuple[str, str]) -> Iterator[Claim]:
    if chunk.order is None and all(chunk.column_index.null_pages):
        yield TrueOfAnyValues()  # a column without values, such as all-null, has nothing to compare
    else:
        yield from _bounds(chunk, side, require_order(chunk))


@value_rule("PIX-050", of=COLUMN_INDEX)
def no_value_is_less_than_its_lower_bound(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader that looks for the value skips the page."""
    return _by_order_of_column(chunk, LOWER)


@value_rule("PIX-051", of=COLUMN_INDEX)
def no_value_is_greater_than_its_upper_bound(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader that looks for the value skips the page."""
    return _by_order_of_column(chunk, UPPER)


@value_rule("PIX-060", of=COLUMN_INDEX)
def no_value_is_outside_bounds_without_an_order(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """DataFusion and Spark use the order of the type, and skip the page when they look for the value."""
    natural = order_of_readers(chunk)
    if natural is not None and chunk.order is None:
        for side in (LOWER, UPPER):
            yield from _bounds(chunk, side, natural)


@value_rule("PIX-037", of=COLUMN_INDEX)
def zeros_lie_within_the_bounds_of_pages(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader that distinguishes the two zeros skips the page when it looks for the other zero."""
    for name, member in (LOWER, UPPER):
        raws = getattr(chunk.column_index, member)
        applies, narrow = zero_bound(chunk, raws, above=name == "upper")
        if narrow is not None:
            field = (chunk.fields.column_index / member).__getitem__
            yield ZerosOfPages(BoundsOfIndex(chunk, name, raws, chunk.order, field), narrow)
        elif applies:
            yield TrueOfAnyValues()


@value_rule("PIX-052", of=COLUMN_INDEX)
def null_pages_hold_nothing_but_nulls(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader skips an all-null page whatever value it looks for."""
    null_pages = chunk.column_index.null_pages

    def compare(values: ChunkValues) -> Iterator[Violation]:
        require_pages(null_pages, values, COLUMN_INDEX_NAME)
        counts = values.counts.non_null.tolist()

        def violation(page: int) -> Violation:
            verb = "is" if counts[page] == 1 else "are"
            return Violation(
                f"page {page} of {named(chunk)} holds {plural(counts[page], 'value')} that "
                f"{verb} not null, but null_pages says {null_pages[page]}",
                chunk.fields.column_index / f"null_pages[{page}]",
                expected=str(not null_pages[page]),
                actual=str(null_pages[page]),
            )

        return first_places(
            [page for page, count in enumerate(counts) if null_pages[page] is bool(count)], violation
        )

    yield ComparedBy(compare)


def _counts(
    chunk: ColumnChunkUnderTest,
    name: str,
    given: Sequence[int],
    what: str,
    counted: Callable[[ChunkValues], Any],
    of_lists: bool | None = None,
) -> Claim:
    """The claim of a column index about counts of pages."""
    field = (chunk.fields.column_index / name).__getitem__
    return CountsOfPages(chunk, name, given, what, counted, field, of_lists, COLUMN_INDEX_NAME)


def _null_counts(chunk: ColumnChunkUnderTest, *, of_lists: bool) -> Iterator[Claim]:
    index = chunk.column_index
    if index.null_counts is not None:
        yield _counts(
            chunk, "null_counts", index.null_counts, "nulls", lambda values: values.counts.nulls, of_lists
        )


@value_rule("PIX-053", of=COLUMN_INDEX)
def nulls_of_pages_are_counted(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader that looks for nulls skips a page with a null count of 0."""
    return _null_counts(chunk, of_lists=False)


@value_rule("PIX-070", of=COLUMN_INDEX)
def empty_lists_count_as_nulls_of_pages(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Some writers count only the nulls among the values."""
    return _null_counts(chunk, of_lists=True) if chunk.leaf.max_repetition_level else iter(())


@value_rule("PIX-056", of=COLUMN_INDEX)
def nan_values_of_pages_are_counted(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader that looks for NaN skips a page with a NaN count of 0."""
    nans = chunk.column_index.nan_counts
    if nans is not None:
        yield _counts(chunk, "nan_counts", nans, "NaN values", lambda values: values.sums(values.is_nan))


@value_rule("PIX-057", of=COLUMN_INDEX)
def no_page_of_nothing_but_nan_is_indexed(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Such a page has no bounds. Any bounds given to it exclude its values or mislead."""
    index, order = chunk.column_index, chunk.order
    if order not in FLOATING or order in TOTAL:
        return

    def compare(values: ChunkValues) -> Iterator[Violation]:
        lows, highs = index.min_values, index.max_values
        for listed in (lows, highs):
            require_pages(listed, values, COLUMN_INDEX_NAME)
        texts = {
            page: (shown(order, lows[page]), shown(order, highs[page]))
            for page in bounds_of(values).pages_without_place(order).nonzero()[0].tolist()
        }
        return first_places(
            [page for page, bounds in texts.items() if bounds != ("-inf", "inf")],
            lambda page: Violation(
                f"every value of page {page} of {named(chunk)} is NaN, but there is a column index",
                chunk.fields.column_index / f"min_values[{page}]",
                expected="no column index, or infinities as bounds",
                actual=" to ".join(texts[page]),
            ),
        )

    yield ComparedBy(compare)


@value_rule("PIX-059", of=OFFSET_INDEX)
def bytes_of_pages_are_counted(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Readers size buffers by this number."""
    sizes = chunk.offset_index.unencoded_byte_array_data_bytes
    if sizes is None:
        return
    if chunk.leaf.element.type != Type.BYTE_ARRAY:
        raise NotChecked(f"column {chunk.column} holds no byte arrays", "another rule")
    name = "unencoded_byte_array_data_bytes"
    field = (chunk.fields.offset_index / name).__getitem__
    yield CountsOfPages(
        chunk, name, sizes, "bytes", lambda values: values.sums(values.lengths), field, index="offset index"
    )
