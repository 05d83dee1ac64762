"""Checks of the statistics in page headers."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.statistics.bounds import (
    DEPRECATED,
    BoundsPair,
    bounds_of_values,
    comparable_pairs,
    is_no_value,
)
from pqassay.checks.subjects import CHUNK, STATISTICS
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.fields import Field
from pqassay.under_test.file import NotApplicable
from pqassay.under_test.pages.walk import PageUnderTest
from pqassay.under_test.violation import Violation
from pqassay_spec.parquet.column_order import (
    FLOATING,
    Order,
    annotation_fits,
    is_bound,
    key_by_signed_bytes,
    type_order,
)
from pqassay_spec.parquet.thrift import DataPageHeader, DataPageHeaderV2, Statistics


def _field(chunk: ColumnChunkUnderTest, page: PageUnderTest, name: str) -> Field:
    """The field of a statistics member in a page header."""
    return chunk.fields.own_header(page) / "statistics" / name


def _has_page_statistics(chunk: ColumnChunkUnderTest) -> bool:
    return any(page.data_header.statistics is not None for page in chunk.data_pages)


@rule("STA-030", of=CHUNK, only=_has_page_statistics)
def page_statistics_are_possible(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """The rules for statistics of a chunk apply to those of a page."""
    for page in chunk.data_pages:
        header = page.data_header
        if header.statistics is not None:
            yield from _wrong_bounds(chunk, page, header.statistics)
            yield from _wrong_null_count(chunk, page, header, header.statistics)


def _wrong_bounds(
    chunk: ColumnChunkUnderTest, page: PageUnderTest, statistics: Statistics
) -> Iterator[Violation]:
    element, of = chunk.leaf.element, f" of page {page.number}"
    if not annotation_fits(element):
        return
    wrong = [bound for bound in bounds_of_values(chunk, statistics) if not is_bound(element, bound[1])]
    for name, raw in wrong:
        yield is_no_value(chunk, name, raw, _field(chunk, page, name), of)
    for pair in () if wrong else comparable_pairs(chunk, statistics):
        if pair.is_swapped and not _is_in_order_as_bytes(pair):
            yield pair.violation(_field(chunk, page, pair.names[0]), of)


def _is_in_order_as_bytes(pair: BoundsPair) -> bool:
    """Whether deprecated bounds of decimals are in order when compared as signed bytes, as by old writers (PARQUET-686)."""
    is_of_bytes = pair.names is DEPRECATED and pair.order is Order.DECIMAL
    return is_of_bytes and key_by_signed_bytes(pair.low) <= key_by_signed_bytes(pair.high)


def _wrong_null_count(
    chunk: ColumnChunkUnderTest,
    page: PageUnderTest,
    header: DataPageHeader | DataPageHeaderV2,
    statistics: Statistics,
) -> Iterator[Violation]:
    count = statistics.null_count
    most = max(header.num_values, 0) if chunk.leaf.max_definition_level else 0
    if count is not None and not 0 <= count <= most:
        said = f"null_count of page {page.number} is {count} of {header.num_values} values"
        yield Violation(said, _field(chunk, page, "null_count"), f"0 to {most}" if most else "0", str(count))


@rule("STA-031", of=STATISTICS, only=lambda chunk: not chunk.leaf.max_repetition_level)
def null_counts_of_pages_add_up(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """The null count of a chunk is the sum over its pages. STA-010 and STA-030 judge impossible counts."""
    return _null_counts_add_up(chunk)


@rule("STA-074", of=STATISTICS, only=lambda chunk: chunk.leaf.max_repetition_level > 0)
def null_counts_of_pages_of_lists_add_up(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """A writer may count either kind of null, but always the same."""
    return _null_counts_add_up(chunk)


def _null_counts_add_up(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    whole = chunk.statistics.null_count if chunk.statistics is not None else None
    if whole is None or not 0 <= whole <= chunk.facts.num_values or not chunk.data_pages:
        raise NotApplicable
    total = 0
    for page in chunk.data_pages:
        header = page.data_header
        count = header.statistics.null_count if header.statistics is not None else None
        if count is None or not 0 <= count <= header.num_values:
            raise NotApplicable
        total += count
    if total != whole:
        said = f"the {len(chunk.data_pages)} data pages count {total} nulls, but the chunk counts {whole}"
        field = _field(chunk, chunk.data_pages[-1], "null_count")
        yield Violation(said, field, f"{whole} nulls in all pages", str(total))


@rule("STA-053", of=CHUNK, only=_has_page_statistics)
def counts_of_pages_are_possible(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Distinct values are at most the values, and only IEEE 754 numbers can be NaN."""
    counted = False
    for page in chunk.data_pages:
        header = page.data_header
        statistics = header.statistics or Statistics()
        nulls = max(statistics.null_count or 0, 0)
        for name, most in (
            ("distinct_count", header.num_values),
            ("nan_count", header.num_values - nulls),
        ):
            count: int | None = getattr(statistics, name)
            if count is None:
                continue
            counted = True
            if name == "nan_count" and type_order(chunk.leaf.element) not in FLOATING:
                said = f"nan_count of page {page.number} of a column of {chunk.leaf.physical_type} is {count}"
                yield Violation(said, _field(chunk, page, name), "no nan_count", str(count))
            elif not 0 <= count <= max(most, 0):
                said = f"{name} of page {page.number} is {count}, but at most {most} values can count"
                expected = f"0 to {most}" if most > 0 else "0"
                yield Violation(said, _field(chunk, page, name), expected, str(count))
    if not counted:
        raise NotApplicable
