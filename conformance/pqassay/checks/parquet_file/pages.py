"""Checks of the pages of column chunks by their headers, tier ``pages``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from pqassay.checks import rule
from pqassay.checks.subjects import CHUNK, DATA_PAGES, DICTIONARY_PAGES, PAGES, SECOND_VERSION
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.fields import Field
from pqassay.under_test.file import Broken, NotApplicable
from pqassay.under_test.pages.walk import DATA_PAGES as DATA_PAGE_TYPES
from pqassay.under_test.pages.walk import HEADERS, page_at
from pqassay.under_test.violation import Violation, name_in
from pqassay.values.decoding.faults import FaultKind
from pqassay_spec.parquet.encoding.names import ENCODINGS, ENTRY_ENCODINGS, encodes, for_type
from pqassay_spec.parquet.thrift import DICTIONARY_ENCODINGS, Encoding, PageType

OF_NO_ENTRIES = ENCODINGS.difference(ENTRY_ENCODINGS)
"""Encodings that dictionary entries cannot have."""


@rule("PQF-050", of=PAGES)
@rule("PQF-051", of=PAGES)
def pages_fill_their_chunk(chunk: ColumnChunkUnderTest) -> None:
    """Walking from header to header raises the violation."""
    _ = chunk.pages


@rule("PQF-052", of=PAGES)
def uncompressed_sizes_add_up(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Headers are never compressed, so they count with the same size in both sums."""
    pages = chunk.pages
    _require_counts(page.header.uncompressed_page_size for page in pages)
    total = sum(page.header_length + page.header.uncompressed_page_size for page in pages)
    if total != chunk.facts.total_uncompressed_size:
        said = "the total size of the uncompressed pages differs"
        yield _of_footer(chunk, "total_uncompressed_size", said, total, chunk.facts.total_uncompressed_size)


@rule("PQF-053", of=PAGES)
def pages_have_the_header_of_their_type(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """The header of an unknown page type is unknown; only other headers are wrong."""
    for page in chunk.pages:
        header = page.header
        header_count = (
            (header.data_page_header is not None)
            + (header.index_page_header is not None)
            + (header.dictionary_page_header is not None)
            + (header.data_page_header_v2 is not None)
        )
        own = HEADERS.get(header.type)
        if header_count == (own is not None) and (own is None or getattr(header, own) is not None):
            continue
        names = [name for name in HEADERS.values() if getattr(header, name) is not None]
        said = (
            f"page {page.number}, of type {name_in(PageType, header.type, str(header.type))}, holds "
            f"{' and '.join(names) or 'no header of a type'}"
        )
        field = chunk.fields.page(page) / "type"
        yield Violation(said, field, own or "a known header", ", ".join(names) or "none")


@rule("PQF-054", of=PAGES)
def the_dictionary_comes_first(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """There is at most one dictionary page, before all other pages."""
    for page in chunk.pages[1:]:
        if page.is_dictionary:
            said = f"page {page.number} is a dictionary page"
            field = chunk.fields.page(page) / "type"
            yield Violation(
                said, field, "a dictionary page only as the first page", f"DICTIONARY_PAGE at {page.number}"
            )


@rule("PQF-055", of=DATA_PAGES)
def data_pages_begin_where_they_should(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """The offset points to the first data page. A chunk without data pages has nothing to point to."""
    first = chunk.data_pages[0].offset
    if chunk.facts.data_page_offset != first:
        said = (
            f"{page_at(chunk.pages, chunk.facts.data_page_offset) or 'no page begins'} at "
            f"data_page_offset, but the first data page begins at {first}"
        )
        yield _of_footer(chunk, "data_page_offset", said, first, chunk.facts.data_page_offset)


@rule("PQF-056", of=PAGES)
def the_dictionary_is_where_it_should_be(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Old writers store an offset of 0 for "no dictionary page"."""
    listed = chunk.facts.dictionary_page_offset or None
    offset = next((page.offset for page in chunk.pages if page.is_dictionary), None)
    if listed is None and offset is None:
        raise NotApplicable
    if listed != offset:
        yield _of_footer(
            chunk,
            "dictionary_page_offset" if listed is not None else "",
            "the chunk has no dictionary page, but an offset for one"
            if offset is None
            else f"the dictionary page is at {offset}",
            "none" if offset is None else offset,
            "none" if listed is None else listed,
        )


@rule("PQF-057", of=CHUNK)
def values_add_up(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Nulls are included."""
    counts = [page.data_header.num_values for page in chunk.data_pages]
    _require_counts(counts)
    total = sum(counts)
    if total != chunk.facts.num_values:
        said = f"the data pages of the chunk hold {total} values"
        yield _of_footer(chunk, "num_values", said, total, chunk.facts.num_values)


@rule("PQF-058", of=PAGES, faults=(FaultKind.IMPOSSIBLE_SIZE,))
def no_count_is_negative(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Walking the pages raises the violation for the stored size; PQF-064 judges num_nulls."""
    for page in chunk.pages:
        header, own = page.header, page.own_header
        if header.uncompressed_page_size < 0:
            yield _negative(chunk.fields.page(page), "uncompressed_page_size", header.uncompressed_page_size)
        if own is None:
            continue
        field = chunk.fields.own_header(page)
        if own.num_values < 0:
            yield _negative(field, "num_values", own.num_values)
        if (v2 := page.v2) is None:
            continue
        levels = (v2.repetition_levels_byte_length, v2.definition_levels_byte_length)
        if v2.num_rows < 0:
            yield _negative(field, "num_rows", v2.num_rows)
        for name, length in zip(("repetition", "definition"), levels, strict=True):
            if length < 0:
                yield _negative(field, f"{name}_levels_byte_length", length)
        if min(levels) >= 0 and sum(levels) > header.compressed_page_size:
            yield _too_long(field, "compressed_page_size", sum(levels), header.compressed_page_size)
        elif min(levels) >= 0 and sum(levels) > header.uncompressed_page_size >= 0:
            yield _too_long(field, "uncompressed_page_size", sum(levels), header.uncompressed_page_size)


def _negative(header: Field, name: str, value: int) -> Violation:
    return Violation(f"{name} is {value}", header / name, "at least 0", str(value))


def _too_long(field: Field, name: str, levels: int, size: int) -> Violation:
    said = f"the levels take {levels} bytes of a page whose {name} is {size}"
    where = field / "definition_levels_byte_length"
    return Violation(said, where, f"levels of at most {size} bytes", f"{levels} bytes")


@rule("PQF-159", of=SECOND_VERSION)
def only_levels_take_bytes(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Readers skip this number of bytes without reading them; PQF-058 judges negative lengths."""
    leaf = chunk.leaf
    for number, header in chunk.second_version:
        for name, greatest, length in (
            ("repetition", leaf.max_repetition_level, header.repetition_levels_byte_length),
            ("definition", leaf.max_definition_level, header.definition_levels_byte_length),
        ):
            if length > 0 and not greatest:
                message = f"a page has {length} bytes of {name} levels, and its column has no such levels"
                field = chunk.fields.own_header(chunk.data_pages[number]) / f"{name}_levels_byte_length"
                yield Violation(message, field, "0", str(length))


@rule("PQF-059", of=SECOND_VERSION)
def rows_add_up(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Applies only to chunks whose data pages are all of version 2; version 1 does not count rows."""
    rows = [header.num_rows for _, header in chunk.second_version]
    if len(rows) != len(chunk.data_pages):
        raise NotApplicable
    _require_counts(rows)
    if sum(rows) != chunk.group.num_rows:
        last = chunk.data_pages[-1]
        said = f"{sum(rows)} rows in the pages, and {chunk.group.num_rows} in the row group"
        field = chunk.fields.own_header(last) / "num_rows"
        yield Violation(said, field, f"{chunk.group.num_rows} rows in all pages", f"{sum(rows)} rows")


@rule("PQF-060", of=PAGES)
def encodings_are_listed(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Not every writer lists the encodings of levels and of the dictionary. The two names of dictionary indexes are one encoding."""
    listed = {_merged(encoding) for encoding in chunk.facts.encodings}
    for page in chunk.data_pages:
        own = page.own_header
        if own is None or own.encoding in chunk.facts.encodings:
            continue
        encoding = _merged(own.encoding)
        if encoding not in listed:
            name = _encoding(own.encoding)
            said = f"page {page.number} is encoded by {name}"
            yield _of_footer(
                chunk, "encodings", said, name, ", ".join(map(_encoding, chunk.facts.encodings)) or "none"
            )
            listed.add(encoding)


@rule("PQF-061", of=PAGES, only=lambda chunk: bool(chunk.facts.encoding_stats))
def encodings_are_counted(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Data pages of both versions count as one type, since writers record them under either."""
    listed: Counter[tuple[int, int]] = Counter()
    for entry in chunk.facts.encoding_stats or ():
        listed[_merged_type(entry.page_type), entry.encoding] += entry.count
    counted: Counter[tuple[int, int]] = Counter()
    for page in chunk.pages:
        if page.is_data or page.is_dictionary:
            if (own := page.own_header) is None:
                raise Broken("PQF-053")
            counted[_merged_type(page.header.type), own.encoding] += 1
    known = {_merged_type(PageType.DATA_PAGE), int(PageType.DICTIONARY_PAGE)}
    if not any(page.header.type == PageType.INDEX_PAGE for page in chunk.pages):
        known.add(int(PageType.INDEX_PAGE))  # headers of these pages name no encoding
    listed = Counter({key: count for key, count in listed.items() if count and key[0] in known})
    if listed != counted:
        said = "encoding_stats do not match the pages of the chunk"
        yield _of_footer(chunk, "encoding_stats", said, _counted(counted), _counted(listed))


@rule("PQF-062", of=CHUNK, only=lambda chunk: bool(chunk.facts.num_values))
def data_pages_hold_something(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """A chunk without values may have an empty page."""
    for page in chunk.data_pages:
        own = page.own_header
        if own is not None and own.num_values == 0:
            said = f"data page {page.number} is empty"
            field = chunk.fields.own_header(page) / "num_values"
            yield Violation(said, field, "at least 1", "0")


@rule("PQF-064", of=SECOND_VERSION)
def nulls_are_no_more_than_values(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Only pages of version 2 count nulls."""
    for number, header in chunk.second_version:
        if not 0 <= header.num_nulls <= header.num_values:
            said = f"{header.num_nulls} nulls in a page of {header.num_values} values"
            field = chunk.fields.own_header(chunk.data_pages[number]) / "num_nulls"
            yield Violation(said, field, f"0 to {header.num_values}", str(header.num_nulls))


def _has_levels(chunk: ColumnChunkUnderTest) -> bool:
    return bool(chunk.leaf.max_definition_level or chunk.leaf.max_repetition_level)


@rule("PQF-080", of=DATA_PAGES, only=_has_levels, faults=(FaultKind.UNKNOWN_LEVEL_ENCODING,))
def levels_have_an_encoding_of_levels(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """The format does not define levels in other encodings."""
    for page, name, encoding in chunk.unusual_levels:
        if encoding != Encoding.BIT_PACKED and encoding in ENCODINGS:
            yield Violation(
                f"the {name} of page {page.number} is {_encoding(encoding)}",
                chunk.fields.page(page) / "data_page_header" / name,
                expected="RLE, or the deprecated BIT_PACKED",
                actual=_encoding(encoding),
            )


@rule("PQF-081", of=DATA_PAGES, only=_has_levels, faults=(FaultKind.BIT_PACKED_LEVELS,))
def levels_are_not_bit_packed(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Readers disagree on the bit order, or read a length that is not there."""
    for page, name, encoding in chunk.unusual_levels:
        if encoding == Encoding.BIT_PACKED:
            yield Violation(
                f"the {name} of page {page.number} is BIT_PACKED",
                chunk.fields.page(page) / "data_page_header" / name,
                expected="RLE",
                actual="BIT_PACKED",
            )


@rule("PQF-084", of=DATA_PAGES, faults=(FaultKind.UNSUITABLE_ENCODING,))
def values_have_an_encoding_of_their_type(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Unknown encoding numbers mean nothing, and readers support no other pairs of type and encoding."""
    kind = chunk.leaf.element.type
    for page in chunk.data_pages:
        own = page.own_header
        if own is not None and own.encoding in ENCODINGS and not encodes(own.encoding, kind):
            yield Violation(
                f"the values of page {page.number}, of type {chunk.leaf.physical_type}, are encoded by "
                f"{_encoding(own.encoding)}",
                chunk.fields.own_header(page) / "encoding",
                expected=for_type(kind),
                actual=_encoding(own.encoding),
            )


@rule("PQF-085", of=DICTIONARY_PAGES, faults=(FaultKind.UNSUITABLE_ENTRY_ENCODING,))
def entries_are_plain(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Both names of the encoding are allowed."""
    for page in chunk.pages:
        own = page.own_header
        if page.is_dictionary and own is not None and own.encoding in OF_NO_ENTRIES:
            yield Violation(
                f"the entries of the dictionary are encoded by {_encoding(own.encoding)}",
                chunk.fields.own_header(page) / "encoding",
                expected=" or ".join(encoding.name for encoding in ENTRY_ENCODINGS),
                actual=_encoding(own.encoding),
            )


# ------------------------------------------------------------------------------------------------- what they share


def _require_counts(counts: Iterable[int]) -> None:
    """Raise PQF-058 if a count is negative, since sums with it are meaningless."""
    if min(counts, default=0) < 0:
        raise Broken("PQF-058")


def _of_footer(
    chunk: ColumnChunkUnderTest, name: str, message: str, expected: object, actual: object
) -> Violation:
    return Violation(message, chunk.fields.facts / name, str(expected), str(actual))


def _encoding(number: int) -> str:
    return name_in(Encoding, number, str(number))


def _merged(encoding: int) -> int:
    """The encoding, with the two names of dictionary indexes merged into one."""
    return int(Encoding.RLE_DICTIONARY) if encoding in DICTIONARY_ENCODINGS else encoding


def _merged_type(number: int) -> int:
    return int(PageType.DATA_PAGE) if number in DATA_PAGE_TYPES else number


def _counted(counts: Counter[tuple[int, int]]) -> str:
    names = {PageType.DATA_PAGE: "data", PageType.INDEX_PAGE: "index", PageType.DICTIONARY_PAGE: "dictionary"}
    shown = [
        f"{count} {names[PageType(kind)]} {_encoding(encoding)}"
        for (kind, encoding), count in sorted(counts.items())
    ]
    return ", ".join(shown) or "no page"
