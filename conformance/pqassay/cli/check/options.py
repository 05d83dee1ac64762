"""The options of ``pqassay check``, which ``pqassay spark check`` has as well, and what they and ``pqassay.toml`` ask for."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from pqassay.cli.check.earlier_runs import scope_of, since_of
from pqassay.cli.failure import require_no_data
from pqassay.cli.output import write_output
from pqassay.errors import UsageError
from pqassay.report.formats import FORMAT_HELP, FormatName, format_of
from pqassay.report.model import Threshold
from pqassay.report.pin import NO_PREVIEW
from pqassay_spec.rules.catalogue import RELEASES, Tier

if TYPE_CHECKING:
    from pqassay.cli.check.config import Config
    from pqassay.judge.checker import CheckOptions
    from pqassay.judge.cost.estimate import Estimate, StorePrices


ProfileName = Literal["strict", "spark", "arrow", "questdb"]
"""Whom the files are for."""


@dataclass(frozen=True)
class Arguments:
    """The options that every command which checks files has, as they were given; `taking_arguments` adds them to a command."""

    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH...",
            help="Files, folders, Delta and Iceberg tables, patterns such as `'lake/**/*.parquet'`, or URIs (s3://, gs://, hdfs://).",
            show_default=False,
        ),
    ] = None
    files_from: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Read further paths from a file, one on each line; - is stdin.",
            show_default=False,
        ),
    ] = None
    null: Annotated[
        bool,
        typer.Option(
            "--null", "-0", help="Paths of --files-from end in a zero byte, as find -print0 writes."
        ),
    ] = False
    only_files: Annotated[
        str | None,
        typer.Option(
            "--only-files",
            metavar="LIST",
            help="Judge only files of this list (lines, or what `pqassay plan-repair` wrote), and of tables what came since it was written.",
            show_default=False,
        ),
    ] = None
    tier: Annotated[
        Tier | None,
        typer.Option(
            metavar="TIER",
            help="How deep to look: meta (of tables), footer, index, pages or values. Default: values for one file or table under "
            "1 GiB, else index; meta for tables of more than 1,000 files.",
        ),
    ] = None
    level: Annotated[
        Threshold | None,
        typer.Option(
            metavar="LEVEL",
            help="From which verdict on a finding counts: must (default) is FAIL, should adds WARN.",
        ),
    ] = None
    complete: Annotated[
        bool | None,
        typer.Option(
            "--complete/--no-complete",
            help="What the file, a key or a tool kept from being checked counts, too: exit code 4.",
            show_default=False,
        ),
    ] = None
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on",
            metavar="EFFECTS",
            help="Findings fail the check only if they could do this, or engines were seen to do it: rows-lost, wrong-rows, "
            "read-fails, pruning-lost, cosmetic; several with commas.",
        ),
    ] = None
    max_files: Annotated[
        int | None,
        typer.Option(
            "--max-files",
            metavar="N",
            min=0,
            help="In so many files findings may be that fail the check otherwise.",
        ),
    ] = None
    rules: Annotated[
        str | None,
        typer.Option(
            "--rules",
            metavar="RELEASE",
            help="Only rules of this release, such as 0.7, fail the check. Default: all rules.",
            show_default=False,
        ),
    ] = None
    preview: Annotated[bool | None, typer.Option("--preview/--no-preview", hidden=True)] = None
    rule: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Test only these rules; may be repeated.")
    ] = None
    skip_rule: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Do not test these rules; may be repeated.")
    ] = None
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Of folders, check these files as well; may be repeated."),
    ] = None
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Leave these files and folders out of folders; may be repeated."),
    ] = None
    idx1_column: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column that the IDX1 index describes, its path joined by dots."),
    ] = None
    as_: Annotated[
        Literal["files"] | None,
        typer.Option(
            "--as",
            metavar="KIND",
            help="Judge folders that are Delta or Iceberg tables as folders of files: --as files.",
            show_default=False,
        ),
    ] = None
    version: Annotated[
        int | None,
        typer.Option("--version", metavar="N", min=0, help="Version of a Delta table. Default: the newest."),
    ] = None
    snapshot: Annotated[
        int | None,
        typer.Option(
            "--snapshot", metavar="ID", help="Snapshot of an Iceberg table. Default: the current one."
        ),
    ] = None
    ref: Annotated[
        str | None, typer.Option("--ref", metavar="NAME", help="Branch or tag of an Iceberg table.")
    ] = None
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="MOMENT",
            help="Of tables, judge only files that were added since: after a version of a Delta table, a snapshot of an Iceberg table, a time such as "
            "2026-11-20T03:00Z, or `last`: after what the last run in --history judged.",
        ),
    ] = None
    crc: Annotated[
        bool | None,
        typer.Option(
            "--crc/--no-crc",
            help="Read all pages for their CRC at tier pages as well; tier values always does.",
            show_default=False,
        ),
    ] = None
    profile: Annotated[
        ProfileName | None,
        typer.Option(
            "--profile",
            metavar="PROFILE",
            help="Report as more what weighs more: strict for writers; spark, arrow, questdb for what they cannot read.",
        ),
    ] = None
    timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="Time that one file may take. Default: 60, and 1 for each MB; 0 is no limit.",
        ),
    ] = None
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Memory that one worker may allocate, such as 2G (Linux only). Default: its share of 80% of the "
            "machine; 0 is no limit.",
        ),
    ] = None
    baseline: Annotated[
        str | None, typer.Option(metavar="FILE", help="Known findings: they are marked and do not count.")
    ] = None
    write_baseline: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Write all findings to a baseline, so that only new ones count later."
        ),
    ] = None
    by_writer: Annotated[
        bool,
        typer.Option(
            "--by-writer",
            help="Entries of --write-baseline name the software that wrote the files, so that they hold for files to come.",
        ),
    ] = False
    output_format: Annotated[
        FormatName | None, typer.Option("--format", metavar="FORMAT", help=FORMAT_HELP)
    ] = None
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report to a file instead of stdout.")
    ] = None
    history: Annotated[
        str | None,
        typer.Option(
            "--history",
            metavar="HISTORY",
            help="Append what is found to a history, for `pqassay history`: a folder or URI (one Parquet file for each run), "
            "or a Delta or Iceberg table, named as the guide on lakes says.",
        ),
    ] = None
    metrics: Annotated[
        Path | None,
        typer.Option(
            "--metrics",
            metavar="FILE",
            help="Write metrics as OpenMetrics text, or as JSON if the name ends in .json; the file is replaced as a whole.",
        ),
    ] = None
    config: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Defaults for these options. Default: the nearest pqassay.toml."),
    ] = None
    no_config: Annotated[bool, typer.Option("--no-config", help="Read no pqassay.toml.")] = False


RequestPrice = Annotated[
    float | None,
    typer.Option(
        "--request-price",
        metavar="DOLLARS",
        min=0,
        help="Of 1,000 requests that read, for --dry-run. Default: 0.0004.",
        show_default=False,
    ),
]

GbPrice = Annotated[
    float | None,
    typer.Option(
        "--gb-price",
        metavar="DOLLARS",
        min=0,
        help="Of a GB that is read, for --dry-run. Default: 0, as within one region.",
        show_default=False,
    ),
]


PANELS: Mapping[str, Sequence[str]] = {
    "Select files": ("files_from", "null", "only_files", "include", "exclude", "as_"),
    "Depth": ("tier", "rule", "skip_rule", "crc", "idx1_column", "profile"),
    "Gate": ("level", "complete", "fail_on", "max_files", "rules", "baseline", "write_baseline", "by_writer"),
    "State of a table": ("version", "snapshot", "ref", "since"),
    "Output": ("output_format", "output", "out", "incremental", "history", "metrics"),
    "Limits": ("jobs", "tasks", "timeout", "memory"),
    "Proof": ("prove", "engine", "spark_packages"),
    "Sample": ("sample", "seed", "confidence"),
    "Prediction": ("dry_run", "latency", "bandwidth", "request_price", "gb_price"),
    "Defaults": ("config", "no_config"),
}
"""The headings of the help page, and the options below each; what is below none is listed first."""


def _with_panels(options: Iterable[inspect.Parameter]) -> list[inspect.Parameter]:
    """Parameters of a command; each option gets its heading on the help page."""
    headings = {name: panel for panel, names in PANELS.items() for name in names}
    order = ["", *PANELS]
    ordered = sorted(options, key=lambda option: order.index(headings.get(option.name, "")))
    for option in ordered:
        for info in getattr(option.annotation, "__metadata__", ()):
            if hasattr(info, "rich_help_panel"):
                info.rich_help_panel = headings.get(option.name)
    return ordered


def taking_arguments(command: Callable[..., None]) -> Callable[..., None]:
    """Make of a function, whose first parameter is `Arguments`, a command that has these options before its own."""
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    hints = get_type_hints(Arguments, include_extras=True)
    shared = [
        inspect.Parameter(
            option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=hints[option.name]
        )
        for option in fields(Arguments)
    ]
    names = [option.name for option in shared]

    def called(**options: Any) -> None:
        command(Arguments(**{name: options.pop(name) for name in names}), **options)

    called.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # what typer reads
        _with_panels([*shared, *(option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in own)])
    )
    called.__name__, called.__doc__ = command.__name__, command.__doc__
    return called


@dataclass(frozen=True)
class Wanted:
    """Command line and ``pqassay.toml`` together.

    Attributes:
        paths: What to check.
        options: What `pqassay.judge.checker.planned` is to look for.
        jobs: Worker processes.
        timeout: Seconds for one file.
        memory: Bytes for one worker.
        format: How to print the report.
        output: Where to write the report, instead of stdout.
        write_baseline: Where to write a baseline.
        by_writer: Whether its entries name writers.
        history: The history to which the run is appended.
        metrics: Where to write metrics.
    """

    paths: Sequence[str]
    options: CheckOptions
    jobs: int | None
    timeout: float | None
    memory: int | None
    format: FormatName
    output: Path | None
    write_baseline: str | None
    by_writer: bool
    history: str | None = None
    metrics: Path | None = None

    @property
    def scope(self) -> str:
        """What is asked to be checked, as a history names it."""
        return scope_of(self.paths)

    @property
    def is_partial(self) -> bool:
        """Whether only some of the files of the scope are judged."""
        since = self.options.get("since")
        is_first = since is not None and not isinstance(since, str) and since.by_table == {}
        return bool(self.options.get("literal")) or (since is not None and not is_first)

    def require_apart(self, inputs: Sequence[str] | None = None) -> None:
        """Refuse outputs that are among the files to check, by default those that are named.

        Raises:
            UsageError: It is.
        """
        if inputs is None:
            inputs = [*self.paths, *(os.fspath(path) for path in self.options.get("literal", ()))]
        outputs = [str(path) for path in (self.output, self.write_baseline, self.metrics) if path is not None]
        for output in outputs:
            real = os.path.realpath(output)
            if os.path.isfile(real) and any(os.path.realpath(path) == real for path in inputs):
                raise UsageError(f"{output} is one of the files to check; write somewhere else")


def print_estimate(wanted: Wanted, found: Estimate, how: str) -> None:
    """Print an estimate, or write it where a report would be written."""
    text = found.to_json() if wanted.format is FormatName.JSON else "\n".join(found.lines(how))
    if wanted.output is None:
        typer.echo(text)
    else:
        write_output(f"{text}\n", wanted.output)


def prices(request_price: float | None, gb_price: float | None) -> StorePrices:
    """What a store takes, as far as the options say it."""
    from pqassay.judge.cost.estimate import USUAL_PRICES, StorePrices

    return StorePrices(
        USUAL_PRICES.requests if request_price is None else request_price,
        USUAL_PRICES.gb if gb_price is None else gb_price,
    )


def require_dry_run(options: dict[str, float | None]) -> None:
    """Refuse options that say something about a store to a check that predicts nothing.

    Raises:
        UsageError: There is one.
    """
    for name, value in options.items():
        if value is not None:
            raise UsageError(f"{name} says what --dry-run assumes of the store; give that as well")


def require_estimate(wanted: Wanted) -> None:
    """Refuse what an estimate has no place for.

    Raises:
        UsageError: Findings are to be written, or told in a format that is for findings.
    """
    if wanted.format not in (FormatName.TEXT, FormatName.JSON):
        raise UsageError(f"--dry-run tells its estimate as text or json, not as {wanted.format.value}")
    if wanted.write_baseline is not None:
        raise UsageError("--dry-run judges nothing: there are no findings for --write-baseline")


def wanted(arguments: Arguments, jobs: int | None = None) -> Wanted:
    """Merge the options with ``pqassay.toml``, which says what they leave open.

    Raises:
        UsageError: They contradict each other, name what cannot be read, or would overwrite what is checked.
    """
    if arguments.preview is not None:
        raise UsageError(f"--preview: {NO_PREVIEW.format(f'--rules {RELEASES[-2]}')}")
    defaults = _defaults(arguments.config, arguments.no_config)
    history = defaults.get("history", arguments.history)
    is_listed = arguments.files_from is not None or arguments.only_files is not None
    paths = arguments.paths or (None if is_listed else defaults.values.get("paths")) or []
    options: CheckOptions = {
        "tier": defaults.get("tier", arguments.tier),
        "level": defaults.get("level", arguments.level) or "must",
        "only": defaults.get("rule", arguments.rule) or (),
        "skip": defaults.get("skip-rule", arguments.skip_rule) or (),
        "include": defaults.get("include", arguments.include) or (),
        "exclude": defaults.get("exclude", arguments.exclude) or (),
        "idx1_column": defaults.get("idx1-column", arguments.idx1_column),
        "crc": bool(defaults.get("crc", arguments.crc)),
        "profile": defaults.get("profile", arguments.profile),
        "baseline": defaults.get("baseline", arguments.baseline),
        "complete": bool(defaults.get("complete", arguments.complete)),
        "fail_on": defaults.get("fail-on", arguments.fail_on) or (),
        "max_files": defaults.get("max-files", arguments.max_files),
        "rules": defaults.get("rules", arguments.rules),
        "literal": _listed(arguments.files_from, arguments.null),
        "as_files": defaults.get("as", arguments.as_) == "files",
        "version": arguments.version,
        "snapshot": arguments.snapshot,
        "ref": arguments.ref,
        "only_files": arguments.only_files,
        "since": since_of(arguments.since, history, paths),
    }
    merged = Wanted(
        paths=paths,
        options=options,
        jobs=defaults.get("jobs", jobs),
        timeout=defaults.get("timeout", arguments.timeout),
        memory=defaults.get("memory", _memory(arguments.memory)),
        format=format_of(defaults.get("format", arguments.output_format), arguments.output),
        output=arguments.output,
        write_baseline=arguments.write_baseline,
        by_writer=arguments.by_writer,
        history=history,
        metrics=arguments.metrics if arguments.metrics is not None else _path(defaults.get("metrics", None)),
    )
    if merged.by_writer and merged.write_baseline is None:
        raise UsageError("--by-writer says how --write-baseline is written; there is none")
    merged.require_apart()
    require_no_data(
        {
            "--output": arguments.output,
            "--write-baseline": arguments.write_baseline,
            "--metrics": merged.metrics,
        }
    )
    return merged


def _defaults(config: str | None, no_config: bool) -> Config:
    from pqassay.cli.check import config as configuration

    if config is not None and no_config:
        raise UsageError("--config and --no-config exclude each other")
    path = None if no_config else config or configuration.nearest()
    return configuration.read(path) if path is not None else configuration.Config()


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def _memory(text: str | None) -> int | None:
    from pqassay.cli.check.config import parse_size

    try:
        return None if text is None else parse_size(text)
    except ValueError as error:
        raise UsageError(f"--memory: {error}") from None


def _listed(name: str | None, null: bool) -> list[str]:
    """The paths of ``--files-from``; empty ones are left out."""
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
    paths = [os.fsdecode(line) for line in content.split(b"\0" if null else b"\n") if line]
    if not paths:
        raise UsageError(f"--files-from {name}: there is no path in it")
    return paths
