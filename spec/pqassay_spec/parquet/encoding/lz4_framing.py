"""The framings of the deprecated codec LZ4, which the format never described.

Hadoop writes blocks, each after its uncompressed length and its stored length.  Both lengths are big-endian.

    >>> framed = bytes.fromhex("00 00 00 05 00 00 00 06") + b"P12345" + bytes.fromhex("00 00 00 02 00 00 00 03") + b" ab"
    >>> blocks(framed)
    [FramedBlock(content=5, start=8, length=6), FramedBlock(content=2, start=22, length=3)]

Other libraries write an LZ4 frame, which begins with `FRAME_MAGIC`, or the bare block of LZ4_RAW.

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
"""The first bytes of an LZ4 frame."""

LZO_END = bytes.fromhex("11 00 00")
"""The last bytes of a stream of LZO1X, which Hadoop puts into the same blocks."""


class FramedBlock(NamedTuple):
    """A block in Hadoop's framing.

    Attributes:
        content: Bytes of its uncompressed content.
        start: Offset of its LZ4 block.
        length: Bytes of its LZ4 block.
    """

    content: int
    start: int
    length: int


def blocks(data: bytes | memoryview) -> list[FramedBlock]:
    """The blocks of Hadoop's framing. Raises `Malformed` if the lengths do not add up to the end."""
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
