"""Checks without Spark that reuse what a findings table says about unchanged files."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay_lake.history import verdict_cache
from pqassay_lake.history.findings_table import PART

GOOD = (GOLDEN_FILES / "pqf/plain/data.parquet").read_bytes()
BAD = (GOLDEN_FILES / "sta/bound-cut-in-a-character/data.parquet").read_bytes()


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, content in (("a", BAD), ("b", GOOD), ("c", GOOD)):
        put(tmp_path / "lake" / f"{name}.parquet", content)
    return tmp_path / "lake"


def put(path: Path, content: bytes, hours: int = 9) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    changed = time.time_ns() - hours * 3600 * 10**9
    os.utime(path, ns=(changed, changed))


def check(*more: str) -> Result:
    command = ["check", "--config", "none", "--tier", "index", "--reuse", "table", *more, "lake"]
    return CliRunner().invoke(app, command)


def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that were written a moment ago count as settled."""
    monkeypatch.setattr(verdict_cache, "SETTLED", -(10**12))


def test_verdicts_on_files_that_did_not_change_are_taken_over(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled(monkeypatch)
    first = check()
    assert (1, "") == (first.exit_code, first.stderr)
    put(lake / "b.parquet", BAD, hours=1)
    second = check()
    assert "note: 2 of 3 verdicts taken from the table: those files did not change\n" == second.stderr
    assert "3 files: 1 conformant, 2 nonconformant" in second.stdout
    third = check("--jobs", "2", "--history", "findings")
    assert "note: 3 of 3 verdicts" in third.stderr
    assert second.stdout == third.stdout
    rows = pq.read_table(Path("table") / PART, filters=[("kind", "=", "file")]).to_pylist()
    assert [1, 1, 0] == [row["findings"] for row in rows]


def test_a_file_that_was_changed_a_moment_ago_is_judged_again(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine, the moment of two seconds may be over before the check begins: here it is an hour.
    monkeypatch.setattr(verdict_cache, "SETTLED", 1800 * verdict_cache.SETTLED)
    put(lake / "a.parquet", GOOD, hours=0)
    check()
    assert "2 of 3 verdicts" in check().stderr
    put(lake / "b.parquet", GOOD, hours=0)
    put(lake / "c.parquet", GOOD, hours=0)
    check()
    assert "" == check().stderr  # the clock of a file system may not tell two changes apart


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--incremental"], "--incremental takes verdicts from the table of --out; give --reuse TABLE"),
        (["--reuse", "lake/table"], "would lie in lake, which is checked"),
        (["--reuse", "s3://bucket/table"], "a findings table is a local folder; copy it from there"),
    ],
)
def test_a_table_that_cannot_be_kept_is_refused(lake: Path, arguments: list[str], message: str) -> None:
    assert lake.is_dir()
    result = CliRunner().invoke(app, ["check", "--config", "none", *arguments, "lake"])
    assert (2, True) == (result.exit_code, message in result.stderr)


def test_the_old_options_judge_all_again_or_only_what_changed(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled(monkeypatch)
    assert lake.is_dir()
    common = ["check", "--tier", "index", "--out", "table", "lake"]
    first, second = (CliRunner().invoke(app, common) for _ in range(2))
    third = CliRunner().invoke(app, [*common, "--incremental"])
    notes = ["note: `--out` is now `--reuse`", "note: `--incremental` is now `--reuse`"]

    assert first.stdout == second.stdout == third.stdout
    assert notes[:1] == second.stderr.splitlines()
    kept = "note: 3 of 3 verdicts taken from the table: those files did not change"
    assert [*notes, kept] == third.stderr.splitlines()
