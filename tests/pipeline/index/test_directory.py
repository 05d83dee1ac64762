"""Indexes of the index directory for all files of a folder on Spark, and queries that several of them answer together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pqassay_reader.answer.answerer import Answerer
from pqassay_reference.directory import add
from pqassay_reference.directory.making.entry import Request
from pqassay_reference.errors import Refused
from pqassay_spark.index.directory import WantedIndex, index_directories, missing
from pqassay_spark.index.file_work import FileOutcome
from pqassay_spark.query.pruned_scan import plan_read
from pqassay_spec.directory.codes import Granularity, IndexType
from pqassay_spec.directory.distinct_set import DistinctSet, SetFlags, build_sets
from pqassay_spec.parquet.thrift import Type

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETS = WantedIndex(IndexType.DISTINCT_SET, ("nation", "carrier"), Granularity.FILE)
SUMS = WantedIndex(IndexType.ZONE_SUMS, ("nation", "units"))


def write(folder: Path, name: str, nations: list[str], carriers: list[str]) -> Path:
    folder.mkdir(exist_ok=True)
    columns = {"nation": nations, "carrier": carriers, "units": range(len(nations))}
    pq.write_table(pa.table(columns), folder / name)
    return folder / name


def outcomes(files: list[FileOutcome]) -> list[tuple[str, str]]:
    return [(file.name, file.outcome.value) for file in files]


def test_what_a_file_lacks_is_found_by_its_footer(tmp_path: Path) -> None:
    path = write(tmp_path, "a.parquet", ["Peru"], ["DHL"])
    paths = [(("nation",),), (("carrier",),)]
    expected = [Request(IndexType.DISTINCT_SET, one, Granularity.FILE) for one in paths]
    assert expected == missing(str(path), SETS)
    with pytest.raises(Refused, match="weight"):
        missing(str(path), WantedIndex(IndexType.KLL, ("weight",)))


@pytest.mark.spark
def test_files_are_indexed_once_and_pruned_by_two_columns(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = tmp_path / "lake"
    write(lake, "a.parquet", ["Chad", "Peru", "Togo"], ["DHL", "UPS", "UPS"])
    write(lake, "b.parquet", ["Chad", "Peru", "Togo"], ["DHL", "FedEx", "UPS"])
    write(lake, "c.parquet", ["Chad", "Fiji", "Togo"], ["DHL", "FedEx", "UPS"])
    monkeypatch.chdir(tmp_path)  # executors work elsewhere
    for expected in ("indexed", "fresh"):
        done = index_directories(spark, "lake", SETS)
        assert [(name, expected) for name in ("a.parquet", "b.parquet", "c.parquet")] == outcomes(done.files)
    plan = plan_read(spark, lake, "nation = 'Peru' AND carrier = 'FedEx'")
    assert ("a.parquet", "c.parquet") == plan.skipped
    assert [("Peru", "FedEx", 1)] == [tuple(row) for row in plan.frame.collect()]

    write(lake, "b.parquet", ["Mali"], ["DHL"])
    (lake / "d.parquet").write_bytes(b"PAR1")
    done = index_directories(spark, lake, SUMS)
    assert ["indexed", "indexed", "indexed", "refused"] == [outcome for _, outcome in outcomes(done.files)]
    (lake / "d.parquet").unlink()
    answer = Answerer.open(lake).ask("SELECT nation, SUM(units) FROM t GROUP BY nation")
    assert [3, 0] == [answer.effort.files_from_metadata, answer.effort.files_read]
    assert ["fresh", "indexed", "fresh"] == [
        outcome for _, outcome in outcomes(index_directories(spark, lake, SETS).files)
    ]


@pytest.mark.spark
def test_an_index_of_a_named_type_is_left_alone(spark: SparkSession, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    path = write(lake, "a.parquet", ["Chad", "Peru", "Togo"], ["DHL", "UPS", "UPS"])
    index_directories(spark, lake, SETS)
    blob = build_sets(Type.BYTE_ARRAY, [DistinctSet(SetFlags.COMPLETE, ())])  # which would deny every row
    add(path, type="org.example.denial", blob=blob, columns=["nation"])
    before = path.read_bytes()

    assert [("a.parquet", "fresh")] == outcomes(index_directories(spark, lake, SETS).files)
    assert before == path.read_bytes()
    assert ("a.parquet",) == plan_read(spark, lake, "nation = 'Fiji'").skipped
    plan = plan_read(spark, lake, "nation = 'Peru'")
    assert () == plan.skipped
    assert [("Peru", "UPS", 1)] == [tuple(row) for row in plan.frame.collect()]
