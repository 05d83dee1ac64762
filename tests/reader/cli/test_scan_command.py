"""`pqassay scan` prints rows, says what it fetched, and explains itself."""

from __future__ import annotations

import json
import math
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

import processes
from pqassay.cli.main import app
from pqassay_reader.cli import rows_output
from pqassay_reader.query.facts.footer_facts import KEPT_FACTS
from pqassay_reference.cli import tables

ROWS: dict[str, list[Any]] = {
    "metal": ["tin", "lead", None, "zinc"],
    "mass": [1.5, math.nan, math.inf, None],
    "place": [{"x": 1, "y": 2}, None, {"x": 3, "y": None}, {"x": 4, "y": 5}],
    "raw": [b"\x00", b"P", None, b""],
}


def run(*arguments: object) -> Result:
    KEPT_FACTS.clear()
    return CliRunner().invoke(app, ["scan", *map(str, arguments)])


@pytest.fixture
def metals(tmp_path: Path) -> Path:
    path = tmp_path / "metals.parquet"
    pq.write_table(pa.table(ROWS), path, row_group_size=2, write_page_index=True)
    return path


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    folder = tmp_path / "lake"
    for year in (2023, 2024):
        (folder / f"year={year}").mkdir(parents=True)
        table = pa.table({"n": [year, year + 1], "word": ["a", "b"]})
        pq.write_table(table, folder / f"year={year}" / "part.parquet")
    return folder


# -------------------------------------------------------------------------------------------------------------- rows


def test_rows_are_a_table_and_what_was_fetched_is_said_on_stderr(metals: Path) -> None:
    done = run(metals, "metal = 'zinc'", "--columns", "metal,place.x", "--columns", "raw")

    assert 0 == done.exit_code
    assert ["metal  place.x  raw", "zinc   4        x''"] == done.stdout.splitlines()
    [line] = done.stderr.splitlines()
    assert line.startswith("1 row; fetched ")
    assert line.endswith(f" of {metals.stat().st_size} bytes in 1 file")


def test_without_a_condition_all_rows_and_columns_are_returned(metals: Path) -> None:
    lines = run(metals).stdout.splitlines()

    assert 5 == len(lines)
    assert ["metal", "mass", "place", "raw"] == lines[0].split()


def test_json_is_an_object_a_line_without_numbers_that_json_does_not_have(metals: Path) -> None:
    lines = run(metals, "--format", "json").stdout.splitlines()

    def constant(name: str) -> None:
        raise AssertionError(name)

    assert ["1.5", "NaN", "Infinity", "None"] == [
        str(json.loads(line, parse_constant=constant)["mass"]) for line in lines
    ]
    assert {"metal": "tin", "mass": 1.5, "place": {"x": 1, "y": 2}, "raw": "x'00'"} == json.loads(lines[0])


def test_moments_that_python_has_no_values_for_are_text(tmp_path: Path) -> None:
    path = tmp_path / "moments.parquet"
    pq.write_table(pa.table({"t": pa.array([0, 1 << 50], pa.timestamp("ms")), "n": [1, 2]}), path)
    lines = run(path, "--format", "json", "--columns", "n,t").stdout.splitlines()

    assert [1, 2] == [json.loads(line)["n"] for line in lines]
    assert "1970-01-01 00:00:00" in json.loads(lines[0])["t"]


def test_parquet_holds_the_rows(metals: Path, tmp_path: Path) -> None:
    target = tmp_path / "some.parquet"
    done = run(metals, "metal IS NOT NULL", "--columns", "metal,place", "--format", "parquet", "-o", target)

    assert (0, "") == (done.exit_code, done.stdout)
    whole = pq.read_table(metals, columns=["metal", "place"])
    found = pq.read_table(target)
    assert whole.filter(whole["metal"].is_valid()).to_pylist() == found.to_pylist()
    assert 1 == pq.read_metadata(target).num_row_groups


def test_a_file_of_rows_is_replaced_whole_or_not_at_all(metals: Path, tmp_path: Path) -> None:
    target = tmp_path / "rows.json"
    target.write_text("before")
    broken = tmp_path / "broken.parquet"
    raw = bytearray(metals.read_bytes())
    raw[4:60] = b"\xff" * 56
    broken.write_bytes(raw)

    assert 1 == run(broken, "--format", "json", "-o", target).exit_code
    assert "before" == target.read_text()
    assert 0 == run(metals, "--columns", "metal", "--format", "json", "-o", target).exit_code
    assert 4 == len(target.read_text().splitlines())
    assert {"rows.json", "broken.parquet", "metals.parquet"} == set(os.listdir(tmp_path))


def test_long_tables_are_written_as_the_rows_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_output, "DRAWN_ROWS", 3)
    path = tmp_path / "long.parquet"
    pq.write_table(pa.table({"n": [1, 2, 3, 1000, 5], "word": list("abcde")}), path)

    assert ["n  word", "1  a", "2  b", "3  c", "1000  d", "5  e"] == run(path).stdout.splitlines()


def test_a_terminal_is_shown_the_first_rows_unasked(
    metals: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from pqassay_reader.cli.scan import scan

    path = tmp_path / "long.parquet"
    pq.write_table(pa.table({"n": list(range(100))}), path)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    scan(str(path))
    shown = capsys.readouterr().out
    assert "… the first 40 rows; --limit N shows as many as you like" in shown
    assert " 39 " in shown
    assert "│ 40 " not in shown
    scan(str(path), limit=60)
    assert " 59 " in capsys.readouterr().out
    scan(str(metals), columns=["metal"])
    assert "…" not in capsys.readouterr().out


def test_folders_are_read_with_the_columns_that_they_stand_for(lake: Path) -> None:
    done = run(lake, "year = 2024 AND n > 2024", "--columns", "year,n,word")

    assert ["year  n     word", "2024  2025  b"] == done.stdout.splitlines()
    assert done.stderr.rstrip().endswith(" in 2 files")


def test_a_size_of_batches_changes_no_row(lake: Path) -> None:
    assert run(lake).stdout == run(lake, "--batch-size", 1).stdout
    assert 2 == run(lake, "--batch-size", 0).exit_code


def test_a_limit_ends_the_scan(lake: Path) -> None:
    assert 2 == len(run(lake, "--limit", 1).stdout.splitlines())
    assert ["year  n  word"] != run(lake, "--limit", 0).stdout.splitlines()
    assert 1 == len(run(lake, "--limit", 0).stdout.splitlines())


def test_names_with_commas_stand_in_quotes(tmp_path: Path) -> None:
    path = tmp_path / "commas.parquet"
    pq.write_table(pa.table({"a,b": [1], "c": [2]}), path)

    assert [{"a,b": 1, "c": 2}] == [
        json.loads(line)
        for line in run(path, "--columns", '"a,b",c,c', "--format", "json").stdout.splitlines()
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nowhere"], 2, "nowhere: no such file or folder"),
        (["FILE", "colour = 1"], 1, "there is no column colour"),
        (["FILE", "metal ="], 1, "is not a condition"),
        (["FILE", "metal = 1"], 1, "at character 1: column metal is string"),
        (["FILE", "--columns", "colour"], 1, "there is no column colour"),
        (["FILE", "--columns", "metal,,mass"], 2, "--columns: names are separated by commas"),
        (["FILE", "--columns", '"metal'], 2, "--columns: "),
        (["FILE", "--without", "pages,speed"], 2, "--without speed: there is no such technique"),
        (["FILE", "--format", "parquet"], 2, "--format parquet needs --output FILE"),
        (["FILE", "--output", "nowhere/rows.json"], 2, "there is no folder nowhere"),
        (["FILE", "--trust", "published"], 2, "--column and --trust published go together"),
        (["FILE", "--metadata", "pm"], 1, "there is no _pm beside the file"),
        (["TEXT"], 1, "head.magic: the file is text"),
        (["s3x://store/lake"], 1, "s3x://store/lake: Unrecognized filesystem"),
    ],
)
def test_what_goes_wrong_is_one_line(
    arguments: list[str], code: int, message: str, metals: Path, tmp_path: Path
) -> None:
    text = tmp_path / "text"
    text.write_text("no Parquet file at all")
    names = {"FILE": str(metals), "TEXT": str(text)}
    done = run(*(names.get(each, each) for each in arguments))

    assert (code, "") == (done.exit_code, done.stdout)
    [line] = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert message in line


def is_begun(target: Path) -> bool:
    """Whether rows have been written."""
    return any(path.name != "many.parquet" and path.stat().st_size for path in target.parent.iterdir())


HALTING = """
import threading
from pqassay.__main__ import main
from pqassay_reader.query.scan import Scan

batches = Scan.__iter__

def some(scan):
    rest = batches(scan)
    for _ in range(3):
        yield next(rest)
    threading.Event().wait()

Scan.__iter__ = some
main()
"""
"""The command, which waits after a part of the rows until it is interrupted."""


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    path, target = tmp_path / "many.parquet", tmp_path / "rows.json"
    pq.write_table(pa.table({"n": np.arange(200_000)}), path)
    command = [sys.executable, "-c", HALTING, "scan", str(path), "--format", "json", "-o", str(target)]
    with processes.started(command, stdout=processes.PIPE, stderr=processes.PIPE) as process:
        processes.until(lambda: is_begun(target) or process.poll() is not None, "rows have been written")
        process.send_signal(signal.SIGINT)
        _, error = processes.ended(process)

    assert (130, b"error: interrupted\n") == (process.returncode, error)
    assert ["many.parquet"] == os.listdir(tmp_path)


# ----------------------------------------------------------------------------------------------------------- explain


def test_the_waterfall_comes_in_place_of_the_rows(metals: Path) -> None:
    done = run(metals, "metal = 'zinc'", "--columns", "mass", "--explain", "--without", "late")
    lines = done.stdout.splitlines()

    assert (0, "") == (done.exit_code, done.stderr)
    assert ["everything", "projection", "row-groups", "sets", "pages", "late (off)", "stream"] == [
        line.split("  ")[0]
        for line in lines[1:12]
        if line.split(" ")[0] not in ("metadata", "files", "dictionaries", "fetch")
    ]
    assert "1 row found" in lines
    assert [] == [line for line in lines if "IDX1" in line], (
        "a file without an embedded index is not an exception"
    )


def test_rows_go_to_a_file_beside_the_explanation(metals: Path, tmp_path: Path) -> None:
    target = tmp_path / "rows.json"
    done = run(metals, "metal = 'zinc'", "--columns", "metal", "--format", "json", "--explain", "-o", target)
    told = json.loads(done.stdout)

    assert [{"metal": "zinc"}] == [json.loads(line) for line in target.read_text().splitlines()]
    assert (str(metals), "metal = 'zinc'", 1) == (told["path"], told["condition"], told["rows"])


def test_files_behind_the_limit_are_not_counted(lake: Path) -> None:
    lines = run(lake, "--limit", 1, "--explain").stdout.splitlines()

    assert "1 row found; the limit was reached; not opened, and not counted: 1 file" in lines


def test_a_narrow_terminal_lists_what_each_technique_does_below_the_table(
    metals: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from pqassay_reader.cli.scan import scan

    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    scan(str(metals), "metal = 'zinc'", explain=True)

    assert "projection: columns that the query needs" in capsys.readouterr().out.splitlines()


def test_lines_are_aligned_by_the_rows_that_are_measured() -> None:
    assert ["n  a", "1  b", "1000  c"] == list(tables.aligned_lines([("n", "a"), (1, "b"), (1000, "c")], 2))
