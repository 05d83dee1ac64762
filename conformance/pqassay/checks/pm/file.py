"""Checks of ``_pm``: the header and footer, the chain of snapshots, and the sections of later revisions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

from pqassay.checks import rule
from pqassay.checks.pm.subjects import CHAIN, PM, SNAPSHOT
from pqassay.under_test.pm.file import Chain, PmUnderTest, SnapshotUnderTest, footer_field, header_field
from pqassay.under_test.violation import Spot, Violation
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.codes import (
    LATER_FOOTER_FEATURES,
    LATER_HEADER_FEATURES,
    NO_SQUASH_TRACKER,
    REQUIRED_FEATURES,
    ColumnFlag,
    FooterFeature,
    HeaderFeature,
)
from pqassay_spec.pm.file import KNOWN_FOOTER_FEATURES, Snapshot
from pqassay_spec.pm.header import KNOWN_HEADER_FEATURES


def bits(flags: int) -> str:
    """The numbers of the set bits, for messages."""
    numbers = [str(bit) for bit in range(64) if flags >> bit & 1]
    return f"bit {numbers[0]}" if len(numbers) == 1 else f"bits {', '.join(numbers)}"


# --------------------------------------------------------------------------------------------------- opening


def says(feature: HeaderFeature) -> Callable[[PmUnderTest], bool]:
    """Whether the header sets a bit; the header need not be valid yet."""
    return lambda parsed: bool(parsed.fixed.feature_flags & feature)


def has(feature: HeaderFeature) -> Callable[[PmUnderTest], bool]:
    """Whether a readable header sets a bit."""
    return lambda parsed: parsed.has(feature)


@rule("PM-001", of=PM)
@rule("PM-002", of=PM)
def beginning_can_be_read(parsed: PmUnderTest) -> None:
    """Reading the committed size and the header's fields raises the violation."""
    _ = parsed.fixed


@rule("PM-004", of=PM)
@rule("PM-007", of=PM, only=says(HeaderFeature.BLOOM_FILTERS_EXTERNAL))
@rule("PM-008", of=PM, only=says(HeaderFeature.SORTING_IS_DTS_ASC))
@rule("PM-011", of=PM)
@rule("PM-040", of=PM, only=has(HeaderFeature.BLOOM_FILTERS))
@rule("PM-041", of=PM, only=has(HeaderFeature.BLOOM_FILTERS))
def header_can_be_read(parsed: PmUnderTest) -> None:
    """Reading the header raises the violation."""
    _ = parsed.header


@rule("PM-012", of=PM)
@rule("PM-014", of=PM)
@rule("PM-015", of=PM)
def newest_footer_can_be_read(parsed: PmUnderTest) -> None:
    """Reading the footer raises the violation."""
    _ = parsed.newest


@rule("PM-019", of=CHAIN)
@rule("PM-020", of=CHAIN, only=lambda chain: len(chain.snapshots) > 1 or not chain.is_whole)
def earlier_footers_can_be_read(chain: Chain) -> None:
    """Walking the chain raises the violation."""
    chain.require_whole()


@rule("PM-003", of=PM)
def header_reserved_is_zero(parsed: PmUnderTest) -> Iterator[Violation]:
    """This is the field RESERVED of the header."""
    found = parsed.fixed.reserved
    if found:
        yield header_field("reserved").violation(f"RESERVED is {found:#x}", "0", f"{found:#x}")


@rule("PM-005", of=PM)
def optional_header_bits_are_known(parsed: PmUnderTest) -> Iterator[Violation]:
    """These are unnamed bits below 32. If they have sections, these are stored between the header and the first block."""
    flags = parsed.fixed.feature_flags
    if unknown := flags & ~REQUIRED_FEATURES & ~KNOWN_HEADER_FEATURES:
        said = f"{bits(unknown)} of FEATURE_FLAGS is not known; readers ignore the section that it announces"
        yield header_field("feature_flags").violation(
            said, f"nothing but {bits(KNOWN_HEADER_FEATURES)}", f"{flags:#x}"
        )


@rule("PM-006", of=PM)
def later_revisions_are_named(parsed: PmUnderTest) -> Iterator[Violation]:
    """These are header bit 3 and footer bits 0 to 2."""
    if later := parsed.header.features & LATER_HEADER_FEATURES:
        message = f"{later.name} ({bits(later)}) was added by a later revision"
        yield header_field("feature_flags").violation(message, "", f"{parsed.fixed.feature_flags:#x}")
    for snapshot in parsed.in_reach:
        flags = snapshot.fields.footer_feature_flags
        if found := FooterFeature(flags & LATER_FOOTER_FEATURES):
            message = f"{found.name} ({bits(found)}) was added by a later revision"
            yield footer_field(snapshot, "footer_feature_flags").violation(message, "", f"{flags:#x}")


@rule("PM-009", of=PM, only=has(HeaderFeature.SORTING_IS_DTS_ASC))
def implied_sorting_stands_alone(parsed: PmUnderTest) -> Iterator[Violation]:
    """Bit 2 already defines the whole sorting."""
    count = parsed.header.fixed.sorting_column_count
    if count:
        said = f"SORTING_IS_DTS_ASC (bit 2) is set, and {count} sorting columns are also listed"
        yield header_field("sorting_column_count").violation(said, "0", str(count))


@rule("PM-010", of=PM, only=has(HeaderFeature.SORTING_IS_DTS_ASC))
def implied_sorting_ascends(parsed: PmUnderTest) -> Iterator[Violation]:
    """Bit 2 says that the designated timestamp ascends."""
    column = parsed.columns[parsed.designated]
    if column.described.flags & ColumnFlag.DESCENDING:
        said = (
            "DESCENDING (bit 4) is set on the designated timestamp, but "
            "SORTING_IS_DTS_ASC (bit 2) in the header"
        )
        yield column.violation("flags", said, "bit 4 clear", f"{column.described.flags:#x}")


@rule("PM-013", of=SNAPSHOT)
def footer_is_filled(reached: SnapshotUnderTest) -> Iterator[Violation]:
    """Reading the footer reports parts that do not fit; this rule reports unused bytes."""
    snapshot = reached.snapshot
    left = snapshot.checksum_offset - snapshot.sections_end
    unknown = reached.flags & ~REQUIRED_FEATURES & ~KNOWN_FOOTER_FEATURES
    # A header bit may add a section to the footer, as for bloom filters.
    unknown |= reached.parsed.fixed.feature_flags & ~REQUIRED_FEATURES & ~KNOWN_HEADER_FEATURES
    if left and not unknown:
        said = f"{left} bytes are between the footer's sections and its checksum, but no flag announces them"
        spot = Spot(f"{snapshot.path}.footer_length", snapshot.size - pm.TRAILER_SIZE, pm.TRAILER_SIZE)
        yield spot.violation(said, str(snapshot.length - left), str(snapshot.length))


@rule("PM-016", of=SNAPSHOT)
def optional_footer_bits_are_known(reached: SnapshotUnderTest) -> Iterator[Violation]:
    """These are unnamed bits below 32."""
    if unknown := reached.flags & ~REQUIRED_FEATURES & ~KNOWN_FOOTER_FEATURES:
        said = (
            f"{bits(unknown)} of FOOTER_FEATURE_FLAGS is not known; readers ignore the "
            "section that it announces"
        )
        yield footer_field(reached.snapshot, "footer_feature_flags").violation(
            said, f"nothing but {bits(KNOWN_FOOTER_FEATURES)}", f"{reached.flags:#x}"
        )


# ----------------------------------------------------------------------------------------------- the chain


@rule("PM-017", of=CHAIN)
def newest_checksum_is_right(chain: Chain) -> Iterator[Violation]:
    """Readers verify this checksum."""
    return _wrong_checksums(chain, chain.snapshots[:1])


@rule("PM-018", of=CHAIN, only=lambda chain: len(chain.snapshots) > 1 or chain.problem is not None)
def earlier_checksums_are_right(chain: Chain) -> Iterator[Violation]:
    """Each earlier snapshot was the newest when it was written."""
    yield from _wrong_checksums(chain, chain.snapshots[1:])
    chain.require_whole()


def _wrong_checksums(chain: Chain, snapshots: list[Snapshot]) -> Iterator[Violation]:
    for snapshot in snapshots:
        computed = chain.checksums[snapshot.number]
        if computed != snapshot.checksum:
            said = f"the CRC-32 of the bytes [{pm.CRC_START}, {snapshot.checksum_offset}) is {computed:#010x}"
            spot = Spot(f"{snapshot.path}.checksum", snapshot.checksum_offset, pm.CHECKSUM_SIZE)
            yield spot.violation(said, f"{computed:#010x}", f"{snapshot.checksum:#010x}")


@rule("PM-080", of=CHAIN)
def unused_bytes_are_plausible(chain: Chain) -> Iterator[Violation]:
    """The number is at most the file size, and never less than in the snapshot before."""
    impossible: set[int] = set()
    for snapshot in chain.snapshots:
        unused, size = snapshot.fields.unused_bytes, snapshot.fields.parquet_file_size
        if unused > size:
            impossible.add(snapshot.number)
            message = f"{unused} dead bytes in a Parquet file of {size}"
            yield footer_field(snapshot, "unused_bytes").violation(message, f"at most {size}", str(unused))
    for snapshot, before in pairwise(chain.snapshots):
        less, more = snapshot.fields.unused_bytes, before.fields.unused_bytes
        if less < more and before.number not in impossible:
            message = f"{less} dead bytes, fewer than the {more} of the previous snapshot"
            yield footer_field(snapshot, "unused_bytes").violation(message, f"at least {more}", str(less))
    chain.require_whole()


@rule("PM-081", of=CHAIN, only=lambda chain: len(chain.snapshots) > 1 or not chain.is_whole)
def parquet_file_does_not_shrink(chain: Chain) -> Iterator[Violation]:
    """All snapshots of a file append to one Parquet file."""
    for snapshot, before in pairwise(chain.snapshots):
        size, earlier = snapshot.fields.parquet_file_size, before.fields.parquet_file_size
        if size < earlier:
            said = f"the Parquet file has {size} bytes, fewer than the {earlier} of the previous snapshot"
            yield footer_field(snapshot, "parquet_footer_offset").violation(
                said, f"at least {earlier}", str(size)
            )
    chain.require_whole()


# ---------------------------------------------------------------------------------------------- extensions


@rule(
    "PM-085",
    of=SNAPSHOT,
    only=lambda reached: not {"seq_txn", "scratchpad"}.isdisjoint(reached.snapshot.sections),
)
def notes_are_well_formed(reached: SnapshotUnderTest) -> Iterator[Violation]:
    """Reading the footer raises the violation."""
    if "scratchpad" in reached.snapshot.sections:
        value, start = reached.snapshot.sections["scratchpad"]
        if not value.entry_count:
            said = "the scratchpad has no entries; leave out an empty scratchpad"
            path = f"{reached.snapshot.path}.scratchpad.entry_count"
            yield Spot(path, start, pm.SECTION_COUNT_SIZE).violation(said, "at least 1", "0")


@rule("PM-086", of=SNAPSHOT, only=lambda reached: bool(reached.flags & FooterFeature.COVERING_INDEX))
def covering_index_is_well_formed(reached: SnapshotUnderTest) -> Iterator[Violation]:
    """Reading the footer raises the violation."""
    if not reached.flags & FooterFeature.COVERING_INDEX_REQUIRED:
        message = (
            "COVERING_INDEX (bit 2) is set without COVERING_INDEX_REQUIRED (bit 32), "
            "which makes older readers refuse the file"
        )
        yield footer_field(reached.snapshot, "footer_feature_flags").violation(
            message, "bits 2, 32", f"{reached.flags:#x}"
        )
    value, start = reached.snapshot.sections["covering_index"]
    path = f"{reached.snapshot.path}.covering_index"
    if not value.index_count:
        spot = Spot(f"{path}.index_count", start, pm.SECTION_COUNT_SIZE)
        yield spot.violation("the section lists no index", "at least 1", "0")
    for number, entry in enumerate(value.indexes):
        if entry.column_id not in reached.parsed.column_ids:
            message = f"index {number} is for column {entry.column_id}, which no descriptor has as its ID"
            offset = start + pm.SECTION_COUNT_SIZE + number * pm.CoveringIndexEntry.size
            spot = Spot.member(f"{path}.indexes[{number}]", pm.CoveringIndexEntry, "column_id", offset)
            yield spot.violation(message, "the ID of a column", str(entry.column_id))


@rule("PM-087", of=PM, only=lambda parsed: parsed.header.squash_tracker is not None)
def squash_tracker_says_something(parsed: PmUnderTest) -> Iterator[Violation]:
    """-1 has the same meaning as a missing tracker."""
    header = parsed.header
    if header.squash_tracker == NO_SQUASH_TRACKER:
        width = pm.SQUASH_TRACKER.sizeof()
        spot = Spot("header_sections.squash_tracker.squash_tracker", header.end - width, width)
        said = "SQUASH_TRACKER is -1; leave out the section instead"
        yield spot.violation(said, "no section, or another number", "-1")
