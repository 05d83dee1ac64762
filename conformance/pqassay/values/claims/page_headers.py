"""Claims of page headers about their pages, and what they share with those of the page index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pqassay.under_test.fields import Field
from pqassay.under_test.file import NotChecked
from pqassay.under_test.pages.walk import HEADERS
from pqassay.under_test.violation import Violation, first_places
from pqassay.values.claims.bounds import Beyond
from pqassay.values.claims.claim import ChunkClaims, Found
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay.values.decoding.levels import PageCounts
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.column_order import FLOATING, SIGNED_ORDERS, Order, shown, type_order
from pqassay_spec.parquet.thrift import Statistics

TRUE, DEPRECATED, DISTINCT, BY_TYPE, NANS, EXACT = (
    "STA-050",
    "STA-052",
    "STA-054",
    "STA-055",
    "STA-056",
    "STA-057",
)
RULES = (TRUE, DEPRECATED, DISTINCT, BY_TYPE, NANS, EXACT)

NULLS_OF_LISTS = "STA-071"
"""The rule about null counts that leave out what is around the values of a list; that of the chunk is `StatisticsClaims`'s."""

BoundField = Callable[[int], Field]
"""The field of the bound of a data page, by the number of the page."""


class PageHeaderClaims(ChunkClaims):
    """The claims of page headers about their pages."""

    def claim_page_headers(self) -> None:
        """Gather what the statistics in page headers say."""
        try:
            headers = [page.data_header for page in self.chunk.data_pages]
        except (FormatError, NotChecked):
            return  # pages that cannot be walked have no statistics that anybody could read
        if not any(header.statistics is not None for header in headers):
            return
        stored = [header.statistics or Statistics() for header in headers]
        self._claim_header_counts(stored)
        for name, above in (("min", False), ("max", True)):
            self._claim_header_bounds(stored, name, above=above)

    def _claim_header_counts(self, stored: Sequence[Statistics]) -> None:
        nulls = [statistics.null_count for statistics in stored]
        if _has_any(nulls):
            of_lists = (NULLS_OF_LISTS,) if self.chunk.leaf.max_repetition_level else ()
            self._claim(partial(self._judge_header_nulls, nulls), TRUE, *of_lists)
        distinct = [statistics.distinct_count for statistics in stored]
        if _has_any(distinct):
            self._claim(partial(self._judge_header_distinct, distinct), DISTINCT)
        nans = [statistics.nan_count for statistics in stored]
        if _has_any(nans):
            self._claim(partial(self._judge_header_nans, nans), NANS)

    def _claim_header_bounds(self, stored: Sequence[Statistics], old_name: str, *, above: bool) -> None:
        """Gather the bounds of one side, the deprecated ones as well."""
        name = f"{old_name}_value"
        raws = self._bytes_of([getattr(statistics, name) for statistics in stored])
        old = self._bytes_of([getattr(statistics, old_name) for statistics in stored])
        rule, order = (TRUE, self.order) if self.order is not None else (BY_TYPE, self.order_of_readers)
        places: list[tuple[str, BoundField]] = [(rule, partial(self._in_page_header, name))]
        old_field = partial(self._in_page_header, old_name)
        if _has_any(old):
            if old == raws and order in SIGNED_ORDERS:
                # The same bytes in the same order are compared once for both.
                places.append((DEPRECATED, old_field))
            else:
                self._claim(partial(self._judge_deprecated_pages, old, old_field, above), DEPRECATED)
        if not _has_any(raws):
            return
        if self.order is None:
            self._hinder((TRUE,), self._no_order())
        if order is None:
            return
        judge = partial(self._judge_page_bounds, places, raws, above, order)
        self._claim(judge, *(rule for rule, _ in places))
        flags = [getattr(statistics, f"is_{name}_exact") is True for statistics in stored]
        if self.order is not None and any(flags):
            self._claim(partial(self._judge_exact, flags, raws, name, above, self.order), EXACT)

    def _in_page_header(self, name: str, number: int) -> Field:
        """A field of the statistics in the header of a data page."""
        page = self.chunk.data_pages[number]
        return self.chunk.fields.page(page) / HEADERS[page.header.type] / "statistics" / name

    def _judge_page_bounds(
        self,
        places: Sequence[tuple[str, BoundField]],
        raws: Sequence[bytes | None],
        above: bool,
        order: Order,
        decoded: ChunkValues,
    ) -> Found:
        """Compare bounds with the values of their pages, for each of the rules that speak of them."""
        for beyond in self._judged.of_pages(order, raws, above=above):
            side = "upper" if above else "lower"
            for rule, field in places:
                yield rule, self._beyond_page_bound(decoded, beyond, raws, side, order, field)

    def _judge_deprecated_pages(
        self, raws: Sequence[bytes | None], field: BoundField, above: bool, decoded: ChunkValues
    ) -> Found:
        orders = self._deprecated_orders()
        for order, signed_bytes in orders:
            wrong = self._judged.of_pages(order, raws, above=above, signed_bytes=signed_bytes)
            if next(wrong, None) is None:
                return  # in one of the orders that may be meant, they are right
        order, signed_bytes = orders[0]
        natural = self.order or type_order(self.chunk.leaf.element)
        for beyond in self._judged.of_pages(order, raws, above=above, signed_bytes=signed_bytes):
            side = f"deprecated {'upper' if above else 'lower'}"
            yield DEPRECATED, self._beyond_page_bound(decoded, beyond, raws, side, natural, field)

    def _beyond_page_bound(
        self,
        decoded: ChunkValues,
        beyond: Beyond,
        raws: Sequence[bytes | None],
        side: str,
        order: Order | None,
        field: BoundField,
    ) -> Violation:
        """A value outside a bound of its page, ``side`` being what the bound is called."""
        value, bound = shown(order, decoded.raw_of(beyond.place)), shown(order, raws[beyond.page] or b"")
        return Violation(
            f"{self._where(decoded, beyond.place)} holds {value}, the page's {side} bound is {bound}",
            field(beyond.page),
            expected=f"{'at least' if side.endswith('upper') else 'at most'} {value}",
            actual=bound,
            more=beyond.total - 1,
        )

    def _judge_exact(
        self,
        flags: Sequence[bool],
        raws: Sequence[bytes | None],
        name: str,
        above: bool,
        order: Order,
        _: ChunkValues,
    ) -> Found:
        called = [raw if flag else None for raw, flag in zip(raws, flags, strict=True)]
        wide = self._judged.pages_within(order, called, above=above)

        def violation(page: int) -> Violation:
            text = shown(order, called[page] or b"")
            return Violation(
                f"{name} of page {page} of {self._of} is called exact, and no value is {text}",
                self._in_page_header(f"is_{name}_exact", page),
                expected=f"not exact, or a value {text}",
                actual="exact",
            )

        yield from at_pages(EXACT, wide.tolist(), violation)

    # ------------------------------------------------------------------------------------------------------ counts

    def _judge_header_nulls(self, given: Sequence[int | None], decoded: ChunkValues) -> Found:
        counts = decoded.counts
        without_lists = self._without_lists(
            [-1 if count is None else count for count in given], counts
        ).tolist()
        for rule, of_rule in ((TRUE, False), (NULLS_OF_LISTS, True)):
            judged = [
                count if of_lists is of_rule else None
                for count, of_lists in zip(given, without_lists, strict=True)
            ]
            yield from self._header_counts(rule, judged, counts.nulls, "null_count", "nulls")

    def _without_lists(self, given: Sequence[int], counts: PageCounts) -> NDArray[np.bool_]:
        """Whether a page's count leaves out nulls and empty lists around its values, and nothing else; see `null_counts`."""
        leaf = self.chunk.leaf
        if not leaf.max_repetition_level:
            return np.zeros(len(given), np.bool_)
        levels = counts.definition_histogram[:, ::-1].cumsum(axis=1)[:, ::-1]
        allowed = (levels - levels[:, -1:])[:, : leaf.max_definition_level - leaf.own_nulls + 1]
        is_allowed: NDArray[np.bool_] = (allowed == np.array(given, np.int64)[:, None]).any(axis=1)
        return is_allowed

    def _judge_header_nans(self, given: Sequence[int | None], decoded: ChunkValues) -> Found:
        nans = decoded.sums(decoded.is_nan)
        return self._header_counts(NANS, given, nans, "nan_count", "NaN values")

    def _header_counts(
        self, rule: str, given: Sequence[int | None], counted: NDArray[np.int64], name: str, what: str
    ) -> Found:
        for number, (said, count) in enumerate(zip(given, counted.tolist(), strict=True)):
            if said not in (None, count):
                yield (
                    rule,
                    Violation(
                        f"a page of {self._of} holds {count} {what}, its header says {said}",
                        self._in_page_header(name, number),
                        expected=str(count),
                        actual=str(said),
                    ),
                )

    def _judge_header_distinct(self, given: Sequence[int | None], decoded: ChunkValues) -> Found:
        """Zeros of both signs, and NaN of all kinds, may count as one value or as several, and null as one more."""
        least = most = decoded.distinct_in_pages()
        if type_order(self.chunk.leaf.element) in FLOATING:
            least = decoded.distinct_numbers_in_pages()
        most = most + (decoded.counts.nulls > 0)
        for number, said in enumerate(given):
            low, high = int(least[number]), int(most[number])
            if said is not None and not low <= said <= high:
                yield (
                    DISTINCT,
                    Violation(
                        f"page {number} of {self._of} holds {low} distinct values, distinct_count is {said}",
                        self._in_page_header("distinct_count", number),
                        expected=str(low) if low == high else f"between {low} and {high}",
                        actual=str(said),
                    ),
                )


def _has_any(listed: Sequence[object]) -> bool:
    """Whether a page says something."""
    return any(given is not None for given in listed)


def at_pages(rule: str, wrong: Sequence[int], violation: Callable[[int], Violation]) -> Found:
    """A rule that is broken at pages."""
    return ((rule, found) for found in first_places(wrong, violation))
