"""Zone sums: counts, an exact sum and bounds of a measure in a file, row group or page, or for each combination of keys in it.

numpy sums integers of 32 bits in 64 bits; larger sums are computed with Python's unlimited integers.

Source: chapter ``directory.md``, section "Zone sums".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from construct import Int32ul, Int64ul
from numpy.typing import NDArray

from pqassay_reference.directory.making.blobs import MadeBlob
from pqassay_reference.directory.making.described_data import DescribedColumn, DescribedData, GroupValues
from pqassay_reference.directory.making.grouping import MOST_COMBINATIONS, Groups, grouped, ranked
from pqassay_reference.directory.making.ordered_values import (
    decimals,
    doubles,
    is_bytes,
    joined,
    numbers_of,
    ordered_values,
    plain_bytes,
)
from pqassay_reference.directory.size_limit import SizeLimit
from pqassay_reference.errors import Refused
from pqassay_spec.directory import zone_sums as grammar
from pqassay_spec.directory.codes import Granularity
from pqassay_spec.directory.zone_sums import Group, SumKind, SumsHead, integer_parts

Numbers = NDArray[np.int64]

_GREATEST_DECIMAL = 16
"""Bytes of the widest decimal whose sums may fit into 128 bits."""

_PIECE = 32
"""Bits of the integers that numpy sums."""

_MANTISSA, _LOWEST = 53, 1073
"""Bits of a double's mantissa, and the negated exponent of the smallest double, as in `numpy.frexp`."""

_HIGH, _AT_ONCE = 27, 1 << 26
"""Bits of the high part of a mantissa, and the number of such parts that doubles sum exactly."""

_PUT_TOGETHER = 8
"""Groups of row groups are merged when their number has grown by this factor since the last time."""


class Zones(NamedTuple):
    """The groups of some parts, in order.

    Attributes:
        sizes: The number of groups of each part.
        keys: Their keys, an Arrow array each.
        rows, nulls, nans: The numbers of all rows, of rows with a null measure, and of rows with a NaN measure.
        totals: The exact sums; for doubles, in units of 2 to the power of -(`_MANTISSA` + `_LOWEST`). 0 if there is no sum.
        least, greatest: The bounds, an Arrow array each, null if all measures are null or NaN.
    """

    sizes: tuple[int, ...]
    keys: tuple[Any, ...]
    rows: Numbers
    nulls: Numbers
    nans: Numbers
    totals: Any
    least: Any
    greatest: Any

    def __len__(self) -> int:
        return len(self.rows)


def zone_sums(data: DescribedData, *, limit: SizeLimit) -> MadeBlob:
    """The blob of the zone sums of the last column, for each combination of the others.

    Raises:
        Refused: A sum takes more than 128 bits, or the blob is too large.
    """
    zones: list[Zones] = []
    is_file = data.granularity == Granularity.FILE
    for group in data.row_groups():
        zones.append(_zones(data, group))
        if not is_file:
            limit.require(Group.size * sum(map(len, zones)))
        elif sum(map(len, zones)) > _PUT_TOGETHER * len(zones[0]):
            zones = [_merged(zones)]
            limit.require(Group.size * len(zones[0]))
    if is_file:
        zones = [_merged(zones)] if zones else [_without_rows(len(data.columns) - 1)]
    blob = _built(data.columns, zones)
    limit.require(len(blob))
    return MadeBlob(blob, sum(map(len, zones)))


def _without_rows(key_count: int) -> Zones:
    """The zones of a file without row groups: one empty group, or no group if there are keys."""
    count = 0 if key_count else 1
    nothing, no_bound = np.zeros(count, np.int64), pa.nulls(count, pa.int64())
    keys = (pa.nulls(0),) * key_count
    return Zones((count,), keys, *(nothing,) * 3, nothing.astype(object), no_bound, no_bound)


def _zones(data: DescribedData, group: GroupValues) -> Zones:
    """The groups of a row group."""
    stored = zip(data.columns, group.columns, strict=True)
    *keys, measure = (ordered_values(column, values) for column, values in stored)
    page_rows = np.diff(group.bounds)
    groups = Groups(np.repeat(np.arange(len(page_rows)), page_rows), page_rows)
    sizes = (1,) * len(page_rows)
    if keys:
        groups = grouped([key.values for key in keys])
        sizes = (groups.group_count,)
    nans = (
        groups.counts(np.asarray(measure.nan))
        if measure.nan_count
        else np.zeros(groups.group_count, np.int64)
    )
    nulls = np.zeros(groups.group_count, np.int64)
    if measure.values.null_count:
        nulls = groups.counts(np.asarray(measure.values.is_null())) - nans
    totals = _totals(data.columns[-1], measure.values, groups)
    return Zones(sizes, groups.keys, groups.sizes, nulls, nans, totals, *_extremes(measure.values, groups))


def _extremes(values: Any, groups: Groups) -> list[Any]:
    """The least and the greatest value of each group; null for a group without values."""
    is_number = pa.types.is_integer(values.type)
    numbers, distinct = (numbers_of(values), None) if is_number else ranked(values)
    of_rows, absent = groups.of_rows, groups.sizes == 0
    if values.null_count:
        there = np.asarray(values.is_valid())
        numbers, of_rows, absent = numbers[there], of_rows[there], groups.counts(there) == 0
    limits = np.iinfo(numbers.dtype)
    extremes: list[Any] = []
    for beyond, way in ((limits.max, np.minimum), (limits.min, np.maximum)):
        bounds = np.full(groups.group_count, beyond, numbers.dtype)
        way.at(bounds, of_rows, numbers)
        if distinct is None:
            extremes.append(pa.array(bounds, mask=absent))
        else:
            extremes.append(distinct.take(pa.array(bounds - 1, mask=absent)))
    return extremes


def _totals(column: DescribedColumn, values: Any, groups: Groups) -> Any:
    """The exact sum of each group."""
    kind = grammar.sum_kind(column.leaf)
    if kind == SumKind.NONE:
        return np.zeros(groups.group_count, object)
    if kind == SumKind.DOUBLE:
        return _double_sums(doubles(column, values), groups)
    if not is_bytes(column):
        numbers = numbers_of(values)
        return _sums(_split(numbers, 8 * numbers.dtype.itemsize), groups.of_rows, groups.group_count)
    numbers = np.array([*decimals(values.dictionary), 0], object)  # the last is that of null
    width = max(number.bit_length() for number in numbers) // 8 + 1
    if width > _GREATEST_DECIMAL:
        raise Refused(
            f"column {column.leaf.name} has decimals of {width} bytes, whose sums take more than 128 bits"
        )
    places = values.indices.fill_null(len(numbers) - 1).to_numpy()
    pieces = [piece.astype(np.int64)[places] for piece in _split(numbers, 8 * _GREATEST_DECIMAL)]
    return _sums(pieces, groups.of_rows, groups.group_count)


def _double_sums(numbers: NDArray[np.float64], groups: Groups) -> Any:
    """The exact sums of the finite doubles of each group: mantissas are summed by exponent, in two parts, which fit into doubles."""
    totals = np.zeros(groups.group_count, object)
    for start in range(0, len(numbers), _AT_ONCE):
        finite, of_rows = numbers[start : start + _AT_ONCE], groups.of_rows[start : start + _AT_ONCE]
        if not np.isfinite(finite).all():
            finite = np.where(np.isfinite(finite), finite, 0)
        mantissas, exponents = np.frexp(finite)
        lowest = int(exponents.min())
        span = int(exponents.max()) - lowest + 1
        bins, names = of_rows * span + (exponents - lowest), np.arange(groups.group_count * span)
        if len(names) > MOST_COMBINATIONS:  # few of them occur
            bins, occurring = ranked(pa.array(bins))
            bins, names = bins - 1, occurring.to_numpy()
        mantissas *= 2.0**_HIGH
        high = np.floor(mantissas)
        low = np.subtract(mantissas, high, out=mantissas)
        sums = _whole(np.bincount(bins, high, len(names))) << _MANTISSA - _HIGH
        sums += _whole(np.bincount(bins, low, len(names)) * 2.0 ** (_MANTISSA - _HIGH))
        np.add.at(totals, names // span, sums << (names % span + lowest + _LOWEST).astype(object))
    return totals


def _whole(numbers: NDArray[Any]) -> Any:
    return numbers.astype(np.int64).astype(object)


def _split(numbers: NDArray[Any], bits: int) -> list[NDArray[Any]]:
    """Integers split into pieces of `_PIECE` bits, the lowest first; the last one has the sign."""
    last = bits - _PIECE
    return [numbers >> place & (1 << _PIECE) - 1 for place in range(0, last, _PIECE)] + [numbers >> last]


def _sums(pieces: Sequence[NDArray[Any]], groups: Numbers, count: int) -> Any:
    """The exact sum of the integers in each group, given in pieces."""
    totals: Any = np.zeros(count, object)
    for place, piece in enumerate(pieces):
        sums = np.zeros(count, np.int64)
        np.add.at(sums, groups, piece.astype(np.int64, copy=False))
        totals += sums.astype(object) << _PIECE * place
    return totals


def _merged(several: Sequence[Zones]) -> Zones:
    """The zones of several parts, merged into one part."""
    if len(several) == 1:
        return several[0]
    keys = [joined(list(arrays)) for arrays in zip(*(zones.keys for zones in several), strict=True)]
    number = sum(map(len, several))
    groups = grouped(keys) if keys else Groups(np.zeros(number, np.int64), np.array([number]))
    rows, nulls, nans, totals = (
        groups.sums(np.concatenate(arrays))
        for arrays in zip(*((one.rows, one.nulls, one.nans, one.totals) for one in several), strict=True)
    )
    least, _ = _extremes(joined([zones.least for zones in several]), groups)
    _, greatest = _extremes(joined([zones.greatest for zones in several]), groups)
    return Zones((groups.group_count,), groups.keys, rows, nulls, nans, totals, least, greatest)


# ----------------------------------------------------------------------------------------------------- the blob


def _built(columns: Sequence[DescribedColumn], parts: Sequence[Zones]) -> bytes:
    measure, keys = columns[-1], columns[:-1]
    sizes = [size for part in parts for size in part.sizes]
    head = SumsHead(len(sizes), sum(sizes), len(keys), int(grammar.sum_kind(measure.leaf)), 0)
    out = [head.build(), *map(Int32ul.build, sizes)]
    out += [_records(measure, part).tobytes() for part in parts]
    for place, column in enumerate(keys):
        out += [np.asarray(part.keys[place].is_null()).astype(np.uint8).tobytes() for part in parts]
        out += _counted_values(column, [part.keys[place] for part in parts])
    out += _counted_values(measure, [part.least for part in parts])
    out += _counted_values(measure, [part.greatest for part in parts])
    return b"".join(out)


def _records(measure: DescribedColumn, zones: Zones) -> Any:
    """The records of the groups for a blob."""
    records = np.zeros(len(zones), np.dtype(Group.dtype))
    records["row_count"], records["null_count"], records["nan_count"] = zones.rows, zones.nulls, zones.nans
    kind = grammar.sum_kind(measure.leaf)
    if kind == SumKind.DOUBLE:
        bounds = doubles(measure, zones.least), doubles(measure, zones.greatest)
        rounded = np.array(list(map(_rounded, zones.totals.tolist(), *bounds)), np.float64)
        records["sum_low"] = rounded.view(np.uint64)  # what `double_parts` gives, all at once
    elif kind == SumKind.INTEGER:
        try:
            halves = [integer_parts(total) for total in zones.totals.tolist()]
        except ValueError as error:
            raise Refused(f"column {measure.leaf.name}: {error}") from None
        records["sum_low"] = np.array([low for low, _ in halves], np.uint64)
        records["sum_high"] = np.array([high for _, high in halves], np.int64)
    return records


def _rounded(total: int, least: float, greatest: float) -> float:
    """A sum as the nearest double, ties to even; the bounds are needed because only they show infinities."""
    infinite = [bound for bound in (least, greatest) if math.isinf(bound)]
    if infinite:
        return infinite[0] if infinite[0] == infinite[-1] else math.nan
    try:
        return total / (1 << _MANTISSA + _LOWEST)
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def _counted_values(column: DescribedColumn, several: Sequence[Any]) -> list[bytes]:
    packed = plain_bytes(column, joined([values.drop_null() for values in several]))
    return [Int64ul.build(len(packed)), packed]


__all__ = ["zone_sums"]
