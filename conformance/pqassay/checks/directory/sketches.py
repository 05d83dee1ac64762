"""Checks of sketches: their first bytes, which every reader needs (tier ``index``), and their inputs (tier ``values``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pqassay.checks import rule
from pqassay.checks.directory.entries import entries_of, row_group_of
from pqassay.checks.directory.values import DESCRIBED
from pqassay.checks.value_rules import value_rule
from pqassay.under_test.file import Broken, NotApplicable
from pqassay.under_test.index_directory import EntryUnderTest
from pqassay.under_test.violation import Violation
from pqassay.values.directory.blob import blob_of
from pqassay_spec.directory.codes import IndexType
from pqassay_spec.directory.sketches import SIZE_PARAMETERS, preamble_problem, size_parameter

if TYPE_CHECKING:
    from pqassay.values.directory.sketches import DescribedHll, DescribedKll

SKETCHES = entries_of(IndexType.HLL, IndexType.KLL)
"""Entries of sketches."""

KLL = entries_of(IndexType.KLL)
"""Entries of KLL sketches."""

STANDARD_ERRORS = 3
"""The largest tolerated distance of an estimate from the truth, in standard errors."""

HALF = 0.5
"""The rounding error of estimates, which are whole numbers of values."""


@rule("DIR-040", of=SKETCHES)
def sketches_begin_with_their_preamble(entry: EntryUnderTest) -> Iterator[Violation]:
    """Libraries refuse sketches with other first bytes."""
    family = IndexType(entry.head.type).name
    for number, sketch in enumerate(blob_of(entry).sketches):
        if problem := preamble_problem(family, sketch):
            yield entry.blob_spot(f"sketches[{number}]").violation(
                f"{entry}: sketch {number} {problem}",
                f"the preamble of {family}",
                sketch[:8].hex(" ") or "no byte",
                row_group=row_group_of(entry, number),
            )


@rule("DIR-041", of=SKETCHES)
def sketches_have_one_size(entry: EntryUnderTest) -> Iterator[Violation]:
    """Sketches of one size can be merged without loss."""
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
                row_group=row_group_of(entry, number),
            )


@value_rule("DIR-042", of=entries_of(IndexType.HLL), audited=DESCRIBED)
def hll_estimates_the_distinct_values(part: DescribedHll) -> Iterator[Violation]:
    """A bad estimate causes bad plans, but never wrong rows."""
    yield from part.refusal()
    if part.sketch is None:
        return
    distinct, sketch = part.distinct, part.sketch
    lower, upper = sketch.get_lower_bound(STANDARD_ERRORS), sketch.get_upper_bound(STANDARD_ERRORS)
    if not lower - HALF <= distinct <= upper + HALF:
        yield part.spot.violation(
            f"{part} has {distinct:,} distinct values, but its sketch estimates {sketch.get_estimate():,.0f}",
            f"an estimate near {distinct:,}",
            f"{lower:,.0f} to {upper:,.0f}",
        )


@value_rule("DIR-043", of=KLL, audited=DESCRIBED)
def kll_counts_and_bounds_are_exact(part: DescribedKll) -> Iterator[Violation]:
    """The sketch stores these as exact numbers."""
    yield from part.refusal()
    if part.sketch is None:
        return
    numbers, sketch = part.numbers, part.sketch
    compared: list[tuple[str, Any, Any]] = [("values", len(numbers), sketch.n)]
    if len(numbers) and sketch.n:
        compared += [
            ("as its smallest", float(numbers[0]), sketch.get_min_value()),
            ("as its largest", float(numbers[-1]), sketch.get_max_value()),
        ]
    for what, true, claimed in compared:
        if claimed != true:
            message = f"{part} has {true} {what}, but its sketch {claimed}"
            yield part.spot.violation(message, str(true), str(claimed))
            return


@value_rule("DIR-044", of=KLL, audited=DESCRIBED)
def kll_ranks_are_nearly_right(part: DescribedKll) -> Iterator[Violation]:
    """A bad estimate causes bad plans, but never wrong rows."""
    if any(kll_counts_and_bounds_are_exact(part)) or not len(part.numbers):
        return  # ranks among other numbers mean nothing
    number, true, estimated = part.worst_rank
    error, allowed = abs(estimated - true), part.sketch.normalized_rank_error(True)
    if error > allowed:
        yield part.spot.violation(
            f"the rank of {number!r} in {part} is {true:.4f}, but its sketch estimates {estimated:.4f}",
            f"no more than {allowed:.4f} away",
            f"{error:.4f} away",
        )
