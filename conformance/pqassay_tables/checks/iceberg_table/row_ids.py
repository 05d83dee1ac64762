"""Checks of the assigned row ids of data files, tier ``meta``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.under_test.file import Broken, NotApplicable
from pqassay.under_test.violation import Violation
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import DATA, FORMAT_VERSION, ROW_IDS_SINCE
from pqassay_tables.checks.iceberg_table.subjects import TABLE
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.delta.actions import Json
from pqassay_tables.metadata.iceberg.manifests import Manifest
from pqassay_tables.metadata.iceberg.row_ids import RowIds, ids_of_manifest
from pqassay_tables.metadata.iceberg.schema import objects
from pqassay_tables.metadata.iceberg.state import IcebergState
from pqassay_tables.under_test.iceberg_table import IcebergTable
from pqassay_tables.under_test.table import metadata_field

REMEDY = repairs.ICEBERG_ROW_IDS.text


def _ids(state: IcebergState) -> list[RowIds]:
    """The row ids of all live data files, each file once. Raises `NotApplicable` if rows have no ids."""
    if state.version < ROW_IDS_SINCE:
        raise NotApplicable
    ids_by_path: dict[str, RowIds] = {}
    for manifest in state.manifests:
        for ids in ids_of_manifest(manifest):
            if ids.end > ids.first:
                ids_by_path.setdefault(ids.entry.path, ids)
    if not ids_by_path:
        raise NotApplicable
    return sorted(ids_by_path.values(), key=lambda ids: (ids.first, ids.end))


@rule("ICE-028", of=TABLE)
def ids_are_given_once(table: IcebergTable) -> Iterator[Violation]:
    """Readers take two rows for versions of the same row, and confuse their changes."""
    widest: RowIds | None = None
    for ids in _ids(table.state):
        if widest is not None and ids.first < widest.end:
            said = (
                f"rows of {ids.name} have ids from {ids.first}, but those of {widest.name} "
                f"have {widest.first} to {widest.end - 1}"
            )
            yield table.wrong(ids.place, said, f"{widest.end} or more", str(ids.first), remedy=REMEDY)
        if widest is None or ids.end > widest.end:
            widest = ids


@rule("ICE-029", of=TABLE)
def the_next_id_is_free(table: IcebergTable) -> Iterator[Violation]:
    """New rows get ids that other rows already have."""
    last = max(_ids(table.state), key=lambda ids: ids.end)
    next_id = table.state.metadata.get("next-row-id")
    if type(next_id) is not int or next_id < last.end:
        yield Violation(
            f"next-row-id is {str(next_id)[:40]}, but rows of {last.name} have ids up to {last.end - 1}",
            metadata_field(table.file, table.state.file, "next-row-id"),
            expected=f"{last.end} or more",
            actual=str(next_id)[:40],
        )


@rule("ICE-092", of=TABLE)
def ids_of_snapshots_were_given_away(table: IcebergTable) -> Iterator[Violation]:
    """New rows get ids that rows of the snapshot already have."""
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
                (
                    f"snapshot {snapshot.get('snapshot-id')} gives {rows} rows ids from {first}, "
                    f"but next-row-id is {following}"
                ),
                metadata_field(table.file, state.file, "snapshots", f"[{place}]", "added-rows"),
                expected=f"ids below {following}",
                actual=f"{first} to {first + rows - 1}",
            )


@rule("ICE-099", of=TABLE)
def rows_of_snapshots_have_ids(table: IcebergTable) -> Iterator[Violation]:
    """Rows without ids cannot be followed from one snapshot to the next."""
    state = table.state
    snapshot = state.snapshot
    if state.version < ROW_IDS_SINCE or snapshot is None:
        raise NotApplicable
    manifests = [manifest for manifest in state.manifests if manifest.listed.content == DATA]
    if snapshot.get("first-row-id") is None:
        if not any(_is_added_since_3(manifest, snapshot) for manifest in manifests):
            raise NotApplicable  # it may be older than version 3
        number = objects(state.metadata, "snapshots").index(snapshot)
        yield Violation(
            f"snapshot {state.snapshot_id} has manifests of version {ROW_IDS_SINCE}, but no first row id",
            metadata_field(table.file, state.file, "snapshots", f"[{number}]"),
            expected="first-row-id",
            actual="none",
            remedy=REMEDY,
        )
        return
    for manifest in manifests:
        if manifest.listed.value(field_ids.MANIFEST_FIRST_ROW_ID) is None:
            said = f"the manifest list gives no first row id to {manifest.name}, which has data files"
            place = manifest.listed.place(field_ids.MANIFEST_FIRST_ROW_ID)
            yield table.wrong(place, said, "a row id", "null", remedy=REMEDY)


def _is_added_since_3(manifest: Manifest, snapshot: Json) -> bool:
    version = manifest.metadata.get(FORMAT_VERSION, b"")
    is_new = version.isdigit() and int(version[:9]) >= ROW_IDS_SINCE
    return is_new and manifest.listed.value(field_ids.ADDED_SNAPSHOT_ID) == snapshot.get("snapshot-id")


@rule("ICE-100", of=TABLE)
def deletes_have_no_row_ids(table: IcebergTable) -> Iterator[Violation]:
    """Readers do not look for them, since rows of delete files are not rows of the table."""
    state = table.state
    if state.version < ROW_IDS_SINCE or all(each.listed.content == DATA for each in state.manifests):
        raise NotApplicable
    for manifest in state.manifests:
        places = (
            [
                (
                    manifest.listed.value(field_ids.MANIFEST_FIRST_ROW_ID),
                    manifest.name,
                    manifest.listed.place(field_ids.MANIFEST_FIRST_ROW_ID),
                )
            ]
            if manifest.listed.content != DATA
            else []
        )
        places += [
            (
                entry.value(field_ids.FIRST_ROW_ID),
                entry.inside or entry.path,
                entry.place(field_ids.FIRST_ROW_ID),
            )
            for entry in manifest.live
            if entry.content != DATA
        ]
        for value, name, place in places:
            if value is not None:
                said = f"{name} holds deletes, but has the first row id {value}"
                yield table.wrong(place, said, "null", str(value))
