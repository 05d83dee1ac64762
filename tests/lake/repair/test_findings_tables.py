"""A plan that is made of a findings table is that of the same check's report in JSON."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from places import GOLDEN_FILES
from pqassay.cli.main import app


def test_a_findings_table_and_a_report_in_json_have_one_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(GOLDEN_FILES / "dlt/maximum-lowered/table", "sales")
    arguments = [
        "check",
        "--config",
        "none",
        "sales",
        "--out",
        "verdicts",
        "--format",
        "json",
        "--output",
        "report.json",
    ]
    assert 1 == CliRunner().invoke(app, arguments).exit_code
    plans: list[str] = []
    for report in ("verdicts", "report.json"):
        assert 0 == CliRunner().invoke(app, ["plan-repair", report, "--output", f"plan-{report}"]).exit_code
        plans.append(Path(f"plan-{report}", "quarantine.csv").read_text())

    assert plans[0] == plans[1]
    assert "sales/part-0.parquet,sales,0,values,DLT-027,rows lost" in plans[0]
