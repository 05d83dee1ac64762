"""Every way to gate tables fails for the same rules, and says so where a release is pinned and they do not fail."""

from __future__ import annotations

import importlib
import io
import json
import os
import re
import shlex
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

import pqassay
import processes
from places import GOLDEN_FILES, ROOT
from pqassay.cli.main import app
from pqassay.cli.main import spark as spark_app
from pqassay.pytest_plugin import CheckFixture
from pqassay.report.comparison import compare
from pqassay.report.renderers.comparison_text import render_markdown

pytestmark = pytest.mark.slow

yaml: Any = importlib.import_module("yaml")

TABLES = ("dlt/maximum-lowered", "dlt/file-missing", "ice/manifest-marker")
"""Golden tables with a false maximum, without a live file and with a manifest that cannot be read, gated together.

Each breaks one rule; all three came in release 0.7.
"""

PLACES = [str(GOLDEN_FILES / table / "table") for table in TABLES]

RULES = {"DLT-025", "DLT-007", "ICE-004"}
"""The rules that they break."""

OLDER = "0.6"

LINE = 'NOT FAILING: 3 FAIL by rules since 0.7 (rules = "0.6")'


@dataclass(frozen=True)
class Outcome:
    """What one way of gating made of the tables: its exit code, whether what it wrote reads like a failure, and what it says."""

    exit_code: int
    fails: bool
    says: str

    @property
    def row(self) -> str:
        """The outcome in a few words."""
        not_failing = ", NOT FAILING" if LINE in self.says else ""
        return f"exit {self.exit_code}, {'fails' if self.fails else 'passes'}{not_failing}"


FAILING = re.compile(r"\b(untrue|nonconformant) \(1 FAIL\)")
"""The outcome of a file that breaks a rule."""

Way = Callable[[str | None, Path], Outcome]
"""A way to gate the tables, with or without a pin, in a folder that may be written."""

WAYS: dict[str, Way] = {}


def all_or_none(count: float) -> bool:
    """Whether a way makes failures of what it found, of which it may not forget a part."""
    assert count in (0, len(TABLES))
    return count > 0


def way(name: str) -> Callable[[Way], Way]:
    def added(function: Way) -> Way:
        WAYS[name] = function
        return function

    return added


def pin(release: str | None) -> list[str]:
    return [] if release is None else ["--rules", release]


def command(*arguments: str, program: Any = app) -> Any:
    return CliRunner().invoke(program, ["check", *arguments])


def textual(release: str | None, *options: str) -> Outcome:
    done = command(*PLACES, "--config", "none", *pin(release), *options)
    assert 3 == len(FAILING.findall(done.stdout))
    last = done.stdout.splitlines()[-1]
    return Outcome(done.exit_code, not last.startswith("NOT FAILING"), last)


@way("pqassay check")
def by_text(release: str | None, _: Path) -> Outcome:
    return textual(release)


@way("--fail-on")
def by_effects(release: str | None, _: Path) -> Outcome:
    return textual(release, "--fail-on", "rows-lost,wrong-rows,read-fails")


@way("--max-files 0")
def by_budget(release: str | None, _: Path) -> Outcome:
    return textual(release, "--max-files", "0")


@way("--complete --level should")
def by_everything(release: str | None, _: Path) -> Outcome:
    return textual(release, "--complete", "--level", "should")


@way("--jobs 2")
def by_workers(release: str | None, _: Path) -> Outcome:
    return textual(release, "--jobs", "2", "--tier", "values")


@way("pqassay.toml")
def by_defaults(release: str | None, folder: Path) -> Outcome:
    pinned = "" if release is None else f'rules = "{release}"\n'
    (folder / "pqassay.toml").write_text(f"[check]\npaths = {json.dumps(PLACES)}\n{pinned}")
    done = command("--config", str(folder / "pqassay.toml"))
    last = done.stdout.splitlines()[-1]
    return Outcome(done.exit_code, not last.startswith("NOT FAILING"), last)


@way("pqassay.check")
def by_library(release: str | None, _: Path) -> Outcome:
    report = pqassay.check(PLACES, rules=release)
    return Outcome(report.exit_code, report.exit_code == 1, report.not_failing)


@way("JSON")
def by_json(release: str | None, folder: Path) -> Outcome:
    done = command(*PLACES, "--config", "none", *pin(release), "--format", "json")
    found = json.loads(done.stdout)
    later = found.get("pin", {}).get("later", {})
    broken = {one["rule"] for file in found["files"] for one in file["findings"] if one["verdict"] == "FAIL"}
    (folder / "report.json").write_text(done.stdout)
    again = CliRunner().invoke(app, ["report", str(folder / "report.json")]).stdout
    assert broken == RULES
    return Outcome(done.exit_code, all_or_none(len(broken - later.keys())), again.splitlines()[-1])


@way("JUnit")
def by_junit(release: str | None, _: Path) -> Outcome:
    done = command(*PLACES, "--config", "none", *pin(release), "--format", "junit")
    root = ET.fromstring(done.stdout)
    of_one_table = LINE.replace("3 FAIL", "1 FAIL")
    said = [element for element in root.iter("system-out") if of_one_table in (element.text or "")]
    assert (3 if release == OLDER else 0) == len(said)
    properties = {one.get("name"): one.get("value") for one in root.iter("property")}
    return Outcome(
        done.exit_code, all_or_none(int(root.get("failures", ""))), properties.get("not failing") or ""
    )


@way("SARIF")
def by_sarif(release: str | None, _: Path) -> Outcome:
    done = command(*PLACES, "--config", "none", *pin(release), "--format", "sarif")
    (run,) = json.loads(done.stdout)["runs"]
    (invocation,) = run["invocations"]
    assert done.exit_code == invocation["exitCode"]
    notes = invocation.get("toolConfigurationNotifications", [])
    (said,) = [one["message"]["text"] for one in notes if one["descriptor"]["id"] == "not-failing"] or [""]
    return Outcome(done.exit_code, all_or_none(sum(one["level"] == "error" for one in run["results"])), said)


@way("Markdown")
def by_markdown(release: str | None, _: Path) -> Outcome:
    done = command(*PLACES, "--config", "none", *pin(release), "--format", "markdown")
    return Outcome(done.exit_code, done.stdout.startswith("## ❌"), done.stdout)


@way("HTML")
def by_html(release: str | None, _: Path) -> Outcome:
    done = command(*PLACES, "--config", "none", *pin(release), "--format", "html")
    fails = '<span class="tone-bad">' in done.stdout
    return Outcome(done.exit_code, fails, done.stdout.replace("&#34;", '"'))


@way("pqassay report --against")
def by_comparison(release: str | None, _: Path) -> Outcome:
    after = pqassay.check(PLACES, rules=release)
    healthy = [replace(file, findings=[], outcome="conformant") for file in after.files]
    comparison = compare(replace(after, files=healthy, pin=None), after)
    stream = io.StringIO()
    render_markdown(comparison, stream)
    return Outcome(comparison.exit_code, "❌" in stream.getvalue(), "\n".join(comparison.remarks))


@way("--baseline")
def by_baseline(release: str | None, folder: Path) -> Outcome:
    known = folder / "known.json"
    known.write_text('{"schema_version": 1, "kind": "baseline", "pqassay": "0.6.0", "findings": []}')
    done = command(*PLACES, "--config", "none", *pin(release), "--baseline", str(known))
    # An older baseline cannot list what newer rules find: it is new, and said to be by newer rules.
    assert ", 3 by rules newer than pqassay 0.6, which wrote the baseline" in done.stdout
    last = done.stdout.splitlines()[-1]
    return Outcome(done.exit_code, not last.startswith("NOT FAILING"), last)


@way("--metrics")
def by_metrics(release: str | None, folder: Path) -> Outcome:
    done = command(*PLACES, "--config", "none", *pin(release), "--metrics", str(folder / "lake.json"))
    metrics = {
        one["name"]: one["samples"] for one in json.loads((folder / "lake.json").read_text())["metrics"]
    }
    one = {name: samples[0]["value"] for name, samples in metrics.items() if samples}
    assert done.exit_code == one["pqassay_exit_code"]
    says = LINE if one["pqassay_findings_not_failing"] == 3 else ""
    return Outcome(done.exit_code, all_or_none(one["pqassay_files_at_gate"]), says)


@way("--history")
def by_history(release: str | None, folder: Path) -> Outcome:
    place = str(folder / "history")
    done = command(*PLACES, "--config", "none", *pin(release), "--history", place)
    told = CliRunner().invoke(app, ["history", place]).stdout.splitlines()
    shown = CliRunner().invoke(app, ["history", place, "--new"]).stdout
    assert (release == OLDER) is ("(new, not failing)" in shown)
    cells = told[1].split()
    says = LINE if "(3 NOT FAILING)" in told[1] else ""
    return Outcome(done.exit_code, cells[7] == "1", says)


@way("pytest fixture")
def by_fixture(release: str | None, _: Path) -> Outcome:
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        try:
            CheckFixture()(PLACES, rules=release)
        except pytest.fail.Exception as error:
            return Outcome(1, len(FAILING.findall(str(error))) == 3, "")
    return Outcome(0, False, "\n".join(str(one.message) for one in raised))


@way("action")
def by_action(release: str | None, folder: Path) -> Outcome:
    program = folder / "temp" / "pqassay-environment" / "bin" / "pqassay"
    program.parent.mkdir(parents=True)
    roots = os.pathsep.join(str(ROOT / name) for name in ("spec", "conformance"))
    # The reports for other programs are those of ways of their own: they are not written here.
    program.write_text(
        '#!/bin/sh\ncase "$*" in *"--format sarif"*|*"--format html"*) exit;; esac\n'
        f'PYTHONPATH={shlex.quote(roots)} exec {shlex.quote(sys.executable)} -m pqassay "$@"\n'
    )
    program.chmod(0o755)
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    step = action["runs"]["steps"][1]
    inputs = {name: str(one.get("default", "")) for name, one in action["inputs"].items()}
    inputs |= {"paths": "\n".join(PLACES), "rules": release or ""}
    done = processes.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
        capture_output=True,
        text=True,
        cwd=folder,
        env={
            **os.environ,
            "RUNNER_TEMP": str(folder / "temp"),
            "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
            **{name: inputs[text.split("inputs.")[1].split(" ")[0]] for name, text in step["env"].items()},
        },
    )
    summary = (folder / "summary").read_text()
    return Outcome(done.returncode, summary.startswith("## ❌"), f"{done.stdout}{summary}")


@way("pre-commit hook")
def by_hook(release: str | None, _: Path) -> Outcome:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    program, operation, *words = shlex.split(hook["entry"])
    assert ("pqassay", "check", []) == (program, operation, words)
    # A repository that pins replaces `args`. The files of the table are named as a commit that adds it names them.
    every = [path.as_posix() for place in PLACES for path in sorted(Path(place).rglob("*")) if path.is_file()]
    matching = [path for path in every if re.search(hook["files"], path)]
    done = command(*hook["args"], *pin(release), "--config", "none", *matching)
    last = done.stdout.splitlines()[-1]
    return Outcome(done.exit_code, not last.startswith("NOT FAILING"), last)


@way("pqassay spark check")
def by_spark(release: str | None, _: Path) -> Outcome:
    done = command(*PLACES, "--config", "none", *pin(release), program=spark_app)
    last = done.stdout.splitlines()[-1]
    return Outcome(done.exit_code, not last.startswith("NOT FAILING"), last)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.spark) if "spark" in name else name for name in WAYS]
)
def test_every_way_to_gate_fails_without_a_pin_and_says_what_does_not_fail_with_one(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if "spark" in name:
        request.getfixturevalue("spark")
    for release in (None, OLDER, "0.7"):
        (tmp_path / str(release)).mkdir()
    pins = {None: "exit 1, fails", OLDER: "exit 0, passes, NOT FAILING", "0.7": "exit 1, fails"}
    if name == "action":  # starts processes, and fails without a pin in `test_ci_files`
        del pins[None], pins["0.7"]

    assert pins == {release: WAYS[name](release, tmp_path / str(release)).row for release in pins}
