"""Boxes of a GeoParquet document beside those of the geospatial statistics: PQF-143."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pqassay.under_test.schemas.geo_copy import Span, planar_boxes


def boxes(**column: Any) -> dict[str, list[Span]]:
    return planar_boxes(json.dumps({"columns": {"place": column}}))


def test_a_box_has_a_span_for_each_axis() -> None:
    assert {"place": [Span("x", 1, 3), Span("y", 2, 4)]} == boxes(bbox=[1, 2, 3, 4])
    assert ["x", "y", "z"] == [span.axis for span in boxes(bbox=[1, 2, 3, 4, 5, 6])["place"]]


def test_a_box_around_the_globe_says_nothing_of_x() -> None:
    assert {"place": [Span("y", 2, 4)]} == boxes(bbox=[178, 2, -178, 4])


@pytest.mark.parametrize(
    "column", [{}, {"bbox": None}, {"bbox": [1]}, {"bbox": [1, 2, 3, 4], "edges": "spherical"}]
)
def test_without_a_planar_box_there_is_nothing_to_compare(column: dict[str, Any]) -> None:
    assert {} == boxes(**column)


@pytest.mark.parametrize(
    ("low", "high", "lacks"),
    [
        (1.0, 3.0, False),
        (0.9999999, 3.0000001, False),
        (0.99, 3.0, True),
        (1.0, 3.1, True),
        (float("nan"), 3.0, False),
    ],
)
def test_rounding_is_allowed_for(low: float, high: float, lacks: bool) -> None:
    assert lacks == Span("x", 1, 3).lacks(low, high)
