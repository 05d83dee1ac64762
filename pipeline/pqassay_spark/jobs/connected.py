"""Sessions of Spark Connect: work on executors without a Spark context, by `mapInArrow`, and replacements for the context.

A session of Connect uses a server, so this side needs neither Java nor Spark itself.  It has no
RDDs and no accumulators: tasks are sent as rows of a table, one per partition, and results come back as rows
with their counts, as soon as each task ends.

Source: "Spark Connect Overview" of Apache Spark's documentation.
"""

from __future__ import annotations

import os
import re
import socket
import uuid
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from pqassay_spark.jobs.worker_memory import keep_what_is_loaded
from pqassay_spec.base.installing import install

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from pqassay_spark.jobs.spark_jobs import Counts, Work

SCHEME = "sc://"
"""The beginning of the address of a server of Spark Connect."""

REMOTE = "SPARK_REMOTE"
"""Environment variable with the address of the server, if a program does not give one."""

PORT = 15002
"""Port of a server, if an address does not have one."""

CONNECT_SECONDS = 20.0
"""Seconds in which a server has to accept a connection."""

TASKS = "position int, task binary"
RESULTS = "position int, files long, findings long, result binary"
"""Columns of the tables with tasks and results."""

MANY_ROWS = 1 << 16
"""Enough rows that each core gets some."""

_cores: dict[str, int] = {}
"""Number of tasks that run at the same time, by the id of a session."""


def is_connected(spark: object) -> bool:
    """Whether a session is one of Spark Connect; does not import it."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def address_of(master: str | None) -> str | None:
    """The address of the server of Spark Connect; ``None`` if there is none, because a program of ``spark-submit`` has its own Spark.

    Args:
        master: The master that the caller gives. Without it, the environment decides.
    """
    wanted = master if master or "PYSPARK_GATEWAY_PORT" in os.environ else os.environ.get(REMOTE)
    return wanted if wanted and wanted.startswith(SCHEME) else None


def connected(address: str, name: str) -> SparkSession:
    """A session on a server of Spark Connect.

    Raises:
        SparkStartError: No server answers there, or this Python lacks the client libraries.
    """
    from pyspark.errors import PySparkException  # noqa: PLC0415 - importing this module must not cost what pyspark costs
    from pyspark.sql import SparkSession  # noqa: PLC0415 - as above

    from pqassay_spark.jobs.start import SparkStartError, plain_words  # noqa: PLC0415 - it knows this module

    _require_listener(address)
    try:
        session = SparkSession.builder.appName(name).remote(address).getOrCreate()
        _ = session.version  # connects, because the connection is made at the first request
    except ImportError as error:
        raise SparkStartError(
            f"{plain_words(str(error))}. Spark Connect needs more: {install('connect')}"
        ) from None
    except (PySparkException, OSError) as error:
        raise SparkStartError(f"{address} does not answer: {grpc_words(str(error))}") from None
    except Exception as error:  # errors of gRPC have no base class that is there before it is loaded
        if not is_of_grpc(error):
            raise
        raise SparkStartError(f"{address} does not answer: {grpc_words(str(error))}") from None
    return session


def _require_listener(address: str) -> None:
    """Make sure that a server listens: otherwise, the client of Spark Connect would retry for many minutes.

    Raises:
        SparkStartError: No server answers, or the address is not valid.
    """
    from pqassay_spark.jobs.start import SparkStartError  # noqa: PLC0415 - it knows this module

    server = urlsplit(address)
    try:
        host, port = server.hostname, server.port or PORT
    except ValueError:
        host, port = None, PORT
    if not host:
        raise SparkStartError(f"{address!r} is not the address of a server, such as sc://host:{PORT}")
    try:
        socket.create_connection((host, port), timeout=CONNECT_SECONDS).close()
    except OSError as error:
        raise SparkStartError(
            f"{address} does not answer: {error.strerror or error}. Is it the address of a server of Spark Connect?"
        ) from None


def is_of_grpc(error: BaseException) -> bool:
    """Whether the connection raised an error, rather than one of its sides."""
    return type(error).__module__.partition(".")[0] == "grpc"


def grpc_words(message: str) -> str:
    """The message without the frame of gRPC around it.

    >>> grpc_words('<_Rendezvous of RPC that terminated with: status = UNAVAILABLE, details = "no route">')
    'no route'
    """
    details = re.search(r'details = "(.*)"', message)
    return " ".join((details[1] if details else message.strip() or "no reason given").split())[:300]


def cores(spark: SparkSession) -> int:
    """Number of tasks that run at the same time: the server's default number of partitions. Runs one small job, once."""
    from pyspark.sql.functions import spark_partition_id  # noqa: PLC0415 - see `connected`

    session = session_id(spark)
    if session not in _cores:
        parts = spark.range(MANY_ROWS).select(spark_partition_id()).distinct().count()
        _cores[session] = max(1, parts)
    return _cores[session]


def session_id(spark: SparkSession) -> str:
    """The server's id of a session."""
    return str(cast("Any", spark).session_id)


def run(
    spark: SparkSession,
    tasks: Sequence[bytes],
    work: Work,
    tell: Callable[[Counts], object],
    results: dict[int, bytes] | None = None,
) -> list[bytes]:
    """Run work on the executors, as `pqassay_spark.jobs.spark_jobs.run` does.

    Args:
        spark: The session.
        tasks: The input of each task; each is a separate partition.
        work: The function to run.
        tell: Called with the progress whenever a task has ended.
        results: Receives the result of each completed task, by its position, even if the job fails.

    Returns:
        The results, in the order of the tasks.

    Raises:
        PySparkException: A task failed more often than Spark allows.
        KeyboardInterrupt: This, or another exception that ends the wait; the job is cancelled.
    """
    frame = spark.createDataFrame([(at, bytearray(task)) for at, task in enumerate(tasks)], TASKS)
    alone = frame.repartitionByRange(len(tasks), "position")
    outcomes = {} if results is None else results
    files = findings = 0
    with _interruptible(spark):
        for row in alone.mapInArrow(cast("Any", _Mapped(work)), RESULTS).toLocalIterator():
            outcomes[row["position"]] = bytes(row["result"])
            files, findings = files + row["files"], findings + row["findings"]
            tell((files, findings))
    return [outcomes[at] for at in range(len(tasks))]


class _interruptible:  # noqa: N801 - a context manager reads like a verb
    """Cancels the job on the server if the wait for it ends early."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark: Any = spark
        self._tag = f"pqassay-{uuid.uuid4()}"

    def __enter__(self) -> None:
        self._spark.addTag(self._tag)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is not None and not issubclass(kind, Exception):
                self._spark.interruptTag(self._tag)
        finally:
            self._spark.removeTag(self._tag)


class _Mapped:
    """Runs the work on the tasks of a partition: batches of `TASKS` in, batches of `RESULTS` out."""

    def __init__(self, work: Work) -> None:
        self.work = work

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Generator[pa.RecordBatch]:
        import pyarrow as pa  # noqa: PLC0415 - on an executor

        for batch in batches:
            rows: list[dict[str, Any]] = batch.to_pylist()
            for row in rows:
                counted = [0, 0]

                def count(counts: Counts, counted: list[int] = counted) -> None:
                    counted[0] += counts[0]
                    counted[1] += counts[1]

                result = self.work(row["task"], count)
                keep_what_is_loaded()
                yield pa.record_batch(
                    [
                        pa.array([row["position"]], pa.int32()),
                        pa.array([counted[0]], pa.int64()),
                        pa.array([counted[1]], pa.int64()),
                        pa.array([result], pa.binary()),
                    ],
                    names=["position", "files", "findings", "result"],
                )


def missing_modules(spark: SparkSession, modules: Sequence[str]) -> list[str]:
    """The modules that an executor's Python lacks, except pyarrow, which is always required."""
    names = list(modules)

    def missing(batches: Any) -> Any:
        import importlib.util  # noqa: PLC0415 - this function is sent

        import pyarrow as pa  # noqa: PLC0415 - as above

        for _ in batches:
            pass
        lacking: list[str] = []
        for name in names:
            try:
                if importlib.util.find_spec(name) is None:
                    lacking.append(name)
            except ImportError:
                lacking.append(name)
        yield pa.record_batch([pa.array(lacking, pa.string())], names=["name"])

    # An executor could not import the module of this function, so the function is sent as code.
    missing.__module__ = "__main__"
    asked = cores(spark)
    rows = spark.range(0, asked, 1, asked).mapInArrow(missing, "name string").distinct().collect()
    answers = {row["name"] for row in rows}
    return [name for name in modules if name in answers]
