"""Checks of the log itself, tier ``meta``: unreadable parts, and repetitions in a commit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.under_test.violation import Violation
from pqassay_spec.table.delta import PRIMITIVE_TYPES, TYPE_CHANGES, TYPE_WIDENING
from pqassay_spec.table.layout import delta_commit
from pqassay_tables.checks.delta_table.subjects import TABLE, broken_by_reading
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.delta.schema import NESTED
from pqassay_tables.metadata.delta.widening import wrong_change
from pqassay_tables.under_test.table import DeltaTable

KNOWN = (*PRIMITIVE_TYPES, *NESTED)


@rule("DLT-001", of=TABLE)
def lines_are_objects(table: DeltaTable) -> Iterator[Violation]:
    """Readers refuse a table with a line that they cannot parse."""
    return broken_by_reading(table, "DLT-001")


@rule("DLT-002", of=TABLE)
def versions_are_contiguous(table: DeltaTable) -> Iterator[Violation]:
    """The content of a missing commit is unknown."""
    return broken_by_reading(table, "DLT-002")


def has_checkpoint(table: DeltaTable) -> bool:
    """Whether a checkpoint exists."""
    return table.has_checkpoint


@rule("DLT-003", of=TABLE, only=has_checkpoint)
def checkpoints_can_be_read(table: DeltaTable) -> Iterator[Violation]:
    """The commits before the checkpoint may be deleted."""
    return broken_by_reading(table, "DLT-003")


@rule("DLT-004", of=TABLE)
def the_table_is_described(table: DeltaTable) -> Iterator[Violation]:
    """Without these, there is no schema, and readers do not know the required features."""
    return broken_by_reading(table, "DLT-004")


@rule("DLT-005", of=TABLE)
def the_schema_can_be_read(table: DeltaTable) -> Iterator[Violation]:
    """Without the schema no column has a type."""
    return broken_by_reading(table, "DLT-005")


@rule("DLT-006", of=TABLE)
def no_path_is_repeated(table: DeltaTable) -> Iterator[Violation]:
    """Actions of a commit are unordered, so each reader decides which of two it uses; some return rows twice."""
    live = Counter(entry.path for entry in table.state.entries)
    for one in table.state.repetitions:
        log = one.place.file.rpartition("/")[2]
        if one.place.path != one.before.path and live[one.path] > 1:
            continue  # DLT-070
        said = f"{log} has two actions on {one.path}: {one.before.path[0]} and {one.kind}"
        place, expected = one.place.below("path"), f"one {one.kind} action for {one.path}"
        remedy = repairs.DELTA_CHECKPOINT.text if delta_commit(log) is None else ""
        yield table.wrong(place, said, expected, f"two, the first at {one.before}", remedy=remedy)


@rule("DLT-048", of=TABLE)
def the_table_is_described_once(table: DeltaTable) -> Iterator[Violation]:
    """Actions of a commit are unordered, so each reader decides which of two it uses."""
    for one in table.state.doubles:
        of = f" of {one.path}" if one.path else ""
        said = f"{one.place.file.rpartition('/')[2]} has a second {one.kind} action{of}"
        place, expected = one.place, f"one {one.kind} action{of}"
        yield table.wrong(place, said, expected, f"two, the first at {one.before}")


@rule("DLT-047", of=TABLE, only=lambda table: any(name in table.state.features for name in TYPE_WIDENING))
def types_changed_as_they_may(table: DeltaTable) -> Iterator[Violation]:
    """A reader that does not support a change must not read the table."""
    state = table.state
    for column in state.schema.columns:
        if column.changes is None:
            continue
        wrong = wrong_change(column)
        if wrong is not None:
            place = state.places["metaData"].below("schemaString")
            said = f"{TYPE_CHANGES} of column {column.name} {wrong}"
            expected = f"changes that the protocol allows, up to {column.type}"
            yield table.wrong(place, said, expected, str(column.changes)[:80], column=column.name)


@rule("DLT-054", of=TABLE)
def types_are_known(table: DeltaTable) -> Iterator[Violation]:
    """A reader that does not know a type refuses the table."""
    state = table.state
    for column in state.schema.columns:
        if column.type not in KNOWN and column.decimal is None:
            said = f"column {column.name} has the type {column.type[:40]}"
            place = state.places["metaData"].below("schemaString")
            yield table.wrong(place, said, "a type of the protocol", column.type[:40], column=column.name)
