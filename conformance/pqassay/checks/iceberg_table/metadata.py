"""Checks of what has to be read before anything else of an Iceberg table, tier ``meta``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.iceberg_table.subjects import TABLE, broken_by_reading
from pqassay.under_test.iceberg_table import IcebergTable
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import Malformed


def has_snapshot(table: IcebergTable) -> bool:
    """Whether the table is not empty, or its metadata cannot even be read."""
    try:
        return table.state.snapshot is not None
    except Malformed:
        return True


@rule("ICE-001", of=TABLE)
def metadata_can_be_read(table: IcebergTable) -> Iterator[Violation]:
    """A reader that does not understand the metadata does not read the table."""
    return broken_by_reading(table, "ICE-001")


@rule("ICE-002", of=TABLE, only=has_snapshot)
def the_snapshot_is_there(table: IcebergTable) -> Iterator[Violation]:
    """Without the snapshot nobody knows which files the table has."""
    return broken_by_reading(table, "ICE-002")


@rule("ICE-003", of=TABLE, only=has_snapshot)
def the_manifest_list_can_be_read(table: IcebergTable) -> Iterator[Violation]:
    """Every query reads it first."""
    return broken_by_reading(table, "ICE-003")


@rule("ICE-004", of=TABLE, only=has_snapshot)
def manifests_can_be_read(table: IcebergTable) -> Iterator[Violation]:
    """The files that a manifest lists, nothing else lists."""
    return broken_by_reading(table, "ICE-004")
