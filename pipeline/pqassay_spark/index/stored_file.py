"""Index an object of a store: download it, index it as a local file, and upload it as a whole.

Object stores cannot rename, but they replace an object atomically.  The new object is first uploaded under a hidden name.
Only when it is complete does the store copy it over the old one, so a failure never leaves half an object.
"""

from __future__ import annotations

import contextlib
import errno
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

from pyarrow import fs

from pqassay.stores.remote import filesystem, modified, open_source
from pqassay.stores.remote_source import describe
from pqassay_reader.lake.index_table import Entry
from pqassay_reference.columns.column_values import read_distinct_values
from pqassay_reference.errors import Refused
from pqassay_reference.rewrite.embed import embed_columns
from pqassay_reference.rewrite.finished_file import (
    TABLE_MARKS,
    ChangedError,
    WrittenState,
    kind_of_table,
)
from pqassay_spark.index.entries import Settings, Work, entries_of, trusted_values, unknown_columns
from pqassay_spark.index.file_work import Outcome
from pqassay_spark.index.listing import Listing
from pqassay_spec.base.sources import temporary_name
from pqassay_spec.table.layout import ICEBERG_METADATA

OBJECT_STORES = ("s3", "gcs")
"""pyarrow's names of the stores that replace an object atomically."""

CHUNK = 8 << 20


def require_objects(listing: Listing) -> None:
    """Raise `Refused` for a store that cannot replace a file atomically."""
    with _in_words(listing.root):
        name = str(filesystem(listing.store).type_name)
    if name not in OBJECT_STORES:
        raise Refused(
            f"{listing.root}: files are indexed on local disks and in object stores (s3, gs), not in {name}"
        )


def stored_table(listing: Listing) -> str | None:
    """The name of the table whose folder is the root, or a parent of it; ``None`` if there is none."""
    if not listing.files:
        return None
    first = listing.files[0]
    folder = first.path[: len(first.path) - len(first.names[0])].rstrip("/")
    with _in_words(listing.root):
        system = filesystem(listing.store)
        while "/" in folder:  # what is left is the bucket
            marks = system.get_file_info([f"{folder}/{mark}" for mark in TABLE_MARKS])
            metadata = fs.FileSelector(f"{folder}/{ICEBERG_METADATA}", allow_not_found=True)
            if kind := kind_of_table(
                (info.base_name for info in marks if info.type == fs.FileType.Directory),
                (info.base_name for info in system.get_file_info(metadata)),
            ):
                return f"the {kind} table {folder.rpartition('/')[2]}"
            folder = folder.rpartition("/")[0]
    return None


def index_stored(settings: Settings, file: Work) -> tuple[Outcome, list[Entry]]:
    """Index one object; return its outcome and its entries of the table.

    Times in a store are in seconds. The table cannot distinguish two objects of the same size that were uploaded within one
    second.

    Raises:
        ChangedError: The object changed meanwhile.
        Refused, FormatError, Undecodable: As in `pqassay_reference.rewrite.embed.embed_columns`.
        OSError: The store does not return or accept it.
    """
    with _in_words(file.path):
        system = filesystem(file.store)
        before = _state(system, file.path)
        if not settings.force:
            with contextlib.closing(open_source(file.store, file.path, file.path)) as source:
                found = trusted_values(source, settings.columns[0])
            if found is not None:
                missing = unknown_columns(settings, file, before)
                read = [found] if settings.columns[0] in missing else []
                others = [column for column in missing if column != settings.columns[0]]
                if others:
                    with _fetched(system, file.path) as local:
                        read += [read_distinct_values(local, column, settings.limit) for column in others]
                _require_unchanged(system, file.path, before)
                return Outcome.FRESH, entries_of(settings, file, before, read)
        with _fetched(system, file.path) as local:
            done = embed_columns(local, settings.columns, inside_table=True, limit=settings.limit)
            _put(system, local, file.path, before, done.state.size)
        after = _state(system, file.path)
        entries = entries_of(settings, file, after, done.columns)
        return Outcome.INDEXED, entries if after.size == done.state.size else []


def _state(system: fs.FileSystem, path: str) -> WrittenState:
    info = system.get_file_info([path])[0]
    if info.type != fs.FileType.File:
        raise FileNotFoundError(errno.ENOENT, "no such file", path)
    return WrittenState(int(info.size or 0), modified(info) or 0)


def _require_unchanged(system: fs.FileSystem, path: str, before: WrittenState) -> None:
    if _state(system, path) != before:
        raise ChangedError("it changed during the operation; nothing was written")


@contextlib.contextmanager
def _fetched(system: fs.FileSystem, path: str) -> Generator[Path]:
    with tempfile.TemporaryDirectory(prefix="pqassay-") as folder:
        local = Path(folder, "data.parquet")
        stream: Any = system.open_input_stream(path)
        with stream, local.open("wb") as file:
            shutil.copyfileobj(stream, file, CHUNK)
        yield local


def _put(system: fs.FileSystem, local: Path, path: str, before: WrittenState, size: int) -> None:
    hidden = str(temporary_name(Path(path)))
    stream: Any = system.open_output_stream(hidden)
    with stream, local.open("rb") as file:
        shutil.copyfileobj(file, stream, CHUNK)
    try:
        # Closing a stream after an error may leave an incomplete object that the store treats as complete.
        if _state(system, hidden).size != size:
            raise OSError(
                errno.EIO, "the store does not have all bytes of the new object; the old one is unchanged"
            )
        _require_unchanged(system, path, before)
        system.copy_file(hidden, path)
    finally:
        system.delete_file(hidden)


@contextlib.contextmanager
def _in_words(path: str) -> Generator[None]:
    """Explain errors of the store in plain words."""
    try:
        yield
    except ChangedError:
        raise
    except OSError as error:
        if isinstance(error, FileNotFoundError) or error.filename is not None:
            raise
        raise OSError(error.errno or errno.EIO, describe(error), path) from error
