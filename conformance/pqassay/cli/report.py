"""The command ``pqassay report``: prints a report in another format, compares two, or shows several results side by side.

Exit codes: 0 printed, and nothing got worse; 1 something got worse (with --against only); 2 wrong usage, or no report.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn, TextIO

import typer

from pqassay.cli.failure import OutputFile, Verbose, fail, require_format, require_no_data, require_site
from pqassay.cli.output import print_report, print_written
from pqassay.errors import UsageError
from pqassay.report.comparison import ReportComparison, compare
from pqassay.report.formats import ABREAST, COMPARED, FORMAT_HELP, OF_RUNS, FormatName, format_of
from pqassay.report.model import Report
from pqassay.report.reading import parse
from pqassay.report.redaction import salt_of, without_values
from pqassay.report.rendering import write_side_by_side
from pqassay.report.run.model import RunReport
from pqassay.report.side_by_side.model import side_by_side
from pqassay_spec.base.help_pages import example

EPILOG = """Examples:

`pqassay report report.json --output report.html`

`pqassay report --against yesterday.json today.json`

`pqassay report duckdb.json polars.json pyarrow.json --output all.html`

Exit codes: 0 printed, 1 worse than before (with --against), 2 usage.
"""


@example(EPILOG)
def report(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="REPORT...",
            help="JSON report of `pqassay check` or `pqassay suite run`; `-` is stdin.",
            show_default=False,
        ),
    ],
    against: Annotated[
        str | None,
        typer.Option(
            metavar="OLD", help="Compare with this earlier report: what was fixed, broken or added."
        ),
    ] = None,
    output_format: Annotated[
        FormatName | None, typer.Option("--format", metavar="FORMAT", help=FORMAT_HELP)
    ] = None,
    site: Annotated[
        str | None,
        typer.Option(
            "--site",
            metavar="URL",
            help="URL of your `make docs` site, for links in sarif and html.",
        ),
    ] = None,
    output: OutputFile = None,
    values: Annotated[
        bool | None,
        typer.Option(
            "--values/--no-values",
            help="Show values of files, else type, length and digest. Default: not in sarif.",
            show_default=False,
        ),
    ] = None,
    verbose: Verbose = False,
) -> None:
    """Convert a report, compare two, or put several side by side.

    Several reports must be results of `pqassay suite run`.
    """
    require_site(site)
    salt = salt_of(None)  # applies to the whole run
    chosen = format_of(output_format, output)
    if against is not None:
        require_format(chosen, "--against compares", COMPARED)
    if files[1:]:
        require_format(chosen, "several results are printed", ABREAST)
    if against is not None and files[1:]:
        fail(f"--against compares one report with an earlier one; here are {len(files)}")
    names = [*files, *([against] if against is not None else [])]
    if names.count("-") > 1:
        fail(
            "both reports cannot come from stdin" if against == "-" else "only one report can come from stdin"
        )
    require_no_data({"--output": output})
    for name in names:
        if output is not None and os.path.realpath(name) == os.path.realpath(output):
            fail(f"--output {output}: this is the input report; choose another file")
    reports = [_read(name) for name in files]
    if files[1:]:
        print_side_by_side(reports, files, chosen, output)
    elif against is None:
        if isinstance(reports[0], RunReport):
            require_format(chosen, "results of runs are printed", OF_RUNS)
        print_report(reports[0], chosen, output, site=site, salt=salt, values=values, verbose=verbose)
    else:
        _print_comparison(
            _hidden(_read(against), salt, values), _hidden(reports[0], salt, values), chosen, output
        )


def _hidden(report: Report | RunReport, salt: str | None, values: bool | None) -> Report | RunReport:
    return without_values(report, salt) if isinstance(report, Report) and values is False else report


def print_side_by_side(
    reports: Sequence[Report | RunReport],
    files: Sequence[str],
    output_format: FormatName,
    output: Path | None,
) -> None:
    """Print several results, each labeled with its file name."""
    try:
        shown = side_by_side(reports, files)
    except UsageError as error:
        fail(str(error))
    print_written(lambda stream: write_side_by_side(shown, output_format, stream), output)


def _print_comparison(
    old: Report | RunReport, new: Report | RunReport, output_format: FormatName, output: Path | None
) -> NoReturn:
    try:
        comparison = compare(old, new)
    except UsageError as error:
        fail(str(error))
    print_written(lambda stream: _write(comparison, output_format, stream), output)
    raise typer.Exit(comparison.exit_code)


def _read(name: str) -> Report | RunReport:
    try:
        if name == "-":
            return parse(sys.stdin.buffer.read(), "stdin")
        with open(name, "rb") as file:
            return parse(file.read(), name)
    except OSError as error:
        fail(f"{name}: {error.strerror or error}")
    except UsageError as error:
        fail(str(error))


def _write(comparison: ReportComparison, output_format: FormatName, stream: TextIO) -> None:
    if output_format is FormatName.JSON:
        stream.write(f"{comparison.to_json()}\n")
        return
    from pqassay.report.renderers import comparison_text

    render = (
        comparison_text.render_markdown if output_format is FormatName.MARKDOWN else comparison_text.render
    )
    render(comparison, stream)
