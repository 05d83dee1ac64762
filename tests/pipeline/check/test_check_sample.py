"""Samples and estimates: some of very many files, and what all of them would cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from idx1_files import Idx1File
from pqassay.cli.main import spark as app
from pqassay.judge.checker import planned
from pqassay.stores.targets import Target
from pqassay_spark.check.estimate import Costs, measured_task
from pqassay_spark.check.run import check, estimated
from pqassay_spark.check.sampling import REASON, choose, sampled
from pqassay_spark.jobs.spark_jobs import packed, unpacked

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GOOD = Idx1File().build()
BROKEN = GOOD[:-9]

invoke = CliRunner().invoke


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """60 files in folders of 10, 20 and 30; one in the largest is broken."""
    folder = tmp_path_factory.mktemp("sampled") / "lake"
    for count in (10, 20, 30):
        (folder / f"n={count}").mkdir(parents=True)
        for number in range(count):
            (folder / f"n={count}" / f"{number:02}.parquet").write_bytes(GOOD)
    (folder / "n=30" / "15.parquet").write_bytes(BROKEN)
    return folder


def test_a_sample_is_the_same_every_time_and_each_folder_has_its_share(lake: Path) -> None:
    targets = planned(lake).targets
    chosen = choose(targets, 12)
    folders = [Path(targets[position].path).parent.name for position in chosen]

    assert choose(targets, 12) == chosen
    assert 12 == len(set(chosen))
    assert {"n=10": 2, "n=20": 4, "n=30": 6} == {name: folders.count(name) for name in set(folders)}


def test_small_and_large_files_are_in_a_sample() -> None:
    targets = [Target(f"f/{number}", f"f/{number}", size=number**2) for number in range(100)]
    sizes = [targets[position].size or 0 for position in choose(targets, 4)]

    assert [144, 1369, 3844, 7569] == sizes


@pytest.mark.parametrize("wanted", [60, 61, 1000])
def test_a_sample_that_is_no_smaller_is_all(lake: Path, wanted: int) -> None:
    plan = planned(lake)

    assert plan is sampled(plan, wanted)[0]


@pytest.mark.spark
def test_what_is_not_in_the_sample_is_not_checked_and_never_passed(spark: SparkSession, lake: Path) -> None:
    report = check(spark, lake, tier="index", sample=6)

    assert (6, 6, 54) == (report.summary.files, report.summary.conformant, report.summary.ignored)
    assert [(REASON, 54)] == [(entry.reason, entry.count) for entry in report.ignored]


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_the_command_says_what_a_sample_covers(lake: Path) -> None:
    common = ["check", str(lake), "--tier", "index", "--sample", "6"]
    text = invoke(app, common)
    data = invoke(app, [*common, "--format", "json"])
    sentence = (
        "sample: 6 of 60 files, from 3 of 3 folders; 54 files were not checked, and nothing is known of them"
    )

    assert sentence == text.stdout.splitlines()[-1]
    assert f"ignored: 54 ({REASON})" in text.stdout
    assert f"note: {sentence}\n" == data.stderr
    assert 54 == json.loads(data.stdout)["summary"]["ignored"]
    assert 0 == data.exit_code


@pytest.mark.spark
def test_a_baseline_entry_about_a_file_outside_the_sample_is_not_stale(
    spark: SparkSession, lake: Path, tmp_path: Path
) -> None:
    known = tmp_path / "known.json"
    assert 0 == invoke(app, ["check", str(lake), "--tier", "index", "--write-baseline", str(known)]).exit_code
    state = check(spark, lake, tier="index", sample=6, baseline=known).baseline

    assert state is not None
    assert (0, 1, []) == (state.known, state.unseen, state.stale)


# ------------------------------------------------------------------------------------------------ estimates


@pytest.mark.spark
def test_an_estimate_of_like_files_is_what_they_cost(spark: SparkSession, lake: Path) -> None:
    plan = planned(lake / "n=20", tier="index")
    (target, *_) = plan.targets
    measured: dict[Any, Costs] = unpacked(
        measured_task(plan.settings, ("footer", "index", "pages", "values"), packed(target), lambda _: None)
    )
    found = estimated(lambda: spark, plan)

    assert (20, 20 * len(GOOD), 0) == (found.files, found.size, found.kept)
    assert ["footer", "index", "pages", "values"] == [one.tier for one in found.tiers]
    for one in found.tiers:
        assert (20 * measured[one.tier].requests, 20 * measured[one.tier].read) == (one.requests, one.read)
        assert one.seconds > 0
    assert found.tiers[0].read <= found.tiers[1].read < found.tiers[3].read


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_a_dry_run_judges_nothing_and_always_succeeds(lake: Path, tmp_path: Path) -> None:
    table = tmp_path / "table"
    common = ["check", str(lake), "--tier", "index", "--dry-run", "--out", str(table)]
    text = invoke(app, common)
    data = json.loads(invoke(app, [*common, "--format", "json"]).stdout)

    assert 0 == text.exit_code
    assert "60 files to judge" in text.stdout
    assert "index" in next(line for line in text.stdout.splitlines() if "<- this check" in line)
    assert "nothing was judged" == text.stdout.splitlines()[-1]
    assert ("estimate", 60, 24, "index") == tuple(data[key] for key in ("kind", "files", "looked_at", "tier"))
    assert not table.exists()


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_an_estimate_is_written_where_a_report_would_be(lake: Path, tmp_path: Path) -> None:
    common = ["check", str(lake), "--tier", "index", "--dry-run"]
    for options, begins in (([], "60 files to judge"), (["--format", "json"], '{\n  "schema_version"')):
        output = tmp_path / "estimate"
        result = invoke(app, [*common, *options, "--output", str(output)])
        assert (0, "") == (result.exit_code, result.stdout)
        assert output.read_text().startswith(begins)


def test_an_estimate_replaces_no_file_that_would_be_judged(tmp_path: Path) -> None:
    file = tmp_path / "a.bin"
    file.write_bytes(b"no Parquet")
    command = [
        "check",
        str(tmp_path),
        "--tier",
        "index",
        "--include",
        "*.bin",
        "--dry-run",
        "--output",
        str(file),
    ]
    result = invoke(app, command)
    assert 2 == result.exit_code
    assert f"{file} is one of the files to check; write somewhere else" in result.stderr
    assert b"no Parquet" == file.read_bytes()


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_a_dry_run_counts_what_the_cache_would_save(lake: Path, tmp_path: Path) -> None:
    import os

    for path in lake.rglob("*.parquet"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    common = ["check", str(lake), "--tier", "index", "--out", str(tmp_path / "table")]
    assert 1 == invoke(app, common).exit_code
    (lake / "n=10" / "new.parquet").write_bytes(GOOD)
    data = json.loads(invoke(app, [*common, "--dry-run", "--incremental", "--format", "json"]).stdout)
    (lake / "n=10" / "new.parquet").unlink()

    assert (1, 60) == (data["files"], data["kept"])


def test_files_that_cannot_be_opened_cost_an_estimate_nothing(tmp_path: Path) -> None:
    (tmp_path / "nowhere.parquet").symlink_to("nothing")
    plan = planned(tmp_path, tier="index")

    assert {} == unpacked(measured_task(plan.settings, ("index",), packed(plan.targets[0]), lambda _: None))
