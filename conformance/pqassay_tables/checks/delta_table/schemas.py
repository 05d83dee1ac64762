"""Checks of the schema of a data file against the schema of its table, tier ``footer``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.under_test.file import Broken
from pqassay.under_test.violation import Violation
from pqassay_tables.checks.delta_table.data import CLAIMED
from pqassay_tables.checks.table_schemas import (
    absent_columns,
    columns_not_found,
    has_schema,
    is_data_file,
    names_of_another_case,
    other_types,
)
from pqassay_tables.metadata.delta.statistics import DeltaMetrics, unknown_columns
from pqassay_tables.under_test.claimed_columns import ClaimedFile
from pqassay_tables.under_test.file_schemas import Problem


@rule("DLT-066", of=CLAIMED, only=has_schema)
def types_are_those_of_the_table(file: ClaimedFile) -> Iterator[Violation]:
    """Readers fail, or convert the values of the file to other values."""
    return other_types(file, Problem.TYPE)


@rule("DLT-067", of=CLAIMED, only=is_data_file)
def required_columns_are_there(file: ClaimedFile) -> Iterator[Violation]:
    """Readers fail, or return nulls in a column that cannot be null."""
    return absent_columns(file)


@rule("DLT-068", of=CLAIMED, only=has_schema)
def names_are_those_of_the_table(file: ClaimedFile) -> Iterator[Violation]:
    """Case-sensitive readers return nulls instead of the values."""
    return names_of_another_case(file)


@rule("DLT-069", of=CLAIMED, only=is_data_file)
def columns_are_found(file: ClaimedFile) -> Iterator[Violation]:
    """Readers return nulls instead of the values."""
    metrics = file.claims.metrics
    if isinstance(metrics, DeltaMetrics) and unknown_columns(metrics.schema, metrics.stats):
        raise Broken("DLT-055")
    return columns_not_found(file)


@rule("DLT-071", of=CLAIMED, only=has_schema)
def types_are_the_very_ones_of_the_table(file: ClaimedFile) -> Iterator[Violation]:
    """Readers that compare types refuse the file."""
    return other_types(file, Problem.OTHER_TYPE)
