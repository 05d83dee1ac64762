"""The questions about a golden case: each operation, its request, and the expected result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from pages.page import Site
from pqassay.report.run.outcomes import Operation
from pqassay_suite.cases.case import GoldenCase
from pqassay_suite.drivers import protocol
from pqassay_suite.drivers.inspector import Inspector
from pqassay_suite.judging.answers import ASKING, operations
from pqassay_suite.judging.bench import Bench
from pqassay_suite.running.scanning import queries_about, scan_request

LONGEST = 3_000
"""The number of characters of a request that a page shows."""


class Question(NamedTuple):
    """An operation on a case.

    Attributes:
        operation: Its name.
        expected: The expected result, in words.
        requests: The requests as JSON; some operations have several, one for each expectation.
        queries: The number of queries of a scan.
    """

    operation: Operation
    expected: str
    requests: list[str]
    queries: int = 0


@cache
def golden_cases(site: Site) -> Mapping[str, GoldenCase]:
    """The golden cases in the form of runs, by id."""
    return {one.case.id: one for one in site.results.cases if one.data is None}


def questions(case_id: str, site: Site) -> Iterator[Question]:
    """Yield the questions about a case, in the order of a run."""
    golden = golden_cases(site)[case_id]
    # The path is that of a checkout; a run copies the file, so that its name and folder reveal nothing.
    bench = Bench(golden, Path("golden_files", case_id), cast("Inspector", None))
    for operation in operations(golden.case):
        if operation == "scan":
            asked = queries_about(golden)
            requests: list[protocol.CaseRequest] = [scan_request(bench, asked, "on")] if asked else []
        else:
            asking = ASKING[operation]
            requests = [asking.request(bench, one) for one in asking.expected(golden.case)]
            asked = []
        told = [protocol.to_json(request) for request in requests]
        yield Question(operation, expectation(operation, golden), told, len(asked))


SCANS = {
    "same-rows": "the rows that satisfy each query, with the index and without",
    "refusal-allowed": "the rows that satisfy each query, or a refusal",
    "exposure": "the true rows, which a reader that believes the file cannot know: what it gives is shown and not scored",
}
READS = {
    "never": "all rows",
    "allowed": "all rows, or a refusal",
    "demanded": "a refusal",
}
ANSWERS = {"accept": "accepted", "reject": "refused", "either": "read as it is, or refused"}


def expectation(operation: Operation, golden: GoldenCase) -> str:
    """The expected result of an operation, in words."""
    expect: Any = golden.case.expect
    if operation == "scan":
        return SCANS[expect.scan]
    if operation == "read":
        if expect.read.rows == "unspecified" and expect.read.refusal != "demanded":
            return "any rows, or a refusal; no crash"
        return READS[expect.read.refusal]
    if operation in ("decode", "lint", "encode"):
        return ANSWERS[getattr(expect, operation)]
    return "what its expectations in case.json say"
