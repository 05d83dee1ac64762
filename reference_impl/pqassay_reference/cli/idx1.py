"""IDX1 under its own key, for the commands ``pqassay index``: embed, inspect and remove it, and print its values."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from pqassay_reference.cli.errors import fail, reported
from pqassay_spec.base.help_pages import epilog
from pqassay_spec.base.terminal import printable

MAX_BYTES = 16 << 20
"""Default limit of the size of an index in bytes."""


def embed(
    path: str, column: str, *, inside_table: bool, companion: bool = True, max_bytes: int = MAX_BYTES
) -> None:
    """Embed an index of one column into a finished file, and print the result."""
    from pqassay_reference.rewrite.embed import embed_file

    done = embed_file(path, column, companion=companion, inside_table=inside_table, limit=max_bytes)
    values = f"{done.value_count} distinct value{'' if done.value_count == 1 else 's'}"
    where = f"in {done.payload_length} bytes at offset {done.offset}"
    typer.echo(printable(f"{path}: {values} of column {column} {where}"))
    if done.cut:
        typer.echo(f"  replaced the old index ({done.cut} bytes)")
    if done.dead:
        typer.echo(
            f"  {done.dead} bytes of an earlier index stay in the file; nothing refers to them any more"
        )


def published_index(path: str) -> dict[str, Any] | None:
    """The index under the key of IDX1, as JSON for a list, even if it is damaged; ``None`` if there is none."""
    from pqassay_reference.rewrite.extract import NoIndexError, index_of
    from pqassay_spec.base.errors import Malformed
    from pqassay_spec.base.sources import FileSource
    from pqassay_spec.idx1 import blob as idx1
    from pqassay_spec.idx1.companion import parse_companion
    from pqassay_spec.parquet.file import read_footer, read_framing

    columns, length, count = [], 0, 0
    with FileSource(path) as source:
        framing = read_framing(source)
        metadata, _ = read_footer(source, framing)
        pairs = {pair.key: pair.value for pair in reversed(metadata.key_value_metadata or [])}
        with contextlib.suppress(Malformed):
            columns = [list(parse_companion(pairs.get(idx1.COMPANION_KEY) or "").column)]
        try:
            index = index_of(source, framing, metadata)
        except NoIndexError:
            return None
        except Malformed as error:
            why = error.reason
        else:
            length, count = index.length, len(index.values)
            why = index.mistrust or ("" if index.companion else "no companion record names its column")
    members = {"type": "idx1", "columns": columns, "granularity": "file", "placement": "key", "codec": "none"}
    numbers = {"bytes": length, "values": count, "rows": None, "writer": None}
    return {**members, **numbers, "fresh": not (why and columns), "why": why or None}


EXTRACT_EXAMPLE = epilog(
    "`pqassay index extract part-0.parquet --json`", codes="0 printed, 1 cannot be read, 2 usage"
)


def extract(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Parquet file with an IDX1 index.")],
    published: Annotated[
        bool,
        typer.Option("--published", help="Read like the published IDX1 reader, which loses some values."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object with all details.")] = False,
) -> None:
    """Print the values of an IDX1 index, one per line, escaped as in JSON strings."""
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
