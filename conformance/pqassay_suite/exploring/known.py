"""Findings that an implementation's expected failures explain, recognized by their cause."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pqassay.report.run.outcomes import Outcome
from pqassay_suite.cases.case import GoldenCase
from pqassay_suite.cases.expectations import Expectation
from pqassay_suite.exploring.drawn_file import columns_asked
from pqassay_suite.exploring.kinds import SPECIAL
from pqassay_suite.exploring.search import Finding

_FEATURE = re.compile(r"(?<=^wrong rows: )(.*?) \([^)]*\)")
"""A feature of the file in the text of a cause, which distinguishes causes with the same words."""

_PARAMETERS = re.compile(r"\(.*\)")
"""The parameters after the name of a type, such as the length of bytes."""

OUTCOMES: Sequence[Outcome] = ("failed", "crashed", "refused by accident", "protocol error")
"""Outcomes of golden cases that explain a wrong answer about another file."""


def foretold_by(
    finding: Finding, entries: Sequence[Expectation], cases: Mapping[str, GoldenCase]
) -> str | None:
    """The golden case whose expected failure explains a finding; ``None`` if the finding is new.

    Only valid cases count.  A crash and a refusal are recognized by their words.  Wrong rows are recognized if those of
    the case have the same description. The case must also have columns of the same kinds and all special values
    that the finding needs.
    """
    for entry in entries:
        if entry.cause is None or entry.outcome not in OUTCOMES:
            continue
        for name in entry.case:
            golden = cases.get(name)
            if golden is not None and golden.case.kind == "valid" and _is_alike(finding, entry, golden):
                return name
    return None


def _is_alike(finding: Finding, entry: Expectation, golden: GoldenCase) -> bool:
    difference = finding.difference
    is_same = _FEATURE.sub(r"\1", entry.cause or "") == _FEATURE.sub(r"\1", difference.cause)
    if not (is_same and difference.is_of_rows):
        return is_same
    return entry.operation == ("scan" if finding.question.predicate else "read") and _has_all(golden, finding)


def _has_all(golden: GoldenCase, finding: Finding) -> bool:
    rows = golden.rows
    if rows is None:
        return False
    names = columns_asked(finding.question.predicate)
    kinds = {column.kind for column in finding.question.file.columns if not names or column.name in names}
    values = [value for row in rows.values() for value in row]
    special = {words for words, holds in SPECIAL.items() if any(map(holds, values))}
    types = {_PARAMETERS.sub("", column.type) for column in rows.columns}
    return {_PARAMETERS.sub("", kind) for kind in kinds} <= types and special >= {
        words for words in finding.takes if words in SPECIAL
    }
