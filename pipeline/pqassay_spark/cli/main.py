"""The command ``pqassay-spark``."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from pqassay_spark.cli import check as cli_check
from pqassay_spark.cli import index as cli_index
from pqassay_spark.cli import pm as cli_pm
from pqassay_spark.cli import produce as cli_produce
from pqassay_spec.base.help_pages import in_one_style
from pqassay_spec.base.interrupts import CleanEnd
from pqassay_spec.base.terminal import guarded_output


class _Commands(TyperGroup):
    """The commands, with help pages in one style."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        in_one_style(self)


app = typer.Typer(
    cls=_Commands,
    rich_markup_mode="markdown",
    epilog="Example: `pqassay-spark check lake`. Each command has a page like this: `pqassay-spark check --help`.",
    add_completion=False,
    no_args_is_help=True,
    help="The pipeline on Apache Spark. Needs Java 17 or newer and `pip install 'pqassay[spark]'`.",
)

app.command(epilog=cli_produce.EXAMPLE)(cli_produce.produce)
app.command(epilog=cli_index.EXAMPLE)(cli_index.index)
app.command(epilog=cli_pm.EXAMPLE)(cli_pm.pm)
app.command(epilog=cli_check.EXAMPLE)(cli_check.check)


def tell_version(wanted: bool) -> None:
    """Print the version and leave, if that is wanted."""
    if wanted:
        from pqassay_spec import __version__

        typer.echo(f"pqassay-spark {__version__}")
        raise typer.Exit


@app.callback()
def pipeline(
    _: Annotated[
        bool, typer.Option("--version", callback=tell_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options that belong to no single command."""


def main() -> None:
    """Entry point of the command."""
    with CleanEnd(), guarded_output():
        app()
