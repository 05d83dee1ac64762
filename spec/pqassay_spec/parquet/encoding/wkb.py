"""Well-known binary: the coordinates of geometries in GEOMETRY and GEOGRAPHY columns.

A geometry is a byte for the byte order, a number for its kind, and the content of that kind:

    >>> point = bytes.fromhex("01 01000000 000000000000f03f 0000000000000040")
    >>> list(coordinates(point))
    [(1.0, 2.0, None, None)]

Source: OGC 06-103r4, section 8.2; apache/parquet-format, ``Geospatial.md``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from construct import Byte, Float64l, Int32ul

from pqassay_spec.base.errors import Malformed, Unsupported

Coordinate = tuple[float, float, float | None, float | None]
"""x, y, z, m; z and m are ``None`` if the geometry lacks them."""


class ByteOrder(IntEnum):
    """The first byte of a geometry."""

    BIG = 0
    LITTLE = 1


class GeometryKind(IntEnum):
    """The kind of a geometry, without its axes."""

    POINT = 1
    LINE_STRING = 2
    POLYGON = 3
    MULTI_POINT = 4
    MULTI_LINE_STRING = 5
    MULTI_POLYGON = 6
    GEOMETRY_COLLECTION = 7


MEMBERS = {
    GeometryKind.MULTI_POINT: GeometryKind.POINT,
    GeometryKind.MULTI_LINE_STRING: GeometryKind.LINE_STRING,
    GeometryKind.MULTI_POLYGON: GeometryKind.POLYGON,
}
"""The kind of the members of each multi-geometry; members of a collection may have any kind."""

AXES_STEP = 1000
"""Added to the number of a kind once for z, twice for m, three times for both."""

_Z, _M, _ZM = 1, 2, 3

AXES_BEYOND_THE_PLANE = "zm"
"""Axes that a geometry may have in addition to x and y."""


def axes_of(code: int) -> str:
    """The axes, in addition to x and y, of geometries of a type.

    >>> axes_of(1), axes_of(1001), axes_of(2004), axes_of(3007)
    ('', 'z', 'm', 'zm')
    """
    axes = code // AXES_STEP
    return "z" * (axes in (_Z, _ZM)) + "m" * (axes in (_M, _ZM))


def is_type_code(code: int) -> bool:
    """Whether a number is the type of a geometry: the number of a kind, plus the step for its axes.

    >>> is_type_code(3006), is_type_code(8), is_type_code(4001), is_type_code(-999)
    (True, False, False, False)
    """
    axes, kind = divmod(code, AXES_STEP)
    return 0 <= axes <= _ZM and GeometryKind.POINT <= kind <= GeometryKind.GEOMETRY_COLLECTION


ORDER = Byte
NUMBER_SIZE = Int32ul.sizeof()
ORDINATE_SIZE = Float64l.sizeof()
HEAD_SIZE = ORDER.sizeof() + NUMBER_SIZE
"""Bytes of a geometry before the content of its kind."""

PLANAR_POINT_SIZE = HEAD_SIZE + 2 * ORDINATE_SIZE
"""Bytes of a point with only x and y."""

PLANAR_POINT_HEAD = bytes([ByteOrder.LITTLE]) + Int32ul.build(GeometryKind.POINT)
"""The beginning of a little-endian point with only x and y."""

DEEPEST = 32
"""Deepest nesting of collections that is followed."""


class PointRun(NamedTuple):
    """Points of a geometry that are stored one after the other: their place, count, axes in addition to x and y, and byte order."""

    start: int
    points: int
    axes: str
    order: ByteOrder

    @property
    def end(self) -> int:
        """Offset of the end of the points."""
        return self.start + self.points * (2 + len(self.axes)) * ORDINATE_SIZE


def coordinates(raw: bytes) -> Iterator[Coordinate]:
    """Yield every coordinate of a geometry.

    Raises:
        Malformed: The bytes are not a geometry of this kind.
    """
    for run in point_runs(raw):
        code = f"{'<' if run.order is ByteOrder.LITTLE else '>'}{2 + len(run.axes)}d"
        for point in struct.iter_unpack(code, raw[run.start : run.end]):
            yield (
                point[0],
                point[1],
                point[2] if "z" in run.axes else None,
                point[-1] if "m" in run.axes else None,
            )


def type_of(raw: bytes, start: int = 0) -> int:
    """The type of the geometry that begins at a position, a number of its kind and its axes.

    >>> type_of(bytes.fromhex("00 000003e9 000000000000f03f 0000000000000040 0000000000000840"))
    1001

    Raises:
        Malformed: The bytes are not a geometry of a known type.
    """
    if len(raw) < start + HEAD_SIZE:
        raise Malformed("a geometry is cut off", offset=start)
    if raw[start] > ByteOrder.LITTLE:
        raise Malformed(f"a byte order of {raw[start]}", offset=start)
    code = _number(raw, start + ORDER.sizeof(), ByteOrder(raw[start]))
    if not is_type_code(code):
        raise Malformed(f"a geometry of kind {code}", offset=start + ORDER.sizeof())
    return code


def point_runs(raw: bytes) -> list[PointRun]:
    """The points of a geometry, as runs.

    Raises:
        Malformed: The bytes are not a geometry of this kind.
        Unsupported: Geometries are nested deeper than `DEEPEST`.
    """
    runs: list[PointRun] = []
    left: list[tuple[int, str, ByteOrder, GeometryKind | None]] = [(1, "", ByteOrder.LITTLE, None)]
    """For each open geometry: remaining members, and their kind if it is fixed. For a polygon: its rings, with axes and byte order."""
    position = 0
    while left:
        count, ring, order, member = left.pop()
        if not count:
            continue
        left.append((count - 1, ring, order, member))
        if len(left) > DEEPEST + 1:
            raise Unsupported(f"geometries nested more than {DEEPEST} deep", offset=position)
        if ring:
            axes, kind = ring[1:], GeometryKind.LINE_STRING
        else:
            code = type_of(raw, position)
            order, axes, kind = ByteOrder(raw[position]), axes_of(code), GeometryKind(code % AXES_STEP)
            if member is not None and kind != member:
                raise Malformed(f"a geometry of kind {kind} among those of kind {member}", offset=position)
            position += HEAD_SIZE
        number = 1
        if kind != GeometryKind.POINT:
            number = _number(raw, position, order)
            position += NUMBER_SIZE
        if kind in (GeometryKind.POINT, GeometryKind.LINE_STRING):
            runs.append(PointRun(position, number, axes, order))
            position = runs[-1].end
            if position > len(raw):
                raise Malformed(f"{number} points do not fit", offset=runs[-1].start)
        else:
            ring = f"r{axes}" if kind == GeometryKind.POLYGON else ""
            left.append((number, ring, order, MEMBERS.get(kind)))
    if position != len(raw):
        raise Malformed(f"{len(raw) - position} bytes follow a geometry", offset=position)
    return runs


def _number(raw: bytes, position: int, order: ByteOrder) -> int:
    if len(raw) < position + NUMBER_SIZE:
        raise Malformed("a geometry is cut off", offset=position)
    return int.from_bytes(
        raw[position : position + NUMBER_SIZE], "little" if order is ByteOrder.LITTLE else "big"
    )
