"""Checks of sort orders: that the table defines them, tier ``meta``, and that rows follow them, tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pqassay.checks import rule
from pqassay.checks.value_rules import value_rule
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked
from pqassay.under_test.violation import Violation
from pqassay.values.claims.joined_rows import JoinedRows
from pqassay.values.claims.outcomes import Outcome
from pqassay.values.claims.wording import others
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import POSITION_DELETES, UNSORTED
from pqassay_tables.checks.iceberg_table.subjects import TABLE
from pqassay_tables.checks.table_values import ICEBERG_VALUES
from pqassay_tables.metadata import repairs
from pqassay_tables.under_test.claimed_columns import ClaimedFile
from pqassay_tables.under_test.iceberg_table import IcebergTable
from pqassay_tables.under_test.table import claim_field

if TYPE_CHECKING:
    from pqassay.values.decoding.chunk_values import ChunkValues
    from pqassay_tables.values.table_order import Cell, SortedRows


@rule("ICE-027", of=TABLE)
def sort_orders_are_known(table: IcebergTable) -> Iterator[Violation]:
    """Readers treat the file as unsorted; position deletes have their own order."""
    known = {None, UNSORTED, *table.state.schema.orders}
    sorted_files = [
        entry for entry in table.state.entries if entry.value(field_ids.SORT_ORDER_ID) is not None
    ]
    if not sorted_files:
        raise NotApplicable
    for entry in sorted_files:
        number = entry.value(field_ids.SORT_ORDER_ID)
        if entry.content == POSITION_DELETES:
            expected, why = "null", "and it deletes positions"
        elif number not in known:
            expected, why = "the id of a sort order", "which the table does not have"
        else:
            continue
        said = f"the sort_order_id of {entry.inside or entry.path} is {number}, {why}"
        yield table.wrong(entry.place(field_ids.SORT_ORDER_ID), said, expected, str(number))


@value_rule(
    "ICE-049",
    audited=ICEBERG_VALUES,
    only=lambda values: values.file.claims is not None and values.file.claims.order is not None,
)
class RowsAreInTheirOrder(JoinedRows):
    """Readers that merge sorted files, or use binary search, miss rows or return them out of order."""

    def __init__(self, file: FileUnderTest, outcome: Outcome) -> None:
        super().__init__(file, outcome)
        self._owner = file.part(ClaimedFile)
        order = self._owner.claims.order
        if order is None:
            raise NotApplicable
        if order.unknown:
            raise NotChecked(order.unknown, "tool")
        outcome.applies = True
        self._order = order
        # A column that the file lacks has the same value in all rows.
        self._columns = [
            (ordinal, column)
            for column in order.columns
            if column.transform != "void"
            and (ordinal := self._owner.ordinal_of(column.field_id, column.path)) is not None
        ]
        self.ordinals = frozenset(ordinal for ordinal, _ in self._columns)
        self._last: list[Cell] | None = None

    def take(self, values: ChunkValues) -> dict[int, SortedRows]:
        """The rows of a chunk, by each sort key that is derived from its column."""
        from pqassay_tables.values.table_order import sorted_rows  # noqa: PLC0415 - numpy, at this tier only

        own = enumerate(self._columns)
        return {
            place: sorted_rows(values, column)
            for place, (ordinal, column) in own
            if ordinal == values.chunk.ordinal
        }

    def lose(self) -> None:
        """Note that the row before the next row group is unknown."""
        self._last = None

    def compare(self, group: int, taken: Mapping[int, dict[int, SortedRows]]) -> Iterator[Violation]:
        """Yield a violation for the first row out of order, including the first row after the previous row group."""
        from pqassay.values.claims.row_order import first_descent  # noqa: PLC0415 - numpy, at this tier only
        from pqassay_tables.values.table_order import out_of_order_by, shown_cell  # noqa: PLC0415 - likewise

        by_place = {place: rows for each in taken.values() for place, rows in each.items()}
        rows = [by_place[place] for place in range(len(self._columns))]
        if len({each.compared.values.entries for each in rows}) > 1:
            raise NotChecked(f"the columns of row group {group} have different numbers of rows", "file")
        firsts = [each.first for each in rows if each.first is not None]
        lasts = [each.last for each in rows if each.last is not None]
        if not firsts:
            return
        descent = first_descent([each.compared for each in rows])
        columns = [column for _, column in self._columns]
        across = None if self._last is None else out_of_order_by(columns, self._last, firsts)
        if self._last is not None and across is not None:
            count = 1 if descent is None else 1 + descent.total
            yield self._false(group, 0, across, self._last[across].shown, firsts[across].shown, count)
        elif descent is not None:
            values = rows[descent.column].compared.values
            before, after = (shown_cell(values, raw) for raw in (descent.before, descent.after))
            yield self._false(group, descent.row, descent.column, before, after, descent.total)
        self._last = lasts

    def _false(self, group: int, row: int, place: int, before: str, after: str, count: int) -> Violation:
        column = self._columns[place][1]
        return Violation(
            f"row {row} of row group {group} of {self._owner.name} holds {after} in column "
            f"{column.name}, after {before}, but sort order {self._order.number} is by "
            f"{column}" + others(count),
            claim_field(self.file, self._order.place),
            expected=f"rows sorted by {column}",
            actual=f"{before} before {after}",
            column=column.name,
            row_group=group,
            remedy=repairs.ICEBERG_SORTED.text,
        )
