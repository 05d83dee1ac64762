"""Comparison of a GeoParquet document's claims about a column with its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pqassay.under_test.schemas.geo_copy import ROUNDED, Span
from pqassay.values.claims.geometries import AXES, Geometries, geometries_of, parts_of
from pqassay.values.decoding.chunk_values import ChunkValues

HALF_A_DIGIT = 2.0**-23
"""The relative rounding error of a single-precision number."""


class PointBeyond(NamedTuple):
    """The first value with a coordinate outside a span.

    It has the place of the value, the span, the number, and how many values are outside.
    """

    place: int
    span: Span
    number: float
    total: int


def beyond(decoded: ChunkValues, spans: Sequence[Span]) -> PointBeyond | None:
    """The first geometry outside the spans; ``None`` if there is none. Raises `NotChecked` if a geometry cannot be read."""
    first_beyond: PointBeyond | None = None
    total = 0
    for part, geometries in geometries_of(decoded):
        is_outside = np.zeros(len(geometries.is_malformed), np.bool_)
        for points in geometries.points():
            for span in spans:
                numbers = points.coordinates[:, AXES.index(span.axis)]
                rows = np.flatnonzero(_is_off(numbers, span))
                is_outside[points.of[rows]] = True
                if len(rows):
                    row = int(rows[points.of[rows].argmin()])
                    place = int(part.places[points.of[row]])
                    if first_beyond is None or place < first_beyond.place:
                        first_beyond = PointBeyond(place, span, float(numbers[row]), 0)
        total += int(part.counts[is_outside].sum())
    return first_beyond and first_beyond._replace(total=total)


def number_beyond(decoded: ChunkValues, span: Span) -> PointBeyond | None:
    """The first number outside a span, if each axis has its own column; ``None`` if there is none."""
    numbers = decoded.values.to_numpy(zero_copy_only=False).astype(np.float64)
    off = np.flatnonzero(_is_off(numbers, span))
    return PointBeyond(int(off[0]), span, float(numbers[off[0]]), len(off)) if len(off) else None


def _is_off(numbers: NDArray[np.float64], span: Span) -> NDArray[np.bool_]:
    """A bool mask of the numbers outside a span, beyond rounding.

    NaN is never outside. An x span across the antimeridian contains the numbers beyond both of its ends.
    """
    room = ROUNDED * np.maximum(np.abs(numbers), max(abs(span.low), abs(span.high)))
    below, above = numbers < span.low - room, numbers > span.high + room
    return np.asarray(below & above if span.low > span.high else below | above, np.bool_)


class Boxes(NamedTuple):
    """The boxes of geometries.

    It has the row of each box, int64, and the smallest and the greatest coordinates, float64 with a column for each axis; NaN if absent.
    """

    rows: NDArray[np.int64]
    least: NDArray[np.float64]
    greatest: NDArray[np.float64]


def boxes_of(decoded: ChunkValues) -> Boxes:
    """The boxes of the geometries of a column without lists. Raises `NotChecked` if a geometry cannot be read."""
    least, greatest = np.full((2, decoded.count, len(AXES)), np.nan)
    for part, geometries in geometries_of(decoded):
        for points in geometries.points():
            np.fmin.at(least, part.places[points.of], points.coordinates)
            np.fmax.at(greatest, part.places[points.of], points.coordinates)
    if pa.types.is_dictionary(decoded.values.type):
        _, first, of = np.unique(decoded.values.indices.to_numpy(), return_index=True, return_inverse=True)
        least, greatest = least[first[of]], greatest[first[of]]
    return Boxes(np.flatnonzero(decoded.valid), least, greatest)


class Uncovered(NamedTuple):
    """The first row whose box does not contain its geometry.

    It has the bound, its value or ``None``, the coordinate outside it, and how many rows are like it.
    """

    row: int
    bound: str
    value: float | None
    coordinate: float
    total: int


def numbers_of(decoded: ChunkValues) -> NDArray[np.float64]:
    """The numbers of a column without lists, row by row; NaN for null."""
    rows = np.full(decoded.entries, np.nan)
    rows[decoded.valid] = decoded.values.to_numpy(zero_copy_only=False)
    return rows


def uncovered(
    boxes: Boxes, bounds: Mapping[str, NDArray[np.float64]], single: frozenset[str]
) -> Uncovered | None:
    """The first row whose box, perhaps in single precision, does not contain its geometry; ``None`` if there is none."""
    off = np.zeros(len(boxes.rows), np.bool_)
    first_uncovered: Uncovered | None = None
    for bound, column in bounds.items():
        axis, is_least = AXES.index(bound[0]), bound.endswith("min")
        coordinates = (boxes.least if is_least else boxes.greatest)[:, axis]
        numbers = column[boxes.rows]
        room = (HALF_A_DIGIT if bound in single else 0.0) * np.abs(numbers)
        fails = coordinates < numbers - room if is_least else coordinates > numbers + room
        fails |= np.isnan(numbers) & ~np.isnan(coordinates)
        if bound[0] == "x":  # a box may cross the antimeridian
            fails &= ~(bounds["xmin"] > bounds["xmax"])[boxes.rows]
        if fails.any():
            place = int(fails.argmax())
            row = int(boxes.rows[place])
            if first_uncovered is None or row < first_uncovered.row:
                value = None if np.isnan(numbers[place]) else float(numbers[place])
                first_uncovered = Uncovered(row, bound, value, float(coordinates[place]), 0)
        off |= fails
    return first_uncovered and first_uncovered._replace(total=int(np.count_nonzero(off)))


class OffTypes(NamedTuple):
    """The first value that is not of the given types.

    It has the place, the type's code, ``None`` if it is not a geometry, and how many values are like it.
    """

    place: int
    code: int | None
    total: int


def off_types(decoded: ChunkValues, codes: frozenset[int]) -> OffTypes | None:
    """The first value that is not a geometry of one of the types, or of any type if none are given; ``None`` if there is none."""
    first_off: OffTypes | None = None
    total = 0
    for part in parts_of(decoded):
        geometries = Geometries(part.values)
        wrong = geometries.is_malformed | (bool(codes) & ~np.isin(geometries.codes, list(codes)))
        total += int(part.counts[wrong].sum())
        if first_off is None and wrong.any():
            place = int(wrong.argmax())
            code = None if geometries.is_malformed[place] else int(geometries.codes[place])
            first_off = OffTypes(int(part.places[place]), code, 0)
    return first_off and first_off._replace(total=total)
