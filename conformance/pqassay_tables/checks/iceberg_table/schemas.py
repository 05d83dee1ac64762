"""Checks of the schema of a data file against the schema of its table, tier ``footer``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.under_test.violation import Violation
from pqassay_tables.checks.iceberg_table.data import CLAIMED
from pqassay_tables.checks.table_schemas import (
    absent_columns,
    columns_not_found,
    has_schema,
    is_data_file,
    other_types,
)
from pqassay_tables.under_test.claimed_columns import ClaimedFile
from pqassay_tables.under_test.file_schemas import Problem


@rule("ICE-094", of=CLAIMED, only=has_schema)
def types_are_those_of_the_table(file: ClaimedFile) -> Iterator[Violation]:
    """Readers fail, or convert the values of the file to other values."""
    return other_types(file, Problem.TYPE)


@rule("ICE-095", of=CLAIMED, only=is_data_file)
def required_columns_are_there(file: ClaimedFile) -> Iterator[Violation]:
    """Readers fail, or return nulls in a column that cannot be null."""
    return absent_columns(file)


@rule("ICE-096", of=CLAIMED, only=is_data_file)
def columns_are_found(file: ClaimedFile) -> Iterator[Violation]:
    """Readers return nulls instead of the values, or fail."""
    return columns_not_found(file)


@rule("ICE-104", of=CLAIMED, only=has_schema)
def types_are_the_very_ones_of_the_table(file: ClaimedFile) -> Iterator[Violation]:
    """Readers that compare types refuse the file."""
    return other_types(file, Problem.OTHER_TYPE)
