"""What others put into their CI: the composite action and the hook of pre-commit, each run as they would run it."""

from __future__ import annotations

import importlib
import json
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import processes
from idx1_files import Idx1File
from places import ROOT
from pqassay.cli.main import app

pytestmark = pytest.mark.slow

yaml: Any = importlib.import_module("yaml")

ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))

INSTALL, CHECK = ACTION["runs"]["steps"]


def environment(folder: Path, step: dict[str, Any], inputs: dict[str, str]) -> dict[str, str]:
    """The environment in which GitHub would run a step of the action."""
    values = {name: str(declared.get("default", "")) for name, declared in ACTION["inputs"].items()} | inputs
    values = {f"inputs.{name}": value for name, value in values.items()} | {"github.action_path": str(ROOT)}
    own = {
        name: re.sub(r"\$\{\{ (\S+) \}\}", lambda found: values[found[1]], text)
        for name, text in step["env"].items()
    }
    return {
        **os.environ,
        "RUNNER_TEMP": str(folder / "temp"),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        **own,
    }


def carried_out(folder: Path, step: dict[str, Any], inputs: dict[str, str]) -> processes.Completed[str]:
    """Run a step as GitHub runs one whose shell is bash."""
    return processes.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment(folder, step, inputs),
    )


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder with a good and a bad file, and a pqassay where the first step would install it."""
    (tmp_path / "lake of files").mkdir()
    (tmp_path / "good.parquet").write_bytes(Idx1File().build())
    (tmp_path / "lake of files" / "bad $(touch owned).parquet").write_bytes(
        Idx1File(payload=b"Peru\nSingapura").build()
    )
    program = tmp_path / "temp" / "pqassay-environment" / "bin" / "pqassay"
    program.parent.mkdir(parents=True)
    roots = os.pathsep.join(
        str(ROOT / name) for name in ("spec", "reference_impl", "conformance", "pipeline")
    )
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH={shlex.quote(roots)} exec {shlex.quote(sys.executable)} -m pqassay "$@"\n'
    )
    program.chmod(0o755)
    return tmp_path


def test_no_input_is_written_into_a_script() -> None:
    assert "composite" == ACTION["runs"]["using"]
    for step in ACTION["runs"]["steps"]:
        assert "bash" == step["shell"]
        assert "${{" not in step["run"]
    written = {name for line in CHECK["run"].splitlines() for name in re.findall(r'echo "([a-z-]+)=', line)}
    used = {re.findall(r"outputs\.(\S+) ", each["value"])[0] for each in ACTION["outputs"].values()}
    assert written == used == set(ACTION["outputs"])


def test_the_action_checks_writes_a_summary_and_reports_and_keeps_the_exit_code(workspace: Path) -> None:
    paths = "good.parquet\n\n   lake of files  \n"
    done = carried_out(workspace, CHECK, {"paths": paths, "tier": "values", "level": "should"})
    outputs = dict(line.split("=", 1) for line in (workspace / "output").read_text().splitlines())

    assert (1, "") == (done.returncode, done.stderr)
    assert "  FAIL IDX1-016\n" in done.stdout
    assert {"exit-code", "report", "sarif", "html"} == set(outputs)
    assert "1" == outputs["exit-code"]
    assert (workspace / "summary").read_text().startswith("## ❌ pqassay check: nonconformant\n")
    report = json.loads(Path(outputs["report"]).read_text())
    assert "should" == report["threshold"]
    assert ["good.parquet", "lake of files/bad $(touch owned).parquet"] == [
        file["path"] for file in report["files"]
    ]
    (result,) = json.loads(Path(outputs["sarif"]).read_text())["runs"][0]["results"]
    where = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert "lake%20of%20files/bad%20%24%28touch%20owned%29.parquet" == where
    assert Path(outputs["html"]).read_text().startswith("<!doctype html>")
    assert not list(workspace.rglob("owned"))


@pytest.mark.parametrize(
    ("inputs", "code"),
    [({"fail-on": "pruning-lost"}, 0), ({"fail-on": "rows-lost"}, 1), ({"max-files": "1"}, 0)],
)
def test_the_action_fails_on_what_matters(inputs: dict[str, str], code: int, workspace: Path) -> None:
    done = carried_out(workspace, CHECK, {"paths": "lake of files", "tier": "values", **inputs})

    assert (code, "") == (done.returncode, done.stderr)


def test_the_action_keeps_the_exit_code_of_wrong_usage(workspace: Path) -> None:
    done = carried_out(workspace, CHECK, {"paths": "missing.parquet"})

    assert 2 == done.returncode
    assert "missing.parquet: no such file" in done.stderr
    assert "exit-code=2\n" == (workspace / "output").read_text()
    assert not (workspace / "summary").exists()


@pytest.mark.parametrize(("version", "wanted"), [("", str(ROOT)), ("0.5.0", "pqassay==0.5.0")])
def test_the_action_installs_its_own_source_or_a_version(version: str, wanted: str, tmp_path: Path) -> None:
    # In place of Python, a program that notes how it is called, and that is its own environment.
    python = tmp_path / "python"
    python.write_text(
        '#!/bin/sh\necho "$@" >> "$RUNNER_TEMP/called"\n'
        'if [ "$2" = venv ]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; fi\n'
    )
    python.chmod(0o755)
    (tmp_path / "temp").mkdir()
    done = carried_out(tmp_path, INSTALL, {"python": str(python), "version": version})

    assert (0, "") == (done.returncode, done.stderr)
    made, installed = (tmp_path / "temp" / "called").read_text().splitlines()
    assert f"-m venv {tmp_path}/temp/pqassay-environment" == made
    assert f"-m pip install --quiet --disable-pip-version-check {wanted}" == installed


def test_the_hook_of_pre_commit_checks_the_files_that_it_matches(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    names = [
        "good.parquet",
        "a/b.pq",
        "_pm",
        "x/_metadata",
        "x/_common_metadata",
        "a.parq",
        "t/_delta_log/00000000000000000007.json",
        "t/metadata/v3.metadata.json",
        "t/_delta_log/00000000000000000007.crc",
        "package.json",
        "a.parquet.crc",
        "x_pm",
        "notes.txt",
    ]
    program, *arguments = shlex.split(hook["entry"])

    assert names[:8] == [name for name in names if re.search(hook["files"], name)]
    assert ("pqassay", "python") == (program, hook["language"])
    monkeypatch.chdir(workspace)
    (workspace / "false.parquet").write_bytes(Idx1File(payload=b"Peru\nSingapura").build())
    # A lie that only the values show is found, whether a file is committed alone or beside others.
    for paths, code in (
        (["good.parquet"], 0),
        (["false.parquet"], 1),
        (["good.parquet", "false.parquet"], 1),
    ):
        assert code == CliRunner().invoke(app, [*arguments, *hook["args"], *paths]).exit_code
