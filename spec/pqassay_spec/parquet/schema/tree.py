"""The schema of a footer as a tree, for comparisons with another schema.

Source: apache/parquet-format, ``parquet.thrift``, ``SchemaElement``; ``LogicalTypes.md``, sections "Lists" and "Maps".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pqassay_spec.parquet.thrift import ConvertedType, FieldRepetitionType, SchemaElement

TWO_LEVELS = ("array", "_tuple")
"""The name, and the ending of a name, which mark the group in a list as its element in old files."""

_MAPS = (ConvertedType.MAP, ConvertedType.MAP_KEY_VALUE)


@dataclass(eq=False)
class SchemaNode:
    """An element of the schema, its position, and the nodes below it."""

    element: SchemaElement
    place: int
    children: list[SchemaNode] = field(default_factory=list["SchemaNode"])

    @property
    def name(self) -> str:
        """Its name."""
        return self.element.name

    @property
    def is_leaf(self) -> bool:
        """Whether it is a column."""
        return self.element.type is not None

    @property
    def is_repeated(self) -> bool:
        """Whether it may occur any number of times."""
        return self.element.repetition_type == FieldRepetitionType.REPEATED

    @property
    def is_list(self) -> bool:
        """Whether it is annotated as a list."""
        logical = self.element.logicalType
        if logical is not None:
            return logical.LIST is not None
        return not self.is_leaf and self.element.converted_type == ConvertedType.LIST

    @property
    def is_map(self) -> bool:
        """Whether it is annotated as a map."""
        logical = self.element.logicalType
        if logical is not None:
            return logical.MAP is not None
        return not self.is_leaf and self.element.converted_type in _MAPS

    def elements(self) -> list[SchemaNode]:
        """The possible elements of a list, the likeliest first; empty if it has no repeated field."""
        if len(self.children) != 1 or not self.children[0].is_repeated:
            return []
        repeated = self.children[0]
        if len(repeated.children) != 1:
            return [repeated]
        inner = repeated.children[0]
        by_name = repeated.name == TWO_LEVELS[0] or repeated.name == self.name + TWO_LEVELS[1]
        return [repeated, inner] if by_name or inner.is_repeated else [inner, repeated]

    def pair(self) -> list[SchemaNode]:
        """Key and value of a map, or only the key; empty if the map has no repeated group with them."""
        if len(self.children) != 1 or not self.children[0].is_repeated:
            return []
        return self.children[0].children[:2]


def schema_tree(elements: Sequence[SchemaElement]) -> SchemaNode:
    """The root of a schema. Its child counts must add up to one tree; `pqassay_spec.parquet.schema.leaf_columns.leaves` checks that."""
    root = SchemaNode(elements[0], 0)
    open_groups = [(root, elements[0].num_children or 0)]
    for place, element in enumerate(elements[1:], 1):
        while len(open_groups[-1][0].children) == open_groups[-1][1]:
            open_groups.pop()
        node = SchemaNode(element, place)
        open_groups[-1][0].children.append(node)
        if element.type is None:
            open_groups.append((node, element.num_children or 0))
    return root
