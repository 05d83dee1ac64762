"""The status of implementations by feature, from measured results; each tick has the cases that prove it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import cache

from pages.page import File, Site, implementation_page
from pqassay.report.status_table import ASPECTS, TICKS, StatusTable, write_csv, write_json
from pqassay_suite.results.status import status

HERE = "status.html"

TICK_SIGNS = {"yes": "✓", "partly": "◐", "no": "✗", "not shown": "○", "not asked": "·"}
"""A sign for each tick."""

CASES_SHOWN = 30
"""The number of cases of a row that are listed; the JSON has all."""


@cache
def table(site: Site) -> StatusTable:
    """The status of the newest version of each implementation."""
    newest = site.results.newest
    return status([one.report for one in newest], [one.name for one in newest], site.results.cases)


def lines(site: Site) -> Iterator[str]:
    """Yield the page's tables as HTML."""
    status_table = table(site)
    newest = site.results.newest
    groups: dict[tuple[str, str], list[object]] = {}
    for row in status_table.rows:
        groups.setdefault((row.category, ASPECTS[row.aspect]), []).append(row)
    yield site.render(
        "status.html",
        HERE,
        groups=groups,
        implementations=[(kept, implementation_page(kept.name)) for kept in newest],
        ticks=TICKS,
        tick_signs=TICK_SIGNS,
        cases_shown=CASES_SHOWN,
        revisions=status_table.revisions,
        known_cases=site.cases,
    )


def files(site: Site) -> Iterator[File]:
    """Yield the table as CSV and as JSON."""
    for name, write in (("status.csv", write_csv), ("status.json", write_json)):
        stream = io.StringIO()
        write(table(site), stream)
        yield File(name, stream.getvalue().encode())
