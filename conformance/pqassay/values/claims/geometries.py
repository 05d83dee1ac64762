"""Geometries in byte arrays: the unreadable ones, and the points of the others.

`pqassay_spec.parquet.encoding.wkb` reads one after the other, except for columns of points with only x and y,
whose numbers are taken from the bytes run by run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pqassay.under_test.file import NotChecked
from pqassay.values.claims.texts import Flags, Ints, bytes_of
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay_spec.base.errors import FormatError, Unsupported
from pqassay_spec.parquet.encoding.wkb import (
    DEEPEST,
    HEAD_SIZE,
    PLANAR_POINT_HEAD,
    PLANAR_POINT_SIZE,
    ByteOrder,
    GeometryKind,
    point_runs,
    type_of,
)

AT_ONCE = 1 << 22
"""The number of bytes of geometries that are parsed together; at least one geometry."""

PIECE = 1 << 16
"""The number of values whose dictionary is decoded together."""

AXES = ("x", "y", "z", "m")


class Points(NamedTuple):
    """Points: the number of the geometry of each, int64; and x, y, z and m, float64, NaN if absent."""

    of: Ints
    coordinates: NDArray[np.float64]


class Geometries:
    """The geometries of an array of binary without nulls.

    Attributes:
        is_malformed: A bool mask of the geometries that cannot be read.
        is_too_deep: A bool mask of the geometries that are nested too deeply to read; they are also malformed.
        codes: The type of each geometry, int64; 0 if it has none.
    """

    def __init__(self, array: Any) -> None:
        count = len(array)
        self.is_malformed, self.is_too_deep = np.zeros((2, count), np.bool_)
        self.codes = np.full(count, int(GeometryKind.POINT))
        self._taken = defaultdict[str, list[tuple[int, NDArray[np.float64]]]](list)
        self._planar = _planar_points(array)
        if self._planar is not None:
            return
        for number, raw in enumerate(array.to_pylist()):
            self.codes[number] = 0
            try:
                self.codes[number] = type_of(raw)
                runs = point_runs(raw)
            except FormatError as error:
                self.is_malformed[number], self.is_too_deep[number] = True, isinstance(error, Unsupported)
                continue
            for run in runs:
                kind = "<f8" if run.order is ByteOrder.LITTLE else ">f8"
                points = np.frombuffer(raw[run.start : run.end], kind).reshape(-1, 2 + len(run.axes))
                self._taken[run.axes].append((number, points))

    def points(self) -> Iterator[Points]:
        """Yield the points of the readable geometries."""
        if self._planar is not None:
            yield _points(np.arange(len(self._planar)), self._planar, "")
        for axes, taken in self._taken.items():
            of = np.repeat([number for number, _ in taken], [len(points) for _, points in taken])
            yield _points(of, np.concatenate([points for _, points in taken]), axes)


def _points(of: Ints, points: NDArray[np.float64], axes: str) -> Points:
    """Points with some axes beside x and y."""
    whole = np.full((len(of), len(AXES)), np.nan)
    whole[:, [AXES.index(axis) for axis in f"xy{axes}"]] = points
    return Points(of, whole)


def _planar_points(array: Any) -> NDArray[np.float64] | None:
    """The x and y of little-endian points without other axes; ``None`` if a value is something else."""
    raw, ends = bytes_of(array)
    if not len(array) or (np.diff(ends) != PLANAR_POINT_SIZE).any():
        return None
    rows = raw.reshape(len(array), PLANAR_POINT_SIZE)
    if (rows[:, :HEAD_SIZE] != np.frombuffer(PLANAR_POINT_HEAD, np.uint8)).any():
        return None
    return np.ascontiguousarray(rows[:, HEAD_SIZE:]).view("<f8")


def sliced(array: Any) -> Iterator[tuple[int, Any]]:
    """Yield parts of a binary array with at most `AT_ONCE` bytes, each with its offset."""
    ends, start = bytes_of(array).ends, 0
    while start < len(array):
        behind = max(int(np.searchsorted(ends, ends[start] + AT_ONCE, "right")) - 1, start + 1)
        yield start, array.slice(start, behind - start)
        start = behind


class Part(NamedTuple):
    """Values that are processed together: first places, ascending, and numbers of occurrences, int64; and a binary array."""

    places: Ints
    counts: Ints
    values: Any


def parts_of(decoded: ChunkValues) -> Iterator[Part]:
    """Yield the values of a chunk, part by part; each entry of a dictionary occurs once, even if many rows have it."""
    values = decoded.values
    if pa.types.is_dictionary(values.type):
        used, first, counts = np.unique(
            values.indices.to_numpy().astype(np.int64), return_index=True, return_counts=True
        )
        order = np.argsort(first)
        places, counts = first[order], counts[order]
        pieces: Iterable[Any] = [values.dictionary.take(pa.array(used[order]))]
    else:
        pieces, places = decoded.pieces(PIECE), np.arange(decoded.count)
        counts = np.ones(decoded.count, np.int64)
    before = 0
    for piece in pieces:
        for start, part in sliced(piece):
            some = slice(before + start, before + start + len(part))
            yield Part(places[some], counts[some], part)
        before += len(piece)


def geometries_of(decoded: ChunkValues) -> Iterator[tuple[Part, Geometries]]:
    """Yield the values of a chunk as geometries, part by part.

    Raises:
        NotChecked: A geometry cannot be read.
    """
    for part in parts_of(decoded):
        geometries = Geometries(part.values)
        if geometries.is_too_deep.any():
            raise NotChecked(f"a geometry is nested more than {DEEPEST} deep", "tool")
        if geometries.is_malformed.any():
            raise NotChecked("a geometry cannot be read", "another rule")
        yield part, geometries


def types_of(decoded: ChunkValues) -> dict[int, int]:
    """The place of the first geometry of each type, by its code.

    Raises:
        NotChecked: A value is not a geometry whose type can be read.
    """
    first: dict[int, int] = {}
    for part in parts_of(decoded):
        found = np.unique(Geometries(part.values).codes, return_index=True)
        for code, place in zip(*(each.tolist() for each in found), strict=True):
            if not code:
                raise NotChecked("a geometry cannot be read", "another rule")
            first.setdefault(code, int(part.places[place]))
    return first


class GeometryTest:
    """Looks for values that are not geometries.

    Attributes:
        is_lost: Whether a geometry was nested too deeply to read.
    """

    is_lost = False

    def __call__(self, array: Any) -> Flags | None:
        """A bool mask of the values that are not geometries; ``None`` if all can be geometries."""
        wrong = list[Flags]()
        for _, part in sliced(array):
            geometries = Geometries(part)
            self.is_lost |= bool(geometries.is_too_deep.any())
            wrong.append(geometries.is_malformed & ~geometries.is_too_deep)
        return np.concatenate(wrong) if any(part.any() for part in wrong) else None
