"""Places and rows of the pages of a column chunk, from its offset index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pqassay.under_test.fields import Field
from pqassay.under_test.file import Broken, Remembered

if TYPE_CHECKING:
    from pqassay.under_test.chunks import ColumnChunkUnderTest


def not_ascending(values: list[int]) -> list[int]:
    """Positions of the values that are not greater than the value before."""
    return [place for place in range(1, len(values)) if values[place] <= values[place - 1]]


class PagePlaces:
    """The pages of one chunk in its offset index.

    Attributes:
        chunk: The chunk.
        offsets: The offset of each page in the file.
        sizes: The size of each page in bytes, including its header.
        first_rows: The first row of each page, counted within the row group.
        out_of_order: Pages that do not begin after the previous page begins: PIX-012.
    """

    def __init__(self, chunk: ColumnChunkUnderTest) -> None:
        self.chunk = chunk
        locations = chunk.offset_index.page_locations
        self.offsets = [location.offset for location in locations]
        self.sizes = [location.compressed_page_size for location in locations]
        self.first_rows = [location.first_row_index for location in locations]
        self.out_of_order = not_ascending(self.offsets)

    def field(self, page: int, name: str = "") -> Field:
        """The field of a page's entry, or of a member of it."""
        return self.chunk.fields.offset_index / f"page_locations[{page}]" / name

    @Remembered
    def outside(self) -> list[int]:
        """The pages that are empty or lie outside the chunk: PIX-013. Raises PIX-012 and the errors of `span` of the chunk."""
        start, end = self.chunk.span
        if self.out_of_order:
            raise Broken("PIX-012")
        offsets, sizes = self.offsets, self.sizes
        return [
            page
            for page, (offset, size) in enumerate(zip(offsets, sizes, strict=True))
            if size <= 0 or offset < start or offset + size > end
        ]

    def require_inside(self) -> None:
        """Raise the error in the order or place of a page: PIX-012, PIX-013, and the errors of `outside`."""
        if self.outside:
            raise Broken("PIX-013")

    @property
    def rows_out_of_order(self) -> list[int]:
        """The pages whose first row is not greater than the previous page's, or beyond the last row: PIX-016. Raises PIX-015."""
        first_rows, count = self.first_rows, self.chunk.group.num_rows
        if first_rows and first_rows[0] != 0:
            raise Broken("PIX-015")
        found = not_ascending(first_rows)
        if first_rows and max(first_rows) >= count:
            found = sorted({*found, *(page for page, row in enumerate(first_rows) if row >= count)})
        return found

    @Remembered
    def row_counts(self) -> list[int]:
        """The number of rows of each page. Raises PIX-015, PIX-016."""
        if self.rows_out_of_order:
            raise Broken("PIX-016")
        rows = self.first_rows
        return [
            after - before for before, after in zip(rows, [*rows[1:], self.chunk.group.num_rows], strict=True)
        ]
