"""Offsets of the footer that lead nowhere in the file."""

from __future__ import annotations

from typing import Any

import pytest

import pqassay
from idx1_files import edited, parquet, table
from pqassay_spec.parquet.thrift import FileMetaData

PLAIN = parquet(table())


def rules_of(target: Any, **options: Any) -> set[str]:
    findings = pqassay.check(target, **options).files[0].findings
    return {rule for finding in findings for rule in (finding.rule, *finding.also)}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("data_page_offset", 10**15),
        ("dictionary_page_offset", 10**12),
        ("dictionary_page_offset", -9),
        ("index_page_offset", 10**12),
        ("bloom_filter_offset", 10**12),
        ("bloom_filter_offset", -5),
    ],
)
def test_an_offset_outside_the_body_is_reported_as_such(field: str, value: int) -> None:
    def change(metadata: FileMetaData) -> None:
        facts = metadata.row_groups[0].columns[0].meta_data
        setattr(facts, field, value)

    missing = (
        {"BLM-006"} if field == "bloom_filter_offset" else set()
    )  # PLAIN has no filter, so no length of one
    findings = {
        finding.rule: finding
        for finding in pqassay.check(edited(PLAIN, change), tier="index").files[0].findings
    }

    assert {"PQF-008", *missing} == set(findings)
    assert f"footer.row_groups[0].columns[0].meta_data.{field}" == findings["PQF-008"].at[0].field


@pytest.mark.parametrize("field", ["column_index", "offset_index"])
@pytest.mark.parametrize("length", [None, 0])
def test_an_index_offset_counts_even_without_a_length(field: str, length: int | None) -> None:
    def change(metadata: FileMetaData) -> None:
        chunk = metadata.row_groups[0].columns[0]
        setattr(chunk, f"{field}_offset", 10**12)
        setattr(chunk, f"{field}_length", length)

    assert {"PQF-008", "PIX-002"} == rules_of(edited(PLAIN, change), tier="footer")
