"""Checks of the page index against the levels of its pages, tier ``values``."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.subjects import COLUMN_INDEX, OFFSET_INDEX
from pqassay.checks.surveys import counts_of
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import Broken, NotApplicable
from pqassay.under_test.violation import Violation


@rule("PIX-054", of=OFFSET_INDEX)
def first_rows_are_counted(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """The number of rows that begin in earlier pages; another rule judges the first entry."""
    locations = chunk.offset_index.page_locations
    if len(locations) != len(chunk.data_pages):
        raise Broken("PIX-040")
    if len(locations) < 2:
        raise NotApplicable
    rows: list[int] = counts_of(chunk).rows.cumsum().tolist()
    for number, (location, before) in enumerate(zip(locations[1:], rows[:-1], strict=True), 1):
        if location.first_row_index != before:
            said = f"{before} rows begin before page {number}"
            field = chunk.fields.offset_index / f"page_locations[{number}].first_row_index"
            yield Violation(said, field, str(before), str(location.first_row_index))


@rule(
    "PIX-055", of=OFFSET_INDEX, only=lambda chunk: bool(chunk.leaf.max_repetition_level and chunk.data_pages)
)
def pages_begin_with_a_row(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """In version 2, pages must begin with a row even without an offset index; another rule judges that."""
    starts = counts_of(chunk).starts_with_row
    for number, page in enumerate(chunk.data_pages):
        if not starts[number] and page.v2 is None:
            said = f"page {page.number} begins within a row"
            yield Violation(said, chunk.fields.body(page), "a repetition level of 0 first", "a greater one")


@rule("PIX-058", of=COLUMN_INDEX)
def histograms_count_the_levels(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """There is one histogram for each page, one after the other; another rule judges the length of the list."""
    index = chunk.column_index
    if not index.repetition_level_histograms and not index.definition_level_histograms:
        raise NotApplicable
    counts = counts_of(chunk)
    for name, histogram, counted in (
        ("repetition", index.repetition_level_histograms, counts.repetition_histogram),
        ("definition", index.definition_level_histograms, counts.definition_histogram),
    ):
        if not histogram or len(histogram) != counted.size:
            continue
        found: list[int] = counted.reshape(-1).tolist()
        for place, (count, right) in enumerate(zip(histogram, found, strict=True)):
            if count != right:
                page, level = divmod(place, counted.shape[1])
                said = f"{right} {name} levels of data page {page} are {level}, but the column index counts {count}"
                field = chunk.fields.column_index / f"{name}_level_histograms[{place}]"
                yield Violation(said, field, str(right), str(count))
