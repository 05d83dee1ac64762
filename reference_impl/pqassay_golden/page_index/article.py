"""The golden case of a published example: two columns whose pages end at different rows.

The article shows the pages of columns A and B with their bounds and first rows, and ten of their values.  The other values are
chosen here so that all statements of the article about the example are true, except those that its errata correct.

Source: "Querying Parquet with Millisecond Latency", sections "Page pruning" and "Late materialization"; chapter ``scan.md``,
section "The article's example"; ``docs/errata.md``.
"""

from __future__ import annotations

from pqassay_golden.recipes import good
from pqassay_golden.tiny.parquet import Column, Layout, TinyParquet

ROWS = range(300)

TWO_PAGES = Layout(page_rows=(200,), encoding_stats=True)
THREE_PAGES = Layout(page_rows=(100, 150), encoding_stats=True)
EVEN_PAGES = Layout(page_rows=100, encoding_stats=True)
"""Pages of A begin with rows 0 and 200, those of B with 0, 100 and 250; the article does not show the pages of C."""

A_SHOWN = {200: 30, 205: 37, 206: 36, 238: 36, 239: 36, 240: 40}
"""Values of A in the article's figure, without row 244, whose value 26 is below the lower bound of the page."""

B_SHOWN = {200: "F", 205: "F", 206: "G", 238: "F", 239: "G", 240: "G", 244: "D"}
"""Values of B in the figure."""


def a_value(row: int) -> int:
    """The value of A in a row: 10 to 20 on page 1, and 30 to 40 on page 2, few of them above 35 up to row 249, as in the figure."""
    if row < 200:
        return 10 + row % 11
    return A_SHOWN.get(row, 30 + row % (6 if row < 250 else 11))


def b_value(row: int) -> str:
    """The value of B in a row: letters A to C on page 3, D to G on page 4, H to Z on page 5."""
    if row < 100:
        return "ABC"[row % 3]
    return B_SHOWN.get(row, "DEFG"[row % 4]) if row < 250 else "HIJKLMNOPQRSTUVWXYZ"[row % 19]


TWO_COLUMNS = TinyParquet(
    (
        Column("A", "int32", [a_value(row) for row in ROWS], optional=False, layout=TWO_PAGES),
        Column("B", "string", [b_value(row) for row in ROWS], optional=False, layout=THREE_PAGES),
        Column("C", "int64", list(ROWS), optional=False, layout=EVEN_PAGES),
    ),
    page_index=True,
)

GOOD = (
    good("article-two-columns", "The published example of page pruning: two columns whose pages end at different rows, and a third", TWO_COLUMNS, ["and", [">", "A", 35], ["=", "B", "F"]], family="pix", column="B", since="0.7.0"),
)  # fmt: skip

__all__ = ["GOOD"]
