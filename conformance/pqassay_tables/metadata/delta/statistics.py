"""The claims of a Delta log about one data file, from its entry.

What is no value of its column's type is left out: rules of tier ``meta`` speak of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from pqassay.tables.claims import (
    Bound,
    ColumnClaims,
    Count,
    DeletedRows,
    FileClaims,
    PartitionValue,
    Place,
    ValueKind,
)
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.delta.actions import Json
from pqassay_tables.metadata.delta.schema import DeltaColumn, DeltaSchema
from pqassay_tables.metadata.delta.state import AddEntry, DeltaState
from pqassay_tables.metadata.delta.values import UnknownType, bound_value, partition_value
from pqassay_tables.metadata.delta.vectors import DESCRIPTOR, deleted_rows
from pqassay_tables.metadata.moments import MILLISECOND

MIN, MAX, NULLS, ROWS, TIGHT = "minValues", "maxValues", "nullCount", "numRecords", "tightBounds"

REMEDY = repairs.DELTA_FILE.text
"""What makes the statistics of a Delta table anew."""


def member_of(values: Any, path: tuple[str, ...]) -> Any:
    """The member of an object at a path; ``None`` where there is none."""
    for name in path:
        if not isinstance(values, dict):
            return None
        values = cast("Json", values).get(name)
    return values


def count_of(raw: Any) -> int | None:
    """A number of rows as JSON holds it; ``None`` if it is none."""
    return raw if type(raw) is int else None


@dataclass(frozen=True, slots=True)
class StatisticsSaid:
    """The statistics of a file, see `pqassay.tables.claims.ColumnsSaid`.

    Attributes:
        schema: The columns of the table.
        stats: The statistics as JSON holds them.
        place: Where they are.
    """

    schema: DeltaSchema
    stats: Json
    place: Place

    def columns(self) -> tuple[ColumnClaims, ...]:
        """The claims."""
        return tuple(_columns(self))


def claims_of(state: DeltaState, entry: AddEntry) -> FileClaims:
    """What the log says of a live file that is below the table."""
    stats = entry.stats or {}
    rows = count_of(stats.get(ROWS))
    deleted = deleted_rows(entry)
    return FileClaims(
        table="delta",
        place=entry.place,
        path=entry.inside or "",
        rows=None if rows is None else Count(rows, entry.stat(ROWS)),
        is_tight=stats.get(TIGHT) is not False,
        said=StatisticsSaid(state.schema, stats, entry.statistics) if stats else None,
        partition=tuple(_partition(state.schema, entry)),
        deleted=DeletedRows(entry.place.below("deletionVector"), "", 0, 0, 0, broken=DESCRIPTOR)
        if isinstance(deleted, str)
        else deleted,
        remedy=REMEDY,
    )


def _columns(said: StatisticsSaid) -> Iterator[ColumnClaims]:
    schema, stats = said.schema, said.stats
    minimums, maximums, nulls = stats.get(MIN), stats.get(MAX), stats.get(NULLS)
    for column in schema.columns:
        count = count_of(member_of(nulls, column.path))
        lower = _bound(column, member_of(minimums, column.path), said.place, MIN)
        upper = _bound(column, member_of(maximums, column.path), said.place, MAX)
        if count is None and lower is None and upper is None:
            continue
        yield ColumnClaims(
            name=column.name,
            path=column.path,
            field_id=column.field_id if schema.mode == "id" else None,
            type=column.type,
            nulls=None if count is None else Count(count, said.place.below(NULLS, *column.path)),
            lower=lower,
            upper=upper,
            is_null_where_absent=not column.is_partition,
        )


def _bound(column: DeltaColumn, raw: Any, place: Place, member: str) -> Bound | None:
    if raw is None:
        return None
    try:
        kind, value = bound_value(column, raw)
    except (ValueError, UnknownType):
        return None
    return Bound(kind, value, written(raw), place.below(member, *column.path), slack_of(kind, value, member))


def slack_of(kind: ValueKind, value: Any, member: str) -> int:
    """How far values may lie beyond a bound: timestamps may be cut to milliseconds, so that a maximum is less than its value."""
    is_cut = kind is ValueKind.TIMESTAMP and member == MAX and value % MILLISECOND == 0
    return MILLISECOND - 1 if is_cut else 0


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
    """A value as the log writes it, for messages, no longer than a line."""
    text = f'"{raw}"' if isinstance(raw, str) else str(raw).lower() if isinstance(raw, bool) else str(raw)
    return text if len(text) <= 60 else f"{text[:59]}…"


def places_of(entry: AddEntry, column: DeltaColumn) -> tuple[Place, Place, Place]:
    """Where bounds and nulls of a column are written: minimum, maximum, nulls."""
    lower, upper, nulls = (entry.stat(name).below(*column.path) for name in (MIN, MAX, NULLS))
    return lower, upper, nulls
