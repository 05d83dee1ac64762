"""The command ``pqassay pm read``: rows of a Parquet file, using its ``_pm`` instead of its footer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pqassay_reader.cli.rows_output import MOST_ROWS, Form, form_of, write_rows
from pqassay_reader.query.fetching.ranges import GAP
from pqassay_reference.cli.errors import fail, reported, require_writable
from pqassay_reference.cli.pm import PM_CODES, ParquetSize, Txn, pinned, pm_app, require_pm
from pqassay_reference.cli.pm_changes import Pair, pair
from pqassay_reference.cli.tables import counted
from pqassay_spec.base.help_pages import epilog

if TYPE_CHECKING:
    from pqassay_reference.pm.read import PmReader

Gap = Annotated[
    int,
    typer.Option("--gap", metavar="BYTES", help="Join ranges at most BYTES apart into one request.", min=0),
]


@pm_app.command(
    epilog=epilog("`pqassay pm read 2024-01-01 --columns ts,price --rows 0..100`", codes=PM_CODES)
)
def read(
    folder: Pair,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            "-c",
            metavar="COLUMN[,COLUMN...]",
            help="Columns to read, separated by commas; repeatable. Default: all.",
        ),
    ] = None,
    rows: Annotated[
        str,
        typer.Option(metavar="FROM..TO", help="Row numbers from 0, TO excluded; either may be left out."),
    ] = "",
    output_format: Annotated[
        Form | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Print as table, json (one object per line) or parquet (needs --output). "
            "Default: by the name of --output, else table.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to FILE instead of stdout.")
    ] = None,
    physical: Annotated[
        bool, typer.Option("--physical", help="Print values as stored, without QuestDB's types.")
    ] = False,
    gap: Gap = GAP,
    parquet_size: ParquetSize = None,
    txn: Txn = None,
) -> None:
    """Print rows of a Parquet file using its `_pm` instead of its footer.

    Takes ranges, codecs, encodings and levels from `_pm`. stderr shows what was fetched.
    """
    asked = _rows(rows)
    form = form_of(output_format, output)
    data, target = pair(folder)
    size = pinned(target, txn, parquet_size)
    with reported(target), reported(data):
        from pqassay_reader.query.facts.pm_chunks import ChunkRows
        from pqassay_reference.pm.read import PmReader
        from pqassay_spec.base.sources import FileSource

        require_pm(target)
        require_writable(output)
        with PmReader.map(target, parquet_file_size=size) as reader, FileSource(data) as source:
            wanted = None if columns is None else named_columns(columns, reader)
            cut = form is Form.TABLE and output is None and not rows
            rows_read = ChunkRows(
                reader, source, wanted, range(MOST_ROWS) if cut else asked, gap=gap, logical=not physical
            )
            write_rows(rows_read.batches(), rows_read.schema, form, output)
            count = (
                sum(reader.block(number).num_rows for number in range(reader.row_group_count)) if cut else 0
            )
    if count > MOST_ROWS:
        typer.echo(f"… the first {MOST_ROWS} of {counted(count, 'row')}; name others with --rows FROM..TO")
    fetched = rows_read.fetched
    typer.echo(
        f"fetched {fetched.length} of {counted(source.size, 'byte')} in {counted(fetched.requests, 'request')}; "
        "the Parquet footer was not read",
        err=True,
    )


def named_columns(texts: list[str], reader: PmReader) -> list[str]:
    """Names of columns, separated by commas; an argument that is a whole column name is not split."""
    known = {column.name for column in reader.columns}
    return [name for text in texts for name in ([text] if text in known else text.split(","))]


def _rows(text: str) -> range | None:
    """A range of row numbers, written as FROM..TO."""
    if not text:
        return None
    first, dots, last = text.partition("..")
    if not dots or not all(part.strip().isdecimal() or not part.strip() for part in (first, last)):
        fail(f"--rows {text}: a range is written FROM..TO, as in 0..100", 2)
    return range(int(first or 0), int(last) if last.strip() else sys.maxsize)


__all__ = ["pm_app"]
