"""Claims of a table of any format about the values of a data file: bounds and counts of its columns.

Claims of a Delta log exclude rows that a deletion vector removes; claims of an Iceberg manifest include all rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pqassay.tables.claims import Metric
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import FileUnderTest, NotChecked
from pqassay.under_test.violation import Violation
from pqassay.values.claims.bound_claims import bounds_of
from pqassay.values.claims.joined_rows import why_missing
from pqassay.values.claims.outcomes import Outcome
from pqassay.values.claims.value_rules import Claim, ComparedBy, ValueRule
from pqassay.values.claims.wording import others
from pqassay_spec.parquet.column_order import FLOATING
from pqassay_tables.under_test.claimed_bounds import Unreached, shown_value
from pqassay_tables.under_test.claimed_columns import ClaimedBound, ClaimedColumn, ClaimedFile

if TYPE_CHECKING:
    from pqassay.values.decoding.chunk_values import ChunkValues


def removed(values: ChunkValues) -> Any:
    """A bool mask of the rows of a chunk that the claims exclude; ``None`` if they include all. Raises `NotChecked`."""
    file, chunk = values.chunk.file, values.chunk
    claims = file.claims
    if claims is None or claims.deleted is None or claims.table != "delta":
        return None
    from pqassay_tables.values.deletion_vector import DeletionVector  # noqa: PLC0415 - numpy, at this tier only

    rows = file.part(DeletionVector).removed(chunk.row_group, values.entries)
    if chunk.leaf.max_repetition_level:
        raise NotChecked("rows of lists cannot be distinguished if some of them are deleted", "tool")
    return rows


def remaining(values: ChunkValues, mask: Any) -> Any:
    """A bool mask of the values whose row is in the table. Raises `NotChecked`."""
    rows = values.remembered(removed)
    return mask if rows is None else mask & ~rows[values.valid]


class _Beyond(NamedTuple):
    """The first value beyond a bound, and the number of such values."""

    place: int
    total: int


def _beyond(values: ChunkValues, bound: ClaimedBound) -> _Beyond | None:
    """The values beyond a bound in rows that the claims include; ``None`` if there are none. Raises `NotChecked`."""
    import numpy as np  # noqa: PLC0415 - at this tier only

    stored, order, rows = bound.stored, bound.column.order, values.remembered(removed)
    if _is_greater_than_numbers(values, bound):
        stored = Unreached.BY_ANY
    if stored is None or not values.count:
        return None
    if isinstance(stored, bytes):
        audit = bounds_of(values)
        if (beyond := audit.of_chunk(order, stored, above=bound.above)) is None:
            return None
        if rows is None:
            return _Beyond(beyond.place, beyond.total)
        mask = audit.mask_of_chunk(order, stored, above=bound.above)
    else:
        mask = ~values.is_nan if order in FLOATING else np.ones(values.count, np.bool_)
    left = remaining(values, mask)
    return _Beyond(int(left.argmax()), int(left.sum())) if left.any() else None


def _is_greater_than_numbers(values: ChunkValues, bound: ClaimedBound) -> bool:
    """Whether a lower bound is NaN, which readers of Delta order above all numbers; for Iceberg, ICE-018 judges it."""
    claims = values.chunk.file.claims
    is_nan = isinstance(bound.value, float) and math.isnan(bound.value)
    return is_nan and not bound.above and claims is not None and claims.table == "delta"


def bounds(chunk: ColumnChunkUnderTest) -> Iterator[ClaimedBound]:
    """Yield the bounds of a chunk's column that can be compared, then raise why others cannot be."""
    problem: NotChecked | None = None
    for bound in chunk.file.part(ClaimedFile).bounds_of(chunk.ordinal):
        if bound.problem is None:
            yield bound
        problem = problem or bound.problem
    if problem is not None:
        raise problem


def enclosing_bounds(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """Yield the claims that no value lies beyond the bounds of the column."""
    return (EnclosingBound(chunk.file.part(ClaimedFile), bound) for bound in bounds(chunk))


@dataclass(frozen=True)
class EnclosingBound(Claim):
    """The claim that a bound of a column encloses all values of a file."""

    owner: ClaimedFile
    bound: ClaimedBound

    def compare(self, values: ChunkValues) -> Iterator[Violation]:
        """Yield a violation if a value lies beyond the bound."""
        beyond, bound = _beyond(values, self.bound), self.bound
        if beyond is not None:
            raw = values.raw_of(beyond.place)
            actual = shown_value(values.chunk.leaf.element, bound.column.order, raw)
            expected = f"{actual} or {'more' if bound.above else 'less'}"
            yield leaves_out(values, self.owner, bound, beyond.place, beyond.total, actual, expected)


def leaves_out(
    values: ChunkValues,
    owner: ClaimedFile,
    bound: ClaimedBound,
    place: int,
    total: int,
    held: str,
    expected: str,
) -> Violation:
    """The violation of a bound that excludes a value."""
    written, group = owner.written(bound), values.chunk.row_group
    message = (
        f"the {bound.metric.value} {owner.of(bound.column)} is {written}, but row "
        f"{values.row_of(place)} of row group {group} holds {held}{others(total)}"
    )
    return owner.false(bound.column, bound.metric, message, expected, written, group)


def special_values(
    chunk: ColumnChunkUnderTest,
    applies: Callable[[ClaimedBound, float], bool],
    left_out: Callable[[ChunkValues, ClaimedBound, float], tuple[Any, str, str] | None],
) -> Iterator[Claim]:
    """Yield the claims that floating-point bounds exclude no special values, such as NaN or one of the zeros.

    Args:
        chunk: The chunk.
        applies: Whether the claim applies to a bound, given its value.
        left_out: Returns a bool mask of excluded values, their name in messages, and the right bound; ``None`` if nothing is excluded.
    """
    owner = chunk.file.part(ClaimedFile)

    def claim(bound: ClaimedBound, value: float) -> Claim:
        def compare(values: ChunkValues) -> Iterator[Violation]:
            found = left_out(values, bound, value)
            if found is not None:
                mask, held, expected = found
                left = remaining(values, mask)
                if left.any():
                    place = int(left.argmax())
                    yield leaves_out(values, owner, bound, place, int(left.sum()), held, expected)

        return ComparedBy(compare)

    for bound in bounds(chunk):
        if bound.stored is not None and isinstance(bound.value, float) and applies(bound, bound.value):
            yield claim(bound, bound.value)


def is_finite_maximum(bound: ClaimedBound, value: float) -> bool:
    """Whether a bound is a finite upper bound, beyond which NaN lies."""
    return bound.above and math.isfinite(value)


def enclosed_zeros(chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
    """The claim that a bound of zero has the sign that encloses the zeros of its column."""

    def left_out(values: ChunkValues, bound: ClaimedBound, value: float) -> tuple[Any, str, str] | None:
        if bound.above is not (math.copysign(1, value) < 0):
            return None
        other = "0.0" if bound.above else "-0.0"
        return values.is_zero(negative=not bound.above), other, f"{other}, or none"

    return special_values(chunk, lambda _, value: not value, left_out)


# ------------------------------------------------------------------------------------------------- of all chunks


class OfAllChunks(ValueRule):
    """A rule about columns that needs all their chunks: the data taken from each are combined at the end."""

    def __init__(self, file: FileUnderTest, outcome: Outcome) -> None:
        super().__init__(file, outcome)
        self.owner = file.part(ClaimedFile)
        self._claimed: dict[int, list[tuple[ClaimedColumn, Any]]] = {}
        self._taken: dict[int, list[Any]] = {}
        if self.owner.claims.metrics is not None:
            for column, claimed in self.claimed():
                outcome.applies = True
                self._claimed.setdefault(column.ordinal or 0, []).append((column, claimed))

    def claimed(self) -> Iterator[tuple[ClaimedColumn, Any]]:
        """Yield the columns, with the claim about each."""
        raise NotImplementedError

    def take(self, values: ChunkValues, claimed: Any) -> Any:
        """The needed data of a chunk. Called in one of several threads. Raises `NotChecked`."""
        raise NotImplementedError

    def compare(self, column: ClaimedColumn, claimed: Any, taken: list[Any]) -> Iterator[Violation]:
        """Compare the claim about a column with the data of all its chunks."""
        raise NotImplementedError

    def claims(self, chunk: ColumnChunkUnderTest) -> Iterator[Claim]:
        """Yield the claims about a chunk, which are decided with the other chunks of its column."""
        for column, claimed in self._claimed.get(chunk.ordinal, ()):
            yield _Part(self, claimed, self._taken.setdefault(id(column), []))

    def finish(self) -> Iterator[Violation]:
        """Compare the columns whose chunks are all known. Raises `NotChecked` if some are encrypted or elsewhere."""
        chunks, is_whole = len(self.file.metadata.row_groups), True
        for columns in self._claimed.values():
            for column, claimed in columns:
                taken = self._taken.get(id(column), [])
                if len(taken) == chunks:
                    yield from self.compare(column, claimed, taken)
                else:
                    is_whole = False
        if not is_whole and (reason := why_missing(self.file)) is not None:
            raise reason


class _Part(Claim):
    """The claim about one chunk of several."""

    def __init__(self, rule: OfAllChunks, claimed: Any, taken: list[Any]) -> None:
        self._rule = rule
        self._claimed = claimed
        self._all = taken
        self._taken: list[Any] = []

    def compare(self, values: ChunkValues) -> Iterator[Violation]:
        """Take the needed data."""
        self._taken.append(self._rule.take(values, self._claimed))
        return iter(())

    def settle(self) -> Iterator[Violation]:
        """Add the data to those of earlier chunks."""
        self._all.extend(self._taken)
        return iter(())


class ClaimedCounts(OfAllChunks):
    """The counts that a table gives for the columns of a file.

    Attributes:
        metric: The counted metric.
        are: The name of the counted values, for messages.
    """

    metric = Metric.NULLS
    are = "are null"

    def claimed(self) -> Iterator[tuple[ClaimedColumn, int]]:
        """Yield the counts of columns that exist in the file."""
        return self.owner.counts(self.metric)

    def take(self, values: ChunkValues, _: int) -> tuple[int, int]:
        """The number of counted values in a chunk, and the number of rows. Raises `NotChecked`."""
        rows = values.remembered(removed)
        if rows is None:
            return values.entries - values.count, values.entries
        return int((~rows & ~values.valid).sum()), int((~rows).sum())

    def is_right(self, claimed: int, counted: int, rows: int) -> bool:
        """Whether a claimed count is right, given the true count among the included rows."""
        _ = rows
        return claimed == counted

    def compare(
        self, column: ClaimedColumn, claimed: int, taken: list[tuple[int, int]]
    ) -> Iterator[Violation]:
        """Yield a violation if the claimed count differs from the sum over all chunks."""
        counted, rows = (sum(each[place] for each in taken) for place in (0, 1))
        if not self.is_right(claimed, counted, rows):
            message = (
                f"the {self.metric.value} {self.owner.of(column)} is {claimed}, but "
                f"{counted} values {self.are}"
            )
            yield self.owner.false(column, self.metric, message, str(counted), str(claimed))


class MetBounds(OfAllChunks):
    """A rule that bounds are values of the included rows, unless a value lies beyond one of them."""

    def claimed(self) -> Iterator[tuple[ClaimedColumn, list[ClaimedBound]]]:
        """Yield the bounds of each column that must be values."""
        for column in self.owner.columns:
            found = [bound for bound in self.owner.bounds_of(column.ordinal or 0) if bound.column is column]
            if any(self.has_to_be_met(bound) for bound in found if bound.stored is not None):
                yield column, found

    def has_to_be_met(self, bound: ClaimedBound) -> bool:
        """Whether a bound must be a value."""
        raise NotImplementedError

    def take(self, values: ChunkValues, claimed: list[ClaimedBound]) -> tuple[bool, list[bool]] | None:
        """Whether the chunk has values, and for each bound, whether it is a value; ``None`` if a value lies beyond a bound."""
        if any(_beyond(values, bound) is not None for bound in claimed):
            return None
        has_values = values.count > 0
        if (rows := values.remembered(removed)) is not None:
            has_values = bool((~rows & values.valid).any())
        return has_values, [has_values and self._is_met(values, bound) for bound in claimed]

    def _is_met(self, values: ChunkValues, bound: ClaimedBound) -> bool:
        stored, order, audit = bound.stored, bound.column.order, bounds_of(values)
        if not isinstance(stored, bytes):
            return False
        if values.remembered(removed) is None:
            return audit.is_met(order, stored, above=bound.above) is not False
        sides = [audit.mask_of_chunk(order, stored, above=above) for above in (True, False)]
        return bool(remaining(values, ~(sides[0] | sides[1])).any())

    def compare(
        self, column: ClaimedColumn, claimed: list[ClaimedBound], taken: list[Any]
    ) -> Iterator[Violation]:
        """Yield a violation for each bound that is not a value of any chunk."""
        if None in taken or not any(has_values for has_values, _ in taken):
            return
        for place, bound in enumerate(claimed):
            if bound.stored is None or not self.has_to_be_met(bound) or any(met[place] for _, met in taken):
                continue
            written = self.owner.written(bound)
            message = f"the {bound.metric.value} {self.owner.of(column)} is {written}, but no row holds it"
            expected = f"the {'greatest' if bound.above else 'least'} value, or tightBounds false"
            yield self.owner.false(column, bound.metric, message, expected, written)
