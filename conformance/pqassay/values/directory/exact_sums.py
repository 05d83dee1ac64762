"""Exact sums of many numbers in groups: integers of any width, and doubles, rounded once.

A double is a whole number of units, which Python adds. `pqassay_spec.directory.zone_sums.double_sum` defines the sum of doubles.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

UNIT_BITS = 1126
"""All doubles are multiples of 2 to minus this: the smallest exponent plus the bits of a mantissa."""


def integer_sums(groups: Iterable[int], numbers: Iterable[int], count: int) -> list[int]:
    """The sum of the integers in each group; ``groups`` has the group of each number, below ``count``."""
    totals = [0] * count
    for group, number in zip(groups, numbers, strict=True):
        totals[group] += number
    return totals


@dataclass
class ExactDouble:
    """The exact sum of doubles that are not NaN.

    Attributes:
        units: The sum of the finite numbers, as a multiple of 2 to the minus `UNIT_BITS`.
        infinities: The sum of the infinite numbers; 0 if there are none, NaN if both signs occur.
    """

    units: int = 0
    infinities: float = 0.0

    def add(self, other: ExactDouble) -> None:
        """Add another sum."""
        self.units += other.units
        self.infinities += other.infinities

    def rounded(self) -> float:
        """The nearest double, ties to even."""
        if self.infinities != 0.0:
            return self.infinities
        try:
            return self.units / (1 << UNIT_BITS)
        except OverflowError:
            return math.inf if self.units > 0 else -math.inf


def double_sums(groups: Iterable[int], numbers: Iterable[float], count: int) -> list[ExactDouble]:
    """The exact sum of the doubles in each group, which must not be NaN; the arguments are as for `integer_sums`."""
    totals = [ExactDouble() for _ in range(count)]
    for group, number in zip(groups, numbers, strict=True):
        if math.isinf(number):
            totals[group].infinities += number
        else:
            whole, power = number.as_integer_ratio()
            totals[group].units += whole << UNIT_BITS + 1 - power.bit_length()
    return totals
