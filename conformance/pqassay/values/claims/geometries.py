"""Geometries among byte arrays: which cannot be read, and the points of the others, those of many at once.

`pqassay_spec.parquet.encoding.wkb` says what the bytes mean, one geometry after the other; this is tested to agree with it.  Each step
reads the next head, ring or point of all geometries that are not at their end; the last few are read one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pqassay.under_test.file import NotChecked
from pqassay.values.claims.texts import bytes_of
from pqassay.values.claims.variants import Flags, Ints, spread
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay_spec.base.errors import FormatError, Unsupported
from pqassay_spec.parquet.encoding.wkb import (
    AXES_STEP,
    DEEPEST,
    HEAD_SIZE,
    MEMBERS,
    NUMBER_SIZE,
    ORDINATE_SIZE,
    PLANAR_POINT_HEAD,
    PLANAR_POINT_SIZE,
    ByteOrder,
    GeometryKind,
    axes_of,
    point_runs,
)

AT_ONCE = 1 << 22
"""Bytes of geometries that are looked at together, one geometry at least."""

PIECE = 1 << 16
"""Values whose dictionary is taken away together."""

FEW = 16
"""Geometries that are read one by one."""

FIRST = 2
"""Steps that are taken together even by few: after those, most have nothing but points left."""

ALIKE = 16
"""Points with heads of their own from which on it is looked whether all are alike."""

MANY = 64
"""Points of a run that is taken by itself."""

AXES = ("x", "y", "z", "m")

_CODES = np.array([axes + kind for axes in range(0, 4 * AXES_STEP, AXES_STEP) for kind in GeometryKind])
_COLUMNS = {
    code // AXES_STEP: [AXES.index(axis) for axis in f"xy{axes_of(code)}"] for code in map(int, _CODES)
}
_AXES = {axes_of(code): code // AXES_STEP for code in map(int, _CODES)}
_MEMBERS = np.array([0, *(MEMBERS.get(kind, 0) for kind in GeometryKind)])
"""The kind of the members of each kind, 0 for any."""

_DIMENSIONS = np.array([len(columns) for _, columns in sorted(_COLUMNS.items())])


class Runs(NamedTuple):
    """Points that are stored one behind the other: of which geometry, from which byte on, how many, their axes (0 to 3), int64; and whether little-endian, bool."""

    of: Ints
    start: Ints
    points: Ints
    axes: Ints
    is_little: Flags

    def at(self, kept: Flags) -> Runs:
        """Some of them."""
        return Runs(self.of[kept], self.start[kept], self.points[kept], self.axes[kept], self.is_little[kept])


class Points(NamedTuple):
    """Points: of which geometry each is, int64; its x, y, z and m, float64, NaN where it has none."""

    of: Ints
    coordinates: NDArray[np.float64]


class Geometries:
    """The geometries of an array of binary without nulls.

    Attributes:
        is_malformed: Whether each cannot be read, bool.
        is_too_deep: Whether each is nested deeper than it is followed, bool; those are malformed as well.
        codes: The type of each that can be read, int64.
    """

    def __init__(self, array: Any) -> None:
        self._raw, self._ends = bytes_of(array)
        count = len(array)
        self.is_malformed, self.is_too_deep = np.zeros((2, count), np.bool_)
        self._runs: list[Runs] = []
        if self._are_planar_points(count):
            self.codes = np.full(count, int(GeometryKind.POINT))
            return
        self._walk(count)
        self.codes = np.zeros(count, np.int64)
        at = self._ends[:-1][~self.is_malformed]
        self.codes[~self.is_malformed] = _number(self._raw, at + 1, self._raw[at] == ByteOrder.LITTLE)

    def _are_planar_points(self, count: int) -> bool:
        """Whether all are little-endian points with x and y alone, whose places then are known."""
        if not count or (np.diff(self._ends) != PLANAR_POINT_SIZE).any():
            return False
        rows = self._raw.reshape(count, PLANAR_POINT_SIZE)
        if (rows[:, :HEAD_SIZE] != np.frombuffer(PLANAR_POINT_HEAD, np.uint8)).any():
            return False
        self._planar = np.ascontiguousarray(rows[:, HEAD_SIZE:]).view("<f8")
        return True

    _planar: NDArray[np.float64] | None = None

    def points(self) -> Iterator[Points]:
        """The points of those that can be read."""
        if self._planar is not None:
            whole = np.full((len(self._planar), len(AXES)), np.nan)
            whole[:, :2] = self._planar
            yield Points(np.arange(len(whole)), whole)
        for runs in self._runs:
            kept = ~self.is_malformed[runs.of]
            for axes in range(len(_DIMENSIONS)):
                for is_little in (True, False):
                    chosen = kept & (runs.axes == axes) & (runs.is_little == is_little)
                    if chosen.any():
                        yield from self._of_runs(runs.at(chosen))

    def _of_runs(self, runs: Runs) -> Iterator[Points]:
        """The points of runs of the same axes and byte order."""
        axes, kind = int(runs.axes[0]), "<f8" if runs.is_little[0] else ">f8"
        size = int(_DIMENSIONS[axes]) * ORDINATE_SIZE
        large = runs.points > MANY
        for of, start, count in zip(*(part[large].tolist() for part in runs[:3]), strict=True):
            yield _points(np.full(count, of), self._raw[start : start + count * size], kind, axes)
        small = ~large
        of, places = spread(runs.start[small], runs.points[small] * size)
        yield _points(runs.of[small][of[::size]], self._raw[places], kind, axes)

    # ------------------------------------------------------------------------------------------------- walk

    def _walk(self, count: int) -> None:
        state = _State(np.arange(count), self._ends[:-1], self._ends[1:])
        steps = 0
        while len(state.of) > FEW or (len(state.of) and steps < FIRST):
            steps += 1
            self._runs += state.step(self._raw)
            self.is_too_deep[state.of[state.is_too_deep]] = True
            self.is_malformed[state.drop()] = True
        self._walk_one_by_one(state.of)

    def _walk_one_by_one(self, numbers: Ints) -> None:
        """Read some from their beginning; what was taken of them before is left aside."""
        self._runs = [runs.at(~np.isin(runs.of, numbers)) for runs in self._runs]
        for number in numbers.tolist():
            begin = int(self._ends[number])
            try:
                runs = point_runs(self._raw[begin : self._ends[number + 1]].tobytes())
            except FormatError as error:
                self.is_malformed[number] = True
                self.is_too_deep[number] = isinstance(error, Unsupported)
                continue
            ints = np.array(
                [(number, begin + run.start, run.points, _AXES[run.axes]) for run in runs], np.int64
            )
            is_little = np.array([run.order is ByteOrder.LITTLE for run in runs], np.bool_)
            of, start, points, axes = ints.reshape(-1, 4).T
            self._runs.append(Runs(of, start, points, axes, is_little))


def _points(of: Ints, raw: NDArray[np.uint8], kind: str, axes: int) -> Points:
    columns = _COLUMNS[axes]
    whole = np.full((len(of), len(AXES)), np.nan)
    whole[:, columns] = np.frombuffer(raw.tobytes(), kind).reshape(-1, len(columns))
    return Points(of, whole)


class _State:
    """Geometries that are being read.

    Attributes:
        of: Their numbers.
        is_lost: Those that cannot be read, bool.
        is_too_deep: Those of them that are nested too deep, bool.
    """

    def __init__(self, of: Ints, position: Ints, end: Ints) -> None:
        self.of, self._position, self._end = of, position.copy(), end
        count = len(of)
        self._depth = np.zeros(count, np.int64)
        self._left, self._members = np.ones((count, 1), np.int64), np.zeros((count, 1), np.int64)
        self._is_ring, self._is_little = np.zeros((2, count), np.bool_)
        self._axes = np.zeros(count, np.int64)
        self.is_lost, self.is_too_deep = np.zeros((2, count), np.bool_)

    def step(self, raw: NDArray[np.uint8]) -> list[Runs]:
        """Read the next head, ring or point of each, and return the points."""
        each = np.arange(len(self.of))
        self._left[each, self._depth] -= 1
        self.is_too_deep = ~self.is_lost & (self._depth > DEEPEST)
        self.is_lost |= self.is_too_deep
        heads = ~self._is_ring & ~self.is_lost
        self.is_lost |= heads & (self._position + HEAD_SIZE > self._end)
        heads &= ~self.is_lost
        at = self._position[heads]
        orders = raw[at]
        is_little = orders == ByteOrder.LITTLE
        codes = _number(raw, at + 1, is_little)
        member = self._members[each, self._depth][heads]
        is_known = np.isin(orders, list(ByteOrder)) & np.isin(codes, _CODES)
        is_known &= (member == 0) | (member == codes % AXES_STEP)
        self.is_lost[heads] = ~is_known
        kinds = np.full(len(each), int(GeometryKind.LINE_STRING))
        kinds[heads], self._axes[heads], self._is_little[heads] = (
            codes % AXES_STEP,
            codes // AXES_STEP,
            is_little,
        )
        self._axes[self.is_lost] = 0
        self._position[heads] += HEAD_SIZE
        counted = (kinds != GeometryKind.POINT) & ~self.is_lost
        self.is_lost |= counted & (self._position + NUMBER_SIZE > self._end)
        counted &= ~self.is_lost
        counts = np.ones(len(each), np.int64)
        counts[counted] = _number(raw, self._position[counted], self._is_little[counted])
        self._position[counted] += NUMBER_SIZE
        has_points = ((kinds == GeometryKind.POINT) | (kinds == GeometryKind.LINE_STRING)) & ~self.is_lost
        ends = self._position + counts * _DIMENSIONS[self._axes] * ORDINATE_SIZE
        self.is_lost |= has_points & (ends > self._end)
        has_points &= ~self.is_lost
        runs = Runs(self.of, self._position, counts, self._axes, self._is_little)
        taken = [runs.at(has_points)]
        self._position[has_points] = ends[has_points]
        opened = ~has_points & ~self.is_lost
        for number in np.flatnonzero(
            opened & (kinds == GeometryKind.MULTI_POINT) & (counts > ALIKE)
        ).tolist():
            if (points := self._points_alike(raw, number, int(counts[number]))) is not None:
                taken.append(points)
                opened[number] = False
        self._depth[opened] += 1
        if int(self._depth.max(initial=0)) >= self._left.shape[1]:
            self._left, self._members = (np.pad(of, ((0, 0), (0, 1))) for of in (self._left, self._members))
        inner = np.flatnonzero(opened), self._depth[opened]
        self._left[inner], self._members[inner] = counts[opened], _MEMBERS[kinds[opened]]
        self._is_ring[opened] = kinds[opened] == GeometryKind.POLYGON
        return taken

    def _points_alike(self, raw: NDArray[np.uint8], number: int, count: int) -> Runs | None:
        """The points of a geometry that has nothing else and no other heads, which is then behind them; ``None`` otherwise."""
        axes, is_little, start = (
            int(self._axes[number]),
            bool(self._is_little[number]),
            int(self._position[number]),
        )
        size = HEAD_SIZE + int(_DIMENSIONS[axes]) * ORDINATE_SIZE
        end = start + count * size
        if end > self._end[number]:
            return None
        code = (axes * AXES_STEP + GeometryKind.POINT).to_bytes(NUMBER_SIZE, "little" if is_little else "big")
        head = np.frombuffer(bytes([is_little]) + code, np.uint8)
        if (raw[start:end].reshape(count, size)[:, :HEAD_SIZE] != head).any():
            return None
        self._position[number] = end
        starts = np.arange(start + HEAD_SIZE, end, size)
        each = [np.full(count, part) for part in (self.of[number], 1, axes, is_little)]
        return Runs(each[0], starts, *each[1:])

    def drop(self) -> Ints:
        """Leave those that are at their end or cannot be read, and return the latter; the others go on with what is to come innermost."""
        while (done := self._is_open() & (self._left[np.arange(len(self.of)), self._depth] == 0)).any():
            self._depth[done] -= 1
            self._is_ring[done] = False
        kept = self._is_open()
        lost: Ints = self.of[~kept & (self.is_lost | (self._position != self._end))]
        for name in (
            "of",
            "_position",
            "_end",
            "_depth",
            "_left",
            "_members",
            "_is_ring",
            "_is_little",
            "_axes",
            "is_lost",
        ):
            setattr(self, name, getattr(self, name)[kept])
        return lost

    def _is_open(self) -> Flags:
        return (self._depth >= 0) & ~self.is_lost


def _number(raw: NDArray[np.uint8], places: Ints, is_little: Flags) -> Ints:
    """Numbers of four bytes."""
    four = raw[places[:, None] + np.arange(NUMBER_SIZE)].reshape(-1, NUMBER_SIZE)
    little, big = (four.copy().view(kind).reshape(-1).astype(np.int64) for kind in ("<u4", ">u4"))
    return np.asarray(np.where(is_little, little, big), np.int64)


def sliced(array: Any) -> Iterator[tuple[int, Any]]:
    """An array of binary in parts of `AT_ONCE` bytes, each with the place where it begins."""
    ends, start = bytes_of(array).ends, 0
    while start < len(array):
        behind = max(int(np.searchsorted(ends, ends[start] + AT_ONCE, "right")) - 1, start + 1)
        yield start, array.slice(start, behind - start)
        start = behind


class Part(NamedTuple):
    """Values that are looked at together: the first place of each, in ascending order, and how often it occurs, int64; and an array of binary."""

    places: Ints
    counts: Ints
    values: Any


def parts_of(decoded: ChunkValues) -> Iterator[Part]:
    """The values of a chunk, part by part; those of a dictionary once each, however many rows they stand for."""
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
    """The values of a chunk as geometries, part by part.

    Raises:
        NotChecked: One cannot be read.
    """
    for part in parts_of(decoded):
        geometries = Geometries(part.values)
        if geometries.is_too_deep.any():
            raise NotChecked(f"a geometry is nested more than {DEEPEST} deep", "tool")
        if geometries.is_malformed.any():
            raise NotChecked("a geometry cannot be read", "another rule")
        yield part, geometries


class GeometryTest:
    """Looks for values that are not geometries.

    Attributes:
        is_lost: Whether one was nested deeper than it is followed.
    """

    is_lost = False

    def __call__(self, array: Any) -> Flags | None:
        """The values that are not geometries, bool; ``None`` if all may be."""
        wrong = list[Flags]()
        for _, part in sliced(array):
            geometries = Geometries(part)
            self.is_lost |= bool(geometries.is_too_deep.any())
            wrong.append(geometries.is_malformed & ~geometries.is_too_deep)
        return np.concatenate(wrong) if any(part.any() for part in wrong) else None
