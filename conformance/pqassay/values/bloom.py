"""Bloom filters compared with all values that they should hold."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The type stubs of pyarrow leave parts of what is used here unknown.
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pqassay.values.chunk_values import ChunkValues, buffer_view
from pqassay.values.hashes import hashes_of, held
from pqassay.values.order import Outside
from pqassay_spec.parquet.column_order import FLOATING, Order, type_order

AT_ONCE = 1 << 16
"""Values that are hashed together: few enough for the processor's cache."""


@dataclass
class Lacking:
    """The values that a filter does not hold: zeros and NaN, and all others."""

    special: Outside = field(default_factory=Outside)
    others: Outside = field(default_factory=Outside)


def lacking(found: ChunkValues, bitset: bytes) -> Lacking:
    """Probe a filter for every value.

    Args:
        found: The values, no booleans.
        bitset: The filter, whole blocks.
    """
    result = Lacking()
    order = type_order(found.chunk.leaf.element)
    values = found.values
    if pa.types.is_dictionary(values.type):
        absent = ~held(bitset, hashes_of(values.dictionary))
        if absent.any():
            _note(result.others, absent[values.indices.to_numpy()], 0)
    else:
        start = 0
        zero_is_held: bool | None = None
        prober = _Prober(bitset)
        for piece in found.pieces(AT_ONCE):
            absent = prober.absent(piece)
            if absent.any() and order in FLOATING:
                numbers = _numbers(order, piece)
                if zero_is_held is None:
                    zero_is_held = _holds_zero(piece, bitset)
                if zero_is_held:  # negative zero may be held as the zero that it equals
                    absent &= numbers != 0
                special = (numbers == 0) | np.isnan(numbers)
                _note(result.special, absent & special, start)
                absent &= ~special
            _note(result.others, absent, start)
            start += len(piece)
    for outside in (result.special, result.others):
        if outside.count:
            outside.value = found.raw_of(outside.first)
    return result


class _Prober:
    """Probes a filter for pieces of a column; byte arrays that repeat are hashed once in each piece."""

    def __init__(self, bitset: bytes) -> None:
        self._bitset = bitset
        self._repeats = True

    def absent(self, piece: Any) -> NDArray[np.bool_]:
        """Which values of a piece the filter does not hold."""
        if not self._repeats or not pa.types.is_binary(piece.type):
            return ~held(self._bitset, hashes_of(piece))
        encoded = piece.dictionary_encode()
        self._repeats = len(encoded.dictionary) * 2 < len(piece)  # as in this piece, so in the next
        absent: NDArray[np.bool_] = ~held(self._bitset, hashes_of(encoded.dictionary))
        return absent[encoded.indices.to_numpy()] if absent.any() else np.zeros(len(piece), np.bool_)


def _numbers(order: Order | None, piece: Any) -> NDArray[Any]:
    return buffer_view(piece) if order is Order.HALF else piece.to_numpy(zero_copy_only=False)


def _holds_zero(piece: Any, bitset: bytes) -> bool:
    width = piece.type.bit_width // 8
    zero = pa.Array.from_buffers(pa.binary(width), 1, [None, pa.py_buffer(bytes(width))])
    return bool(held(bitset, hashes_of(zero))[0])


def _note(outside: Outside, mask: NDArray[np.bool_], start: int) -> None:
    count = int(mask.sum())
    if count and not outside.count:
        outside.first = start + int(mask.argmax())
    outside.count += count
