"""``_pm`` files among others: judged by their own rules, with what is beside them, from wherever they come."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import fs
from typer.testing import CliRunner

import pqassay
from pm_pairs import generated, written
from pqassay.cli.main import app
from pqassay.errors import UsageError
from pqassay.judge.file_check import Selection, why_none
from pqassay.judge.workers import WorkerLimits
from pqassay.stores import remote
from pqassay.stores.targets import Target
from pqassay.under_test.fields import in_footer
from pqassay.under_test.file import FileUnderTest, NotChecked, Options
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.rules.catalogue import file_rules, rules_for
from pqassay_suite.cases.case import golden_folder

PAIR = golden_folder() / "interop" / "questdb-9.4.3" / "bloom"
PM, DATA = (PAIR / "_pm").read_bytes(), (PAIR / "data.parquet").read_bytes()

run = CliRunner().invoke


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """A folder with both files."""
    for name in ("_pm", "data.parquet"):
        shutil.copy(PAIR / name, tmp_path / name)
    return tmp_path


def across(report: pqassay.Report) -> tuple[bool, str]:
    """Whether rules across both files were tested, and why not."""
    (coverage,) = report.coverages.values()
    return "PM-103" in coverage.checked, coverage.reasons.get("PM-103", "")


def test_a_folder_with_both_files_has_both_judged(pair: Path) -> None:
    report = pqassay.check(pair)

    assert [("_pm", "pm", None), ("data.parquet", "parquet", "QuestDB version 9.0")] == [
        (Path(file.path).name, file.kind, file.created_by) for file in report.files
    ]
    assert ["index", "index"] == [report.coverages[file.coverage].tier for file in report.files]
    for file in report.files:
        coverage = report.coverages[file.coverage]
        others = file_rules().keys() - rules_for(file.kind).keys()
        assert others <= set(coverage.not_applicable)
        assert file_rules().keys() == {*coverage.checked, *coverage.not_checked, *coverage.not_applicable}


@pytest.mark.parametrize("name", ["_pm", "data.parquet"])
def test_the_text_counts_only_rules_for_the_kind_of_file(name: str, pair: Path) -> None:
    result = run(app, ["check", "--tier", "index", str(pair / name)])

    assert 0 == result.exit_code
    (line,) = (line for line in result.stdout.splitlines() if line.startswith("tier index"))
    report = pqassay.check(pair / name, tier="index")
    (file,) = report.files
    absent = rules_for(file.kind).keys() & set(report.coverages[file.coverage].not_applicable)
    assert f"{len(absent)} not applicable" == line.rpartition(", ")[2]


def test_one_pm_file_is_checked_at_tier_values_with_the_file_beside_it(pair: Path) -> None:
    report = pqassay.check(pair / "_pm")
    (coverage,) = report.coverages.values()

    assert "values" == coverage.tier
    assert (True, "") == across(report)


def test_the_default_tier_counts_the_bytes_beside(pair: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pqassay.judge.checker.VALUES_BY_DEFAULT_BELOW", len(PM) + len(DATA))
    assert {"index"} == {coverage.tier for coverage in pqassay.check(pair / "_pm").coverages.values()}
    assert len(PM) == Target("_pm", str(pair / "_pm"), kind="pm").known_size()
    assert len(DATA) == Target("_pm", str(pair / "_pm"), kind="pm").size_beside()
    assert 0 == Target("data.parquet", str(pair / "data.parquet")).size_beside()


def test_the_time_that_a_worker_has_counts_the_bytes_beside(pair: Path) -> None:
    target = Target("_pm", str(pair / "_pm"), kind="pm")
    more = WorkerLimits().seconds([target], is_deep=True), WorkerLimits().seconds([target])

    assert pytest.approx(len(DATA) / 1_000_000) == (more[0] or 0) - (more[1] or 0)


@pytest.mark.parametrize("options", [{}, {"jobs": 1}, {"jobs": 2}])
def test_the_report_is_the_same_in_workers(pair: Path, options: dict[str, Any]) -> None:
    (pair / "more").mkdir()
    shutil.copy(PAIR / "_pm", pair / "more" / "_pm")
    report = pqassay.check(pair, tier="values", **options)

    assert [["PM-031", "PM-031", "PM-108", "PM-108", "PM-123"], [], ["PM-031", "PM-031"]] == [
        [finding.rule for finding in file.findings if finding.rule.startswith("PM-")] for file in report.files
    ]


def test_data_that_cannot_be_opened_leaves_the_pm_file_unjudged(pair: Path) -> None:
    (pair / "data.parquet").unlink()
    (pair / "data.parquet").mkdir()
    report = pqassay.check(pair / "_pm")

    assert "errored" == report.files[0].outcome
    assert "data.parquet beside it cannot be opened: no regular file" == report.files[0].error


def test_data_that_is_no_parquet_file_is_said_by_its_own_rules(pair: Path) -> None:
    (pair / "data.parquet").write_bytes(DATA[:-4] + b"GONE")
    reports = {file.kind: file for file in pqassay.check(pair).files}

    assert ["PQF-002"] == [finding.rule for finding in reports["parquet"].findings]
    assert "nonconformant" != reports["pm"].outcome or {"PM-100"} == {
        finding.rule for finding in reports["pm"].findings if finding.verdict == "FAIL"
    }


def test_bytes_are_judged_as_what_the_caller_says_they_are() -> None:
    alone = pqassay.check(PM, kind="pm")
    both = pqassay.check(bytearray(PM), kind="pm", beside={"data.parquet": DATA})

    assert ("pm", "<bytes>", "conformant") == (
        alone.files[0].kind,
        alone.files[0].path,
        alone.files[0].outcome,
    )
    assert [(False, "no data.parquet is stored beside it"), (True, "")] == [across(alone), across(both)]
    assert ["PQF-001"] == [
        finding.rule for finding in pqassay.check(PM).files[0].findings if finding.rule == "PQF-001"
    ]


def test_a_kind_without_rules_and_a_kind_of_files_are_refused(pair: Path) -> None:
    with pytest.raises(UsageError, match="no rules for files of kind 'im'; kinds are parquet, pm"):
        pqassay.check(PM, kind="im")
    with pytest.raises(UsageError, match="kind and beside are for bytes only"):
        pqassay.check(pair, kind="pm")


def test_rules_for_other_files_alone_are_a_wrong_selection(pair: Path) -> None:
    result = run(app, ["check", "--rule", "PM-01*", str(pair / "data.parquet")])

    assert 2 == result.exit_code
    assert "no rule is left to test: PM-010 and 9 others judge files of another kind" in result.stderr
    assert "no rule is left to test: IDX1-006 judges files of another kind" == why_none(
        Selection(["IDX1-006"]), Options("values"), {"pm"}
    )
    assert 0 == run(app, ["check", "--rule", "PM-01*", str(pair)]).exit_code


def test_beside_a_remote_file_its_own_folder_is_looked_at(
    pair: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    connect = remote.open_source

    def watched(store: str, path: str, name: str) -> Any:
        opened.append(name)
        return connect(store, path, name)

    def local(_: str) -> fs.FileSystem:
        return fs.SubTreeFileSystem(str(pair), fs.LocalFileSystem())

    monkeypatch.setattr(remote, "filesystem", local)
    monkeypatch.setattr(remote, "open_source", watched)
    target = Target("s3://lake/day/_pm", "_pm", "s3://lake/", size=len(PM), kind="pm")
    with target.siblings() as siblings:
        source = siblings("data.parquet")
        assert source is not None
        assert ("s3://lake/day/data.parquet", len(DATA)) == (source.name, source.size)
        assert source is siblings("data.parquet")
        assert siblings("other") is None
    assert ["s3://lake/day/data.parquet", "s3://lake/day/other"] == opened


def test_a_field_of_the_file_beside_is_found_in_that_file() -> None:
    file = FileUnderTest(BytesSource(PM), Options("index"), "pm", {"data.parquet": BytesSource(DATA)}.get)
    field = in_footer(file.data, "num_rows")
    offset, length = field.place()

    assert "data.footer.num_rows" == str(field)
    assert file.data.footer[:1] == DATA[file.data.framing.footer_start :][:1]
    assert (True, True) == (offset > file.data.framing.footer_start, 0 < length < 10)
    with pytest.raises(NotChecked, match=r"no data\.parquet is stored beside it"):
        _ = FileUnderTest(BytesSource(PM), Options("index"), "pm").data


# ------------------------------------------------------------------------------------------------------ dump


def test_dump_shows_a_pm_file(pair: Path) -> None:
    tree = run(app, ["dump", str(pair / "_pm")])
    assert 0 == tree.exit_code
    assert "feature_flags = 5 (BLOOM_FILTERS|SORTING_IS_DTS_ASC)" in tree.stdout

    rows = run(app, ["dump", "--json", "--field", "blocks[1].column_chunks[0]", str(pair / "_pm")])
    fields = [json.loads(line)["path"].rpartition(".")[2] for line in rows.stdout.splitlines()]
    assert ["codec", "encodings", "stat_flags"] == fields[:3]
    assert 12 == len(fields)

    marked = run(app, ["dump", "--hexdump", "--field", "snapshots[0].checksum", str(pair / "_pm")])
    assert "snapshots[0].checksum = " in marked.stdout


def test_dump_shows_a_damaged_pm_file_as_far_as_it_can_be_read(pair: Path) -> None:
    (pair / "_pm").write_bytes(PM[:100])
    result = run(app, ["dump", str(pair / "_pm")])

    assert 1 == result.exit_code
    assert "column_descriptors[0]" in result.stdout
    assert "PM-002" in result.stderr


def test_a_required_field_may_have_parts_that_are_not() -> None:
    """The repetition is that of the field at the top, as DuckDB's structs show."""
    rows = [{"s": {"a": 1, "b": 2}, "t": {"c": {"d": 3}}}] * 9
    number = pa.int32()
    schema = pa.schema(
        [
            pa.field("s", pa.struct([("a", number), ("b", number)]), nullable=False),
            pa.field("t", pa.struct([("c", pa.struct([("d", number)]))]), nullable=False),
        ]
    )
    data = written(pa.Table.from_pylist(rows, schema=schema))
    found, _ = generated(data).report(only=())
    assert [] == found.findings
