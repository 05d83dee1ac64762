"""The report of a run, made from the results of its requests: with causes and severities, expectations and scores."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pqassay.report.run.model import (
    SCHEMA_VERSION,
    Driver,
    Exposure,
    NotAsked,
    Result,
    RunLimits,
    RunReport,
    RunSummary,
    scores,
)
from pqassay.report.run.outcomes import Operation, counts
from pqassay_spec import __version__
from pqassay_spec.golden.case import Case
from pqassay_spec.rules.catalogue import digest as rules_digest
from pqassay_suite.cases.case import GoldenCase, inputs_digest, manifests_digest
from pqassay_suite.cases.expectations import Expectations
from pqassay_suite.drivers import protocol
from pqassay_suite.drivers.driver import Settings
from pqassay_suite.drivers.protocol import HelloAnswer
from pqassay_suite.judging.causes import cause_of, severity, with_shared_causes
from pqassay_suite.judging.differences import names_of
from pqassay_suite.judging.reader_faults import broken_reader_rules


def run_report(
    cases: Sequence[GoldenCase],
    settings: Settings,
    hello: HelloAnswer | None,
    results: Sequence[Result],
    exposures: list[Exposure],
    left_aside: int,
    not_asked: list[NotAsked],
    undeclared: Sequence[tuple[Case, Operation]],
    expectations: Expectations,
) -> RunReport:
    """The report of a run.

    Args:
        cases: The cases, parents included.
        settings: The driver's command, limits, and other settings of the run.
        hello: Its greeting; ``None`` if there is none.
        results: The results, in the order of the cases.
        exposures: The effects of well-formed lies.
        left_aside: Number of queries that were answered without the index.
        not_asked: Questions that the driver's declared capabilities exclude.
        undeclared: The cases and operations of these questions.
        expectations: The expected failures.
    """
    by_id = {golden.case.id: golden for golden in cases}
    explained = with_shared_causes([_explained(result, by_id.get(result.case)) for result in results])
    compared, problems = expectations.compare(explained)
    return RunReport(
        schema_version=SCHEMA_VERSION,
        kind="run",
        pqassay=__version__,
        protocol=protocol.PROTOCOL,
        rules_sha256=rules_digest(),
        suite_sha256=manifests_digest(cases),
        golden_files_sha256=inputs_digest(cases),
        driver=Driver(
            command=list(settings.shown or settings.command),
            sha256=driver_digest(settings.command),
            shipped=settings.shipped,
            **_declared(hello),
        ),
        limits=RunLimits(settings.limits.seconds, settings.limits.memory, settings.queries),
        results=compared,
        scores=scores(compared, Counter((case.family, operation) for case, operation in undeclared)),
        problems=problems,
        summary=RunSummary(
            cases=len(cases),
            results=len(compared),
            outcomes=counts([result.outcome for result in compared]),
            known=sum(bool(result.known) for result in compared),
            unpinned=expectations.unpinned(compared) or None,
        ),
        exposures=exposures,
        not_asked=not_asked,
        index_left_aside=left_aside,
        expectations_sha256=expectations.sha256,
    )


def _declared(hello: HelloAnswer | None) -> dict[str, Any]:
    """The declarations of a driver, for the report."""
    if hello is None:
        return {}
    lists = {"capabilities": sorted(hello.capabilities), "lacks": sorted(hello.lacks) or None}
    return {name: value for name, value in {**vars(hello), **lists}.items() if name != "answer"}


def _explained(result: Result, golden: GoldenCase | None) -> Result:
    """A bad result with the words of its case, its severity, its cause and the rules for readers that it breaks."""
    if golden is None or result.is_good:
        return result
    if result.outcome == "no credit":  # right by itself: nothing was observed
        return dataclasses.replace(result, title=golden.case.title, cause=result.reason)
    case, grave = golden.case, result.severity
    if grave is None:
        grave = severity(case, "crashed" if result.outcome == "crashed" else "protocol")
    cause = cause_of(
        result.operation if result.operation != "hello" else "read",
        result.outcome,
        result.reason,
        actual=result.actual,
        stderr=result.stderr,
        names=names_of(golden),
        differs=result.cause or "",
    )
    result = dataclasses.replace(result, title=case.title, effect=case.effect, severity=grave, cause=cause)
    return dataclasses.replace(result, reader_rules=broken_reader_rules(result) or None)


def driver_digest(command: Sequence[str]) -> str:
    """SHA-256 over a command and the content of the files that it names, the program first."""
    total = hashlib.sha256()
    for number, part in enumerate(command):
        path = shutil.which(part) if number == 0 else part
        total.update(part.encode("utf-8", "surrogateescape") + b"\n")
        if path is not None and os.path.isfile(path):  # noqa: PTH113 - Path raises for names that are not paths
            with Path(path).open("rb") as file:
                total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()
