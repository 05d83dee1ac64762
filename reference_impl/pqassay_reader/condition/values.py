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


class Ends(NamedTuple):
    """The ends of an interval as comparisons; each is ``None`` where there is no such end.

    Attributes:
        low: ``>`` or ``>=``, and a value.
        high: ``<`` or ``<=``, and a value.
        point: The only value of the interval.
    """

    low: tuple[str, Any] | None
    high: tuple[str, Any] | None
    point: Any = None


@dataclass(frozen=True)
class Values:
    """A set of values of one type.

    Attributes:
        intervals: Ascending; no two of them touch.
        nan: Whether NaN is in it; false of types without NaN.
        null: Whether null is in it.
        is_floating: Whether the type has NaN.
        is_discrete: Whether the values are whole numbers, or stand for whole numbers, so that each has a next one.
        least: The least value of the type, if a cut before it is `START`.
        most: The greatest value, if the cut after it is `END`.
    """

    intervals: tuple[Interval, ...] = ()
    nan: bool = False
    null: bool = False
    is_floating: bool = False
    is_discrete: bool = False
    least: Any = None
    most: Any = None

    @property
    def is_nothing(self) -> bool:
        """Whether no value is in it, and no null."""
        return not (self.intervals or self.nan or self.null)

    @property
    def has_all(self) -> bool:
        """Whether every value is in it; null may be or not."""
        return self.intervals == (Interval(START, END),) and (self.nan or not self.is_floating)

    def only(self, intervals: Iterable[Interval], *, nan: bool = False, null: bool = False) -> Values:
        """Another set of values of the same type, by intervals in any order."""
        joined: list[Interval] = []
        for each in sorted(each for each in intervals if each.low < each.high):
            if joined and each.low <= joined[-1].high:
                joined[-1] = Interval(joined[-1].low, max(joined[-1].high, each.high))
            else:
                joined.append(each)
        return replace(self, intervals=tuple(joined), nan=nan and self.is_floating, null=null)

    def complement(self, *, null: bool) -> Values:
        """All other values; ``null`` says whether null is among them."""
        cuts = [START, *(cut for each in self.intervals for cut in each), END]
        gaps = [Interval(*pair) for pair in list(pairwise(cuts))[::2]]
        return self.only(gaps, nan=not self.nan, null=null)

    def union(self, *others: Values) -> Values:
        """The values of any set."""
        sets = (self, *others)
        intervals = [each for one in sets for each in one.intervals]
        return self.only(intervals, nan=any(one.nan for one in sets), null=any(one.null for one in sets))

    def intersection(self, *others: Values) -> Values:
        """The values of every set."""
        sets = [one.complement(null=not one.null) for one in (self, *others)]
        outside = sets[0].union(*sets[1:])
        return outside.complement(null=not outside.null)

    @cached_property
    def ends(self) -> tuple[Ends, ...]:
        """The ends of all intervals."""
        return tuple(self._ends(each) for each in self.intervals)

    @property
    def points(self) -> list[Any] | None:
        """The values, if all intervals are single values."""
        found = [each.point for each in self.ends]
        return None if None in found else found

    def _ends(self, interval: Interval) -> Ends:
        low = high = None
        if interval.low != START:
            _, value, is_after = interval.low
            low = (">" if is_after else ">="), value
        if interval.high != END:
            _, value, is_after = interval.high
            high = ("<=", value - 1) if self.is_discrete else (("<=" if is_after else "<"), value)
        first = self.least if low is None else low[1] if low[0] == ">=" else None
        last = self.most if high is None else high[1] if high[0] == "<=" else None
        return Ends(low, high, first if first is not None and first == last else None)


__all__ = ["END", "START", "Cut", "Ends", "Interval", "Values", "after", "before"]
