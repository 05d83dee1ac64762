"""Runs that are scored by a revision: cases that are not in it are asked, reported, and counted nowhere."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import jsonschema
import pytest

from golden_cases import VALUES, valid_case, write_driver
from inside import Here
from pqassay.report.comparison import compare
from pqassay.report.formats import FormatName
from pqassay.report.run.model import RunReport, json_schema
from pqassay.report.side_by_side.model import side_by_side
from pqassay_spec.golden.revision import Revision
from pqassay_suite.cases.case import load
from pqassay_suite.drivers import driver as driver_module
from pqassay_suite.running.runner import Settings, run
from report_samples import rendered

RIGHT = json.dumps({"answer": "accept", "value": {"values": VALUES}})
WRONG = json.dumps({"answer": "accept", "value": {"values": []}})


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunReport:
    """A driver right about the first request and wrong about all others; the first case alone is in the revision."""
    monkeypatch.setattr(driver_module, "Inspector", Here)
    for name in ("made/a", "made/b", "made/c"):
        valid_case(tmp_path / "cases", name)
    (tmp_path / "next").write_text(RIGHT)
    command = write_driver(tmp_path, f"cp {tmp_path}/next $2; printf '%s' '{WRONG}' > {tmp_path}/next")
    cases = load(tmp_path / "cases")
    listed = {"made/a": cases[0].asked_sha256, "made/c": "0" * 64}
    return run(cases, Settings(command, only=["decode"], jobs=1), revision=Revision("1.0", "frozen", listed))


def test_what_is_not_in_the_revision_is_asked_and_does_not_count(report: RunReport) -> None:
    assert [("made/a", "passed", None), ("made/b", "failed", True), ("made/c", "failed", True)] == [
        (result.case, result.outcome, result.unscored) for result in report.results
    ]
    assert 0 == report.exit_code
    assert (1, {"passed": 1}, {"failed": 2}) == (
        report.summary.results,
        report.summary.outcomes,
        report.summary.unscored,
    )
    assert [(1, 1)] == [(score.asked, score.passed) for score in report.scores]


def test_without_a_revision_everything_counts(report: RunReport) -> None:
    counted = [dataclasses.replace(result, unscored=None) for result in report.results]

    assert 1 == dataclasses.replace(report, results=counted).exit_code


def test_results_name_the_revision_and_tell_added_from_changed(report: RunReport) -> None:
    by = report.scored_by

    assert by is not None
    assert ("1.0", 2, 1) == (by.revision, by.cases, by.chosen)
    assert (["made/b"], ["made/c"]) == (list(by.added), list(by.changed))
    assert not by.is_whole
    assert {"made/a": ["decode"], "made/b": ["decode"], "made/c": ["decode"]} == report.asked
    jsonschema.validate(json.loads(report.to_json()), json_schema())


@pytest.mark.parametrize(
    ("format_name", "said"),
    [
        (FormatName.TEXT, "failed  made/b  decode, and 1 more  (not scored yet: after revision 1.0)"),
        (FormatName.TEXT, "not scored yet, 1 case added and 1 case changed after revision 1.0: 2 failed"),
        (FormatName.JUNIT, 'type="not scored yet"'),
        (FormatName.JUNIT, 'failures="0"'),
        (FormatName.HTML, "not scored yet, 1 case added and 1 case changed after revision 1.0: 2 failed"),
    ],
)
def test_every_format_says_what_is_not_scored(report: RunReport, format_name: FormatName, said: str) -> None:
    assert said in rendered(report, format_name)


def test_a_comparison_tells_what_is_not_scored_and_does_not_fail_for_it(report: RunReport) -> None:
    passed = [dataclasses.replace(result, outcome="passed") for result in report.results]
    found = compare(dataclasses.replace(report, results=passed), report)

    assert [("made/b", "broken", False), ("made/c", "broken", False)] == [
        (entry.where, entry.change, entry.counted) for entry in found.entries
    ]
    assert 0 == found.exit_code


def test_side_by_side_counts_what_is_scored(report: RunReport) -> None:
    counted = [dataclasses.replace(result, unscored=None) for result in report.results]
    everything = dataclasses.replace(report, results=counted, scored_by=None)
    found = side_by_side([report, everything], ["a", "b"])

    assert [0, 2] == [sum(each.severities.values()) for each in found.implementations]
    assert [] == side_by_side([report, report], ["a", "a"]).rows
    assert any("revisions of the golden cases" in remark for remark in found.remarks)
