"""The command ``pqassay plan-repair``.

Exit codes: 0 planned; 2 wrong usage, no report, or nothing to mend.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pqassay.cli.failure import fail
from pqassay.errors import UsageError
from pqassay.repair.model import CATALOG, Dialect
from pqassay_spec.base.help_pages import example

EPILOG = (
    "Example: `pqassay check --format json --output report.json warehouse/sales`, `pqassay plan-repair report.json`, then the statements "
    "in `repair-plan/repair.sql`, then `pqassay check --only-files repair-plan/quarantine.json`. "
    "Exit codes: 0 planned, 2 usage, or nothing to mend."
)


@example(EPILOG)
def plan_repair(
    report: Annotated[
        str,
        typer.Argument(
            metavar="REPORT",
            help="What `pqassay check --format json` wrote, or the findings table of `pqassay spark check --out`.",
            show_default=False,
        ),
    ],
    dialect: Annotated[
        Dialect,
        typer.Option(
            "--dialect",
            metavar="DIALECT",
            help="spark: SQL of Spark for tables of both formats; delta or iceberg: for those of one.",
        ),
    ] = "spark",
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name",
            metavar="PATH=NAME",
            help="What SQL calls a table of the report, as warehouse/sales=prod.db.sales; may be repeated. Default: its path (Delta), its folder (Iceberg).",
            show_default=False,
        ),
    ] = None,
    catalog: Annotated[
        str,
        typer.Option(
            metavar="CATALOG",
            help="The catalog in which an Iceberg table without a --name is called as its folder.",
        ),
    ] = CATALOG,
    known: Annotated[
        bool, typer.Option("--known", help="Plan for findings that the baseline lists as well.")
    ] = False,
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the plan is written.")] = Path(
        "repair-plan"
    ),
) -> None:
    """Plan how to mend what a report found: a quarantine list, and the statements of each table's own software."""
    from pqassay.repair.planning import plan_of
    from pqassay.repair.reports import read_report
    from pqassay.repair.writing import text_lines, write_plan

    names = dict(_pair(one) for one in name or [])
    try:
        plan = plan_of(read_report(report, with_known=known), dialect=dialect, names=names, catalog=catalog)
    except UsageError as error:
        fail(str(error))
    if output.exists() and not output.is_dir():
        fail(f"--output {output}: there is a file of that name, and a plan is a folder")
    try:
        written = write_plan(plan, output)
    except OSError as error:
        fail(f"--output {output}: {error.strerror or error}")
    for line in text_lines(plan):
        typer.echo(line)
    typer.echo(
        f"{len(plan.files):,} file{'s' * (len(plan.files) != 1)} in quarantine; written: {', '.join(map(str, written))}"
    )


def _pair(given: str) -> tuple[str, str]:
    path, mark, name = given.rpartition("=")
    if not mark or not path or not name:
        fail(f"--name {given}: a path and a name are needed, as warehouse/sales=prod.db.sales")
    return path, name
