"""Checks of ``_pm``: what each column chunk says, for itself.

A rule here is a function over one chunk. Of files with many chunks, `pqassay.values.pm_screens` proves in bulk which of them
cannot break a rule; the others go through the function, which is the law.
"""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule as about
from pqassay.checks.pm.columns import physical_name
from pqassay.checks.pm.file import bits
from pqassay.checks.subjects import FILE
from pqassay.under_test.file import FileUnderTest, NotApplicable
from pqassay.under_test.pm import PmUnderTest
from pqassay.under_test.pm_chunks import Broken, ChunkRule, ChunkUnderTest, Sweep
from pqassay.under_test.violation import Violation
from pqassay_spec.parquet.file import HEAD_SIZE
from pqassay_spec.pm.block import SIDES
from pqassay_spec.pm.codes import MOST_INLINE, Codec, EncodingBit, PhysicalType, StatFlag

KNOWN_ENCODINGS = sum(EncodingBit)
KNOWN_CODECS = frozenset(Codec)
INLINED_BOUNDS = sum(side.present | side.inlined for side in SIDES)


# --------------------------------------------------------------------------------------- values and nulls


def num_values(chunk: ChunkUnderTest) -> Iterator[Broken]:
    """PM-054."""
    found, rows = chunk.given.num_values, chunk.num_rows
    if chunk.described.max_rep_level:
        if found < rows:
            said = f"{found} values in {rows} rows, each of which has at least one"
            yield Broken("num_values", said, f"at least {rows}", str(found))
    elif found != rows:
        yield Broken(
            "num_values", f"{found} values in {rows} rows of a column without lists", str(rows), str(found)
        )


def null_count_is_present(chunk: ChunkUnderTest) -> Iterator[Broken]:
    """PM-055."""
    flags = chunk.given.stat_flags
    if not flags & StatFlag.NULL_COUNT_PRESENT:
        said = f"NULL_COUNT_PRESENT ({bits(StatFlag.NULL_COUNT_PRESENT)}) is clear: nobody knows the number of nulls"
        yield Broken("stat_flags", said, "bit 7 set", f"{flags:#04x}")


def nulls_are_values(chunk: ChunkUnderTest) -> Iterator[Broken]:
    """PM-056."""
    nulls, values = chunk.given.null_count, chunk.given.num_values
    if chunk.has(StatFlag.NULL_COUNT_PRESENT) and nulls > values:
        yield Broken("null_count", f"{nulls} nulls among {values} values", f"at most {values}", str(nulls))


def required_columns_have_no_nulls(chunk: ChunkUnderTest) -> Iterator[Broken]:
    """PM-057."""
    nulls = chunk.given.null_count
    if chunk.has(StatFlag.NULL_COUNT_PRESENT) and nulls and not chunk.described.max_def_level:
        said = f"{nulls} nulls in a column whose MAX_DEF_LEVEL is 0, which cannot hold any"
        yield Broken("null_count", said, "0", str(nulls))


def distinct_values_are_values(chunk: ChunkUnderTest) -> Iterator[Broken]:
    """PM-058."""
    given = chunk.given
    nulls = given.null_count if chunk.has(StatFlag.NULL_COUNT_PRESENT) else 0
    values = given.num_values - nulls  # less than none is the matter of PM-056
    if chunk.has(StatFlag.DISTINCT_COUNT_PRESENT) and given.distinct_count > values >= 0:
        said = f"{given.distinct_count} distinct values among {values} that are not null"
        yield Broken("distinct_count", said, f"at most {values}", str(given.distinct_count))


# ------------------------------------------------------------------------------------------ plain fields


def reserved_is_zero(chunk: ChunkUnderTest) -> Iterator[Broken]:
    """PM-059."""
    found = chunk.given.reserved
    if found:
        yield Broken("reserved", f"RESERVED is {found:#x}", "0", f"{found:#x}")


def codec_is_known(chunk: ChunkUnderTest) -> Iterator[Broken]:
    """PM-060."""
    found = chunk.given.codec
    if found not in KNOWN_CODECS:
        yield Broken(
            "codec", f"CODEC is {found}, which names no codec", f"0 to {max(KNOWN_CODECS)}", str(found)
        )


def encodings_are_known(chunk: ChunkUnderTest) -> Iterator[Broken]:
    """PM-061."""
    found = chunk.given.encodings
    if unknown := found & ~KNOWN_ENCODINGS:
        said = f"{bits(unknown)} of ENCODINGS is set, which means nothing"
        yield Broken("encodings", said, "bits 6, 7 clear", f"{found:#04x}")


def range_lies_in_the_body(chunk: ChunkUnderTest) -> Iterator[Broken]:
    """PM-062."""
    start, length = chunk.given.byte_range_start, chunk.given.total_compressed
    if not length and not chunk.given.num_values:
        return  # no values, no pages: writers leave the offset at 0
    if start < HEAD_SIZE or start + max(length, 1) > chunk.place.body_end:
        yield Broken(
            "byte_range_start",
            f"the chunk is said to stand at [{start}, {start + length}) of the Parquet file",
            f"within [{HEAD_SIZE}, {chunk.place.body_end})",
            f"[{start}, {start + length})",
        )


def absent_is_zero(chunk: ChunkUnderTest) -> Iterator[Broken]:
    """PM-064."""
    given = chunk.given
    counts = (
        (StatFlag.NULL_COUNT_PRESENT, "null_count", given.null_count),
        (StatFlag.DISTINCT_COUNT_PRESENT, "distinct_count", given.distinct_count),
        *((StatFlag(side.present), side.field, side.slot(given)) for side in SIDES),
    )
    for flag, name, value in counts:
        if value and not chunk.has(flag):
            said = f"{flag.name} ({bits(flag)}) is clear, and {name.upper()} is {value:#x}"
            yield Broken(name, said, "0", f"{value:#x}")
    for side in SIDES:
        stray = given.stat_flags & (side.inlined | side.exact)
        if stray and not chunk.has(side.present):
            said = f"{bits(stray)} of STAT_FLAGS is set, and {StatFlag(side.present).name} ({bits(side.present)}) is clear"
            yield Broken("stat_flags", said, f"{bits(stray)} clear", f"{given.stat_flags:#04x}")


# ------------------------------------------------------------------------------------------- statistics


def sizes_of_slots(chunk: ChunkUnderTest) -> Iterator[Broken]:
    """PM-065. An inlined statistic that is absent is the matter of PM-064."""
    for side in SIDES:
        size, inlined = chunk.size(side), chunk.has(side.inlined)
        if inlined and chunk.has(side.present) and not 1 <= size <= MOST_INLINE:
            said = f"{side.name} stands in its slot with {size} bytes"
            yield Broken("stat_sizes", said, f"1 to {MOST_INLINE}", str(size))
        elif not inlined and size:
            said = f"{side.name} does not stand in its slot, and STAT_SIZES says {size} bytes"
            yield Broken("stat_sizes", said, "0", str(size))


def width_of_slots(chunk: ChunkUnderTest) -> Iterator[Broken]:
    """PM-066. A size that is impossible is the matter of PM-065."""
    for side in SIDES:
        size, width = chunk.size(side), chunk.width
        if chunk.is_inlined(side) and 1 <= size <= MOST_INLINE and width and size != width:
            said = f"{side.name} of a {physical_name(chunk.described.physical_type)} has {size} bytes in its slot"
            yield Broken("stat_sizes", said, f"{width} bytes", f"{size} bytes")


def rest_of_slots(chunk: ChunkUnderTest) -> Iterator[Broken]:
    """PM-067."""
    for side in SIDES:
        size, slot = chunk.size(side), chunk.slot(side)
        if chunk.is_inlined(side) and 1 <= size <= MOST_INLINE and slot >> 8 * size:
            said = f"{side.name} has {size} bytes, and the slot holds {slot:#x}"
            yield Broken(side.field, said, f"{MOST_INLINE - size} zero bytes behind {size}", f"{slot:#018x}")


def long_ones_stand_out_of_line(chunk: ChunkUnderTest) -> Iterator[Broken]:
    """PM-068."""
    for side in SIDES:
        if chunk.is_out_of_line(side):
            _, length = chunk.reference(side)
            if length <= MOST_INLINE:
                said = f"{side.name} has {length} bytes and stands out of line"
                yield Broken(
                    "stat_flags", said, f"{bits(side.inlined)} set", f"{chunk.given.stat_flags:#04x}"
                )


def out_of_line_lies_in_the_region(chunk: ChunkUnderTest) -> Iterator[Broken]:
    """PM-069."""
    for side in SIDES:
        if chunk.is_out_of_line(side):
            offset, length = chunk.reference(side)
            room = chunk.region_length
            if offset + length > room:
                said = f"{side.name} is said to stand at [{offset}, {offset + length}) of the region behind the chunks"
                yield Broken(side.field, said, f"within [0, {room})", f"[{offset}, {offset + length})")


def width_out_of_line(chunk: ChunkUnderTest) -> Iterator[Broken]:
    """PM-070. One that is too short to stand there is the matter of PM-068."""
    for side in SIDES:
        if chunk.is_out_of_line(side):
            _, length = chunk.reference(side)
            if length > MOST_INLINE and chunk.width and length != chunk.width:
                kind = physical_name(chunk.described.physical_type)
                said = f"{side.name} of a {kind} has {length} bytes out of line"
                yield Broken(side.field, said, f"{chunk.width} bytes", f"{length} bytes")


def bounds_are_in_order(chunk: ChunkUnderTest) -> Iterator[Broken]:
    """PM-072."""
    if chunk.order is None:
        return
    found = {side: raw for side in SIDES if (raw := chunk.bound(side)) is not None}
    for side, raw in found.items():
        if chunk.order.is_nan(raw):
            yield Broken(
                side.field, f"{side.name} is NaN, with which nothing can be compared", "a number", "NaN"
            )
            return
    if len(found) == len(SIDES):
        least, greatest = (found[side] for side in SIDES)
        if chunk.order.is_greater(least, greatest):
            low, high = chunk.order.shown(least), chunk.order.shown(greatest)
            yield Broken("min_stat", f"MIN {low} is greater than MAX {high}", f"at most {high}", low)


def timestamp_has_bounds(chunk: ChunkUnderTest) -> Iterator[Broken]:
    """PM-074."""
    flags = chunk.given.stat_flags
    if chunk.num_rows and flags & INLINED_BOUNDS != INLINED_BOUNDS:
        said = (
            "a row group without inlined MIN and MAX of the designated timestamp has to be read to be skipped"
        )
        yield Broken("stat_flags", said, f"{bits(INLINED_BOUNDS)} set", f"{flags:#04x}")


# ------------------------------------------------------------------------------------ which of them apply


def _has_columns(parsed: PmUnderTest) -> None:
    if not parsed.header.column_count:
        raise NotApplicable


def _has_timestamp(parsed: PmUnderTest) -> None:
    """INT96 never stands in a slot."""
    if parsed.header.descriptors[parsed.designated].physical_type != PhysicalType.INT64:
        raise NotApplicable


RULES: dict[str, ChunkRule] = {
    "PM-054": num_values,
    "PM-055": null_count_is_present,
    "PM-056": nulls_are_values,
    "PM-057": required_columns_have_no_nulls,
    "PM-058": distinct_values_are_values,
    "PM-059": reserved_is_zero,
    "PM-060": codec_is_known,
    "PM-061": encodings_are_known,
    "PM-062": range_lies_in_the_body,
    "PM-064": absent_is_zero,
    "PM-065": sizes_of_slots,
    "PM-066": width_of_slots,
    "PM-067": rest_of_slots,
    "PM-068": long_ones_stand_out_of_line,
    "PM-069": out_of_line_lies_in_the_region,
    "PM-070": width_out_of_line,
    "PM-072": bounds_are_in_order,
    "PM-074": timestamp_has_bounds,
}
"""The rule of each id."""

_SUBJECTS = {"PM-074": _has_timestamp}
"""What raises `NotApplicable` where a rule has no subject."""


def _register(rule_id: str, rule: ChunkRule) -> None:
    @about(rule_id, of=FILE)
    def run(file: FileUnderTest) -> Iterator[Violation]:
        parsed = file.part(PmUnderTest)
        _ = parsed.newest
        _SUBJECTS.get(rule_id, _has_columns)(parsed)
        _ = parsed.blocks
        only = parsed.designated if rule_id in _SUBJECTS else None
        return file.part(Sweep).violations(rule_id, rule, only)


for _rule_id, _rule in RULES.items():
    _register(_rule_id, _rule)
