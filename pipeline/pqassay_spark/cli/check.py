"""The command ``pqassay spark check``."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from pqassay.cli.check.command import FORMER, former
from pqassay.cli.check.options import RENAMED, Given, Request, checking
from pqassay.cli.check.running import run
from pqassay.cli.output import print_report
from pqassay.report.formats import FormatName
from pqassay_spark.cli.session import Master, Ship, command_session, quiet, stop
from pqassay_spec.base.help_pages import example

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pqassay.report.model import Report
    from pqassay_spark.check.run import OnExecutors

FILES_NAMED = 20
"""Most files with findings that are listed one by one; more files are summarized in tables."""

EPILOG = """Examples:

`pqassay spark check lake`

`pqassay spark check --tier values --master yarn --ship s3://bucket/sales`

Exit codes: those of `pqassay check`.
"""


@example(EPILOG)
@checking(without=("jobs",), renamed={**RENAMED, **FORMER})
def check(
    given: Given,
    *,
    tasks: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Number of tasks. Default: up to 8 per core."),
    ] = None,
    master: Master = None,
    ship: Ship = False,
) -> None:
    """Run `pqassay check` on all cores of a cluster."""
    given, meant = former(given)
    run(given, work_of=partial(_on_spark, tasks=tasks, master=master, ship=ship), show=_show, **meant)


def _show(request: Request, report: Report, notes: list[str]) -> None:
    """Print the report and its notes; if the report is data, the notes are printed on stderr."""
    if request.table is not None:
        notes = [*notes, f"findings table: {request.table}"]

    def text(report: Report, stream: TextIO) -> None:
        from pqassay.report.renderers.text import render

        render(report, stream, notes=notes, files_named=FILES_NAMED, verbose=request.verbose)

    if request.format is not FormatName.TEXT:
        for note in notes:
            typer.echo(f"note: {note}", err=True)
    values = request.options.get("values")
    print_report(report, request.format, request.output, text, salt=request.salt, values=values)


@contextmanager
def _on_spark(
    request: Request, tasks: int | None, master: str | None, *, ship: bool
) -> Generator[tuple[OnExecutors, None]]:
    """Judge on executors; Spark is started when there is something to judge, and always stopped."""
    from pqassay.cli.progress_bar import progress_bar
    from pqassay_spark.check.executor_judging import Means
    from pqassay_spark.check.run import OnExecutors
    from pqassay_spark.jobs.session import is_running
    from pqassay_spark.jobs.spark_jobs import JobError, require_modules

    limits = request.limits
    means = Means(tasks, limits.get("timeout"), limits.get("memory"))
    sessions: list[SparkSession] = []
    with ExitStack() as stack:

        def session() -> SparkSession:
            if not sessions:
                was_running = is_running()
                sessions.append(stack.enter_context(command_session(master, ship=ship)))
                if not was_running:
                    quiet(sessions[0])  # a line says what failed; Spark takes pages
                require_modules(sessions[0], is_deep=request.options.get("tier") == "values")
            return sessions[0]

        bar = stack.enter_context(progress_bar())
        try:
            yield OnExecutors(session, means, None if bar is None else bar.show), None
        except JobError as error:
            stop(str(error), 4)
