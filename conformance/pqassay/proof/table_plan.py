"""Queries of a Delta table, and their true rows: those of all its live files, without the rows that deletion vectors remove."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The type stubs of pyarrow leave parts of what is used here unknown.
from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pqassay.lake.table_files import TableAt
from pqassay.proof.candidates import claimed_candidates
from pqassay.proof.queries import Column, NoQuery, Query, true_rows
from pqassay.proof.true_values import TrueValues
from pqassay.proof.worker import Plan, Planned
from pqassay.report.model import Finding
from pqassay.tables.delta.state import AddEntry, DeltaState, read_state
from pqassay.tables.delta.statistics import claims_of
from pqassay.under_test.file import FileUnderTest, NotChecked, Options
from pqassay.values.deletion_vector import DeletionVector
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import FileSource
from pqassay_spec.table.layout import DELTA_LOG, commit_name

MOST_FILES = 200
"""Live files of the largest table whose rows are read."""

MOST_ROWS = 20_000_000
"""Rows of such a table."""

NO_EXTREMES = ("DLT-035",)
"""Rules about which bound is exact: no filter shows it."""


def table_around(path: str) -> str | None:
    """The folder of the Delta table that a local file is in; ``None`` if it is in none."""
    folder = Path(path).parent
    while not (folder / DELTA_LOG).is_dir():
        if folder == folder.parent:
            return None
        folder = folder.parent
    return str(folder)


def plan_table(root: str, path: str, findings: Sequence[Finding], folder: Path) -> Plan:
    """Find the queries for what a table says falsely of one of its files, and write their true rows into a folder.

    Args:
        root: The folder of the table.
        path: The data file.
        findings: What is said falsely of it.
        folder: Takes the true rows, and tables of the same rows about which nothing is said.
    """
    queries: dict[Query, int] = {}
    found: list[Planned] = []
    of_findings: list[list[int] | str] = []
    with ExitStack() as stack:
        rows = _TableRows(TableAt("delta", root, root), stack)
        for finding in findings:
            numbers: list[int] = []
            try:
                if finding.rule in NO_EXTREMES:
                    raise NoQuery("queries for the least or the greatest value are not tried")  # noqa: TRY301 - as all others
                for query in rows.candidates(finding, os.path.relpath(path, root)):
                    if query not in queries:
                        planned = rows.planned(query, folder, len(found))
                        queries[query] = len(found)
                        found.append(planned)
                    numbers.append(queries[query])
                of_findings.append(numbers or "there is no value by which a query could tell")
            except NoQuery as reason:
                of_findings.append(str(reason))
            except (NotChecked, FormatError, OSError, pa.ArrowException, OverflowError) as reason:
                of_findings.append(f"the true rows cannot be told: {reason}")
    return Plan(found, of_findings)


@dataclass
class _TableRows:
    """The rows of a table at its newest version."""

    table: TableAt
    stack: ExitStack
    _files: dict[str, TrueValues] = field(default_factory=dict[str, TrueValues])
    _state: DeltaState | None = None

    @property
    def state(self) -> DeltaState:
        """What its log says. Raises `FormatError` and `OSError`."""
        if self._state is None:
            self._state = read_state(self.table)
            if self._state.schema.mode != "none":
                raise NoQuery("the columns are mapped, and most engines here do not read such tables")
            if len(self._state.entries) > MOST_FILES:
                raise NotChecked(f"the table has more than {MOST_FILES} files", "tool")
        return self._state

    def candidates(self, finding: Finding, path: str) -> list[Query]:
        """The queries to try for a finding about a data file. Raises `NotChecked`."""
        entry = next((one for one in self.state.entries if one.inside == path.replace(os.sep, "/")), None)
        places = [position.field for position in finding.at if position.field.startswith(f"{DELTA_LOG}/")]
        if entry is None or any(not place.startswith(f"{entry.file}[{entry.number}]") for place in places):
            raise NoQuery("the finding is about an older version, and queries are tried on the newest")
        values = self._values(entry)
        name = finding.column or next((leaf.name for leaf in values.file.leaves), "")
        remaining = pa.chunked_array(self._remaining(values, name), values.column(name).type)
        return claimed_candidates(finding, values, claims_of(self.state, entry), name, remaining)

    def _values(self, entry: AddEntry) -> TrueValues:
        if entry.inside is None:
            raise NotChecked(f"{entry.path} is outside of the folder of the table", "file")
        if entry.inside not in self._files:
            source = self.stack.enter_context(FileSource(self.table.path_of(entry.inside)))
            claims = claims_of(self.state, entry)
            file = FileUnderTest(source, Options("values"), table=self.table, claims=claims)
            self._files[entry.inside] = TrueValues(file)
        return self._files[entry.inside]

    def _remaining(self, values: TrueValues, name: str) -> list[Any]:
        """The values of a column in the rows that are still part of the table, an array for each row group."""
        groups = values.by_row_group(name)
        claims = values.file.claims
        if claims is None or claims.deleted is None:
            return groups
        vector = values.file.part(DeletionVector)
        return [rows.filter(pa.array(~vector.removed(group, len(rows)))) for group, rows in enumerate(groups)]

    def rows(self, columns: Sequence[Column]) -> pa.Table:
        """All rows of some columns, of all files. Raises `NotChecked`."""
        pieces: list[pa.Table] = []
        for entry in self.state.entries:
            values = self._values(entry)
            has = {leaf.name for leaf in values.file.leaves}
            arrays: dict[str, Any] = {
                column.name: pa.chunked_array(self._remaining(values, column.name), values.column(column.name).type)
                for column in columns
                if column.name in has
            }  # fmt: skip
            if len({len(array) for array in arrays.values()}) != 1:
                raise NotChecked(f"{entry.path} lacks these columns, or their rows differ in number", "file")
            count = len(next(iter(arrays.values())))
            pieces.append(
                pa.table({column.name: arrays[column.name].cast(column.type) if column.name in arrays else pa.nulls(count, column.type) for column in columns})
            )  # fmt: skip
            if sum(map(len, pieces)) > MOST_ROWS:
                raise NotChecked(f"the table has more than {MOST_ROWS:,} rows", "tool")
        return pa.concat_tables(pieces)

    def planned(self, query: Query, folder: Path, number: int) -> Planned:
        """A query of a number, with its true rows, and a table of the same rows without any statistics, in a folder."""
        table = self.rows(query.used)
        truth = folder / f"truth-{number}.arrow"
        rows = true_rows(query, table)
        with pa.OSFile(str(truth), "wb") as file, pa.ipc.new_file(file, rows.schema) as writer:
            writer.write_table(rows)
        healthy = folder / f"healthy-{number}"
        self._write_plain(table, healthy)
        return Planned(query, len(rows), truth, healthy)

    def _write_plain(self, table: pa.Table, folder: Path) -> None:
        """Write rows as a table of one file of which nothing is said but that it is there."""
        first = next(iter(self._files.values()))
        given = pq.read_schema(first.file.source.name)
        for place, name in enumerate(table.column_names):
            if name in given.names:
                table = table.set_column(place, name, table.column(name).cast(given.field(name).type))
        (folder / DELTA_LOG).mkdir(parents=True)
        data = folder / "part-0.parquet"
        pq.write_table(table, data, write_statistics=False)
        schema: Mapping[str, Any] = json.loads(self.state.metadata["schemaString"])
        fields = [one for one in schema["fields"] if one["name"] in table.column_names]
        metadata = {
            **{name: value for name, value in self.state.metadata.items() if name in ("id", "format")},
            "schemaString": json.dumps({"type": "struct", "fields": fields}),
            "partitionColumns": [],
            "configuration": {},
        }
        features = sorted(self.state.features & {"timestampNtz"})
        protocol: dict[str, Any] = {"minReaderVersion": 1, "minWriterVersion": 2}
        if features:
            protocol = {
                "minReaderVersion": 3,
                "minWriterVersion": 7,
                "readerFeatures": features,
                "writerFeatures": features,
            }
        add = {
            "path": data.name,
            "partitionValues": {},
            "size": data.stat().st_size,
            "modificationTime": 0,
            "dataChange": True,
        }
        lines = [{"protocol": protocol}, {"metaData": metadata}, {"add": add}]
        text = "".join(f"{json.dumps(line, default=str)}\n" for line in lines)
        (folder / DELTA_LOG / commit_name(0)).write_text(text, "utf-8")
