"""Well-known binary: the geometries of GEOMETRY and GEOGRAPHY columns, as far as their coordinates go.

A geometry is a byte that tells the byte order, a number that tells its kind, and what that kind holds:

    >>> point = bytes.fromhex("01 01000000 000000000000f03f 0000000000000040")
    >>> list(coordinates(point))
    [(1.0, 2.0, None, None)]

Source: OGC 06-103r4, section 8.2; apache/parquet-format, ``Geospatial.md``.
"""

from __future__ import annotations

import struct
from collections.abc import Generator, Iterator
from enum import IntEnum

from construct import Byte, Float64l, Int32ub, Int32ul

from pqassay_spec.base.errors import Malformed

Coordinate = tuple[float, float, float | None, float | None]
"""x, y, z, m; the last two where the geometry has them."""


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


AXES_STEP = 1000
"""The number of a kind is raised by this with z, by twice as much with m, by three times as much with both."""

_Z, _M, _ZM = 1, 2, 3

AXES_BEYOND_THE_PLANE = "zm"
"""Axes that a geometry may have beside x and y."""


def axes_of(code: int) -> str:
    """The axes beside x and y of geometries of a type.

    >>> axes_of(1), axes_of(1001), axes_of(2004), axes_of(3007)
    ('', 'z', 'm', 'zm')
    """
    axes = code // AXES_STEP
    return "z" * (axes in (_Z, _ZM)) + "m" * (axes in (_M, _ZM))


def is_type_code(code: int) -> bool:
    """Whether a number is the type of a geometry: its kind, raised by its axes.

    >>> is_type_code(3006), is_type_code(8), is_type_code(4001), is_type_code(-999)
    (True, False, False, False)
    """
    axes, kind = divmod(code, AXES_STEP)
    return 0 <= axes <= _ZM and kind in tuple(GeometryKind)


ORDER = Byte
NUMBER = {ByteOrder.BIG: Int32ub, ByteOrder.LITTLE: Int32ul}
"""A kind or a count."""

NUMBER_SIZE = Int32ul.sizeof()
ORDINATE_SIZE = Float64l.sizeof()
HEAD_SIZE = ORDER.sizeof() + NUMBER_SIZE
"""Bytes of a geometry before what its kind holds."""

PLANAR_POINT_SIZE = HEAD_SIZE + 2 * ORDINATE_SIZE
"""Bytes of a point with x and y alone."""

PLANAR_POINT_HEAD = bytes([ByteOrder.LITTLE]) + Int32ul.build(GeometryKind.POINT)
"""The beginning of a little-endian point with x and y alone."""

DEEPEST = 32
"""Collections within collections that are followed."""


Coordinates = Generator[Coordinate, None, int]
"""The coordinates of a part of a geometry; returns where it ends."""


def coordinates(raw: bytes) -> Iterator[Coordinate]:
    """Yield every coordinate of a geometry.

    Raises:
        Malformed: The bytes are no geometry of this kind.
    """
    end = yield from _geometry(raw, 0, 0)
    if end != len(raw):
        raise Malformed(f"{len(raw) - end} bytes follow a geometry", offset=end)


def type_of(raw: bytes) -> int:
    """The type of a geometry, a number of its kind and its axes.

    >>> type_of(bytes.fromhex("00 000003e9 000000000000f03f 0000000000000040 0000000000000840"))
    1001

    Raises:
        Malformed: The bytes are no geometry of a known type.
    """
    if len(raw) < HEAD_SIZE or raw[0] not in tuple(ByteOrder):
        raise Malformed("a geometry is cut off, or its byte order unknown", offset=0)
    code = _number(raw, ORDER.sizeof(), ByteOrder(raw[0]))
    if not is_type_code(code):
        raise Malformed(f"a geometry of kind {code}", offset=ORDER.sizeof())
    return code


def _geometry(raw: bytes, start: int, depth: int) -> Coordinates:
    if depth > DEEPEST:
        raise Malformed(f"geometries nested more than {DEEPEST} deep", offset=start)
    if len(raw) < start + HEAD_SIZE:
        raise Malformed("a geometry is cut off", offset=start)
    if raw[start] not in tuple(ByteOrder):
        raise Malformed(f"a byte order of {raw[start]}", offset=start)
    order = ByteOrder(raw[start])
    axes, kind = divmod(_number(raw, start + ORDER.sizeof(), order), AXES_STEP)
    position = start + HEAD_SIZE
    if axes > _ZM or kind not in tuple(GeometryKind):
        raise Malformed(f"a geometry of kind {axes * AXES_STEP + kind}", offset=start)
    if kind == GeometryKind.POINT:
        return (yield from _points(raw, position, order, axes, 1))
    count = _number(raw, position, order)
    position += NUMBER_SIZE
    if kind == GeometryKind.LINE_STRING:
        return (yield from _points(raw, position, order, axes, count))
    for _ in range(count):
        if kind == GeometryKind.POLYGON:
            ring = _number(raw, position, order)
            position = yield from _points(raw, position + NUMBER_SIZE, order, axes, ring)
        else:
            position = yield from _geometry(raw, position, depth + 1)
    return position


def _number(raw: bytes, position: int, order: ByteOrder) -> int:
    if len(raw) < position + NUMBER_SIZE:
        raise Malformed("a geometry is cut off", offset=position)
    return int(NUMBER[order].parse(raw[position : position + NUMBER_SIZE]))


def _points(raw: bytes, start: int, order: ByteOrder, axes: int, count: int) -> Coordinates:
    dimensions = 2 + (axes in (_Z, _ZM)) + (axes in (_M, _ZM))
    end = start + count * dimensions * ORDINATE_SIZE
    if end > len(raw):
        raise Malformed(f"{count} points do not fit", offset=start)
    code = f"{'<' if order is ByteOrder.LITTLE else '>'}{dimensions}d"
    for point in struct.iter_unpack(code, raw[start:end]):
        z = point[2] if axes in (_Z, _ZM) else None
        m = point[-1] if axes in (_M, _ZM) else None
        yield point[0], point[1], z, m
    return end
