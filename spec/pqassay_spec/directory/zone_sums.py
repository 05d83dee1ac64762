"""Type ZONE_SUMS: counts, sums and bounds of one column for a file, each row group or each data page, grouped by keys.

The last column of the entry is the measure; the columns before it are the keys.  A part has one group for each combination
of keys that occurs in it; without keys, it has exactly one group.

    >>> double_sum([0.1] * 10), double_sum([1e308, 1e308, -1e308]), double_sum([])
    (1.0, 1e+308, 0.0)

Source: chapter ``directory.md``, section "Zone sums".
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from enum import IntEnum
from fractions import Fraction
from typing import NamedTuple

from construct import Array, Bytes, Float64l, Int8ul, Int16ul, Int32ul, Int64sl, Int64ul, Struct, this

from pqassay_spec.base.errors import Malformed
from pqassay_spec.grammar.flat_records import FlatStruct, flat_struct, member
from pqassay_spec.grammar.labelled import Labelled
from pqassay_spec.parquet.column_order import Order, type_order
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import ConvertedType, Type


class SumKind(IntEnum):
    """How a sum is written."""

    NONE = 0
    INTEGER = 1
    DOUBLE = 2


# --8<-- [start:grammar]
@flat_struct
class SumsHead(FlatStruct):
    """The beginning of the blob."""

    part_count: int = member(Int32ul, "Parts: 1, or those of the granularity.")
    group_count: int = member(Int32ul, "Groups of all parts.")
    key_count: int = member(Int16ul, "Key columns: all columns of the entry but the last.")
    sum_kind: int = member(Labelled(Int8ul, SumKind), "How sums are written.")
    reserved: int = member(Int8ul, "0.")


@flat_struct
class Group(FlatStruct):
    """The counts and the sum of one group."""

    row_count: int = member(Int64ul, "Rows.")
    null_count: int = member(Int64ul, "Rows of them whose measure is null.")
    nan_count: int = member(Int64ul, "Rows of them whose measure is NaN.")
    sum_low: int = member(
        Int64ul,
        "INTEGER: the lower 64 bits of the sum, two's complement. DOUBLE: the bits of the sum. NONE: 0.",
    )
    sum_high: int = member(Int64sl, "INTEGER: the upper 64 bits. Else 0.")


KEY_VALUES = Struct(
    "nulls" / Bytes(this._.head.group_count) * "One byte per group: 1 if the key is null, else 0.",
    "values_length" / Int64ul * "Bytes of the values.",
    "values" / Bytes(this.values_length) * "The keys that are not null, PLAIN, in the order of the groups.",
)
"""One key column."""

BOUNDS = Struct(
    "values_length" / Int64ul * "Bytes of the values.",
    "values"
    / Bytes(this.values_length)
    * "PLAIN, one for each group with a measure that is neither null nor NaN.",
)
"""The smallest or the largest measures."""

SUMS = Struct(
    "head" / SumsHead.grammar * "Counts.",
    "part_sizes" / Array(this.head.part_count, Int32ul) * "Groups of each part.",
    "groups"
    / Array(this.head.group_count, Group.grammar)
    * "The groups, part by part, ascending by keys, nulls first.",
    "keys" / Array(this.head.key_count, KEY_VALUES) * "The keys, column by column.",
    "minima" / BOUNDS * "The smallest measures.",
    "maxima" / BOUNDS * "The largest measures.",
)
"""The blob."""
# --8<-- [end:grammar]

_PART_SIZE = struct.Struct("<" + Int32ul.fmtstr[-1])
SIZE = _PART_SIZE.size
LENGTH = Int64ul.sizeof()
BITS = 8 * LENGTH
SUM_RANGE = range(-(1 << 2 * BITS - 1), 1 << 2 * BITS - 1)
"""The sums that fit into 128 bits."""


# --8<-- [start:describable]
def sum_kind(leaf: SchemaLeaf) -> SumKind:
    """The kind of sum of a measure.

    Whole numbers and decimals (without their scale) are summed exactly, floating point numbers as in `double_sum`. Measures of
    other types have only counts and bounds.
    """
    element, order = leaf.element, type_order(leaf.element)
    if order is Order.DECIMAL or (order in (Order.SIGNED, Order.UNSIGNED) and not _is_a_time(leaf)):
        return SumKind.INTEGER
    return (
        SumKind.DOUBLE if order is Order.FLOAT and element.type in (Type.FLOAT, Type.DOUBLE) else SumKind.NONE
    )


_TIMES = (
    ConvertedType.DATE,
    ConvertedType.TIME_MILLIS,
    ConvertedType.TIME_MICROS,
    ConvertedType.TIMESTAMP_MILLIS,
    ConvertedType.TIMESTAMP_MICROS,
)


def _is_a_time(leaf: SchemaLeaf) -> bool:
    """Whether the whole numbers count days or are a time, which has no sums."""
    logical, converted = leaf.element.logicalType, leaf.element.converted_type
    if logical is not None:
        return logical.DATE is not None or logical.TIME is not None or logical.TIMESTAMP is not None
    return converted in _TIMES


def is_key(leaf: SchemaLeaf) -> bool:
    """Whether a column may be a key: one value a row, of an ordered type other than floating point numbers."""
    order = type_order(leaf.element)
    return not leaf.max_repetition_level and order is not None and order not in (Order.FLOAT, Order.HALF)


# --8<-- [end:describable]


# --8<-- [start:double]
def double_sum(values: Iterable[float]) -> float:
    """The sum of floating point numbers that are not NaN: the exact sum, rounded once to the nearest double, ties to even.

    Infinities of one sign give that infinity, and infinities of both signs give NaN. An exact sum beyond the
    largest double gives an infinity. The exact sum of no values, or of zeros of any sign, is +0.0.
    """
    exact, infinite = Fraction(0), 0.0
    for value in values:
        if math.isinf(value):
            infinite += value
        else:
            exact += Fraction(value)
    if infinite != 0.0:  # an infinity, or NaN where both signs met
        return infinite
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


# --8<-- [end:double]


def integer_sum(group: Group) -> int:
    """The sum of a group whose kind is INTEGER."""
    return (group.sum_high << BITS) | group.sum_low


def integer_parts(total: int) -> tuple[int, int]:
    """Lower and upper half of a sum.

    Raises:
        ValueError: It takes more than 128 bits.
    """
    if total not in SUM_RANGE:
        raise ValueError(f"the sum {total} takes more than {2 * BITS} bits")
    return total & (1 << BITS) - 1, total >> BITS


def double_of(group: Group) -> float:
    """The sum of a group whose kind is DOUBLE."""
    return float(Float64l.parse(Int64ul.build(group.sum_low)))


def double_parts(total: float) -> tuple[int, int]:
    """The two halves of a group's sum of kind DOUBLE."""
    return int(Int64ul.parse(Float64l.build(total))), 0


class Span(NamedTuple):
    """The place of some bytes in a blob."""

    start: int
    end: int


class KeyPlace(NamedTuple):
    """The place of one key column in a blob."""

    nulls: Span
    values: Span


class SumsPlaces(NamedTuple):
    """A blob with its parsed lengths: its contents and their places.

    Attributes:
        head: Its head.
        part_sizes: Groups of each part.
        groups: Where the groups are.
        keys: Where each key column is.
        minima, maxima: Where the bounds are.
    """

    head: SumsHead
    part_sizes: tuple[int, ...]
    groups: Span
    keys: tuple[KeyPlace, ...]
    minima: Span
    maxima: Span

    def read_groups(self, blob: bytes) -> list[Group]:
        """The groups of all parts, in order."""
        return Group.read_many(blob, self.groups.start, self.head.group_count)


class _Walk:
    """A position in a blob that goes from one field to the next."""

    def __init__(self, blob: bytes) -> None:
        self.blob, self.position = blob, 0

    def take(self, length: int) -> Span:
        """The next bytes. Raises DIR-020."""
        start, self.position = self.position, self.position + length
        if self.position > len(self.blob):
            raise Malformed(
                f"{length} bytes at {start} of a blob of {len(self.blob)} bytes", rule="DIR-020", offset=start
            )
        return Span(start, self.position)

    def take_counted(self) -> Span:
        """The next length, and the bytes after it that it counts. Raises DIR-020."""
        field = self.take(LENGTH)
        return self.take(int(Int64ul.parse(self.blob[field.start : field.end])))


def sums_places(blob: bytes) -> SumsPlaces:
    """Find all parts of a blob by its lengths.

    Raises:
        Malformed: Rule DIR-020, the lengths do not fill the blob; rule DIR-030, the number of groups in the parts is not the stated one.
    """
    walk = _Walk(blob)
    head = SumsHead.read(blob, walk.take(SumsHead.size).start)
    sizes = walk.take(head.part_count * SIZE)
    part_sizes = tuple(size for (size,) in _PART_SIZE.iter_unpack(blob[sizes.start : sizes.end]))
    groups = walk.take(head.group_count * Group.size)
    keys = tuple(KeyPlace(walk.take(head.group_count), walk.take_counted()) for _ in range(head.key_count))
    minima, maxima = walk.take_counted(), walk.take_counted()
    if walk.position != len(blob):
        raise Malformed(f"the parts take {walk.position} bytes, the blob has {len(blob)}", rule="DIR-020")
    if sum(part_sizes) != head.group_count:
        raise Malformed(
            f"the parts have {sum(part_sizes)} groups, and the head says {head.group_count}",
            rule="DIR-030",
            expected=str(head.group_count),
            actual=str(sum(part_sizes)),
        )
    return SumsPlaces(head, part_sizes, groups, keys, minima, maxima)
