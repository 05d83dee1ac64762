"""The rows of an Iceberg table: for queries, for true answers, and for a table of the same rows without claims."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pqassay.proof.queries import NoQuery, QueryColumn
from pqassay.proof.true_values import TrueValues
from pqassay.tables.claims import FileClaims
from pqassay.under_test.file import NotChecked
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import DATA, EQUALITY_DELETES, POSITION_DELETES
from pqassay_tables.metadata.iceberg.entry_claims import claims_of
from pqassay_tables.metadata.iceberg.state import PARQUET, PUFFIN, IcebergState, read_iceberg
from pqassay_tables.proof.plain_tables import Json, write_iceberg
from pqassay_tables.proof.table_rows import TableRows, as_in_file, require_few
from pqassay_tables.values.deletion_vector import DeletionVector


@dataclass
class IcebergRows(TableRows):
    """The rows of an Iceberg table at its current snapshot."""

    _state: IcebergState | None = None

    @property
    def state(self) -> IcebergState:
        """The state of its metadata. Raises `FormatError`, `NotChecked` and `OSError`."""
        if self._state is None:
            state = read_iceberg(self.table)
            require_few(len(state.entries))
            if any(one.content == DATA and one.format != PARQUET for one in state.entries):
                raise NotChecked("some rows are in files of other formats than Parquet", "tool")
            self._state = state
        return self._state

    @property
    def live(self) -> Mapping[str, tuple[str, FileClaims]]:
        """See `TableRows.live`."""
        found: dict[str, tuple[str, FileClaims]] = {}
        for entry in self.state.data:
            if entry.inside is None:
                raise NotChecked(f"{entry.path} is outside of the folder of the table", "file")
            found[entry.inside] = f"{entry.manifest.name}[{entry.number}]", claims_of(self.state, entry)
        return found

    @property
    def delete_files(self) -> Collection[str]:
        """See `TableRows.delete_files`."""
        return {
            entry.inside for entry in self.state.entries if entry.content != DATA and entry.inside is not None
        }

    @property
    def delete_places(self) -> Collection[str]:
        """See `TableRows.delete_places`."""
        return {
            f"{entry.manifest.name}[{entry.number}]" for entry in self.state.entries if entry.content != DATA
        }

    @property
    def fields(self) -> list[Json]:
        """The columns in the current schema of the table."""
        metadata = self.state.metadata
        schemas: list[Json] = metadata.get("schemas") or [metadata["schema"]]
        now = metadata.get("current-schema-id")
        return cast("list[Json]", next((one for one in schemas if one.get("schema-id") == now), schemas[-1])["fields"])  # fmt: skip

    @property
    def partition_columns(self) -> Sequence[str]:
        """See `TableRows.partition_columns`."""
        schema = self.state.schema
        sources = {one.source for spec in schema.specs.values() for one in spec}
        return [column.name for number, column in schema.columns.items() if number in sources]

    def remaining(self, values: TrueValues, name: str) -> list[Any]:
        """The values in rows that no delete removes, whether a deletion vector, a position delete or an equality delete."""
        groups = values.by_row_group(name)
        claims = values.file.claims
        if claims is None:
            return groups
        starts = np.cumsum([0, *(len(rows) for rows in groups)])
        gone = np.zeros(starts[-1], bool)
        if claims.deleted is not None:
            vector = values.file.part(DeletionVector)
            for group, rows in enumerate(groups):
                gone[starts[group] : starts[group + 1]] = vector.removed(group, len(rows))
        elif (positions := self._deleted.get(claims.path)) is not None:
            gone[positions[(positions >= 0) & (positions < len(gone))]] = True
        gone |= self._equal(values, claims.path, len(gone))
        if not gone.any():
            return groups
        return [rows.filter(pa.array(~gone[start : start + len(rows)])) for rows, start in zip(groups, starts, strict=False)]  # fmt: skip

    def _equal(self, values: TrueValues, path: str, rows: int) -> NDArray[np.bool_]:
        """A bool mask of the rows that an equality delete removes: those equal to its values in all of its columns."""
        gone = np.zeros(rows, bool)
        data = next(entry for entry in self.state.data if entry.inside == path)
        for delete in self.state.entries:
            if delete.content != EQUALITY_DELETES or (delete.sequence or 0) <= (data.sequence or 0):
                continue
            if delete.inside is None or delete.format != PARQUET:
                raise NotChecked(f"{delete.path}, which deletes rows, is not read", "file")
            if delete.partition and (delete.manifest.listed.spec, delete.partition) != (data.manifest.listed.spec, data.partition):  # fmt: skip
                continue
            columns = [
                self.state.schema.column(number) for number in delete.value(field_ids.EQUALITY_IDS) or ()
            ]
            if not columns or any(column is None or len(column.path) > 1 for column in columns):
                raise NotChecked(f"{delete.path} compares missing or nested columns", "file")
            names = [column.name for column in columns if column is not None]
            given = pq.read_table(self.table.path_of(delete.inside), columns=names)
            mine = pa.table({name: pa.chunked_array(values.by_row_group(name), values.column(name).type) for name in names})  # fmt: skip
            removed = {tuple(row.values()) for row in given.cast(mine.schema).to_pylist()}
            gone |= np.array([tuple(row.values()) in removed for row in mine.to_pylist()], bool)
        return gone

    @functools.cached_property
    def _deleted(self) -> Mapping[str, NDArray[np.int64]]:
        """The deleted positions by data file; deletes older than a file do not apply to it."""
        state = self.state
        files = {entry.path: entry for entry in state.data}
        positions: dict[str, list[NDArray[np.int64]]] = {}
        for delete in state.entries:
            if delete.content != POSITION_DELETES or delete.format == PUFFIN:
                continue
            if delete.inside is None or delete.format != PARQUET:
                raise NotChecked(f"{delete.path}, which deletes rows, is not read", "file")
            rows = pq.read_table(self.table.path_of(delete.inside), columns=["file_path", "pos"])
            for path in map(str, pc.unique(rows.column("file_path")).to_pylist()):
                data = files.get(path)
                if data is None or data.inside is None:
                    continue
                if (delete.sequence or 0) >= (data.sequence or 0):
                    chosen = rows.filter(pc.equal(rows.column("file_path"), pa.scalar(path))).column("pos")
                    positions.setdefault(data.inside, []).append(chosen.to_numpy().astype(np.int64))
        return {name: np.concatenate(parts) for name, parts in positions.items()}

    def write_plain(self, table: pa.Table, folder: Path) -> None:
        """See `TableRows.write_plain`."""
        fields = [one for one in self.fields if one["name"] in table.column_names]
        if len(fields) < table.num_columns:
            raise NoQuery("a column has another name in the file than in the table")
        write_iceberg(as_in_file(table, self.first_file), folder, fields)

    def require_name(self, column: QueryColumn) -> None:
        """See `TableRows.require_name`."""
        if all(one["name"] != column.name for one in self.fields):
            raise NoQuery(f"the table has no column {column.name}")
