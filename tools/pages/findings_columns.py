"""The columns of the tables that checks write: the findings table of checks on Spark, and histories."""

from __future__ import annotations

from collections.abc import Iterator

from pages.markup import table


def findings_table() -> Iterator[str]:
    """Yield the columns of the findings table."""
    from pqassay_lake.history.findings_table import FIELDS, OBSERVED, POSITION  # noqa: PLC0415 - one page needs it, and with it pyarrow

    for heading, kind in (
        ("both kinds of rows", "both"),
        ("rows of files", "file"),
        ("rows of findings", "finding"),
    ):
        rows = (
            (
                f"`{field.name}`",
                str(field.type).replace(str(POSITION), "struct").replace(str(OBSERVED), "struct"),
                "may be null" if field.optional else "",
                field.doc,
            )
            for field in FIELDS
            if field.rows == kind
        )
        yield from ("", f"In {heading}:")
        yield from table(("Column", "Type", "", "Meaning"), rows)
    members = ", ".join(f"`{member.name}` ({member.type})" for member in POSITION)
    yield from (f"A position has the members {members}.", "")


def history_columns() -> Iterator[str]:
    """Yield the columns of a history."""
    from pqassay_lake.history.columns import COLUMNS  # noqa: PLC0415 - as above

    rows = ((f"`{column.name}`", str(column.type), column.doc) for column in COLUMNS)
    yield from table(("Column", "Type", "Meaning"), rows)
