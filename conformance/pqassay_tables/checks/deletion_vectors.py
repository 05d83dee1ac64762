"""The deletion vectors that tables have for a file, as a subject of rules of either format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pqassay.under_test.file import FileUnderTest, NotChecked
from pqassay_spec.table.layout import TableKind

if TYPE_CHECKING:
    from pqassay_tables.values.deletion_vector import DeletionVector


def vectors_of(file: FileUnderTest, table: TableKind) -> list[DeletionVector]:
    """The deletion vector that a table of a kind has for a file, or none.

    Raises:
        NotChecked: There is one, and no numpy to decode it with, as in a browser.
    """
    claims = file.claims
    if claims is None or claims.table != table or claims.deleted is None:
        return []
    try:
        from pqassay_tables.values.deletion_vector import DeletionVector  # noqa: PLC0415 - numpy, where there is one
    except ImportError:
        raise NotChecked("decoding a deletion vector needs numpy, which is not here", "tool") from None
    return [file.part(DeletionVector)]
