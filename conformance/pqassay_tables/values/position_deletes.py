"""Comparison of the rows of a position delete file with the data files of their table.

Each distinct path is compared once, and rows by numbers, so even millions of deletes take little more time than decoding. The manifest has
the number of rows of a data file. If a position is beyond it, the data file's own footer is read.

Source: the Iceberg specification, "Position Delete Files" and "Scan Planning".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay.under_test.file import FileUnderTest, NotChecked
from pqassay.values.claims.wording import others
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay_spec.base.errors import FormatError
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_tables.metadata.iceberg.delete_scope import DeleteScope
from pqassay_tables.metadata.iceberg.manifests import Entry
from pqassay_tables.metadata.iceberg.state import PARQUET, IcebergState

MOST_NAMES = 1_000_000
"""The largest number of distinct paths in a row group that are looked up."""

MOST_FOOTERS = 16
"""The largest number of data file footers that are read for their row counts."""

UNKNOWN = int(np.iinfo(np.int64).max)
"""A placeholder for an unknown number of rows."""


class Half(NamedTuple):
    """One of the two columns of a row group: its values, and a bool mask of the rows that have one."""

    values: Any
    valid: NDArray[np.bool_] | None
    entries: int


def half_of(values: ChunkValues) -> Half:
    """The data of a chunk that are kept until the other column is decoded."""
    return Half(values.values, None if values.count == values.entries else values.valid, values.entries)


@dataclass
class Deletes:
    """The deletes of a row group.

    Attributes:
        missing: A bool mask of the rows without a path or a position; ``None`` if there are none.
        rows: The numbers of the other rows in the row group.
        positions: The position in each of these rows.
        paths: The distinct paths.
        of_row: The number of the path of each of these rows.
    """

    missing: NDArray[np.bool_] | None
    rows: NDArray[np.int64]
    positions: NDArray[np.int64]
    paths: list[bytes]
    of_row: NDArray[np.int64]

    def name(self, path: int) -> str:
        """A path for messages."""
        return shown_path(self.paths[path])

    def falls(self) -> NDArray[np.bool_]:
        """For each row after the first, whether it belongs before the previous row."""
        places = {raw: rank for rank, raw in enumerate(sorted(set(self.paths)))}
        ranks = np.array([places[raw] for raw in self.paths], np.int64)[self.of_row]
        numbers = self.positions
        falls: NDArray[np.bool_] = (ranks[1:] < ranks[:-1]) | (
            (ranks[1:] == ranks[:-1]) & (numbers[1:] < numbers[:-1])
        )
        return falls

    def at(self, place: int) -> tuple[bytes, int]:
        """The path and the position of a row with both."""
        return self.paths[int(self.of_row[place])], int(self.positions[place])

    def first_of(self, strange: Sequence[bool]) -> Iterator[tuple[int, int, str]]:
        """Yield the first row with one of some paths: its number, the path, and the number of further ones in words."""
        mask = np.array(strange, np.bool_)[self.of_row] if self.paths else np.zeros(0, np.bool_)
        if mask.any():
            first = int(mask.argmax())
            yield int(self.rows[first]), int(self.of_row[first]), others(int(mask.sum()))

    def beyond(self, files: DataFiles) -> Iterator[tuple[int, int, int, int | None, int]]:
        """Yield the first row with a position beyond the rows: number, path, position, rows of the data file, and count of such rows."""
        limits = np.array([files.claimed_rows(raw) for raw in self.paths], np.int64)
        if not len(limits):
            return
        wrong = self.positions >= limits[self.of_row]
        if wrong.any():  # a wrong row count in a manifest is a finding about the data file
            for path in np.unique(self.of_row[wrong]).tolist():
                limits[path] = files.rows(self.paths[path])
            wrong = self.positions >= limits[self.of_row]
        wrong |= self.positions < 0
        if wrong.any():
            first = int(wrong.argmax())
            path = int(self.of_row[first])
            limit = int(limits[path])
            known = None if limit == UNKNOWN else limit
            yield int(self.rows[first]), path, int(self.positions[first]), known, int(wrong.sum())


def shown_path(raw: bytes) -> str:
    """A path for messages."""
    return raw.decode(errors="replace")[:200]


def joined(group: int, paths: Half, positions: Half) -> Deletes:
    """The deletes of a row group, from its two columns. Raises `NotChecked`."""
    if paths.entries != positions.entries:
        raise NotChecked(f"the columns of row group {group} have different numbers of rows", "file")
    whole = _both(paths, positions)
    rows = np.arange(paths.entries) if whole is None else np.flatnonzero(whole)
    missing = None if whole is None or len(rows) == len(whole) else ~whole
    if not len(rows):
        return Deletes(missing, rows, rows, [], rows)
    names, of_row = _paths_of(paths, whole)
    return Deletes(missing, rows, _numbers_of(positions, whole), names, of_row)


def _both(paths: Half, positions: Half) -> NDArray[np.bool_] | None:
    """A bool mask of the rows with both values; ``None`` if all have both."""
    if paths.valid is None and positions.valid is None:
        return None
    valid = np.ones(paths.entries, np.bool_)
    for half in (paths, positions):
        if half.valid is not None:
            valid &= half.valid
    return valid


def _paths_of(half: Half, whole: NDArray[np.bool_] | None) -> tuple[list[bytes], NDArray[np.int64]]:
    """The distinct paths of rows with both values, and the path number of each row. Raises `NotChecked` if there are too many."""
    values: Any = half.values
    if not pa.types.is_dictionary(values.type):
        values = pc.dictionary_encode(values)
    if isinstance(values, pa.ChunkedArray):
        values = values.unify_dictionaries().combine_chunks()
    indices = np.asarray(values.indices, np.int64)
    if whole is not None and half.valid is not None:
        indices = indices[whole[half.valid]]
    elif whole is not None:
        indices = indices[whole]
    used, of_row = np.unique(indices, return_inverse=True)
    if len(used) > MOST_NAMES:
        raise NotChecked(f"a row group deletes rows of more than {MOST_NAMES:,} files", "tool")
    names = values.dictionary.take(pa.array(used)).cast(pa.large_binary())
    return names.to_pylist(), of_row.astype(np.int64)


def _numbers_of(half: Half, whole: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    """The positions of the rows with both values."""
    numbers: NDArray[np.int64] = np.asarray(half.values.to_numpy(zero_copy_only=False), np.int64)
    if whole is None:
        return numbers
    return numbers[whole] if half.valid is None else numbers[whole[half.valid]]


@dataclass
class DataFiles:
    """The data files of a table, looked up by the paths in its position deletes.

    Attributes:
        state: The table.
        scope: The scope of its deletes.
        entry: The entry of the delete file.
        file: The delete file.
    """

    state: IcebergState
    scope: DeleteScope
    entry: Entry
    file: FileUnderTest
    _rows: dict[str, int | None] = field(default_factory=dict[str, "int | None"])

    def _of(self, raw: bytes) -> Entry | None:
        try:
            return self.state.by_path.get(raw.decode())
        except UnicodeDecodeError:
            return None

    def why_not(self, raw: bytes) -> str:
        """Why the deletes do not apply to a path; empty if they do."""
        data = self._of(raw)
        if data is None:
            return "which is not a live data file"
        why = self.scope.why_not(self.entry, data)
        return f"to which it does not apply: {why}" if why else ""

    def claimed_rows(self, raw: bytes) -> int:
        """The row count of a data file in its manifest; `UNKNOWN` if the file is not live."""
        data = self._of(raw)
        return UNKNOWN if data is None else data.value(field_ids.RECORD_COUNT)

    def rows(self, raw: bytes) -> int:
        """The number of rows of a data file, from its footer if readable, otherwise from its manifest."""
        entry, table, claimed = self._of(raw), self.file.table, self.claimed_rows(raw)
        if entry is None or entry.format != PARQUET or entry.inside is None or table is None:
            return claimed
        if entry.path not in self._rows:
            if len(self._rows) >= MOST_FOOTERS:
                return claimed
            self._rows[entry.path] = None
            try:
                with table.opened(entry.inside) as source:
                    self._rows[entry.path] = FileUnderTest(source, self.file.options).metadata.num_rows
            except (FormatError, NotChecked, OSError):
                pass  # the report on that file says why
        found = self._rows[entry.path]
        return claimed if found is None or found < 0 else found
