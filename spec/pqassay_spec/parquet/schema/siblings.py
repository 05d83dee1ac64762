"""What the leaves of one group have in common: the levels of the lists and nulls around them.

Source: apache/parquet-format, ``README.md``, section "Nested Encoding".
"""

from __future__ import annotations

from collections.abc import Sequence

from pqassay_spec.parquet.schema.leaf_columns import SchemaGroup, SchemaLeaf


def shared_group(one: SchemaLeaf, other: SchemaLeaf) -> SchemaGroup | None:
    """The innermost group of both leaves, ``None`` if nothing around it is a list or can be null.

    Args:
        one: A leaf.
        other: Another leaf of the same schema.
    """
    first: SchemaGroup | None = one.parent
    second: SchemaGroup | None = other.parent
    while first is not None and second is not None and first is not second:
        if first.depth >= second.depth:
            first = first.parent
        else:
            second = second.parent
    return first if first is not None and second is not None and first.definition else None


def shared_levels(
    repetition: Sequence[int], definition: Sequence[int], group: SchemaGroup
) -> list[tuple[int, int]]:
    """The levels of a group as those of one of its leaves tell them: they are the same for all of its leaves.

    >>> group = SchemaGroup(None, "", 1, 0, 2, 1)
    >>> shared_levels([0, 2, 1, 0], [3, 3, 2, 0], group)
    [(0, 2), (1, 2), (0, 0)]
    """
    return [
        (repeated, min(defined, group.definition))
        for repeated, defined in zip(repetition, definition, strict=True)
        if repeated <= group.repetition
    ]
