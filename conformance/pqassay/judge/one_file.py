"""The judging of one target, from opening it to its report, in this process or in a worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from pqassay.judge.file_check import Selection, check_source, not_judged
from pqassay.judge.time_limit import OutOfTime, default_seconds, limited, out_of_time
from pqassay.report.model import GONE, Coverage, FileReport, Outcome, Threshold
from pqassay.stores.remote_source import THROTTLED
from pqassay.stores.targets import Target
from pqassay.under_test.file import Mistake, Options

Judged = tuple[FileReport, Coverage]
"""A report and the coverage for it."""


@dataclass(frozen=True)
class Settings(Options):
    """The settings of judging, the same for all files of a run.

    Attributes:
        level: The lowest verdict that makes a file nonconformant.
        selection: The rules to test.
    """

    level: Threshold = "must"
    selection: Selection = field(default_factory=Selection)


def judge(target: Target, settings: Settings) -> Judged:
    """Judge one file. A file that cannot be opened is `errored`, or gone; its bytes cannot cause an exception."""
    before = THROTTLED.requests
    report, coverage = _judged(target, settings)
    if report.outcome == "errored" and not report.findings and target.is_gone():
        report, coverage = unjudged(target, settings, GONE, "gone")
    if THROTTLED.requests > before:
        report = replace(report, throttled=THROTTLED.requests - before)
    return report, coverage


def _judged(target: Target, settings: Settings) -> Judged:
    if target.trouble:
        return unjudged(target, settings, target.trouble)
    try:
        with target.opened() as source, target.siblings() as siblings:
            return check_source(
                source,
                settings,
                settings.selection,
                settings.level,
                kind=target.kind,
                beside=siblings,
                table=target.table,
                claims=target.claims,
            )
    except OSError as error:
        return unjudged(target, settings, f"the file cannot be opened: {_reason(target, error)}")
    except MemoryError:
        return unjudged(target, settings, "there is not enough memory for it")


def judge_all(targets: Sequence[Target], settings: Settings) -> list[Judged]:
    """Judge several files in turn; a mistake in this program affects only one of them."""
    return [judge_safely(target, settings) for target in targets]


def judge_safely(target: Target, settings: Settings) -> Judged:
    """Judge one file; a mistake in this program makes it `errored` instead of ending the run."""
    try:
        return judge(target, settings)
    except Exception as error:  # noqa: BLE001 - the other files still want to be judged
        return unjudged(target, settings, mistake(error))


def judge_in_time(
    target: Target, settings: Settings, judge_one: Callable[[Target, Settings], Judged] = judge_safely
) -> Judged:
    """Judge one file in this process with the default time limit of workers; after that it is `errored`."""
    seconds = default_seconds(target.known_size())
    try:
        with limited(seconds):
            return judge_one(target, settings)
    except OutOfTime:
        return unjudged(target, settings, out_of_time(seconds))


def mistake(error: Exception) -> str:
    """The text of a report about an unexpected exception."""
    return str(Mistake(error))


def unjudged(target: Target, settings: Settings, reason: str, outcome: Outcome = "errored") -> Judged:
    """The report on a file that could not be read."""
    size = -1 if target.size is None else target.size
    report = FileReport(
        path=target.name,
        kind=target.kind,
        size=size,
        outcome=outcome,
        coverage="",
        findings=[],
        error=reason,
    )
    said_by = "" if target.claims is None else target.claims.table
    return report, not_judged(settings.selection, settings, target.kind, said_by)


def _reason(target: Target, error: OSError) -> str:
    if target.store:
        from pqassay.stores.remote_source import describe  # noqa: PLC0415 - local files do not need it

        return describe(error)
    return error.strerror or str(error)
