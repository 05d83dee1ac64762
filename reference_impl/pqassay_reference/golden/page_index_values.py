"""Golden cases of the page index against the values of its pages."""

from __future__ import annotations

from dataclasses import replace

from pqassay_reference.golden.recipes import set_to
from pqassay_reference.golden.statistics_values import (
    AUDITED,
    LOST,
    MISCOUNTED,
    NAN,
    ROWS,
    WITH_NAN,
    audited,
    untrue,
)
from pqassay_reference.tiny.columns import Column
from pqassay_reference.tiny.parquet import TinyParquet

NAN_PAGE = TinyParquet(
    (Column("metal", "string", ["tin", None, "zinc", "lead"]), Column("grade", "double", [1.0, 2.0, 3.0, 4.0], optional=False)),
    page_index=True,
    page_rows=2,
)  # fmt: skip


GOOD = (
    audited("pix/audited", "A page index of pages with values, with nulls and with both", replace(AUDITED, bloom_filters=()), ("PIX-050", "PIX-051", "PIX-052", "PIX-053", "PIX-059"), "fastparquet"),
    audited("pix/audited-no-nan", "A page index of floating point numbers none of which is NaN", NAN_PAGE, ("PIX-057",)),
    audited("pix/audited-nan", "A page index that counts the NaN values of each page", WITH_NAN, ("PIX-056",)),
)  # fmt: skip

BAD = (
    untrue("pix/min-too-great", "The lower bound of a page is greater than one of its values", LOST, "pix/audited", set_to(f"{ROWS}[1].column_index.min_values[2]", (90).to_bytes(4, "little")), "PIX-050"),
    untrue("pix/max-too-small", "The upper bound of a page is less than one of its values", LOST, "pix/audited", set_to(f"{ROWS}[1].column_index.max_values[1]", (39).to_bytes(4, "little")), "PIX-051"),
    untrue("pix/values-in-a-null-page", "A page with values is called one of nothing but nulls", LOST, "sta/audited-bounds-cut", set_to(f"{ROWS}[0].column_index.null_pages[1]", True), "PIX-022", "PIX-026", "PIX-052"),
    untrue("pix/nulls-miscounted", "The null counts of two pages are exchanged in part", MISCOUNTED, "pix/audited", set_to(f"{ROWS}[1].column_index.null_counts", [1, 0, 0]), "PIX-053"),
    untrue("pix/nan-miscounted", "The NaN count of a page is that of another", "A query for NaN skips the page.", "pix/audited-nan", set_to(f"{ROWS}[1].column_index.nan_counts", [2, 0]), "PIX-056"),
    untrue("pix/page-of-nan", "A page holds nothing but NaN, and its chunk has a column index", "A query for NaN skips the page.", "pix/audited-no-nan", set_to(f"{ROWS}[1].pages[1].body", NAN + NAN), "PIX-057"),
    untrue("pix/bytes-miscounted", "The bytes of the values of a page are counted with their lengths", "A reader plans for more memory than it needs.", "pix/audited", set_to(f"{ROWS}[0].offset_index.unencoded_byte_array_data_bytes", [26, 0, 7]), "PIX-059"),
)  # fmt: skip
