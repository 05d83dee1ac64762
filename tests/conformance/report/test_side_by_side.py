"""Results of several implementations side by side."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import io
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pqassay.cli.main import app
from pqassay.report.formats import ABREAST, FormatName
from pqassay.report.rendering import write_side_by_side
from pqassay.report.run.model import Driver, Exposure, NotAsked, Result, RunReport, RunSummary, scores
from pqassay.report.run.outcomes import ExposureVerdict, Outcome, counts
from pqassay.report.side_by_side.model import SideBySide, side_by_side
from report_samples import WICKED, museum, run_report

Answer = tuple[Outcome, int | None]

RIGHT: Answer = ("passed", None)


def run_of(
    name: str, answers: dict[str, Answer], lies: dict[str, ExposureVerdict] | None = None, golden: str = "2"
) -> RunReport:
    """A run of an implementation: what it answered about cases, and what it made of lies."""
    results = [
        Result(
            case, case.partition("/")[0].upper(), "scan", outcome, severity=severity, title=f"about {case}"
        )
        for case, (outcome, severity) in answers.items()
    ]
    return dataclasses.replace(
        run_report(),
        golden_files_sha256=golden * 64,
        driver=Driver(["driver"], "3" * 64, name=name, version="1.0", language="C"),
        results=results,
        scores=scores(results),
        summary=RunSummary(len(results), len(results), counts([each.outcome for each in results]), 0),
        exposures=[Exposure(case, "PIX", verdict, 8, 1) for case, verdict in (lies or {}).items()],
        not_asked=[NotAsked("pix.lint", 3)],
    )


def abreast(*runs: RunReport) -> SideBySide:
    return side_by_side(runs, [f"{number}.json" for number in range(len(runs))])


def printed(shown: SideBySide, name: FormatName) -> str:
    stream = io.StringIO()
    write_side_by_side(shown, name, stream)
    return stream.getvalue()


ONE = run_of(
    "one",
    {
        "pix/fine": RIGHT,
        "pix/small": ("failed", 7),
        "pix/grave": ("failed", 1),
        "blm/fine": RIGHT,
        "blm/odd": ("inherited", None),
    },
    {"pix/lie": "right", "pix/seen": "right", "pix/lost": "rows lost"},
)
TWO = run_of(
    "two",
    {"pix/fine": RIGHT, "pix/small": ("crashed", 5), "pix/grave": RIGHT, "blm/fine": ("unsupported", None)},
    {"pix/lie": "refused", "pix/seen": "right", "pix/lost": "rows lost"},
)


def test_the_matrix_has_the_questions_that_somebody_did_not_answer_rightly_the_gravest_first() -> None:
    rows = abreast(ONE, TWO).rows

    assert [
        ("pix/grave", True, ["W", "✓"]),
        ("pix/small", True, ["x", "c"]),
        ("pix/lost", False, ["(L)", "(L)"]),
        ("pix/lie", False, ["(✓)", "(R)"]),
    ] == [(row.case, row.scored, [cell.mark for cell in row.cells]) for row in rows]


def test_the_overview_counts_what_passed_each_severity_and_what_was_not_asked() -> None:
    one, two = abreast(ONE, TWO).implementations

    assert ("one 1.0", 5, 2, {"1": 1, "7": 1}, {"inherited": 1}, 3) == (
        one.label,
        one.asked,
        one.passed,
        one.severities,
        one.otherwise,
        one.not_asked,
    )
    assert ({"5": 1}, {"unsupported": 1}) == (two.severities, two.otherwise)
    assert {"right": 2, "rows lost": 1} == one.exposure


def test_what_was_not_asked_is_no_pass() -> None:
    asked = run_of("asked", {"pix/a": ("failed", 1)})
    other = run_of("other", {"pix/b": RIGHT})
    (row,) = abreast(asked, other).rows

    assert ["W", "·"] == [cell.mark for cell in row.cells]
    short = dataclasses.replace(other, results=[])  # a result that leaves out what passed
    (row,) = abreast(asked, short).rows
    assert ["W", "-"] == [cell.mark for cell in row.cells]


def test_results_about_other_golden_files_are_told_apart() -> None:
    same = run_of("one", {"pix/a": RIGHT}), run_of("two", {"pix/a": RIGHT})
    other = run_of("three", {"pix/a": RIGHT}, golden="5")

    assert [] == abreast(*same).remarks
    assert [
        "the results name different golden files: 22222222 one 1.0, two 1.0; 55555555 three 1.0"
    ] == abreast(*same, other).remarks


def test_implementations_of_one_name_are_numbered() -> None:
    assert ["one 1.0 (1)", "two 1.0", "one 1.0 (2)"] == [
        each.label for each in abreast(ONE, TWO, ONE).implementations
    ]


@pytest.mark.parametrize("name", ABREAST)
def test_every_format_shows_overview_matrix_and_what_marks_mean(name: FormatName) -> None:
    text = printed(abreast(ONE, TWO), name)

    for words in ("one 1.0", "two 1.0", "pix/grave", "pix/lie", "wrong rows from a valid file", "rows lost"):
        assert words in text
    assert "pix/fine" not in text
    assert "pix/seen" not in text
    if name is not FormatName.JSON:
        assert "never scored" in text


LETTERS = "W wrong rows from a valid file; c crash on a damaged file; x accepts a file that must be refused"


def test_the_text_is_this() -> None:
    assert printed(abreast(ONE, TWO), FormatName.TEXT).splitlines() == [
        "   implementation  cases  passed  past foreign bytes  questions  W  c  x  i  u  (L)  (R)  (✓)  not asked",
        "1  one 1.0             5  2 of 5                   0          5  1  0  1  1  0    1    0    2          3",
        "2  two 1.0             4  2 of 3                   0          4  0  1  0  0  1    1    1    1          3",
        "",
        "family  operation    1         2",
        "BLM     scan       1/2  0/0 of 1",
        "PIX     scan       1/3       2/3",
        "",
        "not right everywhere  1    2",
        "PIX",
        "  pix/grave scan      W    ✓",
        "  pix/small scan      x    c",
        "PIX: well-formed lies, which are never scored",
        "  pix/lost scan       (L)  (L)",
        "  pix/lie scan        (✓)  (R)",
        "",
        f"{LETTERS}; ✓ passed; i inherited; u unsupported",
        "well-formed lies, which are never scored: (L) rows lost; (R) refused; (✓) right",
    ]


def test_the_page_has_no_script_and_needs_nothing_else() -> None:
    text = printed(abreast(ONE, TWO), FormatName.HTML)
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()

    assert f"style-src 'sha256-{digest}'; script-src 'none'" in text.replace("&#39;", "'")
    assert not re.search(r"<script|<img|<link|\son\w+=|\ssrc=|\sstyle=", text)


def test_the_page_lets_a_family_be_chosen_by_style_alone() -> None:
    lost = run_of("one", {"pix/a": ("failed", 1), "blm/b": ("failed", 1)})
    text = printed(abreast(lost, TWO), FormatName.HTML)

    assert ["all", "BLM", "PIX"] == re.findall(r'<label for="family-\d">(\w+)</label>', text)
    assert ["1", "2"] == re.findall(r'<section class="family-(\d)">', text)
    for number in (1, 2):
        rule = f"#family-{number}:checked ~ .families > :not(.family-{number}) {{ display: none; }}"
        assert rule in text


def test_cells_of_lies_look_unlike_those_that_are_scored() -> None:
    text = printed(abreast(ONE, TWO), FormatName.HTML)
    classes = {
        mark: name for name, mark in re.findall(r'<span class="mark ([^"]*)"[^>]*>([^<]+)</span>', text)
    }

    assert {"(L)", "(R)", "(✓)"} == {mark for mark, name in classes.items() if "lie" in name.split()}


@pytest.mark.parametrize("name", ABREAST)
def test_no_text_of_a_result_is_markup_or_a_control_character(name: FormatName) -> None:
    text = printed(abreast(run_report(WICKED), run_report(), ONE), name)

    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\x85\u2028\u202e\udc80-\udcff]", text)
    assert name is not FormatName.HTML or not re.search(r"<(script|img)", text)


def written(folder: Path, **reports: RunReport) -> list[str]:
    """Files of results, by name."""
    for name, report in reports.items():
        (folder / f"{name}.json").write_text(report.to_json())
    return [str(folder / f"{name}.json") for name in reports]


def test_the_command_puts_several_results_side_by_side(tmp_path: Path) -> None:
    files = written(tmp_path, one=ONE, two=TWO)
    text = CliRunner().invoke(app, ["report", *files])
    made = CliRunner().invoke(app, ["report", *files, "--format", "json"])

    assert (0, printed(abreast(ONE, TWO), FormatName.TEXT)) == (text.exit_code, text.stdout)
    assert ("side by side", 4) == (json.loads(made.stdout)["kind"], len(json.loads(made.stdout)["rows"]))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--format", "junit"], "several results are printed in the formats text, json, html, not junit"),
        (["--against", "{one}"], "--against compares one report with an earlier one; here are 2"),
        (["--output", "{two}"], "this is the input report"),
        (["{check}"], "check.json: this is a report of pqassay check; only results of pqassay suite run"),
        (["-", "-"], "only one report can come from stdin"),
    ],
)
def test_wrong_usage_exits_2(arguments: list[str], words: str, tmp_path: Path) -> None:
    one, two = written(tmp_path, one=ONE, two=TWO)
    check = tmp_path / "check.json"
    check.write_text(museum().to_json())
    places = {"{one}": one, "{two}": two, "{check}": str(check)}
    done = CliRunner().invoke(app, ["report", one, two, *(places.get(word, word) for word in arguments)])

    assert 2 == done.exit_code
    assert words in done.stderr.replace("\n", " ")
