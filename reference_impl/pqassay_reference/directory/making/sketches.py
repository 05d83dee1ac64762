"""Sketches: HyperLogLog and KLL by Apache DataSketches, for a file, each row group, or each page.

Source: chapter ``directory.md``, section "Sketches".
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pqassay_reference.directory.making.blobs import Blob
from pqassay_reference.directory.making.described_data import DescribedColumn, DescribedData
from pqassay_reference.directory.making.ordered_values import ColumnValues, Uniques, is_bytes
from pqassay_reference.directory.size_limit import SizeLimit
from pqassay_reference.errors import Refused
from pqassay_spec.base.installing import install
from pqassay_spec.directory.codes import Granularity, IndexType
from pqassay_spec.directory.sketches import build_sketches, hll_item, kll_item
from pqassay_spec.parquet.column_order import TOTAL

LG_K = 12
"""Logarithm to base 2 of an HLL sketch's registers: an error of 1.6 percent in 4 KiB."""

K = 200
"""The parameter of a KLL sketch: ranks are off by 1.3 percent at most, nearly always."""


def library() -> Any:
    """The module ``datasketches``. Raises `Refused` where it is not installed, with what to do."""
    try:
        module: Any = importlib.import_module("datasketches")  # an extra, which only sketches need
    except ImportError:
        raise Refused(
            f"sketches need the library datasketches: {install('sketches')} (it has no wheels for Python 3.14 yet)"
        ) from None
    return module


def sketches(data: DescribedData, kind: IndexType, *, parameter: int | None, limit: SizeLimit) -> Blob:
    """The blob of sketches of a column.

    Args:
        data: The column.
        kind: HLL or KLL.
        parameter: The size parameter: of HLL the logarithm of the registers, of KLL k.
        limit: The size of the blob.

    Raises:
        Refused: The library is not there, the column cannot be sketched, or the blob is too large.
    """
    column = data.columns[0]
    new = _maker(kind, parameter)
    give = _give_to_hll if kind == IndexType.HLL else _give_to_kll
    parts: list[Any] = [new()] if data.granularity == Granularity.FILE else []
    given = 0
    for group in data.row_groups():
        values = ColumnValues(column, group.columns[0])
        for start, stop in zip(group.bounds[:-1].tolist(), group.bounds[1:].tolist(), strict=True):
            if data.granularity != Granularity.FILE:
                parts.append(new())
            give(parts[-1], values, start, stop)
            given += int(values.valid[start:stop].sum())
    made = [part.serialize_compact() if kind == IndexType.HLL else part.serialize() for part in parts]
    limit.require(sum(map(len, made)))
    return Blob(build_sketches(made), given)


def _maker(kind: IndexType, parameter: int | None) -> Callable[[], Any]:
    module = library()
    if kind == IndexType.HLL:
        return lambda: module.hll_sketch(parameter or LG_K, module.tgt_hll_type.HLL_8)
    return lambda: module.kll_doubles_sketch(parameter or K)


def _give_to_hll(sketch: Any, values: ColumnValues, start: int, stop: int) -> None:
    """Each distinct value once: the sketch does not notice whether one comes again."""
    for item in _items(values.column, values.uniques(start, stop)):
        sketch.update(item)


def _items(column: DescribedColumn, uniques: Uniques) -> list[int | float | str]:
    """Distinct values as the sketch takes them; numbers all at once, which gives what `hll_item` does."""
    if not is_bytes(column) and column.order not in TOTAL:
        numbers: list[int | float | str] = uniques.values.astype(np.int64).tolist()
        return numbers
    try:
        return [hll_item(column.leaf, raw) for raw in uniques.each()]
    except UnicodeDecodeError as error:
        raise Refused(f"column {column.leaf.name} holds text that is not UTF-8: {error.reason}") from None


def _give_to_kll(sketch: Any, values: ColumnValues, start: int, stop: int) -> None:
    sketch.update(np.ascontiguousarray(numbers_of(values, start, stop)))


def numbers_of(values: ColumnValues, start: int, stop: int) -> NDArray[np.float64]:
    """The numbers that some rows of a column give to a KLL sketch."""
    codes = values.codes[start:stop][values.valid[start:stop]]
    column = values.column
    if column.order in TOTAL:
        return values.floats(codes)
    if is_bytes(column):
        raws: list[bytes] = values.distinct_bytes.to_pylist()
        return np.array([kll_item(column.leaf, raw) for raw in raws], np.float64)[codes]
    return codes.astype(np.float64)


__all__ = ["LG_K", "K", "library", "numbers_of", "sketches"]
