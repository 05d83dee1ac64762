"""The sorting columns and the designated timestamp of a Parquet file, for ``_pm``.

Source: "Parquet metadata file" (``parquet-metadata.md``), sections "Header" and "Sorting column"; where it is silent,
files that QuestDB 9.4 wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from pqassay_spec.parquet.column_order import WIDTHS
from pqassay_spec.parquet.thrift import FileMetaData, RowGroup, Statistics, Type
from pqassay_spec.pm.codes import NO_COLUMN, ColumnType, type_tag
from pqassay_spec.pm.from_parquet.bounds import verbatim_bounds
from pqassay_spec.pm.from_parquet.fields import LeafField, type_of
from pqassay_spec.pm.from_parquet.questdb_key import QuestDBMetadata
from pqassay_spec.pm.types import is_descending, is_designated
from pqassay_spec.pm.value import SnapshotSorting

WritingPath = Literal["encode", "schema"]
"""The origin of descriptors: QuestDB's table, or the Parquet file's schema."""


def sorting_of(
    metadata: FileMetaData,
    fields: Sequence[LeafField],
    questdb: QuestDBMetadata | None = None,
    *,
    path: WritingPath = "schema",
) -> list[SnapshotSorting]:
    """The columns that the rows are sorted by.

    QuestDB's own files are sorted by the designated timestamp. If row groups declare another sorting, the first declaration
    counts (not with ``encode``). In other files, all row groups with rows must declare the same sorting, because
    ``_pm`` stores it for the whole file.
    """
    designated = designated_column(questdb) if questdb is not None else NO_COLUMN
    default: list[SnapshotSorting] = []
    if questdb is not None and designated != NO_COLUMN:
        default = [SnapshotSorting(designated, is_descending(questdb.schema[designated].column_type))]
    if path == "encode":
        return default
    declared = [_declared(group, len(fields)) for group in metadata.row_groups if group.num_rows]
    if questdb is not None:
        return next((sorting for sorting in declared if sorting), default)
    return declared[0] if declared and all(sorting == declared[0] for sorting in declared) else []


def _declared(group: RowGroup, column_count: int) -> list[SnapshotSorting]:
    """The sorting that a row group declares, up to the first column that does not exist or is repeated."""
    columns: list[SnapshotSorting] = []
    seen: set[int] = set()
    for sorting in group.sorting_columns or ():
        if not 0 <= sorting.column_idx < column_count or sorting.column_idx in seen:
            break
        seen.add(sorting.column_idx)
        columns.append(SnapshotSorting(sorting.column_idx, sorting.descending))
    return columns


def designated_column(questdb: QuestDBMetadata) -> int:
    """Position of the column whose type code marks it as the designated timestamp; `NO_COLUMN` if there is none."""
    found = (i for i, column in enumerate(questdb.schema) if is_designated(column.column_type))
    return next(found, NO_COLUMN)


def designated_timestamp_of(
    metadata: FileMetaData, fields: Sequence[LeafField], questdb: QuestDBMetadata | None = None
) -> int:
    """DESIGNATED_TIMESTAMP.

    In a file of QuestDB, the type codes decide. In another file it is the first sorting column, if that is a required
    timestamp in ascending order. The bounds of the row groups must prove that it ascends throughout the file.
    """
    if questdb is not None:
        return designated_column(questdb)
    sorting = sorting_of(metadata, fields)
    if not sorting or sorting[0].descending:
        return NO_COLUMN
    field = fields[sorting[0].column]
    is_timestamp = type_tag(type_of(field)) == ColumnType.TIMESTAMP and field.leaf.element.type == Type.INT64
    is_required = not field.leaf.max_definition_level and not field.leaf.max_repetition_level
    ascends = is_timestamp and is_required and _ascends(_ranges(metadata, sorting[0].column))
    return sorting[0].column if ascends else NO_COLUMN


def _ranges(metadata: FileMetaData, ordinal: int) -> Iterator[tuple[int, int] | None]:
    """Least and greatest value of an INT64 column in each row group with rows; ``None`` if they are unknown."""
    for group in metadata.row_groups:
        if group.num_rows:
            facts = group.columns[ordinal].meta_data
            low, high = verbatim_bounds((facts.statistics if facts else None) or Statistics())
            if low is None or high is None or {len(low), len(high)} != {WIDTHS[Type.INT64]}:
                yield None
            else:
                yield int.from_bytes(low, "little", signed=True), int.from_bytes(high, "little", signed=True)


def _ascends(ranges: Iterator[tuple[int, int] | None]) -> bool:
    last: int | None = None
    for found in ranges:
        if found is None or found[0] > found[1] or (last is not None and last > found[0]):
            return False
        last = found[1]
    return True
