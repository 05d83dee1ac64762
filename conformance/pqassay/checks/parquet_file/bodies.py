"""Checks of the bodies of pages: their sizes, their levels, and where their values end, tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.by_values import by_survey, counts_of, survey_of
from pqassay.checks.subjects import CHUNK, DATA_PAGES, PAGES, SECOND_VERSION
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.fields import in_footer
from pqassay.under_test.file import NotApplicable
from pqassay.under_test.violation import Violation
from pqassay.values.decoding.crc import crc_violations
from pqassay_spec.parquet.thrift import DICTIONARY_ENCODINGS, Encoding


def _is_encoded_by(chunk: ColumnChunkUnderTest, *encodings: Encoding) -> bool:
    return any(page.data_header.encoding in encodings for page in chunk.data_pages)


@rule("PQF-063", of=PAGES)
def crcs_are_right(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Whoever runs this wants the bodies read; at tier ``values`` they are read anyhow."""
    if all(page.header.crc is None for page in chunk.pages):
        raise NotApplicable
    if chunk.file.options.reaches("values"):
        yield from survey_of(chunk).violations.get("PQF-063", ())
    else:
        yield from crc_violations(chunk)


@by_survey("PQF-070", "decoding.codecs.decompressed")
def pages_have_their_uncompressed_size() -> None:
    """Readers make room for so many bytes, of dictionary pages as well."""


def _has_levels(chunk: ColumnChunkUnderTest) -> bool:
    return bool(chunk.data_pages) and (chunk.leaf.max_definition_level or chunk.leaf.max_repetition_level) > 0


@rule("PQF-071", of=DATA_PAGES, only=_has_levels, decided_by="decoding.survey._levels")
def levels_are_complete(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Without all of them, nobody can tell to which row a value belongs."""
    survey = survey_of(chunk)
    found = survey.violations.get("PQF-071", ())
    yield from found
    if not found and survey.problem is not None:
        raise survey.problem


@by_survey("PQF-154", "decoding.survey._Surveyor._levels", only=_has_levels)
def nothing_follows_the_levels() -> None:
    """A reader that decodes all runs has more levels than values."""


def _has_lists(chunk: ColumnChunkUnderTest) -> bool:
    return bool(chunk.data_pages) and chunk.leaf.max_repetition_level > 0


@by_survey("PQF-140", "decoding.list_levels.ListLevels.first_stray", only=_has_lists)
def entries_go_on_with_lists_that_are_there() -> None:
    """Readers make different lists of such an entry, or refuse the column."""


def _has_runs(chunk: ColumnChunkUnderTest) -> bool:
    """Whether levels, indexes or booleans are written in runs."""
    return _has_levels(chunk) or (
        bool(chunk.data_pages) and _is_encoded_by(chunk, *DICTIONARY_ENCODINGS, Encoding.RLE)
    )


@by_survey("PQF-141", "decoding.levels.read_runs", only=_has_runs)
def runs_hold_the_groups_that_they_count() -> None:
    """Some readers decode a run as a whole, before they look at how many values are wanted."""


@rule("PQF-072", of=SECOND_VERSION)
def nulls_of_pages_are_counted(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Only pages of version 2 count nulls; what no count can be is the matter of PQF-064."""
    headers = chunk.second_version
    nulls = counts_of(chunk).nulls
    for number, header in headers:
        counted = int(nulls[number])
        if header.num_nulls != counted and 0 <= header.num_nulls <= header.num_values:
            said = f"a page holds {counted} nulls, and its header says {header.num_nulls}"
            field = chunk.fields.own_header(chunk.data_pages[number]) / "num_nulls"
            yield Violation(said, field, str(counted), str(header.num_nulls))


@rule("PQF-073", of=SECOND_VERSION)
def rows_of_pages_are_counted(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Only pages of version 2 count rows."""
    headers = chunk.second_version
    counts = counts_of(chunk)
    for number, header in headers:
        rows = int(counts.rows[number])
        if not counts.starts_with_row[number]:
            said = "a page of version 2 begins within a row"
            field = chunk.fields.body(chunk.data_pages[number])
            yield Violation(said, field, "a repetition level of 0 first", "a greater one")
        if header.num_rows != rows and header.num_rows >= 0:
            said = f"{rows} rows begin in a page, and its header says {header.num_rows}"
            field = chunk.fields.own_header(chunk.data_pages[number]) / "num_rows"
            yield Violation(said, field, str(rows), str(header.num_rows))


@rule("PQF-074", of=CHUNK)
def rows_of_the_row_group_are_counted(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Over all pages of a chunk."""
    if not chunk.data_pages and not chunk.group.num_rows:
        raise NotApplicable
    rows = int(counts_of(chunk).rows.sum())
    if rows != chunk.group.num_rows:
        said = f"{rows} rows begin in the pages, and the row group has {chunk.group.num_rows}"
        field = in_footer(chunk.file, f"row_groups[{chunk.row_group}].num_rows")
        yield Violation(said, field, str(rows), str(chunk.group.num_rows))


@by_survey("PQF-076", "decoding.survey._Surveyor._excess")
def nothing_follows_the_values() -> None:
    """Where the end of the values is known without decoding them: that of byte arrays is, in chunks of which nothing else is said."""


@by_survey(
    "PQF-077",
    "decoding.page_values._indexes",
    only=lambda chunk: _is_encoded_by(chunk, *DICTIONARY_ENCODINGS),
)
def indexes_lie_in_the_dictionary() -> None:
    """An index beyond its end means no value; some readers read beyond the memory of the dictionary."""


@by_survey("PQF-078", "decoding.page_values.taken")
def values_are_complete() -> None:
    """By their encoding, whichever it is."""


@by_survey(
    "PQF-079",
    "decoding.page_values._differences",
    only=lambda chunk: _is_encoded_by(chunk, Encoding.DELTA_BINARY_PACKED),
)
def differences_fit_the_type() -> None:
    """Differences wrap around; with more bits than a value has, readers come to different values."""


def _has_dictionary(chunk: ColumnChunkUnderTest) -> bool:
    return bool(chunk.dictionary_pages)


@by_survey("PQF-086", "decoding.dictionary_pages.entry_violations", only=_has_dictionary)
def entries_are_complete() -> None:
    """Readers decode as many entries as the header says, before they look at any page."""


@by_survey("PQF-087", "decoding.dictionary_pages.entry_violations", only=_has_dictionary)
def nothing_follows_the_entries() -> None:
    """An entry that is not counted is none."""


def _is_sorted(chunk: ColumnChunkUnderTest) -> bool:
    return any(
        header.is_sorted
        for page in chunk.dictionary_pages
        if (header := page.header.dictionary_page_header) is not None
    )


@by_survey("PQF-088", "decoding.dictionary_pages._order", only=_is_sorted)
def entries_ascend_where_it_is_said() -> None:
    """Who compares indexes instead of values trusts it."""


@by_survey(
    "PQF-089",
    "decoding.page_values._of_one_width",
    only=lambda chunk: _is_encoded_by(chunk, Encoding.BYTE_STREAM_SPLIT),
)
def streams_are_of_one_length() -> None:
    """Where each stream begins, readers reckon from the bytes that there are."""


def _has_differences(chunk: ColumnChunkUnderTest) -> bool:
    return _is_encoded_by(
        chunk, Encoding.DELTA_BINARY_PACKED, Encoding.DELTA_LENGTH_BYTE_ARRAY, Encoding.DELTA_BYTE_ARRAY
    )


@by_survey("PQF-090", "decoding.page_values._header", only=_has_differences)
def blocks_have_a_size_of_the_encoding() -> None:
    """Readers unpack miniblocks in words of 32 values."""


@by_survey("PQF-091", "decoding.page_values._header", only=_has_differences)
def differences_are_counted() -> None:
    """What follows begins where the last of so many differences ends."""


@by_survey("PQF-092", "decoding.page_values._differences", only=_has_differences)
def the_last_miniblock_is_whole() -> None:
    """Readers unpack it whole, and look at the values afterwards."""
