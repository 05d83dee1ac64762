"""The inherited row ids of data files, from version 3 on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pqassay.tables.claims import ClaimPlace
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import DATA
from pqassay_tables.metadata.iceberg.manifests import Entry, Manifest


class RowIds(NamedTuple):
    """The ids of the rows of one data file.

    Attributes:
        first: The first id.
        end: The exclusive end of the ids.
        entry: The entry of the file.
        is_own: Whether the entry itself has the first id, instead of the manifest list.
    """

    first: int
    end: int
    entry: Entry
    is_own: bool

    @property
    def place(self) -> ClaimPlace:
        """The place of the first id."""
        return (
            self.entry.place(field_ids.FIRST_ROW_ID)
            if self.is_own
            else self.entry.manifest.listed.place(field_ids.MANIFEST_FIRST_ROW_ID)
        )

    @property
    def name(self) -> str:
        """The file, for messages."""
        return self.entry.inside or self.entry.path


def ids_of_manifest(manifest: Manifest) -> Iterator[RowIds]:
    """Yield the ids of a manifest's live files: their own, or continued from the first id in the manifest list."""
    following: int | None = manifest.listed.value(field_ids.MANIFEST_FIRST_ROW_ID)
    for entry in manifest.live:
        own, rows = entry.value(field_ids.FIRST_ROW_ID), entry.value(field_ids.RECORD_COUNT)
        if entry.content != DATA or rows < 0:
            continue
        if own is not None:
            yield RowIds(own, own + rows, entry, is_own=True)
        elif following is not None:
            yield RowIds(following, following + rows, entry, is_own=False)
            following += rows
