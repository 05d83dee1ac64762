"""Checks of the structure of distinct sets, tier ``index``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.directory.entries import entries_of
from pqassay.under_test.index_directory import EntryUnderTest
from pqassay.under_test.violation import Violation
from pqassay.values.directory.blob import BlobUnderTest, blob_of
from pqassay_spec.directory.codes import IndexType
from pqassay_spec.directory.distinct_set import KNOWN_FLAGS
from pqassay_spec.directory.packed_values import sort_keys
from pqassay_spec.parquet.column_order import FLOATING, Order, is_nan, shown

SETS = entries_of(IndexType.DISTINCT_SET)
"""An entry of distinct sets."""


@rule("DIR-022", of=entries_of(IndexType.DISTINCT_SET, IndexType.ZONE_SUMS))
def values_are_as_many_as_it_says(entry: EntryUnderTest) -> None:
    """Reading them raises what is wrong."""
    blob = blob_of(entry)
    if entry.head.type == IndexType.DISTINCT_SET:
        for number in range(len(blob.sets)):
            blob.values_of_part(number)
        return
    for number in range(len(blob.sums.keys)):
        blob.key_values(number)
    blob.bounds("minima")
    blob.bounds("maxima")


@rule("DIR-024", of=SETS)
def flags_are_known(entry: EntryUnderTest) -> Iterator[Violation]:
    """A later version may give others a meaning, which this writer did not have in mind."""
    blob = blob_of(entry)
    for number, part in enumerate(blob.sets):
        if part.head.flags & ~KNOWN_FLAGS:
            yield blob.head_spot(number, "flags").violation(
                f"{entry}: part {number} has flags {part.head.flags:#x}",
                f"no others than {KNOWN_FLAGS:#x}",
                f"{part.head.flags:#x}",
                column=entry.column,
                row_group=_row_group(entry, number),
            )


@rule("DIR-025", of=SETS)
def values_ascend(entry: EntryUnderTest) -> Iterator[Violation]:
    """A reader that searches by halves passes a value by."""
    blob = blob_of(entry)
    for number in range(len(blob.sets)):
        if (found := _disorder(blob, number, entry.order)) is not None:
            said, expected, actual = found
            yield entry.blob_spot(
                f"values[{number}]", blob.sets[number].start, _length(blob, number)
            ).violation(
                f"{entry}: in part {number} {said}",
                expected,
                actual,
                column=entry.column,
                row_group=_row_group(entry, number),
            )


def _length(blob: BlobUnderTest, number: int) -> int:
    part = blob.sets[number]
    return part.end - part.start


def _row_group(entry: EntryUnderTest, number: int) -> int | None:
    groups = entry.part_groups
    return groups[number] if number < len(groups) else None


def _disorder(blob: BlobUnderTest, number: int, order: Order) -> tuple[str, str, str] | None:
    """What is wrong with the order of a part's values, what should be and what is; ``None`` where they ascend."""
    values = blob.values_of_part(number)
    keys = sort_keys(order, values)
    if order in FLOATING:
        for raw in values:
            if is_nan(order, raw):
                return "a NaN is listed", "the flag NAN", "NaN"
    for place in range(1, len(keys)):
        if not keys[place - 1] < keys[place]:
            before, after = shown(order, values[place - 1]), shown(order, values[place])
            return (
                f"{after} follows {before}",
                "each value once, after the lesser ones",
                f"{before}, {after}",
            )
    return None
