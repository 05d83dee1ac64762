"""The common parts of messages about values: where a value is, and how many are like it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay_spec.parquet.column_order import Order, shown

if TYPE_CHECKING:
    from pqassay.values.decoding.chunk_values import ChunkValues


def named(chunk: ColumnChunkUnderTest) -> str:
    """A column chunk."""
    return f"row group {chunk.row_group} of column {chunk.column}"


def where(values: ChunkValues, place: int) -> str:
    """The row and the page of a value."""
    page = values.page_of(place)
    row = f"row {values.row_of(place)} of {named(values.chunk)}"
    return row if page is None else f"{row}, page {page},"


def value_at(values: ChunkValues, place: int, order: Order | None) -> str:
    """A value."""
    return shown(order, values.raw_of(place))


def others(count: int, what: str = "value", several: str = "values") -> str:
    """The number of further ones like the one that a message names, in brackets."""
    if count == 1:
        return ""
    return f" ({count - 1} more {what if count == 2 else several} like it)"


def plural(count: int, what: str) -> str:
    """A number of things."""
    return f"{count} {what}{'' if count == 1 else 's'}"
