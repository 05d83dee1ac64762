"""The claims of a manifest about one file, from its entry.

What is no value of its column's type is left out: rules of tier ``meta`` speak of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pqassay.tables import repairs
from pqassay.tables.claims import (
    Bound,
    ColumnClaims,
    Count,
    DeletedRows,
    DeletesClaims,
    FileClaims,
    PartitionValue,
    Place,
    RowOrder,
    SortedBy,
)
from pqassay.tables.iceberg.manifests import Entry
from pqassay.tables.iceberg.schema import IcebergColumn, PartitionField
from pqassay.tables.iceberg.state import IcebergState
from pqassay.tables.iceberg.values import UnknownTypeError, value_of, written
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.deletion_vector import CHECKSUM_SIZE, SIZE_SIZE
from pqassay_spec.table.iceberg import DATA, POSITION_DELETES, UNSORTED

AROUND = SIZE_SIZE + CHECKSUM_SIZE
"""Bytes of a deletion vector in its file beside the vector itself: its length and its checksum."""

SIZES, VALUES = field_ids.COLUMN_SIZES, field_ids.VALUE_COUNTS
NULLS, NANS = field_ids.NULL_VALUE_COUNTS, field_ids.NAN_VALUE_COUNTS
LOWER, UPPER = field_ids.LOWER_BOUNDS, field_ids.UPPER_BOUNDS

REMEDY = repairs.ICEBERG_FILE.text
"""What makes the metrics of an Iceberg table anew."""


def claims_of(state: IcebergState, entry: Entry) -> FileClaims:
    """What a manifest says of a live file that is below the table."""
    splits = entry.value(field_ids.SPLIT_OFFSETS)
    if splits and (sorted(splits) != splits or splits[-1] >= entry.value(field_ids.FILE_SIZE_IN_BYTES)):
        splits = None  # readers leave them aside
    return FileClaims(
        table="iceberg",
        place=entry.place(field_ids.FILE_PATH),
        path=entry.inside or "",
        size=Count(entry.value(field_ids.FILE_SIZE_IN_BYTES), entry.place(field_ids.FILE_SIZE_IN_BYTES)),
        rows=Count(entry.value(field_ids.RECORD_COUNT), entry.place(field_ids.RECORD_COUNT)),
        columns=tuple(_columns(state, entry)),
        partition=tuple(_partition(state, entry)),
        deleted=_deleted(state, entry),
        order=_order(state, entry),
        deletes=_deletes(state, entry),
        by_id=True,
        has_names=bool(state.schema.names),
        first_split=Count(splits[0], entry.place(field_ids.SPLIT_OFFSETS)) if splits else None,
        splits=tuple(splits[1:]) if splits else (),
        remedy=REMEDY,
    )


def _deleted(state: IcebergState, entry: Entry) -> DeletedRows | None:
    """The deletion vector of a data file; ``None`` without one that can be found."""
    vector = state.vectors.get(entry.path) if entry.content == DATA else None
    if vector is None or vector.inside is None:
        return None
    offset, size = vector.value(field_ids.CONTENT_OFFSET), vector.value(field_ids.CONTENT_SIZE_IN_BYTES)
    if offset is None or size is None or offset < 0 or size < AROUND:
        return None
    place = Place(vector.manifest.name, vector.number, vector.place(field_ids.RECORD_COUNT).path[:1])
    return DeletedRows(place, vector.inside, offset, size - AROUND, vector.value(field_ids.RECORD_COUNT))


def _order(state: IcebergState, entry: Entry) -> RowOrder | None:
    """The order of the rows; ``None`` of a file that is not sorted, or whose order the table does not know."""
    number = entry.value(field_ids.SORT_ORDER_ID)
    if number is None or number == UNSORTED or entry.content == POSITION_DELETES:
        return None
    columns: list[SortedBy] = []
    unknown = ""
    for one in state.schema.orders.get(number, ()):
        column = None if one.source is None else state.schema.column(one.source)
        if not one.is_known:
            unknown = unknown or f"sort order {number} has a direction or a place of nulls that is not known"
        elif column is None or column.is_repeated:
            unknown = (
                unknown or f"sort order {number} is by {one.transform} of no column that has a single value"
            )
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


def _columns(state: IcebergState, entry: Entry) -> Iterator[ColumnClaims]:
    maps: dict[int, dict[int, Any]] = {
        identifier: entry.value(identifier) or {} for identifier in (SIZES, VALUES, NULLS, NANS, LOWER, UPPER)
    }
    given = {one.source for one in _spec(state, entry) if one.transform == "identity"}
    for identifier in dict.fromkeys(key for one in maps.values() for key in one):
        column = state.schema.column(identifier)
        if column is None or column.is_repeated:
            continue
        counts = {
            number: Count(maps[number][identifier], entry.place(number, identifier))
            if identifier in maps[number]
            else None
            for number in (SIZES, VALUES, NULLS, NANS)
        }
        yield ColumnClaims(
            name=column.name,
            path=state.schema.names.get(identifier, ()),
            field_id=identifier,
            type=column.type,
            values=counts[VALUES],
            nulls=counts[NULLS],
            nans=counts[NANS],
            lower=_bound(column, maps[LOWER].get(identifier), entry, LOWER),
            upper=_bound(column, maps[UPPER].get(identifier), entry, UPPER),
            size=counts[SIZES],
            is_null_where_absent=not column.has_default and identifier not in given,
        )


def _bound(column: IcebergColumn, raw: bytes | None, entry: Entry, field: int) -> Bound | None:
    if raw is None:
        return None
    try:
        typed = value_of(column.type, raw)
    except (ValueError, UnknownTypeError):
        return None
    return Bound(typed.kind, typed.value, written(typed), entry.place(field, column.id))


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
