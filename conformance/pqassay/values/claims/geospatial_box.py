"""Comparison of the box of geospatial statistics with the coordinates of all geometries."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pqassay.values.claims.geometries import AXES, geometries_of
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay_spec.parquet.thrift import BoundingBox

LAST_DIGITS = 1e-12
"""The tolerance for the last digits of a coordinate, relative to the greater bound of its axis."""

DATE_LINE, POLE = 180.0, 90.0
"""The greatest longitude and latitude of a GEOGRAPHY."""


class OffBox(NamedTuple):
    """A coordinate outside the box: the place of its geometry, the axis, the number, and how many geometries are outside."""

    place: int
    axis: str
    number: float
    total: int


class Strictness(NamedTuple):
    """The rules for a coordinate to be outside the box.

    Attributes:
        is_exact: Whether numbers are compared exactly; otherwise, the last digits are ignored, and for a GEOGRAPHY equivalent longitudes are equal.
        is_geography: Whether the column is a GEOGRAPHY: numbers that are not longitudes and latitudes lie in no box.
    """

    is_exact: bool
    is_geography: bool


def off_box(decoded: ChunkValues, box: BoundingBox, strictness: Strictness) -> OffBox | None:
    """The first geometry with a coordinate outside the box; ``None`` if there is none.

    Raises:
        NotChecked: A value is not a readable geometry.
    """
    first: tuple[int, str, float] | None = None
    count = 0
    for part, geometries in geometries_of(decoded):
        is_outside = np.zeros(len(geometries.is_malformed), np.bool_)
        for points in geometries.points():
            off = _off_axes(points.coordinates, box, strictness)
            rows = np.flatnonzero(off.any(axis=1))
            is_outside[points.of[rows]] = True
            if len(rows):
                row = int(rows[points.of[rows].argmin()])
                number, place = int(off[row].argmax()), int(part.places[points.of[row]])
                if first is None or place < first[0]:
                    first = place, AXES[number], float(points.coordinates[row, number])
        count += int(part.counts[is_outside].sum())
    return None if first is None else OffBox(*first, count)


def _off_axes(points: NDArray[np.float64], box: BoundingBox, strictness: Strictness) -> NDArray[np.bool_]:
    """A bool mask of the coordinates outside, in the shape of the points."""
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
    """A bool mask of the numbers outside; NaN, the coordinate of an empty point, is never outside."""
    least, greatest = getattr(box, f"{axis}min"), getattr(box, f"{axis}max")
    if least is None or greatest is None:
        return np.zeros(len(numbers), np.bool_)
    sizes = [abs(bound) for bound in (least, greatest) if math.isfinite(bound)]
    margin = 0.0 if is_exact else LAST_DIGITS * max(sizes, default=0.0)
    below, above = numbers < least - margin, numbers > greatest + margin
    return np.asarray(below & above if axis == "x" and least > greatest else below | above, np.bool_)
