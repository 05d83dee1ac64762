"""Types HLL and KLL: sketches of Apache DataSketches, one for a file, each row group or each data page.

A blob holds the sketches as that library serializes them; only what every reader needs of their first bytes is declared
here.

Source: chapter ``directory.md``, section "Sketches"; Apache DataSketches, ``PreambleUtil`` of the families HLL and KLL.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from construct import Array, Bytes, Int8ul, Int16ul, Int32ul, Int64ul, Struct, this

from pqassay_spec.base.errors import Malformed
from pqassay_spec.grammar.flat_records import FlatStruct, flat_struct, member
from pqassay_spec.grammar.labelled import Labelled


class Family(IntEnum):
    """The families of sketches, as the third byte of each sketch has them."""

    HLL = 7
    KLL = 15


def _sketch_length(blob: Any) -> int:
    return int(blob.lengths[blob._index])  # noqa: SLF001 - construct's name for a position in an array


# --8<-- [start:grammar]
SKETCHES = Struct(
    "part_count" / Int32ul * "Parts: 1, or those of the granularity.",
    "lengths" / Array(this.part_count, Int64ul) * "Bytes of each sketch.",
    "sketches"
    / Array(this.part_count, Bytes(_sketch_length))
    * "The sketches, as Apache DataSketches serializes them.",
)
"""The blob."""


@flat_struct
class HllPreamble(FlatStruct):
    """What every HLL sketch begins with."""

    preamble_ints: int = member(Int8ul, "Integers of 32 bits that the preamble takes.")
    serial_version: int = member(Int8ul, "1.")
    family: int = member(Labelled(Int8ul, Family), "7.")
    lg_k: int = member(Int8ul, "Logarithm to base 2 of the number of registers, 4 to 21.")
    lg_array: int = member(Int8ul, "Logarithm to base 2 of the size of the list or set of coupons.")
    flags: int = member(Int8ul, "Bit 2: the sketch is empty.")
    count: int = member(Int8ul, "Coupons of a list; the smallest register of an array.")
    mode: int = member(Int8ul, "Bits 0 and 1: list, set or array. Bits 2 and 3: bits of a register.")


@flat_struct
class KllPreamble(FlatStruct):
    """What every KLL sketch begins with."""

    preamble_ints: int = member(
        Int8ul, "Integers of 32 bits that the preamble takes: 2 of an empty sketch or a single value, else 5."
    )
    serial_version: int = member(Int8ul, "1; 2 of a single value.")
    family: int = member(Labelled(Int8ul, Family), "15.")
    flags: int = member(Int8ul, "Bit 0: the sketch is empty. Bit 2: it holds a single value.")
    k: int = member(Int16ul, "The parameter that the error follows from.")
    m: int = member(Int8ul, "Smallest size of a level: 8.")
    unused: int = member(Int8ul, "0.")


# --8<-- [end:grammar]

LENGTHS_START = Int32ul.sizeof()


def split_sketches(blob: bytes) -> list[bytes]:
    """The sketches of a blob.

    Raises:
        Malformed: Rule DIR-020, the lengths do not fill the blob.
    """
    count = Int32ul.parse(blob[:LENGTHS_START]) if len(blob) >= LENGTHS_START else -1
    position = LENGTHS_START + count * Int64ul.sizeof()
    if count < 0 or position > len(blob):
        raise Malformed(f"a blob of {len(blob)} bytes has no room for its lengths", rule="DIR-020")
    sketches: list[bytes] = []
    for length in Array(count, Int64ul).parse(blob[LENGTHS_START:position]):
        sketches.append(blob[position : position + length])
        position += length
    if position != len(blob):
        raise Malformed(f"the parts take {position} bytes, the blob has {len(blob)}", rule="DIR-020")
    return sketches


def build_sketches(sketches: Sequence[bytes]) -> bytes:
    """The blob of some sketches."""
    lengths = b"".join(Int64ul.build(len(sketch)) for sketch in sketches)
    return Int32ul.build(len(sketches)) + lengths + b"".join(sketches)
