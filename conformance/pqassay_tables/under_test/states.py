"""The states of tables, each read once in a check: for the list of its files, for its own verdict and for its delete files."""

from __future__ import annotations

from pqassay.stores.table_files import TableAt
from pqassay.tables.kept import kept
from pqassay_tables.metadata.delta.state import DeltaState, read_state
from pqassay_tables.metadata.iceberg.delete_scope import DeleteScope
from pqassay_tables.metadata.iceberg.puffin_footer import PuffinFooter, read_footer
from pqassay_tables.metadata.iceberg.state import IcebergState, read_iceberg

TABLES_KEPT = 4
"""Tables of a format whose state a process keeps; of more, each is read for the list of its files and again for its verdict."""

FOOTERS_KEPT = 8
"""Footers of Puffin files that a process keeps."""


def delta_state(table: TableAt) -> DeltaState:
    """A Delta table at its moment; see `read_state` for errors."""
    return kept(_read_delta, TABLES_KEPT)(table)


def iceberg_state(table: TableAt) -> IcebergState:
    """An Iceberg table at its moment; see `read_iceberg` for errors."""
    return kept(_read_iceberg, TABLES_KEPT)(table)


def scope_of(state: IcebergState) -> DeleteScope:
    """To which data files the deletes of a table apply."""
    return kept(DeleteScope, TABLES_KEPT)(state)


def footer_of(table: TableAt, name: str) -> PuffinFooter:
    """The footer of a Puffin file, which often holds the vectors of many data files; see `read_footer` for errors."""
    return kept(_read_footer, FOOTERS_KEPT)(table, name)


def _read_delta(table: TableAt) -> DeltaState:
    return read_state(table, table.moment.version)


def _read_iceberg(table: TableAt) -> IcebergState:
    moment = table.moment
    return read_iceberg(table, moment.pointer, moment.snapshot, moment.ref)


def _read_footer(table: TableAt, name: str) -> PuffinFooter:
    with table.opened(name) as source:
        return read_footer(name, source)
