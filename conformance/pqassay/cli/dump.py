"""The command ``pqassay dump``: every byte of a file, field by field; or a grammar for other programs that show files."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pqassay.cli.failure import fail, failing_on_files
from pqassay_spec.base.help_pages import epilog, example
from pqassay_spec.base.terminal import printable

if TYPE_CHECKING:
    from pqassay.stores.remote_source import RemoteSource
    from pqassay_spec.base.sources import Source


class GrammarForm(StrEnum):
    """Formats of a grammar."""

    KSY = "ksy"


@example(
    epilog(
        "`pqassay dump part-0.parquet`",
        "`pqassay dump --hexdump --field idx1 part-0.parquet`",
        "`pqassay dump --grammar ksy grammar`",
        codes="0 printed, 1 the file is damaged, 2 usage, 4 not enough memory",
    )
)
def dump(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Parquet, `_pm` or table metadata file; with --grammar, a folder.",
            show_default=False,
        ),
    ],
    hexdump: Annotated[
        bool, typer.Option("--hexdump", help="Print bytes, annotated by field; leave out long runs.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per field.")] = False,
    field: Annotated[
        str | None, typer.Option(metavar="GLOB", help="Show only fields whose path matches, and those below.")
    ] = None,
    grammar: Annotated[
        GrammarForm | None,
        typer.Option(
            metavar="FORM", help="Write the format grammars into a folder: `ksy`, for Kaitai Struct."
        ),
    ] = None,
) -> None:
    """Show every byte of a file, field by field."""
    if grammar is not None:
        if hexdump or as_json or field is not None:
            fail("--grammar writes files; it excludes --hexdump, --json and --field")
        _write_grammars(Path(file))
        return
    if hexdump and as_json:
        fail("--hexdump and --json exclude each other")
    from pqassay import dump as dumping
    from pqassay.stores.kinds import dumped_as

    with failing_on_files(f"{file}: there is not enough memory for it", 4), _opened(file) as source:
        sink: dumping.Sink
        if hexdump:
            sink = dumping.Hexdump(print, source, whole=field is None)
        else:
            sink = dumping.JsonLines(print) if as_json else dumping.Tree(print)
        chosen = None if field is None else dumping.Selected(field, sink)
        errors = dumping.dump(source, chosen or sink, dumped_as(file))
    if chosen is not None and not chosen.found and not errors:
        fail(f"no field matches {field!r}; leave out --field to show all")
    for error in errors:
        error.file = str(file)
        typer.echo(f"error: {printable(str(error))}", err=True)
    if errors:
        raise typer.Exit(1)


def _write_grammars(folder: Path) -> None:
    """Write each grammar into a folder, which is created if missing."""
    from pqassay.dump.ksy import ENDING, definitions
    from pqassay_spec.base.sources import write_whole

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for definition in definitions():
            path = folder / f"{definition.id}{ENDING}"
            write_whole(str(path), definition.text().encode())
            typer.echo(f"{path}: {definition.title}")
    except OSError as error:
        fail(f"{error.filename or folder}: {error.strerror or error}")


def _require_file(path: Path) -> None:
    # For some names, such as too long ones, os.path functions return False, but methods of Path raise.
    if os.path.isdir(path):
        fail(f"{path} is a directory; name one of the files in it")
    if not os.path.exists(path):
        fail(f"{path}: no such file")
    if not os.path.isfile(path):
        fail(f"{path} is not a regular file")


@contextlib.contextmanager
def _opened(file: str) -> Generator[Source]:
    """A context that opens a file to show, locally or in a store."""
    from pqassay.stores.targets import is_uri
    from pqassay_spec.base.sources import FileSource

    stored = _stored(file) if is_uri(file) else file
    if not isinstance(stored, str):
        with contextlib.closing(stored):
            yield stored
        return
    _require_file(Path(stored))
    with FileSource(stored, file) as source:
        yield source


def _stored(uri: str) -> RemoteSource | str:
    """The opened file of a store; for ``file://``, the local path."""
    from pqassay.errors import UsageError
    from pqassay.stores import remote
    from pqassay.stores.remote_source import describe

    try:
        place = remote.find(remote.parse(uri))
        if isinstance(place, str):
            return place
        if place.is_folder:
            fail(f"{place.name} is a directory; name one of the files in it")
        return remote.open_source(place.store, place.path, place.name)
    except (remote.MissingError, UsageError) as error:
        fail(f"{printable(uri)}: {error}")
    except OSError as error:
        fail(f"{printable(uri)}: {describe(error)}")
