"""Predicates that show the effect of a lie: a query for the values that the lie is about.

>>> from pqassay_spec.golden.literals import Column
>>> rows = Rows([Column("year", "int64", True), Column("metal", "string", True)], [[1958, "tin"], [1963, None]])
>>> misleading("footer.row_groups[0].columns[0].meta_data.statistics.max_value", rows)
['=', 'year', 1963]
>>> misleading("row_groups[0].columns[1].column_index.null_counts[0]", rows)
['is null', 'metal']
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from pqassay_spec.golden.literals import Date, Rows, Time, Timestamp, Written, read_value
from pqassay_spec.golden.literals import Decimal as WrittenDecimal

_COLUMN = re.compile(r"\b(?:columns|column_chunks|column_descriptors)\[(\d+)\]")
"""The number of the column in the path of a field."""

_COUNT_OF_NULLS = re.compile(r"null_count|num_nulls")

WITHOUT_ORDER = ("geometry", "geography")
"""Types of columns whose values queries cannot find with ``=``."""


def misleading(path: str, rows: Rows) -> list[Any] | None:
    """A predicate on the column of a false field.

    It asks for nulls if the field counts them, for the greatest value if it is an upper bound, and for the least value
    otherwise.

    Args:
        path: The path of the field.
        rows: The rows of the file.

    Returns:
        ``None`` if the field does not belong to a column, or the values of the column have no order, such as lists.
    """
    found = _COLUMN.search(path)
    ordinal = int(found[1]) if found else len(rows.columns)
    # Up to the first nested column, each column is one leaf.
    if any("<" in column.type for column in rows.columns[: ordinal + 1]) or ordinal >= len(rows.columns):
        return None
    name, kind = rows.columns[ordinal].name, rows.columns[ordinal].type
    if kind in WITHOUT_ORDER:
        return None
    if _COUNT_OF_NULLS.search(path):
        return ["is null", name]
    keyed = {key: row[ordinal] for row in rows.rows if (key := _key(row[ordinal])) is not None}
    if not keyed:
        return None
    return ["=", name, keyed[max(keyed) if "max" in path else min(keyed)]]


def _key(written: Written) -> Any:
    """The sort key of a value; ``None`` for null, NaN, and values without an order."""
    match written:
        case WrittenDecimal(text) | Date(text) | Time(text) | Timestamp(text):
            return Decimal(text)
        case _:
            value = read_value(written)
            is_ordered = isinstance(value, int | float | str | bytes) and value == value  # noqa: PLR0124 - NaN is not
            return value if is_ordered else None
