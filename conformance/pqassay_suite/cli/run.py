"""The command ``pqassay suite run``: judge an implementation through a driver."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from pqassay.cli.failure import OutputFile, Verbose, fail, require_format, require_no_data
from pqassay.cli.output import print_report, write_output
from pqassay.cli.report import print_side_by_side
from pqassay.report.formats import ABREAST, OF_RUNS, RUN_FORMAT_HELP, FormatName, format_of
from pqassay.report.run.outcomes import Operation
from pqassay_spec.base.help_pages import epilog, example
from pqassay_suite.cli.driver import (
    DriverCommand,
    NamedDriver,
    failing,
    named_drivers,
    print_times,
    require_positive,
    say_hello,
    wrong_in,
)
from pqassay_suite.cli.files import (
    DEFAULT_MEBIBYTES,
    DEFAULT_VALUES,
    cases_of,
    files_to_ask,
    list_files,
    with_collection,
)

GIBIBYTE = 1 << 30

NOTHING_ASKED = "these cases do not have that operation; `pqassay suite run --list` shows their operations"

DEFAULT_SECONDS = 10.0
DEFAULT_GIBIBYTES = 4.0


if TYPE_CHECKING:
    from pqassay.report.run.model import RunReport
    from pqassay_spec.golden.revision import Revision
    from pqassay_suite.cases.case import GoldenCase
    from pqassay_suite.cases.expectations import Expectations
    from pqassay_suite.drivers.driver import Settings
    from pqassay_suite.running.runner import Times

    OperationName = Operation
else:
    # The only lists that typer knows are those of enums.
    OperationName = StrEnum("OperationName", {name.upper(): name for name in get_args(Operation)})

EPILOG = epilog(
    "`pqassay suite run -- python3 driver.py`",
    "`pqassay suite run --driver duckdb --case 'pix/*'`",
    "`pqassay suite run --driver duckdb --files my-collection`",
    "`pqassay suite run --driver duckdb --driver polars --output both.html`",
    codes="0 all well, 1 failures, 2 usage or nothing tested, 3 stale expectations, 4 crashes or protocol errors",
)


@example(EPILOG, rare=("max_size", "max_values", "queries", "validate_protocol", "memory"))
def run(
    driver: DriverCommand = None,
    shipped: Annotated[
        list[str] | None,
        typer.Option(
            "--driver",
            metavar="NAME",
            help="Shipped driver, by name; several are compared side by side.",
        ),
    ] = None,
    case: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Ask only these cases and their parents; repeatable."),
    ] = None,
    operation: Annotated[
        list[OperationName] | None,
        typer.Option(
            metavar="OPERATION",
            help=f"Operations: {', '.join(get_args(Operation))}. Default: all.",
        ),
    ] = None,
    cases: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of golden files. Default: those of this installation."),
    ] = None,
    files: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Test with these files; two other readers give the expected rows.",
        ),
    ] = None,
    max_size: Annotated[
        float,
        typer.Option(metavar="MIB", help="With --files: skip larger files."),
    ] = DEFAULT_MEBIBYTES,
    max_values: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="With --files: skip files with more values."),
    ] = DEFAULT_VALUES,
    expectations: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Expected failures (TOML).")
    ] = None,
    write_expectations: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write failures as expectations.")
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="Processor time for one request. Default: 10.", show_default=False
        ),
    ] = None,
    memory: Annotated[
        float, typer.Option(metavar="GIB", help="Memory for one request; enforced on Linux.")
    ] = DEFAULT_GIBIBYTES,
    queries: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Limit the queries of a scan. Default: all, up to 16."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Parallel requests. Default: one per processor."),
    ] = None,
    validate_protocol: Annotated[
        bool, typer.Option("--validate-protocol", help="Check requests and answers against the schemas.")
    ] = False,
    keep: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep requests, answers and files in this folder.")
    ] = None,
    rerun: Annotated[
        Path | None,
        typer.Option(
            metavar="RESULTS",
            help="Repeat only the questions that had wrong answers in these results (JSON).",
        ),
    ] = None,
    hello: Annotated[
        bool, typer.Option("--hello", help="Show the driver's capabilities and the cases that they select.")
    ] = False,
    list_only: Annotated[
        bool, typer.Option("--list", help="List the cases that would be asked; start nothing.")
    ] = False,
    output_format: Annotated[
        FormatName | None, typer.Option("--format", metavar="FORMAT", help=RUN_FORMAT_HELP)
    ] = None,
    output: OutputFile = None,
    verbose: Verbose = False,
) -> None:
    """Test a reader or writer with golden files.

    A driver connects it to pqassay: a small program in any language.

    `pqassay suite new-driver` makes one, and --driver names a shipped one.
    """
    require_positive({"--timeout": timeout, "--memory": memory, "--max-size": max_size})
    chosen_format = format_of(output_format, output)
    several = len(set(shipped or ())) + bool(driver) > 1
    of_one = {
        "--files": files,
        "--rerun": rerun,
        "--hello": hello,
        "--expectations": expectations,
        "--write-expectations": write_expectations,
    }
    _require_printable(chosen_format, [name for name, value in of_one.items() if value] if several else None)
    _require_own_files(files, cases, operation)
    require_no_data({"--output": output, "--write-expectations": write_expectations})
    wrong = wrong_in(rerun) if rerun else frozenset[tuple[str, str]]()
    only = operation or ()
    own = None if files is None else files_to_ask(files, case or (), wrong)
    every, chosen = ([], []) if own else _golden(cases, case or ())
    if list_only:
        _list(chosen, only) if own is None else list_files(own)
        return
    drivers = named_drivers(driver or [], shipped or [])

    from pqassay_spec.golden.revision import current
    from pqassay_suite.cases.expectations import Expectations
    from pqassay_suite.drivers.driver import Settings
    from pqassay_suite.drivers.process import Limits
    from pqassay_suite.running.runner import Times, tasks

    settings = [
        _settings(
            named,
            Settings(
                named.command,
                Limits(timeout or named.seconds or DEFAULT_SECONDS, int(memory * GIBIBYTE)),
                jobs=jobs or os.cpu_count() or 1,
                strict=validate_protocol,
                keep=keep / named.label if keep and several else keep,
                only=only,
                tasks=wrong,
                queries=queries,
            ),
        )
        for named in drivers
    ]
    with _ended_by_sigterm(), contextlib.ExitStack() as stack:
        collection = None
        if own is not None:
            with _progress() as progress:
                made, collection = stack.enter_context(
                    cases_of(own, (max_size, max_values), settings[0], drivers[0].implementation, progress)
                )
                chosen = [*made]
        if not tasks(chosen, only):
            fail(NOTHING_ASKED)
        if hello:
            say_hello(chosen, settings[0])
            return
        names = own.others if own else frozenset(golden.case.id for golden in every)
        known = dataclasses.replace(
            _read_expectations(expectations) if expectations else Expectations(),
            others=names - {golden.case.id for golden in chosen},
            narrowed=bool(only) or rerun is not None,
        )
        times, revision = Times(), None if cases or own else current()
        reports = [_asked(chosen, each, known, times, revision) for each in settings]
    if several:
        print_side_by_side(reports, [named.label for named in drivers], chosen_format, output)
        raise typer.Exit(max(report.exit_code for report in reports))
    (report,) = reports
    if collection is not None:
        report = with_collection(report, collection)
    if write_expectations is not None:
        _write_expectations(report, known, write_expectations)
    options_named = {
        "--cases": str(cases) if cases else "",
        "--files": str(files) if files else "",
        "--max-size": f"{max_size:g}" if max_size != DEFAULT_MEBIBYTES else "",
        "--max-values": str(max_values) if max_values != DEFAULT_VALUES else "",
        "--timeout": f"{timeout:g}" if timeout else "",
        "--memory": f"{memory:g}" if memory != DEFAULT_GIBIBYTES else "",
        "--queries": str(queries) if queries else "",
    }
    options = [part for name, value in options_named.items() if value for part in (name, value)]
    report = dataclasses.replace(report, options=options + ["--validate-protocol"] * validate_protocol)
    print_report(report, chosen_format, output, verbose=verbose)
    if output is None and chosen_format is FormatName.TEXT:
        print_times(times)
    raise typer.Exit(0 if write_expectations is not None else report.exit_code)


def _require_printable(output_format: FormatName, of_one: Sequence[str] | None) -> None:
    """Check the format; with several drivers also the options that are for one, of which there are to be none."""
    if of_one is None:
        require_format(output_format, "results of runs are printed", OF_RUNS)
        return
    require_format(output_format, "several results are printed", ABREAST)
    if of_one:
        fail(f"{of_one[0]} is for one driver; name one")


def _require_own_files(
    files: Path | None, cases: Path | None, operations: Sequence[Operation] | None
) -> None:
    if files and cases:
        fail("--files replaces --cases: your own files have no manifests")
    if files and operations and "read" not in operations:
        fail("--files only allows the operation read: your files have no expected answers to queries")


def _settings(named: NamedDriver, settings: Settings) -> Settings:
    """Settings with those of a driver that comes with pqassay."""
    known = named.implementation
    if known is None:
        return settings
    return dataclasses.replace(
        settings,
        jobs=known.jobs or settings.jobs,
        queries=settings.queries or known.queries,
        fresh=known.fresh,
        shipped=known.label,
        shown=known.command,
    )


def _golden(folder: Path | None, patterns: Sequence[str]) -> tuple[list[GoldenCase], list[GoldenCase]]:
    """All golden cases, and those that match a pattern, with their parents."""
    from pqassay_suite.cases.case import CaseError, load, select
    from pqassay_suite.cases.update_cases import asked_cases

    with failing(CaseError):
        every = load(folder) if folder else asked_cases()
        return every, select(every, patterns)


def _asked(
    cases: Sequence[GoldenCase],
    settings: Settings,
    known: Expectations,
    times: Times,
    revision: Revision | None,
) -> RunReport:
    """Ask the driver; the cases of a revision count, without one all."""
    from pqassay_suite.cases.case import CaseError
    from pqassay_suite.running.runner import run as run_cases

    with failing(CaseError), _progress() as progress:
        return run_cases(cases, settings, known, revision=revision, progress=progress, times=times)


def _write_expectations(report: RunReport, known: Expectations, path: Path) -> None:
    from pqassay_suite.cases.expectations import written

    text = written(report.results, known)
    write_output(text, path)
    count = text.count("[[")
    typer.echo(f"{path}: {count} expectation{'' if count == 1 else 's'} written", err=True)


def _list(chosen: Sequence[Any], only: Sequence[Operation]) -> None:
    from pqassay_suite.judging.answers import operations

    for golden in chosen:
        asked = [name for name in operations(golden.case) if not only or name in only]
        if asked:
            typer.echo(f"{golden.case.id}  {' '.join(asked)}")


def _read_expectations(path: Path) -> Any:
    from pqassay_suite.cases.expectations import ExpectationsError, parse

    with failing(ExpectationsError, of=path):
        return parse(path.read_bytes())


@contextlib.contextmanager
def _ended_by_sigterm() -> Generator[None]:
    """Leave in an orderly way when asked to, so that no driver and no temporary folder is left behind."""

    def leave(*_: object) -> None:
        raise typer.Exit(128 + signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _progress() -> Generator[Callable[[int, int, str], None] | None]:
    """A progress bar on stderr, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (MofNCompleteColumn(), BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def show(done: int, total: int, case: str) -> None:
            bar.update(task, completed=done, total=total, description=escape(case))

        yield show
