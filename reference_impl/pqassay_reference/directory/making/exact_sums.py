"""Exact sums of many numbers in groups: whole numbers of any width, and floating point numbers before they are rounded.

A sum of doubles is kept as a whole number of the smallest unit that a double has, 2^-1074, so that sums of parts add up
exactly and are rounded once, at the end.  numpy adds the parts of numbers: mantissas by their exponents, and integers in pieces
that are small enough to add a million of them in a double.

What comes out is what `pqassay_spec.directory.zone_sums.double_sum` says; tests hold the two together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

AnyNumbers = NDArray[Any]
Numbers = NDArray[np.int64]

BATCH = 1 << 20
"""Numbers that are added at once: so many pieces of 32 bits fit into the 53 bits of a double's mantissa."""

_PIECE = 32
_MANTISSA_BITS = 52
_EXPONENT_MASK = 0x7FF
_EXACT_BITS = 53
"""Bits of the whole numbers that a double holds: so many and all smaller ones."""
_HALF = 27
"""Bits of the lower piece of a mantissa."""

UNIT_BITS = 1074
"""The smallest double above zero is 2 to the power of minus so much."""

GRIDS = 4
_SMALLEST = -900
"""Powers of two whose products with doubles are exact are larger than 2 to the power of this, and smaller than its inverse."""


class DoubleSum(NamedTuple):
    """A sum of doubles that was not rounded yet.

    Attributes:
        units: The sum of the finite ones, in units of 2^-1074.
        infinite: Whether there is a positive infinity (1), a negative one (2), or both (3).
    """

    units: int
    infinite: int

    def plus(self, other: DoubleSum) -> DoubleSum:
        """Both together."""
        return DoubleSum(self.units + other.units, self.infinite | other.infinite)

    def rounded(self) -> float:
        """The nearest double, ties to even."""
        if self.infinite:
            return (0.0, np.inf, -np.inf, np.nan)[self.infinite]
        try:
            return self.units / (1 << UNIT_BITS)
        except OverflowError:
            return np.inf if self.units > 0 else -np.inf


def integer_sums(numbers: AnyNumbers, groups: Numbers | None, count: int) -> list[int]:
    """The exact sum of the integers in each group.

    Args:
        numbers: Integers, signed or not.
        groups: The group of each; ``None`` if all are in the first.
        count: Groups.
    """
    totals: Any = np.zeros(count, object)
    for start in range(0, len(numbers), BATCH):
        piece = numbers[start : start + BATCH]
        within = None if groups is None else groups[start : start + BATCH]
        if piece.dtype.itemsize * 8 <= _PIECE or _are_small(piece):
            totals += _added(piece, within, count)
            continue
        totals += _added(piece & np.array((1 << _PIECE) - 1, piece.dtype), within, count)
        totals += _added(piece >> np.array(_PIECE, piece.dtype), within, count) * (1 << _PIECE)
    found: list[int] = totals.tolist()
    return found


def _are_small(numbers: AnyNumbers) -> bool:
    """Whether whole numbers take no more bits than one of `_PIECE` bits."""
    return int(numbers.min()) > -(1 << _PIECE) and int(numbers.max()) < 1 << _PIECE


def _added(part: AnyNumbers, groups: Numbers | None, count: int) -> Any:
    """The sums of at most `BATCH` integers of at most 32 bits, as Python has integers."""
    if groups is None:
        return np.array([int(part.sum(dtype=np.int64))] + [0] * (count - 1), object)
    return np.bincount(groups, part, count).astype(np.int64).astype(object)


def wide_integer_sums(rows: NDArray[np.uint8], groups: Numbers | None, count: int) -> list[int]:
    """The exact sum of big-endian two's complement numbers of one width in each group.

    Args:
        rows: One row of bytes for each number.
        groups: The group of each; ``None`` if all are in the first.
        count: Groups.
    """
    size = _PIECE // 8
    short = -rows.shape[1] % size
    sign = np.where(rows[:, :1] >= 0x80, np.uint8(0xFF), np.uint8(0)) if len(rows) else rows[:, :1]
    padded = np.hstack([np.repeat(sign, short, axis=1), rows]) if short else rows
    limbs = np.ascontiguousarray(padded).view(">u4")
    totals = [0] * count
    for place in range(limbs.shape[1]):
        limb = limbs[:, place].astype(np.int64)
        if place == 0:
            limb = limb.astype(np.uint32).view(np.int32).astype(np.int64)
        shift = _PIECE * (limbs.shape[1] - 1 - place)
        for group, total in enumerate(integer_sums(limb, groups, count)):
            totals[group] += total << shift
    return totals


class Digits(NamedTuple):
    """Sums of whole numbers on one grid.

    Attributes:
        place: Each is in units of 2 to this power.
        added: For each group its sum, exact.
    """

    place: int
    added: NDArray[np.float64]


class DoubleSums:
    """The exact sums of doubles in groups, as the numbers on each grid that add up to them.

    Args:
        numbers: Doubles that are not NaN.
        groups: The group of each; ``None`` if all are in the first.
        count: Groups.
    """

    def __init__(self, numbers: NDArray[np.float64], groups: Numbers | None, count: int) -> None:
        self._count = count
        self._digits: list[Digits] = []
        self._others: dict[int, DoubleSum] = {}
        for start in range(0, len(numbers), BATCH):
            piece = numbers[start : start + BATCH]
            within = None if groups is None else groups[start : start + BATCH]
            for found in _sums_of_digits(piece, within, count):
                if isinstance(found, Digits):
                    self._digits.append(found)
                else:
                    for group, more in found.items():
                        self._others[group] = self._others.get(group, DoubleSum(0, 0)).plus(more)

    def exact(self) -> list[DoubleSum]:
        """Each sum, not rounded."""
        units: Any = np.zeros(self._count, object)
        for place, added in self._digits:
            units += added.astype(np.int64).astype(object) * (1 << place + UNIT_BITS)
        found = [DoubleSum(one, 0) for one in units.tolist()]
        for group, more in self._others.items():
            found[group] = found[group].plus(more)
        return found

    def rounded(self) -> NDArray[np.float64]:
        """Each sum as the nearest double, ties to even: what `DoubleSum.rounded` gives."""
        if self._others:
            return np.array([one.rounded() for one in self.exact()], np.float64)
        if not self._digits:
            return np.zeros(self._count)
        # Each is exact, and so far from the ends of what a double holds that fsum rounds but once.
        parts = [(added * 2.0**place).tolist() for place, added in self._digits]
        return np.array(list(map(math.fsum, zip(*parts, strict=True))), np.float64) + 0.0


def double_sums(numbers: NDArray[np.float64], groups: Numbers | None, count: int) -> list[DoubleSum]:
    """The exact sum of the doubles in each group. See `DoubleSums`."""
    return DoubleSums(numbers, groups, count).exact()


def _sums_of_digits(
    rest: NDArray[np.float64], groups: Numbers | None, count: int
) -> Iterator[Digits | dict[int, DoubleSum]]:
    """The sums of at most `BATCH` doubles.

    Numbers of like size are whole numbers of some 30 bits on a coarse grid, and what is left over is so on a finer one: rounding to a grid, by
    adding and subtracting a number so large that nothing finer has room, and differences are exact, and so are sums of such numbers. Where all that is left fits
    on one grid, as the least number shows, it is added as it is.  What few grids do not reach is added by its bits.
    """
    size = (len(rest) - 1).bit_length()
    bits = min(_EXACT_BITS - size, _EXACT_BITS - 2)  # so that a sum of all digits is exact
    least, greatest = float(rest.min()), float(rest.max())
    top = math.frexp(max(greatest, -least))[1]
    lowest = top - GRIDS * bits
    # All are multiples of the last bit of the least, if that is above zero.
    finest = math.frexp(least)[1] - _EXACT_BITS if least > 0 else lowest - _EXACT_BITS
    if lowest > _SMALLEST and top < -_SMALLEST and math.isfinite(least) and math.isfinite(greatest):
        reach = top
        for place in range(top - bits, lowest - 1, -bits):
            if reach + size <= finest + _EXACT_BITS and finest > _SMALLEST:
                yield Digits(finest, _added_doubles(rest, groups, count) * 2.0**-finest)
                return
            coarse = 1.5 * 2.0 ** (place + _EXACT_BITS - 1)
            digits = rest + coarse
            digits -= coarse
            yield Digits(place, _added_doubles(digits, groups, count) * 2.0**-place)
            rest = np.subtract(rest, digits, out=digits)
            reach = place - 1
            if reach + size > finest + _EXACT_BITS and not rest.any():
                return
    left = np.flatnonzero(rest)
    if len(left):
        yield _sums_by_bits(rest[left].view(np.int64), None if groups is None else groups[left], count)


def _added_doubles(numbers: NDArray[np.float64], groups: Numbers | None, count: int) -> NDArray[np.float64]:
    """The sums of doubles that do not have to be rounded."""
    added: Any = np.zeros(count) if groups is None else np.bincount(groups, numbers, count)
    if groups is None:
        added[:1] = numbers.sum()
    found: NDArray[np.float64] = added
    return found


def _sums_by_bits(bits: Numbers, groups: Numbers | None, count: int) -> dict[int, DoubleSum]:
    """The sums of at most `BATCH` doubles, given by their bits, of the groups that occur."""
    exponents = (bits >> _MANTISSA_BITS) & _EXPONENT_MASK
    mantissas = bits & ((1 << _MANTISSA_BITS) - 1)
    is_normal = exponents > 0
    mantissas |= is_normal.astype(np.int64) << _MANTISSA_BITS
    shifts = exponents - is_normal
    highest = _EXPONENT_MASK - 1
    infinite = shifts == highest
    signs = bits < 0
    found: dict[int, DoubleSum] = {}
    if infinite.any():
        for place in np.flatnonzero(infinite).tolist():
            group = 0 if groups is None else int(groups[place])
            kind = 2 if signs[place] else 1
            found[group] = found.get(group, DoubleSum(0, 0)).plus(DoubleSum(0, kind))
        mantissas[infinite] = 0
    np.negative(mantissas, out=mantissas, where=signs)
    # One bin for each group and exponent that occurs; the bins of few groups are all there are.
    lowest = int(shifts.min())
    span = int(shifts.max()) - lowest + 1
    bins = shifts - lowest if groups is None else groups * span + (shifts - lowest)
    if count * span > 4 * BATCH:
        names, bins = np.unique(bins, return_inverse=True)
    else:
        names = np.arange(count * span)
    low = np.bincount(bins, mantissas & ((1 << _HALF) - 1), len(names)).astype(np.int64)
    high = np.bincount(bins, mantissas >> _HALF, len(names)).astype(np.int64)
    for place in np.flatnonzero((low != 0) | (high != 0)).tolist():
        group, shift = divmod(int(names[place]), span)
        units = (int(high[place]) << _HALF) + int(low[place]) << shift + lowest
        found[group] = found.get(group, DoubleSum(0, 0)).plus(DoubleSum(units, 0))
    return found


__all__ = ["DoubleSum", "DoubleSums", "double_sums", "integer_sums", "wide_integer_sums"]
