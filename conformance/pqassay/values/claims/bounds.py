"""Comparison of bounds, of a column chunk or of its pages, with its values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pqassay.report.model import FIRST_POSITIONS
from pqassay.under_test.file import Broken
from pqassay.values.decoding.chunk_values import ChunkValues, plain
from pqassay.values.decoding.extremes import Extremes, beyond, extremes_of
from pqassay.values.decoding.keys import bound_keys, chosen, decimal_width, equal, less, with_signs_turned
from pqassay_spec.parquet.column_order import Order, is_nan, key_by_signed_bytes


class ValueBeyond(NamedTuple):
    """A value beyond a bound.

    Attributes:
        place: Its position among the values of the chunk.
        page: Its data page; 0 in a chunk whose pages cannot be told apart.
        total: The number of values beyond the bound of the chunk; or the number of pages with such a value that this one represents.
    """

    place: int
    page: int
    total: int


@dataclass
class _Comparable:
    """The values of a chunk in one order, with their derived extremes."""

    order: Order
    values: Any
    width: int
    extremes: Extremes


class BoundsAudit:
    """The values of one chunk, prepared for comparison with bounds.

    Args:
        decoded: The values.
        starts: The start of each page's values, followed by the end of the last page's; a single page if only chunk bounds are compared.
    """

    def __init__(self, decoded: ChunkValues, starts: NDArray[np.int64]) -> None:
        self.found = decoded
        self._starts = starts
        self._comparable: dict[tuple[Order, bool, int], _Comparable] = {}

    @cached_property
    def _narrowest(self) -> int:
        """The size in bytes of the widest decimal among the values."""
        return decimal_width(self.found.values)

    def _in(
        self, order: Order, raws: Sequence[bytes | None] = (), *, signed_bytes: bool = False
    ) -> _Comparable:
        """The values in an order, with decimals extended to the widest of values and bounds."""
        width = 0
        if order is Order.DECIMAL:
            width = max(self._narrowest, *(len(raw) for raw in raws if raw), 1)
        key = order, signed_bytes, width
        if key not in self._comparable:
            values: Any = self.found.values
            if signed_bytes:
                values = with_signs_turned(values)
            extremes = extremes_of(order, values, self._starts, width)
            self._comparable[key] = _Comparable(order, values, width, extremes)
        return self._comparable[key]

    def of_chunk(
        self, order: Order, raw: bytes, *, above: bool, signed_bytes: bool = False
    ) -> ValueBeyond | None:
        """The first value beyond a bound of the chunk; ``None`` if there is none.

        Raises:
            NotChecked: The bound or the values are not values of the type.
        """
        keys = self._in(order, [raw], signed_bytes=signed_bytes)
        extremes = keys.extremes.of_chunk
        bound = self._bound(keys, raw, signed_bytes=signed_bytes)
        if bound is None or not len(extremes.pages):
            return None
        mask = less(bound, extremes.greatest) if above else less(extremes.least, bound)
        if not mask.any():
            return None
        outside = beyond(order, keys.values, bound, keys.width, above=above)
        place = int(outside.argmax())
        page = int(np.searchsorted(self._starts, place, "right")) - 1
        return ValueBeyond(place, page, int(outside.sum()))

    def mask_of_chunk(self, order: Order, raw: bytes, *, above: bool) -> NDArray[np.bool_]:
        """A bool mask of the values beyond a bound of the chunk. Raises as `of_chunk` does."""
        given = self._in(order, [raw])
        bound = self._bound(given, raw, signed_bytes=False)
        if bound is None:
            return np.zeros(self.found.count, np.bool_)
        return beyond(order, given.values, bound, given.width, above=above)

    def is_met(self, order: Order, raw: bytes, *, above: bool) -> bool | None:
        """Whether a bound of the chunk equals its extreme; ``None`` if it bounds nothing. Raises as `of_chunk` does."""
        given = self._in(order)
        extremes = given.extremes.of_chunk
        bound = self._bound(given, raw, signed_bytes=False)
        if bound is None:
            return None
        return bool(equal(extremes.greatest if above else extremes.least, bound).any())

    def is_usable(self, order: Order, raw: bytes) -> bool:
        """Whether a bound of the chunk is a value of the type, and bounds anything. Raises as `of_chunk` does."""
        return bool(bound_keys(order, [raw], self.found.values.type, self._in(order, [raw]).width)[1][0])

    def _bound(self, given: _Comparable, raw: bytes, *, signed_bytes: bool) -> Any:
        if signed_bytes:
            raw = key_by_signed_bytes(raw)
        keys, usable = bound_keys(given.order, [raw], self.found.values.type, given.width)
        if usable[0]:
            return keys[0]
        if is_nan(given.order, raw):
            return None
        raise Broken("STA-005")

    def of_pages(
        self, order: Order, raws: Sequence[bytes | None], *, above: bool, signed_bytes: bool = False
    ) -> Iterator[ValueBeyond]:
        """Yield the first value beyond its bound for each page; after the first pages, the rest is only counted.

        A bound that is not a value of the type bounds nothing: other rules judge it.

        Raises:
            FormatError, NotChecked: The values of pages cannot be told apart, or the number of pages differs.
        """
        starts = self.found.page_starts
        compared = self._in(order, raws, signed_bytes=signed_bytes)
        extremes = compared.extremes
        keys, bounds, usable = self._bounds_of_pages(compared, raws, signed_bytes=signed_bytes)
        mask = less(bounds, extremes.greatest) if above else less(extremes.least, bounds)
        pages: NDArray[Any] = extremes.pages[mask & usable]
        for number, page in enumerate(pages[:FIRST_POSITIONS].tolist()):
            first, behind = int(starts[page]), int(starts[page + 1])
            part = plain(compared.values.slice(first, behind - first))
            outside = beyond(order, part, keys[page], compared.width, above=above)
            last = number == FIRST_POSITIONS - 1
            yield ValueBeyond(first + int(outside.argmax()), page, len(pages) - number if last else 1)

    def pages_within(self, order: Order, raws: Sequence[bytes | None], *, above: bool) -> NDArray[np.int64]:
        """The pages whose values are all inside the bound but do not reach it. Raises as `of_pages` does."""
        _ = self.found.page_starts
        given = self._in(order, raws)
        extremes = given.extremes
        _, bounds, usable = self._bounds_of_pages(given, raws)
        mask = less(extremes.greatest, bounds) if above else less(bounds, extremes.least)
        pages: NDArray[np.int64] = extremes.pages[mask & usable]
        return pages

    def _bounds_of_pages(
        self, given: _Comparable, raws: Sequence[bytes | None], *, signed_bytes: bool = False
    ) -> tuple[Any, Any, NDArray[np.bool_]]:
        """The keys of the bounds of all pages; the keys for pages with extremes; and which of the latter bound anything."""
        if signed_bytes:
            raws = [None if raw is None else key_by_signed_bytes(raw) for raw in raws]
        keys, usable = bound_keys(given.order, raws, self.found.values.type, given.width)
        pages = given.extremes.pages
        return keys, chosen(keys, pages), usable[pages]

    def pages_without_place(self, order: Order) -> NDArray[np.bool_]:
        """A bool mask of the pages whose values are all outside the order, such as NaN. Raises as `of_pages` does."""
        found = np.diff(self.found.page_starts) > 0
        found[self._in(order).extremes.pages] = False
        return found
