"""Checks of the entries of delete files, tier ``meta``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pqassay.checks import rule
from pqassay.under_test.violation import Violation
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import (
    ADDED,
    DELETE_FILE_PATH,
    EQUALITY_DELETES,
    FORMAT_VERSION,
    POSITION_DELETES,
    VECTORS_SINCE,
)
from pqassay_tables.checks.iceberg_table.subjects import ENTRY
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.iceberg.entry_claims import LOWER, UPPER
from pqassay_tables.metadata.iceberg.state import PARQUET, PUFFIN
from pqassay_tables.metadata.iceberg.values import shown
from pqassay_tables.under_test.iceberg_entries import IcebergEntry

REMEDY = repairs.ICEBERG_POSITIONS.text

NOT_COMPARED = ("float", "double", "variant", "geometry", "geography", "unknown")
"""Types that equality deletes cannot compare."""


def names_one_file(one: IcebergEntry) -> bool:
    """Whether it is a position delete file for a single data file."""
    entry = one.entry
    return (
        entry.content == POSITION_DELETES
        and entry.format == PARQUET
        and entry.value(field_ids.REFERENCED_DATA_FILE) is not None
    )


@rule("ICE-021", of=ENTRY, only=names_one_file)
def bounds_enclose_the_file_that_is_named(one: IcebergEntry) -> Iterator[Violation]:
    """If the path is outside the bounds, readers skip the deletes, and deleted rows reappear."""
    named: str = one.entry.value(field_ids.REFERENCED_DATA_FILE)
    raw = named.encode()
    for field, name in ((LOWER, "lower"), (UPPER, "upper")):
        given: dict[int, bytes] = one.entry.value(field) or {}
        bound = given.get(DELETE_FILE_PATH)
        if bound is not None and (bound > raw if field == LOWER else bound < raw):
            actual = shown("string", bound)
            said = (
                f"the {name} bound of file_path of {one.data_file} is {actual}, but it "
                f"deletes rows of {named}"
            )
            place = one.entry.place(field, DELETE_FILE_PATH)
            expected = f"{named} or {'less' if field == LOWER else 'more'}"
            yield one.wrong(place, said, expected, actual, remedy=REMEDY, column="file_path")


def is_equality_delete(one: IcebergEntry) -> bool:
    """Whether it is an equality delete file."""
    return one.entry.content == EQUALITY_DELETES


@rule("ICE-022", of=ENTRY, only=is_equality_delete)
def equality_deletes_name_columns(one: IcebergEntry) -> Iterator[Violation]:
    """Without columns, readers do not know which rows are deleted."""
    given: Any = one.entry.value(field_ids.EQUALITY_IDS)
    unknown = [number for number in given or () if one.column(number) is None]
    if not given or unknown:
        actual = f"the id {unknown[0]}, which no schema has" if unknown else "none"
        said = f"the equality delete {one.data_file} compares columns that are not known"
        yield one.wrong(one.entry.place(field_ids.EQUALITY_IDS), said, "ids of columns", actual)


@rule("ICE-097", of=ENTRY, only=is_equality_delete)
def equality_deletes_compare_what_can_be_compared(one: IcebergEntry) -> Iterator[Violation]:
    """Equality of floating-point numbers is undefined, and so is the meant element of a list."""
    schema = one.table.state.schema
    for number in one.entry.value(field_ids.EQUALITY_IDS) or ():
        column = schema.column(number)
        if number in schema.nested:
            actual = "a struct, a list or a map"
        elif column is None:
            continue  # ICE-022 says so
        elif column.is_repeated:
            actual = "what is in a list or a map"
        elif column.type in NOT_COMPARED:
            actual = column.type
        else:
            continue
        name = f"the id {number}" if column is None else column.name
        said = f"the equality delete {one.data_file} compares {name}, which is {actual}"
        place = one.entry.place(field_ids.EQUALITY_IDS)
        expected = "a primitive column that is neither float nor double, in no list or map"
        yield one.wrong(place, said, expected, actual, column=None if column is None else column.name)


@rule("ICE-098", of=ENTRY, only=is_equality_delete)
def equality_deletes_name_a_column_once(one: IcebergEntry) -> Iterator[Violation]:
    """Readers that build a schema from the ids refuse an id that is listed twice."""
    numbers = one.entry.value(field_ids.EQUALITY_IDS) or []
    twice = next((number for number in numbers if numbers.count(number) > 1), None)
    if twice is not None:
        said = (
            f"the equality delete {one.data_file} names the column of id {twice} {numbers.count(twice)} times"
        )
        place = one.entry.place(field_ids.EQUALITY_IDS)
        yield one.wrong(place, said, "each id once", ", ".join(map(str, numbers[:20])))


@rule(
    "ICE-077", of=ENTRY, only=lambda one: one.entry.content == POSITION_DELETES and one.entry.format != PUFFIN
)
def position_deletes_are_older_than_version_3(one: IcebergEntry) -> Iterator[Violation]:
    """Readers of version 3 look for one deletion vector per data file, and may ignore other deletes."""
    raw = one.entry.manifest.metadata.get(FORMAT_VERSION, b"")
    if one.entry.status == ADDED and raw.isdigit() and int(raw[:9]) >= VECTORS_SINCE:
        said = f"the position delete file {one.data_file} was added by a manifest of version {int(raw[:9])}"
        place = one.entry.place(field_ids.FILE_FORMAT)
        yield one.wrong(place, said, "a deletion vector", one.entry.format[:40], remedy=REMEDY)
