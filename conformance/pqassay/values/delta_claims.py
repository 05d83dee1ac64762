"""How a Delta log means what it says of values."""

from __future__ import annotations

from pqassay.tables.claims import Count
from pqassay.under_test.claimed_columns import ClaimedColumn
from pqassay.values.table_claims import TableRules, TableView

RULES = TableRules(bounds="DLT-027", nulls="DLT-028")
"""The rules about values."""


class DeltaView(TableView):
    """Bounds and counts of a file with a deletion vector are of the rows that remain, where they are tight."""

    def nulls_of(self, column: ClaimedColumn) -> Count | None:
        """The count of nulls that holds exactly, if there is one."""
        claims, count = column.owner.claims, column.claims.nulls
        if count is None or claims.deleted is not None:
            return None
        if not claims.is_tight and (claims.rows is None or count.value not in (0, claims.rows.value)):
            return None  # it carries no information
        return count
