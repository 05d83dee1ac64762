"""Checks of what a manifest says of a data file, against its values: tier ``values``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pqassay.checks.by_values import by_audit
from pqassay.under_test.file import FileUnderTest
from pqassay_tables.checks.table_values import claimed_values

if TYPE_CHECKING:
    from pqassay_tables.values.table_claims import TableFamily


def _family(file: FileUnderTest) -> TableFamily:
    from pqassay_tables.values.iceberg_claims import RULES  # noqa: PLC0415 - numpy, at this tier only
    from pqassay_tables.values.table_claims import TableFamily, TableView  # noqa: PLC0415 - likewise

    return TableFamily(file, RULES, TableView(file))


CLAIMED_VALUES = claimed_values("iceberg", _family)


@by_audit("ICE-040", "table_claims.TableFamily.claim", of=CLAIMED_VALUES)
def values_lie_in_their_bounds() -> None:
    """Readers skip the file for a value beyond a bound."""


@by_audit("ICE-041", "table_claims.TableFamily.finish", of=CLAIMED_VALUES)
def nulls_are_counted() -> None:
    """A file of nothing but nulls is skipped for every value, one without any for the search for nulls."""


@by_audit("ICE-042", "table_claims.TableFamily.finish", of=CLAIMED_VALUES)
def nans_are_counted() -> None:
    """A file of nothing but NaN is skipped for every number."""


@by_audit("ICE-043", "partition_claims.PartitionAudit.judge", of=CLAIMED_VALUES)
def rows_have_the_partition_values_of_their_file() -> None:
    """A query for another value of the column does not look into the file."""
