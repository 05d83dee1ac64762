"""Checks of how files are sorted: that the table knows the order, tier ``meta``, and that rows are in it, tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pqassay.checks import rule
from pqassay.checks.by_values import by_audit
from pqassay.checks.subjects import Subject
from pqassay.under_test.file import FileUnderTest, NotApplicable
from pqassay.under_test.violation import Violation
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import POSITION_DELETES, UNSORTED
from pqassay_tables.checks.iceberg_table.subjects import TABLE
from pqassay_tables.checks.table_values import FamilyValues, claiming_family
from pqassay_tables.under_test.iceberg_table import IcebergTable
from pqassay_tables.under_test.table import claim_field

if TYPE_CHECKING:
    from pqassay_tables.values.table_order import OrderFamily


@rule("ICE-027", of=TABLE)
def sort_orders_are_known(table: IcebergTable) -> Iterator[Violation]:
    """Readers take the file for one that is not sorted; position deletes have an order of their own."""
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
        yield Violation(
            f"the sort_order_id of {entry.inside or entry.path} is {number}, {why}",
            claim_field(table.file, entry.place(field_ids.SORT_ORDER_ID)),
            expected=expected,
            actual=str(number),
        )


class OrderedValues(FamilyValues["OrderFamily"]):
    """The rows of a file that its table says is sorted: a part of the file."""

    def make(self) -> OrderFamily:
        """Its order."""
        from pqassay_tables.values.table_order import OrderFamily  # noqa: PLC0415 - numpy, at this tier only

        return OrderFamily(self.file, "ICE-049")


def _ordered(file: FileUnderTest) -> list[OrderedValues]:
    claims = file.claims
    if claims is None or claims.table != "iceberg" or claims.order is None:
        return []
    return [file.part(OrderedValues)]


claiming_family(OrderedValues, _ordered)

ORDERED: Subject[OrderedValues] = Subject("rows of a sorted file of an Iceberg table", _ordered)
"""The rows of a file with a sort order."""


@by_audit("ICE-049", "table_order.OrderFamily.finish", of=ORDERED)
def rows_are_in_their_order() -> None:
    """Readers that merge sorted files, or look for a value by halving, miss rows or return them out of order."""
