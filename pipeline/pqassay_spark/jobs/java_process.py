"""The Java process of Spark: its launch, and its output.

Spark asks Java for an incubating module, and Java prints a warning about that before logging can be configured; no option
prevents it.  Java therefore prints into a pipe, and its output goes to the stderr of this process, without that
line.  Output of Java never gets into the stdout of this process, which may be a report.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway  # type: ignore[import-untyped]  # it has no types
    from pyspark import SparkConf

NOISE = b"WARNING: Using incubator modules: jdk.incubator.vector"
"""A line to drop, because it has no information."""

STDERR = 2
"""Descriptor to which this process prints errors."""

AT_ONCE = 1 << 16
"""Bytes that are read from the pipe at once."""

PATIENCE = 5.0
"""Seconds to wait for the rest of Java's output after it has ended."""


def launched(conf: SparkConf) -> JavaGateway:
    """Launch Java for a Spark context.

    Signals do not wait for the launch: it has its own thread, and ends by itself if it is no longer needed.  When Spark's
    own function is interrupted, it removes the folder in which Java is about to write a file. Java then fails, but
    its process stays.

    Raises:
        PySparkException: It does not start.
        KeyboardInterrupt: This, or another exception that ends the caller's wait.
    """
    from pyspark.java_gateway import (  # noqa: PLC0415 - importing this module must not cost what pyspark costs
        launch_gateway,
    )

    outcome: Future[JavaGateway] = Future()

    def launch() -> None:
        try:
            with quiet_stderr() as stderr:
                gateway: JavaGateway = cast("Any", launch_gateway)(conf, {"stdout": stderr, "stderr": stderr})
        except BaseException as error:  # noqa: BLE001 - it is raised where somebody waits for it
            outcome.set_exception(error)
        else:
            outcome.set_result(gateway)

    threading.Thread(target=launch, name="launch of Java", daemon=True).start()
    try:
        return outcome.result()
    except BaseException:
        outcome.add_done_callback(_end)
        raise


def _end(outcome: Future[JavaGateway]) -> None:
    if outcome.exception() is None:
        cast("Any", outcome.result()).proc.kill()


@contextlib.contextmanager
def quiet_stderr() -> Generator[int]:
    """A file descriptor for the stderr of a process that is started inside the block.

    Output of that process and its children there goes to stderr while they live. If the block fails, their
    output is on stderr before the error propagates.
    """
    out, into = os.pipe()
    thread = threading.Thread(target=pass_on, args=(out, _to_stderr), name="stderr of Java", daemon=True)
    thread.start()
    try:
        yield into
    except BaseException:
        os.close(into)
        thread.join(PATIENCE)
        raise
    os.close(into)


def pass_on(out: int, write: Callable[[bytes], object]) -> None:
    """Copy the bytes from a pipe, without delay, until all of its writers are closed."""
    kept = b""
    is_line_start = True
    with os.fdopen(out, "rb", buffering=0) as pipe:
        while chunk := pipe.read(AT_ONCE):
            passed: list[bytes] = []
            lines = (kept + chunk).splitlines(keepends=True)
            kept = b""
            for line in lines:
                text = line.rstrip(b"\r\n")
                is_whole = text != line
                if is_line_start and is_whole and text == NOISE:
                    continue
                if is_line_start and not is_whole and NOISE.startswith(text):
                    kept = line  # its rest is still to come
                    continue
                passed.append(line)
                is_line_start = is_whole
            write(b"".join(passed))
    write(kept)


def _to_stderr(content: bytes) -> None:
    with contextlib.suppress(OSError):  # it may be closed; Java must not wait for that
        while content:
            content = content[os.write(STDERR, content) :]
