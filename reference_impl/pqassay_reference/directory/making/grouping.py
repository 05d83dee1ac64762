"""Group rows by the combination of some columns, in ascending order with nulls first.

Source: chapter ``directory.md``, section "Zone sums".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

MOST_COMBINATIONS = 1 << 20
"""Most possible combinations of keys for a direct table; with more, the existing combinations are ranked."""


class Groups(NamedTuple):
    """The groups of some rows.

    Attributes:
        of_rows: The group of each row.
        sizes: The number of rows of each group.
        keys: For each key, an Arrow array with its value in each group.
    """

    of_rows: Numbers
    sizes: Numbers
    keys: tuple[Any, ...] = ()

    @property
    def group_count(self) -> int:
        """The number of groups."""
        return len(self.sizes)

    def sums(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """The sum of the numbers of each group, in their type."""
        found = np.zeros(self.group_count, numbers.dtype)
        np.add.at(found, self.of_rows, numbers)
        return found

    def counts(self, flags: NDArray[np.bool_]) -> Numbers:
        """The number of rows of each group with a true flag."""
        return np.bincount(self.of_rows[flags], minlength=self.group_count)


class Ranked(NamedTuple):
    """Values as ranks.

    Attributes:
        ranks: For each value its rank among the distinct ones, from 1 on; 0 for null.
        distinct: The distinct values, ascending.
    """

    ranks: NDArray[np.int32]
    distinct: Any


def ranked(values: Any) -> Ranked:
    """The ranks of values of an Arrow array, which may be a dictionary array."""
    is_dictionary = pa.types.is_dictionary(values.type)
    if is_dictionary and len(pc.unique(values.dictionary)) < len(values.dictionary):
        return ranked(values.cast(pa.binary()))
    encoded = values if is_dictionary else values.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary)
    ranks = np.zeros(len(order) + 1, np.int32)  # the last is that of null
    ranks[np.asarray(order)] = np.arange(1, len(ranks))
    indices = encoded.indices
    places = (indices.fill_null(len(order)) if indices.null_count else indices).to_numpy()
    return Ranked(ranks[places], encoded.dictionary.take(order))


def grouped(keys: Sequence[Any]) -> Groups:
    """One group for each existing combination of keys, in ascending order with nulls first.

    Args:
        keys: An Arrow array for each key, all with the same number of rows.
    """
    numbers: Numbers = np.zeros(len(keys[0]), np.int64)
    size = 1
    for key in keys:
        ranks, distinct = ranked(key)
        numbers = numbers * (len(distinct) + 1) + ranks
        size *= len(distinct) + 1
        if size > MOST_COMBINATIONS:
            ranks, combinations = ranked(pa.array(numbers))
            numbers, size = ranks.astype(np.int64), len(combinations) + 1
    sizes = np.bincount(numbers, minlength=size)
    occurring = np.flatnonzero(sizes)
    places, some_row = np.zeros(size, np.int64), np.zeros(size, np.int64)
    places[occurring] = np.arange(len(occurring))
    some_row[numbers] = np.arange(len(numbers))
    rows = pa.array(some_row[occurring])
    found = tuple(
        key.take(rows).cast(pa.binary()) if pa.types.is_dictionary(key.type) else key.take(rows)
        for key in keys
    )
    return Groups(places[numbers], sizes[occurring], found)


__all__ = ["MOST_COMBINATIONS", "Groups", "Ranked", "grouped", "ranked"]
