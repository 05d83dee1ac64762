"""What a table says of the values of a data file, compared with these values: one more family of claims on the same decode.

The rules have other ids in each format of tables: `TableRules` names them.  A rule that a format does not have is left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pqassay.tables.claims import Count, PartitionValue
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import FileUnderTest, Mistake, NotChecked
from pqassay.under_test.violation import Violation
from pqassay.values.claims.bounds import BoundsAudit
from pqassay.values.claims.outcomes import Outcome
from pqassay.values.claims.wording import others
from pqassay.values.decoding.chunk_values import ChunkValues, excused
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.column_order import FLOATING, type_order
from pqassay_tables.under_test.claimed_bounds import StoredBound, shown_value
from pqassay_tables.under_test.claimed_columns import ClaimedColumn, ClaimedFile, Side
from pqassay_tables.values.partition_claims import PartitionAudit


@dataclass(frozen=True)
class TableRules:
    """The ids of the rules about values, in one format of tables; empty for those that it does not have.

    Attributes:
        bounds: Every value lies in the bounds.
        nulls: Nulls are counted.
        nans: NaN values are counted.
        partition: Every row has the partition values of the file.
        tight: Bounds are values.
        nan_bound: NaN has no finite upper bound.
        zeros: A bound that is zero has the sign that encloses zeros.
    """

    bounds: str = ""
    nulls: str = ""
    nans: str = ""
    partition: str = ""
    tight: str = ""
    nan_bound: str = ""
    zeros: str = ""

    def ids(self) -> list[str]:
        """The rules that there are."""
        return [rule for field in fields(self) if (rule := getattr(self, field.name))]


class _ColumnAudit:
    """One column of which a table says something, over all its chunks.

    Attributes:
        nulls, rows: Nulls, and rows, that remain in the table.
        unmet: Bounds that have to be values, and of which no value was seen.
        has_values: Whether a value remains.
        is_enclosed: Whether no value lies beyond a bound.
    """

    def __init__(self, family: TableFamily, column: ClaimedColumn) -> None:
        self.family = family
        self.column = column
        self.name = column.claims.name
        self.nulls = self.nans = self.rows = 0
        self.is_whole = True
        self.bounds: list[tuple[Side, StoredBound]] = []
        self.unmet: set[Side] = set()
        self.has_values = False
        self.is_enclosed = True
        self.floating: list[Side] = []
        self._gather()

    @property
    def needs_values(self) -> bool:
        """Whether the chunks have to be decoded."""
        return bool(self.bounds) or self.counts is not None or self.nan_counts is not None

    @property
    def counts(self) -> Count | None:
        """The count of nulls, if it is compared."""
        if not self.family.rules.nulls or self.family.is_left_out(self.family.rules.nulls):
            return None
        return self.family.file.nulls_of(self.column)

    @property
    def nan_counts(self) -> Count | None:
        """The count of NaN values, if it is compared: that of a column of numbers that know NaN."""
        rule, leaf = self.family.rules.nans, self.column.leaf
        if (
            not rule
            or self.family.is_left_out(rule)
            or leaf is None
            or type_order(leaf.element) not in FLOATING
        ):
            return None
        return self.column.claims.nans

    def _gather(self) -> None:
        if self.counts is not None:
            self.family.applies(self.family.rules.nulls)
        if self.nan_counts is not None:
            self.family.applies(self.family.rules.nans)
        rule = self.family.rules.bounds
        if not rule or self.family.is_left_out(rule):
            return
        for side in self.column.sides():
            try:
                bound = self.column.stored(side.bound, above=side.above)
            except NotChecked as reason:
                self.family.hinder(rule, reason, self.name)
                continue
            self.family.applies(rule)
            if bound is not None and (bound.raw is not None or bound.is_beyond):
                self.bounds.append((side, bound))
                self._gather_floating(side)
                if self.family.rules.tight and self.family.file.is_tight(side):
                    self.family.applies(self.family.rules.tight)
                    self.unmet.add(side)

    def _gather_floating(self, side: Side) -> None:
        """Note a bound of floating point numbers of which NaN or zeros may lie outside."""
        value = side.bound.value
        if not isinstance(value, float) or not self.family.rules.nan_bound:
            return
        if side.above and math.isfinite(value):
            self.family.applies(self.family.rules.nan_bound)
        if not value:
            self.family.applies(self.family.rules.zeros)
        self.floating.append(side)

    def hinder(self, reason: NotChecked) -> None:
        """Note that the values of a chunk cannot be had."""
        self.is_whole = False
        rules = self.family.rules
        about = rules.bounds, rules.nulls, rules.nans, rules.tight, rules.nan_bound, rules.zeros
        for rule in filter(None, about):
            if self.family.outcomes[rule].applies:
                self.family.hinder(rule, reason, self.name)

    def _not_a_value(self, side: Side) -> None:
        self.family.add(
            self.family.rules.tight,
            Violation(
                f"the {side.name} of column {self.name} in the table's entry for {self.column.owner.name} is "
                f"{side.bound.written}, which no row holds",
                self.column.field(side.bound.place),
                expected=f"the {'greatest' if side.above else 'least'} value, or tightBounds false",
                actual=side.bound.written,
                column=self.name,
                remedy=self.column.owner.claims.remedy,
            ),
        )

    def finish(self) -> None:
        """Compare what all chunks together decide."""
        if not self.is_whole:
            return
        if self.has_values and self.is_enclosed:
            for side in sorted(self.unmet, key=lambda one: one.above):
                self._not_a_value(side)
        rules, agree = self.family.rules, self.family.file.nulls_agree
        counted = self.counts
        if counted is not None and not agree(self.column, counted, self.nulls, self.rows):
            self._compare(rules.nulls, counted, self.nulls, "null count", "are null")
        self._compare(rules.nans, self.nan_counts, self.nans, "NaN count", "are NaN")

    def _compare(self, rule: str, counted: Count | None, actual: int, name: str, are: str) -> None:
        if counted is None or counted.value == actual:
            return
        said = f"of column {self.name} in the table's entry for {self.column.owner.name}"
        self.family.add(
            rule,
            Violation(
                f"the {name} {said} is {counted.value}, and {actual} values {are}",
                self.column.field(counted.place),
                expected=str(actual),
                actual=str(counted.value),
                column=self.name,
                remedy=self.column.owner.claims.remedy,
            ),
        )


class _Claim:
    """What a table says of one chunk."""

    def __init__(self, audit: _ColumnAudit, chunk: ColumnChunkUnderTest) -> None:
        self._audit = audit
        self._chunk = chunk
        self._found: list[Violation] = []
        self._nulls = self._nans = self._rows = 0
        self._met: set[Side] = set()
        self._has_values = False
        self._found_beside: list[tuple[str, Violation]] = []
        self._problem: NotChecked | None = None

    @property
    def needs_values(self) -> bool:
        """Whether the chunk has to be decoded for it."""
        return self._audit.needs_values

    def judge(self, values: ChunkValues) -> None:
        """Compare it with the values."""
        try:
            if self._audit.nan_counts is not None:
                self._nans = int(np.count_nonzero(values.is_nan))
            bounds = self._audit.bounds
            audit = BoundsAudit(values, values.starts) if bounds else None
            for side, bound in bounds:
                if audit is not None:
                    self._side(values, audit, side, bound)
            self._count(values, audit)
        except (FormatError, NotChecked) as error:
            self._problem = error if isinstance(error, NotChecked) else NotChecked.because(error)
        except (OSError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 - other claims are judged all the same
            self._problem = Mistake.by(error)

    def _count(self, values: ChunkValues, audit: BoundsAudit | None) -> None:
        """Count nulls, and see which bounds are values, in the rows that are still part of the table."""
        if self._audit.counts is None and not self._audit.unmet and not self._audit.floating:
            return
        deleted = self._deleted(values)
        if self._audit.floating:
            self._unordered(values, deleted)
        if deleted is None:
            self._rows, self._nulls = values.entries, values.entries - values.count
            self._has_values = values.count > 0
        else:
            self._rows = int(np.count_nonzero(~deleted))
            self._nulls = int(np.count_nonzero(~deleted & ~values.valid))
            self._has_values = self._rows > self._nulls
        for side, bound in self._audit.bounds:
            if audit is not None and side in self._audit.unmet and bound.raw is not None and self._has_values:
                if deleted is None:
                    is_met = audit.is_met(bound.order, bound.raw, above=side.above) is not False
                else:
                    beyond = [
                        audit.mask_of_chunk(bound.order, bound.raw, above=above) for above in (True, False)
                    ]
                    is_met = bool((~(beyond[0] | beyond[1]) & ~deleted[values.valid]).any())
                if is_met:
                    self._met.add(side)

    def _unordered(self, values: ChunkValues, deleted: NDArray[np.bool_] | None) -> None:
        """Look for NaN, and for zeros of a sign that a bound of zero leaves out."""
        numbers: Any = values.values
        if not pa.types.is_floating(numbers.type):
            return  # of 2 bytes
        numbers = numbers.to_numpy(zero_copy_only=False)
        remain = np.ones(len(numbers), np.bool_) if deleted is None else ~deleted[values.valid]
        rules = self._audit.family.rules
        for side in self._audit.floating:
            value = float(side.bound.value)
            if side.above and math.isfinite(value):
                self._outside(
                    values, rules.nan_bound, side, np.isnan(numbers) & remain, "NaN", "no upper bound"
                )
            if not value and side.above is (math.copysign(1, value) < 0):
                zero = "0.0" if side.above else "-0.0"
                mask = (numbers == 0) & (np.signbit(numbers) != side.above) & remain
                self._outside(values, rules.zeros, side, mask, zero, f"{zero}, or none")

    def _outside(
        self, values: ChunkValues, rule: str, side: Side, mask: NDArray[np.bool_], held: str, expected: str
    ) -> None:
        """Note the first of some values beside a bound, if there is one."""
        if not mask.any():
            return
        column = self._audit.column
        self._found_beside.append(
            (
                rule,
                Violation(
                    f"the {side.name} of column {column.claims.name} in the table's entry for {column.owner.name} is "
                    f"{side.bound.written}, and row {values.row_of(int(mask.argmax()))} of row group {self._chunk.row_group} holds {held}"
                    + others(int(mask.sum())),
                    column.field(side.bound.place),
                    expected=expected,
                    actual=side.bound.written,
                    column=column.claims.name,
                    row_group=self._chunk.row_group,
                    remedy=column.owner.claims.remedy,
                ),
            )
        )

    def _deleted(self, values: ChunkValues) -> NDArray[np.bool_] | None:
        """The rows that are not part of the table any more, bool; ``None`` if all are."""
        deleted = self._audit.family.deleted(self._chunk, values.entries)
        if deleted is not None and self._chunk.leaf.max_repetition_level:
            raise NotChecked("rows of lists are not told apart where some of them are deleted", "tool")
        return deleted

    def _side(self, values: ChunkValues, audit: BoundsAudit, side: Side, bound: StoredBound) -> None:
        if not values.count:
            return
        if bound.raw is None:
            place, count = 0, values.count
        else:
            beyond = audit.of_chunk(bound.order, bound.raw, above=side.above)
            if beyond is None:
                return
            place, count = beyond.place, beyond.total
        found = self._first_remaining(values, bound, place, count, audit, side)
        if found is None:
            return
        place, count = found
        actual = shown_value(self._chunk.leaf.element, bound.order, values.raw_of(place))
        column = self._audit.column
        self._found.append(
            Violation(
                f"the {side.name} of column {column.claims.name} in the table's entry for {column.owner.name} is "
                f"{side.bound.written}, and row {values.row_of(place)} of row group {self._chunk.row_group} holds {actual}"
                + others(count),
                column.field(side.bound.place),
                expected=f"{actual} or {'more' if side.above else 'less'}",
                actual=side.bound.written,
                column=column.claims.name,
                row_group=self._chunk.row_group,
                remedy=column.owner.claims.remedy,
            )
        )

    def _first_remaining(
        self,
        values: ChunkValues,
        bound: StoredBound,
        place: int,
        count: int,
        audit: BoundsAudit,
        side: Side,
    ) -> tuple[int, int] | None:
        """The first value beyond a bound in a row that is still part of the table, and how many there are."""
        deleted = self._deleted(values)
        if deleted is None:
            return place, count
        mask = (
            np.ones(values.count, np.bool_)
            if bound.raw is None
            else audit.mask_of_chunk(bound.order, bound.raw, above=side.above)
        )
        remaining = mask & ~deleted[np.flatnonzero(values.valid)]
        if not remaining.any():
            return None
        return int(remaining.argmax()), int(np.count_nonzero(remaining))

    def leave(self, reason: NotChecked) -> None:
        """Take note that the values cannot be decoded."""
        self._problem = excused(self._chunk, reason)

    def settle(self) -> None:
        """Hand over what came of it."""
        if self._problem is not None:
            self._audit.hinder(self._problem)
        self._audit.nulls += self._nulls
        self._audit.rows += self._rows
        self._audit.has_values |= self._has_values
        self._audit.is_enclosed &= not self._found
        self._audit.unmet -= self._met
        self._audit.nans += self._nans
        for violation in self._found:
            self._audit.family.add(self._audit.family.rules.bounds, violation)
        for rule, violation in self._found_beside:
            self._audit.family.add(rule, violation)


class TableFamily:
    """What a table says of the values of one file.

    Attributes:
        rules: The ids of the rules.
        outcomes: What came of each; right once `finish` was called.
    """

    def __init__(self, file: FileUnderTest, rules: TableRules, view: TableView) -> None:
        self._file = file
        self.rules = rules
        self.file = view
        self.outcomes = {rule: Outcome() for rule in rules.ids()}
        self._audits: dict[int, list[_ColumnAudit]] = {}
        for column in file.part(ClaimedFile).present:
            if column.ordinal is not None:
                self._audits.setdefault(column.ordinal, []).append(_ColumnAudit(self, column))
        self._partition: dict[int, list[PartitionValue]] = {}
        if rules.partition and not self.is_left_out(rules.partition):
            self._take_partition()

    def _take_partition(self) -> None:
        """Take those partition values whose columns are in the file; others follow from nothing that it holds."""
        owner = self._file.part(ClaimedFile)
        for value in owner.claims.partition:
            ordinal = owner.ordinal_of(value.field_id, value.path)
            if ordinal is not None:
                self._partition.setdefault(ordinal, []).append(value)
                self.applies(self.rules.partition)

    def claim(self, chunk: ColumnChunkUnderTest) -> _Claims | None:
        """What the table says of a chunk."""
        claims: list[_Claim | PartitionAudit] = [
            _Claim(audit, chunk) for audit in self._audits.get(chunk.ordinal, ())
        ]
        owner = self._file.part(ClaimedFile)
        claims.extend(
            PartitionAudit(self, self.rules.partition, owner, value, chunk)
            for value in self._partition.get(chunk.ordinal, ())
        )
        return _Claims(claims) if claims else None

    def deleted(self, chunk: ColumnChunkUnderTest, rows: int) -> NDArray[np.bool_] | None:
        """The rows of a row group, of which there are so many, that are not part of the table, bool; ``None`` if all are."""
        return self.file.deleted_rows(chunk, rows)

    def is_left_out(self, rule: str) -> bool:
        """Whether a rule is not tested."""
        return rule in self._file.left_out

    def applies(self, rule: str) -> None:
        """Note that something is said that a rule is about."""
        self.outcomes[rule].applies = True

    def hinder(self, rule: str, reason: NotChecked, column: str) -> None:
        """Note why a rule could not be tested on a column."""
        if rule:
            self.outcomes[rule].hindered(reason, column)

    def add(self, rule: str, violation: Violation) -> None:
        """Note a place where a rule is broken."""
        self.outcomes[rule].add(violation)

    def finish(self) -> None:
        """Compare what all chunks together decide."""
        for audits in self._audits.values():
            for audit in audits:
                audit.finish()
        self._audits = {}


class TableView:
    """How a format means its claims; a format may say it otherwise."""

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file

    def nulls_of(self, column: ClaimedColumn) -> Count | None:
        """The count of nulls that holds exactly, if there is one."""
        return column.claims.nulls

    def nulls_agree(self, column: ClaimedColumn, count: Count, nulls: int, rows: int) -> bool:
        """Whether a count of nulls is right, of so many among the rows that remain."""
        _ = column, rows
        return count.value == nulls

    def is_tight(self, side: Side) -> bool:
        """Whether a bound has to be a value that remains."""
        _ = side
        return False

    def deleted_rows(self, chunk: ColumnChunkUnderTest, rows: int) -> NDArray[np.bool_] | None:
        """The rows of a row group, of which there are so many, that are not part of the table, bool.

        ``None`` if all are. Raises `NotChecked`.
        """
        _ = chunk, rows
        return None


class _Claims:
    """What a table says of one chunk, where it speaks of its column more than once."""

    def __init__(self, claims: list[_Claim | PartitionAudit]) -> None:
        self._claims = claims
        self.needs_values = any(claim.needs_values for claim in claims)

    def judge(self, values: ChunkValues) -> None:
        """Compare each."""
        for claim in self._claims:
            claim.judge(values)

    def leave(self, reason: NotChecked) -> None:
        """Take note that the values cannot be decoded."""
        for claim in self._claims:
            claim.leave(reason)

    def settle(self) -> None:
        """Hand over what came of each."""
        for claim in self._claims:
            claim.settle()
