"""The hashes of values, and probes of bloom filters, many at a time.

Parquet hashes the PLAIN bytes of a value, without the length of a byte array, by XXH64 with seed 0. Values of one width are hashed by numpy
all at once. Values of many widths are hashed by the library, each distinct value once. `pqassay_spec.parquet.bloom` defines how a filter is
probed; this module does it for an array of hashes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from pqassay_spec.parquet.bloom import BLOCK_SIZE, CHOICE_SHIFT, HALF_BITS, SALTS

Hashes = npt.NDArray[np.uint64]

_PRIMES = tuple(
    np.uint64(prime)
    for prime in (
        0x9E3779B185EBCA87,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0x85EBCA77C2B2AE63,
        0x27D4EB2F165667C5,
    )
)
"""The five primes of XXH64."""

STRIPE = 32
"""The number of bytes that XXH64 processes at once."""


LONGEST_ROW = 64
"""The size in bytes of the longest byte arrays that are hashed as rows of a matrix."""

WORTH_A_MATRIX = 256
"""The number of byte arrays of one length from which a matrix is faster than hashing one by one."""


def physical_rows(array: pa.Array[Any]) -> npt.NDArray[np.uint8]:
    """The little-endian bytes of fixed-width values without nulls, one row per value; a view if possible.

    Args:
        array: Integers, floating-point numbers, or bytes of a fixed size.
    """
    if pa.types.is_fixed_size_binary(array.type):
        width = array.type.byte_width
        raw = buffer_of(array, 1, np.uint8)
        return raw[array.offset * width : (array.offset + len(array)) * width].reshape(len(array), width)
    numbers = np.ascontiguousarray(array.to_numpy(zero_copy_only=False))
    little = numbers.astype(numbers.dtype.newbyteorder("<"), copy=False)
    return little.view(np.uint8).reshape(len(array), numbers.dtype.itemsize)


def buffer_of(array: pa.Array[Any], number: int, kind: type[np.generic]) -> npt.NDArray[Any]:
    """A buffer of an array, not copied."""
    raw: Any = array.buffers()[number]
    return np.frombuffer(b"" if raw is None else raw, kind)


def hash_rows(rows: npt.NDArray[np.uint8]) -> Hashes:
    """XXH64 with seed 0 of each row of a matrix of bytes.

    >>> [f"{number:016x}" for number in hash_rows(np.frombuffer(b"abcdefgh", np.uint8).reshape(2, 4))]
    ['de0327b0d25d92cc', 'fe796c96042e67c9']
    """
    count, width = rows.shape
    content = np.ascontiguousarray(rows)

    def word(start: int, size: int) -> Hashes:
        return np.ndarray((count,), f"<u{size}", content, start, (width,)).astype(np.uint64)

    first, second, third, fourth, fifth = _PRIMES
    position = 0
    if width >= STRIPE:
        seeds = (int(first) + int(second), int(second), 0, -int(first))
        lanes = [np.full(count, seed & 0xFFFFFFFFFFFFFFFF, np.uint64) for seed in seeds]
        while position + STRIPE <= width:
            for number in range(4):
                lanes[number] = _round(lanes[number], word(position + 8 * number, 8))
            position += STRIPE
        rotations = (1, 7, 12, 18)
        hashes = np.zeros(count, np.uint64)
        for lane, bits in zip(lanes, rotations, strict=True):
            hashes = hashes + _rotated(lane, bits)
        for lane in lanes:
            hashes = (hashes ^ _rotated(lane * second, 31) * first) * first + fourth
    else:
        hashes = np.full(count, fifth, np.uint64)
    hashes += np.uint64(width)
    while position + 8 <= width:
        hashes ^= _rotated(word(position, 8) * second, 31) * first
        hashes = _rotated(hashes, 27) * first + fourth
        position += 8
    if position + 4 <= width:
        hashes ^= word(position, 4) * first
        hashes = _rotated(hashes, 23) * second + third
        position += 4
    for column in range(position, width):
        hashes ^= word(column, 1) * fifth
        hashes = _rotated(hashes, 11) * first
    for bits, prime in ((33, second), (29, third)):
        hashes ^= hashes >> np.uint64(bits)
        hashes *= prime
    hashes ^= hashes >> np.uint64(32)
    return hashes


def _rotated(words: Hashes, bits: int) -> Hashes:
    rotated = words << np.uint64(bits)
    rotated |= words >> np.uint64(64 - bits)
    return rotated


def _round(lane: Hashes, words: Hashes) -> Hashes:
    return _rotated(lane + words * _PRIMES[1], 31) * _PRIMES[0]


def hashes_of(array: pa.Array[Any]) -> Hashes:
    """XXH64 with seed 0 of the PLAIN bytes of each value of an array without nulls."""
    if pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type):
        return _hashes_of_bytes(array)
    return hash_rows(physical_rows(array))


def _hashes_of_bytes(array: Any) -> Hashes:
    """The hashes of byte arrays: many of the same length as rows, the others one by one."""
    hashes = np.empty(len(array), np.uint64)
    lengths = np.asarray(pc.binary_length(array), np.int64)
    short = lengths[lengths <= LONGEST_ROW]
    common = np.flatnonzero(np.bincount(short) >= WORTH_A_MATRIX).tolist() if len(short) else []
    left = np.ones(len(array), np.bool_)
    for length in common:
        same = lengths == length
        hashes[same] = hash_rows(physical_rows(array.filter(pa.array(same)).cast(pa.binary(length))))
        left &= ~same
    if left.any():
        values: list[Any] = (array.filter(pa.array(left)) if common else array).to_pylist()
        hashes[left] = np.fromiter(map(xxhash.xxh64_intdigest, values), np.uint64, len(values))
    return hashes


def held(bitset: bytes, hashes: Hashes) -> npt.NDArray[np.bool_]:
    """For each hash, whether the value may have been inserted; ``False`` is certain. See `pqassay_spec.parquet.bloom.probe`.

    Args:
        bitset: Whole blocks, at least one.
        hashes: The hashes.
    """
    blocks = np.frombuffer(bitset, "<u4").reshape(len(bitset) // BLOCK_SIZE, len(SALTS))
    half = np.uint64(HALF_BITS)
    chosen = (hashes >> half) * np.uint64(len(blocks)) >> half
    low = hashes.astype(np.uint32)
    words = np.take(blocks, chosen.astype(np.intp), axis=0)
    found = np.ones(len(hashes), np.uint32)
    for number, salt in enumerate(SALTS):
        bits = low * np.uint32(salt)
        bits >>= np.uint32(CHOICE_SHIFT)
        found &= words[:, number] >> bits  # the requested bit is now the lowest
    return found.astype(np.bool_)
