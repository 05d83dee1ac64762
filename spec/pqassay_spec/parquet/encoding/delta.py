"""DELTA_BINARY_PACKED: integers as the differences between neighbors, packed with as few bits as a miniblock needs.

A header gives the values of a block, the miniblocks of a block, the number of values, and the first value.  Each block
then has its least difference, a byte with the bit width of each of its miniblocks, and the miniblocks. These
have the differences minus the least one, packed from the lowest bit on.

    >>> encode([7, 5, 3, 1, 2, 3, 4, 5], bits=32)[:12].hex(" ")
    '80 01 04 08 0e 03 02 00 00 00 c0 3f'
    >>> decode(encode([7, 5, 3, 1, 2, 3, 4, 5], bits=32), bits=32)
    [7, 5, 3, 1, 2, 3, 4, 5]

Differences wrap around: from the greatest INT32 to the least one it is 1.  A difference therefore never needs
more bits than a value has.  A writer that subtracts in 64 bits needs 33 bits here, and readers refuse them:

    >>> [block.bits for block in blocks(encode([2147483647, -2147483648, 0], bits=32))]
    [32]
    >>> [block.bits for block in blocks(encode([2147483647, -2147483648, 0], bits=64))]
    [33]

Source: apache/parquet-format, ``Encodings.md``, section "Delta Encoding".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from pqassay_spec.base.errors import Malformed, Truncated
from pqassay_spec.grammar.thrift_wire import read_varint, unzigzag, varint, zigzag
from pqassay_spec.parquet.encoding.plain import FIXED_WIDTH
from pqassay_spec.parquet.thrift import Type

BITS: dict[int, int] = {kind: 8 * FIXED_WIDTH[kind].sizeof() for kind in (Type.INT32, Type.INT64)}
"""Bits of a value of each physical type with this encoding, and so the most bits of a difference."""

BLOCK = 128
"""Values of a block are a multiple of this."""

MINIBLOCK = 32
"""Values of a miniblock are a multiple of this."""


class DeltaHeader(NamedTuple):
    """The header before the blocks.

    Attributes:
        block: Values of a block.
        miniblocks: Miniblocks of a block.
        total: Number of all values.
        first: The first value.
        end: Offset of the first block.
    """

    block: int
    miniblocks: int
    total: int
    first: int
    end: int

    @property
    def bits(self) -> int:
        """Bits of the first value, including its sign."""
        return _signed_bits(self.first)


class DeltaBlock(NamedTuple):
    """A block.

    Attributes:
        least: The least difference, which is added to all others.
        widths: Bits of each difference, for every miniblock with values.
        size: Values of a miniblock.
        start: Offset of the first miniblock. The last miniblock may end after the available bytes.
        value_count: Number of its values, without those that pad the last miniblock.
    """

    least: int
    widths: bytes
    size: int
    start: int
    value_count: int

    @property
    def bits(self) -> int:
        """Bits of its differences, including the least one, which has a sign."""
        widest: int = max(*self.widths, _signed_bits(self.least))
        return widest

    def miniblocks(self) -> Iterator[tuple[int, int, int]]:
        """Every miniblock with values: its offset, the bits of each difference, and its number of values."""
        start = self.start
        for number, width in enumerate(self.widths):
            yield start, width, min(self.size, self.value_count - number * self.size)
            start += self.size * width // 8


def encode(values: Sequence[int], *, bits: int) -> bytes:
    """Encode integers in blocks of `BLOCK` values, with miniblocks of `MINIBLOCK`.

    Args:
        values: The integers, signed.
        bits: Width of the subtraction: the width of the physical type. With more bits, readers refuse the file.
    """
    written = bytearray(
        b"".join(map(varint, (BLOCK, BLOCK // MINIBLOCK, len(values), zigzag(values[0] if values else 0))))
    )
    differences = [_wrapped(after - before, bits) for before, after in pairwise(values)]
    for start in range(0, len(differences), BLOCK):
        block = differences[start : start + BLOCK]
        least = min(block)
        groups = [block[at : at + MINIBLOCK] for at in range(0, len(block), MINIBLOCK)]
        packed = [[(one - least) % (1 << bits) for one in group] for group in groups]
        widths = [max(group).bit_length() for group in packed]
        written += varint(zigzag(least)) + bytes(widths) + bytes(BLOCK // MINIBLOCK - len(widths))
        for group, width in zip(packed, widths, strict=True):
            number = sum(one << (place * width) for place, one in enumerate(group))
            written += number.to_bytes(MINIBLOCK * width // 8, "little")
    return bytes(written)


def decode(data: bytes, count: int | None = None, *, bits: int) -> list[int]:
    """Decode the integers.

    Args:
        data: The header and the blocks, optionally with bytes after them.
        count: The expected number of values. A few bytes can encode any number of equal values, so give it for untrusted bytes.
        bits: Bits of the physical type.

    Raises:
        Malformed: PQF-079, a difference or the first value takes more bits than a value; or the bytes end before the values do,
            or state another number of them.
    """
    header = read_header(data)
    if count is not None and count != header.total:
        raise Malformed(f"the header says {header.total} values, and there should be {count}", offset=0)
    if header.bits > bits:
        raise Malformed(f"a first value of {header.bits} bits among numbers of {bits}", rule="PQF-079")
    values = [header.first][: header.total]
    for block in blocks(data):
        if block.bits > bits:
            raise Malformed(f"a difference of {block.bits} bits between numbers of {bits}", rule="PQF-079")
        for start, width, held in block.miniblocks():
            enough = start + (held * width + 7) // 8
            if enough > len(data):
                break
            number = int.from_bytes(data[start:enough], "little")
            for place in range(held):
                difference = (number >> (place * width)) % (1 << width) + block.least
                values.append(_wrapped(values[-1] + difference, bits))
    if len(values) < header.total:
        raise Malformed(f"{len(values)} of {header.total} values are there")
    return values


def read_header(data: bytes | memoryview) -> DeltaHeader:
    """Read the header. Raises `Malformed`: there is none; or PQF-090, a block size that the encoding does not have."""
    numbers: list[int] = []
    position = 0
    for _ in range(4):
        number, position = read_varint(data, position)
        numbers.append(number)
    block, parts, count, first = numbers
    if not block or block % BLOCK or not parts or block % parts or block // parts % MINIBLOCK:
        raise Malformed(
            f"blocks of {block} values in {parts} miniblocks",
            rule="PQF-090",
            expected=f"blocks of a multiple of {BLOCK} values, in miniblocks of a multiple of {MINIBLOCK}",
            actual=f"{block} values in {parts} miniblocks",
        )
    return DeltaHeader(block, parts, count, unzigzag(first), position)


def blocks(data: bytes | memoryview) -> Iterator[DeltaBlock]:
    """Yield the blocks until the bytes end. Miniblocks of the last block without values may have any width.

    Raises:
        Malformed: See `read_header`; the widths of a block are missing; or PQF-079, a least difference has more bits than
            numbers of any type.
    """
    header = read_header(data)
    size = header.block // header.miniblocks
    left, position = header.total - 1, header.end
    while left > 0:
        try:
            least, position = read_varint(data, position)
        except Truncated:
            raise
        except Malformed:
            raise Malformed(
                "the least difference of a block takes more than 64 bits", rule="PQF-079", offset=position
            ) from None
        widths = bytes(data[position : position + header.miniblocks])
        if len(widths) < header.miniblocks:
            raise Malformed("a block ends before the widths of its miniblocks do", offset=position)
        position += header.miniblocks
        held = min(left, header.block)
        widths = widths[: -(-held // size)]
        yield DeltaBlock(unzigzag(least), widths, size, position, held)
        left -= held
        position += size * sum(widths) // 8


def _signed_bits(number: int) -> int:
    return (number if number >= 0 else ~number).bit_length() + 1


def _wrapped(value: int, bits: int) -> int:
    """The signed number with the same lowest ``bits`` bits."""
    half = 1 << (bits - 1)
    return (value + half) % (1 << bits) - half
