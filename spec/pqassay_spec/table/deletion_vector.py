r"""Deletion vectors of Delta: the deleted rows of a data file, as a bitmap of their positions.

A file of deletion vectors begins with its version. Then come the vectors, each between its length and its checksum. These two are
big-endian, but the vector itself is little-endian.  The log gives the file, the offset of the length in it, and the size of the vector.

    >>> from pqassay_spec.table.roaring import ROARING
    >>> empty = VECTOR.build({"bitmap": {"count": 0, "bitmaps": []}})
    >>> empty.hex(" ", 4)
    'd1d33964 00000000 00000000'
    >>> stored(empty).hex(" ", 4)
    '0000000c d1d33964 00000000 00000000 bf18480c'

Source: the Delta protocol, "Deletion Vector Format" and "Deletion Vector File Storage Format".
"""

from __future__ import annotations

import zlib

from construct import Bytes, Const, GreedyRange, Int8ub, Int32ub, Int32ul, Struct, this

from pqassay_spec.table.roaring import ROARING

# --8<-- [start:grammar]
MAGIC = 1681511377
"""The first bytes of a vector, as a number."""

FILE_VERSION = 1
"""The version of files of deletion vectors."""

VECTOR = Struct(
    "magic" / Const(MAGIC, Int32ul) * "Says that a bitmap in the portable format follows.",
    "bitmap" / ROARING * "The positions of the rows, the first row being 0.",
)
"""A deletion vector, as the log stores it in Z85."""

STORED = Struct(
    "size" / Int32ub * "Bytes of the vector.",
    "vector" / Bytes(this.size) * "The vector.",
    "checksum" / Int32ub * "CRC-32 of the vector.",
)
"""A deletion vector in a file."""

FILE_HEAD = Struct("version" / Int8ub * "Always 1.")
"""The beginning of a file of deletion vectors."""

FILE = Struct(*FILE_HEAD.subcons, "vectors" / GreedyRange(STORED) * "The vectors.")
"""A file of deletion vectors; the log gives the offsets of the vectors."""
# --8<-- [end:grammar]

HEAD_SIZE, SIZE_SIZE, CHECKSUM_SIZE = FILE_HEAD.sizeof(), Int32ub.sizeof(), Int32ub.sizeof()
MAGIC_SIZE = Int32ul.sizeof()


def checksum(vector: bytes) -> int:
    """The CRC-32 of a vector."""
    return zlib.crc32(vector)


def stored(vector: bytes) -> bytes:
    """The bytes of a vector in a file."""
    return STORED.build({"size": len(vector), "vector": vector, "checksum": checksum(vector)})
