"""Keys of values: they compare as the specification says, and find the extremes of pages."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from damage import tries
from pqassay.values.decoding.extremes import beyond, extremes_of
from pqassay.values.decoding.keys import bound_keys, equal, keys_of, less
from pqassay_spec.parquet.column_order import TOTAL, Order, is_nan, key

pytestmark = pytest.mark.slow

FIXED: dict[tuple[Order, int], pa.DataType] = {
    (Order.SIGNED, 4): pa.int32(),
    (Order.SIGNED, 8): pa.int64(),
    (Order.UNSIGNED, 4): pa.int32(),
    (Order.UNSIGNED, 8): pa.int64(),
    (Order.FLOAT, 4): pa.float32(),
    (Order.FLOAT, 8): pa.float64(),
    (Order.TOTAL, 4): pa.float32(),
    (Order.TOTAL, 8): pa.float64(),
    (Order.HALF, 2): pa.binary(2),
    (Order.HALF_TOTAL, 2): pa.binary(2),
    (Order.TIMESTAMP, 12): pa.binary(12),
    (Order.BYTES, 3): pa.binary(3),
    (Order.SIGNED_12, 12): pa.binary(12),
    (Order.DECIMAL, 3): pa.binary(3),
    (Order.DECIMAL, 16): pa.binary(16),
    (Order.DECIMAL, 80): pa.binary(80),
}
SPECIAL = {
    2: [0x0000, 0x8000, 0x7C00, 0xFC00, 0x7E00, 0xFE01],
    4: [0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001],
    8: [0, 1 << 63, 0x7FF0 << 48, 0xFFF0 << 48, 0x7FF8 << 48, (0xFFF8 << 48) + 1],
}


def raws(width: int) -> st.SearchStrategy[list[bytes]]:
    """Values of one width, zeros, infinities and NaN among them; some have their first bytes in common."""
    special = st.sampled_from([number.to_bytes(width, "little") for number in SPECIAL.get(width, [0])])
    alike = st.binary(min_size=1, max_size=1).map(lambda last: bytes(width - 1) + last)
    return st.lists(st.binary(min_size=width, max_size=width) | special | alike, min_size=1, max_size=12)


def stored(values: list[bytes], kind: pa.DataType) -> Any:
    """Values of one width as a decoder gives them."""
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(b"".join(values))])


def is_less(order: Order, left: bytes, right: bytes) -> bool:
    """What the specification says; NaN without a place is less than nothing."""
    keys = key(order, left), key(order, right)
    return None not in keys and keys[0] < keys[1]


@pytest.mark.parametrize(("order", "width"), FIXED, ids=str)
@given(st.data())
@tries(25)
def test_keys_compare_as_the_specification_says(order: Order, width: int, data: st.DataObject) -> None:
    values = data.draw(raws(width))
    kind = FIXED[order, width]
    longer = width if order is Order.DECIMAL else 0
    keys: Any = keys_of(order, stored(values, kind), longer)
    bounds, usable = bound_keys(order, values, kind, longer)
    expected = [is_less(order, left, right) for left, right in pairwise(values)]
    assert expected == less(keys[:-1], keys[1:]).tolist()
    assert [key(order, value) is not None for value in values] == usable.tolist()
    assert [True] * int(usable.sum()) == equal(keys, bounds)[usable].tolist()


@given(st.lists(st.binary(min_size=1, max_size=9), min_size=2, max_size=9))
@tries(60)
def test_decimals_of_unequal_length_compare_as_numbers(values: list[bytes]) -> None:
    keys: Any = keys_of(Order.DECIMAL, pa.array(values, pa.binary()), 9)
    expected = [is_less(Order.DECIMAL, left, right) for left, right in pairwise(values)]
    assert expected == less(keys[:-1], keys[1:]).tolist()


@given(st.lists(st.booleans(), min_size=2, max_size=20))
@tries(30)
def test_booleans_compare_false_before_true(values: list[bool]) -> None:
    keys: Any = keys_of(Order.BOOLEAN, pa.array(values))
    assert [left < right for left, right in pairwise(values)] == less(keys[:-1], keys[1:]).tolist()


def place_in(order: Order, page: list[bytes]) -> list[bytes]:
    """The values of a page that count for its bounds: NaN in the total order only where there is nothing else."""
    placed = [value for value in page if key(order, value) is not None]
    return [value for value in placed if not is_nan(order, value)] or placed if order in TOTAL else placed


@pytest.mark.parametrize(
    ("order", "width", "encoded"),
    [(*known, False) for known in FIXED]
    + [(order, 0, encoded) for order in (Order.BYTES, Order.DECIMAL) for encoded in (False, True)],
    ids=str,
)
@given(st.data())
@tries(15)
def test_extremes_of_pages_are_those_that_the_specification_finds(
    order: Order, width: int, encoded: bool, data: st.DataObject
) -> None:
    texts = st.lists(st.binary(min_size=order is Order.DECIMAL, max_size=3), max_size=6)
    pages = data.draw(st.lists(raws(width) | st.just([]) if width else texts, min_size=1, max_size=5))
    values = [value for page in pages for value in page]
    kind = FIXED[order, width] if width else pa.binary()
    array: Any = stored(values, kind) if width else pa.array(values, kind)
    if encoded:
        array = pa.DictionaryArray.from_arrays(pa.array(range(len(values)), pa.int32()), array)
    starts = np.cumsum([0, *map(len, pages)])
    longer = max(width, 3) if order is Order.DECIMAL else 0
    found = extremes_of(order, array, starts, longer)

    placed = [place_in(order, page) for page in pages]
    assert [number for number, page in enumerate(placed) if page] == found.pages.tolist()
    for keys, choose in ((found.least, min), (found.greatest, max)):
        expected = [choose(page, key=lambda raw: key(order, raw)) for page in placed if page]
        if expected:
            bounds, _ = bound_keys(order, expected, kind, longer)
            assert [True] * len(expected) == equal(keys, bounds).tolist()
    if values:
        bound = values[0]
        keys_of_bound, usable = bound_keys(order, [bound], kind, longer)
        if usable[0]:
            counted = place_in(order, values)
            above = beyond(order, array, keys_of_bound[0], longer, above=True)
            below = beyond(order, array, keys_of_bound[0], longer, above=False)
            assert [value in counted and is_less(order, bound, value) for value in values] == above.tolist()
            assert [value in counted and is_less(order, value, bound) for value in values] == below.tolist()
