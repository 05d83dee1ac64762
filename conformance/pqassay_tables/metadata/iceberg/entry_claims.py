"""The claims of a manifest about one file, from its entry.

Invalid values are omitted, since rules of tier ``meta`` judge them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pqassay.tables.claims import (
    ClaimPlace,
    Count,
    DeletedRows,
    DeletesClaims,
    FileClaims,
    Metric,
    PartitionValue,
    Reading,
    RowIdClaims,
    RowOrder,
    SortedBy,
    TableColumn,
    UnknownType,
)
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.deletion_vector import CHECKSUM_SIZE, SIZE_SIZE
from pqassay_spec.table.iceberg import DATA, POSITION_DELETES, ROW_IDS_SINCE, STORED_ROW_ID, UNSORTED
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.iceberg.manifests import Entry
from pqassay_tables.metadata.iceberg.schema import IcebergSchema, PartitionField
from pqassay_tables.metadata.iceberg.state import IcebergState
from pqassay_tables.metadata.iceberg.values import reading_of, shown

AROUND = SIZE_SIZE + CHECKSUM_SIZE
"""The number of bytes around a deletion vector in its file: its length and its checksum."""

SIZES, VALUES = field_ids.COLUMN_SIZES, field_ids.VALUE_COUNTS
NULLS, NANS = field_ids.NULL_VALUE_COUNTS, field_ids.NAN_VALUE_COUNTS
LOWER, UPPER = field_ids.LOWER_BOUNDS, field_ids.UPPER_BOUNDS

REMEDY = repairs.ICEBERG_FILE.text
"""The command that recomputes the metrics of an Iceberg table."""


FIELDS = {
    Metric.SIZE: SIZES,
    Metric.VALUES: VALUES,
    Metric.NULLS: NULLS,
    Metric.NANS: NANS,
    Metric.LOWER: LOWER,
    Metric.UPPER: UPPER,
}
"""The field ids of a record's maps that have column ids as keys."""


@dataclass(frozen=True, slots=True)
class IcebergMetrics:
    """The metrics of a file, see `pqassay.tables.claims.ColumnMetrics`.

    Attributes:
        schema: The columns of the table.
        at: The record of the file in the manifest.
        names: The names of the record's fields in the manifest.
        partitioned: The columns whose values are in the manifest.
        maps: The maps of the record by field id, each with column ids as keys.
    """

    schema: IcebergSchema
    at: ClaimPlace
    names: Mapping[int, str]
    partitioned: frozenset[int]
    maps: Mapping[int, Mapping[int, Any]]

    def columns(self) -> Sequence[TableColumn]:
        """The columns of the table, except those in lists and maps."""
        names = self.schema.names
        return [
            TableColumn(
                number, column.name, names.get(number, ()), number, column.type, _reading(column.type)
            )
            for number, column in self.schema.columns.items()
            if not column.is_repeated
        ]

    def given(self, metric: Metric) -> Mapping[Any, Any]:
        """The values of a metric."""
        return self.maps.get(FIELDS[metric], {})

    def is_null_where_absent(self, column: TableColumn) -> bool:
        """Whether all rows are null if the file lacks the column; false with a default, and for partition columns."""
        return not self.schema.columns[column.key].has_default and column.key not in self.partitioned  # type: ignore[index]

    def place(self, metric: Metric, column: TableColumn) -> ClaimPlace:
        """The place of a metric of a column."""
        number = FIELDS[metric]
        return self.at.below(f"{self.names.get(number, number)}[{column.key}]")

    def written(self, metric: Metric, column: TableColumn) -> str:
        """A bound for messages."""
        return shown(column.type, self.given(metric)[column.key])

    def facts(self) -> tuple[Any, ...]:
        """All metrics."""
        columns, names = self.schema.columns, self.schema.names
        return columns, names, self.names, sorted(self.partitioned), self.maps, self.at


def claims_of(state: IcebergState, entry: Entry) -> FileClaims:
    """The claims of a manifest about a live file inside the table's folder."""
    splits, own = entry.value(field_ids.SPLIT_OFFSETS), entry.own
    if splits and (sorted(splits) != splits or splits[-1] >= entry.value(field_ids.FILE_SIZE_IN_BYTES)):
        splits = None  # readers leave them aside
    name = entry.manifest.files.name
    return FileClaims(
        table="iceberg",
        place=own.below(name(field_ids.FILE_PATH)),
        path=entry.inside or "",
        rows=Count(entry.value(field_ids.RECORD_COUNT), own.below(name(field_ids.RECORD_COUNT))),
        metrics=_metrics(state, entry),
        partition=tuple(_partition(state, entry)),
        deleted=_deleted(state, entry),
        order=_order(state, entry),
        deletes=_deletes(state, entry),
        has_names=bool(state.schema.names),
        first_split=Count(splits[0], own.below(name(field_ids.SPLIT_OFFSETS))) if splits else None,
        splits=tuple(splits[1:]) if splits else (),
        remedy=REMEDY,
        row_ids=_row_ids(state, entry),
        schema=state.fields,
    )


def _row_ids(state: IcebergState, entry: Entry) -> RowIdClaims | None:
    """The row ids of a data file; ``None`` in versions without them, or if the assigned ids are unknown."""
    end = state.metadata.get("next-row-id")
    if state.version < ROW_IDS_SINCE or entry.content != DATA or type(end) is not int:
        return None
    place = entry.place(field_ids.FIRST_ROW_ID)
    return RowIdClaims(place, (), STORED_ROW_ID, state.first_row_ids.get(entry), end)


def _deleted(state: IcebergState, entry: Entry) -> DeletedRows | None:
    """The deletion vector of a data file; ``None`` if there is none that can be found."""
    vector = state.vectors.get(entry.path) if entry.content == DATA else None
    if vector is None or vector.inside is None:
        return None
    offset, size = vector.value(field_ids.CONTENT_OFFSET), vector.value(field_ids.CONTENT_SIZE_IN_BYTES)
    if offset is None or size is None or offset < 0 or size < AROUND:
        return None
    place = ClaimPlace(vector.manifest.name, vector.number, vector.place(field_ids.RECORD_COUNT).path[:1])
    cardinality = vector.value(field_ids.RECORD_COUNT)
    return DeletedRows(place, vector.inside, offset, size - AROUND, cardinality, of=entry.path)


def _order(state: IcebergState, entry: Entry) -> RowOrder | None:
    """The order of the rows; ``None`` for an unsorted file, or if the table does not define the order."""
    number = entry.value(field_ids.SORT_ORDER_ID)
    if number is None or number == UNSORTED or entry.content == POSITION_DELETES:
        return None
    columns: list[SortedBy] = []
    unknown = ""
    for one in state.schema.orders.get(number, ()):
        column = None if one.source is None else state.schema.column(one.source)
        if not one.is_known:
            unknown = unknown or f"sort order {number} has an unknown direction or null order"
        elif column is None or column.is_repeated:
            unknown = unknown or f"sort order {number} is by {one.transform} of a missing or repeated column"
        else:
            columns.append(
                SortedBy(
                    name=column.name,
                    path=state.schema.names.get(column.id, ()),
                    field_id=column.id,
                    type=column.type,
                    transform=one.transform,
                    descending=one.descending,
                    nulls_first=one.nulls_first,
                )
            )
    if not columns and not unknown:
        return None
    return RowOrder(entry.place(field_ids.SORT_ORDER_ID), number, tuple(columns), unknown)


def _deletes(state: IcebergState, entry: Entry) -> DeletesClaims | None:
    if entry.content == DATA:
        return None
    by_position = entry.content == POSITION_DELETES
    compared: list[int] = [] if by_position else entry.value(field_ids.EQUALITY_IDS) or []
    columns = {number: state.schema.column(number) for number in compared}
    return DeletesClaims(
        entry.place(field_ids.FILE_PATH if by_position else field_ids.EQUALITY_IDS),
        state.snapshot_id,
        by_position,
        tuple((number, "" if column is None else column.name) for number, column in columns.items()),
        entry.value(field_ids.REFERENCED_DATA_FILE) if by_position else None,
    )


def _metrics(state: IcebergState, entry: Entry) -> IcebergMetrics | None:
    maps = {identifier: given for identifier in FIELDS.values() if (given := entry.value(identifier))}
    if not maps:
        return None
    partitioned = frozenset(one.source for one in _spec(state, entry) if one.transform == "identity")
    return IcebergMetrics(state.schema, entry.own, entry.manifest.files.names, partitioned, maps)


def _reading(kind: str) -> Reading | None:
    with suppress(UnknownType):
        return reading_of(kind)
    return None


def _spec(state: IcebergState, entry: Entry) -> tuple[PartitionField, ...]:
    """The partition fields of a file."""
    return state.schema.specs.get(entry.manifest.listed.spec, ())


def _partition(state: IcebergState, entry: Entry) -> Iterator[PartitionValue]:
    for one in _spec(state, entry):
        is_there, value = entry.partition_value(one.id)
        column = state.schema.column(one.source)
        if not is_there or column is None or column.is_repeated:
            continue
        yield PartitionValue(
            name=one.name,
            path=state.schema.names.get(one.source, ()),
            field_id=one.source,
            transform=f"{one.transform}[{one.parameter}]" if one.parameter else one.transform,
            kind=None,
            value=value,
            written="null" if value is None else str(value)[:80],
            place=entry.partition_place(one.id),
            type=column.type,
        )
