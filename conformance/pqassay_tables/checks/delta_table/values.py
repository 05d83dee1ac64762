"""Checks of what a Delta log says about a data file, against its values: tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pqassay.checks.value_rules import value_rule
from pqassay.tables.claims import ValueKind
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.values.claims.value_rules import Claim
from pqassay_tables.checks.table_values import DELTA_VALUES
from pqassay_tables.metadata.delta.statistics import DeltaMetrics
from pqassay_tables.under_test.claimed_columns import ClaimedBound, ClaimedColumn, ordinals_of
from pqassay_tables.values.partition_claims import partition_values
from pqassay_tables.values.stored_row_ids import DistinctRowIds, ids_given_away
from pqassay_tables.values.table_claims import (
    ClaimedCounts,
    MetBounds,
    enclosed_zeros,
    enclosing_bounds,
    is_finite_maximum,
    removed,
    special_values,
)

if TYPE_CHECKING:
    from pqassay.values.decoding.chunk_values import ChunkValues

CUT = (ValueKind.TEXT, ValueKind.BYTES, ValueKind.TIMESTAMP)
"""Kinds of values of which bounds may be cut."""


@value_rule("DLT-027", audited=DELTA_VALUES)
def values_lie_in_their_bounds(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Readers skip the file for a value beyond a bound."""
    return enclosing_bounds(chunk)


@value_rule("DLT-028", audited=DELTA_VALUES)
class NullsOfLogAreCounted(ClaimedCounts):
    """A file of only nulls is skipped for every value, one without any for the search for nulls."""

    def claimed(self) -> Iterator[tuple[ClaimedColumn, int]]:
        """The counts that say anything: of wide ones, and beside a deletion vector, only those of no rows or of all."""
        claims = self.owner.claims
        for column, count in super().claimed():
            # Whether a count that is neither takes the deleted rows in, the protocol leaves open.
            is_plain = claims.is_tight and claims.deleted is None
            if is_plain or (claims.rows is not None and count in (0, claims.rows.value)):
                yield column, count
        paths = self.file.schema.view(ordinals_of).by_path
        for listed, count in (
            claims.metrics.counted_lists() if isinstance(claims.metrics, DeltaMetrics) else ()
        ):
            size = len(listed.path)
            if claims.rows is not None and count in (
                0,
                claims.rows.value,
            ):  # others may count what is in lists
                column = ClaimedColumn(listed, self.file.schema)
                column.ordinal = next(
                    (place for path, place in paths.items() if path[:size] == listed.path), None
                )
                if column.ordinal is not None:
                    yield column, count

    def take(self, values: ChunkValues, claimed: int) -> tuple[int, int]:
        """See `ClaimedCounts`; of lists and maps, those that are null as a whole are counted, and rows."""
        group = values.chunk.leaf.parent
        if not values.chunk.leaf.max_repetition_level or values.remembered(removed) is not None:
            return super().take(values, claimed)
        while group.repetition and group.parent is not None:
            group = group.parent
        rows = self.file.metadata.row_groups[values.chunk.row_group].num_rows
        return int(values.counts.definition_histogram[:, : group.definition].sum()), rows

    def is_right(self, claimed: int, counted: int, rows: int) -> bool:
        """Whether a count is right; one of all rows is that of those that remain."""
        return counted == (rows if self.owner.claims.deleted is not None and claimed else claimed)


@value_rule("DLT-011", audited=DELTA_VALUES)
def rows_have_the_partition_values_of_their_file(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """A reader of the file alone gets another value than a reader of the table."""
    return partition_values(chunk)


@value_rule("DLT-035", audited=DELTA_VALUES)
class TightBoundsAreValues(MetBounds):
    """Engines that answer the smallest and the greatest value by the log give one that is not there."""

    def has_to_be_met(self, bound: ClaimedBound) -> bool:
        """Whether a bound is tight: texts and timestamps may be cut."""
        reading = bound.column.table.reading
        return self.owner.claims.is_tight and reading is not None and reading.kind not in CUT


@value_rule("DLT-038", audited=DELTA_VALUES)
def nan_lies_below_no_bound(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Readers that order NaN above all numbers skip the file for it."""

    def left_out(values: ChunkValues, _: ClaimedBound, __: float) -> tuple[Any, str, str]:
        return values.is_nan, "NaN", "no upper bound"

    return special_values(chunk, is_finite_maximum, left_out)


@value_rule("DLT-039", audited=DELTA_VALUES)
def zeros_lie_in_their_bounds(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Readers that order the zeros by their sign skip the file for one of them."""
    return enclosed_zeros(chunk)


@value_rule("DLT-072", audited=DELTA_VALUES)
def stored_row_ids_were_given_away(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Rows that are added next get ids that others have."""
    return ids_given_away(chunk)


@value_rule("DLT-073", audited=DELTA_VALUES)
class RowsOfFilesHaveIdsOfTheirOwn(DistinctRowIds):
    """Two rows are taken for versions of the same one."""
