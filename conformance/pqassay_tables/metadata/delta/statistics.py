"""The claims of a Delta log about one data file, from its entry.

Invalid values are omitted, since rules of tier ``meta`` judge them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from pqassay.tables.claims import (
    ClaimPlace,
    Count,
    DeletedRows,
    FileClaims,
    Metric,
    PartitionValue,
    Reading,
    RowIdClaims,
    TableColumn,
    UnknownType,
)
from pqassay_spec.table.delta import MATERIALIZED_ROW_ID, ROW_TRACKING
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.delta.actions import Json, object_of
from pqassay_tables.metadata.delta.schema import NESTED, DeltaColumn, DeltaSchema
from pqassay_tables.metadata.delta.state import AddEntry, DeltaState
from pqassay_tables.metadata.delta.values import partition_value, reading_of
from pqassay_tables.metadata.delta.vectors import DESCRIPTOR, deleted_rows
from pqassay_tables.metadata.moments import MILLISECOND

MIN, MAX, NULLS, ROWS, TIGHT = "minValues", "maxValues", "nullCount", "numRecords", "tightBounds"

BASE = "baseRowId"

REMEDY = repairs.DELTA_FILE.text
"""The command that recomputes the statistics of a Delta table."""


def member_of(values: Any, path: tuple[str, ...]) -> Any:
    """The member of an object at a path; ``None`` if absent."""
    for name in path:
        if not isinstance(values, dict):
            return None
        values = cast("Json", values).get(name)
    return values


def count_of(raw: Any) -> int | None:
    """A row count in JSON; ``None`` for any other value."""
    return raw if type(raw) is int else None


MEMBERS = {Metric.NULLS: NULLS, Metric.LOWER: MIN, Metric.UPPER: MAX}
"""The members of statistics about columns."""


@dataclass(frozen=True, slots=True)
class DeltaMetrics:
    """The statistics of a file, see `pqassay.tables.claims.ColumnMetrics`.

    Attributes:
        schema: The columns of the table.
        stats: The statistics as parsed JSON.
        at: The place of the statistics.
    """

    schema: DeltaSchema
    stats: Json
    at: ClaimPlace

    def columns(self) -> Sequence[TableColumn]:
        """The columns of the table, except those in lists and maps, which are not compared."""
        by_id = self.schema.mode == "id"
        return [
            TableColumn(
                column.key,
                column.name,
                column.path,
                column.field_id if by_id else None,
                column.type,
                _reading(column),
                MILLISECOND if column.type.startswith("timestamp") else 0,
            )
            for column in self.schema.columns
            if column.type not in NESTED
        ]

    def given(self, metric: Metric) -> Mapping[Any, Any]:
        """The values of a metric; for counts, only integers."""
        member = MEMBERS.get(metric, "")
        held = given_by_key(self.schema, self.stats.get(member))
        if metric is Metric.NULLS:
            return {key: count for key, count in held.items() if type(count) is int}
        return held

    def counted_lists(self) -> Iterator[tuple[TableColumn, int]]:
        """Lists and maps that are found by their names, and the counts of their nulls."""
        for column in self.schema.columns if self.schema.mode != "id" else ():
            count = member_of(self.stats.get(NULLS), column.path) if column.type in NESTED else None
            if type(count) is int:
                yield TableColumn(column.key, column.name, column.path, None, column.type, None), count

    def is_null_where_absent(self, column: TableColumn) -> bool:
        """Whether all rows are null if the file lacks the column; false for partition columns."""
        return all(column.path != one.path for one in self.schema.partition)

    def place(self, metric: Metric, column: TableColumn) -> ClaimPlace:
        """The place of a metric of a column."""
        return self.at.below(MEMBERS[metric], *column.path)

    def written(self, metric: Metric, column: TableColumn) -> str:
        """A bound as written in the log."""
        return written(member_of(self.stats.get(MEMBERS[metric]), column.path))

    def facts(self) -> tuple[Any, ...]:
        """All metrics."""
        return self.schema.mode, self.schema.columns, self.stats, self.at


def given_by_key(schema: DeltaSchema, held: Any) -> Mapping[Any, Any]:
    """The column values of a member of the statistics, by key."""
    if not isinstance(held, dict):
        return {}
    if not schema.structs:
        return cast("Json", held)
    return {column.key: raw for column in schema.columns if (raw := member_of(held, column.path)) is not None}


def _row_ids(state: DeltaState, entry: AddEntry) -> RowIdClaims | None:
    """The row ids of a file; ``None`` if files store none, or the assigned ids are unknown."""
    name = object_of(state.metadata.get("configuration")).get(MATERIALIZED_ROW_ID)
    mark = state.greatest_row_id
    if not isinstance(name, str) or mark is None or ROW_TRACKING not in state.writer_features:
        return None
    first = count_of(entry.action.get(BASE))
    return RowIdClaims(entry.place.below(BASE), (name,), None, first, mark + 1)


def unknown_columns(schema: DeltaSchema, stats: Json) -> dict[str, str]:
    """The columns with statistics that the table does not have, each with a member that has it; empty with column mapping."""
    known, unknown = schema.roots, dict[str, str]()
    if schema.mode != "none":
        return unknown
    for name in (MIN, MAX, NULLS):
        given = stats.get(name)
        for column in cast("Json", given) if isinstance(given, dict) else ():
            if column not in known and column.casefold() not in known:
                unknown.setdefault(column, name)
    return unknown


def claims_of(state: DeltaState, entry: AddEntry) -> FileClaims:
    """The claims of the log about a live file inside the table's folder."""
    stats = entry.stats or {}
    rows = count_of(stats.get(ROWS))
    deleted = deleted_rows(entry)
    return FileClaims(
        table="delta",
        place=entry.place,
        path=entry.inside or "",
        rows=None if rows is None else Count(rows, entry.stat(ROWS)),
        is_tight=stats.get(TIGHT) is not False,
        metrics=DeltaMetrics(state.schema, stats, entry.statistics) if stats else None,
        partition=tuple(_partition(state.schema, entry)),
        deleted=DeletedRows(entry.place.below("deletionVector"), "", 0, 0, 0, broken=DESCRIPTOR)
        if isinstance(deleted, str)
        else deleted,
        remedy=REMEDY,
        row_ids=_row_ids(state, entry),
        schema=state.fields,
    )


def _reading(column: DeltaColumn) -> Reading | None:
    with suppress(UnknownType):
        return reading_of(column)
    return None


def _partition(schema: DeltaSchema, entry: AddEntry) -> Iterator[PartitionValue]:
    values = entry.action.get("partitionValues")
    if not isinstance(values, dict):
        return
    held = cast("Json", values)
    for column in schema.partition:
        name = column.path[0]
        if name not in held:
            continue
        raw, place = held[name], entry.place.below("partitionValues", name)
        ids = column.field_id if schema.mode == "id" else None
        if raw is None or raw == "":
            yield PartitionValue(column.name, column.path, ids, "identity", None, None, "null", place)
        elif isinstance(raw, str):
            try:
                kind, value = partition_value(column, raw)
            except (ValueError, UnknownType):
                continue
            yield PartitionValue(column.name, column.path, ids, "identity", kind, value, raw, place)


def written(raw: Any) -> str:
    """A value as written in the log, for messages, truncated to a line."""
    text = f'"{raw}"' if isinstance(raw, str) else str(raw).lower() if isinstance(raw, bool) else str(raw)
    return text if len(text) <= 60 else f"{text[:59]}…"
