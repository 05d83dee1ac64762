"""Murmur3 of 32 bits, x86, with the seed 0: the hash of Iceberg's bucket transform.

>>> murmur3(b"iceberg"), murmur3(b"")
(1210000089, 0)

Source: the Iceberg specification, "Appendix B: 32-bit Hash Requirements".
"""

from __future__ import annotations

FIRST_FACTOR, SECOND_FACTOR = 0xCC9E2D51, 0x1B873593
"""The factors of each word of four bytes: it is multiplied by the first, rotated, and multiplied by the second."""

WORD_ROTATION, STATE_ROTATION = 15, 13
"""Bits by which a word is rotated to the left, and the state after each whole word."""

STATE_FACTOR, STATE_TERM = 5, 0xE6546B64
"""The factor of the state after each whole word, and the number that is then added."""

FINISHING = ((16, 0x85EBCA6B), (13, 0xC2B2AE35))
"""The two steps of the finish: the state is XORed with itself shifted right by some bits, then multiplied by a factor."""

LAST_SHIFT = 16
"""The last shift of the finish, which is not followed by a multiplication."""

MASK = 0xFFFFFFFF


def murmur3(data: bytes) -> int:
    """The hash of bytes, a signed number of 32 bits."""
    state, whole = 0, len(data) & ~3
    for start in range(0, whole, 4):
        state ^= _mixed(data[start : start + 4])
        state = (_rotated(state, STATE_ROTATION) * STATE_FACTOR + STATE_TERM) & MASK
    state ^= _mixed(data[whole:]) ^ len(data)
    for shift, factor in FINISHING:
        state = ((state ^ state >> shift) * factor) & MASK
    state ^= state >> LAST_SHIFT
    return state - (1 << 32) if state >> 31 else state


def _mixed(word: bytes) -> int:
    number = int.from_bytes(word, "little") * FIRST_FACTOR & MASK
    return _rotated(number, WORD_ROTATION) * SECOND_FACTOR & MASK


def _rotated(number: int, bits: int) -> int:
    return (number << bits | number >> 32 - bits) & MASK
