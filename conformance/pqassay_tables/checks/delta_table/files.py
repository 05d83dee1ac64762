"""Checks of entries against the files that they name, tier ``meta``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.under_test.file import Broken
from pqassay.under_test.violation import Violation
from pqassay_tables.checks.delta_table.subjects import ENTRY, TABLE
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.delta.state import AddEntry
from pqassay_tables.under_test.delta_entries import DeltaEntry
from pqassay_tables.under_test.table import DeltaTable

MISSING = repairs.DELTA_MISSING.text
RESTATED = repairs.DELTA_SIZE.text
RESTORED = repairs.DELTA_BEFORE.text


def is_inside(one: DeltaEntry) -> bool:
    """Whether the file can be checked: it is inside the table's folder, or the log does not even name it."""
    return one.entry.inside is not None or not one.entry.path


@rule("DLT-007", of=ENTRY, only=is_inside)
def live_files_exist(one: DeltaEntry) -> Iterator[Violation]:
    """Every query that reads the file fails."""
    if one.entry.path and one.actual_size is not None:
        return
    said = f"{one.data_file} is live, but does not exist"
    yield one.wrong(one.entry.place.below("path"), said, "a file of that name", "none", remedy=MISSING)


@rule("DLT-008", of=ENTRY, only=is_inside)
def sizes_are_true(one: DeltaEntry) -> Iterator[Violation]:
    """Readers look for the footer at the end that the size gives."""
    size, actual = one.entry.action.get("size"), one.actual_size
    if actual is None:
        raise Broken("DLT-007")
    if type(size) is not int or size != actual:
        said = f"size of {one.data_file} is {size}, but the file has {actual} bytes"
        yield one.wrong(one.entry.place.below("size"), said, str(actual), str(size), remedy=RESTATED)


@rule("DLT-070", of=TABLE)
def files_are_live_once(table: DeltaTable) -> Iterator[Violation]:
    """Readers that identify files only by path find fewer rows than readers that read them once for each deletion vector."""
    known: dict[str, AddEntry] = {}
    for entry in table.state.entries:
        before = known.setdefault(entry.inside or entry.path, entry)
        if before is not entry and entry.path:
            said = (
                f"{entry.path} is live twice, with different deletion vectors or paths; "
                f"the first entry is {before.place}"
            )
            place = entry.place.below("path")
            yield table.wrong(place, said, "one live entry", "two", remedy=RESTORED, data_file=entry.inside)
