"""Layout of one field in one row group: the pages of its leaves, and the blocks into which the field can be cut.

A field may have several leaf columns, whose pages end at different rows.  A field can only be cut at rows where the pages of all
its leaves end; the parts are its blocks.  In a field with one leaf, the blocks are its pages.

Source: chapter ``scan.md``, section "Pages".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pqassay_reader.pages.chunk_claims import ChunkClaims, Mistrusted
from pqassay_reference.errors import Undecodable
from pqassay_reference.pages.stored_values import stored_pages
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.parquet.file import chunk_start
from pqassay_spec.parquet.page_search import Rows
from pqassay_spec.parquet.thrift import ColumnMetaData

Numbers = NDArray[np.int64]
"""Row numbers or positions of blocks, in ascending order."""


class Page(NamedTuple):
    """A page of values.

    Attributes:
        start: Offset of its first byte.
        stop: Offset after its last byte.
        row: Its first row in the row group.
        row_count: Its number of rows.
    """

    start: int
    stop: int
    row: int
    row_count: int


@dataclass(frozen=True)
class Leaf:
    """One leaf column of a field, in one row group.

    Attributes:
        claims: The facts of the file about the chunk.
        start: Offset of its first byte.
        stop: Offset after its last byte.
        pages: Its pages of values; empty if they are unknown.
    """

    claims: ChunkClaims
    start: int
    stop: int
    pages: Sequence[Page] = ()

    @property
    def facts(self) -> ColumnMetaData:
        """Metadata of the chunk."""
        return self.claims.facts

    @property
    def dictionary(self) -> tuple[int, int]:
        """The range of the dictionary page; empty if there is none, or if pages are unknown."""
        return self.start, self.pages[0].start if self.pages else self.start

    @cached_property
    def rows(self) -> Numbers:
        """The first rows of its pages."""
        return np.array([page.row for page in self.pages], np.int64)

    def indexed(self) -> Leaf:
        """The same leaf with the pages of its offset index. Raises `Mistrusted`."""
        locations = self.claims.offset_index.page_locations
        ends = [*(location.first_row_index for location in locations[1:]), self.claims.row_count]
        pages = [
            Page(
                location.offset,
                location.offset + location.compressed_page_size,
                location.first_row_index,
                end - location.first_row_index,
            )
            for location, end in zip(locations, ends, strict=True)
        ]
        return Leaf(self.claims, self.start, self.stop, pages)

    def walked(self, raw: bytes) -> Leaf:
        """The same leaf with the pages from the headers in its bytes, if each row has one value and the rows add up."""
        try:
            stored = list(stored_pages(raw, self.claims.row_count)) if self.claims.is_flat else []
        except FormatError:
            stored = []
        data = stored[1:] if stored and stored[0].entries is None else stored
        rows = list(accumulate((page.entries or 0 for page in data), initial=0))
        stops = [0, *(page.stop for page in stored)]
        is_plain = all(page.entries for page in data) and [page.start for page in stored] == stops[:-1]
        pages = [
            Page(self.start + page.start, self.start + page.stop, row, page.entries or 0)
            for page, row in zip(data, rows, strict=False)
        ]
        whole = is_plain and rows[-1] == self.claims.row_count
        return Leaf(self.claims, self.start, self.stop, pages if whole else ())


def leaf_of(claims: ChunkClaims, body: range, row_group: int, file: str) -> Leaf:
    """The leaf of a chunk, with unknown pages.

    Raises:
        Undecodable: The chunk is encrypted, or stored in another file.
        Malformed: Rule PQF-008, it lies outside the body.
    """
    where = f"column {claims.leaf.name} in row group {row_group}"
    try:
        facts = claims.facts
    except Mistrusted:
        raise Undecodable(f"{file}: {where} is encrypted, or stored in another file") from None
    start = chunk_start(claims.chunk)
    if start is None:
        return Leaf(claims, body.start, body.start)
    stop = start + facts.total_compressed_size
    if not body.start <= start <= stop <= body.stop:
        raise Malformed(
            f"{where} takes bytes [{start}, {stop}), but the body of the file is [{body.start}, {body.stop})",
            rule="PQF-008",
            field=f"footer.row_groups[{row_group}]",
            file=file,
        )
    return Leaf(claims, start, stop)


@dataclass(frozen=True)
class PageLayout:
    """The pages of a field in one row group.

    Attributes:
        leaves: Its leaves, in the order of the schema. The pages are known for all leaves, or for none.
        row_count: Number of rows of the row group.
    """

    leaves: Sequence[Leaf]
    row_count: int

    @cached_property
    def is_paged(self) -> bool:
        """Whether the pages are known."""
        return bool(self.leaves) and all(leaf.pages for leaf in self.leaves)

    @cached_property
    def starts(self) -> Numbers:
        """First rows of the blocks; a single block if pages are unknown."""
        if not self.is_paged:
            return np.zeros(1, np.int64)
        common = self.leaves[0].rows
        for leaf in self.leaves[1:]:
            common = np.intersect1d(common, leaf.rows)
        return common

    @cached_property
    def stops(self) -> Numbers:
        """The rows after the ends of the blocks."""
        return np.append(self.starts[1:], self.row_count)

    def blocks_of(self, rows: Numbers) -> Numbers:
        """The blocks with at least one of the rows."""
        if len(self.starts) == 1:
            return np.zeros(min(len(rows), 1), np.int64)
        return np.flatnonzero(self.rows_in_blocks(rows))

    def rows_in_blocks(self, rows: Numbers) -> Numbers:
        """The number of the given rows in each block; searches once per block, because there are fewer blocks than rows."""
        return np.diff(np.searchsorted(rows, self.starts), append=len(rows))

    def blocks_of_ranges(self, rows: Rows) -> Numbers:
        """The blocks with at least one row of some ranges."""
        firsts = np.array([part.start for part in rows if part], np.int64)
        lasts = np.array([part.stop - 1 for part in rows if part], np.int64)
        opened = np.zeros(len(self.starts) + 1, np.int64)
        np.add.at(opened, np.searchsorted(self.starts, firsts, side="right") - 1, 1)
        np.add.at(opened, np.searchsorted(self.starts, lasts, side="right"), -1)
        return np.flatnonzero(np.cumsum(opened))

    def pages_of(self, leaf: Leaf, blocks: Numbers) -> list[Page]:
        """The pages of a leaf in some blocks."""
        firsts = np.searchsorted(leaf.rows, self.starts[blocks]).tolist()
        lasts = np.searchsorted(leaf.rows, self.stops[blocks]).tolist()
        return [
            leaf.pages[at] for first, last in zip(firsts, lasts, strict=True) for at in range(first, last)
        ]

    def cost_of(self, blocks: Numbers) -> tuple[int, int, int]:
        """The cost of reading some blocks page by page: number of pages, bytes of pages, and bytes of dictionaries."""
        if not self.is_paged:
            return len(self.leaves), sum(leaf.stop - leaf.start for leaf in self.leaves), 0
        pages = [page for leaf in self.leaves for page in self.pages_of(leaf, blocks)]
        dictionaries = sum(leaf.dictionary[1] - leaf.dictionary[0] for leaf in self.leaves)
        return len(pages), sum(page.stop - page.start for page in pages), dictionaries


__all__ = ["Leaf", "Numbers", "Page", "PageLayout", "leaf_of"]
