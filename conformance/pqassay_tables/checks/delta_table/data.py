"""Checks of a Delta log's claims about a data file against its footer, tier ``footer``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.under_test.file import NotApplicable
from pqassay.under_test.violation import Violation
from pqassay_tables.checks.table_claims import (
    absent_nulls,
    bounds_of_footer,
    claimed_by,
    has_bounds,
    has_null_counts,
    null_counts,
    row_count,
)
from pqassay_tables.under_test.claimed_columns import ClaimedFile

CLAIMED = claimed_by("delta")


@rule("DLT-023", of=CLAIMED, only=lambda file: file.claims.rows is not None)
def rows_are_those_of_the_footer(file: ClaimedFile) -> Iterator[Violation]:
    """Engines answer counts from it, and skip a file with a claim of no rows."""
    return row_count(file)


@rule("DLT-024", of=CLAIMED)
def nulls_are_those_of_the_footer(file: ClaimedFile) -> Iterator[Violation]:
    """Readers skip a file of only nulls for every value, and a file without nulls when they look for nulls."""
    claims = file.claims
    if claims.deleted is not None:
        raise NotApplicable  # the footer also counts rows that are no longer in the table
    if claims.is_tight:
        return null_counts(file)
    # With wide bounds, no other count is meaningful.
    return null_counts(file, () if claims.rows is None else (0, claims.rows.value))


@rule("DLT-025", of=CLAIMED)
def bounds_enclose_those_of_the_footer(file: ClaimedFile) -> Iterator[Violation]:
    """If a value lies beyond a bound, readers that look for it skip the file."""
    if file.claims.deleted is not None:
        raise NotApplicable  # the greatest value may be in a deleted row
    return bounds_of_footer(file)


@rule("DLT-026", of=CLAIMED, only=has_bounds)
def columns_are_in_the_file(file: ClaimedFile) -> Iterator[Violation]:
    """Readers find nulls where the statistics claim values."""
    for column in file.columns:
        metric = file.is_bounded(column) if column.leaf is None else None
        if metric is not None:
            expected = (
                f"a column with the field id {column.table.field_id}"
                if column.table.field_id is not None
                else f"a column called {'.'.join(column.table.path)}"
            )
            message = (
                f"the table has bounds of column {column.name} for {file.name}, but the file "
                "has no such column"
            )
            yield file.false(column, metric, message, expected, "none")


@rule("DLT-046", of=CLAIMED, only=has_null_counts)
def absent_columns_are_null(file: ClaimedFile) -> Iterator[Violation]:
    """A query for nulls of the column skips a file in which all rows are null."""
    if not file.claims.is_tight or file.claims.deleted is not None:
        raise NotApplicable  # the protocol does not define whether the count includes deleted rows
    return absent_nulls(file)
