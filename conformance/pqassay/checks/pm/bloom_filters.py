"""Checks of ``_pm``: entries of bloom filters, and the filters that they refer to."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from pqassay.checks import rule
from pqassay.checks.subjects import FILE
from pqassay.under_test.file import FileUnderTest, NotApplicable
from pqassay.under_test.pm import PmUnderTest
from pqassay.under_test.pm_blooms import BloomFilter, BloomFilters
from pqassay.under_test.violation import Violation
from pqassay_spec.parquet.bloom import BLOCK_SIZE
from pqassay_spec.parquet.file import HEAD_SIZE
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.codes import HeaderFeature


def _filters(file: FileUnderTest, *, external: bool) -> BloomFilters:
    """The bloom filters of a file; `NotApplicable` unless it has some of this kind."""
    parsed = file.part(PmUnderTest)
    if not parsed.has(HeaderFeature.BLOOM_FILTERS):
        raise NotApplicable
    found = file.part(BloomFilters)
    if found.are_external != external or not parsed.places:
        raise NotApplicable
    _ = parsed.blocks
    return found


def _at_entry(blooms: BloomFilters, bloom: BloomFilter, message: str, expected: str) -> Violation:
    path, offset = blooms.entry_place(bloom.row, bloom.position)
    return Violation(
        message,
        f"{path}.offset",
        offset,
        pm.InlinedBloom.size,
        expected=expected,
        actual=f"[{bloom.offset}, {bloom.end})" if bloom.is_sized else str(bloom.offset),
        column=blooms.parsed.names[bloom.column],
        row_group=bloom.row.row_group,
    )


@rule("PM-076", of=FILE)
def filters_lie_in_their_blocks(file: FileUnderTest) -> Iterator[Violation]:
    """Behind the statistics, before the next structure."""
    blooms = _filters(file, external=False)
    for row in blooms.suspects():
        for bloom in blooms.inlined(row):
            if row.place is not None and blooms.is_misplaced(bloom):
                start, end = blooms.region_ends[row.place.offset], row.place.follows
                said = f"the bloom filter of row group {row.row_group} is said to stand at {bloom.offset}"
                yield _at_entry(blooms, bloom, said, f"within [{start}, {end})")


@rule("PM-077", of=FILE)
def lengths_are_possible(file: FileUnderTest) -> Iterator[Violation]:
    """A number of blocks. A filter that stands nowhere is the matter of PM-076."""
    blooms = _filters(file, external=False)
    for row in blooms.suspects():
        for bloom in blooms.inlined(row):
            if row.place is not None and not bloom.is_sized and not blooms.is_misplaced(bloom):
                yield Violation(
                    f"LENGTH of a bloom filter is {bloom.length}",
                    f"{row.place.path}.bloom_filters[{bloom.position}].length",
                    bloom.offset,
                    pm.BLOOM_LENGTH_SIZE,
                    expected=f"a positive multiple of {BLOCK_SIZE}",
                    actual=str(bloom.length),
                    column=blooms.parsed.names[bloom.column],
                    row_group=row.row_group,
                )


@rule("PM-078", of=FILE)
def filters_are_apart(file: FileUnderTest) -> Iterator[Violation]:
    """Of each row group, those that stand where they may."""
    blooms = _filters(file, external=False)
    for row in blooms.suspects():
        found = [bloom for bloom in blooms.inlined(row) if not blooms.is_misplaced(bloom)]
        for before, bloom in pairwise(sorted(found, key=lambda bloom: (bloom.offset, bloom.position))):
            if bloom.offset < before.end:
                name = blooms.parsed.names[before.column]
                said = f"the bloom filter at {bloom.offset} begins before that of column {name} ends"
                yield _at_entry(blooms, bloom, said, f"{before.end} or more")


@rule("PM-079", of=FILE)
def external_filters_lie_in_the_body(file: FileUnderTest) -> Iterator[Violation]:
    """Of the Parquet file that the snapshot describes."""
    blooms = _filters(file, external=True)
    columns = blooms.parsed.header.bloom_columns
    record = pm.BloomEntry
    for row in blooms.rows:
        end = row.snapshot.fields.parquet_footer_offset
        for position, entry in enumerate(blooms.external(row)):
            if entry == pm.NO_BLOOM:
                continue
            is_sized = entry.length > 0 and entry.length % BLOCK_SIZE == 0
            if is_sized and HEAD_SIZE <= entry.offset <= end - entry.length:
                continue
            name = "offset" if is_sized else "length"
            path, offset = blooms.entry_place(row, position)
            yield Violation(
                f"a bloom filter of {entry.length} bytes at {entry.offset} of the Parquet file",
                f"{path}.{name}",
                offset + record.offsets[name],
                record.widths[name],
                expected=f"within [{HEAD_SIZE}, {end})"
                if is_sized
                else f"a positive multiple of {BLOCK_SIZE}",
                actual=str(entry.offset if is_sized else entry.length),
                column=blooms.parsed.names[columns[position]],
                row_group=row.row_group,
            )
