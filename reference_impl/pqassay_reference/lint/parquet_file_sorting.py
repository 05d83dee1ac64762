"""Lint of sorting: the rows of a row group against its sorting columns.

Source: apache/parquet-format, ``parquet.thrift``, ``SortingColumn``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cmp_to_key
from itertools import pairwise
from typing import Any

from pqassay_reference.columns.page_values import DataPage
from pqassay_spec.base.errors import Malformed
from pqassay_spec.parquet.column_order import FLOATING, Order, is_nan, key, type_order
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import RowGroup, SortingColumn


def lint_sorting(
    group: RowGroup, columns: Sequence[SchemaLeaf], pages: Mapping[int, Sequence[DataPage] | None]
) -> None:
    """Raise PQF-075 if a row comes before one that belongs before it.

    Only as many leading sorting columns count as have one value a row, an order, values that could be decoded, and neither NaN
    nor negative zero, which writers sort differently.

    Args:
        group: The row group.
        columns: All leaves.
        pages: The pages of its chunks by leaf; ``None`` where they could not be decoded.
    """
    sorting: list[SortingColumn] = []
    values: list[list[Any]] = []
    for one in group.sorting_columns or ():
        found = _values(columns[one.column_idx], pages.get(one.column_idx))
        if found is None:
            break
        sorting.append(one)
        values.append(found)

    def compared(earlier: Sequence[Any], later: Sequence[Any]) -> int:
        for a, b, said in zip(earlier, later, sorting, strict=True):
            if a != b:
                if a is None or b is None:
                    return -1 if (a is None) == said.nulls_first else 1
                return -1 if (a < b) != said.descending else 1
        return 0

    place = cmp_to_key(compared)
    if any(place(a) > place(b) for a, b in pairwise(zip(*values, strict=True))):
        raise Malformed("the rows are not sorted as it says", rule="PQF-075", field="footer.row_groups")


def _values(leaf: SchemaLeaf, pages: Sequence[DataPage] | None) -> list[Any] | None:
    """The key to compare each row by, ``None`` for null; ``None`` alone where that cannot be told."""
    order = type_order(leaf.element)
    if pages is None or order is None or leaf.max_repetition_level:
        return None
    keys: list[Any] = []
    for page in pages:
        if page.values is None or any(_has_no_place(order, raw) for raw in page.values):
            return None
        values = iter(page.values)
        keys += [
            key(order, next(values)) if level == leaf.max_definition_level else None
            for level in page.definition
        ]
    return keys


def _has_no_place(order: Order, raw: bytes) -> bool:
    """Whether a value is NaN or negative zero, of which nobody says where they are among others."""
    return is_nan(order, raw) or (order in FLOATING and key(order, raw) == 0 and any(raw))
