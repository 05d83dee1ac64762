"""The subjects of rules about Delta tables: the table, and the entries of its live files."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import Malformed
from pqassay_tables.checks.table_subjects import parts_of, table_of
from pqassay_tables.under_test.delta_entries import bounds_of, entries_of
from pqassay_tables.under_test.table import DeltaTable, raised_field

TABLE = table_of(DeltaTable, "Delta table")
"""A table, as described by its log."""

ENTRY = parts_of(TABLE, entries_of, "entry")
"""The entry of a live file."""

BOUNDS_OF_COLUMN = parts_of(TABLE, bounds_of, "bounds of a column")
"""The bounds of a column in all entries with statistics."""


def broken_by_reading(table: DeltaTable, rule_id: str) -> Iterator[Violation]:
    """Yield the violation at the place where the log cannot be read, if this rule is the reason."""
    try:
        _ = table.state
    except Malformed as error:
        if error.rule != rule_id:
            raise
        yield Violation(error.reason, raised_field(table.file, error), error.expected, error.actual)
