"""How counts of executors are added up on the driver. Loads Spark."""

from __future__ import annotations

from pyspark.accumulators import AccumulatorParam


class CountsParam(AccumulatorParam[tuple[int, int]]):
    """Adds pairs of counts."""

    def zero(self, value: tuple[int, int]) -> tuple[int, int]:
        """Nothing done, nothing found."""
        del value
        return 0, 0

    def addInPlace(self, value1: tuple[int, int], value2: tuple[int, int]) -> tuple[int, int]:  # noqa: N802 - Spark's name
        """The sum of two pairs."""
        return value1[0] + value2[0], value1[1] + value2[1]
