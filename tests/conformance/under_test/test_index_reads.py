"""Page indexes and bloom filters of files in a store: few requests, and nothing that no rule needs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from counting_source import CountingSource
from damage import EXAMPLES
from golden_cases import golden_cases
from idx1_files import edited
from pqassay.judge.file_check import Selection, check_source
from pqassay.under_test.file import FileUnderTest, Options
from pqassay.under_test.index_reads import REMOTE, filter_needs
from pqassay_golden.tiny.parquet import Column, Layout, TinyParquet
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.rules.catalogue import rules_for
from pqassay_suite.cases.case import GoldenCase

SIZE = 16 << 10
"""Bytes of a bitset."""


def with_filters(size: int, groups: int = 5) -> bytes:
    """A file of two columns, both with bloom filters of a size in every row group."""
    columns = tuple(Column(name, "int64", range(groups * 10)) for name in ("a", "b"))
    return TinyParquet(
        columns, row_group_rows=10, page_index=True, bloom_filters=("a", "b"), layout=Layout(bloom_bytes=size)
    ).build()


FILE = with_filters(SIZE)


def filters_of(data: bytes) -> list[tuple[int, int]]:
    """Where the bloom filters of a file start and end."""
    file = FileUnderTest(BytesSource(data), Options("index"))
    return [(given.start, given.end) for given in file.ranges if given.kind == "bloom filter"]


def reads_in_filters(data: bytes, *rules: str) -> list[tuple[int, int]]:
    """The ranges that a check at tier ``index`` reads in the bloom filters of a file and between them."""
    source = CountingSource(data)
    report, _ = check_source(source, Options("index"), Selection(rules), "must")
    filters = filters_of(data)
    assert [] == [finding for finding in report.findings if finding.verdict == "FAIL"]
    return [
        (start, length)
        for start, length in source.ranges
        if filters[0][0] <= start + length - 1 and start < filters[-1][1]
    ]


def without_lengths(data: bytes) -> bytes:
    """The file, whose footer gives no lengths of bloom filters."""

    def forget(metadata: Any) -> None:
        for group in metadata.row_groups:
            for chunk in group.columns:
                chunk.meta_data.bloom_filter_length = None

    return edited(data, forget)


@pytest.mark.parametrize("data", [FILE, without_lengths(FILE)], ids=["lengths", "no lengths"])
def test_filters_that_stand_together_are_one_read(data: bytes) -> None:
    assert 10 * SIZE < len(data)
    assert 1 == len(reads_in_filters(data))


def test_a_tier_or_a_rule_that_needs_no_filter_reads_none() -> None:
    source = CountingSource(FILE)
    check_source(source, Options("footer"), Selection(), "must")

    others = [rule for rule in rules_for("parquet") if rule.startswith("PQF-") and rule != "PQF-168"]
    assert [] == reads_in_filters(FILE, "PIX-*", *others)
    assert all(
        start + length <= filters_of(FILE)[0][0] or start >= filters_of(FILE)[-1][1]
        for start, length in source.ranges
    )


def test_rules_about_headers_read_no_bitset_of_filters_that_are_longer_than_a_request_is_worth() -> None:
    data = with_filters(2 * REMOTE.gap, groups=2)
    headers = reads_in_filters(data, "BLM-004", "BLM-005", "BLM-008")

    assert 4 == len(headers)
    assert sum(length for _, length in headers) < 4 * 1024
    assert sum(length for _, length in reads_in_filters(data)) > 8 * REMOTE.gap


def test_what_is_needed_follows_from_the_rules_that_are_tested() -> None:
    in_bitsets = {"BLM-007", "BLM-009", "BLM-020", "BLM-021"}

    assert (True, True) == filter_needs(())
    assert (True, False) == filter_needs(in_bitsets)
    assert (False, False) == filter_needs({f"BLM-{number:03}" for number in range(30)})


def findings(case: GoldenCase, kind: type[Any]) -> Any:
    """What is found in a case that is read through a kind of source."""
    beside = {name: kind(data) for name, data in case.beside().items()}
    report, _ = check_source(
        kind(case.content()),
        Options("index"),
        Selection(),
        "must",
        kind="pm" if case.case.family == "PM" else "parquet",
        beside=beside.get,
    )
    return (
        report.outcome,
        report.gaps,
        [
            replace(finding, path="", remedy=None, at=[replace(place, file=None) for place in finding.at])
            for finding in report.findings
        ],
    )


@pytest.mark.parametrize("family", ["BLM", "PIX", "PM"])
def test_a_store_changes_nothing_about_what_is_found(family: str) -> None:
    cases = [case for case in golden_cases() if case.case.family == family]

    assert len(cases) > 20
    for case in cases[::EXAMPLES]:
        assert findings(case, BytesSource) == findings(case, CountingSource), case.case.id
