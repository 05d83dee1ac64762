"""Gaps: a file of which something could not be looked at is not plainly conformant, and says so everywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

import pqassay
from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay.report.model import Coverage, Gap
from pqassay.under_test.file import Broken, Hindrances, NotChecked, NotEverywhere

run = CliRunner().invoke

ELSEWHERE = GOLDEN_FILES / "pqf" / "chunk-elsewhere" / "data.parquet"
GOOD = GOLDEN_FILES / "pqf" / "all-types" / "data.parquet"
LINE = "1 of 2 columns not checked, because row group 0 of column year is stored in another file"


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a file that can be looked at everywhere, and one that cannot."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "elsewhere.parquet").write_bytes(ELSEWHERE.read_bytes())
    (tmp_path / "lake" / "good.parquet").write_bytes(GOOD.read_bytes())
    return tmp_path


def check(*arguments: str) -> Any:
    return run(app, ["check", "--tier", "values", "lake", *arguments])


@pytest.mark.parametrize("tier", ["footer", "index", "pages", "values"])
def test_a_chunk_in_another_file_is_a_gap_at_every_tier(tier: Any) -> None:
    (file,) = pqassay.check(ELSEWHERE, tier=tier).files
    (gap,) = file.gaps

    assert ("conformant where checked", LINE) == (file.outcome, gap.line)
    assert ("file", ["year"], 2) == (gap.obstacle, gap.columns, gap.of_columns)


def test_what_the_request_leaves_out_is_no_gap() -> None:
    report = pqassay.check(GOLDEN_FILES / "sta" / "audited" / "data.parquet", tier="footer", skip=["PQF-009"])
    (file,) = report.files
    not_checked = report.coverages[file.coverage].not_checked

    assert ("conformant", []) == (file.outcome, file.gaps)
    assert "request" == not_checked["PQF-009"].obstacle == not_checked["PIX-050"].obstacle


def test_another_broken_rule_is_no_gap() -> None:
    report = pqassay.check(GOLDEN_FILES / "pqf" / "tail-magic" / "data.parquet", tier="footer")
    (file,) = report.files

    assert ("nonconformant", []) == (file.outcome, file.gaps)
    assert {"another rule"} == {
        why.obstacle
        for why in report.coverages[file.coverage].not_checked.values()
        if why.reason.endswith("is broken")
    }


@pytest.mark.usefixtures("lake")
def test_without_complete_the_last_line_says_it_and_with_it_the_exit_code() -> None:
    plain, complete = check(), check("--complete")

    assert (0, 4) == (plain.exit_code, complete.exit_code)
    assert "2 files: 1 conformant, 1 conformant where checked, 0 nonconformant, 0 errored" in plain.stdout
    last = f"conformant where checked: lake/elsewhere.parquet: {LINE}"
    assert f"{last}; --complete fails on that" == plain.stdout.splitlines()[-1]
    assert last == complete.stdout.splitlines()[-1]


def test_complete_may_stand_in_the_file_of_defaults(lake: Path) -> None:
    (lake / "pqassay.toml").write_text("[check]\ncomplete = true\n")

    assert (4, 0) == (check().exit_code, check("--no-complete").exit_code)


def test_a_baseline_accepts_a_gap_until_it_grows(lake: Path) -> None:
    written = check("--complete", "--write-baseline", "known.json")
    known = check("--complete", "--baseline", "known.json")
    entry = json.loads((lake / "known.json").read_text())["findings"][-1]
    (lake / "known.json").write_text((lake / "known.json").read_text().replace('"count": 1', '"count": 0'))
    grown = check("--complete", "--baseline", "known.json")

    assert {"path": "lake/elsewhere.parquet", "rule": "gap:file", "count": 1} == entry
    assert (0, 0, 4) == (written.exit_code, known.exit_code, grown.exit_code)
    assert f"  known: {LINE}" in known.stdout.splitlines()
    assert "2 files: 2 conformant, 0 nonconformant, 0 errored; 2 known findings" in known.stdout


def test_an_accepted_gap_that_is_closed_is_stale(lake: Path) -> None:
    check("--write-baseline", "known.json")
    (lake / "lake" / "elsewhere.parquet").write_bytes(GOOD.read_bytes())
    repaired = check("--baseline", "known.json")

    assert 3 == repaired.exit_code
    assert "gap:file lake/elsewhere.parquet: the file no longer has unchecked parts" in repaired.stdout


@pytest.mark.usefixtures("lake")
@pytest.mark.parametrize("form", ["text", "html", "markdown", "junit", "sarif", "json"])
def test_every_format_says_what_was_not_looked_at(form: str) -> None:
    report = check("--format", form).stdout

    if form == "junit":  # a panel that people look at shows skipped tests
        (skipped,) = (
            one for one in ET.fromstring(report).iter("skipped") if "conformant" in one.get("type", "")
        )
        assert LINE == skipped.get("message")
    assert "stored in another file" in report
    assert "conformant where checked" in report or form == "sarif"


def test_a_reason_for_each_obstacle_and_every_column_are_kept() -> None:
    found, others = Hindrances(), Hindrances()
    found.note(NotChecked("a is encrypted", "key"), "a")
    found.note(NotChecked("b is encrypted", "key"), "b")
    others.note(NotChecked("LZO is not read", "tool"), "c")
    others.note(NotEverywhere(Broken("PQF-001"), found))

    assert {"key": ("a is encrypted", {"a", "b"}), "tool": ("LZO is not read", {"c"})} == {
        obstacle: (one.reason, one.columns) for obstacle, one in others.items()
    }


def test_a_gap_counts_columns_or_rules() -> None:
    assert "2 of 1,000 columns" == Gap("key", "", [], ["a", "b"], 1000).extent
    assert "1 of 1 column" == Gap("key", "", ["PQF-001"], ["a"], 1).extent
    assert "2 rules" == Gap("tool", "", ["PM-001", "PM-002"], [], 3).extent


def test_reasons_are_those_of_the_coverage() -> None:
    report = pqassay.check(ELSEWHERE, tier="values")
    (coverage,) = report.coverages.values()
    (gap,) = report.files[0].gaps

    assert isinstance(coverage, Coverage)
    assert {gap.reason} == {coverage.reasons[rule] for rule in gap.rules}
