"""How many values a bloom filter lets pass that were never inserted: quickly, where the rule of the specification is slow.

Each word of a block passes a foreign hash with the share of its bits that are set, a block with the product over its words,
and a filter with the mean over its blocks (`pqassay_spec.bloom.false_positive_rate`).  A mean of products is at most the
mean of their factors, so that a filter half of whose bits are 0 needs no closer look.
"""

from __future__ import annotations

from math import prod

from pqassay_spec.bloom import BLOCK_SIZE, SALTS, WORD_BITS

CLEARLY_SPARSE = 0.5
"""Up to this share of set bits the share itself is returned: the rate is not greater."""

MOST_BLOCKS = 1 << 14
"""Blocks of a full filter that are looked at, evenly spaced: enough to tell its rate to about one in a hundred."""


def rate(bitset: bytes) -> float:
    """The false positive rate of a filter, or a bound of it that is at most `CLEARLY_SPARSE`; 0 if no bit is set.

    Args:
        bitset: At least one block.
    """
    ones = int.from_bytes(bitset, "little").bit_count()
    share = ones / (len(bitset) * 8)
    if share <= CLEARLY_SPARSE:
        return share
    blocks = len(bitset) // BLOCK_SIZE
    if blocks > MOST_BLOCKS:
        starts = [number * blocks // MOST_BLOCKS * BLOCK_SIZE for number in range(MOST_BLOCKS)]
        bitset = b"".join([bitset[start : start + BLOCK_SIZE] for start in starts])
        blocks = MOST_BLOCKS
    ones_of_words = [
        word.bit_count() for word in memoryview(bitset).cast("I")
    ]  # the byte order moves no bit out of a word
    width = len(SALTS)
    products = map(prod, zip(*(ones_of_words[place::width] for place in range(width)), strict=True))
    return float(sum(products) / WORD_BITS**width / blocks)
