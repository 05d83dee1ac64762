"""Checks of ``_pm``: the fields of each column chunk, alone.

The conditions under which a rule is broken are beside its message, written for the fields of one chunk or of many
(`pqassay.under_test.pm.chunks.PmChunkFields`). In a file with many chunks, `pqassay.values.pm.screens` evaluates them for all chunks at
once; the rules then make the messages for the first violations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, NamedTuple, TypeVar

from pqassay.checks import rule
from pqassay.checks.pm.columns import physical_name
from pqassay.checks.pm.file import bits
from pqassay.checks.pm.subjects import CHUNK, TIMESTAMP_CHUNK
from pqassay.checks.subjects import Subject
from pqassay.under_test.pm.chunks import CONDITIONS, ChunkUnderTest, Condition, Conditions, PmChunkFields
from pqassay.under_test.violation import Violation
from pqassay_spec.parquet.file import HEAD_SIZE
from pqassay_spec.pm.block import SIDES, Side
from pqassay_spec.pm.codes import MOST_INLINE, Codec, EncodingBit, StatFlag

Part = TypeVar("Part")
Test = Callable[[ChunkUnderTest], Sequence[Violation]]

UNKNOWN_ENCODINGS = 0xFF & ~sum(EncodingBit)
INLINED_BOUNDS = sum(side.present | side.inlined for side in SIDES)
NULLS, DISTINCT = int(StatFlag.NULL_COUNT_PRESENT), int(StatFlag.DISTINCT_COUNT_PRESENT)
"""Flags as plain integers, which are faster than enum members."""


def chunk_rule(
    rule_id: str, *broken: Condition, of: Subject[ChunkUnderTest] = CHUNK
) -> Callable[[Callable[[ChunkUnderTest], Violation]], Test]:
    """Declare a rule that a chunk breaks if all conditions hold, tested in order. The function makes the violation."""
    return _registered(rule_id, {broken: ()}, of)


def rule_for_each(
    rule_id: str, parts: Sequence[Part], *broken: Callable[[PmChunkFields, Part], bool]
) -> Callable[[Callable[[ChunkUnderTest, Part], Violation]], Test]:
    """Declare a rule that applies to each part of a chunk, such as each bound."""

    def of(part: Part) -> Sequence[Condition]:
        return tuple(lambda chunk, holds=holds: holds(chunk, part) for holds in broken)

    return _registered(rule_id, {of(part): (part,) for part in parts}, CHUNK)


def _registered(
    rule_id: str, cases: Mapping[Conditions, tuple[Any, ...]], of: Subject[ChunkUnderTest]
) -> Callable[[Callable[..., Violation]], Test]:
    CONDITIONS[rule_id] = tuple(cases)

    def register(violation: Callable[..., Violation]) -> Test:
        @wraps(violation)
        def test(chunk: ChunkUnderTest) -> Sequence[Violation]:
            violations: tuple[Violation, ...] = ()
            for broken, part in cases.items():
                for holds in broken:
                    if not holds(chunk):
                        break
                else:
                    violations += (violation(chunk, *part),)
            return violations

        rule(rule_id, of=of)(test)
        return test

    return register


# --------------------------------------------------------------------------------------- values and nulls


@chunk_rule(
    "PM-054",
    lambda chunk: chunk.given.num_values != chunk.num_rows,
    lambda chunk: (chunk.given.num_values < chunk.num_rows) | (chunk.described.max_rep_level == 0),
)
def values_fit_the_rows(chunk: ChunkUnderTest) -> Violation:
    """The number of values equals the number of rows, or is greater in a column with lists."""
    values, rows = chunk.given.num_values, chunk.num_rows
    if chunk.described.max_rep_level:
        message = f"{values} values in {rows} rows, but each row has at least one"
        return chunk.violation("num_values", message, f"at least {rows}", str(values))
    message = f"{values} values in {rows} rows, but the column has no lists"
    return chunk.violation("num_values", message, str(rows), str(values))


@chunk_rule("PM-055", lambda chunk: chunk.lacks(NULLS))
def null_count_is_present(chunk: ChunkUnderTest) -> Violation:
    """The flag NULL_COUNT_PRESENT is set."""
    message = f"NULL_COUNT_PRESENT ({bits(NULLS)}) is clear: the number of nulls is unknown"
    return chunk.violation("stat_flags", message, "bit 7 set", f"{chunk.given.stat_flags:#04x}")


@chunk_rule(
    "PM-056",
    lambda chunk: chunk.has(NULLS),
    lambda chunk: chunk.given.null_count > chunk.given.num_values,
)
def nulls_are_values(chunk: ChunkUnderTest) -> Violation:
    """The null count is at most the number of values."""
    nulls, values = chunk.given.null_count, chunk.given.num_values
    return chunk.violation(
        "null_count", f"{nulls} nulls among {values} values", f"at most {values}", str(nulls)
    )


@chunk_rule(
    "PM-057",
    lambda chunk: chunk.described.max_def_level == 0,
    lambda chunk: chunk.has(NULLS),
    lambda chunk: chunk.given.null_count != 0,
)
def required_columns_have_no_nulls(chunk: ChunkUnderTest) -> Violation:
    """A required column has MAX_DEF_LEVEL 0."""
    nulls = chunk.given.null_count
    message = f"{nulls} nulls, but MAX_DEF_LEVEL is 0, so the column cannot hold nulls"
    return chunk.violation("null_count", message, "0", str(nulls))


def nulls_known(chunk: PmChunkFields) -> int:
    """The null count; 0 if it is absent."""
    return chunk.given.null_count * chunk.has(NULLS)


@chunk_rule(
    "PM-058",
    lambda chunk: chunk.has(DISTINCT),
    lambda chunk: nulls_known(chunk) <= chunk.given.num_values,
    lambda chunk: chunk.given.distinct_count > chunk.given.num_values - nulls_known(chunk),
)
def distinct_values_are_values(chunk: ChunkUnderTest) -> Violation:
    """PM-056 judges negative numbers of values."""
    values, distinct = chunk.given.num_values - nulls_known(chunk), chunk.given.distinct_count
    message = f"{distinct} distinct values, but only {values} non-null values"
    return chunk.violation("distinct_count", message, f"at most {values}", str(distinct))


# ------------------------------------------------------------------------------------------ plain fields


@chunk_rule("PM-059", lambda chunk: chunk.given.reserved != 0)
def reserved_is_zero(chunk: ChunkUnderTest) -> Violation:
    """This is the field RESERVED of the chunk."""
    reserved = f"{chunk.given.reserved:#x}"
    return chunk.violation("reserved", f"RESERVED is {reserved}", "0", reserved)


@chunk_rule("PM-060", lambda chunk: chunk.given.codec > max(Codec))
def codec_is_known(chunk: ChunkUnderTest) -> Violation:
    """The numbers are Parquet's, which have no gaps."""
    codec = chunk.given.codec
    return chunk.violation(
        "codec", f"CODEC is {codec}, which is not a codec", f"0 to {max(Codec)}", str(codec)
    )


@chunk_rule("PM-061", lambda chunk: chunk.given.encodings & UNKNOWN_ENCODINGS != 0)
def encodings_are_known(chunk: ChunkUnderTest) -> Violation:
    """Only bits 0 to 5 are defined."""
    encodings = chunk.given.encodings
    message = f"{bits(encodings & UNKNOWN_ENCODINGS)} of ENCODINGS is set, but has no meaning"
    return chunk.violation("encodings", message, "bits 6, 7 clear", f"{encodings:#04x}")


def lies_outside(chunk: PmChunkFields) -> bool:
    """Whether a byte of a chunk is outside the body; for an empty chunk, whether its offset is."""
    start, end = chunk.given.byte_range_start, chunk.body_end
    return (start < HEAD_SIZE) | (start >= end) | (chunk.given.total_compressed > end - start)


def has_pages(chunk: PmChunkFields) -> bool:
    """Whether a chunk has bytes or values. Without values there are no pages, and writers leave the offset at 0."""
    return (chunk.given.total_compressed != 0) | (chunk.given.num_values != 0)


@chunk_rule("PM-062", lies_outside, has_pages)
def range_lies_in_the_body(chunk: ChunkUnderTest) -> Violation:
    """The body belongs to the shortest Parquet file that a snapshot describes with this block."""
    start, end = chunk.given.byte_range_start, chunk.given.byte_range_start + chunk.given.total_compressed
    return chunk.violation(
        "byte_range_start",
        f"_pm places the chunk at [{start}, {end}) of the Parquet file",
        f"within [{HEAD_SIZE}, {chunk.body_end})",
        f"[{start}, {end})",
    )


class Guarded(NamedTuple):
    """Bits of a field that are meaningless while a flag is clear."""

    flag: StatFlag
    name: str
    mask: int = (1 << 64) - 1

    def value(self, chunk: PmChunkFields) -> int:
        """The value of these bits in a chunk."""
        number: int = getattr(chunk.given, self.name)
        return number & self.mask


GUARDED = (
    Guarded(StatFlag.NULL_COUNT_PRESENT, "null_count"),
    Guarded(StatFlag.DISTINCT_COUNT_PRESENT, "distinct_count"),
    *(Guarded(StatFlag(side.present), side.field) for side in SIDES),
    *(Guarded(StatFlag(side.present), "stat_flags", side.inlined | side.exact) for side in SIDES),
)
"""Counts and slots with their flags, and the flags of slots."""


@rule_for_each(
    "PM-064",
    GUARDED,
    lambda chunk, part: chunk.lacks(int(part.flag)),
    lambda chunk, part: part.value(chunk) != 0,
)
def absent_is_zero(chunk: ChunkUnderTest, part: Guarded) -> Violation:
    """If a flag is clear, its statistic is absent and must be zero."""
    clear, value = f"{part.flag.name} ({bits(part.flag)}) is clear", part.value(chunk)
    if part.name == "stat_flags":
        message = f"{bits(value)} of STAT_FLAGS is set, and {clear}"
        return chunk.violation(part.name, message, f"{bits(value)} clear", f"{chunk.given.stat_flags:#04x}")
    message = f"{clear}, and {part.name.upper()} is {value:#x}"
    return chunk.violation(part.name, message, "0", f"{value:#x}")


# ------------------------------------------------------------------------------------------- statistics


def has_impossible_size(chunk: PmChunkFields, side: Side) -> bool:
    """Whether an inlined statistic does not fit into its slot, or a statistic elsewhere has a size."""
    size = chunk.size(side)
    is_impossible = chunk.is_inlined(side) & ((size < 1) | (size > MOST_INLINE))
    return is_impossible | chunk.lacks(side.inlined) & (size != 0)


@rule_for_each("PM-065", SIDES, has_impossible_size)
def sizes_of_slots_are_possible(chunk: ChunkUnderTest, side: Side) -> Violation:
    """PM-064 judges absent inlined statistics."""
    size = chunk.size(side)
    if chunk.has(side.inlined):
        message = f"STAT_SIZES gives {size} bytes for {side.name} in its slot"
        return chunk.violation("stat_sizes", message, f"1 to {MOST_INLINE}", str(size))
    message = f"{side.name} is not in its slot, but STAT_SIZES gives {size} bytes"
    return chunk.violation("stat_sizes", message, "0", str(size))


@rule_for_each(
    "PM-066",
    SIDES,
    PmChunkFields.has_size,
    lambda chunk, side: chunk.size(side) != chunk.width,
    lambda chunk, _: chunk.width != 0,
)
def sizes_of_slots_fit_the_type(chunk: ChunkUnderTest, side: Side) -> Violation:
    """PM-065 judges impossible sizes."""
    size, kind = chunk.size(side), physical_name(chunk.described.physical_type)
    message = f"{side.name} of a {kind} has {size} bytes in its slot"
    return chunk.violation("stat_sizes", message, f"{chunk.width} bytes", f"{size} bytes")


@rule_for_each(
    "PM-067",
    SIDES,
    PmChunkFields.has_size,
    lambda chunk, side: chunk.slot(side) >> 8 * chunk.size(side) != 0,
)
def rest_of_slots_is_zero(chunk: ChunkUnderTest, side: Side) -> Violation:
    """These are the bytes after a value that is shorter than its slot."""
    size, slot = chunk.size(side), chunk.slot(side)
    message = f"{side.name} has {size} bytes, but the slot holds {slot:#x}"
    rest = f"{MOST_INLINE - size} zero bytes behind {size}"
    return chunk.violation(side.field, message, rest, f"{slot:#018x}")


@rule_for_each(
    "PM-068",
    SIDES,
    PmChunkFields.is_out_of_line,
    lambda chunk, side: chunk.reference(side)[1] <= MOST_INLINE,
)
def long_ones_stand_out_of_line(chunk: ChunkUnderTest, side: Side) -> Violation:
    """A statistic that fits into a slot is stored in the slot."""
    message = f"{side.name} has {chunk.reference(side)[1]} bytes and is stored out of line"
    return chunk.violation(
        "stat_flags", message, f"{bits(side.inlined)} set", f"{chunk.given.stat_flags:#04x}"
    )


@rule_for_each("PM-069", SIDES, PmChunkFields.is_out_of_line, PmChunkFields.is_stray)
def out_of_line_lies_in_the_region(chunk: ChunkUnderTest, side: Side) -> Violation:
    """The region is between the chunks and the next structure."""
    offset, length = chunk.reference(side)
    place, room = f"[{offset}, {offset + length})", chunk.region_length
    message = f"{side.name} is placed at {place} of the region behind the chunks"
    return chunk.violation(side.field, message, f"within [0, {room})", place)


def has_another_length(chunk: PmChunkFields, side: Side) -> bool:
    """Whether an out-of-line statistic has a length other than its type's; false if it is too short (PM-068)."""
    length = chunk.reference(side)[1]
    return (length > MOST_INLINE) & (chunk.width != 0) & (length != chunk.width)


@rule_for_each("PM-070", SIDES, PmChunkFields.is_out_of_line, has_another_length)
def lengths_out_of_line_fit_the_type(chunk: ChunkUnderTest, side: Side) -> Violation:
    """PM-068 judges statistics that are too short for the region."""
    length, kind = chunk.reference(side)[1], physical_name(chunk.described.physical_type)
    message = f"{side.name} of a {kind} has {length} bytes out of line"
    return chunk.violation(side.field, message, f"{chunk.width} bytes", f"{length} bytes")


@chunk_rule("PM-072", lambda chunk: chunk.is_out_of_order())
def bounds_are_in_order(chunk: ChunkUnderTest) -> Violation:
    """Bounds compare in the order of the column's type, if it is known; NaN is unordered."""
    for side in SIDES:
        if chunk.shown(side) == "nan":
            message = f"{side.name} is NaN, which cannot be compared"
            return chunk.violation(side.field, message, "a number", "NaN")
    low, high = map(chunk.shown, SIDES)
    return chunk.violation("min_stat", f"MIN {low} is greater than MAX {high}", f"at most {high}", low)


@chunk_rule(
    "PM-074",
    lambda chunk: chunk.is_timestamp,
    lambda chunk: chunk.num_rows != 0,
    lambda chunk: chunk.given.stat_flags & INLINED_BOUNDS != INLINED_BOUNDS,
    of=TIMESTAMP_CHUNK,
)
def timestamp_has_bounds(chunk: ChunkUnderTest) -> Violation:
    """Both bounds are in their slots."""
    message = "a row group without inlined MIN and MAX of the designated timestamp cannot be skipped without reading it"
    return chunk.violation(
        "stat_flags", message, f"{bits(INLINED_BOUNDS)} set", f"{chunk.given.stat_flags:#04x}"
    )
