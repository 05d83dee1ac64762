"""Comparison of bloom filters with all values that they should contain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay.values.decoding.hashes import hashes_of, held

AT_ONCE = 1 << 16
"""The number of values that are hashed together: few enough for the processor's cache."""


def absent(decoded: ChunkValues, bitset: bytes) -> NDArray[np.bool_] | None:
    """A bool mask of the values that a filter lacks; ``None`` if it has all.

    Args:
        decoded: The values; not booleans.
        bitset: The filter, whole blocks.
    """
    values = decoded.values
    if pa.types.is_dictionary(values.type):
        entries = ~held(bitset, hashes_of(values.dictionary))
        result = entries[values.indices.to_numpy()] if entries.any() else None
    else:
        prober = _Prober(bitset)
        parts = [prober.absent(piece) for piece in decoded.pieces(AT_ONCE)]
        result = np.concatenate(parts) if any(part.any() for part in parts) else None
    return result


class _Prober:
    """Probes a filter for pieces of a column; repeated byte arrays are hashed once per piece."""

    def __init__(self, bitset: bytes) -> None:
        self._bitset = bitset
        self._repeats = True

    def absent(self, piece: Any) -> NDArray[np.bool_]:
        """A bool mask of the values of a piece that the filter lacks."""
        if not self._repeats or not pa.types.is_binary(piece.type):
            return ~held(self._bitset, hashes_of(piece))
        encoded = piece.dictionary_encode()
        self._repeats = len(encoded.dictionary) * 2 < len(piece)  # the next piece is probably similar
        absent: NDArray[np.bool_] = ~held(self._bitset, hashes_of(encoded.dictionary))
        return absent[encoded.indices.to_numpy()] if absent.any() else np.zeros(len(piece), np.bool_)
