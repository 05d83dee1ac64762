"""Killing the index step midway: every file is old or new at that moment, and the next run does what is left."""

from __future__ import annotations

import contextlib
import operator
import os
import shutil
import signal
import sys
import threading
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

import pqassay
import processes
from index_tables import expected_rows, table_rows
from pqassay_reference.rewrite.embed import embed_file
from pqassay_spark.index.listing import list_files
from pqassay_spark.index.run import index_files
from pqassay_spark.jobs.distributed import run_tasks
from pqassay_spark.jobs.packing import PER_FILE, pack, task_count
from pqassay_spark.jobs.spark_jobs import JobError
from pqassay_spark.produce.sales import write_sales
from pqassay_spec.base.sources import replaced_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

FILES = 24
HELD_TASKS = (0, 1)
"""Tasks of which the test holds the last file, so that the two workers, which have done others before, wait for it."""

DONE_BEFORE = 8
"""So many files are done at least when the workers wait."""


class Lake(NamedTuple):
    """Files that Spark wrote, and what each of them is with an index."""

    root: Path
    plain: dict[str, bytes]
    indexed: dict[str, bytes]

    def states(self, root: Path) -> list[str]:
        """The state of every file of a copy: old, new, or anything else."""
        found: list[str] = []
        for name in sorted(self.plain):
            content = (root / name).read_bytes()
            is_old, is_new = content == self.plain[name], content == self.indexed[name]
            found.append("old" if is_old else "new" if is_new else f"{name} is neither")
        return found


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    root = tmp_path_factory.mktemp("lake") / "sales"
    write_sales(spark, str(root), 10 * FILES, FILES)
    names = sorted(path.name for path in root.glob("*.parquet"))
    plain = {name: (root / name).read_bytes() for name in names}
    shutil.copytree(root, root.with_name("indexed"))
    indexed: dict[str, bytes] = {}
    for name in names:
        embed_file(root.with_name("indexed") / name, "nation")
        indexed[name] = (root.with_name("indexed") / name).read_bytes()
    assert len(names) == FILES
    return Lake(root, plain, indexed)


@pytest.fixture
def copy(lake: Lake, tmp_path: Path) -> Path:
    shutil.copytree(lake.root, tmp_path / "sales")
    return tmp_path / "sales"


class LetGoError(Exception):
    """The test gives back the files that it holds, unwritten."""


@contextlib.contextmanager
def held(root: Path) -> Generator[None]:
    """Hold some files as another process that writes them does."""
    files = list_files(root).files
    sizes = [file.size for file in files]
    tasks = pack(sizes, task_count(FILES, cores=2, work=sum(sizes) + PER_FILE * FILES))
    first, second = (files[tasks[task][-1]].path for task in HELD_TASKS)
    with contextlib.suppress(LetGoError), replaced_file(first), replaced_file(second):
        yield
        raise LetGoError


def wait_for_files(lake: Lake, copy: Path) -> None:
    """Wait until enough files are done that the workers wait for those that are held."""
    processes.until(lambda: lake.states(copy).count("new") >= DONE_BEFORE, f"{DONE_BEFORE} files are done")


def daemon_of(spark: SparkSession) -> int:
    """The process that starts the Python workers of this session."""

    def parent(_: Iterable[int]) -> Iterable[int]:
        yield os.getppid()

    return int(spark.sparkContext.parallelize([0], 1).mapPartitions(parent).collect()[0])


def require_everything_right(spark: SparkSession, lake: Lake, root: Path) -> None:
    """All files are indexed and right, the table too, nothing is left over, and Spark reads the same rows."""
    assert lake.states(root) == ["new"] * FILES
    assert table_rows(root.with_name("sales.index")) == expected_rows(root)
    assert [path.name for path in root.iterdir() if path.name.startswith(".part")] == []
    report = pqassay.check(root, tier="values", jobs=1)
    assert {file.outcome for file in report.files} == {"conformant"}
    before, after = (
        sorted(map(tuple, spark.read.parquet(str(folder)).collect()), key=operator.itemgetter(0))
        for folder in (lake.root, root)
    )
    assert len(after) == 10 * FILES
    assert after == before


def test_workers_that_are_killed_midway_leave_old_or_new_files_and_the_run_goes_on(
    spark: SparkSession, lake: Lake, copy: Path
) -> None:
    daemon = daemon_of(spark)
    at_the_kill: list[str] = []
    killed: list[int] = []

    def kill() -> None:
        with held(copy):
            ready.set()
            wait_for_files(lake, copy)
            for worker in processes.children(daemon):
                os.kill(worker, signal.SIGKILL)
                killed.append(worker)
            at_the_kill.extend(lake.states(copy))

    ready = threading.Event()
    killer = threading.Thread(target=kill)
    killer.start()
    assert ready.wait(processes.PATIENCE)
    done = index_files(spark, copy, ["nation"])
    killer.join(processes.PATIENCE)
    assert not killer.is_alive()
    assert killed
    assert {"old", "new"} == set(at_the_kill)
    assert (done.indexed + done.fresh, done.refused, done.table_files) == (FILES, [], FILES)
    require_everything_right(spark, lake, copy)


def test_a_program_that_is_killed_midway_is_simply_run_again(
    spark: SparkSession, lake: Lake, copy: Path
) -> None:
    command = [sys.executable, "-m", "pqassay", "spark"]
    command += ["index", str(copy), "--column", "nation", "--master", "local[2]"]
    with held(copy), processes.started(command, stdout=processes.PIPE, stderr=processes.PIPE) as program:
        wait_for_files(lake, copy)
        below = processes.children(program.pid)
        program.kill()
        processes.ended(program)
    assert -signal.SIGKILL == program.returncode
    at_the_kill = lake.states(copy)
    assert {"old", "new"} == set(at_the_kill)
    done = index_files(spark, copy, ["nation"])
    # what the executors of the killed program still had in hand they may have finished
    assert (done.indexed + done.fresh, done.refused) == (FILES, [])
    assert done.fresh >= DONE_BEFORE
    require_everything_right(spark, lake, copy)
    processes.until(lambda: not any(map(processes.alive, below)), "what the program had started ends")
    before = {path: path.stat().st_mtime_ns for path in copy.iterdir()}
    assert index_files(spark, copy, ["nation"]).fresh == FILES
    assert {path: path.stat().st_mtime_ns for path in copy.iterdir()} == before


def test_an_item_that_kills_its_worker_is_given_up_and_all_others_are_done(spark: SparkSession) -> None:
    def work(_: int, items: Sequence[int]) -> list[str]:
        for item in items:
            if item == 5:
                os.kill(os.getpid(), signal.SIGKILL)
        return [f"{item} done" for item in items]

    told: list[int] = []
    results = run_tasks(
        spark, [[1, 2], [3, 4, 5, 6], [7], []], work, lost=lambda item: [f"{item} lost"], progress=told.append
    )
    assert sorted(results) == ["1 done", "2 done", "3 done", "4 done", "5 lost", "6 done", "7 done"]
    assert told == sorted(told)
    assert told[-1] <= 7


def test_work_that_raises_an_exception_is_an_error_in_one_line(spark: SparkSession) -> None:
    def work(_: int, items: Sequence[int]) -> list[str]:
        raise OSError(28, "No space left on device", f"/table/{items[0]}")

    with pytest.raises(JobError) as caught:
        run_tasks(spark, [[1]], work, lost=lambda item: [str(item)])
    assert str(caught.value) == (
        "the job on the executors failed: OSError: [Errno 28] No space left on device: '/table/1'"
    )
