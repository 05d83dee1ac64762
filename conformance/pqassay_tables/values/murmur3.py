"""The 32-bit Murmur3 hash of Iceberg's bucket transform, for many values at once; see `pqassay_spec.table.murmur3`.

Source: the Iceberg specification, "Appendix B: 32-bit Hash Requirements".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pqassay.values.decoding.hashes import buffer_of
from pqassay_spec.table.murmur3 import (
    FINISHING,
    FIRST_FACTOR,
    LAST_SHIFT,
    SECOND_FACTOR,
    STATE_FACTOR,
    STATE_ROTATION,
    STATE_TERM,
    WORD_ROTATION,
)

Words = NDArray[np.uint32]

MOST_AT_ONCE = 1 << 20
"""The number of bytes that are arranged as rows at once."""


def _rotated(words: Words, bits: int) -> Words:
    return (words << np.uint32(bits)) | (words >> np.uint32(32 - bits))


def _mixed(words: Words) -> Words:
    return _rotated(words * np.uint32(FIRST_FACTOR), WORD_ROTATION) * np.uint32(SECOND_FACTOR)


def hashes_of_rows(rows: NDArray[np.uint8]) -> NDArray[np.int32]:
    """The hashes of values of one length.

    Args:
        rows: uint8, one row for each value.

    Returns:
        int32, one for each value.
    """
    count, length = rows.shape
    state = np.zeros(count, np.uint32)
    with np.errstate(over="ignore"):
        whole = length // 4
        for number in range(whole):
            word = np.ascontiguousarray(rows[:, 4 * number : 4 * number + 4]).view("<u4").reshape(count)
            state ^= _mixed(word)
            state = _rotated(state, STATE_ROTATION) * np.uint32(STATE_FACTOR) + np.uint32(STATE_TERM)
        if length % 4:
            word = np.zeros(count, np.uint32)
            for place in range(4 * whole, length):
                word |= rows[:, place].astype(np.uint32) << np.uint32(8 * (place - 4 * whole))
            state ^= _mixed(word)
        state ^= np.uint32(length)
        for shift, factor in FINISHING:
            state = (state ^ (state >> np.uint32(shift))) * np.uint32(factor)
        state ^= state >> np.uint32(LAST_SHIFT)
    return state.view(np.int32)


def hashes_of_numbers(numbers: NDArray[np.int64]) -> NDArray[np.int32]:
    """The hashes of integers, each as eight little-endian bytes."""
    return hashes_of_rows(np.ascontiguousarray(numbers, "<i8").view(np.uint8).reshape(len(numbers), 8))


def hashes_of_bytes(array: Any) -> NDArray[np.int32]:
    """The hashes of byte arrays, given as a binary or large binary array without nulls."""
    kind = np.int64 if str(array.type).startswith("large") else np.int32
    offsets = buffer_of(array, 1, kind)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    data = buffer_of(array, 2, np.uint8)
    lengths = np.diff(offsets)
    hashes = np.zeros(len(array), np.int32)
    for length in np.unique(lengths):
        same = np.flatnonzero(lengths == length)
        step = max(1, MOST_AT_ONCE // max(int(length), 1))
        for start in range(0, len(same), step):
            places = same[start : start + step]
            if length > MOST_AT_ONCE:
                begin = int(offsets[places[0]])
                rows = data[begin : begin + int(length)][np.newaxis, :]
            else:
                rows = data[offsets[places][:, np.newaxis] + np.arange(length)]
            hashes[places] = hashes_of_rows(rows)
    return hashes


def hashes_of_decimals(rows: NDArray[np.uint8]) -> NDArray[np.int32]:
    """The hashes of big-endian two's complement numbers without redundant sign bytes.

    Args:
        rows: uint8, one row for each value.
    """
    count, width = rows.shape
    needed = np.full(count, width)
    is_longer = np.ones(count, np.bool_)
    for place in range(width - 1):
        sign = (rows[:, place + 1] >= 0x80).astype(np.uint8) * np.uint8(0xFF)
        is_longer &= rows[:, place] == sign
        needed -= is_longer
    found = np.zeros(count, np.int32)
    for length in np.unique(needed):
        places = np.flatnonzero(needed == length)
        found[places] = hashes_of_rows(rows[places][:, width - length :])
    return found
