"""Checks of ``_pm`` against the values in the Parquet file, tier ``values``.

Every column chunk with a claim in ``_pm`` is decoded once and compared with all claims: bounds, nulls, bloom filter, order of the
designated timestamp. Orders of INT96 and bloom filters of booleans are not compared, since Parquet does not define them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from pqassay.checks.pm.pair import FilePair
from pqassay.checks.pm.pair_parts import ChunkOfPair, row_groups_of
from pqassay.checks.subjects import Subject
from pqassay.checks.value_rules import stated, value_rule
from pqassay.under_test.chunks import ColumnChunkUnderTest, why_left_out
from pqassay.under_test.file import FileUnderTest, NotChecked, Remembered
from pqassay.under_test.pm.file import header_field
from pqassay.under_test.violation import Spot, Violation
from pqassay.values.claims.audit import audit
from pqassay.values.claims.bound_claims import bounds_of
from pqassay.values.claims.outcomes import Outcome
from pqassay.values.claims.value_rules import Claim, ComparedBy, RuleFamily, ValueRule
from pqassay.values.claims.wording import others, value_at
from pqassay_spec.parquet.bloom import BLOCK_SIZE
from pqassay_spec.parquet.column_order import Order, shown, type_order
from pqassay_spec.parquet.thrift import Type
from pqassay_spec.pm import block as pm_block
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.block import MAX, MIN, SIDES, Side
from pqassay_spec.pm.codes import NO_COLUMN, StatFlag

if TYPE_CHECKING:
    from pqassay.values.decoding.chunk_values import ChunkValues

ASCENDING_TYPES = (Type.INT32, Type.INT64)
"""The physical types whose designated timestamps are decoded."""

UNHASHED_TYPES = (Type.BOOLEAN, Type.INT96)
"""Types whose bloom filters are not probed."""


class PmValues:
    """All values of the Parquet file, compared with the claims of ``_pm``."""

    def __init__(self, file: FileUnderTest) -> None:
        self._file = file

    @Remembered
    def outcomes(self) -> dict[str, Outcome]:
        """The outcome of each rule of this tier.

        Raises:
            FormatError, NotChecked: The two files do not belong together, or one of them cannot be read.
        """
        pair, row_groups = self._file.part(FilePair), self._file.part(row_groups_of)

        def both(chunk: ColumnChunkUnderTest) -> ChunkOfPair:
            row_group = row_groups[chunk.row_group]
            return ChunkOfPair(row_group, chunk.ordinal, chunk.facts, row_group.block.chunks[chunk.ordinal])

        family = RuleFamily(self._file, stated(VALUES), both)
        chunks: list[ColumnChunkUnderTest] = []
        for number, group in enumerate(pair.metadata.row_groups):
            for column, (chunk, leaf) in enumerate(zip(group.columns, pair.leaves, strict=True)):
                reason = why_left_out(pair.metadata, chunk, number, leaf)
                facts: Any = chunk.meta_data  # None only if there is a reason
                item = ColumnChunkUnderTest(pair.parquet, number, column, group, chunk, facts, leaf)
                if reason is None:
                    chunks.append(item)
                elif (claims := family.claim(item)) is not None:
                    claims.leave(reason)
                    claims.settle()
        audit(pair.parquet, chunks, [family])
        return family.outcomes


VALUES = Subject("values of both files", lambda file: [file.part(PmValues)])
"""All values of the Parquet file, decoded once and compared with the claims of ``_pm``."""


def _named(chunk: ChunkOfPair, values: ChunkValues, place: int) -> str:
    """The description of a value in messages, by its position among values and nulls."""
    kind = "value" if chunk.leaf.max_repetition_level else "row"
    return f"{kind} {values.entry_of(place)} of {chunk.label}"


def _violation(chunk: ChunkOfPair, spot: Spot, message: str, expected: str, actual: str) -> Violation:
    return spot.violation(message, expected, actual, column=chunk.leaf.name, row_group=chunk.row_group.number)


# ------------------------------------------------------------------------------------------------------ bounds


def _bound(chunk: ChunkOfPair, side: Side) -> tuple[Order, bytes] | None:
    """The order and the bytes of a bound; ``None`` if it is absent. Raises `NotChecked` and `FormatError` if it cannot be compared."""
    pair, block = chunk.pair, chunk.row_group.block
    if not chunk.record.stat_flags & side.present:
        return None
    order = type_order(chunk.leaf.element)
    if order is None:
        raise NotChecked(f"bounds of {chunk.leaf.physical_type} without an order are not tested", "file")
    raw = pm_block.read_statistic(pair.source, block, chunk.column, side, pair.snapshot.start)
    return None if raw is None else (order, raw)


def _bounds_all(chunk: ChunkOfPair, side: Side) -> Iterator[Claim]:
    """The claim that no value lies beyond a bound. A bound that is not a value of the type has no claim; another rule judges it."""
    bound = _bound(chunk, side)
    if bound is None:
        return
    order, raw = bound
    name, text, limit = side.name, shown(order, raw), "at least" if side is MAX else "at most"

    def compare(values: ChunkValues) -> Iterator[Violation]:
        bounds = bounds_of(values)
        beyond = bounds.of_chunk(order, raw, above=side is MAX) if bounds.is_usable(order, raw) else None
        spot = chunk.pair.statistic(chunk.row_group.number, chunk.column, side)
        if beyond is not None and spot is not None:
            value, more = value_at(values, beyond.place, order), others(beyond.total)
            message = f"{_named(chunk, values, beyond.place)} holds {value}, {name} is {text}{more}"
            yield _violation(chunk, spot, message, f"{name} {limit} {value}", text)

    yield ComparedBy(compare)


@value_rule("PM-140", audited=VALUES)
def no_value_is_less_than_min(chunk: ChunkOfPair) -> Iterator[Claim]:
    """A reader that looks for the value skips the row group."""
    return _bounds_all(chunk, MIN)


@value_rule("PM-141", audited=VALUES)
def no_value_is_greater_than_max(chunk: ChunkOfPair) -> Iterator[Claim]:
    """A reader that looks for the value skips the row group."""
    return _bounds_all(chunk, MAX)


@value_rule("PM-145", audited=VALUES)
def exact_bounds_occur(chunk: ChunkOfPair) -> Iterator[Claim]:
    """A reader may answer min() and max() from an exact bound. PM-140 and PM-141 judge values beyond bounds."""

    def compare(side: Side, order: Order, raw: bytes, values: ChunkValues) -> Iterator[Violation]:
        bounds, is_upper, text = bounds_of(values), side is MAX, shown(order, raw)
        if not bounds.is_usable(order, raw) or bounds.of_chunk(order, raw, above=is_upper) is not None:
            return
        if bounds.is_met(order, raw, above=is_upper) is False:
            message = f"{side.name} of {chunk.label} is marked exact, but no value is {text}"
            expected = f"{side.name} not marked exact, or a value {text}"
            yield chunk.violation("stat_flags", message, expected, f"{chunk.record.stat_flags:#04x}")

    for side in SIDES:
        if chunk.record.stat_flags & side.exact and (bound := _bound(chunk, side)) is not None:
            yield ComparedBy(partial(compare, side, *bound))


# ------------------------------------------------------------------------------------- nulls and bloom filters


@value_rule("PM-142", audited=VALUES)
def nulls_are_counted(chunk: ChunkOfPair) -> Iterator[Claim]:
    """Readers never fetch a chunk of only nulls. Writers disagree whether an empty or missing list is a null."""

    def compare(values: ChunkValues) -> Iterator[Violation]:
        least = most = values.entries - values.count
        if chunk.leaf.max_repetition_level:
            most = max(chunk.facts.num_values - values.count, least)
        count = chunk.record.null_count
        if not least <= count <= most:
            expected = str(most) if most == least else f"between {least} and {most}"
            message = f"{chunk.label} holds {expected} null{'' if most == 1 else 's'}, NULL_COUNT is {count}"
            yield chunk.violation("null_count", message, expected, str(count))

    if chunk.record.stat_flags & StatFlag.NULL_COUNT_PRESENT:
        yield ComparedBy(compare)


@value_rule("PM-143", audited=VALUES)
def bloom_filters_hold_every_value(chunk: ChunkOfPair) -> Iterator[Claim]:
    """A reader that looks for a missing value skips the row group. NaN is exempt, since no reader looks for it."""
    pair, number = chunk.pair, chunk.pair.bloom_number(chunk.row_group.number, chunk.column)
    if number is None or pair.bloom_entries[number] == pm.NO_BLOOM:
        return
    if chunk.leaf.element.type in UNHASHED_TYPES:  # BLM-011 judges the filters of the Parquet file
        raise NotChecked(f"bloom filters of {chunk.leaf.physical_type} are not tested", "another rule")

    def compare(values: ChunkValues) -> Iterator[Violation]:
        from pqassay.values.claims.bloom import absent  # noqa: PLC0415 - numpy and xxhash, at this tier only

        missing = absent(values, pair.bitset(number))
        if missing is None or not (missing := missing & ~values.is_nan).any():
            return
        place = int(missing.argmax())
        value = value_at(values, place, type_order(chunk.leaf.element))
        spot = pair.bloom_entry(number)
        if not pair.is_external:
            spot = pair.inlined_bitset(chunk.row_group.number, chunk.column, BLOCK_SIZE)
        message = f"{_named(chunk, values, place)} holds {value}, but its bloom filter does not"
        message += others(int(missing.sum()))
        yield _violation(chunk, spot, message, f"a filter that holds {value}", "one that does not")

    yield ComparedBy(compare)


# ------------------------------------------------------------------------------------ the designated timestamp


@value_rule("PM-144", audited=VALUES)
class DesignatedTimestampAscends(ValueRule):
    """Readers search for a time by bisection. Nulls are skipped, and each row group continues where the previous one ended."""

    def __init__(self, file: FileUnderTest, outcome: Outcome) -> None:
        super().__init__(file, outcome)
        pair = file.part(FilePair)
        self._column = pair.parsed.designated
        self._last: int | None = None
        outcome.applies = True
        leaf = pair.leaves[self._column]
        if leaf.element.type not in ASCENDING_TYPES:
            reason = f"the order of {leaf.physical_type} timestamps is not tested"
            outcome.hindered(NotChecked(reason, "tool"), leaf.name)
            self._column = NO_COLUMN

    def claims(self, chunk: ChunkOfPair) -> Iterator[Claim]:
        """The claim that the chunk ascends, if it belongs to the timestamp. Row groups are compared in order."""
        if chunk.column == self._column:
            yield ComparedBy(partial(self._compare, chunk))

    def _compare(self, chunk: ChunkOfPair, values: ChunkValues) -> Iterator[Violation]:
        if not values.count:
            return
        numbers = values.values.to_numpy()
        before, first, self._last = self._last, int(numbers[0]), int(numbers[-1])
        falls = numbers[1:] < numbers[:-1]
        place, count, where = int(falls.argmax()) + 1 if falls.any() else 0, int(falls.sum()), ""
        if before is not None and first < before:
            place, count, where = 0, count + 1, "the row group before"
        elif count:
            before, where = int(numbers[place - 1]), f"row {values.entry_of(place - 1)}"
        if count:
            after = int(numbers[place])
            message = f"{_named(chunk, values, place)} holds {after}, {where} {before}"
            message += others(count, "descent", "descents")
            spot = header_field("designated_timestamp")
            yield _violation(chunk, spot, message, f"at least {before}", str(after))
