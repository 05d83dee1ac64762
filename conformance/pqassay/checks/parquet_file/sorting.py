"""The check of the order that row groups claim for their rows, tier ``values``."""

from __future__ import annotations

from pqassay.checks.by_values import by_audit
from pqassay.values.claims.audit import ValueAudit


def _claims_an_order(audit: ValueAudit) -> bool:
    return any(group.sorting_columns for group in audit.file.metadata.row_groups)


@by_audit("PQF-075", "claims.row_order._Sorting.violation", only=_claims_an_order)
def rows_are_sorted() -> None:
    """A reader that merges or searches sorted rows misses some, or returns them in the wrong order."""
