"""The index table through many runs: runs at the same time, many parts, damaged ones, and files that are gone."""

from __future__ import annotations

import fcntl
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

import processes
from index_tables import expected_rows, table_rows
from pqassay_reader.lake import index_table
from pqassay_reader.lake.index_table import Entry, write_part
from pqassay_reference.errors import Refused
from pqassay_spark.index import table_upkeep
from pqassay_spark.index.run import IndexRun, index_files
from pqassay_spark.index.table_upkeep import TableLock, run_number, survey

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def entry(path: str, *values: str, size: int = 1, column: str = "nation") -> Entry:
    return Entry(path, size, 7, column, 10, 0, values)


def write(path: Path, *nations: str | None) -> Path:
    import pyarrow as pa

    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"nation": pa.array(nations, pa.string())}), path)
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_latest_run_is_what_a_table_knows(tmp_path: Path) -> None:
    write_part(tmp_path, 2, 0, [entry("a", "x", "y", size=2)])
    write_part(tmp_path, 1, 5, [entry("a", "x", size=1), entry("b", size=3), entry("a", "u", column="city")])
    known = survey(tmp_path)
    assert {key: (last.run, last.size, last.rows) for key, last in known.latest.items()} == {
        ("a", "nation"): (2, 2, 2),
        ("b", "nation"): (1, 3, 1),
        ("a", "city"): (1, 1, 1),
    }
    assert known.knows("a", "nation", 2, 7)
    assert not known.knows("a", "nation", 1, 7)
    assert not known.knows("a", "nation", 2, 8)
    assert not known.knows("c", "nation", 2, 7)
    assert known.rows_of({"a", "c"}) == (1, 3)


def test_runs_at_the_same_time_and_those_that_were_killed_have_numbers_of_their_own(tmp_path: Path) -> None:
    write_part(tmp_path, 4, 0, [entry("a")])
    (tmp_path / ".run-00000006").touch()  # of a run that was killed
    with run_number(tmp_path) as first, run_number(tmp_path) as second:
        assert (first, second) == (7, 8)
    assert names(tmp_path) == [".run-00000006", "part-00000004-00000.parquet"]


def test_parts_are_put_together_only_by_who_is_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flock = fcntl.flock
    with TableLock(tmp_path) as one:
        with TableLock(tmp_path) as other:
            assert not one.take()
            assert other.take()
        one.share()
        assert one.take()
        # A run that begins now waits until they are put together: it asks for what is not available yet.
        asks, began = threading.Event(), threading.Event()

        def asked(descriptor: int, operation: int) -> None:
            with pytest.raises(BlockingIOError):
                flock(descriptor, operation | fcntl.LOCK_NB)
            asks.set()
            flock(descriptor, operation)

        def begin() -> None:
            with TableLock(tmp_path):
                began.set()

        monkeypatch.setattr(fcntl, "flock", asked)
        waiting = threading.Thread(target=begin)
        waiting.start()
        assert asks.wait(processes.PATIENCE)
        assert not began.is_set()
    waiting.join(processes.PATIENCE)
    assert began.is_set()


def test_a_folder_that_is_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(Refused, match=r"is not an index table: it holds notes\.txt"):
        table_upkeep.require_table_folder(tmp_path, "elsewhere")
    with pytest.raises(Refused, match="is the indexed folder"):
        table_upkeep.require_table_folder(tmp_path / ".", str(tmp_path))


def test_a_table_of_another_version_is_not_touched(tmp_path: Path) -> None:
    import pyarrow as pa

    path = index_table.part_path(tmp_path, 1, 0)
    pq.write_table(pa.table({"other": ["x"]}), path)
    with pytest.raises(Refused, match="is not part of an index table of version 1"):
        survey(tmp_path)
    assert path.exists()


def test_a_run_that_ended_meanwhile_keeps_its_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look = index_table.next_run

    def overtaken(folder: Path) -> int:
        found = look(folder)
        if found == 1:  # what it says is out of date at once
            write_part(folder, 1, 0, [entry("a")])
        return found

    monkeypatch.setattr(index_table, "next_run", overtaken)
    with run_number(tmp_path) as run:
        assert run == 2
        assert names(tmp_path) == [".run-00000002", "part-00000001-00000.parquet"]


def test_a_table_may_stand_unseen_in_the_folder_and_anywhere_near_a_single_file(tmp_path: Path) -> None:
    for folder in ("_index", "_hidden/index", "year=2024/.index"):
        table_upkeep.require_table_folder(tmp_path / folder, str(tmp_path))
    table_upkeep.require_table_folder(tmp_path / "index", str(tmp_path), is_folder=False)
    with pytest.raises(Refused, match="is inside the indexed folder"):
        table_upkeep.require_table_folder(tmp_path / "seen" / "index", str(tmp_path))
    assert not (tmp_path / "seen").exists()


def test_what_is_called_a_part_and_is_no_file_is_refused(tmp_path: Path) -> None:
    index_table.part_path(tmp_path, 1, 0).mkdir()
    with pytest.raises(Refused, match=r"part-00000001-00000\.parquet is not a file"):
        table_upkeep.require_table_folder(tmp_path, "elsewhere")


def test_a_flipped_bit_in_a_value_and_other_columns_are_damage(tmp_path: Path) -> None:
    import pyarrow as pa

    flipped, other = index_table.part_path(tmp_path, 1, 0), index_table.part_path(tmp_path, 2, 0)
    # Bytes that zstd cannot make shorter are in the file as they are: only the checksum tells.
    value = "".join(chr(33 + (71 * n * n + n) % 89) for n in range(80))
    write_part(tmp_path, 1, 0, [entry("a", value)])
    content = flipped.read_bytes()
    start = content.index(value.encode())
    flipped.write_bytes(content[:start] + b"~" + content[start + 1 :])
    pq.write_table(pa.table({"path": ["a"]}, metadata=index_table.SCHEMA.metadata), other)
    known = survey(tmp_path)
    assert (known.latest, known.parts, known.damaged) == ({}, [], [flipped, other])
    said = index_table.read_entries(tmp_path).damaged
    assert [str(path) in text for path, text in zip((flipped, other), said, strict=True)] == [True, True]


@pytest.mark.spark
def test_many_parts_become_few_that_say_the_same_of_the_files_there_are(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for run in range(1, 6):
        for task in range(4):
            entries = [entry(f"{task}-{number}", f"run {run}", "ä", size=run) for number in range(6 - run)]
            write_part(
                tmp_path, run, task, [*entries, entry(f"null {task}", size=run), entry("gone", size=run)]
            )
    write_part(tmp_path, 6, 0, [])
    before = table_rows(tmp_path)
    assert len(before) == 4 * 5 + 4 + 1
    assert {said[0] for said in before.values()} == {1, 2, 3, 4, 5}
    total = sum(path.stat().st_size for path in tmp_path.iterdir())
    monkeypatch.setattr(table_upkeep, "GROUP_BYTES", total // 2)
    known = survey(tmp_path)
    table_upkeep.put_together(spark, tmp_path, known, {path for path, _ in before} - {"gone"})
    assert table_rows(tmp_path) == {key: said for key, said in before.items() if key[0] != "gone"}
    runs = {run for run, _ in index_table.parts(tmp_path)}
    assert (runs, len(names(tmp_path))) == ({7}, 2)
    for _, part in index_table.parts(tmp_path):
        assert index_table.read_part(part).schema.equals(index_table.SCHEMA, check_metadata=True)


@pytest.mark.spark
def test_putting_together_that_is_killed_before_the_old_parts_are_gone_changes_nothing(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for run in (1, 2, 3):
        write_part(tmp_path, run, 0, [entry("a", f"run {run}", size=run), entry(f"only {run}", size=run)])
    before = table_rows(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", lambda *_, **__: None)
        table_upkeep.put_together(spark, tmp_path, survey(tmp_path), None)
    assert len(index_table.parts(tmp_path)) == 4
    assert table_rows(tmp_path) == before


@pytest.mark.spark
def test_an_index_run_puts_a_scattered_table_together(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_upkeep, "MOST_PARTS", 3)
    root = tmp_path / "sales"
    for number in range(3):
        write(root / f"{number}.parquet", f"nation {number}")
    index_files(spark, root, ["nation"])
    (root / "0.parquet").unlink()
    for number in range(3, 5):
        write(root / f"{number}.parquet", f"nation {number}")
    # The workers are where they started, wherever this process has gone to.
    monkeypatch.chdir(tmp_path)
    done = index_files(spark, "sales", ["nation"])
    assert (done.indexed, done.fresh) == (2, 2)
    assert names(tmp_path / "sales.index") == ["part-00000003-00000.parquet"]
    assert table_rows(tmp_path / "sales.index") == expected_rows(root)
    assert (done.table_files, done.table_rows) == (4, 4)
    assert index_files(spark, root, ["nation"]).fresh == 4


@pytest.mark.spark
def test_a_damaged_part_is_found_out_again_and_removed(spark: SparkSession, tmp_path: Path) -> None:
    root, folder = tmp_path / "sales", tmp_path / "sales.index"
    write(root / "a.parquet", "Perú")
    index_files(spark, root, ["nation"])
    (_, part), *_ = index_table.parts(folder)
    part.write_bytes(part.read_bytes()[:-3])
    with pytest.raises(Refused, match="cannot be read; if it is an index table"):
        index_files(spark, root, ["nation"], table=folder)
    done = index_files(spark, root, ["nation"])
    assert (done.indexed, done.fresh) == (0, 1)
    assert done.warnings == [f"{part} could not be read; its files were indexed again"]
    assert names(folder) == ["part-00000002-00000.parquet"]
    assert table_rows(folder) == expected_rows(root)
    assert index_files(spark, root, ["nation"]).warnings == []
    done = index_files(spark, root, ["nation", "city"])
    assert (len(done.refused), done.table_files, done.table_rows) == (1, 1, 1)
    (root / "a.parquet").write_bytes(b"torn")
    done = index_files(spark, root, ["nation"])
    assert (len(done.refused), done.table_files, done.table_rows) == (1, 0, 0)


@pytest.mark.spark
def test_two_runs_at_once_index_every_file_and_the_table_is_right(
    spark: SparkSession, tmp_path: Path
) -> None:
    root = tmp_path / "sales"
    for number in range(30):
        write(root / f"{number}.parquet", "Perú", None, f"nation {number}")
    done: list[IndexRun] = []

    def run(*, force: bool) -> None:
        done.append(index_files(spark, root, ["nation"], force=force))

    threads = [threading.Thread(target=run, kwargs={"force": force}) for force in (True, True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(processes.PATIENCE)
    assert [(len(one.files), one.refused) for one in done] == [(30, [])] * 2
    after = index_files(spark, root, ["nation"])
    assert (after.indexed, after.fresh) == (0, 30)
    assert table_rows(tmp_path / "sales.index") == expected_rows(root)
