"""The command ``pqassay history``: what checks found, run after run.

Exit codes: 0 told; 1 there are new findings (with --new only); 2 wrong usage, or no history.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from pqassay.cli.failure import fail, require_no_data
from pqassay.cli.output import write_output
from pqassay.errors import UsageError
from pqassay_spec.base.help_pages import example

EPILOG = (
    "Examples: `pqassay check --history findings lake/` appends a run, `pqassay history findings` lists the runs, "
    "`pqassay history findings --new` shows what the last one found first, `pqassay history findings --by owner` whom it is for. "
    "Exit codes: 0 told, 1 there is something new (with --new), 2 usage."
)


@example(EPILOG)
def history(
    place: Annotated[
        str,
        typer.Argument(
            metavar="HISTORY",
            help="What `pqassay check --history` appends to: a folder or URI, delta:FOLDER, or iceberg:CATALOG:NAMESPACE.TABLE.",
            show_default=False,
        ),
    ],
    new: Annotated[
        bool,
        typer.Option(
            "--new", help="Show only findings that no run before had; exit code 1 where there are some."
        ),
    ] = False,
    by: Annotated[
        Literal["writer", "rule", "owner"] | None,
        typer.Option("--by", metavar="WHAT", help="Group the findings by writer, rule or owner."),
    ] = None,
    findings: Annotated[
        bool, typer.Option("--findings", help="Show the findings of the run one by one, and not the runs.")
    ] = False,
    lesser: Annotated[
        bool,
        typer.Option("--lesser", help="Tell findings as well that make no file nonconformant, such as INFO."),
    ] = False,
    run: Annotated[
        str | None,
        typer.Option("--run", metavar="ID", help="Which run, by the beginning of its id. Default: the last."),
    ] = None,
    most: Annotated[int, typer.Option("--runs", metavar="N", min=1, help="How many runs are listed.")] = 20,
    output_format: Annotated[
        Literal["text", "json"] | None,
        typer.Option(
            "--format", metavar="FORMAT", help="text or json. Default: by the name of --output, else text."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write to a file instead of stdout.")
    ] = None,
) -> None:
    """Tell what checks found, run after run: what is new, and whose it is."""
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
