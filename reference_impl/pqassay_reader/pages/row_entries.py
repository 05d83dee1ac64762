"""Entries of nested columns: the number of values, nulls and empty lists that each row has in a leaf, counted from decoded values.

Page headers count entries, but only those of version 2 also count rows.  These counts therefore show where the pages of a list begin.

Source: apache/parquet-format, ``README.md``, section "Nested Encoding".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Counts = NDArray[np.int64]
"""A count for each row."""


def row_entries(values: Any, leaf: int) -> Counts:
    """The number of entries of each row.

    >>> row_entries(pa.chunked_array([pa.array([[1, 2], [], None])]), 0).tolist()
    [2, 1, 1]

    Args:
        values: A chunked array.
        leaf: Position of the leaf among the leaves of the type, depth first.
    """
    counts = [_entries(piece, leaf) for piece in values.chunks]
    return np.concatenate(counts) if counts else np.zeros(0, np.int64)


def _entries(array: Any, leaf: int) -> Counts:
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _entries(array.storage, leaf)
    if pa.types.is_struct(kind):
        return _of_member(array, leaf)
    if pa.types.is_fixed_size_list(kind):
        return _of_fixed_lists(array, leaf)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        return _of_lists(array, leaf)
    return np.ones(len(array), np.int64)


def _of_member(array: Any, leaf: int) -> Counts:
    for number, field in enumerate(array.type):
        count = _leaves(field.type)
        if leaf < count:
            return _entries(array.field(number), leaf)
        leaf -= count
    raise IndexError(leaf)


def _of_lists(array: Any, leaf: int) -> Counts:
    offsets = array.offsets.to_numpy().astype(np.int64)
    first, last = int(offsets[0]), int(offsets[-1])
    inner = _entries(array.values.slice(first, last - first), leaf)
    before = np.concatenate([[0], inner]).cumsum()
    counts: Counts = np.maximum(np.diff(before[offsets - first]), 1)
    return counts


def _of_fixed_lists(array: Any, leaf: int) -> Counts:
    size = array.type.list_size
    inner = _entries(array.values.slice(array.offset * size, len(array) * size), leaf)
    held = inner.reshape(len(array), size).sum(axis=1)
    is_valid = np.asarray(array.is_valid())
    counts: Counts = np.maximum(np.where(is_valid, held, 1), 1)
    return counts


def _leaves(kind: Any) -> int:
    """The number of leaves of a type."""
    if isinstance(kind, pa.BaseExtensionType):
        return _leaves(kind.storage_type)
    if pa.types.is_nested(kind):
        return sum(_leaves(kind.field(number).type) for number in range(kind.num_fields))
    return 1


__all__ = ["Counts", "row_entries"]
