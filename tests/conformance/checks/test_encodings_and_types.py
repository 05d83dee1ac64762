"""What the footer says about encodings and of the types of geometries."""

from __future__ import annotations

import struct
from typing import Any

import pytest

import pqassay
from each import each
from pqassay_golden.tiny.parquet import Column, Encoding, Layout, TinyParquet
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_spec.parquet.thrift import BoundingBox, GeospatialStatistics

FACTS = "footer.row_groups[0].columns[0].meta_data"
RULES = ("STA-049", "STA-058", "PQF-171", "STA-06?", "PIX-061", "PQF-060", "PQF-061")

PLAIN, PLAIN_DICTIONARY, RLE, BIT_PACKED, RLE_DICTIONARY = 0, 2, 3, 4, 8
DATA, INDEX, DICTIONARY, DATA_V2 = range(4)


def rules_of(data: bytes) -> set[str]:
    (file,) = pqassay.check(data, tier="values", only=RULES).files
    assert file.error is None
    return {rule for finding in file.findings for rule in (finding.rule, *finding.also)}


def given_up(**layout: Any) -> bytes:
    """A chunk whose writer gave up its dictionary after one of two pages."""
    pages = Layout(page_rows=2, dictionary_pages=1, **layout)
    return TinyParquet((Column("c", "string", ["a", "b", "a", "c"]),), layout=pages).build()


COUNTED = given_up(dictionary=Encoding.RLE_DICTIONARY, encoding_stats=True)
OF_OLD = given_up(dictionary=Encoding.PLAIN_DICTIONARY)


def counts(*entries: tuple[int, int, int]) -> list[dict[str, int]]:
    return [{"page_type": kind, "encoding": encoding, "count": count} for kind, encoding, count in entries]


ENTRY = (DICTIONARY, PLAIN, 1)
"""The dictionary page."""


@each(
    ("entries", "rules"),
    [
        ([ENTRY, (DATA, RLE_DICTIONARY, 1), (DATA, PLAIN, 1)], set()),
        ([ENTRY, (DATA_V2, RLE_DICTIONARY, 1), (DATA_V2, PLAIN, 1)], set()),
        ([ENTRY, (DATA, RLE_DICTIONARY, 2)], {"PQF-061", "STA-058"}),
        ([ENTRY, (DATA_V2, PLAIN_DICTIONARY, 2)], {"PQF-061", "STA-058"}),
        ([ENTRY, (DATA, RLE_DICTIONARY, 1), (INDEX, PLAIN, 1)], {"PQF-061", "STA-058"}),
        ([ENTRY, (DATA, RLE_DICTIONARY, 1), (DICTIONARY, PLAIN, 1)], {"PQF-061", "STA-058"}),
        ([ENTRY, (DATA, RLE_DICTIONARY, 2), (DATA, PLAIN, 0)], {"PQF-061"}),
        ([ENTRY, (DATA, RLE_DICTIONARY, 1), (DATA, PLAIN, 1), (INDEX, PLAIN, 1)], {"PQF-061"}),
        ([ENTRY], {"PQF-061"}),
        ([], set()),
        ([ENTRY, (DATA, RLE_DICTIONARY, 1), (DATA, PLAIN, 1), (4, PLAIN, 1)], {"PQF-171"}),
        ([ENTRY, (DATA, RLE_DICTIONARY, 1), (DATA, PLAIN, 1), (-1, PLAIN, 1)], {"PQF-171"}),
    ],
)
def test_counts_of_pages_hide_no_page(entries: list[tuple[int, int, int]], rules: set[str]) -> None:
    assert rules == rules_of(mutate(COUNTED, Mutation("set", f"{FACTS}.encoding_stats", counts(*entries))))


@each(
    ("encodings", "rules"),
    [
        ([PLAIN, PLAIN_DICTIONARY, RLE], set()),
        ([PLAIN, RLE_DICTIONARY], set()),
        ([PLAIN, PLAIN_DICTIONARY, RLE, BIT_PACKED], set()),
        ([PLAIN_DICTIONARY], {"PQF-060", "STA-058"}),
        ([PLAIN_DICTIONARY, RLE, BIT_PACKED], {"PQF-060", "STA-058"}),
        ([RLE_DICTIONARY, RLE], {"PQF-060"}),
        ([PLAIN, PLAIN_DICTIONARY, 5], {"STA-062"}),
        ([PLAIN, PLAIN_DICTIONARY, 77], {"PQF-171", "STA-062"}),
    ],
)
def test_a_list_of_encodings_hides_no_page(encodings: list[int], rules: set[str]) -> None:
    assert rules == rules_of(mutate(OF_OLD, Mutation("set", f"{FACTS}.encodings", encodings)))


def test_without_a_dictionary_its_encoding_is_unused() -> None:
    plain = TinyParquet((Column("c", "int32", [1, 2]),)).build()

    assert set() == rules_of(plain)
    assert {"STA-062"} == rules_of(
        mutate(plain, Mutation("set", f"{FACTS}.encodings", [PLAIN, RLE_DICTIONARY]))
    )


@pytest.mark.parametrize(("offset", "rules"), [(0, set[str]()), (4, {"PIX-061"})])
def test_no_index_page_is_anywhere(offset: int, rules: set[str]) -> None:
    assert rules == rules_of(mutate(COUNTED, Mutation("set", f"{FACTS}.index_page_offset", offset)))


# -------------------------------------------------------------------------------------------------- geometries


def point(*place: float, axes: int = 0, big: bool = False) -> bytes:
    order = ">" if big else "<"
    return struct.pack(f"{order}BI{len(place)}d", not big, 1 + 1000 * axes, *place)


HIGH, MEASURED, FLAT = point(1.0, 2.0, 3.0, axes=1), point(1.0, 2.0, 4.0, axes=2), point(1.0, 2.0)
ALL = point(1.0, 2.0, 3.0, 4.0, axes=3, big=True)


def box(**more: float) -> BoundingBox:
    return BoundingBox(xmin=0.0, xmax=9.0, ymin=0.0, ymax=9.0, **more)


@each(
    ("geometries", "bounds", "types", "rules"),
    [
        ([HIGH, None, ALL], box(zmin=3.0, zmax=3.0, mmin=4.0, mmax=4.0), [1001, 3001], set()),
        ([HIGH, FLAT], box(zmin=3.0, zmax=3.0), [1, 1001], set()),
        ([HIGH, FLAT], box(), [], set()),
        ([HIGH], None, [1001], set()),
        ([None], None, [], set()),
        ([HIGH], box(zmin=3.0), [1001], {"STA-060"}),
        ([MEASURED], box(mmax=4.0), [2001], {"STA-060"}),
        ([FLAT], box(zmin=3.0, zmax=3.0), [1], {"STA-061"}),
        ([HIGH], box(zmin=3.0, zmax=3.0, mmin=3.0, mmax=3.0), [1001], {"STA-061"}),
        ([HIGH], box(zmin=4.0, zmax=5.0), [1001], {"STA-049"}),
        ([HIGH, FLAT], box(), [1001], {"STA-063"}),
        ([ALL], None, [1], {"STA-063", "STA-065"}),
        ([FLAT], box(), [1, 1], {"STA-064"}),
        ([FLAT], box(), [1, 0], {"STA-064"}),
        ([FLAT], box(), [1, 4001], {"STA-064"}),
        ([FLAT], box(), [1, -999], {"STA-064"}),
        ([FLAT], box(), [1, 1007], {"STA-065"}),
        ([None], None, [1], {"STA-065"}),
    ],
)
def test_boxes_and_types_are_those_of_the_geometries(
    geometries: list[bytes | None], bounds: BoundingBox | None, types: list[int], rules: set[str]
) -> None:
    layout = Layout(geospatial=GeospatialStatistics(bbox=bounds, geospatial_types=types))
    data = TinyParquet((Column("c", "geometry", geometries, layout=layout),)).build()

    assert rules == rules_of(data)


@pytest.mark.parametrize(
    "geometry", [b"", b"\x01\x01", b"\x02" + FLAT[1:], b"\x01\x01\0\0\x20" + FLAT[5:], b"\x01\x08\0\0\0"]
)
def test_what_is_no_geometry_leaves_the_types_unproved(geometry: bytes) -> None:
    layout = Layout(geospatial=GeospatialStatistics(geospatial_types=[1]))
    data = TinyParquet((Column("c", "geometry", [FLAT, geometry], layout=layout),)).build()
    report = pqassay.check(data, tier="values", only=RULES)
    (coverage,) = report.coverages.values()

    assert [] == report.files[0].findings
    assert "a geometry cannot be read" in coverage.not_checked["STA-063"].reason
