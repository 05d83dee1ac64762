"""The command ``pqassay spark check``."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from pqassay.cli.check import options as declared
from pqassay.cli.check.earlier_runs import findings_folder
from pqassay.cli.check.recording import recording
from pqassay.cli.output import (
    fail_with_lines,
    interruptible,
    print_report,
    with_new_baseline,
)
from pqassay.errors import UsageError
from pqassay.report.formats import FormatName
from pqassay_spark.cli.session import Master, Ship, command_session, quiet, stop
from pqassay_spec.base.help_pages import example

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pqassay.judge.checker import Plan
    from pqassay.judge.cost.estimate import StorePrices
    from pqassay.report.model import Report

FILES_NAMED = 20
"""Files with findings up to which each has a block of its own; of more, tables tell."""

EXAMPLE = (
    "Examples: `pqassay spark check lake`, `pqassay spark check s3://bucket/sales --tier values --master yarn --ship`. "
    "Exit codes as of `pqassay check`: 0 conformant, 1 findings, 2 usage, 3 stale entries in the baseline, 4 not all "
    "could be judged."
)


@example(EXAMPLE)
@declared.taking_arguments
def check(
    given: declared.Arguments,
    *,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE",
            help="Write the report as a findings table as well: a folder with one Parquet file, replaced as a whole.",
        ),
    ] = None,
    incremental: Annotated[
        bool,
        typer.Option(
            "--incremental",
            help="Take over what the table of --out says of files that have not changed since.",
        ),
    ] = False,
    sample: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Judge N files, spread over folders and sizes; no others."),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Judge nothing; estimate requests, bytes, time and money by tier, and exit."
        ),
    ] = False,
    request_price: declared.RequestPrice = None,
    gb_price: declared.GbPrice = None,
    tasks: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Tasks to cut the work into. Default: up to 8 for each core.",
            show_default=False,
        ),
    ] = None,
    master: Master = None,
    ship: Ship = False,
) -> None:
    """Run `pqassay check` on all cores of a cluster."""
    from pqassay.under_test.tables.states import kept_states

    try:
        wanted = declared.wanted(given)
        run = _Run(
            wanted,
            findings_folder(out, is_needed=incremental),
            incremental,
            sample,
            tasks,
            master,
            ship,
        )
        if dry_run:
            run.print_estimate(declared.prices(request_price, gb_price))
            return
        declared.require_dry_run({"--request-price": request_price, "--gb-price": gb_price})
        record = recording(wanted, dt.datetime.now(dt.UTC), is_partial=sample is not None)
        with kept_states():
            plan, report, notes = run.checked()
            _print(report, notes, wanted)
            record(plan, report)  # where that fails, the report is there all the same
    except UsageError as error:
        fail_with_lines(str(error))
    raise typer.Exit(report.exit_code)


def _print(report: Report, notes: list[str], wanted: declared.Wanted) -> None:
    """Print the report, and what must be said beside it: in the text, or on stderr where the report is data."""

    def text(report: Report, stream: TextIO) -> None:
        from pqassay.report.renderers.text import render

        render(report, stream, notes=notes, files_named=FILES_NAMED)

    if wanted.format is not FormatName.TEXT:
        for note in notes:
            typer.echo(f"note: {note}", err=True)
    print_report(report, wanted.format, wanted.output, text)


@dataclass
class _Run:
    wanted: declared.Wanted
    table: Path | None
    is_incremental: bool
    sample: int | None
    tasks: int | None
    master: str | None
    ship: bool
    started: int = field(default_factory=time.time_ns)
    _stack: ExitStack = field(default_factory=ExitStack)
    _spark: SparkSession | None = None

    def checked(self) -> tuple[Plan, Report, list[str]]:
        """Check; return what was to be judged, the report, and what must be said beside it."""
        from pqassay.cli.progress_bar import progress_bar
        from pqassay.history import findings_table
        from pqassay_spark.check.executor_judging import Means
        from pqassay_spark.check.run import carried_out

        wanted = self.wanted
        with self._running():
            plan = self._plan()
            with progress_bar() as bar:
                checked = carried_out(
                    self._session,
                    plan,
                    Means(self.tasks, wanted.timeout, wanted.memory),
                    started=self.started,
                    table=self.table,
                    is_incremental=self.is_incremental,
                    sample=self.sample,
                    tell=None if bar is None else bar.show,
                )
            report = checked.report
            wanted.require_apart([file.path for file in report.files])
            if wanted.write_baseline is not None:
                report = with_new_baseline(
                    report, wanted.write_baseline, wanted.options, by_writer=wanted.by_writer
                )
            notes = checked.notes
            if self.table is not None:
                try:
                    findings_table.write(self.table, report, checked.states, plan.settings)
                except OSError as error:
                    stop(f"--out {self.table}: {error.strerror or error}")
                notes.append(f"findings table: {self.table}")
            return plan, report, notes

    def print_estimate(self, prices: StorePrices) -> None:
        """Say what a check would cost."""
        from pqassay_spark.check.run import estimated

        declared.require_estimate(self.wanted)
        with self._running():
            plan = self._plan()
            self.wanted.require_apart([target.name for target in plan.targets])
            found = estimated(
                self._session,
                plan,
                table=self.table if self.is_incremental else None,
                sample=self.sample,
                prices=prices,
            )
        how = f"estimated from {found.looked_at} of them, on {found.cores} cores, at {found.prices}"
        declared.print_estimate(self.wanted, found, how)

    @contextmanager
    def _running(self) -> Generator[None]:
        """Say in one line what ends a run; Spark is stopped in any case."""
        from pqassay_spark.jobs.spark_jobs import JobError

        with interruptible(), self._stack:
            try:
                yield
            except JobError as error:
                stop(str(error), 4)

    def _plan(self) -> Plan:
        from pqassay.history import findings_table
        from pqassay.judge.checker import planned
        from pqassay_spark.check.spark_listing import SparkListing

        # What is wrong with the paths is said before Spark is started, which takes a while.
        plan = planned(self.wanted.paths, **self.wanted.options, listing=SparkListing(self._session))
        if self.table is not None:
            findings_table.require_place(
                self.table, plan.found.roots, (target.path for target in plan.targets)
            )
        return plan

    def _session(self) -> SparkSession:
        if self._spark is None:
            from pqassay_spark.jobs.session import is_running
            from pqassay_spark.jobs.spark_jobs import require_modules

            was_running = is_running()
            self._spark = self._stack.enter_context(command_session(self.master, ship=self.ship))
            if not was_running:
                # We say in a line what failed; Spark takes pages.
                quiet(self._spark)
            require_modules(self._spark, is_deep=self.wanted.options.get("tier") == "values")
        return self._spark
