"""Checks of ``_pm``: what each column chunk says, for itself.

Of files with many chunks, `pqassay.values.pm.screens` proves in bulk which of them cannot break a rule; these rules are asked
about the others.
"""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.pm.columns import physical_name
from pqassay.checks.pm.file import bits
from pqassay.checks.pm.subjects import CHUNK, TIMESTAMP_CHUNK
from pqassay.under_test.pm.chunks import ChunkUnderTest
from pqassay.under_test.violation import Violation
from pqassay_spec.parquet.file import HEAD_SIZE
from pqassay_spec.pm.block import SIDES
from pqassay_spec.pm.codes import MOST_INLINE, Codec, EncodingBit, StatFlag

KNOWN_ENCODINGS = sum(EncodingBit)
KNOWN_CODECS = frozenset(Codec)
INLINED_BOUNDS = sum(side.present | side.inlined for side in SIDES)


# --------------------------------------------------------------------------------------- values and nulls


@rule("PM-054", of=CHUNK)
def values_fit_the_rows(chunk: ChunkUnderTest) -> Iterator[Violation]:
    """As many as rows, or more in a column with lists."""
    found, rows = chunk.given.num_values, chunk.num_rows
    if chunk.described.max_rep_level:
        if found < rows:
            said = f"{found} values in {rows} rows, each of which has at least one"
            yield chunk.violation("num_values", said, f"at least {rows}", str(found))
    elif found != rows:
        said = f"{found} values in {rows} rows of a column without lists"
        yield chunk.violation("num_values", said, str(rows), str(found))


@rule("PM-055", of=CHUNK)
def null_count_is_present(chunk: ChunkUnderTest) -> Iterator[Violation]:
    """NULL_COUNT_PRESENT."""
    flags = chunk.given.stat_flags
    if not flags & StatFlag.NULL_COUNT_PRESENT:
        said = f"NULL_COUNT_PRESENT ({bits(StatFlag.NULL_COUNT_PRESENT)}) is clear: nobody knows the number of nulls"
        yield chunk.violation("stat_flags", said, "bit 7 set", f"{flags:#04x}")


@rule("PM-056", of=CHUNK)
def nulls_are_values(chunk: ChunkUnderTest) -> Iterator[Violation]:
    """At most all of them."""
    nulls, values = chunk.given.null_count, chunk.given.num_values
    if chunk.has(StatFlag.NULL_COUNT_PRESENT) and nulls > values:
        said = f"{nulls} nulls among {values} values"
        yield chunk.violation("null_count", said, f"at most {values}", str(nulls))


@rule("PM-057", of=CHUNK)
def required_columns_have_no_nulls(chunk: ChunkUnderTest) -> Iterator[Violation]:
    """Its MAX_DEF_LEVEL is 0."""
    nulls = chunk.given.null_count
    if chunk.has(StatFlag.NULL_COUNT_PRESENT) and nulls and not chunk.described.max_def_level:
        said = f"{nulls} nulls in a column whose MAX_DEF_LEVEL is 0, which cannot hold any"
        yield chunk.violation("null_count", said, "0", str(nulls))


@rule("PM-058", of=CHUNK)
def distinct_values_are_values(chunk: ChunkUnderTest) -> Iterator[Violation]:
    """Fewer than no values is the matter of PM-056."""
    given = chunk.given
    nulls = given.null_count if chunk.has(StatFlag.NULL_COUNT_PRESENT) else 0
    values = given.num_values - nulls  # less than none is the matter of PM-056
    if chunk.has(StatFlag.DISTINCT_COUNT_PRESENT) and given.distinct_count > values >= 0:
        said = f"{given.distinct_count} distinct values among {values} that are not null"
        yield chunk.violation("distinct_count", said, f"at most {values}", str(given.distinct_count))


# ------------------------------------------------------------------------------------------ plain fields


@rule("PM-059", of=CHUNK)
def reserved_is_zero(chunk: ChunkUnderTest) -> Iterator[Violation]:
    """RESERVED of the chunk."""
    found = chunk.given.reserved
    if found:
        yield chunk.violation("reserved", f"RESERVED is {found:#x}", "0", f"{found:#x}")


@rule("PM-060", of=CHUNK)
def codec_is_known(chunk: ChunkUnderTest) -> Iterator[Violation]:
    """Parquet's numbers."""
    found = chunk.given.codec
    if found not in KNOWN_CODECS:
        said = f"CODEC is {found}, which names no codec"
        yield chunk.violation("codec", said, f"0 to {max(KNOWN_CODECS)}", str(found))


@rule("PM-061", of=CHUNK)
def encodings_are_known(chunk: ChunkUnderTest) -> Iterator[Violation]:
    """Bits 0 to 5."""
    found = chunk.given.encodings
    if unknown := found & ~KNOWN_ENCODINGS:
        said = f"{bits(unknown)} of ENCODINGS is set, which means nothing"
        yield chunk.violation("encodings", said, "bits 6, 7 clear", f"{found:#04x}")


@rule("PM-062", of=CHUNK)
def range_lies_in_the_body(chunk: ChunkUnderTest) -> Iterator[Violation]:
    """Of the shortest Parquet file that a snapshot describes with this block."""
    start, length = chunk.given.byte_range_start, chunk.given.total_compressed
    if not length and not chunk.given.num_values:
        return  # no values, no pages: writers leave the offset at 0
    if start < HEAD_SIZE or start + max(length, 1) > chunk.place.body_end:
        yield chunk.violation(
            "byte_range_start",
            f"the chunk is said to be at [{start}, {start + length}) of the Parquet file",
            f"within [{HEAD_SIZE}, {chunk.place.body_end})",
            f"[{start}, {start + length})",
        )


@rule("PM-064", of=CHUNK)
def absent_is_zero(chunk: ChunkUnderTest) -> Iterator[Violation]:
    """Counts and slots whose flag is clear, and the flags of such slots."""
    record = chunk.given
    counts = (
        (StatFlag.NULL_COUNT_PRESENT, "null_count", record.null_count),
        (StatFlag.DISTINCT_COUNT_PRESENT, "distinct_count", record.distinct_count),
        *((StatFlag(side.present), side.field, side.slot(record)) for side in SIDES),
    )
    for flag, name, value in counts:
        if value and not chunk.has(flag):
            said = f"{flag.name} ({bits(flag)}) is clear, and {name.upper()} is {value:#x}"
            yield chunk.violation(name, said, "0", f"{value:#x}")
    for side in SIDES:
        stray = record.stat_flags & (side.inlined | side.exact)
        if stray and not chunk.has(side.present):
            said = f"{bits(stray)} of STAT_FLAGS is set, and {StatFlag(side.present).name} ({bits(side.present)}) is clear"
            yield chunk.violation("stat_flags", said, f"{bits(stray)} clear", f"{record.stat_flags:#04x}")


# ------------------------------------------------------------------------------------------- statistics


@rule("PM-065", of=CHUNK)
def sizes_of_slots_are_possible(chunk: ChunkUnderTest) -> Iterator[Violation]:
    """An inlined statistic that is absent is the matter of PM-064."""
    for side in SIDES:
        size, inlined = chunk.size(side), chunk.has(side.inlined)
        if inlined and chunk.has(side.present) and not 1 <= size <= MOST_INLINE:
            said = f"{side.name} is in its slot with {size} bytes"
            yield chunk.violation("stat_sizes", said, f"1 to {MOST_INLINE}", str(size))
        elif not inlined and size:
            said = f"{side.name} is not in its slot, and STAT_SIZES says {size} bytes"
            yield chunk.violation("stat_sizes", said, "0", str(size))


@rule("PM-066", of=CHUNK)
def sizes_of_slots_fit_the_type(chunk: ChunkUnderTest) -> Iterator[Violation]:
    """A size that is impossible is the matter of PM-065."""
    for side in SIDES:
        size, width = chunk.size(side), chunk.width
        if chunk.is_inlined(side) and 1 <= size <= MOST_INLINE and width and size != width:
            said = f"{side.name} of a {physical_name(chunk.described.physical_type)} has {size} bytes in its slot"
            yield chunk.violation("stat_sizes", said, f"{width} bytes", f"{size} bytes")


@rule("PM-067", of=CHUNK)
def rest_of_slots_is_zero(chunk: ChunkUnderTest) -> Iterator[Violation]:
    """Behind a value that is shorter than its slot."""
    for side in SIDES:
        size, slot = chunk.size(side), chunk.slot(side)
        if chunk.is_inlined(side) and 1 <= size <= MOST_INLINE and slot >> 8 * size:
            said = f"{side.name} has {size} bytes, and the slot holds {slot:#x}"
            yield chunk.violation(
                side.field, said, f"{MOST_INLINE - size} zero bytes behind {size}", f"{slot:#018x}"
            )


@rule("PM-068", of=CHUNK)
def long_ones_stand_out_of_line(chunk: ChunkUnderTest) -> Iterator[Violation]:
    """What fits into a slot is stored there."""
    for side in SIDES:
        if chunk.is_out_of_line(side):
            _, length = chunk.reference(side)
            if length <= MOST_INLINE:
                said = f"{side.name} has {length} bytes and is stored out of line"
                yield chunk.violation(
                    "stat_flags", said, f"{bits(side.inlined)} set", f"{chunk.given.stat_flags:#04x}"
                )


@rule("PM-069", of=CHUNK)
def out_of_line_lies_in_the_region(chunk: ChunkUnderTest) -> Iterator[Violation]:
    """Behind the chunks, before the next structure."""
    for side in SIDES:
        if chunk.is_out_of_line(side):
            offset, length = chunk.reference(side)
            room = chunk.region_length
            if offset + length > room:
                said = f"{side.name} is said to be at [{offset}, {offset + length}) of the region behind the chunks"
                yield chunk.violation(
                    side.field, said, f"within [0, {room})", f"[{offset}, {offset + length})"
                )


@rule("PM-070", of=CHUNK)
def lengths_out_of_line_fit_the_type(chunk: ChunkUnderTest) -> Iterator[Violation]:
    """One that is too short to be stored there is the matter of PM-068."""
    for side in SIDES:
        if chunk.is_out_of_line(side):
            _, length = chunk.reference(side)
            if length > MOST_INLINE and chunk.width and length != chunk.width:
                kind = physical_name(chunk.described.physical_type)
                said = f"{side.name} of a {kind} has {length} bytes out of line"
                yield chunk.violation(side.field, said, f"{chunk.width} bytes", f"{length} bytes")


@rule("PM-072", of=CHUNK)
def bounds_are_in_order(chunk: ChunkUnderTest) -> Iterator[Violation]:
    """By the order of the column's type, where that is known; NaN has no place in any order."""
    if chunk.order is None:
        return
    bounds = {side: raw for side in SIDES if (raw := chunk.bound(side)) is not None}
    for side, raw in bounds.items():
        if chunk.order.is_nan(raw):
            said = f"{side.name} is NaN, with which nothing can be compared"
            yield chunk.violation(side.field, said, "a number", "NaN")
            return
    if len(bounds) == len(SIDES):
        least, greatest = (bounds[side] for side in SIDES)
        if chunk.order.is_greater(least, greatest):
            low, high = chunk.order.shown(least), chunk.order.shown(greatest)
            yield chunk.violation("min_stat", f"MIN {low} is greater than MAX {high}", f"at most {high}", low)


@rule("PM-074", of=TIMESTAMP_CHUNK)
def timestamp_has_bounds(chunk: ChunkUnderTest) -> Iterator[Violation]:
    """Both, in their slots."""
    flags = chunk.given.stat_flags
    if chunk.num_rows and flags & INLINED_BOUNDS != INLINED_BOUNDS:
        said = (
            "a row group without inlined MIN and MAX of the designated timestamp has to be read to be skipped"
        )
        yield chunk.violation("stat_flags", said, f"{bits(INLINED_BOUNDS)} set", f"{flags:#04x}")
