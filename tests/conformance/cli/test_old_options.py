"""What was an option of ``pqassay check`` until 0.7 works until 1.0, and prints what it is called now."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from places import GOLDEN_FILES
from pqassay.cli.main import app

BAD = str(GOLDEN_FILES / "sta/bound-cut-in-a-character/data.parquet")
DELTA = str(GOLDEN_FILES / "dlt/checkpointed/table")
ICEBERG = str(GOLDEN_FILES / "ice/evolved/table")

CASES = [
    (["--no-config", BAD], ["check", "--config", "none", BAD], ["`--no-config` is now `--config none`"]),
    (["--version", "2", DELTA], ["check", "--at", "2", DELTA], ["`--version` is now `--at`"]),
    (
        ["--snapshot", "5000000000000000000", ICEBERG],
        ["check", "--at", "5000000000000000000", ICEBERG],
        ["`--snapshot` is now `--at`"],
    ),
    (["--ref", "main", ICEBERG], ["check", "--at", "main", ICEBERG], ["`--ref` is now `--at`"]),
    (["--as", "files", DELTA], ["check", "--as-files", DELTA], ["`--as` is now `--as-files`"]),
    (
        ["--prove", "--engine", "duckdb", BAD],
        ["prove", "--engine", "duckdb", BAD],
        ["`--prove` is now `pqassay prove`"],
    ),
    (
        ["--sample", "1", "--seed", "3", "--confidence", "90", BAD],
        ["sample", "--bound", "1", "--seed", "3", "--confidence", "90", BAD],
        ["`--sample` is now `pqassay sample --bound`"],
    ),
    (
        ["--dry-run", "--latency", "5", "--gb-price", "0.1", BAD],
        ["estimate", "--latency", "5", "--gb-price", "0.1", BAD],
        ["`--dry-run` is now `pqassay estimate`"],
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new", "notes"), CASES, ids=[" ".join(old[:2]) for old, _, _ in CASES])
def test_an_old_option_does_what_the_new_name_does(old: list[str], new: list[str], notes: list[str]) -> None:
    was, now = (CliRunner().invoke(app, arguments) for arguments in (["check", *old], new))

    assert (now.exit_code, now.stdout) == (was.exit_code, was.stdout)
    assert [f"note: {note}" for note in notes] == was.stderr.splitlines()
    assert "" == now.stderr


def test_paths_that_end_in_zero_bytes_are_recognised_with_the_old_option_and_without(tmp_path: Path) -> None:
    paths = tmp_path / "paths"
    paths.write_bytes(BAD.encode() + b"\0")
    with_option, without = (
        CliRunner().invoke(app, ["check", *option, "--files-from", str(paths)]) for option in (["-0"], [])
    )

    assert (1, without.stdout) == (with_option.exit_code, with_option.stdout)


def test_a_baseline_is_the_one_that_a_check_wrote(tmp_path: Path) -> None:
    was, now = tmp_path / "was.json", tmp_path / "now.json"
    old = CliRunner().invoke(app, ["check", "--write-baseline", str(was), "--by-writer", BAD])
    new = CliRunner().invoke(app, ["baseline", "--output", str(now), "--by-writer", BAD])

    assert "note: `--write-baseline` is now `pqassay baseline`\n" == old.stderr
    assert f"wrote {now}: 1 finding in 1 of 1 files\n" == new.stdout
    assert was.read_bytes() == now.read_bytes()
    assert 0 == CliRunner().invoke(app, ["check", "--baseline", str(now), BAD]).exit_code


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--engine", "duckdb", BAD], "--engine is an option of `pqassay prove`"),
        (["--by-writer", BAD], "--by-writer is an option of `pqassay baseline`"),
        (["--as", "tables", BAD], "--as tables: tables are judged as tables, or --as-files"),
        (["--version", "1", "--ref", "main", DELTA], "version and ref exclude each other"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(app, ["check", *arguments])

    assert (2, f"error: {message}") == (result.exit_code, result.stderr.splitlines()[-1])
