"""Zone sums: counts, an exact sum and two bounds of a measure in a file, in each row group or page, or for each combination of keys.

Source: chapter ``directory.md``, section "Zone sums".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from construct import Int32ul, Int64ul
from numpy.typing import NDArray

from pqassay_reference.directory.blobs import Blob
from pqassay_reference.directory.described_data import DescribedColumn, DescribedData, GroupValues
from pqassay_reference.directory.exact_sums import DoubleSum, double_sums, integer_sums, wide_integer_sums
from pqassay_reference.directory.grouping import Groups, by_keys, by_pages, counted, extremes
from pqassay_reference.directory.ordered_values import ColumnValues, is_bytes
from pqassay_reference.directory.size_limit import SizeLimit
from pqassay_reference.errors import Refused
from pqassay_spec.directory import zone_sums as grammar
from pqassay_spec.directory.codes import Granularity
from pqassay_spec.directory.packed_values import join_values
from pqassay_spec.directory.zone_sums import Group, SumKind, SumsHead, integer_parts
from pqassay_spec.parquet.column_order import key

Key = tuple[bytes | None, ...]
Numbers = NDArray[np.int64]

_GREATEST_DECIMAL = 16
"""Bytes of the widest decimal whose sums may fit into 128 bits."""


class Bounds(NamedTuple):
    """The PLAIN bytes of the least and of the greatest measure."""

    least: bytes
    greatest: bytes


@dataclass(frozen=True)
class GroupSums:
    """What is known of one group.

    Attributes:
        rows, nulls, nans: Rows, those whose measure is null, and those whose measure is NaN.
        total: The sum: an integer, or one of doubles that was not rounded; 0 of what has no sums.
        bounds: The bounds; ``None`` where no measure is neither null nor NaN.
    """

    rows: int
    nulls: int
    nans: int
    total: int | DoubleSum
    bounds: Bounds | None


Part = dict[Key, GroupSums]
"""The groups of a part, by their keys, in ascending order."""


def zone_sums(data: DescribedData, *, limit: SizeLimit) -> Blob:
    """The blob of the zone sums of the last column, for each combination of the others.

    Raises:
        Refused: A sum takes more than 128 bits, or the blob is too large.
    """
    parts: list[Part] = []
    for group in data.row_groups():
        found = _parts(data, group)
        if data.granularity == Granularity.FILE:
            parts = [_merged(data.columns[-1], [*parts, *found])]
        else:
            parts += found
        limit.require(Group.size * sum(map(len, parts)))
    if data.granularity == Granularity.FILE:
        parts = [_ascending(data.columns[:-1], parts[0] if parts else _without_rows(data))]
    blob = _built(data.columns, parts)
    limit.require(len(blob))
    return Blob(blob, sum(map(len, parts)))


def _without_rows(data: DescribedData) -> Part:
    """A part without rows: one empty group, or with keys none."""
    kind = grammar.sum_kind(data.columns[-1].leaf)
    if len(data.columns) > 1:
        return {}
    return {(): GroupSums(0, 0, 0, DoubleSum(0, 0) if kind == SumKind.DOUBLE else 0, None)}


def _parts(data: DescribedData, group: GroupValues) -> list[Part]:
    measure = ColumnValues(data.columns[-1], group.columns[-1])
    if len(data.columns) > 1:
        keys = [
            ColumnValues(column, values)
            for column, values in zip(data.columns[:-1], group.columns[:-1], strict=True)
        ]
        groups = by_keys(keys)
        return [dict(zip(groups.keys, _sums(measure, groups), strict=True))]
    groups = by_pages(group.bounds)
    return [{(): found} for found in _sums(measure, groups)]


def _sums(measure: ColumnValues, groups: Groups) -> Iterator[GroupSums]:
    """The sums of each group of a row group."""
    of_rows, count = groups.of_rows, groups.group_count
    rows = counted(of_rows, count, len(measure))
    nulls = _flagged(measure.null, of_rows, count)
    nans = _flagged(measure.nan, of_rows, count)
    valid = None if measure.valid.all() else measure.valid
    codes = measure.codes if valid is None else measure.codes[valid]
    within = of_rows if of_rows is None or valid is None else of_rows[valid]
    totals = _totals(measure, codes, within, count)
    least, greatest = extremes(codes, within, count)
    there = rows - nulls - nans > 0
    lower, upper = (iter(measure.plain_of(found[there])) for found in (least, greatest))
    for number in range(count):
        bounds = Bounds(next(lower), next(upper)) if there[number] else None
        yield GroupSums(int(rows[number]), int(nulls[number]), int(nans[number]), totals[number], bounds)


def _flagged(flags: NDArray[np.bool_] | None, groups: Numbers | None, count: int) -> Numbers:
    """The rows of each group that have a flag."""
    if flags is None:
        return np.zeros(count, np.int64)
    return counted(None if groups is None else groups[flags], count, int(flags.sum()))


def _totals(
    measure: ColumnValues, codes: NDArray[Any], groups: Numbers | None, count: int
) -> Sequence[int | DoubleSum]:
    """The sum of each group, from the codes of measures that are neither null nor NaN."""
    column = measure.column
    kind = grammar.sum_kind(column.leaf)
    if kind == SumKind.DOUBLE:
        return double_sums(measure.floats(codes), groups, count)
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


def _merged(measure: DescribedColumn, parts: Sequence[Part]) -> Part:
    """The groups of several parts as those of one."""
    together: Part = {}
    for part in parts:
        for name, group in part.items():
            known = together.get(name)
            together[name] = group if known is None else _plus(measure, known, group)
    return together


def _plus(measure: DescribedColumn, one: GroupSums, other: GroupSums) -> GroupSums:
    bounds = [group.bounds for group in (one, other) if group.bounds is not None]
    return GroupSums(
        one.rows + other.rows,
        one.nulls + other.nulls,
        one.nans + other.nans,
        _total(one.total, other.total),
        _hull(measure, bounds) if bounds else None,
    )


def _total(one: int | DoubleSum, other: int | DoubleSum) -> int | DoubleSum:
    """Both sums together; of one measure they are of one kind."""
    if isinstance(one, DoubleSum) and isinstance(other, DoubleSum):
        return one.plus(other)
    if isinstance(one, int) and isinstance(other, int):
        return one + other
    raise TypeError("sums of two kinds")


def _hull(measure: DescribedColumn, bounds: Sequence[Bounds]) -> Bounds:
    def placed(raw: bytes) -> Any:
        return key(measure.order, raw), raw

    return Bounds(
        min((one.least for one in bounds), key=placed), max((one.greatest for one in bounds), key=placed)
    )


def _ascending(columns: Sequence[DescribedColumn], part: Part) -> Part:
    """The groups in the order of their keys, nulls first."""

    def placed(name: Key) -> Any:
        return [
            (raw is not None, raw is not None and key(column.order, raw), raw)
            for column, raw in zip(columns, name, strict=True)
        ]

    return {name: part[name] for name in sorted(part, key=placed)}


# ----------------------------------------------------------------------------------------------------- the blob


def _built(columns: Sequence[DescribedColumn], parts: Sequence[Part]) -> bytes:
    measure, keys = columns[-1], columns[:-1]
    names = [name for part in parts for name in part]
    groups = [group for part in parts for group in part.values()]
    head = SumsHead(len(parts), len(groups), len(keys), int(grammar.sum_kind(measure.leaf)), 0)
    out = [head.build(), *(Int32ul.build(len(part)) for part in parts)]
    out += [record.build() for record in _records(measure, groups)]
    for place, column in enumerate(keys):
        out.append(bytes(name[place] is None for name in names))
        out += _counted_values(column, [raw for name in names if (raw := name[place]) is not None])
    bounds = [group.bounds for group in groups if group.bounds is not None]
    out += _counted_values(measure, [one.least for one in bounds])
    out += _counted_values(measure, [one.greatest for one in bounds])
    return b"".join(out)


def _records(measure: DescribedColumn, groups: Sequence[GroupSums]) -> Iterator[Group]:
    """The groups as a blob has them."""
    rounded = [group.total.rounded() for group in groups if isinstance(group.total, DoubleSum)]
    bits = iter(
        np.array(rounded, np.float64).view(np.uint64).tolist()
    )  # what `double_parts` gives, all at once
    for group in groups:
        if isinstance(group.total, DoubleSum):
            yield Group(group.rows, group.nulls, group.nans, next(bits), 0)
            continue
        try:
            low, high = integer_parts(group.total)
        except ValueError as error:
            raise Refused(f"column {measure.leaf.name}: {error}") from None
        yield Group(group.rows, group.nulls, group.nans, low, high)


def _counted_values(column: DescribedColumn, raws: Sequence[bytes]) -> list[bytes]:
    packed = join_values(column.kind, raws)
    return [Int64ul.build(len(packed)), packed]


__all__ = ["zone_sums"]
