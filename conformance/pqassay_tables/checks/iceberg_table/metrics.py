"""Checks of the metrics of an entry: their columns, and contradictions between them or with the schema, tier ``meta``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.under_test.file import Broken
from pqassay.under_test.violation import Violation
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import DATA, FIRST_RESERVED_ID
from pqassay_spec.table.partition_transforms import TRUNCATED_BITS, truncated
from pqassay_spec.table.single_values import POINT_WIDTHS
from pqassay_tables.checks.iceberg_table.entries import has_bounds, has_counts, wrong, wrong_bound
from pqassay_tables.checks.iceberg_table.subjects import BOUNDS_OF_COLUMN, ENTRY
from pqassay_tables.metadata.iceberg.entry_claims import LOWER, NANS, NULLS, UPPER, VALUES
from pqassay_tables.metadata.iceberg.schema import DECIMAL
from pqassay_tables.metadata.iceberg.transforms import outside
from pqassay_tables.metadata.iceberg.values import geospatial, point, shown
from pqassay_tables.under_test.entries import EntryBounds
from pqassay_tables.under_test.iceberg_entries import IcebergEntry


def _ids(one: IcebergEntry) -> list[tuple[int, int]]:
    """The ids of columns with bounds, without duplicates, each with a field that has one."""
    low, high = (one.entry.map(field) for field in (LOWER, UPPER))
    return [(key, LOWER if key in low else UPPER) for key in dict.fromkeys((*low, *high))]


def _strange(one: IcebergEntry) -> list[tuple[int, int]]:
    """The ids with bounds that do not belong to columns of single values."""
    single = one.table.state.schema.single
    if one.entry.map(LOWER).keys() <= single and one.entry.map(UPPER).keys() <= single:
        return []  # as nearly always
    return [(key, field) for key, field in _ids(one) if key not in single]


@rule("ICE-053", of=ENTRY, only=has_bounds)
def bounds_are_of_ids_that_were_assigned(one: IcebergEntry) -> Iterator[Violation]:
    """Readers look for the bounds of a column by its id, and never find these."""
    last = one.table.state.metadata.get("last-column-id")
    if type(last) is not int:
        raise Broken("ICE-051")
    for key, field in _strange(one):
        if one.column(key) is None and not 0 < key <= last and key < FIRST_RESERVED_ID:
            said = f"there is a bound for column {key}, but the last column id is {last}"
            yield wrong(one, one.entry.place(field, key), said, f"an id from 1 to {last}", str(key))


@rule("ICE-054", of=ENTRY, only=has_bounds)
def bounds_are_of_single_values(one: IcebergEntry) -> Iterator[Violation]:
    """The specification does not define the meaning of bounds over all elements of lists for a row."""
    nested = one.table.state.schema.nested
    for key, field in _strange(one):
        column = one.column(key)
        if key in nested or (column is not None and column.is_repeated):
            name = str(key) if column is None else column.name
            said = (
                f"column {name} is "
                f"{'a struct, a list or a map' if column is None else 'in a list or a map'}, "
                "but has bounds"
            )
            yield wrong(one, one.entry.place(field, key), said, "no bounds", "some", name)


@rule("ICE-055", of=ENTRY, only=has_bounds)
def columns_without_values_have_no_bounds(one: IcebergEntry) -> Iterator[Violation]:
    """A bound is a claim about values, but the column has none."""
    rows: int = one.entry.value(field_ids.RECORD_COUNT)
    values, nulls, nans = (one.entry.map(field) for field in (VALUES, NULLS, NANS))
    without = {
        key for key in (*nulls, *nans) if nulls.get(key, 0) + nans.get(key, 0) == values.get(key, rows) > 0
    }
    for key, field in _ids(one) if without else ():
        column = one.column(key) if key in without else None
        if column is not None and not column.is_repeated:
            name = "lower bound" if field == LOWER else "upper bound"
            said = (
                f"all {values.get(key, rows)} values of column {column.name} are null or "
                f"NaN, but it has a {name}"
            )
            actual = shown(column.type, one.entry.value(field)[key])
            yield wrong(one, one.entry.place(field, key), said, "no bounds", actual, column.name)


@rule("ICE-057", of=ENTRY, only=lambda one: one.entry.content == DATA and has_bounds(one) and bool(one.spec))
def partition_values_follow_from_the_bounds(one: IcebergEntry) -> Iterator[Violation]:
    """A query for a value between the bounds skips the partition."""
    for odd in outside(one.entry, one.table.state.schema):
        name = odd.field.transform
        made = f"{odd.low} to {odd.high}" if odd.low != odd.high else odd.low
        said = (
            f"the partition value {odd.field.name} is {odd.actual}, but according to the "
            f"bounds of column {odd.column.name} its {name} is {made}"
        )
        yield wrong(one, one.entry.partition_place(odd.field.id), said, made, odd.actual, odd.column.name)


@rule("ICE-103", of=ENTRY, only=lambda one: any(field.transform == "truncate" for field in one.spec))
def truncated_numbers_do_not_wrap(one: IcebergEntry) -> Iterator[Violation]:
    """A query for smaller numbers skips the partition, which is among those of the greatest numbers."""
    for field in one.spec:
        column = one.column(field.source)
        if column is None or field.transform != "truncate" or not field.parameter:
            continue
        bits = TRUNCATED_BITS.get(column.type, 0)
        if not bits:
            continue
        least = -1 << bits - 1
        wrapped = truncated(least, field.parameter, bits)
        if wrapped > 0 and one.entry.partition_value(field.id)[1] == wrapped:
            said = f"the partition value {field.name} is {wrapped}, to which {least}, truncated to {field.parameter}, wraps"
            expected, place = str(truncated(least, field.parameter)), one.entry.partition_place(field.id)
            yield wrong(one, place, said, expected, str(wrapped), column.name)


@rule("ICE-058", of=BOUNDS_OF_COLUMN)
def decimals_have_the_fewest_bytes(column: EntryBounds[IcebergEntry]) -> Iterator[Violation]:
    """Readers also accept more bytes for the same number."""
    if DECIMAL.fullmatch(column.type) is None:
        return
    for one, metric, raw in column.each():
        number = int.from_bytes(raw, "big", signed=True)
        needed = (number + (number < 0)).bit_length() // 8 + 1
        if needed < len(raw):
            said = f"has {len(raw)} bytes, but {needed} are enough for the number"
            yield wrong_bound(column, one, metric, said, f"{needed} bytes", f"{len(raw)} bytes")


@rule("ICE-061", of=BOUNDS_OF_COLUMN)
def bounds_of_shapes_are_points(column: EntryBounds[IcebergEntry]) -> Iterator[Violation]:
    """A reader that decodes other coordinates skips the file for shapes that it has, or fails."""
    if geospatial(column.type) is None:
        return
    for one, metric, raw in column.each():
        if point(raw) is None:
            reason = "x, y or m is NaN" if len(raw) in POINT_WIDTHS else f"it has {len(raw)} bytes"
            expected = "16, 24 or 32 bytes of coordinates"
            said, actual = f"is not a point: {reason}", f"0x{raw[:40].hex()}"
            yield wrong_bound(column, one, metric, said, expected, actual)


@rule("ICE-067", of=BOUNDS_OF_COLUMN)
def bounds_of_geographies_are_on_the_globe(column: EntryBounds[IcebergEntry]) -> Iterator[Violation]:
    """Readers compare the bounds with longitudes and latitudes, and skip the file for shapes that it has."""
    if geospatial(column.type) != "geography":
        return
    for one, metric, raw in column.each():
        found = point(raw)
        if found is not None and not (-180 <= found[0] <= 180 and -90 <= found[1] <= 90):
            at = f"{found[0]}, {found[1]}"
            yield wrong_bound(column, one, metric, f"is at {at}", "-180 to 180, and -90 to 90", at)


@rule("ICE-066", of=ENTRY, only=has_counts)
def required_columns_have_no_nulls(one: IcebergEntry) -> Iterator[Violation]:
    """Readers answer queries for nulls of such a column without reading files."""
    for key, count in one.entry.map(NULLS).items():
        column = one.column(key) if count > 0 else None
        if column is not None and column.is_required and not column.is_repeated:
            said = f"column {column.name} is required, but has {count} null values"
            yield wrong(one, one.entry.place(NULLS, key), said, "0", str(count), column.name)
