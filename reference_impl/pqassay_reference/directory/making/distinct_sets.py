"""Distinct sets: the values that occur in a file, in each row group, or in each page.

Source: chapter ``directory.md``, section "Distinct sets".
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

from construct import Int32ul

from pqassay_reference.directory.making.blobs import MadeBlob
from pqassay_reference.directory.making.described_data import DescribedData
from pqassay_reference.directory.making.ordered_values import (
    OrderedValues,
    ordered_values,
    plain_bytes,
    united,
)
from pqassay_reference.directory.size_limit import SizeLimit
from pqassay_spec.directory.codes import Granularity
from pqassay_spec.directory.distinct_set import SetFlags, SetHead


class _SetPart(NamedTuple):
    flags: SetFlags
    values: Any


def distinct_sets(data: DescribedData, *, most: int | None, limit: SizeLimit) -> MadeBlob:
    """The blob of the distinct sets of a column.

    Args:
        data: The column.
        most: Most values of a part; a part with more values lists its smallest ones and is not complete.
        limit: The limit of the size of the blob.

    Raises:
        Refused: The blob would be too large.
    """
    column, is_file = data.columns[0], data.granularity == Granularity.FILE
    parts: list[_SetPart] = []
    for group in data.row_groups():
        values = ordered_values(column, group.columns[0])
        for start, stop in itertools.pairwise(group.bounds.tolist()):
            part = _part(values.slice(start, stop))
            parts.append(part if is_file else _listed(part, most))
        # Not for each row group: otherwise, every value would be compared once per row group.
        if is_file and sum(len(part.values) for part in parts[1:]) > len(parts[0].values):
            parts = [_together(parts)]
        limit.require(sum(len(part.values) for part in parts) + SetHead.size * len(parts))
    if is_file:
        parts = [_listed(_together(parts), most)]
    packed = [plain_bytes(column, part.values) for part in parts]
    heads = [
        SetHead(int(part.flags), len(part.values), len(raw)).build()
        for part, raw in zip(parts, packed, strict=True)
    ]
    blob = Int32ul.build(len(parts)) + b"".join(heads) + b"".join(packed)
    limit.require(len(blob))
    return MadeBlob(blob, sum(len(part.values) for part in parts))


def _part(values: OrderedValues) -> _SetPart:
    flags, nans = SetFlags.COMPLETE, values.nan_count
    if values.values.null_count > nans:
        flags |= SetFlags.NULLS
    if nans:
        flags |= SetFlags.NAN
    return _SetPart(flags, values.distinct)


def _together(parts: list[_SetPart]) -> _SetPart:
    flags = SetFlags.COMPLETE
    for part in parts:
        flags |= part.flags
    return _SetPart(flags, united([part.values for part in parts]))


def _listed(part: _SetPart, most: int | None) -> _SetPart:
    """A part with its values in ascending order, or the smallest of them if there are too many."""
    values = part.values.sort()
    if most is None or len(values) <= most:
        return _SetPart(part.flags, values)
    return _SetPart(part.flags & ~SetFlags.COMPLETE, values[:most])


__all__ = ["distinct_sets"]
