"""Checks of the JSON metadata of an Iceberg table, tier ``meta``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.subjects import Subject
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.iceberg_table import IcebergTable
from pqassay.under_test.tables import raised_field
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import Malformed


def _table(file: FileUnderTest) -> list[IcebergTable]:
    if file.table is None or file.table.kind != "iceberg" or file.claims is not None:
        return []
    return [file.part(IcebergTable)]


TABLE: Subject[IcebergTable] = Subject("Iceberg table", _table)
"""The table as its metadata describe it."""


@rule("ICE-001", of=TABLE)
def metadata_can_be_read(table: IcebergTable) -> Iterator[Violation]:
    """A reader that does not understand the metadata does not read the table."""
    try:
        _ = table.metadata
    except Malformed as error:
        if error.rule != "ICE-001":
            raise
        yield Violation(error.reason, raised_field(table.file, error), error.expected, error.actual)
