"""Zone sums of an index directory, compared with the rows of their parts."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pqassay.under_test.file import Broken
from pqassay.under_test.violation import Violation
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay.values.directory.audit import EntryAudit, Outcomes
from pqassay.values.directory.blob import BlobUnderTest
from pqassay.values.directory.columns import are_nan, doubles, limbs, numbered, one_array, ranks, raws_of
from pqassay.values.directory.exact_sums import ExactDouble, double_sums, integer_sums
from pqassay_spec.directory.packed_values import order_in_blobs, sort_keys
from pqassay_spec.directory.zone_sums import SUM_RANGE, Group, SumKind, double_of, integer_sum
from pqassay_spec.parquet.column_order import Order, shown

GROUPS, COUNTS, SUM, BOUNDS = "DIR-035", "DIR-036", "DIR-037", "DIR-038"

Key = tuple[bytes | None, ...]
"""The raw bytes of each key, ``None`` for null."""

NAMED = 3
"""Groups that a message names."""


class _KeyTaken(NamedTuple):
    """A key of each row: a number, 0 for null, and the raw bytes for which the numbers from 1 on are."""

    codes: NDArray[np.int64]
    raws: list[bytes]


class _MeasureTaken(NamedTuple):
    """The measures of a row group: which rows have one, which of these are NaN, and the others."""

    valid: NDArray[np.bool_]
    nan: NDArray[np.bool_]
    numbers: Any


@dataclass
class _Stats:
    """What was counted in one group."""

    rows: int = 0
    nulls: int = 0
    nans: int = 0
    whole: int = 0
    double: ExactDouble = field(default_factory=ExactDouble)
    least: bytes | None = None
    greatest: bytes | None = None

    def add(self, other: _Stats, order: Order) -> None:
        """Add what was counted in further rows."""
        self.rows += other.rows
        self.nulls += other.nulls
        self.nans += other.nans
        self.whole += other.whole
        self.double.add(other.double)
        self.least = _chosen(order, self.least, other.least, min)
        self.greatest = _chosen(order, self.greatest, other.greatest, max)


def _chosen(order: Order, one: bytes | None, other: bytes | None, choose: Any) -> bytes | None:
    if one is None or other is None:
        return other if one is None else one
    keys = sort_keys(order, [one, other])
    return one if choose(keys) == keys[0] else other


class SumsAudit(EntryAudit):
    """The zone sums of one entry."""

    rules: tuple[str, ...] = (GROUPS, COUNTS, SUM, BOUNDS)

    def __init__(self, blob: BlobUnderTest, outcomes: Outcomes) -> None:
        super().__init__(blob, outcomes)
        _ = blob.is_consistent
        self._order = self.entry.order
        self._kind = SumKind(blob.sums.head.sum_kind)
        self._keys = [blob.key_values(number) for number in range(len(blob.sums.keys))]
        self._found: dict[int, dict[Key, _Stats]] = {}
        if self._kind is SumKind.NONE:
            self.rules = tuple(rule for rule in self.rules if rule != SUM)

    # ----------------------------------------------------------------------------------------------- what is found

    def take(self, values: ChunkValues, column: int, /) -> _KeyTaken | _MeasureTaken:
        """The key of each row, or the measures."""
        valid = values.valid
        if column < len(self.ordinals) - 1:
            numbers, raws = numbered(values.values)
            codes = np.zeros(len(valid), np.int64)
            codes[valid] = numbers + 1
            return _KeyTaken(codes, raws)
        measures = one_array(values.values)
        nan = are_nan(self._order, measures)
        return _MeasureTaken(valid, nan, measures.filter(pa.array(~nan)) if nan.any() else measures)

    def empty(self) -> None:
        """No rows."""

    def add(self, row_group: int, parts: Sequence[int], taken: list[Any], /) -> None:
        """Count the rows of a row group, group by group."""
        if taken[-1] is None or not parts:
            return
        measure: _MeasureTaken = taken[-1]
        starts = self.row_starts(row_group)
        of_row = np.repeat(np.arange(len(parts)), np.diff(starts))
        table: list[tuple[int, Key]] = [(part, ()) for part in parts]
        for key in taken[:-1]:
            room = len(key.raws) + 1
            pairs, of_row = np.unique(of_row * room + key.codes, return_inverse=True)
            table = [
                (table[pair // room][0], (*table[pair // room][1], _raw(key, pair % room)))
                for pair in pairs.tolist()
            ]
        for (part, key_of_group), stats in zip(table, self._stats(of_row, len(table), measure), strict=True):
            groups = self._found.setdefault(part, {})
            groups.setdefault(key_of_group, _Stats()).add(stats, self._order)

    def _stats(self, of_row: NDArray[np.int64], count: int, measure: _MeasureTaken) -> Iterator[_Stats]:
        rows = np.bincount(of_row, minlength=count)
        nulls = np.bincount(of_row[~measure.valid], minlength=count)
        of_value = of_row[measure.valid]
        nans = np.bincount(of_value[measure.nan], minlength=count)
        of_number = of_value[~measure.nan]
        least, greatest = self._extremes(of_number, count, measure.numbers)
        whole, double = [0] * count, [ExactDouble() for _ in range(count)]
        if self._kind is SumKind.INTEGER:
            whole = integer_sums(of_number, limbs(self._order, measure.numbers), count)
        elif self._kind is SumKind.DOUBLE:
            double = double_sums(of_number, doubles(self._order, measure.numbers), count)
        for place in range(count):
            yield _Stats(
                int(rows[place]),
                int(nulls[place]),
                int(nans[place]),
                whole[place],
                double[place],
                least.get(place),
                greatest.get(place),
            )

    def _extremes(
        self, of_number: NDArray[np.int64], count: int, numbers: Any
    ) -> tuple[dict[int, bytes], dict[int, bytes]]:
        """The raw bytes of the smallest and the largest number of each group that has one."""
        found: list[dict[int, bytes]] = []
        ranked = ranks(self._order, numbers)
        for compare, start in ((np.minimum, "max"), (np.maximum, "min")):
            if not len(ranked):
                found.append({})
                continue
            extremes = np.full(count, getattr(ranked, start)(), ranked.dtype)
            compare.at(extremes, of_number, ranked)
            places = np.flatnonzero(ranked == extremes[of_number])
            groups, first = np.unique(of_number[places], return_index=True)
            raws = raws_of(numbers.take(pa.array(places[first])))
            found.append(dict(zip(groups.tolist(), raws, strict=True)))
        return found[0], found[1]

    # -------------------------------------------------------------------------------------------- what is compared

    def judge_part(self, number: int) -> None:
        """Compare the groups of a part with its rows."""
        found = self._found.pop(number, {})
        if not self._keys:
            found.setdefault((), _Stats())
        part = self.blob.sums_parts[number]
        said = {self._key_of(place): place for place in range(part.first, part.end)}
        if self.blob.out_of_order(number) is not None:
            raise Broken("DIR-032")  # which group is meant, nobody can say
        self._judge_groups(number, found, said)
        for key, place in said.items():
            if key in found:
                self._judge_group(number, place, key, found[key])

    def _key_of(self, place: int) -> Key:
        return tuple(key[place] for key in self._keys)

    def _judge_groups(self, number: int, found: dict[Key, _Stats], said: dict[Key, int]) -> None:
        for words, expected, keys in (
            ("lacks", "a group for each combination that occurs", [key for key in found if key not in said]),
            (
                "has too many",
                "no other groups than those that occur",
                [key for key in said if key not in found],
            ),
        ):
            if keys:
                told = ", ".join(self._told(key) for key in keys[:NAMED]) + ", …" * (len(keys) > NAMED)
                count = f"{len(keys)} group{'' if len(keys) == 1 else 's'}"
                spot = self.entry.blob_spot("keys")
                self.note(
                    GROUPS,
                    number,
                    spot.violation(
                        f"{self.name_of(number)} {words} {count}: {told}", expected, f"{count} {words}"
                    ),
                )

    def _told(self, key: Key) -> str:
        if not key:
            return "all rows"
        parts: list[str] = []
        for leaf, raw in zip(self.entry.leaves, key, strict=False):
            parts.append("null" if raw is None else shown(order_in_blobs(leaf), raw))
        return f"({', '.join(parts)})" if len(parts) > 1 else parts[0]

    def _judge_group(self, number: int, place: int, key: Key, found: _Stats) -> None:
        group = self.blob.groups[place]
        of = f"{self._told(key)} in {self.name_of(number)}"
        for rule, name, counted in (
            (GROUPS, "row_count", found.rows),
            (COUNTS, "null_count", found.nulls),
            (COUNTS, "nan_count", found.nans),
        ):
            given = getattr(group, name)
            if given != counted:
                said = f"{name} of {of} is {given}, and {counted} are there"
                self.note(rule, number, self._at(place, name, said, str(counted), str(given)))
        if self._kind is not SumKind.NONE:
            self._judge_sum(number, place, of, group, found)
        try:
            self._judge_bounds(number, place, of, found)
        except Broken as reason:
            self.hinder(reason, BOUNDS)

    def _judge_sum(self, number: int, place: int, of: str, group: Group, found: _Stats) -> None:
        given: int | float
        right: int | float
        if self._kind is SumKind.INTEGER:
            given, right = integer_sum(group), found.whole
            is_right = given == right and right in SUM_RANGE
        else:
            given, right = double_of(group), found.double.rounded()
            is_right = _bits(given) == _bits(right) or (math.isnan(given) and math.isnan(right))
            is_right = is_right and not group.sum_high
        if not is_right:
            said = f"the sum of {of} is {given!r}, and that of its rows is {right!r}"
            self.note(SUM, number, self._at(place, "sum_low", said, repr(right), repr(given)))

    def _judge_bounds(self, number: int, place: int, of: str, found: _Stats) -> None:
        where = self._bounded.get(place)
        for name, right in (("minima", found.least), ("maxima", found.greatest)):
            given = None if where is None else self.blob.bounds(name)[where]
            if given != right:
                expected, actual = (
                    "none" if raw is None else shown(self._order, raw) for raw in (right, given)
                )
                what = "smallest" if name == "minima" else "largest"
                said = f"the {what} measure of {of} is {expected}, and {actual} is given"
                self.note(BOUNDS, number, self.entry.blob_spot(name).violation(said, expected, actual))

    @property
    def _bounded(self) -> dict[int, int]:
        """The place of each group with measures among the bounds. Raises DIR-034 where that is not clear."""
        if not hasattr(self, "_places_of_bounds"):
            having = self.blob.bounded
            if not len(having) == len(self.blob.bounds("minima")) == len(self.blob.bounds("maxima")):
                raise Broken("DIR-034")
            self._places_of_bounds = {place: rank for rank, place in enumerate(having)}
        return self._places_of_bounds

    def _at(self, place: int, name: str, said: str, expected: str, actual: str) -> Violation:
        return self.blob.group_spot(place, name).violation(said, expected, actual)


def _raw(key: _KeyTaken, code: int) -> bytes | None:
    return key.raws[code - 1] if code else None


def _bits(number: float) -> bytes:
    return struct.pack("<d", number)
