"""The command ``pqassay suite status``: the results for each feature of Parquet's status page."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from pqassay.cli.failure import OutputFile, fail, require_no_data, require_site
from pqassay_spec.base.help_pages import epilog, example
from pqassay_suite.cli.driver import failing, results_in

if TYPE_CHECKING:
    from pqassay.report.status_table import StatusTable

EPILOG = epilog(
    "`pqassay suite status results.json`",
    "`pqassay suite status duckdb.json polars.json --format csv`",
    "`pqassay suite status duckdb.json --format yaml --against support/duckdb.yaml`",
    codes="0 written, 1 results contradict the --against file, 2 usage or unsuitable results",
)


class StatusFormat(StrEnum):
    """Formats of a status."""

    MARKDOWN = "markdown"
    JSON = "json"
    CSV = "csv"
    YAML = "yaml"


@example(EPILOG)
def export_status(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS...",
            help="Results of `pqassay suite run --format json`, one file per implementation.",
            show_default=False,
        ),
    ],
    output_format: Annotated[
        StatusFormat, typer.Option("--format", metavar="FORMAT", help="Print as markdown, json, csv or yaml.")
    ] = StatusFormat.MARKDOWN,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against",
            metavar="FILE",
            help="Compare with one implementation's YAML file of Parquet's status page.",
        ),
    ] = None,
    site: Annotated[
        str | None,
        typer.Option(
            "--site",
            metavar="URL",
            help="URL of your `make docs` site, for links to cases.",
        ),
    ] = None,
    output: OutputFile = None,
) -> None:
    """Print what results show for each feature of Parquet's status page.

    A failure counts against a feature only if the reader is right about columns without just this feature.
    """
    from pqassay.cli.output import print_written
    from pqassay.errors import UsageError
    from pqassay.report import status_table
    from pqassay_suite.cases.case import CaseError
    from pqassay_suite.cases.update_cases import asked_cases
    from pqassay_suite.results.status import status

    require_site(site)
    require_no_data({"--output": output})
    if against and len(files) > 1:
        fail("--against is about one implementation; name the results of one")
    if against and output_format is StatusFormat.CSV:
        fail("--against takes --format markdown, json or yaml")
    if output is not None and os.path.realpath(output) in map(os.path.realpath, files):
        fail(f"--output {output}: these are results to read; choose another file")
    reports = [results_in(file) for file in files]
    with failing(UsageError, CaseError):
        table = status(reports, [str(file) for file in files], asked_cases())
    engines = [report.driver.shipped or report.driver.label for report in reports]
    if against:
        table, engines = _compared(table, against)

    dates = [report.date for report in reports]
    writers: dict[StatusFormat, Callable[[TextIO], object]] = {
        StatusFormat.MARKDOWN: lambda stream: status_table.write_markdown(table, stream, site),
        StatusFormat.CSV: lambda stream: status_table.write_csv(table, stream),
        StatusFormat.YAML: lambda stream: _public_status().write_yaml(table, dates, engines, stream),
        StatusFormat.JSON: lambda stream: status_table.write_json(table, stream),
    }
    print_written(writers[output_format], output)
    if table.differences:
        raise typer.Exit(1)


def _compared(table: StatusTable, against: Path) -> tuple[StatusTable, list[str]]:
    """A status with its contradictions to a file, and the name of the implementation in the file."""
    from pqassay.errors import UsageError

    public = _public_status()
    with failing(UsageError):
        claims = public.read_status(against)
    found = list(public.differences(table, claims))
    return replace(table, against=str(against), differences=found), [claims.engine_id]


def _public_status() -> ModuleType:
    """The module for the YAML of the page; it needs an extra."""
    try:
        from pqassay_suite.results import public_status
    except ModuleNotFoundError as error:
        if error.name != "yaml":
            raise
        fail("YAML needs PyYAML: pip install '.[status]' in a checkout")
    return public_status
