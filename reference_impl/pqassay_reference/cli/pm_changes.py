"""The commands ``pqassay pm …`` that change a ``_pm``: to follow its Parquet file, or to remove unused bytes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pqassay_reference.cli.errors import fail, reported, require_writable
from pqassay_reference.cli.index import DryRun
from pqassay_reference.cli.pm import (
    PM_CODES,
    History,
    ParquetSize,
    PmFile,
    pm_app,
    require_pm,
    warn_left_out,
    warn_lost,
)
from pqassay_reference.cli.tables import counted
from pqassay_spec.base.help_pages import epilog
from pqassay_spec.base.terminal import printable

if TYPE_CHECKING:
    from pqassay_reference.pm.compaction import Compaction
    from pqassay_reference.pm.growth import Growth

Pair = Annotated[
    Path,
    typer.Argument(metavar="FOLDER", help="Folder with `data.parquet` and `_pm`, or either file."),
]


@pm_app.command(epilog=epilog("`pqassay pm update 2024-01-01`", codes=PM_CODES))
def update(
    folder: Pair,
    history: History = False,
    dry_run: DryRun = False,
) -> None:
    """Append new row groups of `data.parquet`, and a footer, to `_pm`.

    Earlier snapshots stay valid. Blocks of unchanged row groups are reused. The committed size is written last,
    so readers see a complete update or none.
    """
    data, target = pair(folder)
    with reported(data), reported(target):
        from pqassay_reference.pm.growth import update_beside

        require_pm(target)
        done = update_beside(data, target, history=history, dry_run=dry_run)
    warn_left_out(done.left_out)
    typer.echo(printable(f"{target}: {_updated(done, dry_run=dry_run)}"))


def _updated(done: Growth, *, dry_run: bool) -> str:
    if not done.snapshots:
        return "describes the Parquet file as it is; nothing to do"
    appended = f"{counted(done.snapshots, 'snapshot')} in {counted(done.appended, 'byte')}"
    blocks = f"{counted(done.reused, 'row group')} kept, {done.written} written"
    return f"{'would append' if dry_run else 'appended'} {appended}, {blocks}"


@pm_app.command(epilog=epilog("`pqassay pm migrate 2024-01-01/_pm --output new/_pm`", codes=PM_CODES))
def migrate(
    file: PmFile,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write to FILE instead of replacing the input."),
    ] = None,
    parquet_size: ParquetSize = None,
    dry_run: DryRun = False,
) -> None:
    """Rewrite a `_pm` with one snapshot, without the Parquet file.

    What the old file lacks stays absent. Readers pinned to other snapshots find nothing in the new file.
    """
    with reported(file):
        from pqassay_reference.pm import query
        from pqassay_reference.pm.read import PmReader

        require_pm(file)
        require_writable(output)
        with PmReader.map(file, parquet_file_size=parquet_size) as reader:
            size = len(query.migrated(reader)) if dry_run else 0
            kept = reader.parquet_file_size
            before = reader.size
            others = [
                found
                for found in (each.fields.parquet_file_size for each in reader.snapshots())
                if found != kept
            ]
        if not dry_run:
            size = query.migrate_file(file, output, parquet_file_size=parquet_size)
    if output is None:
        warn_lost(others, dry_run=dry_run)
    target = file if output is None else output
    typer.echo(
        printable(
            f"{target}: {'would write' if dry_run else 'wrote'} {counted(size, 'byte')} instead of {before}: the snapshot "
            f"of a Parquet file of {counted(kept, 'byte')} alone"
        )
    )


@pm_app.command(epilog=epilog("`pqassay pm compact 2024-01-01 --if-unused-above 30%`", codes=PM_CODES))
def compact(
    folder: Pair,
    if_unused_above: Annotated[
        str,
        typer.Option(
            "--if-unused-above",
            metavar="PERCENT",
            help="Compact only if more than this share of either file is unused.",
        ),
    ] = "0%",
    txn: Annotated[
        Path | None,
        typer.Option(
            "--txn",
            metavar="FILE",
            help="Commit a new folder to the table's `_txn`. Stop the database first.",
        ),
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Rewrite a partition without unused bytes, if there are enough of them.

    If `data.parquet` has them, writes both files into a new folder with the next number; the old folder stays.
    If only `_pm` has them, rewrites it with its newest snapshot; readers of earlier snapshots then fail.
    """
    share = _share(if_unused_above)
    data, target = pair(folder)
    with reported(target):
        from pqassay_reference.pm.compaction import compact_files

        require_pm(target)
        done = compact_files(data, target, above=share, txn=txn, dry_run=dry_run)
    if done.folder is not None:
        unused = (
            f"{100 * done.parquet_share:.1f} % of the {counted(done.parquet_before, 'byte')} of {data.name}"
        )
        if dry_run:
            typer.echo(printable(f"{done.folder}: would write both files: {unused} are dead"))
            return
        sizes = f"{counted(done.parquet_after, 'byte')} of {data.name} and {done.after} of {target.name}"
        typer.echo(printable(f"{done.folder}: wrote {sizes}: {unused} were dead"))
        if txn is None:
            typer.echo("readers use the old folder until the table's `_txn` names the new one", err=True)
        return
    if done.is_due:
        warn_lost(done.dropped, dry_run=dry_run)
    typer.echo(printable(f"{target}: {_compacted(done, share, dry_run=dry_run)}"))


def _compacted(done: Compaction, share: float, *, dry_run: bool) -> str:
    dead = f"{100 * done.share:.1f} % of {counted(done.before, 'byte')}"
    if not done.is_due:
        also = f", and {100 * done.parquet_share:.1f} % of its Parquet file" if done.parquet_before else ""
        return f"{dead} are dead{also}, no more than {100 * share:g} %; left as it is"
    return f"{'would write' if dry_run else 'wrote'} {counted(done.after, 'byte')}: {dead} were dead"


def _share(text: str) -> float:
    """A share between 0 and 1, from a percentage."""
    try:
        percent = float(text.strip().removesuffix("%"))
    except ValueError:
        percent = -1.0
    if not 0 <= percent <= 100:
        fail(f"--if-unused-above {text}: a share is written as a percentage, as in 30%", 2)
    return percent / 100


def pair(folder: Path) -> tuple[Path, Path]:
    """The two files; the error for a missing file names the command that makes it."""
    from pqassay_reference.pm.growth import pair_of

    if not os.path.exists(folder):
        fail(f"{folder}: no such file or folder", 2)
    data, target = pair_of(folder)
    if not os.path.exists(target):
        hint = f"; `pqassay pm generate {data}` makes it" if os.path.isfile(data) else ""
        fail(f"{target}: no such file{hint}", 2)
    return data, target


__all__ = ["pm_app"]
