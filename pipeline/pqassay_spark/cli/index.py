"""The command ``pqassay spark index``."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pqassay.errors import UsageError
from pqassay_reference.cli.index import GranularityName, InsideTable, TypeName
from pqassay_reference.errors import Refused
from pqassay_spark.cli.session import Master, Ship, command_session, stop
from pqassay_spark.jobs.spark_jobs import JobError
from pqassay_spec.base.help_pages import epilog, example
from pqassay_spec.base.terminal import printable

if TYPE_CHECKING:
    from pqassay_spark.index.file_work import Run
    from pqassay_spark.index.run import IndexRun

EXAMPLE = epilog(
    "`pqassay spark index sales --column nation`",
    "`pqassay spark index sales --type zone-sums --columns nation,year,sales_amount`",
    codes="0 done, 1 a file was refused, 2 usage, 4 executors failed",
)

MOST_REFUSED = 20
"""Most refused files that are named one by one."""

DEFAULT_MAX_BYTES = 16 << 20


@example(EXAMPLE)
def index(
    path: Annotated[str, typer.Argument(metavar="PATH", help="Folder of Parquet files, or one file.")],
    column: Annotated[
        list[str],
        typer.Option(
            "--column",
            "--columns",
            "-c",
            metavar="COLUMN[,COLUMN...]",
            help="Columns to index. The first is embedded; the index table has all.",
        ),
    ],
    kind: Annotated[
        TypeName,
        typer.Option(
            "--type",
            metavar="TYPE",
            help="Index type: idx1, distinct-set, zone-sums, hll or kll.",
        ),
    ] = TypeName.IDX1,
    granularity: Annotated[
        GranularityName,
        typer.Option(
            metavar="GRANULARITY", help="Granularity of types other than idx1: file, row-group or page."
        ),
    ] = GranularityName.ROW_GROUP,
    table: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder of the index table. Default: PATH.index."),
    ] = None,
    no_table: Annotated[bool, typer.Option("--no-table", help="Write no index table.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Index unchanged files again.")] = False,
    inside_table: InsideTable = False,
    max_bytes: Annotated[
        int,
        typer.Option(
            metavar="BYTES",
            help="Size limit of the distinct values per column and file. Default: 16 MiB.",
            min=1,
        ),
    ] = DEFAULT_MAX_BYTES,
    master: Master = None,
    ship: Ship = False,
) -> None:
    """Add indexes to every Parquet file below a folder, on Spark.

    Types other than idx1 are added to the index directory, a proposal of this project; other indexes stay.
    zone-sums sums the last column for each combination of the others.

    Skips indexed files that have not changed. Replaces each file as a whole: after a kill, run it again. If a file
    cannot be indexed, it stays unchanged, the reason is printed, and the exit code is 1.
    """
    columns = [name for given in column for name in given.split(",") if name]
    if no_table and table is not None:
        stop("--table and --no-table exclude each other")
    if kind is not TypeName.IDX1:
        if table is not None:
            stop("--table is for the type idx1; indexes of the index directory have no table")
        _add_to_directories(path, kind, granularity, columns, force, inside_table, max_bytes, master, ship)
        return
    with reported(path):
        from pqassay.cli.progress_bar import progress_bar
        from pqassay_spark.index.run import index_files

        with (
            command_session(master, ship=ship) as spark,
            progress_bar() as bar,
        ):
            done = index_files(
                spark,
                path,
                columns,
                table=False if no_table else table,
                force=force,
                inside_table=inside_table,
                max_bytes=max_bytes,
                progress=None if bar is None else bar.show,
            )
    tell(done)


def _add_to_directories(
    path: str,
    kind: TypeName,
    granularity: GranularityName,
    columns: list[str],
    force: bool,
    inside_table: bool,
    max_bytes: int,
    master: str | None,
    ship: bool,
) -> None:
    """Add indexes to the index directories of all files, and print the outcome."""
    with reported(path):
        from pqassay.cli.progress_bar import progress_bar
        from pqassay_spark.index.directory import WantedIndex, index_directories
        from pqassay_spark.index.file_work import Outcome
        from pqassay_spec.directory.codes import Granularity, IndexType

        indexes = WantedIndex(
            IndexType[kind.name], tuple(columns), Granularity[granularity.name], max_bytes=max_bytes
        )
        with (
            command_session(master, ship=ship) as spark,
            progress_bar() as bar,
        ):
            done = index_directories(
                spark,
                path,
                indexes,
                force=force,
                inside_table=inside_table,
                progress=None if bar is None else bar.show,
            )
    tell_refused(done)
    refused = len(done.refused)
    indexed, fresh = done.count(Outcome.INDEXED), done.count(Outcome.FRESH)
    typer.echo(
        f"{counted(len(done.files), 'file')}: {indexed:,} indexed, {fresh:,} fresh, {refused:,} refused"
    )
    if refused:
        raise typer.Exit(1)


def tell(done: IndexRun) -> None:
    """Print the outcome of a run; exit with 1 if files were refused, and with 2 if there were no files."""
    for warning in done.warnings:
        typer.echo(printable(f"warning: {warning}"), err=True)
    tell_refused(done)
    refused = len(done.refused)
    summary = f"{counted(len(done.files), 'file')}: {done.indexed:,} indexed, {done.fresh:,} fresh, {refused:,} refused"
    if done.table is not None:
        rows = f"{counted(done.table_files, 'file')}, {counted(done.table_rows, 'row')}"
        summary += f"; table {done.table}: {rows}"
    typer.echo(printable(summary))
    if refused:
        typer.echo(
            "Refused files are unchanged, and queries read them completely. `pqassay check` explains damage.",
            err=True,
        )
        raise typer.Exit(1)


def tell_refused(done: Run[Any]) -> None:
    """Print the refused files and the reasons on stderr, and how many more there are; exit if there were no files."""
    for file in done.refused[:MOST_REFUSED]:
        typer.echo(f"refused  {printable(file.name)}: {printable(file.reason)}", err=True)
    if len(done.refused) > MOST_REFUSED:
        typer.echo(f"refused  {len(done.refused) - MOST_REFUSED:,} more", err=True)
    if not done.files:
        stop(f"{done.root}: there is no Parquet file")


def counted(count: int, noun: str) -> str:
    """A number and its noun.

    >>> counted(1, "file"), counted(1000, "row")
    ('1 file', '1,000 rows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


@contextlib.contextmanager
def reported(path: str) -> Generator[None]:
    """Convert errors that end a whole command to one line on stderr and an exit code."""
    try:
        yield
    except (UsageError, Refused) as error:
        stop(str(error))
    except JobError as error:
        stop(str(error), 4)
    except OSError as error:
        stop(f"{error.filename or path}: {error.strerror or error}")
