"""A driver that keeps running: requests are lines to its stdin, answers are lines from its stdout.

Starting a process costs more than most answers, up to a hundred times.  The process is started on demand,
ended if it does not answer in time, and restarted after `MOST_REQUESTS`, which limits memory leaks.
"""

from __future__ import annotations

import contextlib
import os
import select
import selectors
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pqassay_suite.drivers.excerpt import Excerpt
from pqassay_suite.drivers.process import (
    GREATEST_ANSWER,
    PAUSE,
    TOO_LARGE,
    Ended,
    Launcher,
    Watch,
    drain,
    take,
)

MOST_REQUESTS = 500
"""Requests that one process answers."""

GRACE = 2.0
"""Seconds that a process has to exit after it has closed its stdout, or a tenth of its limit for a request, if that is more."""

MORE_THAN_ASKED = "it wrote more than one answer"

SERVE = "--serve"
"""The argument that makes a driver answer several requests."""


@dataclass(frozen=True)
class Said:
    """The outcome of a request.

    Attributes:
        lines: The answers, without their line feeds.
        ended: The end of the process, if it ended, or was ended, before the last answer.
        problem: The error in its output, if it was ended because of that.
        stderr: Its stderr during the request.
    """

    lines: list[bytes]
    ended: Ended | None = None
    problem: str = ""
    stderr: str = ""


class Session:
    """A process of a driver, which is replaced when it ends.

    Args:
        launcher: Starts it.
        command: The driver's command, without ``--serve``.
        folder: A folder for its temporary files.
    """

    def __init__(self, launcher: Launcher, command: Sequence[str], folder: Path) -> None:
        self._launcher = launcher
        self._command = [*command, SERVE]
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._asked = 0
        self._before = 0

    @property
    def answered(self) -> int:
        """The number of requests that the process answered before the last one."""
        return self._before

    def ask(self, request: str, is_whole: Callable[[Sequence[bytes]], bool]) -> Said:
        """Send a request, and wait for its answers.

        Args:
            request: The request, one line.
            is_whole: Whether the given lines are the complete answer.

        Raises:
            OSError: The driver cannot be started.
            RuntimeError: The run was stopped.
        """
        if self._asked >= MOST_REQUESTS:
            self.close()
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = self._launcher.start(self._command, self._folder, talks=True)
            for stream in filter(None, (self._process.stdin, self._process.stdout, self._process.stderr)):
                os.set_blocking(stream.fileno(), False)
        self._before = self._asked
        self._asked += 1
        exchange = _Exchange(self._process, self._launcher, request, is_whole)
        said = exchange.run(has_answered=self._before > 0)
        if said.ended is not None or said.problem:
            self.close()
        return said

    def close(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._launcher.end(self._process)
            for stream in filter(None, (self._process.stdin, self._process.stdout, self._process.stderr)):
                with contextlib.suppress(OSError):
                    stream.close()
        self._process, self._asked = None, 0


class Sessions:
    """A `Session` for each thread, all with the same command; each has its own folder."""

    def __init__(self, launcher: Launcher, command: Sequence[str]) -> None:
        self._launcher, self._command = launcher, command
        self._all: list[Session] = []
        self._of_thread = threading.local()
        self._lock = threading.Lock()
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)

    @property
    def mine(self) -> Session:
        """The session of this thread; its process is started at the first request."""
        if not hasattr(self._of_thread, "session"):
            with self._lock:
                folder = Path(self._folder.name, str(len(self._all)))
                folder.mkdir()
                session = Session(self._launcher, self._command, folder)
                self._all.append(session)
            self._of_thread.session = session
        mine: Session = self._of_thread.session
        return mine

    def close(self) -> None:
        """End all processes."""
        for session in self._all:
            session.close()
        self._folder.cleanup()


class _Exchange:
    """One request and its answers: the pipes are served in parallel, so neither side waits for the other."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        launcher: Launcher,
        request: str,
        is_whole: Callable[[Sequence[bytes]], bool],
    ) -> None:
        self.process, self.launcher, self.is_whole = process, launcher, is_whole
        self.unsent = request.encode("ascii") + b"\n"
        self.lines: list[bytes] = []
        self.waiting: deque[bytes] = deque()
        self.partial = bytearray()
        self.received = 0
        self.stderr = Excerpt()
        self.is_open = True

    def run(self, *, has_answered: bool) -> Said:
        """Exchange until all answers are there, the process ends, or it exceeds its time.

        Args:
            has_answered: Whether the process has answered before: output that is already there is then unsolicited.
                Output of a new process counts as its first answer, however early it comes.
        """
        stdin, stdout, stderr = self.process.stdin, self.process.stdout, self.process.stderr
        if stdin is None or stdout is None or stderr is None:
            raise RuntimeError("a process without pipes")
        if has_answered and select.select([stdout], [], [], 0)[0]:
            return self._unasked()
        watch = Watch(self.process.pid, self.launcher.limits)
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ, self._read)
            selector.register(stderr, selectors.EVENT_READ, lambda descriptor: take(descriptor, self.stderr))
            selector.register(stdin, selectors.EVENT_WRITE, self._write)
            while not self._is_answered():
                if watch.is_over:
                    return self._ended(timed_out=True)
                for key, _ in selector.select(PAUSE):
                    if not key.data(key.fd):
                        selector.unregister(key.fileobj)
                if self.received > GREATEST_ANSWER:
                    problem = f"{TOO_LARGE} {GREATEST_ANSWER >> 20} MiB"
                    return Said(self.lines, problem=problem, stderr=self.stderr.text())
                if not self.is_open:
                    return self._ended(timed_out=False)
            drain(stderr.fileno(), self.stderr)
        problem = MORE_THAN_ASKED if self.partial or self.waiting else ""
        return Said(self.lines, problem=problem, stderr=self.stderr.text())

    def _is_answered(self) -> bool:
        """Read the new lines, up to the last expected one."""
        while self.waiting:
            self.lines.append(self.waiting.popleft())
            if self.is_whole(self.lines):
                return True
        return False

    def _unasked(self) -> Said:
        """The result of a request if there is output before it, which belongs to an earlier request or to none."""
        self._read(self.process.stdout.fileno() if self.process.stdout else -1)
        if not self.is_open:
            return self._ended(timed_out=False)
        return Said([], problem=MORE_THAN_ASKED)

    def _write(self, descriptor: int) -> bool:
        try:
            self.unsent = self.unsent[os.write(descriptor, self.unsent) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:
            return False  # it has ended, which stdout tells as well
        return bool(self.unsent)

    def _read(self, descriptor: int) -> bool:
        try:
            data = os.read(descriptor, 1 << 20)
        except BlockingIOError:
            return True
        self.is_open = bool(data)
        self.received += len(data)
        self.partial += data
        if b"\n" in data:  # a long line comes in many pieces, which are not to be looked through each time
            *whole, rest = self.partial.split(b"\n")
            self.waiting += [bytes(line) for line in whole]
            self.partial = bytearray(rest)
        return self.is_open

    def _ended(self, *, timed_out: bool) -> Said:
        goes_on = False
        if not timed_out:
            try:
                self.process.wait(max(GRACE, self.launcher.limits.seconds / 10))
            except subprocess.TimeoutExpired:
                goes_on = True
        self.launcher.end(self.process)
        if self.process.stderr is not None:
            drain(self.process.stderr.fileno(), self.stderr)
        if goes_on:
            return Said(self.lines, problem="it closed stdout but kept running", stderr=self.stderr.text())
        ended = Ended(self.process.returncode, timed_out, self.stderr.text())
        return Said(self.lines, ended, stderr=self.stderr.text())
