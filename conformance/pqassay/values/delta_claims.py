"""How a Delta log means what it says of values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pqassay.tables.claims import Count
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.claimed_columns import ClaimedColumn
from pqassay.under_test.file import NotChecked
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

    def deleted_rows(self, chunk: ColumnChunkUnderTest) -> NDArray[np.bool_] | None:
        """The rows of a row group that are not part of the table; ``None`` if all are. Raises `NotChecked`."""
        _ = chunk
        claims = self.file.claims
        if claims is not None and claims.deleted is not None:
            raise NotChecked(
                "pqassay does not decode deletion vectors, and a value may be in a deleted row", "tool"
            )
        return None
