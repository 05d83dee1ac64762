"""Spark Connect, as far as no server is needed: addresses, tasks and results as tables, and how a wait that ends early ends the work.

``make matrix-spark`` runs whole checks and indexes folders over servers of several releases.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import pqassay
from pqassay_spark.index.directory import WantedIndex, index_directories
from pqassay_spark.index.file_work import Outcome
from pqassay_spark.index.pm import generate_files
from pqassay_spark.index.run import index_files
from pqassay_spark.jobs import connected
from pqassay_spark.jobs.distributed import run_tasks
from pqassay_spark.jobs.spark_jobs import DEATHS, Count, JobError, meaning_of
from pqassay_spark.jobs.start import SparkStartError
from pqassay_spec.directory.codes import IndexType
from spark_lakes import write_lake

if TYPE_CHECKING:
    from pathlib import Path


class Rows:
    """A table of a session, in parts."""

    def __init__(self, parts: Iterable[pa.RecordBatch]) -> None:
        self.parts = parts

    def repartitionByRange(self, count: int, name: str) -> Rows:  # noqa: N802 - Spark's name
        (whole,) = self.parts
        assert (count, "position") == (whole.num_rows, name)
        return Rows([whole.slice(at, 1) for at in range(count)])

    def mapInArrow(self, work: Callable[..., Iterator[pa.RecordBatch]], schema: str) -> Rows:  # noqa: N802 - Spark's name
        assert connected.RESULTS == schema
        return Rows(self._mapped(work))

    def _mapped(self, work: Callable[..., Iterator[pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
        for part in reversed(list(self.parts)):
            try:
                yield from work(iter([part]))
            except WorkerDiedError:
                at = part["position"][0].as_py()
                raise SparkError(f"Task {at} in stage 3.0 failed 1 times: {DEATHS[0]} (crashed)") from None

    def toLocalIterator(self) -> Iterator[dict[str, Any]]:  # noqa: N802 - Spark's name
        for part in self.parts:
            yield from part.to_pylist()


class WorkerDiedError(Exception):
    """Stands for the end of the process in which a task runs."""


class SparkError(Exception):
    """What the client of Spark Connect raises for a job that failed."""


class Session:
    """A session without a server: its tasks run here, the last one first."""

    session_id = "a session of two cores"

    def __init__(self) -> None:
        self.tags: list[str] = []
        connected._cores[self.session_id] = 2

    def createDataFrame(self, rows: list[tuple[int, bytearray]], schema: str) -> Rows:  # noqa: N802 - Spark's name
        assert connected.TASKS == schema
        positions, tasks = zip(*rows, strict=True)
        arrays = [pa.array(positions, pa.int32()), pa.array([bytes(task) for task in tasks], pa.binary())]
        return Rows([pa.record_batch(arrays, names=["position", "task"])])

    def addTag(self, tag: str) -> None:  # noqa: N802 - Spark's name
        self.tags.append(f"begin {tag[:8]}")

    def removeTag(self, tag: str) -> None:  # noqa: N802 - Spark's name
        self.tags.append(f"end {tag[:8]}")

    def interruptTag(self, tag: str) -> None:  # noqa: N802 - Spark's name
        self.tags.append(f"interrupt {tag[:8]}")


for kind in (Session, SparkError):
    kind.__module__ = "pyspark.sql.connect.session"


def reversed_task(task: bytes, count: Count) -> bytes:
    count((1, len(task)))
    count((1, 0))
    return task[::-1]


def test_results_come_in_the_order_of_the_tasks_and_counts_as_they_end() -> None:
    session, heard = Session(), list[tuple[int, int]]()

    found = connected.run(session, [b"abc", b"", b"\0z"], reversed_task, heard.append)  # type: ignore[arg-type] # a stub

    assert [b"cba", b"", b"z\0"] == found
    assert [(2, 2), (4, 2), (6, 5)] == heard
    assert ["begin pqassay-", "end pqassay-"] == session.tags


def test_a_wait_that_is_interrupted_cancels_the_work_on_the_server() -> None:
    session = Session()

    def interrupted(_: tuple[int, int]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        connected.run(session, [b"a"], reversed_task, interrupted)  # type: ignore[arg-type] # a stub
    assert ["begin pqassay-", "interrupt pqassay-", "end pqassay-"] == session.tags


@pytest.mark.parametrize(
    ("master", "environment", "address"),
    [
        ("sc://a:1", {}, "sc://a:1"),
        ("local[2]", {"SPARK_REMOTE": "sc://a:1"}, None),
        (None, {"SPARK_REMOTE": "sc://a:1"}, "sc://a:1"),
        (None, {"SPARK_REMOTE": "local[2]"}, None),  # Spark would start a server of its own
        (None, {"SPARK_REMOTE": "sc://a:1", "PYSPARK_GATEWAY_PORT": "1"}, None),
        (None, {}, None),
    ],
)
def test_an_address_is_given_or_is_in_the_environment(
    master: str | None, environment: dict[str, str], address: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SPARK_REMOTE", "PYSPARK_GATEWAY_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert address == connected.address_of(master)


def test_a_server_that_does_not_listen_is_named_at_once() -> None:
    with socket.socket() as holder:  # of a port, so that no other program listens there meanwhile
        holder.bind(("127.0.0.1", 0))
        port = holder.getsockname()[1]
        with pytest.raises(
            SparkStartError, match=f"sc://127.0.0.1:{port} does not answer: Connection refused"
        ):
            connected.connected(f"sc://127.0.0.1:{port}", "test")


@pytest.mark.parametrize("address", ["sc://", "sc://:15002", "sc://host:port"])
def test_an_address_without_a_host_is_refused(address: str) -> None:
    with pytest.raises(SparkStartError, match="is not the address of a server"):
        connected.connected(address, "test")


def test_a_folder_is_indexed_and_gets_a_pm_for_each_file(tmp_path: Path) -> None:
    session: Any = Session()
    root = write_lake(tmp_path / "lake", {f"{number}.parquet": ["Peru", "Chad"] for number in range(3)})
    before = {path: path.read_bytes() for path in root.iterdir()}
    told_of: list[int] = []

    done = index_files(session, root, ["id", "nation"], progress=lambda done, _: told_of.append(done))

    assert ([Outcome.INDEXED] * 3, 3, 3 * 4) == (
        [file.outcome for file in done.files],
        done.table_files,
        done.table_rows,
    )
    assert [1, 3] == told_of  # of two tasks
    assert 3 == index_files(session, root, ["id", "nation"]).fresh
    sets = WantedIndex(IndexType.DISTINCT_SET, ("nation",))
    assert [3, 0] == [
        run.count(Outcome.INDEXED)
        for run in (index_directories(session, root, sets), index_directories(session, root, sets))
    ]
    assert 3 == generate_files(session, root, into=tmp_path / "pm").count(Outcome.GENERATED)
    assert all(path.read_bytes() != content for path, content in before.items())
    assert {"conformant"} == {file.outcome for file in pqassay.check(root, tier="values", jobs=1).files}


def test_an_item_whose_worker_dies_twice_is_given_up_and_all_others_are_done() -> None:
    def work(_: int, items: Sequence[int]) -> list[str]:
        if 5 in items:
            raise WorkerDiedError
        return [f"{item} done" for item in items]

    session: Any = Session()
    told_of: list[int] = []

    results = run_tasks(
        session,
        [[1, 2], [3, 4, 5, 6], [7], []],
        work,
        lost=lambda item: [f"{item} lost"],
        progress=told_of.append,
    )

    assert ["1 done", "2 done", "3 done", "4 done", "5 lost", "6 done", "7 done"] == sorted(results)
    assert sorted(told_of) == told_of


def test_a_connection_that_breaks_is_said_in_one_line() -> None:
    broken = type("RpcError", (Exception,), {"__module__": "grpc._channel"})('details = "Socket closed"\n...')

    assert str(JobError("the server of Spark Connect is gone: Socket closed")) == str(meaning_of(broken))
