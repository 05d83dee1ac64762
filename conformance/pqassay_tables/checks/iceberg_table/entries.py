"""Checks of the entries of manifests against the files that they name and against themselves, tier ``meta``."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.tables.claims import Place
from pqassay.under_test.file import Broken
from pqassay.under_test.violation import Violation
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import DATA, EXISTING, FILE_FORMATS
from pqassay_tables.checks.iceberg_table.subjects import ENTRY
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.iceberg.entry_claims import LOWER, NANS, NULLS, REMEDY, UPPER, VALUES
from pqassay_tables.metadata.iceberg.schema import IcebergColumn
from pqassay_tables.metadata.iceberg.state import PARQUET
from pqassay_tables.metadata.iceberg.values import UnknownTypeError, geospatial, point, shown, value_of
from pqassay_tables.under_test.iceberg_entries import EntryUnderTest, shape_of

MISSING = repairs.ICEBERG_MISSING.text
RESTATED = repairs.ICEBERG_SIZE.text
NAMES = {LOWER: "lower bound", UPPER: "upper bound"}


def wrong(
    one: EntryUnderTest, place: Place, message: str, expected: str, actual: str, column: str | None = None
) -> Violation:
    """A mistake in an entry."""
    said = f"{message}, in the entry of {one.data_file}"
    return Violation(said, one.field(place), expected, actual, column=column, remedy=REMEDY)


def is_inside(one: EntryUnderTest) -> bool:
    """Whether the file can be looked at: it is below the table."""
    return one.entry.inside is not None


@rule("ICE-013", of=ENTRY, only=is_inside, screen=shape_of)
def live_files_exist(one: EntryUnderTest) -> Iterator[Violation]:
    """Every query that reads the file fails."""
    if one.actual_size is None:
        yield Violation(
            f"{one.data_file} is live, and there is no such file",
            one.field(one.entry.place(field_ids.FILE_PATH)),
            expected="a file of that name",
            actual="none",
            remedy=MISSING,
        )


@rule("ICE-014", of=ENTRY, only=is_inside, screen=shape_of)
def sizes_are_true(one: EntryUnderTest) -> Iterator[Violation]:
    """Readers look for the footer where the size says that the file ends."""
    size, actual = one.entry.value(field_ids.FILE_SIZE_IN_BYTES), one.actual_size
    if actual is None:
        raise Broken("ICE-013")
    if size != actual:
        yield Violation(
            f"file_size_in_bytes of {one.data_file} is {size}, and the file has {actual} bytes",
            one.field(one.entry.place(field_ids.FILE_SIZE_IN_BYTES)),
            expected=str(actual),
            actual=str(size),
            remedy=RESTATED,
        )


@rule("ICE-068", of=ENTRY, screen=shape_of)
def formats_are_known(one: EntryUnderTest) -> Iterator[Violation]:
    """Nobody knows how to read the file."""
    given = one.entry.value(field_ids.FILE_FORMAT)
    if one.entry.format not in FILE_FORMATS:
        yield wrong(one, one.entry.place(field_ids.FILE_FORMAT), f"file_format is {given[:40]!r}", ", ".join(FILE_FORMATS), given[:40])  # fmt: skip


def is_existing(one: EntryUnderTest) -> bool:
    """Whether the file was added before, in a manifest that inherits nothing from version 1."""
    entry = one.entry
    return (
        entry.status == EXISTING
        and one.table.state.version > 1
        and bool(entry.manifest.listed.value(field_ids.MANIFEST_SEQUENCE_NUMBER))
    )


@rule("ICE-010", of=ENTRY, only=is_existing, screen=shape_of)
def existing_files_have_sequence_numbers(one: EntryUnderTest) -> Iterator[Violation]:
    """Nobody knows any more which deletes are newer than the file."""
    if one.entry.own_sequence is None:
        yield Violation(
            f"{one.data_file} exists since before its manifest, and has no sequence number of its own",
            one.field(Place(one.entry.manifest.name, one.entry.number, (one.entry.manifest.layout.name(3),))),
            expected="the number of the snapshot that added it",
            actual="null",
            remedy="none: the number is in the manifest that had the file before, if that is still there",
        )


def has_splits(one: EntryUnderTest) -> bool:
    """Whether there are split offsets."""
    return bool(one.entry.value(field_ids.SPLIT_OFFSETS))


@rule("ICE-015", of=ENTRY, only=has_splits, screen=shape_of)
def split_offsets_ascend(one: EntryUnderTest) -> Iterator[Violation]:
    """Readers leave them all aside, and read the file as one."""
    splits: list[int] = one.entry.value(field_ids.SPLIT_OFFSETS)
    size = one.entry.value(field_ids.FILE_SIZE_IN_BYTES)
    place = next((at for at in range(1, len(splits)) if splits[at] < splits[at - 1]), None)
    if place is not None:
        said = f"split {place} begins at {splits[place]}, and the one before it at {splits[place - 1]}"
        yield wrong(
            one, one.entry.place(field_ids.SPLIT_OFFSETS), said, "offsets that ascend", str(splits[:8])
        )
    elif splits[0] < 0 or splits[-1] >= size:
        outside = splits[0] if splits[0] < 0 else splits[-1]
        said = f"a split begins at {outside}, and the file has {size} bytes"
        yield wrong(one, one.entry.place(field_ids.SPLIT_OFFSETS), said, f"less than {size}", str(outside))


def has_bounds(one: EntryUnderTest) -> bool:
    """Whether there are bounds."""
    return bool(one.entry.value(LOWER) or one.entry.value(UPPER))


@rule("ICE-016", of=ENTRY, only=has_bounds, screen=shape_of)
def bounds_are_values_of_their_columns(one: EntryUnderTest) -> Iterator[Violation]:
    """A reader that makes another value of it skips the file for rows that it has, or fails."""
    for field, name in NAMES.items():
        for column, raw in one.bounds(field):
            try:
                _ = value_of(column.type, raw)
            except UnknownTypeError:
                continue
            except ValueError as error:
                reason = "it is no UTF-8" if isinstance(error, UnicodeError) else str(error)
                said = f"the {name} of column {column.name} is no {column.type}: {reason}"
                actual = shown(column.type, raw)
                yield wrong(
                    one,
                    one.entry.place(field, column.id),
                    said,
                    f"a value of type {column.type}",
                    actual,
                    column.name,
                )


@rule("ICE-017", of=ENTRY, only=has_bounds, screen=shape_of)
def bounds_are_ordered(one: EntryUnderTest) -> Iterator[Violation]:
    """No value lies between them, and readers skip the file for all."""
    for column, raw in one.bounds(LOWER):
        yield from _coordinates(one, column, raw)
        low, high = one.typed(column, LOWER), one.typed(column, UPPER)
        if low is None or high is None or low.kind is not high.kind:
            continue
        if isinstance(low.value, bytes) is not isinstance(high.value, bytes) or not low.value > high.value:  # type: ignore[operator]
            continue
        upper: bytes = one.entry.value(UPPER)[column.id]
        if column.type == "uuid" and _signed(raw) <= _signed(upper):
            continue  # older readers and writers compare them as two signed numbers
        said = f"the lower bound of column {column.name} is {shown(column.type, raw)}, and the upper one {shown(column.type, upper)}"
        place = one.entry.place(LOWER, column.id)
        yield wrong(
            one, place, said, f"{shown(column.type, upper)} or less", shown(column.type, raw), column.name
        )


def _coordinates(one: EntryUnderTest, column: IcebergColumn, raw: bytes) -> Iterator[Violation]:
    """The coordinates of two points, each in order; the first one of a geography may wrap around."""
    upper: bytes | None = one.entry.map(UPPER).get(column.id)
    kind = geospatial(column.type)
    if kind is None or upper is None:
        return
    least, greatest = point(raw), point(upper)
    if least is None or greatest is None:
        return  # ICE-061
    names = "xyzm" if kind == "geometry" else " yzm"
    for name, low, high in zip(names, least, greatest, strict=False):
        if name != " " and low > high:
            said = f"the {name} of the lower bound of column {column.name} is {low}, and that of the upper one {high}"
            yield wrong(
                one, one.entry.place(LOWER, column.id), said, f"{high} or less", str(low), column.name
            )


def _signed(raw: bytes) -> tuple[int, int]:
    return int.from_bytes(raw[:8], "big", signed=True), int.from_bytes(raw[8:], "big", signed=True)


@rule("ICE-018", of=ENTRY, only=has_bounds, screen=shape_of)
def no_bound_is_nan(one: EntryUnderTest) -> Iterator[Violation]:
    """Nothing is less or greater than NaN, and nothing follows from it."""
    for field, name in NAMES.items():
        for column, _ in one.bounds(field):
            typed = one.typed(column, field)
            if typed is not None and isinstance(typed.value, float) and math.isnan(typed.value):
                said = f"the {name} of column {column.name} is NaN"
                yield wrong(
                    one, one.entry.place(field, column.id), said, "a number, or no bound", "NaN", column.name
                )


def has_counts(one: EntryUnderTest) -> bool:
    """Whether nulls or NaN values are counted."""
    return bool(one.entry.value(NULLS) or one.entry.value(NANS))


@rule("ICE-019", of=ENTRY, only=has_counts, screen=shape_of)
def counts_fit_in_the_values(one: EntryUnderTest) -> Iterator[Violation]:
    """A column of nothing but nulls or NaN is skipped for every value."""
    nulls: dict[int, int] = one.entry.value(NULLS) or {}
    nans: dict[int, int] = one.entry.value(NANS) or {}
    values: dict[int, int] = one.entry.value(VALUES) or {}
    rows: int = one.entry.value(field_ids.RECORD_COUNT)
    for key in dict.fromkeys((*nulls, *nans)):
        column = one.column(key)
        if column is None or column.is_repeated:
            continue
        most = values.get(key, rows)
        counted = nulls.get(key, 0) + nans.get(key, 0)
        if counted > most or min(nulls.get(key, 0), nans.get(key, 0)) < 0:
            field = NULLS if key in nulls else NANS
            said = f"column {column.name} has {nulls.get(key, 0)} nulls and {nans.get(key, 0)} NaN values of {most} values"
            yield wrong(one, one.entry.place(field, key), said, f"{most} or less", str(counted), column.name)


def has_values(one: EntryUnderTest) -> bool:
    """Whether the values of columns of a data file are counted."""
    return one.entry.content == DATA and one.entry.format == PARQUET and bool(one.entry.value(VALUES))


@rule("ICE-020", of=ENTRY, only=has_values, screen=shape_of)
def every_row_has_a_value(one: EntryUnderTest) -> Iterator[Violation]:
    """Readers compare the count of nulls with it: where both are equal, they skip the file for every value."""
    rows = one.entry.value(field_ids.RECORD_COUNT)
    values: dict[int, int] = one.entry.value(VALUES)
    for key, count in values.items():
        column = one.column(key)
        if column is not None and not column.is_repeated and count != rows:
            said = f"value_counts of column {column.name} is {count}, and record_count {rows}"
            yield wrong(one, one.entry.place(VALUES, key), said, str(rows), str(count), column.name)
