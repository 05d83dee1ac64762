"""Samples on Spark, and what the options are called that have become commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from idx1_files import Idx1File
from pqassay.cli.main import app as judge
from pqassay.cli.main import spark as app
from pqassay_lake.sampling import REASON
from pqassay_spark.check.run import check

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


@pytest.mark.spark
def test_what_is_not_in_the_sample_is_not_checked_and_never_passed(spark: SparkSession, lake: Path) -> None:
    report = check(spark, lake, tier="index", sample=6)

    assert (6, 54) == (report.summary.files, report.summary.ignored)
    assert [(REASON, 54)] == [(entry.reason, entry.count) for entry in report.ignored]


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_a_sample_is_the_same_on_spark_and_without(lake: Path) -> None:
    common = [str(lake), "--tier", "index", "--format", "json"]
    on_spark = invoke(app, ["check", *common, "--sample", "6"])
    here = invoke(judge, ["sample", "--bound", "6", *common])

    assert here.stdout == on_spark.stdout
    assert "note: `--sample` is now `pqassay sample --bound`\n" == on_spark.stderr


@pytest.mark.spark
def test_a_baseline_entry_about_a_file_outside_the_sample_is_not_stale(
    spark: SparkSession, lake: Path, tmp_path: Path
) -> None:
    known = tmp_path / "known.json"
    assert 0 == invoke(judge, ["baseline", str(lake), "--tier", "index", "--output", str(known)]).exit_code
    state = check(spark, lake, tier="index", sample=6, baseline=known).baseline

    assert state is not None
    assert [] == state.stale
    assert 1 == state.known + state.unseen


def test_a_dry_run_is_an_estimate(lake: Path) -> None:
    common = [str(lake), "--tier", "index", "--request-price", "0.001"]
    old = invoke(app, ["check", *common, "--dry-run"])

    assert (0, invoke(judge, ["estimate", *common]).stdout) == (old.exit_code, old.stdout)
    assert "note: `--dry-run` is now `pqassay estimate`\n" in old.stderr
