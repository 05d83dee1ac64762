"""The trace of a scan: the row groups and pages that it examined, and those that it read.

It is only collected on request (``scan(..., explain=True)``), after the windows of a file, from data that the
scan already has, without further reads.

Source: chapter ``scan.md``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pqassay_reader.pages.chunk_claims import ChunkClaims
from pqassay_reader.query.fetching.field_pages import FieldPages
from pqassay_reader.query.fetching.page_layout import Leaf, Page

MOST_GROUPS = 32
"""Row groups of a scan whose pages are recorded; further ones are only counted."""


@dataclass(frozen=True)
class PageTrace:
    """A page of values, or a whole chunk if its pages are unknown.

    Attributes:
        row: Its first row in the row group.
        rows: The number of its rows.
        bytes: The number of its bytes.
        read: Whether it was decoded.
    """

    row: int
    rows: int
    bytes: int
    read: bool


@dataclass(frozen=True)
class ColumnTrace:
    """A leaf column in a row group.

    Attributes:
        column: Its path, joined by dots.
        in_condition: Whether the condition names it.
        pages_known: Whether its pages were known individually, from the offset index or from their headers.
        pages: Its pages.
    """

    column: str
    in_condition: bool
    pages_known: bool
    pages: Sequence[PageTrace]


@dataclass(frozen=True)
class GroupTrace:
    """A row group that statistics and bloom filters kept.

    Attributes:
        row_group: Its position.
        rows: The number of its rows.
        left: The ranges of rows that the column indexes kept: the first row of each, and the row after its last.
        matched: Rows that satisfy the condition.
        columns: Its columns, those of the condition first.
    """

    row_group: int
    rows: int
    left: Sequence[tuple[int, int]]
    matched: int
    columns: Sequence[ColumnTrace]


@dataclass(frozen=True)
class FileTrace:
    """A file.

    Attributes:
        file: Its path or URI.
        row_groups: The number of its row groups.
        row_groups_left: Positions of the row groups that statistics and bloom filters kept; ``None`` if the file was excluded as a whole.
        row_groups_visited: The number of row groups whose pages were examined.
        shown: The first of these row groups.
    """

    file: str
    row_groups: int
    row_groups_left: Sequence[int] | None
    row_groups_visited: int
    shown: Sequence[GroupTrace]


@dataclass
class Trace:
    """The trace of all iterations of a scan, file by file.

    Attributes:
        files: The opened files, in order.
        is_stopped: Whether the limit ended the scan.
    """

    files: list[FileTrace] = field(default_factory=list[FileTrace])
    is_stopped: bool = False

    @property
    def room(self) -> int:
        """Number of row groups whose pages can still be recorded."""
        return max(MOST_GROUPS - sum(len(one.shown) for one in self.files), 0)


# -------------------------------------------------------------------------------------------------------- gathering


def columns_of_fields(fields: Iterable[FieldPages], asked: Collection[str]) -> list[ColumnTrace]:
    """The columns of some fields whose pages may have been read.

    Args:
        fields: The fields.
        asked: Names of the fields in the condition.
    """
    columns = [
        _column(
            leaf, in_condition=one.field.arrow.name in asked, read=one.read_pages, row_count=one.row_count
        )
        for one in fields
        for leaf in one.layout.leaves
    ]
    return sorted(columns, key=lambda column: not column.in_condition)


def columns_of_claims(claims: Mapping[str, ChunkClaims | None]) -> list[ColumnTrace]:
    """The columns of a condition without any page reads, because column indexes excluded all rows."""
    columns: list[ColumnTrace] = []
    for one in claims.values():
        if one is not None and "offset_index" in one.__dict__:  # which was read
            leaf = Leaf(one, 0, 0).indexed()
            columns.append(_column(leaf, in_condition=True, read=(), row_count=one.row_count))
    return columns


def _column(
    leaf: Leaf, *, in_condition: bool, read: Collection[tuple[int, int]], row_count: int
) -> ColumnTrace:
    whole = [Page(leaf.start, leaf.stop, 0, row_count)] if leaf.stop > leaf.start else []
    pages = [
        PageTrace(page.row, page.row_count, page.stop - page.start, (page.start, page.stop) in read)
        for page in leaf.pages or whole
    ]
    return ColumnTrace(leaf.claims.leaf.name, in_condition, bool(leaf.pages), pages)


__all__ = [
    "MOST_GROUPS",
    "ColumnTrace",
    "FileTrace",
    "GroupTrace",
    "PageTrace",
    "Trace",
    "columns_of_claims",
    "columns_of_fields",
]
