"""Generating ``_pm`` for all files of a folder on Spark."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import pqassay
from places import INTEROP
from pqassay.cli.main import app
from pqassay_reader.query.scan import scan
from pqassay_reference.errors import Refused
from pqassay_reference.pm.generate import generate
from pqassay_reference.rewrite.embed import embed_file
from pqassay_spark.index.file_work import Outcome
from pqassay_spark.index.pm import PmOutcome, generate_files, is_fresh
from pqassay_spec.base.sources import BytesSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def write(path: Path, rows: int = 3) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"n": range(rows), "nation": ["Perú"] * rows}), path)
    return path


def outcomes(files: list[PmOutcome]) -> list[tuple[str, str]]:
    return [(file.name, file.outcome.value) for file in files]


@pytest.mark.spark
def test_each_file_that_has_a_folder_of_its_own_gets_its_pm_beside_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    for day in ("2024-01-01", "a b%20[1]ü"):
        write(tmp_path / "db" / day / "data.parquet")
    done = generate_files(spark, tmp_path / "db")
    assert outcomes(done.files) == [
        ("2024-01-01/data.parquet", "generated"),
        ("a b%20[1]ü/data.parquet", "generated"),
    ]
    for data in (tmp_path / "db").rglob("data.parquet"):
        assert (data.parent / "_pm").read_bytes() == generate(BytesSource(data.read_bytes())).raw
    report = pqassay.check(tmp_path / "db", tier="values")
    assert [(file.kind, file.outcome) for file in report.files] == [
        (kind, "conformant") for _ in range(2) for kind in ("pm", "parquet")
    ]
    assert "PM-102" in {rule for coverage in report.coverages.values() for rule in coverage.checked}


@pytest.mark.spark
def test_what_is_fresh_is_skipped_and_what_changed_is_generated_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    root = tmp_path / "db"
    for day in "abc":
        write(root / day / "data.parquet")
    generate_files(spark, root)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in root.rglob("_pm")}
    assert generate_files(spark, root).count(Outcome.FRESH) == 3
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in root.rglob("_pm")} == before
    embed_file(root / "a" / "data.parquet", "nation")
    (root / "b" / "_pm").unlink()
    done = generate_files(spark, root)
    assert outcomes(done.files) == [
        ("a/data.parquet", "generated"),
        ("b/data.parquet", "generated"),
        ("c/data.parquet", "fresh"),
    ]
    assert generate_files(spark, root, force=True, blooms="none").count(Outcome.GENERATED) == 3


@pytest.mark.spark
def test_where_a_file_has_grown_its_pm_gets_a_snapshot_more(spark: SparkSession, tmp_path: Path) -> None:
    chain = INTEROP / "questdb-9.4.3"
    for day in "ab":
        (tmp_path / day).mkdir()
        shutil.copy(chain / "o3-chain-3" / "_pm", tmp_path / day)
    shutil.copy(chain / "o3-chain-4" / "data.parquet", tmp_path / "a")
    write(tmp_path / "b" / "data.parquet")
    done = generate_files(spark, tmp_path)

    assert [("a/data.parquet", "updated"), ("b/data.parquet", "generated")] == outcomes(done.files)
    assert (chain / "o3-chain-4" / "_pm").read_bytes() == (tmp_path / "a" / "_pm").read_bytes()


@pytest.mark.spark
def test_files_that_share_a_folder_get_theirs_in_a_mirror_of_the_names(
    spark: SparkSession, tmp_path: Path
) -> None:
    names = [f"year={year}/part-{number}.parquet" for year in (2022, 2023, 2024) for number in (0, 1)]
    for rows, name in enumerate(names):
        write(tmp_path / "sales" / name, rows)
    with pytest.raises(
        Refused, match=r"year=2022 holds 2 Parquet files, and 2 more folders do likewise; .* --into"
    ):
        generate_files(spark, tmp_path / "sales")
    with pytest.raises(Refused, match="year=2022 holds 2 Parquet files; "):
        generate_files(spark, tmp_path / "sales" / names[0])
    assert list((tmp_path / "sales").rglob("_pm")) == []
    done = generate_files(spark, tmp_path / "sales", into=tmp_path / "pm")
    assert outcomes(done.files) == [(name, "generated") for name in names]
    for name in names:
        expected = generate(BytesSource((tmp_path / "sales" / name).read_bytes())).raw
        assert (tmp_path / "pm" / name / "_pm").read_bytes() == expected
    assert generate_files(spark, tmp_path / "sales", into=tmp_path / "pm").count(Outcome.FRESH) == 6
    report = pqassay.check(tmp_path / "pm", tier="values")
    assert [("pm", "conformant"), ("parquet", "conformant")] * 6 == [
        (file.kind, file.outcome) for file in report.files
    ]
    assert "PM-102" in {rule for coverage in report.coverages.values() for rule in coverage.checked}
    for rows, name in enumerate(names):
        data = tmp_path / "pm" / name / "data.parquet"
        expected_rows = pq.read_table(tmp_path / "sales" / name, partitioning=None).to_pylist()
        assert expected_rows == scan(data, metadata="pm").to_table().to_pylist()
        done_reading = CliRunner().invoke(
            app, ["pm", "read", str(data.parent), "--rows", "0..9", "--format", "json"]
        )
        assert rows == len(done_reading.stdout.splitlines())
    with pytest.raises(Refused, match="name a folder outside"):
        generate_files(spark, tmp_path / "sales", into=tmp_path / "sales" / "year=2022" / "pm")
    (tmp_path / "pm" / names[0] / "data.parquet").unlink()
    write(tmp_path / "pm" / names[0] / "data.parquet")
    moved = shutil.move(tmp_path / "sales" / names[1], tmp_path / "sales" / "other.parquet")
    again = generate_files(spark, tmp_path / "sales", into=tmp_path / "pm")
    assert [("other.parquet", "generated"), (names[0], "refused")] == [
        pair for pair in outcomes(again.files) if pair[1] != "fresh"
    ]
    assert "is a file, not a link to" in again.refused[0].reason
    assert pq.read_table(moved).equals(pq.read_table(tmp_path / "pm" / "other.parquet" / "data.parquet"))


@pytest.mark.spark
def test_a_damaged_file_is_refused_and_the_others_are_done(spark: SparkSession, tmp_path: Path) -> None:
    for day in "abc":
        write(tmp_path / day / "data.parquet")
    torn = tmp_path / "b" / "data.parquet"
    torn.write_bytes(torn.read_bytes()[:-5])
    shutil.copy(tmp_path / "a" / "data.parquet", tmp_path / "c" / "_pm")
    done = generate_files(spark, tmp_path)
    assert outcomes(done.files) == [
        ("a/data.parquet", "generated"),
        ("b/data.parquet", "refused"),
        ("c/data.parquet", "refused"),
    ]
    assert "PQF-" in done.refused[0].reason
    assert done.refused[1].reason.endswith("is a Parquet file, which _pm would replace; name another output")
    assert not (tmp_path / "b" / "_pm").exists()


def test_fresh_means_whole_and_of_this_very_file(tmp_path: Path) -> None:
    data, target = write(tmp_path / "data.parquet"), tmp_path / "_pm"
    assert not is_fresh(str(data), str(target))
    raw = generate(BytesSource(data.read_bytes())).raw
    target.write_bytes(raw)
    assert is_fresh(str(data), str(target))
    damaged = bytearray(raw)
    damaged[40] ^= 1
    target.write_bytes(damaged)
    assert not is_fresh(str(data), str(target))
    target.write_bytes(b"")
    assert not is_fresh(str(data), str(target))
    target.write_bytes(generate(BytesSource(write(tmp_path / "other.parquet", rows=50_000).read_bytes())).raw)
    assert not is_fresh(str(data), str(target))
    target.write_bytes(raw)
    os.utime(
        target, ns=(0, data.stat().st_mtime_ns - 1)
    )  # the file was written again, with a footer of the same length
    assert not is_fresh(str(data), str(target))
