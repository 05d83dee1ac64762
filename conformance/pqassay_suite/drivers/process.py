"""Running a driver: processes in a group of their own, with limits on everything.

A driver is untrusted.  It may hang, fill memory, disk or stderr, leave child processes behind, or run for
hours; each of these costs only one request.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pqassay_suite.drivers.excerpt import Excerpt

GREATEST_FILE = 1 << 30
"""Bytes of the greatest file that a driver may write; the system ends a driver that exceeds it."""

GREATEST_ANSWER = 64 << 20
"""Bytes of the greatest answer that is read."""

TOO_LARGE = "the answer is larger than"
"""The beginning of the message about a larger answer."""

CLOCK = 10
"""Factor from the limit of processor time to the limit of wall time: a machine may be busy, a driver asleep."""

PAUSE = 0.05
"""Seconds between two checks of a process."""

_BLOCK = 512
"""Bytes in a unit of ``ulimit -f``."""

# A shell sets the limits and then becomes the driver: code between fork and exec is not safe with threads.
# A limit that the system does not know, or that is lower already, stays unchanged.
_LAUNCHER = (
    'ulimit -c 0 2> /dev/null; ulimit -f {blocks} 2> /dev/null; ulimit -d {kibibytes} 2> /dev/null; exec "$@"'
)


@dataclass(frozen=True)
class Limits:
    """Limits of one request.

    Attributes:
        seconds: Processor time of all processes of the driver. The limit of wall time is `CLOCK` times that.
        memory: Bytes of data (``RLIMIT_DATA``), without memory that a process only reserves, as the runtimes of Java, Go
            and JavaScript do. Enforced on Linux.
    """

    seconds: float = 10.0
    memory: int = 4 << 30

    @property
    def clock(self) -> float:
        """Limit of wall time in seconds."""
        return CLOCK * self.seconds


@dataclass(frozen=True)
class Ended:
    """End of a process.

    Attributes:
        status: Exit status; negative: the number of the signal that ended it.
        timed_out: Whether it was ended because it exceeded its time.
        stderr: Its stderr, shortened in the middle.
    """

    status: int
    timed_out: bool
    stderr: str

    @property
    def crash(self) -> str:
        """Why it counts as a crash: a signal, the time limit, or a status other than 0 and 3; empty if it does not."""
        if self.timed_out:
            return "no answer within the time limit"
        if self.status < 0:
            with contextlib.suppress(ValueError):
                return f"ended by {signal.Signals(-self.status).name}"
            return f"ended by signal {-self.status}"
        return "" if self.status in (0, 3) else f"exit status {self.status}"


def _environment() -> dict[str, str]:
    """The variables of this process without those of pqassay: a driver must not know that it is tested."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PQASSAY")}


@dataclass
class Launcher:
    """Starts processes with limits, and can end all of them."""

    limits: Limits = field(default_factory=Limits)
    _running: set[int] = field(default_factory=set[int])
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stopped: bool = False

    def start(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        talks: bool = False,
    ) -> subprocess.Popen[bytes]:
        """Start a command in its own process group; the caller ends it with `end`.

        Args:
            command: Program and arguments. It runs in the folder of the caller, so relative paths stay valid.
            folder: Its folder for temporary files.
            talks: Whether stdin and stdout are pipes; otherwise there is no input, and output is dropped.

        Raises:
            OSError: No process can be started.
            RuntimeError: `stop` was called before.
        """
        kibibytes = max(self.limits.memory // 1024, 1)
        script = _LAUNCHER.format(blocks=GREATEST_FILE // _BLOCK, kibibytes=kibibytes)
        with self._lock:
            if self._stopped:
                raise RuntimeError("the run was stopped")
            process = subprocess.Popen(  # noqa: S603 - running the user's program is the purpose
                ["/bin/sh", "-c", script, "sh", *command],
                stdin=subprocess.PIPE if talks else subprocess.DEVNULL,
                stdout=subprocess.PIPE if talks else subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
                env={**_environment(), "TMPDIR": str(folder)},
            )
            self._running.add(process.pid)
        return process

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """End a process and all processes that it started, and wait for it."""
        end_group(process.pid)
        process.wait()
        with self._lock:
            self._running.discard(process.pid)

    def run(self, command: Sequence[str], folder: Path) -> Ended:
        """Run a command to its end; see `start`.

        Raises:
            OSError: No process can be started.
            RuntimeError: `stop` was called before.
        """
        process = self.start(command, folder)
        try:
            return _attend(process, self.limits)
        finally:
            self.end(process)

    def stop(self) -> None:
        """End every running process, and do not start new ones."""
        with self._lock:
            self._stopped = True
            for group in self._running:
                end_group(group)


class Watch:
    """Processor time and wall time of a request so far.

    Measuring processor time costs more than most answers do.  The first half of the limit is therefore measured as wall time, and
    processor time is measured only after it.
    """

    def __init__(self, pid: int, limits: Limits) -> None:
        self._pid, self._limits = pid, limits
        self._start = time.monotonic()
        self._used_before: float | None = None
        self._next_look = limits.seconds / 2

    @property
    def is_over(self) -> bool:
        """Whether the request has exceeded its time."""
        passed = time.monotonic() - self._start
        if passed > self._limits.clock:
            return True
        if passed < self._next_look:
            return False
        used = processor_seconds(self._pid)
        self._next_look = passed + max(self._limits.seconds / 20, PAUSE)
        if self._used_before is None:
            self._used_before = used
        return used - self._used_before > self._limits.seconds / 2


def processor_seconds(pid: int) -> float:
    """Processor time in seconds of a process and all processes that it started; 0 if it has ended."""
    import psutil  # noqa: PLC0415 - only of a request that takes long

    total = 0.0
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        ended = process.cpu_times()
        total += ended.children_user + ended.children_system
        for member in (process, *process.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                times = member.cpu_times()
                total += times.user + times.system
    return total


def _attend(process: subprocess.Popen[bytes], limits: Limits) -> Ended:
    """Wait until a process ends or exceeds its time, and keep its stderr."""
    watch, kept = Watch(process.pid, limits), Excerpt()
    stream = process.stderr
    if stream is None:
        raise RuntimeError("a process without stderr")
    with stream:
        os.set_blocking(stream.fileno(), False)
        poll = select.poll()
        poll.register(stream, select.POLLIN | select.POLLHUP)
        # The end of stderr is usually the end of the process, but a child left behind may keep it open.
        is_open = True
        while process.poll() is None and not watch.is_over:
            if not is_open:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(PAUSE)
            elif poll.poll(PAUSE * 1000):
                is_open = take(stream.fileno(), kept)
        timed_out = process.poll() is None
        end_group(process.pid)
        process.wait()
        drain(stream.fileno(), kept)
    return Ended(process.returncode, timed_out, kept.text())


def take(descriptor: int, kept: Excerpt) -> bool:
    """Read the available bytes; false at the end."""
    try:
        data = os.read(descriptor, 1 << 16)
    except BlockingIOError:
        return True
    kept.add(data)
    return bool(data)


def drain(descriptor: int, kept: Excerpt) -> None:
    """Read the remaining bytes, without waiting for more."""
    while select.select([descriptor], [], [], 0)[0] and take(descriptor, kept) and not kept.full:
        pass


def end_group(group: int) -> None:
    """End a process and all processes that it started, unless they have left its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def read_answer_file(path: Path) -> bytes:
    """The bytes of an answer.

    Raises:
        ValueError: There is no answer, it is not a regular file, or it is too large. The message gives the reason.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise ValueError("the answer is not a regular file")
    try:
        with path.open("rb") as file:
            data = file.read(GREATEST_ANSWER + 1)
    except FileNotFoundError:
        raise ValueError("exit status 0, and no answer was written") from None
    except OSError as error:
        raise ValueError(f"the answer cannot be read: {error.strerror or error}") from None
    if len(data) > GREATEST_ANSWER:
        raise ValueError(f"{TOO_LARGE} {GREATEST_ANSWER >> 20} MiB")
    return data
