"""Golden cases of the page index: offset indexes, column indexes, and the footer's claims about them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from pqassay_golden.recipes import bad, good, set_to
from pqassay_golden.tiny.parquet import Column, Encoding, Layout, ListOf, TinyParquet
from pqassay_spec.golden.case import Scan
from pqassay_spec.mutation.mutations import Mutation
from pqassay_spec.parquet.thrift import BoundaryOrder

SINCE = "0.5.0"

PAIRS, THREES, FOURS = Layout(page_rows=2, exact=True), Layout(page_rows=3), Layout(page_rows=4)

NUMBERS = Column(
    "number", "int32", [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233], optional=False, layout=PAIRS
)
DEPTHS = Column(
    "depth", "double", [9.5, 8.0, 7.5, 2.0, 0.5, 0.0, -0.0, -1.5, -2.0, -2.0, -3.25, -9.0], layout=THREES
)
METALS = Column("metal", "string", ["tin", "lead", None, "zinc", "nickel", "", "copper", None, "iron", "gold", "tin", "cobalt"], layout=FOURS)  # fmt: skip

ORDERED = TinyParquet((NUMBERS, DEPTHS, METALS), row_group_rows=6, page_index=True)

GAPS = [None, None, 3, 4, None, None, 7, 8, None, None, None, None]
"""Pages of two values; the first, middle and last pages have only nulls."""

NULLS = TinyParquet((Column("number", "int64", GAPS), Column("metal", "string", [None] * 12)), row_group_rows=8, page_rows=2, page_index=True)  # fmt: skip

NAMES = [
    "Abu Dhabi",
    "Abidjan",
    "Zürich",
    "Zürichhorn",
    "東京都",
    "東京",
    "\U0010ffff\U0010ffff\U0010ffff",
    "Abu",
]
CUT = TinyParquet((Column("name", "string", NAMES),), page_rows=2, page_index=True, layout=Layout(truncate=9, index_truncate=4, exact=True))  # fmt: skip

SHORTENED = TinyParquet((Column("name", "string", ["Blart Versenwald III", "Cassia"], optional=False),), page_rows=1, page_index=True, layout=Layout(index_truncate=1, exact=True))  # fmt: skip
"""The example of ``PageIndex.md``, section "Technical Approach", and a second page that begins at its upper bound."""

LISTS = [["a", None], [], None, ["b"], ["c", "d", "e"], [None], [], [], ["f"]]
HISTOGRAMS = Layout(size_statistics=True, histograms=True, unencoded_bytes=True)
COUNTED = TinyParquet(
    (
        Column("row", "int64", [10, None, 12, 13, 14, 15, 16, 17, 18], layout=Layout(page_rows=(3, 3), size_statistics=True, histograms=True)),
        Column("word", "string", ["a", None, "c", None, "", "f", "gg", "h", "i"], layout=Layout(page_rows=2, size_statistics=True, histograms=True, unencoded_bytes=True)),
        Column("words", ListOf("string"), LISTS),
    ),
    page_rows=4,
    page_index=True,
    layout=HISTOGRAMS,
)  # fmt: skip

MASSES = [1.5, float("nan"), -0.0, 0.0, float("nan"), float("nan"), 2.0, float("inf")]
TOTAL = TinyParquet((Column("mass", "double", MASSES, layout=Layout(order="total")),), page_rows=2, page_index=True)  # fmt: skip

MOMENTS = [bytes.fromhex("00000000000000008c3d2500"), bytes.fromhex("d8feffff000000008c3d2500"), bytes.fromhex("00000000000000008d3d2500")]  # fmt: skip
TIMES = TinyParquet((Column("moment", "int96", MOMENTS, layout=Layout(order="timestamp", bounds=False)),), page_rows=1, page_index=True)  # fmt: skip

TWO_TIMES = TinyParquet((Column("begun", "int96", MOMENTS, layout=Layout(order="timestamp")), Column("ended", "int96", MOMENTS, layout=Layout(order="timestamp"))), page_rows=1, page_index=True)  # fmt: skip

ZEROS = TinyParquet((Column("depth", "double", [0.0, -0.0, 1.0, 2.0]),), page_rows=2, page_index=True)

EXACT_ZEROS = TinyParquet((Column("depth", "double", [0.0, -0.0, 1.0, 2.0]),), page_rows=2, page_index=True, layout=Layout(exact=True))  # fmt: skip

DICTIONARY = TinyParquet((Column("metal", "string", ["tin", "lead", "tin", "zinc", None, "tin"]),), page_rows=2, page_index=True, layout=Layout(dictionary=Encoding.RLE_DICTIONARY))  # fmt: skip

SAME = TinyParquet((Column("year", "int32", [2024] * 6), Column("metal", "string", ["tin"] * 6)), page_rows=2, page_index=True, layout=Layout(boundary_order=BoundaryOrder.DESCENDING))  # fmt: skip
ONE_PAGE = TinyParquet((Column("year", "int32", [2024, 1999]),), page_index=True, layout=Layout(boundary_order=BoundaryOrder.DESCENDING))  # fmt: skip

PLACES = TinyParquet((NUMBERS,), row_group_rows=6, page_index=True, layouts={"number": Layout(page_rows=2, column_index=False)})  # fmt: skip

LEAD: Sequence[Any] = ("=", "metal", "lead")


_good = partial(good, family="pix", since=SINCE)

GOOD = (
    _good("ordered-three-ways", "Bounds that ascend, descend and do neither, in two row groups, with pages of two, three and four rows", ORDERED, ("=", "number", 13)),
    _good("null-pages", "Pages of nothing but nulls among others, which the order of the bounds passes over, and a column of nothing else", NULLS, ("=", "number", 7)),
    _good("bounds-cut-short", "Bounds of pages that were cut to four bytes and, above, raised; those of the chunk to nine", CUT, ("=", "name", "東京")),
    _good("document-truncated", "The example of PageIndex.md: a page of one long name, with bounds of one byte that it does not hold", SHORTENED, ("=", "name", "Blart Versenwald III"), since="0.7.0"),
    _good("histograms", "Level histograms of flat and nested columns, and the bytes of byte arrays", COUNTED, ("=", "word", "c")),
    _good("total-order", "Numbers in the IEEE 754 total order, with NaN counted, a page of nothing but NaN among them", TOTAL, ("is null", "mass"), "fastparquet"),
    _good("timestamp-order", "INT96 in the order of timestamps", TIMES, ("is null", "moment")),
    _good("zeros-of-both-signs", "A page with zeros of both signs, whose lower bound is the negative one", ZEROS, ("is null", "depth")),
    _good("two-timestamps", "Two columns of INT96 in the order of timestamps, with bounds", TWO_TIMES, ("is null", "begun"), since="0.7.0"),
    _good("zeros-and-exact-bounds", "Zeros of both signs, between bounds that are called exact", EXACT_ZEROS, ("is null", "depth"), since="0.7.0"),
    _good("dictionary", "A dictionary page comes before the first page of the offset index", DICTIONARY, LEAD),
    _good("equal-bounds", "Pages whose bounds are all equal descend as well as they ascend", SAME, ("=", "year", 2024)),
    _good("one-page", "One page has every order", ONE_PAGE, ("=", "year", 1999)),
    _good("offset-index-alone", "Offset indexes without column indexes", PLACES, ("=", "number", 13)),
)  # fmt: skip

FAILS = "Readers that use the page index refuse the file or panic."
SKIPPED = "Readers that use the index skip pages that hold rows."
SHIFTED = "Readers that use the index put the rows of one column beside those of another."
NOTHING = "none: readers look elsewhere"


def _chunk(column: int, part: str, row_group: int = 0) -> str:
    return f"row_groups[{row_group}].columns[{column}].{part}"


def _page(column: int, page: int, part: str) -> str:
    return _chunk(column, f"offset_index.page_locations[{page}].{part}")


_bad = partial(bad, family="pix", tier="index", since=SINCE)

REFUSABLE: Scan = "refusal-allowed"

BAD = (
    # In the footer
    _bad("column-index-alone", "The offset of an offset index is missing, beside a column index", "Readers cannot tell where the pages are that it describes.", "one-page", Mutation("remove", "footer.row_groups[0].columns[0].offset_index_offset"), "PIX-001", "PIX-002", scan=REFUSABLE, also=("PIX-002",)),
    _bad("length-missing", "The length of an offset index is missing", FAILS, "one-page", Mutation("remove", "footer.row_groups[0].columns[0].offset_index_length"), "PIX-002", scan=REFUSABLE),
    _bad("length-zero", "The length of a column index is 0", FAILS, "one-page", set_to("footer.row_groups[0].columns[0].column_index_length", 0), "PIX-002", scan=REFUSABLE),
    _bad("one-row-group-without", "The second row group has no offset index any more, but its length", "Some readers refuse the file.", "offset-index-alone", Mutation("remove", "footer.row_groups[1].columns[0].offset_index_offset"), "PIX-002", "PIX-003", scan=REFUSABLE),
    # The offset index
    _bad("first-row-missing", "An entry of an offset index lacks a required field", FAILS, "ordered-three-ways", Mutation("remove", _page(0, 1, "first_row_index")), "PIX-010", scan=REFUSABLE),
    _bad("offset-index-cut", "An offset index is recorded one byte too short", FAILS, "ordered-three-ways", Mutation("add", "footer.row_groups[0].columns[0].offset_index_length", -1), "PIX-010", scan=REFUSABLE, decode="either"),
    _bad("no-pages", "An offset index lists no page", "Readers that use it return no row of the column.", "ordered-three-ways", set_to(_chunk(0, "offset_index.page_locations"), []), "PIX-011", scan=REFUSABLE),
    _bad("place-of-the-next-page", "A page is recorded at the place of the next one", SHIFTED, "ordered-three-ways", Mutation("add", _page(0, 1, "offset"), 31), "PIX-012"),
    _bad("page-beyond-its-chunk", "The last page is recorded to reach beyond the chunk", FAILS, "ordered-three-ways", Mutation("add", _page(0, 2, "compressed_page_size"), 8), "PIX-013", scan=REFUSABLE),
    _bad("page-of-no-bytes", "A page is recorded with no bytes", FAILS, "ordered-three-ways", set_to(_page(0, 1, "compressed_page_size"), 0), "PIX-013", scan=REFUSABLE),
    _bad("offset-indexes-swapped", "The offset indexes of two row groups changed places", SHIFTED, "ordered-three-ways", Mutation("swap", _chunk(0, "offset_index"), _chunk(0, "offset_index", 1)), "PIX-013"),
    _bad("size-without-header", "The size of a page does not count its header", FAILS, "ordered-three-ways", Mutation("add", _page(0, 1, "compressed_page_size"), -25), "PIX-014", scan=REFUSABLE),
    _bad("first-row-is-not-0", "The first page is said to begin with row 1", SHIFTED, "ordered-three-ways", set_to(_page(0, 0, "first_row_index"), 1), "PIX-015"),
    _bad("row-of-the-page-before", "A page is said to begin with the first row of the page before", SHIFTED, "ordered-three-ways", set_to(_page(0, 1, "first_row_index"), 0), "PIX-016"),
    _bad("row-beyond-the-row-group", "The last page is said to begin behind the last row", SHIFTED, "ordered-three-ways", set_to(_page(0, 2, "first_row_index"), 6), "PIX-016"),
    _bad("data-page-elsewhere", "The footer places the first data page one byte behind its place in the offset index", "Readers that follow the footer fail.", "dictionary", Mutation("add", "footer.row_groups[0].columns[0].meta_data.data_page_offset", 1), "PIX-017", scan=REFUSABLE),
    _bad("byte-arrays-of-numbers", "The offset index of a column of numbers counts the bytes of byte arrays", NOTHING, "ordered-three-ways", set_to(_chunk(0, "offset_index.unencoded_byte_array_data_bytes"), [8, 8, 8]), "PIX-018", scan="same-rows"),
    _bad("byte-arrays-of-four-pages", "The offset index counts the bytes of one page less than there are", NOTHING, "histograms", Mutation("remove", _chunk(1, "offset_index.unencoded_byte_array_data_bytes[0]")), "PIX-018", scan=REFUSABLE),
    _bad("byte-arrays-of-negative-size", "The offset index counts less than no bytes", "A reader that allots memory by it fails.", "histograms", set_to(_chunk(1, "offset_index.unencoded_byte_array_data_bytes[0]"), -1), "PIX-018", scan=REFUSABLE),
    _bad("offset-indexes-apart", "A column index is stored between the offset indexes of a row group", "Readers need one request more, or take something else for an offset index.", "ordered-three-ways", Mutation("swap", "body[11]", "body[13]"), "PIX-036", scan="same-rows"),
    # The lists of a column index
    _bad("order-missing", "A column index lacks its boundary_order", FAILS, "ordered-three-ways", Mutation("remove", _chunk(0, "column_index.boundary_order")), "PIX-020", scan=REFUSABLE),
    _bad("column-index-cut", "A column index is recorded one byte too short", FAILS, "ordered-three-ways", Mutation("add", "footer.row_groups[0].columns[0].column_index_length", -1), "PIX-020", scan=REFUSABLE, decode="either"),
    _bad("lower-bound-too-few", "There is a lower bound less than there are pages", FAILS, "ordered-three-ways", Mutation("remove", _chunk(0, "column_index.min_values[1]")), "PIX-021", scan=REFUSABLE),
    _bad("null-count-too-many", "There is a null count more than there are pages", FAILS, "ordered-three-ways", Mutation("duplicate", _chunk(0, "column_index.null_counts[1]")), "PIX-021", scan=REFUSABLE),
    _bad("nan-counts-too-few", "There is a count of NaN less than there are pages", FAILS, "total-order", Mutation("remove", _chunk(0, "column_index.nan_counts[0]")), "PIX-021", scan=REFUSABLE, since="0.7.0"),
    _bad("bounds-of-nulls", "A page of nothing but nulls has bounds", NOTHING, "null-pages", set_to(_chunk(0, "column_index.min_values[0]"), bytes(8)), "PIX-022", scan="same-rows"),
    _bad("bound-of-no-bytes", "The lower bound of a page of numbers is empty", FAILS, "ordered-three-ways", set_to(_chunk(0, "column_index.min_values[1]"), b""), "PIX-023", scan=REFUSABLE),
    _bad("bound-of-eight-bytes", "The upper bound of a page of INT32 has eight bytes", FAILS, "ordered-three-ways", set_to(_chunk(0, "column_index.max_values[1]"), (5).to_bytes(8, "little")), "PIX-023", scan=REFUSABLE),
    _bad("nulls-called-values", "The last page of nothing but nulls is not called so, and has no bounds", FAILS, "null-pages", set_to(_chunk(0, "column_index.null_pages[0]"), False), "PIX-026", scan=REFUSABLE),
    _bad("bounds-swapped", "The bounds of a page changed places", SKIPPED, "ordered-three-ways", Mutation("swap", _chunk(0, "column_index.min_values[1]"), _chunk(0, "column_index.max_values[1]")), "PIX-024"),
    _bad("unordered-called-ascending", "Bounds that do neither are said to ascend", SKIPPED, "ordered-three-ways", set_to(_chunk(2, "column_index.boundary_order"), 1), "PIX-025"),
    _bad("ascending-called-descending", "Bounds that ascend are said to descend", SKIPPED, "ordered-three-ways", set_to(_chunk(0, "column_index.boundary_order"), 2), "PIX-025"),
    _bad("order-without-a-name", "The order of the bounds is one that the format does not know", FAILS, "ordered-three-ways", set_to(_chunk(0, "column_index.boundary_order"), 3), "PIX-087", scan=REFUSABLE),
    _bad("null-counts-swapped", "A page of nothing but nulls is said to hold none, a page of values nothing else", SKIPPED, "null-pages", Mutation("swap", _chunk(0, "column_index.null_counts[0]"), _chunk(0, "column_index.null_counts[1]")), "PIX-026"),
    _bad("values-called-nulls", "A page of values is called one of nothing but nulls", SKIPPED, "ordered-three-ways", set_to(_chunk(0, "column_index.null_pages[1]"), True), "PIX-026"),
    _bad("list-called-nulls", "A page of lists that hold values is called one of nothing but nulls", SKIPPED, "histograms", set_to(_chunk(2, "column_index.null_pages[1]"), True), "PIX-026"),
    _bad("null-counts-missing", "A column index has no null_counts", "Readers cannot look for nulls by it.", "ordered-three-ways", Mutation("remove", _chunk(0, "column_index.null_counts")), "PIX-027", scan="same-rows"),
    _bad("null-count-0", "A page that holds a null is said to hold none", SKIPPED, "ordered-three-ways", set_to(_chunk(2, "column_index.null_counts[0]"), 0), "PIX-028"),
    _bad("null-count-negative", "A page is said to hold less than no nulls", SKIPPED, "ordered-three-ways", set_to(_chunk(2, "column_index.null_counts[0]"), -1), "PIX-028"),
    _bad("null-counts-of-another-list", "The null counts of the pages of a list add up to one less than that of the chunk", NOTHING, "histograms", Mutation("add", _chunk(2, "column_index.null_counts[0]"), -1), "PIX-074", since="0.7.0"),
    _bad("histogram-too-short", "A level histogram lacks an entry", FAILS, "histograms", Mutation("remove", _chunk(0, "column_index.definition_level_histograms[0]")), "PIX-029", scan=REFUSABLE),
    _bad("histogram-of-another-chunk", "The level histograms of the pages add up to another one than that of the chunk", "Readers that plan by them count wrong.", "histograms", Mutation("swap", _chunk(0, "column_index.definition_level_histograms[0]"), _chunk(0, "column_index.definition_level_histograms[1]")), "PIX-072"),
    _bad("row-of-another-page", "A page is said to begin one row too late", SHIFTED, "histograms", Mutation("add", _page(0, 1, "first_row_index"), 1), "PIX-038"),
    _bad("row-of-another-page-of-lists", "A page of lists is said to begin one row too late", SHIFTED, "histograms", Mutation("add", _page(2, 1, "first_row_index"), 1), "PIX-038"),
    # Its bounds
    _bad("bound-not-a-number", "The upper bound of a page is NaN", SKIPPED, "ordered-three-ways", set_to(_chunk(1, "column_index.max_values[0]"), bytes.fromhex("000000000000f87f")), "PIX-030", is_older=True),
    _bad("lower-bound-not-a-number", "The lower bound of a page is NaN", SKIPPED, "ordered-three-ways", set_to(_chunk(1, "column_index.min_values[0]"), bytes.fromhex("000000000000f87f")), "PIX-086", since="0.7.0"),
    _bad("int96-without-order", "The column order of INT96 is that of the type, which defines none", "Readers compare bytes, and skip pages that hold rows.", "timestamp-order", Mutation("swap", "footer.column_orders[0].INT96_TIMESTAMP_ORDER", "footer.column_orders[0].TYPE_ORDER"), "PIX-031"),
    _bad("nan-count-too-great", "A page is said to hold a NaN more than there are", "none", "total-order", Mutation("add", _chunk(0, "column_index.nan_counts[3]"), 1), "PIX-032", scan="same-rows"),
    _bad("nan-counts-of-integers", "The column index of integers counts NaN", NOTHING, "ordered-three-ways", set_to(_chunk(0, "column_index.nan_counts"), [0, 0, 0]), "PIX-073", scan="same-rows"),
    _bad("nan-counts-missing", "A column index under the total order does not count NaN", "Readers have to take every page for one that holds NaN.", "total-order", Mutation("remove", _chunk(0, "column_index.nan_counts")), "PIX-033", scan="same-rows"),
    _bad("column-indexes-swapped", "The column indexes of two row groups changed places", SKIPPED, "ordered-three-ways", Mutation("swap", _chunk(0, "column_index"), _chunk(0, "column_index", 1)), "PIX-034"),
    _bad("upper-bound-too-small", "The greatest value of the chunk is greater than all bounds of its pages", SKIPPED, "ordered-three-ways", set_to(_chunk(0, "column_index.max_values[2]"), (12).to_bytes(4, "little")), "PIX-035"),
    _bad("lower-bound-too-great", "The least value of the chunk is less than all bounds of its pages", SKIPPED, "ordered-three-ways", set_to(_chunk(0, "column_index.min_values[0]"), (2).to_bytes(4, "little")), "PIX-035"),
    _bad("one-timestamp-without-order", "The order of one of two columns of INT96 is that of the type, which has none", "none: readers ignore the bounds", "two-timestamps", Mutation("swap", "footer.column_orders[1].INT96_TIMESTAMP_ORDER", "footer.column_orders[1].TYPE_ORDER"), "PIX-031", "STA-016", since="0.7.0"),
    _bad("exact-zero-of-the-wrong-sign", "A lower bound is positive zero, and the writer knows of exact bounds", "Readers that tell zeros apart skip the page of the negative one.", "zeros-and-exact-bounds", set_to(_chunk(0, "column_index.min_values[0]"), bytes(8)), "PIX-037", tier="values", since="0.7.0"),
    _bad("exact-zero-of-the-chunk", "The lower bound of a chunk is positive zero, and it is called exact", "Readers that tell zeros apart skip the row group of the negative one.", "zeros-and-exact-bounds", set_to("footer.row_groups[0].columns[0].meta_data.statistics.min_value", bytes(8)), "STA-009", tier="values", since="0.7.0"),
    _bad("zero-of-the-wrong-sign", "A lower bound is positive zero", "A reader that tells the zeros apart skips pages that hold the negative one.", "zeros-of-both-signs", set_to(_chunk(0, "column_index.min_values[0]"), bytes(8)), "PIX-037", tier="values"),
)  # fmt: skip
