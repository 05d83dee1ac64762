"""Golden cases of statistics: column orders, bounds, counts, level histograms and geospatial boxes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from pqassay_golden.recipes import bad, good, set_to
from pqassay_golden.tiny.columns import Column, ListOf, decimal, fixed, wide_timestamp
from pqassay_golden.tiny.layout import Layout
from pqassay_golden.tiny.parquet import TinyParquet
from pqassay_spec.golden.case import ReadExpectation
from pqassay_spec.mutation.mutations import Mutation
from pqassay_spec.parquet.thrift import (
    BoundingBox,
    ConvertedType,
    Encoding,
    GeospatialStatistics,
    PageType,
    Type,
)

NAN, NEGATIVE_NAN = bytes.fromhex("000000000000f87f"), bytes.fromhex("000000000000f8ff")

METALS = ["tin", "lead", None, "zinc"]
DEPTHS = [12, -7, 0, 40]
GRADES = [0.5, 1.5, -0.0, 2.25]

COUNTED = Layout(exact=True, distinct_count=True, nan_count=True, size_statistics=True)
FLAT = TinyParquet(
    (
        Column("metal", "string", METALS),
        Column("depth", "int32", DEPTHS, optional=False, layout=Layout(deprecated=True)),
        Column("grade", "double", GRADES),
    ),
    layout=COUNTED,
)
UNCOUNTED = TinyParquet(
    (Column("metal", "string", METALS), Column("grade", "double", GRADES), Column("code", fixed(12), [b"0" * 12, None, b"1" * 12, b"2" * 12]))
)  # fmt: skip
ORDERS = TinyParquet(
    (
        Column("metal", "string", METALS),
        Column("lot", "uint32", [7, 1 << 31, None, (1 << 32) - 1]),
        Column("balance", decimal(20, 2, Type.BYTE_ARRAY), [-150, None, 127, 12_800]),
        Column("fee", decimal(9, 2, Type.FIXED_LEN_BYTE_ARRAY, 4), [-150, None, 127, 12_800]),
        Column("sold", "boolean", [True, False, None, True]),
        Column("day", "date", [-1, 0, None, 19_782]),
    )
)
TOTAL = TinyParquet(
    (
        Column("metal", "string", METALS),
        Column("grade", "double", [0.5, NAN, 3.0, -0.0], layout=Layout(order="total")),
        Column("loss", "double", [NEGATIVE_NAN, NAN, NAN, NAN], layout=Layout(order="total")),
    )
)
ZEROS = TinyParquet((Column("metal", "string", METALS), Column("grade", "double", [0.0, -0.0, 3.0, 1.0])))
INT96 = TinyParquet(
    (
        Column("metal", "string", METALS),
        Column("assayed", "int96", [0, None, 1_700_000_000_000_000_000, -1_000], layout=Layout(order="timestamp")),
    )
)  # fmt: skip
FIRST_SECOND, LAST_SECOND = -62_135_596_800, 253_402_300_799
"""Bounds of the years 1 to 9999, since 1970."""
WIDE_UNITS: tuple[tuple[Literal["millis", "micros"], int], ...] = (("millis", 10**3), ("micros", 10**6))
WIDE = TinyParquet(
    (
        Column("metal", "string", METALS),
        *(
            Column(unit, wide_timestamp(unit), [FIRST_SECOND * parts, -parts, None, LAST_SECOND * parts])
            for unit, parts in WIDE_UNITS
        ),
        Column("nanos", wide_timestamp("nanos"), [1 - (1 << 63), -1, None, (1 << 63) - 1]),
    ),
    page_rows=2,
    page_index=True,
)
BEFORE_WIDE = ("DuckDB", "Polars", "DataFusion", "fastparquet", "Spark")
"""Engines that do not support timestamps of twelve bytes."""
MAY_REFUSE = ReadExpectation(rows="own", refusal="allowed")
"""The expectation for a valid file with values that some libraries have no type for."""
FAR = TinyParquet(
    (
        Column("metal", "string", METALS),
        Column("nanos", wide_timestamp("nanos"), [FIRST_SECOND * 10**9, -1, None, LAST_SECOND * 10**9]),
    )
)
CUT = TinyParquet(
    (Column("metal", "string", ["tin", "Côte d'Ivoire", None, "東京都庁"]),), layout=Layout(truncate=4)
)
NESTED = TinyParquet(
    (
        Column("metal", "string", METALS),
        Column("assays", ListOf("int64"), [[1, None], [], None, [2, 3, 4]]),
    ),
    layout=Layout(size_statistics=True),
)


def number(value: float) -> str:
    """The bytes of a coordinate, in hex."""
    return struct.pack("<d", value).hex()


PLACES = [bytes.fromhex("0101000000" + x + y) for x, y in (("0000000000406640", "0000000000000840"), ("00000000004066c0", "0000000000001440"))]  # fmt: skip
"""The points (178, 3) and (-178, 5)."""


def point(x: float, y: float) -> bytes:
    """A point in well-known binary."""
    return bytes.fromhex("0101000000" + number(x) + number(y))


def geometry(
    box: BoundingBox,
    kind: Literal["geometry", "geography"] = "geometry",
    places: Sequence[bytes] = tuple(PLACES),
) -> TinyParquet:
    """Two places, with a bounding box."""
    layout = Layout(geospatial=GeospatialStatistics(bbox=box, geospatial_types=[1]))
    return TinyParquet(
        (Column("metal", "string", ["tin", None]), Column("place", kind, list(places), layout=layout))
    )


GEOMETRY = geometry(BoundingBox(xmin=178.0, xmax=-178.0, ymin=3.0, ymax=5.0))
PAGES = TinyParquet(
    (Column("metal", "string", METALS), Column("depth", "int32", DEPTHS)),
    page_rows=2,
    layout=Layout(page_statistics=True),
    layouts={"depth": Layout(page_statistics=True, version=2)},
)

COUNTED_PAGES = TinyParquet(
    (
        Column("metal", "string", METALS),
        Column("depth", "int32", DEPTHS, layout=replace(COUNTED, page_statistics=True, deprecated=True)),
        Column("grade", "double", GRADES),
    ),
    page_rows=2,
    layout=replace(COUNTED, page_statistics=True),
)
DICTIONARIES = TinyParquet(
    (
        Column("metal", "string", METALS),
        Column("ore", "string", ["galena", "galena", "galena", "cassiterite"], layout=Layout(dictionary=Encoding.PLAIN_DICTIONARY, dictionary_pages=1)),
        Column("mine", "string", ["Freiberg", "Freiberg", "Altenberg", "Altenberg"], layout=Layout(dictionary=Encoding.PLAIN_DICTIONARY)),
    ),
    page_rows=2,
    layout=Layout(dictionary=Encoding.RLE_DICTIONARY, dictionary_pages=1, encoding_stats=True, index_page_offset=0),
)  # fmt: skip
"""Dictionaries that the writer abandoned after a page, with and without counts of the pages, and a dictionary for all pages."""

IN_SPACE = [bytes.fromhex("01e9030000" + number(1) + number(2) + number(3)), bytes.fromhex("01b90b0000" + number(4) + number(5) + number(6) + number(7))]  # fmt: skip
"""The points (1, 2, 3), and (4, 5, 6) with m = 7."""

SPACE = TinyParquet(
    (
        Column("metal", "string", ["tin", None]),
        Column(
            "place",
            "geometry",
            IN_SPACE,
            layout=Layout(
                geospatial=GeospatialStatistics(
                    bbox=BoundingBox(xmin=1.0, xmax=4.0, ymin=2.0, ymax=5.0, zmin=3.0, zmax=6.0, mmin=7.0, mmax=7.0),
                    geospatial_types=[1001, 3001],
                )
            ),
        ),
    )
)  # fmt: skip

SINCE = "0.5.0"


TIN: Sequence[Any] = ("=", "metal", METALS[0])
_good = partial(good, family="sta", since=SINCE)

GOOD = (
    _good("counted", "Everything that statistics of flat columns can say: bounds old and new, exact flags, counts of nulls, NaN and distinct values, level histograms", FLAT, TIN, rules=("STA-010", "STA-012", "STA-013", "STA-019", "STA-090", "STA-073", "STA-020", "STA-021", "STA-023")),
    _good("uncounted", "Bounds and null counts alone; fixed-length bytes that mean nothing further", UNCOUNTED, TIN, rules=("STA-007",)),
    _good("zeros-of-both-signs", "Zeros of both signs: a lower bound of zero is the negative one", ZEROS, TIN, rules=("STA-009",)),
    _good("orders-of-types", "Unsigned numbers beyond the signed ones, decimals of unequal length, booleans and days: bounds follow the order of the type", ORDERS, TIN, "fastparquet", rules=("STA-006",)),
    _good("total-order", "The IEEE 754 total order: NaN is counted and left out of the bounds, but where there is nothing else", TOTAL, TIN, "fastparquet", rules=("STA-004", "STA-008", "STA-024")),
    _good("int96", "INT96 timestamps with their own order", INT96, TIN, rules=("STA-016",)),
    _good("wide-timestamps", "Timestamps of twelve bytes, of three units, all of which 64 bits would hold", WIDE, TIN, *BEFORE_WIDE, rules=("STA-006", "PQF-155"), since="0.9.0"),
    _good("wide-timestamps-beyond-64-bits", "Nanoseconds of twelve bytes, from the first second of the year 1 to the last of 9999", FAR, TIN, "pyarrow", *BEFORE_WIDE, rules=("PQF-100",), read=MAY_REFUSE, scan="refusal-allowed", since="0.9.0"),
    _good("bounds-cut", "Bounds of four bytes at most, cut between characters, the upper one raised", CUT, TIN, rules=("STA-018",)),
    _good("lists", "A list with nulls and empty lists, its levels counted", NESTED, TIN, rules=("STA-019", "STA-090", "STA-020", "STA-070")),
    _good("box-across-the-antimeridian", "Points on both sides of the antimeridian: the box begins at 178 and ends at -178", GEOMETRY, TIN, "Polars", "Spark", rules=("STA-022", "STA-075", "STA-076")),
    _good("page-statistics", "Pages of both versions with statistics in their headers", PAGES, TIN, rules=("STA-030", "STA-031")),
    _good("page-statistics-counted", "Page headers that say everything that statistics can say: bounds old and new, exact flags, counts of nulls, NaN and distinct values", COUNTED_PAGES, TIN, rules=("STA-052", "STA-053", "STA-054", "STA-056", "STA-057"), since="0.7.0"),
    _good("dictionaries", "A dictionary that the writer gave up after a page, with and without counts of the pages, and one that it kept", DICTIONARIES, TIN, rules=("STA-058", "STA-062"), since="0.7.0"),
    _good("points-in-space", "Points with z, one of them with m, in a box with both, and a list of their types", SPACE, TIN, "Polars", "Spark", rules=("STA-060", "STA-061", "STA-063", "STA-064", "STA-065"), since="0.7.0"),
)  # fmt: skip

LOST = "A query for a value beyond the bound skips the row group: its rows are missing, and nothing says so."
UNUSED = "Readers that keep to the text ignore the bounds, and read every row group."
REFUSED = "Readers that decode the bound fail, some on the whole file."
FILTERED = "Spark skips the row group when it looks for a value that the dictionary does not hold: the rows of the other page are missing."
IGNORED = "none: readers ignore it"
MEMORY = "A reader that plans its memory by the histogram takes too little or too much."


_bad = partial(bad, family="sta", tier="footer", since=SINCE)
"""Makes a case for the first tier that detects it: at tier values, most of these break more than one rule."""

CHUNK = "footer.row_groups[0].columns[{}].meta_data"
STATS = f"{CHUNK}.statistics"
FIRST, SECOND, THIRD = (STATS.format(number) for number in range(3))
SIZES = f"{CHUNK}.size_statistics"
HEADER = "row_groups[0].columns[{}].pages[0].header.data_page_header{}.statistics"

TOTAL_HEADER, TYPE_HEADER, TIMESTAMP_HEADER, UNKNOWN_HEADER = b"\x2c", b"\x1c", b"\x3c", b"\x9c"
"""Headers of a struct as the second, first, third and ninth member of a union."""

BAD = (
    _bad("no-column-orders", "The footer has bounds and no column_orders", UNUSED, "counted", Mutation("remove", "footer.column_orders"), "STA-001", tier="values"),
    _bad("no-column-orders-max-too-small", "The footer has no column_orders, and an upper bound is less than a value", LOST, "no-column-orders", set_to(f"{SECOND}.max_value", b"\x27\0\0\0"), "STA-001", "STA-051", tier="values", since="0.7.0"),
    _bad("column-order-missing", "There is one column order less than columns", "Some readers refuse the file, some give a column the order of its neighbour.", "counted", Mutation("remove", "footer.column_orders[2]"), "STA-002"),
    _bad("column-order-unknown", "The order of a column is one that the format does not define", UNUSED, "uncounted", Mutation("set", "footer.column_orders[1].TYPE_ORDER:header", UNKNOWN_HEADER, raw=True), "STA-003", scan="same-rows", predicate=("=", "grade", {"float": "1.5"})),
    _bad("total-order-of-text", "Text has the order of floating point numbers", "Readers that know the order refuse the file or ignore the bounds.", "uncounted", Mutation("set", "footer.column_orders[0].TYPE_ORDER:header", TOTAL_HEADER, raw=True), "STA-004"),
    _bad("bound-too-short", "The lower bound of a date has three bytes", REFUSED, "orders-of-types", set_to(f"{STATS.format(5)}.min_value", b"\xff\xff\xff"), "STA-005"),
    _bad("bounds-swapped", "The lower bound of a text is greater than the upper one", "Readers find no value between the bounds: every query by this column loses the row group.", "uncounted", set_to(f"{FIRST}.min_value", b"zzz"), "STA-006"),
    _bad("bounds-swapped-unsigned", "The bounds of unsigned numbers are those of signed comparison", LOST, "orders-of-types", set_to(f"{SECOND}.max_value", b"\x06\0\0\0"), "STA-006"),
    _bad("bounds-swapped-decimal", "The upper bound of a decimal is less than the lower one as a number, though not as bytes", LOST, "orders-of-types", set_to(f"{THIRD}.max_value", b"\xff\xff\0"), "STA-006"),
    _bad("nan-bound", "The upper bound of a double is NaN", "Readers have to ignore the bound: no query skips the row group by it.", "uncounted", set_to(f"{SECOND}.max_value", NAN), "STA-007"),
    _bad("nan-bound-below", "The lower bound of a double is NaN", LOST, "uncounted", set_to(f"{SECOND}.min_value", NAN), "STA-089", tier="values", since="0.7.0"),
    _bad("nan-bound-beside-count", "The upper bound is NaN, and nan_count says that there are none", LOST, "counted", set_to(f"{THIRD}.max_value", NAN), "STA-008"),
    _bad("nan-bound-in-total-order", "An upper bound is NaN though other values are there", "A query for the greatest number is answered with NaN.", "total-order", set_to(f"{SECOND}.max_value", NAN), "STA-008"),
    _bad("zero-bound-positive", "The lower bound of a double is zero with the sign of plus", "A query for -0.0 skips the row group in readers that tell the zeros apart.", "zeros-of-both-signs", set_to(f"{SECOND}.min_value", bytes(8)), "STA-009", tier="values"),
    _bad("null-count-too-great", "There are more nulls than values", "A reader takes the column for nothing but nulls, and loses its values.", "uncounted", set_to(f"{FIRST}.null_count", 5), "STA-010"),
    _bad("null-count-of-required", "A required column counts a null", "A reader that subtracts nulls from values counts a row too few.", "counted", set_to(f"{SECOND}.null_count", 1), "STA-010"),
    _bad("null-count-missing", "Statistics do not say how many nulls there are", "A query for nulls reads every row group.", "uncounted", Mutation("remove", f"{FIRST}.null_count"), "STA-011", scan="same-rows", predicate=("is null", "metal")),
    _bad("distinct-count-too-great", "There are more different values than values", "A planner that believes it chooses a worse plan.", "counted", set_to(f"{FIRST}.distinct_count", 5), "STA-012"),
    _bad("nan-count-of-numbers", "A column of integers counts NaN", IGNORED, "orders-of-types", set_to(f"{SECOND}.nan_count", 0), "STA-073"),
    _bad("nan-count-too-great", "There are more NaN than values", "A reader takes all values for NaN, and loses the numbers.", "counted", set_to(f"{THIRD}.nan_count", 5), "STA-013"),
    _bad("deprecated-bound-of-text", "Text has a deprecated upper bound", "An old reader takes it for one by signed bytes, and loses text beyond ASCII.", "uncounted", set_to(f"{FIRST}.max", b"zinc"), "STA-014"),
    _bad("deprecated-bounds-differ", "The deprecated upper bound is another one than max_value", "An old reader skips a row group that a new one reads.", "counted", set_to(f"{SECOND}.max", b"\x27\0\0\0"), "STA-015"),
    _bad("int96-bounds-by-type", "INT96 timestamps have bounds, and the order of their type, which is not defined", UNUSED, "int96", Mutation("set", "footer.column_orders[1].INT96_TIMESTAMP_ORDER:header", TYPE_HEADER, raw=True), "STA-016"),
    _bad("interval-bounds", "Intervals have bounds", UNUSED, "uncounted", set_to("footer.schema[3].converted_type", int(ConvertedType.INTERVAL)), "STA-017"),
    _bad("bound-cut-in-a-character", "The upper bound of a text ends within a character", REFUSED, "bounds-cut", set_to(f"{FIRST}.max_value", "東京".encode()[:5]), "STA-018"),
    _bad("histogram-too-short", "The definition level histogram of a list lacks its last level", MEMORY, "lists", Mutation("remove", f"{SIZES.format(1)}.definition_level_histogram[3]"), "STA-090"),
    _bad("histogram-counts-too-many", "The repetition level histogram of a list counts a value too many", MEMORY, "lists", set_to(f"{SIZES.format(1)}.repetition_level_histogram[1]", 4), "STA-019"),
    _bad("histogram-against-null-count", "The null count of a list is one less than its definition levels say", "none: readers answer no query about lists by it", "lists", set_to(f"{SECOND}.null_count", 2), "STA-070"),
    _bad("histogram-of-fewer-nulls", "The null count of a text is one more than its definition levels say", "A query for nulls reads, or skips, the wrong row groups.", "counted", set_to(f"{FIRST}.null_count", 2), "STA-020", since="0.7.0"),
    _bad("histogram-of-fewer-nulls-of-lists", "The null count of a list is one more than its definition levels say", "A reader that takes a list for nothing but nulls loses its values.", "lists", set_to(f"{SECOND}.null_count", 4), "STA-020", since="0.7.0"),
    _bad("byte-array-size-of-numbers", "A column of integers says how many bytes its byte arrays have", "Arrow C++ refuses the column.", "counted", set_to(f"{SIZES.format(2)}.unencoded_byte_array_data_bytes", 24), "STA-021"),
    _bad("box-of-bytes", "A column of plain bytes has geospatial statistics", "none: readers look for them at geometries", "box-across-the-antimeridian", Mutation("remove", "footer.schema[2].logicalType"), "STA-075"),
    _bad("box-upside-down", "The least y of a box is greater than the greatest", "A spatial query skips the row group: its places are missing.", "box-across-the-antimeridian", set_to(f"{CHUNK.format(1)}.geospatial_statistics.bbox.ymin", 6.0), "STA-022"),
    _bad("box-of-nan", "The least x of a box is NaN", "Readers have to ignore the box: no query skips the row group by it.", "box-across-the-antimeridian", set_to(f"{CHUNK.format(1)}.geospatial_statistics.bbox.xmin", float("nan")), "STA-076", since="0.7.0"),
    _bad("box-of-no-height", "The least z of a box is infinite, and the greatest as well, below zero: no z was found", "Readers take every z to lie outside.", "box-across-the-antimeridian", set_to(f"{CHUNK.format(1)}.geospatial_statistics.bbox", {"xmin": 178.0, "xmax": -178.0, "ymin": 3.0, "ymax": 5.0, "zmin": float("inf"), "zmax": float("-inf")}), "STA-076", since="0.7.0"),
    _bad("exact-flag-alone", "A flag calls a bound exact that is not there", "none: readers look at the bound first", "counted", Mutation("remove", f"{FIRST}.max_value"), "STA-023"),
    _bad("total-order-without-nan-count", "The order is the total one, and NaN is not counted", "A query for NaN skips the row group in readers that take an absent count for 0.", "total-order", Mutation("remove", f"{SECOND}.nan_count"), "STA-024"),
    _bad("column-order-too-many", "There is one column order more than columns", "Readers ignore all bounds, or take the order of another column.", "counted", Mutation("duplicate", "footer.column_orders[0]"), "STA-002", since="0.7.0"),
    _bad("column-orders-empty", "The list of column orders is there, and empty", "Readers ignore all bounds, or fail.", "counted", set_to("footer.column_orders", []), "STA-002", since="0.7.0"),
    _bad("int96-order-of-numbers", "A column of integers has the order of INT96 timestamps", UNUSED, "counted", Mutation("set", "footer.column_orders[1].TYPE_ORDER:header", TIMESTAMP_HEADER, raw=True), "STA-004", since="0.7.0"),
    _bad("bound-of-no-bytes", "The lower bound of an integer is empty", REFUSED, "uncounted", set_to(f"{SECOND}.min_value", b""), "STA-005", since="0.7.0"),
    _bad("bound-too-long", "The upper bound of an integer has eight bytes instead of four", REFUSED, "orders-of-types", set_to(f"{SECOND}.max_value", bytes(8)), "STA-005", since="0.7.0"),
    _bad("bound-longer-than-its-type", "The upper bound of fixed bytes is longer than the values can be", REFUSED, "uncounted", set_to(f"{THIRD}.max_value", b"2" * 13), "STA-005", since="0.7.0"),
    _bad("bound-no-truth-value", "The upper bound of truth values is 2", REFUSED, "orders-of-types", set_to(f"{STATS.format(4)}.max_value", b"\2"), "STA-005", since="0.7.0"),
    _bad("bound-of-a-decimal-empty", "The lower bound of a decimal is empty", REFUSED, "orders-of-types", set_to(f"{THIRD}.min_value", b""), "STA-005", since="0.7.0"),
    _bad("bound-of-a-decimal-short", "The lower bound of a decimal of four fixed bytes has one", REFUSED, "orders-of-types", set_to(f"{STATS.format(3)}.min_value", b"\0"), "STA-005", since="0.7.0"),
    _bad("bounds-swapped-boolean", "The bounds of truth values are exchanged", LOST, "orders-of-types", Mutation("swap", f"{STATS.format(4)}.min_value", f"{STATS.format(4)}.max_value"), "STA-006", since="0.7.0"),
    _bad("bounds-swapped-int96", "The bounds of INT96 timestamps are exchanged: their days decide before their nanoseconds", LOST, "int96", Mutation("swap", f"{SECOND}.min_value", f"{SECOND}.max_value"), "STA-006", since="0.7.0"),
    _bad("bounds-swapped-wide-timestamp", "The bounds of timestamps of twelve bytes are exchanged, as if they compared as bytes", LOST, "wide-timestamps", Mutation("swap", f"{SECOND}.min_value", f"{SECOND}.max_value"), "STA-006", since="0.9.0"),
    _bad("number-bounds-nan", "A number is the lower bound of nothing but NaN", "A query for NaN skips the row group.", "total-order", set_to(f"{THIRD}.min_value", bytes(8)), "STA-008", since="0.7.0"),
    _bad("null-count-negative", "There are less than no nulls", "Readers that allocate by it fail.", "uncounted", set_to(f"{FIRST}.null_count", -1), "STA-010", since="0.7.0"),
    _bad("distinct-count-negative", "There are less than no different values", "A planner that believes it chooses a worse plan, or fails.", "counted", set_to(f"{FIRST}.distinct_count", -1), "STA-012", since="0.7.0"),
    _bad("nan-count-negative", "There are less than no NaN", "A query for NaN skips the row group.", "counted", set_to(f"{THIRD}.nan_count", -1), "STA-013", since="0.7.0"),
    _bad("deprecated-bound-of-unsigned", "Unsigned numbers have a deprecated upper bound", "An old reader takes it for one of signed numbers, and loses the others.", "orders-of-types", set_to(f"{SECOND}.max", b"\7\0\0\0"), "STA-014", since="0.7.0"),
    _bad("deprecated-bound-of-int96", "INT96 timestamps have a deprecated upper bound", "An old reader takes it for one by bytes, and loses timestamps.", "int96", set_to(f"{SECOND}.max", bytes(12)), "STA-014", since="0.7.0"),
    _bad("geometry-bounds", "A geometry has an upper bound", UNUSED, "box-across-the-antimeridian", set_to(f"{SECOND}.max_value", b"\1"), "STA-017", since="0.7.0"),
    _bad("bound-with-surrogate", "The upper bound of a text holds a surrogate", REFUSED, "bounds-cut", set_to(f"{FIRST}.max_value", b"\xed\xa0\x80"), "STA-018", since="0.7.0"),
    _bad("histogram-too-long", "The repetition level histogram of a list has a level too many", MEMORY, "lists", set_to(f"{SIZES.format(1)}.repetition_level_histogram", [4, 3, 0]), "STA-090", since="0.7.0"),
    _bad("histogram-negative", "The repetition level histogram of a list counts less than nothing", MEMORY, "lists", set_to(f"{SIZES.format(1)}.repetition_level_histogram", [8, -1]), "STA-019", since="0.7.0"),
    _bad("byte-array-size-negative", "The values of a text have less than no bytes", MEMORY, "counted", set_to(f"{SIZES.format(0)}.unencoded_byte_array_data_bytes", -1), "STA-021", since="0.7.0"),
    _bad("box-upside-down-in-height", "The least z of a box is greater than the greatest", "A spatial query skips the row group: its places are missing.", "box-across-the-antimeridian", set_to(f"{CHUNK.format(1)}.geospatial_statistics.bbox", {"xmin": 178.0, "xmax": -178.0, "ymin": 3.0, "ymax": 5.0, "zmin": 2.0, "zmax": 1.0}), "STA-022", since="0.7.0"),
    _bad("page-bounds-swapped", "The lower bound in a page header is greater than the upper one", "Readers that use statistics of pages skip the page: its rows are missing.", "page-statistics", set_to(f"{HEADER.format(0, '')}.min_value", b"zzz"), "STA-030", tier="pages"),
    _bad("page-null-counts-add-up", "The null count of a page is one too great for that of its chunk", "A reader that skips pages of nulls loses values.", "page-statistics", set_to(f"{HEADER.format(1, '_v2')}.null_count", 1), "STA-031", tier="pages"),
    _bad("page-null-counts-of-lists-add-up", "The null count of a list leaves out missing and empty lists, and those of its pages do not", "none: readers answer no query about lists by it", "page-statistics-of-lists", set_to(f"{SECOND}.null_count", 1), "STA-074", tier="pages", since="0.7.0"),
    _bad("page-distinct-count-negative", "A page header counts less than no distinct values", IGNORED, "page-statistics-counted", set_to(f"{HEADER.format(0, '')}.distinct_count", -1), "STA-053", tier="pages", since="0.7.0"),
    _bad("page-nan-count-of-numbers", "The page header of a column of integers counts NaN", IGNORED, "page-statistics-counted", set_to(f"{HEADER.format(1, '')}.nan_count", 0), "STA-053", tier="pages", since="0.7.0"),
    _bad("page-statistics-no-column-orders", "Page headers have bounds, and the footer has no column_orders", UNUSED, "page-statistics", Mutation("remove", "footer.column_orders"), "STA-001", tier="values", since="0.7.0"),
    _bad("encoding-stats-hide-a-page", "The encoding_stats count a page without dictionary among those with one", FILTERED, "dictionaries", set_to(f"{CHUNK.format(0)}.encoding_stats[2].encoding", int(Encoding.RLE_DICTIONARY)), "PQF-061", "STA-058", tier="pages", since="0.7.0", also=("PQF-061",)),
    _bad("encoding-stats-of-an-index-page", "The encoding_stats call a data page without dictionary an index page", FILTERED, "dictionaries", set_to(f"{CHUNK.format(0)}.encoding_stats[2].page_type", int(PageType.INDEX_PAGE)), "PQF-061", "STA-058", tier="pages", since="0.7.0", also=("PQF-061",)),
    _bad("encodings-hide-a-page", "The encodings leave out that of a page without dictionary, and there are no encoding_stats", FILTERED, "dictionaries", set_to(f"{CHUNK.format(1)}.encodings", [int(Encoding.PLAIN_DICTIONARY), int(Encoding.RLE)]), "PQF-060", "STA-058", tier="pages", since="0.7.0", also=("PQF-060",)),
    _bad("encoding-stats-page-type-unknown", "The encoding_stats count pages of a type that is not defined", "DuckDB, DataFusion and Spark refuse the file.", "dictionaries", set_to(f"{CHUNK.format(0)}.encoding_stats[0].page_type", 77), "PQF-171", since="0.7.0"),
    _bad("box-of-half-an-axis", "A box has a least z and no greatest", "Readers take z as missing: no query skips the row group by it.", "points-in-space", Mutation("remove", f"{CHUNK.format(1)}.geospatial_statistics.bbox.zmax"), "STA-060", since="0.7.0"),
    _bad("encodings-unused", "The encodings list one that no page has", "Readers that look for a chunk with nothing but a dictionary read this one to its end.", "dictionaries", set_to(f"{CHUNK.format(2)}.encodings", [int(Encoding.PLAIN), int(Encoding.PLAIN_DICTIONARY), int(Encoding.RLE), int(Encoding.DELTA_BYTE_ARRAY)]), "STA-062", tier="pages", since="0.7.0"),
    _bad("geospatial-type-twice", "A type of geometries is listed twice", IGNORED, "points-in-space", Mutation("duplicate", f"{CHUNK.format(1)}.geospatial_statistics.geospatial_types[0]"), "STA-064", since="0.7.0"),
    _bad("geospatial-type-unknown", "A type of geometries is listed that well-known binary does not have", IGNORED, "points-in-space", set_to(f"{CHUNK.format(1)}.geospatial_statistics.geospatial_types", [1001, 3001, 4001]), "STA-064", since="0.7.0"),
)  # fmt: skip
