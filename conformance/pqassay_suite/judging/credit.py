"""Credit: a right answer about a damaged file only counts if the answer about its valid original is right as well."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from pqassay.report.run.model import Result
from pqassay_spec.golden.case import Case


def credited(cases: Sequence[Case], results: Sequence[Result]) -> list[Result]:
    """Remove the credit from right answers to invalid cases if the driver fails their valid parents.

    The parent is judged by the same operation, or by any that it was asked.  For a case without a parent, all valid cases of
    its family replace it.  A case that a linter must accept although the judge warns stands alone.  A valid
    file that may be refused, for example one with a deprecated codec, needs other valid files that may not be refused.
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
    if case.kind == "valid":
        return _beside_what_must_be_read(case, result, by_id, results)
    if case.parent is None and case.expect.lint == "accept":
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


def _beside_what_must_be_read(
    case: Case, result: Result, by_id: dict[str, Case], results: Sequence[Result]
) -> Result:
    if not _may_be_refused(case, result):
        return result
    same = [
        other
        for other in results
        if (other.family, other.operation) == (result.family, result.operation)
        and by_id[other.case].kind == "valid"
        and not _may_be_refused(by_id[other.case], other)
    ]
    if not same or any(other.outcome == "passed" for other in same):
        return result
    reason = f"right, but the driver does not pass any valid case of {case.family} that must not be refused"
    return dataclasses.replace(result, outcome="no credit", reason=reason)


def _may_be_refused(case: Case, result: Result) -> bool:
    """Whether a refusal would be right although the file is valid."""
    if result.operation == "read":
        return case.expect.read is not None and case.expect.read.refusal != "never"
    return result.operation == "scan" and case.expect.scan == "refusal-allowed"
