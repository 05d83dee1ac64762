"""Checks of ``_pm``: opening it, the chain of its snapshots, and the sections that later revisions added."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pqassay.checks import rule
from pqassay.checks.subjects import FILE
from pqassay.under_test.file import FileUnderTest, NotApplicable
from pqassay.under_test.pm import PmUnderTest
from pqassay.under_test.violation import Violation
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.codes import (
    LATER_FOOTER_FEATURES,
    LATER_HEADER_FEATURES,
    NO_COLUMN,
    NO_SQUASH_TRACKER,
    REQUIRED_FEATURES,
    ColumnFlag,
    FooterFeature,
    HeaderFeature,
)
from pqassay_spec.pm.file import KNOWN_FOOTER_FEATURES, Snapshot
from pqassay_spec.pm.header import KNOWN_HEADER_FEATURES


def bits(flags: int) -> str:
    """The numbers of the bits that are set, for messages."""
    numbers = [str(bit) for bit in range(64) if flags >> bit & 1]
    return f"bit {numbers[0]}" if len(numbers) == 1 else f"bits {', '.join(numbers)}"


# --------------------------------------------------------------------------------------------------- opening


@rule("PM-001", of=FILE)
def holds_a_header(file: FileUnderTest) -> Iterator[Violation]:
    """Reading the committed size raises it."""
    _ = file.part(PmUnderTest).fixed
    yield from ()


@rule("PM-002", of=FILE)
def committed_size_fits(file: FileUnderTest) -> Iterator[Violation]:
    """Reading the committed size raises it."""
    _ = file.part(PmUnderTest).size
    yield from ()


@rule("PM-003", of=FILE)
def header_reserved_is_zero(file: FileUnderTest) -> Iterator[Violation]:
    """RESERVED of the header."""
    parsed = file.part(PmUnderTest)
    found = parsed.fixed.reserved
    if found:
        yield parsed.in_header("reserved", f"RESERVED is {found:#x}", expected="0", actual=f"{found:#x}")


@rule("PM-004", of=FILE)
def required_header_bits_are_known(file: FileUnderTest) -> Iterator[Violation]:
    """Reading the header raises it."""
    _ = file.part(PmUnderTest).header
    yield from ()


@rule("PM-005", of=FILE)
def optional_header_bits_are_known(file: FileUnderTest) -> Iterator[Violation]:
    """Bits below 32 without a name: their sections, if they have any, stand between the header and the first block."""
    parsed = file.part(PmUnderTest)
    flags = parsed.fixed.feature_flags
    unknown = flags & ~REQUIRED_FEATURES & ~KNOWN_HEADER_FEATURES
    if unknown:
        yield parsed.in_header(
            "feature_flags",
            f"{bits(unknown)} of FEATURE_FLAGS is not known; a reader ignores what it announces",
            expected=f"nothing but {bits(KNOWN_HEADER_FEATURES)}",
            actual=f"{flags:#x}",
        )


@rule("PM-006", of=FILE)
def later_revisions_are_named(file: FileUnderTest) -> Iterator[Violation]:
    """Header bit 3 and footer bits 0 to 2."""
    parsed = file.part(PmUnderTest)
    if later := parsed.header.features & LATER_HEADER_FEATURES:
        yield parsed.in_header(
            "feature_flags",
            f"{later.name} ({bits(later)}) was added by a later revision",
            actual=f"{parsed.fixed.feature_flags:#x}",
        )
    for snapshot in parsed.in_reach:
        flags = snapshot.fields.footer_feature_flags
        if found := FooterFeature(flags & LATER_FOOTER_FEATURES):
            yield parsed.in_footer(
                snapshot,
                "footer_feature_flags",
                f"{found.name} ({bits(found)}) was added by a later revision",
                actual=f"{flags:#x}",
            )


@rule("PM-007", of=FILE)
def external_needs_blooms(file: FileUnderTest) -> Iterator[Violation]:
    """Reading the header raises it."""
    parsed = file.part(PmUnderTest)
    if not parsed.fixed.feature_flags & HeaderFeature.BLOOM_FILTERS_EXTERNAL:
        raise NotApplicable
    _ = parsed.header
    yield from ()


@rule("PM-008", of=FILE)
def implied_sorting_needs_a_timestamp(file: FileUnderTest) -> Iterator[Violation]:
    """Reading the header raises it."""
    parsed = file.part(PmUnderTest)
    if not parsed.fixed.feature_flags & HeaderFeature.SORTING_IS_DTS_ASC:
        raise NotApplicable
    _ = parsed.header
    yield from ()


@rule("PM-009", of=FILE)
def implied_sorting_stands_alone(file: FileUnderTest) -> Iterator[Violation]:
    """Bit 2 says all about the sorting."""
    parsed = file.part(PmUnderTest)
    if not parsed.has(HeaderFeature.SORTING_IS_DTS_ASC):
        raise NotApplicable
    count = parsed.header.fixed.sorting_column_count
    if count:
        yield parsed.in_header(
            "sorting_column_count",
            f"SORTING_IS_DTS_ASC (bit 2) is set, and {count} sorting columns are listed as well",
            expected="0",
            actual=str(count),
        )


@rule("PM-010", of=FILE)
def implied_sorting_ascends(file: FileUnderTest) -> Iterator[Violation]:
    """Bit 2 says that the designated timestamp ascends."""
    parsed = file.part(PmUnderTest)
    if not parsed.has(HeaderFeature.SORTING_IS_DTS_ASC):
        raise NotApplicable
    column = parsed.designated
    flags = parsed.header.descriptors[column].flags
    if flags & ColumnFlag.DESCENDING:
        yield parsed.in_descriptor(
            column,
            "flags",
            "DESCENDING (bit 4) is set on the designated timestamp, and SORTING_IS_DTS_ASC (bit 2) in the header",
            expected="bit 4 clear",
            actual=f"{flags:#x}",
        )


@rule("PM-011", of=FILE)
def header_fits(file: FileUnderTest) -> Iterator[Violation]:
    """Reading the header raises it."""
    _ = file.part(PmUnderTest).header
    yield from ()


@rule("PM-012", of=FILE)
def trailer_leads_to_the_footer(file: FileUnderTest) -> Iterator[Violation]:
    """Reading the footer raises it."""
    _ = file.part(PmUnderTest).newest
    yield from ()


@rule("PM-013", of=FILE)
def footer_is_filled(file: FileUnderTest) -> Iterator[Violation]:
    """Reading the footer raises it where its parts do not fit; here is what is left over."""
    parsed = file.part(PmUnderTest)
    for snapshot in parsed.in_reach:
        left = snapshot.checksum_offset - snapshot.sections_end
        unknown = snapshot.fields.footer_feature_flags & ~REQUIRED_FEATURES & ~KNOWN_FOOTER_FEATURES
        # A header bit may bring a section to the footer, as that of bloom filters does.
        unknown |= parsed.fixed.feature_flags & ~REQUIRED_FEATURES & ~KNOWN_HEADER_FEATURES
        if left and not unknown:
            yield Violation(
                f"{left} bytes stand between the footer's sections and its checksum, and no flag announces them",
                f"{snapshot.path}.footer_length",
                snapshot.size - pm.TRAILER_SIZE,
                pm.TRAILER_SIZE,
                expected=str(snapshot.length - left),
                actual=str(snapshot.length),
            )


@rule("PM-014", of=FILE)
def entries_fit(file: FileUnderTest) -> Iterator[Violation]:
    """Reading the footer raises it."""
    _ = file.part(PmUnderTest).newest
    yield from ()


@rule("PM-015", of=FILE)
def required_footer_bits_are_known(file: FileUnderTest) -> Iterator[Violation]:
    """Reading the footer raises it."""
    _ = file.part(PmUnderTest).newest
    yield from ()


@rule("PM-016", of=FILE)
def optional_footer_bits_are_known(file: FileUnderTest) -> Iterator[Violation]:
    """Bits below 32 without a name."""
    parsed = file.part(PmUnderTest)
    for snapshot in parsed.in_reach:
        flags = snapshot.fields.footer_feature_flags
        if unknown := flags & ~REQUIRED_FEATURES & ~KNOWN_FOOTER_FEATURES:
            yield parsed.in_footer(
                snapshot,
                "footer_feature_flags",
                f"{bits(unknown)} of FOOTER_FEATURE_FLAGS is not known; a reader ignores what it announces",
                expected=f"nothing but {bits(KNOWN_FOOTER_FEATURES)}",
                actual=f"{flags:#x}",
            )


# ----------------------------------------------------------------------------------------------- the chain


@rule("PM-017", of=FILE)
def newest_checksum_is_right(file: FileUnderTest) -> Iterator[Violation]:
    """The checksum that readers look at."""
    parsed = file.part(PmUnderTest)
    yield from _wrong_checksums(parsed, [parsed.newest])


@rule("PM-018", of=FILE)
def earlier_checksums_are_right(file: FileUnderTest) -> Iterator[Violation]:
    """The checksums of earlier snapshots, which were the newest when they were written."""
    parsed = file.part(PmUnderTest)
    earlier = parsed.chain.snapshots[1:]
    if not earlier and parsed.chain.problem is None:
        raise NotApplicable
    found = list(_wrong_checksums(parsed, earlier))
    if not found:
        parsed.chain.require_whole()
    yield from found


def _wrong_checksums(parsed: PmUnderTest, snapshots: Sequence[Snapshot]) -> Iterator[Violation]:
    for snapshot in snapshots:
        computed = parsed.checksums[snapshot.number]
        if computed != snapshot.checksum:
            yield Violation(
                f"the CRC-32 of the bytes [{pm.CRC_START}, {snapshot.checksum_offset}) is {computed:#010x}",
                f"{snapshot.path}.checksum",
                snapshot.checksum_offset,
                pm.CHECKSUM_SIZE,
                expected=f"{computed:#010x}",
                actual=f"{snapshot.checksum:#010x}",
            )


@rule("PM-019", of=FILE)
def chain_leads_back(file: FileUnderTest) -> Iterator[Violation]:
    """Walking the chain raises it."""
    chain = file.part(PmUnderTest).chain
    if chain.problem is not None and chain.problem.rule == "PM-019":
        raise chain.problem.with_traceback(None)
    chain.require_whole()
    yield from ()


@rule("PM-020", of=FILE)
def earlier_footers_can_be_read(file: FileUnderTest) -> Iterator[Violation]:
    """Walking the chain raises it."""
    chain = file.part(PmUnderTest).chain
    if chain.problem is not None and chain.problem.rule == "PM-020":
        raise chain.problem.with_traceback(None)
    if len(chain.snapshots) == 1 and chain.problem is None and not chain.cut:
        raise NotApplicable
    chain.require_whole()
    yield from ()


@rule("PM-080", of=FILE)
def unused_bytes_are_plausible(file: FileUnderTest) -> Iterator[Violation]:
    """At most the file, and never fewer than before."""
    parsed = file.part(PmUnderTest)
    found: list[Violation] = []
    for snapshot in parsed.chain.snapshots:
        unused, size = snapshot.fields.unused_bytes, snapshot.fields.parquet_file_size
        if unused > size:
            said = f"{unused} dead bytes in a Parquet file of {size}"
            found.append(
                parsed.in_footer(
                    snapshot, "unused_bytes", said, expected=f"at most {size}", actual=str(unused)
                )
            )
    broken = {violation.field for violation in found}
    for snapshot, before in zip(parsed.chain.snapshots, parsed.chain.snapshots[1:], strict=False):
        less, more = snapshot.fields.unused_bytes, before.fields.unused_bytes
        if less < more and f"{before.path}.footer.unused_bytes" not in broken:
            said = f"{less} dead bytes, where there were {more} at the snapshot before"
            found.append(
                parsed.in_footer(
                    snapshot, "unused_bytes", said, expected=f"at least {more}", actual=str(less)
                )
            )
    if not found:
        parsed.chain.require_whole()
    yield from found


@rule("PM-081", of=FILE)
def parquet_file_does_not_shrink(file: FileUnderTest) -> Iterator[Violation]:
    """Snapshots of one file are appended to one Parquet file."""
    parsed = file.part(PmUnderTest)
    chain = parsed.chain
    if len(chain.snapshots) == 1:
        chain.require_whole()
        raise NotApplicable
    found: list[Violation] = []
    for snapshot, before in zip(chain.snapshots, chain.snapshots[1:], strict=False):
        size, earlier = snapshot.fields.parquet_file_size, before.fields.parquet_file_size
        if size < earlier:
            found.append(
                parsed.in_footer(
                    snapshot,
                    "parquet_footer_offset",
                    f"the Parquet file has {size} bytes, and had {earlier} at the snapshot before",
                    expected=f"at least {earlier}",
                    actual=str(size),
                )
            )
    if not found:
        chain.require_whole()
    yield from found


# ---------------------------------------------------------------------------------------------- extensions


@rule("PM-085", of=FILE)
def notes_are_well_formed(file: FileUnderTest) -> Iterator[Violation]:
    """Reading the footer raises what does not fit."""
    parsed = file.part(PmUnderTest)
    found = [s for s in parsed.in_reach if {"seq_txn", "scratchpad"} & s.sections.keys()]
    if not found:
        raise NotApplicable
    for snapshot in found:
        if "scratchpad" not in snapshot.sections:
            continue
        value, start = snapshot.sections["scratchpad"]
        path = f"{snapshot.path}.scratchpad"
        if not value.entry_count:
            yield Violation(
                "the scratchpad has no entry; without entries there is no scratchpad",
                f"{path}.entry_count",
                start,
                pm.SECTION_COUNT_SIZE,
                expected="at least 1",
                actual="0",
            )


@rule("PM-086", of=FILE)
def covering_index_is_well_formed(file: FileUnderTest) -> Iterator[Violation]:
    """Reading the footer raises what does not fit."""
    parsed = file.part(PmUnderTest)
    found = [s for s in parsed.in_reach if s.fields.footer_feature_flags & FooterFeature.COVERING_INDEX]
    if not found:
        raise NotApplicable
    known = {descriptor.id for descriptor in parsed.header.descriptors if descriptor.id != NO_COLUMN}
    for snapshot in found:
        flags = snapshot.fields.footer_feature_flags
        if not flags & FooterFeature.COVERING_INDEX_REQUIRED:
            yield parsed.in_footer(
                snapshot,
                "footer_feature_flags",
                "COVERING_INDEX (bit 2) is set without COVERING_INDEX_REQUIRED (bit 32), by which older readers refuse it",
                expected="bits 2, 32",
                actual=f"{flags:#x}",
            )
        value, start = snapshot.sections["covering_index"]
        path = f"{snapshot.path}.covering_index"
        if not value.index_count:
            yield Violation(
                "the section lists no index",
                f"{path}.index_count",
                start,
                pm.SECTION_COUNT_SIZE,
                expected="at least 1",
                actual="0",
            )
        for number, entry in enumerate(value.indexes):
            if entry.column_id not in known:
                yield Violation(
                    f"index {number} is for column {entry.column_id}, which no descriptor has as its ID",
                    f"{path}.indexes[{number}].column_id",
                    start + pm.SECTION_COUNT_SIZE + number * pm.CoveringIndexEntry.size,
                    pm.CoveringIndexEntry.widths["column_id"],
                    expected="the ID of a column",
                    actual=str(entry.column_id),
                )


@rule("PM-087", of=FILE)
def squash_tracker_says_something(file: FileUnderTest) -> Iterator[Violation]:
    """-1 is what a file without tracker means."""
    header = file.part(PmUnderTest).header
    if header.squash_tracker is None:
        raise NotApplicable
    if header.squash_tracker == NO_SQUASH_TRACKER:
        width = pm.SQUASH_TRACKER.sizeof()
        yield Violation(
            "SQUASH_TRACKER is -1, which is said by leaving it out",
            "header_sections.squash_tracker.squash_tracker",
            header.end - width,
            width,
            expected="no section, or another number",
            actual="-1",
        )
