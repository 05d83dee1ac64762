"""The audit of zone sums of an index directory: groups of rows are counted and summed part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pqassay.under_test.file import Broken, Remembered
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay.values.directory.audit import Asked, DescribedPart, EntryAudit
from pqassay.values.directory.blob import BlobUnderTest
from pqassay.values.directory.columns import doubles, numbered, one_array, ranks, raws_of, wholes, without_nan
from pqassay.values.directory.exact_sums import ExactDouble, double_sums, integer_sums
from pqassay_spec.directory.packed_values import sort_keys
from pqassay_spec.directory.zone_sums import Group, SumKind
from pqassay_spec.parquet.column_order import Order

Key = tuple[bytes | None, ...]
"""The raw bytes of the keys of a group; ``None`` for null."""


class _KeyTaken(NamedTuple):
    """A key column of rows: a number for each row, 0 for null, and the raw bytes for the numbers from 1 on."""

    codes: NDArray[np.int64]
    raws: list[bytes]


class _MeasureTaken(NamedTuple):
    """The measures of a row group: masks of the rows with a measure and of NaN among them, and the other measures."""

    valid: NDArray[np.bool_]
    nan: NDArray[np.bool_]
    numbers: Any


@dataclass
class GroupFacts:
    """The facts about the rows of one group: counts, the sum of measures, and their bounds as raw bytes."""

    rows: int = 0
    nulls: int = 0
    nans: int = 0
    whole: int = 0
    double: ExactDouble = field(default_factory=ExactDouble)
    least: bytes | None = None
    greatest: bytes | None = None

    def add(self, other: GroupFacts, order: Order) -> None:
        """Add further rows."""
        self.rows += other.rows
        self.nulls += other.nulls
        self.nans += other.nans
        self.whole += other.whole
        self.double.add(other.double)
        self.least = _chosen(min, order, self.least, other.least)
        self.greatest = _chosen(max, order, self.greatest, other.greatest)


def _chosen(choose: Callable[..., bytes | None], order: Order, *bounds: bytes | None) -> bytes | None:
    known = [bound for bound in bounds if bound is not None]
    return choose(known, key=lambda bound: sort_keys(order, [bound])[0], default=None)


class ComparedGroup(NamedTuple):
    """A group that is listed and occurs: its position, its keys, the claims about it, and the facts about its rows."""

    place: int
    key: Key
    claimed: Group
    facts: GroupFacts


class DescribedSums(DescribedPart):
    """The listed groups of a part, and the groups that occur in its rows.

    Attributes:
        facts: The groups that occur.
        order: The order of the measures.
    """

    def __init__(self, blob: BlobUnderTest, number: int) -> None:
        super().__init__(blob, number)
        self.facts: dict[Key, GroupFacts] = {} if blob.sums.keys else {(): GroupFacts()}
        self.order = self.entry.order

    def add(self, taken: tuple[Key, GroupFacts], /) -> None:
        """Add the rows of a group."""
        key, facts = taken
        if key in self.facts:
            self.facts[key].add(facts, self.order)
        else:
            self.facts[key] = facts

    @Remembered
    def listed(self) -> dict[Key, int]:
        """The position of each listed group, by its keys. Raises the errors of `BlobUnderTest.out_of_order`, and DIR-032."""
        if self.blob.out_of_order(self.number) is not None:
            raise Broken("DIR-032")  # the meant group is ambiguous
        part, columns = self.blob.sums_parts[self.number], self.blob.key_columns
        return {tuple(keys[place] for keys in columns): place for place in part}

    @property
    def compared(self) -> Iterator[ComparedGroup]:
        """The groups that are both listed and present. Raises the errors of `listed`."""
        for key, place in self.listed.items():
            if key in self.facts:
                yield ComparedGroup(place, key, self.blob.groups[place], self.facts[key])


class SumsAudit(EntryAudit):
    """The audit of rows that the zone sums of one entry describe."""

    part_type = DescribedSums

    def __init__(self, blob: BlobUnderTest, asked: Asked) -> None:
        super().__init__(blob, asked)
        _ = blob.is_consistent, blob.key_columns
        self._kind = SumKind(blob.sums.head.sum_kind)

    def take(self, values: ChunkValues, column: int, /) -> _KeyTaken | _MeasureTaken:
        """The key of each row, or the measures."""
        valid = values.valid
        if column < len(self.ordinals) - 1:
            numbers, raws = numbered(values.values)
            codes = np.zeros(len(valid), np.int64)
            codes[valid] = numbers + 1
            return _KeyTaken(codes, raws)
        measures, nan = without_nan(self.order, one_array(values.values))
        return _MeasureTaken(valid, nan, measures)

    def add(self, row_group: int, taken: Sequence[Any]) -> None:
        """Count the rows of a row group, group by group."""
        parts = self.parts_of(row_group)
        of_row = np.repeat(np.arange(len(parts)), np.diff(self.row_starts(row_group)))
        table: list[tuple[int, Key]] = [(part, ()) for part in parts]
        for key in taken[:-1]:
            room = len(key.raws) + 1
            pairs, of_row = np.unique(of_row * room + key.codes, return_inverse=True)
            table = [
                (table[pair // room][0], (*table[pair // room][1], _raw(key, pair % room)))
                for pair in pairs.tolist()
            ]
        for (part, key_of_group), facts in zip(
            table, self._facts(of_row, len(table), taken[-1]), strict=True
        ):
            self.part(part).add((key_of_group, facts))

    def _facts(self, of_row: NDArray[np.int64], count: int, measure: _MeasureTaken) -> Iterator[GroupFacts]:
        rows = np.bincount(of_row, minlength=count)
        nulls = np.bincount(of_row[~measure.valid], minlength=count)
        of_value = of_row[measure.valid]
        nans = np.bincount(of_value[measure.nan], minlength=count)
        of_number = of_value[~measure.nan]
        whole, double = [0] * count, [ExactDouble() for _ in range(count)]
        if self._kind is SumKind.INTEGER:
            whole = integer_sums(of_number.tolist(), wholes(self.order, measure.numbers), count)
        elif self._kind is SumKind.DOUBLE:
            double = double_sums(of_number.tolist(), doubles(self.order, measure.numbers).tolist(), count)
        bounds = [map(raws.get, range(count)) for raws in self._extremes(of_number, count, measure.numbers)]
        return map(GroupFacts, rows.tolist(), nulls.tolist(), nans.tolist(), whole, double, *bounds)

    def _extremes(self, of_number: NDArray[np.int64], count: int, numbers: Any) -> Iterator[dict[int, bytes]]:
        """Yield the raw bytes of the smallest numbers, then of the largest numbers, by group."""
        ranked = ranks(self.order, numbers)
        for compare, start in ((np.minimum, "max"), (np.maximum, "min")):
            if not len(ranked):
                yield {}
                continue
            extremes = np.full(count, getattr(ranked, start)(), ranked.dtype)
            compare.at(extremes, of_number, ranked)
            places = np.flatnonzero(ranked == extremes[of_number])
            groups, first = np.unique(of_number[places], return_index=True)
            raws = raws_of(numbers.take(pa.array(places[first])))
            yield dict(zip(groups.tolist(), raws, strict=True))


def _raw(key: _KeyTaken, code: int) -> bytes | None:
    return key.raws[code - 1] if code else None
