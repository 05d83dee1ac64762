"""The run of a command: planning, judging, and reporting."""

from __future__ import annotations

import datetime as dt
import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from pqassay.cli.check.options import Given, Request, request_of
from pqassay.cli.check.plug_ins import loaded
from pqassay.cli.failure import require_no_data
from pqassay.cli.output import fail_with_lines, interruptible, print_report
from pqassay.cli.progress_bar import progress_bar
from pqassay.errors import UsageError
from pqassay.report.redaction import without_values

if TYPE_CHECKING:
    from pqassay.judge.checker import CheckPlan, Outcome, Progress, Verdict, Work
    from pqassay.judge.options import Limits
    from pqassay.report.model import Report
    from pqassay.stores.targets import Target

Conclude = Callable[["Request", "CheckPlan", "Work", int, "Progress | None"], "Outcome"]
"""A function that has a plan judged; the integer is the start time in nanoseconds since 1970."""


class OnThisMachine:
    """The work of judging files on this machine, in this process or in worker processes."""

    listing = None

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def judge(self, plan: CheckPlan, targets: Sequence[Target], *, wants_etags: bool) -> Generator[Verdict]:
        """See `Work.judge`."""
        from pqassay.judge import checker

        # Etags first: a file that changes while it is judged must not look unchanged the next time.
        etags = iter(self.etags(targets) if wants_etags else [None] * len(targets))
        limits = self._limits
        verdicts = checker.verdicts(
            targets,
            plan.settings,
            jobs=processes(limits.get("jobs")),
            timeout=limits.get("timeout"),
            memory=limits.get("memory"),
        )
        with closing(verdicts):
            for verdict in verdicts:
                yield verdict, next(etags)

    def etags(self, targets: Sequence[Target]) -> Sequence[str | None]:
        """See `Work.etags`."""
        if not any(target.store for target in targets):
            return [None] * len(targets)
        from pqassay.stores.remote import etag

        return [etag(target) for target in targets]


@contextmanager
def on_this_machine(request: Request) -> Generator[tuple[Work, Progress | None]]:
    """A context that judges on this machine, with a progress bar."""
    limits = request.limits
    if limits.get("memory") is not None:
        from pqassay.judge.workers import limits_memory

        if not limits_memory():
            typer.echo(
                "note: this system does not limit the memory of a process; --memory does nothing", err=True
            )
    with progress_bar() as progress:
        if request.options.get("tier") in (None, "values") or processes(limits.get("jobs")) > 1:
            from pqassay.judge import workers

            workers.preload()
        yield OnThisMachine(limits), progress


def processes(jobs: int | None) -> int:
    """The number of worker processes that ``--jobs`` means."""
    if jobs == 0:
        jobs = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return jobs or 1


def every_file(
    request: Request, plan: CheckPlan, work: Work, started: int, progress: Progress | None
) -> Outcome:
    """Judge all files; with a findings table, only files that it does not know."""
    if request.table is not None:
        outcome: Outcome = loaded("keeping_a_table")(
            plan, work, started=started, table=request.table, is_reused=request.is_reused, progress=progress
        )
        return outcome
    from pqassay.judge.checker import concluded

    with closing(work.judge(plan, plan.targets, wants_etags=False)) as verdicts:
        return plan, concluded(plan, (verdict for verdict, _ in verdicts), progress), []


def run(
    given: Given,
    *,
    work_of: Callable[[Request], AbstractContextManager[tuple[Work, Progress | None]]] = on_this_machine,
    conclude: Conclude = every_file,
    is_partial: bool = False,
    is_recorded: bool = True,
    tier: str | None = None,
    outputs: Mapping[str, Path] = {},
    prepare: Callable[[Request], Request] | None = None,
    revise: Callable[[Request, Report], Report] | None = None,
    show: Callable[[Request, Report, list[str]], None] | None = None,
) -> NoReturn:
    """Check, print the report, record it, and exit with its exit code.

    Args:
        given: The values of the command line.
        work_of: Creates the workers that judge.
        conclude: Judges a plan.
        is_partial: Whether only some of the files are judged.
        is_recorded: Whether to write the history and metrics that ``pqassay.toml`` names.
        tier: The default tier.
        outputs: Further files that are written, by option.
        prepare: Further changes of the request before anything is judged.
        revise: Further changes of the report before it is printed.
        show: Prints the report; by default `print_report`, with notes on stderr.
    """
    from pqassay.judge.checker import planned
    from pqassay.tables.kept import kept_states

    try:
        if tier is not None and "tier" not in given:
            given = {**given, "tier": tier}
        request = request_of(given, outputs, is_recorded=is_recorded)
        if prepare is not None:
            request = prepare(request)
            request.require_apart()
            require_no_data(request.outputs, only_ours=True)
        started = time.time_ns()
        record = None
        if request.history is not None or request.metrics is not None:
            moment = dt.datetime.fromtimestamp(started / 1e9, dt.UTC)
            record = loaded("recording")(request, moment, is_partial=is_partial)
        with kept_states():
            with interruptible(), work_of(request) as (work, progress):
                plan = planned(request.paths, listing=work.listing, **request.options)
                plan, report, notes = conclude(request, plan, work, started, progress)
            request.require_apart([file.path for file in report.files])
            if revise is not None:
                report = revise(request, report)
                if request.options.get("values") is False:
                    report = without_values(report, request.salt)
            (show or _shown)(request, report, notes)
            if record is not None:
                with interruptible():
                    record(plan, report)  # if that fails, the report is already printed
    except UsageError as error:
        fail_with_lines(str(error))
    raise typer.Exit(report.exit_code)


def _shown(request: Request, report: Report, notes: list[str]) -> None:
    for note in notes:
        typer.echo(f"note: {note}", err=True)
    print_report(
        report,
        request.format,
        request.output,
        salt=request.salt,
        values=request.options.get("values"),
        verbose=request.verbose,
    )
