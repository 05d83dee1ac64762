"""Checks of what a Delta log says of a data file, against its footer: tier ``footer``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.under_test.file import NotApplicable
from pqassay.under_test.violation import Violation
from pqassay_tables.checks.table_claims import (
    absent_nulls,
    bounds_of_footer,
    claimed_by,
    columns_claimed_by,
    null_count,
    row_count,
)
from pqassay_tables.under_test.claimed_columns import ClaimedColumn, ClaimedFile
from pqassay_tables.under_test.screens.delta_claims import delta_claims_shape
from pqassay_tables.under_test.table import claim_field

CLAIMED = claimed_by("delta", delta_claims_shape)
COLUMN = columns_claimed_by("delta", delta_claims_shape)


def has_rows(file: ClaimedFile) -> bool:
    """Whether the table counts the rows of the file."""
    return file.claims.rows is not None


@rule("DLT-023", of=CLAIMED, only=has_rows)
def rows_are_those_of_the_footer(file: ClaimedFile) -> Iterator[Violation]:
    """Engines answer counts from it, and skip a file that is said to have no rows."""
    return row_count(file)


@rule("DLT-024", of=COLUMN)
def nulls_are_those_of_the_footer(column: ClaimedColumn) -> Iterator[Violation]:
    """A file of nothing but nulls is skipped for every value, one without any for the search for nulls."""
    claims = column.owner.claims
    count = column.claims.nulls
    if count is None:
        raise NotApplicable
    if not claims.is_tight and (claims.rows is None or count.value not in (0, claims.rows.value)):
        raise NotApplicable  # it carries no information
    if claims.deleted is not None:
        raise NotApplicable  # the footer counts rows that are no longer in the table
    return null_count(column, count)


@rule("DLT-025", of=COLUMN)
def bounds_enclose_those_of_the_footer(column: ClaimedColumn) -> Iterator[Violation]:
    """A bound that a value lies beyond makes readers skip the file for it."""
    if column.owner.claims.deleted is not None:
        raise NotApplicable  # the greatest value may be in a row that is no longer in the table
    return bounds_of_footer(column)


def has_columns(file: ClaimedFile) -> bool:
    """Whether the table says something of a column."""
    return any(column.lower or column.upper for column in file.claims.columns)


@rule("DLT-026", of=CLAIMED, only=has_columns)
def columns_are_in_the_file(file: ClaimedFile) -> Iterator[Violation]:
    """Readers find nulls where the statistics promise values."""
    for column in file.columns:
        bound = column.claims.lower or column.claims.upper
        if column.leaf is None and bound is not None:
            wanted = (
                f"a column with the field id {column.claims.field_id}"
                if column.claims.field_id is not None
                else f"a column called {'.'.join(column.claims.path)}"
            )
            yield Violation(
                f"the table has bounds of column {column.claims.name} for {file.name}, which has no such column",
                claim_field(file.file, bound.place),
                expected=wanted,
                actual="none",
                column=column.claims.name,
                remedy=file.claims.remedy,
            )


def has_null_counts(file: ClaimedFile) -> bool:
    """Whether the table counts nulls."""
    return any(column.nulls for column in file.claims.columns)


@rule("DLT-046", of=CLAIMED, only=has_null_counts)
def absent_columns_are_null(file: ClaimedFile) -> Iterator[Violation]:
    """A query for nulls of the column skips a file in which every row is one."""
    if not file.claims.is_tight or file.claims.deleted is not None:
        raise NotApplicable  # whether the count takes deleted rows in, the protocol leaves open
    return absent_nulls(file)
