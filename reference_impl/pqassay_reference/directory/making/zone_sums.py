"""Zone sums: counts, an exact sum and two bounds of a measure in a file, in each row group or page, or for each combination of keys.

Whatever is known of the groups is a column of an array, with an element for each group.

Source: chapter ``directory.md``, section "Zone sums".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from construct import Int32ul, Int64ul
from numpy.typing import NDArray

from pqassay_reference.directory.making.blobs import Blob
from pqassay_reference.directory.making.described_data import DescribedColumn, DescribedData, GroupValues
from pqassay_reference.directory.making.exact_sums import (
    DoubleSum,
    DoubleSums,
    integer_sums,
    wide_integer_sums,
)
from pqassay_reference.directory.making.grouping import Groups, by_keys, by_pages, counted, extremes
from pqassay_reference.directory.making.ordered_values import (
    ColumnValues,
    is_bytes,
    joined,
    plain_bytes,
    stored_array,
)
from pqassay_reference.directory.size_limit import SizeLimit
from pqassay_reference.errors import Refused
from pqassay_spec.directory import zone_sums as grammar
from pqassay_spec.directory.codes import Granularity
from pqassay_spec.directory.zone_sums import Group, SumKind, SumsHead, integer_parts

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]

_GREATEST_DECIMAL = 16
"""Bytes of the widest decimal whose sums may fit into 128 bits."""

_PUT_TOGETHER = 8
"""Groups of row groups are put together when there are so many times as many as there were after the last time."""

Totals = DoubleSums | list[DoubleSum] | list[int]
"""The sums of groups, exact: of doubles before they are rounded, of whole numbers of any size."""


class KeyColumn(NamedTuple):
    """One key of some groups.

    Attributes:
        null: For each group whether the key is null.
        values: The others, as `pqassay_reference.directory.making.ordered_values.plain_bytes` takes them.
    """

    null: Mask
    values: Any


@dataclass(frozen=True)
class Zones:
    """Some groups, part by part.

    Attributes:
        sizes: Groups of each part.
        keys: Their keys.
        rows, nulls, nans: Rows, those whose measure is null, and those whose measure is NaN.
        totals: The sums; 0 of what has none.
        least, greatest: The bounds of those groups that have a measure that is neither null nor NaN.
    """

    sizes: tuple[int, ...]
    keys: tuple[KeyColumn, ...]
    rows: Numbers
    nulls: Numbers
    nans: Numbers
    totals: Totals
    least: Any
    greatest: Any

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def there(self) -> Mask:
        """For each group whether it has bounds."""
        return self.rows - self.nulls - self.nans > 0


def zone_sums(data: DescribedData, *, limit: SizeLimit) -> Blob:
    """The blob of the zone sums of the last column, for each combination of the others.

    Raises:
        Refused: A sum takes more than 128 bits, or the blob is too large.
    """
    found: list[Zones] = []
    is_file = data.granularity == Granularity.FILE
    for group in data.row_groups():
        found.append(_zones(data, group))
        if not is_file:
            limit.require(Group.size * sum(map(len, found)))
        elif sum(map(len, found)) > _PUT_TOGETHER * len(found[0]):
            found = [_merged(data.columns, found)]
            limit.require(Group.size * len(found[0]))
    if is_file:
        found = [_merged(data.columns, found)] if found else [_without_rows(data)]
    blob = _built(data.columns, found)
    limit.require(len(blob))
    return Blob(blob, sum(map(len, found)))


def _without_rows(data: DescribedData) -> Zones:
    """A file without row groups: one empty group, or with keys none."""
    measure, keys = data.columns[-1], data.columns[:-1]
    nothing = np.zeros(0 if keys else 1, np.int64)
    no_keys = tuple(KeyColumn(np.zeros(0, np.bool_), joined(column, [])) for column in keys)
    totals: Totals = [0] * len(nothing)
    if grammar.sum_kind(measure.leaf) == SumKind.DOUBLE:
        totals = [DoubleSum(0, 0)] * len(nothing)
    bounds = joined(measure, [])
    return Zones((len(nothing),), no_keys, nothing, nothing, nothing, totals, bounds, bounds)


def _zones(data: DescribedData, group: GroupValues) -> Zones:
    """The groups of a row group."""
    measure = ColumnValues(data.columns[-1], group.columns[-1])
    if len(data.columns) == 1:
        groups = by_pages(group.bounds)
        return _sums(measure, groups, (1,) * groups.group_count, ())
    keys = [
        ColumnValues(column, values)
        for column, values in zip(data.columns[:-1], group.columns[:-1], strict=True)
    ]
    groups = by_keys(keys)
    return _sums(measure, groups, (groups.group_count,), _keys_of(keys, groups))


def _keys_of(keys: Sequence[ColumnValues], groups: Groups) -> tuple[KeyColumn, ...]:
    return tuple(
        KeyColumn(found.null, column.with_codes(found.codes))
        for column, found in zip(keys, groups.keys, strict=True)
    )


def _sums(
    measure: ColumnValues, groups: Groups, sizes: tuple[int, ...], keys: tuple[KeyColumn, ...]
) -> Zones:
    of_rows, count = groups.of_rows, groups.group_count
    rows = groups.sizes
    nulls = _flagged(measure.null, of_rows, count)
    nans = _flagged(measure.nan, of_rows, count)
    valid = None if measure.null is None and measure.nan is None else measure.valid
    codes = measure.codes if valid is None else measure.codes[valid]
    within = of_rows if of_rows is None or valid is None else of_rows[valid]
    totals = _totals(measure, codes, within, count)
    there = rows - nulls - nans > 0
    if within is None and count == 1 and valid is None and not is_bytes(measure.column) and len(codes):
        bounds = tuple(np.array([end], codes.dtype) for end in measure.ends)  # which are known
    else:
        bounds = extremes(codes, within, count)
    least, greatest = (measure.with_codes(found[there]) for found in bounds)
    return Zones(sizes, keys, rows, nulls, nans, totals, least, greatest)


def _flagged(flags: Mask | None, groups: Numbers | None, count: int) -> Numbers:
    """The rows of each group that have a flag."""
    if flags is None:
        return np.zeros(count, np.int64)
    return counted(None if groups is None else groups[flags], count, int(flags.sum()))


def _totals(measure: ColumnValues, codes: NDArray[Any], groups: Numbers | None, count: int) -> Totals:
    """The sum of each group, from the codes of measures that are neither null nor NaN."""
    column = measure.column
    kind = grammar.sum_kind(column.leaf)
    if kind == SumKind.DOUBLE:
        return DoubleSums(measure.floats(codes), groups, count)
    if kind == SumKind.NONE:
        return [0] * count
    if not is_bytes(column):
        return integer_sums(codes, groups, count)
    return wide_integer_sums(_decimals(measure)[codes], groups, count)


def _decimals(measure: ColumnValues) -> NDArray[np.uint8]:
    """The distinct decimals of a column, a row of bytes for each."""
    raws: list[bytes] = measure.distinct_bytes.to_pylist()
    if not raws:
        return np.zeros((0, 1), np.uint8)
    numbers = [int.from_bytes(raw, "big", signed=True) for raw in raws]
    width = max(number.bit_length() for number in numbers) // 8 + 1
    if width > _GREATEST_DECIMAL:
        raise Refused(
            f"column {measure.column.leaf.name} has decimals of {width} bytes, whose sums take more than 128 bits"
        )
    rows = b"".join(number.to_bytes(width, "big", signed=True) for number in numbers)
    return np.frombuffer(rows, np.uint8).reshape(len(raws), width)


# --------------------------------------------------------------------------------------------- parts put together


def _merged(columns: Sequence[DescribedColumn], several: Sequence[Zones]) -> Zones:
    """The groups of several parts as those of one."""
    if len(several) == 1:
        return several[0]
    nulls = [np.concatenate([one.keys[place].null for one in several]) for place in range(len(columns) - 1)]
    arrays = [
        stored_array(column, joined(column, [one.keys[place].values for one in several]), nulls[place])
        for place, column in enumerate(columns[:-1])
    ]
    keys = [ColumnValues(column, array) for column, array in zip(columns[:-1], arrays, strict=True)]
    number = sum(map(len, several))
    groups = by_keys(keys) if keys else Groups(None, np.array([number]))
    of_rows = np.zeros(number, np.int64) if groups.of_rows is None else groups.of_rows
    rows, no_measures, nans = (
        _added(np.concatenate(each), of_rows, groups.group_count)
        for each in zip(*((one.rows, one.nulls, one.nans) for one in several), strict=True)
    )
    there = np.concatenate([one.there for one in several])
    has_bounds = rows - no_measures - nans > 0
    least, greatest = (
        _extreme(columns[-1], values, of_rows[there], groups.group_count, has_bounds, at)
        for at, values in enumerate(([one.least for one in several], [one.greatest for one in several]))
    )
    totals = _merged_totals(columns[-1], several, of_rows, groups.group_count)
    found = _keys_of(keys, groups)
    return Zones((groups.group_count,), found, rows, no_measures, nans, totals, least, greatest)


def _added(numbers: Numbers, groups: Numbers, count: int) -> Numbers:
    found = np.zeros(count, np.int64)
    np.add.at(found, groups, numbers)
    return found


def _extreme(
    measure: DescribedColumn, several: Sequence[Any], groups: Numbers, count: int, there: Mask, at: int
) -> Any:
    """The least (0) or greatest (1) of some bounds in each group that has one."""
    values = joined(measure, several)
    array = stored_array(measure, values, np.zeros(len(values), np.bool_))
    column = ColumnValues(measure, array)
    return column.with_codes(extremes(column.codes, groups, count)[at][there])


def _merged_totals(
    measure: DescribedColumn, several: Sequence[Zones], of_rows: Numbers, count: int
) -> Totals:
    """The sums of each group of several parts."""
    places = iter(of_rows.tolist())
    if grammar.sum_kind(measure.leaf) == SumKind.DOUBLE:
        doubles = [DoubleSum(0, 0)] * count
        for one in several:
            exact: Any = one.totals.exact() if isinstance(one.totals, DoubleSums) else one.totals
            for total in exact:
                place = next(places)
                doubles[place] = doubles[place].plus(total)
        return doubles
    numbers = [0] * count
    for one in several:
        whole: Any = one.totals
        for total in whole:
            numbers[next(places)] += total
    return numbers


# ----------------------------------------------------------------------------------------------------- the blob


def _built(columns: Sequence[DescribedColumn], parts: Sequence[Zones]) -> bytes:
    measure, keys = columns[-1], columns[:-1]
    sizes = [size for part in parts for size in part.sizes]
    head = SumsHead(len(sizes), sum(map(len, parts)), len(keys), int(grammar.sum_kind(measure.leaf)), 0)
    out = [head.build(), *map(Int32ul.build, sizes)]
    out += [_records(measure, part).tobytes() for part in parts]
    for place, column in enumerate(keys):
        out += [part.keys[place].null.astype(np.uint8).tobytes() for part in parts]
        out += _counted_values(column, [part.keys[place].values for part in parts])
    out += _counted_values(measure, [part.least for part in parts])
    out += _counted_values(measure, [part.greatest for part in parts])
    return b"".join(out)


def _records(measure: DescribedColumn, zones: Zones) -> Any:
    """The groups as a blob has them."""
    records = np.zeros(len(zones), np.dtype(Group.dtype))
    records["row_count"], records["null_count"], records["nan_count"] = zones.rows, zones.nulls, zones.nans
    kind = grammar.sum_kind(measure.leaf)
    if kind == SumKind.DOUBLE:
        rounded = zones.totals.rounded() if isinstance(zones.totals, DoubleSums) else _rounded(zones.totals)
        records["sum_low"] = rounded.view(np.uint64)  # what `double_parts` gives, all at once
    elif kind == SumKind.INTEGER:
        whole: Any = zones.totals
        try:
            halves = [integer_parts(total) for total in whole]
        except ValueError as error:
            raise Refused(f"column {measure.leaf.name}: {error}") from None
        records["sum_low"] = np.array([low for low, _ in halves], np.uint64)
        records["sum_high"] = np.array([high for _, high in halves], np.int64)
    return records


def _rounded(totals: Any) -> NDArray[np.float64]:
    return np.array([total.rounded() for total in totals], np.float64)


def _counted_values(column: DescribedColumn, several: Sequence[Any]) -> list[bytes]:
    packed = plain_bytes(column, joined(column, several))
    return [Int64ul.build(len(packed)), packed]


__all__ = ["zone_sums"]
