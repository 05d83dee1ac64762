"""Indexing a folder on Spark: every file old or new, again and again, whatever is in the folder and whichever process is killed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import pqassay
from index_tables import expected_rows, table_rows
from pqassay_reader.lake import index_table
from pqassay_reference.errors import Refused
from pqassay_reference.rewrite.embed import embed_file
from pqassay_reference.rewrite.extract import extract_file
from pqassay_spark.index.run import index_files
from pqassay_spark.produce.sales import YEARS, write_sales
from pqassay_spec.base.sources import temporary_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

NATIONS = ("Perú", "日本", None, "Brasil", "Canada")
ODD_NAMES = (
    "a b.parquet",
    "50%20.parquet",
    "[x].parquet",
    "*.parquet",
    "{y}.parquet",
    "ü日.parquet",
    "a:b.parquet",
)


def write(path: Path, nations: tuple[str | None, ...] = NATIONS, **more: list[str]) -> Path:
    """A file of one row a nation."""
    path.parent.mkdir(parents=True, exist_ok=True)
    columns: dict[str, Any] = {
        "nation": pa.array(nations, pa.string()),
        "n": list(range(len(nations))),
        **more,
    }
    pq.write_table(pa.table(columns), path)
    return path


def state(root: Path) -> dict[str, tuple[bytes, int]]:
    """Bytes and times of everything below a folder."""
    return {
        str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def test_every_file_gets_an_index_and_the_table_says_what_the_files_say(
    spark: SparkSession, tmp_path: Path
) -> None:
    root = tmp_path / "sales"
    for number in range(9):
        write(root / f"{number}.parquet", NATIONS[: 1 + number % 5])
    done = index_files(spark, root, ["nation"])
    assert (done.indexed, done.fresh, done.refused) == (9, 0, [])
    assert (done.table, done.table_files) == (tmp_path / "sales.index", 9)
    assert table_rows(tmp_path / "sales.index") == expected_rows(root)
    assert done.table_rows == sum(len(said[-1]) for said in expected_rows(root).values())
    for path in root.iterdir():
        found = extract_file(path)
        assert found.companion is not None
        assert {*found.values} == expected_rows(root)[path.name, "nation"][-1] - {None}
    assert {file.outcome for file in pqassay.check(root, tier="values").files} == {"conformant"}


def test_a_second_run_changes_no_byte_and_no_time(spark: SparkSession, tmp_path: Path) -> None:
    root = tmp_path / "sales"
    for number in range(3):
        write(root / f"{number}.parquet")
    index_files(spark, root, ["nation"])
    before = state(tmp_path)
    done = index_files(spark, root, ["nation"])
    assert (done.indexed, done.fresh, done.refused) == (0, 3, [])
    assert state(tmp_path) == before


def test_new_and_changed_files_are_indexed_and_their_rows_refreshed(
    spark: SparkSession, tmp_path: Path
) -> None:
    root = tmp_path / "sales"
    write(root / "same.parquet")
    write(root / "changed.parquet")
    index_files(spark, root, ["nation"])
    same = (root / "same.parquet").stat().st_mtime_ns
    write(root / "changed.parquet", ("Kenya",))
    write(root / "new.parquet", (None, None))
    done = index_files(spark, root, ["nation"])
    assert (done.indexed, done.fresh) == (2, 1)
    assert (root / "same.parquet").stat().st_mtime_ns == same
    rows = table_rows(tmp_path / "sales.index")
    assert rows == expected_rows(root)
    assert (rows["changed.parquet", "nation"][-1], rows["new.parquet", "nation"][-1]) == ({"Kenya"}, {None})


def test_files_that_are_indexed_already_only_enter_the_table(spark: SparkSession, tmp_path: Path) -> None:
    root = tmp_path / "sales"
    embed_file(write(root / "a.parquet"), "nation")
    before = state(root)
    done = index_files(spark, root, ["nation"])
    assert (done.indexed, done.fresh) == (0, 1)
    assert state(root) == before
    assert table_rows(tmp_path / "sales.index") == expected_rows(root)
    shutil.rmtree(tmp_path / "sales.index")
    index_files(spark, root, ["nation"])
    assert table_rows(tmp_path / "sales.index") == expected_rows(root)


def test_the_first_column_is_embedded_and_all_go_into_the_table(spark: SparkSession, tmp_path: Path) -> None:
    root = tmp_path / "sales"
    write(root / "a.parquet", city=["x", "y", "x", "y", "x"])
    done = index_files(spark, root, ["nation", "city"])
    companion = extract_file(root / "a.parquet").companion
    assert (done.indexed, companion and companion.column) == (1, ("nation",))
    assert table_rows(tmp_path / "sales.index") == expected_rows(root) | expected_rows(root, "city")
    done = index_files(spark, root, ["city", "nation"])
    companion = extract_file(root / "a.parquet").companion
    assert (done.indexed, companion and companion.column) == (1, ("city",))
    assert table_rows(tmp_path / "sales.index") == expected_rows(root) | expected_rows(root, "city")


def test_another_index_and_forced_ones_replace_the_old_one_and_nothing_piles_up(
    spark: SparkSession, tmp_path: Path
) -> None:
    root = tmp_path / "sales"
    path = write(root / "a.parquet", city=["x", "y", "x", "y", "x"])
    sizes: list[int] = []
    for _ in range(3):
        assert index_files(spark, root, ["nation"], force=True).indexed == 1
        sizes.append(path.stat().st_size)
    assert sizes == sizes[:1] * 3
    index_files(spark, root, ["city"])
    assert index_files(spark, root, ["nation"]).indexed == 1
    assert path.stat().st_size == sizes[0]
    assert path.read_bytes().count(b"IDX1") == 1


def test_what_cannot_be_indexed_is_refused_with_its_reason_and_the_others_are_done(
    spark: SparkSession, tmp_path: Path
) -> None:
    root = tmp_path / "sales"
    for number in range(5):
        write(root / f"{number}.parquet")
    write(root / "newline.parquet", ("a\nb",))
    pq.write_table(pa.table({"other": ["x"]}), root / "other.parquet")
    (root / "torn.parquet").write_bytes((root / "0.parquet").read_bytes()[:-9])
    damaged = bytearray(write(root / "pages.parquet").read_bytes())
    damaged[4:60] = b"\xff" * 56
    (root / "pages.parquet").write_bytes(damaged)
    before = {name: path for name, path in state(root).items() if not name[0].isdigit()}
    done = index_files(spark, root, ["nation"])
    assert done.indexed == 5
    reasons = {file.name: file.reason for file in done.refused}
    assert list(reasons) == ["newline.parquet", "other.parquet", "pages.parquet", "torn.parquet"]
    assert "line feed" in reasons["newline.parquet"] or "newline" in reasons["newline.parquet"]
    assert reasons["other.parquet"] == "there is no column nation; string columns are: other"
    assert "column nation cannot be decoded" in reasons["pages.parquet"]
    assert "PQF-" in reasons["torn.parquet"]
    assert all(str(root) not in reason and "\n" not in reason for reason in reasons.values())
    assert {name: path for name, path in state(root).items() if not name[0].isdigit()} == before
    assert set(table_rows(tmp_path / "sales.index")) == {(f"{n}.parquet", "nation") for n in range(5)}


def test_a_file_of_which_one_column_cannot_be_read_stays_as_it_was(
    spark: SparkSession, tmp_path: Path
) -> None:
    root = tmp_path / "sales"
    path = write(root / "a.parquet")
    before = path.read_bytes()
    done = index_files(spark, root, ["nation", "city"])
    assert [file.reason for file in done.refused] == ["there is no column city; string columns are: nation"]
    assert path.read_bytes() == before


def test_odd_names_and_folders_are_indexed_as_all_others(spark: SparkSession, tmp_path: Path) -> None:
    root = tmp_path / "lake [1] %41*"
    for name in ODD_NAMES:
        write(root / f"k=ä b%2F{{1}}/{name}", ("Perú", name))
    done = index_files(spark, root, ["nation"])
    assert (done.indexed, done.refused) == (len(ODD_NAMES), [])
    assert table_rows(tmp_path / "lake [1] %41*.index") == expected_rows(root)
    assert {path for path, _ in expected_rows(root)} == {f"k=ä b%2F{{1}}/{name}" for name in ODD_NAMES}


def test_a_name_that_is_no_text_is_indexed_and_left_out_of_the_table(
    spark: SparkSession, tmp_path: Path
) -> None:
    root = tmp_path / "sales"
    write(root / "a.parquet")
    odd = os.fsencode(root) + b"/\xff.parquet"
    write(root / "b.parquet").rename(os.fsdecode(odd))
    assert index_files(spark, root, ["nation"]).indexed == 2
    assert index_files(spark, root, ["nation"]).fresh == 2
    assert list(table_rows(tmp_path / "sales.index")) == [("a.parquet", "nation")]


def test_spark_reads_the_same_rows_of_a_partitioned_folder_afterwards(
    spark: SparkSession, tmp_path: Path
) -> None:
    plain, indexed = tmp_path / "plain", tmp_path / "indexed"
    write_sales(spark, str(plain), 600, 2, partition_by="year")
    shutil.copytree(plain, indexed)
    done = index_files(spark, indexed, ["nation", "category"])
    assert (done.indexed, done.refused) == (2 * len(YEARS), [])
    assert len(sorted(plain.rglob(".part-*.crc"))) == 2 * len(YEARS)
    assert sorted(indexed.rglob(".part-*.crc")) == []
    assert {file.outcome for file in pqassay.check(indexed, tier="values").files} == {"conformant"}
    before, after = (spark.read.parquet(str(folder)) for folder in (plain, indexed))
    assert (after.schema, after.count()) == (before.schema, 600)
    assert before.exceptAll(after).isEmpty()
    arrow = [
        pyarrow.dataset.dataset(folder, partitioning="hive").to_table().sort_by("id")
        for folder in (plain, indexed)
    ]
    assert arrow[1].equals(arrow[0])
    assert {path.partition("/")[0] for path, _ in table_rows(tmp_path / "indexed.index")} == {
        f"year={year}" for year in YEARS
    }
    with pytest.raises(Refused, match="is in the folder names"):
        index_files(spark, indexed, ["year"])


def test_summaries_hidden_files_and_an_index_table_among_the_data_are_left_alone(
    spark: SparkSession, tmp_path: Path
) -> None:
    root = tmp_path / "lake"
    path = write(root / "sales" / "a.parquet")
    pq.write_metadata(pq.read_schema(path), str(root / "sales" / "_common_metadata"))
    pq.write_metadata(pq.read_schema(path), str(root / "sales" / "_metadata"))
    write(root / "sales" / ".hidden.parquet")
    write(root / "sales" / "_temporary" / "b.parquet")
    index_files(spark, root / "sales", ["nation"])
    before = state(root)
    done = index_files(spark, root, ["nation"], table=tmp_path / "table")
    assert [file.name for file in done.files] == ["sales/a.parquet"]
    assert state(root) == before


def test_links_to_one_file_are_one_piece_of_work_and_hard_links_are_two(
    spark: SparkSession, tmp_path: Path
) -> None:
    root = tmp_path / "sales"
    path = write(root / "a.parquet")
    (root / "b.parquet").symlink_to("a.parquet")
    os.link(write(tmp_path / "elsewhere.parquet"), root / "c.parquet")
    os.link(root / "c.parquet", root / "d.parquet")
    outside = (tmp_path / "elsewhere.parquet").read_bytes()
    done = index_files(spark, root, ["nation"])
    assert (done.indexed, done.refused) == (4, [])
    assert (root / "b.parquet").is_symlink()
    assert table_rows(tmp_path / "sales.index") == expected_rows(root)
    assert {extract_file(root / f"{name}.parquet").values for name in "abcd"} == {extract_file(path).values}
    assert (tmp_path / "elsewhere.parquet").read_bytes() == outside
    assert index_files(spark, root, ["nation"]).fresh == 4


def test_a_folder_of_a_table_that_records_sizes_is_refused_unless_told_otherwise(
    spark: SparkSession, tmp_path: Path
) -> None:
    root = tmp_path / "sales"
    write(root / "a.parquet")
    (root / "_delta_log").mkdir()
    with pytest.raises(Refused, match="belongs to the Delta table sales"):
        index_files(spark, root, ["nation"])
    assert not (tmp_path / "sales.index").exists()
    assert index_files(spark, root, ["nation"], inside_table=True).indexed == 1


def test_what_killed_runs_left_behind_is_removed(spark: SparkSession, tmp_path: Path) -> None:
    root = tmp_path / "sales"
    write(root / "a.parquet")
    index_files(spark, root, ["nation"])
    before = state(tmp_path)
    for path in (root / "a.parquet", root / "gone.parquet", index_table.part_path(f"{root}.index", 7, 3)):
        temporary_name(path).write_bytes(b"half")
    (tmp_path / "sales.index" / ".run-00000009").touch()
    assert index_files(spark, root, ["nation"]).fresh == 1
    assert state(tmp_path) == before


def test_a_single_file_has_no_table_unless_one_is_named(spark: SparkSession, tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet")
    done = index_files(spark, path, ["nation"])
    assert (done.indexed, done.table) == (1, None)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.parquet"]
    assert index_files(spark, path, ["nation"], table=tmp_path / "t").table_files == 1
    assert list(table_rows(tmp_path / "t")) == [("a.parquet", "nation")]
