"""The command ``pqassay report``: print a report in another format, or compare two.

Exit codes: 0 printed, and nothing got worse; 1 something got worse (with --against only); 2 wrong usage, or no report.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, TextIO

import typer

from pqassay.cli.failure import fail, require_no_data
from pqassay.cli.output import print_report, print_written
from pqassay.errors import UsageError
from pqassay.report.comparison import Comparison, compare
from pqassay.report.formats import COMPARED, FORMAT_HELP, FormatName
from pqassay.report.model import Report
from pqassay.report.reading import parse
from pqassay.report.run_model import RunReport

EPILOG = (
    "Examples: `pqassay report report.json --format html --output report.html`, "
    "`pqassay report --against yesterday.json today.json`. "
    "Exit codes: 0 printed, 1 worse than before (with --against), 2 usage."
)


def report(
    file: Annotated[
        str,
        typer.Argument(
            metavar="REPORT",
            help="What `pqassay check` or `pqassay run` wrote with --format json; - is stdin.",
            show_default=False,
        ),
    ],
    against: Annotated[
        str | None,
        typer.Option(metavar="OLD", help="An earlier report: say what got fixed, broken, added since."),
    ] = None,
    output_format: Annotated[
        FormatName, typer.Option("--format", metavar="FORMAT", help=FORMAT_HELP)
    ] = FormatName.TEXT,
    site: Annotated[
        str | None,
        typer.Option(
            "--site",
            metavar="URL",
            help="Where the site of `make docs` is served: sarif and html link to the rules' pages there.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write to a file instead of stdout.")
    ] = None,
) -> None:
    """Print a report in another format, or say what changed since an earlier one."""
    if site is not None and not site.startswith(("https://", "http://", "file://")):
        fail(f"--site {site}: this is no address; it begins with https://, http:// or file://")
    if against is not None and output_format not in COMPARED:
        names = ", ".join(COMPARED)
        fail(f"--against compares in the formats {names}, not {output_format.value}")
    if against == file == "-":
        fail("both reports cannot come from stdin")
    require_no_data({"--output": output})
    for name in (file, against):
        if output is not None and name is not None and os.path.realpath(name) == os.path.realpath(output):
            fail(f"--output {output}: this is the report to read; write somewhere else")
    later = _read(file)
    if against is None:
        print_report(later, output_format, output, site=site)
        return
    try:
        comparison = compare(_read(against), later)
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


def _write(comparison: Comparison, output_format: FormatName, stream: TextIO) -> None:
    if output_format is FormatName.JSON:
        stream.write(f"{comparison.to_json()}\n")
        return
    from pqassay.report import comparison_text

    render = (
        comparison_text.render_markdown if output_format is FormatName.MARKDOWN else comparison_text.render
    )
    render(comparison, stream)
