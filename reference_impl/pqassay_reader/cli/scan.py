"""The command ``pqassay scan``: rows of Parquet files that satisfy a condition, and the effort to find them."""

from __future__ import annotations

import contextlib
import csv
import json
import sys
from collections.abc import Generator, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pqassay_reader.cli.many_files import progress_bar, reported_files
from pqassay_reader.cli.rows_output import MOST_ROWS, Form, form_of, write_rows
from pqassay_reader.cli.scan_files import TrustName, list_files, require_vouched
from pqassay_reader.query.rungs import Rung
from pqassay_reference.cli.errors import fail, require_writable
from pqassay_reference.cli.tables import counted
from pqassay_spec.base.help_pages import epilog, example

if TYPE_CHECKING:
    from pqassay_reader.query.scan import Scan


class MetadataName(StrEnum):
    """Sources of the metadata of a file."""

    FOOTER = "footer"
    PM = "pm"


class ScanForm(StrEnum):
    """Output forms: of rows, or with ``--files`` of a list of files."""

    TABLE = "table"
    JSON = "json"
    PARQUET = "parquet"
    TEXT = "text"


EXAMPLE = epilog(
    "`pqassay scan sales \"nation = 'Singapore' AND year >= 2023\" --columns year,sales_amount`",
    "`pqassay scan sales \"nation = 'Singapore'\" --explain`",
    "`pqassay scan sales \"nation = 'Singapore'\" --files`",
    codes="0 printed, 1 cannot be read, 2 usage",
)


@example(EXAMPLE, rare=("batch_size", "gap", "trust", "metadata", "without"))
def scan(
    path: Annotated[
        str,
        typer.Argument(metavar="PATH", help="Parquet file, folder of files, or URI (s3://, gs://, …)."),
    ],
    condition: Annotated[
        str | None,
        typer.Argument(
            metavar="CONDITION",
            help="SQL condition: comparisons, IN, BETWEEN, IS NULL, AND, OR, NOT. Default: all rows.",
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            metavar="COLUMN[,COLUMN...]",
            help="Columns to return, as dotted paths. Default: all.",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Return at most N rows, then stop reading."),
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Decode at most N rows at once, to save memory. Default: 32 MiB of values.",
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without",
            metavar="TECHNIQUE[,TECHNIQUE...]",
            help=f"Disable techniques: {', '.join(Rung)}.",
        ),
    ] = None,
    gap: Annotated[
        int | None,
        typer.Option(
            metavar="BYTES",
            min=0,
            help="Join ranges at most BYTES apart. Default: 64 KiB in local files, else 256 KiB.",
        ),
    ] = None,
    trust: Annotated[
        TrustName,
        typer.Option(
            metavar="INDEX",
            help="Embedded indexes to trust: companion (with a record), or published (with --column).",
        ),
    ] = TrustName.COMPANION,
    column: Annotated[
        str | None,
        typer.Option(
            "--column",
            "-c",
            metavar="COLUMN",
            help="Column of embedded indexes without a companion record.",
        ),
    ] = None,
    metadata: Annotated[
        MetadataName,
        typer.Option(
            metavar="WHERE",
            help="Source of metadata: footer, or pm for the _pm beside a file.",
        ),
    ] = MetadataName.FOOTER,
    output_format: Annotated[
        ScanForm | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Print as table, json or parquet; with --files, as text or json. "
            "Default: by the name of --output, else table or text.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the rows to FILE instead of stdout."),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Show what each technique left to read, instead of the rows.",
        ),
    ] = False,
    files: Annotated[
        bool,
        typer.Option("--files", help="List the files that may match, using only their indexes."),
    ] = False,
    table: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help='With --files: index table; "auto" for the one beside PATH.',
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="With --files: list all files.")] = False,
) -> None:
    """Print the rows of Parquet files that satisfy a condition.

    Skips what statistics, bloom filters, page indexes and embedded indexes rule out. stderr shows what was
    fetched.

    With --files, lists files instead: a kept file may hold a matching row, a skipped file does not. A file
    without a usable index is kept.
    """
    if files:
        require_vouched(trust, column)
        rows_options = {
            "--columns": columns,
            "--limit": limit,
            "--batch-size": batch_size,
            "--without": without,
            "--gap": gap,
            "--metadata pm": metadata is MetadataName.PM,
            "--output": output,
            "--explain": explain,
            "--format table": output_format is ScanForm.TABLE,
            "--format parquet": output_format is ScanForm.PARQUET,
        }
        if unfit := [
            name for name, value in rows_options.items() if value is not None and value is not False
        ]:
            fail(f"{unfit[0]} is for rows, and --files lists files; leave one of them out", 2)
        if condition is None:
            fail("--files needs a condition: pqassay scan --files PATH CONDITION", 2)
        as_json = output_format is ScanForm.JSON
        list_files(
            path, condition, trust=trust.value, column=column, table=table, as_json=as_json, every=every
        )
        return
    if table is not None or every or output_format is ScanForm.TEXT:
        fail("--table, --all and --format text need --files", 2)
    form = form_of(None if output_format is None else Form(output_format), output)
    require_vouched(trust, column)
    names = _separated(columns, "--columns")
    off = _separated(without, "--without") or []
    unknown = [name for name in off if name not in list(Rung)]
    if unknown:
        fail(f"--without {unknown[0]}: there is no such technique; there are {', '.join(Rung)}", 2)
    require_writable(output)
    is_cut = form is Form.TABLE and output is None and limit is None and sys.stdout.isatty() and not explain
    with reported_files(path):
        from pqassay_reader.query.scan import scan as scanned

        result = scanned(
            path,
            condition,
            names,
            limit=MOST_ROWS + 1 if is_cut else limit,
            batch_size=batch_size,
            without=off,
            gap=gap,
            trust=trust.value,
            column=column,
            metadata=metadata.value,
        )
        with _progress_bar(result, is_free=not sys.stdout.isatty() or output is not None or explain):
            _put_rows(result, form, output, is_cut=is_cut, is_silent=explain and output is None)
        if explain:
            _print_explanation(result, path, condition, form)
    if not explain:
        typer.echo(_fetched(result), err=True)


def _separated(texts: list[str] | None, option: str) -> list[str] | None:
    """Names separated by commas, without repetition; a name with a comma is in double quotes, as in CSV."""
    if texts is None:
        return None
    try:
        names = [name.strip() for line in csv.reader(texts, strict=True) for name in line]
    except csv.Error as error:
        fail(f"{option}: {error}", 2)
    if not names or "" in names:
        fail(f"{option}: names are separated by commas, and none is empty", 2)
    return list(dict.fromkeys(names))


@contextlib.contextmanager
def _progress_bar(result: Scan, *, is_free: bool) -> Generator[None]:
    """A progress bar on stderr while many files are read, if stderr is a terminal without rows."""
    if not is_free or len(result.files) < 2:
        yield
        return
    with progress_bar("files") as progress:
        result.progress = progress or result.progress
        yield


# ------------------------------------------------------------------------------------------------------------ output


def _put_rows(result: Scan, form: Form, output: Path | None, *, is_cut: bool, is_silent: bool) -> None:
    if is_silent:
        for _ in result:
            pass
        return
    if not result.schema.names:
        fail("there are no columns to return", 1)
    write_rows(_first(result) if is_cut else result, result.schema, form, output)
    if is_cut and result.counters.left[Rung.STREAM].rows > MOST_ROWS:
        typer.echo(f"… the first {MOST_ROWS} rows; --limit N shows as many as you like")


def _first(result: Scan) -> Iterator[Any]:
    """The rows that a table shows by default. The scan itself looks for one more, to know whether there are more."""
    room = MOST_ROWS
    for batch in result:
        yield batch.slice(0, room)
        room -= min(room, len(batch))


def _print_explanation(result: Scan, path: str, condition: str | None, form: Form) -> None:
    if form is Form.JSON:
        from pqassay_reader.query.explained.waterfall import explanation

        record = {"path": path, "condition": condition, **explanation(result)}
        typer.echo(json.dumps(record, indent=2, ensure_ascii=False))
        return
    from pqassay_reader.cli.scan_explained import print_explanation

    print_explanation(result)


def _fetched(result: Scan) -> str:
    """The amount of fetched data, in one line."""
    counters = result.counters
    data, metadata = counters.data, counters.metadata
    rows = counters.left[Rung.STREAM].rows
    return (
        f"{counted(rows, 'row')}; fetched {counted(data.length, 'byte')} of data in "
        f"{counted(data.requests, 'request')} and {counted(metadata.length, 'byte')} of metadata in "
        f"{counted(metadata.requests, 'request')}, of {counted(sum(result.files.values()), 'byte')} in "
        f"{counted(len(result.files), 'file')}"
    )


__all__ = ["EXAMPLE", "scan"]
