"""Checks of what a manifest says about a data file, against its values: tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pqassay.checks.value_rules import value_rule
from pqassay.tables.claims import Metric
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.values.claims.value_rules import Claim
from pqassay_tables.checks.table_values import ICEBERG_VALUES
from pqassay_tables.values.partition_claims import partition_values
from pqassay_tables.values.stored_row_ids import DistinctRowIds, ids_given_away
from pqassay_tables.values.table_claims import ClaimedCounts, enclosed_zeros, enclosing_bounds

if TYPE_CHECKING:
    from pqassay.values.decoding.chunk_values import ChunkValues


@value_rule("ICE-040", audited=ICEBERG_VALUES)
def values_lie_in_their_bounds(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Readers skip the file for a value beyond a bound."""
    yield from enclosing_bounds(chunk)
    yield from enclosed_zeros(chunk)


@value_rule("ICE-041", audited=ICEBERG_VALUES)
class NullsOfManifestAreCounted(ClaimedCounts):
    """A file of only nulls is skipped for every value, one without any for the search for nulls."""


@value_rule("ICE-042", audited=ICEBERG_VALUES)
class NansOfManifestAreCounted(ClaimedCounts):
    """A file of nothing but NaN is skipped for every number."""

    metric = Metric.NANS
    are = "are NaN"

    def take(self, values: ChunkValues, _: int) -> tuple[int, int]:
        """How many values of a chunk are NaN, of how many rows."""
        return int(values.is_nan.sum()), values.entries


@value_rule("ICE-043", audited=ICEBERG_VALUES)
def rows_have_the_partition_values_of_their_file(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A query for another value of the column does not look into the file."""
    return partition_values(chunk)


@value_rule("ICE-101", audited=ICEBERG_VALUES)
def stored_row_ids_were_given_away(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Rows that are added next get ids that others have."""
    return ids_given_away(chunk)


@value_rule("ICE-102", audited=ICEBERG_VALUES)
class RowsHaveIdsOfTheirOwn(DistinctRowIds):
    """Two rows are taken for versions of the same one."""
