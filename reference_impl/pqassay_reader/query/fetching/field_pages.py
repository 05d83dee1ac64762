"""One field in one row group: the ranges with some of its rows, and their values.

If an offset index is missing or untrusted, the whole field is fetched. If its rows can be counted, the pages
are then found by their headers.

Source: chapter ``scan.md``, sections "Pages" and "Dictionaries".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pqassay_reader.pages.chunk_claims import Mistrusted
from pqassay_reader.pages.row_entries import row_entries
from pqassay_reader.query.facts.footer_facts import FileFacts, SchemaField
from pqassay_reader.query.fetching.page_layout import Leaf, Numbers, Page, PageLayout, leaf_of
from pqassay_reader.query.fetching.ranges import FetchedRanges, Piece
from pqassay_reference.errors import Undecodable
from pqassay_reference.pages.mini_file import LeafPages, mini_file
from pqassay_reference.pages.page_headers import dictionary_end, header_at
from pqassay_reference.pages.stored_values import leaf_path, require_runs, without_claims
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.thrift import DICTIONARY_ENCODINGS, ColumnMetaData, PageType, Type


@dataclass(frozen=True)
class Reading:
    """Settings for reading fields.

    Attributes:
        indexed: Whether offset indexes may be used.
        all_dictionaries: Whether every dictionary is read, even if no page refers to it.
        kept_dictionaries: Names of fields whose values are returned as references to a dictionary.
    """

    indexed: bool = True
    all_dictionaries: bool = False
    kept_dictionaries: frozenset[str] = frozenset()


class FieldPages:
    """One field in one row group, which several threads may read.

    Args:
        facts: The file's facts.
        ranges: Its bytes.
        row_group: Position of the row group.
        first_row: Number of earlier rows in the file.
        wanted: The field.
        reading: Settings for reading it.
    """

    def __init__(
        self,
        facts: FileFacts,
        ranges: FetchedRanges,
        row_group: int,
        first_row: int,
        schema_field: SchemaField,
        reading: Reading,
    ) -> None:
        self.field = schema_field
        self.row_count = facts.metadata.row_groups[row_group].num_rows
        self.read_pages: set[tuple[int, int]] = set()
        """Ranges of pages that were decoded."""
        self.unread_dictionaries: set[tuple[int, int]] = set()
        """Ranges of dictionaries that no page has referred to so far."""
        self.read_dictionaries: set[tuple[int, int]] = set()
        """Ranges of dictionaries that were decoded."""
        self._facts, self._ranges, self._reading = facts, ranges, reading
        self._row_group, self._first_row = row_group, first_row
        self._end = first_row + self.row_count
        self._without_index: PageLayout | None = None
        self._is_null = len(schema_field.leaves) == 1 and facts.has_only_nulls(
            row_group, schema_field.leaves[0]
        )

    @cached_property
    def _bare(self) -> list[Leaf]:
        """The leaves with unknown pages; empty if every row is null, because the pages do not matter then."""
        if self._is_null:
            return []
        found: list[Leaf] = []
        for place in self.field.leaves:
            claims = self._facts.claims_of(self._ranges, self._row_group, place)
            found.append(leaf_of(claims, self._facts.body, self._row_group, self._ranges.name))
        return found

    @cached_property
    def _indexed(self) -> PageLayout:
        """The layout from the offset indexes, if all are there and trusted; otherwise one without pages."""
        if self._reading.indexed and not self._is_null:
            try:
                indexed = [leaf.indexed() for leaf in self._bare]
            except Mistrusted:
                pass
            else:
                for place, leaf in zip(self.field.leaves, indexed, strict=True):
                    self._facts.remember(self._row_group, place, leaf.claims)
                return PageLayout(indexed, self.row_count)
        return PageLayout(self._bare, self.row_count)

    @property
    def layout(self) -> PageLayout:
        """The layout of its pages. Raises `Malformed` and `Undecodable` if a chunk is not in the file."""
        return self._without_index or self._indexed

    @property
    def uses_index(self) -> bool:
        """Whether its pages come from the offset index."""
        return self._without_index is None and self._indexed.is_paged

    # ------------------------------------------------------------------------------------------------- fetching

    def pieces(self, rows: Numbers) -> list[Piece]:
        """The ranges to fetch for some rows."""
        layout = self.layout
        if not layout.is_paged:
            return [Piece(leaf.start, leaf.stop, self._end) for leaf in layout.leaves]
        blocks = layout.blocks_of(rows)
        if not len(blocks):
            return []
        # The next window needs a block that continues after the rows of this window.
        until = self._first_row + int(layout.stops[blocks[-1]])
        pieces: list[Piece] = []
        for leaf in layout.leaves:
            pieces += [Piece(page.start, page.stop, until) for page in layout.pages_of(leaf, blocks)]
            if self._reading.all_dictionaries or is_dictionary_encoded(leaf.facts):
                pieces.append(Piece(*leaf.dictionary, self._end))
        return pieces

    # -------------------------------------------------------------------------------------------------- decoding

    def values(self, rows: Numbers) -> Any:
        """The values of some rows, as a chunked array of as many.

        Raises:
            Malformed: A page header cannot be read.
            Undecodable: The pages cannot be decoded, or have other rows than stated in the file.
        """
        if self._is_null:
            return pa.chunked_array([pa.nulls(len(rows), self.field.arrow.type)])
        if self.uses_index:
            try:
                return self._values(self._indexed, rows)
            except (Mistrusted, FormatError, Undecodable):
                pass  # the offset index is false
        if self._without_index is None and len(rows) < self.row_count:
            self._without_index = self._walked()
        try:
            return self._values(self._without_index or PageLayout(self._bare, self.row_count), rows)
        except Mistrusted as error:
            raise Undecodable(f"{self._where} cannot be decoded: {error}") from None

    @property
    def _where(self) -> str:
        return f"{self._ranges.name}: column {self.field.arrow.name} in row group {self._row_group}"

    def _walked(self) -> PageLayout:
        """The layout from the page headers in the bytes."""
        self._ranges.want(Piece(leaf.start, leaf.stop, self._end) for leaf in self._bare)
        found = [leaf.walked(self._ranges.read(leaf.start, leaf.stop - leaf.start)) for leaf in self._bare]
        return PageLayout(found if all(leaf.pages for leaf in found) else self._bare, self.row_count)

    def _values(self, layout: PageLayout, rows: Numbers) -> Any:
        counts = layout.rows_in_blocks(rows)
        blocks = np.flatnonzero(counts)
        starts, lengths = layout.starts[blocks], (layout.stops - layout.starts)[blocks]
        row_count = int(lengths.sum())
        read = self._decoded(layout, blocks, row_count)
        if len(rows) == row_count:
            return read
        # The differences between row numbers in the row group and positions among the decoded rows.
        skipped = starts - (np.cumsum(lengths) - lengths)
        first, last = int(rows[0] - skipped[0]), int(rows[-1] - skipped[-1])
        if last - first == len(rows) - 1:
            return read.slice(first, len(rows))
        return read.take(pa.array(rows - np.repeat(skipped, counts[blocks])))

    def _decoded(self, layout: PageLayout, blocks: Numbers, row_count: int) -> Any:
        """The values of some blocks."""
        columns = [self._leaf_pages(layout, leaf, blocks) for leaf in layout.leaves]
        for number, (chunk, _) in enumerate(columns):
            require_runs(leaf_path(self.field.elements, number), chunk)
        content = mini_file(
            self.field.elements,
            [pages for pages, _ in columns],
            row_count,
            key_values=self._facts.key_values(self.field),
            created_by=self._facts.metadata.created_by,
        )
        name = self.field.arrow.name
        kept = [name] if name in self._reading.kept_dictionaries else None
        try:
            table = pq.ParquetFile(pa.BufferReader(content), read_dictionary=kept).read(use_threads=False)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise Undecodable(f"{self._where} cannot be decoded: {' '.join(str(error).split())}") from error
        if table.num_rows != row_count:
            raise Mistrusted(f"pages hold {table.num_rows} rows, but the file says {row_count}")
        values = table.column(0)
        self._require_nanoseconds(content, values)
        for number, (leaf, (_, counts)) in enumerate(zip(layout.leaves, columns, strict=True)):
            if leaf.pages and not leaf.claims.is_flat:
                _require_rows(row_entries(values, number), layout.pages_of(leaf, blocks), counts)
        if kept is not None:
            try:
                values.validate(full=True)  # Arrow does not look whether references are within the dictionary
            except pa.ArrowInvalid as error:
                raise Undecodable(f"{self._where} cannot be decoded: {error}") from error
        return values

    def _require_nanoseconds(self, content: bytes, values: Any) -> None:
        """Raise `Undecodable` if an INT96 is outside the years that 64 bits of nanoseconds cover, because Arrow would change its year."""
        if all(element.type != Type.INT96 for element in self.field.elements):
            return
        file = pq.ParquetFile(pa.BufferReader(content), coerce_int96_timestamp_unit="s")
        try:
            file.read(use_threads=False).column(0).cast(values.type)
        except pa.ArrowException:
            raise Undecodable(f"{self._where} holds timestamps beyond the years 1677 to 2262") from None

    def _leaf_pages(self, layout: PageLayout, leaf: Leaf, blocks: Numbers) -> tuple[LeafPages, Sequence[int]]:
        """The pages of a leaf in some blocks, with the number of values, nulls and empty lists that each page states."""
        facts = without_claims(leaf.facts)
        if not leaf.pages:
            raw = self._ranges.view(leaf.start, leaf.stop - leaf.start)
            split = dictionary_end(raw)
            self.read_pages.add((leaf.start, leaf.stop))
            return LeafPages(facts, raw[:split], [raw[split:]]), ()
        pages = layout.pages_of(leaf, blocks)
        raws = [self._ranges.view(page.start, page.stop - page.start) for page in pages]
        counts, refers = _described(leaf, pages, raws)
        facts.num_values = sum(counts)
        self.read_pages.update((page.start, page.stop) for page in pages)
        return LeafPages(facts, self._dictionary(leaf, refers=refers), raws), counts

    def _dictionary(self, leaf: Leaf, *, refers: bool) -> bytes | memoryview:
        start, stop = leaf.dictionary
        if stop == start:
            return b""
        if not refers and not self._reading.all_dictionaries:
            self.unread_dictionaries.add((start, stop))
            return b""
        self.read_dictionaries.add((start, stop))
        self._ranges.want([Piece(start, stop, self._end)])
        return self._ranges.view(start, stop - start)


def is_dictionary_encoded(facts: ColumnMetaData) -> bool:
    """Whether every page of values refers to the dictionary, according to the footer."""
    stats = [one for one in facts.encoding_stats or [] if one.page_type != PageType.DICTIONARY_PAGE]
    return bool(stats) and all(one.encoding in DICTIONARY_ENCODINGS for one in stats)


def _described(leaf: Leaf, pages: Sequence[Page], raws: Sequence[memoryview]) -> tuple[list[int], bool]:
    """The number of values of each page, and whether any page refers to the dictionary. Raises `Mistrusted`, `Malformed`."""
    refers, is_flat = False, leaf.claims.is_flat
    values: list[int] = []
    for page, raw in zip(pages, raws, strict=True):
        header, length = header_at(raw, 0, page.start)
        second = header.data_page_header_v2
        data = header.data_page_header or second
        if header.type == PageType.DICTIONARY_PAGE or data is None:
            raise Mistrusted("there is another page where a page of values should be")
        if length + header.compressed_page_size != len(raw):
            raise Mistrusted("the size of a page differs from the one in the offset index")
        if second is not None and second.num_rows != page.row_count:
            raise Mistrusted("the rows of a page differ from those in the offset index")
        if is_flat and data.num_values != page.row_count:
            raise Mistrusted("the rows of a page differ from those in the offset index")
        values.append(data.num_values)
        refers = refers or data.encoding in DICTIONARY_ENCODINGS
    return values, refers


def _require_rows(entries: Numbers, pages: Sequence[Page], counts: Sequence[int]) -> None:
    """Raise `Mistrusted` if lists begin in other pages than those in the offset index."""
    ends = np.cumsum([page.row_count for page in pages])
    if not np.array_equal(np.cumsum(entries)[ends - 1], np.cumsum(counts)):
        raise Mistrusted("the rows of a page differ from those in the offset index")


__all__ = ["FieldPages", "Reading", "is_dictionary_encoded"]
