"""The rows of a position delete file, compared with the data files of their table.

Paths are compared once for each distinct one, and rows by numbers, so that a file of many million deletes takes no longer than to decode it.
A manifest says how many rows a data file has; where a position lies beyond these, the data file's own footer is asked.

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
"""Distinct paths in a row group that are looked up, at most."""

MOST_FOOTERS = 16
"""Footers of data files that are read, at most, to see how many rows they have."""

UNKNOWN = int(np.iinfo(np.int64).max)
"""The number of rows of a data file where it is not known."""


class Half(NamedTuple):
    """One of the two columns of a row group: its values, and which rows have one, bool."""

    values: Any
    valid: NDArray[np.bool_] | None
    entries: int


def half_of(values: ChunkValues) -> Half:
    """What is kept of a chunk until the other one is decoded."""
    return Half(values.values, None if values.count == values.entries else values.valid, values.entries)


@dataclass
class Deletes:
    """The deletes of a row group.

    Attributes:
        missing: The rows without a path or a position, bool; ``None`` if there are none.
        rows: The numbers of the others in the row group.
        positions: The position of each.
        paths: The distinct paths.
        of_row: Which of them each row has.
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
        """For each row behind the first, whether it belongs before the one before it."""
        places = {raw: rank for rank, raw in enumerate(sorted(set(self.paths)))}
        ranks = np.array([places[raw] for raw in self.paths], np.int64)[self.of_row]
        numbers = self.positions
        falls: NDArray[np.bool_] = (ranks[1:] < ranks[:-1]) | (
            (ranks[1:] == ranks[:-1]) & (numbers[1:] < numbers[:-1])
        )
        return falls

    def at(self, place: int) -> tuple[bytes, int]:
        """The path and the position of a row that has both."""
        return self.paths[int(self.of_row[place])], int(self.positions[place])

    def first_of(self, strange: Sequence[bool]) -> Iterator[tuple[int, int, str]]:
        """The first row that has one of some paths: its number, the path, and how many more there are, for messages."""
        mask = np.array(strange, np.bool_)[self.of_row] if self.paths else np.zeros(0, np.bool_)
        if mask.any():
            first = int(mask.argmax())
            yield int(self.rows[first]), int(self.of_row[first]), others(int(mask.sum()))

    def beyond(self, files: DataFiles) -> Iterator[tuple[int, int, int, int | None, int]]:
        """The first row whose position is that of no row: its number, path and position, the rows of the data file, and how many there are."""
        limits = np.array([files.claimed_rows(raw) for raw in self.paths], np.int64)
        if not len(limits):
            return
        wrong = self.positions >= limits[self.of_row]
        if wrong.any():  # a manifest that is wrong about the rows of a data file is a finding about that file
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
    """The deletes of a row group, by its two columns. Raises `NotChecked`."""
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
    """The rows that have both values, bool; ``None`` if all have."""
    if paths.valid is None and positions.valid is None:
        return None
    valid = np.ones(paths.entries, np.bool_)
    for half in (paths, positions):
        if half.valid is not None:
            valid &= half.valid
    return valid


def _paths_of(half: Half, whole: NDArray[np.bool_] | None) -> tuple[list[bytes], NDArray[np.int64]]:
    """The distinct paths of the rows that have both values, and which each has. Raises `NotChecked` for too many."""
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
    """The positions of the rows that have both values."""
    numbers: NDArray[np.int64] = np.asarray(half.values.to_numpy(zero_copy_only=False), np.int64)
    if whole is None:
        return numbers
    return numbers[whole] if half.valid is None else numbers[whole[half.valid]]


@dataclass
class DataFiles:
    """The data files of a table, as its position deletes name them.

    Attributes:
        state: The table.
        scope: To which data files its deletes apply.
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
        """The rows that its manifest gives a data file; `UNKNOWN` of one that is not live."""
        data = self._of(raw)
        return UNKNOWN if data is None else data.value(field_ids.RECORD_COUNT)

    def rows(self, raw: bytes) -> int:
        """The number of rows of a data file: from its footer if that can be read, else from its manifest."""
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
                pass  # the report on that file says so
        found = self._rows[entry.path]
        return claimed if found is None or found < 0 else found
