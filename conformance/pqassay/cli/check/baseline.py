"""The command ``pqassay baseline``: records the current findings, so that only new ones fail a check.

Exit codes: 0 written; 2 wrong usage, or nothing to check; 4 not everything could be judged.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pqassay.cli.check.options import Given, Request, checking
from pqassay.cli.check.running import run
from pqassay.errors import UsageError
from pqassay_spec.base.help_pages import example
from pqassay_spec.base.terminal import printable

if TYPE_CHECKING:
    from pqassay.report.model import Report

FILE = Path("known-findings.json")

OUTPUT = "--output"

EPILOG = """Examples:

`pqassay baseline lake/`

`pqassay baseline --by-writer --output known.json lake/`

`pqassay check --baseline known.json lake/`

Exit codes: 0 written, 2 usage, 4 not everything could be judged.
"""


@example(EPILOG)
@checking(
    without=(
        "level",
        "complete",
        "fail_on",
        "max_files",
        "verbose",
        "output",
        "format",
        "history",
        "metrics",
        "reuse",
    )
)
def baseline(
    given: Given,
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=f"Write the baseline to FILE. Default: that of pqassay.toml, else {FILE}.",
            show_default=False,
        ),
    ] = None,
    by_writer: Annotated[
        bool,
        typer.Option("--by-writer", help="List writers instead of files, so that new files match too."),
    ] = False,
) -> None:
    """Write a baseline, so that only new findings fail a check."""

    def prepared(request: Request) -> Request:
        """Keep the baseline entries of files that are not checked now."""
        named = request.options.get("baseline")
        path = Path(output or named or FILE)
        options, lists = dict(request.options), dict(request.lists)
        if "baseline" not in given:
            options["baseline"] = path if path.is_file() else None
            lists.pop("--baseline", None)
        return replace(request, options=options, lists=lists, outputs={**request.outputs, OUTPUT: path})  # type: ignore[arg-type]  # the same keys

    def written(request: Request, report: Report) -> Report:
        return writing(str(request.outputs[OUTPUT]), by_writer=by_writer)(request, report)

    def tell(request: Request, report: Report, _notes: list[str]) -> None:
        files = sum(bool(file.findings) for file in report.files)
        findings = sum(len(file.findings) for file in report.files)
        typer.echo(
            f"wrote {request.outputs[OUTPUT]}: {findings:,} finding{'s' * (findings != 1)} in {files:,} of {len(report.files):,} files"
        )
        for file in report.files:
            if file.error:
                typer.echo(printable(f"not judged: {file.path}: {file.error}"), err=True)

    run(given, is_recorded=False, prepare=prepared, revise=written, show=tell)


def first_time(path: str) -> Callable[[Request], Request]:
    """A function that skips reading the baseline if it is to be written and does not exist yet."""

    def prepared(request: Request) -> Request:
        named = request.options.get("baseline")
        if named is None or os.path.exists(named) or os.path.realpath(named) != os.path.realpath(path):
            return request
        return replace(request, options={**request.options, "baseline": None})

    return prepared


def writing(path: str, *, by_writer: bool) -> Callable[[Request, Report], Report]:
    """A function that writes a baseline of all findings, and evaluates the report as the next run would."""

    def written(request: Request, report: Report) -> Report:
        from pqassay.judge.baseline import Baseline

        kept = request.options.get("baseline")
        old = None if kept is None else Baseline.read(kept)
        made = Baseline.of(report, path, keep=old, by_writer=by_writer)
        try:
            made.write()
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror or error}") from None
        return made.applied(report, request.options.get("level", "must"))

    return written
