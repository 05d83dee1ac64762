"""Checks of what a Delta log says of a data file, against its values: tier ``values``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pqassay.checks.by_values import by_audit
from pqassay.under_test.file import FileUnderTest
from pqassay_tables.checks.table_values import claimed_values

if TYPE_CHECKING:
    from pqassay_tables.values.table_claims import TableFamily


def _family(file: FileUnderTest) -> TableFamily:
    from pqassay_tables.values.delta_claims import RULES, DeltaView  # noqa: PLC0415 - numpy, at this tier only
    from pqassay_tables.values.table_claims import TableFamily  # noqa: PLC0415 - likewise

    return TableFamily(file, RULES, DeltaView(file))


CLAIMED_VALUES = claimed_values("delta", _family)


@by_audit("DLT-027", "table_claims.TableFamily.claim", of=CLAIMED_VALUES)
def values_lie_in_their_bounds() -> None:
    """Readers skip the file for a value beyond a bound."""


@by_audit("DLT-028", "table_claims.TableFamily.finish", of=CLAIMED_VALUES)
def nulls_are_counted() -> None:
    """A file of nothing but nulls is skipped for every value, one without any for the search for nulls."""


@by_audit("DLT-011", "partition_claims.PartitionAudit.judge", of=CLAIMED_VALUES)
def rows_have_the_partition_values_of_their_file() -> None:
    """Whoever reads the file alone finds another value than whoever reads the table."""


@by_audit("DLT-035", "table_claims.TableFamily.finish", of=CLAIMED_VALUES)
def tight_bounds_are_values() -> None:
    """Engines that answer the least and the greatest value by the log give one that is not there."""


@by_audit("DLT-038", "table_claims.TableFamily.claim", of=CLAIMED_VALUES)
def nan_lies_below_no_bound() -> None:
    """Readers that order NaN above all numbers skip the file for it."""


@by_audit("DLT-039", "table_claims.TableFamily.claim", of=CLAIMED_VALUES)
def zeros_lie_in_their_bounds() -> None:
    """Readers that order the zeros by their sign skip the file for one of them."""
