"""The rows of a position delete file, compared with the data files of their table.

Paths are compared once for each distinct one, and rows by numbers, so that a file of many million deletes takes no longer than to decode it.
How many rows a data file has, its manifest says; where a position lies beyond these, the data file's own footer is asked.

Source: the Iceberg specification, "Position Delete Files" and "Scan Planning".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay.tables.claims import DeletesClaims
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.fields import Field, in_footer
from pqassay.under_test.file import Broken, FileUnderTest, Mistake, NotApplicable, NotChecked
from pqassay.under_test.violation import Violation
from pqassay.values.claims.claim import why_not_all
from pqassay.values.claims.outcomes import Outcome
from pqassay.values.claims.wording import others
from pqassay.values.decoding.chunk_values import ChunkValues, excused
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.thrift import Type
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import DELETE_FILE_PATH, DELETE_POSITION
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.iceberg.manifests import Entry
from pqassay_tables.metadata.iceberg.state import PARQUET
from pqassay_tables.under_test.claimed_columns import ClaimedFile
from pqassay_tables.under_test.iceberg_table import state_around
from pqassay_tables.under_test.states import scope_of
from pqassay_tables.under_test.table import claim_field

ALONE, ROWS, LIVE, SORTED = "ICE-045", "ICE-046", "ICE-047", "ICE-048"
RULES = (ALONE, ROWS, LIVE, SORTED)

COLUMNS, SCOPE = "ICE-044", "ICE-026"
"""The rules that a delete file has its columns, and that it applies to a data file."""

MOST_NAMES = 1_000_000
"""Distinct paths in a row group that are looked up, at most."""

MOST_FOOTERS = 16
"""Footers of data files that are read, at most, to see how many rows they have."""

REMEDY = repairs.ICEBERG_BEFORE.text
REWRITE = repairs.ICEBERG_POSITIONS.text

UNKNOWN = np.iinfo(np.int64).max
"""The number of rows of a data file of which nobody knows it."""


@dataclass
class _Half:
    """One of the two columns of a row group: its values, and which rows have one, bool."""

    values: Any
    valid: NDArray[np.bool_] | None
    entries: int


@dataclass
class _Rows:
    """What is known of the rows of a row group so far; nothing once they were compared, or cannot be."""

    paths: _Half | None = None
    positions: _Half | None = None
    is_over: bool = False


@dataclass
class _Last:
    """The last row of the row groups that were compared."""

    path: bytes
    position: int


@dataclass
class _Paths:
    """The distinct paths of a row group.

    Attributes:
        raw: Each path.
        of_row: Which of them each row has.
        ranks: The place of each in the order of bytes.
        limits: The rows of the data file of each; `UNKNOWN` of one that is not live.
        why: Why the deletes do not apply to it; empty if they do.
    """

    raw: list[bytes]
    of_row: NDArray[np.int64]
    ranks: NDArray[np.int64] = field(init=False)
    limits: NDArray[np.int64] = field(init=False)
    why: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        places = {raw: rank for rank, raw in enumerate(sorted(set(self.raw)))}
        self.ranks = np.array([places[raw] for raw in self.raw], np.int64)
        self.limits = np.full(len(self.raw), UNKNOWN)

    def name(self, path: int) -> str:
        """A path for messages."""
        return self.raw[path].decode(errors="replace")[:200]


class PositionFamily:
    """The rows of a position delete file.

    Attributes:
        outcomes: What came of each rule.
    """

    def __init__(self, file: FileUnderTest) -> None:
        """Find the two columns, and the table around the file. Raises `NotChecked` and `NotApplicable` where they cannot be found."""
        self._file = file
        self._owner = file.part(ClaimedFile)
        claims = self._owner.claims.deletes
        if claims is None:
            raise NotApplicable
        self._claims: DeletesClaims = claims
        self.outcomes = {rule: Outcome(applies=rule != ALONE or claims.named is not None) for rule in RULES}
        self._path = self._ordinal(DELETE_FILE_PATH, "file_path", Type.BYTE_ARRAY)
        self._position = self._ordinal(DELETE_POSITION, "pos", Type.INT64)
        self._state = state_around(file)
        self._scope = scope_of(self._state)
        entries = (
            one
            for manifest in self._state.manifests
            if manifest.name == claims.place.file
            for one in manifest.entries[claims.place.entry : claims.place.entry + 1]
        )
        entry = next(entries, None)
        if entry is None:
            raise NotChecked("the table has changed since its files were listed", "file", judgeable=False)
        self._entry: Entry = entry
        self._is_dead = bool(self._scope.why_dead(entry))
        if claims.named is not None:  # whether the deletes apply to that file, a rule about the table says
            self.outcomes[LIVE].applies = False
        elif self._is_dead:
            self.outcomes[LIVE].hindered(Broken(SCOPE))
        self._groups: dict[int, _Rows] = {}
        self._last: _Last | None = None
        self._footers: dict[str, int | None] = {}

    def _ordinal(self, field_id: int, name: str, stored: Type) -> int:
        ordinal = self._owner.ordinal_of(field_id, (name,))
        if ordinal is None or self._file.leaves[ordinal].element.type != stored:
            raise Broken(COLUMNS)
        if self._file.leaves[ordinal].max_repetition_level:
            raise NotChecked(f"column {name} is in a list", "file")
        return ordinal

    def claim(self, chunk: ColumnChunkUnderTest) -> _Claim | None:
        """The claim about a chunk of one of the two columns."""
        if chunk.ordinal not in (self._path, self._position):
            return None
        if all(rule in self._file.left_out for rule in RULES):
            return None
        return _Claim(self, chunk, is_path=chunk.ordinal == self._path)

    def lose(self, chunk: ColumnChunkUnderTest, reason: NotChecked) -> None:
        """Note that a chunk cannot be decoded."""
        self._groups[chunk.row_group] = _Rows(is_over=True)
        for outcome in self.outcomes.values():
            if outcome.applies:
                outcome.hindered(reason, chunk.column)
        self._last = None

    def take(self, chunk: ColumnChunkUnderTest, half: _Half, *, is_path: bool) -> None:
        """Take the values of a chunk; once both are there, compare the rows."""
        rows = self._groups.setdefault(chunk.row_group, _Rows())
        if is_path:
            rows.paths = half
        else:
            rows.positions = half
        if rows.is_over or rows.paths is None or rows.positions is None:
            return
        self._groups[chunk.row_group] = _Rows(is_over=True)
        try:
            self.compare(chunk.row_group, rows.paths, rows.positions)
        except (FormatError, NotChecked) as error:
            self.lose(chunk, error if isinstance(error, NotChecked) else NotChecked.because(error))
        except (OSError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 - other claims are judged all the same
            self.lose(chunk, Mistake.by(error))

    def finish(self) -> None:
        """Say which row groups could not be compared."""
        reason = why_not_all(self._file, [number for number, rows in self._groups.items() if rows.is_over])
        for outcome in self.outcomes.values():
            if reason is not None and outcome.applies:
                outcome.hindered(reason)

    # ------------------------------------------------------------------------------------------------- the rows

    def compare(self, group: int, paths: _Half, positions: _Half) -> None:
        """Compare the rows of a row group with the data files of the table. Raises `NotChecked`."""
        if paths.entries != positions.entries:
            raise NotChecked(f"the columns of row group {group} have different numbers of rows", "file")
        whole = _both(paths, positions)
        rows = np.arange(paths.entries) if whole is None else np.flatnonzero(whole)
        if whole is not None and len(rows) < len(whole):
            self._null(group, whole)
        if not len(rows):
            return
        found = _paths_of(paths, whole)
        numbers = _numbers_of(positions, whole)
        self._look_up(found)
        self._compare_names(group, found, rows)
        self._compare_positions(group, found, numbers, rows)
        self._compare_order(group, found, numbers, rows)

    def _look_up(self, paths: _Paths) -> None:
        """Find the data files of the distinct paths."""
        by_path = self._state.by_path
        for number, raw in enumerate(paths.raw):
            try:
                data = by_path.get(raw.decode())
            except UnicodeDecodeError:
                data = None
            if data is None:
                paths.why.append("which is not a live data file")
                continue
            why = self._scope.why_not(self._entry, data)
            paths.why.append(f"to which it does not apply: {why}" if why else "")
            paths.limits[number] = data.value(field_ids.RECORD_COUNT)

    def _compare_names(self, group: int, paths: _Paths, rows: NDArray[np.int64]) -> None:
        named = self._claims.named
        if named is not None:
            raw = named.encode()
            others_ = np.array([one != raw for one in paths.raw], np.bool_)
            if others_.any():
                self._say(ALONE, group, paths, rows, others_, "which is another file than {named}", named)
            return
        strange = np.array([bool(why) for why in paths.why], np.bool_)
        if strange.any() and not self._is_dead:
            self._say(LIVE, group, paths, rows, strange, "{why}", "a live data file of its partition")

    def _say(
        self,
        rule: str,
        group: int,
        paths: _Paths,
        rows: NDArray[np.int64],
        strange: NDArray[np.bool_],
        why: str,
        expected: str,
    ) -> None:
        """Note that rows have one of some paths."""
        mask = strange[paths.of_row]
        first = int(mask.argmax())
        path = int(paths.of_row[first])
        told = why.format(named=self._claims.named, why=paths.why[path])
        self._add(
            rule,
            f"row {rows[first]} of row group {group} of {self._owner.name} deletes a row of {paths.name(path)}, {told}"
            + others(int(np.count_nonzero(mask))),
            expected,
            paths.name(path),
            "file_path",
            group,
            REMEDY if rule == ALONE else REWRITE,
        )

    def _compare_positions(
        self, group: int, paths: _Paths, numbers: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> None:
        beyond = numbers >= paths.limits[paths.of_row]
        if (
            beyond.any()
        ):  # a manifest that is wrong about the rows of a data file is a finding about that file
            for path in np.unique(paths.of_row[beyond]).tolist():
                paths.limits[path] = self._rows_of(paths, path)
            beyond = numbers >= paths.limits[paths.of_row]
        wrong = beyond | (numbers < 0)
        if not wrong.any():
            return
        first = int(wrong.argmax())
        path, number = int(paths.of_row[first]), int(numbers[first])
        limit = int(paths.limits[path])
        has = "" if limit == UNKNOWN else f", which has {limit} rows"
        self._add(
            ROWS,
            f"row {rows[first]} of row group {group} of {self._owner.name} deletes row {number} of {paths.name(path)}{has}"
            + others(int(np.count_nonzero(wrong))),
            "0 or more" if number < 0 else f"less than {limit}",
            str(number),
            "pos",
            group,
        )

    def _rows_of(self, paths: _Paths, path: int) -> int:
        """The rows of a data file: those of its footer where that can be read, else what its manifest says."""
        name = paths.raw[path].decode()
        entry, table = self._state.by_path[name], self._file.table
        claimed: int = entry.value(field_ids.RECORD_COUNT)
        if entry.format != PARQUET or entry.inside is None or table is None:
            return claimed
        if name not in self._footers:
            if len(self._footers) >= MOST_FOOTERS:
                return claimed
            self._footers[name] = None
            try:
                with table.opened(entry.inside) as source:
                    self._footers[name] = FileUnderTest(source, self._file.options).metadata.num_rows
            except (FormatError, NotChecked, OSError):
                pass  # the report on that file says so
        found = self._footers[name]
        return claimed if found is None or found < 0 else found

    def _compare_order(
        self, group: int, paths: _Paths, numbers: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> None:
        ranks = paths.ranks[paths.of_row]
        falls = (ranks[1:] < ranks[:-1]) | ((ranks[1:] == ranks[:-1]) & (numbers[1:] < numbers[:-1]))
        first = paths.raw[int(paths.of_row[0])], int(numbers[0])
        before = self._last
        if before is not None and first < (before.path, before.position):
            self._unsorted(group, int(rows[0]), (before.path, before.position), first, 1 + int(falls.sum()))
        elif falls.any():
            place = int(falls.argmax())
            pair = [(paths.raw[int(paths.of_row[at])], int(numbers[at])) for at in (place, place + 1)]
            self._unsorted(group, int(rows[place + 1]), pair[0], pair[1], int(np.count_nonzero(falls)))
        self._last = _Last(paths.raw[int(paths.of_row[-1])], int(numbers[-1]))

    def _unsorted(
        self, group: int, row: int, before: tuple[bytes, int], after: tuple[bytes, int], count: int
    ) -> None:
        by_path = before[0] != after[0]
        shown = [one[0].decode(errors="replace")[:200] if by_path else str(one[1]) for one in (before, after)]
        self._add(
            SORTED,
            f"row {row} of row group {group} of {self._owner.name} deletes a row of {shown[1]}, and the row before it one of {shown[0]}"
            + others(count)
            if by_path
            else f"row {row} of row group {group} of {self._owner.name} deletes row {shown[1]}, and the row before it row {shown[0]} "
            f"of the same file" + others(count),
            "deletes that are sorted by file_path, then by pos",
            f"{shown[0]} before {shown[1]}",
            "file_path" if by_path else "pos",
            group,
            REWRITE,
        )

    def _null(self, group: int, whole: NDArray[np.bool_]) -> None:
        missing = ~whole
        self._add(
            ROWS,
            f"row {int(missing.argmax())} of row group {group} of {self._owner.name} has no file_path or no pos"
            + others(int(np.count_nonzero(missing))),
            "a data file and a position",
            "null",
            "pos",
            group,
        )

    def _add(
        self,
        rule: str,
        message: str,
        expected: str,
        actual: str,
        column: str,
        group: int,
        remedy: str = REMEDY,
    ) -> None:
        if rule == ALONE:
            place: Field = claim_field(self._file, self._entry.place(field_ids.REFERENCED_DATA_FILE))
        else:
            ordinal = self._path if column == "file_path" else self._position
            place = in_footer(self._file, f"row_groups[{group}].columns[{ordinal}]") / "meta_data"
        self.outcomes[rule].add(
            Violation(message, place, expected, actual, column=column, row_group=group, remedy=remedy)
        )


class _Claim:
    """A chunk of one of the two columns."""

    needs_values = True

    def __init__(self, family: PositionFamily, chunk: ColumnChunkUnderTest, *, is_path: bool) -> None:
        self._family = family
        self._chunk = chunk
        self._is_path = is_path
        self._half: _Half | None = None
        self._problem: NotChecked | None = None

    def judge(self, values: ChunkValues) -> None:
        """Keep the values until those of the other column are there."""
        valid = None if values.count == values.entries else values.valid
        self._half = _Half(values.values, valid, values.entries)

    def leave(self, reason: NotChecked) -> None:
        """Take note that the values cannot be decoded."""
        self._problem = excused(self._chunk, reason)

    def settle(self) -> None:
        """Hand the values over."""
        if self._problem is not None:
            self._family.lose(self._chunk, self._problem)
        elif self._half is not None:
            half, self._half = self._half, None
            self._family.take(self._chunk, half, is_path=self._is_path)


def _both(paths: _Half, positions: _Half) -> NDArray[np.bool_] | None:
    """The rows that have both values, bool; ``None`` if all have."""
    if paths.valid is None and positions.valid is None:
        return None
    valid = np.ones(paths.entries, np.bool_)
    for half in (paths, positions):
        if half.valid is not None:
            valid &= half.valid
    return valid


def _paths_of(half: _Half, whole: NDArray[np.bool_] | None) -> _Paths:
    """The distinct paths of the rows that have both values. Raises `NotChecked` for too many."""
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
    return _Paths(names.to_pylist(), of_row.astype(np.int64))


def _numbers_of(half: _Half, whole: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    """The positions of the rows that have both values."""
    numbers: NDArray[np.int64] = np.asarray(half.values.to_numpy(zero_copy_only=False), np.int64)
    if whole is None:
        return numbers
    return numbers[whole] if half.valid is None else numbers[whole[half.valid]]
