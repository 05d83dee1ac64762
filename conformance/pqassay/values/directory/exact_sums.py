"""Exact sums of many numbers in groups: whole numbers of any width, and doubles, rounded once.

Each number is taken apart into factors of a few bits, whose sums numpy's doubles hold exactly; Python's whole numbers put these
together.  `pqassay_spec.directory.zone_sums.double_sum` says the same of doubles, slowly; a test holds the two together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SLICE = 1 << 20
"""Numbers that are added at once: sums of so many factors of 32 bits are exact in a double."""

MANTISSA_BITS = 53
HALF_BITS = 27
"""A mantissa is added in two parts, the lower of so many bits."""

UNIT_BITS = 1126
"""All doubles are whole multiples of 2 to the minus so many: the smallest exponent, and the bits of a mantissa behind it."""


def integer_sums(
    groups: NDArray[np.int64], factors: Sequence[tuple[int, NDArray[np.int64]]], count: int
) -> list[int]:
    """The sum of the whole numbers in each group.

    Args:
        groups: The group of each number, below ``count``.
        factors: Powers of two, each with a factor of every number, of no more than 32 bits and a sign.
        count: Groups.
    """
    totals = [0] * count
    for power, numbers in factors:
        for start in range(0, len(groups), SLICE):
            part = slice(start, start + SLICE)
            sums = np.bincount(groups[part], numbers[part].astype(np.float64), count)
            for group in np.flatnonzero(sums).tolist():
                totals[group] += int(sums[group]) << power
    return totals


@dataclass
class ExactDouble:
    """The exact sum of doubles that are not NaN.

    Attributes:
        units: The sum of the finite ones, as a multiple of 2 to the minus `UNIT_BITS`.
        infinities: The sum of the others; 0 if there are none, NaN if both signs met.
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


def double_sums(groups: NDArray[np.int64], numbers: NDArray[np.float64], count: int) -> list[ExactDouble]:
    """The exact sum of the doubles in each group; none of them is NaN. The arguments are as those of `integer_sums`."""
    totals: list[ExactDouble] = [ExactDouble() for _ in range(count)]
    infinite = np.isinf(numbers)
    if infinite.any():
        of_groups: list[int] = groups[infinite].tolist()
        signed: list[float] = numbers[infinite].tolist()
        for group, number in zip(of_groups, signed, strict=True):
            totals[group].infinities += number
        groups, numbers = groups[~infinite], numbers[~infinite]
    for start in range(0, len(groups), SLICE):
        _add(totals, groups[start : start + SLICE], numbers[start : start + SLICE])
    return totals


def _add(totals: list[ExactDouble], groups: NDArray[np.int64], numbers: NDArray[np.float64]) -> None:
    fractions, exponents = np.frexp(numbers)
    mantissas = np.ldexp(fractions, MANTISSA_BITS).astype(np.int64)
    least = int(exponents.min())
    span = int(exponents.max()) - least + 1
    pairs, places = np.unique(groups * span + (exponents - least), return_inverse=True)
    low = mantissas & ((1 << HALF_BITS) - 1)
    high = mantissas >> HALF_BITS
    sums = [np.bincount(places, half.astype(np.float64), len(pairs)) for half in (low, high)]
    numbered: list[int] = pairs.tolist()
    for place, pair in enumerate(numbered):
        whole = int(sums[0][place]) + (int(sums[1][place]) << HALF_BITS)
        totals[pair // span].units += whole << (pair % span + least - MANTISSA_BITS + UNIT_BITS)
