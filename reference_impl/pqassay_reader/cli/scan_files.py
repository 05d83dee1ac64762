"""``pqassay scan --files``: list the files of a folder that may have rows which satisfy a condition, and why."""

from __future__ import annotations

import json
import os
import warnings
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import typer

from pqassay_reader.cli.many_files import progress_bar, reported_files
from pqassay_reference.cli.errors import fail
from pqassay_reference.cli.tables import counted
from pqassay_spec.base.terminal import printable

if TYPE_CHECKING:
    from pqassay_reader.lake.indexed_dataset import IndexedDataset, Pruning
    from pqassay_reference.rewrite.extract import Trust

SHOWN = 20
"""Most kept files, and most skipped files, that are listed."""


class TrustName(StrEnum):
    """The trusted indexes."""

    COMPANION = "companion"
    PUBLISHED = "published"


def list_files(
    path: str,
    condition: str,
    *,
    trust: Trust,
    column: str | None,
    table: str | None,
    as_json: bool,
    every: bool,
) -> None:
    """Print which files of a folder may have rows that satisfy a condition, and why. Only the indexes are read.

    Args:
        path: A file, a folder or a URI.
        condition: The condition.
        trust: The trusted embedded indexes.
        column: The column of indexes without a companion record.
        table: The folder of an index table, or ``auto``.
        as_json: Print one JSON object.
        every: List all files in the text, even if there are many.
    """
    dataset, pruning = _pruned(path, condition, trust, column, table)
    if as_json:
        typer.echo(json.dumps(_record(path, condition, dataset, pruning), indent=2))
        return
    _print_text(path, dataset, pruning, every=every)


def require_vouched(trust: TrustName, column: str | None) -> None:
    """Exit if a column is missing for trusted indexes without companion record, or is given without them."""
    if (trust is TrustName.PUBLISHED) != (column is not None):
        fail(
            "--column and --trust published go together: an index that you vouch for needs the column that it describes",
            2,
        )


def _pruned(
    path: str, condition: str, trust: Trust, column: str | None, table: str | None
) -> tuple[IndexedDataset, Pruning]:
    """Open the dataset and prune it; errors end the command with one line."""
    if table is not None and table != "auto" and not os.path.isdir(table):
        fail(f"{table}: no such folder", 2)
    with reported_files(path):
        from pqassay_reader.condition.rows import condition_of
        from pqassay_reader.condition.text import parse_predicate
        from pqassay_reader.lake.indexed_dataset import open_indexed

        tree = parse_predicate(condition)
        with warnings.catch_warnings(), progress_bar("indexes") as progress:
            warnings.simplefilter("ignore")  # they are in the answer
            dataset = open_indexed(path, trust=trust, column=column, table=table, progress=progress)
        if not dataset.files:
            fail(f"{path}: there are no Parquet files in it", 2)
        return dataset, dataset.prune(condition_of(tree, dataset.schema))


def _totals(dataset: IndexedDataset, pruning: Pruning) -> dict[str, int]:
    sizes = dataset.sizes
    return {
        "files": len(sizes),
        "kept": len(pruning.kept),
        "skipped": len(pruning.skipped),
        "bytes": sum(sizes.values()),
        "bytes_kept": sum(sizes[path] for path in pruning.kept),
    }


def _record(path: str, condition: str, dataset: IndexedDataset, pruning: Pruning) -> dict[str, Any]:
    kept = set(pruning.kept)
    return {
        "path": path,
        "condition": condition,
        "totals": _totals(dataset, pruning),
        "files": [
            {"path": name, "size": size, "kept": name in kept, "why": pruning.why[name]}
            | ({"row_groups": pruning.row_groups[name].kept} if name in pruning.row_groups else {})
            for name, size in dataset.sizes.items()
        ],
        "warnings": list(dataset.warnings),
    }


def _print_text(path: str, dataset: IndexedDataset, pruning: Pruning, *, every: bool) -> None:
    from pqassay_reader.lake.known_files import NOT_INDEXED

    root = os.path.abspath(path) if "://" not in path else path
    base = root if os.path.isdir(root) else os.path.dirname(root)

    def named(name: str) -> str:
        return os.path.relpath(name, base) if os.path.isabs(base) and name.startswith(base) else name

    for word, names in (("keep", pruning.kept), ("skip", pruning.skipped)):
        shown = names if every else names[:SHOWN]
        for name in shown:
            typer.echo(printable(f"{word}  {named(name)}  ({pruning.why[name]})"))
        if len(names) > len(shown):
            typer.echo(f"{word}  … and {counted(len(names) - len(shown), 'more file')}; --all lists them")
    totals = _totals(dataset, pruning)
    typer.echo(
        f"{totals['kept']:,} of {totals['files']:,} files may hold matching rows, "
        f"{totals['bytes_kept']:,} of {totals['bytes']:,} bytes"
    )
    for warning in dataset.warnings if every else dataset.warnings[:1]:
        typer.echo(printable(f"warning: {warning}"), err=True)
    if not every and len(dataset.warnings) > 1:
        typer.echo(
            f"warning: {counted(len(dataset.warnings) - 1, 'more file')} cannot be skipped; --all lists them",
            err=True,
        )
    if all(why == NOT_INDEXED for why in pruning.why.values()):
        typer.echo("note: no file has an index; `pqassay embed PATH --column COLUMN` adds one", err=True)
