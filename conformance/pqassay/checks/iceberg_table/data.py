"""Checks of what a manifest says of a data file, against its footer: tier ``footer``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.table_claims import (
    bounds_of_footer,
    claimed_by,
    columns_claimed_by,
    null_count,
    row_count,
)
from pqassay.under_test.claimed_columns import ClaimedColumn, ClaimedFile
from pqassay.under_test.tables import claim_field
from pqassay.under_test.violation import Violation
from pqassay_spec.parquet.file import chunk_start

CLAIMED = claimed_by("iceberg")
COLUMN = columns_claimed_by("iceberg")


@rule("ICE-030", of=CLAIMED)
def rows_are_those_of_the_footer(file: ClaimedFile) -> Iterator[Violation]:
    """Engines answer counts from it, and skip a file that is said to have no rows."""
    return row_count(file)


@rule("ICE-031", of=COLUMN)
def nulls_are_those_of_the_footer(column: ClaimedColumn) -> Iterator[Violation]:
    """A file of nothing but nulls is skipped for every value, one without any for the search for nulls."""
    return null_count(column, column.claims.nulls)


@rule("ICE-032", of=COLUMN)
def bounds_enclose_those_of_the_footer(column: ClaimedColumn) -> Iterator[Violation]:
    """A bound that a value lies beyond makes readers skip the file for it."""
    return bounds_of_footer(column)


def has_bounds(file: ClaimedFile) -> bool:
    """Whether the table bounds a column."""
    return any(column.lower or column.upper for column in file.claims.columns)


@rule("ICE-033", of=CLAIMED, only=has_bounds)
def columns_are_in_the_file(file: ClaimedFile) -> Iterator[Violation]:
    """Readers find nulls where the bounds promise values."""
    for column in file.columns:
        bound = column.claims.lower or column.claims.upper
        if column.leaf is None and bound is not None and (file.has_ids or not file.claims.has_names):
            yield Violation(
                f"the table has bounds of column {column.claims.name} for {file.name}, which has no column of its id",
                claim_field(file.file, bound.place),
                expected=f"a column with the field id {column.claims.field_id}",
                actual="none",
                column=column.claims.name,
                remedy=file.claims.remedy,
            )


def has_split_offsets(file: ClaimedFile) -> bool:
    """Whether the table says where the file can be split, and the file has row groups."""
    return file.claims.first_split is not None and bool(file.file.metadata.row_groups)


@rule("ICE-034", of=CLAIMED, only=has_split_offsets)
def the_first_split_has_the_first_row_group(file: ClaimedFile) -> Iterator[Violation]:
    """What lies before the first split, a reader that begins there does not read."""
    first = file.claims.first_split
    starts = [
        start
        for chunk in file.file.metadata.row_groups[0].columns
        if (start := chunk_start(chunk)) is not None
    ]
    if first is not None and starts and first.value > min(starts):
        yield Violation(
            f"the first split of {file.name} begins at {first.value}, and its first row group at {min(starts)}",
            claim_field(file.file, first.place),
            expected=f"{min(starts)} or less",
            actual=str(first.value),
            remedy=file.claims.remedy,
        )
