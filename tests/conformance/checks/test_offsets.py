"""Offsets of the footer that lead nowhere in the file."""

from __future__ import annotations

import io
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
from damage import turns
from each import each
from idx1_files import edited, parquet, table
from pqassay_spec.parquet.thrift import ColumnChunk, ColumnMetaData, FileMetaData

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


def _facts(metadata: FileMetaData, group: int = 1, column: int = 2) -> ColumnMetaData:
    facts = metadata.row_groups[group].columns[column].meta_data
    assert facts is not None
    return facts


def _offsets(column: int, group: int = 1) -> tuple[int, int]:
    """The offsets of the dictionary and of the first data page of a chunk of `WIDE`."""
    facts = pq.ParquetFile(io.BytesIO(WIDE)).metadata.row_group(group).column(column)
    return facts.dictionary_page_offset or 0, facts.data_page_offset


WIDE = parquet(pa.table({name: range(100) for name in "abcd"}), row_group_size=50)
DICTIONARY, DATA = _offsets(2)


FALSE_DICTIONARIES = (
    None,
    0,
    DICTIONARY - 1,
    DICTIONARY + 1,
    DATA,
    _offsets(1)[0],
    _offsets(2, 0)[0],
    _offsets(3)[0],
)


@each(
    ("name", "value", "expected", "tier"),
    turns(
        [
            *(("dictionary_page_offset", value, DICTIONARY) for value in FALSE_DICTIONARIES),
            ("data_page_offset", _offsets(1)[1], DATA),
        ],
        [("values",), ("index",)],
    ),
)
def test_an_offset_for_which_the_chunk_overlaps_another_is_the_one_that_is_reported(
    name: str, value: int | None, expected: int, tier: Any
) -> None:
    data = edited(WIDE, lambda metadata: setattr(_facts(metadata), name, value))
    (finding,) = pqassay.check(data, tier=tier).files[0].findings
    assert ("PQF-009", "c", f"footer.row_groups[1].columns[2].meta_data.{name}") == (
        finding.rule,
        finding.column,
        finding.at[0].field,
    )
    if tier == "values":
        assert (str(expected), str(value or "none")) == (finding.at[0].expected, finding.at[0].actual)
    assert f"write the file again, with the {name} of its pages" == finding.remedy


@pytest.mark.parametrize("value", [10**12, -5, 1])
def test_a_dictionary_beyond_the_body_is_one_finding(value: int) -> None:
    data = edited(WIDE, lambda metadata: setattr(_facts(metadata), "dictionary_page_offset", value))
    (finding,) = pqassay.check(data, tier="values").files[0].findings
    assert ("PQF-008", str(DICTIONARY)) == (finding.rule, finding.at[0].expected)


def test_each_column_lacks_the_offsets_of_its_dictionaries() -> None:
    def change(metadata: FileMetaData) -> None:
        for group in range(2):
            for column in range(4):
                _facts(metadata, group, column).dictionary_page_offset = None

    findings = pqassay.check(edited(WIDE, change), tier="values").files[0].findings
    assert [("PQF-009", name, 2) for name in "abcd"] == [
        (each.rule, each.column, each.count) for each in findings
    ]


def test_a_dictionary_offset_that_is_missing_beside_a_filter_or_at_the_end() -> None:
    for data in (
        parquet(pa.table({"a": ["x", "y"] * 9}), bloom_filter_options={"a": {"ndv": 9, "fpp": 0.1}}),
        parquet(pa.table({"a": ["x", "y"] * 9}), write_page_index=True),
        parquet(pa.table({"a": ["x", "y"] * 9})),
    ):
        changed = edited(
            data, lambda metadata: setattr(_facts(metadata, 0, 0), "dictionary_page_offset", None)
        )
        (finding,) = pqassay.check(changed, tier="values").files[0].findings
        place = "footer.row_groups[0].columns[0].meta_data.dictionary_page_offset"
        assert (place, "4", "none") == (finding.at[0].field, finding.at[0].expected, finding.at[0].actual)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("more", [1, -1])
def test_a_number_of_rows_that_no_column_has_is_one_finding(more: int, version: str) -> None:
    table = pa.table({"a": range(100), "b": [[1, 2], []] * 50, "c": ["x", None] * 50})
    data = parquet(table, row_group_size=50, data_page_version=version)

    def change(metadata: FileMetaData) -> None:
        metadata.row_groups[1].num_rows += more

    (finding,) = pqassay.check(edited(data, change), tier="values").files[0].findings
    assert ("PQF-074", None, 1, "footer.row_groups[1].num_rows", "50") == (
        finding.rule,
        finding.column,
        finding.count,
        finding.at[0].field,
        finding.at[0].expected,
    )


INDEXED = parquet(
    pa.table({name: [f"{name}{number}" for number in range(100)] for name in "abcd"}),
    bloom_filter_options={name: {"ndv": 100, "fpp": 0.1} for name in "abcd"},
)


def test_structures_of_a_chunk_that_changed_places_are_one_finding() -> None:
    def change(metadata: FileMetaData) -> None:
        chunk, facts = metadata.row_groups[0].columns[0], _facts(metadata, 0, 0)
        before = facts.bloom_filter_offset, facts.bloom_filter_length
        facts.bloom_filter_offset = chunk.column_index_offset
        facts.bloom_filter_length = chunk.column_index_length
        chunk.column_index_offset, chunk.column_index_length = before

    findings = pqassay.check(edited(INDEXED, change), tier="values").files[0].findings
    (finding,) = (each for each in findings if each.verdict == "FAIL")
    assert ("PIX-020", ["BLM-002"]) == (finding.rule, finding.also)


def test_all_indexes_and_filters_of_the_only_column_are_one_finding() -> None:
    data = parquet(pa.table({"a": range(100)}), bloom_filter_options={"a": {"ndv": 100, "fpp": 0.1}})
    chunks: list[ColumnChunk] = []
    edited(data, lambda metadata: chunks.extend(metadata.row_groups[0].columns))
    facts = chunks[0].meta_data
    assert facts is not None
    start = facts.bloom_filter_offset or 0
    end = (chunks[0].offset_index_offset or 0) + (chunks[0].offset_index_length or 0)
    (finding,) = (
        pqassay.check(data[:start] + bytes(end - start) + data[end:], tier="values").files[0].findings
    )
    assert ("PIX-010", ["BLM-002", "PIX-020"]) == (finding.rule, finding.also)


def test_a_filter_across_the_indexes_is_the_one_that_is_reported() -> None:
    def change(metadata: FileMetaData) -> None:
        facts = _facts(metadata, 0, 0)
        facts.bloom_filter_offset = (metadata.row_groups[0].columns[0].column_index_offset or 0) - 1

    (finding,) = pqassay.check(edited(INDEXED, change), tier="values").files[0].findings
    assert ("PQF-009", ["footer.row_groups[0].columns[0].meta_data.bloom_filter_offset"]) == (
        finding.rule,
        sorted({place.field for place in finding.at}),
    )


def test_a_filter_one_byte_too_far_is_reported_and_not_the_structure_behind_it() -> None:
    def change(metadata: FileMetaData) -> None:
        facts = _facts(metadata, 0, 3)
        facts.bloom_filter_offset = (facts.bloom_filter_offset or 0) + 1

    (finding,) = pqassay.check(edited(INDEXED, change), tier="values").files[0].findings
    assert ("PQF-009", "footer.row_groups[0].columns[3].meta_data.bloom_filter_offset") == (
        finding.rule,
        finding.at[0].field,
    )


def test_row_groups_that_stand_for_one_chunk_are_not_decoded_again_and_again() -> None:
    data = parquet(pa.table({"a": range(100)}))

    def change(metadata: FileMetaData) -> None:
        metadata.row_groups *= 50
        metadata.num_rows *= 50

    (finding,) = pqassay.check(edited(data, change), tier="values").files[0].findings
    assert ("PQF-009", 49 * 3) == (finding.rule, finding.count)
    with patch("pqassay.values.decoding.chunk_values.decode_chunk") as decoded:
        pqassay.check(edited(data, change), tier="values")
    decoded.assert_not_called()
