"""Checks of the snapshots of an Iceberg table, tier ``meta``: their members, and what they say about themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, cast

from pqassay.checks import rule
from pqassay.under_test.file import Broken, NotApplicable
from pqassay.under_test.violation import Violation
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import (
    ADDED,
    DATA,
    OPERATIONS,
    POSITION_DELETES,
    REQUIRED_OF_SNAPSHOTS,
)
from pqassay_tables.checks.iceberg_table.subjects import TABLE
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.delta.actions import Json
from pqassay_tables.metadata.iceberg.schema import objects
from pqassay_tables.metadata.iceberg.state import PUFFIN, IcebergState, total
from pqassay_tables.under_test.iceberg_table import IcebergTable
from pqassay_tables.under_test.table import metadata_field


def _snapshots(table: IcebergTable) -> list[tuple[int, Json]]:
    """The snapshots with their places. Raises `NotApplicable` without any."""
    found = list(enumerate(objects(table.state.metadata, "snapshots")))
    if not found:
        raise NotApplicable
    return found


def _wrong(table: IcebergTable, place: int, path: tuple[str, ...], said: str, expected: str, actual: str) -> Violation:  # fmt: skip
    field = metadata_field(table.file, table.state.file, "snapshots", f"[{place}]", *path)
    return Violation(said, field, expected, actual[:80], remedy=repairs.ICEBERG_METADATA.text)


@rule("ICE-085", of=TABLE)
def snapshots_have_their_members(table: IcebergTable) -> Iterator[Violation]:
    """Many readers refuse the whole table."""
    for place, snapshot in _snapshots(table):
        for name in REQUIRED_OF_SNAPSHOTS:
            if type(snapshot.get(name)) is not int:
                said = f"snapshot {snapshot.get('snapshot-id')} has no {name}"
                yield _wrong(table, place, (name,), said, f"a {name}", str(snapshot.get(name)))


@rule("ICE-086", of=TABLE)
def summaries_name_an_operation(table: IcebergTable) -> Iterator[Violation]:
    """Some readers refuse the table, and those that read changes leave the snapshot out, or do not."""
    summaries = [
        (place, one, cast("Json", one["summary"]))
        for place, one in _snapshots(table)
        if isinstance(one.get("summary"), dict)
    ]
    if not summaries:
        raise NotApplicable
    for place, snapshot, summary in summaries:
        given: Any = summary.get("operation")
        if given not in OPERATIONS:
            said = f"the operation of snapshot {snapshot.get('snapshot-id')} is {str(given)[:40]}"
            path = ("summary", "operation") if "operation" in summary else ("summary",)
            yield _wrong(table, place, path, said, ", ".join(OPERATIONS), str(given))


@rule("ICE-087", of=TABLE)
def summaries_count_what_was_added(table: IcebergTable) -> Iterator[Violation]:
    """A reader of what a snapshot did gets a wrong number."""
    state = table.state
    summary: Any = (state.snapshot or {}).get("summary")
    added = _added(state)
    given = {name: number for name in added if (number := total(summary, name)) is not None}
    if not given:
        raise NotApplicable
    place = next(place for place, one in _snapshots(table) if one is state.snapshot)
    for name, number in given.items():
        if number != added[name]:
            said = f"{name} of the snapshot is {number}, and what its manifests added comes to {added[name]}"
            yield _wrong(table, place, ("summary", name), said, str(added[name]), str(number))


def _added(state: IcebergState) -> dict[str, int]:
    """What a summary should say that the snapshot added; none of sizes where there are delete files, as in totals."""
    files, records, sizes, vectors = Counter[int](), Counter[int](), 0, 0
    for entry in state.entries:
        if entry.status != ADDED:
            continue
        added = entry.manifest.listed.value(field_ids.ADDED_SNAPSHOT_ID)
        if entry.own_snapshot not in (None, added):
            raise Broken("ICE-089")
        if added == state.snapshot_id:
            files[entry.content] += 1
            records[entry.content] += entry.value(field_ids.RECORD_COUNT)
            sizes += entry.value(field_ids.FILE_SIZE_IN_BYTES)
            vectors += entry.format == PUFFIN
    deletes = files.total() - files[DATA]
    sums = {
        "added-data-files": files[DATA],
        "added-records": records[DATA],
        "added-delete-files": deletes,
        "added-dvs": vectors,
        "added-position-deletes": records[POSITION_DELETES],
        "manifests-created": sum(
            one.listed.value(field_ids.ADDED_SNAPSHOT_ID) == state.snapshot_id for one in state.manifests
        ),
    }
    return sums if deletes else {**sums, "added-files-size": sizes}


@rule("ICE-091", of=TABLE)
def schemas_of_snapshots_are_there(table: IcebergTable) -> Iterator[Violation]:
    """Readers of the snapshot do not know its columns."""
    ids = {one.get("schema-id") for one in objects(table.state.metadata, "schemas")}
    named = [(place, one) for place, one in _snapshots(table) if one.get("schema-id") is not None]
    if not ids or not named:
        raise NotApplicable
    for place, snapshot in named:
        if snapshot["schema-id"] not in ids:
            said = f"snapshot {snapshot.get('snapshot-id')} has the schema {snapshot['schema-id']}, which the metadata do not have"
            expected = f"one of {', '.join(map(str, list(ids)[:20]))}"
            yield _wrong(table, place, ("schema-id",), said, expected, str(snapshot["schema-id"]))


@rule("ICE-093", of=TABLE)
def version_1_has_no_sequence_numbers(table: IcebergTable) -> Iterator[Violation]:
    """Some readers take the numbers for too great, and refuse the table."""
    if table.state.version > 1:
        raise NotApplicable
    for place, snapshot in _snapshots(table):
        if (given := snapshot.get("sequence-number")) not in (None, 0):
            said = f"the table is of version 1, and snapshot {snapshot.get('snapshot-id')} has the sequence number {given}"
            yield _wrong(table, place, ("sequence-number",), said, "none", str(given))
