"""Checks of the bodies of pages: their sizes, their levels, and where their values end, tier ``values``.

Most rules are about one kind of decoding fault: each turns such a fault into a violation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import NamedTuple

from pqassay.checks import rule
from pqassay.checks.subjects import CHUNK, PAGES, SECOND_VERSION
from pqassay.checks.surveys import counts_of, survey_of
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.fields import in_footer
from pqassay.under_test.file import NotApplicable
from pqassay.under_test.pages.walk import PageUnderTest, bodies
from pqassay.under_test.violation import Violation, name_in
from pqassay.values.decoding.crc import crc_fault
from pqassay.values.decoding.faults import FaultKind, PageFault
from pqassay_spec.parquet.thrift import DICTIONARY_ENCODINGS, CompressionCodec, Encoding, Type


class At(NamedTuple):
    """A fault of a page of a column chunk; numbers and words are as in `PageFault`."""

    chunk: ColumnChunkUnderTest
    page: PageUnderTest
    expected: int
    actual: int
    place: int
    words: tuple[str, ...]

    def body(self, message: str, expected: str, actual: str) -> Violation:
        """The violation at the body of the page."""
        return Violation(message, self.chunk.fields.body(self.page), expected, actual)

    def other_length(self, what: str) -> Violation:
        """The violation at the type_length of the schema."""
        length = self.chunk.leaf.element.type_length
        message = f"{what} of {self.chunk.column} and a bound take {self.actual} bytes each, and its type_length is {length}"
        return Violation(message, self.chunk.fields.element / "type_length", str(self.actual), str(length))


Only = Callable[[ColumnChunkUnderTest], bool]
"""Whether a rule applies to a chunk with pages."""


def _about(
    rule_id: str, *kinds: FaultKind, only: Only | None = None
) -> Callable[[Callable[[At], Violation]], Callable[[At], Violation]]:
    """Declare the rule about some kinds of faults, as a function from a fault to its violation."""

    def register(violation: Callable[[At], Violation]) -> Callable[[At], Violation]:
        @rule(rule_id, of=PAGES, only=only, faults=kinds)
        @wraps(violation)
        def test(chunk: ColumnChunkUnderTest) -> list[Violation]:
            survey = survey_of(chunk)
            hindrance = survey.uncounted if FaultKind.BAD_LEVELS in kinds else survey.unread
            places = [At(chunk, page, *fault[1:]) for page, fault in survey.faults if fault.kind in kinds]
            if not places and hindrance is not None:
                raise hindrance
            return list({(str(each.field), each.message): each for each in map(violation, places)}.values())

        return violation

    return register


def _encoded_by(*encodings: Encoding) -> Only:
    return lambda chunk: any(page.data_header.encoding in encodings for page in chunk.data_pages)


_has_indexes = _encoded_by(*DICTIONARY_ENCODINGS)
_has_indexes_or_booleans = _encoded_by(*DICTIONARY_ENCODINGS, Encoding.RLE)
_has_differences = _encoded_by(
    Encoding.DELTA_BINARY_PACKED, Encoding.DELTA_LENGTH_BYTE_ARRAY, Encoding.DELTA_BYTE_ARRAY
)


def _has_levels(chunk: ColumnChunkUnderTest) -> bool:
    return bool(chunk.data_pages) and (chunk.leaf.max_definition_level or chunk.leaf.max_repetition_level) > 0


def _may_have_levels(chunk: ColumnChunkUnderTest) -> bool:
    if _has_levels(chunk):
        return True
    return any(fault.kind is FaultKind.STRAY_LEVELS for _, fault in survey_of(chunk).faults)


def _has_lists(chunk: ColumnChunkUnderTest) -> bool:
    return bool(chunk.data_pages) and chunk.leaf.max_repetition_level > 0


def _has_runs(chunk: ColumnChunkUnderTest) -> bool:
    """Whether levels, indexes or booleans are run-length encoded."""
    return _has_levels(chunk) or (bool(chunk.data_pages) and _has_indexes_or_booleans(chunk))


def _has_dictionary(chunk: ColumnChunkUnderTest) -> bool:
    return bool(chunk.dictionary_pages)


def _has_sorted_dictionary(chunk: ColumnChunkUnderTest) -> bool:
    return any(
        header.is_sorted
        for page in chunk.dictionary_pages
        if (header := page.header.dictionary_page_header) is not None
    )


# ------------------------------------------------------------------------------------------- whole pages


@rule("PQF-063", of=PAGES, faults=(FaultKind.WRONG_CRC,))
def crcs_are_right(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Bodies are checked if a caller reads them; tier ``values`` always does."""
    with_crc = [page for page in chunk.pages if page.header.crc is not None]
    if not with_crc:
        raise NotApplicable
    if chunk.file.options.reaches("values"):
        places: Iterable[tuple[PageUnderTest, PageFault | None]] = survey_of(chunk).faults
    else:
        places = ((page, crc_fault(page, body)) for page, body in bodies(chunk.file.source, with_crc))
    for page, fault in places:
        if fault is not None and fault.kind is FaultKind.WRONG_CRC:
            message = f"page {page.number} is damaged, or its CRC is wrong"
            field = chunk.fields.page(page) / "crc"
            yield Violation(message, field, f"0x{fault.expected:08x}", f"0x{fault.actual:08x}")


@_about("PQF-070", FaultKind.WRONG_SIZE)
def pages_have_their_uncompressed_size(at: At) -> Violation:
    """Readers allocate this many bytes, for dictionary pages too. If another codec fits all pages, the footer names the wrong codec."""
    from pqassay.values.decoding.codecs import codec_of_pages  # noqa: PLC0415 - pyarrow, at this tier only

    message, expected, actual = at.words
    if (codec := at.chunk.part(codec_of_pages)) is not None:
        named = name_in(CompressionCodec, at.chunk.facts.codec, str(at.chunk.facts.codec))
        message = f"the pages of {at.chunk} are compressed by {codec.name}, and its codec is {named}"
        return Violation(message, at.chunk.fields.facts / "codec", codec.name, named)
    return Violation(message, at.chunk.fields.page(at.page) / "uncompressed_page_size", expected, actual)


@_about("PQF-161", FaultKind.SEVERAL_MEMBERS, only=lambda chunk: chunk.facts.codec == CompressionCodec.GZIP)
def gzip_has_one_member(at: At) -> Violation:
    """Older readers stop after the first member."""
    message = f"page {at.page.number} is compressed by GZIP in {at.actual} members"
    return at.body(message, "one member", f"{at.actual} members")


@_about("PQF-162", FaultKind.OTHER_FRAMING, only=lambda chunk: chunk.facts.codec == CompressionCodec.LZ4)
def lz4_has_the_framing_of_hadoop(at: At) -> Violation:
    """Readers differ in which other framings they support."""
    [what] = at.words
    message = f"page {at.page.number} is compressed by LZ4, and is {what} without the framing of Hadoop"
    return at.body(message, "blocks behind their two lengths", what)


# ------------------------------------------------------------------------------------------------ levels


@_about("PQF-071", FaultKind.BAD_LEVELS, FaultKind.STRAY_LEVELS, only=_may_have_levels)
def levels_are_complete(at: At) -> Violation:
    """Without all levels, the row of a value is unknown."""
    if at.words:
        return at.body(*at.words)
    if at.actual:
        message = f"page {at.page.number} is levels and values without the repetition levels of its header"
        field = at.chunk.fields.own_header(at.page) / "repetition_levels_byte_length"
        return Violation(message, field, "0", str(at.actual))
    message = f"page {at.page.number} has definition levels, and column {at.chunk.column} is required"
    return Violation(message, at.chunk.fields.element / "repetition_type", "OPTIONAL", "REQUIRED")


@_about("PQF-154", FaultKind.LEVELS_RUN_ON, only=_has_levels)
def nothing_follows_the_levels(at: At) -> Violation:
    """A reader that decodes all runs gets more levels than values."""
    message = f"{at.actual - at.expected} bytes of further runs follow the levels of page {at.page.number}"
    return at.body(message, f"{at.expected} bytes of levels", f"{at.actual} bytes")


@_about("PQF-140", FaultKind.STRAY_ENTRY, only=_has_lists)
def entries_go_on_with_lists_that_are_there(at: At) -> Violation:
    """Readers build different lists from such an entry, or refuse the column."""
    message = f"entry {at.place} of page {at.page.number} continues a list that is null, empty or not begun"
    expected = f"definition levels of at least {at.expected}, before it and there"
    [before] = at.words
    return at.body(message, expected, f"{before} and {at.actual}")


@_about("PQF-141", FaultKind.CUT_RUN, only=_has_runs)
def runs_hold_the_groups_that_they_count(at: At) -> Violation:
    """Some readers decode a whole run before they check how many values they need."""
    lacking = f"{at.actual} byte{'s' * (at.actual > 1)}"
    message = f"the last run of {at.words[0]} in page {at.page.number} lacks {lacking}"
    return at.body(message, "all bytes of the groups that the header of the run counts", f"{lacking} fewer")


@_about("PQF-157", FaultKind.WIDE_RUN, only=_has_indexes_or_booleans)
def repeated_values_are_as_narrow_as_said(at: At) -> Violation:
    """Some readers take a boolean that is 2 for true, others for false. PQF-071 reports such levels."""
    bits = f"{at.expected} bit{'s' * (at.expected > 1)}"
    message = f"a run of {at.words[0]} of {bits} in page {at.page.number} repeats {at.actual}"
    return at.body(message, f"a value of {bits}", str(at.actual))


@_about("PQF-158", FaultKind.EMPTY_RUN, only=_has_runs)
def runs_hold_values(at: At) -> Violation:
    """Some readers take such a run for the end of all values."""
    runs = "a run" if at.actual == 1 else f"{at.actual} runs"
    message = f"{runs} among the {at.words[0]} of page {at.page.number} hold{'s' * (at.actual == 1)} no value"
    return at.body(message, "at least one value in each run", "none")


@rule("PQF-072", of=SECOND_VERSION)
def nulls_of_pages_are_counted(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Only pages of version 2 count nulls; PQF-064 judges impossible counts."""
    headers = chunk.second_version
    nulls = counts_of(chunk).nulls
    for number, header in headers:
        counted = int(nulls[number])
        if header.num_nulls != counted and 0 <= header.num_nulls <= header.num_values:
            message = f"a page holds {counted} nulls, but its header says {header.num_nulls}"
            field = chunk.fields.own_header(chunk.data_pages[number]) / "num_nulls"
            yield Violation(message, field, str(counted), str(header.num_nulls))


@rule("PQF-073", of=SECOND_VERSION)
def rows_of_pages_are_counted(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Only pages of version 2 count rows."""
    headers = chunk.second_version
    counts = counts_of(chunk)
    for number, header in headers:
        rows = int(counts.rows[number])
        if not counts.starts_with_row[number]:
            message = "a page of version 2 begins within a row"
            field = chunk.fields.body(chunk.data_pages[number])
            yield Violation(message, field, "a repetition level of 0 first", "a greater one")
        if header.num_rows != rows and header.num_rows >= 0:
            message = f"{rows} rows begin in a page, but its header says {header.num_rows}"
            field = chunk.fields.own_header(chunk.data_pages[number]) / "num_rows"
            yield Violation(message, field, str(rows), str(header.num_rows))


@rule("PQF-074", of=CHUNK)
def rows_of_the_row_group_are_counted(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """The sum over all pages of a chunk."""
    if not chunk.data_pages and not chunk.group.num_rows:
        raise NotApplicable
    rows = int(counts_of(chunk).rows.sum())
    if rows != chunk.group.num_rows:
        message = f"{rows} rows begin in the pages, but the row group has {chunk.group.num_rows}"
        field = in_footer(chunk.file, f"row_groups[{chunk.row_group}].num_rows")
        yield Violation(message, field, str(rows), str(chunk.group.num_rows))


# ------------------------------------------------------------------------------------------------ values


@_about("PQF-076", FaultKind.VALUES_RUN_ON)
def nothing_follows_the_values(at: At) -> Violation:
    """Judged if the end of the values is known without decoding them; for byte arrays, only if a chunk has no other claims."""
    expected = f"{at.expected} bytes"
    return at.body(
        f"page {at.page.number} continues after its values, of {expected}", expected, f"{at.actual} bytes"
    )


@_about("PQF-077", FaultKind.INDEX_BEYOND, only=_has_indexes)
def indexes_lie_in_the_dictionary(at: At) -> Violation:
    """An index beyond the dictionary has no value; some readers read beyond the memory of the dictionary."""
    if not at.chunk.dictionary_pages:
        return at.body("indexes without a dictionary", "", "no dictionary page")
    message = f"index {at.actual} into a dictionary of {at.expected} entries"
    return at.body(message, f"at most {at.expected - 1}", str(at.actual))


@_about("PQF-160", FaultKind.NO_BIT_WIDTH, only=_has_indexes)
def indexes_have_a_bit_width_even_if_there_are_none(at: At) -> Violation:
    """Most readers read the bit width before they check the number of indexes."""
    message = f"page {at.page.number} of indexes has neither values nor a bit width"
    return at.body(message, "a byte with a bit width", "0 bytes")


@_about("PQF-078", FaultKind.MISSING_VALUES, FaultKind.WIDER_VALUES)
def values_are_complete(at: At) -> Violation:
    """The encoding determines how many bytes the values need."""
    return at.body(*at.words) if at.words else at.other_length("values")


@_about("PQF-079", FaultKind.WIDE_DIFFERENCES, only=_has_differences)
def differences_fit_the_type(at: At) -> Violation:
    """Differences wrap around; if they have more bits than a value, readers decode different values."""
    bits = f"{at.actual or 'more than 64'} bits"
    message = f"{at.words[0]} of {bits} among numbers of {at.expected}"
    return at.body(message, f"at most {at.expected} bits", bits)


@_about("PQF-089", FaultKind.LONG_STREAMS, only=_encoded_by(Encoding.BYTE_STREAM_SPLIT))
def streams_are_of_one_length(at: At) -> Violation:
    """Readers compute the start of each stream from the number of bytes."""
    values = f"{at.place} values split into streams, which take {at.expected}"
    message = f"the page has {at.actual} bytes for {values}"
    return at.body(message, f"{at.expected} bytes of values", f"{at.actual} bytes")


@_about("PQF-090", FaultKind.BAD_BLOCKS, only=_has_differences)
def blocks_have_a_size_of_the_encoding(at: At) -> Violation:
    """Readers unpack miniblocks in words of 32 values."""
    return at.body(*at.words)


@_about("PQF-091", FaultKind.WRONG_TOTAL, only=_has_differences)
def differences_are_counted(at: At) -> Violation:
    """The data that follow begin where the last difference ends."""
    message = f"the delta header counts {at.actual} values, but the page has {at.expected}"
    return at.body(message, f"{at.expected} values", f"{at.actual} values")


@_about("PQF-092", FaultKind.SHORT_MINIBLOCK, only=_has_differences)
def the_last_miniblock_is_whole(at: At) -> Violation:
    """Readers unpack it whole, before they check the number of values."""
    message = f"the last miniblock is short of {at.expected - at.actual} bytes"
    return at.body(message, f"{at.expected} bytes of differences", f"{at.actual} bytes")


# ------------------------------------------------------------------------------------------ dictionaries


@_about("PQF-086", FaultKind.MISSING_ENTRIES, FaultKind.WIDER_ENTRIES, only=_has_dictionary)
def entries_are_complete(at: At) -> Violation:
    """Readers decode as many entries as the header states, before they read any page."""
    if not at.place:
        return at.other_length("entries")
    is_of_bytes = at.chunk.leaf.element.type == Type.BYTE_ARRAY
    which = "which do not all fit" if is_of_bytes else f"which take {at.expected}"
    message = f"the dictionary page has {at.actual} bytes for {at.place} entries, {which}"
    field = at.chunk.fields.own_header(at.page) / "num_values"
    return Violation(message, field, f"as many entries as {at.actual} bytes hold", f"{at.place} entries")


@_about("PQF-087", FaultKind.ENTRIES_RUN_ON, only=_has_dictionary)
def nothing_follows_the_entries(at: At) -> Violation:
    """An entry that is not counted does not exist."""
    expected = f"{at.expected} bytes"
    message = f"the dictionary page continues after its {at.place} entries, which take {expected}"
    return at.body(message, expected, f"{at.actual} bytes")


@_about("PQF-088", FaultKind.UNSORTED_ENTRY, only=_has_sorted_dictionary)
def entries_ascend_where_it_is_said(at: At) -> Violation:
    """A reader that compares indexes instead of values relies on the order."""
    message = f"entry {at.place} of the dictionary is less than the one before, and is_sorted is true"
    field = at.chunk.fields.own_header(at.page) / "is_sorted"
    return Violation(message, field, "false, or no is_sorted", "true")
