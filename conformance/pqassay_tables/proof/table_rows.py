"""The live rows of a table of any format, and the queries that may show false claims about them."""

from __future__ import annotations

import contextlib
import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pqassay.proof.candidates import MOST_QUERIES, by_ends, every_column
from pqassay.proof.queries import NoQuery, Query, QueryColumn, number_of, true_rows
from pqassay.proof.true_values import TrueValues
from pqassay.proof.worker import Planned
from pqassay.report.model import Finding
from pqassay.stores.table_files import TableAt
from pqassay.tables.claims import FileClaims
from pqassay.under_test.file import FileUnderTest, NotChecked, Options
from pqassay_spec.base.sources import FileSource
from pqassay_tables.proof.claimed_candidates import claimed_candidates

MOST_FILES = 200
"""The largest number of live files of a table whose rows are read."""

MOST_ROWS = 20_000_000
"""The largest number of rows of such a table."""

MOST_ASKED_FILES = 3
"""The number of files whose values are used for queries about the whole table."""


def require_few(files: int) -> None:
    """Raise `NotChecked` for a table with too many files."""
    if files > MOST_FILES:
        raise NotChecked(f"the table has more than {MOST_FILES} files", "tool")


@dataclass
class TableRows(ABC):
    """The rows of a table in its newest state."""

    table: TableAt
    stack: ExitStack
    _files: dict[str, TrueValues] = field(default_factory=dict[str, TrueValues])

    @property
    @abstractmethod
    def live(self) -> Mapping[str, tuple[str, FileClaims]]:
        """The live data files, relative to the table, with their entries and claims.

        An entry is given as the prefix of field paths in findings. Raises the errors of reading the metadata.
        """

    @property
    @abstractmethod
    def partition_columns(self) -> Sequence[str]:
        """The columns by which the table is partitioned, including source columns of partition transforms."""

    @property
    def delete_files(self) -> Collection[str]:
        """The delete files, relative to the table. Raises the errors of reading the metadata."""
        return ()

    @property
    def delete_places(self) -> Collection[str]:
        """The entries of the delete files, as prefixes of field paths in findings."""
        return ()

    @abstractmethod
    def write_plain(self, table: pa.Table, folder: Path) -> None:
        """Write rows as a table without claims."""

    def require_name(self, column: QueryColumn) -> None:  # noqa: B027 - the names of files are those of most tables
        """Raise `NoQuery` if the table has no column with this name."""

    @property
    def first_file(self) -> str:
        """The first data file whose rows were read."""
        return next(iter(self._files.values())).file.source.name

    def remaining(self, values: TrueValues, name: str) -> list[Any]:
        """The values of a column in live rows, an array for each row group."""
        return values.by_row_group(name)

    def candidates(self, finding: Finding, path: str) -> list[Query]:
        """The queries to try for a finding about a data file. Raises `NotChecked`."""
        name = path.replace(os.sep, "/")
        place, claims = self.live.get(name, ("", None))
        folder = f"{place.partition('/')[0]}/"  # schemas of the metadata, as opposed to deletion vectors
        told = [position.field for position in finding.at if position.field.startswith(folder)]
        places = (place, *self.delete_places)
        if claims is None or not all(one.startswith(places) for one in told):
            raise NoQuery("the finding is about an older version, and queries are tried on the newest")
        values = self._values(name)
        column = finding.column or next((leaf.name for leaf in values.file.leaves), "")
        remaining = pa.chunked_array(self.remaining(values, column), values.column(column).type)
        return claimed_candidates(finding, values, claims, column, remaining)

    def general(self, name: str | None = None) -> list[Query]:
        """Queries that show many kinds of damage in a table: all rows, the row count, and values of the first files.

        Args:
            name: The first column to query; by default, the source columns of partitions.
        """
        queries = [Query(())]
        for place in list(self.live)[:MOST_ASKED_FILES]:
            values = self._values(place)
            if len(queries) == 1:
                queries.append(every_column(values))
            first = [name] if name else [*self.partition_columns]
            for column in dict.fromkeys([*first, *(leaf.name for leaf in values.file.leaves)]):
                with contextlib.suppress(NotChecked):
                    rows = self.remaining(values, column)
                    queries += by_ends(values.column(column), rows)
                    break
        return list(dict.fromkeys(queries))[:MOST_QUERIES]

    def _values(self, name: str) -> TrueValues:
        if name not in self._files:
            source = self.stack.enter_context(FileSource(self.table.path_of(name)))
            claims = self.live[name][1]
            file = FileUnderTest(source, Options("values"), table=self.table, claims=claims)
            self._files[name] = TrueValues(file)
        return self._files[name]

    def rows(self, columns: Sequence[QueryColumn]) -> pa.Table:
        """All rows of some columns, from all files. Raises `NotChecked`."""
        pieces: list[pa.Table] = []
        for name in self.live:
            values = self._values(name)
            has = {leaf.name for leaf in values.file.leaves}
            arrays: dict[str, Any] = {
                column.name: pa.chunked_array(self.remaining(values, column.name), values.column(column.name).type)
                for column in columns
                if column.name in has
            }  # fmt: skip
            if len({len(array) for array in arrays.values()}) != 1:
                raise NotChecked(f"{name} lacks these columns, or their rows differ in number", "file")
            count = len(next(iter(arrays.values())))
            pieces.append(
                pa.table({column.name: arrays[column.name].cast(column.type) if column.name in arrays else pa.nulls(count, column.type) for column in columns})
            )  # fmt: skip
            if sum(map(len, pieces)) > MOST_ROWS:
                raise NotChecked(f"the table has more than {MOST_ROWS:,} rows", "tool")
        return pa.concat_tables(pieces)

    def planned(self, query: Query, folder: Path, number: int) -> Planned:
        """A numbered query, with its true rows, and a table of the same rows without statistics, in a folder."""
        for column in query.used:
            self.require_name(column)
        used = query.used or list(every_column(self._values(next(iter(self.live), ""))).columns)
        table = self.rows(used)
        truth = folder / f"truth-{number}.arrow"
        rows = true_rows(query, table)
        with pa.OSFile(str(truth), "wb") as file, pa.ipc.new_file(file, rows.schema) as writer:
            writer.write_table(rows)
        healthy = folder / f"healthy-{number}"
        self.write_plain(table, healthy)
        return Planned(query, number_of(rows), truth, healthy)


def as_in_file(table: pa.Table, path: str) -> pa.Table:
    """Rows converted to the column types of a Parquet file."""
    given = pq.read_schema(path)
    for place, name in enumerate(table.column_names):
        if name in given.names:
            table = table.set_column(place, name, table.column(name).cast(given.field(name).type))
    return table
