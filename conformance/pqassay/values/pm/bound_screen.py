"""The screen of the order of a ``_pm`` chunk's bounds, for many chunks at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from pqassay.under_test.pm.bounds import Comparison
from pqassay.values.pm.batches import Array, Batch
from pqassay_spec.pm.block import SIDES, Side
from pqassay_spec.pm.codes import MOST_INLINE

_U64 = np.uint64
_BITS_OF_BYTE = _U64(8)


def bounds_out_of_order(batch: Batch) -> tuple[Array, Array]:
    """The chunks whose MIN is greater than MAX, or NaN as one of them; and those where prefixes alone cannot tell."""
    certain, undecided = batch.none().copy(), batch.none().copy()
    for (comparison, width), columns in batch.shape.orders.items():
        if comparison in (Comparison.BYTES, Comparison.DECIMAL, Comparison.EITHER_BYTES):
            wrong, open_question = _bytes_out_of_order(batch, comparison, width, columns)
            undecided[:, columns] = open_question
        else:
            wrong = _numbers_out_of_order(batch, comparison, width, columns)
            for side in SIDES:  # where numbers do not belong, which is no reason not to compare them
                if batch.any_out_of_line(side):
                    undecided[:, columns] |= batch.inside(side)[:, columns] & (
                        batch.length(side)[:, columns] == width
                    )
        certain[:, columns] = wrong
    return certain, undecided


def _numbers_out_of_order(batch: Batch, comparison: Comparison, width: int, columns: Any) -> Array:
    unsigned, signed = np.dtype(f"<u{width}"), np.dtype(f"<i{width}")
    low, high = (batch.field(side.field)[:, columns].astype(unsigned, copy=False) for side in SIDES)
    wrong: Array
    nan: tuple[Array, ...] = ()
    if comparison is Comparison.FLOAT:
        floats = np.dtype(f"<f{width}")
        low, high = low.view(floats), high.view(floats)
        nan = np.isnan(low), np.isnan(high)
        with np.errstate(invalid="ignore"):
            wrong = low > high
    elif comparison is Comparison.SIGNED:
        wrong = low.view(signed) > high.view(signed)
    else:
        wrong = low > high
        if comparison is Comparison.EITHER:
            wrong &= low.view(signed) > high.view(signed)
    if not wrong.any() and not any(mask.any() for mask in nan):
        return wrong
    usable = [batch.good_size(side)[:, columns] & (batch.size(side)[:, columns] == width) for side in SIDES]
    wrong &= usable[0] & usable[1]
    for is_nan, is_usable in zip(nan, usable, strict=False):
        wrong |= is_nan & is_usable
    return wrong


def _bytes_out_of_order(
    batch: Batch, comparison: Comparison, width: int, columns: Any
) -> tuple[Array, Array]:
    """Compare the first eight bytes as big-endian numbers."""
    keys, sizes, usable = zip(*(_prefixes(batch, side, width, columns) for side in SIDES), strict=True)
    both = usable[0] & usable[1]
    if comparison is Comparison.DECIMAL:
        if not width:  # numbers of different lengths have no common prefix
            return np.zeros_like(both), both
        sign = _U64(1 << 63)
        keys = (keys[0] ^ sign, keys[1] ^ sign)
    equal = both & (keys[0] == keys[1])
    greater = both & (keys[0] > keys[1])
    if comparison is Comparison.EITHER_BYTES:
        return np.zeros_like(both), greater | equal
    # Values that are in their slots are compared whole: of equal prefixes, the longer one is greater.
    short = (sizes[0] <= MOST_INLINE) & (sizes[1] <= MOST_INLINE)
    return greater | (equal & short & (sizes[0] > sizes[1])), equal & ~short


def _prefixes(batch: Batch, side: Side, width: int, columns: Any) -> tuple[Array, Array, Array]:
    """The first eight bytes of each bound as a big-endian number, its length, and whether it can be used."""
    slots = batch.field(side.field)[:, columns]
    size = batch.size(side)[:, columns].astype(_U64)
    inlined = batch.good_size(side)[:, columns]
    unused = (_U64(MOST_INLINE) - np.where(inlined, size, _U64(MOST_INLINE))) * _BITS_OF_BYTE
    keys = (slots << unused >> unused).byteswap()
    usable = inlined.copy()
    if batch.any_out_of_line(side):
        length = batch.length(side)[:, columns]
        inside = batch.inside(side)[:, columns] & (length != 0)
        size = np.where(inside, length, size)
        usable |= inside
        places = (batch.region_start + batch.offset(side)[:, columns])[inside].astype(np.int64)
        keys[inside] = _gathered(batch.shape.content, places, length[inside])
    if width:
        usable &= size == _U64(width)
    return keys, size, usable


def _gathered(content: Array, places: Array, lengths: Array) -> Array:
    """The first eight bytes at some places as big-endian numbers; shorter ones end in zeros."""
    steps = np.arange(MOST_INLINE)
    rows = content[np.minimum(places[:, None] + steps, len(content) - 1)]
    rows[steps >= lengths[:, None]] = 0
    return rows.view(">u8")[:, 0].astype(_U64)
