"""The check of the order that row groups claim for their rows, tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pqassay.checks import rule
from pqassay.checks.subjects import FILE
from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked
from pqassay.under_test.violation import Violation
from pqassay.values.outcomes import Outcome
from pqassay_spec.parquet.column_order import shown, type_order
from pqassay_spec.parquet.thrift import RowGroup

if TYPE_CHECKING:
    from pqassay.values.row_order import Disorder, SortedColumn


@rule("PQF-075", of=FILE)
def rows_are_sorted(file: FileUnderTest) -> Iterator[Violation]:
    """A reader that merges or searches sorted rows misses some, or returns them in the wrong order."""
    groups = file.metadata.row_groups
    if not any(group.sorting_columns for group in groups):
        raise NotApplicable
    from pqassay.values.chunk_values import Decoders  # noqa: PLC0415 - pyarrow, at this tier only
    from pqassay.values.row_order import disorder  # noqa: PLC0415 - likewise

    chunks = {(chunk.row_group, chunk.ordinal): chunk for chunk in file.part(ColumnChunks).all}
    outcome = Outcome(applies=True)
    decoders = Decoders(file)
    try:
        for number, group in enumerate(groups):
            try:
                columns = _sorted_columns(group, number, chunks)
                if columns:
                    found = disorder(decoders.opened(dictionaries=False), number, columns)
                    if found is not None:
                        outcome.add(_violation(found, number))
            except NotChecked as reason:
                outcome.hindered(reason)
    finally:
        decoders.close()
    yield from outcome.result()


def _sorted_columns(
    group: RowGroup, number: int, chunks: dict[tuple[int, int], ColumnChunkUnderTest]
) -> list[SortedColumn]:
    """The columns by which a row group is sorted. Raises `NotChecked` where one cannot be followed."""
    from pqassay.values.row_order import SortedColumn  # noqa: PLC0415 - pyarrow, at this tier only

    found: list[SortedColumn] = []
    for given in group.sorting_columns or []:
        if not 0 <= given.column_idx < len(group.columns):
            raise NotChecked(f"row group {number} is sorted by leaf {given.column_idx}, and there is none")
        chunk = chunks.get((number, given.column_idx))
        if chunk is None:
            raise NotChecked(
                f"row group {number} is sorted by a column that is encrypted or stored elsewhere"
            )
        leaf, order = chunk.leaf, chunk.order or type_order(chunk.leaf.element)
        if order is None:
            raise NotChecked(
                f"how values of column {leaf.name}, {leaf.physical_type}, are sorted, nobody says"
            )
        if leaf.max_repetition_level:
            raise NotChecked(f"how lists are sorted, as in column {leaf.name}, nobody says")
        found.append(SortedColumn(given.column_idx, leaf, order, given.descending, given.nulls_first))
    return found


def _violation(found: Disorder, number: int) -> Violation:
    column = found.column
    before, after = (
        "null" if raw is None else shown(column.order, raw) for raw in (found.before, found.after)
    )
    how = f"{'descending' if column.descending else 'ascending'}, nulls {'first' if column.nulls_first else 'last'}"
    return Violation(
        f"row {found.row} of row group {number} holds {after} in column {column.leaf.name}, the row before it "
        f"{before}, and the rows are said to be sorted by it, {how}",
        f"footer.row_groups[{number}].sorting_columns",
        column=column.leaf.name,
        row_group=number,
        expected=f"{column.leaf.name} {how}",
        actual=f"{before} before {after}",
        more=found.count - 1,
    )
