"""The commands ``pqassay embed`` and ``extract``: an IDX1 index put into a finished file, and its values printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from pqassay_reference.cli.errors import fail, reported
from pqassay_spec.base.help_pages import example
from pqassay_spec.base.terminal import printable


@example("Example: `pqassay embed part-0.parquet --column nation`")
def embed(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A finished Parquet file; it is replaced atomically.")
    ],
    column: Annotated[
        str,
        typer.Option(
            "--column", "-c", metavar="COLUMN", help="String column to index, its path joined by dots."
        ),
    ],
    companion: Annotated[
        bool, typer.Option(help="Also write the key that names the column and says that nothing was lost.")
    ] = True,
    inside_table: Annotated[
        bool, typer.Option("--inside-table", help="Do it even inside a table (Iceberg, Delta, Hudi, …).")
    ] = False,
    max_bytes: Annotated[int, typer.Option(metavar="BYTES", help="Greatest size of the index.", min=1)] = 16
    << 20,
) -> None:
    """Embed an IDX1 index of one column into a finished Parquet file."""
    with reported(file):
        from pqassay_reference.rewrite.embed import embed_file

        done = embed_file(file, column, companion=companion, inside_table=inside_table, limit=max_bytes)
    values = f"{done.value_count} distinct value{'' if done.value_count == 1 else 's'}"
    where = f"in {done.payload_length} bytes at offset {done.offset}"
    typer.echo(printable(f"{file}: {values} of column {column} {where}"))
    if done.cut:
        typer.echo(f"  replaced the index that was there ({done.cut} bytes)")
    if done.dead:
        typer.echo(
            f"  {done.dead} bytes of an earlier index stay in the file; nothing refers to them any more"
        )


EXTRACT_EXAMPLE = "Example: `pqassay index extract part-0.parquet --json`"


def extract(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A Parquet file with an IDX1 index.")],
    published: Annotated[
        bool, typer.Option("--published", help="Read as the published reader does, with its losses.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object with everything there is to know.")
    ] = False,
) -> None:
    """Print the values of an embedded index, one per line, special characters escaped as in JSON strings."""
    with reported(file):
        from pqassay_reference.rewrite.extract import extract_file

        index = extract_file(file)
    if index.mistrust:
        typer.echo(printable(f"warning: the companion record does not count: {index.mistrust}"), err=True)
    if as_json:
        record = {
            "layout": index.layout.value,
            "offset": index.offset,
            "column": list(index.companion.column) if index.companion else None,
            "values": list(index.values),
            "published": None if index.published is None else list(index.published),
        }
        typer.echo(json.dumps(record, indent=2))
        return
    if published and index.published is None:
        fail(f"{file}: the published reader cannot read the layout of {index.layout.value}", 1)
    for value in (index.published or ()) if published else index.values:
        typer.echo(printable(json.dumps(value, ensure_ascii=False)[1:-1]))
    if not published and index.lost:
        lost = ", ".join(json.dumps(value, ensure_ascii=False) for value in index.lost)
        typer.echo(printable(f"warning: the published reader loses {lost}"), err=True)
