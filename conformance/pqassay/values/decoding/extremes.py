"""The least and the greatest value of each page of a column chunk.

All pages of numbers are processed at once, by ``reduceat`` over their starts. Arrow computes the extremes of bytes, page by page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay.values.decoding.keys import Keys, chosen, is_nan_key, keys_of, less
from pqassay_spec.parquet.column_order import FLOATING, TOTAL, Order


@dataclass(frozen=True)
class Extremes:
    """The least and greatest values of pages.

    Attributes:
        pages: The pages with a value that the order contains, ascending, int64.
        least, greatest: The keys of their extremes, one for each of these pages.
        is_nan: A bool mask of the pages with only NaN, whose extremes are NaN.
    """

    pages: NDArray[np.int64]
    least: Keys
    greatest: Keys
    is_nan: NDArray[np.bool_]

    @property
    def of_chunk(self) -> Extremes:
        """The extremes that count for the whole chunk: NaN only if all values are NaN."""
        if not self.is_nan.any() or self.is_nan.all():
            return self
        kept = np.flatnonzero(~self.is_nan)
        return Extremes(
            self.pages[kept], chosen(self.least, kept), chosen(self.greatest, kept), self.is_nan[kept]
        )


def extremes_of(order: Order, values: Any, starts: NDArray[np.int64], width: int) -> Extremes:
    """The extremes of each page.

    Args:
        order: The order of the values.
        values: The values of the chunk without nulls: an array, a chunked one of byte arrays, or a dictionary array.
        starts: The start of each page's values, followed by the end of the last page's.
        width: The size in bytes to which decimals are extended.

    Raises:
        NotChecked: See `pqassay.values.decoding.keys.keys_of`.
    """
    pages = np.flatnonzero(np.diff(starts))
    begins = starts[pages]
    if pa.types.is_dictionary(values.type):
        least, greatest = _by_rank(order, values, begins, width)
    else:
        keys = keys_of(order, values, width)
        if not len(pages):
            least, greatest = keys[:0], keys[:0]
        elif isinstance(keys, np.ndarray):
            least, greatest = _of_numbers(order, keys, begins)
        else:
            least, greatest = _one_by_one(keys, begins, int(starts[-1]))
    is_nan = is_nan_key(order, least)
    if order in FLOATING and order not in TOTAL and is_nan.any():
        kept = np.flatnonzero(~is_nan)  # this order does not contain NaN
        return Extremes(pages[kept], chosen(least, kept), chosen(greatest, kept), is_nan[kept])
    return Extremes(pages, least, greatest, is_nan)


def _of_numbers(order: Order, keys: NDArray[Any], begins: NDArray[np.int64]) -> tuple[Keys, Keys]:
    least, greatest = np.minimum.reduceat(keys, begins), np.maximum.reduceat(keys, begins)
    if order not in FLOATING:
        return least, greatest
    # For floating-point numbers, a NaN spreads to the extremes of its page; in the total order it is beyond all others.
    nan = is_nan_key(order, keys) if order in TOTAL or np.isnan(least).any() else None
    if nan is None or not nan.any():
        return least, greatest
    ends: tuple[Any, Any] = -np.inf, np.inf
    if order in TOTAL:
        ends = np.iinfo(keys.dtype).min, np.iinfo(keys.dtype).max
    first, last = ends
    only = np.logical_and.reduceat(nan, begins)
    return (
        np.where(only, least, np.minimum.reduceat(np.where(nan, last, keys), begins)),
        np.where(only, greatest, np.maximum.reduceat(np.where(nan, first, keys), begins)),
    )


def comparable_keys(order: Order, values: Any, width: int) -> Keys:
    """The sort keys of values; with a dictionary, the ranks of their entries, which compare in the same way. See `extremes_of`."""
    if not pa.types.is_dictionary(values.type):
        return keys_of(order, values, width)
    ranks: Keys = _ranks(_entry_keys(order, values, width))[values.indices.to_numpy()]
    return ranks


def _entry_keys(order: Order, values: Any, width: int) -> Any:
    keys: Any = keys_of(order, values.dictionary, width)
    return keys.cast(pa.large_binary()) if order is Order.BYTES else keys


def _ranks(keys: Any) -> NDArray[np.int32]:
    ranks: NDArray[np.int32] = pc.rank(keys, tiebreaker="dense").to_numpy().astype(np.int32)
    return ranks


def _by_rank(order: Order, values: Any, begins: NDArray[np.int64], width: int) -> tuple[Keys, Keys]:
    """Like `extremes_of` for a dictionary: each entry is compared once, then ranks are compared."""
    keys = _entry_keys(order, values, width)
    if not len(begins):
        return keys[:0], keys[:0]
    ranks = _ranks(keys)
    entry_of = np.zeros(int(ranks.max(initial=0)) + 1, np.int64)
    entry_of[ranks] = np.arange(len(ranks))
    places = ranks[values.indices.to_numpy()]
    least, greatest = np.minimum.reduceat(places, begins), np.maximum.reduceat(places, begins)
    return chosen(keys, entry_of[least]), chosen(keys, entry_of[greatest])


def _one_by_one(keys: Any, begins: NDArray[np.int64], end: int) -> tuple[Keys, Keys]:
    ends = np.append(begins[1:], end)
    least: list[Any] = []
    greatest: list[Any] = []
    for first, behind in zip(begins.tolist(), ends.tolist(), strict=True):
        range_of_keys: Any = pc.min_max(keys.slice(first, behind - first))
        least.append(range_of_keys["min"].as_py())
        greatest.append(range_of_keys["max"].as_py())
    kind = keys.type if pa.types.is_fixed_size_binary(keys.type) else pa.large_binary()
    return pa.array(least, kind), pa.array(greatest, kind)


def beyond(order: Order, values: Any, bound: Any, width: int, *, above: bool) -> NDArray[np.bool_]:
    """A bool mask of the values beyond a bound.

    Args:
        order: The order of the values.
        values: Values without nulls, see `extremes_of`.
        bound: The key of the bound.
        width: The size in bytes to which decimals are extended.
        above: Whether it is an upper bound.
    """
    if pa.types.is_dictionary(values.type):
        entries = beyond(order, values.dictionary, bound, width, above=above)
        are_beyond: NDArray[np.bool_] = entries[values.indices.to_numpy()]
        return are_beyond
    keys: Any = keys_of(order, values, width)
    if not isinstance(keys, np.ndarray):
        bound = bound.cast(keys.type) if keys.type != bound.type else bound
    mask = less(bound, keys) if above else less(keys, bound)
    if order in TOTAL:
        nan = is_nan_key(order, keys)
        if not nan.all():
            mask &= ~nan
    return mask
