"""Levels of lists: an entry can only continue a list that exists.

A repetition level greater than 0 means that an entry continues the list of the entry before it.  Both entries are then
in that list, so the definition level of neither may be so low that the list is null or empty.

    >>> opened = (2,)  # of an optional list: 0 is null, 1 is empty, 2 an entry without value, 3 a value
    >>> stray_entry([0, 1, 0, 0], [3, 2, 1, 0], opened)
    >>> stray_entry([0, 0, 1, 0], [3, 0, 0, 3], opened)
    2

Source: apache/parquet-format, ``README.md``, section "Nested Encoding".
"""

from __future__ import annotations

from collections.abc import Sequence

from pqassay_spec.parquet.schema.leaf_columns import SchemaGroup, SchemaLeaf


def opened_levels(leaf: SchemaLeaf) -> tuple[int, ...]:
    """For each list around the values of a leaf, the outermost first: the lowest definition level at which it has entries."""
    opened: list[int] = []
    definition, repetition = leaf.max_definition_level, leaf.max_repetition_level
    group: SchemaGroup | None = leaf.parent
    while group is not None:
        if group.repetition < repetition:
            opened.append(definition)
        definition, repetition, group = group.definition, group.repetition, group.parent
    return tuple(reversed(opened))


def stray_entry(repetition: Sequence[int], definition: Sequence[int], opened: Sequence[int]) -> int | None:
    """The first entry of a chunk that continues a list that does not exist; ``None`` if there is no such entry.

    Args:
        repetition: The repetition levels of all entries of the chunk.
        definition: The definition levels of the same entries.
        opened: The `opened_levels` of the column.
    """
    before = 0
    for place, (repeated, defined) in enumerate(zip(repetition, definition, strict=True)):
        if repeated and (not place or min(before, defined) < opened[repeated - 1]):
            return place
        before = defined
    return None
