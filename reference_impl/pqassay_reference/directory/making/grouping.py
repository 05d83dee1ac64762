"""Rows in groups: by the combination of some columns, by page, or all in one; and the extremes of numbers in each group.

Source: chapter ``directory.md``, section "Zone sums".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pqassay_reference.directory.making.ordered_values import ColumnValues

AnyNumbers = NDArray[Any]
Numbers = NDArray[np.int64]

_TABLE = 1 << 22
"""Combinations of keys, occurring or not, of which a table is kept; where there may be more, the rows are sorted."""


class KeyCodes(NamedTuple):
    """One key of some groups.

    Attributes:
        null: For each group whether the key is null.
        codes: The codes of the others.
    """

    null: NDArray[np.bool_]
    codes: AnyNumbers


class Groups(NamedTuple):
    """The groups of some rows.

    Attributes:
        of_rows: The group of each row; ``None`` where all are in the first.
        sizes: The rows of each group, in ascending order of their keys.
        keys: Their keys, where there are some.
    """

    of_rows: Numbers | None
    sizes: Numbers
    keys: tuple[KeyCodes, ...] = ()

    @property
    def group_count(self) -> int:
        """Groups."""
        return len(self.sizes)


def by_pages(bounds: Numbers) -> Groups:
    """One group for each page, also for one without rows."""
    sizes = np.diff(bounds)
    return Groups(None if len(sizes) == 1 else np.repeat(np.arange(len(sizes)), sizes), sizes)


def by_keys(columns: Sequence[ColumnValues]) -> Groups:
    """One group for each combination of keys that occurs, ascending, nulls first."""
    codes: AnyNumbers = np.zeros(len(columns[0]), np.uint8)
    space = 1
    steps: list[_Numbered | AnyNumbers] = []
    for column in columns:
        own = _numbered(column)
        if space * own.size > 1 << 62:
            names, codes = np.unique(codes, return_inverse=True)
            space = len(names)
            steps.append(names)
        space *= own.size
        kind = np.min_scalar_type(space)
        codes = codes.astype(kind) * kind.type(own.size) + own.numbers.astype(kind)
        steps.append(own)
    names, of_rows, sizes = _dense(codes, space)
    return Groups(of_rows, sizes, _keys(steps, names))


class _Numbered(NamedTuple):
    """The values of a column as small numbers that compare like them; null is 0, if there is one.

    Attributes:
        numbers: For each row its number.
        size: One more than the greatest.
        first_code: The code of the first number that is not of null.
        codes: The codes of all of those, where they do not follow each other.
        null: How many numbers are of null: one, or none.
    """

    numbers: AnyNumbers
    size: int
    first_code: Any
    codes: AnyNumbers | None
    null: int


def _numbered(column: ColumnValues) -> _Numbered:
    null = 0 if column.null is None else 1
    there = column.codes if column.null is None else column.codes[column.valid]
    if not len(there):
        return _Numbered(np.zeros(len(column), np.uint8), 1, column.codes.dtype.type(0), None, 1)
    lowest, highest = there.min(), there.max()
    if int(highest) - int(lowest) < _TABLE:
        size = int(highest) - int(lowest) + 1 + null
        numbers = (column.codes - lowest).astype(np.min_scalar_type(size))
        if null:
            numbers += numbers.dtype.type(1)
        found = _Numbered(numbers, size, lowest, None, null)
    else:
        names, ranks = np.unique(column.codes, return_inverse=True)
        found = _Numbered(ranks + null, len(names) + null, lowest, names, null)
    if column.null is not None:
        found.numbers[column.null] = 0
    return found


def _keys(steps: Sequence[_Numbered | AnyNumbers], names: Numbers) -> tuple[KeyCodes, ...]:
    """The keys of groups, given the numbers of their combinations and how these were made."""
    found: list[KeyCodes] = []
    for step in reversed(steps):
        if not isinstance(step, _Numbered):
            names = step[names]
            continue
        names, own = np.divmod(names, step.size)
        null = own < step.null
        places = own[~null] - step.null
        codes = step.codes[places] if step.codes is not None else _added(places, step.first_code)
        found.append(KeyCodes(null, codes))
    return tuple(reversed(found))


def _added(places: Numbers, first_code: Any) -> AnyNumbers:
    """Codes that follow each other, from the first one on."""
    kind = first_code.dtype
    found: AnyNumbers = places.astype(kind) + first_code
    return found


def _dense(codes: AnyNumbers, space: int) -> tuple[Numbers, Numbers, Numbers]:
    """The numbers that occur among some less than ``space``, the place among them for each row, and how often each occurs."""
    if space > _TABLE:
        names, groups, sizes = np.unique(codes, return_inverse=True, return_counts=True)
        return names.astype(np.int64), groups.astype(np.int64), sizes.astype(np.int64)
    rows = codes.astype(np.int64)
    sizes = np.bincount(rows, minlength=space)
    occurring = np.flatnonzero(sizes)
    if len(occurring) == space:
        return occurring, rows, sizes
    places = np.zeros(space, np.int64)
    places[occurring] = np.arange(len(occurring))
    return occurring, places.take(rows), sizes[occurring]


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


__all__ = ["Groups", "KeyCodes", "by_keys", "by_pages", "counted", "extremes"]
