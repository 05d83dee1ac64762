"""XXH64 with seed 0, in plain Python: for a rule that hashes a few bytes of metadata without a library.

Bloom filters and the index directory use this hash. To hash values or pages, use the library ``xxhash``, which returns
the same hash and is a thousand times as fast.

    >>> f"{xxh64(b''):016x}", f"{xxh64(b'a'):016x}", f"{xxh64(bytes(range(100))):016x}"
    ('ef46db3751d8e999', 'd24ec4f1a98c6e5b', '6ac1e58032166597')

Source: the xxHash fast digest algorithm (``doc/xxhash_spec.md`` of xxHash), sections on XXH64.
"""

from __future__ import annotations

import struct

_PRIMES = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)
_MASK = (1 << 64) - 1
_STRIPE = struct.Struct("<4Q")
_WORD = struct.Struct("<Q")
_HALF = struct.Struct("<I")


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> 64 - bits) & _MASK


def _round(accumulator: int, word: int) -> int:
    first, second = _PRIMES[:2]
    return _rotated((accumulator + word * second) & _MASK, 31) * first & _MASK


def xxh64(data: bytes) -> int:
    """The hash of some bytes, an unsigned number of 64 bits."""
    first, second, _, fourth, fifth = _PRIMES
    whole = len(data) - len(data) % _STRIPE.size
    if whole:
        lanes = [(first + second) & _MASK, second, 0, -first & _MASK]
        for words in _STRIPE.iter_unpack(memoryview(data)[:whole]):
            lanes = [_round(lane, word) for lane, word in zip(lanes, words, strict=True)]
        one, two, three, four = lanes
        digest = (_rotated(one, 1) + _rotated(two, 7) + _rotated(three, 12) + _rotated(four, 18)) & _MASK
        for lane in lanes:
            digest = ((digest ^ _round(0, lane)) * first + fourth) & _MASK
    else:
        digest = fifth
    return _finished((digest + len(data)) & _MASK, memoryview(data)[whole:])


def _finished(digest: int, rest: memoryview) -> int:
    """The final hash, with the bytes after the last whole stripe."""
    first, second, third, fourth, fifth = _PRIMES
    while len(rest) >= _WORD.size:
        digest = (_rotated(digest ^ _round(0, _WORD.unpack_from(rest)[0]), 27) * first + fourth) & _MASK
        rest = rest[_WORD.size :]
    if len(rest) >= _HALF.size:
        digest = (_rotated(digest ^ _HALF.unpack_from(rest)[0] * first & _MASK, 23) * second + third) & _MASK
        rest = rest[_HALF.size :]
    for byte in rest:
        digest = _rotated(digest ^ byte * fifth & _MASK, 11) * first & _MASK
    digest = (digest ^ digest >> 33) * second & _MASK
    digest = (digest ^ digest >> 29) * third & _MASK
    return digest ^ digest >> 32
