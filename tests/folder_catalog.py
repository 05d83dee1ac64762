"""A catalog of pyiceberg that needs no database: it knows the newest metadata file of each table that it made."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pyarrow as pa
from pyiceberg.catalog import MetastoreCatalog
from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.io import load_file_io
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.serializers import FromInputFile
from pyiceberg.table import CommitTableResponse, Table
from pyiceberg.table.metadata import new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.transforms import Transform

_UNSORTED: dict[str, Any] = {
    "partition_spec": UNPARTITIONED_PARTITION_SPEC,
    "sort_order": UNSORTED_SORT_ORDER,
}


class FolderCatalog(NoopCatalog, MetastoreCatalog):
    """Makes tables in local folders; their identifiers are the folders."""

    def __init__(self) -> None:
        super().__init__("folders")
        self._newest: dict[Any, str] = {}

    def load_table(self, identifier: Any) -> Table:
        """The table as it was committed last."""
        place = self._newest[identifier]
        io = load_file_io({}, place)
        return Table(identifier, FromInputFile.table_metadata(io.new_input(place)), place, io, self)

    def commit_table(self, table: Table, requirements: Any, updates: Any) -> CommitTableResponse:
        """Write the next metadata file."""
        current = self.load_table(table.name())
        staged = self._update_and_stage_table(current, table.name(), requirements, updates)
        return self._written(table.name(), staged.metadata, staged.metadata_location)

    def made(
        self,
        folder: Path,
        schema: pa.Schema,
        partitions: dict[str, Transform[Any, Any]] | None = None,
        **properties: str,
    ) -> Table:
        """A new table.

        Args:
            folder: Where it is made.
            schema: Its columns.
            partitions: The columns by which it is partitioned, and how.
            properties: Its properties, with underscores for what is not a letter.
        """
        told = {name.replace("__", "-").replace("_", "."): value for name, value in properties.items()}
        version = int(told.setdefault("format-version", "2"))
        converted = self._convert_schema_if_needed(schema, cast("Any", version))
        fresh: dict[str, Any] = {"location": str(folder), "schema": converted, "properties": told}
        metadata = new_table_metadata(**fresh, **_UNSORTED)
        identifier = (str(folder),)
        self._written(identifier, metadata, f"{folder}/metadata/00000-{metadata.table_uuid}.metadata.json")
        table = self.load_table(identifier)
        if partitions:
            with table.update_spec() as update:
                for column, transform in partitions.items():
                    update.add_field(column, transform, f"by_{column}")
        return table

    def _written(self, identifier: Any, metadata: Any, place: str) -> CommitTableResponse:
        self._write_metadata(metadata, load_file_io({}, place), place)
        self._newest[identifier] = place
        return CommitTableResponse(**{"metadata": metadata, "metadata-location": place})
