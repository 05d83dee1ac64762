"""Checks of the structure of sketches, tier ``index``: what of their first bytes every reader needs."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.directory.entries import entries_of
from pqassay.under_test.file import Broken, NotApplicable
from pqassay.under_test.index_directory import EntryUnderTest
from pqassay.under_test.violation import Violation
from pqassay.values.directory.blob import blob_of
from pqassay_spec.directory.codes import IndexType
from pqassay_spec.directory.sketches import SIZE_PARAMETERS, preamble_problem, size_parameter

SKETCHES = entries_of(IndexType.HLL, IndexType.KLL)
"""An entry of sketches."""


@rule("DIR-040", of=SKETCHES)
def sketches_begin_with_their_preamble(entry: EntryUnderTest) -> Iterator[Violation]:
    """Libraries refuse other bytes."""
    family = IndexType(entry.head.type).name
    for number, sketch in enumerate(blob_of(entry).sketches):
        if problem := preamble_problem(family, sketch):
            yield entry.blob_spot(f"sketches[{number}]").violation(
                f"{entry}: sketch {number} {problem}",
                f"the preamble of {family}",
                sketch[:8].hex(" ") or "no byte",
                column=entry.column,
                row_group=_row_group(entry, number),
            )


@rule("DIR-041", of=SKETCHES)
def sketches_have_one_size(entry: EntryUnderTest) -> Iterator[Violation]:
    """Sketches of one size can be united without a loss."""
    sketches = blob_of(entry).sketches
    family = IndexType(entry.head.type).name
    if any(preamble_problem(family, sketch) for sketch in sketches):
        raise Broken("DIR-040")
    if not sketches:
        raise NotApplicable
    name, allowed = SIZE_PARAMETERS[family]
    first = size_parameter(family, sketches[0])
    for number, sketch in enumerate(sketches):
        found = size_parameter(family, sketch)
        if found != first or found not in allowed:
            expected = f"{allowed.start} to {allowed.stop - 1}" if found not in allowed else str(first)
            yield entry.blob_spot(f"sketches[{number}]").violation(
                f"{entry}: {name} of sketch {number} is {found}",
                expected,
                str(found),
                column=entry.column,
                row_group=_row_group(entry, number),
            )


def _row_group(entry: EntryUnderTest, number: int) -> int | None:
    groups = entry.part_groups
    return groups[number] if number < len(groups) else None
