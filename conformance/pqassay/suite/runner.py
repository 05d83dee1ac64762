"""The runner: asks a driver about golden cases and collects what came of it.

The driver is started like any stranger's program, once for each request.  Requests run side by side; the results stand in
the order of the cases.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pqassay.report.run_model import (
    SCHEMA_VERSION,
    Driver,
    Operation,
    Result,
    RunLimits,
    RunReport,
    RunSummary,
    counts,
    scores,
)
from pqassay.suite import protocol
from pqassay.suite.answers import ASKING, operations
from pqassay.suite.bench import Bench, described
from pqassay.suite.cases import GoldenCase, inputs_digest, manifests_digest
from pqassay.suite.expectations import Expectations
from pqassay.suite.process import Ended, Launcher, Limits, read_answer_file
from pqassay.suite.protocol import Answer, HelloAnswer, ProtocolError
from pqassay_spec import __version__
from pqassay_spec.golden.case import Case
from pqassay_spec.rules.catalogue import digest as rules_digest

NOT_SUPPORTED = 3
"""Exit status of a driver that does not know what it is asked."""

STDERR_SHOWN = 2000
"""Characters of stderr that a result keeps, the last ones."""


class CannotStartError(Exception):
    """The driver's command cannot be started at all."""


@dataclass(frozen=True)
class Settings:
    """Settings of a run.

    Attributes:
        command: The driver: program and arguments; request and answer are appended.
        limits: What each request may take.
        jobs: Requests that run at the same time.
        strict: Check requests and answers against the schemas to the last member.
        keep: Folder in which requests, answers and files are kept.
        only: Operations to ask; all if empty.
    """

    command: Sequence[str]
    limits: Limits = dataclasses.field(default_factory=Limits)
    jobs: int = dataclasses.field(default_factory=lambda: os.cpu_count() or 1)
    strict: bool = False
    keep: Path | None = None
    only: Sequence[Operation] = ()


@dataclass(frozen=True)
class _Exchange:
    """Result of one request: an answer, or the reason for which there is none."""

    ended: Ended
    answer: Answer | HelloAnswer | None = None
    problem: str = ""


def tasks(cases: Sequence[GoldenCase], only: Sequence[Operation] = ()) -> list[tuple[GoldenCase, Operation]]:
    """Work of a run: cases in their order, operations in theirs."""
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
    started: Callable[[int], object] | None = None,
    done: Callable[[str], object] | None = None,
) -> RunReport:
    """Ask a driver about cases.

    Args:
        cases: The cases, parents included.
        settings: The driver's command, limits, and how to run.
        expectations: What is known to fail.
        started: Called with the number of tasks before the first one.
        done: Called with the id of each case whose operation is done.

    Returns:
        The result. Nothing that a driver does raises.

    Raises:
        CannotStartError: There is no such program.
        CaseError: A golden file is damaged.
    """
    if shutil.which(settings.command[0]) is None:
        raise CannotStartError(f"there is no program {settings.command[0]}, or it is not executable")
    driver = _Driver(settings)
    try:
        greeting, hello = driver.hello()
        work = tasks(cases, settings.only)
        if started is not None:
            started(len(work))

        def ask(task: tuple[GoldenCase, Operation]) -> Result:
            result = driver.ask(*task, hello)
            if done is not None:
                done(result.case)
            return result

        with ThreadPoolExecutor(max_workers=max(settings.jobs, 1)) as pool:
            try:
                results = list(pool.map(ask, work))
            except BaseException:
                driver.launcher.stop()
                pool.shutdown(cancel_futures=True)
                raise
    finally:
        driver.launcher.stop()
    judged = [*greeting, *credited([golden.case for golden in cases], results)]
    return _report(cases, settings, hello, judged, expectations or Expectations())


class _Driver:
    """A driver's command, and the exchanges with it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.launcher = Launcher(settings.limits)

    def hello(self) -> tuple[list[Result], HelloAnswer | None]:
        """Greet the driver. One that does not know greetings (exit status 3) is asked everything."""
        request = protocol.HelloRequest(protocol.PROTOCOL, "hello")
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            exchange = self._exchange(request, None, Path(name))
        if isinstance(exchange.answer, HelloAnswer):
            return [], exchange.answer
        if exchange.ended.status == NOT_SUPPORTED and not exchange.ended.crash:
            return [], None
        return [_unanswered("hello", "", "hello", exchange)], None

    def ask(self, golden: GoldenCase, operation: Operation, hello: HelloAnswer | None) -> Result:
        """Ask for one operation on one case, and judge what comes. Later requests are made if earlier answers are right."""
        case = golden.case
        if hello is not None and (
            missing := protocol.applicable(operation, case.family, case.requires, hello.capabilities)
        ):
            reason = f"the driver does not declare {missing}"
            return Result(case.id, case.family, operation, "not applicable", reason)
        result = Result(case.id, case.family, operation, "passed", rules=case.rules or None)
        for number, expected in enumerate(ASKING[operation].expected(case)):
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
                bench = Bench(golden, Path(name), self.launcher)
                result = self._ask_once(bench, operation, number, expected, declared=hello is not None)
                result = _without_folder(result, bench.folder)
            if result.outcome != "passed":
                break
        return result

    def _ask_once(
        self, bench: Bench, operation: Operation, number: int, expected: object, *, declared: bool
    ) -> Result:
        case, asking = bench.case, ASKING[operation]
        request = asking.request(bench, expected)
        # A writer gets rows or a value, and nothing to copy from.
        if not isinstance(request, protocol.EncodeRequest):
            bench.hand_over()
        exchange = self._exchange(request, operation, bench.folder)
        try:
            if isinstance(exchange.answer, (type(None), HelloAnswer)):
                return _without_answer(case, operation, exchange, declared=declared)
            judged = asking.judge(bench, expected, exchange.answer)
        finally:
            self._keep(bench, operation, number, expected, exchange.ended)
        rules = list(judged.rules) or case.rules or None
        if judged.right:
            return Result(case.id, case.family, operation, "passed", rules=rules)
        return Result(
            case.id,
            case.family,
            operation,
            "failed",
            reason=judged.reason,
            rules=rules,
            expected=judged.expected,
            actual=judged.actual or described(exchange.answer),
        )

    def _exchange(self, request: protocol.Request, operation: Operation | None, folder: Path) -> _Exchange:
        """Hand a request over and read the answer."""
        text = protocol.to_json(request)
        if self.settings.strict:
            protocol.check_request(text)
        question, reply = folder / "request.json", folder / "answer.json"
        question.write_text(text, encoding="ascii")
        command = [*self.settings.command, str(question), str(reply)]
        try:
            ended = self.launcher.run(command, folder)
        except OSError as error:
            raise CannotStartError(f"{command[0]}: {error.strerror or error}") from None
        if ended.crash or ended.status:
            return _Exchange(ended, None, ended.crash)
        try:
            content = read_answer_file(reply)
            if operation is None:
                return _Exchange(ended, protocol.read_hello(content, strict=self.settings.strict))
            return _Exchange(ended, protocol.read_answer(content, operation, strict=self.settings.strict))
        except (ValueError, ProtocolError) as error:
            return _Exchange(ended, None, str(error))

    def _keep(self, bench: Bench, operation: Operation, number: int, expected: object, ended: Ended) -> None:
        """Keep what was exchanged, with the paths of where it is kept."""
        if self.settings.keep is None or not bench.folder.is_dir():
            return
        target = self.settings.keep.resolve() / bench.case.id / f"{operation}-{number + 1}"
        target.mkdir(parents=True, exist_ok=True)
        for path in bench.folder.iterdir():
            if path.is_file() and not path.is_symlink():
                shutil.copyfile(path, target / path.name)
        request = ASKING[operation].request(dataclasses.replace(bench, folder=target), expected)
        (target / "request.json").write_text(protocol.to_json(request), encoding="ascii")
        (target / "stderr.txt").write_text(ended.stderr, encoding="utf-8")


def _without_folder(result: Result, folder: Path) -> Result:
    """A result without the path of its temporary folder, which is another one in the next run."""
    told: dict[str, Any] = {}
    for name in ("reason", "actual", "stderr"):
        text = getattr(result, name)
        if text is not None:
            told[name] = text.replace(f"{folder.resolve()}/", "").replace(f"{folder}/", "")
    return dataclasses.replace(result, **told)


def _without_answer(case: Case, operation: Operation, exchange: _Exchange, *, declared: bool) -> Result:
    if exchange.ended.status == NOT_SUPPORTED and not exchange.ended.crash:
        if declared:
            reason = "declared, and then not supported (exit status 3)"
            return Result(case.id, case.family, operation, "failed", reason, case.rules or None)
        return Result(case.id, case.family, operation, "not applicable", "not supported (exit status 3)")
    return _unanswered(case.id, case.family, operation, exchange, case.rules)


def _unanswered(
    case: str, family: str, operation: str, exchange: _Exchange, rules: Sequence[str] = ()
) -> Result:
    crashed = bool(exchange.ended.crash)
    return Result(
        case,
        family,
        operation,  # type: ignore[arg-type] # an operation or hello
        "crashed" if crashed else "protocol error",
        exchange.problem,
        list(rules) or None,
        stderr=exchange.ended.stderr.strip()[-STDERR_SHOWN:] or None,
    )


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


def _report(
    cases: Sequence[GoldenCase],
    settings: Settings,
    hello: HelloAnswer | None,
    results: Sequence[Result],
    expectations: Expectations,
) -> RunReport:
    compared, problems = expectations.compare(results)
    by_id = {golden.case.id: golden.case for golden in cases}
    compared = [_explained(result, by_id.get(result.case)) for result in compared]
    return RunReport(
        schema_version=SCHEMA_VERSION,
        kind="run",
        pqassay=__version__,
        protocol=protocol.PROTOCOL,
        rules_sha256=rules_digest(),
        suite_sha256=manifests_digest(cases),
        golden_files_sha256=inputs_digest(cases),
        driver=Driver(
            command=list(settings.command),
            sha256=driver_digest(settings.command),
            name=hello.name if hello else None,
            version=hello.version if hello else None,
            language=hello.language if hello else None,
            capabilities=sorted(hello.capabilities) if hello else None,
        ),
        limits=RunLimits(settings.limits.seconds, settings.limits.memory),
        results=compared,
        scores=scores(compared),
        problems=problems,
        summary=RunSummary(
            cases=len(cases),
            results=len(compared),
            outcomes=counts([result.outcome for result in compared]),
            known=sum(bool(result.known) for result in compared),
        ),
        expectations_sha256=expectations.sha256,
    )


def _explained(result: Result, case: Case | None) -> Result:
    """A bad result with the words of its case."""
    if case is None or result.is_good:
        return result
    return dataclasses.replace(result, title=case.title, effect=case.effect)


def driver_digest(command: Sequence[str]) -> str:
    """SHA-256 over a command and the content of the files that it names, the program first."""
    total = hashlib.sha256()
    for number, part in enumerate(command):
        path = shutil.which(part) if number == 0 else part
        total.update(part.encode("utf-8", "surrogateescape") + b"\n")
        if path is not None and os.path.isfile(path):  # noqa: PTH113 - Path raises for names that are no paths
            with Path(path).open("rb") as file:
                total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()
