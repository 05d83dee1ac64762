"""Spark Connect, as far as no server is needed: addresses, tasks and results as tables, and how a wait that ends early ends the work.

``make matrix-spark`` runs whole checks over servers of several releases.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from pqassay.cli.main import spark as app
from pqassay_spark.jobs import connected
from pqassay_spark.jobs.spark_jobs import Count, JobError, told
from pqassay_spark.jobs.start import SparkStartError


class Rows:
    """A table of a session, in parts."""

    def __init__(self, parts: list[pa.RecordBatch]) -> None:
        self.parts = parts

    def repartitionByRange(self, count: int, name: str) -> Rows:  # noqa: N802 - Spark's name
        (whole,) = self.parts
        assert (count, "position") == (whole.num_rows, name)
        return Rows([whole.slice(at, 1) for at in range(count)])

    def mapInArrow(self, work: Callable[..., Iterator[pa.RecordBatch]], schema: str) -> Rows:  # noqa: N802 - Spark's name
        assert connected.RESULTS == schema
        return Rows([batch for part in reversed(self.parts) for batch in work(iter([part]))])

    def toLocalIterator(self) -> Iterator[dict[str, Any]]:  # noqa: N802 - Spark's name
        for part in self.parts:
            yield from part.to_pylist()


class Session:
    """A session without a server: its tasks run here, the last one first."""

    def __init__(self) -> None:
        self.tags: list[str] = []

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


@pytest.mark.parametrize("command", ["index", "pm"])
def test_a_command_that_needs_rdds_says_so_before_anything_happens(command: str) -> None:
    arguments = ["--column", "metal"] if command == "index" else []
    result = CliRunner().invoke(app, [command, "lake", *arguments, "--master", "sc://host:1"])

    assert 2 == result.exit_code
    assert (
        f"pqassay spark {command} needs RDDs, which Spark Connect (sc://host:1) does not have"
        in result.stderr
    )


def test_a_connection_that_breaks_is_said_in_one_line() -> None:
    broken = type("RpcError", (Exception,), {"__module__": "grpc._channel"})('details = "Socket closed"\n...')

    assert str(JobError("the server of Spark Connect is gone: Socket closed")) == str(told(broken))
