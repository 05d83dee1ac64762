"""Checks of a manifest's claims about a data file against its values, tier ``values``."""

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
    """Readers that look for a value beyond a bound skip the file."""
    yield from enclosing_bounds(chunk)
    yield from enclosed_zeros(chunk)


@value_rule("ICE-041", audited=ICEBERG_VALUES)
class NullsOfManifestAreCounted(ClaimedCounts):
    """Readers skip a file of only nulls for every value, and a file without nulls when they look for nulls."""


@value_rule("ICE-042", audited=ICEBERG_VALUES)
class NansOfManifestAreCounted(ClaimedCounts):
    """Readers skip a file of only NaN for every number."""

    metric = Metric.NANS
    are = "are NaN"

    def take(self, values: ChunkValues, _: int) -> tuple[int, int]:
        """The number of NaN values in a chunk, and the number of rows."""
        return int(values.is_nan.sum()), values.entries


@value_rule("ICE-043", audited=ICEBERG_VALUES)
def rows_have_the_partition_values_of_their_file(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A query for another value of the column skips the file."""
    return partition_values(chunk)


@value_rule("ICE-101", audited=ICEBERG_VALUES)
def stored_row_ids_were_given_away(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """New rows get ids that other rows already have."""
    return ids_given_away(chunk)


@value_rule("ICE-102", audited=ICEBERG_VALUES)
class RowsHaveIdsOfTheirOwn(DistinctRowIds):
    """Readers take two rows for versions of the same row."""
