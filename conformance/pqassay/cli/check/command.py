"""The command ``pqassay check``."""

from __future__ import annotations

import datetime as dt
import os
import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pqassay.cli.check import options as declared
from pqassay.cli.check.earlier_runs import findings_folder
from pqassay.cli.check.recording import recording
from pqassay.cli.output import fail_with_lines, interruptible, print_report, with_new_baseline
from pqassay.cli.progress_bar import progress_bar
from pqassay.errors import UsageError
from pqassay_spec.base.help_pages import example

if TYPE_CHECKING:
    from pqassay.judge.checker import Plan
    from pqassay.judge.cost.estimate import StorePrices
    from pqassay.judge.one_file import Judged
    from pqassay.judge.selection.sampling import Wish
    from pqassay.report.model import Report
    from pqassay.stores.targets import Target

EPILOG = (
    "Examples: `pqassay check part-0.parquet`, `pqassay check --jobs 4 lake/`, "
    "`pqassay check --tier meta warehouse/sales` (a Delta or Iceberg table), "
    "`pqassay check 's3://bucket/sales/**/*.parquet'`, `pqassay check --prove part-0.parquet`, "
    "`pqassay check --dry-run s3://bucket/sales` (what would it cost?), `pqassay check --history findings --metrics pqassay.prom lake/` (for `pqassay history` and for alarms), `pqassay check --sample 0.3% s3://bucket/sales` (what can be said of all files by some?), `pqassay check --fail-on rows-lost,wrong-rows --max-files 3 lake/`. Defaults may be in pqassay.toml. "
    "Exit codes: 0 conformant, 1 findings, 2 usage, 3 stale entries in the baseline, 4 not all could be judged, 70 pqassay itself failed."
)


@example(EPILOG)
@declared.taking_arguments
def check(
    arguments: declared.Arguments,
    *,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", metavar="N", min=0, help="Worker processes (default 1); 0 is one per processor."
        ),
    ] = None,
    prove: Annotated[
        bool,
        typer.Option(
            "--prove",
            help="Show what findings do: queries on the engines that are installed, beside the true rows. "
            "Implies --tier values.",
        ),
    ] = False,
    engine: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="An engine that --prove asks; may be repeated. Default: all."),
    ] = None,
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
        str | None,
        typer.Option(
            "--sample",
            metavar="BOUND",
            help="Judge as many files as it takes to say that at most so many of all are broken, such as 0.3%, or a number of files; bounds are "
            "printed by writer and rule.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            metavar="N",
            help="What --sample is drawn by: the same one draws the same files. Default: 0.",
            show_default=False,
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            "--confidence",
            metavar="PERCENT",
            help="In how many of 100 samples a bound holds. Default: 95.",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Judge nothing; predict from some footers what the check asks of a store: requests, bytes, time and money by tier.",
        ),
    ] = False,
    latency: Annotated[
        float | None,
        typer.Option(
            metavar="MS",
            min=0,
            help="Until an answer of the store begins, for --dry-run. Default: 30.",
            show_default=False,
        ),
    ] = None,
    bandwidth: Annotated[
        float | None,
        typer.Option(
            metavar="MB",
            min=0.001,
            help="Megabytes of an answer in a second, for --dry-run. Default: 80.",
            show_default=False,
        ),
    ] = None,
    request_price: declared.RequestPrice = None,
    gb_price: declared.GbPrice = None,
    spark_packages: Annotated[
        str | None,
        typer.Option(
            "--spark-packages",
            metavar="PACKAGE",
            help="What lets Spark read Delta or Iceberg tables for --prove, as GROUP:NAME:VERSION; it is fetched from Maven Central.",
        ),
    ] = None,
) -> None:
    """Check files against the specification, whoever wrote them."""
    from pqassay.tables.kept import kept_states

    try:
        _require_engines(engine or [], spark_packages, prove=prove)
        if prove and arguments.tier is None:
            arguments = replace(arguments, tier="values")
        wanted = declared.wanted(arguments, jobs)
        table = findings_folder(out, is_needed=incremental)
        if dry_run:
            _require_whole(out, sample)
            _predict(wanted, latency, bandwidth, declared.prices(request_price, gb_price))
            return
        declared.require_dry_run(
            {
                "--latency": latency,
                "--bandwidth": bandwidth,
                "--request-price": request_price,
                "--gb-price": gb_price,
            }
        )
        wish = _wish(sample, seed, confidence)
        started = time.time_ns()
        record = recording(
            wanted, dt.datetime.fromtimestamp(started / 1e9, dt.UTC), is_partial=wish is not None
        )
        with kept_states():
            plan, report = _run(wanted, table, started, wish, is_incremental=incremental)
            wanted.require_apart([file.path for file in report.files])
            if wanted.write_baseline is not None:
                report = with_new_baseline(
                    report, wanted.write_baseline, wanted.options, by_writer=wanted.by_writer
                )
            if prove:
                report = _proved(report, wanted, engine or [], spark_packages or "")
            print_report(report, wanted.format, wanted.output)
            with interruptible():
                record(plan, report)  # where that fails, the report is there all the same
    except UsageError as error:
        fail_with_lines(str(error))
    raise typer.Exit(report.exit_code)


def _wish(sample: str | None, seed: int | None, confidence: float | None) -> Wish | None:
    """What ``--sample`` asks for; ``None`` if all files are judged."""
    if sample is None:
        if seed is not None or confidence is not None:
            raise UsageError("--seed and --confidence are said of --sample; give that as well")
        return None
    from pqassay.judge.selection.sampling import wish_of

    return wish_of(sample, seed or 0, 95 if confidence is None else confidence)


def _require_whole(out: str | None, sample: str | None) -> None:
    """Refuse to predict a check of which nobody knows how many files it judges."""
    if out is not None or sample is not None:
        raise UsageError(
            "--dry-run predicts a check of all files and writes no table: leave out --out, --incremental and --sample"
        )


def _predict(
    wanted: declared.Wanted, latency: float | None, bandwidth: float | None, prices: StorePrices
) -> None:
    """Say what the check would cost."""
    from pqassay.judge.checker import planned
    from pqassay.judge.cost.estimate import USUAL_PACE, StorePace
    from pqassay.judge.cost.prediction import predicted
    from pqassay.stores.table_files import counted_metadata
    from pqassay.tables.kept import kept_states

    declared.require_estimate(wanted)
    pace = StorePace(
        USUAL_PACE.latency_ms if latency is None else latency,
        USUAL_PACE.mb_per_second if bandwidth is None else bandwidth,
    )
    with interruptible(), kept_states(), counted_metadata() as metadata:
        plan = planned(wanted.paths, **wanted.options)
        wanted.require_apart([target.name for target in plan.targets])
        found = predicted(plan, metadata, jobs=_processes(wanted.jobs), prices=prices, pace=pace)
    workers = f"{found.cores} worker{'s' * (found.cores > 1)}"
    how = (
        f"predicted from the footers of {found.looked_at} of them, for {workers} and a store with {pace}, "
        f"{prices}"
    )
    declared.print_estimate(wanted, found, how)


def _processes(jobs: int | None) -> int:
    """How many worker processes ``--jobs`` means."""
    if jobs == 0:
        jobs = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return jobs or 1


def _run(
    wanted: declared.Wanted, table: Path | None, started: int, wish: Wish | None, *, is_incremental: bool
) -> tuple[Plan, Report]:
    """Check, with a progress bar; what interrupts it leaves no worker behind."""
    from pqassay.judge import checker

    jobs = _processes(wanted.jobs)
    if wanted.memory is not None:
        from pqassay.judge.workers import limits_memory

        if not limits_memory():
            typer.echo(
                "note: this system does not limit the memory of a process; --memory does nothing", err=True
            )
    with interruptible(), progress_bar() as progress:
        if wanted.options.get("tier") in (None, "values") or jobs > 1:
            from pqassay.judge import workers

            workers.preload()
        plan = checker.planned(wanted.paths, **wanted.options)

        def judge(targets: Sequence[Target]) -> Generator[Judged]:
            return checker.verdicts(
                targets, plan.settings, jobs=jobs, timeout=wanted.timeout, memory=wanted.memory
            )

        keeper = None
        if table is not None:
            from pqassay.history.incremental import Keeper

            keeper = Keeper(plan, table, judge, started=started, is_incremental=is_incremental)

        def judge_some(positions: Sequence[int]) -> Generator[Judged]:
            return (
                judge([plan.targets[position] for position in positions])
                if keeper is None
                else keeper.verdicts(positions)
            )

        if wish is not None:
            from pqassay.judge.selection.sampling import sampled

            save = None if keeper is None else keeper.write
            plan, report = sampled(plan, wish, judge_some, save=save, progress=progress)
        else:
            every = range(len(plan.targets))
            with closing(judge_some(every)) as verdicts:
                report = checker.concluded(plan, verdicts, progress)
            if keeper is not None:
                keeper.write(report, every)
    if keeper is not None and keeper.note:
        typer.echo(f"note: {keeper.note}", err=True)
    return plan, report


def _require_engines(names: list[str], spark_packages: str | None, *, prove: bool) -> None:
    """Raise `UsageError` for an engine that there is not, or that is not asked, before the check rather than after it."""
    if spark_packages is not None and not prove:
        raise UsageError("--spark-packages is for Spark when --prove asks it; give that as well")
    if not names:
        return
    from pqassay.proof.engines import require_engines

    if not prove:
        raise UsageError("--engine says whom --prove asks; give that as well")
    require_engines(names)


def _proved(report: Report, wanted: declared.Wanted, engines: list[str], spark_packages: str) -> Report:
    """Show what findings do, with a progress bar; what interrupts it leaves no engine behind."""
    from pqassay.proof.trial import proved

    with interruptible(), progress_bar() as progress:
        return proved(
            report,
            engines=engines,
            spark_packages=spark_packages,
            timeout=wanted.timeout,
            memory=wanted.memory,
            progress=None if progress is None else progress.show,
        )
