"""The subjects of rules about Iceberg tables: the table, its manifests, and the entries of its live files."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import Malformed
from pqassay_tables.checks.table_subjects import parts_of, table_of
from pqassay_tables.under_test.iceberg_entries import bounds_of, entries_of, manifests_of
from pqassay_tables.under_test.iceberg_table import IcebergTable
from pqassay_tables.under_test.table import raised_field

TABLE = table_of(IcebergTable, "Iceberg table")
"""A table, as described by its metadata."""

MANIFEST = parts_of(TABLE, manifests_of, "manifest")
"""A manifest of the snapshot."""

ENTRY = parts_of(TABLE, entries_of, "manifest entry")
"""The entry of a live file."""

BOUNDS_OF_COLUMN = parts_of(TABLE, bounds_of, "bounds of a column of manifests")
"""The bounds of a column in all entries that have bounds."""


def broken_by_reading(table: IcebergTable, rule_id: str) -> Iterator[Violation]:
    """Yield the violation at the place where the metadata cannot be read, if this rule is the reason."""
    try:
        _ = table.metadata if rule_id == "ICE-001" else table.state
        if rule_id == "ICE-001":
            _ = table.state
    except Malformed as error:
        if error.rule == rule_id:
            yield Violation(error.reason, raised_field(table.file, error), error.expected, error.actual)
        elif rule_id != "ICE-001":
            raise
