"""Checks of the page index against the headers of its pages, tier ``pages``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.subjects import CHUNK, COLUMN_INDEX, FILE, OFFSET_INDEX
from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.file import Broken, FileUnderTest, NotApplicable
from pqassay.under_test.pages.walk import page_at
from pqassay.under_test.violation import Violation
from pqassay_spec.parquet.thrift import PageType


@rule("PIX-040", of=OFFSET_INDEX)
def the_data_pages_are_listed(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """There is one entry for each data page, in order."""
    locations = chunk.offset_index.page_locations
    pages = chunk.data_pages
    listed = chunk.fields.offset_index / "page_locations"
    for number, (location, page) in enumerate(zip(locations, pages, strict=False)):
        if location.offset != page.offset:
            # From here on, entries and pages are out of step; further findings would only repeat this.
            message = (
                f"entry {number} leads to {location.offset}, where "
                f"{page_at(chunk.pages, location.offset) or 'no page of the chunk begins'}"
            )
            field = listed[number] / "offset"
            yield Violation(message, field, f"data page {number}, at {page.offset}", str(location.offset))
            return
    if len(locations) != len(pages):
        message = f"{len(locations)} entries for {len(pages)} data pages"
        yield Violation(message, listed, f"{len(pages)} entries", f"{len(locations)} entries")


def _require_listed(chunk: ColumnChunkUnderTest) -> None:
    """Raise PIX-040 unless each data page has an entry."""
    locations = chunk.offset_index.page_locations
    if [location.offset for location in locations] != [page.offset for page in chunk.data_pages]:
        raise Broken("PIX-040")


@rule("PIX-041", of=OFFSET_INDEX)
def page_sizes_count_the_header(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """The size includes header and body, both as stored."""
    _require_listed(chunk)
    locations = chunk.offset_index.page_locations
    for number, (location, page) in enumerate(zip(locations, chunk.data_pages, strict=True)):
        if location.compressed_page_size != page.stored_length:
            bare = location.compressed_page_size == page.header.compressed_page_size
            yield Violation(
                f"entry {number} gives its page {location.compressed_page_size} bytes"
                + (", which leaves out the header" if bare else ""),
                chunk.fields.offset_index / f"page_locations[{number}].compressed_page_size",
                expected=f"{page.stored_length} bytes, {page.header_length} of them its header",
                actual=f"{location.compressed_page_size} bytes",
            )


@rule("PIX-042", of=OFFSET_INDEX)
def rows_between_entries_are_counted(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Another rule judges the first entry. Pages of version 1 give their row count only if each value is a row."""
    _require_listed(chunk)
    locations, pages = chunk.offset_index.page_locations, chunk.data_pages
    row = 0
    for number, (location, page) in enumerate(zip(locations, pages, strict=True)):
        if number and location.first_row_index != row:
            said = f"{row} rows come before page {number}, according to the page headers"
            field = chunk.fields.offset_index / f"page_locations[{number}].first_row_index"
            yield Violation(said, field, str(row), str(location.first_row_index))
        if page.v2 is not None:
            row += page.v2.num_rows
        elif not chunk.leaf.max_repetition_level:
            row += page.data_header.num_values
        elif number:
            return
        else:
            raise NotApplicable
    if len(pages) < 2:
        raise NotApplicable


@rule("PIX-043", of=COLUMN_INDEX)
def null_counts_are_those_of_the_headers(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Only pages of version 2 count nulls.

    null_counts need not include nulls around a list; PIX-070 judges these.
    """
    counts, headers = chunk.column_index.null_counts, chunk.second_version
    if counts is None or not headers:
        raise NotApplicable
    if len(counts) != len(chunk.data_pages):
        raise Broken("PIX-040")
    for number, header in headers:
        if not 0 <= header.num_nulls <= header.num_values:
            raise Broken("PQF-064")
        is_fewer_of_list = chunk.leaf.max_repetition_level and 0 <= counts[number] < header.num_nulls
        if counts[number] != header.num_nulls and not is_fewer_of_list:
            said = (
                f"null_counts gives page {number} {counts[number]} nulls, and its header {header.num_nulls}"
            )
            field = chunk.fields.column_index / f"null_counts[{number}]"
            yield Violation(said, field, str(header.num_nulls), str(counts[number]))


@rule("PIX-044", of=FILE, only=lambda file: bool(file.part(ColumnChunks).having("column_index")))
def page_headers_have_no_statistics(file: FileUnderTest) -> Iterator[Violation]:
    """The column index already has this information.

    A writer does this in all columns or in none, so there is one finding for all columns.
    """
    for chunk in file.part(ColumnChunks).having("column_index"):
        pages = [page for page in chunk.data_pages if page.data_header.statistics is not None]
        if pages:
            yield Violation(
                f"page {pages[0].number} of column {chunk.column} has its own statistics",
                chunk.fields.own_header(pages[0]) / "statistics",
                expected="no statistics beside a column index",
                actual="statistics",
                row_group=chunk.row_group,
                more=len(pages) - 1,
            )


@rule("PIX-061", of=CHUNK, only=lambda chunk: chunk.facts.index_page_offset is not None)
def index_pages_are_where_they_should_be(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """The page index replaced index pages before any writer had written one."""
    offset = chunk.facts.index_page_offset
    if not offset:
        return
    if f"footer.{chunk.path}.meta_data.index_page_offset" in chunk.file.stray_offsets:
        raise Broken("PQF-008")
    if not any(page.offset == offset and page.header.type == PageType.INDEX_PAGE for page in chunk.pages):
        said = f"index_page_offset of {chunk} is {offset}, where no index page begins"
        yield Violation(said, chunk.fields.facts / "index_page_offset", "no such field", str(offset))
