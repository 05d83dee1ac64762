"""Sets of values of one type: intervals with open or closed ends, with or without NaN and null.

An end is a cut: a place between two values, just before one or just after one. Cuts compare as tuples. An
interval is the range between two cuts, so open and closed ends need no special cases.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

Cut = tuple[Any, ...]
"""``(1, value, 0)`` before a value, ``(1, value, 1)`` after it; `START` is before all values and `END` after all."""

START: Cut = (0,)
END: Cut = (2,)


def before(value: Any) -> Cut:
    """The cut before a value."""
    return 1, value, 0


def after(value: Any) -> Cut:
    """The cut after a value."""
    return 1, value, 1


class Interval(NamedTuple):
    """The values between two cuts."""

    low: Cut
    high: Cut


Sides = tuple[tuple[str, Any], ...]
"""An interval as comparisons with values: ``=`` for a single value; otherwise ``>`` or ``>=``, then ``<`` or ``<=``, if they exist."""


@dataclass(frozen=True)
class Values:
    """A set of values of one type.

    Attributes:
        least: The least value of the type, if a cut before it is `START`.
        most: The greatest value, if the cut after it is `END`.
        is_floating: Whether the type has NaN.
        is_discrete: Whether the values are whole numbers, or represent whole numbers, so that each has a next one.
        intervals: In ascending order, with gaps between them.
        nan: Whether NaN is in the set; false for types without NaN.
        null: Whether null is in the set.
    """

    least: Any
    most: Any = None
    is_floating: bool = False
    is_discrete: bool = False
    intervals: tuple[Interval, ...] = ()
    nan: bool = False
    null: bool = False

    @property
    def is_nothing(self) -> bool:
        """Whether the set is empty: neither a value nor null is in it."""
        return not (self.intervals or self.nan or self.null)

    @property
    def has_all(self) -> bool:
        """Whether every value is in the set; null may be in it or not."""
        return self.intervals == (Interval(START, END),) and (self.nan or not self.is_floating)

    def only(self, intervals: Iterable[Interval], *, nan: bool = False, null: bool = False) -> Values:
        """A set of values of the same type with the given intervals, in any order."""
        joined: list[Interval] = []
        for each in sorted(each for each in intervals if each.low < each.high):
            if joined and each.low <= joined[-1].high:
                joined[-1] = Interval(joined[-1].low, max(joined[-1].high, each.high))
            else:
                joined.append(each)
        return replace(self, intervals=tuple(joined), nan=nan and self.is_floating, null=null)

    def complement(self, *, null: bool) -> Values:
        """All other values; ``null`` decides whether null is among them."""
        cuts = [START, *(cut for each in self.intervals for cut in each), END]
        gaps = [Interval(*pair) for pair in list(pairwise(cuts))[::2]]
        return self.only(gaps, nan=not self.nan, null=null)

    def union(self, *others: Values) -> Values:
        """The union of the sets."""
        sets = (self, *others)
        intervals = [each for one in sets for each in one.intervals]
        return self.only(intervals, nan=any(one.nan for one in sets), null=any(one.null for one in sets))

    def intersection(self, *others: Values) -> Values:
        """The intersection of the sets."""
        sets = [one.complement(null=not one.null) for one in (self, *others)]
        outside = sets[0].union(*sets[1:])
        return outside.complement(null=not outside.null)

    @cached_property
    def ends(self) -> tuple[Sides, ...]:
        """All intervals as comparisons."""
        return tuple(map(self._sides, self.intervals))

    @property
    def points(self) -> list[Any] | None:
        """The values, if all intervals are single values; otherwise ``None``."""
        is_single = all(sides[:1] and sides[0][0] == "=" for sides in self.ends)
        return [value for ((_, value),) in self.ends] if is_single else None

    def _sides(self, interval: Interval) -> Sides:
        _, first, is_open = (1, self.least, 0) if interval.low == START else interval.low
        _, last, is_closed = (1, self.most, 1) if interval.high == END else interval.high
        if self.is_discrete and not is_closed:
            last, is_closed = last - 1, 1
        if first == last and is_closed and not is_open:
            return (("=", first),)
        low = () if interval.low == START else ((">" if is_open else ">=", first),)
        high = () if interval.high == END else (("<=" if is_closed else "<", last),)
        return (*low, *high)


__all__ = ["END", "START", "Cut", "Interval", "Sides", "Values", "after", "before"]
