"""The schema tree of a footer: its leaves, with their paths and levels.

The footer lists the tree depth first; each group says how many children follow.

Source: apache/parquet-format, ``parquet.thrift``, ``SchemaElement``; ``README.md``, section "Nested Encoding".
"""

from __future__ import annotations

from typing import NamedTuple

from pqassay_spec.errors import Malformed
from pqassay_spec.parquet_thrift import (
    ConvertedType,
    FieldRepetitionType,
    FileMetaData,
    SchemaElement,
    Type,
)


class SchemaLeaf(NamedTuple):
    """A leaf column: ``path`` from below the root, its element, and its greatest levels."""

    path: tuple[str, ...]
    element: SchemaElement
    max_definition_level: int
    max_repetition_level: int

    @property
    def name(self) -> str:
        """The path joined by dots."""
        return ".".join(self.path)

    @property
    def physical_type(self) -> str:
        """Name of the physical type, for messages."""
        names = {member.value: member.name for member in Type}
        return names.get(self.element.type if self.element.type is not None else -1, "unknown type")


class _Group(NamedTuple):
    path: tuple[str, ...]
    definition: int
    repetition: int
    children: list[int]


def leaves(metadata: FileMetaData) -> list[SchemaLeaf]:
    """Return the leaf columns in the order in which row groups list their chunks.

    Raises:
        Malformed: The child counts do not add up to one tree.
    """
    elements = metadata.schema
    if not elements:
        raise Malformed("the schema is empty", rule="PQF-004", field="footer.schema")
    found: list[SchemaLeaf] = []
    stack = [_Group((), 0, 0, [_children(elements, 0)])]
    for index, element in enumerate(elements[1:], 1):
        while stack and stack[-1].children[0] == 0:
            stack.pop()
        if not stack:
            raise Malformed(
                "elements stand behind the end of the tree", rule="PQF-004", field=f"footer.schema[{index}]"
            )
        parent = stack[-1]
        parent.children[0] -= 1
        path = (*parent.path, element.name)
        optional = element.repetition_type != FieldRepetitionType.REQUIRED
        repeated = element.repetition_type == FieldRepetitionType.REPEATED
        definition, repetition = parent.definition + optional, parent.repetition + repeated
        if element.type is None:
            stack.append(_Group(path, definition, repetition, [_children(elements, index)]))
        else:
            found.append(SchemaLeaf(path, element, definition, repetition))
    if any(group.children[0] for group in stack):
        raise Malformed("a group has fewer children than it says", rule="PQF-004", field="footer.schema")
    return found


def _children(elements: list[SchemaElement], index: int) -> int:
    count = elements[index].num_children or 0
    if not 0 <= count < len(elements):
        raise Malformed(
            f"{count} children among {len(elements)} elements",
            rule="PQF-004",
            field=f"footer.schema[{index}].num_children",
        )
    return count


_TEXT = (ConvertedType.UTF8, ConvertedType.ENUM, ConvertedType.JSON)


def is_string(leaf: SchemaLeaf) -> bool:
    """Whether a leaf holds text: BYTE_ARRAY, annotated as text or not annotated at all.

    Old writers, and new ones for "binary", leave the annotation out; whether such bytes are text, only the
    values tell.
    """
    element = leaf.element
    if element.type != Type.BYTE_ARRAY:
        return False
    logical = element.logicalType
    if logical is not None:
        return logical.STRING is not None or logical.ENUM is not None or logical.JSON is not None
    return element.converted_type is None or element.converted_type in _TEXT
