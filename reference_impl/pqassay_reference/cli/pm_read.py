"""The command ``pqassay-ref pm read``: rows of a Parquet file by its ``_pm`` alone."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Generator, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from pqassay_reference.cli.errors import fail, reported, require_writable
from pqassay_reference.cli.pm import ParquetSize, Txn, pinned, pm_app, require_pm
from pqassay_reference.cli.pm_changes import Pair, pair
from pqassay_reference.cli.tables import Table, counted, plain_lines, show
from pqassay_spec.base.terminal import printable

if TYPE_CHECKING:
    from pqassay_reference.pm.chunk_reading import ChunkRows

MOST_ROWS = 40
"""Rows that a table shows unasked."""


class Form(StrEnum):
    """Forms of the rows."""

    TABLE = "table"
    JSON = "json"
    PARQUET = "parquet"


@pm_app.command(epilog="Example: `pqassay-ref pm read 2024-01-01 --columns ts,price --rows 0..100`")
def read(
    folder: Pair,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            "-c",
            metavar="COLUMN[,COLUMN...]",
            help="Columns to read, separated by commas; all by default; may be repeated.",
        ),
    ] = None,
    rows: Annotated[
        str,
        typer.Option(
            metavar="FROM..TO", help="Numbers of rows, from 0, TO excluded; either may be left out."
        ),
    ] = "",
    form: Annotated[
        Form,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="table, json (an object a line), or parquet, which needs --output.",
        ),
    ] = Form.TABLE,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write here, not to the terminal.")
    ] = None,
    physical: Annotated[
        bool, typer.Option("--physical", help="Values as they are stored, without the types of QuestDB.")
    ] = False,
    parquet_size: ParquetSize = None,
    txn: Txn = None,
) -> None:
    """Print rows of a Parquet file by its `_pm` alone. The footer of the Parquet file is not read.

    Ranges, codecs, encodings and levels are those of `_pm`; what was fetched is said on stderr.
    """
    asked = _rows(rows)
    if form is Form.PARQUET and output is None:
        fail("--format parquet needs --output FILE", 2)
    data, target = pair(folder)
    size = pinned(target, txn, parquet_size)
    with reported(target), reported(data):
        from pqassay_reference.pm.chunk_reading import ChunkRows
        from pqassay_reference.pm.read import PmReader
        from pqassay_spec.base.sources import FileSource

        require_pm(target)
        require_writable(output)
        with PmReader.map(target, parquet_file_size=size) as reader, FileSource(data) as source:
            known = {column.name for column in reader.columns}
            wanted = (
                None
                if columns is None
                else [name for given in columns for name in ([given] if given in known else given.split(","))]
            )
            cut = form is Form.TABLE and output is None and not rows
            found = ChunkRows(
                reader, source, wanted, range(MOST_ROWS) if cut else asked, logical=not physical
            )
            _write(found, form, output)
            count = (
                sum(reader.block(number).num_rows for number in range(reader.row_group_count)) if cut else 0
            )
    if count > MOST_ROWS:
        typer.echo(f"… the first {MOST_ROWS} of {counted(count, 'row')}; name others with --rows FROM..TO")
    fetched = found.fetched
    typer.echo(
        f"fetched {fetched.length} of {counted(source.size, 'byte')} in {counted(fetched.requests, 'request')}; "
        "the Parquet footer was not read",
        err=True,
    )


def _rows(text: str) -> range | None:
    """Numbers of rows, written as FROM..TO."""
    if not text:
        return None
    first, dots, last = text.partition("..")
    if not dots or not all(part.strip().isdecimal() or not part.strip() for part in (first, last)):
        fail(f"--rows {text}: a range is written FROM..TO, as in 0..100", 2)
    return range(int(first or 0), int(last) if last.strip() else sys.maxsize)


def _write(found: ChunkRows, form: Form, output: Path | None) -> None:
    if form is Form.PARQUET and output is not None:
        _write_parquet(found, output)
        return
    with _sink(output) as sink:
        if form is Form.JSON:
            for row in _records(found):
                sink.write(json.dumps(row, default=_text, ensure_ascii=False) + "\n")
            return
        cells = [[_cell(value) for value in row.values()] for row in _records(found)]
        table = Table("", found.schema.names, cells)
        if output is None:
            show(table)
        else:
            sink.writelines(f"{line}\n" for line in plain_lines(table))


def _records(found: ChunkRows) -> Iterator[dict[str, Any]]:
    for batch in found.batches():
        yield from batch.to_pylist()


@contextlib.contextmanager
def _sink(output: Path | None) -> Generator[TextIO]:
    """Where text goes: a file that is replaced whole, or the terminal."""
    if output is None:
        yield sys.stdout
        return
    import io

    from pqassay_spec.base.sources import replaced_file

    with replaced_file(output) as file:
        text = io.TextIOWrapper(file, encoding="utf-8")
        yield text
        text.detach()  # flushes, and leaves the file to who opened it


def _write_parquet(found: ChunkRows, output: Path) -> None:
    import pyarrow.parquet as pq

    from pqassay_spec.base.sources import replaced_file

    with replaced_file(output) as file, pq.ParquetWriter(file, found.schema) as writer:
        for batch in found.batches():
            writer.write_table(batch)


def _text(value: Any) -> str:
    """A value that JSON has no form for."""
    return f"x'{value.hex()}'" if isinstance(value, bytes) else str(value)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return printable(_text(value))


__all__ = ["pm_app"]
