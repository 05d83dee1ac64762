"""The check on Spark: the same report as that of `pqassay check`, whatever the files are and whatever they do."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

import pqassay
import wicked_judges
from damage import EXAMPLES
from idx1_files import Idx1File
from places import GOLDEN_FILES, ROOT
from pqassay.cli.main import app as judge_app
from pqassay.cli.main import spark as app
from pqassay.errors import UsageError
from pqassay.judge.checker import concluded, planned
from pqassay_lake.history.columns import SCHEMA
from pqassay_lake.history.stores import Selection, history_at
from pqassay_spark.check.executor_judging import Means
from pqassay_spark.check.run import check
from pqassay_spark.check.spark_judging import judged, packed_positions
from pqassay_spark.jobs.spark_jobs import JobError, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pqassay.judge.checker import CheckPlan
    from pqassay.report.model import Report

pytestmark = pytest.mark.spark

GOOD = Idx1File().build()
BAD = Idx1File(payload=b"Peru\nSingapura").build()

invoke = CliRunner().invoke


def lake(folder: Path, **files: bytes) -> Path:
    """A folder with some files."""
    for name, content in files.items():
        path = folder / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def wicked_lake(folder: Path) -> Path:
    """What a finder and a judge meet in the worst of lakes."""
    lake(folder, good=GOOD, bad=BAD, empty=b"", truncated=GOOD[:-9], noise=b"PAR1" + bytes(100) + b"PAR1")
    deep = folder / "year=2024" / "a b%20c:d" / "[x] {y} *"
    deep.mkdir(parents=True)
    for name in (
        "ü日.parquet",
        "new\nline.PARQUET",
        os.fsdecode(b"no utf-8 \xff.parquet"),
        "_metadata",
        "_hidden.parquet",
        ".dot.parquet",
    ):
        (deep / name).write_bytes(BAD if name.startswith("new") else GOOD)
    golden = GOLDEN_FILES / "pm"
    for case in ("row-count-of-another", "ascii-number"):
        shutil.copytree(golden / case, folder / "pm" / case)
    (folder / "_temporary").mkdir()
    (folder / "_temporary" / "unfinished.parquet").write_bytes(GOOD)
    (folder / "_SUCCESS").touch()
    (folder / "nowhere.parquet").symlink_to("nothing")
    (folder / "itself.parquet").symlink_to("itself.parquet")
    (folder / "above").symlink_to("..")
    (folder / "folder.parquet").mkdir()
    os.mkfifo(folder / "pipe.parquet")
    return folder


@pytest.fixture(scope="module")
def wicked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wicked_lake(tmp_path_factory.mktemp("wicked") / "lake")


@pytest.fixture(scope="module")
def plan(wicked: Path) -> CheckPlan:
    return planned(wicked, tier="index")


# ------------------------------------------------------------------------------------------------- equality


def test_the_report_on_all_golden_files_is_that_of_the_judge(spark: SparkSession) -> None:
    """A part of the cases; all by `make damages`."""
    chosen = [
        str(path)
        for family in sorted(filter(Path.is_dir, GOLDEN_FILES.iterdir()))
        for path in sorted(family.iterdir())[:: 3 * EXAMPLES - 2]
    ]
    expected = pqassay.check(chosen, tier="index", jobs=1)

    assert expected.summary.files > 900 // EXAMPLES // 2
    assert expected.to_json() == check(spark, chosen, tier="index").to_json()


@pytest.mark.parametrize("tier", ["footer", "values"])
def test_the_report_on_the_worst_of_lakes_is_that_of_the_judge(
    spark: SparkSession, wicked: Path, tier: Any
) -> None:
    expected = pqassay.check(wicked, tier=tier, jobs=2)

    assert {"conformant", "untrue", "nonconformant", "errored"} == {file.outcome for file in expected.files}
    assert expected == check(spark, wicked, tier=tier, tasks=3)


def test_relative_paths_and_the_commands_that_mend_stay_as_they_were_written(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake(tmp_path / "lake", a=BAD, b=GOOD)
    monkeypatch.chdir(tmp_path)
    report = check(spark, "lake", tier="values")

    assert ["lake/a.parquet", "lake/b.parquet"] == [file.path for file in report.files]
    assert "pqassay embed lake/a.parquet" in (report.files[0].findings[0].remedy or "")
    assert pqassay.check("lake", tier="values") == report


@pytest.mark.parametrize("table", ["dlt/maximum-of-the-rest-lowered", "dlt/beside-another-log"])
def test_a_table_is_judged_file_by_file_with_what_it_says_of_each(spark: SparkSession, table: str) -> None:
    folder = GOLDEN_FILES / table / "table"
    report = check(spark, folder, tier="values")

    assert {"delta": 1, "parquet": 2} == Counter(file.kind for file in report.files)
    assert pqassay.check(folder, tier="values") == report


def test_choices_of_rules_and_names_mean_the_same(spark: SparkSession, wicked: Path) -> None:
    options: dict[str, Any] = {
        "level": "should",
        "only": ["IDX1-*", "PQF-*"],
        "skip": ["IDX1-003"],
        "include": ["case.json"],
        "exclude": ["year=*"],
    }

    assert pqassay.check(wicked, tier="index", jobs=1, **options) == check(
        spark, wicked, tier="index", **options
    )


def test_one_file_alone_is_looked_at_as_deeply_as_the_judge_does(spark: SparkSession, tmp_path: Path) -> None:
    lake(tmp_path, a=BAD)
    report = check(spark, tmp_path / "a.parquet")

    assert "values" == report.coverages["c1"].tier
    assert pqassay.check(tmp_path / "a.parquet") == report


# ---------------------------------------------------------------------------------------- what files can do


def outcomes(report: Report) -> dict[str, tuple[str, str | None]]:
    return {Path(file.path).stem: (file.outcome, file.error) for file in report.files}


@pytest.fixture
def wicked_judge(spark: SparkSession) -> None:
    spark.sparkContext.addPyFile(str(ROOT / "tests" / "wicked_judges.py"))


@pytest.mark.usefixtures("wicked_judge")
def test_a_decoder_that_crashes_hangs_or_takes_all_memory_costs_one_file(
    spark: SparkSession, tmp_path: Path
) -> None:
    plan = planned(lake(tmp_path, a=GOOD, eat=GOOD, hang=GOOD, segfault=GOOD, z=BAD), tier="values")
    means = Means(timeout=45, memory=2 << 30, judge=wicked_judges.wicked)
    verdicts = judged(spark, plan.targets, plan.settings, means)
    found = outcomes(concluded(plan, [verdict for verdict, _ in verdicts]))

    assert {
        "a": ("conformant", None),
        "eat": ("errored", "there is not enough memory for it"),
        "hang": ("errored", "judging it took longer than 45 s; raise --timeout"),
        "segfault": ("errored", "the process that judged it was killed by SIGSEGV"),
        "z": ("nonconformant", None),
    } == found


@pytest.mark.usefixtures("wicked_judge")
def test_a_file_that_takes_the_python_of_an_executor_along_costs_itself_only(
    spark: SparkSession, tmp_path: Path
) -> None:
    plan = planned(lake(tmp_path, a=GOOD, kill=GOOD, z=GOOD), tier="index")
    verdicts = judged(spark, plan.targets, plan.settings, Means(judge=wicked_judges.wicked))

    assert ["conformant", "errored", "conformant"] == [report.outcome for (report, _), _ in verdicts]
    assert "was killed by SIGKILL" in (verdicts[1][0][0].error or "")


def test_a_limit_on_memory_that_no_decoder_can_live_with_is_wrong_usage(
    spark: SparkSession, wicked: Path
) -> None:
    with pytest.raises(UsageError, match="at least 512 MiB"):
        check(spark, wicked, memory=1)


def test_a_job_that_fails_says_why_in_one_line(spark: SparkSession) -> None:
    def fails(_: bytes, __: Any) -> bytes:  # sent as code, since no executor imports this module
        raise ValueError("of the task")

    fails.__module__ = "__main__"
    with pytest.raises(JobError) as caught:
        run(spark, [b""], fails, description="test")
    assert "the job on the executors failed: ValueError: of the task" == str(caught.value)


# ----------------------------------------------------------------------------------------- tasks, progress


def test_skewed_sizes_are_balanced(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"{number:02}.parquet").write_bytes(bytes(8_000_000 if number % 10 == 0 else 1000))
    targets = planned(tmp_path, tier="values").targets
    deep = packed_positions(targets, "values", 4, cores=2)
    shallow = packed_positions(targets, "index", 2, cores=2)

    assert [1, 1, 1, 1] == [sum(position % 10 == 0 for position in task) for task in deep]
    assert list(range(40)) == sorted(position for task in deep for position in task)
    # A large file has hardly more metadata than a small one.
    assert max(map(len, shallow)) <= 28


def test_progress_ends_with_all_files_and_all_findings(spark: SparkSession, plan: CheckPlan) -> None:
    told: list[tuple[int, int, int]] = []
    verdicts = judged(spark, plan.targets, plan.settings, Means(), tell=lambda *counts: told.append(counts))
    total = len(plan.targets)

    assert (0, total, 0) == told[0]
    assert (total, total, sum(len(report.findings) for (report, _), _ in verdicts)) == told[-1]
    assert sorted(told) == told


def test_an_interrupted_wait_cancels_the_job(spark: SparkSession) -> None:
    def slow(_: bytes, __: Any) -> bytes:
        import threading

        threading.Event().wait()  # until it is ended
        return b""

    def interrupt(_: Any) -> None:
        if spark.sparkContext.statusTracker().getActiveJobsIds():
            raise KeyboardInterrupt

    slow.__module__ = "__main__"
    with pytest.raises(KeyboardInterrupt):
        run(spark, [b""], slow, description="test", tell=interrupt)
    assert () == tuple(spark.sparkContext.statusTracker().getActiveJobsIds())


# ---------------------------------------------------------------------------------------------- the command


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["good.parquet"], 0),
        (["bad.parquet", "--tier", "values"], 1),
        ([".", "--exclude", "*", "--include", "good*"], 2),
        (["absent.parquet"], 2),
        ([".", "--rule", "NO-1"], 2),
        (["."], 4),
    ],
)
def test_the_exit_codes_and_the_json_are_those_of_the_judge(
    wicked: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], code: int
) -> None:
    monkeypatch.chdir(wicked)
    expected = invoke(judge_app, ["check", "--format", "json", *options])
    found = invoke(app, ["check", "--format", "json", *options])

    assert (code, code) == (expected.exit_code, found.exit_code)
    assert (expected.stdout, expected.stderr) == (found.stdout, found.stderr)


@pytest.mark.usefixtures("spark")
def test_a_baseline_is_written_and_counts(tmp_path: Path) -> None:
    folder = lake(tmp_path / "lake", a=GOOD[:-9], b=GOOD)
    known = str(tmp_path / "known.json")
    common = ["check", str(folder), "--tier", "index", "--format", "json"]
    written = invoke(app, [*common, "--write-baseline", known])
    again = invoke(app, [*common, "--baseline", known])
    (folder / "a.parquet").write_bytes(GOOD)
    stale = invoke(app, [*common, "--baseline", known])

    assert (0, 0, 3) == (written.exit_code, again.exit_code, stale.exit_code)
    assert 1 == json.loads(again.stdout)["summary"]["known"]
    assert invoke(judge_app, [*common, "--baseline", known]).stdout == stale.stdout


@pytest.mark.usefixtures("spark")
def test_defaults_come_from_the_nearest_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake(tmp_path / "lake", a=BAD)
    (tmp_path / "pqassay.toml").write_text('[check]\npaths = ["lake"]\ntier = "footer"\nformat = "json"\n')
    monkeypatch.chdir(tmp_path)
    found = json.loads(invoke(app, ["check"]).stdout)

    assert ["lake/a.parquet"] == [file["path"] for file in found["files"]]
    assert "footer" == found["coverages"]["c1"]["tier"]


@pytest.mark.usefixtures("spark")
def test_many_files_with_findings_are_a_table_by_rule_and_writer(tmp_path: Path) -> None:
    for number in range(25):
        lake(tmp_path, **{f"{number:02}": GOOD[:-9]})
    found = invoke(app, ["check", str(tmp_path)])

    assert 1 == found.exit_code
    (row,) = [line for line in found.stdout.splitlines() if line.startswith("PQF-")]
    assert ["FAIL", "read", "fails", "25", "25"] == row.split()[1:6]
    assert row.endswith(f"{tmp_path}/00.parquet")
    assert "25 files: 0 conformant, 25 nonconformant, 0 errored" in found.stdout
    assert 15 > len(found.stdout.splitlines())


@pytest.mark.usefixtures("spark")
def test_a_history_gets_what_pqassay_check_appends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(GOLDEN_FILES / "dlt/maximum-lowered/table", "lake/sales")
    lake(tmp_path / "lake", good=GOOD, truncated=GOOD[:-9])
    options = ["check", "lake", "--config", "none", "--tier", "footer"]
    told: list[tuple[list[dict[str, Any]], list[Any]]] = []
    for program, place in ((judge_app, "alone"), (app, "spark")):
        done = invoke(program, [*options, "--history", place, "--metrics", f"{place}.json"])
        assert 1 == done.exit_code, done.output
        assert f"appended to {place}\n" in done.stderr
        rows = history_at(place).batches(Selection(SCHEMA.names, ("run", "writer", "table", "finding")))
        told.append(
            (
                [{**row, "run": "", "at": None} for batch in rows for row in batch.to_pylist()],
                json.loads(Path(f"{place}.json").read_text())["metrics"][1:],  # without the time
            )
        )
    (rows_alone, metrics_alone), (rows_by_spark, metrics_by_spark) = told
    assert {"DLT-025", "PQF-002"} <= {row["rule"] for row in rows_alone}
    assert rows_alone == rows_by_spark
    assert metrics_alone == metrics_by_spark
