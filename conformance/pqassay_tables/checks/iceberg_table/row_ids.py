"""Checks of the ids that rows of data files are given, tier ``meta``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

from pqassay.checks import rule
from pqassay.tables.claims import Place
from pqassay.under_test.file import Broken, NotApplicable
from pqassay.under_test.violation import Violation
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import DATA, ROW_IDS_SINCE
from pqassay_tables.checks.iceberg_table.subjects import TABLE
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.iceberg.manifests import Entry, Manifest
from pqassay_tables.metadata.iceberg.schema import objects
from pqassay_tables.metadata.iceberg.state import IcebergState
from pqassay_tables.under_test.iceberg_table import IcebergTable
from pqassay_tables.under_test.table import claim_field, metadata_field

REMEDY = repairs.ICEBERG_ROW_IDS.text


class RowIds(NamedTuple):
    """The ids of the rows of one data file.

    Attributes:
        first: The first of them.
        end: The first behind them.
        entry: The entry of the file.
        is_own: Whether the entry itself says it, and not the manifest list.
    """

    first: int
    end: int
    entry: Entry
    is_own: bool

    @property
    def place(self) -> Place:
        """Where the first id is written."""
        return (
            self.entry.place(field_ids.FIRST_ROW_ID)
            if self.is_own
            else self.entry.manifest.listed.place(field_ids.MANIFEST_FIRST_ROW_ID)
        )

    @property
    def name(self) -> str:
        """The file, for messages."""
        return self.entry.inside or self.entry.path


def _of_manifest(manifest: Manifest) -> Iterator[RowIds]:
    """The ids of the live files of a manifest: their own, or counted on from the one that the manifest list has."""
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


def _ids(state: IcebergState) -> list[RowIds]:
    """The ids of all live data files, each file once. Raises `NotApplicable` where rows have none."""
    if state.version < ROW_IDS_SINCE:
        raise NotApplicable
    found: dict[str, RowIds] = {}
    for manifest in state.manifests:
        for ids in _of_manifest(manifest):
            if ids.end > ids.first:
                found.setdefault(ids.entry.path, ids)
    if not found:
        raise NotApplicable
    return sorted(found.values(), key=lambda ids: (ids.first, ids.end))


@rule("ICE-028", of=TABLE)
def ids_are_given_once(table: IcebergTable) -> Iterator[Violation]:
    """Two rows are taken for versions of the same one, and changes of one for changes of the other."""
    widest: RowIds | None = None
    for ids in _ids(table.state):
        if widest is not None and ids.first < widest.end:
            yield Violation(
                f"rows of {ids.name} have the ids from {ids.first} on, and those of {widest.name} have {widest.first} to {widest.end - 1}",
                claim_field(table.file, ids.place),
                expected=f"{widest.end} or more",
                actual=str(ids.first),
                remedy=REMEDY,
            )
        if widest is None or ids.end > widest.end:
            widest = ids


@rule("ICE-029", of=TABLE)
def the_next_id_is_free(table: IcebergTable) -> Iterator[Violation]:
    """Rows that are added next get ids that others have."""
    last = max(_ids(table.state), key=lambda ids: ids.end)
    given = table.state.metadata.get("next-row-id")
    if type(given) is not int or given < last.end:
        yield Violation(
            f"next-row-id is {str(given)[:40]}, and rows of {last.name} have ids up to {last.end - 1}",
            metadata_field(table.file, table.state.file, "next-row-id"),
            expected=f"{last.end} or more",
            actual=str(given)[:40],
        )


@rule("ICE-092", of=TABLE)
def ids_of_snapshots_were_given_away(table: IcebergTable) -> Iterator[Violation]:
    """The next rows get ids that rows of the snapshot have."""
    state = table.state
    following = state.metadata.get("next-row-id")
    if state.version < ROW_IDS_SINCE:
        raise NotApplicable
    if type(following) is not int:
        raise Broken("ICE-078")
    with contextlib.suppress(NotApplicable):
        if max(ids.end for ids in _ids(state)) > following:
            raise Broken("ICE-029")
    named = [
        (place, one)
        for place, one in enumerate(objects(state.metadata, "snapshots"))
        if type(one.get("first-row-id")) is int and type(one.get("added-rows")) is int
    ]
    if not named:
        raise NotApplicable
    for place, snapshot in named:
        first, rows = snapshot["first-row-id"], snapshot["added-rows"]
        if first < 0 or rows < 0 or first + rows > following:
            yield Violation(
                f"snapshot {snapshot.get('snapshot-id')} gives {rows} rows ids from {first} on, and next-row-id is {following}",
                metadata_field(table.file, state.file, "snapshots", f"[{place}]", "added-rows"),
                expected=f"ids below {following}",
                actual=f"{first} to {first + rows - 1}",
            )
