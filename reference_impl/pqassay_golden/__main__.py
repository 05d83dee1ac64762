"""Regenerate the golden files: ``python -m pqassay_golden golden_files``, or ``make golden``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pqassay_golden.generator import write_golden_files
from pqassay_golden.tables import write_golden_tables
from pqassay_reference.cli.errors import fail
from pqassay_reference.errors import Refused

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: `python -m pqassay_golden golden_files`")
def golden(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder golden_files.")],
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail if a file is not what would be written.")
    ] = False,
) -> None:
    """Write the golden files again. Cases of another provenance in the folder stay as they are."""
    if not folder.is_dir():
        fail(f"{folder}: no such folder", 2)
    try:
        done = write_golden_files(folder, dry_run=check)
        changed, unchanged, removed = write_golden_tables(folder, dry_run=check)
    except Refused as error:
        fail(str(error), 1)
    except OSError as error:
        fail(f"{error.filename or folder}: {error.strerror or error}", 1)
    for word, ids in (("changed", [*done.changed, *changed]), ("removed", [*done.removed, *removed])):
        for name in ids:
            typer.echo(f"{word}  {name}")
    cases, same = len(done.changed) + len(done.unchanged), len(done.unchanged)
    tables = len(changed) + len(unchanged)
    typer.echo(f"{cases} cases, {same} unchanged; {tables} tables, {len(unchanged)} unchanged")
    if check and (done.changed or done.removed or changed or removed):
        fail(f"golden files are out of date; `python -m pqassay_golden {folder}` writes them", 1)


if __name__ == "__main__":
    app()
