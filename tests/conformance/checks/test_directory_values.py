"""The values that a directory describes are compared with indexes of every type."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

import pqassay
from directory_files import LOT_SUMS, sums, with_directory
from places import GOLDEN_FILES
from pqassay_spec.grammar.field_paths import get
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_suite.judging.answers import FAMILIES


@pytest.mark.parametrize("name", ["idx1", "sets-of-file", "sums-of-file", "hll-of-file", "kll-of-file"])
def test_what_proves_that_an_index_was_written_is_tested_for_every_type(name: str) -> None:
    report = pqassay.check(GOLDEN_FILES / "dir" / name / "data.parquet", tier="values")

    assert set(FAMILIES["DIR"].proof) <= set(report.coverages[report.files[0].coverage].checked)


def test_bounds_that_cannot_be_read_keep_no_rule_but_their_own_from_being_tested() -> None:
    false = dataclasses.replace(LOT_SUMS, parts=([(3, 0, 0, 24)], [(3, 0, 0, 34)]), minima=(b"cut",))
    data = with_directory(sums(false, "lot", value_count=2))
    report = pqassay.check(data, tier="values")
    (file,) = report.files
    coverage = report.coverages[file.coverage]

    assert ["DIR-022", "DIR-037"] == [finding.rule for finding in file.findings]
    assert "DIR-022 is broken" == coverage.not_checked["DIR-038"].reason
    assert {"DIR-035", "DIR-036"} <= set(coverage.checked)


def test_a_rank_that_is_wrong_is_that_of_a_plain_number() -> None:
    (file,) = pqassay.check(GOLDEN_FILES / "dir/ranks/data.parquet", tier="values").files
    (finding,) = file.findings
    rank = "the rank of 2.0 in the file is 0.7500, but its sketch estimates 0.2500"

    assert f"entry 0 (KLL of price): {rank}" == finding.message


@pytest.mark.parametrize(
    ("name", "path", "value", "rule"),
    [
        ("kll-of-file", "sketches[0]", lambda old: old[:-3], "DIR-043"),
        ("hll-of-file", "sketches[0]", lambda old: b"\x03" + old[1:], "DIR-042"),
        ("sums-of-text", "groups[0].sum_low", lambda _: 5, "DIR-037"),
        ("sums-of-text", "groups[0].sum_high", lambda _: -1, "DIR-037"),
    ],
)
def test_a_false_part_of_a_blob_is_one_finding(
    name: str, path: str, value: Callable[[Any], Any], rule: str
) -> None:
    data = (GOLDEN_FILES / "dir" / name / "data.parquet").read_bytes()
    path = f"directory.entries[0].blob.{path}"
    changed = mutate(data, Mutation("set", path, value(get(take_apart(data), path))))

    assert [rule] == [finding.rule for finding in pqassay.check(changed, tier="values").files[0].findings]
