"""The schema of a file: its leaves and derived data, computed once for all files of a lake with this schema."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar, cast

from pqassay_spec.grammar.thrift_runs import SharedStructs
from pqassay_spec.parquet.schema.leaf_columns import leaves
from pqassay_spec.parquet.thrift import FileMetaData, SchemaElement

View = TypeVar("View")

SCHEMAS = SharedStructs(SchemaElement)
"""The decoder of schemas in footers, which returns the same objects for files of one lake."""

MOST_SCHEMAS = 4
"""The number of schemas that are remembered; comparing with more would take longer than parsing one."""

MOST_ELEMENTS = 1000
"""The largest number of elements of a schema that is remembered."""


class Schema:
    """A schema that is one tree.

    Attributes:
        elements: Its elements, depth first.
        leaves: Its leaves, in order.
        are_defined: Whether the format defines the types and the repetition types of all leaves.
        sound: For rules about only the schema: the rules that applied, if none was broken.
    """

    def __init__(self, metadata: FileMetaData) -> None:
        """Raise the errors of `pqassay_spec.parquet.schema.leaf_columns.leaves`."""
        self.elements: Sequence[SchemaElement] = metadata.schema
        self.leaves = leaves(metadata)
        self.are_defined = all(leaf.is_defined for leaf in self.leaves)
        self.sound: dict[Hashable, frozenset[str]] = {}
        self._views: dict[Any, Any] = {}

    def view(self, make: Callable[[Schema], View]) -> View:
        """A result that another module computes from the schema, cached."""
        if make not in self._views:
            self._views[make] = make(self)
        return cast("View", self._views[make])


_known: list[Schema] = []


def schema_of(metadata: FileMetaData) -> Schema:
    """The schema of a footer. Raises the errors of `Schema`."""
    global _known  # noqa: PLW0603 - a cache, replaced as a whole
    for known in _known:
        if known.elements is metadata.schema:
            return known
    made = Schema(metadata)
    if len(made.elements) <= MOST_ELEMENTS:
        _known = [made, *_known[: MOST_SCHEMAS - 1]]
    return made
