"""The stepper of a bloom filter: a value is hashed, inserted and looked up, in the bytes of a golden file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from pages.markup import Link, case_link
from pages.pictures.drawing import Picture
from pages.pictures.golden_bytes import leaves, raw
from pages.stepwise.steps import Step, Stepper, code, counted, grid
from pqassay_spec.grammar.xxh64 import xxh64
from pqassay_spec.parquet import bloom

CASE, FULL = "blm/two-blocks", "blm/too-small-for-its-values"
"""A filter over texts, and one that is too small for the numbers it holds."""

METALS = ("iron", "gold", "silver", "mercury")
"""Values that are looked for; the first that the file does not hold is shown."""


@dataclass(frozen=True)
class Filter:
    """A filter of a golden file, and what it was made for.

    Attributes:
        offset: Where the bitset begins in the file.
        bitset: Its bits.
        values: The distinct values of its chunk as they are hashed, in the order of the file.
    """

    offset: int
    bitset: bytes
    values: Sequence[bytes]

    @property
    def blocks(self) -> int:
        """The number of its blocks."""
        return len(self.bitset) // bloom.BLOCK_SIZE

    def words(self, start: int) -> list[int]:
        """The words of the block at an offset in the bitset."""
        return list(bloom.BLOCK.parse(self.bitset[start : start + bloom.BLOCK_SIZE]))


def filter_of(case: str) -> Filter:
    """The first filter of a file, and the values of its chunk, which are stored as they are."""
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


def stepper(link: Link) -> Stepper:
    """The steps."""
    made = filter_of(CASE)
    value = made.values[0]
    absent = next(name.encode() for name in METALS if name.encode() not in made.values)
    steps = [
        _filter(made),
        _hashed(value),
        _block(value, made),
        _bits(value),
        _inserted(value, made),
        _all_inserted(made),
        _probed(value, made, "A value that is there is looked for"),
        _probed(absent, made, "A value that is not there is looked for"),
        _too_full(filter_of(FULL)),
    ]
    cases = " and ".join(case_link(case, link) for case in (CASE, FULL))
    source = f"Drawn from the bytes of the golden files {cases}."
    return Stepper("bloom-steps", "A value is inserted into a bloom filter and looked up", source, steps)


# ----------------------------------------------------------------------------------------------------- the insertion


def _filter(made: Filter) -> Step:
    held = ", ".join(repr(value.decode()) for value in made.values)
    text = (
        f"The bitset is {len(made.bitset)} bytes at offset {made.offset} of the file: {counted(made.blocks, 'block')} of "
        f"{bloom.BLOCK_SIZE} bytes, each of {len(bloom.SALTS)} words. The chunk holds the values {held}."
    )
    parts = [
        bits(made.words(number * bloom.BLOCK_SIZE), caption=f"Block {number}")
        for number in range(made.blocks)
    ]
    return Step("The filter as the file has it", text, parts)


def _hashed(value: bytes) -> Step:
    hashed = xxh64(value)
    upper, lower = halves(hashed)
    rows = [
        ("value", repr(value.decode())),
        ("its bytes, without a length", code(value.hex(" "))),
        ("XXH64 with seed 0", code(f"{hashed:016x}")),
        ("upper half", code(f"{upper:08x}")),
        ("lower half", code(f"{lower:08x}")),
    ]
    text = "The upper half of the hash will choose a block, the lower half a bit in each of its words."
    return Step(f"{value.decode()!r} is hashed", text, [grid("The hash", ("", ""), rows)])


def _block(value: bytes, made: Filter) -> Step:
    upper, _ = halves(xxh64(value))
    start = bloom.block_start(xxh64(value), len(made.bitset))
    number = start // bloom.BLOCK_SIZE
    rows = [
        ("upper half", code(f"{upper:08x}")),
        ("times the number of blocks", code(f"{upper:08x} * {made.blocks} = {upper * made.blocks:x}")),
        (f"without its lower {bloom.HALF_BITS} bits", f"{number}"),
    ]
    text = f"It is block {number}, {counted(start, 'byte')} behind the beginning of the bitset."
    return Step("The upper half chooses a block", text, [grid("The block", ("", ""), rows)])


def _bits(value: bytes) -> Step:
    hashed = xxh64(value)
    _, lower = halves(hashed)
    rows = [
        (
            str(number),
            code(f"{salt:08x}"),
            code(f"{lower * salt % (1 << bloom.WORD_BITS):08x}"),
            str(mask.bit_length() - 1),
        )
        for number, (salt, mask) in enumerate(zip(bloom.SALTS, bloom.masks(hashed), strict=True))
    ]
    upper_bits = bloom.WORD_BITS - bloom.CHOICE_SHIFT
    text = Markup(
        "The lower half, {}, is multiplied by the salt of each word, and the upper {} bits of the product number the bit."
    ).format(code(f"{lower:08x}"), upper_bits)
    table = grid("The bits", ("Word", "Salt", "Product, 32 bits of it", "Bit"), rows)
    return Step("The lower half chooses a bit in each word", text, [table])


def _inserted(value: bytes, made: Filter) -> Step:
    bitset = bytearray(len(made.bitset))
    bloom.insert(bitset, xxh64(value))
    alone = Filter(made.offset, bytes(bitset), [value])
    start = bloom.block_start(xxh64(value), len(bitset))
    block = bitset[start : start + bloom.BLOCK_SIZE]
    text = Markup("An empty block then has these bits, which are the bytes {}.").format(
        code(block.hex(" ", 4))
    )
    drawn = bits(alone.words(start), probed=bloom.masks(xxh64(value)))
    return Step("The bits are set", text, [drawn])


def _all_inserted(made: Filter) -> Step:
    bitset = bytearray(len(made.bitset))
    for value in made.values:
        bloom.insert(bitset, xxh64(value))
    if bytes(bitset) != made.bitset:
        raise ValueError(f"{CASE} is not what its values make")
    rows = [
        (
            repr(value.decode()),
            code(f"{xxh64(value):016x}"),
            str(bloom.block_start(xxh64(value), len(bitset)) // bloom.BLOCK_SIZE),
            " ".join(str(mask.bit_length() - 1) for mask in bloom.masks(xxh64(value))),
        )
        for value in made.values
    ]
    text = (
        "Bits that two values share are set once, and nothing is ever cleared. The bitset is now that of the file, byte for byte. "
        f"One in {_round(1 / bloom.false_positive_rate(bitset))} values that were not inserted still passes."
    )
    heads = ("Value", "Hash", "Block", "Bits of its words")
    return Step("So are those of all other values", text, [grid("All values", heads, rows)])


# --------------------------------------------------------------------------------------------------------- the probe


def _probed(value: bytes, made: Filter, title: str) -> Step:
    hashed = xxh64(value)
    start = bloom.block_start(hashed, len(made.bitset))
    words, masks = made.words(start), bloom.masks(hashed)
    missing = [
        number for number, (word, mask) in enumerate(zip(words, masks, strict=True)) if not word & mask
    ]
    if bloom.probe(made.bitset, hashed) != (not missing):
        raise ValueError(f"{value!r}: the picture of the probe is not what the library answers")
    name, block = repr(value.decode()), start // bloom.BLOCK_SIZE
    if missing:
        which = f"in {len(missing)} of its {len(masks)} words the bit is not set"
        text = f"{name} goes to block {block}, and {which}. Had it been inserted, it would be. So the chunk does not hold it, and is not read."
    else:
        text = f"{name} goes to block {block}, and all {len(masks)} bits are set: the chunk may hold it, and is read."
    return Step(title, text, [bits(words, masks)])


def _too_full(made: Filter) -> Step:
    width = len(made.values[0])
    held = {int.from_bytes(value, "little", signed=True) for value in made.values}
    number = next(
        one
        for one in range(1, 10_000)
        if one not in held and bloom.probe(made.bitset, xxh64(one.to_bytes(width, "little")))
    )
    hashed = xxh64(number.to_bytes(width, "little"))
    text = (
        f"Another file has one block for {len(held)} numbers. {number} is not among them, and all of its bits are set by others: the answer is "
        f"yes, and the chunk is read for nothing. So it is for {bloom.false_positive_rate(made.bitset):.1%} of all values that are not there. "
        "No row is lost by it."
    ).replace("%", "\u00a0%")
    start = bloom.block_start(hashed, len(made.bitset))
    return Step("Yes may be wrong", text, [bits(made.words(start), bloom.masks(hashed))])


def _round(number: float) -> str:
    """A number in two digits.

    >>> _round(58_823_529.4)
    '59,000,000'
    """
    return f"{float(f'{number:.2g}'):,.0f}"


def halves(hashed: int) -> tuple[int, int]:
    """The upper and the lower half of a hash."""
    return hashed >> bloom.HALF_BITS, hashed & ((1 << bloom.HALF_BITS) - 1)


# ------------------------------------------------------------------------------------------------------- the picture

CELL, GUTTER, TOP = 17, 62, 20
"""Side of a bit, width of the names of words, and height of the numbers of bits."""


def bits(words: Sequence[int], probed: Sequence[int] = (), caption: str = "") -> str:
    """The bits of a block, a row for each word, the lowest bit first; those that are looked at have a frame."""
    told = "; ".join(f"word {number}: {_names(word)}" for number, word in enumerate(words))
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
    return picture.html("bits", caption)


def _borders(y: float) -> list[tuple[float, float]]:
    """The borders between the bits of a word, as one line up and down."""
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


def _names(word: int) -> str:
    return " ".join(map(str, _set(word))) or "none"


def _set(word: int) -> list[int]:
    """The bits of a word that are set, the lowest first."""
    return [bit for bit in range(bloom.WORD_BITS) if word >> bit & 1]
