"""Bounds about which the text leaves something open: what is judged, how strongly, and what is left alone."""

from __future__ import annotations

import math
from typing import Literal

import pytest

import pqassay
from each import each
from pqassay_golden.statistics.claims import geometry, point
from pqassay_golden.tiny.parquet import Column, TinyParquet
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_spec.parquet.thrift import BoundingBox

BEYOND_SIGN = (1 << 32) - 1
STATISTICS = "footer.row_groups[0].columns[0].meta_data.statistics"


def rules_of(data: bytes) -> list[str]:
    (file,) = pqassay.check(data, tier="values").files
    return [finding.rule for finding in file.findings]


@each(
    ("kind", "x", "y", "rules"),
    [
        ("geometry", 10.0, 60.0, []),
        ("geometry", math.nextafter(10.0, 11.0), 50.0, ["STA-072"]),
        ("geometry", 10.001, 50.0, ["STA-049"]),
        ("geometry", 200.0, 50.0, ["STA-049"]),
        ("geometry", -180.0, 50.0, ["STA-049"]),
        ("geography", math.nextafter(10.0, 11.0), 50.0, ["STA-072"]),
        ("geography", 10.001, 50.0, ["STA-049"]),
        ("geography", 200.0, 50.0, []),
        ("geography", 5.0, 91.0, []),
        ("geography", 50.0, 90.0, ["STA-049"]),
    ],
)
def test_a_coordinate_outside_its_box(
    kind: Literal["geometry", "geography"], x: float, y: float, rules: list[str]
) -> None:
    box = BoundingBox(xmin=0.0, xmax=10.0, ymin=40.0, ymax=60.0)

    assert rules == rules_of(geometry(box, kind, (point(0, 40), point(x, y))).build())


@pytest.mark.parametrize(("kind", "rules"), [("geometry", ["STA-049"]), ("geography", ["STA-072"])])
@pytest.mark.parametrize(("x", "y"), [(-180.0, 60.0), (50.0, 90.0)])
def test_the_date_line_and_the_poles_of_a_globe_have_several_longitudes(
    kind: Literal["geometry", "geography"], rules: list[str], x: float, y: float
) -> None:
    box = BoundingBox(xmin=170.0, xmax=180.0, ymin=40.0, ymax=90.0)

    assert rules == rules_of(geometry(box, kind, (point(175, 40), point(x, y))).build())


@pytest.mark.parametrize(
    ("low", "high", "rules"),
    [
        (7, BEYOND_SIGN, []),  # as unsigned numbers
        (BEYOND_SIGN, 9, []),  # as the text says
        (8, BEYOND_SIGN, ["STA-048"]),
        (7, 9, ["STA-048"]),  # each is true in one of the orders
    ],
)
def test_deprecated_bounds_of_unsigned_numbers_are_true_in_one_order(
    low: int, high: int, rules: list[str]
) -> None:
    data = TinyParquet((Column("lot", "uint32", [7, 9, BEYOND_SIGN]),)).build()
    for name, number in (("min", low), ("max", high)):
        data = mutate(data, Mutation("set", f"{STATISTICS}.{name}", number.to_bytes(4, "little")))

    assert rules == [rule for rule in rules_of(data) if rule != "STA-014"]
