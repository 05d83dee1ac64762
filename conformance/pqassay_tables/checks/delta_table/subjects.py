"""What rules about Delta tables are about: the table, and the entries of its live files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pqassay.checks.subjects import Subject
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import Malformed
from pqassay_tables.under_test.delta_entries import EntryUnderTest, bounds_of, entries_of
from pqassay_tables.under_test.entry_bounds import EntryBounds
from pqassay_tables.under_test.table import DeltaTable, raised_field


def _table(file: FileUnderTest) -> list[DeltaTable]:
    if file.table is None or file.table.kind != "delta" or file.claims is not None:
        return []
    return [file.part(DeltaTable)]


def _entries(file: FileUnderTest) -> list[EntryUnderTest]:
    return [entry for table in _table(file) for entry in entries_of(table)]


def _of_entry(violation: Violation, one: EntryUnderTest) -> Violation:
    return replace(violation, data_file=one.entry.inside)


TABLE: Subject[DeltaTable] = Subject("Delta table", _table)
"""The table as its log describes it."""

ENTRY: Subject[EntryUnderTest] = Subject("entry", _entries, _of_entry)
"""The entry of a live file."""


def _bounds(file: FileUnderTest) -> Sequence[EntryBounds[EntryUnderTest]]:
    found = [bounds_of(table) for table in _table(file)]
    return found[0] if found else []


BOUNDS_OF_COLUMN: Subject[EntryBounds[EntryUnderTest]] = Subject("bounds of a column", _bounds)
"""The bounds of a column in all entries with statistics."""


def broken_by_reading(table: DeltaTable, rule_id: str) -> Iterator[Violation]:
    """The place where the log cannot be read, if a rule is why."""
    try:
        _ = table.state
    except Malformed as error:
        if error.rule != rule_id:
            raise
        yield Violation(error.reason, raised_field(table.file, error), error.expected, error.actual)
