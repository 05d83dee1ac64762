"""The Iceberg table under test."""

from __future__ import annotations

from typing import Any

from pqassay.lake.table_files import TableAt
from pqassay.tables.iceberg.metadata import metadata_file, read_metadata
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked, Remembered


class IcebergTable:
    """The Iceberg table under test: a part of the file, ``file.part(IcebergTable)``."""

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file

    @Remembered
    def at(self) -> TableAt:
        """Where it is. Raises `NotApplicable` for other targets."""
        table = self.file.table
        if table is None or table.kind != "iceberg" or self.file.claims is not None:
            raise NotApplicable
        return table

    @Remembered
    def read(self) -> tuple[dict[str, Any], int]:
        """What the metadata file says, and its length. Raises ICE-001, and `NotChecked`."""
        try:
            return read_metadata(self.at, metadata_file(self.at, self.at.moment.pointer))
        except OSError as error:
            reason = f"its metadata cannot be read: {error.strerror or error}"
            raise NotChecked(reason, "file", judgeable=False) from None

    @property
    def metadata(self) -> dict[str, Any]:
        """What the metadata file says. Raises ICE-001."""
        return self.read[0]

    @property
    def size(self) -> int:
        """See `pqassay.under_test.tables.TableView`."""
        return self.read[1]

    @property
    def engine(self) -> str:
        """See `pqassay.under_test.tables.TableView`."""
        return ""

    @property
    def notes(self) -> list[str]:
        """See `pqassay.under_test.tables.TableView`."""
        return []
