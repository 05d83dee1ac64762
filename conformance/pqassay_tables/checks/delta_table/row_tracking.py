"""Checks of row tracking, tier ``meta``: the row ids in the entries of files."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.under_test.violation import Violation
from pqassay_spec.table.delta import ENABLE_ROW_TRACKING, HIGH_WATER_MARK, ROW_TRACKING, ROW_TRACKING_DOMAIN
from pqassay_spec.table.layout import delta_checkpoint, delta_commit
from pqassay_tables.checks.delta_table.subjects import ENTRY, TABLE
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.delta.actions import object_of
from pqassay_tables.metadata.delta.state import AddEntry
from pqassay_tables.metadata.delta.statistics import BASE, ROWS, count_of
from pqassay_tables.under_test.delta_entries import DeltaEntry
from pqassay_tables.under_test.table import DeltaTable

SINCE = "defaultRowCommitVersion"
RESTATED = repairs.DELTA_ROW_IDS.text


def tracks_rows(table: DeltaTable) -> bool:
    """Whether rows have ids."""
    return ROW_TRACKING in table.state.writer_features


def must_be_tracked(one: DeltaEntry) -> bool:
    """Whether every row of the table must have an id."""
    configuration = object_of(one.table.state.metadata.get("configuration"))
    return tracks_rows(one.table) and str(configuration.get(ENABLE_ROW_TRACKING)).lower() == "true"


def _ranges(table: DeltaTable) -> list[tuple[int, int, AddEntry]]:
    """The first row id of each file, the end of its ids, and its entry, in ascending order; each file occurs once."""
    found: list[tuple[int, int, AddEntry]] = []
    for entry in {entry.inside or entry.path: entry for entry in table.state.entries}.values():
        base, rows = count_of(entry.action.get(BASE)), count_of((entry.stats or {}).get(ROWS))
        if base is not None and rows:
            found.append((base, base + rows, entry))
    return sorted(found, key=lambda one: one[:2])


@rule("DLT-022", of=TABLE, only=tracks_rows)
def row_ids_are_unique(table: DeltaTable) -> Iterator[Violation]:
    """If two rows have the same id, readers confuse them."""
    end, before = 0, ""
    for start, behind, entry in _ranges(table):
        if before and start < end:
            said = f"the row ids of {entry.path} begin at {start}, but those of {before} end at {end - 1}"
            yield table.wrong(entry.place.below(BASE), said, f"{end} or more", str(start), remedy=RESTATED)
        if behind > end:
            end, before = behind, entry.path


@rule("DLT-040", of=ENTRY, only=must_be_tracked)
def all_rows_have_ids(one: DeltaEntry) -> Iterator[Violation]:
    """If the table claims that every row has an id, readers rely on it."""
    for name in (BASE, SINCE):
        given = one.entry.action.get(name)
        if given is None or (name == BASE and (type(given) is not int or given < 0)):
            fault = "no" if given is None else "an impossible"
            said = f"rows are tracked, but the entry of {one.data_file} has {fault} {name}"
            actual = "none" if given is None else str(given)[:40]
            yield one.wrong(one.entry.place, said, name, actual, remedy=RESTATED)


@rule("DLT-041", of=TABLE, only=tracks_rows)
def the_high_water_mark_is_above_all_ids(table: DeltaTable) -> Iterator[Violation]:
    """The next writer assigns ids that are already used."""
    ranges = _ranges(table)
    if not ranges:
        return
    end = max(behind for _, behind, _ in ranges)
    entry = next(entry for _, behind, entry in ranges if behind == end)
    mark = table.state.greatest_row_id
    if mark is None or mark < end - 1:
        said = f"the highest row id is {end - 1}, of {entry.path}, and the domain {ROW_TRACKING_DOMAIN} says {'nothing' if mark is None else mark}"
        place, expected = entry.place.below(BASE), f"{HIGH_WATER_MARK} of {end - 1} or more"
        yield table.wrong(place, said, expected, "none" if mark is None else str(mark), remedy=RESTATED)


@rule("DLT-042", of=ENTRY, only=lambda one: tracks_rows(one.table))
def rows_come_from_versions_that_there_are(one: DeltaEntry) -> Iterator[Violation]:
    """A query for changes since a version returns rows that did not change."""
    since = one.entry.action.get(SINCE)
    name = one.entry.file.rpartition("/")[2]
    told, commit = delta_checkpoint(name), delta_commit(name)
    version = commit if commit is not None else one.table.state.segment.version  # unknown in a sidecar
    version = version if told is None else told.version
    if since is not None and (type(since) is not int or not 0 <= since <= version):
        said = f"{SINCE} of {one.data_file} is {since}, but the version is {version}"
        yield one.wrong(one.entry.place.below(SINCE), said, f"0 to {version}", str(since), remedy=RESTATED)
