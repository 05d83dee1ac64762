"""Golden cases of what is said of values: statistics, page index, bloom filters and sorting that are well formed and false."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import xxhash

from pqassay_reference.golden.recipes import Bad, Good
from pqassay_reference.tiny.columns import Column, ListOf, decimal
from pqassay_reference.tiny.layout import Layout
from pqassay_reference.tiny.parquet import TinyParquet
from pqassay_spec.mutation.mutations import Mutation
from pqassay_spec.parquet import bloom
from pqassay_spec.parquet.bloom import BLOCK_SIZE
from pqassay_spec.parquet.thrift import BoundingBox, GeospatialStatistics, SortingColumn, Type

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
"""Three pages in each chunk, the second of the metals all null, and everything that can be said of them."""

DICTIONARY = TinyParquet(
    AUDITED.columns,
    page_index=True,
    layout=replace(EVERYTHING, dictionary=AUDITED.layout.dictionary, version=2),
    bloom_filters=("metal",),
)
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
PLACES = [bytes.fromhex("0101000000" + x + y) for x, y in (("0000000000406640", "0000000000000840"), ("00000000004066c0", "0000000000001440"))]  # fmt: skip
"""The points (178, 3) and (-178, 5)."""
GEOMETRY = TinyParquet(
    (
        Column("metal", "string", ["tin", None]),
        Column("place", "geometry", PLACES, layout=Layout(geospatial=GeospatialStatistics(bbox=BoundingBox(xmin=177.0, xmax=-177.0, ymin=2.0, ymax=6.0), geospatial_types=[1]))),
    )
)  # fmt: skip
SORTED = TinyParquet(
    (
        Column("metal", "string", ["lead", "lead", "lead", "tin", None]),
        Column("depth", "int32", [None, 40, 12, 90, 7]),
    ),
    sorting_columns=[
        SortingColumn(column_idx=0, descending=False, nulls_first=False),
        SortingColumn(column_idx=1, descending=True, nulls_first=True),
    ],
)
NAN_PAGE = TinyParquet(
    (Column("metal", "string", ["tin", None, "zinc", "lead"]), Column("grade", "double", [1.0, 2.0, 3.0, 4.0], optional=False)),
    page_index=True,
    page_rows=2,
)  # fmt: skip


def _good(name: str, title: str, file: TinyParquet, rules: tuple[str, ...], *misread_by: str) -> Good:
    predicate: Sequence[Any] = ("=", "metal", file.columns[0].values[0])
    return Good(
        name, title, file, predicate, rules, requires=("parquet",), misread_by=misread_by, since=SINCE
    )


GOOD = (
    _good("sta/audited", "Statistics, page index and bloom filters that say everything that can be said, and all of it is true", AUDITED, ("STA-040", "STA-041", "STA-042", "STA-043", "STA-045", "STA-047", "STA-048"), "fastparquet"),
    _good("sta/audited-bounds-cut", "Bounds of chunk and pages that are cut bound their values still", CUT, ("STA-040", "STA-041")),
    _good("sta/audited-nan", "NaN is counted in chunk and pages under both orders of floating point numbers, and bounds nothing", WITH_NAN, ("STA-044",)),
    _good("sta/audited-page-headers", "Pages of both versions whose headers bound and count what they hold", HEADERS, ("STA-050",), "fastparquet"),
    _good("sta/audited-lists", "A list whose nulls count empty and missing lists as well", LISTS, ("STA-043",)),
    _good("sta/audited-box", "Points on both sides of the antimeridian, well within their box", GEOMETRY, ("STA-049",), "Polars", "Spark"),
    _good("pix/audited", "A page index of pages with values, with nulls and with both", replace(AUDITED, bloom_filters=()), ("PIX-050", "PIX-051", "PIX-052", "PIX-053", "PIX-059"), "fastparquet"),
    _good("pix/audited-no-nan", "A page index of floating point numbers none of which is NaN", NAN_PAGE, ("PIX-057",)),
    _good("pix/audited-nan", "A page index that counts the NaN values of each page", WITH_NAN, ("PIX-056",)),
    _good("blm/audited", "Bloom filters that hold every value, zero and negative zero included", AUDITED, ("BLM-020", "BLM-021"), "fastparquet"),
    _good("pqf/sorted-rows", "Rows sorted by two columns, one ascending and one descending, nulls last and nulls first", SORTED, ("PQF-075",)),
)  # fmt: skip

FOOTER = "footer.row_groups[0].columns"
ROWS = "row_groups[0].columns"
LOST = "A query for a value beyond the bound skips the row group or the page: its rows are missing, and nothing says so."
MISCOUNTED = "A query for null, or for what is not null, skips rows, or an aggregate is answered wrongly."


def _bad(name: str, title: str, effect: str, parent: str, mutation: Mutation, *rules: str) -> Bad:
    return Bad(name, title, effect, parent, mutation, rules, since=SINCE)


def _filter_of(numbers: Iterable[float]) -> bytes:
    """The bitset of one block that holds some numbers."""
    bitset = bytearray(BLOCK_SIZE)
    for number in numbers:
        bloom.insert(bitset, xxhash.xxh64_intdigest(struct.pack("<d", number)))
    return bytes(bitset)


def _set(path: str, to: Any) -> Mutation:
    return Mutation("set", path, to)


BAD = (
    _bad("sta/min-too-great", "The lower bound is greater than a value", LOST, "sta/counted", _set(f"{FOOTER}[0].meta_data.statistics.min_value", b"m"), "STA-040"),
    _bad("sta/max-too-small", "The upper bound is less than a value", LOST, "sta/counted", _set(f"{FOOTER}[2].meta_data.statistics.max_value", struct.pack("<d", 2.0)), "STA-041"),
    _bad("sta/exact-bound-absent", "A bound is called exact, and no value is equal to it", "A reader answers max() with a value that is not there.", "sta/counted", _set(f"{FOOTER}[0].meta_data.statistics.max_value", b"zincum"), "STA-042"),
    _bad("sta/nulls-miscounted", "The null count leaves out nulls", MISCOUNTED, "sta/audited-page-headers", _set(f"{FOOTER}[0].meta_data.statistics.null_count", 0), "STA-031", "STA-043"),
    _bad("sta/nan-miscounted", "The NaN count tells of a NaN where there is none", "A query for numbers alone reads, or a query for NaN finds, the wrong row groups.", "sta/counted", _set(f"{FOOTER}[2].meta_data.statistics.nan_count", 1), "STA-044"),
    _bad("sta/distinct-miscounted", "The distinct count is one too small", "A reader answers count(distinct) wrongly.", "sta/audited", _set(f"{FOOTER}[0].meta_data.statistics.distinct_count", 3), "STA-045"),
    _bad("sta/bytes-miscounted", "The bytes of the values are counted with their lengths", "A reader plans for more memory than it needs.", "sta/audited", _set(f"{FOOTER}[0].meta_data.size_statistics.unencoded_byte_array_data_bytes", 41), "STA-047"),
    _bad("sta/deprecated-max-too-small", "The deprecated upper bound is less than a value", LOST, "sta/audited", _set(f"{FOOTER}[1].meta_data.statistics.max", (12).to_bytes(4, "little")), "STA-015", "STA-048"),
    _bad("sta/box-too-small", "The geospatial box begins east of a point", LOST, "sta/audited-box", _set(f"{FOOTER}[1].meta_data.geospatial_statistics.bbox.xmin", 179.0), "STA-049"),
    _bad("sta/page-header-bound-too-small", "The upper bound in a page header is less than a value of the page", LOST, "sta/audited-page-headers", _set(f"{ROWS}[0].pages[1].header.data_page_header.statistics.max_value", b"tin"), "STA-050"),
    _bad("pix/min-too-great", "The lower bound of a page is greater than one of its values", LOST, "pix/audited", _set(f"{ROWS}[1].column_index.min_values[2]", (90).to_bytes(4, "little")), "PIX-050"),
    _bad("pix/max-too-small", "The upper bound of a page is less than one of its values", LOST, "pix/audited", _set(f"{ROWS}[1].column_index.max_values[1]", (39).to_bytes(4, "little")), "PIX-051"),
    _bad("pix/values-in-a-null-page", "A page with values is called one of nothing but nulls", LOST, "sta/audited-bounds-cut", _set(f"{ROWS}[0].column_index.null_pages[1]", True), "PIX-022", "PIX-026", "PIX-052"),
    _bad("pix/nulls-miscounted", "The null counts of two pages are exchanged in part", MISCOUNTED, "pix/audited", _set(f"{ROWS}[1].column_index.null_counts", [1, 0, 0]), "PIX-053"),
    _bad("pix/nan-miscounted", "The NaN count of a page is that of another", "A query for NaN skips the page.", "pix/audited-nan", _set(f"{ROWS}[1].column_index.nan_counts", [2, 0]), "PIX-056"),
    _bad("pix/page-of-nan", "A page holds nothing but NaN, and its chunk has a column index", "A query for NaN skips the page.", "pix/audited-no-nan", _set(f"{ROWS}[1].pages[1].body", NAN + NAN), "PIX-057"),
    _bad("pix/bytes-miscounted", "The bytes of the values of a page are counted with their lengths", "A reader plans for more memory than it needs.", "pix/audited", _set(f"{ROWS}[0].offset_index.unencoded_byte_array_data_bytes", [26, 0, 7]), "PIX-059"),
    _bad("blm/zeroed", "The bitset of a bloom filter is empty", "A query for any value skips the row group.", "blm/audited", _set(f"{ROWS}[0].bloom_filter.bitset", bytes(BLOCK_SIZE)), "BLM-007", "BLM-020"),
    _bad("blm/value-missing", "A bloom filter holds every value but one", "A query for the value skips the row group.", "blm/audited", _set(f"{ROWS}[2].bloom_filter.bitset", _filter_of(grade for grade in GRADES if grade not in (None, 8.0))), "BLM-020"),
    _bad("blm/without-negative-zero", "A bloom filter holds every value but negative zero, and not zero instead", "A query for zero skips the row group.", "blm/audited", _set(f"{ROWS}[2].bloom_filter.bitset", _filter_of(grade for grade in GRADES if grade)), "BLM-021"),
    _bad("pqf/unsorted-rows", "The rows are sorted by the second column the other way round", "A reader that searches or merges sorted rows misses some.", "pqf/sorted-rows", _set("footer.row_groups[0].sorting_columns[1].descending", False), "PQF-075"),
)  # fmt: skip
