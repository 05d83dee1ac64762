"""Checks of deletion vectors: claims of manifests about them, tier ``meta``, and their bytes, tier ``footer``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pqassay.checks import rule
from pqassay.under_test.file import Broken, NotApplicable
from pqassay.under_test.violation import Violation
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import DATA_FILE
from pqassay_tables.checks.deletion_vectors import (
    no_bitmap,
    positions_beyond_rows,
    vectors_of,
    wrong_cardinality,
    wrong_checksum,
    wrong_length,
)
from pqassay_tables.checks.iceberg_table.subjects import ENTRY, TABLE
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.iceberg.entry_claims import AROUND
from pqassay_tables.metadata.iceberg.manifests import Entry
from pqassay_tables.metadata.iceberg.state import PUFFIN
from pqassay_tables.under_test.iceberg_entries import IcebergEntry
from pqassay_tables.under_test.iceberg_table import IcebergTable

if TYPE_CHECKING:
    from pqassay_tables.values.deletion_vector import DeletionVector

REMEDY = repairs.ICEBERG_BEFORE.text


def is_vector(one: IcebergEntry) -> bool:
    """Whether the entry belongs to a deletion vector."""
    return one.entry.format == PUFFIN


@rule("ICE-023", of=ENTRY, only=is_vector)
def vectors_can_be_found(one: IcebergEntry) -> Iterator[Violation]:
    """Readers do not know which rows of which file are deleted."""
    offset, size = field_ids.CONTENT_OFFSET, field_ids.CONTENT_SIZE_IN_BYTES
    for number in (field_ids.REFERENCED_DATA_FILE, offset, size):
        value = one.entry.value(number)
        if value is None or (number == offset and value < 0) or (number == size and value < AROUND):
            said = f"{DATA_FILE.called(number)} of a deletion vector in {one.data_file} is {value}"
            place = one.entry.place(number)
            expected = "a place in the file" if number in (offset, size) else "the data file"
            yield one.wrong(place, said, expected, str(value), remedy=REMEDY)


@rule("ICE-024", of=TABLE)
def a_file_has_one_vector(table: IcebergTable) -> Iterator[Violation]:
    """Readers use one of the vectors, and rows that the others delete reappear."""
    seen: dict[str, Entry] = {}
    vectors = [entry for entry in table.state.entries if entry.format == PUFFIN]
    if not vectors:
        raise NotApplicable
    for entry in vectors:
        named = entry.value(field_ids.REFERENCED_DATA_FILE)
        if named is None:
            raise Broken("ICE-023")
        before = seen.setdefault(named, entry)
        if before is not entry:
            said = f"{named} has a second deletion vector; the first is entry {before.number} of {before.manifest.name}"
            place = entry.place(field_ids.REFERENCED_DATA_FILE)
            yield table.wrong(place, said, "one deletion vector", "two", remedy=REMEDY)


@rule("ICE-025", of=ENTRY, only=is_vector)
def vectors_lie_in_their_files(one: IcebergEntry) -> Iterator[Violation]:
    """Without the vector, the file cannot be read, or all deleted rows reappear."""
    offset, size, actual = (
        one.entry.value(field_ids.CONTENT_OFFSET),
        one.entry.value(field_ids.CONTENT_SIZE_IN_BYTES),
        one.actual_size,
    )
    if one.entry.inside is None:
        raise NotApplicable
    if actual is None:
        raise Broken("ICE-013")
    if offset is None or size is None:
        raise Broken("ICE-023")
    if offset + size > actual:
        said = f"a deletion vector ends at byte {offset + size} of {one.data_file}, which has {actual} bytes"
        place = one.entry.place(field_ids.CONTENT_OFFSET)
        yield one.wrong(place, said, f"{actual - size} or less", str(offset), remedy=REMEDY)


# --------------------------------------------------------------------------------------------------- their bytes


VECTOR = vectors_of("iceberg", "deletion vector of an Iceberg table")
"""The deletion vector of a data file."""


@rule("ICE-035", of=VECTOR)
def lengths_agree(one: DeletionVector) -> Iterator[Violation]:
    """If they differ, the vector is elsewhere, and readers refuse it or delete other rows."""
    return wrong_length(one)


@rule("ICE-036", of=VECTOR)
def checksums_are_right(one: DeletionVector) -> Iterator[Violation]:
    """A flipped bit deletes another row; only readers that compare the checksum notice."""
    return wrong_checksum(one)


@rule("ICE-037", of=VECTOR)
def vectors_are_bitmaps(one: DeletionVector) -> Iterator[Violation]:
    """Readers cannot read anything else, so the deleted rows are unknown."""
    return no_bitmap(one)


@rule("ICE-038", of=VECTOR)
def cardinalities_are_right(one: DeletionVector) -> Iterator[Violation]:
    """Engines that count rows by manifests return a wrong number, and others refuse the vector."""
    return wrong_cardinality(one)


@rule("ICE-039", of=VECTOR)
def positions_are_those_of_rows(one: DeletionVector) -> Iterator[Violation]:
    """The vector belongs to another file: deleted rows reappear, and other rows are missing."""
    return positions_beyond_rows(one)
