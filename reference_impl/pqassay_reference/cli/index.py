"""The commands ``pqassay index``: add, list, drop, refresh and extract indexes.

An index has an entry in the index directory, except IDX1, which has its own key unless a placement is chosen.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pqassay_reference.cli import idx1
from pqassay_reference.cli.errors import fail, message_of, reported
from pqassay_reference.cli.tables import PrintedTable, counted, show
from pqassay_spec.base.help_pages import epilog
from pqassay_spec.base.mistakes import SOFTWARE, mistake, show_traceback
from pqassay_spec.base.terminal import printable

if TYPE_CHECKING:
    from pqassay_reference.directory.embedding import Changed
    from pqassay_reference.directory.making.entry import Request
    from pqassay_reference.directory.reading.inventory import Inventory
    from pqassay_spec.directory.entries import Entry
    from pqassay_spec.parquet.thrift import FileMetaData


class TypeName(StrEnum):
    """The types of indexes."""

    DISTINCT_SET = "distinct-set"
    ZONE_SUMS = "zone-sums"
    HLL = "hll"
    KLL = "kll"
    IDX1 = "idx1"


class GranularityName(StrEnum):
    """The granularities of indexes."""

    FILE = "file"
    ROW_GROUP = "row-group"
    PAGE = "page"


class PlacementName(StrEnum):
    """The places of a blob."""

    BODY = "body"
    INLINE = "inline"
    EXTENSION = "extension"


class CodecName(StrEnum):
    """The compression codecs of a blob."""

    NONE = "none"
    SNAPPY = "snappy"
    GZIP = "gzip"
    ZSTD = "zstd"
    LZ4_RAW = "lz4-raw"


index_app = typer.Typer(
    help="Add, list, drop, refresh and extract indexes in Parquet files.",
    epilog=epilog("`pqassay index add sales/*.parquet --type distinct-set --columns nation,carrier`"),
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

CODES = "0 done, 1 a file failed, 2 usage"

Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help="Parquet files or folders; each file is replaced atomically."),
]


def _type_called(text: str) -> str:
    """A type of the chapter, or a user-defined name, from the value of `--type`."""
    from pqassay_spec.directory.named_types import is_type_name

    if text not in tuple(TypeName) and not is_type_name(text):
        raise typer.BadParameter(
            f"{text!r} is not {', '.join(TypeName)} or a name such as org.example.bitmap"
        )
    return text


DryRun = Annotated[bool, typer.Option("--dry-run", help="Print what would be done; write nothing.")]
InsideTable = Annotated[
    bool, typer.Option("--inside-table", help="Change files inside a table too (Iceberg, Delta, Hudi, …).")
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        "--column",
        "-c",
        metavar="COLUMNS",
        help="Drop indexes of these columns, separated by commas.",
    ),
]


@index_app.command(
    epilog=epilog(
        "`pqassay index add part-0.parquet --type zone-sums --columns nation,sales_amount`",
        "`pqassay embed part-0.parquet --column nation` (short for `pqassay index add --type idx1`)",
        codes=CODES,
    )
)
def add(
    files: Files,
    kind: Annotated[
        str,
        typer.Option(
            "--type",
            metavar="TYPE",
            parser=_type_called,
            help="Type: distinct-set, zone-sums, hll, kll, idx1 or your own name.",
        ),
    ],
    columns: Annotated[
        str,
        typer.Option(
            "--columns",
            "--column",
            "-c",
            metavar="COLUMNS",
            help="Columns, separated by commas; zone-sums sums the last.",
        ),
    ],
    granularity: Annotated[
        GranularityName | None,
        typer.Option(
            metavar="GRANULARITY",
            help="Granularity: file, row-group or page. Default: row-group; idx1, your own types: file.",
        ),
    ] = None,
    placement: Annotated[
        PlacementName | None,
        typer.Option(
            metavar="PLACE",
            help="Place: body, inline (in the key) or extension. Default: body; idx1: its own key.",
        ),
    ] = None,
    codec: Annotated[
        CodecName, typer.Option(metavar="CODEC", help="Compression: none, snappy, gzip, zstd or lz4-raw.")
    ] = CodecName.NONE,
    most: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Most values in a distinct set; a larger one skips nothing."),
    ] = None,
    companion: Annotated[
        bool, typer.Option(help="Write the key that names the column (idx1). Default: yes.")
    ] = True,
    max_bytes: Annotated[
        int, typer.Option(metavar="BYTES", help="Size limit of an index. Default: 16 MiB.", min=1)
    ] = idx1.MAX_BYTES,
    blob: Annotated[
        Path | None,
        typer.Option(metavar="BLOB", help="File whose bytes are the index, for a type of your own."),
    ] = None,
    inside_table: InsideTable = False,
) -> None:
    """Add indexes to finished Parquet files, beside those they have.

    Types other than idx1 are added to the index directory, which is a proposal of this project.
    A type of your own has a name such as org.example.bitmap: the index is the file that --blob names.
    Replaces an index with the same type, granularity and columns. If a file cannot be indexed, the reason is
    printed and the other files are still done.
    """
    from pqassay_reference.directory.embedding import add_indexes
    from pqassay_reference.directory.making.entry import Request
    from pqassay_spec.directory.codes import Granularity, IndexType, Placement
    from pqassay_spec.directory.named_types import type_number
    from pqassay_spec.parquet.thrift import CompressionCodec

    is_numbered = kind in tuple(TypeName)
    by_row_group = is_numbered and kind != TypeName.IDX1
    chosen = granularity or (GranularityName.ROW_GROUP if by_row_group else GranularityName.FILE)
    codec_name = "UNCOMPRESSED" if codec is CodecName.NONE else codec.name
    places = (
        Granularity[chosen.name],
        Placement[(placement or PlacementName.BODY).name],
        CompressionCodec[codec_name],
    )
    has_own_key = kind == TypeName.IDX1 and placement is None

    def requests(metadata: FileMetaData) -> Sequence[Request]:
        together = not is_numbered or kind == TypeName.ZONE_SUMS
        number = IndexType[TypeName(kind).name] if is_numbered else type_number(kind)
        own = "" if is_numbered else kind
        return [
            Request(number, paths, *places, most, None, max_bytes, type_name=own, payload=payload)
            for paths in _columns_of(metadata, columns, together=together)
        ]

    def one_file(path: str) -> None:
        if has_own_key:
            idx1.embed(path, columns, companion=companion, inside_table=inside_table, max_bytes=max_bytes)
            return
        done = add_indexes(path, requests, inside_table=inside_table)
        for entry in done.made:
            word = "replaced" if entry.key in done.replaced else "added"
            typer.echo(printable(f"{path}: {word} {_described(entry)}"))
        _say_rest(done)

    if has_own_key and (chosen is not GranularityName.FILE or codec is not CodecName.NONE):
        fail("an IDX1 index describes a whole file, uncompressed; leave out --granularity and --codec", 2)
    if is_numbered == (blob is not None):
        fail(f"type {kind} {'is made of the data; leave out' if blob else 'needs its bytes: add'} --blob", 2)
    if blob is not None and (len(files) > 1 or files[0].is_dir()):
        fail("the bytes of --blob describe one file; name one", 2)
    payload = None
    if blob is not None:
        with reported(blob), blob.open("rb") as opened:
            payload = opened.read(max_bytes + 1)  # one more is refused
    _each(files, one_file, inside_table=inside_table)


def _columns_of(metadata: FileMetaData, text: str, *, together: bool) -> list[tuple[tuple[str, ...], ...]]:
    """The columns of each index. A column whose name contains a comma must be given alone."""
    from pqassay_reference.directory.making.described_data import paths_called
    from pqassay_spec.parquet.schema.leaf_columns import leaves

    whole = any(leaf.is_called(text) for leaf in leaves(metadata))
    paths = paths_called(metadata, [text] if whole else [name.strip() for name in text.split(",")])
    return [tuple(paths)] if together else [(path,) for path in paths]


@index_app.command("list", epilog=epilog("`pqassay index list part-0.parquet`", codes=CODES))
def list_(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Parquet files or folders.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per file.")] = False,
) -> None:
    """List the indexes of Parquet files, and whether they are fresh.

    An index is stale if the data was rewritten since; readers skip it. Only footers and indexes are read.
    """
    from pqassay_reference.directory.reading.inventory import list_indexes

    def one_file(path: str) -> None:
        listed = list_indexes(path)
        published = idx1.published_index(path)
        record = _record(listed, published)
        if as_json:
            typer.echo(json.dumps(record))
            return
        if rows := [_row(index) for index in record["indexes"]]:
            show(PrintedTable(path, HEADINGS, rows, right=frozenset((4, 5))))
        else:
            typer.echo(printable(f"{path}: no indexes"))
        warnings = [f"a directory cannot be read: {error.reason} ({error.rule})" for error in listed.damaged]
        if listed.foreign:
            warnings.append(f"{counted(listed.foreign, 'index directory')} of another version left aside")
        for warning in warnings:
            typer.echo(printable(f"warning: {path}: {warning}"), err=True)

    _each(files, one_file, inside_table=True)


HEADINGS = ("type", "columns", "granularity", "placement", "bytes", "values", "state")


PAYLOAD_NOT_KNOWN = "payload not known to pqassay"
"""The text in place of the number of values for a named type, whose payload only its owner can read."""


def _row(index: dict[str, Any]) -> tuple[object, ...]:
    names = ", ".join(".".join(path) for path in index["columns"])
    state = f"{'unusable' if index['fresh'] else 'stale'}: {index['why']}" if index["why"] else "fresh"
    values = PAYLOAD_NOT_KNOWN if index["values"] is None else index["values"]
    cells = {**index, "columns": names or "?", "values": values, "state": state}
    return tuple(cells[heading] for heading in HEADINGS)


def _column(published: dict[str, Any]) -> str:
    return ".".join(name for path in published["columns"] for name in path)


def _record(inventory: Inventory, published: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "path": inventory.path,
        "indexes": [
            {
                "type": _type_name(listed.entry),
                "columns": [list(column) for column in listed.entry.columns],
                "granularity": _name_of("Granularity", listed.entry.head.granularity),
                "placement": _name_of("Placement", listed.entry.head.placement),
                "codec": _name_of("CODECS", listed.entry.head.codec),
                "bytes": listed.entry.head.stored_length,
                "values": None if listed.entry.type_name else listed.entry.head.value_count,
                "rows": listed.entry.head.row_count,
                "writer": listed.entry.writer,
                "fresh": not listed.stale,
                "why": listed.stale or listed.unusable or None,
            }
            for listed in inventory.entries
        ]
        + ([published] if published else []),
        "other_versions": inventory.foreign,
        "damaged": [error.reason for error in inventory.damaged],
    }


@index_app.command(
    epilog=epilog(
        "`pqassay index drop part-0.parquet --stale`",
        "`pqassay index drop part-0.parquet --type hll --columns nation`",
        codes=CODES,
    )
)
def drop(
    files: Files,
    kind: Annotated[
        str | None,
        typer.Option("--type", metavar="TYPE", parser=_type_called, help="Drop indexes of this type."),
    ] = None,
    columns: Columns = None,
    stale: Annotated[bool, typer.Option("--stale", help="Drop indexes whose data was rewritten.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Drop all indexes.")] = False,
    inside_table: InsideTable = False,
) -> None:
    """Remove indexes from Parquet files; keep rows and other indexes.

    Give at least one option; an index is removed if it matches all of them.
    """
    from pqassay_reference.directory.embedding import drop_indexes
    from pqassay_reference.rewrite.strip import Selection, strip_file
    from pqassay_spec.directory.identity import why_stale

    if every == (kind is not None or columns is not None or stale):
        fail("name what to drop: --type, --columns, --stale, or --all alone", 2)
    names = None if columns is None else [name.strip() for name in columns.split(",")]

    def goes(entry: Entry, metadata: FileMetaData) -> bool:
        return (
            (kind is None or _type_name(entry) == kind)
            and (names is None or names == [".".join(path) for path in entry.columns])
            and (not stale or bool(why_stale(entry, metadata)))
        )

    def one_file(path: str) -> None:
        done = drop_indexes(path, goes, inside_table=inside_table)
        for entry in done.removed:
            typer.echo(printable(f"{path}: removed {_described(entry)}"))
        published = idx1.published_index(path) if kind in (None, TypeName.IDX1) else None
        if published and names in (None, [_column(published)]) and not (stale and published["fresh"]):
            strip_file(path, Selection(idx1=True), inside_table=inside_table, values_are_right=True)
            typer.echo(printable(f"{path}: removed idx1 of {_column(published) or '?'} by file (key)"))
        elif not done.removed:
            typer.echo(printable(f"{path}: there is nothing to remove"))
        _say_rest(done)

    _each(files, one_file, inside_table=inside_table)


@index_app.command(epilog=epilog("`pqassay index refresh part-0.parquet`", codes=CODES))
def refresh(files: Files, inside_table: InsideTable = False) -> None:
    """Rebuild stale indexes from the data; keep fresh ones.

    An index that cannot be rebuilt stays stale; the reason is printed, and the exit code is 1.
    """
    from pqassay_reference.directory.embedding import refresh_indexes

    unable = False

    def one_file(path: str) -> None:
        nonlocal unable
        done = refresh_indexes(path, inside_table=inside_table)
        for entry in done.made:
            typer.echo(printable(f"{path}: refreshed {_described(entry)}"))
        for entry, reason in done.unable:
            unable = True
            typer.echo(printable(f"{path}: {_described(entry)} stays stale: {reason}"), err=True)
        published = idx1.published_index(path)
        if published and not published["fresh"]:
            idx1.embed(path, _column(published), inside_table=inside_table)
        elif not done.made and not done.unable:
            is_any = done.left or published
            typer.echo(printable(f"{path}: all indexes are fresh" if is_any else f"{path}: no indexes"))
        _say_rest(done)

    _each(files, one_file, inside_table=inside_table)
    if unable:
        raise typer.Exit(1)


index_app.command(epilog=idx1.EXTRACT_EXAMPLE)(idx1.extract)


# ---------------------------------------------------------------------------------------------------------- output


def _described(entry: Entry) -> str:
    """An entry as text for people: ``distinct-set of nation by row-group, 84 values in 630 bytes (body)``."""
    head = entry.head
    values = counted(head.value_count, "group" if _type_name(entry) == TypeName.ZONE_SUMS else "value")
    place = _name_of("Placement", head.placement)
    return (
        f"{_type_name(entry)} of {entry.names} by {_name_of('Granularity', head.granularity)}: "
        f"{'' if entry.type_name else f'{values} in '}{counted(head.stored_length, 'byte')} ({place})"
    )


def _type_name(entry: Entry) -> str:
    return entry.type_name or _name_of("IndexType", entry.head.type)


def _name_of(enum: str, number: int) -> str:
    """The name of a number of the directory; the number itself if it has none."""
    from pqassay_spec.directory import codes

    found = next((member.name for member in getattr(codes, enum) if member == number), str(number))
    return "none" if found == "UNCOMPRESSED" else found.lower().replace("_", "-")


def _say_rest(done: Changed) -> None:
    if done.dead:
        rest = "of earlier indexes stay in the file; nothing refers to them any more"
        typer.echo(f"  {counted(done.dead, 'byte')} {rest}")
    for error in done.damaged if done.state is not None else ():
        typer.echo(
            printable(f"  a directory that cannot be read was left out: {error.reason} ({error.rule})")
        )


# ------------------------------------------------------------------------------------------------------ many files


def _each(named: Sequence[Path], of_file: Callable[[str], None], *, inside_table: bool) -> None:
    """Run a function on each file; an error of one file, expected or not, is printed in one line, and the others continue."""
    code = 0
    for path in list(_files(named, inside_table=inside_table)):
        try:
            with reported(path):
                of_file(path)
        except typer.Exit as error:
            code = max(code, error.exit_code)
        except Exception as error:  # noqa: BLE001 - one file must not keep the others from what is done to them
            show_traceback(error)
            typer.echo(f"error: {printable(path)}: {printable(mistake('pqassay', error))}", err=True)
            code = SOFTWARE
    if code:
        raise typer.Exit(code)


def _files(named: Sequence[Path], *, inside_table: bool) -> Iterator[str]:
    """The named files, and the files in named folders."""
    for path in named:
        name = os.fspath(path)
        if os.path.isdir(path):
            yield from _in_folder(name, inside_table=inside_table)
        elif os.path.isfile(path):
            yield name
        else:
            fail(f"{name}: {'no regular file' if os.path.exists(path) else 'no such file or folder'}", 2)


def _in_folder(folder: str, *, inside_table: bool) -> Sequence[str]:
    from pqassay_reference.errors import Refused
    from pqassay_reference.files.listing import list_files

    try:
        paths = list_files(folder, None, None, inside_table=inside_table).paths
    except Refused as error:
        fail(f"{error}. --inside-table overrides this", 1)
    except (OSError, ValueError) as error:
        fail(message_of(error, folder), 1)
    if not paths:
        fail(f"{folder}: there are no Parquet files in it", 2)
    return [os.path.relpath(path) if not os.path.isabs(folder) else path for path in paths]
