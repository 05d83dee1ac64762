"""The commands ``pqassay pm …``: make and inspect QuestDB's metadata file beside ``data.parquet``."""

from __future__ import annotations

import contextlib
import json
import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pqassay_reference.cli.errors import fail, reported, require_writable
from pqassay_reference.cli.tables import counted
from pqassay_spec.base.help_pages import epilog
from pqassay_spec.base.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pqassay_reference.pm.generate import Generated
    from pqassay_reference.pm.read import PmReader
    from pqassay_spec.pm.from_parquet.snapshot import BloomMode, LeftOut
    from pqassay_spec.pm.value import SnapshotColumn, SnapshotValue

pm_app = typer.Typer(
    help="Make and read `_pm`, QuestDB's metadata of a Parquet file.",
    epilog=epilog(
        "`pqassay pm generate data.parquet`",
        "`pqassay pm generate --help` (each command has a page like this)",
    ),
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


class PathName(StrEnum):
    """QuestDB's ways to fill the column descriptors."""

    SCHEMA = "schema"
    ENCODE = "encode"


MOST_WARNINGS = 10
"""Most omitted facts that are listed one by one."""

PM_CODES = "0 done, 1 refused or damaged, 2 usage"

PmFile = Annotated[Path, typer.Argument(metavar="FILE", help="QuestDB's `_pm` file.")]
ParquetSize = Annotated[
    int | None,
    typer.Option(
        "--parquet-size",
        metavar="BYTES",
        min=1,
        help="Snapshot for a Parquet file of BYTES. Default: the newest.",
    ),
]
Txn = Annotated[
    Path | None,
    typer.Option(
        "--txn", metavar="FILE", help="Snapshot that the table's `_txn` pins, as QuestDB's readers use it."
    ),
]
History = Annotated[
    bool, typer.Option("--history", help="Add a snapshot for each footer that QuestDB's updates left.")
]


@pm_app.command(epilog=epilog("`pqassay pm generate 2024-01-01/data.parquet`", codes=PM_CODES))
def generate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Finished Parquet file; it is not changed.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write to FILE. Default: `_pm` beside the Parquet file."
        ),
    ] = None,
    questdb_json: Annotated[
        Path | None,
        typer.Option("--questdb-json", metavar="FILE", help="Use the text of FILE as the `questdb` key."),
    ] = None,
    path: Annotated[
        PathName,
        typer.Option(
            metavar="PATH",
            help="Describe columns as QuestDB rewrites files (schema) or encodes partitions (encode).",
        ),
    ] = PathName.SCHEMA,
    no_blooms: Annotated[bool, typer.Option("--no-blooms", help="Leave out bloom filters.")] = False,
    external_blooms: Annotated[
        bool,
        typer.Option("--external-blooms", help="Refer to bloom filters in the Parquet file; copy none."),
    ] = False,
    history: History = False,
) -> None:
    """Make `_pm` for a Parquet file from any writer.

    Copies statistics and bloom filters byte for byte. Takes types from the file's `questdb` key, else from its
    schema. Leaves out what `_pm` cannot represent, and reports it on stderr.
    """
    if no_blooms and external_blooms:
        fail("--no-blooms and --external-blooms exclude each other", 2)
    with reported(file):
        from pqassay_reference.pm.generate import generate_file

        require_writable(output)
        text = None if questdb_json is None else _text_of(questdb_json)
        blooms: BloomMode = "none" if no_blooms else "external" if external_blooms else "inlined"
        target, done = generate_file(
            file, output, questdb_json=text, path=path.value, blooms=blooms, history=history
        )
    warn_left_out(done.left_out)
    for doubt in done.doubts[:MOST_WARNINGS]:
        typer.echo(printable(f"warning: {doubt}"), err=True)
    warn_lost(done.lost, "; --history keeps what QuestDB's updates left" if done.is_questdb else "")
    typer.echo(printable(f"{target}: {_described(done)}"))


def _text_of(path: Path) -> str:
    """The text of a ``questdb`` key; errors name the file of the text."""
    from pqassay_spec.base.errors import FormatError
    from pqassay_spec.pm.from_parquet import questdb_key

    if not os.path.isfile(path):
        fail(f"{path}: no such file", 2)
    try:
        text = path.read_text(encoding="utf-8")
        questdb_key.parse(text)
    except UnicodeDecodeError:
        fail(f"{path}: no UTF-8", 1)
    except FormatError as error:
        raise error.within(file=str(path)) from None
    return text


def _described(done: Generated) -> str:
    value = done.value
    parts = [
        counted(len(done.raw), "byte")
        + f" about {counted(len(value.row_groups), 'row group')} of {counted(len(value.columns), 'column')}"
    ]
    if done.snapshots > 1:
        parts.append(counted(done.snapshots, "snapshot"))
    if value.bloom_columns:
        parts.append(f"bloom filters of {counted(len(value.bloom_columns), 'column')}")
    parts.append("types of QuestDB" if done.is_questdb else "types inferred")
    return ", ".join(parts)


def warn_left_out(left_out: Sequence[LeftOut]) -> None:
    """Warn of omitted facts, once for all row groups with the same reason."""
    places: dict[tuple[str, str, str], list[int]] = {}
    for left in left_out:
        places.setdefault((left.what, left.name, left.why), []).append(left.row_group)
    for (what, name, why), groups in list(places.items())[:MOST_WARNINGS]:
        where = f"row group {groups[0]}" if len(groups) == 1 else counted(len(groups), "row group")
        typer.echo(printable(f"warning: left out {what} of column {name} in {where}: {why}"), err=True)
    if len(places) > MOST_WARNINGS:
        typer.echo(f"warning: left out {len(places) - MOST_WARNINGS} more, likewise", err=True)


def warn_lost(sizes: Sequence[int], hint: str = "", *, dry_run: bool = False) -> None:
    """Warn of snapshots that the new file lacks; ``sizes`` are the sizes of the Parquet file at each."""
    if sizes:
        goes, missing = ("would be", "would find nothing") if dry_run else ("was", "find nothing now")
        typer.echo(
            f"warning: the file that {goes} replaced had {counted(len(sizes), 'more snapshot')}: readers of the Parquet "
            f"file as it was at {counted(sizes[0], 'byte')} {missing}{hint}",
            err=True,
        )


@pm_app.command(
    epilog=epilog("`pqassay pm show 2024-01-01/_pm --column price --row-group 0`", codes=PM_CODES)
)
def show(
    file: PmFile,
    column: Annotated[
        list[str] | None,
        typer.Option("--column", "-c", metavar="COLUMN", help="Show only this column; repeatable."),
    ] = None,
    row_group: Annotated[
        list[int] | None,
        typer.Option("--row-group", metavar="N", help="Show only this row group, from 0; repeatable."),
    ] = None,
    parquet_size: ParquetSize = None,
    txn: Txn = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole snapshot as JSON.")] = False,
) -> None:
    """Print a snapshot: the file, its columns, and column chunks with decoded statistics."""
    parquet_size = pinned(file, txn, parquet_size)
    with reported(file):
        from pqassay_reference.cli import pm_tables, tables

        require_pm(file)
        with opened(file, parquet_size) as reader:
            value = reader.value()
            if as_json:
                from pqassay_spec.pm.value_json import to_json

                typer.echo(json.dumps(to_json(value), indent=2))
                return
            columns = _positions(value, column or [])
            row_groups = list(range(len(value.row_groups))) if row_group is None else row_group
            chunks = list(pm_tables.chunk_tables(value, row_groups, columns))
            for line in pm_tables.snapshot_lines(reader, os.path.getsize(file)):
                typer.echo(printable(line))
        tables_shown = [pm_tables.column_table(value)]
        many = len(columns) * len(row_groups)
        unasked = column is None and row_group is None and many > pm_tables.MOST_CHUNKS
        for table in tables_shown + ([] if unasked else chunks):
            typer.echo()
            tables.show(table)
    if unasked:
        typer.echo(f"\n{many} column chunks: name some with --column or --row-group")


def pinned(file: Path, txn: Path | None, parquet_size: int | None) -> int | None:
    """Bytes of the Parquet file that a table's ``_txn`` pins for the partition of a ``_pm``, or the given size."""
    if txn is None:
        return parquet_size
    if parquet_size is not None:
        fail("--txn and --parquet-size exclude each other", 2)
    with reported(txn):
        from pqassay_reference.pm.txn import partition_of, read_file

        found = read_file(txn)
        partition = partition_of(found, file.absolute().parent)
    typer.echo(
        f"transaction {found.version} pins {counted(partition.parquet_file_size, 'byte')} of the Parquet file",
        err=True,
    )
    return partition.parquet_file_size


def _positions(value: SnapshotValue, names: list[str]) -> list[int]:
    """Positions of the columns with these names, or of all without names; parts of a nested field share one name."""
    from pqassay_reference.errors import Refused

    found = [index for index, column in enumerate(value.columns) if not names or column.name in names]
    for name in names:
        if not any(value.columns[index].name == name for index in found):
            raise Refused(f"there is no column {name}")
    return found


@pm_app.command(
    epilog=epilog(
        "`pqassay pm snapshots 2024-01-01/_pm`",
        codes="0 intact, 1 a wrong checksum or a broken chain, 2 usage",
    )
)
def snapshots(
    file: PmFile,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False,
) -> None:
    """Print the chain of snapshots, and whether each checksum is right."""
    with reported(file):
        from pqassay_reference.cli import pm_tables, tables
        from pqassay_spec.pm import grammar as pm

        require_pm(file)
        with opened(file, None) as reader:
            links, broken = pm_tables.chain(reader)
        data = file.parent / pm.DATA_NAME
        size = os.path.getsize(data) if os.path.isfile(data) else None
        if as_json:
            typer.echo(json.dumps([link._asdict() for link in links], indent=2))
        else:
            tables.show(pm_tables.chain_table(links, size))
            if size is not None and all(link.parquet_file_size != size for link in links):
                typer.echo(f"no snapshot describes the data.parquet beside it, which has {size} bytes")
        if broken is not None:
            raise broken.within(file=str(file))
        if not all(link.is_intact for link in links):
            fail(f"{file}: a checksum is wrong: the file is damaged", 1)


@pm_app.command(
    epilog=epilog(
        "`pqassay pm find 2024-01-01/_pm --timestamp '2024-01-01 09:00..2024-01-01 09:30'`", codes=PM_CODES
    )
)
def find(
    file: PmFile,
    timestamp: Annotated[
        str,
        typer.Option(
            metavar="FROM..TO",
            help="Dates, UTC times or numbers, both ends included; either is optional.",
        ),
    ],
    parquet_size: ParquetSize = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print the row groups that may hold rows of a time range.

    Uses the bounds of the designated timestamp; numbers are in its unit. If rows are sorted by it, a binary
    search reads the blocks of a few row groups only.
    """
    with reported(file):
        from pqassay_reference.cli import pm_tables, tables
        from pqassay_reference.pm import query

        require_pm(file)
        with opened(file, parquet_size) as reader:
            column = query.designated_timestamp(reader)
            first, last = _times(timestamp, column)
            search = query.search_times(reader, first, last)
            rows = pm_tables.times_found(reader, search.row_groups)
            count, searched = reader.row_group_count, search.blocks_read
        if as_json:
            record = {"row_groups": search.row_groups, "blocks_read": searched, "of": count}
            typer.echo(json.dumps(record, indent=2))
            return
        if rows:
            tables.show(pm_tables.times_table(column.name, rows))
        typer.echo(
            f"{len(search.row_groups)} of {counted(count, 'row group')}; {counted(searched, 'block')} read to find them"
        )


def _times(text: str, column: SnapshotColumn) -> tuple[int, int]:
    """The first and the last time of a range, in the unit of a column."""
    from pqassay_reference.pm.column_values import stored_value

    first, dots, last = text.partition("..")
    if not dots:
        fail(f"--timestamp {text}: a range is written FROM..TO, as in 2024-01-01..2024-01-02", 2)

    def count(word: str, otherwise: int) -> int:
        word = word.strip()
        number = int(word) if word.lstrip("-").isdecimal() else word
        return int(stored_value(number, column)) if word else otherwise

    return count(first, -(1 << 63)), count(last, (1 << 63) - 1)


def opened(file: Path, parquet_size: int | None) -> contextlib.AbstractContextManager[PmReader]:
    """Open a `_pm` file as a memory map, at the snapshot for a Parquet file of a given size, or the newest."""
    from pqassay_reference.pm.read import PmReader

    return PmReader.map(file, parquet_file_size=parquet_size)


def require_pm(file: Path) -> None:
    """Exit with a message if the file is a Parquet file instead of a ``_pm``."""
    from pqassay_spec.base.sources import FileSource
    from pqassay_spec.parquet.file import MAGIC, MAGIC_SIZE
    from pqassay_spec.pm import grammar as pm

    with FileSource(file) as source:
        if source.size >= MAGIC_SIZE and source.read(0, MAGIC_SIZE) == MAGIC:
            beside = file.parent / pm.FILE_NAME
            hint = "name that" if os.path.exists(beside) else f"`pqassay pm generate {file}` makes it"
            fail(f"{file}: a Parquet file; what is meant is the {pm.FILE_NAME} beside it: {hint}", 2)
