"""A file that is written says by its name in which format, unless an option says otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from places import GOLDEN_FILES
from pqassay.cli.main import app

GOOD = str(GOLDEN_FILES / "idx1/plain/data.parquet")
BAD = str(GOLDEN_FILES / "pix/max-too-small/data.parquet")

BEGINNINGS = {
    "report.json": "{",
    "report.sarif": "{",
    "report.xml": "<?xml",
    "report.html": "<!doctype html>",
    "report.md": "## ",
    "report.txt": BAD,
    "REPORT.JSON": "{",
}


def run(*words: str) -> None:
    done = CliRunner().invoke(app, words)
    assert done.exit_code in (0, 1), done.output


@pytest.mark.slow
@pytest.mark.parametrize("name", BEGINNINGS)
def test_a_report_is_in_the_format_of_its_name(tmp_path: Path, name: str) -> None:
    run("check", "--config", "none", BAD, "--output", str(tmp_path / name))
    run("check", "--config", "none", BAD, "--format", "json", "--output", str(tmp_path / "kept.json"))
    run("report", str(tmp_path / "kept.json"), "--output", str(tmp_path / f"again-{name}"))

    beginning = BEGINNINGS[name]
    for written in (tmp_path / name, tmp_path / f"again-{name}"):
        assert beginning == written.read_text("utf-8")[: len(beginning)].replace("DOCTYPE", "doctype")


def test_an_option_outweighs_the_name(tmp_path: Path) -> None:
    run("check", "--config", "none", BAD, "--format", "json", "--output", str(tmp_path / "report.html"))

    assert "check" == json.loads((tmp_path / "report.html").read_text())["kind"]


def test_a_difference_is_json_by_its_name(tmp_path: Path) -> None:
    run("diff", GOOD, BAD, "--output", str(tmp_path / "d.json"))
    run("diff", GOOD, BAD, "--output", str(tmp_path / "d.txt"))

    assert isinstance(json.loads((tmp_path / "d.json").read_text()), dict)
    assert not (tmp_path / "d.txt").read_text().startswith("{")


def test_rows_are_parquet_or_json_by_their_name(tmp_path: Path) -> None:
    data = tmp_path / "data.parquet"
    pq.write_table(pa.table({"id": [1, 2, 3]}), data)
    for name in ("rows.parquet", "rows.json", "rows.txt"):
        run("scan", str(data), "id > 1", "--output", str(tmp_path / name))

    assert [{"id": 2}, {"id": 3}] == pq.read_table(tmp_path / "rows.parquet").to_pylist()
    assert [{"id": 2}, {"id": 3}] == [
        json.loads(line) for line in (tmp_path / "rows.json").read_text().splitlines()
    ]
    assert ["id", "2", "3"] == (tmp_path / "rows.txt").read_text().split()
