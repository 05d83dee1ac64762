"""Checks that delete files and deletion vectors apply to data files, tier ``meta``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.under_test.file import NotApplicable
from pqassay.under_test.violation import Violation
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import DATA, EQUALITY_DELETES
from pqassay_tables.checks.iceberg_table.subjects import TABLE
from pqassay_tables.metadata import repairs
from pqassay_tables.under_test.iceberg_table import IcebergTable
from pqassay_tables.under_test.states import scope_of

REMEDY = repairs.ICEBERG_DANGLING.text


@rule("ICE-026", of=TABLE)
def deletes_apply_to_data_files(table: IcebergTable) -> Iterator[Violation]:
    """Either deleted rows reappear, or every query reads deletes that delete nothing."""
    deletes = [entry for entry in table.state.entries if entry.content != DATA]
    if not deletes:
        raise NotApplicable
    scope = scope_of(table.state)
    for entry in deletes:
        why = scope.why_dead(entry)
        if why:
            is_named = (
                entry.content != EQUALITY_DELETES and entry.value(field_ids.REFERENCED_DATA_FILE) is not None
            )
            said = f"the deletes of {entry.inside or entry.path} apply to no data file: {why}"
            place = entry.place(field_ids.REFERENCED_DATA_FILE if is_named else field_ids.FILE_PATH)
            expected = "a live data file of its partition that is not newer"
            yield table.wrong(place, said, expected, "none", remedy=REMEDY)
