"""``_pm`` against the footer of the Parquet file beside it: one difference, one rule."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pqassay
from damage import EXAMPLES, tries
from each import each
from golden_cases import golden_cases
from pm_pairs import PmPair, generated, real, real_names, with_chunk, with_column, with_footer, written
from pqassay_reference.pm import write
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.parquet.file import read_framing
from pqassay_spec.parquet.thrift import FileMetaData, KeyValue, SortingColumn, Statistics
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.value import ExternalBloom, SnapshotValue
from pqassay_spec.pm.value import SnapshotSorting as Sorted

TIMESTAMP, INT, VARCHAR, UUID, DOUBLE, SYMBOL, LONG256, STRING = range(8)
"""Columns of the good pair; those at 1, 2, 3 and 5 have bloom filters."""


@cache
def good() -> PmPair:
    """Three row groups of eight columns, some with bloom filters, and the key ``questdb``; nothing is wrong with it."""
    return generated(real("questdb-9.4.3/bloom").data)


def flipped(raw: Any) -> bytes:
    """The same bytes with one bit changed."""
    assert isinstance(raw, bytes)
    return bytes([raw[0] ^ 1]) + raw[1:]


def statistics_of(metadata: FileMetaData) -> Statistics:
    """The statistics of the whole numbers in the first row group."""
    facts = metadata.row_groups[0].columns[INT].meta_data
    assert facts is not None
    assert facts.statistics is not None
    return facts.statistics


def with_null_count(value: SnapshotValue, count: int) -> SnapshotValue:
    """The value with another NULL_COUNT."""
    return with_chunk(value, 1, INT, null_count=count)


CHANGES: list[tuple[str, str, Callable[[SnapshotValue], SnapshotValue], str]] = [
    (
        "PM-116",
        "another bound out of line",
        lambda value: with_chunk(value, 0, UUID, max=flipped(value.row_groups[0].chunks[UUID].max)),
        f"blocks[0].max_stats[{UUID}]",
    ),
    (
        "PM-116",
        "a shorter bound",
        lambda value: with_chunk(value, 0, VARCHAR, min=b"val"),
        f"blocks[0].column_chunks[{VARCHAR}].min_stat",
    ),
    (
        "PM-118",
        "another sorting column",
        lambda value: replace(value, sorting=(Sorted(INT),)),
        "sorting_columns[0].index",
    ),
    ("PM-118", "no sorting", lambda value: replace(value, sorting=()), "header.sorting_column_count"),
    (
        "PM-119",
        "a bloom filter less",
        lambda value: with_chunk(value, 1, VARCHAR, bloom=None),
        "snapshots[0].bloom_entries[5].offset",
    ),
    (
        "PM-119",
        "a bloom filter more",
        lambda value: with_chunk(
            replace(value, bloom_columns=(INT, VARCHAR, UUID, DOUBLE, SYMBOL)), 1, DOUBLE, bloom=bytes(32)
        ),
        "snapshots[0].bloom_entries[8].offset",
    ),
    (
        "PM-120",
        "another bitset",
        lambda value: with_chunk(value, 1, VARCHAR, bloom=flipped(value.row_groups[1].chunks[VARCHAR].bloom)),
        "blocks[1].bloom_filters[1].bitset",
    ),
    (
        "PM-123",
        "a flag more",
        lambda value: with_column(value, STRING, is_ascii=True),
        f"column_descriptors[{STRING}].flags",
    ),
    ("PM-148", "no ID", lambda value: with_column(value, STRING, id=-1), f"column_descriptors[{STRING}].id"),
]
"""Differences that no mutation of a golden file makes."""


def test_the_good_pair_breaks_no_rule() -> None:
    """And every rule that applies is checked."""
    report, coverage = good().report()
    assert [] == [(finding.rule, finding.message) for finding in report.findings]
    assert ["PM-147", "PM-150", "PM-151", "PM-152"] == [
        rule for rule in coverage.not_applicable if rule.startswith("PM-1")
    ]
    expected = {f"PM-{number}" for number in (*range(100, 127), 146, 148, 149)}
    assert expected == {rule for rule in coverage.checked if rule.startswith("PM-1")}


@each(("rule", "change", "field"), [(rule, change, field) for rule, _, change, field in CHANGES])
def test_one_difference_breaks_one_rule(
    rule: str, change: Callable[[SnapshotValue], SnapshotValue], field: str
) -> None:
    """At the field that differs, with both values."""
    pair = good().saying(change(good().value))
    report, _ = pair.report()
    assert [rule] == [finding.rule for finding in report.findings]
    at = report.findings[0].at[0]
    assert field == at.field
    assert 0 <= at.offset < len(pair.raw)
    assert at.expected != at.actual


ACROSS = [f"PM-{number}" for number in range(100, 127)]
"""The rules that compare the two files."""

OTHER_FIELDS = {
    "pm/bloom-filter-not-mentioned": "snapshots[0].bloom_entries[0].offset",
    "pm/chunk-start-of-another": "blocks[0].column_chunks[2].byte_range_start",
    "pm/column-missing": "header.column_count",
    "pm/data-truncated": "snapshots[0].footer.parquet_footer_offset",
    "pm/txn-ahead-of-the-data": "snapshots[0].footer.parquet_footer_offset",
    "pm/row-group-missing": "snapshots[0].footer.row_group_count",
    "pm/sorted-by-what-nobody-says": "sorting_columns[0].index",
    "pm/stale": "snapshots[0].footer.parquet_footer_offset",
    "pm/update-not-committed": "snapshots[0].footer.parquet_footer_offset",
}
"""Golden cases whose difference shows at another field than the one that was changed."""

DIFFERENT = [
    golden
    for golden in golden_cases()
    if golden.case.kind == "invalid" and set(ACROSS) & set(golden.case.rules) and golden.case.mutation
]


def test_a_difference_is_found_at_its_field_with_both_values() -> None:
    for golden in DIFFERENT[::EXAMPLES]:
        (file,) = pqassay.check(golden.folder / golden.case.input.file, tier="index").files
        (finding,) = (finding for finding in file.findings if {finding.rule, *finding.also} & set(ACROSS))
        assert golden.case.mutation is not None
        assert OTHER_FIELDS.get(golden.case.id, golden.case.mutation.path) == finding.at[0].field
        assert finding.at[0].expected != finding.at[0].actual


def test_every_rule_across_the_two_files_is_broken_by_a_golden_file() -> None:
    assert set(ACROSS) == {rule for golden in DIFFERENT for rule in golden.case.rules} & set(ACROSS)


@each("name", real_names()[::EXAMPLES])
def test_real_pairs_fail_no_rule(name: str) -> None:
    """What they are warned of is what the rules' practice says."""
    report, coverage = real(name).report("values")
    assert report.error is None
    assert set() == {finding.rule for finding in report.findings if finding.verdict == "FAIL"}
    assert {finding.rule for finding in report.findings} <= {"PM-108", "PM-123", "PM-145"}
    assert {} == {rule: why for rule, why in coverage.reasons.items() if rule.startswith("PM-1")} or set(
        coverage.not_checked
    ).isdisjoint({"PM-100", "PM-116", "PM-140"})


# -------------------------------------------------------------------------------- whether they belong together


def test_a_stale_file_is_one_finding() -> None:
    """All that would be compared is not."""
    other = written(pa.table({"a": list(range(1000))}))
    report, coverage = PmPair(good().raw, other).report("values")
    assert ["PM-100"] == [finding.rule for finding in report.findings]
    assert "stale" in report.findings[0].message
    reasons = {why for rule, why in coverage.reasons.items() if rule.startswith("PM-1")}
    assert {"PM-100 is broken"} == reasons


@pytest.mark.parametrize("end", [b"", b"?????"])
def test_a_parquet_file_that_does_not_end_in_a_footer_is_stale(end: bytes) -> None:
    """It is cut off, or its last bytes are others."""
    assert ["PM-100"] == PmPair(good().raw, good().data[:-5] + end).rules("values")


def test_bytes_behind_the_newest_snapshot_are_only_mentioned() -> None:
    """All else is compared with the file up to there, values included."""
    pair = PmPair(good().raw, good().data + b"an append that is not published")
    report, coverage = pair.report("values")
    assert [("PM-101", "INFO")] == [(finding.rule, finding.verdict) for finding in report.findings]
    assert {"PM-116", "PM-120", "PM-140", "PM-143"} <= set(coverage.checked)
    wrong = with_null_count(good().value, 4)
    assert ["PM-101", "PM-142"] == PmPair(write.create(wrong), pair.data).rules("values")


def test_an_earlier_snapshot_describes_a_parquet_file_that_was_rolled_back() -> None:
    """The one before the newest is compared, and counts in field paths."""
    pair = real("questdb-9.4.3/o3-chain-5")
    before = pair.value.previous_sizes[0]
    report, _ = PmPair(pair.raw, pair.data[:before]).report()
    found = [finding for finding in report.findings if finding.rule not in ("PM-108", "PM-123")]
    assert [("PM-101", "INFO")] == [(finding.rule, finding.verdict) for finding in found]
    assert "snapshots[1]" in found[0].message


def test_without_a_parquet_file_nothing_is_compared() -> None:
    """And it is said why."""
    report = pqassay.check(good().raw, kind="pm", tier="values", only=["PM-1*"])
    (file,) = report.files
    reasons = {
        why for rule, why in report.coverages[file.coverage].reasons.items() if rule.startswith("PM-1")
    }
    assert ([], {"no data.parquet is stored beside it"}) == (file.findings, reasons)


def test_a_parquet_footer_that_cannot_be_read_is_its_own_matter() -> None:
    """The rules across both files are not checked."""
    data = bytearray(good().data)
    framing = read_framing(BytesSource(bytes(data)))
    data[framing.footer_start : framing.footer_start + 40] = b"\xff" * 40
    report, coverage = PmPair(good().raw, bytes(data)).report("values")
    assert [] == report.findings
    assert "PQF-004 is broken in data.parquet" == coverage.not_checked["PM-116"].reason


# -------------------------------------------------------------------------- rules that need another Parquet file


def as_key(document: Any) -> Callable[[FileMetaData], None]:
    """Give a footer another value of the key ``questdb``."""

    def change(metadata: FileMetaData) -> None:
        text = document if isinstance(document, str) else json.dumps(document)
        metadata.key_value_metadata = [KeyValue(key=pm.JSON_KEY, value=text)]

    return change


def moved(value: SnapshotValue, data: bytes) -> PmPair:
    """The value beside a Parquet file with another footer."""
    framing = read_framing(BytesSource(data))
    placed = replace(
        value, parquet_footer_offset=framing.footer_start, parquet_footer_length=framing.footer_length
    )
    return PmPair(write.create(placed), data)


@pytest.mark.parametrize(
    "document",
    [
        "no JSON",
        [],
        {"version": 2, "schema": [{"column_type": 5, "column_top": 0}] * 8},
        {"version": 1, "schema": [{"column_type": 5, "column_top": 0}] * 7},
        {"version": 1, "schema": [{"column_type": "5", "column_top": 0}] * 8},
    ],
    ids=["text", "list", "version", "too few columns", "type as text"],
)
def test_a_key_that_cannot_be_read_is_one_finding(document: Any) -> None:
    """The rules that go by it are not checked."""
    report, coverage = moved(good().value, with_footer(good().data, as_key(document))).report()
    assert ["PM-121"] == [finding.rule for finding in report.findings if finding.rule != "PM-118"]
    at = next(finding for finding in report.findings if finding.rule == "PM-121").at[0]
    assert "data.footer.key_value_metadata[0].value" == at.field
    assert {"PM-121 is broken"} == {
        coverage.not_checked[f"PM-{number}"].reason for number in (122, 123, 124, 125)
    }


def test_exactness_that_the_parquet_file_denies_is_found() -> None:
    """Where it says nothing, nothing is found."""

    def deny(metadata: FileMetaData) -> None:
        statistics_of(metadata).is_max_value_exact = False

    report, _ = moved(good().value, with_footer(good().data, deny)).report()
    assert [("PM-126", "WARN")] == [(finding.rule, finding.verdict) for finding in report.findings]
    assert f"blocks[0].column_chunks[{INT}].stat_flags" == report.findings[0].at[0].field


def test_distinct_counts_are_compared_where_both_say_one() -> None:
    """A count in one file alone is not a difference."""

    def count(metadata: FileMetaData) -> None:
        statistics_of(metadata).distinct_count = 13

    counted = with_footer(good().data, count)
    assert [] == moved(good().value, counted).rules()
    assert [] == moved(with_chunk(good().value, 0, INT, distinct_count=13), counted).rules()
    assert ["PM-115"] == moved(with_chunk(good().value, 0, INT, distinct_count=12), counted).rules()
    assert [] == good().saying(with_chunk(good().value, 0, INT, distinct_count=12)).rules()


def test_a_bound_of_which_the_parquet_file_knows_nothing_is_found() -> None:
    """But for that of the designated timestamp, which QuestDB reads from the rows."""

    def forget(metadata: FileMetaData) -> None:
        for column in (TIMESTAMP, DOUBLE):
            facts = metadata.row_groups[0].columns[column].meta_data
            assert facts is not None
            facts.statistics = Statistics()

    found, _ = moved(good().value, with_footer(good().data, forget)).report()
    assert [("PM-117", "d", 2)] == [(f.rule, f.column, f.count) for f in found.findings]


def test_bounds_that_pm_cannot_hold_are_not_missed() -> None:
    """Unsigned numbers beyond the signed ones, and half-precision floats."""
    table = pa.table({"u": pa.array([1, 2**32 - 1], pa.uint32()), "h": pa.array([1.5, 2.5], pa.float16())})
    pair = generated(written(table))
    assert [None, None] == [chunk.min for chunk in pair.value.row_groups[0].chunks]
    assert [] == pair.rules("values")


def test_external_bloom_filters_are_compared_by_their_place() -> None:
    """Where the bitset begins, not its header."""
    pair = generated(good().data, blooms="external")
    assert [] == pair.rules("values")
    bloom = pair.value.row_groups[1].chunks[UUID].bloom
    assert isinstance(bloom, ExternalBloom)
    wrong = with_chunk(pair.value, 1, UUID, bloom=ExternalBloom(bloom.offset - 32, bloom.length))
    report, _ = pair.saying(wrong).report()
    assert ["PM-120"] == [finding.rule for finding in report.findings]
    assert "snapshots[0].bloom_entries[6].offset" == report.findings[0].at[0].field


def test_sorting_that_row_groups_do_not_declare_is_found_in_files_of_others() -> None:
    """Descending, and more than one column."""
    plain = written(pa.table({"a": [3, 2, 1], "b": [1, 1, 1]}))

    def declare(metadata: FileMetaData) -> None:
        metadata.row_groups[0].sorting_columns = [
            SortingColumn(column_idx=0, descending=True, nulls_first=False),
            SortingColumn(column_idx=1, descending=False, nulls_first=False),
        ]

    declared = generated(with_footer(plain, declare))
    assert (Sorted(0, descending=True), Sorted(1)) == declared.value.sorting
    assert [] == declared.rules("values")
    assert ["PM-118"] == declared.saying(replace(declared.value, sorting=(Sorted(0),))).rules()
    undeclared = generated(plain)
    assert ["PM-118"] == undeclared.saying(replace(undeclared.value, sorting=(Sorted(0),))).rules()


def test_findings_name_both_places() -> None:
    """The field in ``_pm``, and the one in the Parquet footer that says something else."""
    pair = good().saying(with_chunk(good().value, 2, INT, num_values=17))
    report, _ = pair.report()
    finding = report.findings[0]
    expected = (
        "NUM_VALUES of row group 2 of column a is 17, "
        "data.footer.row_groups[2].columns[1].meta_data.num_values is 16"
    )
    assert expected == finding.message
    assert ("a", 2) == (finding.column, finding.at[0].row_group)
    assert ("16", "17") == (finding.at[0].expected, finding.at[0].actual)


def test_many_differences_are_one_finding_for_each_column() -> None:
    """The first ones are shown, the others counted."""
    value = good().value
    for row_group in range(3):
        for column in (INT, DOUBLE):
            value = with_chunk(value, row_group, column, codec=1)
    report, _ = good().saying(value).report()
    assert [("PM-110", "a", 3), ("PM-110", "d", 3)] == [(f.rule, f.column, f.count) for f in report.findings]


# -------------------------------------------------------------------------------------------------------- damage


@pytest.mark.slow
@tries(100)
@given(
    st.sampled_from(["questdb-9.4.3/bloom", "questdb-9.4.3/o3-chain-5", "questdb-9.4.3/all-types-1"]),
    st.booleans(),
    st.lists(st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=8)), min_size=1, max_size=3),
)
def test_damage_anywhere_is_no_mistake_of_the_checks(
    name: str, in_footer: bool, damage: list[tuple[float, bytes]]
) -> None:
    """In ``_pm``, or in the footer of the Parquet file; values are still compared."""
    pair = real(name)
    data, raw = bytearray(pair.data), bytearray(pair.raw)
    start = read_framing(BytesSource(pair.data)).footer_start
    for where, content in damage:
        target, first = (data, start) if in_footer else (raw, 0)
        place = first + int(where * (len(target) - first - len(content)))
        target[place : place + len(content)] = content
    report, _ = PmPair(bytes(raw), bytes(data)).report("values")
    assert "a mistake in pqassay" not in (report.error or "")


# ------------------------------------------------------------------------------------------------------ remedies


def in_folder(folder: Path, pair: PmPair) -> Path:
    """Write a pair; return the path of its ``_pm``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / pm.DATA_NAME).write_bytes(pair.data)
    (folder / pm.FILE_NAME).write_bytes(pair.raw)
    return folder / pm.FILE_NAME


def remedies(path: Path) -> list[str | None]:
    """The commands that a check of a file offers."""
    report = pqassay.check(path, tier="values")
    return [finding.remedy for finding in report.files[0].findings if finding.verdict == "FAIL"]


def test_a_file_that_differs_is_made_anew(tmp_path: Path) -> None:
    """The command has the path in quotes; what it does leaves nothing to report."""
    path = in_folder(tmp_path / "a b", good().saying(with_null_count(good().value, 4)))
    command = shlex.join(["pqassay", "pm", "generate", str(path.parent / pm.DATA_NAME)])
    assert [command] == remedies(path)
    path.write_bytes(generated(good().data).raw)
    assert [] == remedies(path)


def test_a_chain_is_made_anew_with_its_history(tmp_path: Path) -> None:
    """Readers may hold on to earlier snapshots."""
    pair = real("questdb-9.4.3/o3-chain-5")
    path = in_folder(tmp_path, PmPair(pair.raw, good().data))
    assert [shlex.join(["pqassay", "pm", "generate", str(tmp_path / pm.DATA_NAME), "--history"])] == remedies(
        path
    )


def test_what_the_parquet_file_itself_has_wrong_has_no_remedy(tmp_path: Path) -> None:
    """A new ``_pm`` would repeat it."""

    def lie(metadata: FileMetaData) -> None:
        statistics_of(metadata).null_count = 4

    path = in_folder(tmp_path, generated(with_footer(good().data, lie)))
    report = pqassay.check(path, tier="values")
    assert [("PM-142", None)] == [(f.rule, f.remedy) for f in report.files[0].findings]


def test_a_parquet_file_that_nothing_can_be_made_of_is_no_remedy(tmp_path: Path) -> None:
    """Its footer is cut off, or an append hides it."""
    wrong = write.create(with_null_count(good().value, 4))
    cut = in_folder(tmp_path / "cut", PmPair(wrong, good().data[:-5]))
    appended = in_folder(tmp_path / "appended", PmPair(wrong, good().data + b"not published"))
    assert ([None], [None]) == (remedies(cut), remedies(appended))
