"""The leaf columns of a Parquet file in ``_pm``: each with the top-level field of the schema, which gives it its name.

Source: "Parquet metadata file" (``parquet-metadata.md``), section "Column descriptor".
"""

from __future__ import annotations

from typing import NamedTuple

from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf, leaves
from pqassay_spec.parquet.thrift import ConvertedType, FileMetaData, SchemaElement
from pqassay_spec.pm.types import inferred_type


class LeafField(NamedTuple):
    """A leaf column, with the top-level field of the schema that it belongs to.

    ``alone`` is true if the field has no other leaf. ``list_dimensions`` is the number of lists around the leaf if
    the field consists only of lists, otherwise 0.
    """

    leaf: SchemaLeaf
    top: SchemaElement
    alone: bool
    list_dimensions: int

    @property
    def name(self) -> str:
        """The column's name, which is the name of the field."""
        return self.top.name


def fields_of(metadata: FileMetaData) -> list[LeafField]:
    """The leaf columns of a footer, in the order of their chunks.

    Raises:
        Malformed: The schema is not a tree.
        Unsupported: It is nested too deeply.
    """
    fields: list[LeafField] = []
    remaining = iter(leaves(metadata))
    elements = metadata.schema
    start = 1
    while start < len(elements):
        end, left = start, 1
        while left:
            left += (elements[end].num_children or 0 if elements[end].type is None else 0) - 1
            end += 1
        inside = elements[start:end]
        leaf_count = sum(element.type is not None for element in inside)
        for leaf in (next(remaining) for _ in range(leaf_count)):
            lists = leaf.max_repetition_level
            pure = leaf_count == 1 and _is_list(inside[0]) and len(inside) - 1 <= 2 * lists
            fields.append(LeafField(leaf, inside[0], leaf_count == 1, lists if pure else 0))
        start = end
    return fields


def _is_list(element: SchemaElement) -> bool:
    logical = element.logicalType
    return logical.LIST is not None if logical is not None else element.converted_type == ConvertedType.LIST


def type_of(field: LeafField) -> int:
    """TYPE of a column for which there is no information from QuestDB."""
    return inferred_type(field.leaf.element, list_dimensions=field.list_dimensions)
