"""The states of tables, each read once in a check: for the list of its files, for its own verdict and for its delete files.

A check begins with `kept_states`, and its end lets go of them.  A worker process serves one check, and keeps them until it ends.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from contextvars import ContextVar, Token
from functools import lru_cache

from pqassay.stores.table_files import TableAt
from pqassay.tables.delta.state import DeltaState, read_state
from pqassay.tables.iceberg.delete_scope import DeleteScope
from pqassay.tables.iceberg.puffin_footer import PuffinFooter, read_footer
from pqassay.tables.iceberg.state import IcebergState, read_iceberg

TABLES_KEPT = 4
"""Tables of a format whose state a process keeps; of more, each is read for the list of its files and again for its verdict."""

FOOTERS_KEPT = 8
"""Footers of Puffin files that a process keeps."""


class _States:
    """What a check keeps of tables."""

    def __init__(self) -> None:
        self.delta = lru_cache(TABLES_KEPT)(_read_delta)
        self.iceberg = lru_cache(TABLES_KEPT)(_read_iceberg)
        self.scope = lru_cache(TABLES_KEPT)(DeleteScope)
        self.footer = lru_cache(FOOTERS_KEPT)(_read_footer)


_KEPT: ContextVar[_States | None] = ContextVar("_KEPT", default=None)


def keep_states() -> Token[_States | None]:
    """Begin a check: keep the states of tables that are read from now on, and forget those of before."""
    return _KEPT.set(_States())


@contextlib.contextmanager
def kept_states() -> Generator[None]:
    """Keep the states of tables until the end of the block, which is one check; outside of any, nothing is kept."""
    token = keep_states()
    try:
        yield
    finally:
        _KEPT.reset(token)


def delta_state(table: TableAt) -> DeltaState:
    """A Delta table at its moment; see `read_state` for errors."""
    return _kept().delta(table)


def iceberg_state(table: TableAt) -> IcebergState:
    """An Iceberg table at its moment; see `read_iceberg` for errors."""
    return _kept().iceberg(table)


def scope_of(state: IcebergState) -> DeleteScope:
    """To which data files the deletes of a table apply."""
    return _kept().scope(state)


def footer_of(table: TableAt, name: str) -> PuffinFooter:
    """The footer of a Puffin file, which often holds the vectors of many data files; see `read_footer` for errors."""
    return _kept().footer(table, name)


def _kept() -> _States:
    return _KEPT.get() or _States()


def _read_delta(table: TableAt) -> DeltaState:
    return read_state(table, table.moment.version)


def _read_iceberg(table: TableAt) -> IcebergState:
    moment = table.moment
    return read_iceberg(table, moment.pointer, moment.snapshot, moment.ref)


def _read_footer(table: TableAt, name: str) -> PuffinFooter:
    with table.opened(name) as source:
        return read_footer(name, source)
