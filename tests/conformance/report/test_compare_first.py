"""Findings that hold a claim against values say, in every format and in plans, to compare with the source first."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import pqassay
from damage import EXAMPLES
from golden_cases import golden_cases
from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay.report.renderers.details import details
from pqassay.report.rules import COMPARE, COMPARE_BEFORE, COMPARE_FIRST
from pqassay_spec.rules.catalogue import file_rules

pytestmark = pytest.mark.slow

FALSE_BOUND = "sta/max-too-small/data.parquet"


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, arguments)


def test_rules_that_hold_claims_against_values_are_those_about_claims() -> None:
    compared = {rule.id for rule in file_rules().values() if rule.compares_values}

    assert {"STA-041", "STA-043", "PIX-050", "BLM-020", "IDX1-016", "PM-140", "DIR-017"} <= compared
    assert {"DLT-027", "DLT-028", "ICE-040", "ICE-041", "PQF-075", "DIR-035"} <= compared
    # Bounds that are wrong by themselves, pages that are broken, values that do not fit their type or a constraint.
    assert set() == compared & {"STA-018", "DLT-012", "PQF-077", "PQF-101", "DLT-050", "ICE-048"}
    assert {"values", "pages"} == {file_rules()[rule].tier for rule in compared}


def test_findings_say_it_where_values_were_compared_or_the_remedy_is_refused_without(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    expected: dict[str, str | None] = {}
    actual: dict[str, str | None] = {}
    cases = [
        golden for golden in golden_cases() if golden.case.family in ("STA", "PIX", "BLM", "IDX1", "PQF")
    ]
    for golden in cases[:: 2 * EXAMPLES - 1]:
        path.write_bytes(golden.content())
        for finding in pqassay.check(path, tier="values").files[0].findings:
            command = shlex.split(finding.remedy or "")[1:]
            is_refused = (
                command[:1] == ["strip"] and "--values-are-right" in run(*command, "-o", f"{path}.new").stderr
            )
            key = f"{golden.case.id} {finding.rule}"
            expected[key] = (
                COMPARE_FIRST if finding.compares_values else COMPARE_BEFORE if is_refused else None
            )
            actual[key] = dict(details(finding)).get("first")

    assert expected == actual
    assert {COMPARE_FIRST, COMPARE_BEFORE, None} == set(actual.values())


@pytest.mark.parametrize("options", [[], ["-v"]])
def test_a_remedy_that_is_refused_says_it_in_short_and_in_full(options: list[str]) -> None:
    shown = run("check", *options, str(GOLDEN_FILES / "blm/no-bit-set/data.parquet")).stdout

    assert 1 == shown.count(f"first     {COMPARE_BEFORE if options else COMPARE}")


@pytest.mark.parametrize("form", ["text", "junit", "sarif", "markdown", "html"])
def test_every_format_says_it_once_for_each_finding(form: str) -> None:
    shown = run("check", "-v", str(GOLDEN_FILES / FALSE_BOUND), "--format", form).stdout

    assert 1 <= shown.count(COMPARE_FIRST)
    assert (form in ("text", "junit", "markdown")) <= (1 == shown.count(COMPARE_FIRST))


def test_json_history_and_explanation_say_it(tmp_path: Path) -> None:
    place = str(tmp_path / "history")
    done = run("check", str(GOLDEN_FILES / FALSE_BOUND), "--format", "json", "--history", place)
    (finding,) = json.loads(done.stdout)["files"][0]["findings"]

    assert finding["compares_values"]
    assert COMPARE_FIRST in run("history", place, "--new").stdout
    assert COMPARE_FIRST in " ".join(run("explain", "STA-041").stdout.split())


def test_plans_say_it_and_vouch_for_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(GOLDEN_FILES / FALSE_BOUND, "plain.parquet")
    shutil.copy(GOLDEN_FILES / "blm/no-bit-set/data.parquet", "filter.parquet")
    shutil.copytree(GOLDEN_FILES / "dlt/maximum-lowered/table", "sales")
    report = pqassay.check(["plain.parquet", "filter.parquet", "sales"], tier="values")
    Path("report.json").write_text(report.to_json())
    told = run("plan-repair", "report.json").stdout
    plan = json.loads(Path("repair-plan/quarantine.json").read_text())
    script = Path("repair-plan/repair.sh").read_text().splitlines()

    assert 2 == told.count(f"note: {COMPARE_FIRST}")
    assert [True, True] == [COMPARE_FIRST in step["notes"] for step in plan["steps"]]
    assert f"-- {COMPARE_FIRST}" in Path("repair-plan/repair.sql").read_text()
    assert f"# {COMPARE_FIRST}" in script
    assert f"# {COMPARE_BEFORE}" in script
    assert "# After you compared the values with their source: sh repair.sh --values-are-right" in script
    assert [
        'pqassay strip plain.parquet --statistics --column grade "$@"',
        'pqassay strip filter.parquet --bloom-filters --column metal "$@"',
    ] == script[-2:]
