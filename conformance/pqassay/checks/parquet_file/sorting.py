"""The check of the order that row groups claim for their rows, tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pqassay.checks.value_rules import value_rule
from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.fields import in_footer
from pqassay.under_test.file import FileUnderTest, NotChecked
from pqassay.under_test.violation import Violation
from pqassay.values.claims.audit import ValueAudit
from pqassay.values.claims.outcomes import Outcome
from pqassay.values.claims.value_rules import Claim, ValueRule
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.column_order import Order, shown, type_order
from pqassay_spec.parquet.thrift import RowGroup

if TYPE_CHECKING:
    from pqassay.values.claims.row_order import Descent, RowsCompared
    from pqassay.values.decoding.chunk_values import ChunkValues


@dataclass(frozen=True)
class SortedColumn:
    """A column by which the rows of a row group are sorted.

    Attributes:
        chunk: The column chunk, without lists around it.
        order: The order of its values.
        descending, nulls_first: The direction of the sorting.
    """

    chunk: ColumnChunkUnderTest
    order: Order
    descending: bool
    nulls_first: bool

    def __str__(self) -> str:
        return f"{'descending' if self.descending else 'ascending'}, nulls {'first' if self.nulls_first else 'last'}"


@dataclass
class Sorting:
    """The order that a row group claims for its rows, with the columns decoded so far."""

    number: int
    columns: Sequence[SortedColumn]
    compared: dict[int, RowsCompared] = field(default_factory=dict[int, "RowsCompared"])
    is_whole: bool = True

    def violation(self, descent: Descent) -> Violation:
        """The violation by a row that is out of order."""
        column = self.columns[descent.column]
        before, after = (
            "null" if raw is None else shown(column.order, raw) for raw in (descent.before, descent.after)
        )
        name = column.chunk.column
        return Violation(
            f"row {descent.row} of row group {self.number} holds {after} in column {name}, "
            f"after {before}, but the footer declares this order: {column}",
            in_footer(column.chunk.file, f"row_groups[{self.number}].sorting_columns"),
            column=name,
            row_group=self.number,
            expected=f"{name} {column}",
            actual=f"{before} before {after}",
            more=descent.total - 1,
        )


def _claims_an_order(audit: ValueAudit) -> bool:
    return any(group.sorting_columns for group in audit.file.metadata.row_groups)


@value_rule("PQF-075", only=_claims_an_order)
class RowsAreSorted(ValueRule):
    """A reader that merges or searches sorted rows misses some rows, or returns them in the wrong order."""

    def __init__(self, file: FileUnderTest, outcome: Outcome) -> None:
        super().__init__(file, outcome)
        self._sortings: dict[int, Sorting] = {}
        chunks = {(chunk.row_group, chunk.ordinal): chunk for chunk in file.part(ColumnChunks).all}
        for number, group in enumerate(file.metadata.row_groups):
            outcome.applies |= bool(group.sorting_columns)
            try:
                self._sortings[number] = Sorting(number, _sorted_columns(group, number, chunks))
            except (FormatError, NotChecked) as reason:
                outcome.hindered(reason)

    def claims(self, chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
        """The claim that the rows are sorted by this chunk, alone or with others."""
        sorting = self._sortings.get(chunk.row_group)
        if sorting is not None and any(chunk is column.chunk for column in sorting.columns):
            yield SortedChunk(chunk, sorting)


class SortedChunk(Claim):
    """The claim about a column chunk by which rows are sorted, alone or with others."""

    def __init__(self, chunk: ColumnChunkUnderTest, sorting: Sorting) -> None:
        self._chunk = chunk
        self._sorting = sorting
        self._compared: dict[int, RowsCompared] | None = None

    def compare(self, values: ChunkValues) -> Iterator[Violation]:
        """Compare each row with the previous one; the result is available when the other columns have been read."""
        from pqassay.values.claims.row_order import compared  # noqa: PLC0415 - numpy, at this tier only

        self._compared = {
            place: compared(
                values, column.order, descending=column.descending, nulls_first=column.nulls_first
            )
            for place, column in enumerate(self._sorting.columns)
            if column.chunk is self._chunk
        }
        return iter(())

    def settle(self) -> Iterator[Violation]:
        """Yield the violation of the first row that is out of order, once all columns of the sorting are compared."""
        sorting = self._sorting
        sorting.is_whole &= self._compared is not None
        sorting.compared |= self._compared or {}
        self._compared = None
        if not sorting.is_whole:
            sorting.compared.clear()
        elif len(sorting.compared) == len(sorting.columns):
            from pqassay.values.claims.row_order import first_descent  # noqa: PLC0415 - as above

            compared = [sorting.compared[place] for place in range(len(sorting.columns))]
            sorting.compared.clear()
            descent = first_descent(compared)
            if descent is not None:
                yield sorting.violation(descent)


def _sorted_columns(
    group: RowGroup, number: int, chunks: dict[tuple[int, int], ColumnChunkUnderTest]
) -> list[SortedColumn]:
    """The columns by which a row group is sorted. Raises `NotChecked` and STA-002 if one of them cannot be compared."""
    columns: list[SortedColumn] = []
    for sorting in group.sorting_columns or []:
        if not 0 <= sorting.column_idx < len(group.columns):
            raise NotChecked(
                f"row group {number} is sorted by leaf {sorting.column_idx}, which does not exist", "file"
            )
        chunk = chunks.get((number, sorting.column_idx))
        if chunk is None:
            is_elsewhere = group.columns[sorting.column_idx].file_path is not None
            raise NotChecked(
                f"row group {number} is sorted by a column that is {'stored elsewhere' if is_elsewhere else 'encrypted'}",
                "file" if is_elsewhere else "key",
            )
        # Column orders apply to bounds. Types that define their own order are sorted by that one.
        leaf, order = chunk.leaf, type_order(chunk.leaf.element) or chunk.order
        if order is None:
            raise NotChecked(
                f"the format defines no order for column {leaf.name}, {leaf.physical_type}", "file"
            )
        if leaf.max_repetition_level:
            raise NotChecked(f"the format defines no order for lists, as in column {leaf.name}", "file")
        columns.append(SortedColumn(chunk, order, sorting.descending, sorting.nulls_first))
    return columns
