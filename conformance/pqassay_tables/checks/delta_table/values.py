"""Checks of a Delta log's claims about a data file against its values, tier ``values``."""

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
"""Kinds of values whose bounds may be truncated."""


@value_rule("DLT-027", audited=DELTA_VALUES)
def values_lie_in_their_bounds(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Readers that look for a value beyond a bound skip the file."""
    return enclosing_bounds(chunk)


@value_rule("DLT-028", audited=DELTA_VALUES)
class NullsOfLogAreCounted(ClaimedCounts):
    """Readers skip a file of only nulls for every value, and a file without nulls when they look for nulls."""

    def claimed(self) -> Iterator[tuple[ClaimedColumn, int]]:
        """Yield the meaningful counts: of wide counts, and with a deletion vector, only zero or the number of all rows."""
        claims = self.owner.claims
        for column, count in super().claimed():
            # The protocol does not define whether other counts include deleted rows.
            is_plain = claims.is_tight and claims.deleted is None
            if is_plain or (claims.rows is not None and count in (0, claims.rows.value)):
                yield column, count
        if claims.rows is None or not isinstance(claims.metrics, DeltaMetrics):
            return
        paths = self.file.schema.view(ordinals_of).by_path
        for listed, count in claims.metrics.counted_lists():
            if count not in (0, claims.rows.value):
                continue  # other counts may be of the items of lists
            size = len(listed.path)
            ordinal = next((place for path, place in paths.items() if path[:size] == listed.path), None)
            if ordinal is not None:
                column = ClaimedColumn(listed, self.file.schema)
                column.ordinal = ordinal
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
        """Whether a count is right; a count of all rows means the remaining rows."""
        return counted == (rows if self.owner.claims.deleted is not None and claimed else claimed)


@value_rule("DLT-011", audited=DELTA_VALUES)
def rows_have_the_partition_values_of_their_file(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Readers of the file alone return another value than readers of the table."""
    return partition_values(chunk)


@value_rule("DLT-035", audited=DELTA_VALUES)
class TightBoundsAreValues(MetBounds):
    """Engines that answer minimum and maximum from the log return a value that does not occur."""

    def has_to_be_met(self, bound: ClaimedBound) -> bool:
        """Whether a bound is tight: texts and timestamps may be truncated."""
        reading = bound.column.table.reading
        return self.owner.claims.is_tight and reading is not None and reading.kind not in CUT


@value_rule("DLT-038", audited=DELTA_VALUES)
def nan_lies_below_no_bound(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Readers that order NaN above all numbers skip the file when they look for NaN."""

    def left_out(values: ChunkValues, _: ClaimedBound, __: float) -> tuple[Any, str, str]:
        return values.is_nan, "NaN", "no upper bound"

    return special_values(chunk, is_finite_maximum, left_out)


@value_rule("DLT-039", audited=DELTA_VALUES)
def zeros_lie_in_their_bounds(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Readers that distinguish the two zeros skip the file when they look for one of them."""
    return enclosed_zeros(chunk)


@value_rule("DLT-072", audited=DELTA_VALUES)
def stored_row_ids_were_given_away(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """New rows get ids that other rows already have."""
    return ids_given_away(chunk)


@value_rule("DLT-073", audited=DELTA_VALUES)
class RowsOfFilesHaveIdsOfTheirOwn(DistinctRowIds):
    """Readers take two rows for versions of the same row."""
