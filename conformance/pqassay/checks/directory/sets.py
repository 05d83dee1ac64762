"""Checks of distinct sets: structure (tier ``index``), and values of distinct sets and IDX1 blobs (tier ``values``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pqassay.checks import rule
from pqassay.checks.directory.entries import entries_of, row_group_of
from pqassay.checks.directory.values import DESCRIBED, first_of
from pqassay.checks.value_rules import value_rule
from pqassay.under_test.index_directory import EntryUnderTest
from pqassay.under_test.violation import Violation
from pqassay.values.claims.wording import plural
from pqassay.values.directory.blob import blob_of
from pqassay_spec.directory.codes import IndexType
from pqassay_spec.directory.distinct_set import KNOWN_FLAGS, SetFlags
from pqassay_spec.directory.packed_values import sort_keys
from pqassay_spec.parquet.column_order import FLOATING, Order, is_nan, shown

if TYPE_CHECKING:
    from pqassay.values.directory.sets import DescribedSet

SETS = entries_of(IndexType.DISTINCT_SET)
"""Entries of distinct sets."""


@rule("DIR-022", of=entries_of(IndexType.DISTINCT_SET, IndexType.ZONE_SUMS))
def values_are_as_many_as_it_says(entry: EntryUnderTest) -> None:
    """Reading the values raises the violation."""
    blob = blob_of(entry)
    if entry.head.type == IndexType.DISTINCT_SET:
        for number in range(len(blob.sets)):
            blob.values_of_part(number)
        return
    _ = blob.key_columns
    blob.bounds("minima")
    blob.bounds("maxima")


@rule("DIR-024", of=SETS)
def flags_are_known(entry: EntryUnderTest) -> Iterator[Violation]:
    """A later version may give other flags a meaning that this writer did not intend."""
    blob = blob_of(entry)
    for number, part in enumerate(blob.sets):
        if part.head.flags & ~KNOWN_FLAGS:
            yield blob.head_spot(number, "flags").violation(
                f"{entry}: part {number} has flags {part.head.flags:#x}",
                f"no others than {KNOWN_FLAGS:#x}",
                f"{part.head.flags:#x}",
                row_group=row_group_of(entry, number),
            )


@rule("DIR-025", of=SETS)
def values_ascend(entry: EntryUnderTest) -> Iterator[Violation]:
    """A binary search misses values that are out of order."""
    blob = blob_of(entry)
    for number in range(len(blob.sets)):
        for problem, expected, actual in _disorder(blob.values_of_part(number), entry.order):
            message, row_group = f"{entry}: in part {number} {problem}", row_group_of(entry, number)
            yield blob.values_spot(number).violation(message, expected, actual, row_group=row_group)


def _disorder(raws: Sequence[bytes], order: Order) -> Iterator[tuple[str, str, str]]:
    """The first value that violates the order: where, what was expected, and the value."""
    keys = sort_keys(order, raws)
    if order in FLOATING and any(is_nan(order, raw) for raw in raws):
        yield "a NaN is listed", "the flag NAN", "NaN"
        return
    for place in range(1, len(keys)):
        if not keys[place - 1] < keys[place]:
            before, after = shown(order, raws[place - 1]), shown(order, raws[place])
            yield f"{after} follows {before}", "distinct values in ascending order", f"{before}, {after}"
            return


@value_rule("DIR-026", of=SETS, audited=DESCRIBED)
def complete_sets_list_every_value(part: DescribedSet) -> Iterator[Violation]:
    """A reader that looks for a missing value skips the part."""
    if part.flags & SetFlags.COMPLETE:
        yield from _missing(part, f"the complete set of {part}")


@value_rule("DIR-045", of=entries_of(IndexType.IDX1), audited=DESCRIBED)
def idx1_lists_every_value(part: DescribedSet) -> Iterator[Violation]:
    """A reader that looks for a missing value skips the file."""
    return _missing(part, f"the IDX1 blob of {part}")


def _missing(part: DescribedSet, listing: str) -> Iterator[Violation]:
    """Violations for the values that occur but are not listed."""
    if missing := sorted(part.missing):
        values = _values(part, missing)
        yield part.blob.values_spot(part.number).violation(
            f"{listing} lacks {plural(len(missing), 'value')} of it: {values}",
            f"{values} listed",
            "not there",
        )


def _values(part: DescribedSet, raws: Sequence[bytes]) -> str:
    return first_of(raws, lambda raw: shown(part.entry.order, raw))


def _wrong_flags(part: DescribedSet, *, lacking: bool) -> Iterator[Violation]:
    """Violations for missing flags (``lacking``), or for superfluous flags."""
    holds, has, expected = ("a", "no", "the") if lacking else ("no", "the", "no")
    for flag, what, occurs in (
        (SetFlags.NULLS, "null", part.has_null),
        (SetFlags.NAN, "NaN", part.has_nan),
    ):
        if occurs is lacking and bool(part.flags & flag) is not lacking:
            yield part.blob.head_spot(part.number, "flags").violation(
                f"{part} holds {holds} {what}, but its set has {has} flag {flag.name}",
                f"{expected} flag {flag.name}",
                f"flags {part.flags:#x}",
            )


@value_rule("DIR-027", of=SETS, audited=DESCRIBED)
def nulls_and_nan_are_flagged(part: DescribedSet) -> Iterator[Violation]:
    """A reader that looks for nulls or NaN skips a part without the flag."""
    return _wrong_flags(part, lacking=True)


@value_rule("DIR-028", of=SETS, audited=DESCRIBED)
def listed_values_occur(part: DescribedSet) -> Iterator[Violation]:
    """A superfluous value costs a read, never a row."""
    yield from _wrong_flags(part, lacking=False)
    if extra := part.extra:
        values = _values(part, extra)
        yield part.blob.values_spot(part.number).violation(
            f"the set of {part} lists {plural(len(extra), 'value')} that the part does not have: {values}",
            "values of the part only",
            values,
        )
