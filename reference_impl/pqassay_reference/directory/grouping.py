"""Rows in groups: by the combination of some columns, by page, or all in one; and the extremes of numbers in each group.

Source: chapter ``directory.md``, section "Zone sums".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pqassay_reference.directory.ordered_values import ColumnValues

AnyNumbers = NDArray[Any]
Numbers = NDArray[np.int64]

_TABLE = 1 << 22
"""Combinations of keys, occurring or not, of which a table is kept; where there may be more, the rows are sorted."""


class Groups(NamedTuple):
    """The groups of some rows.

    Attributes:
        of_rows: The group of each row; ``None`` where all are in the first.
        group_count: Groups, in ascending order of their keys.
        firsts: One row of each group, where there are keys.
    """

    of_rows: Numbers | None
    group_count: int
    firsts: Numbers


def by_pages(bounds: Numbers) -> Groups:
    """One group for each page, also for one without rows."""
    count = len(bounds) - 1
    rows = None if count == 1 else np.repeat(np.arange(count), np.diff(bounds))
    return Groups(rows, count, np.zeros(0, np.int64))


def by_keys(columns: Sequence[ColumnValues]) -> Groups:
    """One group for each combination of keys that occurs, ascending, nulls first."""
    if not len(columns[0]):
        return Groups(None, 0, np.zeros(0, np.int64))
    codes = np.zeros(len(columns[0]), np.int64)
    space = 1
    for column in columns:
        own, size = _from_null(column)
        if space * size > 1 << 62:
            codes = np.unique(codes, return_inverse=True)[1]
            space = int(codes.max()) + 1
        codes, space = codes * size + own, space * size
    of_rows, firsts = _dense(codes, space)
    return Groups(of_rows, len(firsts), firsts)


def _from_null(column: ColumnValues) -> tuple[Numbers, int]:
    """Numbers from 1 that compare like the values of a column, 0 for null; and one more than the greatest."""
    there = column.codes if column.null is None else column.codes[column.valid]
    if not len(there):
        return np.zeros(len(column), np.int64), 1
    lowest, highest = int(there.min()), int(there.max())
    if highest - lowest < _TABLE:
        own, size = column.codes.astype(np.int64) - lowest + 1, highest - lowest + 2
    else:
        names, ranks = np.unique(column.codes, return_inverse=True)
        own, size = ranks.astype(np.int64) + 1, len(names) + 1
    if column.null is not None:
        own[column.null] = 0
    return own, size


def _dense(codes: Numbers, space: int) -> tuple[Numbers, Numbers]:
    """Groups numbered from 0 in the order of their codes, and one row of each."""
    if space > _TABLE:
        _, firsts, groups = np.unique(codes, return_index=True, return_inverse=True)
        return groups.astype(np.int64), firsts
    rows = np.full(space, -1, np.int64)
    rows[codes] = np.arange(len(codes))
    occurring = np.flatnonzero(rows >= 0)
    numbers = np.empty(space, np.int64)
    numbers[occurring] = np.arange(len(occurring))
    return numbers[codes], rows[occurring]


def counted(groups: Numbers | None, count: int, length: int) -> Numbers:
    """The rows of each group."""
    if groups is None:
        return np.array([length] + [0] * (count - 1), np.int64)[:count]
    return np.bincount(groups, minlength=count)


def extremes(numbers: AnyNumbers, groups: Numbers | None, count: int) -> tuple[AnyNumbers, AnyNumbers]:
    """The least and the greatest number of each group; anything of a group without one."""
    if groups is None:
        both = np.zeros((2, count), numbers.dtype)
        if len(numbers) and count:
            both[0, 0], both[1, 0] = numbers.min(), numbers.max()
        return both[0], both[1]
    info = np.iinfo(numbers.dtype)
    least, greatest = np.full(count, info.max, numbers.dtype), np.full(count, info.min, numbers.dtype)
    np.minimum.at(least, groups, numbers)
    np.maximum.at(greatest, groups, numbers)
    return least, greatest


__all__ = ["Groups", "by_keys", "by_pages", "counted", "extremes"]
