"""The check of the order that row groups claim for their rows, tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.subjects import FILE
from pqassay.under_test.file import FileUnderTest, NotApplicable
from pqassay.under_test.violation import Violation
from pqassay.values.audit import audited


@rule("PQF-075", of=FILE)
def rows_are_sorted(file: FileUnderTest) -> Iterator[Violation]:
    """A reader that merges or searches sorted rows misses some, or returns them in the wrong order."""
    if not any(group.sorting_columns for group in file.metadata.row_groups):
        raise NotApplicable
    return audited(file, "PQF-075")
