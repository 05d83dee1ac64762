"""Credit: a right answer about a damaged file counts only beside a right one about the good file that it was made from."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from pqassay.report.run_model import Result
from pqassay_spec.golden.case import Case


def credited(cases: Sequence[Case], results: Sequence[Result]) -> list[Result]:
    """Take the credit from right answers to invalid cases where the driver fails their valid parents.

    The parent counts by the same operation, else by any that it was asked.  For a case without a parent all valid cases of
    its family stand in.  One that a linter must accept, although the judge warns, is good enough to stand alone.
    """
    by_id = {case.id: case for case in cases}
    before, judged = None, list(results)
    while judged != before:  # a parent that has lost its credit lends none
        before = judged
        judged = [
            _with_credit(by_id[result.case], result, by_id, before) if result.outcome == "passed" else result
            for result in before
        ]
    return judged


def _with_credit(case: Case, result: Result, by_id: dict[str, Case], results: Sequence[Result]) -> Result:
    if case.kind == "valid" or (case.parent is None and case.expect.lint == "accept"):
        return result
    parents = {
        other.id
        for other in by_id.values()
        if (other.id == case.parent if case.parent else (other.family, other.kind) == (case.family, "valid"))
    }
    asked = [other for other in results if other.case in parents]
    same = [other for other in asked if other.operation == result.operation]
    if any(other.outcome == "passed" for other in same or asked):
        return result
    parent = f"its valid parent {case.parent}" if case.parent else f"any valid case of {case.family}"
    did = "was not asked about" if not asked else "does not pass"
    reason = f"right, but the driver {did} {parent}"
    return dataclasses.replace(result, outcome="no credit", reason=reason)
