"""Comparison of the partition values of a data file with all its rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pqassay.tables.claims import PartitionValue, Typed, ValueKind
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.violation import Violation
from pqassay.values.claims.bound_claims import bounds_of
from pqassay.values.claims.value_rules import Claim
from pqassay.values.claims.wording import others, value_at
from pqassay_spec.parquet.column_order import type_order
from pqassay_tables.under_test.claimed_bounds import form_of, stored_bound
from pqassay_tables.under_test.claimed_columns import ClaimedFile
from pqassay_tables.under_test.table import claim_field

if TYPE_CHECKING:
    from pqassay.values.decoding.chunk_values import ChunkValues


def partition_values(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Yield the claims for partition values whose source is the column of a chunk."""
    owner = chunk.file.part(ClaimedFile)
    for value in owner.claims.partition:
        if owner.ordinal_of(value.field_id, value.path) == chunk.ordinal:
            yield ClaimedPartition(owner, value)


@dataclass(frozen=True)
class ClaimedPartition(Claim):
    """The claim of one partition value for a file."""

    owner: ClaimedFile
    claim: PartitionValue

    def compare(self, values: ChunkValues) -> Iterator[Violation]:
        """Yield a violation if a row has another partition value."""
        claim, group = self.claim, values.chunk.row_group
        is_void = claim.transform == "void"
        if claim.value is not None and values.count < values.entries and not is_void:
            place = int((~values.valid).argmax())
            yield self._false(values, f"entry {place} of row group {group} is null", "null")
            return
        found = self._another(values)
        if found is not None:
            place, count = found
            order = type_order(values.chunk.leaf.element)
            actual = (
                f"0x{values.raw_of(place)[:32].hex()}" if order is None else value_at(values, place, order)
            )
            held = f"row {values.row_of(place)} of row group {group} holds {actual}{others(count)}"
            yield self._false(values, held, actual)

    def _another(self, values: ChunkValues) -> tuple[int, int] | None:
        """The first value with another partition value, and the number of such values; ``None`` if there is none."""
        claim = self.claim
        if claim.value is None:
            return (0, values.count) if values.count and claim.transform != "void" else None
        if claim.kind is not None:
            return self._beyond(values, Typed(claim.kind, claim.value))
        from pqassay_tables.values.transforms import breaking  # noqa: PLC0415 - numpy, at this tier only

        unlike = breaking(values, claim)
        return None if unlike is None or not unlike.any() else (int(unlike.argmax()), int(unlike.sum()))

    def _beyond(self, values: ChunkValues, typed: Typed) -> tuple[int, int] | None:
        """Like `_another` for an identity partition: any value less or greater is another."""
        if not values.count or (not typed.value and typed.kind is ValueKind.FLOATING):
            return None  # a directory name need not have the sign of a zero
        for above in (False, True):
            element = values.chunk.leaf.element
            stored, order = stored_bound(element, typed, above=above), form_of(element).order
            if stored is None or order is None:
                continue
            if not isinstance(stored, bytes):
                return 0, values.count
            beyond = bounds_of(values).of_chunk(order, stored, above=above)
            if beyond is not None:
                return beyond.place, beyond.total
        return None

    def _false(self, values: ChunkValues, held: str, actual: str) -> Violation:
        claim, owner, chunk = self.claim, self.owner, values.chunk
        return Violation(
            f"the partition value {claim.name} ({claim.transform} of column {chunk.column}) "
            f"of {owner.name} is {claim.written}, but {held}",
            claim_field(owner.file, claim.place),
            expected=f"the {claim.transform} of {actual}",
            actual=claim.written,
            column=chunk.column,
            row_group=chunk.row_group,
            remedy=owner.claims.remedy,
        )
