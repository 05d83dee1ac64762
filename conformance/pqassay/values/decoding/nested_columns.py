"""Columns with the groups and lists around their values, resolved to one of these groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay.under_test.file import NotChecked
from pqassay_spec.parquet.schema.tree import SchemaNode


def nested(pieces: Sequence[Any]) -> Any:
    """The pieces of a column as one array, including groups and lists. Raises `NotChecked` if there are too many values."""
    if len(pieces) == 1:
        return pieces[0]
    whole = pa.chunked_array(pieces).unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        raise NotChecked("a column has more than 2 GiB in one row group", "tool")
    return whole


def column_at(path: Sequence[SchemaNode], array: Any) -> tuple[Any, NDArray[np.int64]]:
    """A column at a group, and the row of each slot of the group, int64.

    Args:
        path: The nodes from below the root to the group.
        array: The column.
    """
    rows = np.arange(len(array))
    for place, node in enumerate(path):
        array = pc.struct_field(array, [0]) if place else array
        if node.is_repeated:
            rows = rows[pc.list_parent_indices(array).to_numpy(zero_copy_only=False)]
            array = array.flatten()
    return array, rows


def path_to(root: SchemaNode, place: int) -> tuple[SchemaNode, ...]:
    """The nodes from below the root to the one at a place."""
    path: list[SchemaNode] = []
    node = root
    while node.place != place:
        node = [child for child in node.children if child.place <= place][-1]
        path.append(node)
    return tuple(path)


class OffLength(NamedTuple):
    """The first list of a wrong length: its row, its length, and the number of such lists."""

    row: int
    length: int
    total: int


def lengths_at(path: Sequence[SchemaNode], pieces: Sequence[Any], wanted: int) -> OffLength | None:
    """The first list of a group with a wrong length; ``None`` if there is none. Null lists are skipped."""
    groups, rows = column_at(path, nested(pieces))
    lengths = pc.list_value_length(pc.struct_field(groups, [0])).fill_null(wanted).to_numpy()
    off = np.flatnonzero(lengths != wanted)
    return OffLength(int(rows[off[0]]), int(lengths[off[0]]), len(off)) if len(off) else None
