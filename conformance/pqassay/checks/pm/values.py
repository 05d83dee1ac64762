"""Checks of ``_pm`` against the values in the Parquet file, tier ``values``.

Every column chunk about which ``_pm`` says something is decoded once, batch by batch, and compared with all that is said:
bounds, nulls, bloom filter, order of the designated timestamp.  INT96 has no order in Parquet, and booleans have no bloom
filters: what is said about theirs is not compared with values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pqassay.checks import rule as about
from pqassay.checks.pm.pair import Pair
from pqassay.checks.subjects import FILE
from pqassay.under_test.file import FileUnderTest, NotChecked, Remembered
from pqassay.under_test.violation import Violation
from pqassay.values.outcomes import Outcome
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.bloom import BLOCK_SIZE
from pqassay_spec.parquet.column_order import shown, type_order
from pqassay_spec.parquet.schema import SchemaLeaf
from pqassay_spec.parquet.thrift import Type
from pqassay_spec.pm import block as pm_block
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.block import MAX, MIN, Side
from pqassay_spec.pm.codes import NO_COLUMN, StatFlag

if TYPE_CHECKING:
    from pqassay.values.chunk_scan import Descents, Found
    from pqassay.values.order import Outside

BELOW, ABOVE, NULLS, BLOOM, ASCENT, EXACT = "PM-140", "PM-141", "PM-142", "PM-143", "PM-144", "PM-145"

NULLS_COUNTED = int(StatFlag.NULL_COUNT_PRESENT)
"""The flag as a plain number, which is faster."""

RULES_OF = {MIN: BELOW, MAX: ABOVE}
"""The rule about each bound."""

ASCENDING_TYPES = (Type.INT32, Type.INT64)
"""Types of which a designated timestamp is decoded."""

UNHASHED_TYPES = (Type.BOOLEAN, Type.INT96)
"""Types whose bloom filters are not probed."""


class Comparison:
    """All values, compared with all that ``_pm`` says about them."""

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file
        self.pair = file.part(Pair)

    @Remembered
    def outcomes(self) -> dict[str, Outcome]:
        """What came of each rule of this tier.

        Raises:
            FormatError, NotChecked: The two files do not belong together, or one cannot be read.
        """
        from pqassay.values.chunk_scan import scan  # noqa: PLC0415 - pyarrow, at this tier only
        from pqassay.values.physical import open_physical  # noqa: PLC0415 - likewise

        pair = self.pair
        outcomes = {rule: Outcome() for rule in (BELOW, ABOVE, NULLS, BLOOM, ASCENT, EXACT)}
        row_groups, _ = pair.row_group_count, pair.blocks
        ascending = self._ascending_column(outcomes[ASCENT])
        last: int | None = None
        with open_physical(pair.data, pair.parquet.footer, pair.metadata) as parquet:
            for row_group in range(row_groups):
                compared = [
                    _ChunkComparison(
                        pair, row_group, column, outcomes, ascends=column == ascending, last=last
                    )
                    for column in range(pair.column_count)
                ]
                wanted = [chunk for chunk in compared if chunk.is_wanted]
                found = scan(parquet, row_group, [chunk.chunk for chunk in wanted])
                for chunk, outcome in zip(wanted, found, strict=True):
                    chunk.judge(outcome)
                    if chunk.column == ascending and not isinstance(outcome, NotChecked):
                        last = outcome.descents.last
        return outcomes

    def _ascending_column(self, outcome: Outcome) -> int:
        """The designated timestamp, if its values can be followed; `NO_COLUMN` if not."""
        column = self.pair.header.fixed.designated_timestamp
        if column == NO_COLUMN:
            return NO_COLUMN
        outcome.applies = True
        if not 0 <= column < self.pair.column_count:
            outcome.hindered(NotChecked("PM-033 is broken"))
        elif self.pair.leaves[column].element.type not in ASCENDING_TYPES:
            leaf = self.pair.leaves[column]
            outcome.hindered(NotChecked(f"the order of {leaf.physical_type} timestamps is not tested"))
        else:
            return column
        return NO_COLUMN


class _ChunkComparison:
    """One column chunk: what is said about it, and what its values are."""

    def __init__(
        self,
        pair: Pair,
        row_group: int,
        column: int,
        outcomes: dict[str, Outcome],
        *,
        ascends: bool,
        last: int | None,
    ) -> None:
        from pqassay.values.chunk_scan import Chunk, Said  # noqa: PLC0415 - pyarrow, at this tier only

        self.pair = pair
        self.row_group = row_group
        self.column = column
        self.outcomes = outcomes
        self.block = pair.blocks[row_group]
        self.record = self.block.chunks[column]
        self.leaf: SchemaLeaf = pair.leaves[column]
        self.order = type_order(self.leaf.element)
        self.said = Said(self.order, self._bound(MIN), self._bound(MAX), self._bitset(), ascends)
        facts = pair.facts[row_group][column]
        size = 0 if facts is None else max(facts.total_uncompressed_size, 0)
        self.chunk = Chunk(column, self.leaf, self.said, size, last)
        self.rules = [rule for rule, wanted in self._wanted().items() if wanted]

    @property
    def path(self) -> str:
        """Field path of the chunk's record."""
        return self.pair.chunk_path(self.row_group, self.column)

    @property
    def counts_nulls(self) -> bool:
        """Whether the record says how many nulls there are."""
        return bool(self.record.stat_flags & NULLS_COUNTED)

    @property
    def is_wanted(self) -> bool:
        """Whether anything is said that decoding would decide. If it is, and cannot be decoded, that is noted."""
        if not self.rules:
            return False
        chunk = self.pair.metadata.row_groups[self.row_group].columns[self.column]
        if chunk.file_path:
            self.judge(NotChecked(f"{self._of} is stored in another file"))  # decoders look in this one
        elif chunk.crypto_metadata is not None or chunk.meta_data is None:
            self.judge(NotChecked(f"{self._of} is encrypted; pqassay has no keys"))
        else:
            return True
        return False

    def judge(self, found: Found | NotChecked) -> None:
        """Note what is wrong; or why it could not be found out, with the rules that it is about."""
        if isinstance(found, NotChecked):
            for rule in self.rules:
                self.outcomes[rule].hindered(found)
            return
        self._judge_bounds(found)
        if self.counts_nulls:
            self._judge_nulls(found)
        self._judge_bloom(found.lacking)
        self._judge_ascent(found.descents)

    def _wanted(self) -> dict[str, bool]:
        said, flags = self.said, self.record.stat_flags
        exact = (said.minimum is not None and bool(flags & MIN.exact)) or (
            said.maximum is not None and bool(flags & MAX.exact)
        )
        wanted = {
            BELOW: said.minimum is not None,
            ABOVE: said.maximum is not None,
            EXACT: exact,
            NULLS: self.counts_nulls,
            BLOOM: said.bitset is not None,
            ASCENT: said.ascends,
        }
        for rule, is_wanted in wanted.items():
            self.outcomes[rule].applies |= is_wanted
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
                NotChecked(f"bounds of {self.leaf.physical_type} without an order are not tested")
            )
            return None
        try:
            end = self.pair.snapshot.start
            return pm_block.read_statistic(self.pair.source, self.block, self.column, side, end)
        except FormatError as error:
            outcome.hindered(error)
            return None

    def _bitset(self) -> bytes | None:
        """The bitset of a bloom filter that can be probed; ``None`` without."""
        number = self.pair.bloom_number(self.row_group, self.column)
        if number is None or self.pair.bloom_entries[number] == pm.NO_BLOOM:
            return None
        outcome = self.outcomes[BLOOM]
        outcome.applies = True
        if self.leaf.element.type in UNHASHED_TYPES:
            outcome.hindered(NotChecked(f"bloom filters of {self.leaf.physical_type} are not tested"))
            return None
        try:
            return self.pair.bitset(number)
        except FormatError as error:
            outcome.hindered(error)
            return None

    # ---------------------------------------------------------------------------------------- what is found out

    @property
    def _of(self) -> str:
        return f"row group {self.row_group} of column {self.leaf.name}"

    def _place_of(self, position: int) -> str:
        return f"{'value' if self.leaf.max_repetition_level else 'row'} {position}"

    def _violation(
        self, rule: str, message: str, path: str, place: tuple[int, int], *, expected: str, actual: str
    ) -> None:
        self.outcomes[rule].violations.append(
            Violation(
                message=message,
                field=path,
                offset=place[0],
                length=place[1],
                column=self.leaf.name,
                row_group=self.row_group,
                expected=expected,
                actual=actual,
            )
        )

    def _judge_bounds(self, found: Found) -> None:

        bounds, said = found.bounds, self.said
        if bounds is None:
            return
        sides = (
            (MIN, said.minimum, bounds.below, bounds.meets_minimum, "at most"),
            (MAX, said.maximum, bounds.above, bounds.meets_maximum, "at least"),
        )
        for side, bound, outside, is_met, words in sides:
            statistic = pm_block.find_statistic(self.block, self.column, side)
            if bound is None or statistic is None:
                continue
            name = side.name
            text = shown(bounds.order, bound)
            if outside.count:
                value = shown(bounds.order, outside.value)
                self._violation(
                    RULES_OF[side],
                    f"{self._place_of(outside.first)} of {self._of} holds {value}, {name} is {text}{_others(outside.count)}",
                    self.pair.statistic_path(self.row_group, self.column, side),
                    (statistic.offset, statistic.length),
                    expected=f"{name} {words} {value}",
                    actual=text,
                )
            elif is_met is False and self.record.stat_flags & side.exact:
                self._violation(
                    EXACT,
                    f"{name} of {self._of} is said to be exact, and no value is {text}",
                    f"{self.path}.stat_flags",
                    self.pair.chunk_place(self.row_group, self.column, "stat_flags"),
                    expected=f"{name} not flagged exact, or a value {text}",
                    actual=f"{self.record.stat_flags:#04x}",
                )

    def _judge_nulls(self, found: Found) -> None:
        """In a list, where empty and missing lists count as well, writers do not agree whether they are nulls."""
        most = found.nulls
        if self.leaf.max_repetition_level:
            facts = self.pair.metadata.row_groups[self.row_group].columns[self.column].meta_data
            entries = found.values if facts is None else facts.num_values
            most = max(entries - (found.values - found.nulls), found.nulls)
        if found.nulls <= self.record.null_count <= most:
            return
        expected = str(most) if most == found.nulls else f"between {found.nulls} and {most}"
        self._violation(
            NULLS,
            f"{self._of} holds {expected} null{'' if most == 1 else 's'}, NULL_COUNT is {self.record.null_count}",
            f"{self.path}.null_count",
            self.pair.chunk_place(self.row_group, self.column, "null_count"),
            expected=expected,
            actual=str(self.record.null_count),
        )

    def _judge_bloom(self, lacking: Outside) -> None:

        number = self.pair.bloom_number(self.row_group, self.column)
        if number is None or not lacking.count:
            return
        value = shown(self.order, lacking.value)
        if self.pair.is_external:
            path = f"{self.pair.snapshot.path}.bloom_entries[{number}].offset"
            place = self.pair.bloom_entry_place(number)
        else:
            path = f"{self.pair.block_path(self.row_group)}.bloom_filters[{self.pair.bloom_positions[self.column]}].bitset"
            place = (self.pair.bloom_entries[number].offset + pm.BLOOM_LENGTH_SIZE, BLOCK_SIZE)
        self._violation(
            BLOOM,
            f"{self._place_of(lacking.first)} of {self._of} holds {value}, which its bloom filter does not hold"
            + _others(lacking.count),
            path,
            place,
            expected=f"a filter that holds {value}",
            actual="one that does not",
        )

    def _judge_ascent(self, descents: Descents) -> None:
        if not descents.count:
            return
        before = f"row {descents.first - 1}" if descents.first else "the row group before"
        name = "designated_timestamp"
        self._violation(
            ASCENT,
            f"row {descents.first} of {self._of} holds {descents.after}, {before} {descents.before}"
            + _others(descents.count, "descent"),
            f"header.{name}",
            (pm.FixedHeader.offsets[name], pm.FixedHeader.widths[name]),
            expected=f"at least {descents.before}",
            actual=str(descents.after),
        )


def _others(count: int, what: str = "value") -> str:
    if count == 1:
        return ""
    return f" ({count - 1} more {what}{'s' if count > 2 else ''} like it)"


def _outcome(file: FileUnderTest, rule: str) -> Iterator[Violation]:
    """The violations of a rule; without any, what kept it from being tested everywhere."""
    return file.part(Comparison).outcomes[rule].result()


@about(BELOW, of=FILE)
def no_value_is_less_than_min(file: FileUnderTest) -> Iterator[Violation]:
    """A reader skips the row group when it looks for the value."""
    return _outcome(file, BELOW)


@about(ABOVE, of=FILE)
def no_value_is_greater_than_max(file: FileUnderTest) -> Iterator[Violation]:
    """A reader skips the row group when it looks for the value."""
    return _outcome(file, ABOVE)


@about(NULLS, of=FILE)
def nulls_are_counted(file: FileUnderTest) -> Iterator[Violation]:
    """A chunk of nothing but nulls is never fetched."""
    return _outcome(file, NULLS)


@about(BLOOM, of=FILE)
def bloom_filters_hold_every_value(file: FileUnderTest) -> Iterator[Violation]:
    """A reader skips the row group when it looks for the value."""
    return _outcome(file, BLOOM)


@about(ASCENT, of=FILE)
def the_designated_timestamp_ascends(file: FileUnderTest) -> Iterator[Violation]:
    """Readers search for a time by halving."""
    return _outcome(file, ASCENT)


@about(EXACT, of=FILE)
def exact_bounds_occur(file: FileUnderTest) -> Iterator[Violation]:
    """A reader may answer min() and max() from an exact bound."""
    return _outcome(file, EXACT)
