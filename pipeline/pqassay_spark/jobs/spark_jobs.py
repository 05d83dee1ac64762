"""Run work on executors: tasks and results are bytes; progress is counted, and Ctrl-C cancels the job.

We pickle and compress tasks and results ourselves: Spark would send each object separately, but here the common content of
many files is sent once.
"""

from __future__ import annotations

import pickle
import re
import uuid
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pqassay_spark.jobs import connected, shipping
from pqassay_spark.jobs.worker_memory import keep_what_is_loaded

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import SparkSession

Result = TypeVar("Result")

Counts = tuple[int, int]
"""Number of completed files, and of findings in them."""

Count = Callable[[Counts], object]
"""Takes the numbers since the last call; the driver receives them when the task ends."""

Work = Callable[[bytes, Count], bytes]
"""The work of an executor on a task: a function that it can import, or a `partial` of one."""

GLANCE = 0.2
"""Seconds between two checks of the progress of a job."""

PATIENCE = 10.0
"""Seconds that a cancelled job has to end."""

LEVEL = 1
"""The level of zlib: every level finds the repetitions among thousands of reports."""

DEATHS = (
    "Python worker exited unexpectedly",
    "Python worker failed to connect back",
    "ExecutorLostFailure",
    "SparkOutOfMemory",
    "EOFException",
    "Connection reset",
    "Broken pipe",
)
"""Texts in Spark's messages about a dead Python process. Other messages are errors in the code that it ran."""


class JobError(Exception):
    """A job on the executors failed; the message is one line.

    ``is_crash`` says that a Python process of an executor died, so that judging in separate processes may help.
    """

    def __init__(self, message: str, *, is_crash: bool = False) -> None:
        super().__init__(message)
        self.is_crash = is_crash


def packed(value: Any) -> bytes:
    """A value, pickled and compressed."""
    return zlib.compress(pickle.dumps(value, pickle.HIGHEST_PROTOCOL), LEVEL)


def unpacked(content: bytes) -> Any:
    """The inverse of `packed`."""
    return pickle.loads(zlib.decompress(content))  # noqa: S301 - our own, from a process of our own


def cores(spark: SparkSession) -> int:
    """Number of tasks that run at the same time."""
    if connected.is_connected(spark):
        return connected.cores(spark)
    return max(1, spark.sparkContext.defaultParallelism)


def require_modules(spark: SparkSession, *, is_deep: bool = False) -> None:
    """Make sure that executors can import the packages for judging, before a task fails without them.

    Executors on this machine run the Python of the driver, and are not checked.

    Args:
        spark: The session.
        is_deep: Whether values are decoded, which needs more.

    Raises:
        JobError: They cannot import a package; the message says what to do.
    """
    is_connected = connected.is_connected(spark)
    master = "" if is_connected else spark.sparkContext.master or ""
    if master == "local" or master.startswith("local["):
        return
    ask = connected.missing_modules if is_connected else shipping.missing_modules
    try:
        missing = ask(spark, shipping.NEEDED + (shipping.NEEDED_FOR_VALUES if is_deep else ()))
    except Exception as error:  # noqa: BLE001 - whatever Spark raises for a job that fails
        raise meaning_of(error) from None
    if missing:
        raise JobError(lacking(missing))


def run(
    spark: SparkSession,
    tasks: Sequence[bytes],
    work: Work,
    *,
    description: str,
    tell: Callable[[Counts], object] | None = None,
) -> list[bytes]:
    """Run work on the executors.

    Args:
        spark: The session.
        tasks: The input of each task; the first one starts first.
        work: The function to run.
        description: The name of the job in Spark's web pages.
        tell: Called with the progress several times a second.

    Returns:
        The results, in the order of the tasks.

    Raises:
        JobError: A task failed more often than Spark allows.
        KeyboardInterrupt: This, or another exception that ends the caller's wait; the job is cancelled.
    """
    if not tasks:
        return []
    if connected.is_connected(spark):
        try:
            return connected.run(spark, tasks, work, tell or _say_nothing)
        except Exception as error:
            if not is_of_spark(error):
                raise
            raise meaning_of(error) from None
    counter = accumulator(spark, (0, 0), _sum_of)

    def job() -> list[bytes]:
        return spark.sparkContext.parallelize(tasks, len(tasks)).map(partial(_done, work, counter)).collect()

    def glance() -> None:
        if tell is not None:
            tell(counter.value)

    try:
        results = watched(spark, job, glance, description=description)
    except Exception as error:
        if not is_of_spark(error):
            raise
        raise meaning_of(error) from None
    glance()
    return results


def watched(
    spark: SparkSession, job: Callable[[], Result], glance: Callable[[], object], *, description: str
) -> Result:
    """Run a job of Spark, and call ``glance`` several times a second until it ends.

    Spark's call only returns at the end of the job, and a signal would wait that long. The call therefore has a
    separate thread, and an exception in this one, mainly `KeyboardInterrupt`, cancels the job.

    Args:
        spark: The session.
        job: Runs the job and returns its result.
        glance: Called while it runs, on this thread.
        description: The name of the job in Spark's web pages.

    Raises:
        Exception: Any exception of the job.
    """
    from pyspark import InheritableThread  # noqa: PLC0415 - loaded with Spark

    context = spark.sparkContext
    group = f"pqassay-{uuid.uuid4()}"
    outcome: Future[Result] = Future()

    def run_job() -> None:
        try:
            context.setJobGroup(group, description, interruptOnCancel=True)
            outcome.set_result(job())
        except BaseException as error:  # noqa: BLE001 - it is raised where somebody waits for it
            outcome.set_exception(error)

    thread = InheritableThread(target=run_job, name=group, daemon=True)
    thread.start()
    try:
        while not wait([outcome], timeout=GLANCE).done:
            glance()
    except BaseException:
        context.cancelJobGroup(group)
        thread.join(PATIENCE)
        raise
    thread.join(PATIENCE)
    return outcome.result()


def _say_nothing(_: Counts) -> None:
    pass


def _done(work: Work, counter: Any, task: bytes) -> bytes:
    result = work(bytes(task), counter.add)
    keep_what_is_loaded()
    return result


def accumulator(
    spark: SparkSession, zero: Result, merged: Callable[[Result, Result], Result]
) -> Accumulator[Result]:
    """An accumulator on the driver: it merges the value of each completed task, once."""
    from pyspark.accumulators import AccumulatorParam  # noqa: PLC0415 - importing this module must not cost so much

    class Merged(AccumulatorParam[Any]):
        """Both functions in the form that Spark needs."""

        def zero(self, value: Any) -> Any:
            del value
            return zero

        def addInPlace(self, value1: Any, value2: Any) -> Any:  # noqa: N802 - Spark's name
            return merged(value1, value2)

    return spark.sparkContext.accumulator(zero, Merged())


def _sum_of(counts: Counts, other: Counts) -> Counts:
    return counts[0] + other[0], counts[1] + other[1]


def is_of_spark(error: Exception) -> bool:
    """Whether Spark, or Java on its behalf, raised an error; other errors come from this side."""
    return java_is_gone(error) or type(error).__module__.partition(".")[0] in ("grpc", "py4j", "pyspark")


def java_is_gone(error: BaseException) -> bool:
    """Whether the cause of an error is that the Java process of Spark has ended; an error of Java comes with its trace."""
    name, text = type(error).__name__, str(error)
    return (
        isinstance(error, ConnectionError)
        or name == "Py4JNetworkError"
        or (name == "Py4JError" and "Trace:" not in text)
    )


NO_JAVA = "Spark's Java process ended; is there enough memory? Files that are done stay done: run it again"
"""The message in that case."""


def meaning_of(error: BaseException) -> JobError:
    """The meaning of a failed job, in one line."""
    text = str(error)
    if java_is_gone(error):
        return JobError(NO_JAVA)
    if connected.is_of_grpc(error):
        return JobError(f"the server of Spark Connect is gone: {connected.grpc_words(text)}")
    if found := re.search(r"ModuleNotFoundError: No module named '([\w.]+)'", text):
        return JobError(lacking([found[1]]))
    if any(death in text for death in DEATHS):
        return JobError("a Python process of an executor died", is_crash=True)
    # The last line of a traceback has the message; in Java's messages, it is the first line.
    lines = [line.strip() for line in text.splitlines() if re.match(r"\w[\w.]*(Error|Exception)\b", line)]
    shown = (lines or [line for line in text.splitlines() if line.strip()] or [type(error).__name__])[-1]
    return JobError(f"the job on the executors failed: {' '.join(shown.split())[:300]}")


def lacking(modules: Sequence[str]) -> str:
    """Advice about modules that executors cannot import."""
    ours = [name for name in modules if name.partition(".")[0] in shipping.PACKAGES]
    others = [name for name in modules if name not in ours]
    parts: list[str] = []
    if ours:
        parts.append(f"the executors have no {', '.join(ours)}: --ship sends it")
    if others:
        parts.append(
            f"the executors' Python has no {', '.join(others)}: install it there, "
            "or say with PYSPARK_PYTHON which Python has it"
        )
    return "; ".join(parts)
