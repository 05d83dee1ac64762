"""The order of an answer's rows, as DuckDB has it: NaN beyond all numbers, both zeros equal, nulls where the question puts them.

Rows that are equal by all that the question names are ordered by their groups, so that an answer is always the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay_reader.answer.tally import is_floating

Numbers = NDArray[np.int64]


class SortedBy(NamedTuple):
    """One column that rows are ordered by.

    Attributes:
        values: An Arrow array.
        descending: Whether the greatest comes first.
        nulls_first: Whether nulls come before everything else.
    """

    values: Any
    descending: bool = False
    nulls_first: bool = False


def order_of(columns: Sequence[SortedBy], count: int) -> Numbers:
    """The places of rows in their order: by the first column, where that is equal by the second, and so on.

    >>> order_of([SortedBy(pa.array([2.0, None, 1.0]), descending=True, nulls_first=True)], 3).tolist()
    [1, 0, 2]
    """
    if not columns:
        return np.arange(count)
    return np.lexsort([_places(one) for one in reversed(columns)])


def _places(column: SortedBy) -> Numbers:
    """For each row a number that is ordered as the rows are."""
    values = column.values
    if is_floating(values.type):
        values = pc.add(values, pa.scalar(0.0, values.type))  # of the negative zero, the positive one
    encoded = values.dictionary_encode()
    distinct = encoded.dictionary
    places = np.empty(len(distinct), np.int64)
    places[np.asarray(pc.sort_indices(distinct))] = np.arange(len(distinct))  # which puts NaN last
    if column.descending:
        places = -1 - places
    null = -len(distinct) - 1 if column.nulls_first else len(distinct)
    rows = encoded.indices.fill_null(len(distinct)).to_numpy(zero_copy_only=False)
    found: Numbers = np.append(places, null)[rows]
    return found


__all__ = ["SortedBy", "order_of"]
