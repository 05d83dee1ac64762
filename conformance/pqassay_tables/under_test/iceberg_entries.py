"""The manifests of an Iceberg table and the entries of its live files."""

from __future__ import annotations

from functools import partial

from pqassay.tables.claims import BOUNDS
from pqassay_tables.metadata.iceberg.entry_claims import FIELDS
from pqassay_tables.metadata.iceberg.manifests import Entry, Manifest
from pqassay_tables.metadata.iceberg.schema import IcebergColumn, PartitionField
from pqassay_tables.metadata.iceberg.values import reading_of
from pqassay_tables.under_test.entries import BoundedColumn, BoundsOfColumns, LiveEntry
from pqassay_tables.under_test.iceberg_table import IcebergTable


class ManifestUnderTest:
    """A manifest of the snapshot.

    Attributes:
        table: The table.
        manifest: The manifest, with its entry in the manifest list.
    """

    def __init__(self, table: IcebergTable, manifest: Manifest) -> None:
        self.table = table
        self.manifest = manifest

    @property
    def name(self) -> str:
        """The path of the manifest, relative to the table."""
        return self.manifest.name

    @property
    def spec(self) -> tuple[PartitionField, ...]:
        """The partition fields of its files."""
        return self.table.state.schema.specs.get(self.manifest.listed.spec, ())

    def result_type(self, one: PartitionField) -> str | None:
        """The type of the values of a partition field; ``None`` if unknown."""
        if one.transform in ("year", "month", "hour", "bucket"):
            return "int"
        if one.transform == "day":
            return "date"
        column = self.table.state.schema.column(one.source)
        return None if column is None or one.transform not in ("identity", "truncate") else column.type


class IcebergEntry(LiveEntry[IcebergTable, Entry]):
    """The entry of a live file in a manifest."""

    __slots__ = ()

    @property
    def data_file(self) -> str:
        """The file, for messages."""
        return self.entry.inside or self.entry.path

    def column(self, identifier: int) -> IcebergColumn | None:
        """The column with an id."""
        return self.table.state.schema.column(identifier)

    @property
    def spec(self) -> tuple[PartitionField, ...]:
        """The partition fields of the file."""
        return self.table.state.schema.specs.get(self.entry.manifest.listed.spec, ())


def entries_of(table: IcebergTable) -> list[IcebergEntry]:
    """The entries of the live files."""
    return [IcebergEntry(table, entry) for entry in table.state.entries]


def manifests_of(table: IcebergTable) -> list[ManifestUnderTest]:
    """The manifests of the snapshot."""
    return [ManifestUnderTest(table, manifest) for manifest in table.state.manifests]


def bounds_of(table: IcebergTable) -> BoundsOfColumns[IcebergEntry]:
    """The bounds of the columns, in the entries that have bounds."""
    fields = [(metric, FIELDS[metric]) for metric in BOUNDS]
    entries = [
        IcebergEntry(table, entry)
        for entry in table.state.entries
        if any(entry.value(field) for _, field in fields)
    ]
    return BoundsOfColumns(
        [
            BoundedColumn(column.name, column.type, column.id, partial(reading_of, column.type))
            for column in table.state.schema.columns.values()
        ],
        entries,
        {metric: [one.entry.map(field) for one in entries] for metric, field in fields},
    )
