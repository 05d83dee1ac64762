"""The row groups that zone sums or footers answer, and their sums.

Sums answer for a row group under three conditions. Each part of the condition is about their keys or true for
all rows, the question only groups by their keys, and there are sums of each measure.  Sums of a whole file
answer for all its row groups or for none.

Source: chapter ``directory.md``, section "Zone sums".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pqassay_reader.answer.lake import Lake
from pqassay_reader.answer.question import Question
from pqassay_reader.answer.settling import Settled
from pqassay_reader.condition.rows import rows_of
from pqassay_reader.directory.arrays import Mask, Sums, decoded_indexes
from pqassay_reader.lake.known_file import KnownFile
from pqassay_reference.directory.reading.usable_entries import UsableEntry
from pqassay_spec.directory.codes import Granularity, IndexType
from pqassay_spec.directory.zone_sums import SumKind, sum_kind

GROUP, ROWS, NULLS, NANS, SUM, LEAST, GREATEST = (f"\0{number}" for number in range(7))
"""Columns of sums in addition to the keys: the row group (-1 for the whole file), counts, the sum and bounds."""

MOST_HIGH = 10**38 >> 64
"""Sums whose upper half exceeds this have more than 38 digits."""


ZoneSums = tuple[str | None, pa.Table]
"""Groups to add up, with the measure that they sum, or ``None`` if they only count rows."""


def answered_by_zones(
    lake: Lake, asked: Question, known: Sequence[Settled], needed: Mask, fields: Sequence[str]
) -> tuple[Mask, list[ZoneSums]]:
    """Find the row groups that can be answered without reading rows.

    Args:
        lake: The files.
        asked: The question.
        known: The facts about the parts of its condition.
        needed: For each row group, whether a row of it may satisfy the condition.
        fields: The top-level fields that would be read.

        Returns:
            For each row group, whether it is answered, and the sums of those that are.

    Raises:
        OSError: A file cannot be read.
    """
    answered = np.zeros(len(needed), np.bool_)
    chooser = _Chooser(lake, asked, known, needed, fields)
    numbers = np.unique(lake.file_of[needed]).tolist()
    tables: defaultdict[tuple[Any, ...], list[pa.Table]] = defaultdict(list)
    with ThreadPoolExecutor(lake.threads) as pool:
        for number, (groups, uses) in zip(numbers, pool.map(chooser.of_file, numbers), strict=True):
            answered[lake.first[number] + np.array(sorted(groups), np.int64)] = True
            for measure, keys, table in uses:
                tables[measure, keys, str(table.schema)].append(table)
    sums: list[ZoneSums] = []
    for (measure, keys, _), several in tables.items():
        table = pa.concat_tables(several).combine_chunks()
        chosen = np.asarray(table.column(ROWS)) > 0
        for part in known:
            if part.condition.columns <= set(keys):
                chosen &= rows_of(part.condition, table)
        sums.append((measure, table.filter(pa.array(chosen))))
    return answered, sums


_Use = tuple[str | None, tuple[str, ...], pa.Table]
"""Groups of sums of one file: the measure, the keys, and the groups."""


class _Chooser:
    """Chooses sums, file by file; different threads may process different files."""

    def __init__(
        self, lake: Lake, asked: Question, known: Sequence[Settled], needed: Mask, fields: Sequence[str]
    ) -> None:
        self._lake, self._asked, self._known, self._needed = lake, asked, known, needed
        self._fields = fields

    def of_file(self, number: int) -> tuple[set[int], list[_Use]]:
        """The row groups of a file that are answered, and groups of sums, or of rows that its footer counts. Raises `OSError`."""
        file, first = self._lake.known[number], int(self._lake.first[number])
        row_counts = file.facts.row_counts
        needed = set(np.flatnonzero(self._needed[first : first + len(row_counts)]).tolist())
        chosen: list[tuple[_Use, set[int]]] = []
        answered, counted, by_file = set(needed), set[int](), False
        for measure in (None, *self._asked.measures):
            left = set(needed)
            if measure is None and not self._asked.group_by:
                counted = needed & self._served(number, frozenset())
                left -= counted
            for entry in self._entries(file, measure):
                keys = entry.columns[:-1]
                served = self._served(number, frozenset(keys))
                whole = entry.granularity is Granularity.FILE
                is_all = all(group in served or not rows for group, rows in enumerate(row_counts))
                if not left & served or (whole and not (left == needed and is_all)):
                    continue
                sums = self._sums(number, entry)
                if sums is None:
                    continue
                places = set(pc.unique(sums.column(GROUP)).to_pylist())
                taken = left if -1 in places else left & served & places
                if taken:
                    chosen.append(((measure, keys, sums), taken))
                    by_file = by_file or whole
                    left = left - taken
            answered -= left
            if not answered:
                break
        if not answered or (by_file and answered != needed):
            return set(), []
        rows = sum(row_counts[group] for group in counted & answered)
        uses: list[_Use] = [(None, (), pa.table({ROWS: [rows]}))] if rows else []
        for (measure, keys, sums), taken in chosen:
            places_taken = pa.array([*(taken & answered), -1], pa.int64())
            uses.append((measure, keys, sums.filter(pc.is_in(sums.column(GROUP), value_set=places_taken))))
        return answered, uses

    def _entries(self, file: KnownFile, measure: str | None) -> list[UsableEntry]:
        """The entries of a file that may be used for a measure, the shortest first."""
        usable = [
            entry
            for (kind, column), entries in file.entries.items()
            if kind is IndexType.ZONE_SUMS and measure in (None, column)
            for entry in entries
            if set(self._asked.group_by) <= set(entry.columns[:-1])
            and not (measure in self._asked.summed and sum_kind(entry.leaves[-1]) is SumKind.NONE)
            and file.is_worth(entry, self._fields)
        ]
        return sorted(usable, key=lambda entry: entry.entry.head.stored_length)

    def _served(self, number: int, keys: frozenset[str]) -> set[int]:
        """The row groups of a file in which each part of the condition is only about the given keys, or true of all rows."""
        first, end = self._lake.first[number : number + 2]
        is_served = np.ones(int(end - first), np.bool_)
        for part in self._known:
            if not part.condition.columns <= keys:
                is_served &= part.must[first:end]
        return set(np.flatnonzero(is_served).tolist())

    def _sums(self, number: int, entry: UsableEntry) -> pa.Table | None:
        """The sums of an entry, cached; ``None`` if they are ignored."""
        file = self._lake.known[number]
        if entry.entry.key not in file.blobs:
            opened = file.opened(entry)
            (sums,) = decoded_indexes([opened]) if opened is not None else (None,)
            file.blobs[entry.entry.key] = self._table(number, sums) if isinstance(sums, Sums) else None
        found: pa.Table | None = file.blobs[entry.entry.key]
        return found

    def _table(self, number: int, sums: Sums) -> pa.Table | None:
        columns = [
            (sums.measure, sums.minima),
            (sums.measure, sums.maxima),
            *zip(sums.keys, sums.key_values, strict=True),
        ]
        values = [self._lake.fitting(self._lake.known[number], *column) for column in columns]
        if any(array is None for array in values):
            return None
        groups, places = sums.groups, sums.parts.row_group[sums.part]
        low = np.ascontiguousarray(groups["sum_low"])
        high = np.ascontiguousarray(groups["sum_high"]).view("<i8")
        if sums.kind is SumKind.DOUBLE:
            added: Any = pa.array(low.view("<f8"))
            # A sum can exceed the largest double although no measure is infinite; then the rows are added instead.
            bounds = [np.asarray(array.cast(pa.float64()).fill_null(0.0)) for array in values[:2]]
            is_beyond = ~np.isfinite(low.view("<f8")) & np.isfinite(bounds[0]) & np.isfinite(bounds[1])
        else:
            scale = values[0].type.scale if pa.types.is_decimal(values[0].type) else 0
            raw = np.column_stack([low.view("<i8"), high]).tobytes()
            added = pa.Array.from_buffers(pa.decimal128(38, scale), len(low), [None, pa.py_buffer(raw)])
            is_beyond = (high >= MOST_HIGH) | (high < -MOST_HIGH)
        counts = [groups[name].astype(np.int64) for name in ("row_count", "null_count", "nan_count")]
        names = [GROUP, ROWS, NULLS, NANS, SUM, LEAST, GREATEST, *sums.keys]
        table = pa.table([pa.array(places), *map(pa.array, counts), added, *values], names)
        return table.filter(pa.array(~np.isin(places, places[is_beyond])))


__all__ = ["GREATEST", "LEAST", "NANS", "NULLS", "ROWS", "SUM", "ZoneSums", "answered_by_zones"]
