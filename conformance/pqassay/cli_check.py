"""The command ``pqassay check``: its options, and what becomes of the report."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Generator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from pqassay.cli_failure import fail, require_no_data
from pqassay_spec.terminal import printable

if TYPE_CHECKING:
    from pqassay.config import Config
    from pqassay.report import Report

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""

TERMINATED = 143
"""Exit code after SIGTERM."""


class TierName(StrEnum):
    """How deep to look."""

    FOOTER = "footer"
    INDEX = "index"
    PAGES = "pages"
    VALUES = "values"


class LevelName(StrEnum):
    """From which verdict on a finding counts."""

    MUST = "must"
    SHOULD = "should"


class FormatName(StrEnum):
    """How to print the report."""

    TEXT = "text"
    JSON = "json"


EPILOG = (
    "Examples: `pqassay check part-0.parquet`, `pqassay check --jobs 4 lake/`, "
    "`pqassay check 's3://bucket/sales/**/*.parquet'`. Defaults may stand in pqassay.toml. "
    "Exit codes: 0 conformant, 1 findings, 2 usage, 3 stale entries in the baseline, 4 not all could be judged."
)


def check(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH...",
            help="Files, folders, patterns such as 'lake/**/*.parquet', or URIs (s3://, gs://, hdfs://).",
            show_default=False,
        ),
    ] = None,
    files_from: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Read further paths from a file, one on each line; - is stdin.",
            show_default=False,
        ),
    ] = None,
    null: Annotated[
        bool,
        typer.Option(
            "--null", "-0", help="Paths of --files-from end in a zero byte, as find -print0 writes."
        ),
    ] = False,
    tier: Annotated[
        TierName | None,
        typer.Option(help="How deep to look. Default: values for one file under 1 GiB, else index."),
    ] = None,
    level: Annotated[
        LevelName | None,
        typer.Option(
            help="From which verdict on a finding counts: must (default) is FAIL, should adds WARN."
        ),
    ] = None,
    rule: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Test only these rules; may be repeated.")
    ] = None,
    skip_rule: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Do not test these rules; may be repeated.")
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Of folders, check these files as well; may be repeated."),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Leave these files and folders out of folders; may be repeated."),
    ] = None,
    idx1_column: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column that the IDX1 index describes, its path joined by dots."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=0, help="Worker processes (default 1); 0 is one per processor."),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="Time that one file may take. Default: 60, and 1 for each MB; 0 is no limit.",
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Memory that one worker may allocate, such as 2G (Linux only). Default: its share of 80% of the "
            "machine; 0 is no limit.",
        ),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(metavar="FILE", help="Known findings: they are marked and do not count.")
    ] = None,
    write_baseline: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Write all findings to a baseline, so that only new ones count later."
        ),
    ] = None,
    output_format: Annotated[
        FormatName | None, typer.Option("--format", help="How to print the report: text (default) or json.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report to a file instead of stdout.")
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Defaults for these options. Default: the nearest pqassay.toml."),
    ] = None,
    no_config: Annotated[bool, typer.Option("--no-config", help="Read no pqassay.toml.")] = False,
) -> None:
    """Check files against the specification, whoever wrote them."""
    from pqassay.errors import UsageError

    try:
        defaults = _defaults(config, no_config)
        listed = _listed(files_from, null)
        options: dict[str, Any] = {
            "tier": defaults.get("tier", tier and tier.value),
            "level": defaults.get("level", level and level.value) or "must",
            "only": defaults.get("rule", rule) or (),
            "skip": defaults.get("skip-rule", skip_rule) or (),
            "include": defaults.get("include", include) or (),
            "exclude": defaults.get("exclude", exclude) or (),
            "idx1_column": defaults.get("idx1-column", idx1_column),
            "jobs": defaults.get("jobs", jobs),
            "timeout": defaults.get("timeout", timeout),
            "memory": defaults.get("memory", _memory(memory)),
            "baseline": defaults.get("baseline", baseline),
            "literal": listed,
        }
        given = paths or (defaults.values.get("paths") if files_from is None else None) or []
        format_name = FormatName(defaults.get("format", output_format and output_format.value) or "text")
        outputs = [str(path) for path in (output, write_baseline) if path is not None]
        _require_apart(outputs, [*given, *listed])
        require_no_data({"--output": output, "--write-baseline": write_baseline})
        report = _run(given, options)
        _require_apart(outputs, [file.path for file in report.files])
        if write_baseline is not None:
            report = _with_new_baseline(report, write_baseline, options)
    except UsageError as error:
        _fail_with_lines(str(error))
    _print(report, format_name, output)
    raise typer.Exit(report.exit_code)


def _fail_with_lines(message: str) -> NoReturn:
    """One error for each line."""
    *first, last = message.split("\n")
    for line in first:
        typer.echo(f"error: {printable(line)}", err=True)
    fail(last)


def _defaults(config: str | None, no_config: bool) -> Config:
    from pqassay import config as configuration
    from pqassay.errors import UsageError

    if config is not None and no_config:
        raise UsageError("--config and --no-config exclude each other")
    path = None if no_config else config or configuration.nearest()
    return configuration.read(path) if path is not None else configuration.Config()


def _memory(text: str | None) -> int | None:
    from pqassay.config import parse_size
    from pqassay.errors import UsageError

    try:
        return None if text is None else parse_size(text)
    except ValueError as error:
        raise UsageError(f"--memory: {error}") from None


def _listed(name: str | None, null: bool) -> list[str]:
    """The paths of ``--files-from``; empty ones are left out."""
    from pqassay.errors import UsageError

    if name is None:
        if null:
            raise UsageError("--null says how --files-from is written; there is none")
        return []
    try:
        if name == "-":
            content = sys.stdin.buffer.read()
        else:
            with open(name, "rb") as file:
                content = file.read()
    except OSError as error:
        raise UsageError(f"--files-from {name}: {error.strerror or error}") from None
    found = [os.fsdecode(line) for line in content.split(b"\0" if null else b"\n") if line]
    if not found:
        raise UsageError(f"--files-from {name}: there is no path in it")
    return found


def _require_apart(outputs: Sequence[str], inputs: Sequence[str]) -> None:
    """What is written is none of the files that are checked."""
    from pqassay.errors import UsageError

    for output in outputs:
        real = os.path.realpath(output)
        if os.path.isfile(real) and any(os.path.realpath(path) == real for path in inputs):
            raise UsageError(f"{output} is one of the files to check; write somewhere else")


def _run(given: Sequence[str], options: dict[str, Any]) -> Report:
    """Check, with a progress bar; what interrupts it leaves no worker behind."""
    from pqassay import checker
    from pqassay.progress_bar import progress_bar

    jobs = options["jobs"]
    if jobs == 0:
        jobs = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if options["memory"] is not None:
        from pqassay.workers import limits_memory

        if not limits_memory():
            typer.echo(
                "note: this system does not limit the memory of a process; --memory does nothing", err=True
            )
    with _interruptible(), progress_bar() as progress:
        _preload(options)
        options = {**options, "jobs": jobs or 1}
        return checker.check(given, **options, progress=progress)


def _preload(options: dict[str, Any]) -> None:
    if options["tier"] in (None, "values") or (options["jobs"] or 1) > 1:
        from pqassay import workers

        workers.preload()


@contextlib.contextmanager
def _interruptible() -> Generator[None]:
    """Ctrl-C and SIGTERM end the check in one line; a store that hangs up does not end it at all."""

    def terminate(*_: object) -> NoReturn:
        raise SystemExit(TERMINATED)

    handlers: dict[signal.Signals, Any] = {}
    with contextlib.suppress(ValueError):  # only the main thread may
        handlers[signal.SIGTERM] = signal.signal(signal.SIGTERM, terminate)
        handlers[signal.SIGPIPE] = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:
        yield
    except KeyboardInterrupt:
        fail("interrupted; there is no report", INTERRUPTED)
    except MemoryError:
        fail("there is not enough memory for this report", 4)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _with_new_baseline(report: Report, path: str, options: dict[str, Any]) -> Report:
    """Write a baseline of everything that is broken, and look at the report as the next run will."""
    from pqassay.baseline import Baseline
    from pqassay.errors import UsageError

    old = Baseline.read(options["baseline"]) if options["baseline"] is not None else None
    made = Baseline.of(report, path, keep=old)
    try:
        made.write()
    except OSError as error:
        raise UsageError(f"--write-baseline {path}: {error.strerror or error}") from None
    return made.applied(report, options["level"])


def _print(report: Report, format_name: FormatName, output: Path | None) -> None:
    if output is None:
        _write(report, format_name, sys.stdout)
        return
    import io

    from pqassay_spec.sources import write_whole

    buffer = io.StringIO()
    _write(report, format_name, buffer)
    content = buffer.getvalue().encode("utf-8", "backslashreplace")
    try:
        if os.path.exists(output) and not os.path.isfile(output):
            output.write_bytes(content)  # a pipe or a device is written, not replaced
        else:
            write_whole(output, content)
    except OSError as error:
        fail(f"{error.filename or output}: {error.strerror or error}")


def _write(report: Report, format_name: FormatName, stream: Any) -> None:
    if format_name is FormatName.JSON:
        stream.write(f"{report.to_json()}\n")
        return
    from pqassay.render_text import render

    render(report, stream)
