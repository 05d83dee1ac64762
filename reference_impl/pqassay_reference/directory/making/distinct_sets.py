"""Distinct sets: the values that occur in a file, in each row group, or in each page.

Source: chapter ``directory.md``, section "Distinct sets".
"""

from __future__ import annotations

from typing import NamedTuple

from construct import Int32ul

from pqassay_reference.directory.making.blobs import Blob
from pqassay_reference.directory.making.described_data import DescribedData
from pqassay_reference.directory.making.ordered_values import ColumnValues, Uniques, united
from pqassay_reference.directory.size_limit import SizeLimit
from pqassay_spec.directory.codes import Granularity
from pqassay_spec.directory.distinct_set import SetFlags, SetHead


class _Part(NamedTuple):
    flags: SetFlags
    values: Uniques


def distinct_sets(data: DescribedData, *, most: int | None, limit: SizeLimit) -> Blob:
    """The blob of the distinct sets of a column.

    Args:
        data: The column.
        most: Values that a part lists at most; one that has more lists its least ones and is not complete.
        limit: The size of the blob.

    Raises:
        Refused: The blob would be too large.
    """
    parts: list[_Part] = []
    for group in data.row_groups():
        values = ColumnValues(data.columns[0], group.columns[0])
        for start, stop in zip(group.bounds[:-1], group.bounds[1:], strict=True):
            part = _part(values, int(start), int(stop))
            parts.append(part if data.granularity == Granularity.FILE else _capped(part, most))
        if data.granularity == Granularity.FILE and sum(len(part.values) for part in parts[1:]) > len(
            parts[0].values
        ):
            parts = [
                _together(data, parts)
            ]  # when they doubled: so that each value is sorted a few times only
        limit.require(sum(len(part.values) for part in parts) + SetHead.size * len(parts))
    if data.granularity == Granularity.FILE:
        parts = [_capped(_together(data, parts), most)]
    packed = [part.values.plain() for part in parts]
    heads = [
        SetHead(int(part.flags), len(part.values), len(raw)).build()
        for part, raw in zip(parts, packed, strict=True)
    ]
    blob = Int32ul.build(len(parts)) + b"".join(heads) + b"".join(packed)
    limit.require(len(blob))
    return Blob(blob, sum(len(part.values) for part in parts))


def _part(values: ColumnValues, start: int, stop: int) -> _Part:
    flags = SetFlags.COMPLETE
    if values.null is not None and values.null[start:stop].any():
        flags |= SetFlags.NULLS
    if values.nan is not None and values.nan[start:stop].any():
        flags |= SetFlags.NAN
    return _Part(flags, values.uniques(start, stop))


def _together(data: DescribedData, parts: list[_Part]) -> _Part:
    flags = SetFlags.COMPLETE
    for part in parts:
        flags |= part.flags
    return _Part(flags, united(data.columns[0], [part.values for part in parts]))


def _capped(part: _Part, most: int | None) -> _Part:
    if most is None or len(part.values) <= most:
        return part
    return _Part(part.flags & ~SetFlags.COMPLETE, part.values.first(most))


__all__ = ["distinct_sets"]
