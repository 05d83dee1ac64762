"""The columns of the tables that checks write: the findings table of checks on Spark, and histories."""

from __future__ import annotations

from collections.abc import Iterator

from pages.markup import table
from pages.page import shared_site


def findings_table() -> Iterator[str]:
    """Yield the columns of the findings table."""
    from pqassay_lake.history.findings_table import FIELDS, OBSERVED, POSITION  # noqa: PLC0415 - one page needs it, and with it pyarrow

    told = {"fields": FIELDS, "position": POSITION, "observed": OBSERVED}
    yield shared_site().render("findings_table.md", "guide/index.html", **told)


def history_columns() -> Iterator[str]:
    """Yield the columns of a history."""
    from pqassay_lake.history.columns import COLUMNS  # noqa: PLC0415 - as above

    rows = ((f"`{column.name}`", str(column.type), column.doc) for column in COLUMNS)
    yield from table(("Column", "Type", "Meaning"), rows)
