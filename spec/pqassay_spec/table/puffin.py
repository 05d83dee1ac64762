"""Puffin files, which hold deletion vectors and statistics of Iceberg tables: blobs, and a footer that says where they are.

Source: the Puffin specification, "File structure" and "Footer structure".
"""

from __future__ import annotations

from construct import Const, Int32sl, Int32ul, Struct

MAGIC = b"PFA1"
"""The first and the last bytes of a file, and those ahead of the JSON of its footer."""

# --8<-- [start:grammar]
HEAD = Struct("magic" / Const(MAGIC) * "`PFA1`.")
TAIL = Struct(
    "size" / Int32sl * "Bytes of the JSON before it, which lists the blobs.",
    "flags" / Int32ul * "The lowest bit: the JSON is compressed.",
    "magic" / Const(MAGIC) * "`PFA1` again.",
)
# --8<-- [end:grammar]
