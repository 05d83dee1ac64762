"""Checks of statistics in the log, against the schema and against each other, tier ``meta``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from pqassay.checks import rule
from pqassay.tables.claims import BOUNDS, ClaimPlace, Metric
from pqassay.under_test.file import Broken
from pqassay.under_test.violation import Violation
from pqassay_tables.checks.delta_table.subjects import BOUNDS_OF_COLUMN, ENTRY
from pqassay_tables.metadata.delta.actions import Json
from pqassay_tables.metadata.delta.statistics import (
    MAX,
    MEMBERS,
    MIN,
    NULLS,
    REMEDY,
    ROWS,
    TIGHT,
    count_of,
    member_of,
    unknown_columns,
    written,
)
from pqassay_tables.under_test.delta_entries import DeltaEntry
from pqassay_tables.under_test.entries import EntryBounds


def can_be_read(one: DeltaEntry) -> bool:
    """Whether the entry has statistics that are a JSON object."""
    return one.entry.stats is not None


def _wrong(
    one: DeltaEntry, place: ClaimPlace, message: str, expected: str, actual: str, column: str | None = None
) -> Violation:
    said = f"{message}, in the statistics of {one.data_file}"
    return one.wrong(place, said, expected, actual, remedy=REMEDY, column=column)


@rule("DLT-009", of=ENTRY, only=lambda one: one.entry.stats is not None or bool(one.entry.stats_problem))
def statistics_are_an_object(one: DeltaEntry) -> Iterator[Violation]:
    """Many readers refuse the whole table because of one unreadable entry."""
    stats = one.entry.stats
    if stats is None:
        problem = one.entry.stats_problem
        yield _wrong(one, one.entry.place.below("stats"), f"stats is {problem}", "a JSON object", problem)
        return
    rows, tight = stats.get(ROWS), stats.get(TIGHT)
    if rows is not None and type(rows) is not int:
        yield _wrong(one, one.entry.stat(ROWS), f"{ROWS} is {written(rows)}", "a whole number", written(rows))
    if tight is not None and type(tight) is not bool:
        yield _wrong(
            one, one.entry.stat(TIGHT), f"{TIGHT} is {written(tight)}", "true or false", written(tight)
        )
    for name in (MIN, MAX, NULLS):
        member = stats.get(name)
        if member is not None and not isinstance(member, dict):
            yield _wrong(
                one, one.entry.stat(name), f"{name} is {written(member)}", "an object", written(member)
            )
            continue
        for path in one.schema.structs:
            held = member_of(member, path)
            if held is not None and not isinstance(held, dict):
                text = f"{name} of the struct {'.'.join(path)} is {written(held)}"
                yield _wrong(
                    one, one.entry.stat(name).below(*path), text, "an object", written(held), ".".join(path)
                )
    nulls = stats.get(NULLS)
    if not isinstance(nulls, dict) or set(map(type, cast("Json", nulls).values())) <= {int}:
        return
    for column in one.schema.columns:
        count = member_of(nulls, column.path)
        # For a list or a map, some writers also count its items, in an object.
        if count is not None and type(count) is not int and not (isinstance(count, dict) and column.type in ("array", "map")):  # fmt: skip
            place = one.entry.stat(NULLS).below(*column.path)
            text = f"{NULLS} of column {column.name} is {written(count)}"
            yield _wrong(one, place, text, "a whole number", written(count), column.name)


@rule("DLT-010", of=BOUNDS_OF_COLUMN)
def bounds_are_values_of_their_columns(column: EntryBounds[DeltaEntry]) -> Iterator[Violation]:
    """A reader that decodes another value skips the file for rows that it has."""
    for number, metric, error in column.problems:
        raw = written(column.raws[metric][number])
        reason = "it is not Unicode text" if isinstance(error, UnicodeError) else str(error)
        said = f"{MEMBERS[metric]} of column {column.name} is {raw}: {reason}"
        yield _wrong_bound(column, number, metric, said, f"a value of type {column.type}", raw)


@rule("DLT-012", of=BOUNDS_OF_COLUMN)
def bounds_are_in_order(column: EntryBounds[DeltaEntry]) -> Iterator[Violation]:
    """Such bounds contain no value, so every query skips the file."""
    for number in column.crossed():
        low, high = (written(column.raws[metric][number]) for metric in BOUNDS)
        said = f"{MIN} of column {column.name} is {low}, and {MAX} is {high}"
        yield _wrong_bound(column, number, Metric.LOWER, said, f"{high} or less", low)


def _wrong_bound(
    column: EntryBounds[DeltaEntry], number: int, metric: Metric, said: str, expected: str, actual: str
) -> Violation:
    one = column.entries[number]
    path = column.key if isinstance(column.key, tuple) else (str(column.key),)
    place = one.entry.stat(MEMBERS[metric]).below(*path)
    return _wrong(one, place, said, expected, actual, column.name)


@rule("DLT-013", of=ENTRY, only=can_be_read)
def counts_fit_the_rows(one: DeltaEntry) -> Iterator[Violation]:
    """If the null count equals the number of rows, readers skip the file for every value."""
    rows = count_of(one.stats.get(ROWS))
    if rows is not None and rows < 0:
        yield _wrong(one, one.entry.stat(ROWS), f"{ROWS} is {rows}", "0 or more", str(rows))
        raise Broken("DLT-013")
    if all(0 <= count <= (count if rows is None else rows) for count in one.nulls.values()):
        return
    for column, count in one.counted(one.schema.columns):
        if count < 0 or (rows is not None and count > rows):
            said = f"{NULLS} of column {column.name} is {count}" + (
                "" if rows is None else f" of {rows} rows"
            )
            limit = "0 or more" if rows is None else f"0 to {rows}"
            yield _wrong(one, one.entry.stat(NULLS).below(*column.path), said, limit, str(count), column.name)


@rule("DLT-053", of=ENTRY, only=can_be_read)
def required_columns_have_no_nulls(one: DeltaEntry) -> Iterator[Violation]:
    """Readers answer queries for nulls of such a column without reading files."""
    for column, count in one.counted(one.schema.required):
        if count > 0:
            said = f"{NULLS} of column {column.name} is {count}, but the column is not nullable"
            yield _wrong(one, one.entry.stat(NULLS).below(*column.path), said, "0", str(count), column.name)


@rule("DLT-055", of=ENTRY, only=lambda one: one.entry.stats is not None and one.schema.mode == "none")
def statistics_are_of_columns(one: DeltaEntry) -> Iterator[Violation]:
    """Columns can be dropped and renamed only with column mapping, so otherwise all columns of a file are in the schema."""
    for column, name in unknown_columns(one.schema, one.stats).items():
        said = f"{name} has column {column[:60]}, which is not in the table"
        yield _wrong(one, one.entry.stat(name).below(column), said, "a column of the schema", column[:60])
