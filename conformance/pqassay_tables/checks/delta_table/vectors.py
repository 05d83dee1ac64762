"""Checks of deletion vectors: their descriptors in the log, tier ``meta``, and their bytes, tier ``footer``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pqassay.checks import rule
from pqassay.tables.claims import DeletedRows
from pqassay.under_test.file import Broken, NotApplicable, NotChecked
from pqassay.under_test.violation import Violation
from pqassay_spec.table import deletion_vector as grammar
from pqassay_spec.table.delta import DESCRIPTOR_VECTOR
from pqassay_tables.checks.deletion_vectors import (
    no_bitmap,
    positions_beyond_rows,
    vectors_of,
    wrong_cardinality,
    wrong_checksum,
    wrong_length,
)
from pqassay_tables.checks.delta_table.subjects import ENTRY
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.delta.statistics import REMEDY, ROWS, count_of
from pqassay_tables.metadata.delta.vectors import DESCRIPTOR, deleted_rows
from pqassay_tables.under_test.delta_entries import DeltaEntry

if TYPE_CHECKING:
    from pqassay_tables.values.deletion_vector import DeletionVector

RESTATED = repairs.DELTA_VECTOR.text
RESTORED = repairs.DELTA_BEFORE.text


# ------------------------------------------------------------------------------------------------ descriptors


def has_vector(one: DeltaEntry) -> bool:
    """Whether a vector deletes rows of the file."""
    return one.entry.action.get("deletionVector") is not None


def _descriptor(one: DeltaEntry) -> DeletedRows:
    found = deleted_rows(one.entry)
    if isinstance(found, str):
        raise Broken(DESCRIPTOR)
    if found is None:
        raise NotApplicable
    return found


@rule("DLT-014", of=ENTRY, only=has_vector)
def rows_are_counted(one: DeltaEntry) -> Iterator[Violation]:
    """Without the count, the number of remaining rows is unknown, and whether a null count means all of them."""
    if one.entry.stats_problem:
        raise Broken("DLT-009")
    if one.stats.get(ROWS) is None:
        place = one.entry.place if one.entry.stats is None else one.entry.place.below("stats")
        said = f"{one.data_file} has a deletion vector, but its statistics have no {ROWS}"
        yield one.wrong(place, said, ROWS, "none", remedy=REMEDY)


@rule("DLT-015", of=ENTRY, only=has_vector)
def vectors_remove_rows_that_there_are(one: DeltaEntry) -> Iterator[Violation]:
    """Engines that count rows by the log subtract the deleted from the total."""
    rows, deleted = count_of(one.stats.get(ROWS)), _descriptor(one)
    if rows is None:
        raise Broken("DLT-014")
    if deleted.cardinality > rows:
        said = f"the deletion vector of {one.data_file} removes {deleted.cardinality} rows of {rows}"
        place = deleted.place.below("cardinality")
        yield one.wrong(place, said, f"{rows} or less", str(deleted.cardinality), remedy=RESTATED)


@rule("DLT-018", of=ENTRY, only=has_vector)
def descriptors_can_be_read(one: DeltaEntry) -> Iterator[Violation]:
    """A reader that cannot find the vector cannot read the file."""
    found = deleted_rows(one.entry)
    if isinstance(found, str):
        said = f"the deletion vector of {one.data_file} cannot be found: {found}"
        place = one.entry.place.below("deletionVector")
        expected = "storageType, pathOrInlineDv, sizeInBytes and cardinality, and offset where they need it"
        yield one.wrong(place, said, expected, found, remedy=RESTATED)


@rule("DLT-019", of=ENTRY, only=has_vector)
def vectors_lie_in_their_files(one: DeltaEntry) -> Iterator[Violation]:
    """Without the vector, the file cannot be read, or all deleted rows reappear."""
    deleted, table = _descriptor(one), one.table.at
    inside = table.inside(deleted.file) if deleted.inline is None else None
    if inside is None:
        raise NotApplicable  # stored in the log, or outside the folder
    try:
        size = table.size_of(inside)
    except OSError as error:
        reason = f"{deleted.file} cannot be read: {error.strerror or error}"
        raise NotChecked(reason, "file", judgeable=False) from None
    end = deleted.offset + grammar.SIZE_SIZE + deleted.length + grammar.CHECKSUM_SIZE
    if size is None or size < end:
        there = "there is no such file" if size is None else f"the file has {size} bytes"
        said = f"the deletion vector of {one.data_file} ends at byte {end} of {inside}, but {there}"
        place = deleted.place.below("offset" if size else DESCRIPTOR_VECTOR)
        expected = f"a file of {end} bytes or more"
        yield one.wrong(place, said, expected, "none" if size is None else f"{size} bytes", remedy=RESTORED)


# --------------------------------------------------------------------------------------------------- their bytes


VECTOR = vectors_of("delta", "deletion vector")
"""The deletion vector of a data file."""


@rule("DLT-029", of=VECTOR)
def files_of_vectors_are_of_a_known_version(one: DeletionVector) -> Iterator[Violation]:
    """Readers refuse other versions."""
    version = one.stored.version
    if version != grammar.FILE_VERSION:
        yield Violation(
            f"{one.name} begins with version {version}",
            one.field("version", -one.claims.offset - grammar.SIZE_SIZE, grammar.HEAD_SIZE),
            expected=str(grammar.FILE_VERSION),
            actual=str(version),
            remedy=RESTORED,
        )


@rule("DLT-030", of=VECTOR)
def lengths_agree(one: DeletionVector) -> Iterator[Violation]:
    """If they differ, the vector is elsewhere, and readers refuse it."""
    return wrong_length(one)


@rule("DLT-031", of=VECTOR)
def checksums_are_right(one: DeletionVector) -> Iterator[Violation]:
    """A flipped bit deletes another row; only readers that compare the checksum notice."""
    return wrong_checksum(one)


@rule("DLT-032", of=VECTOR)
def vectors_are_bitmaps(one: DeletionVector) -> Iterator[Violation]:
    """Readers cannot read anything else, so the deleted rows are unknown."""
    return no_bitmap(one)


@rule("DLT-033", of=VECTOR)
def cardinalities_are_right(one: DeletionVector) -> Iterator[Violation]:
    """Engines that count rows by the log return a wrong number, and others refuse the vector."""
    return wrong_cardinality(one)


@rule("DLT-034", of=VECTOR)
def positions_are_those_of_rows(one: DeletionVector) -> Iterator[Violation]:
    """The vector belongs to another file: deleted rows reappear, and other rows are missing."""
    return positions_beyond_rows(one)
