"""Claims of the page index about the pages of a column chunk."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pqassay.under_test.fields import Field
from pqassay.under_test.file import Broken, NotChecked
from pqassay.under_test.violation import Violation
from pqassay.values.claims import page_headers
from pqassay.values.claims.claim import Found, ZeroBound
from pqassay.values.claims.page_headers import PageHeaderClaims, at_pages
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay_spec.parquet.column_order import FLOATING, TOTAL, Order, shown
from pqassay_spec.parquet.thrift import ColumnIndex, Type

PAGE_BELOW, PAGE_ABOVE, NULL_PAGES, PAGE_NULLS = "PIX-050", "PIX-051", "PIX-052", "PIX-053"
PAGE_NANS, ALL_NAN, PAGE_BYTES, PAGE_ZEROS = "PIX-056", "PIX-057", "PIX-059", "PIX-037"
BY_TYPE, PAGE_NULLS_OF_LISTS = "PIX-060", "PIX-070"
RULES = (
    *page_headers.RULES,
    PAGE_BELOW,
    PAGE_ABOVE,
    NULL_PAGES,
    PAGE_NULLS,
    PAGE_NANS,
    ALL_NAN,
    PAGE_BYTES,
    PAGE_ZEROS,
    BY_TYPE,
    PAGE_NULLS_OF_LISTS,
)


class PageClaims(PageHeaderClaims):
    """The claims about the pages of a chunk."""

    def claim_column_index(self) -> None:
        """Gather what the column index says."""
        with self._reading(PAGE_BELOW, PAGE_ABOVE, NULL_PAGES, PAGE_NULLS, PAGE_NANS, ALL_NAN, PAGE_ZEROS):
            index = self.chunk.column_index
            self._claim(partial(self._judge_null_pages, index), NULL_PAGES)
            if index.null_counts is not None:
                of_lists = (PAGE_NULLS_OF_LISTS,) if self.chunk.leaf.max_repetition_level else ()
                self._claim(partial(self._judge_page_nulls, index.null_counts), PAGE_NULLS, *of_lists)
            if index.nan_counts is not None:
                self._claim(partial(self._judge_page_nans, index.nan_counts), PAGE_NANS)
            sides = ((PAGE_BELOW, "min_values", False), (PAGE_ABOVE, "max_values", True))
            order = self.order
            if order is None:
                if all(index.null_pages):
                    # Without a value, as in a column of nothing but nulls, there is nothing to compare.
                    self._applies(PAGE_BELOW)
                    self._applies(PAGE_ABOVE)
                else:
                    self._hinder((PAGE_BELOW, PAGE_ABOVE), self._no_order())
                if self.order_of_readers is not None:
                    for _, name, above in sides:
                        self._claim_index_bounds(BY_TYPE, index, name, self.order_of_readers, above=above)
                return
            for rule, name, above in sides:
                self._claim_index_bounds(rule, index, name, order, above=above)
                judge = partial(self._judge_page_zeros, index, name)
                self._claim_zeros(PAGE_ZEROS, getattr(index, name), judge, above=above)
            if order in FLOATING and order not in TOTAL:
                self._claim(partial(self._judge_all_nan, index, order), ALL_NAN)

    def _claim_index_bounds(
        self, rule: str, index: ColumnIndex, name: str, order: Order, *, above: bool
    ) -> None:
        self._bytes_of(getattr(index, name))
        self._claim(partial(self._judge_index_bounds, rule, index, name, above, order), rule)

    def _require_pages(self, listed: Sequence[object], decoded: ChunkValues, where: str, rule: str) -> None:
        pages = len(decoded.counts.values)
        if len(listed) != pages:
            raise NotChecked(
                f"{where} and column chunk differ in their number of pages: {rule} or PIX-040 is broken",
                "another rule",
            )

    def _judge_index_bounds(
        self, rule: str, index: ColumnIndex, name: str, above: bool, order: Order, decoded: ChunkValues
    ) -> Found:
        given: list[bytes] = getattr(index, name)
        for listed in (given, index.null_pages):
            self._require_pages(listed, decoded, "column index", "PIX-021")
        raws = [None if null else raw for raw, null in zip(given, index.null_pages, strict=True)]
        # Bounds that contradict each other are the matter of PIX-024, which needs no values.
        for page in self.chunk.page_bounds.swapped if self.order is not None else ():
            raws[page] = None
        places = [(rule, (self.chunk.fields.column_index / name).__getitem__)]
        yield from self._judge_page_bounds(places, raws, above, order, decoded)

    def _judge_page_zeros(
        self, index: ColumnIndex, name: str, bound: ZeroBound, decoded: ChunkValues
    ) -> Found:
        given: list[bytes] = getattr(index, name)
        self._require_pages(given, decoded, "column index", "PIX-021")
        left_out = decoded.sums(bound.left_out(decoded)) > 0
        wrong = np.flatnonzero(left_out & np.array([raw == bound.raw for raw in given], np.bool_))
        side = "upper" if name == "max_values" else "lower"
        yield from at_pages(
            PAGE_ZEROS,
            wrong.tolist(),
            lambda page: Violation(
                f"page {page} of {self._of} holds {bound.other}, its {side} bound is {bound}",
                self.chunk.fields.column_index / f"{name}[{page}]",
                expected=bound.other,
                actual=str(bound),
            ),
        )

    def _judge_null_pages(self, index: ColumnIndex, decoded: ChunkValues) -> Found:
        self._require_pages(index.null_pages, decoded, "column index", "PIX-021")
        non_null = decoded.counts.non_null
        given = np.array(index.null_pages, np.bool_)
        wrong = np.flatnonzero(given != (non_null == 0))

        def violation(page: int) -> Violation:
            count, said = int(non_null[page]), bool(given[page])
            return Violation(
                f"page {page} of {self._of} holds {count} value{'' if count == 1 else 's'} that "
                f"{'is' if count == 1 else 'are'} not null, null_pages says {said}",
                self.chunk.fields.column_index / f"null_pages[{page}]",
                expected=str(not said),
                actual=str(said),
            )

        yield from at_pages(NULL_PAGES, wrong.tolist(), violation)

    def _judge_page_nulls(self, given: Sequence[int], decoded: ChunkValues) -> Found:
        self._require_pages(given, decoded, "column index", "PIX-021")
        counts, index = decoded.counts, self.chunk.fields.column_index
        without_lists = self._without_lists(given, counts)
        for rule, pages in ((PAGE_NULLS, ~without_lists), (PAGE_NULLS_OF_LISTS, without_lists)):
            yield from self._page_counts(rule, given, counts.nulls, index, "null_counts", "nulls", pages)

    def _judge_page_nans(self, given: Sequence[int], decoded: ChunkValues) -> Found:
        self._require_pages(given, decoded, "column index", "PIX-021")
        yield from self._page_counts(
            PAGE_NANS,
            given,
            decoded.sums(decoded.is_nan),
            self.chunk.fields.column_index,
            "nan_counts",
            "NaN values",
        )

    def _page_counts(
        self,
        rule: str,
        listed: Sequence[int],
        counted: NDArray[np.int64],
        index: Field,
        name: str,
        what: str,
        pages: NDArray[np.bool_] | bool = True,
    ) -> Found:
        wrong = np.flatnonzero((np.array(listed, np.int64) != counted) & pages)
        yield from at_pages(
            rule,
            wrong.tolist(),
            lambda page: Violation(
                f"page {page} of {self._of} holds {counted[page]} {what}, {name} says {listed[page]}",
                (index / name)[page],
                expected=str(counted[page]),
                actual=str(listed[page]),
            ),
        )

    def _judge_all_nan(self, index: ColumnIndex, order: Order, decoded: ChunkValues) -> Found:
        for listed in (index.min_values, index.max_values):
            self._require_pages(listed, decoded, "column index", "PIX-021")
        pages = [
            page
            for page in np.flatnonzero(self._judged.pages_without_place(order)).tolist()
            if not _are_infinite(order, index.min_values[page], index.max_values[page])
        ]
        yield from at_pages(
            ALL_NAN,
            pages,
            lambda page: Violation(
                f"every value of page {page} of {self._of} is NaN, and there is a column index",
                self.chunk.fields.column_index / f"min_values[{page}]",
                expected="no column index, or infinities as bounds",
                actual=f"{shown(order, index.min_values[page])} to {shown(order, index.max_values[page])}",
            ),
        )

    # ----------------------------------------------------------------------------------------------- offset index

    def claim_offset_index(self) -> None:
        """Gather what the offset index says."""
        with self._reading(PAGE_BYTES):
            listed = self.chunk.offset_index.unencoded_byte_array_data_bytes
            if listed is not None:
                if self.chunk.leaf.element.type != Type.BYTE_ARRAY:
                    raise Broken("PIX-018")
                self._claim(partial(self._judge_page_bytes, listed), PAGE_BYTES)

    def _judge_page_bytes(self, given: Sequence[int], decoded: ChunkValues) -> Found:
        self._require_pages(given, decoded, "offset index", "PIX-012")
        yield from self._page_counts(
            PAGE_BYTES,
            given,
            decoded.sums(decoded.lengths),
            self.chunk.fields.offset_index,
            "unencoded_byte_array_data_bytes",
            "bytes",
        )


def _are_infinite(order: Order, low: bytes, high: bytes) -> bool:
    return shown(order, low) == "-inf" and shown(order, high) == "inf"
