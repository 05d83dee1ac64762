"""The types of all geometries of a column chunk, as the first bytes of each tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pqassay.under_test.file import NotChecked
from pqassay.values.claims.geometries import parts_of
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay.values.decoding.hashes import buffer_of
from pqassay_spec.parquet.encoding.wkb import HEAD_SIZE, ORDER, ByteOrder, is_type_code


def types_of(decoded: ChunkValues) -> dict[int, int]:
    """The place of the first geometry of each type, by its code.

    Raises:
        NotChecked: A value is no geometry whose type can be read.
    """
    first: dict[int, int] = {}
    for part in parts_of(decoded):
        codes = _codes(part.values)
        for code, place in zip(
            *(found.tolist() for found in np.unique(codes, return_index=True)), strict=True
        ):
            if not is_type_code(code):
                raise NotChecked(f"a geometry cannot be read: {code} is no type of one", "another rule")
            first.setdefault(code, int(part.places[place]))
    return first


def _codes(piece: Any) -> NDArray[np.int64]:
    """The code that each geometry begins with, behind its byte order."""
    count = len(piece)
    piece = piece.cast(pa.large_binary())
    ends = buffer_of(piece, 1, np.int64)[piece.offset : piece.offset + count + 1]
    if count and int(np.diff(ends).min()) < HEAD_SIZE:
        raise NotChecked("a geometry cannot be read: it is cut off", "another rule")
    raw = buffer_of(piece, 2, np.uint8)
    heads = raw[ends[:-1, None] + np.arange(HEAD_SIZE)] if count else np.zeros((0, HEAD_SIZE), np.uint8)
    orders, numbers = heads[:, 0], np.ascontiguousarray(heads[:, ORDER.sizeof() :])
    if not np.isin(orders, list(ByteOrder)).all():
        raise NotChecked("a geometry cannot be read: its byte order is unknown", "another rule")
    little, big = (numbers.view(kind).reshape(-1).astype(np.int64) for kind in ("<u4", ">u4"))
    return np.where(orders == ByteOrder.LITTLE, little, big)
