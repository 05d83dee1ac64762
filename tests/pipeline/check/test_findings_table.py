"""The findings table: what it holds, what it refuses to replace, and what an earlier one is good for."""

from __future__ import annotations

import dataclasses
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import pqassay
from damage import EXAMPLES
from idx1_files import Idx1File
from places import GOLDEN_FILES, ROOT
from pqassay.cli.main import spark as app
from pqassay.errors import UsageError
from pqassay.judge.checker import planned
from pqassay.judge.one_file import Settings
from pqassay_lake.history import findings_table, verdict_cache
from pqassay_lake.history.file_stamps import Stamp, stamps
from pqassay_lake.history.findings_table import FIELDS, PART, SCHEMA, FileState
from pqassay_lake.history.verdict_cache import VerdictCache, is_settled
from pqassay_lake.running import carried_out
from pqassay_spark.check.executor_judging import Means
from pqassay_spark.check.run import OnExecutors, check

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pqassay.report.model import Report

GOOD = Idx1File().build()
WARNED = Idx1File(keys=[("distinct_index_offset", "00{offset}")]).build()
BROKEN = GOOD[:-9]

LONG_AGO = time.time_ns() - 3600 * 10**9

invoke = CliRunner().invoke


def put(path: Path, content: bytes, changed: int = LONG_AGO) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, ns=(changed, changed))
    return path


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    folder = tmp_path / "lake"
    put(folder / "a.parquet", GOOD)
    put(folder / "b.parquet", BROKEN)
    put(folder / "c.parquet", WARNED)
    for name in ("_pm", "data.parquet"):
        put(folder / "pm" / name, (ROOT / "golden_files/pm/row-count-of-another" / name).read_bytes())
    return folder


def state(**members: Any) -> FileState:
    return FileState(
        **{"modified": 1, "beside": "", "etag": None, "is_reusable": True, "judged_at": 5, **members}
    )


SETTINGS = Settings("index")


def written(table: Path, report: Report, **members: Any) -> list[dict[str, Any]]:
    findings_table.write(table, report, [state(**members) for _ in report.files], SETTINGS)
    return pq.read_table(table / PART).to_pylist()


# ------------------------------------------------------------------------------------------------- contents


def test_a_table_has_a_row_for_each_file_and_one_for_each_finding(lake: Path, tmp_path: Path) -> None:
    report = pqassay.check(lake, tier="index")
    rows = written(tmp_path / "table", report)
    findings = [finding for file in report.files for finding in file.findings]

    assert [file.path for file in report.files] == [row["path"] for row in rows if row["kind"] == "file"]
    assert [(finding.rule, finding.path, finding.count, finding.at[0].field) for finding in findings] == [
        (row["rule"], row["path"], row["count"], row["field"]) for row in rows if row["kind"] == "finding"
    ]
    assert [len(file.findings) for file in report.files] == [
        row["findings"] for row in rows if row["kind"] == "file"
    ]
    assert {dataclasses.asdict(finding.at[0])["offset"] for finding in findings} == {
        row["positions"][0]["offset"] for row in rows if row["kind"] == "finding"
    }


def test_each_column_is_set_in_the_rows_that_its_documentation_names(lake: Path, tmp_path: Path) -> None:
    rows = written(tmp_path / "table", pqassay.check(lake, tier="index"))
    for field in FIELDS:
        assert field.doc
        for row in rows:
            if field.rows not in ("both", row["kind"]):
                assert row[field.name] is None, (field.name, row["kind"])
            elif not field.optional:
                assert row[field.name] is not None, (field.name, row["kind"])


def test_other_readers_read_a_table_by_its_folder(lake: Path, tmp_path: Path) -> None:
    written(tmp_path / "table", pqassay.check(lake, tier="index"))
    query = f"select path, count(*) from '{tmp_path}/table/*.parquet' where kind = 'finding' and verdict = 'FAIL' group by 1"
    found = duckdb.connect().execute(query).fetchall()

    assert [(f"{lake}/b.parquet", 1)] == [row for row in found if row[0].endswith("b.parquet")]
    assert SCHEMA.names == pq.read_table(tmp_path / "table").column_names


def test_what_is_read_back_is_what_was_reported(tmp_path: Path) -> None:
    """A part of the golden files; all by `make damages`."""
    report = pqassay.check(sorted(GOLDEN_FILES.glob("*/*"))[:: 3 * EXAMPLES - 2], tier="index", jobs=1)
    written(tmp_path / "table", report)
    rows = list(findings_table.read(tmp_path / "table", SETTINGS))

    assert report.files == [
        dataclasses.replace(row.report, coverage=file.coverage)
        for row, file in zip(rows, report.files, strict=True)
    ]
    assert [report.coverages[file.coverage] for file in report.files] == [row.coverage for row in rows]


def test_text_that_is_no_utf8_is_escaped_and_such_a_file_is_judged_again(tmp_path: Path) -> None:
    put(tmp_path / "lake" / os.fsdecode(b"\xff.parquet"), BROKEN)
    (row, finding) = written(tmp_path / "table", pqassay.check(tmp_path / "lake", tier="index"))

    assert f"{tmp_path}/lake/\\udcff.parquet" == row["path"] == finding["path"]
    assert not row["reusable"]


# ------------------------------------------------------------------------------------------- what it refuses


def test_a_table_is_not_written_into_what_is_checked_nor_over_anything_else(
    lake: Path, tmp_path: Path
) -> None:
    put(tmp_path / "other" / "data.csv", b"")
    put(tmp_path / "foreign" / PART, GOOD)
    refusals = {
        lake: "would lie in",
        lake / "deep" / "table": "would lie in",
        tmp_path / "other" / "data.csv": "is not a folder",
        tmp_path / "other": "holds data.csv",
        tmp_path / "foreign": "is not a findings table",
    }
    for place, words in refusals.items():
        with pytest.raises(UsageError, match=words):
            findings_table.require_place(place, [str(lake)])
    findings_table.require_place(tmp_path / "new", [str(lake), "s3://lake"])
    found = (str(tmp_path / name / PART) for name in ("other", "new"))
    with pytest.raises(UsageError, match="is among the files that are checked"):
        findings_table.require_place(tmp_path / "new", [], found)


def test_a_table_that_cannot_be_written_leaves_the_old_one(
    lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = pqassay.check(lake, tier="index")
    written(tmp_path / "table", report)
    before = (tmp_path / "table" / PART).read_bytes()

    def refuse(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="No space"):
        written(tmp_path / "table", pqassay.check(lake / "a.parquet", tier="index"))
    assert [PART] == [path.name for path in (tmp_path / "table").iterdir()]
    assert before == (tmp_path / "table" / PART).read_bytes()


def test_a_damaged_table_is_wrong_usage(lake: Path, tmp_path: Path) -> None:
    written(tmp_path / "table", pqassay.check(lake, tier="index"))
    path = tmp_path / "table" / PART
    content = path.read_bytes()
    path.write_bytes(bytes(2000) + content[2000:])
    with pytest.raises(UsageError, match="the table cannot be read"):
        list(findings_table.read(tmp_path / "table", SETTINGS))
    path.write_bytes(content[:100])
    with pytest.raises(UsageError, match="is not a findings table"):
        list(findings_table.read(tmp_path / "table", SETTINGS))


# ------------------------------------------------------------------------------------------------ the cache


def cache(lake: Path, tmp_path: Path, settings: Settings = SETTINGS, **members: Any) -> VerdictCache:
    report = pqassay.check(lake / "a.parquet", tier="index")
    written(tmp_path / "table", report, **members)
    return VerdictCache(tmp_path / "table", settings)


def test_a_verdict_holds_for_the_same_length_and_time_only(lake: Path, tmp_path: Path) -> None:
    (target,) = planned(lake / "a.parquet").targets
    stamp = Stamp(len(GOOD), 1, ctime=7)
    known = cache(lake, tmp_path, ctime=7)

    assert known.kept(target, stamp) is not None
    assert known.kept(target, dataclasses.replace(stamp, size=stamp.size + 1)) is None
    assert known.kept(target, dataclasses.replace(stamp, modified=2)) is None
    assert known.kept(target, dataclasses.replace(stamp, modified=None)) is None
    assert known.kept(target, dataclasses.replace(stamp, ctime=8)) is None
    assert known.kept(target, dataclasses.replace(stamp, beside="data.parquet 1 1")) is None
    assert known.kept(dataclasses.replace(target, name="other"), stamp) is None
    assert known.kept(dataclasses.replace(target, kind="pm"), stamp) is None


def test_no_verdict_holds_under_other_settings_rules_or_versions(
    lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 1 == len(cache(lake, tmp_path))
    for other in (Settings("footer"), Settings("index", level="should"), Settings("index", idx1_column="x")):
        assert 0 == len(VerdictCache(tmp_path / "table", other))
    monkeypatch.setattr(findings_table, "digest", lambda: "other rules")
    assert 0 == len(VerdictCache(tmp_path / "table", SETTINGS))
    monkeypatch.undo()
    monkeypatch.setattr(findings_table, "__version__", "0.0.0")
    assert 0 == len(VerdictCache(tmp_path / "table", SETTINGS))


def test_no_verdict_holds_on_what_was_changed_just_before_it_was_judged(lake: Path, tmp_path: Path) -> None:
    now = time.time_ns()

    assert is_settled(Stamp(1, now - 3 * 10**9, youngest=now - 3 * 10**9), now)
    assert not is_settled(Stamp(1, now - 10**9, youngest=now - 10**9), now)
    assert not is_settled(Stamp(1, 1, youngest=now), now)
    assert not is_settled(Stamp(1, 1, youngest=None), now)
    assert 0 == len(cache(lake, tmp_path, is_reusable=False))


def test_relative_paths_hold_in_the_folder_in_which_they_were_judged(
    lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lake)
    written(tmp_path / "table", pqassay.check("a.parquet", tier="index"))
    assert 1 == len(VerdictCache(tmp_path / "table", SETTINGS))
    monkeypatch.chdir(tmp_path)
    assert 0 == len(VerdictCache(tmp_path / "table", SETTINGS))


def test_the_stamp_of_a_pm_file_changes_with_the_data_beside_it(lake: Path) -> None:
    def stamp() -> Stamp:
        targets = planned(lake).targets
        (found,) = [one for target, one in zip(targets, stamps(targets), strict=True) if target.kind == "pm"]
        return found

    before = stamp()
    put(lake / "pm" / "data.parquet", GOOD, LONG_AGO + 1)
    other = stamp()
    (lake / "pm" / "data.parquet").unlink()
    gone = stamp()

    assert 3 == len({before.beside, other.beside, gone.beside})
    assert (LONG_AGO, LONG_AGO + 1, LONG_AGO) == (before.youngest, other.youngest, gone.youngest)


def test_a_file_that_was_rewritten_and_got_its_old_time_back_has_another_stamp(lake: Path) -> None:
    targets = planned(lake / "a.parquet").targets
    before = stamps(targets)
    put(lake / "a.parquet", BROKEN + bytes(9))
    (after,) = stamps(targets)

    assert [dataclasses.replace(after, ctime=before[0].ctime)] == before
    assert before != [after]


def test_a_table_with_a_bit_that_fell_over_is_never_believed(lake: Path, tmp_path: Path) -> None:
    written(tmp_path / "table", pqassay.check(lake, tier="index"))
    path = tmp_path / "table" / PART
    content = path.read_bytes()
    for offset in (6, 100, 1000, content.index(b'"coverages"') + 20):
        path.write_bytes(content[:offset] + bytes([content[offset] ^ 4]) + content[offset + 1 :])
        with pytest.raises(UsageError, match="remove it, and --reuse writes a new one"):
            list(findings_table.read(tmp_path / "table", SETTINGS))


class Refused(Exception):  # noqa: N818 - what a test raises where nothing may be asked for
    pass


def refuse() -> Any:
    raise Refused


@pytest.mark.spark
def test_only_what_has_changed_is_judged_again_and_the_report_is_the_same(
    spark: SparkSession, lake: Path, tmp_path: Path
) -> None:
    table = tmp_path / "table"
    full = check(spark, lake, tier="index", out=table)

    def again(session: Any, tier: Any = "index") -> Any:
        work = OnExecutors(session, Means())
        plan = planned(lake, tier=tier)
        _, report, notes = carried_out(plan, work, started=time.time_ns(), table=table, is_reused=True)
        return report, notes

    def kept(files: int, of_all: int) -> list[str]:
        return [f"{files} of {of_all} verdicts taken from the table: those files did not change"]

    assert (full, kept(5, 5)) == again(refuse)
    with pytest.raises(Refused):
        again(refuse, "footer")

    put(lake / "a.parquet", BROKEN, LONG_AGO + 5 * 10**9)
    put(lake / "new.parquet", GOOD)
    found = again(lambda: spark)
    assert (pqassay.check(lake, tier="index"), kept(4, 6)) == found

    put(lake / "pm" / "data.parquet", GOOD, LONG_AGO + 5 * 10**9)
    found = again(lambda: spark)
    assert (pqassay.check(lake, tier="index"), kept(4, 6)) == found  # all but the two beside each other


@pytest.mark.spark
def test_an_errored_file_is_always_judged_again(spark: SparkSession, lake: Path, tmp_path: Path) -> None:
    (lake / "nowhere.parquet").symlink_to("nothing")
    check(spark, lake, tier="index", out=tmp_path / "table")
    rows = pq.read_table(tmp_path / "table" / PART, filters=[("kind", "=", "file")]).to_pylist()

    assert [f"{lake}/nowhere.parquet"] == [row["path"] for row in rows if not row["reusable"]]


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_the_command_writes_a_table_and_says_what_it_took_from_it(lake: Path, tmp_path: Path) -> None:
    table = tmp_path / "table"
    common = ["check", str(lake), "--tier", "index", "--out", str(table)]
    first = invoke(app, [*common, "--format", "json"])
    second = invoke(app, [*common, "--incremental", "--format", "json"])
    text = invoke(app, [*common, "--incremental"])

    assert (1, 1, 1) == (first.exit_code, second.exit_code, text.exit_code)
    assert first.stdout == second.stdout
    assert "note: 5 of 5 verdicts taken from the table" in second.stderr
    assert "5 of 5 verdicts taken from the table: those files did not change" in text.stdout
    assert f"findings table: {table}" in text.stdout
    assert 5 == pq.read_table(table / PART, filters=[("kind", "=", "file")]).num_rows


def test_options_of_the_table_that_cannot_be_are_wrong_usage(lake: Path) -> None:
    for options, words in (
        (["--incremental"], "--incremental takes verdicts from the table of --out; give --reuse TABLE"),
        (["--reuse", "s3://bucket/table"], "a findings table is a local folder; copy it from there"),
        (["--reuse", str(lake / "table")], f"would lie in {lake}, which is checked"),
    ):
        found = invoke(app, ["check", str(lake), *options])
        assert 2 == found.exit_code
        assert words in found.stderr.splitlines()[-1]


def test_settled_is_longer_than_the_clock_of_any_store() -> None:
    assert verdict_cache.SETTLED >= 2 * 10**9  # HTTP dates have whole seconds
    assert pa.types.is_int64(SCHEMA.field("modified_ns").type)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("family", "said_in"),
    [("dlt", "_delta_log/00000000000000000000.json"), ("ice", "metadata/manifest-0.avro")],
)
def test_a_file_of_a_table_is_judged_again_when_the_table_says_something_else(
    spark: SparkSession, tmp_path: Path, family: str, said_in: str
) -> None:
    table, out = tmp_path / "table", tmp_path / "findings"
    shutil.copytree(GOLDEN_FILES / family / "plain" / "table", table)
    for path in table.rglob("*.*"):
        os.utime(path, ns=(LONG_AGO, LONG_AGO))
    first = check(spark, table, tier="values", out=out)
    (table / said_in).write_bytes((GOLDEN_FILES / family / "maximum-lowered/table" / said_in).read_bytes())
    again = check(spark, table, tier="values", out=out, incremental=True)

    assert (0, ["parquet", "parquet"]) == (first.exit_code, [file.kind for file in first.files[1:]])
    assert pqassay.check(table, tier="values") == again
    assert (1, 1) == (again.exit_code, again.summary.broken)


def test_verdicts_of_a_table_are_kept_while_it_says_the_same() -> None:
    table = GOLDEN_FILES / "dlt" / "plain" / "table"
    once, twice = (planned(table, tier="values").targets for _ in range(2))

    assert stamps(once) == stamps(twice)
    assert [-1, 1052, 1052] == [stamp.size for stamp in stamps(once)]
    assert 2 == len({stamp.beside for stamp in stamps(once)[1:]})
