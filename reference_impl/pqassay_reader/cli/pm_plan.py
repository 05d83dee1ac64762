"""The command ``pqassay pm plan``: the byte ranges for a query, using only ``_pm``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from pqassay_reader.cli.pm_read import Gap, named_columns, pm_app
from pqassay_reader.query.fetching.ranges import GAP, joined
from pqassay_reference.cli.errors import reported
from pqassay_reference.cli.pm import PM_CODES, ParquetSize, PmFile, opened, require_pm
from pqassay_reference.cli.tables import counted
from pqassay_spec.base.help_pages import epilog

if TYPE_CHECKING:
    from pqassay_reference.pm.read import PmReader


@pm_app.command(
    epilog=epilog('`pqassay pm plan 2024-01-01/_pm --columns ts,price --where "price > 100"`', codes=PM_CODES)
)
def plan(
    file: PmFile,
    columns: Annotated[
        list[str],
        typer.Option(
            "--columns",
            "-c",
            metavar="COLUMN[,COLUMN...]",
            help="Columns to fetch, separated by commas; repeatable.",
        ),
    ],
    where: Annotated[
        str | None,
        typer.Option(
            "--where",
            metavar="CONDITION",
            help="SQL condition; skip row groups that statistics or bloom filters rule out.",
        ),
    ] = None,
    parquet_size: ParquetSize = None,
    gap: Gap = GAP,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print the byte ranges to fetch for some columns, using only `_pm`.

    Leaves out column chunks that hold only nulls. `pqassay pm read` makes the same requests.
    """
    with reported(file):
        from pqassay_reader.query.facts.pm_schema import pieces_of
        from pqassay_reference.cli import tables
        from pqassay_reference.pm.query import planned

        require_pm(file)
        with opened(file, parquet_size) as reader:
            kept = _kept(reader, where)
            chunks, skipped = planned(reader, named_columns(columns, reader), kept, leave_out_nulls=True)
            size, count = reader.parquet_file_size, reader.row_group_count
        requests = joined(pieces_of(chunks, range(count)), gap)
        total = sum(chunk.length for chunk in chunks)
        if as_json:
            record = {
                "parquet_file_size": size,
                "row_groups": kept,
                "ranges": [chunk._asdict() for chunk in chunks],
                "bytes": total,
                "requests": [
                    {"offset": request.start, "length": request.stop - request.start} for request in requests
                ],
            }
            typer.echo(json.dumps(record, indent=2))
            return
        if chunks:
            heading = ("row group", "column", "offset", "bytes")
            tables.show(tables.PrintedTable("", heading, chunks, right=frozenset((0, 2, 3))))
        share = f"{100 * total / size:.1f} %" if size else "0 %"
        typer.echo(
            f"{len(kept)} of {counted(count, 'row group')}, {counted(len(chunks), 'range')}, "
            f"{counted(total, 'byte')} of {size} ({share})"
            + (f"; {counted(skipped, 'chunk')} of nothing but nulls left out" if skipped else "")
        )
        if requests:
            length = sum(request.stop - request.start for request in requests)
            typer.echo(f"{counted(len(requests), 'request')}, {counted(length, 'byte')}:")
        for request in requests:
            typer.echo(f"  bytes={request.start}-{request.stop - 1}")


def _kept(reader: PmReader, where: str | None) -> list[int]:
    from pqassay_reader.condition.text import parse_predicate
    from pqassay_reader.query.facts.pm_facts import row_groups_left

    if where is None:
        return list(range(reader.row_group_count))
    return row_groups_left(reader, parse_predicate(where))


__all__ = ["pm_app"]
