"""Sketches: HyperLogLog and KLL by Apache DataSketches, for a file, each row group, or each page.

Source: chapter ``directory.md``, section "Sketches".
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from pqassay_reference.directory.making.blobs import MadeBlob
from pqassay_reference.directory.making.described_data import DescribedColumn, DescribedData
from pqassay_reference.directory.making.ordered_values import (
    OrderedValues,
    doubles,
    each_plain,
    ordered_values,
)
from pqassay_reference.directory.size_limit import SizeLimit
from pqassay_reference.errors import Refused
from pqassay_spec.base.installing import install
from pqassay_spec.directory.codes import Granularity, IndexType
from pqassay_spec.directory.sketches import build_sketches, hll_item

LG_K = 12
"""Logarithm to base 2 of an HLL sketch's registers: an error of 1.6 percent in 4 KiB."""

K = 200
"""The parameter k of a KLL sketch: nearly always, the error of ranks is at most 1.3 percent."""


def library() -> Any:
    """The module ``datasketches``. Raises `Refused` with advice if it is not installed."""
    try:
        module: Any = importlib.import_module("datasketches")  # an extra, which only sketches need
    except ImportError:
        raise Refused(
            f"sketches need the library datasketches: {install('sketches')} (it has no wheels for Python 3.14 yet)"
        ) from None
    return module


def sketches(data: DescribedData, kind: IndexType, *, parameter: int | None, limit: SizeLimit) -> MadeBlob:
    """The blob of sketches of a column.

    Args:
        data: The column.
        kind: HLL or KLL.
        parameter: The size parameter: for HLL the logarithm of the number of registers, for KLL k.
        limit: The limit of the size of the blob.

        Raises:
            Refused: The library is not installed, the column cannot be sketched, or the blob is too large.
    """
    column = data.columns[0]
    new = _maker(kind, parameter)
    give = _give_to_hll if kind == IndexType.HLL else _give_to_kll
    parts: list[Any] = [new()] if data.granularity == Granularity.FILE else []
    value_count = 0
    for group in data.row_groups():
        values = ordered_values(column, group.columns[0])
        for start, stop in itertools.pairwise(group.bounds.tolist()):
            if data.granularity != Granularity.FILE:
                parts.append(new())
            part = values.slice(start, stop)
            give(parts[-1], column, part)
            value_count += len(part.values) - part.values.null_count
    made = [part.serialize_compact() if kind == IndexType.HLL else part.serialize() for part in parts]
    limit.require(sum(map(len, made)))
    return MadeBlob(build_sketches(made), value_count)


def _maker(kind: IndexType, parameter: int | None) -> Callable[[], Any]:
    module = library()
    if kind == IndexType.HLL:
        return lambda: module.hll_sketch(parameter or LG_K, module.tgt_hll_type.HLL_8)
    return lambda: module.kll_doubles_sketch(parameter or K)


def _give_to_hll(sketch: Any, column: DescribedColumn, part: OrderedValues) -> None:
    """Give each distinct value to the sketch once, because repetitions do not change it."""
    try:
        for raw in each_plain(column, part.distinct):
            sketch.update(hll_item(column.leaf, raw))
    except UnicodeDecodeError as error:
        raise Refused(f"column {column.leaf.name} holds text that is not UTF-8: {error.reason}") from None


def _give_to_kll(sketch: Any, column: DescribedColumn, part: OrderedValues) -> None:
    sketch.update(np.array(doubles(column, part.values.drop_null())))  # the library takes no read-only array


__all__ = ["LG_K", "K", "library", "sketches"]
