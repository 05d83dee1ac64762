"""Folders that are tables, or are in one or hold one: their files are not read as a heap.

The files of a Delta or Iceberg table also hold rows that the table has deleted or written again, and rows that were never committed. Only its
metadata say which rows it has, and those are not read here.
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
"""Folders of a table that hold what describes it."""

NAMES: dict[TableKind, str] = {"delta": "a Delta table", "iceberg": "an Iceberg table"}

FUNCTIONS: dict[TableKind, str] = {"delta": "delta_scan", "iceberg": "iceberg_scan"}
"""Functions of DuckDB that read such a table."""


class Table(NamedTuple):
    """A table.

    Attributes:
        kind: Its format.
        folder: Its folder, as the filesystem calls it.
    """

    kind: TableKind
    folder: str


def require_no_table(
    filesystem: Any, folder: str, found: Iterable[str], name: str, is_hidden: Callable[[str], bool]
) -> None:
    """Raise `Refused` if a folder is a table, or is in one, or holds one.

    Args:
        filesystem: Where the folder is.
        folder: The folder, as the filesystem calls it.
        found: The paths of all files below it.
        name: The user's name of the folder.
        is_hidden: Whether nothing is read of a folder below it, by its path.
    """
    table = table_among(found, is_hidden) or table_around(filesystem, folder)
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
    """What the user would call a place, given what a folder is called; of a URI without what is secret in it."""
    scheme, separator, _ = name.partition("://")
    if separator:
        return f"{scheme}://{place}"
    is_below = place == folder or place.startswith(f"{folder.rstrip('/')}/")
    return f"{name.rstrip('/') or '/'}{place[len(folder) :]}" if is_below else place


def table_among(paths: Iterable[str], is_hidden: Callable[[str], bool] = lambda _: False) -> Table | None:
    """The table to which one of some files belongs as metadata; ``None`` if there is none. Hidden ones are ignored."""
    for path in paths:
        # Most paths have none of it, and there may be very many.
        if DELTA_LOG in path or ICEBERG_METADATA in path:
            names = path.rsplit("/", 2)
            kind, folder = kind_by_listing(names), names[0] if len(names) > 2 else ""
            if kind is not None and not is_hidden(folder):
                return Table(kind, folder)
    return None


def table_around(filesystem: Any, folder: str) -> Table | None:
    """The innermost table that a folder is in; ``None`` if there is none that can be seen."""
    above = list(_above(folder))
    if isinstance(filesystem, pafs.LocalFileSystem):
        above += [one for one in _above(os.path.realpath(folder)) if one not in above]
    places = [f"{one.rstrip('/')}/{mark}" for one in above for mark in MARKS]
    # A user who may read a folder need not be allowed to see those above it.
    with contextlib.suppress(OSError):
        for info in filesystem.get_file_info(places) if places else ():
            if info.type is pafs.FileType.Directory:
                below = filesystem.get_file_info(pafs.FileSelector(info.path))
                table = table_among(one.path for one in below)
                if table is not None:
                    return table
    return None


def _above(folder: str) -> Iterator[str]:
    """The folders above one, the innermost first."""
    while folder := folder.rpartition("/")[0]:
        yield folder


__all__ = ["Table", "require_no_table", "table_among", "table_around"]
