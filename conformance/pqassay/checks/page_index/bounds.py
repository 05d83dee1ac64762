"""Checks of the bounds of pages: alone, in their order, and against the bounds of the column chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import ge, gt, le, lt
from typing import Any

from pqassay.checks import rule
from pqassay.checks.page_index.lists import counts_add_up
from pqassay.checks.subjects import COLUMN_INDEX, COUNTING_NAN
from pqassay.checks.undefined import report_undefined
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.fields import Field
from pqassay.under_test.file import Broken, NotApplicable
from pqassay.under_test.pages.bounds import PageBounds
from pqassay.under_test.schemas.shown_releases import ShownReleases
from pqassay.under_test.violation import Violation, first_places
from pqassay_spec.parquet.column_order import TOTAL, Order, excludes_numbers, shown, type_order, width_of
from pqassay_spec.parquet.thrift import BoundaryOrder, Type
from pqassay_spec.parquet.undefined import undefined_members
from pqassay_spec.rules.catalogue import file_rules

NUMBERS = (Order.FLOAT, Order.HALF)
"""The type-defined orders of floating-point columns, which do not order NaN."""

COMPARED: dict[int, Callable[[Any, Any], bool]] = {BoundaryOrder.ASCENDING: le, BoundaryOrder.DESCENDING: ge}
"""The comparison of a page's bound with the next page's bound, for boundary orders that define one."""


def _entry(chunk: ColumnChunkUnderTest, name: str, page: int) -> Field:
    """The field of a page's entry in a list of the column index."""
    return (chunk.fields.column_index / name)[page]


@dataclass(frozen=True)
class _Side:
    """The lower or the upper bounds of the pages of a chunk: name, field, bytes and keys."""

    chunk: ColumnChunkUnderTest
    order: Order
    word: str
    name: str
    raws: list[bytes]
    keys: list[Any]

    def bound(self, page: int) -> str:
        """The bound of a page, formatted for messages."""
        return shown(self.order, self.raws[page])

    def is_no_value(self, page: int) -> Violation:
        """The violation of a bound that is not a value of the physical type."""
        kind, width = self.chunk.leaf.physical_type, width_of(self.chunk.leaf.element)
        said = f"the {self.word} bound of page {page} of {self.chunk} is not a value of type {kind}: {_bytes(self.raws[page])}"
        field = _entry(self.chunk, self.name, page)
        return Violation(said, field, f"{width} bytes" if width else "a value", _bytes(self.raws[page]))

    def is_nan(self, page: int) -> Violation:
        """The violation of a bound that is NaN."""
        said = f"the {self.word} bound of page {page} of {self.chunk} is NaN"
        return Violation(said, _entry(self.chunk, self.name, page), "a number, or no column index", "NaN")

    def excludes(self, page: int) -> bool:
        """Whether a bound is a NaN that excludes all numbers."""
        return excludes_numbers(self.order, self.raws[page], above=self.name == "max_values")

    def is_out_of_order(self, page: int, before: int, said: BoundaryOrder) -> Violation:
        """The violation of a bound that breaks the order after the bound of an earlier page."""
        word = "less" if said is BoundaryOrder.ASCENDING else "greater"
        message = (
            f"the bounds of {self.chunk} are marked {said.name}, but {self.name}[{page}], "
            f"{self.bound(page)}, is {word} than {self.name}[{before}], {self.bound(before)}"
        )
        field = _entry(self.chunk, self.name, page)
        return Violation(message, field, f"not {word} than {self.bound(before)}", self.bound(page))


def _sides(bounds: PageBounds) -> tuple[_Side, _Side]:
    """The lower and the upper bounds."""
    chunk, order, index = bounds.chunk, bounds.order, bounds.index
    return (
        _Side(chunk, order, "lower", "min_values", index.min_values, bounds.lows),
        _Side(chunk, order, "upper", "max_values", index.max_values, bounds.highs),
    )


@rule("PIX-022", of=COLUMN_INDEX)
def null_pages_have_empty_bounds(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """A page without values has no bounds."""
    index = chunk.even_column_index
    if True not in index.null_pages:
        return
    minima, maxima = index.min_values, index.max_values
    yield from first_places(
        [page for page, null in enumerate(index.null_pages) if null and (minima[page] or maxima[page])],
        lambda page: Violation(
            message=f"page {page} of {chunk} is marked all-null, but has bounds",
            field=_entry(chunk, "min_values" if minima[page] else "max_values", page),
            expected="0 bytes",
            actual=f"{len(minima[page] or maxima[page])} bytes",
        ),
    )


@rule("PIX-023", of=COLUMN_INDEX)
def bounds_are_values(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """A bound of a type of fixed width has that width."""
    bounds = chunk.page_bounds
    for side in _sides(bounds):
        yield from first_places(bounds.no_values(side.raws, side.keys), side.is_no_value)


def _bytes(raw: bytes) -> str:
    text = f"{len(raw)} byte{'s' * (len(raw) != 1)}"
    return f"{text} 0x{raw[:20].hex()}{'…' * (len(raw) > 20)}" if raw else text


@rule("PIX-024", of=COLUMN_INDEX)
def lower_bounds_are_not_greater(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Only pages with two valid bounds are compared."""
    bounds = chunk.page_bounds
    minima, maxima, order = bounds.index.min_values, bounds.index.max_values, bounds.order
    yield from first_places(
        bounds.swapped,
        lambda page: Violation(
            message=f"the lower bound of page {page} of {chunk} is {shown(order, minima[page])}, "
            f"the upper one {shown(order, maxima[page])}",
            field=_entry(chunk, "min_values", page),
            expected=f"at most {shown(order, maxima[page])}",
            actual=shown(order, minima[page]),
        ),
    )


@rule("PIX-087", of=COLUMN_INDEX)
def boundary_order_is_defined(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """A later version of the format may define other orders."""
    yield from report_undefined(
        (each, chunk.fields.column_index) for each in undefined_members(chunk.column_index)
    )


@rule("PIX-025", of=COLUMN_INDEX)
def boundary_order_is_true(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """One page is always ordered. Pages with wrong bounds are skipped."""
    boundary_order = chunk.column_index.boundary_order
    if boundary_order == BoundaryOrder.UNORDERED:
        return
    if boundary_order not in COMPARED:
        raise Broken("PIX-087")
    bounds = chunk.page_bounds
    pages, *lists = bounds.comparable
    compare = COMPARED[boundary_order]
    for side, found in zip(_sides(bounds), lists, strict=True):
        wrong = [place for place in range(1, len(found)) if not compare(found[place - 1], found[place])]
        if wrong:
            yield from first_places(wrong, partial(_out_of_order, side, BoundaryOrder(boundary_order), pages))
            return  # the other list is wrong for the same reason


def _out_of_order(side: _Side, said: BoundaryOrder, pages: Sequence[int], place: int) -> Violation:
    return side.is_out_of_order(pages[place], pages[place - 1], said)


@rule("PIX-030", of=COLUMN_INDEX, only=lambda chunk: chunk.order in NUMBERS)
def bounds_are_numbers(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """A reader that compares with NaN finds nothing."""
    bounds = chunk.page_bounds
    for side in _sides(bounds):
        pages = bounds.not_numbers(side.raws, side.keys)
        yield from first_places(
            [page for page in pages if _knows_of_nan(chunk) or not side.excludes(page)], side.is_nan
        )


@rule("PIX-086", of=COLUMN_INDEX, only=lambda chunk: chunk.order in NUMBERS)
def no_nan_excludes_numbers(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """A reader that treats NaN as the greatest value skips the page.

    PIX-030 judges the writer's obligation.
    """
    bounds = chunk.page_bounds
    if bounds.sound:
        return
    if _knows_of_nan(chunk):
        raise NotApplicable
    for side in _sides(bounds):
        pages = bounds.not_numbers(side.raws, side.keys)
        yield from first_places([page for page in pages if side.excludes(page)], side.is_nan)


def _knows_of_nan(chunk: ColumnChunkUnderTest) -> bool:
    """Whether the file shows that its writer knew the rule that forbids NaN in an index."""
    return chunk.file.part(ShownReleases).shows(file_rules()["PIX-030"].obliged_since)


@rule(
    "PIX-031",
    of=COLUMN_INDEX,
    only=lambda chunk: chunk.leaf.element.type == Type.INT96,
)
def int96_has_its_order(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """The type itself defines no order."""
    if chunk.order is not Order.TIMESTAMP:
        said = f"column {chunk.column} is of type INT96 and has a column index, without the INT96 timestamp order"
        field = chunk.fields.column_index
        yield Violation(
            said, field, "no column index, or INT96_TIMESTAMP_ORDER in column_orders", "a column index"
        )


@rule(
    "PIX-032",
    of=COLUMN_INDEX,
    only=lambda chunk: chunk.column_index.nan_counts is not None,
)
def nan_counts_add_up(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Every NaN of the chunk is in a page. PIX-073 judges the counts of types without NaN."""
    counts = chunk.even_column_index.nan_counts
    if counts is None or type_order(chunk.leaf.element) not in NUMBERS:
        raise NotApplicable
    said = chunk.statistics.nan_count if chunk.statistics is not None else None
    yield from counts_add_up(chunk, "nan_counts", counts, said)


@rule(
    "PIX-073",
    of=COLUMN_INDEX,
    only=lambda chunk: chunk.column_index.nan_counts is not None,
)
def nan_is_counted_in_floats(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Only floating-point values can be NaN."""
    counts = chunk.column_index.nan_counts
    if counts is not None and type_order(chunk.leaf.element) not in NUMBERS:
        message = f"column {chunk.column} has no floating point numbers, but its column index counts NaN"
        yield Violation(message, chunk.fields.column_index / "nan_counts", "none", f"{len(counts)} entries")


@rule("PIX-033", of=COLUMN_INDEX, only=lambda chunk: chunk.order in TOTAL)
def total_order_has_nan_counts(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """If the order includes NaN, a reader must know whether there are any."""
    if chunk.column_index.nan_counts is None:
        said = f"the column index of {chunk} has no nan_counts"
        yield Violation(said, chunk.fields.column_index, "nan_counts", "none")


@rule("PIX-080", of=COUNTING_NAN)
def nan_is_counted(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """A writer that knows the counts stores them under either order; PIX-033 judges missing counts under the total order."""
    if chunk.chunk.column_index_offset is None or chunk.order not in NUMBERS:
        raise NotApplicable
    if chunk.column_index.nan_counts is None:
        said = f"the column index of {chunk} has no nan_counts, although other fields of the footer are as new as these counts"
        yield Violation(said, chunk.fields.column_index, "nan_counts", "none")


@rule("PIX-034", of=COLUMN_INDEX)
def pages_meet_the_bounds_of_the_chunk(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Both may be shortened or wider than the values, so only bounds that do not overlap at all are wrong."""
    bounds = chunk.page_bounds
    least, greatest = bounds.of_chunk
    if least is None and greatest is None:
        raise NotApplicable
    pages = bounds.outside_of_chunk
    if not pages:
        return
    index, order, statistics = bounds.index, bounds.order, chunk.statistics
    low = shown(order, statistics.min_value or b"") if statistics and least is not None else "…"
    high = shown(order, statistics.max_value or b"") if statistics and greatest is not None else "…"
    yield from first_places(
        pages,
        lambda page: Violation(
            message=f"the bounds of page {page} of {chunk} are {shown(order, index.min_values[page])} and "
            f"{shown(order, index.max_values[page])}, those of the chunk {low} and {high}",
            field=_entry(chunk, "min_values", page),
            expected=f"bounds that meet [{low}, {high}]",
            actual=f"[{shown(order, index.min_values[page])}, {shown(order, index.max_values[page])}]",
        ),
    )


def _has_exact_bound(chunk: ColumnChunkUnderTest) -> bool:
    found = chunk.statistics
    return found is not None and bool(found.is_min_value_exact or found.is_max_value_exact)


@rule("PIX-035", of=COLUMN_INDEX, only=_has_exact_bound)
def pages_reach_exact_bounds(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """A value that occurs is in some page, and the bounds of that page include it."""
    statistics = chunk.statistics
    if statistics is None:
        return
    bounds = chunk.page_bounds
    least, greatest = bounds.of_chunk
    if not bounds.sound:
        raise NotApplicable
    pages, lows, highs = bounds.numbers
    if not pages:
        raise NotApplicable
    if bounds.outside_of_chunk:
        raise Broken("PIX-034")
    bounds.require_true_null_pages()
    order = bounds.order
    lower, upper = _sides(bounds)
    for side, exact, raw, keys, nearest, stops_short in (
        (lower, statistics.is_min_value_exact, statistics.min_value, lows, min(lows), gt),
        (upper, statistics.is_max_value_exact, statistics.max_value, highs, max(highs), lt),
    ):
        bound = least if side is lower else greatest
        if not exact or bound is None or not stops_short(nearest, bound):
            continue
        page = pages[keys.index(nearest)]
        occurring = shown(order, raw or b"")
        yield Violation(
            message=f"{occurring} occurs in {chunk}, but the "
            f"{'least' if side is lower else 'greatest'} {side.word} bound of a page "
            f"is {side.bound(page)}",
            field=_entry(chunk, side.name, page),
            expected=f"at {'most' if side is lower else 'least'} {occurring}",
            actual=side.bound(page),
        )
