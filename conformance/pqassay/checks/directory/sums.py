"""Checks of zone sums: their structure (tier ``index``), and the rows of their groups (tier ``values``)."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pqassay.checks import rule
from pqassay.checks.directory.entries import entries_of
from pqassay.checks.directory.values import DESCRIBED, first_of
from pqassay.checks.value_rules import stated, value_rule
from pqassay.under_test.file import Broken, NotApplicable, NotChecked
from pqassay.under_test.index_directory import EntryUnderTest
from pqassay.under_test.violation import Violation
from pqassay.values.claims.audit import ValueAudit
from pqassay.values.claims.wording import plural
from pqassay.values.directory.blob import blob_of
from pqassay_spec.base.errors import FormatError
from pqassay_spec.directory.codes import IndexType
from pqassay_spec.directory.packed_values import order_in_blobs, sort_keys
from pqassay_spec.directory.zone_sums import SUM_RANGE, SumKind, SumsHead, double_of, integer_sum, sum_kind
from pqassay_spec.parquet.column_order import FLOATING, is_nan, shown

if TYPE_CHECKING:
    from pqassay.values.directory.sums import ComparedGroup, DescribedSums, Key

SUMS = entries_of(IndexType.ZONE_SUMS)
"""Entries of zone sums."""


@rule("DIR-030", of=SUMS)
def parts_have_as_many_groups(entry: EntryUnderTest) -> None:
    """Following the lengths raises the violation."""
    _ = blob_of(entry).sums


@rule("DIR-031", of=SUMS)
def keys_and_sum_follow_from_the_columns(entry: EntryUnderTest) -> Iterator[Violation]:
    """Sums that are read as another type are meaningless numbers."""
    head = blob_of(entry).sums.head
    keys, kind = len(entry.leaves) - 1, sum_kind(entry.leaves[-1])
    if head.key_count != keys:
        message = f"{entry}: {head.key_count} keys and a measure, but {keys + 1} columns"
        spot = entry.blob_spot("head.key_count", *SumsHead.place("key_count"))
        yield spot.violation(message, str(keys), str(head.key_count))
    if head.sum_kind != kind:
        named = next((member.name for member in SumKind if member == head.sum_kind), str(head.sum_kind))
        message = f"{entry}: sums of kind {named}, but column {entry.leaves[-1].name} needs {kind.name}"
        spot = entry.blob_spot("head.sum_kind", *SumsHead.place("sum_kind"))
        yield spot.violation(message, kind.name, named)


@rule("DIR-032", of=SUMS)
def groups_ascend(entry: EntryUnderTest) -> Iterator[Violation]:
    """A group that occurs twice is counted twice, or one of the two is lost."""
    blob = blob_of(entry)
    _ = blob.is_consistent
    for number, part in enumerate(blob.sums_parts):
        place = blob.out_of_order(number)
        if place is None:
            continue
        if blob.sums.keys:
            spot = blob.group_spot(place, "row_count")
            message = f"group {place - part.start} of part {number} is not greater than the previous group"
            expected = "groups in ascending order of their keys, each once"
            actual = "equal or smaller keys"
        else:
            spot, expected, actual = (
                entry.blob_spot(f"part_sizes[{number}]"),
                "1 group",
                f"{len(part)} groups",
            )
            message = f"part {number} has {actual}, but there are no keys"
        row_group = entry.part_groups[number]
        yield spot.violation(f"{entry}: {message}", expected, actual, row_group=row_group)


@rule("DIR-033", of=SUMS)
def rows_add_up(entry: EntryUnderTest) -> Iterator[Violation]:
    """Readers take the count of all rows from here."""
    blob = blob_of(entry)
    _ = blob.is_consistent
    for number, part in enumerate(blob.sums_parts):
        groups, row_group = blob.groups[part.start : part.stop], entry.part_groups[number]
        for place, group in enumerate(groups, part.start):
            if group.null_count + group.nan_count > group.row_count:
                yield blob.group_spot(place, "row_count").violation(
                    f"{entry}: group {place - part.start} of part {number} has {group.row_count} rows, "
                    f"{group.null_count} nulls and {group.nan_count} NaN",
                    f"{group.null_count + group.nan_count} rows or more",
                    f"{group.row_count} rows",
                    row_group=row_group,
                )
        counted, rows = sum(group.row_count for group in groups), entry.part_rows[number]
        if counted != rows and (blob.sums.keys or len(groups) == 1):
            yield blob.group_spot(part.start, "row_count").violation(
                f"{entry}: the groups of part {number} have {counted} rows, but the part has {rows}",
                f"{rows} rows",
                f"{counted} rows",
                row_group=row_group,
            )


@rule("DIR-034", of=SUMS)
def bounds_are_those_of_groups_with_measures(entry: EntryUnderTest) -> Iterator[Violation]:
    """The counts determine which bounds belong to which group."""
    blob = blob_of(entry)
    order = entry.order
    _ = blob.is_consistent
    if any(group.null_count + group.nan_count > group.row_count for group in blob.groups):
        raise Broken("DIR-033")
    bounded = blob.bounded
    minima, maxima = blob.bounds("minima"), blob.bounds("maxima")
    for name, values in (("minima", minima), ("maxima", maxima)):
        if len(values) != len(bounded):
            if (cause := _miscounts(entry)) is not None:
                raise Broken(cause)
            yield entry.blob_spot(name).violation(
                f"{entry}: {len(values)} {name} for {len(bounded)} groups with measures",
                str(len(bounded)),
                str(len(values)),
            )
            return
    lower, upper = sort_keys(order, minima), sort_keys(order, maxima)
    for place, (least, greatest) in enumerate(zip(lower, upper, strict=True)):
        isnan = order in FLOATING and (is_nan(order, minima[place]) or is_nan(order, maxima[place]))
        if isnan or greatest < least:
            first, last = shown(order, minima[place]), shown(order, maxima[place])
            yield entry.blob_spot("minima").violation(
                f"{entry}: group {bounded[place]} has measures from {first} to {last}",
                "bounds that are not NaN, the smallest not above the largest",
                f"{first} and {last}",
                row_group=blob.row_group_of(bounded[place]),
            )


@value_rule("DIR-035", of=SUMS, audited=DESCRIBED)
def groups_are_those_that_occur(part: DescribedSums) -> Iterator[Violation]:
    """A missing or superfluous group is missing or superfluous in every answer."""
    listed, facts = part.listed, part.facts
    for verb, expected, keys in (
        ("lacks", "a group for each combination that occurs", [key for key in facts if key not in listed]),
        (
            "has too many",
            "only groups that occur",
            [key for key in listed if key not in facts],
        ),
    ):
        if keys:
            count, named = plural(len(keys), "group"), first_of(keys, lambda key: _named(part, key))
            spot = part.entry.blob_spot("keys")
            yield spot.violation(f"{part} {verb} {count}: {named}", expected, f"{count} {verb}")
    for group in part.compared:
        yield from _count(part, group, "row_count", group.facts.rows)


@value_rule("DIR-036", of=SUMS, audited=DESCRIBED)
def nulls_and_nan_are_counted(part: DescribedSums) -> Iterator[Violation]:
    """The divisor of an average excludes nulls and NaN."""
    for group in part.compared:
        yield from _count(part, group, "null_count", group.facts.nulls)
        yield from _count(part, group, "nan_count", group.facts.nans)


@value_rule("DIR-037", of=SUMS, audited=DESCRIBED)
def sums_are_those_of_the_rows(part: DescribedSums) -> Iterator[Violation]:
    """A sum that is off by one is a wrong answer without an error."""
    kind = part.blob.sums.head.sum_kind
    for group in part.compared:
        claimed: int | float
        true: int | float
        if kind == SumKind.NONE:
            claimed, true = integer_sum(group.claimed), 0
            is_right = not claimed
        elif kind == SumKind.INTEGER:
            claimed, true = integer_sum(group.claimed), group.facts.whole
            is_right = claimed == true and true in SUM_RANGE
        else:
            claimed, true = double_of(group.claimed), group.facts.double.rounded()
            is_right = _is_same(claimed, true) and not group.claimed.sum_high
        if not is_right:
            what = "that of a measure without sums" if kind == SumKind.NONE else "that of its rows"
            message = f"the sum of {_of(part, group)} is {claimed!r}, but {what} is {true!r}"
            yield part.blob.group_spot(group.place, "sum_low").violation(message, repr(true), repr(claimed))


@value_rule("DIR-038", of=SUMS, audited=DESCRIBED)
def bounds_are_those_of_the_rows(part: DescribedSums) -> Iterator[Violation]:
    """They answer MIN and MAX exactly."""
    for group in part.compared:
        for name, what, true in (
            ("minima", "smallest", group.facts.least),
            ("maxima", "largest", group.facts.greatest),
        ):
            claimed = part.blob.bound(name, group.place)
            if claimed != true:
                expected, actual = (
                    "none" if raw is None else shown(part.order, raw) for raw in (true, claimed)
                )
                message = (
                    f"the {what} measure of {_of(part, group)} is {expected}, but its entry says {actual}"
                )
                yield part.entry.blob_spot(name).violation(message, expected, actual)


def _count(part: DescribedSums, group: ComparedGroup, name: str, true: int) -> Iterator[Violation]:
    """Yield the violation if a count of a group is wrong."""
    claimed: int = getattr(group.claimed, name)
    if claimed != true:
        message = f"{name} of {_of(part, group)} is {claimed}, but its rows have {true}"
        yield part.blob.group_spot(group.place, name).violation(message, str(true), str(claimed))


def _of(part: DescribedSums, group: ComparedGroup) -> str:
    return f"{_named(part, group.key)} in {part}"


def _named(part: DescribedSums, key: Key) -> str:
    """The name of a group in messages: its keys."""
    if not key:
        return "all rows"
    keys = [
        "null" if raw is None else shown(order_in_blobs(leaf), raw)
        for leaf, raw in zip(part.entry.leaves, key, strict=False)
    ]
    return f"({', '.join(keys)})" if len(keys) > 1 else keys[0]


def _is_same(claimed: float, true: float) -> bool:
    """Whether two doubles have the same bits; all NaN are equal."""
    return struct.pack("<d", claimed) == struct.pack("<d", true) or (math.isnan(claimed) and math.isnan(true))


COUNTING: tuple[Any, ...] = (groups_are_those_that_occur, nulls_and_nan_are_counted)
"""The rules about the counts that assign bounds to groups."""


def _miscounts(entry: EntryUnderTest) -> str | None:
    """The rule about counts that an entry breaks, if its values were examined; ``None`` otherwise."""
    if entry.file.options.reaches("values"):
        with suppress(FormatError, NotApplicable, NotChecked):
            outcomes = entry.file.part(ValueAudit).outcomes
            for rule_id, counting in stated(DESCRIBED).items():
                if counting.statement in COUNTING and outcomes[rule_id].places.get(entry.column):
                    return rule_id
    return None
