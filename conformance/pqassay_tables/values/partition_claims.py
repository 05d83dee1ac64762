"""The partition values of a data file, compared with all its rows."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from pqassay.tables.claims import Bound, PartitionValue, Scalar, ValueKind
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import Mistake, NotChecked
from pqassay.under_test.violation import Violation
from pqassay.values.claims.bounds import BoundsAudit
from pqassay.values.claims.wording import others
from pqassay.values.decoding.chunk_values import ChunkValues, excused
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.column_order import shown, type_order
from pqassay_tables.under_test.claimed_bounds import stored_bound
from pqassay_tables.under_test.claimed_columns import ClaimedFile
from pqassay_tables.under_test.table import claim_field
from pqassay_tables.values.transforms import breaking


class Collector(Protocol):
    """Takes what came of a comparison."""

    def hinder(self, rule: str, reason: NotChecked, column: str) -> None:
        """Note why a rule could not be tested on a column."""
        ...

    def add(self, rule: str, violation: Violation) -> None:
        """Note a place where a rule is broken."""
        ...


class PartitionAudit:
    """One partition value, compared with one chunk of the column from which it follows."""

    needs_values = True

    def __init__(
        self,
        collector: Collector,
        rule: str,
        owner: ClaimedFile,
        claim: PartitionValue,
        chunk: ColumnChunkUnderTest,
    ) -> None:
        self._collector = collector
        self._rule = rule
        self._owner = owner
        self._claim = claim
        self._chunk = chunk
        self._found: Violation | None = None
        self._problem: NotChecked | None = None

    def judge(self, values: ChunkValues) -> None:
        """Compare it with the values."""
        try:
            self._compare(values)
        except (FormatError, NotChecked) as error:
            self._problem = error if isinstance(error, NotChecked) else NotChecked.because(error)
        except (OSError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 - other claims are judged all the same
            self._problem = Mistake.by(error)

    def _compare(self, values: ChunkValues) -> None:
        claim = self._claim
        if claim.value is None:
            if values.count and claim.transform != "void":
                self._say(values, 0, values.count)
            return
        if values.count < values.entries and claim.transform != "void":
            place = int(np.flatnonzero(~values.valid)[0])
            self._violate(f"entry {place} of row group {self._chunk.row_group} is null", "null")
            return
        if claim.kind is not None:
            self._compare_as_bounds(values, claim.kind, claim.value)
            return
        unlike = breaking(values, claim)
        if unlike is not None and unlike.any():
            self._say(values, int(unlike.argmax()), int(np.count_nonzero(unlike)))

    def _compare_as_bounds(self, values: ChunkValues, kind: ValueKind, value: Scalar) -> None:
        """Compare a value that stands for itself: no value of the chunk is less, and none is greater."""
        if not value and kind is ValueKind.FLOATING:
            return  # of which sign a zero is, a directory need not say
        bound = Bound(kind, value, self._claim.written, self._claim.place)
        for above in (False, True):
            stored = stored_bound(self._chunk.leaf.element, bound, above=above)
            if stored is None or not values.count:
                continue
            if stored.raw is None:
                if stored.is_beyond:
                    self._say(values, 0, values.count)
                continue
            audit = BoundsAudit(values, values.starts)
            beyond = audit.of_chunk(stored.order, stored.raw, above=above)
            if beyond is not None:
                self._say(values, beyond.place, beyond.total)
                return

    def _say(self, values: ChunkValues, place: int, count: int) -> None:
        order = type_order(self._chunk.leaf.element)
        raw = values.raw_of(place)
        actual = f"0x{raw[:32].hex()}" if order is None else shown(order, raw)
        self._violate(
            f"row {values.row_of(place)} of row group {self._chunk.row_group} holds {actual}" + others(count),
            actual,
        )

    def _violate(self, held: str, actual: str) -> None:
        claim, owner = self._claim, self._owner
        self._found = Violation(
            f"the partition value {claim.name} ({claim.transform} of column {self._chunk.column}) of {owner.name} is "
            f"{claim.written}, and {held}",
            claim_field(owner.file, claim.place),
            expected=f"the {claim.transform} of {actual}",
            actual=claim.written,
            column=self._chunk.column,
            row_group=self._chunk.row_group,
            remedy=owner.claims.remedy,
        )

    def leave(self, reason: NotChecked) -> None:
        """Take note that the values cannot be decoded."""
        self._problem = excused(self._chunk, reason)

    def settle(self) -> None:
        """Hand over what came of it."""
        if self._problem is not None:
            self._collector.hinder(self._rule, self._problem, self._chunk.column)
        if self._found is not None:
            self._collector.add(self._rule, self._found)
