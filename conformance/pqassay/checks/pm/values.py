"""Checks of ``_pm`` against the values in the Parquet file, tier ``values``.

Every column chunk about which ``_pm`` says something is decoded once, by the audit of values, and compared with all that is said:
bounds, nulls, bloom filter, order of the designated timestamp.  INT96 has no order in Parquet, and booleans have no bloom
filters: what is said about theirs is not compared with values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pqassay.checks.by_values import by_audit
from pqassay.checks.pm.pair import Pair
from pqassay.checks.subjects import Subject
from pqassay.under_test.chunks import ColumnChunkUnderTest, why_left_out
from pqassay.under_test.file import Broken, FileUnderTest, NotChecked, Remembered
from pqassay.under_test.pm.file import header_field
from pqassay.under_test.violation import Spot
from pqassay.values.claims.audit import audit
from pqassay.values.claims.outcomes import Outcome
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.bloom import BLOCK_SIZE
from pqassay_spec.parquet.column_order import shown, type_order
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import Type
from pqassay_spec.pm import block as pm_block
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.block import MAX, MIN, Side
from pqassay_spec.pm.codes import NO_COLUMN, StatFlag

if TYPE_CHECKING:
    from pqassay.values.decoding.chunk_values import ChunkValues
    from pqassay.values.pm.claims import BoundFound, Descents, Found, Outside

BELOW, ABOVE, NULLS, BLOOM, ASCENT, EXACT = "PM-140", "PM-141", "PM-142", "PM-143", "PM-144", "PM-145"
RULES = (BELOW, ABOVE, NULLS, BLOOM, ASCENT, EXACT)

NULLS_COUNTED = int(StatFlag.NULL_COUNT_PRESENT)
"""The flag as a plain number, which is faster."""

RULES_OF = {MIN: BELOW, MAX: ABOVE}
"""The rule about each bound."""

ASCENDING_TYPES = (Type.INT32, Type.INT64)
"""Types of which a designated timestamp is decoded."""

UNHASHED_TYPES = (Type.BOOLEAN, Type.INT96)
"""Types whose bloom filters are not probed."""


class Comparison:
    """All values, compared with all that ``_pm`` says about them: a family of claims.

    Attributes:
        found: What came of each rule so far.
        ascending_column: The designated timestamp, if its values can be followed; `NO_COLUMN` if not.
        last: The value of the designated timestamp that was read last; ``None`` before the first.
    """

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file
        self.pair = file.part(Pair)
        self.found = {rule: Outcome() for rule in RULES}
        self.last: int | None = None
        self.ascending_column = NO_COLUMN

    @Remembered
    def outcomes(self) -> dict[str, Outcome]:
        """The outcome of each rule of this tier.

        Raises:
            FormatError, NotChecked: The two files do not belong together, or one cannot be read.
        """
        pair = self.pair
        row_groups, _ = pair.row_group_count, pair.blocks
        # New ones, since an audit that broke off has seen some of the values.
        self.found, self.last = {rule: Outcome() for rule in RULES}, None
        self.ascending_column = self._ascending_column()
        chunks: list[ColumnChunkUnderTest] = []
        for number, group in enumerate(pair.metadata.row_groups[:row_groups]):
            for column, (chunk, leaf) in enumerate(zip(group.columns, pair.leaves, strict=True)):
                reason, facts = why_left_out(chunk, number, leaf), chunk.meta_data
                if facts is not None and reason is None:
                    chunks.append(
                        ColumnChunkUnderTest(pair.parquet, number, column, group, chunk, facts, leaf)
                    )
                elif reason is not None:
                    claim = _ChunkComparison(self, number, column)
                    claim.leave(reason)
                    claim.settle()
        audit(pair.parquet, chunks, [self])
        return self.found

    def claim(self, chunk: ColumnChunkUnderTest) -> _ChunkComparison:
        """The claims about a chunk."""
        return _ChunkComparison(self, chunk.row_group, chunk.ordinal)

    def _ascending_column(self) -> int:
        """The designated timestamp, if its values can be followed; `NO_COLUMN` if not."""
        column, outcome = self.pair.header.fixed.designated_timestamp, self.found[ASCENT]
        if column == NO_COLUMN:
            return NO_COLUMN
        outcome.applies = True
        if not 0 <= column < self.pair.column_count:
            outcome.hindered(Broken("PM-033"))
        elif self.pair.leaves[column].element.type not in ASCENDING_TYPES:
            leaf = self.pair.leaves[column]
            outcome.hindered(
                NotChecked(f"the order of {leaf.physical_type} timestamps is not tested", "tool"), leaf.name
            )
        else:
            return column
        return NO_COLUMN


class _ChunkComparison:
    """One column chunk: what is said about it, and what its values are."""

    def __init__(self, of: Comparison, row_group: int, column: int) -> None:
        from pqassay.values.pm.claims import Said  # noqa: PLC0415 - pyarrow, at this tier only

        self._all = of
        self.pair = of.pair
        self.row_group = row_group
        self.column = column
        self.outcomes = {rule: Outcome() for rule in RULES}
        self.block = of.pair.blocks[row_group]
        self.record = self.block.chunks[column]
        self.leaf: SchemaLeaf = of.pair.leaves[column]
        self.order = type_order(self.leaf.element)
        ascends = column == of.ascending_column
        self.said = Said(self.order, self._bound(MIN), self._bound(MAX), self._bitset(), ascends)
        self.rules = [rule for rule, wanted in self._wanted().items() if wanted]

    @property
    def needs_values(self) -> bool:
        """Whether anything is said that decoding would decide."""
        return any(rule not in self._all.file.left_out for rule in self.rules)

    def judge(self, values: ChunkValues) -> None:
        """Compare what is said with the values."""
        from pqassay.values.pm.claims import compare  # noqa: PLC0415 - pyarrow, at this tier only

        try:
            compared = compare(values, self.said, self._all.last)
        except NotChecked as reason:
            self.leave(reason)
            return
        if self.said.ascends:
            self._all.last = compared.descents.last
        self._judge_bounds(compared)
        if self.counts_nulls:
            self._judge_nulls(compared)
        self._judge_bloom(compared.lacking)
        self._judge_ascent(compared.descents)
        self.said = replace(self.said, bitset=None)  # it may be large, and this one waits to be settled

    def leave(self, reason: NotChecked) -> None:
        """Note why the values are not known, with the rules that it is about."""
        for rule_id in self.rules:
            self.outcomes[rule_id].hindered(reason, self.leaf.name)

    def settle(self) -> None:
        """Add what came of it to what came of other chunks."""
        for rule_id, outcome in self.outcomes.items():
            self._all.found[rule_id].merge(outcome)

    @property
    def counts_nulls(self) -> bool:
        """Whether the record says how many nulls there are."""
        return bool(self.record.stat_flags & NULLS_COUNTED)

    def _wanted(self) -> dict[str, bool]:
        bounds, flags = self.said, self.record.stat_flags
        exact = (bounds.minimum is not None and bool(flags & MIN.exact)) or (
            bounds.maximum is not None and bool(flags & MAX.exact)
        )
        wanted = {
            BELOW: bounds.minimum is not None,
            ABOVE: bounds.maximum is not None,
            EXACT: exact,
            NULLS: self.counts_nulls,
            BLOOM: bounds.bitset is not None,
            ASCENT: bounds.ascends,
        }
        for rule_id, is_wanted in wanted.items():
            self.outcomes[rule_id].applies |= is_wanted
        return wanted

    # ------------------------------------------------------------------------------------------- what is said

    def _bound(self, side: Side) -> bytes | None:
        """A bound that can be compared; ``None`` without."""
        if pm_block.find_statistic(self.block, self.column, side) is None:
            return None
        outcome = self.outcomes[RULES_OF[side]]
        outcome.applies = True
        if self.order is None:
            outcome.hindered(
                NotChecked(f"bounds of {self.leaf.physical_type} without an order are not tested", "file"),
                self.leaf.name,
            )
            return None
        try:
            end = self.pair.snapshot.start
            return pm_block.read_statistic(self.pair.source, self.block, self.column, side, end)
        except FormatError as error:
            outcome.hindered(error, self.leaf.name)
            return None

    def _bitset(self) -> bytes | None:
        """The bitset of a bloom filter that can be probed; ``None`` without."""
        number = self.pair.bloom_number(self.row_group, self.column)
        if number is None or self.pair.bloom_entries[number] == pm.NO_BLOOM:
            return None
        outcome = self.outcomes[BLOOM]
        outcome.applies = True
        if self.leaf.element.type in UNHASHED_TYPES:
            outcome.hindered(
                # BLM-011 says so of the Parquet file.
                NotChecked(f"bloom filters of {self.leaf.physical_type} are not tested", "another rule"),
                self.leaf.name,
            )
            return None
        try:
            return self.pair.bitset(number)
        except FormatError as error:
            outcome.hindered(error, self.leaf.name)
            return None

    # ---------------------------------------------------------------------------------------- what is found out

    @property
    def _of(self) -> str:
        return f"row group {self.row_group} of column {self.leaf.name}"

    def _place_of(self, position: int) -> str:
        return f"{'value' if self.leaf.max_repetition_level else 'row'} {position}"

    def _violation(self, rule: str, spot: Spot, message: str, expected: str, actual: str) -> None:
        name = self.leaf.name
        found = spot.violation(message, expected, actual, column=name, row_group=self.row_group)
        self.outcomes[rule].add(found)

    def _field(self, name: str) -> Spot:
        """A field of the chunk's record."""
        return self.pair.chunk_field(self.row_group, self.column, name)

    def _judge_bounds(self, found: Found) -> None:
        order, said = self.order, self.said
        sides: tuple[tuple[Side, bytes | None, BoundFound, str], ...] = (
            (MIN, said.minimum, found.minimum, "at most"),
            (MAX, said.maximum, found.maximum, "at least"),
        )
        for side, bound, compared, words in sides:
            outside = compared.beyond
            statistic = self.pair.statistic(self.row_group, self.column, side)
            if bound is None or statistic is None:
                continue
            name = side.name
            text = shown(order, bound)
            if outside.count:
                value = shown(order, outside.value)
                self._violation(
                    RULES_OF[side],
                    statistic,
                    f"{self._place_of(outside.first)} of {self._of} holds {value}, {name} is {text}{_others(outside.count)}",
                    f"{name} {words} {value}",
                    text,
                )
            elif compared.is_met is False and self.record.stat_flags & side.exact:
                self._violation(
                    EXACT,
                    self._field("stat_flags"),
                    f"{name} of {self._of} is said to be exact, and no value is {text}",
                    f"{name} not flagged exact, or a value {text}",
                    f"{self.record.stat_flags:#04x}",
                )

    def _judge_nulls(self, compared: Found) -> None:
        """In a list, where empty and missing lists count as well, writers do not agree whether they are nulls."""
        most = compared.nulls
        if self.leaf.max_repetition_level:
            facts = self.pair.metadata.row_groups[self.row_group].columns[self.column].meta_data
            entries = compared.values if facts is None else facts.num_values
            most = max(entries - (compared.values - compared.nulls), compared.nulls)
        if compared.nulls <= self.record.null_count <= most:
            return
        expected = str(most) if most == compared.nulls else f"between {compared.nulls} and {most}"
        count = self.record.null_count
        said = f"{self._of} holds {expected} null{'' if most == 1 else 's'}, NULL_COUNT is {count}"
        self._violation(NULLS, self._field("null_count"), said, expected, str(count))

    def _judge_bloom(self, lacking: Outside) -> None:
        number = self.pair.bloom_number(self.row_group, self.column)
        if number is None or not lacking.count:
            return
        value = shown(self.order, lacking.value)
        if self.pair.is_external:
            spot = self.pair.bloom_entry(number)
        else:
            spot = self.pair.inlined_bitset(self.row_group, self.column, BLOCK_SIZE)
        self._violation(
            BLOOM,
            spot,
            f"{self._place_of(lacking.first)} of {self._of} holds {value}, which its bloom filter does not hold"
            + _others(lacking.count),
            f"a filter that holds {value}",
            "one that does not",
        )

    def _judge_ascent(self, descents: Descents) -> None:
        if not descents.count:
            return
        before = "the row group before" if descents.previous is None else f"row {descents.previous}"
        self._violation(
            ASCENT,
            header_field("designated_timestamp"),
            f"row {descents.first} of {self._of} holds {descents.after}, {before} {descents.before}"
            + _others(descents.count, "descent"),
            f"at least {descents.before}",
            str(descents.after),
        )


def _others(count: int, what: str = "value") -> str:
    if count == 1:
        return ""
    return f" ({count - 1} more {what}{'s' if count > 2 else ''} like it)"


VALUES = Subject("values of both files", lambda file: [file.part(Comparison)])
"""All values of the Parquet file, decoded once and compared with what ``_pm`` says of them."""


@by_audit("PM-140", of=VALUES)
def no_value_is_less_than_min() -> None:
    """A reader skips the row group when it looks for the value."""


@by_audit("PM-141", of=VALUES)
def no_value_is_greater_than_max() -> None:
    """A reader skips the row group when it looks for the value."""


@by_audit("PM-142", of=VALUES)
def nulls_are_counted() -> None:
    """A chunk of nothing but nulls is never fetched."""


@by_audit("PM-143", of=VALUES)
def bloom_filters_hold_every_value() -> None:
    """A reader skips the row group when it looks for the value."""


@by_audit("PM-144", of=VALUES)
def the_designated_timestamp_ascends() -> None:
    """Readers search for a time by halving."""


@by_audit("PM-145", of=VALUES)
def exact_bounds_occur() -> None:
    """A reader may answer min() and max() from an exact bound."""
