"""Indexes that are loaded while Spark lists the files: they count only for files that stayed what they were."""

from __future__ import annotations

import os
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pqassay_reader.lake.indexed_dataset import IndexWarning, open_indexed
from pqassay_spark.query import pruned_scan
from pqassay_spark.query.lake_indexes import Believed, LakeIndexes, loaded, loading
from pqassay_spark.query.pruned_scan import plan_read, spark_location
from processes import PATIENCE
from spark_lakes import files_opened, rows_of, write_file, write_lake

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from pyspark.sql import SparkSession

PERU: Any = pc.field("nation") == "Peru"
NATION = {"nation": pa.string()}


def replace(path: Path) -> None:
    """A file of the same length and with the same time takes the place of another."""
    old = path.stat()
    other = path.with_name("_other")
    other.write_bytes(b"x" * old.st_size)
    os.utime(other, ns=(old.st_atime_ns, old.st_mtime_ns))
    other.rename(path)


def write_in_place(path: Path) -> None:
    """Other bytes, with the times of the old ones."""
    old = path.stat()
    path.write_bytes(b"x" * old.st_size)
    os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))


def vanish_and_come_back(path: Path) -> None:
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)


@pytest.mark.parametrize("change", [replace, write_in_place, vanish_and_come_back, os.remove])
def test_a_file_that_changes_after_its_index_was_loaded_is_not_ruled_out(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    write_lake(tmp_path, {"a.parquet": ["Chad"], "n=1/b.parquet": ["Chad"], "c.parquet": ["Peru"]})
    with loading(tmp_path, {"nation"}, Believed()) as early:
        assert early is not None
        assert {"a.parquet", "n=1/b.parquet"} == set(early.result(PATIENCE).left_out(PERU))
        change(tmp_path / "a.parquet")
    indexes = loaded(early, tmp_path, NATION, Believed())
    assert indexes is early.result(PATIENCE)
    assert ["n=1/b.parquet"] == list(indexes.left_out(PERU))


def test_indexes_of_other_columns_and_indexes_that_failed_are_loaded_anew(tmp_path: Path) -> None:
    write_lake(tmp_path / "lake", {"a.parquet": ["Chad"], "b.parquet": ["Peru"]})
    with loading(tmp_path / "lake", {"NATION"}, Believed()) as early:
        pass
    indexes = loaded(early, tmp_path / "lake", NATION, Believed())
    assert (None, ["a.parquet"]) == (indexes.before, list(indexes.left_out(PERU)))
    with loading(tmp_path / "later", {"nation"}, Believed()) as early:
        pass
    with pytest.raises(FileNotFoundError):
        loaded(early, tmp_path / "later", NATION, Believed())
    (tmp_path / "lake").rename(tmp_path / "later")
    assert ["a.parquet"] == list(loaded(early, tmp_path / "later", NATION, Believed()).left_out(PERU))


def test_nothing_is_loaded_early_of_a_store_or_where_no_text_is_asked_for(tmp_path: Path) -> None:
    for root, columns in (("s3://bucket/lake", {"nation"}), (str(tmp_path), set[str]())):
        with loading(root, columns, Believed()) as early:
            assert early is None


def test_a_folder_behind_a_link_is_pruned_as_ever(tmp_path: Path) -> None:
    write_lake(tmp_path, {"lake/a.parquet": ["Chad"], "kept/b.parquet": ["Chad"]})
    (tmp_path / "lake" / "n=1").symlink_to(tmp_path / "kept")
    (tmp_path / "lake" / "nowhere.txt").symlink_to(tmp_path / "nothing")
    with loading(tmp_path / "lake", {"nation"}, Believed()) as early:
        pass
    indexes = loaded(early, tmp_path / "lake", NATION, Believed())
    assert indexes.before is None
    assert {"a.parquet", "n=1/b.parquet"} <= set(indexes.left_out(PERU))


def test_loading_warns_of_nothing_and_ruling_out_of_files_without_an_index(tmp_path: Path) -> None:
    write_lake(tmp_path, {"a.parquet": ["Chad"]})
    write_file(tmp_path / "none.parquet", ["Chad"], index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        indexes = LakeIndexes.load(tmp_path, NATION, Believed())
        quiet = open_indexed(tmp_path, warn=False)
    assert len(quiet.warnings) == 1
    with pytest.warns(IndexWarning, match="1 of 2 files have no index.*none.parquet") as heard:
        assert ["a.parquet"] == list(indexes.left_out(PERU))
    assert __file__ == heard[0].filename
    with pytest.warns(IndexWarning) as heard:
        open_indexed(tmp_path)
    assert quiet.summary == str(heard[0].message)


@pytest.mark.spark
def test_a_file_that_is_replaced_while_spark_lists_loses_no_row(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lake(tmp_path, {"a.parquet": ["Chad"], "b.parquet": ["Chad"], "c.parquet": ["Peru"]})

    @contextmanager
    def before_the_listing(*arguments: Any) -> Generator[Any]:
        with loading(*arguments) as early:
            assert early is not None
            early.result(PATIENCE)
            write_file(tmp_path / "a.parquet", ["Peru"])
            yield early

    monkeypatch.setattr(pruned_scan, "loading", before_the_listing)
    plan = plan_read(spark, tmp_path, "nation = 'Peru'")
    assert [("a.parquet 0", "Peru"), ("c.parquet 0", "Peru")] == rows_of(plan.frame)
    assert ("b.parquet",) == plan.skipped
    assert files_opened(plan.frame) == 2


@pytest.mark.spark
@pytest.mark.parametrize("piece", [1, 300, 100_000])
def test_java_names_its_files_in_pieces_as_it_does_one_by_one(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    names = [f"{number} {name}.parquet" for number in range(8) for name in ("ü😀", "a%20,b", "c")]
    content = write_file(tmp_path / "lake" / "first.parquet", ["Peru"]).read_bytes()
    for name in names:
        (tmp_path / "lake" / name).write_bytes(content)
    frame = spark.read.parquet(spark_location(tmp_path / "lake"))
    expected = frame.inputFiles()

    def one_by_one(_frame: Any) -> list[str]:
        raise AssertionError("the files were asked for one by one")

    monkeypatch.setattr(pruned_scan, "PIECE", piece)
    monkeypatch.setattr(type(frame), "inputFiles", one_by_one)
    found = pruned_scan._input_files(spark, frame)
    assert sorted(expected) == sorted(found)
    assert len(names) + 1 == len(found)
