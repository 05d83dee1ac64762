"""Checks of a manifest's claims about a data file against its footer, tier ``footer``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.tables.claims import Metric
from pqassay.under_test.file import NotApplicable, NotChecked
from pqassay.under_test.violation import Violation
from pqassay_spec.parquet.file import chunk_start
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

CLAIMED = claimed_by("iceberg")


@rule("ICE-030", of=CLAIMED)
def rows_are_those_of_the_footer(file: ClaimedFile) -> Iterator[Violation]:
    """Engines answer counts from it, and skip a file with a claim of no rows."""
    return row_count(file)


@rule("ICE-031", of=CLAIMED)
def nulls_are_those_of_the_footer(file: ClaimedFile) -> Iterator[Violation]:
    """Readers skip a file of only nulls for every value, and a file without nulls when they look for nulls."""
    return null_counts(file)


@rule("ICE-032", of=CLAIMED)
def bounds_enclose_those_of_the_footer(file: ClaimedFile) -> Iterator[Violation]:
    """If a value lies beyond a bound, readers that look for it skip the file."""
    return bounds_of_footer(file)


@rule("ICE-033", of=CLAIMED, only=has_bounds)
def columns_are_in_the_file(file: ClaimedFile) -> Iterator[Violation]:
    """Readers find nulls where the bounds claim values, unless they take the values from elsewhere.

    They use the value of an identity partition (which ICE-057 compares with the bounds), or else the default of the column.
    """
    if not file.has_ids and file.claims.has_names:
        return
    from_default: list[str] = []
    constant = {one.field_id for one in file.claims.partition if one.transform == "identity"}
    for column in file.columns:
        metric = file.is_bounded(column) if column.leaf is None else None
        if metric is None:
            continue
        if file.metrics.is_null_where_absent(column.table):
            message = (
                f"the table has bounds of column {column.name} for {file.name}, but the file "
                "has no column with this id"
            )
            expected = f"a column with the field id {column.key}"
            yield file.false(column, metric, message, expected, "none")
        elif column.key not in constant:
            from_default.append(column.name)
    if from_default:
        names = ", ".join(from_default)
        raise NotChecked(
            f"bounds of {names} in {file.name} are of a default value; they are not compared", "tool"
        )


@rule(
    "ICE-034",
    of=CLAIMED,
    only=lambda file: file.claims.first_split is not None and bool(file.file.metadata.row_groups),
)
def the_first_split_has_the_first_row_group(file: ClaimedFile) -> Iterator[Violation]:
    """A reader that starts at the first split does not read the bytes before it."""
    first = file.claims.first_split
    starts = [
        start
        for chunk in file.file.metadata.row_groups[0].columns
        if (start := chunk_start(chunk)) is not None
    ]
    if first is not None and starts and first.value > min(starts):
        said = (
            f"the first split of {file.name} begins at {first.value}, but its first row "
            f"group at {min(starts)}"
        )
        place = first.place
        yield file.wrong(place, said, f"{min(starts)} or less", str(first.value), remedy=file.claims.remedy)


@rule("ICE-059", of=CLAIMED, only=lambda file: bool(file.metrics.given(Metric.SIZE)))
def sizes_are_those_of_the_chunks(file: ClaimedFile) -> Iterator[Violation]:
    """Planners estimate the cost of queries from these sizes."""
    sizes = file.sizes
    for column, claimed in file.counts(Metric.SIZE):
        actual = sizes.get(column.ordinal or 0, 0)
        if claimed != actual:
            message = (
                f"column_sizes of column {column.name} is {claimed} in the table's entry for "
                f"{file.name}, but its chunks have {actual} bytes"
            )
            yield file.false(column, Metric.SIZE, message, str(actual), str(claimed))


@rule("ICE-060", of=CLAIMED, only=lambda file: bool(file.claims.splits))
def splits_begin_with_row_groups(file: ClaimedFile) -> Iterator[Violation]:
    """Tasks that start inside a row group have less to read than planned, or nothing."""
    starts: set[int] = set()
    for group in file.file.metadata.row_groups:
        chunks = [start for chunk in group.columns if (start := chunk_start(chunk)) is not None]
        starts.update((*chunks[:1], min(chunks, default=-1)))
        if group.file_offset is not None:
            starts.add(group.file_offset)
    for split in file.claims.splits:
        if split not in starts and file.claims.first_split is not None:
            said = f"a split of {file.name} begins at {split}, but no row group begins there"
            place, expected = file.claims.first_split.place, "the beginning of a row group"
            yield file.wrong(place, said, expected, str(split), remedy=file.claims.remedy)
            return


@rule("ICE-062", of=CLAIMED, only=has_null_counts)
def absent_columns_are_null(file: ClaimedFile) -> Iterator[Violation]:
    """A query for nulls of the column skips a file in which all rows are null."""
    if not file.has_ids:
        raise NotApplicable  # with several names, it is unknown which one identifies a column
    return absent_nulls(file)
