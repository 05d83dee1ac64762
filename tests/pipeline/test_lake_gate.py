"""The example of a gate, three nights long: red for a bad writer, green once it is known, red again for another one alone.

To repair the table by the plan takes a release of Spark that these tests do not have; `tools/try_repairs.py` tries the statements.
"""

from __future__ import annotations

import csv
import importlib
import re
import shutil
import sys
from collections import Counter
from pathlib import Path

import pyarrow.dataset as ds
import pytest
import yaml  # type: ignore[import-untyped] # pqassay does not depend on its stubs
from typer.testing import CliRunner

import pqassay
from places import ROOT
from pqassay.cli.main import app

pytest.importorskip("deltalake")

GATE = ROOT / "examples" / "lake_gate"


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the folder, which is the current one; its programs are imported from there, and its commands need no process of their own."""
    copy = tmp_path / "gate"
    shutil.copytree(GATE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(copy)
    monkeypatch.syspath_prepend(copy)
    for name in ("nightly", "three_nights", "writers"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(importlib.import_module("nightly"), "pqassay", command)
    return copy


def command(*arguments: str) -> int:
    """Run a command of pqassay in this process, and print what it printed."""
    done = CliRunner().invoke(app, arguments)
    assert isinstance(done.exception, SystemExit | None), done.exception
    sys.stdout.write(done.output)
    return done.exit_code


def test_three_nights(gate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == importlib.import_module("three_nights").main([])

    _, first, _, second, third, ended = capsys.readouterr().out.split("\n=== ")
    assert "Exit codes: [1, 0, 1]" in ended
    assert re.search(r"^FAIL DLT-027 lake/prices/part-00000-\S+, column price \(new\)$", first, re.MULTILINE)
    assert "  owner     load_prices (commit 0, user pricing)\n" in first
    assert 1 == first.count("MERGE INTO")
    assert "\nnothing new\n" in second
    assert ["STA-042"] == re.findall(r"^FAIL (\S+)", third, re.MULTILINE), "red for the other writer alone"
    assert "  writer    parquet-cpp-arrow version 26.0.1\n" in third

    with (gate / "repair-plan/quarantine.csv").open() as file:
        owners = Counter(row["owner"].partition(" ")[0] for row in csv.DictReader(file))
    assert {"load_prices": 3, "load_labels": 1} == owners
    nights = ds.dataset(gate / "findings").to_table(filter=ds.field("verdict") == "FAIL").to_pylist()
    assert [("DLT-027", False), *[("DLT-027", True)] * 5, ("STA-042", False)] == sorted(
        (one["rule"], one["known"]) for one in nights
    )
    left = pqassay.check([], only_files="repair-plan/quarantine.json")
    assert 4 == left.summary.broken, "nothing is repaired yet"


def test_a_second_try_does_not_append_to_the_first(gate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (gate / "lake").mkdir()

    assert 2 == importlib.import_module("three_nights").main([])

    assert "there is a lake already; `make clean` removes it\n" == capsys.readouterr().err


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
