"""Scores by a revision: only results about cases of the revision count."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence

from pqassay.report.run.model import RunReport, ScoredBy, scores
from pqassay.report.run.outcomes import Operation, Outcome, counts
from pqassay_spec.golden.case import Case
from pqassay_spec.golden.revision import Revision
from pqassay_suite.cases.case import GoldenCase


def counted_by(
    revision: Revision,
    report: RunReport,
    cases: Sequence[GoldenCase],
    undeclared: Iterable[tuple[Case, Operation]] = (),
    *,
    narrowed: bool = False,
) -> RunReport:
    """A report in which only the cases of a revision count.

    Args:
        revision: The revision.
        report: A report in which all results count.
        cases: The cases of the run.
        undeclared: The cases that were not asked because the driver did not declare a capability.
        narrowed: Whether some questions about them were left out.
    """
    standing = {golden.case.id: revision.standing(golden.case.id, golden.asked_sha256) for golden in cases}
    results = [
        dataclasses.replace(result, unscored=True)
        if standing.get(result.case, "counted") != "counted"
        else result
        for result in report.results
    ]
    outside: list[Outcome] = [result.outcome for result in results if result.unscored]
    inside: list[Outcome] = [result.outcome for result in results if not result.unscored]
    digests = {golden.case.id: golden.asked_sha256 for golden in cases}
    return dataclasses.replace(
        report,
        results=results,
        scores=scores(
            results,
            Counter(
                (case.family, operation)
                for case, operation in undeclared
                if standing.get(case.id, "counted") == "counted"
            ),
        ),
        summary=dataclasses.replace(
            report.summary,
            results=len(inside),
            outcomes=counts(inside),
            unscored=counts(outside) if outside else None,
        ),
        scored_by=ScoredBy(
            revision.number,
            revision.sha256,
            cases=len(revision.cases),
            chosen=sum(one == "counted" for one in standing.values()),
            narrowed=narrowed or None,
            added={case: digests[case] for case, one in standing.items() if one == "added"},
            changed={case: digests[case] for case, one in standing.items() if one == "changed"},
        ),
    )
