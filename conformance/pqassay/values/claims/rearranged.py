"""Values whose bytes are misplaced: another order of the bytes in which the values fit the bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pqassay.values.decoding.hashes import physical_rows

Rows = NDArray[np.uint8]
"""The little-endian bytes of fixed-width values, one row per value."""

ALL_BATCHES = 64
"""The number of values up to which all batch lengths are tried; above it, only powers of two and halves."""


def is_of_one_width(values: Any) -> bool:
    """Whether all values of an array have the same size, greater than one byte."""
    kind = values.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return (is_number or pa.types.is_fixed_size_binary(kind)) and kind.bit_width > 8


def arrangements(values: Any) -> Iterator[tuple[str, Any]]:
    """Yield the values with their bytes in another order, and a description of the change.

    Args:
        values: Values of one width and of one page, without nulls and without a dictionary.
    """
    rows = physical_rows(values)
    for words, rearranged in _rearranged(rows):
        content = np.ascontiguousarray(rearranged)
        buffers: Any = [None, pa.py_buffer(content)]  # type: ignore[arg-type]  # an array is a buffer
        yield words, pa.Array.from_buffers(values.type, len(content), buffers)


def _rearranged(rows: Rows) -> Iterator[tuple[str, Rows]]:
    count, width = rows.shape
    flat = rows.reshape(-1)
    yield "with the bytes of each value reversed", rows[:, ::-1]
    for kept in range(1, width):
        if rows[:, kept:].any():
            continue
        sign = np.where(rows[:, kept - 1 : kept] >= 0x80, 0xFF, 0).astype(np.uint8)
        extended = np.concatenate([rows[:, :kept], np.repeat(sign, width - kept, axis=1)], axis=1)
        yield f"with the sign of their lowest {kept} byte{'s' * (kept > 1)}", extended
    if count > 1:
        for shift in range(1, width):
            yield (
                f"with all bytes {shift} further to the front",
                flat[shift : shift - width].reshape(count - 1, width),
            )
        split = f"as {width} streams of bytes"
        yield f"{split}, put together again", flat.reshape(width, count).T
        yield f"{split}, split again", rows.T.reshape(count, width)
        stored = rows.T.reshape(-1)
        for batch in _batches(count):
            yield f"{split} for every {batch} values", _by_batches(stored, batch, width)


def _batches(count: int) -> Iterator[int]:
    if count <= ALL_BATCHES:
        yield from range(1, count)
        return
    yield from sorted(
        {-(-count // 2), count // 2, *(1 << bits for bits in range(3, count.bit_length()))} - {count}
    )


def _by_batches(stored: Rows, batch: int, width: int) -> Rows:
    step = batch * width
    parts = [stored[start : start + step] for start in range(0, len(stored), step)]
    return np.concatenate([part.reshape(width, -1).T for part in parts])


def fitting_arrangement(values: Any, fits: Callable[[Any], bool]) -> str:
    """The change that makes values fit; empty if none of the tried changes does.

    Args:
        values: As for `arrangements`.
        fits: Whether values of the same type fit.
    """
    return next((words for words, rearranged in arrangements(values) if fits(rearranged)), "")


def holds_nothing(values: Any) -> bool:
    """Whether there are several values and all their bytes are zero; byte arrays may also be empty."""
    if len(values) < 4:
        return False
    if is_of_one_width(values):
        return not physical_rows(values).any()
    if pa.types.is_boolean(values.type):
        return False
    return not any(bytes(raw).strip(b"\0") for raw in values.to_pylist()[:1024])
