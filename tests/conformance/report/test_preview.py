"""Rules of the newest minor release are reported, and fail a check only if that is asked for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import pqassay
from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay.report.comparison import compare
from pqassay.report.model import Report
from pqassay_spec.rules import catalogue
from pqassay_spec.rules.catalogue import rules

BROKEN = str(GOLDEN_FILES / "dlt/bounds-inverted/table")
RULE = "DLT-012"


@pytest.mark.parametrize(
    ("version", "stability"),
    [
        ("0.6.0", "preview"),
        ("0.7.0", "preview"),
        ("0.7.9", "preview"),
        ("0.8.0", "stable"),
        ("1.0.0", "stable"),
    ],
)
def test_a_rule_counts_from_the_minor_release_after_the_one_that_introduced_it(
    version: str, stability: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "__version__", version)

    assert stability == replace(rules()[RULE], since="0.7.0").stability


@pytest.fixture
def is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the release that introduced the rule the newest one."""
    monkeypatch.setattr(catalogue, "__version__", rules()[RULE].since)


def checked(**options: object) -> Report:
    return pqassay.check(BROKEN, tier="meta", only=[RULE], **options)  # type: ignore[arg-type]  # options of a check


@pytest.mark.usefixtures("is_new")
def test_a_finding_of_a_new_rule_is_reported_and_fails_nothing() -> None:
    report = checked()

    assert (0, "nonconformant", True) == (
        report.exit_code,
        report.files[0].outcome,
        report.files[0].findings[0].preview,
    )
    assert (
        f"1 finding of preview rules ({RULE}) counts from the next minor release on, or with --preview"
        == (report.preview_line)
    )
    assert [1, 0] == [
        checked(preview=True).exit_code,
        checked(fail_on=["rows-lost"]).exit_code,
    ]


def test_a_finding_of_an_older_rule_fails_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "__version__", "99.0.0")

    report = checked()

    assert (1, False, "") == (report.exit_code, report.files[0].findings[0].preview, report.preview_line)


@pytest.mark.usefixtures("is_new")
def test_an_upgrade_makes_no_comparison_worse() -> None:
    report = checked()
    before = replace(report, files=[replace(report.files[0], findings=[], outcome="conformant")])

    assert [0, 1] == [
        compare(before, report).exit_code,
        compare(before, replace(report, preview=True)).exit_code,
    ]


@pytest.mark.usefixtures("is_new")
def test_the_command_line_and_the_file_of_defaults_ask_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def run(*options: str) -> tuple[int, str]:
        result = CliRunner().invoke(app, ["check", BROKEN, "--tier", "meta", "--rule", RULE, *options])
        return result.exit_code, result.stdout

    without, told = run()
    assert (0, True) == (without, told.rstrip().endswith("or with --preview"))
    assert 1 == run("--preview")[0]
    (tmp_path / "pqassay.toml").write_text("[check]\npreview = true\n")
    assert [1, 0] == [run()[0], run("--no-preview")[0]]
    found = json.loads(run("--format", "json")[1])
    assert (True, True) == (found["preview"], found["files"][0]["findings"][0]["preview"])


@pytest.mark.usefixtures("is_new")
def test_an_explanation_says_it() -> None:
    told = CliRunner().invoke(app, ["explain", RULE]).stdout

    assert "preview: it is reported" in told
