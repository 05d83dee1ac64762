"""A column chunk as the linter looks at it: what the footer says of it, and its pages taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pqassay_reference.columns.page_values import DataPage
from pqassay_spec.parquet.column_order import Order, order_of, type_order
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import ColumnChunk, ColumnMetaData, ColumnOrder


@dataclass(frozen=True)
class DecodedChunk:
    """A column chunk and its pages.

    Attributes:
        chunk: What the footer says of it.
        facts: Its metadata.
        leaf: Its column.
        column_order: What the footer says of the order of its column.
        row_count: The rows of its row group.
        pages: Its data pages; ``None`` where they cannot be decoded here.
    """

    chunk: ColumnChunk
    facts: ColumnMetaData
    leaf: SchemaLeaf
    column_order: ColumnOrder | None
    row_count: int
    pages: Sequence[DataPage] | None

    @property
    def order_of_readers(self) -> Order | None:
        """As `order`; without column orders that of the type, which readers take that use the bounds."""
        return type_order(self.leaf.element) if self.column_order is None else self.order

    @property
    def order(self) -> Order | None:
        """The order of its values; ``None`` where nobody knows."""
        return order_of(self.leaf.element, self.column_order)
