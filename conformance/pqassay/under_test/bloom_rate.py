"""The share of never inserted values that pass a bloom filter, computed faster than by the specification.

A random hash passes a word with a probability equal to its share of set bits. It passes a block with the product over the words, and a
filter with the mean over the blocks (`pqassay_spec.parquet.bloom.false_positive_rate`). A mean of products is at most the mean of their
factors. So a filter with half of its bits set needs no exact computation.
"""

from __future__ import annotations

from math import prod

from pqassay_spec.parquet.bloom import BLOCK_SIZE, SALTS, WORD_BITS

CLEARLY_SPARSE = 0.5
"""The share of set bits up to which the share itself is returned, as an upper bound of the rate."""

PIECES, PIECE = 64, 64 * BLOCK_SIZE
"""The number and the size in bytes of the evenly spaced pieces that are sampled from a large filter.

That is 2^20 bits: hashes fill all blocks alike, so the sampled share deviates from the share of the filter by about one in a thousand.
"""


def rate(bitset: bytes) -> float:
    """The false positive rate of a filter, or a bound of it that is at most `CLEARLY_SPARSE`; 0 if no bit is set.

    Args:
        bitset: At least one block.
    """
    seen = _sample(bitset)
    ones = int.from_bytes(seen, "little").bit_count()
    if not ones and bitset != bytes(len(bitset)):  # with too few set bits, a sample may contain none
        ones = 1
    share = ones / (len(seen) * 8)
    if share <= CLEARLY_SPARSE:
        return share
    # The byte order moves no bit out of its word.
    ones_of_words = [word.bit_count() for word in memoryview(seen).cast("I")]
    width = len(SALTS)
    products = map(prod, zip(*(ones_of_words[place::width] for place in range(width)), strict=True))
    return float(sum(products) / WORD_BITS**width / (len(seen) // BLOCK_SIZE))


def _sample(bitset: bytes) -> bytes:
    """Evenly spaced blocks of a filter; all blocks of a small one."""
    if len(bitset) <= 2 * PIECES * PIECE:
        return bitset
    blocks = len(bitset) // BLOCK_SIZE
    starts = [number * blocks // PIECES * BLOCK_SIZE for number in range(PIECES)]
    return b"".join([bitset[start : start + PIECE] for start in starts])
