from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.dataset
import pyarrow.parquet
import pytest

from pqassay_spark.sales import NATIONS, sales, write_sales
from pqassay_spec.parquet_file import read_footer, read_framing, referenced_ranges
from pqassay_spec.sources import FileSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMMAND = [sys.executable, "-c", "from pqassay_spark.cli import main; main()"]


@pytest.fixture(scope="session")
def written(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """2,000 rows in four files, in a folder whose name Hadoop could misread."""
    out = tmp_path_factory.mktemp("sales") / "a b:c%20é"
    write_sales(spark, f"file://{out}", rows=2_000, files=4, options={"parquet.page.row.count.limit": "200"})
    return out


@pytest.mark.spark
def test_the_rows_are_the_same_on_every_machine(spark: SparkSession) -> None:
    first = [tuple(row) for row in sales(spark, 1_000).limit(3).collect()]
    assert first == [
        (0, "Singapore", 2024, "books", "customer-c9d19044edbcead5", 8170.58),
        (1, "Österreich", 2023, "tools", "customer-78783bbb639584ae", 7745.67),
        (2, None, 2022, "food", "customer-8ea14f4e9460b569", 2759.47),
    ]


@pytest.mark.spark
def test_the_rows_do_not_depend_on_the_number_of_files_but_on_the_seed(
    spark: SparkSession, written: Path
) -> None:
    expected = pyarrow.dataset.dataset(written).to_table().sort_by("id")
    assert sales(spark, 2_000, files=1).toArrow().equals(expected.cast(expected.schema.remove_metadata()))
    assert not sales(spark, 2_000, seed=1).toArrow().column("nation").equals(expected.column("nation"))


@pytest.mark.spark
def test_the_rows_hold_nulls_and_every_nation_though_no_file_holds_them_all(written: Path) -> None:
    files = sorted(written.glob("*.parquet"))
    nations = [set(pyarrow.parquet.read_table(file).column("nation").to_pylist()) for file in files]
    assert len(files) == 4
    assert set.union(*nations) == {None, *NATIONS}
    assert all(None in found and len(found) < 14 for found in nations)


@pytest.mark.spark
def test_every_file_has_a_page_index_and_a_bloom_filter(written: Path) -> None:
    columns = ["id", "nation", "year", "category", "customer", "sales_amount"]
    for path in written.glob("*.parquet"):
        with FileSource(path) as source:
            metadata, _ = read_footer(source, read_framing(source))
            found = [(r.kind, r.column) for r in referenced_ranges(metadata)]
        assert [column for kind, column in found if kind == "column index"] == columns
        assert [column for kind, column in found if kind == "offset index"] == columns
        assert [column for kind, column in found if kind == "bloom filter"] == ["customer"]


def test_an_existing_directory_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("data")
    run = subprocess.run([*COMMAND, "produce", str(tmp_path)], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == (
        f"error: {tmp_path} exists. Choose another directory, or replace it with --overwrite.\n"
    )


def test_only_what_spark_wrote_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("data")
    command = [*COMMAND, "produce", str(tmp_path), "--overwrite"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    assert "has no file _SUCCESS, so it is no finished output of Spark" in run.stderr
    assert (tmp_path / "precious").read_text() == "data"


def test_without_java_the_command_says_what_to_install(tmp_path: Path) -> None:
    command = [*COMMAND, "produce", str(tmp_path / "out")]
    environment = {**os.environ, "JAVA_HOME": str(tmp_path)}
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith(f"error: JAVA_HOME is {tmp_path}, which has no bin/java. Install a Java")
    assert not (tmp_path / "out").exists()


def test_the_help_shows_an_example() -> None:
    run = subprocess.run([*COMMAND, "produce", "--help"], capture_output=True, text=True, check=True)
    assert "Example: pqassay-spark produce sales --rows 100000" in " ".join(run.stdout.split())
