"""The pages of a column chunk, found by walking their headers within the footer's range.

The walk never uses the page index, since it serves to judge it. Bodies are skipped: little more than the headers of large pages is read,
and many small pages are read at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pqassay.under_test.file import FileUnderTest, NotChecked, overlaps
from pqassay_spec.base.errors import FormatError, Malformed, boundary
from pqassay_spec.base.sources import Source, is_near
from pqassay_spec.grammar.thrift_decoder import collector_paused, decode, decoder
from pqassay_spec.parquet.file import chunk_start
from pqassay_spec.parquet.thrift import (
    ColumnChunk,
    DataPageHeader,
    DataPageHeaderV2,
    DictionaryPageHeader,
    PageHeader,
    PageType,
)

MOST_PAGES = 1 << 22
"""The largest number of pages of one chunk that are walked; even chunks with one row per page rarely have as many."""

LONGEST_HEADER = 16 << 20
"""The largest size of a page header in bytes. Statistics of long texts make long headers; other readers have this limit as well."""

BATCH = 4 << 20
"""The number of bytes of bodies that are read at once, if each body is shorter."""


class _Stride(NamedTuple):
    """The lengths of reads: the first bytes of a run of pages, the most at once, and the largest gap that is read rather than skipped."""

    first: int
    most: int
    read_over: int


LOCAL = _Stride(16 << 10, 1 << 20, 16 << 10)
REMOTE = _Stride(1 << 20, 4 << 20, 1 << 20)
"""The lengths for stores, where a request takes as long as reading a megabyte."""


class PageUnderTest(NamedTuple):
    """One page of a column chunk.

    Attributes:
        number: Its position among all pages of the chunk, including dictionary pages.
        offset: The offset of its header in the file.
        header: Its header.
        header_length: The stored size of the header in bytes.
    """

    number: int
    offset: int
    header: PageHeader
    header_length: int

    @property
    def body_start(self) -> int:
        """The offset of its body in the file."""
        return self.offset + self.header_length

    @property
    def stored_length(self) -> int:
        """The stored size of header and body in bytes."""
        return self.header_length + self.header.compressed_page_size

    @property
    def is_data(self) -> bool:
        """Whether it is a data page of any version."""
        return self.header.type in DATA_PAGES

    @property
    def is_dictionary(self) -> bool:
        """Whether it is a dictionary page."""
        return self.header.type == PageType.DICTIONARY_PAGE

    @property
    def v2(self) -> DataPageHeaderV2 | None:
        """The header of a data page of version 2; ``None`` for other pages, or if it is missing."""
        header = self.header
        return header.data_page_header_v2 if header.type == PageType.DATA_PAGE_V2 else None

    @property
    def own_header(self) -> DataPageHeader | DataPageHeaderV2 | DictionaryPageHeader | None:
        """The header of its type; ``None`` if it is missing, or the type is unknown."""
        header = self.header
        kind = header.type
        if kind == PageType.DATA_PAGE:
            return header.data_page_header
        if kind == PageType.DATA_PAGE_V2:
            return header.data_page_header_v2
        return header.dictionary_page_header if kind == PageType.DICTIONARY_PAGE else None

    @property
    def data_header(self) -> DataPageHeader | DataPageHeaderV2:
        """The header of a data page. Raises PQF-053 if it is missing."""
        found = self.own_header
        if found is None or isinstance(found, DictionaryPageHeader):
            raise Malformed("a page without the header of its type", rule="PQF-053", offset=self.offset)
        return found


DATA_PAGES = (PageType.DATA_PAGE, PageType.DATA_PAGE_V2)
"""Types of pages that hold values of the column."""

HEADERS: dict[int, str] = {
    PageType.DATA_PAGE: "data_page_header",
    PageType.INDEX_PAGE: "index_page_header",
    PageType.DICTIONARY_PAGE: "dictionary_page_header",
    PageType.DATA_PAGE_V2: "data_page_header_v2",
}
"""The page header field for each page type."""


def page_at(pages: Iterable[PageUnderTest], offset: int) -> str | None:
    """The page at an offset, described for messages; ``None`` if there is none."""
    page = next((page for page in pages if page.offset == offset), None)
    if page is None:
        return None
    if page.is_data:
        return "a data page is"
    return "the dictionary page is" if page.is_dictionary else "another page is"


def overlapping_chunks(file: FileUnderTest) -> frozenset[str]:
    """The fields ``data_page_offset`` of the column chunks that share bytes with another.

    Only the other chunks are walked. Otherwise, thousands of records with one range would be walked thousands of times.
    """
    chunks = (given for given in file.ranges if given.kind == "column chunk")
    return frozenset(given.field for both in overlaps(chunks) for given in both)


def chunk_range(file: FileUnderTest, chunk: ColumnChunk, path: str) -> tuple[int, int]:
    """The range of the pages of a chunk, from its start to its end; empty for a chunk without a page.

    Args:
        file: The file.
        chunk: The footer's record of the chunk.
        path: Its path, ``row_groups[0].columns[1]``.

    Raises:
        Malformed: PQF-008, the range is not in the body; PQF-009, it overlaps another chunk.
    """
    start, facts = chunk_start(chunk), chunk.meta_data
    field = f"footer.{path}.meta_data.data_page_offset"
    if facts is None or start is None:
        return 0, 0
    if (stray := f"footer.{path}.meta_data.dictionary_page_offset") in file.stray_offsets:
        raise Malformed("the dictionary page lies outside the body", rule="PQF-008", field=stray)
    end = start + facts.total_compressed_size
    framing = file.framing
    if not framing.body_start <= start <= end <= framing.footer_start:
        raise Malformed("the chunk lies outside the body", rule="PQF-008", field=field)
    if field in file.part(overlapping_chunks):
        raise Malformed("the chunk overlaps another chunk", rule="PQF-009", field=field)
    return start, end


def walk(source: Source, start: int, end: int, path: str, num_values: int) -> list[PageUnderTest]:
    """Find the pages between two offsets; arguments and errors are those of `each_page`."""
    with collector_paused():
        return list(each_page(source, start, end, path, num_values))


def each_page(source: Source, start: int, end: int, path: str, num_values: int) -> Iterator[PageUnderTest]:
    """Yield the pages between two offsets, one by one.

    Args:
        source: The file.
        start, end: The range of the chunk in the file.
        path: Its path, for messages.
        num_values: The number of values in the footer; once the pages have as many, the following bytes are not a page.

    Raises:
        Malformed: PQF-050, a page header is missing; PQF-051, the pages do not end with the chunk; PQF-058, a page has a negative size.
        NotChecked: There are more than `MOST_PAGES`.
    """
    reader = _Headers(source, start, end)
    number, values, position = 0, 0, start
    while position < end:
        if number >= MOST_PAGES:
            raise NotChecked(f"a column chunk has more than {MOST_PAGES:,} pages", "tool")
        try:
            header, length = reader.at(position)
        except FormatError:
            complete = number > 0 and values >= num_values
            raise _no_header(source, position, end, f"{path}.pages[{number}].header", complete) from None
        size = header.compressed_page_size
        if size < 0 or position + length + size > end:
            raise _no_page(position, length, size, end, f"{path}.pages[{number}].header")
        page = PageUnderTest(number, position, header, length)
        yield page
        number += 1
        position += length + size
        if page.is_data and (own := page.own_header) is not None:
            values += own.num_values


def _no_page(position: int, length: int, size: int, end: int, path: str) -> Malformed:
    """The error of a header whose body cannot fit."""
    field = f"{path}.compressed_page_size"
    left = end - position - length
    if size < 0:
        return Malformed(
            f"a page has {size} bytes", rule="PQF-058", field=field, expected="at least 0", actual=str(size)
        )
    what = f"only {left} bytes are left in the chunk" if left >= 0 else "the chunk ends in its header"
    return Malformed(
        f"a page has {size} bytes, but {what}",
        rule="PQF-051",
        field=field,
        offset=position,
        length=length,
        expected=f"at most {max(left, 0)} bytes",
        actual=f"{size} bytes",
    )


def _no_header(source: Source, position: int, end: int, path: str, complete: bool) -> Malformed:
    """The error of a missing header, with its place."""
    raw = source.read(position, min(end - position, LONGEST_HEADER))
    if complete:
        return Malformed(
            f"the chunk continues after its last page: {end - position} of its bytes are not a page",
            rule="PQF-051",
            field=path.rpartition(".pages[")[0],
            offset=position,
            length=end - position,
            expected="pages up to the end of the chunk",
            actual=f"bytes {raw[:8].hex(' ')}",
        )
    try:
        decode(PageHeader, raw, root=path, base=position, rule="PQF-050")
    except Malformed as error:
        return error
    return Malformed("no page header", rule="PQF-050", field=path, offset=position)


class _Strides:
    """The lengths of the reads that find the headers of a chunk, in order."""

    def __init__(self, stride: _Stride) -> None:
        self._stride = stride
        self._length = stride.first

    def next(self, skipped: int) -> int:
        """The number of bytes to read for a header that begins ``skipped`` bytes after the previous read."""
        near = skipped <= self._stride.read_over
        self._length = min(2 * self._length, self._stride.most) if near else self._stride.first
        return self._length


def header_reads(start: int, end: int, pages: int) -> Iterator[tuple[int, int]]:
    """Predict the offsets and lengths of the reads that walk a chunk in a store, if all pages have the same size."""
    strides, end_read = _Strides(REMOTE), start
    for number in range(pages):
        position = start + (end - start) * number // pages
        if position >= end_read:
            length = min(strides.next(position - end_read), end - position)
            yield position, length
            end_read = position + length


class _Headers:
    """Reads page headers of one chunk in order."""

    def __init__(self, source: Source, start: int, end: int) -> None:
        self._source, self._end = source, end
        self._stride = LOCAL if is_near(source) else REMOTE
        self._strides = _Strides(self._stride)
        self._read = decoder(PageHeader)
        self._start, self._window = start, b""

    def at(self, position: int) -> tuple[PageHeader, int]:
        """The header at an offset and its length. Raises `Malformed`."""
        local = position - self._start
        window = self._window
        if local >= len(window):
            window = self._fetch(position, self._strides.next(local - len(window)))
            local = 0
        while True:
            try:
                with boundary():
                    header, after = self._read(window, local, len(window))
                return header, after - local
            except FormatError:
                # The window may end inside the header.
                length = 2 * max(len(window) - local, self._stride.first)
                if self._start + len(window) >= self._end or length > 2 * LONGEST_HEADER:
                    raise
                window = self._fetch(position, length)
                local = 0

    def _fetch(self, position: int, length: int) -> bytes:
        self._start = position
        self._window = self._source.read(position, min(length, self._end - position))
        return self._window


def bodies(source: Source, pages: list[PageUnderTest]) -> Iterator[tuple[PageUnderTest, memoryview]]:
    """Yield pages with their stored bodies; each body is valid until the next is requested.

    Short bodies are read together, up to `BATCH` bytes at once.
    """
    first = 0
    while first < len(pages):
        start = pages[first].offset
        last = first
        while (
            last + 1 < len(pages) and pages[last + 1].offset + pages[last + 1].stored_length - start <= BATCH
        ):
            last += 1
        end = pages[last].offset + pages[last].stored_length
        view = memoryview(source.read(start, end - start))
        for page in pages[first : last + 1]:
            begin = page.body_start - start
            yield page, view[begin : begin + page.header.compressed_page_size]
        first = last + 1
