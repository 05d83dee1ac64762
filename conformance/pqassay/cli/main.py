"""The command ``pqassay``: its root, and the small commands dump and explain.

Exit codes: 0 nothing to report; 1 findings; 2 wrong usage, or nothing to check; 3 a list of known findings went stale;
4 not everything could be judged; 70 the program itself failed.
Libraries are imported by the command that needs them: ``--help`` is quick.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from pqassay.cli import diff as cli_diff
from pqassay.cli import export as cli_export
from pqassay.cli import history as cli_history
from pqassay.cli import plan_repair as cli_plan_repair
from pqassay.cli import report as cli_report
from pqassay.cli.check import command as cli_check
from pqassay.cli.failure import fail
from pqassay.cli.run import command as cli_run
from pqassay.cli.run import drivers as cli_drivers
from pqassay_spec.base.help_pages import in_one_style
from pqassay_spec.base.interrupts import CleanEnd
from pqassay_spec.base.terminal import guarded_output, printable

if TYPE_CHECKING:
    from pqassay.lake.remote_source import RemoteSource
    from pqassay_spec.base.sources import Source


class _Commands(TyperGroup):
    """The commands, with help pages in one style."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        in_one_style(self)


app = typer.Typer(
    cls=_Commands,
    help="Judge the metadata attached to Parquet files: footer, statistics, indexes.",
    epilog="Example: `pqassay check part-0.parquet`. Each command has a page like this: `pqassay check --help`.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
)


def main() -> None:
    """Entry point of the command."""
    with CleanEnd(), guarded_output():
        app()


def _version(wanted: bool) -> None:
    if wanted:
        from pqassay_spec import __version__

        typer.echo(f"pqassay {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def _require_file(path: Path) -> None:
    # The functions of os.path answer False where the methods of Path raise: for names that are too long, say.
    if os.path.isdir(path):
        fail(f"{path} is a directory; name one of the files in it")
    if not os.path.exists(path):
        fail(f"{path}: no such file")
    if not os.path.isfile(path):
        fail(f"{path} is no regular file")


@contextlib.contextmanager
def _os_errors(what: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise  # not of the file: the output
        fail(f"{error.filename}: {error.strerror or error}")
    except MemoryError:
        fail(f"{what}: there is not enough memory for it", 4)


@contextlib.contextmanager
def _opened(file: str) -> Generator[Source]:
    """Open a file that is shown, locally or in a store."""
    from pqassay.lake.targets import is_uri
    from pqassay_spec.base.sources import FileSource

    stored = _stored(file) if is_uri(file) else file
    if not isinstance(stored, str):
        with contextlib.closing(stored):
            yield stored
        return
    _require_file(Path(stored))
    with FileSource(stored, file) as source:
        yield source


def _stored(uri: str) -> RemoteSource | str:
    """A file in a store, opened; of ``file://``, the local path."""
    from pqassay.errors import UsageError
    from pqassay.lake import remote
    from pqassay.lake.remote_source import describe

    try:
        place = remote.find(remote.parse(uri))
        if isinstance(place, str):
            return place
        if place.is_folder:
            fail(f"{place.name} is a directory; name one of the files in it")
        return remote.open_source(place.store, place.path, place.name)
    except (remote.MissingError, UsageError) as error:
        fail(f"{printable(uri)}: {error}")
    except OSError as error:
        fail(f"{printable(uri)}: {describe(error)}")


app.command(epilog=cli_check.EPILOG)(cli_check.check)


@app.command(epilog="Example: `pqassay dump --hexdump --field idx1 part-0.parquet`")
def dump(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A Parquet file, _pm or file of a table's metadata, damaged or not; a path or a URI.",
            show_default=False,
        ),
    ],
    hexdump: Annotated[
        bool, typer.Option("--hexdump", help="Bytes, annotated by field; long runs are left out.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per field.")] = False,
    field: Annotated[
        str | None, typer.Option(metavar="GLOB", help="Only fields whose path matches, or lies below it.")
    ] = None,
) -> None:
    """Show what every byte of a file is, field by field."""
    if hexdump and as_json:
        fail("--hexdump and --json exclude each other")
    from pqassay import dump as dumping
    from pqassay.lake.kinds import dumped_as

    with _os_errors(file), _opened(file) as source:
        sink: dumping.Sink
        if hexdump:
            sink = dumping.Hexdump(print, source, whole=field is None)
        else:
            sink = dumping.JsonLines(print) if as_json else dumping.Tree(print)
        chosen = None if field is None else dumping.Selected(field, sink)
        errors = dumping.dump(source, chosen or sink, dumped_as(file))
    if chosen is not None and not chosen.found and not errors:
        fail(f"no field matches {field!r}; without --field, all are shown")
    for error in errors:
        error.file = str(file)
        typer.echo(f"error: {printable(str(error))}", err=True)
    if errors:
        raise typer.Exit(1)


app.command(epilog=cli_diff.EPILOG)(cli_diff.diff)


@app.command(epilog="Example: `pqassay explain IDX1-016`")
def explain(
    rule: Annotated[
        str | None,
        typer.Argument(metavar="RULE", help="Id of a rule, or prefix of a family; all rules if left out."),
    ] = None,
) -> None:
    """Say what a rule demands, where it comes from and what breaking it costs."""
    from pqassay import explain as explaining

    wanted = rule.upper() if rule else None
    if wanted is None or wanted in explaining.prefixes():
        lines = explaining.overview(wanted)
    else:
        try:
            lines = iter(list(explaining.explain(wanted)))
        except KeyError:
            near = " or ".join(explaining.nearest(wanted))
            hint = f"; did you mean {near}?" if near else "; `pqassay explain` lists all"
            fail(f"there is no rule {rule}{hint}")
    for line in lines:
        print(line)  # noqa: T201 - plain output of a command


app.command(epilog=cli_run.EPILOG)(cli_run.run)

app.command(epilog=cli_drivers.EPILOG)(cli_drivers.drivers)

app.command("new-driver", epilog=cli_drivers.NEW_EPILOG)(cli_drivers.new_driver)

app.command(epilog=cli_report.EPILOG)(cli_report.report)

app.command("plan-repair", epilog=cli_plan_repair.EPILOG)(cli_plan_repair.plan_repair)
app.command(epilog=cli_history.EPILOG)(cli_history.history)

app.command("export-pack", epilog=cli_export.PACK_EPILOG)(cli_export.export_pack)

app.command("export-status", epilog=cli_export.STATUS_EPILOG)(cli_export.export_status)
