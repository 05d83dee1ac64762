"""Digests of the levels that the leaves of a group share: equal if the lists and nulls of the group are equal.

A digest has constant size, and does not depend on the page boundaries.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pqassay_spec.parquet.schema.leaf_columns import SchemaGroup, SchemaLeaf
from pqassay_spec.parquet.schema.siblings import shared_group

if TYPE_CHECKING:
    from pqassay.values.decoding.levels import Runs


class Shapes:
    """The digests of the groups that a leaf shares with its neighbors, updated while its pages are read."""

    def __init__(self, leaf: SchemaLeaf, beside: Sequence[SchemaLeaf]) -> None:
        groups = [group for other in beside if (group := shared_group(leaf, other)) is not None]
        self._digests = {id(group): (group, hashlib.blake2b(digest_size=16)) for group in groups}

    def add(self, repetition: Runs | None, definition: Runs | None) -> None:
        """Add the levels of the next page."""
        if not self._digests or definition is None:
            return
        defined = definition.values()
        repeated = np.zeros(len(defined), np.int64) if repetition is None else repetition.values()
        for group, digest in self._digests.values():
            levels = repeated * (group.definition + 1) + np.minimum(defined, group.definition)
            digest.update(levels[repeated <= group.repetition].astype("<u4").tobytes())

    def of(self, group: SchemaGroup) -> bytes:
        """The digest of one of the groups."""
        return self._digests[id(group)][1].digest()
