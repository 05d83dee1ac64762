"""The gate of a check: which findings fail it, in how many files, and what a failure of the program itself says."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import pqassay
import processes
from places import GOLDEN_FILES, ROOT
from pqassay.cli.main import app
from pqassay.report.gate import Gate, gate_of
from pqassay.report.model import BROKEN, Report
from pqassay_spec.rules.observed import observed

LOSING = str(GOLDEN_FILES / "sta" / "max-too-small" / "data.parquet")
SOUND = str(GOLDEN_FILES / "sta" / "counted" / "data.parquet")


def checked(*paths: str, **options: object) -> Report:
    return pqassay.check(list(paths), tier="values", **options)  # type: ignore[arg-type]  # options of a check


def effect_of(path: str) -> str:
    (file,) = pqassay.check(path, tier="values").files
    return next(one.could for one in file.findings if one.verdict == "FAIL")


@pytest.fixture(scope="module")
def slower() -> str:
    """A golden file whose findings lose no rows and give no wrong ones."""
    for case in sorted(GOLDEN_FILES.rglob("case.json")):
        path = case.with_name("data.parquet")
        if json.loads(case.read_text())["kind"] == "invalid" and path.exists():
            (file,) = pqassay.check(str(path), tier="values").files
            gate = Gate(["rows lost", "wrong rows", "read fails"])
            if file.outcome in BROKEN and not any(map(gate.concerns, file.findings)):
                return str(path)
    raise AssertionError("there is none")


def test_a_finding_fails_the_check_by_what_it_does(slower: str) -> None:
    assert "rows lost" == effect_of(LOSING)
    assert [1, 1, 0, 1] == [
        checked(LOSING, fail_on=["rows-lost"]).exit_code,
        checked(slower).exit_code,
        checked(slower, fail_on=["rows-lost", "wrong-rows"]).exit_code,
        checked(slower, LOSING, fail_on=["rows-lost,wrong-rows"]).exit_code,
    ]


@pytest.mark.parametrize("name", ["sta/nan-bound-below", "pix/lower-bound-not-a-number"])
def test_a_warning_fails_the_check_where_engines_were_seen_to_do_it(name: str) -> None:
    path = str(GOLDEN_FILES / name / "data.parquet")

    assert [0, 1, 0] == [
        checked(path).exit_code,
        checked(path, fail_on=["rows-lost"]).exit_code,
        checked(path, fail_on=["read-fails"]).exit_code,
    ]


def test_a_gate_changes_no_verdict(slower: str) -> None:
    report = checked(slower, fail_on=["rows-lost"])

    assert ["untrue"] == [file.outcome for file in report.files]
    assert Gate(["rows lost"], 0, 0) == report.gate


def test_so_many_files_may_have_findings() -> None:
    reports = [checked(LOSING, SOUND, max_files=number) for number in (0, 1)]

    assert [1, 0] == [report.exit_code for report in reports]
    assert Gate([], 1, 1) == reports[1].gate


def test_what_was_observed_concerns_a_gate_as_what_could_be() -> None:
    (file,) = pqassay.check(LOSING, tier="values").files
    milder = [
        dataclasses.replace(one, could="cosmetic", observed=observed(one.rule)) for one in file.findings
    ]

    assert ["rows lost"] == [one.observed.effect for one in milder if one.observed is not None]
    assert [True, False] == [Gate([effect]).concerns(milder[0]) for effect in ("rows lost", "wrong rows")]


def test_known_findings_pass_a_gate(tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    runner = CliRunner()
    first = runner.invoke(app, ["check", LOSING, "--fail-on", "rows-lost", "--write-baseline", str(known)])
    second = runner.invoke(app, ["check", LOSING, "--fail-on", "rows-lost", "--baseline", str(known)])

    assert [0, 0] == [first.exit_code, second.exit_code]
    assert "gate passed: rows lost in 0 files; none is allowed" in second.stdout


def test_junit_has_no_failure_that_does_not_count(slower: str) -> None:
    told = CliRunner().invoke(app, ["check", slower, "--fail-on", "rows-lost", "--format", "junit"])

    assert (0, False) == (told.exit_code, "<failure" in told.stdout)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (["--fail-on", "rows_lost"], "there is no effect 'rows_lost'; effects are rows-lost, wrong-rows"),
        (["--fail-on", ""], "there is no effect ''"),
    ],
)
def test_an_effect_that_there_is_not_is_named(asked: list[str], words: str) -> None:
    result = CliRunner().invoke(app, ["check", SOUND, *asked])

    assert 2 == result.exit_code
    assert words in result.stderr


def test_nothing_asked_is_no_gate() -> None:
    assert None is gate_of([], None)


def test_code_4_hides_no_findings(tmp_path: Path) -> None:
    (tmp_path / "data.parquet").symlink_to(tmp_path / "nowhere")
    result = CliRunner().invoke(app, ["check", LOSING, str(tmp_path), "--tier", "values"])

    assert 4 == result.exit_code
    assert "besides exit code 4: 1 nonconformant, 1 could not be judged" == result.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (
            "raise ImportError('No module named pyarrow')",
            "this installation of pqassay is broken: No module named pyarrow",
        ),
        (
            "raise ZeroDivisionError('an unexpected failure')",
            "please report it: ZeroDivisionError: an unexpected failure",
        ),
        ("raise MemoryError", "there is not enough memory"),
    ],
)
def test_a_failure_of_the_program_itself_never_looks_like_findings(
    broken: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / "typer.py").write_text(broken)  # found before the library of that name
    roots = [str(tmp_path), str(ROOT / "spec"), str(ROOT / "conformance")]
    done = processes.run(
        [sys.executable, "-m", "pqassay", "check", LOSING],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(roots)},
        capture_output=True,
        text=True,
    )

    assert (70, "") == (done.returncode, done.stdout)
    assert words in done.stderr
    assert "Traceback" not in done.stderr
