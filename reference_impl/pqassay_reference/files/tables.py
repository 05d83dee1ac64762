"""Detect folders that are tables, are inside a table or contain one: their files must not be read directly.

The files of a Delta or Iceberg table also have deleted and rewritten rows, and rows that were never committed. Only the
metadata of the table list its rows, and this package does not read them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import pyarrow.fs as pafs

from pqassay_reference.errors import Refused
from pqassay_spec.table.layout import DELTA_LOG, ICEBERG_METADATA, TableKind, kind_by_listing

MARKS = (DELTA_LOG, ICEBERG_METADATA)
"""Folders of a table for its metadata."""

NAMES: dict[TableKind, str] = {"delta": "a Delta table", "iceberg": "an Iceberg table"}

FUNCTIONS: dict[TableKind, str] = {"delta": "delta_scan", "iceberg": "iceberg_scan"}
"""Functions of DuckDB that read such tables."""


class Table(NamedTuple):
    """A table.

    Attributes:
        kind: Its format.
        folder: Its folder, in the spelling of the filesystem.
    """

    kind: TableKind
    folder: str


def require_no_table(
    filesystem: Any, folder: str, paths: Iterable[str], name: str, is_hidden: Callable[[str], bool]
) -> None:
    """Raise `Refused` if a folder is a table, or is inside a table, or contains one.

    Args:
        filesystem: The filesystem of the folder.
        folder: The folder, in the spelling of the filesystem.
        paths: The paths of all files below it.
        name: The user's name of the folder.
        is_hidden: Whether a folder below it is ignored, by its path.
    """
    table = table_among(paths, is_hidden) or table_around(filesystem, folder)
    if table is None:
        return
    itself, path = (_called(one, folder, name) for one in (folder, table.folder))
    what = f"it is {NAMES[table.kind]}" if path == itself else f"{path} is {NAMES[table.kind]}"
    quoted = path.replace("'", "''")
    raise Refused(
        f"{itself}: {what}, whose files may have rows that the table has deleted. Read it with an engine: in DuckDB "
        f'{FUNCTIONS[table.kind]}(\'{quoted}\'), in Spark spark.read.format("{table.kind}").load("{path}"). '
        "To read a single file without the table, name the file"
    )


def _called(place: str, folder: str, name: str) -> str:
    """The user's name of a place, derived from the user's name of a folder; a URI is shown without secrets."""
    scheme, separator, _ = name.partition("://")
    if separator:
        return f"{scheme}://{place}"
    is_below = place == folder or place.startswith(f"{folder.rstrip('/')}/")
    return f"{name.rstrip('/') or '/'}{place[len(folder) :]}" if is_below else place


def table_among(paths: Iterable[str], is_hidden: Callable[[str], bool] = lambda _: False) -> Table | None:
    """The table whose metadata include one of the files; ``None`` if there is none. Hidden ones are ignored."""
    for path in paths:
        # Most paths have none of these folders, and there may be very many paths.
        if DELTA_LOG in path or ICEBERG_METADATA in path:
            names = path.rsplit("/", 2)
            kind, folder = kind_by_listing(names), names[0] if len(names) > 2 else ""
            if kind is not None and not is_hidden(folder):
                return Table(kind, folder)
    return None


def table_around(filesystem: Any, folder: str) -> Table | None:
    """The innermost table around a folder; ``None`` if none is visible."""
    above = list(_above(folder))
    if isinstance(filesystem, pafs.LocalFileSystem):
        above += [parent for parent in _above(os.path.realpath(folder)) if parent not in above]
    places = [f"{parent.rstrip('/')}/{mark}" for parent in above for mark in MARKS]
    # A user who may read a folder need not have access to the folders above it.
    with contextlib.suppress(OSError):
        for info in filesystem.get_file_info(places) if places else ():
            if info.type is pafs.FileType.Directory:
                below = filesystem.get_file_info(pafs.FileSelector(info.path))
                table = table_among(entry.path for entry in below)
                if table is not None:
                    return table
    return None


def _above(folder: str) -> Iterator[str]:
    """The parent folders of a folder, the innermost first."""
    while folder := folder.rpartition("/")[0]:
        yield folder


__all__ = ["Table", "require_no_table", "table_among", "table_around"]
