"""The schema of a file: its leaves, and what it alone decides of them, once for all files of a lake that share it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, TypeVar, cast

from pqassay_spec.parquet.column_order import Order, annotation_fits, bound_width, type_order
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf, is_string, leaves
from pqassay_spec.parquet.thrift import FileMetaData, SchemaElement

View = TypeVar("View")

SHARED = frozenset({"schema"})
"""The field of a footer whose list files of one lake share, object for object."""

MOST_SCHEMAS = 4
"""Schemas that are remembered; to look for more would take longer than to look at one."""

MOST_ELEMENTS = 1000
"""Elements of a schema that is remembered."""


class LeafFacts(NamedTuple):
    """What the schema says of the values of a leaf.

    Attributes:
        fits: Whether it has no annotation, or one that is known and fits its type.
        order: The order of its type; ``None`` where there is none.
        text: Whether it holds text.
        width: Bytes that make whatever has them a bound of it; ``None`` where there is more to ask.
        is_plain: Whether it has no annotation.
    """

    fits: bool
    order: Order | None
    text: bool
    width: int | None
    is_plain: bool


def facts_of(leaf: SchemaLeaf) -> LeafFacts:
    """What the schema says of the values of a leaf."""
    element = leaf.element
    return LeafFacts(
        annotation_fits(element),
        type_order(element),
        is_string(leaf),
        bound_width(element),
        element.logicalType is None and element.converted_type is None,
    )


class Schema:
    """A schema that is one tree.

    Attributes:
        elements: Its elements, depth first.
        leaves: Its leaves, in order.
        facts: What it says of each leaf.
        sound: For those who ask rules about the schema alone: which of them applied, where none was broken.
    """

    def __init__(self, metadata: FileMetaData) -> None:
        """Raise what `pqassay_spec.parquet.schema.leaf_columns.leaves` does."""
        self.elements: Sequence[SchemaElement] = metadata.schema
        self.leaves = leaves(metadata)
        self.facts = list(map(facts_of, self.leaves))
        self.sound: dict[Hashable, frozenset[str]] = {}
        self._views: dict[Any, Any] = {}

    def view(self, make: Callable[[Schema], View]) -> View:
        """What somebody else makes of it, made once."""
        if make not in self._views:
            self._views[make] = make(self)
        return cast("View", self._views[make])


_known: list[Schema] = []


def schema_of(metadata: FileMetaData) -> Schema:
    """The schema of a footer. Raises what `Schema` does."""
    global _known  # noqa: PLW0603 - a cache, replaced as a whole
    for known in _known:
        if known.elements is metadata.schema:
            return known
    made = Schema(metadata)
    if len(made.elements) <= MOST_ELEMENTS:
        _known = [made, *_known[: MOST_SCHEMAS - 1]]
    return made
