"""The command ``pqassay-ref prune``: which files of a folder a condition leaves over, and why."""

from __future__ import annotations

import json
import os
import warnings
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pqassay_reference.cli.errors import fail, said
from pqassay_reference.cli.progress import progress_bar
from pqassay_reference.cli.tables import counted
from pqassay_spec.base.help_pages import example
from pqassay_spec.base.terminal import printable

if TYPE_CHECKING:
    from pqassay_reader.lake.indexed_dataset import IndexedDataset, Pruning
    from pqassay_reference.rewrite.extract import Trust

SHOWN = 20
"""Files that are listed of those that are kept and of those that are skipped."""


class TrustName(StrEnum):
    """The indexes that count."""

    COMPANION = "companion"
    PUBLISHED = "published"


class FormatName(StrEnum):
    """Forms of the printed answer."""

    TEXT = "text"
    JSON = "json"


TrustOption = Annotated[
    TrustName,
    typer.Option(
        metavar="INDEX",
        help="Which embedded index counts: companion, one with a companion record, or published, any of --column.",
    ),
]
ColumnOption = Annotated[
    str | None,
    typer.Option(
        "--column",
        "-c",
        metavar="COLUMN",
        help="The column that embedded indexes without companion record describe.",
    ),
]

EXAMPLE = "Example: `pqassay-ref prune sales \"nation = 'Singapore'\"`"


@example(EXAMPLE)
def prune(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH", help="A folder of Parquet files, one file, or a URI (s3://, gs://, …)."
        ),
    ],
    condition: Annotated[
        str,
        typer.Argument(
            metavar="CONDITION",
            help="A condition as in SQL: comparisons, IN, BETWEEN, IS NULL, AND, OR, NOT.",
        ),
    ],
    trust: TrustOption = TrustName.COMPANION,
    column: ColumnOption = None,
    table: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help='Use the index table in this folder; "auto" for the one beside PATH, if there is one.',
        ),
    ] = None,
    output_format: Annotated[
        FormatName,
        typer.Option("--format", metavar="FORMAT", help="text, lines for people, or json, one object."),
    ] = FormatName.TEXT,
    every: Annotated[bool, typer.Option("--all", help="List all files, however many.")] = False,
) -> None:
    """Say which files a condition leaves over by their indexes, and why. Nothing but the indexes is read.

    A file that is kept may hold a matching row; one that is skipped holds none. A file without an index that can be
    used is kept.
    """
    require_vouched(trust, column)
    dataset, pruning = _pruned(path, condition, trust.value, column, table)
    if output_format is FormatName.JSON:
        typer.echo(json.dumps(_record(path, condition, dataset, pruning), indent=2))
        return
    _print_text(path, dataset, pruning, every=every)


def require_vouched(trust: TrustName, column: str | None) -> None:
    """Leave the command unless a column is named exactly where indexes count that do not name theirs."""
    if (trust is TrustName.PUBLISHED) != (column is not None):
        fail(
            "--column and --trust published go together: whoever vouches for an index says what it describes",
            2,
        )


def _pruned(
    path: str, condition: str, trust: Trust, column: str | None, table: str | None
) -> tuple[IndexedDataset, Pruning]:
    """Open the dataset and ask it; what goes wrong ends the command with one line."""
    import pyarrow as pa

    from pqassay_reader.lake.indexed_dataset import open_indexed
    from pqassay_reader.predicate.expressions import expression_of
    from pqassay_reader.predicate.text import parse_predicate
    from pqassay_reference.errors import Refused

    if "://" not in path and not os.path.exists(path):
        fail(f"{path}: no such file or folder", 2)
    if table is not None and table != "auto" and not os.path.isdir(table):
        fail(f"{table}: no such folder", 2)
    try:
        tree = parse_predicate(condition)
        with warnings.catch_warnings(), progress_bar("indexes") as progress:
            warnings.simplefilter("ignore")  # they are in the answer
            dataset = open_indexed(path, trust=trust, column=column, table=table, progress=progress)
        if not dataset.files:
            fail(f"{path}: there are no Parquet files in it", 2)
        return dataset, dataset.prune(expression_of(tree, dataset.schema))
    except Refused as error:
        fail(str(error), 1)
    except FileNotFoundError as error:
        fail(said(error, path), 2)
    except (pa.ArrowException, OSError, ValueError) as error:
        fail(said(error, path), 1)


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
