"""The box of geospatial statistics, compared with the coordinates of all geometries."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pqassay.under_test.file import NotChecked
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay.values.decoding.hashes import buffer_of
from pqassay_spec.base.errors import Malformed
from pqassay_spec.parquet.encoding.wkb import HEAD_SIZE, PLANAR_POINT_HEAD, PLANAR_POINT_SIZE, coordinates
from pqassay_spec.parquet.thrift import BoundingBox

AT_ONCE = 1 << 16
"""Geometries that are looked at together."""

AXES = ("x", "y", "z", "m")

LAST_DIGITS = 1e-12
"""How far a coordinate may lie outside, as a part of the greater bound of its axis, and be off by the last digits alone."""

DATE_LINE, POLE = 180.0, 90.0
"""The greatest longitude and latitude of a GEOGRAPHY."""


class OffBox(NamedTuple):
    """A coordinate outside the box: the place of its geometry, the axis, the number, and how many geometries there are like it."""

    place: int
    axis: str
    number: float
    total: int


class Strictness(NamedTuple):
    """What counts as outside.

    Attributes:
        is_exact: Whether numbers are compared as they are; otherwise the last digits, and other longitudes of the same place of a
            GEOGRAPHY, are left out of account.
        is_geography: Whether the column is a GEOGRAPHY: what is no longitude or latitude lies in no box.
    """

    is_exact: bool
    is_geography: bool


def off_box(decoded: ChunkValues, box: BoundingBox, strictness: Strictness) -> OffBox | None:
    """The first geometry with a coordinate outside the box, ``None`` without.

    Raises:
        NotChecked: A value is no geometry that can be read.
    """
    first: tuple[int, str, float] | None = None
    count = start = 0
    for piece in decoded.pieces(AT_ONCE):
        for place, axis, number in _outside(piece, box, strictness):
            first = first or (start + place, axis, number)
            count += 1
        start += len(piece)
    return None if first is None else OffBox(*first, count)


def _outside(piece: Any, box: BoundingBox, strictness: Strictness) -> Iterator[tuple[int, str, float]]:
    """The geometries with a coordinate outside the box, each once."""
    points = _planar_points(piece)
    if points is not None:
        is_outside = _off_axes(points, box, strictness)
        for place in np.flatnonzero(is_outside.any(axis=1)).tolist():
            number = int(is_outside[place].argmax())
            yield place, AXES[number], float(points[place, number])
        return
    for place, raw in enumerate(piece.to_pylist()):
        try:
            found = np.array(list(coordinates(raw)), np.float64).reshape(-1, len(AXES))
        except Malformed as error:
            raise NotChecked(f"a geometry cannot be read: {error.reason}", "file") from None
        off = _off_axes(found, box, strictness)
        for number, axis in enumerate(AXES):
            if off[:, number].any():
                yield place, axis, float(found[off[:, number].argmax(), number])
                break


def _planar_points(piece: Any) -> NDArray[np.float64] | None:
    """The coordinates of geometries that are all little-endian points with x and y alone; ``None`` of others."""
    count = len(piece)
    piece = piece.cast(pa.large_binary())
    ends = buffer_of(piece, 1, np.int64)[piece.offset : piece.offset + count + 1]
    if (np.diff(ends) != PLANAR_POINT_SIZE).any() or not count:
        return None
    rows = buffer_of(piece, 2, np.uint8)[ends[0] : ends[-1]].reshape(count, PLANAR_POINT_SIZE)
    if (rows[:, :HEAD_SIZE] != np.frombuffer(PLANAR_POINT_HEAD, np.uint8)).any():
        return None
    return np.ascontiguousarray(rows[:, HEAD_SIZE:]).view("<f8")


def _off_axes(points: NDArray[np.float64], box: BoundingBox, strictness: Strictness) -> NDArray[np.bool_]:
    """Which coordinates lie outside, bool of the shape of the points."""
    is_exact, is_geography = strictness
    off = np.stack(
        [
            _is_off(points[:, number], box, axis, is_exact=is_exact)
            for number, axis in enumerate(AXES[: points.shape[1]])
        ],
        axis=1,
    )
    if is_geography:
        x, y = points[:, 0], points[:, 1]
        off[:, 0] &= np.abs(x) <= DATE_LINE
        off[:, 1] &= np.abs(y) <= POLE
        if not is_exact:
            off[:, 0] &= (np.abs(x) != DATE_LINE) | _is_off(-x, box, "x", is_exact=False)
            off[:, 0] &= np.abs(y) != POLE
    return off


def _is_off(
    numbers: NDArray[np.float64], box: BoundingBox, axis: str, *, is_exact: bool
) -> NDArray[np.bool_]:
    """The numbers outside, bool; NaN, the coordinate of an empty point, lies nowhere."""
    least, greatest = getattr(box, f"{axis}min"), getattr(box, f"{axis}max")
    if least is None or greatest is None:
        return np.zeros(len(numbers), np.bool_)
    sizes = [abs(bound) for bound in (least, greatest) if math.isfinite(bound)]
    margin = 0.0 if is_exact else LAST_DIGITS * max(sizes, default=0.0)
    below, above = numbers < least - margin, numbers > greatest + margin
    return np.asarray(below & above if axis == "x" and least > greatest else below | above, np.bool_)
