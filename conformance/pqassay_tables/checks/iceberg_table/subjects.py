"""What rules about Iceberg tables are about: the table, its manifests, and the entries of its live files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pqassay.checks.subjects import Subject
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import Malformed
from pqassay_tables.under_test.entry_bounds import EntryBounds
from pqassay_tables.under_test.iceberg_entries import (
    EntryUnderTest,
    ManifestUnderTest,
    bounds_of,
    entries_of,
    manifests_of,
)
from pqassay_tables.under_test.iceberg_table import IcebergTable
from pqassay_tables.under_test.table import raised_field


def _table(file: FileUnderTest) -> list[IcebergTable]:
    if file.table is None or file.table.kind != "iceberg" or file.claims is not None:
        return []
    return [file.part(IcebergTable)]


def _entries(file: FileUnderTest) -> list[EntryUnderTest]:
    return [entry for table in _table(file) for entry in entries_of(table)]


def _of_entry(violation: Violation, one: EntryUnderTest) -> Violation:
    return replace(violation, data_file=one.entry.inside)


def _manifests(file: FileUnderTest) -> list[ManifestUnderTest]:
    return [manifest for table in _table(file) for manifest in manifests_of(table)]


TABLE: Subject[IcebergTable] = Subject("Iceberg table", _table)
"""The table as its metadata describe it."""

MANIFEST: Subject[ManifestUnderTest] = Subject("manifest", _manifests)
"""A manifest of the snapshot."""

ENTRY: Subject[EntryUnderTest] = Subject("manifest entry", _entries, _of_entry)
"""The entry of a live file."""


def _bounds(file: FileUnderTest) -> Sequence[EntryBounds[EntryUnderTest]]:
    found = [bounds_of(table) for table in _table(file)]
    return found[0] if found else []


BOUNDS_OF_COLUMN: Subject[EntryBounds[EntryUnderTest]] = Subject("bounds of a column of manifests", _bounds)
"""The bounds of a column in all entries that have bounds."""


def broken_by_reading(table: IcebergTable, rule_id: str) -> Iterator[Violation]:
    """The place where the metadata cannot be read, if a rule is why."""
    try:
        _ = table.metadata if rule_id == "ICE-001" else table.state
        if rule_id == "ICE-001":
            _ = table.state
    except Malformed as error:
        if error.rule == rule_id:
            yield Violation(error.reason, raised_field(table.file, error), error.expected, error.actual)
        elif rule_id != "ICE-001":
            raise
