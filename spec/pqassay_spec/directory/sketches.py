"""Types HLL and KLL: sketches of Apache DataSketches, one for a file, each row group or each data page.

A blob holds the sketches as that library serializes them. Declared here are only the first bytes, which every reader
needs.

Source: chapter ``directory.md``, section "Sketches"; Apache DataSketches, ``PreambleUtil`` of the families HLL and KLL.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from construct import Array, Bytes, Int8ul, Int16ul, Int32ul, Int64ul, Struct, this

from pqassay_spec.base.errors import Malformed
from pqassay_spec.grammar.constructs import expressed
from pqassay_spec.grammar.flat_records import FlatStruct, flat_struct, member
from pqassay_spec.grammar.labelled import Labelled
from pqassay_spec.grammar.xxh64 import xxh64
from pqassay_spec.parquet.column_order import FLOATING, Order, number_of, type_order
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf, is_string


class SketchFamily(IntEnum):
    """The families of sketches, by the third byte of each sketch."""

    HLL = 7
    KLL = 15


@expressed("lengths[_index]")
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
    """The beginning of every HLL sketch."""

    preamble_ints: int = member(Int8ul, "Integers of 32 bits that the preamble takes.")
    serial_version: int = member(Int8ul, "1.")
    family: int = member(Labelled(Int8ul, SketchFamily), "7.")
    lg_k: int = member(Int8ul, "Logarithm to base 2 of the number of registers, 4 to 21.")
    lg_array: int = member(Int8ul, "Logarithm to base 2 of the size of the list or set of coupons.")
    flags: int = member(Int8ul, "Bit 2: the sketch is empty.")
    count: int = member(Int8ul, "Coupons of a list; the smallest register of an array.")
    mode: int = member(Int8ul, "Bits 0 and 1: list, set or array. Bits 2 and 3: bits of a register.")


@flat_struct
class KllPreamble(FlatStruct):
    """The beginning of every KLL sketch."""

    preamble_ints: int = member(
        Int8ul, "Integers of 32 bits that the preamble takes: 2 of an empty sketch or a single value, else 5."
    )
    serial_version: int = member(Int8ul, "1; 2 of a single value.")
    family: int = member(Labelled(Int8ul, SketchFamily), "15.")
    flags: int = member(Int8ul, "Bit 0: the sketch is empty. Bit 2: it holds a single value.")
    k: int = member(Int16ul, "The parameter that the error follows from.")
    m: int = member(Int8ul, "Smallest size of a level: 8.")
    unused: int = member(Int8ul, "0.")


# --8<-- [end:grammar]


# --8<-- [start:items]
def has_quantiles(leaf: SchemaLeaf) -> bool:
    """Whether a KLL sketch can describe a column: one value a row that is a number, a decimal or a time."""
    order = type_order(leaf.element)
    return not leaf.max_repetition_level and order in (Order.SIGNED, Order.UNSIGNED, Order.DECIMAL, *FLOATING)


def is_text(leaf: SchemaLeaf) -> bool:
    """Whether an HLL sketch takes the values of a column as texts: whether the column is annotated as text."""
    element = leaf.element
    return is_string(leaf) and (element.logicalType is not None or element.converted_type is not None)


def hll_item(leaf: SchemaLeaf, raw: bytes) -> int | float | str:
    """The item that an HLL sketch takes for a value, which is not NaN: a signed number of 64 bits, a double, or a text.

    Libraries in all languages take these three types and hash them alike.  They skip an empty text.

    Raises:
        UnicodeDecodeError: A text is not UTF-8.
    """
    order = type_order(leaf.element)
    if is_text(leaf):
        return raw.decode()
    number = number_of(order, raw) if order is not None and order is not Order.DECIMAL else None
    if isinstance(number, float):
        return number + 0.0  # of the negative zero, the positive one
    return _signed(xxh64(raw) if number is None else number)


def kll_item(leaf: SchemaLeaf, raw: bytes) -> float:
    """The item that a KLL sketch takes for a value, which is not NaN: the number as a double; decimals are unscaled."""
    order = type_order(leaf.element)
    number = None if order is None else number_of(order, raw)
    if number is None:
        raise ValueError(f"{raw!r} is not a number of column {leaf.name}")
    return float(number)


# --8<-- [end:items]


def _signed(number: int) -> int:
    """The signed number of 64 bits that has the same lower 64 bits."""
    return int(struct.unpack("<q", struct.pack("<Q", number & (1 << 64) - 1))[0])


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


# --------------------------------------------------------------------------------------------------- preambles

INTEGER = Int32ul.sizeof()
"""Bytes of an integer, the unit of a preamble's length."""

COUNT = Int64ul
"""How many values a KLL sketch has seen: the field after the preamble of a sketch of several values."""

KLL_EMPTY, KLL_SINGLE = 1, 2
"""Versions of KLL sketches: the first for no value or several values, the second for a single value."""

KLL_SHORT = KllPreamble.size // INTEGER
"""Integers in the preamble of a KLL sketch that has no count."""

SIZE_PARAMETERS = {"HLL": ("lg_k", range(4, 22)), "KLL": ("k", range(8, 1 << 16))}
"""The parameter that decides the size of a family's sketches, and its allowed values."""

_PREAMBLES: dict[str, type[HllPreamble | KllPreamble]] = {"HLL": HllPreamble, "KLL": KllPreamble}
_VERSIONS = {"HLL": (1,), "KLL": (KLL_EMPTY, KLL_SINGLE)}


def preamble_problem(family: str, sketch: bytes) -> str:
    """What is wrong with the first bytes of a sketch, in words that follow its name; empty if they are right.

    >>> preamble_problem("KLL", bytes.fromhex("0201070000c80800"))
    'is of family 7, and 15 is KLL'
    """
    kind = _PREAMBLES[family]
    if len(sketch) < kind.size:
        return f"has {len(sketch)} bytes, and a preamble has {kind.size} at least"
    preamble = kind.read(sketch)
    if preamble.family != SketchFamily[family]:
        return f"is of family {preamble.family}, and {SketchFamily[family].value} is {family}"
    if preamble.serial_version not in _VERSIONS[family]:
        return f"is of version {preamble.serial_version}, which is not known"
    if not kind.size <= preamble.preamble_ints * INTEGER <= len(sketch):
        return f"has a preamble of {preamble.preamble_ints * INTEGER} bytes, and {len(sketch)} bytes in all"
    return ""


def size_parameter(family: str, sketch: bytes) -> int:
    """The size parameter of a sketch whose preamble is right: ``lg_k`` or ``k``."""
    return int(getattr(_PREAMBLES[family].read(sketch), SIZE_PARAMETERS[family][0]))


def kll_count(sketch: bytes) -> int | None:
    """How many values a KLL sketch has seen; ``None`` if its preamble is wrong."""
    if preamble_problem("KLL", sketch):
        return None
    preamble = KllPreamble.read(sketch)
    if preamble.serial_version == KLL_SINGLE:
        return 1
    end = KllPreamble.size + COUNT.sizeof()
    if preamble.preamble_ints == KLL_SHORT:
        return 0
    return int(COUNT.parse(sketch[KllPreamble.size : end])) if len(sketch) >= end else None
