"""Checks of the structure of zone sums, tier ``index``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.directory.entries import entries_of
from pqassay.checks.directory.values import miscounts
from pqassay.under_test.file import Broken
from pqassay.under_test.index_directory import EntryUnderTest
from pqassay.under_test.violation import Violation
from pqassay.values.directory.blob import blob_of
from pqassay_spec.directory.codes import IndexType
from pqassay_spec.directory.packed_values import sort_keys
from pqassay_spec.directory.zone_sums import SumKind, SumsHead, sum_kind
from pqassay_spec.parquet.column_order import FLOATING, is_nan, shown

SUMS = entries_of(IndexType.ZONE_SUMS)
"""An entry of zone sums."""


@rule("DIR-030", of=SUMS)
def parts_have_as_many_groups(entry: EntryUnderTest) -> None:
    """Following the lengths raises what is wrong."""
    _ = blob_of(entry).sums


@rule("DIR-031", of=SUMS)
def keys_and_sum_follow_from_the_columns(entry: EntryUnderTest) -> Iterator[Violation]:
    """Sums that are read as another kind are numbers without a meaning."""
    head = blob_of(entry).sums.head
    keys, kind = len(entry.leaves) - 1, sum_kind(entry.leaves[-1])
    if head.key_count != keys:
        said = f"{entry}: {head.key_count} keys beside a measure, and {keys + 1} columns"
        spot = entry.blob_spot("head.key_count", *SumsHead.place("key_count"))
        yield spot.violation(said, str(keys), str(head.key_count), column=entry.column)
    if head.sum_kind != kind:
        named = next((member.name for member in SumKind if member == head.sum_kind), str(head.sum_kind))
        said = f"{entry}: sums of kind {named}, and those of {entry.leaves[-1].name} are {kind.name}"
        spot = entry.blob_spot("head.sum_kind", *SumsHead.place("sum_kind"))
        yield spot.violation(said, kind.name, named, column=entry.column)


@rule("DIR-032", of=SUMS)
def groups_ascend(entry: EntryUnderTest) -> Iterator[Violation]:
    """A group that occurs twice is counted twice, or once too few."""
    blob = blob_of(entry)
    _ = blob.is_consistent
    for number, part in enumerate(blob.sums_parts):
        row_group = entry.part_groups[number]
        place = blob.out_of_order(number)
        if place is None:
            continue
        if not blob.sums.keys:
            yield entry.blob_spot(f"part_sizes[{number}]").violation(
                f"{entry}: part {number} has {part.end - part.first} groups, and there are no keys",
                "1 group",
                f"{part.end - part.first} groups",
                column=entry.column,
                row_group=row_group,
            )
            continue
        yield blob.group_spot(place, "row_count").violation(
            f"{entry}: group {place - part.first} of part {number} does not come after the one before it",
            "groups in ascending order of their keys, each once",
            "the same keys again, or lesser ones",
            column=entry.column,
            row_group=row_group,
        )


@rule("DIR-033", of=SUMS)
def rows_add_up(entry: EntryUnderTest) -> Iterator[Violation]:
    """A count of all rows comes from here."""
    blob = blob_of(entry)
    _ = blob.is_consistent
    for number, part in enumerate(blob.sums_parts):
        groups, row_group = blob.groups[part.first : part.end], entry.part_groups[number]
        for place, group in enumerate(groups, part.first):
            if group.null_count + group.nan_count > group.row_count:
                yield blob.group_spot(place, "row_count").violation(
                    f"{entry}: group {place - part.first} of part {number} has {group.row_count} rows, "
                    f"{group.null_count} nulls and {group.nan_count} NaN",
                    f"{group.null_count + group.nan_count} rows or more",
                    f"{group.row_count} rows",
                    column=entry.column,
                    row_group=row_group,
                )
        counted, rows = sum(group.row_count for group in groups), entry.part_rows[number]
        if counted != rows and (blob.sums.keys or len(groups) == 1):
            yield blob.group_spot(part.first, "row_count").violation(
                f"{entry}: the groups of part {number} have {counted} rows, and the part has {rows}",
                f"{rows} rows",
                f"{counted} rows",
                column=entry.column,
                row_group=row_group,
            )


@rule("DIR-034", of=SUMS)
def bounds_are_those_of_groups_with_measures(entry: EntryUnderTest) -> Iterator[Violation]:
    """Which bounds belong to which group follows from the counts."""
    blob = blob_of(entry)
    order = entry.order
    _ = blob.is_consistent
    if any(group.null_count + group.nan_count > group.row_count for group in blob.groups):
        raise Broken("DIR-033")
    bounded = blob.bounded
    minima, maxima = blob.bounds("minima"), blob.bounds("maxima")
    for name, values in (("minima", minima), ("maxima", maxima)):
        if len(values) != len(bounded):
            if (cause := miscounts(entry)) is not None:
                raise Broken(cause)
            yield entry.blob_spot(name).violation(
                f"{entry}: {len(values)} {name} for {len(bounded)} groups with measures",
                str(len(bounded)),
                str(len(values)),
                column=entry.column,
            )
            return
    lower, upper = sort_keys(order, minima), sort_keys(order, maxima)
    for place, (least, greatest) in enumerate(zip(lower, upper, strict=True)):
        isnan = order in FLOATING and (is_nan(order, minima[place]) or is_nan(order, maxima[place]))
        if isnan or greatest < least:
            first, last = shown(order, minima[place]), shown(order, maxima[place])
            yield entry.blob_spot("minima").violation(
                f"{entry}: group {bounded[place]} has measures from {first} to {last}",
                "a smallest that is no NaN, and a largest that is not less",
                f"{first} and {last}",
                column=entry.column,
                row_group=blob.row_group_of(bounded[place]),
            )
