"""The metrics of a check, as text and as JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner, Result

import pqassay
from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay_lake.metrics import MOST_GROUPS, json_schema, metrics_of

BAD = GOLDEN_FILES / "dlt/maximum-lowered/table"

LINE = re.compile(r'[a-z_]+(\{[a-z_]+="(\\.|[^"\\\n])*"(,[a-z_]+="(\\.|[^"\\\n])*")*\})? -?[0-9.]+')
"""A sample, as OpenMetrics writes it."""


def checked(*arguments: str | Path) -> Result:
    common = ["check", "--config", "none", "--tier", "footer", "--metrics"]
    return CliRunner().invoke(app, [*common, *map(str, arguments)])


def test_metrics_are_written_as_text_and_as_json_with_the_same_samples(tmp_path: Path) -> None:
    text, data = tmp_path / "lake.prom", tmp_path / "lake.json"
    assert [1, 1] == [checked(file, BAD).exit_code for file in (text, data)]
    *lines, end = text.read_text().splitlines()
    assert "# EOF" == end
    samples = [line for line in lines if not line.startswith("#")]
    assert [] == [line for line in samples if LINE.fullmatch(line) is None]
    assert 'pqassay_findings{rule="DLT-025",verdict="FAIL",could="rows lost",known="no"} 1' in samples
    assert 'pqassay_owner_nonconformant_files{owner="pqassay-reference"} 1' in samples
    assert "pqassay_exit_code 1" in samples
    written = json.loads(data.read_text())
    Draft202012Validator(json_schema()).validate(written)
    assert len(samples) == sum(len(metric["samples"]) for metric in written["metrics"])


def test_names_of_writers_are_escaped_and_only_the_most_frequent_are_named() -> None:
    report = pqassay.check(BAD, tier="footer")
    (broken,) = (file for file in report.files if file.findings)
    files = [replace(broken, created_by=f'w"{number}\n\\\udc80') for number in range(MOST_GROUPS + 9)]
    text = metrics_of(replace(report, files=files), 1.0, lambda _: None).to_openmetrics()
    samples = [line for line in text.splitlines() if line.startswith("pqassay_writer_files{")]
    assert [] == [line for line in samples if LINE.fullmatch(line) is None]
    assert (MOST_GROUPS + 1, 'pqassay_writer_files{writer="others"} 9') == (len(samples), samples[-1])
    assert f'pqassay_owner_nonconformant_files{{owner="unknown"}} {len(files)}' in text


@pytest.mark.parametrize(
    ("file", "message"),
    [("missing/lake.prom", "there is no folder"), ("data.parquet", "is one of the files to check")],
)
def test_metrics_are_not_written_where_they_do_not_belong(tmp_path: Path, file: str, message: str) -> None:
    (tmp_path / "data.parquet").write_bytes((GOLDEN_FILES / "pqf/plain/data.parquet").read_bytes())
    result = checked(tmp_path / file, tmp_path / "data.parquet")
    assert (2, True) == (result.exit_code, message in result.stderr)
