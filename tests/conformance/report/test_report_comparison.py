"""What became of findings and results between two reports."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import pqassay
from each import each
from idx1_files import Idx1File
from pqassay.cli.main import app
from pqassay.errors import UsageError
from pqassay.report.comparison import ReportComparison, compare
from pqassay.report.model import FileReport, Report, Untested, summarise
from pqassay.report.run.model import Result, RunReport
from pqassay.report.run.outcomes import Outcome
from report_samples import WICKED, museum, run_report, wicked

BAD = pqassay.check(Idx1File(payload=b"Peru\nSingapura").build())
(BROKEN,) = BAD.files[0].findings

run = CliRunner().invoke


def file(
    path: str, *columns: str | None, count: int = 1, like: Report = BAD, **changes: object
) -> FileReport:
    """A file in which one rule is broken in some columns."""
    findings = [dataclasses.replace(BROKEN, path=path, column=column, count=count) for column in columns]
    return dataclasses.replace(like.files[0], path=path, findings=findings, **changes)  # type: ignore[arg-type]


def report(*files: FileReport, **changes: object) -> Report:
    return dataclasses.replace(BAD, files=list(files), summary=summarise(files), **changes)  # type: ignore[arg-type]


def told(comparison: ReportComparison) -> list[tuple[str, str, str | None, bool]]:
    return [(entry.change, entry.where, entry.part, entry.counted) for entry in comparison.entries]


def test_findings_are_fixed_broken_added_or_not_looked_at() -> None:
    old = report(file("a", "x", "y"), file("gone", "x"), file("b"))
    new = report(file("a", "y", "z"), file("b"), file("new", "x"))

    comparison = compare(old, new)
    assert [
        ("broken", "a", "z", True),
        ("added", "new", "x", True),
        ("fixed", "a", "x", False),
        ("not looked at", "gone", "x", False),
    ] == told(comparison)
    assert {
        "broken": 1,
        "added": 1,
        "changed": 0,
        "fixed": 1,
        "not looked at": 1,
        "unchanged": 1,
    } == comparison.counts
    assert 1 == comparison.exit_code
    assert ["1 file of the earlier report are not in the later one, for example gone"] == comparison.remarks


def test_what_the_later_check_did_not_test_is_not_fixed() -> None:
    coverage = dataclasses.replace(
        BAD.coverages["c1"],
        checked=[rule for rule in BAD.coverages["c1"].checked if rule != BROKEN.rule],
        not_checked={BROKEN.rule: Untested("request", "needs tier values")},
    )
    new = report(file("a"), coverages={"c1": coverage})

    assert [("not looked at", "a", "x", False)] == told(compare(report(file("a", "x")), new))
    assert [("added", "a", "x", True)] == told(compare(new, report(file("a", "x"))))


def test_more_places_are_worse_and_fewer_are_not() -> None:
    one, two = report(file("a", "x")), report(file("a", "x", count=2))

    assert [("broken", "a", "x", True)] == told(compare(one, two))
    assert [] == told(compare(two, one))


def test_what_is_known_or_does_not_count_is_told_and_no_reason_to_fail() -> None:
    known = report(file("a", "x"))
    known.files[0].findings[0] = dataclasses.replace(known.files[0].findings[0], known=True)
    warned = report(file("a", "x"))
    warned.files[0].findings[0] = dataclasses.replace(warned.files[0].findings[0], verdict="WARN")

    for later in (known, warned):
        comparison = compare(report(file("a")), later)
        assert ([("broken", "a", "x", False)], 0) == (told(comparison), comparison.exit_code)
    assert 1 == compare(report(file("a")), dataclasses.replace(warned, threshold="should")).exit_code
    assert [("changed", "a", "x", True)] == told(compare(warned, report(file("a", "x"))))


def test_a_file_that_cannot_be_judged_any_more_is_worse() -> None:
    lost = report(file("a", outcome="errored", error="killed"))

    assert ([("broken", "a", None, True)], 1) == (
        told(compare(report(file("a")), lost)),
        compare(report(file("a")), lost).exit_code,
    )
    assert [("fixed", "a", None, False)] == told(compare(lost, report(file("a"))))
    assert ("not looked at", "a", "x", False) in told(compare(report(file("a", "x")), lost))


def run_of(*outcomes: Outcome | None, known: bool = False) -> RunReport:
    results = [
        Result(f"idx1/{number}", "IDX1", "lint", outcome, known=known or None)
        for number, outcome in enumerate(outcomes)
        if outcome is not None
    ]
    return dataclasses.replace(run_report(), results=results)


@each(
    ("before", "after", "change", "code"),
    [
        ("passed", "failed", "broken", 1),
        ("passed", "crashed", "broken", 1),
        ("failed", "passed", "fixed", 0),
        ("failed", "crashed", "changed", 0),
        ("failed", "failed", None, 0),
        ("passed", "passed", None, 0),
        (None, "failed", "added", 1),
        ("unsupported", "failed", "added", 1),
        (None, "passed", None, 0),
        ("failed", None, "not looked at", 0),
        ("passed", "unsupported", "not looked at", 0),
        ("unsupported", None, None, 0),
        ("failed", "inherited", "not looked at", 0),
        ("passed", "refused by accident", "broken", 1),
    ],
)
def test_results_of_runs(
    before: Outcome | None, after: Outcome | None, change: str | None, code: int
) -> None:
    comparison = compare(run_of(before), run_of(after))

    assert ([change] if change else [], code) == (
        [entry.change for entry in comparison.entries],
        comparison.exit_code,
    )


def test_a_failure_that_was_expected_is_no_reason_to_fail() -> None:
    assert 0 == compare(run_of("passed"), run_of("failed", known=True)).exit_code


def test_a_check_and_a_run_cannot_be_compared() -> None:
    with pytest.raises(UsageError, match="cannot be compared"):
        compare(BAD, run_report())


def test_the_command_compares_in_text_json_and_markdown(tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(report(file("a", "x"), file("b")).to_json())
    new.write_text(report(file("a"), file("b", "y")).to_json())
    text, made, markdown = (
        run(app, ["report", "--against", str(old), str(new), "--format", name])
        for name in ("text", "json", "markdown")
    )

    assert (1, 1, 1) == (text.exit_code, made.exit_code, markdown.exit_code)
    assert text.stdout.splitlines() == [
        f"broken        {BROKEN.rule}  b  column y",
        f"    after   FAIL: {BROKEN.message}",
        f"fixed         {BROKEN.rule}  a  column x",
        f"    before  FAIL: {BROKEN.message}",
        "1 broken, 0 added, 0 changed, 1 fixed, 0 not looked at, 0 unchanged",
    ]
    assert ["broken", "fixed"] == [entry["change"] for entry in json.loads(made.stdout)["entries"]]
    assert "## pqassay check, compared: ❌ worse than before" in markdown.stdout
    assert 0 == run(app, ["report", "--against", str(new), str(new)]).exit_code


def test_a_comparison_of_hostile_reports_stays_on_its_lines(tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(museum().to_json())
    new.write_text(wicked().to_json())
    for name in ("text", "markdown"):
        result = run(app, ["report", "--against", str(old), str(new), "--format", name])
        assert 1 == result.exit_code
        assert all(char.isprintable() for line in result.stdout.split("\n") for char in line)
        assert len(WICKED) <= len(result.stdout.splitlines())
