"""Shared checks of the schema of a data file against the schema of its table, tier ``footer``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.under_test.fields import in_footer
from pqassay.under_test.violation import Violation
from pqassay_tables.metadata.column_types import TableField
from pqassay_tables.under_test.claimed_columns import ClaimedFile
from pqassay_tables.under_test.file_schemas import Problem, mismatches

SHOWN = 5
"""The number of column names that a message lists."""


def is_data_file(file: ClaimedFile) -> bool:
    """Whether it is a data file with rows, and the columns of the table are known."""
    return file.claims.schema is not None and file.claims.deletes is None and file.file.metadata.num_rows > 0


def has_schema(file: ClaimedFile) -> bool:
    """Whether the file has columns of the table; files of position deletes do not."""
    deletes = file.claims.deletes
    return file.claims.schema is not None and (deletes is None or not deletes.by_position)


def other_types(file: ClaimedFile, problem: Problem) -> Iterator[Violation]:
    """Yield violations for columns whose type differs from the table's."""
    for mismatch in mismatches(file, problem):
        yield Violation(
            (
                f"column {mismatch.field.name} is {mismatch.actual} in {file.name}, but "
                f"{mismatch.field.held or mismatch.field.form} ({mismatch.field.type}) in the "
                "table"
            ),
            in_footer(file.file, f"schema[{mismatch.place}]"),
            expected=str(mismatch.field.held or f"a {mismatch.field.form}"),
            actual=mismatch.actual,
            column=mismatch.field.name,
        )


def absent_columns(file: ClaimedFile) -> Iterator[Violation]:
    """Yield violations for columns that the file lacks but that cannot be null."""
    for mismatch in mismatches(file, Problem.ABSENT):
        if not _is_constant(file, mismatch.field):
            said = f"{file.name} has no column {mismatch.field.name}, which is required"
            place = file.claims.place
            yield file.wrong(place, said, _looked_for(mismatch.field), "none", column=mismatch.field.name)


def columns_not_found(file: ClaimedFile) -> Iterator[Violation]:
    """Yield the violation if readers do not find the existing columns of the file."""
    lost = [
        mismatch for mismatch in mismatches(file, Problem.NOT_FOUND) if not _is_constant(file, mismatch.field)
    ]
    if not lost:
        return
    names = ", ".join(mismatch.field.name for mismatch in lost[:SHOWN])
    more = f" and {len(lost) - SHOWN} more" if len(lost) > SHOWN else ""
    yield Violation(
        f"readers find {names}{more} null in {file.name}, which has {lost[0].actual}",
        in_footer(file.file, f"schema[{lost[0].place}]"),
        expected=_looked_for(lost[0].field),
        actual=lost[0].actual,
    )


def names_of_another_case(file: ClaimedFile) -> Iterator[Violation]:
    """Yield violations for columns whose names differ from the table's only in case."""
    for mismatch in mismatches(file, Problem.CASE):
        yield Violation(
            f"column {mismatch.field.name} of the table is called {mismatch.actual} in {file.name}",
            in_footer(file.file, f"schema[{mismatch.place}].name"),
            expected=mismatch.field.names[0],
            actual=mismatch.actual,
            column=mismatch.field.name,
        )


def _looked_for(field: TableField) -> str:
    if field.field_id is not None:
        return f"a column with the field id {field.field_id}"
    return f"a column called {field.names[0] if field.names else field.name}"


def _is_constant(file: ClaimedFile, field: TableField) -> bool:
    """Whether readers take the values from the partition of the file."""
    return field.is_constant or any(
        one.field_id == field.field_id is not None and one.transform == "identity"
        for one in file.claims.partition
    )
