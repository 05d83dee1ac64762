"""Detection of entries that continue a list that does not exist, page by page.

`pqassay_spec.parquet.encoding.list_levels` defines the levels, one entry after the other; this module is tested to agree with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pqassay.values.decoding.faults import FaultKind, PageFault
from pqassay_spec.parquet.encoding.list_levels import opened_levels
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf

if TYPE_CHECKING:
    from pqassay.values.decoding.levels import Runs

NOTHING = -1
"""A placeholder for the definition level before the first entry."""


class ListLevels:
    """The levels of the lists around a leaf, while its pages are read."""

    def __init__(self, leaf: SchemaLeaf) -> None:
        self._opened = np.array([NOTHING, *opened_levels(leaf)])
        self._greatest = leaf.max_definition_level
        self._before = NOTHING

    def first_stray(self, repetition: Runs | None, definition: Runs | None) -> PageFault | None:
        """The first entry of the next page that continues a list which does not exist; ``None`` without one.

        Args:
            repetition: The repetition levels of the page, none above the greatest.
            definition: Its definition levels.

        Returns:
            The fault: its place; as expected number, the least definition level of entries of its list; as actual number, its own definition level; as a word, the level of the entry before.
        """
        if repetition is None or definition is None:
            return None
        if definition.least() >= self._opened[-1] and self._before >= self._opened[-1]:
            return None  # no list is null or empty
        defined = definition.values()
        if not len(defined):
            return None
        before = np.concatenate(([self._before], defined[:-1]))
        opened = self._opened[repetition.values()]
        self._before = int(defined[-1])
        stray = np.flatnonzero(np.minimum(defined, before) < opened)
        if not len(stray):
            return None
        place = int(stray[0])
        words = ("nothing" if before[place] == NOTHING else str(before[place]),)
        return PageFault(FaultKind.STRAY_ENTRY, int(opened[place]), int(defined[place]), place, words)

    def skip_page(self) -> None:
        """Note that the next page cannot be read, so the page after it may continue any list."""
        self._before = self._greatest
