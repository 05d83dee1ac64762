"""The index table: the distinct values of the columns of many files, in a few Parquet files beside them.

Reading the end of each file before each query is too slow for a lake of 100,000 files; this table has the
same facts in one read.  It is a folder of parts that are written once and never changed.  Each run that indexes
files adds parts with the name of the run. If two parts describe the same column of the same file, the part of
the later run counts. A table of a killed run may therefore be incomplete, but it is never
wrong.

A row states that a value occurs in a column of a file; a file with only nulls has one row without a
value. A row is valid for a file of exactly this size and modification time; the table has no information
about other versions.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pqassay_reference.columns.column_values import native_file
from pqassay_reference.errors import Refused, Undecodable
from pqassay_spec.base.sources import write_whole

VERSION = 1
"""Version of the table's schema, in the metadata of each part."""

VERSION_KEY = b"pqassay.index_table"

_COLUMNS: list[pa.Field[Any]] = [
    pa.field("path", pa.string(), nullable=False),
    pa.field("size", pa.int64(), nullable=False),
    pa.field("modified", pa.int64(), nullable=False),
    pa.field("column", pa.string(), nullable=False),
    pa.field("row_count", pa.int64(), nullable=False),
    pa.field("null_count", pa.int64(), nullable=False),
    pa.field("value", pa.string()),
]

SCHEMA = pa.schema(_COLUMNS, metadata={VERSION_KEY: str(VERSION).encode()})
"""Schema of a part.

``path`` is relative to the indexed folder, with names joined by ``/`` and unchanged, without percent-encoding.
``size`` is in bytes, ``modified`` in nanoseconds since 1970 (0 if the store does not give it).  ``column`` is the path of
the column joined by dots.
"""

PART_NAME = re.compile(r"part-(?P<run>\d{8})-(?P<task>\d{5,})\.parquet")
"""Names of parts, from the numbers of the run and of its task that wrote them."""

SUFFIX = ".index"
"""Default suffix of the name of a table: the table of ``sales`` is ``sales.index``."""


@dataclass(frozen=True)
class Entry:
    """The facts in the table about one column of one file.

    Attributes:
        path: The path of the file, relative to the indexed folder.
        size: The size of the file in bytes.
        modified: Its modification time in nanoseconds since 1970.
        column: The column, as a path joined by dots.
        row_count: Number of rows of the file.
        null_count: Number of nulls in the column.
        values: Its distinct values, sorted.
    """

    path: str
    size: int
    modified: int
    column: str
    row_count: int
    null_count: int
    values: tuple[str, ...]


def default_folder(root: str | os.PathLike[str]) -> Path:
    """The default table of an indexed folder, beside that folder.

    >>> default_folder("lake/sales/").as_posix()
    'lake/sales.index'
    """
    path = Path(os.path.abspath(root))  # noqa: PTH100 - `resolve` would follow a link away from where the user is
    named = Path(root)
    return (named if named.name not in ("", "..") else path).with_name(f"{path.name}{SUFFIX}")


def part_path(folder: str | os.PathLike[str], run: int, task: int) -> Path:
    """The path of a part."""
    return Path(folder, f"part-{run:08d}-{task:05d}.parquet")


def parts(folder: str | os.PathLike[str]) -> list[tuple[int, Path]]:
    """The parts of a table with the numbers of their runs, oldest first; empty if there is no table."""
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - names are wanted
    except FileNotFoundError:
        return []
    matches = ((PART_NAME.fullmatch(name), name) for name in names)
    return [(int(match["run"]), Path(folder, name)) for match, name in matches if match]


def next_run(folder: str | os.PathLike[str]) -> int:
    """The number of a new run."""
    return max((run for run, _ in parts(folder)), default=0) + 1


def write_part(folder: str | os.PathLike[str], run: int, task: int, entries: Iterable[Entry]) -> Path:
    """Write the part of one task, as a whole or not at all; create the folder if it is missing.

    Raises:
        OSError: It cannot be written.
    """
    ordered = sorted(entries, key=lambda entry: (entry.path, entry.column))
    listed = [entry.values or (None,) for entry in ordered]
    entry_of_row = np.repeat(np.arange(len(ordered)), [len(values) for values in listed])
    arrays = [
        pa.array([getattr(entry, field.name) for entry in ordered], field.type).take(pa.array(entry_of_row))
        for field in _COLUMNS[:-1]
    ]
    arrays.append(pa.array(list(itertools.chain.from_iterable(listed)), _COLUMNS[-1].type))
    path = part_path(folder, run, task)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, part_content(pa.Table.from_arrays(arrays, schema=SCHEMA)))
    return path


def part_content(rows: pa.Table) -> bytes:
    """The bytes of a part. Its pages have checksums, because a corrupted value would make queries skip files."""
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink, compression="zstd", write_page_checksum=True)
    return sink.getvalue().to_pybytes()


def part_file(handle: pa.OSFile) -> pq.ParquetFile:
    """A part opened for reading, so that a damaged page is an error."""
    return pq.ParquetFile(handle, page_checksum_verification=True)


def read_part(path: str | os.PathLike[str], columns: Collection[str] | None = None) -> pa.Table:
    """Read one part, or only its rows about some columns.

    Raises:
        Undecodable: It is not a Parquet file, or cannot be read.
        Refused: It is not a part of an index table, or has another version.
    """
    try:
        with native_file(path) as handle, part_file(handle) as file:
            if (file.schema_arrow.metadata or {}).get(VERSION_KEY) != str(VERSION).encode():
                raise Refused(f"{os.fspath(path)} is not part of an index table of version {VERSION}")
            table = file.read()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Undecodable(f"{os.fspath(path)}: {' '.join(str(error).split())}") from error
    if not table.schema.equals(SCHEMA):
        raise Refused(f"the columns of {os.fspath(path)} are not those of an index table")
    if columns is not None:
        table = table.filter(pc.is_in(table.column("column"), pa.array(sorted(columns), pa.string())))
    return table


@dataclass(frozen=True)
class Contents:
    """The contents of a table.

    Attributes:
        columns: The rows of each column, by its name: the rows of parts, with the number of their run as ``run``.
        damaged: Unreadable parts and the reasons, one sentence each.
    """

    columns: dict[str, pa.Table]
    damaged: tuple[str, ...]


def read_entries(folder: str | os.PathLike[str], columns: Collection[str] | None = None) -> Contents:
    """Read a table, or only its rows about some columns.

    A part that cannot be read is left out: its files count as not indexed.

    Raises:
        OSError: The folder cannot be listed.
    """
    read: list[pa.Table] = []
    damaged: list[str] = []
    for run, path in parts(folder):
        try:
            part = read_part(path, columns)
        except (Refused, Undecodable) as error:
            damaged.append(str(error))
            continue
        read.append(part.append_column("run", pa.repeat(run, len(part))))
    if not read:
        return Contents({}, tuple(damaged))
    table = pa.concat_tables(read)
    column: Any = table.column("column")
    names = pc.unique(column).to_pylist()
    if len(names) == 1:  # to choose rows copies every value
        return Contents({names[0]: table}, tuple(damaged))
    return Contents({name: table.filter(pc.equal(column, pa.scalar(name))) for name in names}, tuple(damaged))
