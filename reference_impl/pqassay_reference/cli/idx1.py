"""IDX1 under its own key, for the commands ``pqassay index``: embedded, looked at, removed, and its values printed."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from pqassay_reference.cli.errors import fail, reported
from pqassay_reference.cli.tables import counted
from pqassay_spec.base.terminal import printable

MAX_BYTES = 16 << 20
"""Greatest size of an index, unless another is named."""


def embed(
    path: str, column: str, *, inside_table: bool, companion: bool = True, max_bytes: int = MAX_BYTES
) -> None:
    """Embed an index of one column into a finished file, and print what was done."""
    from pqassay_reference.rewrite.embed import embed_file

    done = embed_file(path, column, companion=companion, inside_table=inside_table, limit=max_bytes)
    values = f"{done.value_count} distinct value{'' if done.value_count == 1 else 's'}"
    where = f"in {done.payload_length} bytes at offset {done.offset}"
    typer.echo(printable(f"{path}: {values} of column {column} {where}"))
    if done.cut:
        typer.echo(f"  replaced the index that was there ({done.cut} bytes)")
    if done.dead:
        typer.echo(
            f"  {done.dead} bytes of an earlier index stay in the file; nothing refers to them any more"
        )


class Published(NamedTuple):
    """The index under the key of IDX1, which every reader of the published format finds.

    Attributes:
        path: The path of its column; empty if no companion record names it.
        length: Bytes of its blob.
        values: Values in it.
        why: Why a reader may not use it; empty if it may.
    """

    path: tuple[str, ...] = ()
    length: int = 0
    values: int = 0
    why: str = ""

    @property
    def column(self) -> str:
        """The path of its column, joined by dots."""
        return ".".join(self.path)

    @property
    def is_stale(self) -> bool:
        """Whether it is of no use, and can be made again."""
        return bool(self.why and self.path)

    def __str__(self) -> str:
        """The index for people."""
        values, length = counted(self.values, "value"), counted(self.length, "byte")
        return f"idx1 of {self.column or '?'} by file: {values} in {length} (key)"

    def row(self) -> tuple[object, ...]:
        """The index as a row of a list: type, columns, granularity, placement, bytes, values and state."""
        state = f"{'stale' if self.is_stale else 'unusable'}: {self.why}" if self.why else "fresh"
        return "idx1", self.column or "?", "file", "key", self.length, self.values, state

    def record(self) -> dict[str, Any]:
        """The index as JSON, with the members of an entry of the index directory."""
        return {
            "type": "idx1",
            "columns": [list(self.path)] if self.path else [],
            "granularity": "file",
            "placement": "key",
            "codec": "none",
            "bytes": self.length,
            "values": self.values,
            "rows": None,
            "writer": None,
            "fresh": not self.is_stale,
            "why": self.why or None,
        }


def published_index(path: str) -> Published | None:
    """The index under the key of IDX1, if a file has one, however damaged."""
    from pqassay_reference.rewrite.extract import NoIndexError, index_of
    from pqassay_spec.base.errors import Malformed
    from pqassay_spec.base.sources import FileSource
    from pqassay_spec.idx1 import blob as idx1
    from pqassay_spec.idx1 import companion as idx1_companion
    from pqassay_spec.parquet.file import read_footer, read_framing

    with FileSource(path) as source:
        framing = read_framing(source)
        metadata, _ = read_footer(source, framing)
        pairs = {pair.key: pair.value for pair in reversed(metadata.key_value_metadata or [])}
        column: tuple[str, ...] = ()
        with contextlib.suppress(Malformed):
            column = tuple(idx1_companion.parse_companion(pairs.get(idx1.COMPANION_KEY) or "").column)
        try:
            index = index_of(source, framing, metadata)
        except NoIndexError:
            return None
        except Malformed as error:
            return Published(column, why=error.reason)
    why = index.mistrust or ("" if index.companion else "no companion record names its column")
    return Published(column, index.length, len(index.values), why)


def drop_published(path: str, *, inside_table: bool) -> None:
    """Remove the keys of IDX1 from a file."""
    from pqassay_reference.rewrite.strip import Selection, strip_file

    strip_file(path, Selection(idx1=True), inside_table=inside_table, values_are_right=True)


EXTRACT_EXAMPLE = "Example: `pqassay index extract part-0.parquet --json`"


def extract(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A Parquet file with an IDX1 index.")],
    published: Annotated[
        bool, typer.Option("--published", help="Read as the published reader does, with its losses.")
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
