"""The parts of a condition, and the order in which they are evaluated: first those that exclude many rows for few bytes.

Source: chapter ``scan.md``, section "Late materialization".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pqassay_reader.condition.normal import ColumnTest, Condition, Joined, folded, joined

SHARE_OF_VALUE = 0.05
"""The expected share of rows with one value, if nothing is known of the values; only the order of shares matters."""

SHARE_OF_SIDE = 0.35
"""The expected share of rows on one side of a value."""

SHARE_OF_NULL = 0.1
"""The expected share of nulls."""

Estimate = Callable[[ColumnTest], float | None]
"""Returns the share of rows that satisfy a test; ``None`` if it is unknown."""


class Part(NamedTuple):
    """A part of a condition that must be true.

    Attributes:
        condition: The part.
        share: The expected share of rows that it keeps.
    """

    condition: Condition
    share: float

    @property
    def columns(self) -> frozenset[str]:
        """The columns that it names."""
        return self.condition.columns


def parts_of(condition: Condition) -> list[Part]:
    """The parts that AND joins at the top; parts about the same columns are merged."""
    is_joined = isinstance(condition, Joined) and condition.name == "and"
    alike: dict[frozenset[str], list[Condition]] = {}
    for part in condition.parts if is_joined and isinstance(condition, Joined) else (condition,):
        alike.setdefault(part.columns, []).append(part)
    return [Part(whole, share_of(whole)) for whole in (joined("and", several) for several in alike.values())]


def share_of(condition: Condition, estimate: Estimate | None = None) -> float:
    """The expected share of rows that a condition keeps.

    Args:
        condition: The condition.
        estimate: Returns the known share of a test.
    """

    def of_test(test: ColumnTest) -> float:
        known = None if estimate is None else estimate(test)
        return _expected(test) if known is None else known

    def of_all(shares: Iterable[float]) -> float:
        return float(math.prod(shares))

    return folded(condition, of_test, of_all, lambda shares: min(1.0, sum(shares)))


def _expected(test: ColumnTest) -> float:
    """The expected share of rows that satisfy a test, if nothing is known of the values."""
    inside, outside = (
        sum(
            SHARE_OF_VALUE if sides[:1] and sides[0][0] == "=" else SHARE_OF_SIDE ** len(sides)
            for sides in values.ends
        )
        for values in (test.values, test.values.complement(null=False))
    )
    return min(inside, max(1.0 - outside, 0.0), 1.0 - SHARE_OF_NULL) + SHARE_OF_NULL * test.values.null


def in_order(parts: Sequence[Part], cost: Callable[[Part], float]) -> list[Part]:
    """The parts in the cheapest order: by bytes to read, divided by the share of rows that they exclude."""
    return sorted(parts, key=lambda part: cost(part) / max(1.0 - part.share, 1e-3))


__all__ = ["Part", "in_order", "parts_of", "share_of"]
