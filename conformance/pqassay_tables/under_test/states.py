"""A cache of table states for a check: each is read once for the list of files, the verdict and the delete files."""

from __future__ import annotations

from pqassay.stores.table_files import TableAt
from pqassay.tables.kept import kept
from pqassay_tables.metadata.delta.state import DeltaState, read_state
from pqassay_tables.metadata.iceberg.delete_scope import DeleteScope
from pqassay_tables.metadata.iceberg.puffin_footer import PuffinFooter, read_footer
from pqassay_tables.metadata.iceberg.state import IcebergState, read_iceberg

TABLES_KEPT = 4
"""The number of cached table states of a format; if a check has more tables, states are read twice."""

FOOTERS_KEPT = 8
"""The number of cached footers of Puffin files."""


def delta_state(table: TableAt) -> DeltaState:
    """The state of a Delta table; see `read_state` for errors."""
    return kept(_read_delta, TABLES_KEPT)(table)


def iceberg_state(table: TableAt) -> IcebergState:
    """The state of an Iceberg table; see `read_iceberg` for errors."""
    return kept(_read_iceberg, TABLES_KEPT)(table)


def scope_of(state: IcebergState) -> DeleteScope:
    """The data files to which the deletes of a table apply."""
    return kept(DeleteScope, TABLES_KEPT)(state)


def footer_of(table: TableAt, name: str) -> PuffinFooter:
    """The footer of a Puffin file, cached since it often has vectors of many data files; see `read_footer` for errors."""
    return kept(_read_footer, FOOTERS_KEPT)(table, name)


def _read_delta(table: TableAt) -> DeltaState:
    return read_state(table, table.moment.version)


def _read_iceberg(table: TableAt) -> IcebergState:
    moment = table.moment
    return read_iceberg(table, moment.pointer, moment.snapshot, moment.ref)


def _read_footer(table: TableAt, name: str) -> PuffinFooter:
    with table.opened(name) as source:
        return read_footer(name, source)
