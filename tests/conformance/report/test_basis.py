"""The basis of a finding, and the outcome that follows from it."""

from __future__ import annotations

import json

import pytest

import pqassay
from places import GOLDEN_FILES
from pqassay.report.model import Report
from pqassay.report.renderers.details import details
from pqassay_spec.rules.catalogue import Tier

STATED = str(GOLDEN_FILES / "sta" / "max-too-small" / "data.parquet")
INFERRED = str(GOLDEN_FILES / "blm" / "zeroed" / "data.parquet")
PROPOSED = str(GOLDEN_FILES / "dir" / "key-without-value" / "data.parquet")


def checked(*paths: str, tier: Tier = "values") -> Report:
    return pqassay.check(list(paths), tier=tier)


@pytest.mark.parametrize(
    ("path", "outcome", "basis"),
    [
        (STATED, "nonconformant", "the text: parquet.thrift"),
        (INFERRED, "untrue", "follows from the text: BloomFilter"),
        (PROPOSED, "untrue", "ours, a proposal: DIR chapter"),
    ],
)
def test_a_file_is_nonconformant_where_a_document_states_the_rule(
    path: str, outcome: str, basis: str
) -> None:
    report = checked(path)
    (file,) = report.files
    failing = [finding for finding in file.findings if finding.verdict == "FAIL"]

    assert outcome == file.outcome
    assert basis == dict(details(failing[0]))["basis"][: len(basis)]
    assert 1 == report.exit_code


def test_files_that_are_untrue_are_counted_for_themselves() -> None:
    summary = checked(STATED, INFERRED, PROPOSED).summary

    assert (1, 2, 3) == (summary.nonconformant, summary.untrue, summary.broken)
    assert "2 untrue, 1 nonconformant" == summary.broken_words


def test_json_leaves_out_the_basis_that_most_findings_have() -> None:
    bases = [
        finding.get("basis")
        for file in json.loads(checked(STATED, INFERRED).to_json())["files"]
        for finding in file["findings"]
    ]

    assert [None, "inferred"] == bases
