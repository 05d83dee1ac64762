"""The example of a gate, three nights long: red for a bad writer, green once it is known, red again for another one alone.

That Spark mends the table by the plan takes a release of Spark that these tests do not have; `tools/try_repairs.py` tries the statements.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import re
import shutil
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pyarrow.dataset as ds
import pytest
import yaml  # type: ignore[import-untyped] # its stubs are no dependency of ours

import pqassay
from places import ROOT

pytest.importorskip("deltalake")

GATE = ROOT / "examples" / "lake_gate"


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The job of a copy of the folder, which is the current one."""
    copy = tmp_path / "gate"
    shutil.copytree(GATE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(copy)
    monkeypatch.setattr(sys, "path", [str(copy), *sys.path])
    monkeypatch.delitem(sys.modules, "writers", raising=False)
    spec = importlib.util.spec_from_file_location("nightly_of_a_copy", copy / "nightly.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def new_findings() -> dict[str, str | None]:
    """The rules of the findings that count in the report of the night, each with what wrote the file."""
    report = json.loads(Path("report/report.json").read_text())
    return {
        one["rule"]: file["created_by"]
        for file in report["files"]
        for one in file["findings"]
        if one["verdict"] == "FAIL" and not one.get("known")
    }


def test_three_nights(job: ModuleType) -> None:
    assert 1 == job.main(["--night", "2026-11-20"])
    assert {"DLT-027": "delta-rs version py-1.6.6"} == new_findings()
    assert (
        "| load_prices (commit 0, WRITE, engine delta-rs:py-1.6.6, user pricing) |"
        in Path("report/summary.md").read_text()
    )
    assert 1 == Path("report/plan/repair.sql").read_text().count("MERGE INTO")

    assert 0 == job.main(["--accept"])
    assert 0 == job.main(["--night", "2026-11-21"])
    assert {} == new_findings()

    assert 1 == job.main(["--night", "2026-11-22", "--labels"])
    assert {"STA-042": "parquet-cpp-arrow version 26.0.1"} == new_findings()

    with Path("report/plan/quarantine.csv").open() as file:
        owners = Counter(row["owner"].partition(" ")[0] for row in csv.DictReader(file))
    assert {"load_prices": 3, "load_labels": 1} == owners
    nights = ds.dataset("findings", partitioning="hive").to_table().to_pylist()
    assert {
        ("2026-11-20", "DLT-027", False): 1,
        ("2026-11-21", "DLT-027", True): 2,
        ("2026-11-22", "DLT-027", True): 3,
        ("2026-11-22", "STA-042", False): 1,
    } == Counter((str(one["run"]), one["rule"], one["known"]) for one in nights if one["verdict"] == "FAIL")
    left = pqassay.check([], only_files="report/plan/quarantine.json", preview=True)
    assert 4 == left.summary.nonconformant, "nothing is mended yet"


def test_the_workflow_runs_what_the_makefile_has() -> None:
    workflow = yaml.safe_load((GATE / ".github/workflows/nightly.yml").read_text())
    targets = re.findall(r"^([a-z]+):", (GATE / "Makefile").read_text(), re.MULTILINE)

    commands = [step.get("run", "") for step in workflow["jobs"]["lake"]["steps"]]

    assert {"nightly"} == {found for line in commands for found in re.findall(r"make ([a-z]+)", line)}
    assert "nightly" in targets


def test_every_file_of_the_folder_is_described_in_its_readme() -> None:
    text = (GATE / "README.md").read_text()
    files = [path for path in GATE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]

    assert [] == [
        path.name for path in files if path.name not in text and path.name not in ("README.md", ".gitignore")
    ]


def test_the_releases_are_those_of_the_findings_guide() -> None:
    pinned = (GATE / "requirements.txt").read_text()
    told = (ROOT / "docs/guide/findings.md").read_text()

    assert [] == [name for name in re.findall(r"^(\S+)==", pinned, re.MULTILINE) if f"{name} " not in told]
