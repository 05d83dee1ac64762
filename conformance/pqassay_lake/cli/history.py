"""The command ``pqassay history``: the findings of checks, run after run.

Exit codes: 0 shown; 1 there are new findings (with --new only); 2 wrong usage, or no history.

Exit codes: 0 told; 1 there are new findings (with --new only); 2 wrong usage, or no history.
"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from pqassay.cli.failure import OutputFile, fail, require_no_data
from pqassay.cli.output import write_output
from pqassay.errors import UsageError
from pqassay_spec.base.help_pages import example

EPILOG = """Examples:

`pqassay check --history findings lake/` (append a run)

`pqassay history findings` (list the runs)

`pqassay history findings --new` (what the last run found first)

`pqassay history findings --by owner`

Exit codes: 0 printed, 1 there are new findings (with --new), 2 usage.
"""


@example(EPILOG)
def history(
    place: Annotated[
        str,
        typer.Argument(
            metavar="HISTORY",
            help="History of `pqassay check`: folder, URI, delta:FOLDER or iceberg:CATALOG:NAMESPACE.TABLE.",
            show_default=False,
        ),
    ],
    new: Annotated[
        bool,
        typer.Option("--new", help="Show only findings that no earlier run had."),
    ] = False,
    by: Annotated[
        Literal["writer", "rule", "owner"] | None,
        typer.Option("--by", metavar="WHAT", help="Group findings by writer, rule or owner."),
    ] = None,
    findings: Annotated[
        bool, typer.Option("--findings", help="List findings of a run instead of the runs.")
    ] = False,
    lesser: Annotated[
        bool,
        typer.Option("--lesser", help="Include findings that do not fail a file, such as INFO."),
    ] = False,
    run: Annotated[
        str | None,
        typer.Option("--run", metavar="ID", help="Show the run whose id starts with ID. Default: the last."),
    ] = None,
    most: Annotated[int, typer.Option("--runs", metavar="N", min=1, help="List at most N runs.")] = 20,
    output_format: Annotated[
        Literal["text", "json"] | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Print as text or json. Default: by the name of --output, else text.",
        ),
    ] = None,
    output: OutputFile = None,
) -> None:
    """Show findings run after run: which are new, and who owns them."""
    from pqassay.report.formats import FormatName, format_of
    from pqassay_lake.history.stores import history_at
    from pqassay_lake.history.text import text_of
    from pqassay_lake.history.views import findings_view, runs_view

    require_no_data({"--output": output})
    try:
        kept = history_at(place)
        if new or by is not None or findings or lesser or run is not None:
            view = findings_view(kept, run, by, only_new=new, lesser=lesser)
        else:
            view = runs_view(kept, most)
    except UsageError as error:
        fail(str(error))
    text = f"{view.to_json()}\n" if format_of(output_format, output) is FormatName.JSON else text_of(view)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_output(text, output)
    if new and (view.findings or view.groups):
        raise typer.Exit(1)
