"""The stepper of a bloom filter: a value is hashed, inserted and looked up, in the bytes of a golden file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from pages.markup import Link, case_link
from pages.pictures.drawing import Picture
from pages.pictures.golden_bytes import leaves, raw
from pqassay_spec.grammar.xxh64 import xxh64
from pqassay_spec.parquet import bloom

CASE, FULL = "blm/two-blocks", "blm/too-small-for-its-values"
"""The golden cases: a filter over texts, and a filter that is too small for its numbers."""

METALS = ("iron", "gold", "silver", "mercury")
"""Values to look up; the first one that the file does not contain is shown."""


@dataclass(frozen=True)
class Filter:
    """A filter of a golden file, with its values.

    Attributes:
        offset: The offset of the bitset in the file.
        bitset: The bytes of the bitset.
        values: The distinct values of its chunk in their hashed form, in the order of the file.
    """

    offset: int
    bitset: bytes
    values: Sequence[bytes]

    @property
    def blocks(self) -> int:
        """The number of its blocks."""
        return len(self.bitset) // bloom.BLOCK_SIZE

    @classmethod
    def of(cls, *values: bytes, size: int) -> Filter:
        """A filter of a size in bytes with inserted values."""
        bitset = bytearray(size)
        for value in values:
            bloom.insert(bitset, xxh64(value))
        return cls(0, bytes(bitset), values)

    def probe(self, hashed: int) -> tuple[int, Sequence[int], Sequence[int]]:
        """Where the block of a hash begins, the masks of its bits, and the words in which they are not set.

        Raises:
            ValueError: The library answers otherwise.
        """
        start, masks = bloom.block_start(hashed, len(self.bitset)), bloom.masks(hashed)
        missing = [number for number, word in enumerate(self.words(start)) if not word & masks[number]]
        if bloom.probe(self.bitset, hashed) != (not missing):
            raise ValueError(f"{hashed}: the picture of the probe is not what the library answers")
        return start, masks, missing

    def words(self, start: int) -> list[int]:
        """The words of the block at an offset in the bitset."""
        return list(bloom.BLOCK.parse(self.bitset[start : start + bloom.BLOCK_SIZE]))


def filter_of(case: str) -> Filter:
    """The first filter of a file, and the values of its chunk, as stored."""
    content, found = raw(case), leaves(case)
    bitset = next(leaf for leaf in found if leaf.path.endswith(".bloom_filter.bitset"))
    chunk = bitset.path.removesuffix(".bloom_filter.bitset")
    stored = (
        content[leaf.offset : leaf.offset + leaf.length]
        for leaf in found
        if leaf.path.startswith(f"{chunk}.pages[") and ".body.values[" in leaf.path and ":" not in leaf.path
    )
    return Filter(
        bitset.offset, content[bitset.offset : bitset.offset + bitset.length], list(dict.fromkeys(stored))
    )


def context(link: Link) -> dict[str, Any]:
    """The content of the steps: a filter and a value in it, the same value in an empty filter, and a false positive of another filter.

    Raises:
        ValueError: The filter of the file does not follow from its values.
    """
    made, full = filter_of(CASE), filter_of(FULL)
    value, size = made.values[0], len(made.bitset)
    alone = Filter.of(value, size=size)
    if Filter.of(*made.values, size=size).bitset != made.bitset:
        raise ValueError(f"{CASE} is not what its values make")
    width = len(full.values[0])
    number, passing = next(
        (one, raw)
        for one in range(1, 10_000)
        if (raw := one.to_bytes(width, "little")) not in full.values and bloom.probe(full.bitset, xxh64(raw))
    )
    return {
        "source": f"Drawn from the bytes of the golden files {' and '.join(case_link(case, link) for case in (CASE, FULL))}.",
        "made": made,
        "value": value,
        "absent": next(name.encode() for name in METALS if name.encode() not in made.values),
        "alone": alone,
        "full": full,
        "number": number,
        "passing": passing,
        "bits": bits,
        "bloom": bloom,
        "hash": xxh64,
        "halves": halves,
    }


def halves(hashed: int) -> tuple[int, int]:
    """The upper and the lower half of a hash."""
    return hashed >> bloom.HALF_BITS, hashed & ((1 << bloom.HALF_BITS) - 1)


# ------------------------------------------------------------------------------------------------------- the picture

CELL, GUTTER, TOP = 17, 62, 20
"""The size of a bit, the width of the names of words, and the height of the numbers of bits."""


def bits(words: Sequence[int], probed: Sequence[int] = (), caption: str = "") -> Markup:
    """The bits of a block, a row for each word, the lowest bit first; probed bits have a frame."""
    told = "; ".join(
        f"word {number}: {' '.join(map(str, _set(word))) or 'none'}" for number, word in enumerate(words)
    )
    picture = Picture(GUTTER + bloom.WORD_BITS * CELL + 2, f"Bits that are set. {told}")
    for bit in range(0, bloom.WORD_BITS, 4):
        picture.text(GUTTER + (bit + 0.5) * CELL, TOP - 6, str(bit), "pale middle")
    for number, word in enumerate(words):
        y = TOP + number * (CELL + 4)
        picture.text(GUTTER - 8, y + CELL - 4, f"word {number}", "pale end")
        picture.box(GUTTER, y, bloom.WORD_BITS * CELL, CELL, "clear", f"word {number}: bits that are not set")
        picture.path(_borders(y), "border")
        for bit in _set(word):
            picture.box(GUTTER + bit * CELL, y, CELL, CELL, "set", f"word {number}, bit {bit}: set")
        if probed:
            _frame(picture, probed[number].bit_length() - 1, y, is_set=bool(word & probed[number]))
    return Markup(picture.html("bits", caption))


def _borders(y: float) -> list[tuple[float, float]]:
    """The borders between the bits of a word, as one line that goes up and down."""
    points: list[tuple[float, float]] = []
    for bit in range(1, bloom.WORD_BITS):
        ends = [(GUTTER + bit * CELL, y), (GUTTER + bit * CELL, y + CELL)]
        points += ends if bit % 2 else ends[::-1]
    return points


def _frame(picture: Picture, bit: int, y: float, *, is_set: bool) -> None:
    x = GUTTER + bit * CELL
    picture.box(x - 1, y - 1, CELL + 2, CELL + 2, "probed" if is_set else "probed missing")
    if is_set:
        picture.path([(x + 4, y + 9), (x + 7, y + 13), (x + 13, y + 4)], "tick")
    else:
        picture.path([(x + 4, y + 4), (x + CELL - 4, y + CELL - 4)], "cross")
        picture.path([(x + CELL - 4, y + 4), (x + 4, y + CELL - 4)], "cross")


def _set(word: int) -> list[int]:
    """The bits of a word that are set, the lowest first."""
    return [bit for bit in range(bloom.WORD_BITS) if word >> bit & 1]
