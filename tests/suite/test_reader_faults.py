"""A failure is called by the rule for readers that it breaks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pqassay.report.run.model import QueryResult, Result
from pqassay.report.run.outcomes import Blame, Operation
from pqassay_spec.rules.catalogue import reader_rules
from pqassay_suite.judging.reader_faults import ERROR, ROWS, SAME_ROWS, broken_reader_rules


def failed(case: str, operation: Operation, severity: int | None, index: Blame | None = None) -> Result:
    query = QueryResult(["=", "metal", "tin"], ["metal"], 9, 1, index) if operation == "scan" else None
    return Result(case, "BLM", operation, "failed", severity=severity, query=query)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (failed("blm/zeros-and-nan", "scan", 1, "by the index"), ["BLM-023", SAME_ROWS]),
        (failed("blm/zeros-and-nan", "scan", 1, "without it too"), ["BLM-023", ROWS]),
        (failed("blm/zeros-and-nan", "read", 3), [ROWS]),
        (failed("blm/size-negative", "read", 5), [ERROR, "PQF-147", "PQF-153"]),
        (failed("blm/size-negative", "scan", 5, "by the index"), [ERROR, "PQF-147", "PQF-153"]),
        (failed("blm/size-negative", "scan", 6), [ERROR, "PQF-147", "PQF-153"]),
        (failed("blm/unknown-hash", "decode", 4), ["BLM-025"]),
        (failed("pqf/plain", "read", 1), [ROWS]),
        (failed("pqf/plain", "read", 2), [ERROR]),
        (failed("pqf/plain", "decode", 1), []),
        (failed("pqf/plain", "lint", 1), []),
        (failed("pqf/plain", "read", None), []),
        (replace(failed("pqf/plain", "read", 5), outcome="protocol error"), []),
    ],
)
def test_the_rule_fits_what_went_wrong(result: Result, expected: list[str]) -> None:
    assert expected == broken_reader_rules(result)


def test_the_general_rules_are_rules_for_readers() -> None:
    assert {ERROR, ROWS, SAME_ROWS} <= reader_rules().keys()
