"""The shared levels of two leaves: those of the lists and nulls around both.

Source: apache/parquet-format, ``README.md``, section "Nested Encoding".
"""

from __future__ import annotations

from pqassay_spec.parquet.schema.leaf_columns import SchemaGroup, SchemaLeaf


def shared_group(leaf: SchemaLeaf, other: SchemaLeaf) -> SchemaGroup | None:
    """The innermost group around both leaves; ``None`` if neither it nor a group around it is a list or can be null.

    Args:
        leaf: A leaf.
        other: Another leaf of the same schema.
    """
    first: SchemaGroup | None = leaf.parent
    second: SchemaGroup | None = other.parent
    while first is not None and second is not None and first is not second:
        if first.depth >= second.depth:
            first = first.parent
        else:
            second = second.parent
    return first if first is not None and second is not None and first.definition else None
