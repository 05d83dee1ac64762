"""The framings of the deprecated codec LZ4, which the format never described.

Hadoop writes blocks, each behind its length without compression and its length as stored.  Both lengths have the greatest
byte first.

    >>> framed = bytes.fromhex("00 00 00 05 00 00 00 06") + b"P12345" + bytes.fromhex("00 00 00 02 00 00 00 03") + b" ab"
    >>> blocks(framed)
    [FramedBlock(content=5, start=8, length=6), FramedBlock(content=2, start=22, length=3)]

Writers of other libraries put an LZ4 frame there, which begins with `FRAME_MAGIC`, or the bare block that LZ4_RAW has.

Source: apache/parquet-format, ``Compression.md``, section "LZ4", which names the framing; apache/hadoop,
``BlockCompressorStream``.
"""

from __future__ import annotations

from typing import NamedTuple

from construct import Int32ub

from pqassay_spec.base.errors import Malformed

LENGTH = Int32ub
"""A length in Hadoop's framing."""

LENGTH_SIZE = LENGTH.sizeof()

FRAME_MAGIC = bytes.fromhex("04 22 4d 18")
"""Begins an LZ4 frame."""

LZO_END = bytes.fromhex("11 00 00")
"""Ends a stream of LZO1X, which Hadoop puts into the same blocks."""


class FramedBlock(NamedTuple):
    """A block in Hadoop's framing.

    Attributes:
        content: Bytes that it has without compression.
        start: The offset of its LZ4 block.
        length: Bytes of its LZ4 block.
    """

    content: int
    start: int
    length: int


def blocks(data: bytes | memoryview) -> list[FramedBlock]:
    """The blocks of Hadoop's framing. Raises `Malformed`: the lengths do not lead to the end."""
    spans: list[FramedBlock] = []
    position = 0
    while position < len(data):
        content, length = (_length(data, position + at) for at in (0, LENGTH_SIZE))
        start = position + 2 * LENGTH_SIZE
        if length > len(data) - start:
            raise Malformed(f"a block of {length} bytes where {len(data) - start} are left", offset=position)
        spans.append(FramedBlock(content, start, length))
        position = start + length
    return spans


def _length(data: bytes | memoryview, position: int) -> int:
    raw = bytes(data[position : position + LENGTH_SIZE])
    if len(raw) < LENGTH_SIZE:
        raise Malformed("a length is cut off", offset=position)
    return int(LENGTH.parse(raw))
