"""How a Delta log means what it says of values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pqassay.tables.claims import ValueKind
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay_tables.under_test.claimed_columns import ClaimedBound
from pqassay_tables.values.deletion_vector import DeletionVector
from pqassay_tables.values.table_claims import TableRules, TableView

RULES = TableRules(
    bounds="DLT-027",
    nulls="DLT-028",
    partition="DLT-011",
    tight="DLT-035",
    nan_bound="DLT-038",
    zeros="DLT-039",
)
"""The rules about values."""


class DeltaView(TableView):
    """Bounds and counts of a file with a deletion vector are of the rows that remain, where they are tight."""

    def is_compared(self, count: int) -> bool:
        """Whether a count of nulls says anything: a wide one, only where it is that of no rows or of all."""
        claims = self.file.claims
        if claims is None or (claims.is_tight and claims.deleted is None):
            return True
        # Whether a count that is neither takes the deleted rows in, the protocol leaves open.
        return claims.rows is not None and count in (0, claims.rows.value)

    def nulls_agree(self, count: int, nulls: int, rows: int) -> bool:
        """Whether a count of nulls is right, of so many among the rows that remain."""
        claims = self.file.claims
        if claims is None or claims.deleted is None or not count:
            return count == nulls
        return nulls == rows  # it is that of all rows

    def is_tight(self, side: ClaimedBound) -> bool:
        """Whether a bound has to be a value that remains: texts and timestamps may be cut."""
        claims = self.file.claims
        return (
            claims is not None
            and claims.is_tight
            and side.column.table.reading is not None
            and side.column.table.reading.kind not in (ValueKind.TEXT, ValueKind.BYTES, ValueKind.TIMESTAMP)
        )

    def deleted_rows(self, chunk: ColumnChunkUnderTest, rows: int) -> NDArray[np.bool_] | None:
        """The rows of a row group that are not part of the table; ``None`` if all are. Raises `NotChecked`."""
        claims = self.file.claims
        if claims is None or claims.deleted is None:
            return None
        return self.file.part(DeletionVector).removed(chunk.row_group, rows)
