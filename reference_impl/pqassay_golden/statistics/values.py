"""Golden cases of statistics that are compared with the values."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pqassay_golden.parquet_file.framing import LEAD
from pqassay_golden.parquet_file.pages import MARKS, WITH_LISTS
from pqassay_golden.recipes import Good, bad, good, set_to
from pqassay_golden.statistics.claims import geometry, point
from pqassay_golden.tiny.columns import Column, ListOf, decimal
from pqassay_golden.tiny.layout import Layout
from pqassay_golden.tiny.parquet import TinyParquet
from pqassay_spec.mutation.mutations import Mutation
from pqassay_spec.parquet.thrift import BoundingBox, Type

SINCE = "0.5.0"
NAN = bytes.fromhex("000000000000f87f")

METALS = ["lead", "lead", "nickel", None, None, None, "tin", "zinc"]
DEPTHS = [-7, 0, 12, None, 13, 40, 41, 90]
GRADES = [0.5, -0.0, None, 2.25, 3.5, 3.75, 8.0, 9.5]

EVERYTHING = Layout(
    exact=True, distinct_count=True, size_statistics=True, histograms=True, unencoded_bytes=True, page_rows=3
)
AUDITED = TinyParquet(
    (
        Column("metal", "string", METALS),
        Column("depth", "int32", DEPTHS, layout=replace(EVERYTHING, deprecated=True)),
        Column("grade", "double", GRADES),
        Column("fee", decimal(9, 2, Type.FIXED_LEN_BYTE_ARRAY, 4), [-150, -1, 0, 1, None, 127, 128, 12_800]),
    ),
    page_index=True,
    layout=EVERYTHING,
    bloom_filters=("metal", "depth", "grade"),
)
"""Three pages in each chunk, the second of the metals all null, with all kinds of statistics."""

CUT = TinyParquet(
    (Column("metal", "string", ["tin", "Côte d'Ivoire", None, "東京都庁"]),),
    page_index=True,
    layout=Layout(truncate=4, index_truncate=4, page_rows=2),
)
WITH_NAN = TinyParquet(
    (
        Column("metal", "string", ["lead", "tin", None, "zinc"]),
        Column("grade", "double", [0.5, NAN, NAN, 3.0], layout=Layout(order="total", page_rows=2)),
        Column("loss", "double", [1.5, NAN, NAN, 2.5], layout=Layout(nan_count=True, page_rows=2)),
    ),
    page_index=True,
    bloom_filters=("loss",),
)
HEADERS = TinyParquet(
    (Column("metal", "string", ["lead", None, "tin", "zinc"]), Column("depth", "int32", [12, -7, None, 40])),
    page_rows=2,
    layout=Layout(page_statistics=True),
    layouts={"depth": Layout(page_statistics=True, version=2)},
)
LISTS = TinyParquet(
    (
        Column("metal", "string", ["lead", "tin", None, "zinc"]),
        Column("assays", ListOf("int64"), [[1, None], [], None, [2, 3, 4]]),
    ),
    page_index=True,
    page_rows=2,
    layout=Layout(exact=True),
)
GEOMETRY = geometry(BoundingBox(xmin=177.0, xmax=-177.0, ymin=2.0, ymax=6.0))

PAGES_OF_LISTS = TinyParquet(
    (Column("metal", "string", ["lead", "tin", None, "zinc"]), Column("assays", ListOf("int64"), [[1, None], [], None, [2, 3, 4]])),
    layout=Layout(page_rows=2, page_statistics=True),
)  # fmt: skip
GEOGRAPHY = geometry(
    BoundingBox(xmin=-180.0, xmax=180.0, ymin=3.0, ymax=5.0), "geography", (point(180, 3), point(-180, 5))
)

LISTS_IN_PAGES = TinyParquet(WITH_LISTS, layout=Layout(page_rows=3, size_statistics=True))


def audited(name: str, title: str, file: TinyParquet, rules: tuple[str, ...], *misread_by: str) -> Good:
    """A file whose values are all compared with its claims; a scan looks for its first metal."""
    predicate: Sequence[Any] = ("=", "metal", file.columns[0].values[0])
    return good(name, title, file, predicate, *misread_by, rules=rules, since=SINCE)


GOOD = (
    audited("sta/audited", "Statistics, page index and bloom filters that say everything that can be said, and all of it is true", AUDITED, ("STA-040", "STA-041", "STA-042", "STA-043", "STA-045", "STA-047", "STA-048"), "fastparquet"),
    audited("sta/audited-bounds-cut", "Bounds of chunk and pages that are cut bound their values still", CUT, ("STA-040", "STA-041")),
    audited("sta/audited-nan", "NaN is counted in chunk and pages under both orders of floating point numbers, and bounds nothing", WITH_NAN, ("STA-044",), "fastparquet"),
    audited("sta/audited-page-headers", "Pages of both versions whose headers bound and count what they hold", HEADERS, ("STA-050",), "fastparquet"),
    audited("sta/audited-lists", "A list whose nulls count empty and missing lists as well", LISTS, ("STA-043", "STA-071", "PIX-070")),
    Good("sta/three-pages-of-lists", "Three data pages of lists, with histograms of the levels of the chunk", LISTS_IN_PAGES, LEAD, since=SINCE),
    audited("sta/audited-box", "Points on both sides of the antimeridian, well within their box", GEOMETRY, ("STA-049", "STA-072"), "Polars", "Spark"),
    audited("sta/geography", "The points of a GEOGRAPHY at 180 and -180, which are one meridian, in a box around the globe", GEOGRAPHY, ("STA-049", "STA-072"), "Polars", "Spark", "fastparquet"),
    audited("sta/page-statistics-of-lists", "Pages of lists whose headers count nulls, as the chunk does", PAGES_OF_LISTS, ("STA-074",)),
)  # fmt: skip

FOOTER = "footer.row_groups[0].columns"
ROWS = "row_groups[0].columns"
DEPTH_HEADER = f"{ROWS}[1].pages[0].header.data_page_header.statistics"
DEPTH_HEADER_V2 = f"{ROWS}[1].pages[0].header.data_page_header_v2.statistics"
LOST = "A query for a value beyond the bound skips the row group or the page: its rows are missing, and nothing says so."
FILTERED = "Readers that hand the bounds of page headers to a filter, as parquet-cpp does, skip the page: its rows are missing."
MISCOUNTED = "A query for null, or for what is not null, skips rows, or an aggregate is answered wrongly."


untrue = partial(bad, since=SINCE)
"""Makes a file with false claims about its values."""

BAD = (
    untrue("sta/min-too-great", "The lower bound is greater than a value", LOST, "sta/counted", set_to(f"{FOOTER}[0].meta_data.statistics.min_value", b"m"), "STA-040"),
    untrue("sta/max-too-small", "The upper bound is less than a value", LOST, "sta/counted", set_to(f"{FOOTER}[2].meta_data.statistics.max_value", struct.pack("<d", 2.0)), "STA-041"),
    untrue("sta/exact-bound-absent", "A bound is called exact, and no value is equal to it", "A reader answers max() with a value that is not there.", "sta/counted", set_to(f"{FOOTER}[0].meta_data.statistics.max_value", b"zincum"), "STA-042"),
    untrue("sta/nulls-miscounted", "The null count leaves out nulls", MISCOUNTED, "sta/audited-page-headers", set_to(f"{FOOTER}[0].meta_data.statistics.null_count", 0), "STA-043"),
    untrue("sta/nan-miscounted", "The NaN count counts a NaN that does not exist", "A query for numbers alone reads, or a query for NaN finds, the wrong row groups.", "sta/counted", set_to(f"{FOOTER}[2].meta_data.statistics.nan_count", 1), "STA-044"),
    untrue("sta/nan-count-left-out", "One of two columns of floating point numbers does not count NaN", "A query for NaN reads the row group.", "sta/audited-nan", Mutation("remove", f"{FOOTER}[2].meta_data.statistics.nan_count"), "STA-080", tier="footer", since="0.7.0"),
    untrue("sta/distinct-miscounted", "The distinct count is one too small", "A reader answers count(distinct) wrongly.", "sta/audited", set_to(f"{FOOTER}[0].meta_data.statistics.distinct_count", 3), "STA-045"),
    untrue("sta/bytes-miscounted", "The bytes of the values are counted with their lengths", "A reader plans for more memory than it needs.", "sta/audited", set_to(f"{FOOTER}[0].meta_data.size_statistics.unencoded_byte_array_data_bytes", 41), "STA-047"),
    untrue("sta/levels-of-chunk", "Two entries of a level histogram are exchanged", "Readers that count lists by it count wrong.", "sta/three-pages-of-lists", Mutation("swap", f"footer.{MARKS}.meta_data.size_statistics.definition_level_histogram[1]", f"footer.{MARKS}.meta_data.size_statistics.definition_level_histogram[2]"), "STA-046"),
    untrue("sta/deprecated-max-too-small", "The deprecated upper bound is less than a value", LOST, "sta/audited", set_to(f"{FOOTER}[1].meta_data.statistics.max", (12).to_bytes(4, "little")), "STA-048"),
    untrue("sta/box-too-small", "The geospatial box begins east of a point", LOST, "sta/audited-box", set_to(f"{FOOTER}[1].meta_data.geospatial_statistics.bbox.xmin", 179.0), "STA-049"),
    untrue("sta/box-too-small-in-the-last-digits", "The geospatial box begins east of a point by less than the thickness of a hair", "A query for the place of the point skips the row group.", "sta/box-across-the-antimeridian", set_to(f"{FOOTER}[1].meta_data.geospatial_statistics.bbox.xmin", math.nextafter(178.0, 179.0)), "STA-072", since="0.7.0"),
    untrue("sta/box-on-the-other-side-of-the-date-line", "The geospatial box of a GEOGRAPHY ends at 180, and a point lies at -180", "A query for places at -180 skips the row group in readers that compare numbers.", "sta/geography", set_to(f"{FOOTER}[1].meta_data.geospatial_statistics.bbox.xmin", 170.0), "STA-072", since="0.7.0"),
    untrue("sta/deprecated-min-of-unsigned-too-great", "The deprecated lower bound of unsigned numbers is greater than a value, signed or not", LOST, "sta/orders-of-types", set_to(f"{FOOTER}[1].meta_data.statistics.min", (8).to_bytes(4, "little")), "STA-014", "STA-048", since="0.7.0"),
    untrue("sta/page-header-bound-too-small", "The upper bound in a page header is less than a value of the page", LOST, "sta/audited-page-headers", set_to(f"{ROWS}[0].pages[1].header.data_page_header.statistics.max_value", b"tin"), "STA-050"),
    untrue("sta/page-header-deprecated-max-too-small", "The deprecated upper bound in a page header is less than a value of the page", FILTERED, "sta/page-statistics-counted", set_to(f"{DEPTH_HEADER}.max", (11).to_bytes(4, "little")), "STA-052", since="0.7.0"),
    untrue("sta/page-distinct-miscounted", "The distinct count in a page header is one too small", "none: readers ignore it", "sta/page-statistics-counted", set_to(f"{DEPTH_HEADER}.distinct_count", 1), "STA-054", since="0.7.0"),
    untrue("sta/page-header-no-column-orders-max-too-small", "The footer has no column_orders, and the upper bound in a page header is less than a value of the page", FILTERED, "sta/page-statistics-no-column-orders", set_to(f"{DEPTH_HEADER_V2}.max_value", (11).to_bytes(4, "little")), "STA-001", "STA-055", since="0.7.0"),
    untrue("sta/page-nan-miscounted", "The NaN count in a page header counts a NaN that does not exist", "A filter of pages reads, or skips, the wrong ones.", "sta/page-statistics-counted", set_to(f"{ROWS}[2].pages[0].header.data_page_header.statistics.nan_count", 1), "STA-056", since="0.7.0"),
    untrue("sta/page-header-exact-bound-absent", "A bound in a page header is called exact, and no value is equal to it", "A reader answers max() with a value that is not there.", "sta/page-statistics-counted", set_to(f"{ROWS}[0].pages[0].header.data_page_header.statistics.max_value", b"tinc"), "STA-057", since="0.7.0"),
    untrue("sta/box-in-height-of-places-on-the-plane", "A box has bounds of z, and no geometry has a z", "none: a query for a height finds nothing there", "sta/box-across-the-antimeridian", set_to(f"{FOOTER}[1].meta_data.geospatial_statistics.bbox", {"xmin": 178.0, "xmax": -178.0, "ymin": 3.0, "ymax": 5.0, "zmin": 1.0, "zmax": 2.0}), "STA-061", since="0.7.0"),
    untrue("sta/geospatial-type-missing", "The list of types lacks that of a geometry", "A query for geometries of the type skips the row group.", "sta/points-in-space", Mutation("remove", f"{FOOTER}[1].meta_data.geospatial_statistics.geospatial_types[1]"), "STA-063", since="0.7.0"),
    untrue("sta/geospatial-type-too-many", "A type is listed that no geometry has", "A query for geometries of the type reads the row group in vain.", "sta/points-in-space", set_to(f"{FOOTER}[1].meta_data.geospatial_statistics.geospatial_types", [1001, 2001, 3001]), "STA-065", since="0.7.0"),
)  # fmt: skip
