"""Checks of the bodies of pages: their sizes, their levels, and where their values end, tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pqassay.checks import rule
from pqassay.checks.subjects import CHUNK
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import NotApplicable
from pqassay.under_test.violation import Violation
from pqassay_spec.parquet.thrift import DICTIONARY_ENCODINGS, DataPageHeaderV2, Encoding

if TYPE_CHECKING:
    from pqassay.values.levels import PageCounts
    from pqassay.values.survey import Survey


def counts_of(chunk: ColumnChunkUnderTest) -> PageCounts:
    """The counts of a chunk's levels; see `pqassay.values.levels.counts_of`."""
    from pqassay.values import levels as page_levels  # noqa: PLC0415 - numpy, at this tier only

    return page_levels.counts_of(chunk)


def survey_of(chunk: ColumnChunkUnderTest) -> Survey:
    """What the bodies of a chunk's pages hold; see `pqassay.values.survey.survey`."""
    from pqassay.values.survey import survey  # noqa: PLC0415 - numpy and pyarrow, at this tier only

    return chunk.part(survey)


def _noted(chunk: ColumnChunkUnderTest, rule: str) -> Iterator[Violation]:
    """What the survey of a chunk noted for a rule; where it noted nothing, what it could not read."""
    if not chunk.pages:
        raise NotApplicable
    survey = survey_of(chunk)
    found = survey.violations.get(rule, ())
    yield from found
    if not found and survey.unread is not None:
        raise survey.unread


@rule("PQF-070", of=CHUNK)
def pages_have_their_uncompressed_size(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Dictionary pages as well."""
    yield from _noted(chunk, "PQF-070")


@rule("PQF-071", of=CHUNK)
def levels_are_complete(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Of columns that have levels."""
    if not chunk.data_pages or not (chunk.leaf.max_definition_level or chunk.leaf.max_repetition_level):
        raise NotApplicable
    survey = survey_of(chunk)
    found = survey.violations.get("PQF-071", ())
    yield from found
    if not found and survey.problem is not None:
        raise survey.problem


@rule("PQF-072", of=CHUNK)
def nulls_of_pages_are_counted(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Only pages of version 2 count nulls; what no count can be is the matter of PQF-064."""
    headers = _second_version(chunk)
    nulls = counts_of(chunk).nulls
    for number, header in headers:
        found = int(nulls[number])
        if header.num_nulls != found and 0 <= header.num_nulls <= header.num_values:
            yield Violation(
                f"a page holds {found} nulls, and its header says {header.num_nulls}",
                f"{_header(chunk, number)}.data_page_header_v2.num_nulls",
                expected=str(found),
                actual=str(header.num_nulls),
            )


@rule("PQF-073", of=CHUNK)
def rows_of_pages_are_counted(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Only pages of version 2 count rows."""
    headers = _second_version(chunk)
    counts = counts_of(chunk)
    for number, header in headers:
        found = int(counts.rows[number])
        if not counts.starts_with_row[number]:
            yield Violation(
                "a page of version 2 begins within a row",
                f"{_body(chunk, number)}",
                expected="a repetition level of 0 first",
                actual="a greater one",
            )
        if header.num_rows != found and header.num_rows >= 0:
            yield Violation(
                f"{found} rows begin in a page, and its header says {header.num_rows}",
                f"{_header(chunk, number)}.data_page_header_v2.num_rows",
                expected=str(found),
                actual=str(header.num_rows),
            )


@rule("PQF-074", of=CHUNK)
def rows_of_the_row_group_are_counted(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Over all pages of a chunk."""
    if not chunk.data_pages and not chunk.group.num_rows:
        raise NotApplicable
    found = int(counts_of(chunk).rows.sum())
    if found != chunk.group.num_rows:
        yield Violation(
            f"{found} rows begin in the pages, and the row group has {chunk.group.num_rows}",
            f"footer.row_groups[{chunk.row_group}].num_rows",
            expected=str(found),
            actual=str(chunk.group.num_rows),
        )


@rule("PQF-076", of=CHUNK)
def nothing_follows_the_values(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Where values are of one width, or indexes into a dictionary: the end of others, only who decodes them sees."""
    yield from _noted(chunk, "PQF-076")


@rule("PQF-077", of=CHUNK)
def indexes_lie_in_the_dictionary(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Of chunks with pages that are encoded by a dictionary."""
    if not any(page.data_header.encoding in DICTIONARY_ENCODINGS for page in chunk.data_pages):
        raise NotApplicable
    yield from _noted(chunk, "PQF-077")


@rule("PQF-078", of=CHUNK)
def values_are_complete(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Where values are of one width, or indexes into a dictionary."""
    yield from _noted(chunk, "PQF-078")


@rule("PQF-079", of=CHUNK)
def differences_fit_the_type(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Of chunks with pages of differences."""
    if not any(page.data_header.encoding == Encoding.DELTA_BINARY_PACKED for page in chunk.data_pages):
        raise NotApplicable
    yield from _noted(chunk, "PQF-079")


def _second_version(chunk: ColumnChunkUnderTest) -> list[tuple[int, DataPageHeaderV2]]:
    """The data pages of version 2 by their position among the data pages; `NotApplicable` without any."""
    found = [(number, page.v2) for number, page in enumerate(chunk.data_pages)]
    headers = [(number, header) for number, header in found if header is not None]
    if not headers:
        raise NotApplicable
    return headers


def _header(chunk: ColumnChunkUnderTest, number: int) -> str:
    return f"{chunk.path}.pages[{chunk.data_pages[number].number}].header"


def _body(chunk: ColumnChunkUnderTest, number: int) -> str:
    return f"{chunk.path}.pages[{chunk.data_pages[number].number}].body"
