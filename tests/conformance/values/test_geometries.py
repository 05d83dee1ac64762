"""Geometries in well-known binary: all at once, as each is by itself."""

from __future__ import annotations

import math
import struct
from collections import defaultdict
from itertools import product

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pqassay
from damage import tries, turns
from each import each
from pqassay.values.claims.geometries import Geometries
from pqassay_golden.tiny.parquet import Column, Encoding, Layout, ListOf, TinyParquet
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.encoding.wkb import DEEPEST, MEMBERS, GeometryKind, coordinates
from steps import calls_of

ORDINATES = st.sampled_from([0.0, 1.5, -3.0, math.nan])


@st.composite
def shapes(draw: st.DrawFn, depth: int = 0, member: int | None = None) -> bytes:
    order, axes = draw(st.sampled_from("<>")), draw(st.integers(0, 3))
    kind = member or draw(st.integers(1, 7 if depth < 3 else 3))
    head = (b"\1" if order == "<" else b"\0") + struct.pack(f"{order}I", axes * 1000 + kind)
    width = (2, 3, 3, 4)[axes]

    def points(count: int) -> bytes:
        return b"".join(struct.pack(f"{order}d", draw(ORDINATES)) for _ in range(count * width))

    if kind == GeometryKind.POINT:
        return head + points(1)
    count = draw(st.integers(0, 3))
    head += struct.pack(f"{order}I", count)
    if kind == GeometryKind.LINE_STRING:
        return head + points(count)
    if kind == GeometryKind.POLYGON:
        lengths = [draw(st.integers(0, 3)) for _ in range(count)]
        return head + b"".join(struct.pack(f"{order}I", length) + points(length) for length in lengths)
    members = MEMBERS.get(GeometryKind(kind)) if draw(st.integers(0, 9)) else None
    return head + b"".join(draw(shapes(depth=depth + 1, member=members)) for _ in range(count))


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    raw = bytearray(draw(shapes()))
    for _ in range(draw(st.integers(0, 2))):
        raw[draw(st.integers(0, min(len(raw) - 1, 20)))] = draw(st.integers(0, 255))
    return bytes(raw[: draw(st.integers(0, len(raw)))] if draw(st.booleans()) else raw + b"x")


def points_of(raw: bytes) -> list[str] | None:
    """Its points in order; ``None`` of what cannot be read."""
    try:
        return sorted(
            str(tuple(math.nan if each is None else each for each in point)) for point in coordinates(raw)
        )
    except FormatError:
        return None


@tries(300)
@given(st.lists(st.one_of(shapes(), damaged(), st.binary(max_size=9)), max_size=6))
def test_the_points_of_all_geometries_are_those_of_each(values: list[bytes]) -> None:
    read = Geometries(pa.array(values, pa.binary()))
    points: dict[int, list[str]] = defaultdict(list)
    for some in read.points():
        for of, point in zip(some.of.tolist(), some.coordinates.tolist(), strict=True):
            points[of].append(str(tuple(point)))
    for number, raw in enumerate(values):
        expected = points_of(raw)
        assert (expected is None) == read.is_malformed[number]
        assert (expected or []) == sorted(points[number])


POINT = struct.pack("<BIdd", 1, 1, 1.0, 2.0)
LINE = struct.pack("<BII", 1, 2, 0)


def several(kind: int, members: list[bytes]) -> bytes:
    return struct.pack("<BII", 1, kind, len(members)) + b"".join(members)


@pytest.mark.parametrize("count", [1, 40])
def test_collections_that_are_too_deep_are_not_checked(count: int) -> None:
    deep = POINT
    for _ in range(DEEPEST + 1):
        deep = several(7, [deep])
    data = TinyParquet([Column("g", "geometry", [deep] * count)], statistics=False).build()
    report = pqassay.check(data, tier="values", only=("PQF-181",))

    assert [] == report.files[0].findings
    (coverage,) = report.coverages.values()
    assert ("a geometry is nested more than 32 deep", "tool") == (
        coverage.not_checked["PQF-181"].reason,
        coverage.not_checked["PQF-181"].obstacle,
    )


@pytest.mark.parametrize("count", [1, 40])
def test_many_points_of_one_geometry_take_little_work(count: int) -> None:
    points = 8_000 // count
    array = pa.array([several(4, [POINT] * points)] * count)
    found: list[int] = []

    assert 8_000 * 100 > calls_of(
        lambda: found.append(sum(len(part.of) for part in Geometries(array).points()))
    )
    assert [points * count] == found


@each(
    ("last", "expected", "layout", "kind"),
    turns(
        [
            (POINT, []),
            (struct.pack("<BII", 1, 2, 0), []),
            (struct.pack(">BIdddd", 0, 3001, 1, 2, 3, math.nan), []),
            (b"", ["PQF-181"]),
            (b"hello", ["PQF-181"]),
            (b"\2" + POINT[1:], ["PQF-181"]),
            (struct.pack("<BIdd", 1, 8, 1.0, 2.0), ["PQF-181"]),
            (struct.pack("<BII", 1, 2, 1 << 31), ["PQF-181"]),
            (POINT + POINT, ["PQF-181"]),
            (several(4, [POINT] * 40), []),
            (several(4, [POINT] * 40 + [LINE]), ["PQF-181"]),
            (several(4, [LINE]), ["PQF-181"]),
            (several(5, [LINE, POINT]), ["PQF-181"]),
            (several(6, [several(3, []), LINE]), ["PQF-181"]),
            (several(7, [LINE, POINT, several(4, [POINT])]), []),
        ],
        list(
            product(
                [Layout(page_rows=2), Layout(version=2), Layout(dictionary=Encoding.RLE_DICTIONARY)],
                ["geometry", "geography"],
            )
        ),
    ),
)
def test_the_last_value_of_a_column_is_looked_at(
    last: bytes, expected: list[str], layout: Layout, kind: str
) -> None:
    rows = [POINT, None, POINT, last]
    for column in (Column("g", kind, rows), Column("g", ListOf(kind), [rows[:1], [], rows])):  # type: ignore[arg-type]  # drawn
        data = TinyParquet([column], layout=layout, statistics=False).build()
        (report,) = pqassay.check(data, tier="values", only=("PQF-181",)).files
        assert (None, expected) == (report.error, [finding.rule for finding in report.findings])
