"""``pqassay baseline``: what is known today is kept, and what is not looked at today stays."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from places import GOLDEN_FILES
from pqassay.cli.main import app

BAD = GOLDEN_FILES / "sta/bound-cut-in-a-character/data.parquet"


@pytest.fixture(autouse=True)
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / "lake").mkdir(exist_ok=True)
        shutil.copy(BAD, tmp_path / "lake" / f"{name}.parquet")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def paths(name: str) -> set[str]:
    entries: list[dict[str, Any]] = json.loads(Path(name).read_text())["findings"]
    return {entry["path"] for entry in entries}


def test_what_a_baseline_says_of_other_files_stays() -> None:
    assert 0 == run("baseline", "lake").exit_code
    assert (
        "wrote known-findings.json: 1 finding in 1 of 1 files\n" == run("baseline", "lake/a.parquet").stdout
    )

    assert {"lake/a.parquet", "lake/b.parquet"} == paths("known-findings.json")
    assert 0 == run("check", "--baseline", "known-findings.json", "lake").exit_code


def test_the_baseline_of_the_defaults_is_written_where_checks_read_it() -> None:
    Path("pqassay.toml").write_text('[check]\npaths = ["lake"]\nbaseline = "known.json"\n')
    first = run("baseline")

    assert (0, "") == (first.exit_code, first.stderr)
    assert {"lake/a.parquet", "lake/b.parquet"} == paths("known.json")
    assert 0 == run("check").exit_code


def test_a_file_that_is_not_judged_is_named() -> None:
    Path("lake/c.parquet").symlink_to("nothing")
    result = run("baseline", "lake")

    assert 4 == result.exit_code
    assert result.stderr.startswith("not judged: lake/c.parquet: ")


@pytest.mark.parametrize("options", [[], ["--baseline", "known.json"]])
def test_a_baseline_of_the_defaults_is_written_for_the_first_time(options: list[str]) -> None:
    if not options:
        Path("pqassay.toml").write_text('[check]\nbaseline = "known.json"\n')
    first = run("check", *options, "--write-baseline", "known.json", "lake")
    again = run("check", *options, "--write-baseline", "known.json", "lake")

    assert (0, 0) == (first.exit_code, again.exit_code), first.stderr
    assert {"lake/a.parquet", "lake/b.parquet"} == paths("known.json")


def test_another_baseline_that_is_not_there_is_an_error() -> None:
    result = run("check", "--baseline", "other.json", "--write-baseline", "known.json", "lake")

    assert (2, False) == (result.exit_code, Path("known.json").exists())
