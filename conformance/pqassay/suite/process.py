"""Running a driver: one process per request, in a process group of its own, with limits on everything.

A driver is a stranger's program.  It may hang, fill memory, disk or stderr, leave children behind, or take the whole
afternoon; each costs one request and no more.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

STDERR_KEPT = 16 << 10
"""Bytes of stderr that are kept from the beginning, and as many from the end."""

GREATEST_FILE = 1 << 30
"""Bytes of the greatest file that a driver may write; beyond, the system ends it."""

GREATEST_ANSWER = 64 << 20
"""Bytes of the greatest answer that is read."""

_PAUSE = 0.05
_BLOCK = 512
"""Bytes of a unit of ``ulimit -f``."""

# Limits are set by a shell that then becomes the driver: code between fork and exec is not safe among threads.
# Each limit that the system does not know, or that is lower already, stays as it is.
_LAUNCHER = (
    'ulimit -c 0 2> /dev/null; ulimit -f {blocks} 2> /dev/null; ulimit -d {kibibytes} 2> /dev/null; exec "$@"'
)


@dataclass(frozen=True)
class Limits:
    """Limits of one request.

    Attributes:
        seconds: Time, measured from the start of the process.
        memory: Bytes of data (``RLIMIT_DATA``), which leaves out what a process only reserves, as the runtimes of Java, Go
            and JavaScript do. Enforced on Linux.
    """

    seconds: float = 10.0
    memory: int = 4 << 30


@dataclass(frozen=True)
class Ended:
    """End of a process.

    Attributes:
        status: Exit status; negative: the number of the signal that ended it.
        timed_out: It was ended because its time was over.
        stderr: What it wrote there, shortened in the middle.
    """

    status: int
    timed_out: bool
    stderr: str

    @property
    def crash(self) -> str:
        """Reason to call it a crash: a signal, the time limit, or a status other than 0 and 3; empty for none."""
        if self.timed_out:
            return "no answer within the time limit"
        if self.status < 0:
            with contextlib.suppress(ValueError):
                return f"ended by {signal.Signals(-self.status).name}"
            return f"ended by signal {-self.status}"
        return "" if self.status in (0, 3) else f"exit status {self.status}"


@dataclass
class Launcher:
    """Starts processes with limits, and can end all that it started."""

    limits: Limits = field(default_factory=Limits)
    _running: set[int] = field(default_factory=set[int])
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stopped: bool = False

    def run(
        self,
        command: Sequence[str],
        folder: Path,
        environment: Mapping[str, str] | None = None,
        limits: Limits | None = None,
    ) -> Ended:
        """Run a command to its end.

        Args:
            command: Program and arguments. It runs in the folder of the caller, so that relative paths hold.
            folder: Given to it as the place for temporary files.
            environment: Variables to set.
            limits: Other limits than those of this launcher.

        Raises:
            OSError: No process can be started.
            RuntimeError: `stop` was called.
        """
        limits = limits or self.limits
        script = _LAUNCHER.format(blocks=GREATEST_FILE // _BLOCK, kibibytes=max(limits.memory // 1024, 1))
        with self._lock:
            if self._stopped:
                raise RuntimeError("the run was stopped")
            process = subprocess.Popen(  # noqa: S603 - running the user's program is the purpose
                ["/bin/sh", "-c", script, "sh", *command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
                env={**os.environ, "TMPDIR": str(folder), **(environment or {})},
            )
            self._running.add(process.pid)
        try:
            return self._attend(process, limits)
        finally:
            _end_group(process.pid)
            process.wait()
            with self._lock:
                self._running.discard(process.pid)

    def stop(self) -> None:
        """End every process that runs, and start no further one."""
        with self._lock:
            self._stopped = True
            for group in self._running:
                _end_group(group)

    def _attend(self, process: subprocess.Popen[bytes], limits: Limits) -> Ended:
        deadline = time.monotonic() + limits.seconds
        kept = _Excerpt()
        stream = process.stderr
        if stream is None:
            raise RuntimeError("a process without stderr")
        with stream:
            os.set_blocking(stream.fileno(), False)
            poll = select.poll()
            poll.register(stream, select.POLLIN | select.POLLHUP)
            # Usually the end of stderr is the end of the process; a child left behind may hold it open longer.
            while process.poll() is None and (left := deadline - time.monotonic()) > 0:
                if not poll.poll(min(left, _PAUSE) * 1000):
                    continue
                if not _take(stream.fileno(), kept):
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(max(deadline - time.monotonic(), 0))
                    break
            timed_out = process.poll() is None
            _end_group(process.pid)
            process.wait()
            while poll.poll(0) and _take(stream.fileno(), kept) and not kept.full:
                pass
        return Ended(process.returncode, timed_out, kept.text())


def _take(descriptor: int, kept: _Excerpt) -> bool:
    """Read what there is; false at the end."""
    try:
        data = os.read(descriptor, 1 << 16)
    except BlockingIOError:
        return True
    kept.add(data)
    return bool(data)


def _end_group(group: int) -> None:
    """End a process and all that it started, unless they have left its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


class _Excerpt:
    """The beginning and the end of what is added, whatever its length."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._length = 0

    @property
    def full(self) -> bool:
        """True if more has come than is kept."""
        return self._length > 2 * STDERR_KEPT

    def add(self, data: bytes) -> None:
        """Add a piece."""
        self._length += len(data)
        room = STDERR_KEPT - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:])[-STDERR_KEPT:]

    def text(self) -> str:
        """The kept pieces, with a line about those between them."""
        left_out = self._length - len(self._head) - len(self._tail)
        middle = f"\n… {left_out} bytes left out …\n".encode() if left_out else b""
        return (bytes(self._head) + middle + bytes(self._tail)).decode("utf-8", "replace")


def read_answer_file(path: Path) -> bytes:
    """The bytes of an answer.

    Raises:
        ValueError: There is none, it is no regular file, or it is too large. The message says which.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise ValueError("the answer is no regular file")
    try:
        with path.open("rb") as file:
            data = file.read(GREATEST_ANSWER + 1)
    except FileNotFoundError:
        raise ValueError("exit status 0, and no answer was written") from None
    except OSError as error:
        raise ValueError(f"the answer cannot be read: {error.strerror or error}") from None
    if len(data) > GREATEST_ANSWER:
        raise ValueError(f"the answer is larger than {GREATEST_ANSWER >> 20} MiB")
    return data
