"""The command ``pqassay spark pm``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pqassay_spark.cli.index import counted, reported, tell_refused
from pqassay_spark.cli.session import Master, Ship, command_session
from pqassay_spec.base.help_pages import epilog, example
from pqassay_spec.base.terminal import printable

if TYPE_CHECKING:
    from pqassay_spark.index.file_work import Run
    from pqassay_spark.index.pm import PmOutcome

EXAMPLE = epilog(
    "`pqassay spark pm sales --into sales.pm`",
    codes="0 done, 1 a file was refused, 2 usage, 4 executors failed",
)


class Blooms(StrEnum):
    """Treatments of the bloom filters of the Parquet files."""

    INLINED = "inlined"
    EXTERNAL = "external"
    NONE = "none"


@example(EXAMPLE)
def pm(
    path: Annotated[str, typer.Argument(metavar="PATH", help="Folder of Parquet files, or one file.")],
    into: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write `FOLDER/NAME/_pm` for each file, with a link to it. Default: `_pm` beside each.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace `_pm` files that are up to date, too.")
    ] = False,
    blooms: Annotated[
        Blooms,
        typer.Option(
            metavar="HOW",
            help="Bloom filters: inlined (copied), external (referred to) or none.",
        ),
    ] = Blooms.INLINED,
    master: Master = None,
    ship: Ship = False,
) -> None:
    """Make `_pm`, QuestDB's metadata file, for every Parquet file, on Spark.

    Skips a file whose `_pm` is up to date, and adds a snapshot if the file has grown. If no `_pm` can be made for
    a file, the reason is printed, and the exit code is 1.
    """
    with reported(path):
        from pqassay.cli.progress_bar import progress_bar
        from pqassay_spark.index.pm import generate_files

        with (
            command_session(master, ship=ship) as spark,
            progress_bar() as bar,
        ):
            done = generate_files(
                spark,
                path,
                into=into,
                force=force,
                blooms=blooms.value,
                progress=None if bar is None else bar.show,
            )
    tell(done)


def tell(done: Run[PmOutcome]) -> None:
    """Print the outcome of a run; exit with 1 if files were refused, and with 2 if there were no files."""
    from pqassay_spark.index.file_work import Outcome

    tell_refused(done)
    partial = [file.name for file in done.files if file.left_out]
    if partial:
        typer.echo(
            printable(
                f"warning: {counted(len(partial), 'file')} have values that _pm cannot hold, which are left out; the first is "
                f"{partial[0]}; `pqassay pm generate` says what"
            ),
            err=True,
        )
    lost = [file.name for file in done.files if file.lost]
    if lost:
        typer.echo(
            printable(
                f"warning: the _pm of {counted(len(lost), 'file')} had more snapshots, which are gone now; the first is {lost[0]}"
            ),
            err=True,
        )
    typer.echo(
        f"{counted(len(done.files), 'file')}: {done.count(Outcome.GENERATED):,} generated, "
        f"{done.count(Outcome.UPDATED):,} updated, "
        f"{done.count(Outcome.FRESH):,} fresh, {len(done.refused):,} refused"
    )
    if done.refused:
        raise typer.Exit(1)
