"""Common parts of messages about values: the place of a value, and the number of similar values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay_spec.parquet.column_order import Order, shown

if TYPE_CHECKING:
    from pqassay.values.decoding.chunk_values import ChunkValues


def named(chunk: ColumnChunkUnderTest) -> str:
    """The name of a column chunk."""
    return f"row group {chunk.row_group} of column {chunk.column}"


def where(values: ChunkValues, place: int) -> str:
    """The row and the page of a value, in words."""
    page = values.page_of(place)
    row = f"row {values.row_of(place)} of {named(values.chunk)}"
    return row if page is None else f"{row}, page {page},"


def value_at(values: ChunkValues, place: int, order: Order | None) -> str:
    """A value as text."""
    return shown(order, values.raw_of(place))


def others(count: int, what: str = "value", several: str = "values") -> str:
    """The number of further cases beside the named one, in brackets."""
    if count == 1:
        return ""
    return f" ({count - 1} more {what if count == 2 else several} like it)"


def plural(count: int, what: str) -> str:
    """A number with the noun in singular or plural."""
    return f"{count} {what}{'' if count == 1 else 's'}"
