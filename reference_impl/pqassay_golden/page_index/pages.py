"""Golden cases of the page index: comparisons with the pages that it describes, and with their values."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from pqassay_golden.parquet_file.framing import LEAD, TWO_COLUMNS
from pqassay_golden.parquet_file.pages import MARKS, METAL, SINCE, WITH_LISTS, YEAR
from pqassay_golden.recipes import bad, good, set_to
from pqassay_golden.statistics.values import (
    AUDITED,
    LOST,
    MISCOUNTED,
    NAN,
    ROWS,
    WITH_NAN,
    audited,
    untrue,
)
from pqassay_golden.tiny.columns import Column
from pqassay_golden.tiny.parquet import Layout, TinyParquet
from pqassay_spec.mutation.mutations import Mutation
from pqassay_spec.parquet.encoding.levels import packed_run
from pqassay_spec.parquet.encoding.plain import LENGTH

COUNTED = Layout(page_rows=3, histograms=True)

V1 = TinyParquet(TWO_COLUMNS, page_index=True, layout=Layout(page_rows=3))
V2 = TinyParquet(TWO_COLUMNS, page_index=True, layout=Layout(page_rows=3, version=2))
LISTS = TinyParquet(WITH_LISTS, page_index=True, layout=COUNTED)
PLACES = TinyParquet(TWO_COLUMNS, layout=Layout(page_rows=3, offset_index=True))


NAN_PAGE = TinyParquet(
    (Column("metal", "string", ["tin", None, "zinc", "lead"]), Column("grade", "double", [1.0, 2.0, 3.0, 4.0], optional=False)),
    page_index=True,
    page_rows=2,
)  # fmt: skip

NAN_COUNTED = TinyParquet(
    (Column("metal", "string", ["tin", None, "zinc", "lead"]), Column("grade", "double", [1.0, NAN, 3.0, 4.0], optional=False, layout=Layout(nan_count=True))),
    page_index=True,
    page_rows=2,
)  # fmt: skip

_good = partial(good, since=SINCE)

GOOD = (
    _good("pix/three-pages", "Three data pages in each chunk, with their index", V1, LEAD),
    _good("pix/three-pages-v2", "Three data pages of version 2 in each chunk, with their index", V2, LEAD),
    _good("pix/three-pages-without-bounds", "Three data pages in each chunk, with an offset index alone", PLACES, LEAD),
    _good("pix/three-pages-of-lists", "Three data pages of lists, with histograms of their levels in the index", LISTS, LEAD),
    # Against the values
    audited("pix/audited", "A page index of pages with values, with nulls and with both", replace(AUDITED, bloom_filters=()), ("PIX-050", "PIX-051", "PIX-052", "PIX-053", "PIX-059"), "fastparquet"),
    audited("pix/audited-no-nan", "A page index of floating point numbers none of which is NaN", NAN_PAGE, ("PIX-057",)),
    replace(audited("pix/audited-nan", "A page index that counts the NaN values of each page", WITH_NAN, ("PIX-056",), "fastparquet"), column="grade"),
    _good("pix/nan-counted", "A page index that counts NaN under the type-defined order", NAN_COUNTED, ("=", "metal", "tin"), rules=("PIX-030", "PIX-057", "PIX-080"), since="0.7.0"),
)  # fmt: skip

WITHIN_A_ROW = b"".join(
    LENGTH.build(len(levels)) + levels
    for levels in (packed_run([1, 0, 0], width=1), packed_run([3, 3, 3], width=2))
)
"""Levels of the same number of rows, but the first value continues the last row of the previous page."""

SHIFTED = "Readers that use the index put the rows of one column beside those of another."


_bad = partial(bad, tier="pages", since=SINCE)

BAD = (
    _bad("pix/page-not-listed", "The offset index leaves out the second of three pages", "Readers that use the index lose the rows of that page.", "pix/three-pages-without-bounds", Mutation("remove", f"{METAL}.offset_index.page_locations[1]"), "PIX-040"),
    _bad("pix/page-sizes-without-headers", "The size of a page leaves out its header", "Readers that fetch a page by its size get the end of it cut off.", "pix/three-pages", set_to(f"{YEAR}.offset_index.page_locations[0].compressed_page_size", 24), "PIX-041"),
    _bad("pix/first-row-of-page", "The second page is said to begin a row later than its header counts", SHIFTED, "pix/three-pages", set_to(f"{YEAR}.offset_index.page_locations[1].first_row_index", 4), "PIX-042"),
    _bad("pix/nulls-of-other-pages", "Two pages have exchanged their null counts", "Readers skip a page that holds a null, or read one that holds none.", "pix/three-pages-v2", Mutation("swap", f"{METAL}.column_index.null_counts[0]", f"{METAL}.column_index.null_counts[1]"), "PIX-043"),
    _bad("pix/statistics-in-pages-as-well", "A page header has statistics of its own beside the column index", "none: they serve old readers", "pix/three-pages", set_to(f"{METAL}.pages[0].header.data_page_header.statistics", {"null_count": 1}), "PIX-044"),
    _bad("pix/first-row-of-lists", "The second page of lists is said to begin a row later than it does", SHIFTED, "pix/three-pages-of-lists", set_to(f"{MARKS}.offset_index.page_locations[1].first_row_index", 4), "PIX-054", tier="values"),
    _bad("pix/page-begins-within-a-row", "A page of lists begins in the midst of a list", "Readers that jump to it put the end of one list into another row.", "pix/three-pages-of-lists", set_to(f"{MARKS}.pages[2].body", WITHIN_A_ROW + b"".join(value.to_bytes(4, "little") for value in (12, 13, 14))), "PIX-055", tier="values"),
    _bad("pix/levels-of-page", "Two entries of a level histogram are exchanged", "Readers that count lists by it count wrong.", "pix/three-pages-of-lists", Mutation("swap", f"{MARKS}.column_index.definition_level_histograms[4]", f"{MARKS}.column_index.definition_level_histograms[6]"), "PIX-058", tier="values"),
    # Against the values

    untrue("pix/min-too-great", "The lower bound of a page is greater than one of its values", LOST, "pix/audited", set_to(f"{ROWS}[1].column_index.min_values[2]", (90).to_bytes(4, "little")), "PIX-050"),
    untrue("pix/max-too-small", "The upper bound of a page is less than one of its values", LOST, "pix/audited", set_to(f"{ROWS}[1].column_index.max_values[1]", (39).to_bytes(4, "little")), "PIX-051"),
    untrue("pix/values-in-a-null-page", "A page with values is called one of nothing but nulls", LOST, "sta/audited-bounds-cut", set_to(f"{ROWS}[0].column_index.null_pages[1]", True), "PIX-052"),
    untrue("pix/nulls-miscounted", "The null counts of two pages are exchanged in part", MISCOUNTED, "pix/audited", set_to(f"{ROWS}[1].column_index.null_counts", [1, 0, 0]), "PIX-053"),
    untrue("pix/empty-lists-not-counted", "The null counts of pages of a list count missing elements, but neither empty nor missing lists", "none: readers skip no page of a list by them", "sta/audited-lists", set_to(f"{ROWS}[1].column_index.null_counts", [1, 0]), "PIX-070", since="0.7.0"),
    untrue("pix/nan-miscounted", "The NaN count of a page is that of another", "A query for NaN skips the page.", "pix/audited-nan", set_to(f"{ROWS}[1].column_index.nan_counts", [2, 0]), "PIX-056"),
    untrue("pix/page-of-nan", "A page holds nothing but NaN, and its chunk has a column index", "A query for NaN skips the page.", "pix/audited-no-nan", set_to(f"{ROWS}[1].pages[1].body", NAN + NAN), "PIX-057", is_older=True),
    untrue("pix/page-of-nan-counted", "A page holds nothing but NaN, and the writer, who knows of counts of NaN, gives the chunk a column index", "A query for NaN skips the page.", "pix/nan-counted", set_to(f"{ROWS}[1].pages[0].body", NAN + NAN), "PIX-056", "PIX-057", "STA-044", since="0.7.0"),
    untrue("pix/bound-not-a-number-counted", "The upper bound of a page is NaN, and the writer knows of counts of NaN", "Readers that use the index skip pages that hold rows.", "pix/nan-counted", set_to(f"{ROWS}[1].column_index.max_values[1]", NAN), "PIX-030", tier="index", since="0.7.0"),
    untrue("pix/nan-counts-left-out", "A column index does not count NaN, and the footer does", "A query for NaN reads every page.", "pix/nan-counted", Mutation("remove", f"{ROWS}[1].column_index.nan_counts"), "PIX-080", tier="index", since="0.7.0"),
    untrue("pix/bytes-miscounted", "The bytes of the values of a page are counted with their lengths", "A reader plans for more memory than it needs.", "pix/audited", set_to(f"{ROWS}[0].offset_index.unencoded_byte_array_data_bytes", [26, 0, 7]), "PIX-059"),
    untrue("pix/no-column-orders", "The footer has column indexes and no column_orders", "Readers that keep to the text use no page index.", "pix/ordered-three-ways", Mutation("remove", "footer.column_orders"), "STA-001", since="0.7.0"),
    untrue("pix/no-column-orders-max-too-small", "The footer has no column_orders, and the upper bound of a page is less than one of its values", LOST, "pix/no-column-orders", set_to(f"{ROWS}[0].column_index.max_values[0]", (1).to_bytes(4, "little")), "PIX-060", "STA-001", since="0.7.0"),
    _bad("pix/index-page-nowhere", "The footer says where an index page is, and there is none", "none: readers ignore it", "pix/three-pages", set_to("footer.row_groups[0].columns[0].meta_data.index_page_offset", 4), "PIX-061", since="0.7.0"),
)  # fmt: skip
