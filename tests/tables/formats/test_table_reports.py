"""Findings about tables in every format of reports, in baselines, and of tables in an object store."""

from __future__ import annotations

import json
import shutil
from collections.abc import Generator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from pyarrow import fs
from typer.testing import CliRunner

import pqassay
from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay.stores import remote
from store_server import store_server

LOWERED = GOLDEN_FILES / "dlt/maximum-lowered/table"
LOG = f"_delta_log/{0:020}.json"
FIELD = f"{LOG}[3].add.stats.maxValues.id"
OFFSET = 1063


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copytree(LOWERED, tmp_path / "t"))


def printed(*options: str, code: int = 1) -> str:
    result = CliRunner().invoke(app, ["check", "t", "--tier", "values", *options])
    assert code == result.exit_code, result.output
    return result.stdout


@pytest.mark.parametrize("form", ["text", "json", "junit", "sarif", "html", "markdown"])
@pytest.mark.parametrize(
    ("name", "rule", "field"),
    [
        ("dlt/maximum-lowered", "DLT-027", "maxValues.id"),
        ("ice/maximum-lowered", "ICE-040", "upper_bounds[1]"),
    ],
)
def test_every_format_names_table_file_and_finding(
    name: str, rule: str, field: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(GOLDEN_FILES / name / "table", tmp_path / "t")
    text = printed("--format", form)
    wanted = [rule, "part-0.parquet", "the upper bound of column id in the table", "rows lost"]
    if form != "markdown":  # which lists findings without their bytes
        wanted.append(field)
    assert [] == [part for part in wanted if part.replace("'", "&#39;") not in text and part not in text]


@pytest.mark.usefixtures("table")
def test_sarif_and_junit_lead_to_the_bytes_of_the_log() -> None:
    (result,) = json.loads(printed("--format", "sarif"))["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (f"t/{LOG}", OFFSET, 1) == (
        place["artifactLocation"]["uri"],
        place["region"]["byteOffset"],
        place["region"]["byteLength"],
    )
    suites = ET.fromstring(printed("--format", "junit"))
    assert {"t": "0", "t/part-0.parquet": "1", "t/part-1.parquet": "0"} == {
        suite.get("name"): suite.get("failures") for suite in suites.iter("testsuite")
    }
    assert f"{FIELD}, offset {OFFSET}" in "".join(suites.itertext())


def test_a_baseline_knows_findings_about_tables(table: Path) -> None:
    printed("--write-baseline", "known.json", code=0)
    printed("--baseline", "known.json", code=0)
    log = table / LOG
    log.write_text(log.read_text().replace(r"\"price\":6.93", r"\"price\":6.9", 1))
    again = json.loads(printed("--baseline", "known.json", "--format", "json"))

    assert (1, ["price"]) == (
        again["summary"]["known"],
        [one["column"] for file in again["files"] for one in file["findings"] if not one.get("known")],
    )


@pytest.fixture(scope="module")
def lake() -> Generator[str]:
    """A bucket with two golden tables."""
    with pytest.MonkeyPatch.context() as patch, store_server() as server:
        for name, value in server.environment.items():
            patch.setenv(name, value)
        remote.filesystem.cache_clear()
        store = fs.FileSystem.from_uri("s3://lake/?allow_bucket_creation=true")[0]
        store.create_dir("lake")
        for name in ("maximum-lowered", "maximum-of-the-rest-lowered", "beside-its-log"):
            folder = GOLDEN_FILES / f"dlt/{name}/table"
            for path in folder.rglob("*"):
                if path.is_file():
                    key = f"lake/{name}/{path.relative_to(folder).as_posix()}"
                    with store.open_output_stream(key) as stream:
                        stream.write(path.read_bytes())
        yield "s3://lake"
    remote.filesystem.cache_clear()


@pytest.mark.parametrize("jobs", [1, 2])
def test_tables_of_a_store_are_judged_as_the_same_folders_are(lake: str, jobs: int) -> None:
    report = pqassay.check(lake, tier="values", jobs=jobs)
    found = {
        file.path: [(one.rule, one.at[0].field, one.at[0].offset) for one in file.findings]
        for file in report.files
    }
    expected: dict[str, list[tuple[str, str, int | None]]] = {}
    for name in ("beside-its-log", "maximum-lowered", "maximum-of-the-rest-lowered"):
        root = GOLDEN_FILES / f"dlt/{name}/table"
        for file in pqassay.check(root, tier="values").files:
            key = file.path.replace(str(root), f"{lake}/{name}")
            expected[key] = [(one.rule, one.at[0].field, one.at[0].offset) for one in file.findings]

    assert expected == {path.replace("%3D", "="): value for path, value in found.items()}
    assert {"conformant", "untrue"} == {file.outcome for file in report.files}
