"""The entries of live files in a Delta log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from pqassay.tables.claims import BOUNDS
from pqassay_tables.metadata.delta.actions import Json
from pqassay_tables.metadata.delta.schema import DeltaColumn, DeltaSchema
from pqassay_tables.metadata.delta.state import AddEntry
from pqassay_tables.metadata.delta.statistics import MEMBERS, NULLS, given_by_key
from pqassay_tables.metadata.delta.values import reading_of
from pqassay_tables.under_test.entries import BoundedColumn, BoundsOfColumns, LiveEntry
from pqassay_tables.under_test.table import DeltaTable


class DeltaEntry(LiveEntry[DeltaTable, AddEntry]):
    """The entry of a live file in a log."""

    __slots__ = ()

    @property
    def schema(self) -> DeltaSchema:
        """The columns of the table."""
        return self.table.state.schema

    @property
    def stats(self) -> Json:
        """Its statistics; empty if it has none."""
        return self.entry.stats or {}

    @property
    def nulls(self) -> Mapping[Any, int]:
        """The null counts that are integers, by column key."""
        given = given_by_key(self.schema, self.stats.get(NULLS))
        return {key: count for key, count in given.items() if type(count) is int}

    def counted(self, columns: Iterable[DeltaColumn]) -> Iterator[tuple[DeltaColumn, int]]:
        """The columns with null counts, and the counts."""
        nulls = self.nulls
        return ((column, nulls[column.key]) for column in columns if column.key in nulls)

    @property
    def data_file(self) -> str:
        """The data file, for messages."""
        return self.entry.path or "(no path)"


def entries_of(table: DeltaTable) -> list[DeltaEntry]:
    """The entries of the live files."""
    return [DeltaEntry(table, entry) for entry in table.state.entries]


def bounds_of(table: DeltaTable) -> BoundsOfColumns[DeltaEntry]:
    """The bounds of the columns, in the entries that have statistics."""
    schema = table.state.schema
    entries = [DeltaEntry(table, entry) for entry in table.state.entries if entry.stats is not None]
    return BoundsOfColumns(
        [
            BoundedColumn(column.name, column.type, column.key, partial(reading_of, column))
            for column in schema.columns
        ],
        entries,
        {
            metric: [given_by_key(schema, entry.stats.get(MEMBERS[metric])) for entry in entries]
            for metric in BOUNDS
        },
    )
