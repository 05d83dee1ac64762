"""NaN bounds of floating-point columns, which the type-defined order does not contain."""

from __future__ import annotations

from typing import NamedTuple

from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay_spec.parquet.column_order import FLOATING, TOTAL, Order, is_nan, type_order


class BoundInUse(NamedTuple):
    """A bound that readers use.

    Attributes:
        name: Its field.
        raw: Its bytes.
        above: Whether it is the upper bound.
        order: Its order.
    """

    name: str
    raw: bytes
    above: bool
    order: Order

    @property
    def is_nan(self) -> bool:
        """Whether it is NaN."""
        return is_nan(self.order, self.raw)


def bounds_in_use(chunk: ColumnChunkUnderTest) -> list[BoundInUse]:
    """The bounds of a floating-point column under the type-defined order, without a count of NaN.

    Readers use the deprecated bounds if there are no others, and the order of the type if the footer gives none.
    """
    statistics, order = chunk.statistics, chunk.order
    if statistics is None:
        return []
    names = ("min_value", "max_value")
    if statistics.min_value is None and statistics.max_value is None:
        names, order = ("min", "max"), type_order(chunk.leaf.element)
    elif statistics.nan_count is not None:
        return []
    elif chunk.file.metadata.column_orders is None:
        order = type_order(chunk.leaf.element)
    if order not in FLOATING or order in TOTAL:
        return []
    raws = [(name, getattr(statistics, name)) for name in names]
    return [BoundInUse(name, raw, name.startswith("max"), order) for name, raw in raws if raw is not None]
