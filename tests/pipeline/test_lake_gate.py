"""The example of a gate: a copy of it is green, red after a regression, and green again after the remedy."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
import yaml  # type: ignore[import-untyped] # its stubs are no dependency of ours
from typer.testing import CliRunner

import pqassay
from places import ROOT
from pqassay.cli.main import app

if TYPE_CHECKING:
    from types import ModuleType

    from pyspark.sql import SparkSession

GATE = ROOT / "examples" / "lake_gate"

ROWS = 400

GOLDEN = GATE.parents[1] / "golden_files" / "idx1"

KNOWN = "archive/2019.parquet"


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the folder, which is the current one."""
    copy = tmp_path / "gate"
    shutil.copytree(GATE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(copy)
    return copy


def job(folder: Path, name: str = "nightly") -> ModuleType:
    """A job as a module, so that it can use the session that runs already."""
    spec = importlib.util.spec_from_file_location(f"{name}_of_a_copy", folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make(target: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the Makefile with the Python of the tests."""
    return subprocess.run(
        ["make", target, f"PYTHON={sys.executable}", *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def report(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "report" / "report.json").read_text())
    return found


def new_findings(folder: Path) -> list[dict[str, Any]]:
    return [
        finding
        for file in report(folder)["files"]
        for finding in file["findings"]
        if not finding.get("known", False)
    ]


@pytest.mark.spark
def test_the_gate_is_green_then_red_after_a_regression_then_green_after_the_remedy(
    spark: SparkSession, gate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nightly = job(gate)
    assert nightly.main(["--night", "2026-11-18", "--rows", str(ROWS)]) == 0
    assert "1 known finding" in capsys.readouterr().out
    first = report(gate)["summary"]
    assert (first["files"], first["conformant"], first["known"]) == (5, 5, 1)

    # The regression, as a build sees it: a process of its own, its log, its exit status, and what it leaves.
    red = make("nightly", f"OPTIONS=--night 2026-11-19 --rows {ROWS} --compact")
    broken = "lake/sales/night=2026-11-19/merged.parquet"
    assert "Error 1" in red.stderr
    assert red.returncode != 0
    found = new_findings(gate)
    assert {(finding["path"], finding["rule"]) for finding in found} == {
        (broken, "IDX1-007"),  # the offset was one in another file
        (broken, "IDX1-022"),  # and so was the number of rows
    }
    (remedy,) = {finding["remedy"] for finding in found}
    assert remedy == f"pqassay-ref embed {broken} --column nation"
    for told in (red.stdout, (gate / "report" / "summary.md").read_text()):
        assert all(part in told for part in (broken, "IDX1-007", "IDX1-022", remedy))
    assert pq.read_table(broken, partitioning=None).num_rows == ROWS

    name, *arguments = shlex.split(remedy)
    subprocess.run([Path(sys.executable).with_name(name), *arguments], check=True, capture_output=True)
    assert nightly.main(["--night", "2026-11-20", "--rows", str(ROWS)]) == 0
    assert new_findings(gate) == []
    assert [file["path"] for file in report(gate)["files"] if "merged" in file["path"]] == [broken]
    assert "| Rule |" not in (gate / "report" / "summary.md").read_text()
    assert not spark.sparkContext._jsc.sc().isStopped()


def test_the_gate_without_spark_knows_what_is_known_and_fails_without_its_baseline(gate: Path) -> None:
    (gate / "lake" / "sales").mkdir(parents=True)
    shutil.copy(GOLDEN / "plain" / "data.parquet", gate / "lake" / "sales")
    green = make("check")
    assert (green.returncode, "1 known" in green.stdout) == (0, True), green.stdout + green.stderr
    config = gate / "pqassay.toml"
    config.write_text(re.sub("(?m)^baseline.*$", "", config.read_text()))
    red = CliRunner().invoke(app, ["check"])
    assert (red.exit_code, KNOWN in red.stdout) == (1, True), red.output
    config.write_text(config.read_text() + 'baseline = "baseline.json"\n')
    (gate / KNOWN).unlink()
    assert CliRunner().invoke(app, ["check"]).exit_code == 3


def shown_in_readme(gate: Path, command: str) -> list[str]:
    """The lines that the README shows below a command."""
    (block,) = re.findall(
        rf"```console\n\$ {re.escape(command)}\n(.*?)```", (gate / "README.md").read_text(), re.DOTALL
    )
    return [line for line in block.splitlines() if line != "..."]


def test_tables_are_green_then_red_after_one_bound_is_lowered_then_green_after_the_remedy(gate: Path) -> None:
    tables = job(gate, "tables")
    night = ["--night", "2026-11-20"]
    data = [
        tables.DELTA / "night-2026-11-20.parquet",
        tables.ICEBERG / "data" / "night-2026-11-20.parquet",
    ]

    assert tables.main(night) == 0
    green = pqassay.check("lake", tier="values")
    command = 'make tables PYTHON=.venv/bin/python OPTIONS="--night 2026-11-20"'
    assert [f"{file.path}: {file.outcome}" for file in green.files] == shown_in_readme(gate, command)
    written = [path.read_bytes() for path in data]

    # The regression, as a build sees it.
    red = make("tables", "OPTIONS=--night 2026-11-20 --careless")
    assert "Error 1" in red.stderr
    # Where a bound is in a manifest depends on the length of the path of the table.
    told = iter(re.sub(r"offset \d+", "offset", red.stdout).splitlines())
    shown = shown_in_readme(gate, f'{command.removesuffix(chr(34))} --careless"')
    assert [line for line in shown if re.sub(r"offset \d+", "offset", line) not in told] == []
    assert [path.read_bytes() for path in data] == written

    assert tables.main(night) == 0
    mended = pqassay.check("lake", tier="values")
    assert (mended.exit_code, mended.summary.conformant) == (0, 4)
    assert [path.read_bytes() for path in data] == written


def test_the_summary_escapes_what_would_break_its_table(gate: Path) -> None:
    from pqassay.report.model import FileReport, Finding, Report, summarise

    finding = Finding(
        rule="IDX1-007",
        level="MUST",
        verdict="FAIL",
        could="read fails",
        path="a|b.parquet",
        count=1,
        at=[],
        message="this | that",
    )
    files = [
        FileReport("a|b.parquet", "parquet", 1, "nonconformant", "c1", [finding]),
        FileReport("c.parquet", "parquet", 1, "errored", "c1", [], error="the footer is encrypted"),
    ]
    lines = job(gate).summary(Report(1, "check", "", "", {}, files, summarise(files))).splitlines()
    assert lines[0] == "### 2 files: 0 conformant, 1 nonconformant, 1 not judged; 0 known findings"
    assert lines[4] == r"| `a\|b.parquet` | IDX1-007 | read fails | this \| that | see the report |"
    assert lines[5] == "- `c.parquet` could not be judged: the footer is encrypted"


def test_the_workflow_runs_what_the_makefile_has(gate: Path) -> None:
    workflow = yaml.safe_load((gate / ".github" / "workflows" / "nightly.yml").read_text())
    steps = workflow["jobs"]["lake"]["steps"]
    commands = [step["run"] for step in steps if "run" in step]
    targets = [command.split()[1] for command in commands if command.startswith("make ")]
    makefile = (gate / "Makefile").read_text()
    assert targets == ["nightly"]
    assert all(re.search(rf"(?m)^{target}:", makefile) for target in targets)
    assert any(step.get("with", {}).get("java-version") == "17" for step in steps)
    assert any("report/summary.md" in command for command in commands)


def test_the_known_finding_is_a_golden_file(gate: Path) -> None:
    golden = GOLDEN / "draft-g0" / "data.parquet"
    assert (gate / KNOWN).read_bytes() == golden.read_bytes()


def test_every_file_of_the_folder_is_described_in_its_readme(gate: Path) -> None:
    readme = (gate / "README.md").read_text()
    paths = [path.relative_to(gate) for path in gate.rglob("*") if path.is_file()]
    names = {path.as_posix() for path in paths} - {"README.md", ".gitignore"}
    assert {name for name in names if f"`{name}`" not in readme} == set()
    assert os.fspath(KNOWN) in names
