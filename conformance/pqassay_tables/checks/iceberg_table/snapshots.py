"""Checks of the snapshots of an Iceberg table, tier ``meta``: their members, and their summaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from pqassay.checks import rule
from pqassay.under_test.file import Broken, NotApplicable
from pqassay.under_test.violation import Violation
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import (
    ADDED,
    DATA,
    EQUALITY_DELETES,
    OPERATIONS,
    POSITION_DELETES,
    REQUIRED_OF_SNAPSHOTS,
)
from pqassay_tables.checks.iceberg_table.metadata import has_snapshot
from pqassay_tables.checks.iceberg_table.subjects import TABLE
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.delta.actions import Json
from pqassay_tables.metadata.iceberg.manifests import Entry
from pqassay_tables.metadata.iceberg.schema import objects
from pqassay_tables.metadata.iceberg.state import PUFFIN, total
from pqassay_tables.under_test.iceberg_table import IcebergTable
from pqassay_tables.under_test.table import metadata_field


def _snapshots(table: IcebergTable) -> list[tuple[int, Json]]:
    """The snapshots with their positions. Raises `NotApplicable` if there are none."""
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
    """Some readers refuse the table. Readers of changes either skip the snapshot or not."""
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
    """Readers of the changes of a snapshot get a wrong number."""
    state, own = table.state, table.state.snapshot_id
    added: list[Entry] = []
    for entry in state.entries:
        if entry.status == ADDED:
            added_by = entry.manifest.listed.value(field_ids.ADDED_SNAPSHOT_ID)
            if entry.own_snapshot not in (None, added_by):
                raise Broken("ICE-089")
            if added_by == own:
                added.append(entry)
    sums = _sums(added)
    counts = {
        "added-data-files": sums.files,
        "added-records": sums.rows,
        "added-delete-files": sums.delete_files,
        "added-dvs": sum(entry.format == PUFFIN for entry in added),
        "added-position-deletes": sums.position_deletes,
        "manifests-created": sum(
            one.listed.value(field_ids.ADDED_SNAPSHOT_ID) == own for one in state.manifests
        ),
    }
    if not sums.delete_files:
        counts["added-files-size"] = sums.size
    return _summary_counts(
        table, {name: (count, "") for name, count in counts.items()}, "its manifests added"
    )


@rule("ICE-056", of=TABLE, only=has_snapshot)
def totals_are_the_sums_of_the_entries(table: IcebergTable) -> Iterator[Violation]:
    """Engines that answer counts from the totals return a wrong number."""
    sums = _sums(table.state.entries)
    totals = {
        "total-data-files": (sums.files, " data files"),
        "total-records": (sums.rows, " rows of data files"),
        "total-delete-files": (sums.delete_files, " delete files"),
        "total-position-deletes": (sums.position_deletes, " position deletes"),
        "total-equality-deletes": (sums.equality_deletes, " equality deletes"),
    }
    if not sums.delete_files:
        totals["total-files-size"] = sums.size, " bytes of files"
    return _summary_counts(table, totals, "its entries add up to")


class _Sums(NamedTuple):
    """The totals of some entries.

    Sizes are not compared if there are delete files, since writers count them in part, completely, or not at all.
    """

    files: int
    delete_files: int
    rows: int
    position_deletes: int
    equality_deletes: int
    size: int


def _sums(entries: Sequence[Entry]) -> _Sums:
    files, rows, size = Counter[int](), Counter[int](), 0
    for entry in entries:
        files[entry.content] += 1
        rows[entry.content] += entry.value(field_ids.RECORD_COUNT)
        size += entry.value(field_ids.FILE_SIZE_IN_BYTES)
    deletes = files[POSITION_DELETES] + files[EQUALITY_DELETES]
    return _Sums(files[DATA], deletes, rows[DATA], rows[POSITION_DELETES], rows[EQUALITY_DELETES], size)


def _summary_counts(
    table: IcebergTable, counts: Mapping[str, tuple[int, str]], words: str
) -> Iterator[Violation]:
    """Compare the counts in the summary of the snapshot with true counts.

    ``words`` name what is counted. Raises `NotApplicable` without counts.
    """
    summary: Any = (table.state.snapshot or {}).get("summary")
    given = {name: number for name in counts if (number := total(summary, name)) is not None}
    if not given:
        raise NotApplicable
    place = next(place for place, one in _snapshots(table) if one is table.state.snapshot)
    for name, number in given.items():
        actual, of = counts[name]
        if number != actual:
            said = f"{name} of the snapshot is {number}, but {words} {actual}{of}"
            yield _wrong(table, place, ("summary", name), said, str(actual), str(number))


@rule("ICE-091", of=TABLE)
def schemas_of_snapshots_are_there(table: IcebergTable) -> Iterator[Violation]:
    """Readers of the snapshot do not know its columns."""
    ids = {one.get("schema-id") for one in objects(table.state.metadata, "schemas")}
    named = [(place, one) for place, one in _snapshots(table) if one.get("schema-id") is not None]
    if not ids or not named:
        raise NotApplicable
    for place, snapshot in named:
        if snapshot["schema-id"] not in ids:
            said = (
                f"snapshot {snapshot.get('snapshot-id')} has the schema "
                f"{snapshot['schema-id']}, which is not in the metadata"
            )
            expected = f"one of {', '.join(map(str, list(ids)[:20]))}"
            yield _wrong(table, place, ("schema-id",), said, expected, str(snapshot["schema-id"]))


@rule("ICE-093", of=TABLE)
def version_1_has_no_sequence_numbers(table: IcebergTable) -> Iterator[Violation]:
    """Some readers consider the numbers too great, and refuse the table."""
    if table.state.version > 1:
        raise NotApplicable
    for place, snapshot in _snapshots(table):
        if (given := snapshot.get("sequence-number")) not in (None, 0):
            said = (
                f"the table has version 1, but snapshot {snapshot.get('snapshot-id')} has "
                f"the sequence number {given}"
            )
            yield _wrong(table, place, ("sequence-number",), said, "none", str(given))
