"""Processes that tests start, and events that tests wait for: each has an end, and what comes too late says what it was doing.

    done = processes.run([sys.executable, "-m", "pqassay", "check", folder])
    with processes.started(command) as process:
        processes.until(marker.exists, "the driver begins")
        process.send_signal(signal.SIGTERM)
        out, error = processes.ended(process)

No test calls `subprocess` or `time.sleep` itself; ruff holds that.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import psutil
import pytest

PATIENCE = 400.0
"""Seconds that anything may take: more than ten times what the longest wait takes on a quiet machine. What takes longer hangs."""

GRACE = 10.0
"""Seconds that a process has to write its threads down before it is killed."""

PIPE, STDOUT, DEVNULL = subprocess.PIPE, subprocess.STDOUT, subprocess.DEVNULL

Process = subprocess.Popen
"""What `started` yields."""

Completed = subprocess.CompletedProcess
"""What `run` returns."""

DUMPS = {"PYTHONFAULTHANDLER": "1"}
"""Lets a process of Python write its threads to its standard error when it is aborted."""


class HungError(AssertionError):
    """Something did not come to its end, or an event did not come, within `PATIENCE`."""


# ---------------------------------------------------------------------------------------------------------- starting


def run(
    command: Sequence[str | Path] | str,
    *,
    input: str | bytes | None = None,  # noqa: A002 - the name that `subprocess.run` has
    check: bool = False,
    limit: float = PATIENCE,
    capture_output: bool = False,
    **options: Any,
) -> Completed[Any]:
    """Run a program to its end, as `subprocess.run` does.

    Raises:
        HungError: It did not end within the limit. It was ended with all that it started; the message has what it wrote, threads included.
        subprocess.CalledProcessError: It failed, where ``check`` is set.
    """
    if capture_output:
        options |= {"stdout": PIPE, "stderr": PIPE}
    options.setdefault("stdin", DEVNULL if input is None else PIPE)
    with started(command, **options) as process:
        out, error = ended(process, input=input, limit=limit)
    done = Completed(process.args, process.returncode, out, error)
    if check:
        done.check_returncode()
    return done


@contextlib.contextmanager
def started(command: Sequence[str | Path] | str, **options: Any) -> Iterator[Process[Any]]:
    """Start a program, and end it with all that it started when the block is left."""
    options["env"] = DUMPS | (dict(os.environ) if options.get("env") is None else dict(options["env"]))
    process = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        _ended_by_force(process)


def ended(
    process: Process[Any],
    *,
    input: str | bytes | None = None,  # noqa: A002 - as above
    limit: float = PATIENCE,
) -> tuple[Any, Any]:
    """Wait for the end of a program, and return what it wrote to its two streams.

    Raises:
        HungError: It did not end within the limit; what it wrote is in the message, threads included.
    """
    try:
        return process.communicate(input, timeout=limit)
    except subprocess.TimeoutExpired:
        words = _threads_written(process)
        raise HungError(f"{_named(process)} had not ended after {limit:g} s\n{words}") from None


# ------------------------------------------------------------------------------------------------------------ waiting


def until(condition: Callable[[], object], what: str, *, limit: float = PATIENCE) -> None:
    """Wait for an event.

    Args:
        condition: True once it has come.
        what: A sentence that names it.
        limit: Seconds.

    Raises:
        HungError: It did not come.
    """
    end = time.monotonic() + limit
    pause = 0.01
    while not condition():
        if time.monotonic() > end:
            raise HungError(f"not after {limit:g} s: {what}")
        time.sleep(pause)
        pause = min(1.2 * pause, 0.1)  # looking costs time, too


def line_of(process: Process[Any], stream: IO[Any] | None = None, *, limit: float = PATIENCE) -> Any:
    """The next line that a program writes, to its standard output unless another stream is named; empty at its end.

    Raises:
        HungError: None came within the limit; the program was ended, and what it still wrote is in the message.
    """
    source = stream or process.stdout
    assert source is not None
    lines: list[Any] = []
    reader = threading.Thread(target=lambda: lines.append(source.readline()), daemon=True)
    reader.start()
    reader.join(limit)
    if lines:
        return lines[0]
    _abort(_tree(process.pid))
    reader.join(GRACE)
    raise HungError(f"{_named(process)} wrote no line within {limit:g} s, but at its end {lines}")


def exit_code(pid: int, *, limit: float = PATIENCE) -> int:
    """Wait for the end of a process that was forked, and return its exit code.

    Raises:
        HungError: It did not end within the limit; it was ended, and what its threads did is in the standard error.
    """
    codes: list[int] = []

    def is_over() -> bool:
        ended_pid, status = os.waitpid(pid, os.WNOHANG)
        if ended_pid:
            codes.append(os.waitstatus_to_exitcode(status))
        return bool(codes)

    try:
        until(is_over, f"a process that was forked ends ({pid})", limit=limit)
    except HungError:
        end(pid)
        raise
    return codes[0]


# ------------------------------------------------------------------------------------------------------------- ending


def alive(pid: int) -> bool:
    """Whether a process runs; one that ended and was not waited for does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def gone(pid: int) -> bool:
    """Whether a process has ended, or does so soon: what was killed may still run for a moment.

    Raises:
        HungError: It runs on.
    """
    until(lambda: not alive(pid), f"process {pid} ends")
    return True


def children(pid: int | None = None) -> list[int]:
    """The processes below one, all the way down; below this one if none is named."""
    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def own_children() -> set[int]:
    """The processes that this one has started and that run, quickly: this is asked around every test."""
    if not sys.platform.startswith("linux"):
        return {child.pid for child in psutil.Process().children()}
    found: set[int] = set()
    for task in os.listdir("/proc/self/task"):  # noqa: PTH208 - of names that are numbers
        with contextlib.suppress(OSError), open(f"/proc/self/task/{task}/children") as listed:  # noqa: PTH123 - as above
            found.update(map(int, listed.read().split()))
    return found


def end(pid: int) -> None:
    """End a process with all below it, once it has written to its standard error what its threads do."""
    _abort(_tree(pid))


def end_left_running(pids: set[int]) -> list[str]:
    """End processes that are left, with all that they started; return a line about each that ran."""
    words: list[str] = []
    for pid in sorted(pids):
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            if process.status() != psutil.STATUS_ZOMBIE:
                words.append(f"{pid} {' '.join(process.cmdline())[:300]}")
                _kill(_tree(pid))
    return words


def _named(process: Process[Any]) -> str:
    given = process.args
    return str(given if isinstance(given, (str, bytes)) else " ".join(map(str, given)))[:600]  # type: ignore[arg-type]  # a sequence


def _tree(pid: int) -> list[psutil.Process]:
    """A process and all below it."""
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _abort(tree: list[psutil.Process]) -> None:
    """Have each process of a tree write down its threads, the lowest first, so that none is waited for in vain.

    One after the other: they share a stream, and what two write at once is a mixture of both.
    """
    last = time.monotonic() + GRACE
    for process in reversed(tree):
        with contextlib.suppress(psutil.Error):
            if process.name() == "java":  # writes its threads and goes on
                process.send_signal(signal.SIGQUIT)
                continue
            process.send_signal(signal.SIGABRT)
            while alive(process.pid) and time.monotonic() < last:
                time.sleep(0.01)
    psutil.wait_procs(
        [process for process in tree if process.is_running()], timeout=max(0, last - time.monotonic())
    )
    _kill(tree)


def _kill(tree: list[psutil.Process]) -> None:
    for process in tree:
        with contextlib.suppress(psutil.Error):
            process.kill()


def _threads_written(process: Process[Any]) -> str:
    """End a program and all below it, and return what they have written, threads included."""
    tree = _tree(process.pid)
    helper = threading.Thread(target=_abort, args=(tree,))
    helper.start()
    out, error = process.communicate()  # what is read meanwhile keeps no pipe from filling
    helper.join()
    return "\n".join(
        str(part, "utf-8", "replace") if isinstance(part, bytes) else part for part in (out, error) if part
    )


def _ended_by_force(process: Process[Any]) -> None:
    """End a program that still runs when its block is left, with all below it; say what it was doing if a test was stopped."""
    if process.poll() is None:
        if isinstance(sys.exc_info()[1], (pytest.fail.Exception, KeyboardInterrupt)):
            sys.stderr.write(f"{_named(process)} was ended with its test\n{_threads_written(process)}\n")
        else:
            _kill(_tree(process.pid))
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    process.wait()
