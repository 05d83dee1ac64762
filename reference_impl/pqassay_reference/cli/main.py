"""The command ``pqassay-ref``: the reference implementation at work on files.

Exit codes: 0 done; 1 the file is malformed, or the request is refused; 2 wrong usage or no such file.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from pqassay_reference.cli import answer as cli_answer
from pqassay_reference.cli import prune as cli_prune
from pqassay_reference.cli import scan as cli_scan
from pqassay_reference.cli.errors import fail, reported, require_writable, shown
from pqassay_reference.cli.index import index_app
from pqassay_reference.cli.pm_read import pm_app
from pqassay_reference.cli.tables import counted
from pqassay_spec.base.help_pages import in_one_style
from pqassay_spec.base.interrupts import CleanEnd
from pqassay_spec.base.terminal import guarded_output, printable

if TYPE_CHECKING:
    from pqassay_reference.rewrite.strip import Stripped


class _Commands(TyperGroup):
    """The commands, with help pages in one style."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        in_one_style(self)


app = typer.Typer(
    cls=_Commands,
    epilog="Example: `pqassay-ref embed part-0.parquet --column nation`. Each command has a page like this: `pqassay-ref embed --help`.",
    help="Reference reader and writer of metadata attached to Parquet files.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
)


app.add_typer(index_app, name="index")
app.add_typer(pm_app, name="pm")
app.command(epilog=cli_prune.EXAMPLE)(cli_prune.prune)
app.command(epilog=cli_scan.EXAMPLE)(cli_scan.scan)
app.command(epilog=cli_answer.EXAMPLE)(cli_answer.answer)


def main() -> None:
    """Entry point of the command."""
    with CleanEnd(), guarded_output():
        app()


def _version(wanted: bool) -> None:
    if wanted:
        from pqassay_spec import __version__

        typer.echo(f"pqassay-ref {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command(epilog="Example: `pqassay-ref embed part-0.parquet --column nation`")
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


@app.command(epilog="Example: `pqassay-ref strip part-0.parquet --idx1 --values-are-right`")
def strip(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A finished Parquet file; it is replaced atomically. Or the URI of one, such as s3://bucket/a.parquet.",
            show_default=False,
        ),
    ],
    idx1: Annotated[bool, typer.Option("--idx1", help="The keys of an IDX1 index, drafts included.")] = False,
    directory: Annotated[
        bool, typer.Option("--directory", help="The index directory, with all its indexes.")
    ] = False,
    bloom_filters: Annotated[
        bool, typer.Option("--bloom-filters", help="The references to bloom filters.")
    ] = False,
    page_index: Annotated[
        bool, typer.Option("--page-index", help="The references to column indexes and offset indexes.")
    ] = False,
    column_index: Annotated[
        bool, typer.Option("--column-index", help="Those to column indexes only, which hold bounds of pages.")
    ] = False,
    statistics: Annotated[
        bool, typer.Option("--statistics", help="The statistics of column chunks, of every kind.")
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="All of the above.")] = False,
    encoding_stats: Annotated[
        bool, typer.Option("--encoding-stats", help="The counts of pages by type and encoding.")
    ] = False,
    sorting_columns: Annotated[
        bool, typer.Option("--sorting-columns", help="What row groups say of the order of their rows.")
    ] = False,
    row_group_hints: Annotated[
        bool,
        typer.Option(
            "--row-group-hints",
            help="file_offset, total_compressed_size and ordinal of row groups, which other fields say as well.",
        ),
    ] = False,
    column_orders: Annotated[
        bool,
        typer.Option("--column-orders", help="The orders of columns, without which bounds mean nothing."),
    ] = False,
    key: Annotated[
        list[str] | None,
        typer.Option("--key", metavar="KEY", help="A key of the footer and its value; may be repeated."),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            "-c",
            metavar="COLUMN",
            help="Only of this column, its path joined by dots; may be repeated.",
        ),
    ] = None,
    row_group: Annotated[
        list[int] | None,
        typer.Option("--row-group", metavar="N", help="Only of this row group, from 0; may be repeated."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write here and leave the file as it is; of a URI, another URI.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go; write nothing.")] = False,
    values_are_right: Annotated[
        bool,
        typer.Option(
            "--values-are-right",
            help="Confirm that you compared the values with their source. Needed to remove bounds, counts, indexes or filters.",
        ),
    ] = False,
    inside_table: Annotated[
        bool, typer.Option("--inside-table", help="Do it even inside a table (Iceberg, Delta, Hudi, …).")
    ] = False,
) -> None:
    """Remove indexes, bloom filters, statistics or keys from a finished Parquet file by changing its footer only.

    Name at least one thing to remove. Pages stay where they are, and so do the bytes of what is removed.
    """
    with reported(file):
        from pqassay_reference.rewrite.strip import Selection, strip_file

        require_writable(output)
        try:
            selection = Selection(
                idx1=idx1 or everything,
                directory=directory or everything,
                bloom_filters=bloom_filters or everything,
                column_index=column_index or page_index or everything,
                offset_index=page_index or everything,
                statistics=statistics or everything,
                encoding_stats=encoding_stats,
                sorting_columns=sorting_columns,
                row_group_hints=row_group_hints,
                column_orders=column_orders,
                keys=key or (),
                columns=column or (),
                row_groups=row_group or (),
            )
        except ValueError as error:
            fail(f"{error}; see pqassay-ref strip --help", 2)
        done = strip_file(
            file,
            selection,
            output=output,
            inside_table=inside_table,
            values_are_right=values_are_right,
            dry_run=dry_run,
        )
    written = output if output is not None else file
    for line in _stripped_lines(done, shown(written) if "://" in written else written, dry_run=dry_run):
        typer.echo(printable(line))


def _stripped_lines(done: Stripped, written: str, *, dry_run: bool) -> Iterator[str]:
    parts = [
        counted(count, noun)
        for count, noun in (
            (done.column_indexes, "column index"),
            (done.offset_indexes, "offset index"),
            (done.bloom_filters, "bloom filter"),
        )
        if count
    ]
    if done.statistics:
        parts.append(f"the statistics of {counted(done.statistics, 'column chunk')}")
    if done.encoding_stats:
        parts.append(f"the page counts of {counted(done.encoding_stats, 'column chunk')}")
    if done.row_groups:
        parts.append(f"fields of {counted(done.row_groups, 'row group')}")
    if done.column_orders:
        parts.append("the column orders")
    if done.indexes:
        parts.append(f"{counted(len(done.indexes), 'index')} of the index directory")
    parts += [f"the key {key}" for key in done.keys]
    if parts:
        yield f"{written}: {'would remove' if dry_run else 'removed'} {', '.join(parts)}"
        yield f"  the footer {'would become' if dry_run else 'is'} {counted(done.saved, 'byte')} shorter"
    else:
        yield f"{written}: there is nothing to remove"
    if done.dead:
        stay = (
            "would stay in the file; nothing would refer" if dry_run else "stay in the file; nothing refers"
        )
        yield f"  {counted(done.dead, 'byte')} of what was removed {stay} to them any more"
    if done.elsewhere:
        yield f"  {counted(done.elsewhere, 'column chunk')} stored in other files left alone"


@app.command(epilog="Example: `pqassay-ref extract part-0.parquet --json`")
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


@app.command(epilog="Example: `pqassay-ref golden golden_files`")
def golden(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder golden_files.")],
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail if a file is not what would be written.")
    ] = False,
) -> None:
    """Write the golden files anew. Cases of another provenance in the folder stay as they are."""
    from pqassay_reference.errors import Refused
    from pqassay_reference.golden.generator import write_golden_files
    from pqassay_reference.golden.tables import write_golden_tables

    if not os.path.isdir(folder):
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
        fail(f"golden files are out of date; `pqassay-ref golden {folder}` writes them", 1)


@app.command(epilog="Example: `pqassay run -- pqassay-ref driver`. Exit codes: 0 answered, 3 not supported.")
def driver(
    request: Annotated[
        Path | None, typer.Argument(metavar="REQUEST", help="The request, a JSON file.", show_default=False)
    ] = None,
    answer: Annotated[
        Path | None,
        typer.Argument(metavar="ANSWER", help="Where the answers are to be written.", show_default=False),
    ] = None,
    trust: Annotated[
        cli_prune.TrustName,
        typer.Option(
            metavar="INDEX",
            help="Which index a scan may use: companion, one with a companion record, or published, any.",
        ),
    ] = cli_prune.TrustName.COMPANION,
    serve: Annotated[
        bool, typer.Option("--serve", help="Answer requests that come as lines from stdin, until they end.")
    ] = False,
) -> None:
    """Answer requests of `pqassay run`, as a driver of the reference implementation."""
    from pqassay_reference.cli.driver import NotSupportedError, answer_file
    from pqassay_reference.cli.driver import serve as answer_lines

    if serve == (request is not None) or (request is None) != (answer is None):
        fail("name a request and an answer, or --serve alone: pqassay-ref driver REQUEST ANSWER", 2)
    try:
        if request is None or answer is None:
            answer_lines(sys.stdin.buffer, sys.stdout, trust=trust.value)
        else:
            answer_file(request, answer, trust=trust.value)
    except NotSupportedError as error:
        fail(str(error), 3)
    except (OSError, ValueError, KeyError, TypeError) as error:
        fail(f"{request or 'a request'}: {error}", 1)
