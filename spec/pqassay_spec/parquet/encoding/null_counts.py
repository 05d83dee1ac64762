"""What a null count may count, by the definition levels of a column.

All levels below the greatest are nulls: those of the values themselves, and those of the groups and lists around them, an
empty list among them.  Some writers leave out what is around the values of a list.  No reader answers a query about lists by
the difference, so that such a count is told from one that is wrong.

Source: chapter ``statistics.md``, section *Counts*.
"""

from __future__ import annotations

from collections.abc import Sequence

from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf


def null_counts(leaf: SchemaLeaf, histogram: Sequence[int]) -> list[int]:
    """The null counts that the levels of some values allow.

    Args:
        leaf: The column.
        histogram: How often each of its definition levels occurs.

    Returns:
        The count of all nulls; of a list, then the counts of those from each higher level on, down to the nulls of the values
        themselves.
    """
    levels = leaf.max_definition_level - leaf.own_nulls if leaf.max_repetition_level else 0
    return [sum(histogram[first:-1]) for first in range(levels + 1)]
