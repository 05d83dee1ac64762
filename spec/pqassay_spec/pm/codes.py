"""The names of ``_pm``'s numbers: type codes, codecs, encodings and every bit of every flags field.

All of these lists are open: a number or bit without a name is kept, and a rule decides about it.
Bits that later revisions added are declared as extensions (`LATER`).

Source: "Parquet metadata file" (``parquet-metadata.md``), sections "Column descriptor", "Column chunk" and "Feature flags".
"""

from __future__ import annotations

from enum import IntEnum, IntFlag

from pqassay_spec.parquet.thrift import CompressionCodec, FieldRepetitionType, Type

PhysicalType = Type
"""Physical types have Parquet's numbers."""

Codec = CompressionCodec
"""Codecs have Parquet's numbers."""

Repetition = FieldRepetitionType
"""FIELD_REPETITION, how often a column's value may occur in a row, has Parquet's numbers."""


class HeaderFeature(IntFlag):
    """Bits of the header's FEATURE_FLAGS, which apply to the whole file."""

    BLOOM_FILTERS = 1 << 0
    BLOOM_FILTERS_EXTERNAL = 1 << 1
    SORTING_IS_DTS_ASC = 1 << 2
    SQUASH_TRACKER = 1 << 3


class FooterFeature(IntFlag):
    """Bits of a footer's FOOTER_FEATURE_FLAGS, which apply only to this footer."""

    SEQ_TXN = 1 << 0
    SCRATCHPAD = 1 << 1
    COVERING_INDEX = 1 << 2
    COVERING_INDEX_REQUIRED = 1 << 32


LATER_HEADER_FEATURES = HeaderFeature.SQUASH_TRACKER
"""Header bits that later revisions added."""

LATER_FOOTER_FEATURES = FooterFeature(sum(FooterFeature))
"""Footer bits that later revisions added: all of them, since the document defines none."""

REQUIRED_FEATURES = 0xFFFFFFFF_00000000
"""The bits 32 to 63 of both fields: a reader that does not know a set bit refuses the file."""


class ColumnFlag(IntFlag):
    """Bits of a column descriptor's FLAGS, except `REPETITION`."""

    LOCAL_KEY_IS_GLOBAL = 1 << 0
    IS_ASCII = 1 << 1
    DESCENDING = 1 << 4


REPETITION_SHIFT = 2
REPETITION_MASK = 0b11 << REPETITION_SHIFT
"""The two bits of a column descriptor's FLAGS with a `Repetition`."""

KNOWN_COLUMN_FLAGS = sum(ColumnFlag) | REPETITION_MASK
"""The defined bits of a column descriptor's FLAGS; the others are 0."""


class EncodingBit(IntFlag):
    """Bits of a column chunk's ENCODINGS. Encodings of levels (RLE, BIT_PACKED) do not have a bit."""

    PLAIN = 1 << 0
    RLE_DICTIONARY = 1 << 1
    DELTA_BINARY_PACKED = 1 << 2
    DELTA_LENGTH_BYTE_ARRAY = 1 << 3
    DELTA_BYTE_ARRAY = 1 << 4
    BYTE_STREAM_SPLIT = 1 << 5


class StatFlag(IntFlag):
    """Bits of a column chunk's STAT_FLAGS."""

    MIN_STAT_PRESENT = 1 << 0
    MIN_STAT_INLINED = 1 << 1
    MIN_STAT_VALUE_EXACT = 1 << 2
    MAX_STAT_PRESENT = 1 << 3
    MAX_STAT_INLINED = 1 << 4
    MAX_STAT_VALUE_EXACT = 1 << 5
    DISTINCT_COUNT_PRESENT = 1 << 6
    NULL_COUNT_PRESENT = 1 << 7


MAX_SIZE_SHIFT = 4
SIZE_MASK = 0b1111
"""STAT_SIZES: the low nibble is the size of MIN_STAT, the high nibble (after `MAX_SIZE_SHIFT`) the size of MAX_STAT."""

MOST_INLINE = 8
"""Bytes of the longest statistic that is stored in the slot itself."""

REFERENCE_SHIFT = 16
MOST_OUT_OF_LINE = (1 << REFERENCE_SHIFT) - 1
"""Bytes of the longest statistic: an out-of-line reference is ``(offset << REFERENCE_SHIFT) | length``."""

BLOCK_SHIFT = 3
"""Offsets of blocks and of inlined bloom filters are stored shifted right by this."""

ALIGNMENT = 1 << BLOCK_SHIFT
"""Alignment of blocks and inlined bloom filters, in bytes from the start of the file."""


class ColumnType(IntEnum):
    """QuestDB's column types: the low byte of TYPE."""

    BOOLEAN = 1
    BYTE = 2
    SHORT = 3
    CHAR = 4
    INT = 5
    LONG = 6
    DATE = 7
    TIMESTAMP = 8
    FLOAT = 9
    DOUBLE = 10
    STRING = 11
    SYMBOL = 12
    LONG256 = 13
    GEOBYTE = 14
    GEOSHORT = 15
    GEOINT = 16
    GEOLONG = 17
    BINARY = 18
    UUID = 19
    LONG128 = 24
    IPV4 = 25
    VARCHAR = 26
    ARRAY = 27
    DECIMAL8 = 28
    DECIMAL16 = 29
    DECIMAL32 = 30
    DECIMAL64 = 31
    DECIMAL128 = 32
    DECIMAL256 = 33


NO_TYPE = -1
"""TYPE of a column whose QuestDB type is not known."""

NO_COLUMN = -1
"""DESIGNATED_TIMESTAMP if there is none, and ID of a column that is unknown to every table."""

NO_SQUASH_TRACKER = -1
"""SQUASH_TRACKER if there is none; a file without one lacks the section."""

TYPE_TAG_MASK = 0xFF
DESIGNATED_TYPE_BIT = 1 << 17
"""Set in the TYPE of the designated timestamp."""

NANOSECONDS_TYPE_BIT = 1 << 18
"""Set in the TYPE of a timestamp in nanoseconds."""

DESCENDING_TYPE_BIT = 1 << 20
"""Set in the TYPE of a designated timestamp in descending order."""

DECIMALS = frozenset(
    (
        ColumnType.DECIMAL8,
        ColumnType.DECIMAL16,
        ColumnType.DECIMAL32,
        ColumnType.DECIMAL64,
        ColumnType.DECIMAL128,
        ColumnType.DECIMAL256,
    )
)
"""Types whose values are unscaled numbers, in Parquet big-endian two's complement."""

ARRAY_ELEMENT_SHIFT = 8
ARRAY_ELEMENT_MASK = 0x3F
ARRAY_DIMENSIONS_SHIFT = 14
"""In the TYPE of an array: the element's type from bit 8, the number of dimensions less one from bit 14."""

DECIMAL_PRECISION_SHIFT = 8
DECIMAL_PRECISION_MASK = 0xFF
DECIMAL_SCALE_SHIFT = 18
DECIMAL_SCALE_MASK = 0xFF
"""In the TYPE of a decimal: precision from bit 8, scale from bit 18."""

GEOHASH_BITS_SHIFT = 8
GEOHASH_BITS_MASK = 0xFF
GEOHASH_TYPE_BIT = 1 << 16
"""In the TYPE of a geohash: the number of bits from bit 8, and this bit."""


def repetition(flags: int) -> int:
    """FIELD_REPETITION in a column descriptor's FLAGS; a `Repetition`, or 3, which has no name.

    >>> repetition(0b10100)
    1
    """
    return (flags & REPETITION_MASK) >> REPETITION_SHIFT


def repetition_name(number: int) -> str:
    """FIELD_REPETITION as text for people.

    >>> repetition_name(1), repetition_name(3)
    ('OPTIONAL', 'unknown 3')
    """
    return next((kind.name for kind in Repetition if kind == number), f"unknown {number}")


def column_flags_name(flags: int) -> str:
    """A column descriptor's FLAGS as text for people.

    >>> column_flags_name(0b10100), column_flags_name(0b1), column_flags_name(0b101100)
    ('OPTIONAL|DESCENDING', 'REQUIRED|LOCAL_KEY_IS_GLOBAL', 'unknown 3|unknown 0x20')
    """
    words = [repetition_name(repetition(flags))]
    words += [member.name or "" for member in ColumnFlag if flags & member]
    rest = flags & ~KNOWN_COLUMN_FLAGS
    return "|".join(words + ([f"unknown {rest:#x}"] if rest else []))


def type_tag(code: int) -> int:
    """The `ColumnType` in a TYPE code; `NO_TYPE` stays.

    >>> ColumnType(type_tag(131080)).name, type_tag(-1)
    ('TIMESTAMP', -1)
    """
    return code if code == NO_TYPE else code & TYPE_TAG_MASK


def type_name(code: int) -> str:
    """A TYPE code as text for people, with the meaning of its upper bits if it is known.

    >>> type_name(131080), type_name(0x12_0412), type_name(2587), type_name(-1), type_name(200)
    ('TIMESTAMP designated', 'BINARY', 'ARRAY', 'none', 'unknown 200')
    """
    if code == NO_TYPE:
        return "none"
    tag = type_tag(code)
    names = {member.value: member.name for member in ColumnType}
    if tag not in names:
        return f"unknown {code}"
    words = [names[tag]]
    if tag == ColumnType.TIMESTAMP:
        words += ["NS"] if code & NANOSECONDS_TYPE_BIT else []
        words += ["designated"] if code & DESIGNATED_TYPE_BIT else []
    return " ".join(words)


def block_offset(entry: int) -> int:
    """Offset of a block or bloom filter from the stored number.

    >>> block_offset(9)
    72
    """
    return entry << BLOCK_SHIFT


def stored_offset(offset: int) -> int:
    """The number to store for the offset of a block or bloom filter.

    Raises:
        ValueError: The offset is not aligned, or too far for 32 bits.
    """
    if offset % ALIGNMENT or offset >> BLOCK_SHIFT > 0xFFFFFFFF:
        raise ValueError(f"offset {offset} is not a multiple of {ALIGNMENT} below {1 << 32 + BLOCK_SHIFT}")
    return offset >> BLOCK_SHIFT


def reference(offset: int, length: int) -> int:
    """Content of the slot of a statistic that is stored out of line.

    >>> split_reference(reference(32, 12))
    (32, 12)

    Raises:
        ValueError: The statistic is too long, or too far away.
    """
    if not 0 <= length <= MOST_OUT_OF_LINE or not 0 <= offset < 1 << 64 - REFERENCE_SHIFT:
        raise ValueError(f"a statistic of {length} bytes at {offset} cannot be referred to")
    return offset << REFERENCE_SHIFT | length


def split_reference(slot: int) -> tuple[int, int]:
    """Offset, from the start of the block's out-of-line region, and length of a statistic that is stored there."""
    return slot >> REFERENCE_SHIFT, slot & MOST_OUT_OF_LINE


def stat_sizes(minimum: int, maximum: int) -> int:
    """STAT_SIZES from the sizes of the statistics that are stored in their slots, 0 for others.

    >>> hex(stat_sizes(4, 8))
    '0x84'
    """
    return minimum | maximum << MAX_SIZE_SHIFT
