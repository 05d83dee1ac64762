"""Parquet's bloom filters: split blocks of 256 bits, filled from 64-bit hashes.

A filter is a `BloomFilterHeader`, then the bitset: blocks of eight 32-bit words.  The upper half of a
hash chooses the block, the lower half one bit in each of its eight words.

    >>> bits = bytearray(BLOCK_SIZE)
    >>> insert(bits, 0xC0FFEE_0BADF00D)
    >>> sum(byte.bit_count() for byte in bits), probe(bits, 0xC0FFEE_0BADF00D), probe(bits, 1)
    (8, True, False)

Source: apache/parquet-format, ``BloomFilter.md``.
"""

from __future__ import annotations

from math import prod

from construct import Array, Int32ul, Int64ul

from pqassay_spec.base.errors import Malformed
from pqassay_spec.parquet.thrift import (
    BloomFilterAlgorithm,
    BloomFilterCompression,
    BloomFilterHash,
    BloomFilterHeader,
    SplitBlockAlgorithm,
    Uncompressed,
    XxHash,
)

SALTS = (
    0x47B6137B,
    0x44974D91,
    0x8824AD5B,
    0xA2B7289D,
    0x705495C7,
    0x2DF1424B,
    0x9EFC4947,
    0x5C6BFB31,
)
"""One odd multiplier for each word of a block; the product's upper five bits choose the bit."""

BLOCK = Array(len(SALTS), Int32ul)
"""A block: eight words."""

BLOCK_SIZE = BLOCK.sizeof()

WORD_BITS = 8 * Int32ul.sizeof()
"""Bits of a word."""

HALF_BITS = 8 * Int64ul.sizeof() // 2
"""Bits of each half of a hash."""

CHOICE_SHIFT = WORD_BITS - (WORD_BITS - 1).bit_length()
"""The number by which a product is shifted right, which leaves the bits that choose one bit of a word."""


def header_of(size: int) -> BloomFilterHeader:
    """The header for a bitset of ``size`` bytes; the format has one algorithm, one hash and no compression."""
    return BloomFilterHeader(
        numBytes=size,
        algorithm=BloomFilterAlgorithm(BLOCK=SplitBlockAlgorithm()),
        hash=BloomFilterHash(XXHASH=XxHash()),
        compression=BloomFilterCompression(UNCOMPRESSED=Uncompressed()),
    )


# --8<-- [start:bits]
def block_start(hash_: int, size: int) -> int:
    """Offset in a bitset of ``size`` bytes of the block that a hash chooses.

    Raises:
        Malformed: The bitset is too short for a block.
    """
    if size < BLOCK_SIZE:
        raise Malformed(
            f"a bitset of {size} bytes holds no block, which takes {BLOCK_SIZE}", field="bloom_filter"
        )
    return ((hash_ >> HALF_BITS) * (size // BLOCK_SIZE) >> HALF_BITS) * BLOCK_SIZE


def masks(hash_: int) -> list[int]:
    """One word for each word of a block, with the one bit set that a hash chooses."""
    return [1 << (hash_ * salt % (1 << WORD_BITS) >> CHOICE_SHIFT) for salt in SALTS]


# --8<-- [end:bits]


# --8<-- [start:filter]
def insert(bitset: bytearray, hash_: int) -> None:
    """Set the bits of a value's hash (XXH64 with seed 0 of its PLAIN bytes without length prefix)."""
    start = block_start(hash_, len(bitset))
    block = slice(start, start + BLOCK_SIZE)
    words = BLOCK.parse(bytes(bitset[block]))
    bitset[block] = BLOCK.build([word | mask for word, mask in zip(words, masks(hash_), strict=True)])


def probe(bitset: bytes | bytearray, hash_: int) -> bool:
    """Whether a value with this hash may have been inserted; ``False`` is certain."""
    start = block_start(hash_, len(bitset))
    words = BLOCK.parse(bytes(bitset[start : start + BLOCK_SIZE]))
    return all(word & mask for word, mask in zip(words, masks(hash_), strict=True))


# --8<-- [end:filter]


# --8<-- [start:rate]
def false_positive_rate(bitset: bytes | bytearray) -> float:
    r"""The probability that a hash which was not inserted passes.

    The probability of passing a word is the share of its bits that are set. A hash passes a block if it passes its eight words,
    and all blocks are equally likely.

    >>> false_positive_rate(bytes(BLOCK_SIZE)), false_positive_rate(b"\xff" * BLOCK_SIZE + bytes(BLOCK_SIZE))
    (0.0, 0.5)
    """
    starts = range(0, len(bitset), BLOCK_SIZE)
    shares = (
        prod(word.bit_count() for word in BLOCK.parse(bytes(bitset[start : start + BLOCK_SIZE])))
        for start in starts
    )
    return float(sum(shares) / WORD_BITS ** len(SALTS) / len(starts))


# --8<-- [end:rate]
