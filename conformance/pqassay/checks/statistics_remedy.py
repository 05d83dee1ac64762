"""The command against false statistics: the file reads equal without them, only slower."""

from __future__ import annotations

from pqassay.checks import remedies_of
from pqassay.checks.idx1_remedy import strip_command
from pqassay.file_under_test import FileUnderTest

TRUE = ("STA-011",)
"""Rules that speak of statistics which are true, and which their reader is better off with."""

IN_PAGES = ("STA-030", "STA-031", "STA-050")
"""Rules about statistics in the headers of pages, which stay where they are."""

ABOUT_ORDERS = ("STA-001", "STA-002", "STA-003", "STA-004")
"""Rules about the orders of columns: with them goes every bound that is in their order."""


@remedies_of("STA")
def remedy(file: FileUnderTest, rule: str) -> str:
    """Remove the statistics of all chunks: one writer made them all."""
    if rule in (*TRUE, *IN_PAGES):
        return ""
    if rule not in ABOUT_ORDERS:
        return strip_command(file, "--statistics")
    orders = ["--column-orders"] if file.metadata.column_orders is not None else []
    return strip_command(file, "--statistics", "--page-index", *orders)
