"""The entries of the index table for one file: facts from its listing, and values that the table still lacks.

The values come from the index in the file, without decoding, if its companion record proves it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pqassay_reader.lake.index_table import Entry
from pqassay_reference.columns.column_values import DistinctValues
from pqassay_reference.rewrite.extract import extract
from pqassay_reference.rewrite.finished_file import WrittenState
from pqassay_spark.index.listing import DataFile
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import Source
from pqassay_spec.idx1.blob import Layout


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that the tasks of one run have in common.

    Attributes:
        columns: The columns; the first is embedded, all go into the table.
        table: The folder of the index table; ``None`` for no table.
        run: The number of the run.
        force: Whether to index fresh files again.
        inside_table: Whether to continue inside a table whose manifests record file sizes.
        limit: Greatest payload in bytes.
    """

    columns: tuple[str, ...]
    table: str | None
    run: int
    force: bool
    inside_table: bool
    limit: int


@dataclass(frozen=True, slots=True)
class Work(DataFile):
    """A file to index, with facts from its listing.

    Attributes:
        known: The columns that the table has for a file of this size and time.
    """

    known: frozenset[str] = frozenset()


def entries_of(
    settings: Settings, file: Work, state: WrittenState, columns: Sequence[DistinctValues]
) -> list[Entry]:
    """The entries of the table for columns of a file in the given state."""
    if settings.table is None:
        return []
    return [
        Entry(
            name,
            state.size,
            state.modified,
            read.column,
            read.row_count,
            read.null_count,
            tuple(sorted(read.values)),
        )
        for read in columns
        for name in _tellable(file.names)
    ]


def trusted_values(source: Source, column: str) -> DistinctValues | None:
    """The values in a column's index that is proven; ``None`` if there is none."""
    try:
        index = extract(source)
    except FormatError:
        return None
    companion = index.companion
    if companion is None or ".".join(companion.column) != column or index.layout is not Layout.PUBLISHED:
        return None
    return DistinctValues(
        column,
        limit=companion.length,
        values=set(index.values),
        null_count=companion.null_count,
        row_count=companion.row_count,
    )


def unknown_columns(settings: Settings, file: Work, state: WrittenState) -> list[str]:
    """The columns that belong in the table but are missing for a file in this state."""
    if settings.table is None or not _tellable(file.names):
        return []
    is_as_listed = state == WrittenState(file.size, file.modified)
    return [column for column in settings.columns if not is_as_listed or column not in file.known]


def _tellable(names: Iterable[str]) -> list[str]:
    """The names that a table can store; names that are not UTF-8 are omitted, because only the file's own index serves such a file."""
    tellable: list[str] = []
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError:
            continue
        tellable.append(name)
    return tellable
