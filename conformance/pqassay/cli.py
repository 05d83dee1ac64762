"""The command ``pqassay``: check, dump, explain, run.

Exit codes: 0 nothing to report; 1 findings; 2 wrong usage, or nothing to check; 4 a file could not be judged.
Libraries are imported by the command that needs them: ``--help`` is quick.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Generator, Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from pqassay import cli_run
from pqassay_spec.terminal import guarded_output, printable

app = typer.Typer(
    help="Judge the metadata attached to Parquet files: footer, statistics, indexes.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
)


class TierName(StrEnum):
    """How deep to look."""

    FOOTER = "footer"
    INDEX = "index"
    PAGES = "pages"
    VALUES = "values"


class LevelName(StrEnum):
    """From which verdict on a finding counts."""

    MUST = "must"
    SHOULD = "should"


class FormatName(StrEnum):
    """How to print the report."""

    TEXT = "text"
    JSON = "json"


def main() -> None:
    """Entry point of the command."""
    with guarded_output():
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


def fail(message: str, code: int = 2) -> NoReturn:
    """Print an error on stderr and leave with ``code``."""
    typer.echo(f"error: {printable(message)}", err=True)
    raise typer.Exit(code)


def _require_files(paths: Iterable[Path]) -> None:
    for path in paths:
        # The functions of os.path answer False where the methods of Path raise: for names that are too long, say.
        if os.path.isdir(path):
            fail(f"{path} is a directory; name the files in it, for example {path}/*.parquet")
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
def _progress(files: int) -> Generator[Callable[[str], None] | None]:
    """A progress bar on stderr, on a terminal only; yields what is to be called before each file."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        SpinnerColumn(),
        MofNCompleteColumn(),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=files, completed=-1)

        def next_file(name: str) -> None:
            bar.update(task, advance=1, description=escape(name))

        yield next_file


@app.command(
    epilog="Example: `pqassay check --tier values part-0.parquet`. "
    "Exit codes: 0 conformant, 1 findings, 2 usage, 4 a file could not be judged."
)
def check(
    paths: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Parquet files.", show_default=False)
    ],
    tier: Annotated[
        TierName | None,
        typer.Option(help="How deep to look. Default: values for one file under 1 GiB, else index."),
    ] = None,
    level: Annotated[
        LevelName,
        typer.Option(help="From which verdict on a finding counts: must is FAIL, should adds WARN."),
    ] = LevelName.MUST,
    rule: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Test only these rules; may be repeated.")
    ] = None,
    skip_rule: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Do not test these rules; may be repeated.")
    ] = None,
    idx1_column: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column that the IDX1 index describes, its path joined by dots."),
    ] = None,
    output_format: Annotated[
        FormatName, typer.Option("--format", help="How to print the report.")
    ] = FormatName.TEXT,
    output: Annotated[Path | None, typer.Option(help="Write the report to a file instead of stdout.")] = None,
) -> None:
    """Check files against the specification, whoever wrote them."""
    _require_files(paths)
    if output is not None and any(
        os.path.exists(output) and os.path.samefile(output, path) for path in paths
    ):
        fail(f"--output {output} is one of the files to check")
    from pqassay.checker import UsageError
    from pqassay.checker import check as run

    with _os_errors("check"), _progress(len(paths)) as progress:
        try:
            report = run(
                paths,
                tier=tier.value if tier else None,
                level=level.value,
                only=rule or (),
                skip=skip_rule or (),
                idx1_column=idx1_column,
                progress=progress,
            )
        except UsageError as error:
            fail(str(error))
    text = f"{report.to_json()}\n" if output_format is FormatName.JSON else None
    if output is not None:
        import io

        from pqassay_spec.sources import write_whole

        if text is None:
            from pqassay.render_text import render

            buffer = io.StringIO()
            render(report, buffer)
            text = buffer.getvalue()
        with _os_errors(str(output)):
            content = text.encode("utf-8", "backslashreplace")
            if os.path.exists(output) and not os.path.isfile(output):
                output.write_bytes(content)  # a pipe or a device is written, not replaced
            else:
                write_whole(output, content)
    elif text is not None:
        sys.stdout.write(text)
    else:
        from pqassay.render_text import render

        render(report)
    raise typer.Exit(report.exit_code)


@app.command(epilog="Example: `pqassay dump --hexdump --field idx1 part-0.parquet`")
def dump(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A Parquet file, damaged or not.", show_default=False)
    ],
    hexdump: Annotated[
        bool, typer.Option("--hexdump", help="Bytes, annotated by field; long runs are left out.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per field.")] = False,
    field: Annotated[
        str | None, typer.Option(metavar="GLOB", help="Only fields whose path matches, or lies below it.")
    ] = None,
) -> None:
    """Show what stands where in a file, field by field."""
    if hexdump and as_json:
        fail("--hexdump and --json exclude each other")
    _require_files([file])
    from pqassay import dump as dumping
    from pqassay_spec.sources import FileSource

    with _os_errors(str(file)), FileSource(file) as source:
        sink: dumping.Sink
        if hexdump:
            sink = dumping.Hexdump(print, source, whole=field is None)
        else:
            sink = dumping.JsonLines(print) if as_json else dumping.Tree(print)
        chosen = None if field is None else dumping.Selected(field, sink)
        errors = dumping.dump(source, chosen or sink)
    if chosen is not None and not chosen.found and not errors:
        fail(f"no field matches {field!r}")
    for error in errors:
        error.file = str(file)
        typer.echo(f"error: {printable(str(error))}", err=True)
    if errors:
        raise typer.Exit(1)


@app.command(epilog="Example: `pqassay explain IDX1-016`")
def explain(
    rule: Annotated[
        str | None,
        typer.Argument(metavar="[RULE]", help="Id of a rule, or prefix of a family; all rules if left out."),
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
