"""DELTA_BINARY_PACKED: integers as the differences between neighbours, packed with as few bits as a group of them needs.

A header gives the values of a block, the miniblocks of a block, the number of values, and the first value.  Each block
then holds the least of its differences, a byte with the bit width of each of its miniblocks, and the miniblocks:
differences less the least one, packed from the lowest bit on.

    >>> encode([7, 5, 3, 1, 2, 3, 4, 5], bits=32)[:12].hex(" ")
    '80 01 04 08 0e 03 02 00 00 00 c0 3f'
    >>> decode(encode([7, 5, 3, 1, 2, 3, 4, 5], bits=32), bits=32)
    [7, 5, 3, 1, 2, 3, 4, 5]

Differences wrap around: from the greatest INT32 to the least one it is 1.  So no difference ever needs
more bits than a value has.  A writer that subtracts in 64 bits needs 33 for it, and readers refuse them:

    >>> [block.bits for block in miniblocks(encode([2147483647, -2147483648, 0], bits=32))]
    [32]
    >>> [block.bits for block in miniblocks(encode([2147483647, -2147483648, 0], bits=64))]
    [33]

Source: apache/parquet-format, ``Encodings.md``, section "Delta Encoding".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from pqassay_spec.compact_thrift_wire import read_varint, varint
from pqassay_spec.errors import Malformed
from pqassay_spec.parquet_thrift import Type

BITS = {Type.INT32: 32, Type.INT64: 64}
"""Bits of a value of each physical type that has this encoding, and so of a difference at most."""

BLOCK = 128
"""Values of a block are a multiple of this."""

MINIBLOCK = 32
"""Values of a miniblock are a multiple of this."""


class Header(NamedTuple):
    """What stands before the blocks.

    Attributes:
        block: Values of a block.
        miniblocks: Miniblocks of a block.
        total: Values in all.
        first: The first of them.
        end: Where the first block begins.
    """

    block: int
    miniblocks: int
    total: int
    first: int
    end: int


class Miniblock(NamedTuple):
    """A miniblock in which there are values.

    Attributes:
        least: The least difference of its block.
        width: Bits of each difference.
        start, end: Where its differences stand. The last one may end behind the bytes that there are.
        held: Its values, those that fill it up not among them.
    """

    least: int
    width: int
    start: int
    end: int
    held: int

    @property
    def bits(self) -> int:
        """Bits that its differences take, the least one, which has a sign, included."""
        least = self.least if self.least >= 0 else ~self.least
        return max(self.width, least.bit_length() + 1)


def encode(values: Sequence[int], *, bits: int) -> bytes:
    """Integers in blocks of `BLOCK` values, with miniblocks of `MINIBLOCK`.

    Args:
        values: The integers, signed.
        bits: Bits in which they are subtracted: those of the physical type. More make a file that readers refuse.
    """
    written = bytearray(
        b"".join(map(varint, (BLOCK, BLOCK // MINIBLOCK, len(values), _zigzag(values[0] if values else 0))))
    )
    differences = [_wrapped(after - before, bits) for before, after in pairwise(values)]
    for start in range(0, len(differences), BLOCK):
        block = differences[start : start + BLOCK]
        least = min(block)
        groups = [block[at : at + MINIBLOCK] for at in range(0, len(block), MINIBLOCK)]
        packed = [[(one - least) % (1 << bits) for one in group] for group in groups]
        widths = [max(group).bit_length() for group in packed]
        written += varint(_zigzag(least)) + bytes(widths) + bytes(BLOCK // MINIBLOCK - len(widths))
        for group, width in zip(packed, widths, strict=True):
            number = sum(one << (place * width) for place, one in enumerate(group))
            written += number.to_bytes(MINIBLOCK * width // 8, "little")
    return bytes(written)


def decode(data: bytes, *, bits: int) -> list[int]:
    """The integers.

    Args:
        data: The header and the blocks, and maybe bytes behind them.
        bits: Bits of the physical type.

    Raises:
        Malformed: PQF-079, a difference takes more bits than a value; or the bytes end before the values do.
    """
    header = read_header(data)
    values = [header.first][: header.total]
    for block in miniblocks(data):
        if block.bits > bits:
            raise Malformed(f"a difference of {block.bits} bits between numbers of {bits}", rule="PQF-079")
        enough = block.start + (block.held * block.width + 7) // 8
        if enough > len(data):
            break
        number = int.from_bytes(data[block.start : enough], "little")
        for place in range(block.held):
            difference = (number >> (place * block.width)) % (1 << block.width) + block.least
            values.append(_wrapped(values[-1] + difference, bits))
    if len(values) < header.total:
        raise Malformed(f"{len(values)} of {header.total} values are there")
    return values


def read_header(data: bytes | memoryview) -> Header:
    """The header. Raises `Malformed`: there is none, or one of blocks that the encoding does not have."""
    numbers: list[int] = []
    position = 0
    for _ in range(4):
        number, position = read_varint(data, position)
        numbers.append(number)
    block, parts, count, first = numbers
    if not block or block % BLOCK or not parts or block % parts or block // parts % MINIBLOCK:
        raise Malformed(f"blocks of {block} values in {parts} miniblocks", offset=0, length=position)
    return Header(block, parts, count, (first >> 1) ^ -(first & 1), position)


def miniblocks(data: bytes | memoryview) -> Iterator[Miniblock]:
    """The miniblocks with values, as far as the bytes go. Those of the last block that have none may have any width.

    Raises:
        Malformed: See `read_header`; or a block whose widths are not there.
    """
    header = read_header(data)
    size = header.block // header.miniblocks
    left, position = header.total - 1, header.end
    while left > 0:
        least, position = read_varint(data, position)
        widths = bytes(data[position : position + header.miniblocks])
        if len(widths) < header.miniblocks:
            raise Malformed("a block ends before the widths of its miniblocks do", offset=position)
        position += header.miniblocks
        for width in widths:
            if left <= 0:
                break
            end = position + size * width // 8
            yield Miniblock((least >> 1) ^ -(least & 1), width, position, end, min(size, left))
            left -= size
            position = end


def _zigzag(value: int) -> int:
    return value * 2 if value >= 0 else value * -2 - 1


def _wrapped(value: int, bits: int) -> int:
    """A number of so many bits, signed."""
    half = 1 << (bits - 1)
    return (value + half) % (1 << bits) - half
