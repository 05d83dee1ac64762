"""The command ``pqassay strip``: remove some of the metadata of a finished file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from pqassay_reference.cli.errors import fail, reported, require_writable, shown
from pqassay_reference.cli.index import DryRun, InsideTable
from pqassay_reference.cli.tables import counted
from pqassay_spec.base.help_pages import epilog, example
from pqassay_spec.base.terminal import printable

if TYPE_CHECKING:
    from pqassay_reference.rewrite.strip import Stripped


@example(
    epilog(
        "`pqassay strip part-0.parquet --bloom-filters --dry-run`",
        "`pqassay strip part-0.parquet --idx1 --values-are-right`",
        codes="0 done, 1 refused, 2 usage",
    )
)
def strip(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="Parquet file, replaced atomically, or URI such as s3://bucket/a.parquet."
        ),
    ],
    idx1: Annotated[bool, typer.Option("--idx1", help="Remove IDX1 keys, drafts included.")] = False,
    directory: Annotated[
        bool, typer.Option("--directory", help="Remove the index directory with all its indexes.")
    ] = False,
    bloom_filters: Annotated[
        bool, typer.Option("--bloom-filters", help="Remove the references to bloom filters.")
    ] = False,
    page_index: Annotated[
        bool, typer.Option("--page-index", help="Remove the references to column and offset indexes.")
    ] = False,
    column_index: Annotated[
        bool, typer.Option("--column-index", help="Remove the references to column indexes only.")
    ] = False,
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Remove all statistics of column chunks.")
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="Remove all of the above.")] = False,
    encoding_stats: Annotated[
        bool, typer.Option("--encoding-stats", help="Remove the page counts by type and encoding.")
    ] = False,
    sorting_columns: Annotated[
        bool, typer.Option("--sorting-columns", help="Remove the sort order that row groups declare.")
    ] = False,
    row_group_hints: Annotated[
        bool,
        typer.Option(
            "--row-group-hints", help="Remove file_offset, total_compressed_size and ordinal of row groups."
        ),
    ] = False,
    column_orders: Annotated[
        bool, typer.Option("--column-orders", help="Remove column orders, on which bounds depend.")
    ] = False,
    key: Annotated[
        list[str] | None,
        typer.Option("--key", metavar="KEY", help="Remove this footer key and its value; repeatable."),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column", "-c", metavar="COLUMN", help="Limit to this column, as a dotted path; repeatable."
        ),
    ] = None,
    row_group: Annotated[
        list[int] | None,
        typer.Option("--row-group", metavar="N", help="Limit to this row group, from 0; repeatable."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write to another file (or URI) instead of replacing the input.",
        ),
    ] = None,
    dry_run: DryRun = False,
    values_are_right: Annotated[
        bool,
        typer.Option("--values-are-right", help="Confirm that you compared the values with their source."),
    ] = False,
    report: Annotated[
        str | None,
        typer.Option(
            "--report",
            metavar="FILE",
            help="JSON report of pqassay check that blames the metadata, not the values.",
        ),
    ] = None,
    inside_table: InsideTable = False,
) -> None:
    """Remove indexes, bloom filters, statistics or keys from a file.

    Name at least one thing to remove. Only the footer is rewritten: pages and removed structures keep their
    bytes and places. Before you remove bounds, counts, indexes or bloom filters, compare the values with
    their source and add --values-are-right. Or give a --report in which the values are likelier to be right.
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
            fail(f"{error}; see pqassay strip --help", 2)
        done = strip_file(
            file,
            selection,
            output=output,
            inside_table=inside_table,
            values_are_right=values_are_right,
            report=report,
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
