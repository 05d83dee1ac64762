"""The rows of chosen row groups that satisfy a condition, as Arrow tables: what DuckDB gets of them.

Arrow reads the files; it leaves out what statistics rule out, too.  Where the other columns are longer than those of the condition, these are asked first, and the
others are read only of row groups with a matching row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads

from pqassay_reader.answer.lake import Lake
from pqassay_reader.condition.normal import Condition
from pqassay_reader.condition.rows import column_of, expression_of, rows_of
from pqassay_reader.directory.arrays import Mask
from pqassay_reference.directory.reading.blob import Numbers
from pqassay_reference.errors import Undecodable

ROWS_AT_ONCE = 1 << 20
"""Rows of one table, about."""

FRAGMENT = "__fragment_index"
"""The column in which Arrow counts the parts that it scans."""


class _Unit(NamedTuple):
    """Arrow's part of a file, and the places of its row groups in the lake."""

    part: Any
    places: list[int]

    def alone(self) -> list[_Unit]:
        """Each of its row groups."""
        parts = self.part.split_by_row_group()
        return [_Unit(part, [place]) for part, place in zip(parts, self.places, strict=True)]


class RowTables:
    """The rows of a lake that satisfy a condition.

    Args:
        lake: The files.
        names: The columns that are wanted.
        predicate: The condition; ``None`` for all rows.

    Attributes:
        fields: The fields at the top level that are read.
        has_floats: Whether the condition names floating point numbers: Arrow leaves out NaN that is beside bounds, so that it gets no condition on them.
        length: Bytes of the column chunks that were read so far.

    Raises:
        Refused: The condition does not fit the columns.
    """

    def __init__(self, lake: Lake, names: Sequence[str], predicate: Condition | None) -> None:
        self._lake, self._names, self._predicate = lake, names, predicate
        named = predicate.columns if predicate is not None else frozenset[str]()
        self._asked, self._wanted = lake.fields(named), lake.fields(names)
        self.fields = list(dict.fromkeys([*self._asked, *self._wanted]))
        self.has_floats = any(pa.types.is_floating(lake.kind(name)) for name in named)
        condition = expression_of(predicate, lake.schema) if predicate is not None else None
        self._condition = None if self.has_floats else condition
        self.length = 0

    def rows(self, needed: Mask, sure: Mask) -> Iterator[pa.Table]:
        """The columns of the rows, by their names and in the types in which they are compared, some rows at a time.

        Args:
            needed: The row groups.
            sure: Those of which a row is known to satisfy the condition.

        Raises:
            Undecodable: Pages cannot be decoded.
            OSError: A file cannot be read any more.
        """
        units = self._parts(np.flatnonzero(needed))
        more = [name for name in self._wanted if name not in self._asked]
        is_doubtful = bool(self._asked) and any(not sure[place] for unit in units for place in unit.places)
        if is_doubtful and self._length(units, more) > self._length(units, self._asked):
            alone = [one for unit in units for one in unit.alone()]
            found = [alone[index].places for index, _ in self._scanned(alone, self._asked, with_index=True)]
            units = self._parts(np.unique(np.array(found, np.int64)))
        tables: list[pa.Table] = []
        count = 0
        for _, table in self._scanned(units, self.fields, with_index=False):
            tables.append(table)
            count += len(table)
            if count >= ROWS_AT_ONCE:
                yield self._compared(pa.concat_tables(tables))
                tables, count = [], 0
        if tables:
            yield self._compared(pa.concat_tables(tables))

    def _compared(self, table: pa.Table) -> pa.Table:
        """The columns that are wanted, in the types in which they are compared."""
        wanted = {name: column_of(table, name) for name in self._names}
        # A table of no columns would forget how many rows it has.
        return pa.table(wanted) if wanted else pa.table({"": pa.nulls(len(table))})

    def _parts(self, places: Numbers) -> list[_Unit]:
        """The files of some row groups, but for those that statistics rule out."""
        lake, units = self._lake, list[_Unit]()
        numbers = np.unique(lake.file_of[places]).tolist()
        with ThreadPoolExecutor(lake.threads) as pool:
            list(pool.map(lambda number: lake.fragments[number].ensure_complete_metadata(), numbers))
        for number in numbers:
            part: Any = lake.fragments[number]
            chosen = lake.group_of[places[lake.file_of[places] == number]].tolist()
            if len(chosen) < part.num_row_groups:
                part = part.subset(row_group_ids=chosen)
            if self._condition is not None:
                part = part.subset(self._condition, schema=lake.schema)
                if part.num_row_groups < len(chosen):
                    chosen = [group.id for group in part.row_groups]
            if chosen:
                units.append(_Unit(part, [int(lake.first[number]) + group for group in chosen]))
        return units

    def _length(self, units: Sequence[_Unit], fields: Sequence[str]) -> int:
        lake = self._lake
        return sum(
            lake.known[lake.file_of[unit.places[0]]].data_length(fields, lake.group_of[unit.places])
            for unit in units
        )

    def _scanned(
        self, units: Sequence[_Unit], fields: Sequence[str], *, with_index: bool
    ) -> Iterator[tuple[int, pa.Table]]:
        """Rows that satisfy the condition, with the place of their part among all if that is asked for."""
        if not units:
            return
        lake = self._lake
        self.length += self._length(units, fields)
        parts = [unit.part for unit in units]
        dataset = pads.FileSystemDataset(parts, lake.schema, lake.dataset.format, lake.dataset.filesystem)
        columns = [*fields, *([FRAGMENT] if with_index else [])]
        try:
            for batch in dataset.scanner(columns=columns, filter=self._condition).to_batches():
                table = pa.Table.from_batches([batch])
                if self._predicate is not None and self._condition is None:
                    table = table.filter(pa.array(rows_of(self._predicate, table)))
                elif not table.num_columns:
                    table = pa.table({"": pa.nulls(len(batch))})
                if len(table) and not with_index:
                    yield -1, table
                elif len(table):
                    yield from ((int(index), table) for index in np.unique(table.column(FRAGMENT)))
        except (pa.ArrowException, OSError, ValueError) as error:
            raise self._named(parts, fields, error) from error

    def _named(self, parts: Sequence[Any], fields: Sequence[str], error: Exception) -> Exception:
        """An error with the file and the columns that it is about."""
        if isinstance(error, OSError) and error.errno is not None:
            return error  # by the operating system
        names = {
            part.path: file.name for part, file in zip(self._lake.fragments, self._lake.known, strict=True)
        }
        for part in parts:
            for field in fields:
                try:
                    part.to_table(schema=self._lake.schema, columns=[field])
                except (pa.ArrowException, OSError, ValueError) as again:
                    said = " ".join(str(again).split())
                    return Undecodable(f"{names[part.path]}: {field} cannot be decoded: {said}")
        return Undecodable(" ".join(str(error).split()))


__all__ = ["RowTables"]
