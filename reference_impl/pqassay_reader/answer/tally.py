"""Tallies: rows, counts, exact sums and bounds of measures by groups, to which zone sums and rows are added alike.

Sums are kept exactly until the end: whole numbers and decimals as integers of any size, floating point numbers in units of the smallest double.
So it does not matter in which order parts are added.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay_reader.answer.question import Aggregate, Item
from pqassay_reference.directory.making.exact_sums import DoubleSum, double_sums, integer_sums
from pqassay_reference.errors import Refused
from pqassay_spec.directory.zone_sums import BITS

Numbers = NDArray[np.int64]

NUMBER_TYPE = pa.decimal128(38, 0)
"""The type of sums of whole numbers."""

_ZERO = DoubleSum(0, 0)


def is_floating(kind: Any) -> bool:
    """Whether sums of a type are floating point numbers."""
    return pa.types.is_floating(kind)


def has_sum(kind: Any) -> bool:
    """Whether there are sums of a type."""
    return pa.types.is_integer(kind) or pa.types.is_decimal(kind) or is_floating(kind)


class Groups:
    """The groups of an answer: combinations of values, numbered in the order in which they turn up."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._numbers: dict[tuple[Any, ...], int] = {} if width else {(): 0}

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def keys(self) -> list[tuple[Any, ...]]:
        """The combinations."""
        return list(self._numbers)

    def of_rows(self, columns: Sequence[Any], count: int) -> Numbers:
        """The group of each of so many rows, given its columns; new ones are added."""
        if not self._width or not count:
            return np.zeros(count, np.int64)
        codes = np.zeros(count, np.int64)
        space = 1
        for column in columns:
            whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
            encoded = whole.dictionary_encode(null_encoding="encode")
            size = max(len(encoded.dictionary), 1)
            if space * size > 1 << 62:
                codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
                space = int(codes.max()) + 1
            codes = codes * size + encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
            space *= size
        firsts, local = _dense(codes, space)
        keys = zip(*(column.take(pa.array(firsts)).to_pylist() for column in columns), strict=True)
        numbers = [self._numbers.setdefault(_key(key), len(self._numbers)) for key in keys]
        return np.array(numbers, np.int64)[local]


def _dense(codes: Numbers, space: int) -> tuple[Numbers, Numbers]:
    """A row of each number that occurs, and for each row the place of its number among those. Numbers are less than ``space``."""
    if space > 4 * len(codes):
        _, firsts, local = np.unique(codes, return_index=True, return_inverse=True)
        return firsts, local.astype(np.int64)
    rows = np.full(space, -1, np.int64)
    rows[codes] = np.arange(len(codes))
    occurring = np.flatnonzero(rows >= 0)
    places = np.empty(space, np.int64)
    places[occurring] = np.arange(len(occurring))
    return rows[occurring], places[codes]


def _key(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """A combination in which NaN equals itself, and so do both zeros."""
    if not any(isinstance(value, float) for value in values):
        return values
    return tuple(
        (math.nan if math.isnan(value) else value + 0.0) if isinstance(value, float) else value
        for value in values
    )


class MeasureTally:
    """Counts, sum and bounds of one measure by groups.

    Args:
        kind: Its type.
        needs_sum: Whether sums are asked for.
        needs_bounds: Whether bounds are.
    """

    def __init__(self, kind: Any, *, needs_sum: bool, needs_bounds: bool) -> None:
        self.kind, self._needs_sum, self._needs_bounds = kind, needs_sum, needs_bounds
        self.counts: Numbers = np.zeros(0, np.int64)
        """Measures of each group that are not null."""
        self.nans: Numbers = np.zeros(0, np.int64)
        self._sums: list[Any] = []
        self._bounds: list[pa.Table] = []

    def _grow(self, count: int) -> None:
        more = count - len(self.counts)
        if more > 0:
            self.counts = np.concatenate([self.counts, np.zeros(more, np.int64)])
            self.nans = np.concatenate([self.nans, np.zeros(more, np.int64)])
            if self._needs_sum:
                self._sums += [_ZERO if is_floating(self.kind) else 0] * more

    def add_zones(self, zones: Any, minima: Any, maxima: Any, groups: Numbers, count: int) -> None:
        """Add zone sums.

        Args:
            zones: Records of `pqassay_spec.directory.zone_sums.Group`.
            minima, maxima: Their bounds.
            groups: The group of the answer that each belongs to.
            count: Groups of the answer.
        """
        self._grow(count)
        there = zones["row_count"].astype(np.int64) - zones["null_count"].astype(np.int64)
        np.add.at(self.counts, groups, there)
        np.add.at(self.nans, groups, zones["nan_count"].astype(np.int64))
        if self._needs_sum:
            low = np.ascontiguousarray(zones["sum_low"])
            if is_floating(self.kind):
                self._add_doubles(low.view("<f8").astype(np.float64), groups, count)
            else:
                high = np.ascontiguousarray(zones["sum_high"])
                self._add_integers(low, high, groups, count)
        self._add_bounds(minima, maxima, groups)

    def add_rows(self, values: Any, groups: Numbers, count: int) -> None:
        """Add measures, an Arrow array, each of a group of the answer."""
        self._grow(count)
        if values.null_count:
            valid = np.asarray(values.is_valid())
            values, groups = values.drop_null(), groups[valid]
        self.counts += np.bincount(groups, minlength=count)
        if is_floating(self.kind):
            is_nan = np.asarray(pc.is_nan(values))
            if is_nan.any():
                self.nans += np.bincount(groups[is_nan], minlength=count)
                values, groups = values.filter(pa.array(~is_nan)), groups[~is_nan]
        if self._needs_sum:
            if is_floating(self.kind):
                numbers = np.asarray(values.cast(pa.float64()), np.float64)
                self._add_doubles(numbers, groups, count)
            else:
                self._add_integers(*_halves(values), groups, count)
        self._add_bounds(values, values, groups)

    def _add_doubles(self, numbers: NDArray[np.float64], groups: Numbers, count: int) -> None:
        for at in np.flatnonzero(np.isnan(numbers)).tolist():
            # The sum of a zone with infinities of both signs.
            self._sums[int(groups[at])] = self._sums[int(groups[at])].plus(DoubleSum(0, 3))
        numbers, groups = numbers[~np.isnan(numbers)], groups[~np.isnan(numbers)]
        if len(numbers):
            found = double_sums(numbers, groups, count)
            self._sums = [one.plus(other) for one, other in zip(self._sums, found, strict=True)]

    def _add_integers(
        self, low: NDArray[np.uint64], high: NDArray[np.int64] | None, groups: Numbers, count: int
    ) -> None:
        lows = integer_sums(low, groups, count)
        highs = integer_sums(high, groups, count) if high is not None else [0] * count
        self._sums = [
            total + one + (other << BITS) for total, one, other in zip(self._sums, lows, highs, strict=True)
        ]

    def _add_bounds(self, minima: Any, maxima: Any, groups: Numbers) -> None:
        if self._needs_bounds and len(groups):
            columns: list[Any] = [pa.array(groups), minima, maxima]
            self._bounds.append(_extremes(pa.table(columns, ["group", "min", "max"])))

    def result(self, function: str, count: int) -> Any:
        """The aggregate of each group as an Arrow array.

        Raises:
            Refused: A sum has more digits than any type.
        """
        self._grow(count)
        if function == "count":
            return pa.array(self.counts)
        if function in ("min", "max"):
            return self._bound(function, count)
        pairs = zip(self._sums, self.counts.tolist(), self.nans.tolist(), strict=True)
        of_one = self._average if function == "avg" else self._sum
        values = [of_one(*pair) if pair[1] else None for pair in pairs]
        kind = pa.float64() if function == "avg" or is_floating(self.kind) else self._sum_type
        try:
            return pa.array(values, kind)
        except (pa.ArrowException, ValueError):
            raise Refused("a sum has more than 38 digits") from None

    @property
    def _sum_type(self) -> Any:
        return pa.decimal128(38, self.kind.scale) if pa.types.is_decimal(self.kind) else NUMBER_TYPE

    @property
    def _scale(self) -> int:
        return self.kind.scale if pa.types.is_decimal(self.kind) else 0

    def _sum(self, total: Any, _: int, nans: int) -> Any:
        if is_floating(self.kind):
            return math.nan if nans else float(total.rounded())
        return Decimal(total).scaleb(-self._scale, Context(prec=max(len(str(total)), 1)))

    def _average(self, total: Any, count: int, nans: int) -> float:
        """The exact sum divided by the count, rounded once."""
        if is_floating(self.kind):
            if nans or total.infinite:
                return math.nan if nans else float(total.rounded())
            return float(Fraction(total.units, count << 1074))
        return float(Fraction(total, count * 10**self._scale))

    def _bound(self, function: str, count: int) -> Any:
        found = pa.nulls(count, self.kind)
        if self._bounds:
            table = _extremes(pa.concat_tables(self._bounds))
            places = np.full(count, -1, np.int64)
            places[np.asarray(table["group"])] = np.arange(len(table))
            chosen: Any = pa.array(places, mask=places < 0)
            found = table[function].take(chosen).combine_chunks()
        if is_floating(self.kind) and self.nans.any():
            # NaN is greater than everything: the greatest where there is one, the least where there is nothing else.
            is_nan = self.nans > 0 if function == "max" else (self.nans > 0) & np.asarray(found.is_null())
            found = pc.if_else(pa.array(is_nan), pa.scalar(math.nan, self.kind), found)
        return found


def _extremes(bounds: pa.Table) -> pa.Table:
    """The least and the greatest of each group."""
    found = bounds.group_by("group").aggregate([("min", "min"), ("max", "max")])
    return found.rename_columns(
        [{"min_min": "min", "max_max": "max"}.get(name, name) for name in found.column_names]
    )


def _halves(values: Any) -> tuple[Any, Any]:
    """Whole numbers, or decimals without their scale, as lower and upper halves of 128 bits; no upper ones where they fit in 64."""
    if not pa.types.is_decimal(values.type):
        return np.asarray(values), None
    wide = values.cast(pa.decimal128(38, values.type.scale))
    raw = np.frombuffer(wide.buffers()[1] or b"", "<u8")[2 * wide.offset :][: 2 * len(wide)].reshape(-1, 2)
    return np.ascontiguousarray(raw[:, 0]), np.ascontiguousarray(raw[:, 1]).view("<i8")


class Tally:
    """All that an answer is made of.

    Args:
        group_by: The columns by which rows are grouped.
        kinds: The types of all columns that are named.
        aggregates: What is asked.
    """

    def __init__(
        self, group_by: Sequence[str], kinds: dict[str, Any], aggregates: Sequence[Aggregate]
    ) -> None:
        self._group_by, self._kinds = group_by, kinds
        self.groups = Groups(len(group_by))
        self._rows: Numbers = np.zeros(0, np.int64)
        asked = {
            name: {one.function for one in aggregates if one.column == name}
            for name in dict.fromkeys(one.column for one in aggregates)
            if name is not None
        }
        self.measures = {
            name: MeasureTally(
                kinds[name],
                needs_sum=bool(functions & {"sum", "avg"}),
                needs_bounds=bool(functions & {"min", "max"}),
            )
            for name, functions in asked.items()
        }

    def add_counts(self, rows: Numbers, groups: Numbers) -> None:
        """Add rows that are counted already, so many to each group."""
        more = len(self.groups) - len(self._rows)
        self._rows = np.concatenate([self._rows, np.zeros(more, np.int64)])
        np.add.at(self._rows, groups, rows)

    def add_rows(self, table: pa.Table) -> None:
        """Add the rows of a table that has the columns of groups and measures."""
        count = len(table)
        if not count:
            return
        groups = self.groups.of_rows([table.column(name) for name in self._group_by], count)
        self.add_counts(np.ones(count, np.int64), groups)
        for name, tally in self.measures.items():
            values = table.column(name).combine_chunks()
            tally.add_rows(values, groups, len(self.groups))

    def results(self, aggregates: Sequence[Aggregate]) -> dict[Item, Any]:
        """The columns of the groups, by their names, and the aggregates, an Arrow array each, with a row for each group.

        Raises:
            Refused: A sum has more digits than any type.
        """
        count = len(self.groups)
        self.add_counts(np.zeros(0, np.int64), np.zeros(0, np.int64))
        columns: dict[Item, Any] = {}
        keys = self.groups.keys
        for place, name in enumerate(self._group_by):
            columns[name] = pa.array([key[place] for key in keys], self._kinds[name])
        for one in aggregates:
            columns[one] = (
                pa.array(self._rows)
                if one.column is None
                else self.measures[one.column].result(one.function, count)
            )
        return columns


__all__ = ["Groups", "MeasureTally", "Tally", "has_sum", "is_floating"]
