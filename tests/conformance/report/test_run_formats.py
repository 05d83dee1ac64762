"""The result of a run in the formats for people and for panels, and what became of it since."""

from __future__ import annotations

import dataclasses
import io
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

from pqassay.cli.main import app
from pqassay.report.comparison import compare
from pqassay.report.formats import FormatName
from pqassay.report.renderers.comparison_text import render
from pqassay.report.run.model import Exposure, NotAsked, QueryResult, Result, RunReport, RunSummary, scores
from pqassay.report.run.outcomes import SEVERITIES, Outcome, counts
from report_samples import RENDERED_OF_RUNS, rendered, run_report

QUERY = QueryResult(["=", "metal", "tin"], ["metal", "depth"], 16, 2, "by the index")


def result(case: str, outcome: Outcome, severity: int | None = None, cause: str | None = None) -> Result:
    """A result of a scan."""
    wrong = outcome not in ("passed", "unsupported", "inherited")
    return Result(
        case,
        case.partition("/")[0].upper(),
        "scan",
        outcome,
        "what went wrong" if wrong else "",
        effect="what it could do" if wrong else None,
        severity=severity,
        cause=cause,
        query=QUERY if severity == 1 else None,
    )


RESULTS = [
    result("pix/a", "passed"),
    result("pix/b", "crashed", 5, "crash: panic"),
    result("pix/c", "crashed", 5, "crash: panic"),
    result("blm/d", "failed", 1, "wrong rows by the bloom filter"),
    result("blm/e", "unsupported"),
    result("sta/f", "refused by accident", 6, "refusal: KeyError"),
]


def run_of(*results: Result, lies: tuple[Exposure, ...] = (), not_asked: int = 0) -> RunReport:
    """A run with these results."""
    return dataclasses.replace(
        run_report(),
        results=list(results),
        scores=scores(results),
        problems=[],
        summary=RunSummary(len(results), len(results), counts([each.outcome for each in results]), 0),
        exposures=list(lies),
        not_asked=[NotAsked("pix.lint", not_asked)] if not_asked else [],
        index_left_aside=0,
    )


LIES = (
    Exposure("pix/lie", "PIX", "rows lost", 16, 3, ["<", "depth", 7], "2 rows missing: [1], [2]"),
    Exposure("pix/seen", "PIX", "right", 16, 0),
    Exposure("sta/lie", "STA", "refused", 8, 8, ["=", "depth", 1], "refused: no such order"),
)

RUN = run_of(*RESULTS, lies=LIES, not_asked=37)


@pytest.mark.parametrize("name", RENDERED_OF_RUNS)
def test_the_gravest_that_was_observed_comes_first(name: FormatName) -> None:
    text = rendered(RUN, name)
    found = [SEVERITIES[number] for number in (1, 5, 6)]

    if name is FormatName.JUNIT:  # in each suite: panels order suites by themselves
        assert found == sorted(found, key=lambda words: list(SEVERITIES.values()).index(words))
        assert set(found) == set(re.findall(r'type="([^"]+)"', text))
    else:
        assert sorted(found, key=text.index) == found


@pytest.mark.parametrize("name", RENDERED_OF_RUNS)
def test_the_query_of_a_failure_is_shown_and_no_effect_of_the_rule(name: FormatName) -> None:
    text = rendered(RUN, name).replace("&quot;", '"').replace("&#34;", '"')

    assert '["=", "metal", "tin"]' in text
    assert "what it could do" not in text


@pytest.mark.parametrize("name", [FormatName.TEXT, FormatName.HTML])
def test_the_heading_counts_what_passed(name: FormatName) -> None:
    text = rendered(RUN, name)

    assert "1 of 5 passed, 1 failed, 2 crashed, 1 refused by accident, 1 unsupported" in text
    assert "pqassay run: crashed" not in text


def test_html_has_a_group_for_each_cause_that_the_table_leads_to() -> None:
    text = rendered(RUN, FormatName.HTML)

    groups = re.findall(r'<section class="group" id="(cause-\d)" aria-label="([^"]+)"', text)
    assert [
        ("cause-1", "wrong rows by the bloom filter"),
        ("cause-2", "crash: panic"),
        ("cause-3", "refusal: KeyError"),
    ] == groups
    assert groups == re.findall(r'<a href="#(cause-\d)">([^<]+)</a>', text)
    assert ["blm/d", "pix/b", "pix/c", "sta/f"] == re.findall(r'data-where="([^"]+)"', text)


def test_well_formed_lies_are_a_section_of_their_own_that_says_that_they_are_not_scored() -> None:
    before, _, lies = rendered(RUN, FormatName.HTML).partition("Well-formed lies")

    assert "never scored" in lies
    assert "pix/lie" not in before
    cells = [each for each in re.split(r"\s*</?t[hdr][^>]*>\s*", lies) if each]
    table = cells[cells.index("family") :]
    expected = ["family", "asked", "right", "rows lost", "refused"]
    expected += ["PIX", "2", "1", "1", "0", "STA", "1", "0", "0", "1", "all", "3", "1", "1", "1"]
    assert expected == [each for each in table if "<" not in each][:20]
    assert lies.index("pix/lie") < lies.index("sta/lie")
    assert "pix/seen" not in lies
    assert not re.search("pix/lie|Well-formed", rendered(run_of(*RESULTS), FormatName.HTML))


@pytest.mark.parametrize("name", RENDERED_OF_RUNS)
def test_what_is_not_asked_is_one_line_and_no_row(name: FormatName) -> None:
    text = rendered(RUN, name)

    assert 1 == text.count("not asked because the driver does not declare it: 37 for pix.lint")
    assert 0 == rendered(run_of(*RESULTS), name).count("not asked, since")
    if name is FormatName.JUNIT:
        root = ET.fromstring(text)
        assert len(RESULTS) == len(list(root.iter("testcase")))
        assert ["driver", "result", "not asked"] == [each.get("name") for each in root.iter("property")]


def test_junit_tells_what_is_wrong_first_in_each_suite() -> None:
    suite = next(each for each in ET.fromstring(rendered(RUN, FormatName.JUNIT)) if each.get("name") == "PIX")

    cases = [(case.get("classname"), [child.tag for child in case]) for case in suite.iter("testcase")]
    assert [("pix.b", ["error"]), ("pix.c", ["error"]), ("pix.a", [])] == cases


def test_a_severity_of_another_version_is_told_as_a_number() -> None:
    later = run_of(result("pix/a", "failed", 99, "unknown"))

    for name in RENDERED_OF_RUNS:
        assert "severity 99" in rendered(later, name)


@pytest.mark.parametrize(
    ("before", "after", "change", "code"), [(3, 1, "changed", 1), (1, 3, "changed", 0), (4, 4, None, 0)]
)
def test_a_graver_severity_is_worse(before: int, after: int, change: str | None, code: int) -> None:
    comparison = compare(
        run_of(result("pix/a", "failed", before, "one")), run_of(result("pix/a", "failed", after, "two"))
    )

    assert ([change] if change else [], code) == (
        [entry.change for entry in comparison.entries],
        comparison.exit_code,
    )


def test_a_comparison_tells_results_with_one_cause_together_and_lies_in_notes() -> None:
    fine = [dataclasses.replace(each, outcome="passed", severity=None, cause=None) for each in RESULTS]
    lies = (dataclasses.replace(LIES[0], verdict="right"), *LIES[1:])
    stream = io.StringIO()
    comparison = compare(run_of(*fine, lies=lies), RUN)
    render(comparison, stream)

    assert [1, 5, 5, 6] == [entry.severity for entry in comparison.entries if entry.change == "broken"]
    lines = stream.getvalue().splitlines()
    assert [
        "broken        blm/d  scan",
        "broken        pix/b  scan, and 1 more",
        "broken        sta/f  scan",
    ] == [line for line in lines if line.startswith("broken")]
    assert "    also    pix/c (scan)" in lines
    note = "well-formed lies, which are not scored: right before, rows lost now: pix/lie"
    assert f"note: {note}" in lines


@pytest.mark.parametrize(
    "option", [("--format", "sarif"), ("--format", "markdown"), ("--output", "{folder}/run.md")]
)
def test_a_result_of_a_run_is_not_printed_in_the_formats_of_checks(
    option: tuple[str, str], tmp_path: Path
) -> None:
    (tmp_path / "run.json").write_text(RUN.to_json())
    words = [word.format(folder=tmp_path) for word in option]
    asked = CliRunner().invoke(app, ["suite", "run", *words, "--", "no-such-driver"])
    printed = CliRunner().invoke(app, ["report", str(tmp_path / "run.json"), *words])

    name = "sarif" if "sarif" in option else "markdown"
    told = f"error: results of runs are printed in the formats text, json, junit, html, not {name}\n"
    assert (2, told) == (asked.exit_code, asked.stderr) == (printed.exit_code, printed.stderr)
