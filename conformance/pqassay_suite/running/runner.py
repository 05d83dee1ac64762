"""The runner: asks a driver about golden cases and collects the results.

The driver is an untrusted program, started for each request or kept running for several.  Cases run in parallel; the results are
in the order of the cases.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pqassay.literals.predicate import IEEE, Semantics
from pqassay.report.run.model import (
    AnsweredQueries,
    Exposure,
    NotAsked,
    Result,
    RunReport,
)
from pqassay.report.run.outcomes import PAST_FOREIGN, WRONG_ROWS, Blame, Operation, Outcome
from pqassay_spec.golden.case import Case, ReadExpectation
from pqassay_spec.golden.revision import Revision
from pqassay_suite.cases.case import GoldenCase
from pqassay_suite.cases.expectations import Expectations
from pqassay_suite.cases.file_facts import needs_of_rows
from pqassay_suite.cases.revision_score import counted_by
from pqassay_suite.drivers import protocol
from pqassay_suite.drivers.capabilities import missing_capability
from pqassay_suite.drivers.driver import NOT_KNOWN, CannotStartError, DriverUnderTest, NoAnswer, Settings
from pqassay_suite.drivers.protocol import Answer, HelloAnswer, Reject, Unsupported
from pqassay_suite.drivers.side_by_side import in_order
from pqassay_suite.judging.answers import ASKING, judged_unsupported, operations
from pqassay_suite.judging.bench import Bench, Judgement, described
from pqassay_suite.judging.causes import Accidents, severity
from pqassay_suite.judging.credit import credited
from pqassay_suite.judging.differences import cause_of_answer
from pqassay_suite.judging.pins import pin_of, pin_of_queries
from pqassay_suite.running.run_report import run_report
from pqassay_suite.running.scanning import Judged, Scanning, exposure_of, query_result, worst
from pqassay_suite.running.unseen import unseen

__all__ = ["CannotStartError", "Settings", "Times", "declared", "run", "tasks"]

SLOWEST = 5
"""Number of requests that are listed as the slowest of a run."""

Task = tuple[GoldenCase, Operation]

_Undeclared = tuple[GoldenCase, Operation, str]
"""A task, and a capability that it needs and the driver does not declare."""


@dataclass
class Times:
    """Wall time of a run in seconds: for each operation, and for each task. Not part of its report."""

    of: list[tuple[float, Operation, str]] = field(default_factory=list[tuple[float, Operation, str]])

    def by_operation(self) -> dict[Operation, tuple[int, float]]:
        """Number of tasks and seconds of each operation."""
        found: dict[Operation, tuple[int, float]] = {}
        for seconds, operation, _ in self.of:
            count, total = found.get(operation, (0, 0.0))
            found[operation] = count + 1, total + seconds
        return found

    def slowest(self) -> list[tuple[float, Operation, str]]:
        """The slowest tasks: seconds, operation, case."""
        return sorted(self.of, reverse=True)[:SLOWEST]


@dataclass(frozen=True)
class _Done:
    """The outcome of a task: a result, or an exposure.

    Attributes:
        result: The result.
        by_itself: The result if the valid parent is not asked, if that is different.
        exposure: The effect of a well-formed lie.
        left_aside: Number of queries that were answered without the index.
    """

    result: Result | None = None
    by_itself: Result | None = None
    exposure: Exposure | None = None
    left_aside: int = 0


def tasks(cases: Sequence[GoldenCase], only: Sequence[Operation] = ()) -> list[Task]:
    """The tasks of a run: cases in their order, and for each case its operations in order."""
    return [
        (golden, operation)
        for golden in cases
        for operation in operations(golden.case)
        if not only or operation in only
    ]


def run(
    cases: Sequence[GoldenCase],
    settings: Settings,
    expectations: Expectations | None = None,
    *,
    revision: Revision | None = None,
    progress: Callable[[int, int, str], object] | None = None,
    times: Times | None = None,
) -> RunReport:
    """Ask a driver about cases.

    Args:
        cases: The cases, parents included.
        settings: The driver's command, limits, and how to run.
        expectations: The expected failures.
        revision: The cases that count; without it, all cases do.
        progress: Called with the number of completed tasks, the number of tasks, and the id of the last task's case.
        times: Filled with the times of the tasks.

        Returns:
            The report. After a driver has answered ``hello``, none of its errors raises an exception.

    Raises:
        CannotStartError: There is no such program, or it does not answer ``hello``.
        CaseError: A golden file is damaged.
    """
    driver = DriverUnderTest(settings)
    try:
        hello = driver.greet()
        asking = _Asking(driver, hello, settings, times or Times())
        wanted = tasks(cases, settings.only)
        if settings.tasks:
            wanted = [task for task in wanted if (task[0].case.id, task[1]) in settings.tasks]
        work, undeclared = asking.chosen(wanted)
        done: list[_Done] = []
        with ThreadPoolExecutor(max_workers=max(settings.jobs, 1)) as pool:
            try:
                for one in in_order(pool, asking.ask, work):
                    done.append(one)
                    if progress is not None:
                        progress(len(done), len(work), work[len(done) - 1][0].case.id)
            except BaseException:
                driver.launcher.stop()
                pool.shutdown(cancel_futures=True)
                raise
        new = [*unseen(driver, [one.result for one in done if one.result]), *asking.undeclared(undeclared)]
    finally:
        driver.close()
    # The answer of an unstable driver about a parent shows nothing about the case.
    results = [(driver.is_unstable and one.by_itself) or one.result for one in done if one.result]
    if not any(golden.stands_alone for golden in cases):
        results = credited([golden.case for golden in cases], results)
    results += new
    scored = [
        (golden.case, operation)
        for golden, operation, _ in undeclared
        if operation != "scan" or golden.case.expect.scan != "exposure"
    ]
    not_asked = _not_asked(undeclared)
    exposures = [one.exposure for one in done if one.exposure]
    left_aside = sum(one.left_aside for one in done)
    known = expectations or Expectations()
    report = run_report(cases, settings, hello, results, exposures, left_aside, not_asked, scored, known)
    asked: dict[str, list[Operation]] = {}
    for golden, operation in work:
        asked.setdefault(golden.case.id, []).append(operation)
    by_chance = {result.case for result in report.results if result.outcome == "unstable"}
    refused = sorted(case for case in asking.refused - by_chance if "read" in asked.get(case, ()))
    report = dataclasses.replace(report, asked=asked, refused=refused)
    if revision is None:
        return report
    return counted_by(revision, report, cases, scored, narrowed=bool(settings.only or settings.tasks))


def declared(
    cases: Sequence[GoldenCase], settings: Settings
) -> tuple[HelloAnswer | None, int, list[NotAsked]]:
    """Greet a driver, and count the questions of a run.

    Returns:
        Its greeting, the number of questions, and the number that each undeclared capability would add.

    Raises:
        CannotStartError: There is no such program, or it does not answer ``hello``.
    """
    with contextlib.closing(DriverUnderTest(settings)) as driver:
        hello = driver.greet()
    work, undeclared = _Asking(driver, hello, settings, Times()).chosen(tasks(cases, settings.only))
    return hello, len(work), _not_asked(undeclared)


def _not_asked(undeclared: Sequence[_Undeclared]) -> list[NotAsked]:
    """The number of questions that each undeclared capability excludes."""
    return [NotAsked(*counted) for counted in sorted(Counter(name for *_, name in undeclared).items())]


class _Asking:
    """Asks for operations on cases, and judges the answers."""

    def __init__(
        self, driver: DriverUnderTest, hello: HelloAnswer | None, settings: Settings, times: Times
    ) -> None:
        self.driver, self.hello, self.settings, self.times = driver, hello, settings, times
        self.semantics = IEEE if hello is None else Semantics(hello.nan, hello.zeros)
        self.accidents = Accidents(hello.raises if hello else None)
        self._of_parents: dict[str, Result] = {}
        self.refused: set[str] = set()
        """Ids of cases whose file was refused although it is valid: a reader may refuse it or return its rows."""

    def chosen(self, work: Sequence[Task]) -> tuple[list[Task], list[_Undeclared]]:
        """The tasks that the driver's capabilities allow, and the other tasks."""
        chosen_tasks: list[Task] = []
        others: list[_Undeclared] = []
        for golden, operation in work:
            case, needs = golden.case, [*golden.facts.needs, *needs_of_rows(golden.rows)]
            lacking = self.hello and missing_capability(
                operation, case.family, case.requires, needs, self.hello.capabilities, self.hello.lacks
            )
            if lacking:
                others.append((golden, operation, lacking))
            else:
                chosen_tasks.append((golden, operation))
        return chosen_tasks, others

    def undeclared(self, others: Sequence[_Undeclared]) -> Iterator[Result]:
        """Ask once for each undeclared capability, about a valid file and a damaged one; yield a failure if the rows are wrong.

        A driver may refuse what it does not declare. Without these questions, it would be right in everything by declaring little.
        """
        asked: set[tuple[str, str]] = set()
        wrong: set[str] = set()
        for golden, operation, capability in others:
            case = golden.case
            if operation not in PAST_FOREIGN or case.expect.scan == "exposure":
                continue
            if capability in wrong or (capability, case.kind) in asked:
                continue
            asked.add((capability, case.kind))
            result = self.ask((golden, operation)).result
            if result and result.severity in WRONG_ROWS:
                wrong.add(capability)
                yield dataclasses.replace(
                    result,
                    case=f"hello/{capability}",
                    family="",
                    operation="hello",
                    reason=f"not declared, but {operation} of {case.id} returns wrong rows",
                    cause=f"{capability} is not declared: {result.cause}",
                )

    def ask(self, task: Task) -> _Done:
        """Ask for one operation on one case."""
        golden, operation = task
        start = time.monotonic()
        try:
            done = self._scan(golden) if operation == "scan" else self._others(golden, operation)
        finally:
            self.times.of.append((time.monotonic() - start, operation, golden.case.id))
        return done

    # ------------------------------------------------------------------------------------- one request a question

    def _others(self, golden: GoldenCase, operation: Operation) -> _Done:
        """Make the later requests of an operation, if the earlier answers are right."""
        case = golden.case
        result = Result(case.id, case.family, operation, "passed", rules=case.rules or None)
        for number, expected in enumerate(ASKING[operation].expected(case)):
            result, _ = self._ask_once(golden, operation, number, expected)
            if (not result.is_good or result.outcome == "exposed") and self.driver.may_ask_again():
                self.driver.start_afresh()
                first = result
                result, told = self._ask_once(golden, operation, number, expected)
                if result.is_good and result.outcome != "exposed":
                    self.driver.is_unstable = True
                    result = _unstable(first, told)
            if operation == "read" and self._is_inherited(golden, result):
                return _Done(_inherited(result), result)
            if result.outcome != "passed":
                break
        return _Done(result)

    def _is_inherited(self, golden: GoldenCase, result: Result) -> bool:
        """Whether the rows of a damaged file are wrong in the same words as those of its valid parent, which has the same rows."""
        parent = golden.parent
        wrong = result.outcome in ("failed", "exposed") and not (result.actual or "").startswith("reject")
        if parent is None or not wrong or golden.rows is None or golden.rows != parent.rows:
            return False
        expected = parent.case.expect.read
        if expected is None:
            return False
        if parent.case.id not in self._of_parents:  # many damaged files have the same parent
            self._of_parents[parent.case.id], _ = self._ask_once(parent, "read", 0, expected)
        other = self._of_parents[parent.case.id]
        is_wrong = other.outcome == "failed"  # the parent tells no lie
        return is_wrong and (other.actual, other.pin) == (result.actual, result.pin)

    def _ask_once(
        self, golden: GoldenCase, operation: Operation, number: int, expected: object
    ) -> tuple[Result, str]:
        """The result, and the answer in one line."""
        case, asking = golden.case, ASKING[operation]
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            bench = Bench(golden, Path(name), self.driver.inspector, self.accidents)
            request = asking.request(bench, expected)
            # A writer gets only rows or a value, so it cannot copy a file.
            if not isinstance(request, protocol.EncodeRequest):
                bench.hand_over()
            reply = self.driver.ask(request, bench.folder)
            try:
                if isinstance(reply, NoAnswer):
                    result = self._without_answer(case, operation, reply)
                elif isinstance(reply, Unsupported):
                    judged = judged_unsupported(bench)
                    result = self._judged(golden, operation, judged, reply)
                    if judged.right:
                        result = dataclasses.replace(
                            result, outcome="unsupported", reason=reply.reason, rules=None
                        )
                else:
                    judged = asking.judge(bench, expected, reply)
                    result = self._judged(golden, operation, judged, reply)
                    is_free = isinstance(expected, ReadExpectation) and expected.refusal == "allowed"
                    if judged.right and is_free and isinstance(reply, Reject):
                        self.refused.add(case.id)
                    if judged.right and operation == "encode":
                        self._keep_written(bench)
            finally:
                bench.keep(self.settings.keep, case.id, request, f"{operation}-{number + 1}")
            texts = {name: getattr(result, name) for name in ("reason", "actual", "stderr")}
            changed: dict[str, Any] = {
                name: text and bench.without_folder(text) for name, text in texts.items()
            }
            told = reply.reason if isinstance(reply, NoAnswer) else described(reply)
            return dataclasses.replace(result, **changed), bench.without_folder(told)

    def _keep_written(self, bench: Bench) -> None:
        if self.settings.written is not None and bench.output.is_file():
            target = self.settings.written / f"{bench.case.id}.parquet"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(bench.output, target)

    def _without_answer(self, case: Case, operation: Operation, reply: NoAnswer) -> Result:
        outcome, reason, rules = reply.outcome, reply.reason, case.rules or None
        if outcome == "unsupported" and self.hello is not None:
            outcome, reason = "failed", f"declared, and then {reason}"
        pin = pin_of(reply)
        return Result(case.id, case.family, operation, outcome, reason, rules, stderr=reply.stderr, pin=pin)

    def _judged(self, golden: GoldenCase, operation: Operation, judged: Judgement, reply: Answer) -> Result:
        case = golden.case
        rules, warnings = list(judged.rules) or case.rules or None, list(judged.warnings) or None
        if judged.right:
            return Result(case.id, case.family, operation, "passed", rules=rules, warnings=warnings)
        outcome: Outcome = "refused by accident" if judged.fault == "accident" else "failed"
        is_exposed = operation == "read" and case.expect.scan == "exposure" and judged.fault == "wrong"
        return Result(
            case.id,
            case.family,
            operation,
            "exposed" if is_exposed else outcome,
            judged.reason,
            rules,
            judged.expected,
            judged.actual or described(reply),
            first_difference=judged.difference or None,
            severity=None if is_exposed else severity(case, judged.fault),
            cause=cause_of_answer(golden, operation, judged, reply),
            pin=pin_of(reply, judged.rules),
            warnings=warnings,
        )

    # ------------------------------------------------------------------------------------------------------ scans

    def _scan(self, golden: GoldenCase) -> _Done:
        case = golden.case
        scanning = Scanning(
            self.driver,
            golden,
            self.semantics,
            self.settings.queries,
            self.settings.keep,
            switches_off=self.hello is not None and self.hello.index_off,
            accidents=self.accidents,
        )
        judged, before = scanning.ask(), {}
        if case.expect.scan == "exposure":
            judged = [one.before or one for one in judged]
        else:
            before = {place: one.before for place, one in enumerate(judged) if one.before is not None}
        left_aside = sum(one.is_left_aside for one in judged)
        wrong = {place: one for place, one in enumerate(judged) if not one.is_right}
        blames = dict(zip(wrong, scanning.blames(list(wrong.values())), strict=True))
        if case.expect.scan == "exposure":
            return _Done(exposure=exposure_of(case, judged, blames), left_aside=left_aside)
        inherited = dict(zip(wrong, scanning.inherited(list(wrong.values())), strict=True))
        own = [one for place, one in wrong.items() if not inherited[place]]
        answered = _answered(judged)
        result = Result(case.id, case.family, "scan", "passed", rules=case.rules or None, answered=answered)
        if not wrong:
            if self.hello is not None and any(one.is_not_known for one in judged):
                result = self._without_answer(case, "scan", NOT_KNOWN)
            elif before:
                result = self._unstable_scan(golden, judged, before)
            elif judged and not answered.deciding:
                reason = f"answers none of the {answered.of_deciding} queries that decide"
                result = dataclasses.replace(
                    result,
                    outcome="unsupported",
                    reason=reason if answered.queries else "no query is supported",
                )
            return _Done(result, left_aside=left_aside)
        one = worst(own or list(wrong.values()))
        place = judged.index(one)
        query = query_result(one, judged, blames[place])
        pins = [([other.query.predicate, other.query.columns], other.pin) for other in wrong.values()]
        pin = pin_of_queries(pins, len(judged))
        result = dataclasses.replace(self._scan_result(golden, one, query), pin=pin, answered=answered)
        if not own:
            return _Done(_inherited(result), result, left_aside=left_aside)
        return _Done(result, left_aside=left_aside)

    def _unstable_scan(
        self, golden: GoldenCase, judged: Sequence[Judged], before: Mapping[int, Judged]
    ) -> Result:
        """The result if every answer is right in the end, but some only in a fresh process."""
        one = worst(list(before.values()))
        first = [before.get(place, each) for place, each in enumerate(judged)]
        result = self._scan_result(golden, one, query_result(one, first, None))
        result = dataclasses.replace(result, answered=_answered(judged))
        return _unstable(result, result.expected or "right")

    def _scan_result(self, golden: GoldenCase, one: Judged, query: Any) -> Result:
        case, none = golden.case, one.no_answer
        result = Result(case.id, case.family, "scan", "failed", rules=case.rules or None, query=query)
        result = dataclasses.replace(result, severity=severity(case, one.fault))
        if none is not None:
            return dataclasses.replace(result, outcome=none.outcome, reason=none.reason, stderr=none.stderr)
        reason = f"{one.judgement.reason}, {query.index}" if query.index else one.judgement.reason
        return dataclasses.replace(
            result,
            outcome="refused by accident" if one.fault == "accident" else "failed",
            reason=reason,
            expected=one.judgement.expected,
            actual=one.judgement.actual,
            cause=_cause_of_scan(one, query.index),
        )


def _inherited(result: Result) -> Result:
    """The result if the answer about the valid parent is wrong in the same way."""
    about = result.case, result.family, result.operation
    reason = "equally wrong about its valid parent"
    return Result(*about, "inherited", reason, result.rules, query=result.query, answered=result.answered)


def _cause_of_scan(one: Judged, blame: Blame | None) -> str:
    """The difference of the rows, and whether it also occurs without the index; then `read` is wrong, too."""
    cause = one.judgement.cause
    return f"{cause}, {blame}" if blame not in (None, "without it too") else cause


def _answered(judged: Sequence[Judged]) -> AnsweredQueries:
    answers = [one.query.decides for one in judged if not one.is_unsupported]
    deciding = sum(one.query.decides for one in judged)
    return AnsweredQueries(len(answers), len(judged), sum(answers), deciding)


def _unstable(first: Result, told: str) -> Result:
    """The result if the answer was wrong, but right in a fresh process; ``told`` is the right answer."""
    reason = f"{first.reason}; a fresh process returns the right answer"
    actual = f"{first.actual or first.reason}; from a fresh process: {told}"
    return dataclasses.replace(first, outcome="unstable", reason=reason, actual=actual, pin=None)
