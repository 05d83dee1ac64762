"""The share of values that a bloom filter lets pass though they were never inserted: quickly, where the rule of the specification is slow.

Each word of a block passes a foreign hash with the share of its bits that are set, a block with the product over its words,
and a filter with the mean over its blocks (`pqassay_spec.parquet.bloom.false_positive_rate`).  A mean of products is at most the
mean of their factors, so that a filter half of whose bits are 0 needs no closer look.
"""

from __future__ import annotations

from math import prod

from pqassay_spec.parquet.bloom import BLOCK_SIZE, SALTS, WORD_BITS

CLEARLY_SPARSE = 0.5
"""Up to this share of set bits the share itself is returned: the rate is not greater."""

PIECES, PIECE = 64, 64 * BLOCK_SIZE
"""Number and bytes of the pieces that are looked at in a large filter, evenly spaced.

That is 2^20 bits: hashes fill all blocks alike, so that their share is the filter's to about one in a thousand.
"""


def rate(bitset: bytes) -> float:
    """The false positive rate of a filter, or a bound of it that is at most `CLEARLY_SPARSE`; 0 if no bit is set.

    Args:
        bitset: At least one block.
    """
    seen = _sample(bitset)
    ones = int.from_bytes(seen, "little").bit_count()
    if not ones and bitset != bytes(len(bitset)):  # too few bits for a sample to meet one
        ones = 1
    share = ones / (len(seen) * 8)
    if share <= CLEARLY_SPARSE:
        return share
    # The byte order moves no bit out of a word.
    ones_of_words = [word.bit_count() for word in memoryview(seen).cast("I")]
    width = len(SALTS)
    products = map(prod, zip(*(ones_of_words[place::width] for place in range(width)), strict=True))
    return float(sum(products) / WORD_BITS**width / (len(seen) // BLOCK_SIZE))


def _sample(bitset: bytes) -> bytes:
    """Blocks of a filter, evenly spaced; all of a small one."""
    if len(bitset) <= 2 * PIECES * PIECE:
        return bitset
    blocks = len(bitset) // BLOCK_SIZE
    starts = [number * blocks // PIECES * BLOCK_SIZE for number in range(PIECES)]
    return b"".join([bitset[start : start + PIECE] for start in starts])
