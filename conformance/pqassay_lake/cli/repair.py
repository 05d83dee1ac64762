"""The command ``pqassay repair``.

Exit codes: 0 planned; 2 wrong usage, no report, or nothing to repair.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pqassay.cli.failure import fail
from pqassay.errors import UsageError
from pqassay_lake.repair.model import CATALOG, Dialect
from pqassay_spec.base.help_pages import example

EPILOG = """Examples:

`pqassay check --output report.json warehouse/sales`

`pqassay repair report.json` (then run the statements of `repair-plan/repair.sql`)

`pqassay check --only-files repair-plan/quarantine.json`

Exit codes: 0 planned, 2 usage, or nothing to repair.
"""


@example(EPILOG)
def repair(
    report: Annotated[
        str,
        typer.Argument(
            metavar="REPORT",
            help="JSON report of `pqassay check`, or findings table of `--reuse`.",
            show_default=False,
        ),
    ],
    dialect: Annotated[
        Dialect,
        typer.Option(
            "--dialect",
            metavar="DIALECT",
            help="Tables to write Spark SQL for: spark (both formats), delta or iceberg.",
        ),
    ] = "spark",
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name",
            metavar="PATH=NAME",
            help="Name of a table in SQL, such as warehouse/sales=prod.db.sales; repeatable. Default: its path (Delta) or folder (Iceberg).",
            show_default=False,
        ),
    ] = None,
    catalog: Annotated[
        str,
        typer.Option(
            metavar="CATALOG",
            help="Catalog of Iceberg tables without a --name.",
        ),
    ] = CATALOG,
    known: Annotated[bool, typer.Option("--known", help="Include findings that the baseline lists.")] = False,
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Write the plan to FOLDER.")] = Path(
        "repair-plan"
    ),
) -> None:
    """Plan repairs: write a list of broken files, and SQL for tables."""
    from pqassay_lake.repair.planning import plan_of
    from pqassay_lake.repair.reports import read_report
    from pqassay_lake.repair.writing import next_lines, text_lines, write_plan

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
    for line in next_lines(plan, output):
        typer.echo(line)


def _pair(option: str) -> tuple[str, str]:
    path, mark, name = option.rpartition("=")
    if not mark or not path or not name:
        fail(f"--name {option}: a path and a name are needed, as warehouse/sales=prod.db.sales")
    return path, name
