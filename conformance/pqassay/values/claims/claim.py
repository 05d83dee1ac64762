"""Why not all row groups were compared."""

from __future__ import annotations

from collections.abc import Collection

from pqassay.under_test.chunks import ColumnChunks
from pqassay.under_test.file import FileUnderTest, NotChecked


def why_not_all(file: FileUnderTest, compared: Collection[int]) -> NotChecked | None:
    """Why row groups are not among those that were compared; ``None`` if all are."""
    missing = next(
        (number for number in range(len(file.metadata.row_groups)) if number not in compared), None
    )
    if missing is None:
        return None
    for obstacle, found in file.part(ColumnChunks).left_out.items():
        return NotChecked(found.reason, obstacle)
    return NotChecked(f"a column of row group {missing} is not there", "file")
