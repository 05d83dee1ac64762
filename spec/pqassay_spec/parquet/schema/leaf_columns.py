"""The schema tree of a footer: its leaves, with their paths and levels.

The footer lists the tree depth first; each group states how many children follow.

Source: apache/parquet-format, ``parquet.thrift``, ``SchemaElement``; ``README.md``, section "Nested Encoding".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pqassay_spec.base.errors import Malformed, Unsupported
from pqassay_spec.parquet.thrift import (
    ConvertedType,
    FieldRepetitionType,
    FileMetaData,
    SchemaElement,
    Type,
)

DEEPEST = 1000
"""Most levels below the root that are read; writers use far fewer, and recursive decoders crash beyond it."""


_TYPES = frozenset(map(int, Type))
_REPETITIONS = frozenset(map(int, FieldRepetitionType))


class SchemaGroup(NamedTuple):
    """The root or a group below it; its path is the path of its parent plus its name.

    Storing a whole path for each group of a deep schema would take memory that grows with the square of its depth.  ``is_defined``
    is false if the format does not define the repetition type of the group, or of a group around it.
    """

    parent: SchemaGroup | None
    name: str
    depth: int
    path_length: int
    definition: int
    repetition: int
    is_defined: bool = True


class SchemaLeaf(NamedTuple):
    """A leaf column: the group it belongs to, its element, and its greatest levels."""

    parent: SchemaGroup
    element: SchemaElement
    max_definition_level: int
    max_repetition_level: int

    @property
    def is_defined(self) -> bool:
        """Whether the format defines its physical type and the repetition types that decide its levels."""
        return self.parent.is_defined and self.element.type in _TYPES and has_defined_repetition(self.element)

    @property
    def path(self) -> tuple[str, ...]:
        """The names from below the root."""
        names = [self.element.name]
        group = self.parent
        while group.parent is not None:
            names.append(group.name)
            group = group.parent
        return tuple(reversed(names))

    @property
    def name(self) -> str:
        """The path joined by dots."""
        return ".".join(self.path)

    def is_called(self, name: str) -> bool:
        """Whether `name` equals the given name; only compares texts of the same length."""
        return self.parent.path_length + len(self.element.name) == len(name) and self.name == name

    def is_at(self, path: Sequence[str]) -> bool:
        """Whether `path` equals the given path; only compares paths of the same depth and last name."""
        return (
            self.parent.depth + 1 == len(path) and self.element.name == path[-1] and self.path == tuple(path)
        )

    @property
    def is_nested(self) -> bool:
        """Whether its values may be inside a null or a list, so that more nulls are counted than its own."""
        return self.max_definition_level > self.own_nulls

    @property
    def own_nulls(self) -> int:
        """The number of definition levels at which the value itself is null: 1, or 0 for a required or repeated leaf."""
        return int(self.element.repetition_type == FieldRepetitionType.OPTIONAL)

    @property
    def physical_type(self) -> str:
        """Name of the physical type, for messages."""
        names = {member.value: member.name for member in Type}
        return names.get(self.element.type if self.element.type is not None else -1, "unknown type")


def leaves(metadata: FileMetaData) -> list[SchemaLeaf]:
    """Return the leaf columns in the order in which row groups list their chunks.

    Raises:
        Malformed: The child counts do not add up to one tree.
        Unsupported: The tree is more than `DEEPEST` levels deep.
    """
    elements = metadata.schema
    if not elements:
        raise Malformed("the schema is empty", rule="PQF-004", field="footer.schema")
    columns: list[SchemaLeaf] = []
    group = SchemaGroup(None, "", 0, 0, 0, 0)
    parents = [group]
    left = [_children(elements, 0)]
    """The number of remaining children, of the current group and of each group around it."""
    for index, element in enumerate(elements[1:], 1):
        while left and left[-1] == 0:
            left.pop()
            parents.pop()
        if not left:
            raise Malformed(
                "elements follow the end of the tree", rule="PQF-004", field=f"footer.schema[{index}]"
            )
        left[-1] -= 1
        group = parents[-1]
        definition = group.definition + (element.repetition_type != FieldRepetitionType.REQUIRED)
        repetition = group.repetition + (element.repetition_type == FieldRepetitionType.REPEATED)
        if element.type is not None:
            columns.append(SchemaLeaf(group, element, definition, repetition))
            continue
        if len(parents) >= DEEPEST:
            raise Unsupported(
                f"the schema is more than {DEEPEST} levels deep, which pqassay does not follow",
                field=f"footer.schema[{index}]",
            )
        length = group.path_length + len(element.name) + 1
        defined = group.is_defined and has_defined_repetition(element)
        parents.append(
            SchemaGroup(group, element.name, len(parents), length, definition, repetition, defined)
        )
        left.append(_children(elements, index))
    if any(left):
        raise Malformed("a group has fewer children than it says", rule="PQF-004", field="footer.schema")
    return columns


def has_defined_repetition(element: SchemaElement) -> bool:
    """Whether the format defines the repetition type of an element; true without one."""
    return element.repetition_type is None or element.repetition_type in _REPETITIONS


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


def is_geometry(element: SchemaElement) -> bool:
    """Whether a leaf has geometries, on a plane or on a globe."""
    logical = element.logicalType
    return logical is not None and (logical.GEOMETRY is not None or logical.GEOGRAPHY is not None)


def is_string(leaf: SchemaLeaf) -> bool:
    """Whether a leaf has text: whether it is a BYTE_ARRAY that is annotated as text or not annotated at all.

    Old writers, and new ones for "binary", omit the annotation. Only the values then show whether the bytes are
    text.
    """
    element = leaf.element
    if element.type != Type.BYTE_ARRAY:
        return False
    logical = element.logicalType
    if logical is not None:
        return logical.STRING is not None or logical.ENUM is not None or logical.JSON is not None
    return element.converted_type is None or element.converted_type in _TEXT
