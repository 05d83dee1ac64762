"""What a scan did: which row groups and pages it looked at, and which it read.

It is gathered only when asked for (``scan(..., explain=True)``), after the windows of a file are done, from what the scan holds
anyway: nothing is read for it.

Source: chapter ``scan.md``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pqassay_reader.pages.chunk_claims import ChunkClaims, Mistrusted
from pqassay_reader.query.fetching.field_pages import FieldPages
from pqassay_reader.query.fetching.page_layout import Leaf
from pqassay_spec.parquet.page_search import Rows

MOST_GROUPS = 32
"""Row groups of a scan whose pages are kept; the others are counted."""


class PageTrace(NamedTuple):
    """A page of values, or a whole chunk where its pages are not known.

    Attributes:
        row: Its first row in the row group.
        row_count: Its rows.
        length: Its bytes.
        is_read: Whether it was decoded.
    """

    row: int
    row_count: int
    length: int
    is_read: bool


@dataclass(frozen=True)
class ColumnTrace:
    """A leaf column in a row group.

    Attributes:
        name: Its path, joined by dots.
        is_asked: Whether the condition names it.
        has_pages: Whether its pages were known one by one, by the offset index or from their headers.
        pages: Its pages.
    """

    name: str
    is_asked: bool
    has_pages: bool
    pages: Sequence[PageTrace]

    @property
    def pages_read(self) -> int:
        """The number of pages that were decoded."""
        return sum(page.is_read for page in self.pages)

    @property
    def length_read(self) -> int:
        """Their bytes."""
        return sum(page.length for page in self.pages if page.is_read)


@dataclass(frozen=True)
class GroupTrace:
    """A row group that statistics and bloom filters left.

    Attributes:
        row_group: Its position.
        row_count: Its rows.
        left: The ranges of rows that were left by the column indexes.
        matched: Rows that satisfy the condition.
        columns: Its columns, those of the condition first.
    """

    row_group: int
    row_count: int
    left: Rows
    matched: int
    columns: Sequence[ColumnTrace]

    @property
    def rows_left(self) -> int:
        """The number of rows that were left."""
        return sum(map(len, self.left))


@dataclass(frozen=True)
class FileTrace:
    """A file.

    Attributes:
        name: Its path or URI.
        row_groups: The number of its row groups.
        left: Positions of the row groups that statistics and bloom filters left; ``None`` if the file was ruled out as a whole.
        visited: The number of row groups whose pages were looked at.
        groups: The first of those.
    """

    name: str
    row_groups: int
    left: Sequence[int] | None
    visited: int
    groups: Sequence[GroupTrace]


@dataclass
class Trace:
    """What all iterations of a scan did, file by file.

    Attributes:
        files: The files that were opened, in their order.
        is_stopped: Whether the limit ended the scan.
    """

    files: list[FileTrace] = field(default_factory=list[FileTrace])
    is_stopped: bool = False

    @property
    def room(self) -> int:
        """Row groups whose pages can still be kept."""
        return max(MOST_GROUPS - sum(len(one.groups) for one in self.files), 0)


# -------------------------------------------------------------------------------------------------------- gathering


def columns_of_fields(fields: Iterable[FieldPages], asked: Collection[str]) -> list[ColumnTrace]:
    """The columns of some fields of which pages may have been read.

    Args:
        fields: The fields.
        asked: Names of the fields that the condition names.
    """
    found = [
        _column(leaf, is_asked=one.field.arrow.name in asked, read=one.read_pages, row_count=one.row_count)
        for one in fields
        for leaf in one.layout.leaves
    ]
    return sorted(found, key=lambda column: not column.is_asked)


def columns_of_claims(claims: Mapping[str, ChunkClaims | None]) -> list[ColumnTrace]:
    """The columns of a condition of which no page was read: column indexes left no row."""
    return [
        _column(leaf, is_asked=True, read=(), row_count=one.row_count)
        for one in claims.values()
        if one is not None
        for leaf in _indexed(one)
    ]


def _indexed(claims: ChunkClaims) -> Iterator[Leaf]:
    """The leaf of a chunk whose offset index was read."""
    if "offset_index" in claims.__dict__:
        try:
            yield Leaf(claims, 0, 0).indexed()
        except Mistrusted:
            return


def _column(leaf: Leaf, *, is_asked: bool, read: Collection[tuple[int, int]], row_count: int) -> ColumnTrace:
    name = leaf.claims.leaf.name
    if not leaf.pages:
        length = leaf.stop - leaf.start
        pages = [PageTrace(0, row_count, length, (leaf.start, leaf.stop) in read)] if length else []
        return ColumnTrace(name, is_asked, False, pages)
    pages = [
        PageTrace(page.row, page.row_count, page.stop - page.start, (page.start, page.stop) in read)
        for page in leaf.pages
    ]
    return ColumnTrace(name, is_asked, True, pages)


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
