"""Queries of a Delta or Iceberg table, and their true rows: all rows of live files, without deleted rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from pqassay.proof.queries import NoQuery, Query
from pqassay.proof.true_values import TrueValues
from pqassay.proof.worker import Planned, QueryPlan
from pqassay.report.model import Finding
from pqassay.stores.table_files import TableAt
from pqassay.tables.claims import FileClaims
from pqassay.under_test.file import NotChecked
from pqassay_spec.base.errors import FormatError
from pqassay_tables.metadata.delta.state import DeltaState, read_state
from pqassay_tables.metadata.delta.statistics import claims_of
from pqassay_tables.metadata.iceberg.metadata import NotKnownError
from pqassay_tables.metadata.iceberg.state import ElsewhereError
from pqassay_tables.proof.iceberg_plan import IcebergRows
from pqassay_tables.proof.plain_tables import write_delta
from pqassay_tables.proof.table_rows import TableRows, as_in_file, require_few
from pqassay_tables.values.deletion_vector import DeletionVector

NOT_TOLD = "the true rows are unknown"

UNREADABLE = (NotChecked, NotKnownError, ElsewhereError, FormatError, OSError, ValueError)
"""Errors that mean that the rows of a table are unknown."""

NO_EXTREMES = ("DLT-035",)
"""Rules about exact bounds, whose violation no filter can show."""


def rows_of(table: TableAt, stack: ExitStack) -> TableRows:
    """The rows of a table; its files are opened on an exit stack."""
    if table.kind == "delta":
        return DeltaRows(table, stack)
    return IcebergRows(table, stack)


def plan_table(table: TableAt, path: str, findings: Sequence[Finding], folder: Path) -> QueryPlan:
    """Find queries for false claims of a table, about one of its files or itself, and write their true rows into a folder.

    Args:
        table: The table.
        path: The data file, or the folder of the table.
        findings: The false claims about it.
        folder: The folder for the true rows, and for tables of the same rows without claims.
    """
    queries: dict[Query, int] = {}
    queries_planned: list[Planned] = []
    of_findings: list[list[int] | str] = []
    with ExitStack() as stack:
        rows = rows_of(table, stack)
        for finding in findings:
            numbers: list[int] = []
            try:
                if finding.rule in NO_EXTREMES:
                    raise NoQuery("queries for the minimum or maximum are not tried")  # noqa: TRY301 - as all others
                name = os.path.relpath(path, table.path)
                is_whole = name == "." or name.replace(os.sep, "/") in rows.delete_files
                asked = rows.general(finding.column) if is_whole else rows.candidates(finding, name)
                for query in asked:
                    if query not in queries:
                        planned = rows.planned(query, folder, len(queries_planned))
                        queries[query] = len(queries_planned)
                        queries_planned.append(planned)
                    numbers.append(queries[query])
                of_findings.append(numbers or "no value can show the difference in a query")
            except NoQuery as reason:
                of_findings.append(str(reason))
            except (*UNREADABLE, pa.ArrowException, OverflowError) as reason:
                of_findings.append(f"{NOT_TOLD}: {reason}")
    return QueryPlan(queries_planned, of_findings)


@dataclass
class DeltaRows(TableRows):
    """The rows of a Delta table."""

    _state: DeltaState | None = None

    @property
    def state(self) -> DeltaState:
        """The state of its log. Raises `FormatError` and `OSError`."""
        if self._state is None:
            self._state = read_state(self.table)
            if self._state.schema.mode != "none":
                raise NoQuery("the table uses column mapping, which most of these engines cannot read")
            require_few(len(self._state.entries))
        return self._state

    @property
    def partition_columns(self) -> Sequence[str]:
        """See `TableRows.partition_columns`; no file has these."""
        return ()

    @property
    def live(self) -> Mapping[str, tuple[str, FileClaims]]:
        """See `TableRows.live`."""
        found: dict[str, tuple[str, FileClaims]] = {}
        for entry in self.state.entries:
            if entry.inside is None:
                raise NotChecked(f"{entry.path} is outside of the folder of the table", "file")
            found[entry.inside] = f"{entry.file}[{entry.number}]", claims_of(self.state, entry)
        return found

    def remaining(self, values: TrueValues, name: str) -> list[Any]:
        """The values in the rows that no deletion vector removes."""
        groups = values.by_row_group(name)
        claims = values.file.claims
        if claims is None or claims.deleted is None:
            return groups
        vector = values.file.part(DeletionVector)
        return [rows.filter(pa.array(~vector.removed(group, len(rows)))) for group, rows in enumerate(groups)]

    def write_plain(self, table: pa.Table, folder: Path) -> None:
        """See `TableRows.write_plain`."""
        features = sorted(self.state.features & {"timestampNtz"})
        write_delta(as_in_file(table, self.first_file), folder, self.state.metadata, features)
