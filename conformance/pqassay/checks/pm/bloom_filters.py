"""Checks of ``_pm``: entries of bloom filters, and their filters."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from pqassay.checks import rule
from pqassay.checks.pm.subjects import BLOOM_ROW, EXTERNAL_BLOOM_ROW
from pqassay.under_test.pm.blooms import GroupFilters
from pqassay.under_test.violation import Spot, Violation
from pqassay_spec.parquet.bloom import BLOCK_SIZE
from pqassay_spec.parquet.file import HEAD_SIZE
from pqassay_spec.pm import grammar as pm


@rule("PM-076", of=BLOOM_ROW)
def filters_lie_in_their_blocks(row: GroupFilters) -> Iterator[Violation]:
    """Filters are between the statistics and the next structure."""
    for bloom in row.inlined():
        if bloom.is_misplaced:
            said = f"_pm places the bloom filter of row group {row.row_group} at {bloom.offset}"
            yield bloom.violation(said, f"within [{bloom.room[0]}, {bloom.room[1]})")


@rule("PM-077", of=BLOOM_ROW)
def lengths_are_possible(row: GroupFilters) -> Iterator[Violation]:
    """The length is a whole number of filter blocks. PM-076 judges filters that are stored nowhere."""
    for bloom in row.inlined():
        if row.place is not None and not bloom.is_sized and not bloom.is_misplaced:
            path = f"{row.place.path}.bloom_filters[{bloom.position}].length"
            yield Spot(path, bloom.offset, pm.BLOOM_LENGTH_SIZE).violation(
                f"LENGTH of a bloom filter is {bloom.length}",
                f"a positive multiple of {BLOCK_SIZE}",
                str(bloom.length),
                column=bloom.column_name,
                row_group=row.row_group,
            )


@rule("PM-078", of=BLOOM_ROW)
def filters_are_apart(row: GroupFilters) -> Iterator[Violation]:
    """Compares the filters of each row group that are at a permitted place."""
    found = [bloom for bloom in row.inlined() if not bloom.is_misplaced]
    for before, bloom in pairwise(sorted(found, key=lambda bloom: (bloom.offset, bloom.position))):
        if bloom.offset < before.end:
            said = f"the bloom filter at {bloom.offset} overlaps the one of column {before.column_name}"
            yield bloom.violation(said, f"{before.end} or more")


@rule("PM-079", of=EXTERNAL_BLOOM_ROW)
def external_filters_lie_in_the_body(row: GroupFilters) -> Iterator[Violation]:
    """This is the body of the Parquet file that the snapshot describes."""
    parsed = row.blooms.parsed
    end = row.snapshot.fields.parquet_footer_offset
    for position, entry in enumerate(row.external()):
        if entry == pm.NO_BLOOM:
            continue
        is_sized = entry.length > 0 and entry.length % BLOCK_SIZE == 0
        if is_sized and HEAD_SIZE <= entry.offset <= end - entry.length:
            continue
        name = "offset" if is_sized else "length"
        yield row.entry_field(position, name).violation(
            f"a bloom filter of {entry.length} bytes at {entry.offset} of the Parquet file",
            f"within [{HEAD_SIZE}, {end})" if is_sized else f"a positive multiple of {BLOCK_SIZE}",
            str(getattr(entry, name)),
            column=parsed.names[parsed.header.bloom_columns[position]],
            row_group=row.row_group,
        )
