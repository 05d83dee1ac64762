"""The Iceberg table under test."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import Any, cast

from pqassay.stores.table_files import TableAt
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked, Remembered
from pqassay_spec.base.errors import FormatError
from pqassay_spec.table.iceberg import VERSION_HINT
from pqassay_spec.table.layout import ICEBERG_METADATA
from pqassay_tables.metadata.iceberg.metadata import metadata_file, metadata_version, read_metadata
from pqassay_tables.metadata.iceberg.schema import Columns, columns_of, objects
from pqassay_tables.metadata.iceberg.state import PARQUET, PUFFIN, IcebergState
from pqassay_tables.under_test.states import iceberg_state
from pqassay_tables.under_test.table import TableUnderTest, readable


def state_around(file: FileUnderTest) -> IcebergState:
    """The state of the table around a delete file, at the snapshot that lists the file.

    Only checks of rows of delete files need it. Each process reads it once.

    Raises:
        NotApplicable: The file is not a delete file.
        NotChecked: The table cannot be read, or has changed since.
    """
    table, claims = file.table, file.claims
    if table is None or claims is None or claims.deletes is None:
        raise NotApplicable
    state = _read(table)
    if state.snapshot_id == claims.deletes.snapshot:
        return state
    raise NotChecked("the table has changed since its files were listed", "file", judgeable=False)


def _read(table: TableAt) -> IcebergState:
    with readable("its metadata"):
        return iceberg_state(table)


class IcebergTable(TableUnderTest):
    """The Iceberg table under test, available as ``file.part(IcebergTable)``."""

    kind = "iceberg"

    @Remembered
    def schemas(self) -> dict[int | None, Columns]:
        """The columns of each schema in the metadata, by schema id. Raises the errors of `state`."""
        return {one.get("schema-id"): columns_of(one) for one in objects(self.state.metadata, "schemas")}

    @Remembered
    def metadata(self) -> dict[str, Any]:
        """The content of the metadata file. Raises ICE-001, and `NotChecked`."""
        with contextlib.suppress(FormatError, NotChecked):
            return self.state.metadata
        with readable("its metadata"):
            return read_metadata(self.at, metadata_file(self.at, self.at.moment.pointer))[0]

    @Remembered
    def state(self) -> IcebergState:
        """The state from the manifests. Raises `FormatError` of the rules ICE-001 to ICE-004, and `NotChecked`."""
        return _read(self.at)

    @property
    def size(self) -> int:
        """See `pqassay.judge.table_reader.TableView`."""
        return sum(self.state.sizes.values())

    @property
    def engine(self) -> str:
        """See `pqassay.judge.table_reader.TableView`."""
        summary: Any = (self.state.snapshot or {}).get("summary")
        if not isinstance(summary, dict):
            return ""
        names = ("iceberg-version", "engine-name", "engine-version")
        given = cast("dict[str, Any]", summary)
        return " ".join(str(given[name]) for name in names if name in given)

    @property
    def notes(self) -> list[str]:
        """See `pqassay.judge.table_reader.TableView`."""
        state = self.state
        notes: list[str] = []
        if state.file.startswith("metadata/") and not state.file.removeprefix("metadata/").startswith("v"):
            notes.append(f"the snapshot is that of {state.file}; a catalog may point to another file")
        with contextlib.suppress(OSError, ValueError):
            hint = f"{ICEBERG_METADATA}/{VERSION_HINT}"
            newest = metadata_version(state.file)
            if not self.at.moment.pointer and 0 <= int(self.at.read(hint)) != newest:
                notes.append(
                    f"{hint} names another version than {newest}, the newest; some readers read that one"
                )
        others = Counter(entry.format for entry in state.entries if entry.format not in (PARQUET, PUFFIN))
        notes.extend(
            f"{count} files of the table are {name}, and not judged" for name, count in others.items()
        )
        return notes
