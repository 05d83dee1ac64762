"""The GeoParquet document against the values of the columns that it describes."""

from __future__ import annotations

import json
import struct
from itertools import product
from typing import Any

import pytest

import pqassay
from damage import turns
from each import each
from pqassay_golden.tiny.parquet import Column, Encoding, Layout, Member, Struct, TinyParquet

RULES = ("PQF-12[01]", "PQF-18[1-4]")


def point(*ordinates: float, code: int = 1) -> bytes:
    return struct.pack(f"<BI{len(ordinates)}d", 1, code, *ordinates)


def line(*points: tuple[float, float], order: str = "<") -> bytes:
    head = struct.pack(f"{order}BII", order == "<", 2, len(points))
    return head + b"".join(struct.pack(f"{order}dd", *each) for each in points)


def document(**column: Any) -> tuple[str, str]:
    described = {"encoding": "WKB", "geometry_types": [], **column}
    return "geo", json.dumps({"version": "1.1.0", "primary_column": "g", "columns": {"g": described}})


def findings(*columns: Column, keys: tuple[tuple[str, str], ...], **layout: Any) -> list[str]:
    data = TinyParquet(columns, keys=keys, statistics=False, **layout).build()
    (report,) = pqassay.check(data, tier="values", only=RULES).files
    assert report.error is None
    return [finding.rule for finding in report.findings]


SPREAD = [point(0, 0), None, line((1, 1), (2, 5), order=">"), point(-3, 2, 9, code=1001)]


@each(
    ("described", "expected", "kind", "layout"),
    turns(
        [
            ({}, []),
            ({"bbox": [-3, 0, 2, 5]}, []),
            ({"bbox": [-3, 0, 9, 2, 5, 9]}, []),
            ({"bbox": [-3, 0, 2, 4.9999999]}, []),
            ({"bbox": [-3, 0, 2, 4.99]}, ["PQF-182"]),
            ({"bbox": [-2, 0, 2, 5]}, ["PQF-182"]),
            ({"bbox": [-3, 0, 10, 2, 5, 11]}, ["PQF-182"]),
            ({"bbox": [0, 0, -3, 5]}, []),
            ({"bbox": [1.5, 0, -3, 5]}, ["PQF-182"]),
            ({"bbox": [-2, 0, 2, 5], "edges": "planar"}, ["PQF-182"]),
            ({"geometry_types": ["Point", "LineString", "Point Z"]}, []),
            ({"geometry_types": ["Point", "LineString"]}, ["PQF-183"]),
            ({"geometry_types": ["Point Z", "Polygon"]}, ["PQF-183"]),
        ],
        list(
            product(
                ["binary", "geometry"],
                [Layout(page_rows=2), Layout(version=2), Layout(dictionary=Encoding.RLE_DICTIONARY)],
            )
        ),
    ),
)
def test_boxes_and_types_are_those_of_the_geometries(
    described: dict[str, Any], expected: list[str], kind: Any, layout: Layout
) -> None:
    assert expected == findings(Column("g", kind, SPREAD), keys=(document(**described),), layout=layout)


def test_the_second_of_two_documents_is_looked_at() -> None:
    keys = (document(), document(bbox=[9, 9, 9, 9]))
    assert findings(Column("g", "binary", SPREAD), keys=keys) == ["PQF-182"]


@pytest.mark.parametrize(("kind", "expected"), [("binary", ["PQF-183"]), ("geometry", ["PQF-181"])])
def test_what_is_called_geometry_is_one(kind: Any, expected: list[str]) -> None:
    keys = (document(bbox=[0, 0, 1, 1], geometry_types=["Point"]),)
    assert expected == findings(Column("g", kind, [point(0, 0), b"POINT (0 0)"]), keys=keys)


PLACE = Struct((Member("x", "double"), Member("y", "double")))


@pytest.mark.parametrize(("bbox", "expected"), [([0, 0, 1, 2], []), ([0, 0, 1, 1], ["PQF-182"])])
def test_places_with_columns_of_their_own_lie_in_the_box(bbox: list[float], expected: list[str]) -> None:
    places = Column("g", PLACE, [{"x": 0.0, "y": 0.5}, None, {"x": 1.0, "y": 2.0}])
    assert expected == findings(places, keys=(document(encoding="point", bbox=bbox),))


BOUNDS = ("xmin", "ymin", "xmax", "ymax")
COVERING = {"bbox": {bound: ["box", bound] for bound in BOUNDS}}


def covered(*boxes: tuple[float, ...] | None, kind: Any = "double") -> list[str]:
    box = Struct(tuple(Member(bound, kind, optional=False) for bound in BOUNDS))
    rows = [None if each is None else dict(zip(BOUNDS, each, strict=True)) for each in boxes]
    geometries = Column("g", "binary", [None, line((1, 1), (2.1, 5)), point(0, 0)])
    return findings(geometries, Column("box", box, rows), keys=(document(covering=COVERING),))


@pytest.mark.parametrize(
    ("middle", "expected"),
    [
        ((1, 1, 2.1, 5), []),
        ((0, 0, 9, 9), []),
        ((170, 1, -170, 5), []),
        ((1, 1, 2, 5), ["PQF-184"]),
        ((1, 1.5, 2.1, 5), ["PQF-184"]),
        (None, ["PQF-184"]),
    ],
)
def test_the_box_of_each_row_holds_its_geometry(
    middle: tuple[float, ...] | None, expected: list[str]
) -> None:
    assert expected == covered(None, middle, (0, 0, 0, 0))
    assert expected == covered((7, 7, 7, 7), middle, (0, 0, 0, 0))


def test_single_precision_is_rounded() -> None:
    assert [] == covered(None, (1, 1, 2.1, 5), (0, 0, 0, 0), kind="float")


@pytest.mark.parametrize(
    "covering",
    [
        {},
        {"bbox": {}},
        {"bbox": {**COVERING["bbox"], "xmin": []}},
        {"bbox": {**COVERING["bbox"], "xmin": ["g"]}},
        7,
    ],
)
def test_a_covering_that_is_not_there_is_named_and_compared_with_nothing(covering: Any) -> None:
    keys = (document(covering=covering),)
    assert ["PQF-121"] == findings(Column("g", "binary", [point(0, 0)]), keys=keys)


@pytest.mark.parametrize(("bbox", "expected"), [([0, 0, 2, 5], []), ([0, 0, 2, 4], ["PQF-182"])])
def test_a_long_geometry_in_a_dictionary_is_looked_at_once(bbox: list[float], expected: list[str]) -> None:
    long = line(*[(1, 2)] * 50_000, (2, 5))
    values = [point(0, 0), None, *[long] * 5000]
    keys = (document(bbox=bbox, geometry_types=["Point", "LineString"]),)
    layout = Layout(dictionary=Encoding.RLE_DICTIONARY)
    data = TinyParquet([Column("g", "geometry", values)], keys=keys, statistics=False, layout=layout).build()
    (report,) = pqassay.check(data, tier="values", only=RULES).files
    assert (report.error, [finding.rule for finding in report.findings]) == (None, expected)
    assert all("row 2 " in finding.message and "(4999 more" in finding.message for finding in report.findings)
