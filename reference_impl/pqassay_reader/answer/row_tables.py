"""The rows of chosen row groups that satisfy a condition, as Arrow tables for DuckDB.

Arrow reads the files, and also skips what their statistics exclude.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads

from pqassay_reader.answer.lake import Lake
from pqassay_reader.condition.normal import Condition
from pqassay_reader.condition.rows import column_of, expression_of, rows_of
from pqassay_reader.directory.arrays import Mask
from pqassay_reference.errors import Undecodable

ROWS_AT_ONCE = 1 << 20
"""Approximate number of rows in one table."""


class RowTables:
    """The rows of a lake that satisfy a condition.

    Args:
        lake: The files.
        names: The requested columns.
        predicate: The condition; ``None`` for all rows.

    Attributes:
        fields: The top-level fields that are read.
        has_floats: Whether the condition names floating point numbers. Arrow then gets no condition, because it would skip NaN that is
            outside the bounds.
        length: Bytes of the column chunks that were read so far.

    Raises:
        Refused: The condition does not fit the columns.
    """

    def __init__(self, lake: Lake, names: Sequence[str], predicate: Condition | None) -> None:
        self._lake, self._names, self._predicate = lake, names, predicate
        named = predicate.columns if predicate is not None else frozenset[str]()
        self.fields = lake.fields({*named, *names})
        self.has_floats = any(pa.types.is_floating(lake.kind(name)) for name in named)
        condition = expression_of(predicate, lake.schema) if predicate is not None else None
        self._condition = None if self.has_floats else condition
        self.length = 0

    def rows(self, needed: Mask) -> Iterator[pa.Table]:
        """Yield the columns of the rows of some row groups in batches, by their names and in the types in which they are compared.

        Raises:
            Undecodable: Pages cannot be decoded.
            OSError: A file can no longer be read.
        """
        gathered: list[pa.Table] = []
        for table in self._scanned(self._parts(needed)):
            gathered.append(table)
            if sum(map(len, gathered)) >= ROWS_AT_ONCE:
                yield self._compared(pa.concat_tables(gathered))
                gathered = []
        if gathered:
            yield self._compared(pa.concat_tables(gathered))

    def _compared(self, table: pa.Table) -> pa.Table:
        """The requested columns, in the types in which they are compared."""
        wanted = {name: column_of(table, name) for name in self._names}
        # A table without columns would lose its number of rows.
        return pa.table(wanted) if wanted else pa.table({"": pa.nulls(len(table))})

    def _parts(self, needed: Mask) -> list[Any]:
        """Arrow's fragments for some row groups, without those that statistics exclude."""
        lake, parts = self._lake, list[Any]()
        numbers = np.unique(lake.file_of[needed]).tolist()
        with ThreadPoolExecutor(lake.threads) as pool:
            list(pool.map(lambda number: lake.fragments[number].ensure_complete_metadata(), numbers))
        for number in numbers:
            part: Any = lake.fragments[number]
            chosen = lake.group_of[needed & (lake.file_of == number)].tolist()
            if len(chosen) < part.num_row_groups:
                part = part.subset(row_group_ids=chosen)
            if self._condition is not None:
                # Statistics in a type that does not fit the column of the dataset exclude nothing.
                with suppress(pa.ArrowException):
                    part = part.subset(self._condition, schema=lake.schema)
                    chosen = [group.id for group in part.row_groups]
            if chosen:
                self.length += lake.known[number].data_length(self.fields, chosen)
                parts.append(part)
        return parts

    def _scanned(self, parts: list[Any]) -> Iterator[pa.Table]:
        """Rows that satisfy the condition."""
        lake = self._lake
        dataset = pads.FileSystemDataset(parts, lake.schema, lake.dataset.format, lake.dataset.filesystem)
        try:
            for batch in dataset.scanner(columns=self.fields, filter=self._condition).to_batches():
                table = pa.Table.from_batches([batch])
                if self._predicate is not None and self._condition is None:
                    table = table.filter(pa.array(rows_of(self._predicate, table)))
                elif not table.num_columns:
                    table = pa.table({"": pa.nulls(len(batch))})
                if len(table):
                    yield table
        except (pa.ArrowException, OSError, ValueError) as error:
            raise self._named(parts, error) from error

    def _named(self, parts: Sequence[Any], error: Exception) -> Exception:
        """An error with the name of the file and of its columns."""
        if isinstance(error, OSError) and error.errno is not None:
            return error  # by the operating system
        names = {file.path: file.name for file in self._lake.known}
        for part in parts:
            for field in self.fields:
                try:
                    part.to_table(schema=self._lake.schema, columns=[field])
                except (pa.ArrowException, OSError, ValueError) as again:
                    message = " ".join(str(again).split())
                    return Undecodable(f"{names[part.path]}: {field} cannot be decoded: {message}")
        return Undecodable(" ".join(str(error).split()))


__all__ = ["RowTables"]
