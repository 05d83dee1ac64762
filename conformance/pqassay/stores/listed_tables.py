"""Detection of tables in a listing of a store."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

from pqassay.stores.formats import Moment, shown_by
from pqassay.stores.table_files import TableAt
from pqassay_spec.table.layout import TableKind

if TYPE_CHECKING:
    from pqassay.stores.remote import ListedFile, StorePlace

Root = tuple[str, ...]
"""The path of a table, as names relative to the listed folder."""


def root_in(tables: Container[Root], names: Sequence[str]) -> Root | None:
    """The outermost table that contains a file; ``None`` if there is none."""
    return next((root for end in range(len(names)) if (root := tuple(names[:end])) in tables), None)


def listed_tables(folder: StorePlace, listed: Sequence[ListedFile], moment: Moment) -> dict[Root, TableAt]:
    """The tables in a listing, each with the sizes of its files.

    Args:
        folder: The listed folder.
        listed: The files below it.
        moment: The state of the tables to judge.
    """
    kinds: dict[Root, TableKind] = {}
    for entry in listed:
        if (found := shown_by(entry.names)) is not None:
            kinds.setdefault(tuple(entry.names[:-2]), found.kind)
    sizes: dict[Root, dict[str, int]] = {}
    for entry in listed:
        if (root := root_in(kinds, entry.names)) is not None:
            sizes.setdefault(root, {})["/".join(entry.names[len(root) :])] = entry.size
    tables: dict[Root, TableAt] = {}
    for root, lengths in sizes.items():
        place = folder.below(list(root), size=0)
        name, path = place.name.rstrip("/"), place.path.rstrip("/")
        tables[root] = TableAt(kinds[root], name, path, folder.store, moment, lengths)
    return tables
