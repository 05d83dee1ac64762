"""Checks of manifest entries, against their files and against themselves, tier ``meta``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import compress
from operator import ne
from typing import cast

from pqassay.checks import rule
from pqassay.tables.claims import BOUNDS, ClaimPlace, Metric
from pqassay.under_test.file import Broken
from pqassay.under_test.violation import Violation
from pqassay_spec.parquet.file import MAGIC
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import DATA, EXISTING, FILE_FORMATS, ROW_IDS_SINCE
from pqassay_tables.checks.iceberg_table.subjects import BOUNDS_OF_COLUMN, ENTRY
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.iceberg.entry_claims import FIELDS, LOWER, NANS, NULLS, REMEDY, UPPER, VALUES
from pqassay_tables.metadata.iceberg.state import PARQUET, PUFFIN
from pqassay_tables.metadata.iceberg.values import geospatial, point, shown
from pqassay_tables.under_test.entries import EntryBounds
from pqassay_tables.under_test.iceberg_entries import IcebergEntry

MISSING = repairs.ICEBERG_MISSING.text
RESTATED = repairs.ICEBERG_SIZE.text


def wrong(
    one: IcebergEntry, place: ClaimPlace, message: str, expected: str, actual: str, column: str | None = None
) -> Violation:
    """The violation in an entry."""
    said = f"{message}, in the entry of {one.data_file}"
    return one.wrong(place, said, expected, actual, remedy=REMEDY, column=column)


def wrong_bound(
    column: EntryBounds[IcebergEntry],
    one: IcebergEntry,
    metric: Metric,
    said: str,
    expected: str,
    actual: str,
) -> Violation:
    """The violation in a bound of a column."""
    place = one.entry.place(FIELDS[metric], cast("int", column.key))
    return wrong(
        one, place, f"the {metric.value} of column {column.name} {said}", expected, actual, column.name
    )


def is_inside(one: IcebergEntry) -> bool:
    """Whether the file can be checked: it is inside the table's folder."""
    return one.entry.inside is not None


@rule("ICE-013", of=ENTRY, only=is_inside)
def live_files_exist(one: IcebergEntry) -> Iterator[Violation]:
    """Every query that reads the file fails."""
    if one.actual_size is None:
        said = f"{one.data_file} is live, but does not exist"
        place = one.entry.place(field_ids.FILE_PATH)
        yield one.wrong(place, said, "a file of that name", "none", remedy=MISSING)


@rule("ICE-014", of=ENTRY, only=is_inside)
def sizes_are_true(one: IcebergEntry) -> Iterator[Violation]:
    """Readers look for the footer at the end that the size gives."""
    size, actual = one.entry.value(field_ids.FILE_SIZE_IN_BYTES), one.actual_size
    if actual is None:
        raise Broken("ICE-013")
    if size != actual:
        said = f"file_size_in_bytes of {one.data_file} is {size}, but the file has {actual} bytes"
        place = one.entry.place(field_ids.FILE_SIZE_IN_BYTES)
        yield one.wrong(place, said, str(actual), str(size), remedy=RESTATED)


@rule("ICE-068", of=ENTRY)
def formats_are_known(one: IcebergEntry) -> Iterator[Violation]:
    """Readers do not know how to read the file."""
    given = one.entry.value(field_ids.FILE_FORMAT)
    if one.entry.format not in FILE_FORMATS:
        yield wrong(one, one.entry.place(field_ids.FILE_FORMAT), f"file_format is {given[:40]!r}", ", ".join(FILE_FORMATS), given[:40])  # fmt: skip
    elif one.entry.format == PUFFIN and one.table.state.version < ROW_IDS_SINCE:
        said = f"file_format is {given}, which does not exist in version {one.table.state.version}"
        yield wrong(one, one.entry.place(field_ids.FILE_FORMAT), said, f"version {ROW_IDS_SINCE}", given)
    elif one.entry.format not in (PARQUET, PUFFIN) and one.entry.inside is not None:
        with suppress(OSError), one.table.at.opened(one.entry.inside) as source:
            if source.size >= len(MAGIC) and source.read(0, len(MAGIC)) == MAGIC:
                said = f"file_format is {given}, but the file is a Parquet file"
                yield wrong(one, one.entry.place(field_ids.FILE_FORMAT), said, PARQUET.upper(), given)


def is_numbered(one: IcebergEntry) -> bool:
    """Whether the entry has or needs a sequence number: the file was added before, in a manifest that inherits nothing from version 1."""
    entry = one.entry
    return (
        (entry.status == EXISTING or entry.own_sequence is not None)
        and one.table.state.version > 1
        and bool(entry.manifest.listed.value(field_ids.MANIFEST_SEQUENCE_NUMBER))
    )


@rule("ICE-010", of=ENTRY, only=is_numbered)
def sequence_numbers_are_those_of_snapshots(one: IcebergEntry) -> Iterator[Violation]:
    """Readers do not know which deletes are newer than the file."""
    own, most = one.entry.own_sequence, one.entry.manifest.listed.value(field_ids.MANIFEST_SEQUENCE_NUMBER)
    place = one.entry.own_place(field_ids.SEQUENCE_NUMBER)
    remedy = "none; the earlier manifest of the file has the number, if it still exists"
    if own is None:
        said = f"{one.data_file} is older than its manifest, but has no sequence number"
        expected = "the number of the snapshot that added it"
        yield one.wrong(place, said, expected, "null", remedy=remedy)
    elif own > most:
        said = f"{one.data_file} has the sequence number {own}, but its manifest has {most}"
        yield one.wrong(place, said, f"{most} or less", str(own), remedy=remedy)


@rule("ICE-015", of=ENTRY, only=lambda one: bool(one.entry.value(field_ids.SPLIT_OFFSETS)))
def split_offsets_ascend(one: IcebergEntry) -> Iterator[Violation]:
    """Readers ignore offsets that are out of order, and read the file as one split."""
    splits: list[int] = one.entry.value(field_ids.SPLIT_OFFSETS)
    size = one.entry.value(field_ids.FILE_SIZE_IN_BYTES)
    place = next((at for at in range(1, len(splits)) if splits[at] < splits[at - 1]), None)
    if place is not None:
        text = f"split {place} begins at {splits[place]}, but the previous one at {splits[place - 1]}"
        yield wrong(
            one, one.entry.place(field_ids.SPLIT_OFFSETS), text, "offsets that ascend", str(splits[:8])
        )
    elif splits[0] < 0 or splits[-1] >= size:
        outside = splits[0] if splits[0] < 0 else splits[-1]
        text = f"a split begins at {outside}, but the file has {size} bytes"
        yield wrong(one, one.entry.place(field_ids.SPLIT_OFFSETS), text, f"less than {size}", str(outside))


def has_bounds(one: IcebergEntry) -> bool:
    """Whether the entry has bounds."""
    return bool(one.entry.value(LOWER) or one.entry.value(UPPER))


@rule("ICE-016", of=BOUNDS_OF_COLUMN)
def bounds_are_values_of_their_columns(column: EntryBounds[IcebergEntry]) -> Iterator[Violation]:
    """A reader that decodes another value skips the file for rows that it has, or fails."""
    for number, metric, error in column.problems:
        reason = "it is not UTF-8" if isinstance(error, UnicodeError) else str(error)
        said, actual = f"is not {column.type}: {reason}", shown(column.type, column.raws[metric][number])
        yield wrong_bound(
            column, column.entries[number], metric, said, f"a value of type {column.type}", actual
        )


@rule("ICE-017", of=BOUNDS_OF_COLUMN)
def bounds_are_ordered(column: EntryBounds[IcebergEntry]) -> Iterator[Violation]:
    """Such bounds contain no value, so readers skip the file for every query."""
    lows, highs = (column.raws[metric] for metric in BOUNDS)
    if geospatial(column.type) is not None:
        for one, low, high in zip(column.entries, lows, highs, strict=True):
            yield from _coordinates(column, one, low, high)
    for number in column.crossed():
        if column.type == "uuid" and _signed(lows[number]) <= _signed(highs[number]):
            continue  # older readers and writers compare them as two signed numbers
        low, high = (shown(column.type, raws[number]) for raws in (lows, highs))
        said, one = f"is {low}, but the upper one is {high}", column.entries[number]
        yield wrong_bound(column, one, Metric.LOWER, said, f"{high} or less", low)


def _coordinates(
    column: EntryBounds[IcebergEntry], one: IcebergEntry, lower: bytes | None, upper: bytes | None
) -> Iterator[Violation]:
    """Yield the violations in the coordinates of two points; the first one of a geography may wrap around."""
    least, greatest = (None if raw is None else point(raw) for raw in (lower, upper))
    if least is None or greatest is None:
        return  # ICE-061
    names = "xyzm" if geospatial(column.type) == "geometry" else " yzm"
    for name, low, high in zip(names, least, greatest, strict=False):
        if name != " " and low > high:
            said = (
                f"the {name} of the lower bound of column {column.name} is {low}, but that "
                f"of the upper one is {high}"
            )
            place = one.entry.place(FIELDS[Metric.LOWER], cast("int", column.key))
            yield wrong(one, place, said, f"{high} or less", str(low), column.name)


def _signed(raw: bytes) -> tuple[int, int]:
    return int.from_bytes(raw[:8], "big", signed=True), int.from_bytes(raw[8:], "big", signed=True)


@rule("ICE-018", of=BOUNDS_OF_COLUMN)
def no_bound_is_nan(column: EntryBounds[IcebergEntry]) -> Iterator[Violation]:
    """Comparisons with NaN are never true, so the bound is useless."""
    if column.type not in ("float", "double"):
        return
    for metric in BOUNDS:
        values = column.values[metric]
        for one in compress(column.entries, map(ne, values, values)):  # only NaN differs from itself
            yield wrong_bound(column, one, metric, "is NaN", "a number, or no bound", "NaN")


def has_counts(one: IcebergEntry) -> bool:
    """Whether the entry has counts of nulls or NaN values."""
    return bool(one.entry.value(NULLS) or one.entry.value(NANS))


@rule("ICE-019", of=ENTRY, only=has_counts)
def counts_fit_in_the_values(one: IcebergEntry) -> Iterator[Violation]:
    """Readers skip a column of only nulls or NaN for every value."""
    nulls, nans, values = (one.entry.map(field) for field in (NULLS, NANS, VALUES))
    rows: int = one.entry.value(field_ids.RECORD_COUNT)
    for key in dict.fromkeys((*nulls, *nans)):
        its_nulls, its_nans, most = nulls.get(key, 0), nans.get(key, 0), values.get(key, rows)
        if its_nulls >= 0 and its_nans >= 0 and its_nulls + its_nans <= most:
            continue
        column = one.column(key)
        if column is not None and not column.is_repeated:
            field = NULLS if key in nulls else NANS
            said = (
                f"column {column.name} has {its_nulls} nulls and {its_nans} NaN values, "
                f"but only {most} values"
            )
            place, counted = one.entry.place(field, key), its_nulls + its_nans
            yield wrong(one, place, said, f"{most} or less", str(counted), column.name)


@rule(
    "ICE-020",
    of=ENTRY,
    only=lambda one: (
        one.entry.content == DATA and one.entry.format == PARQUET and bool(one.entry.value(VALUES))
    ),
)
def every_row_has_a_value(one: IcebergEntry) -> Iterator[Violation]:
    """Readers compare it with the null count; if both are equal, they skip the file for every value."""
    rows = one.entry.value(field_ids.RECORD_COUNT)
    for key, count in one.entry.map(VALUES).items():
        column = one.column(key) if count != rows else None
        if column is not None and not column.is_repeated:
            said = f"value_counts of column {column.name} is {count}, but record_count is {rows}"
            yield wrong(one, one.entry.place(VALUES, key), said, str(rows), str(count), column.name)
