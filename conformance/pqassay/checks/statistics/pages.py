"""Checks of the statistics in page headers."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.statistics.bounds import BOUNDS, DEPRECATED, given, is_above, what_a_bound_is
from pqassay.checks.subjects import CHUNK, STATISTICS
from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import NotApplicable
from pqassay.under_test.page_walk import PageUnderTest
from pqassay.under_test.violation import Violation
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.parquet.column_order import annotation_fits, is_bound, shown, signed_key, type_order
from pqassay_spec.parquet.thrift import DataPageHeader, DataPageHeaderV2, Statistics


def _field(chunk: ColumnChunkUnderTest, page: PageUnderTest, name: str) -> str:
    own = "data_page_header" if page.v2 is None else "data_page_header_v2"
    return f"{chunk.path}.pages[{page.number}].header.{own}.{name}"


@rule("STA-030", of=CHUNK)
def page_statistics_are_possible(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """What holds for statistics of a chunk holds for those of a page."""
    judged = False
    for page in chunk.data_pages:
        header = page.data_header
        if header.statistics is None:
            continue
        judged = True
        yield from _wrong_bounds(chunk, page, header.statistics)
        yield from _wrong_null_count(chunk, page, header, header.statistics)
    if not judged:
        raise NotApplicable


def _wrong_bounds(
    chunk: ColumnChunkUnderTest, page: PageUnderTest, statistics: Statistics
) -> Iterator[Violation]:
    element, column_order = chunk.leaf.element, chunk.column_order
    if not annotation_fits(element):
        return
    judged = DEPRECATED if column_order is not None and column_order.unknown else (*BOUNDS, *DEPRECATED)
    broken = False
    for name, raw in given(statistics, judged):
        if not is_bound(element, raw):
            broken = True
            yield Violation(
                message=f"{name} of page {page.number} of a column of {chunk.leaf.physical_type} is {show(raw)}, "
                f"{len(raw)} bytes",
                field=_field(chunk, page, f"statistics.{name}"),
                expected=what_a_bound_is(element),
                actual=f"{len(raw)} bytes, {show(raw, width=40)}",
            )
    if broken:
        return
    order, by_type = chunk.order, type_order(element)
    low, high = statistics.min_value, statistics.max_value
    if order is not None and low is not None and high is not None and is_above(order, low, high):
        yield Violation(
            message=f"min_value {shown(order, low)} of page {page.number} is greater than max_value {shown(order, high)}",
            field=_field(chunk, page, "statistics.min_value"),
            expected=f"at most {shown(order, high)}",
            actual=shown(order, low),
        )
    low, high = statistics.min, statistics.max
    if low is not None and high is not None:
        least, greatest = signed_key(element, low), signed_key(element, high)
        if least is not None and greatest is not None and least > greatest:
            yield Violation(
                message=f"the deprecated min {shown(by_type, low)} of page {page.number} is greater than max "
                f"{shown(by_type, high)}",
                field=_field(chunk, page, "statistics.min"),
                expected=f"at most {shown(by_type, high)}",
                actual=shown(by_type, low),
            )


def _wrong_null_count(
    chunk: ColumnChunkUnderTest,
    page: PageUnderTest,
    header: DataPageHeader | DataPageHeaderV2,
    statistics: Statistics,
) -> Iterator[Violation]:
    count = statistics.null_count
    most = max(header.num_values, 0) if chunk.leaf.max_definition_level else 0
    if count is not None and not 0 <= count <= most:
        yield Violation(
            message=f"null_count of page {page.number} is {count} of {header.num_values} values",
            field=_field(chunk, page, "statistics.null_count"),
            expected=f"0 to {most}" if most else "0",
            actual=str(count),
        )


@rule("STA-031", of=STATISTICS)
def null_counts_of_pages_add_up(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """The nulls of a chunk are those of its pages. A count that is none is the matter of STA-010 or STA-030."""
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
        yield Violation(
            message=f"the {len(chunk.data_pages)} data pages count {total} nulls, and the chunk {whole}",
            field=_field(chunk, chunk.data_pages[-1], "statistics.null_count"),
            expected=f"{whole} nulls in all pages",
            actual=str(total),
        )
