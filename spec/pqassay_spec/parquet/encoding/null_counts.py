"""The null counts that the definition levels of a column allow.

All levels below the greatest are nulls: null values, null groups and null lists around them, and empty lists. Some
writers count only the nulls of a list's values.  Readers do not use the difference to answer queries about lists, so such a
count is distinguished from a wrong one.

Source: chapter ``statistics.md``, section *Counts*.
"""

from __future__ import annotations

from collections.abc import Sequence

from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf


def null_counts(leaf: SchemaLeaf, histogram: Sequence[int]) -> list[int]:
    """The null counts that the definition levels of some values allow.

    Args:
        leaf: The column.
        histogram: The number of occurrences of each definition level.

    Returns:
        The count of all nulls; for a list, then the counts that start at each higher level, up to the nulls of the values
        themselves.
    """
    levels = leaf.max_definition_level - leaf.own_nulls if leaf.max_repetition_level else 0
    return [sum(histogram[first:-1]) for first in range(levels + 1)]
