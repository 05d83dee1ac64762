"""Processes of Python programs that begin warm: forks of one process that has loaded what they import.

A program of the golden files' self-test imports pyarrow, which takes a third of a second; a fork of a process that has done so takes
a hundredth.  Everything else is as the runner does it: a process of its own for each request, whose exit status, signal, time and
stderr count.

    python warm_processes.py SOCKET MODULE...    wait at a socket for programs to run, until the input ends
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

from pqassay.driver_process import Ended, Launcher, Limits


class WarmLauncher(Launcher):
    """Starts Python programs as forks of a warm process; see `warm`."""

    scripts: Path
    modules: Path

    def run(
        self,
        command: Sequence[str],
        folder: Path,
        environment: Mapping[str, str] | None = None,
        limits: Limits | None = None,
    ) -> Ended:
        """Run a Python program to its end: an interpreter with its arguments, or a script."""
        arguments = list(command[1:] if Path(command[0]).samefile(sys.executable) else command)
        asked = {
            "arguments": arguments,
            "environment": {"TMPDIR": str(folder), **(environment or {})},
            "seconds": (limits or self.limits).seconds,
        }
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.modules if arguments[0] == "-m" else self.scripts))
            connection.sendall(json.dumps(asked).encode() + b"\n")
            with connection.makefile("rb") as answer:
                return Ended(**json.loads(answer.readline()))


@contextlib.contextmanager
def warm(scripts: Sequence[str] = (), modules: Sequence[str] = ()) -> Generator[type[WarmLauncher]]:
    """A launcher whose programs find these libraries loaded: scripts some, modules that are run with ``-m`` others.

    The less is loaded, the faster is a fork.
    """
    with waiting(scripts) as for_scripts, waiting(modules) as for_modules:
        yield type("Warm", (WarmLauncher,), {"scripts": for_scripts, "modules": for_modules})


@contextlib.contextmanager
def waiting(libraries: Sequence[str]) -> Generator[Path]:
    """The socket at which a process waits for programs, with libraries loaded."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / "socket"
        command = [sys.executable, __file__, str(place), *libraries]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert b"ready\n" == process.stdout.readline()
            yield place
            process.communicate()


class Running(NamedTuple):
    """A program that runs: who asked for it, until when it may, and what it says."""

    connection: socket.socket
    deadline: float
    stderr: IO[bytes]

    def tell(self, status: int, *, timed_out: bool) -> None:
        """Tell how it ended."""
        with self.connection, self.stderr:
            self.stderr.seek(0)
            told: dict[str, Any] = {
                "status": os.waitstatus_to_exitcode(status),
                "timed_out": timed_out,
                "stderr": self.stderr.read().decode("utf-8", "replace"),
            }
            self.connection.sendall(json.dumps(told).encode() + b"\n")


def wait_for_programs(place: str, libraries: Sequence[str]) -> None:
    """Load libraries, then run each program that somebody asks for, until stdin ends."""
    for library in libraries:
        importlib.import_module(library)
    if threading.active_count() > 1:
        raise RuntimeError("something that was loaded started a thread: forks would lack it")
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.signal(signal.SIGCHLD, nothing)
    signal.set_wakeup_fd(waker)  # the end of a program ends the wait, too
    running: dict[int, Running] = {}
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            earliest = min((one.deadline for one in running.values()), default=None)
            patience = None if earliest is None else max(earliest - time.monotonic(), 0)
            ready, _, _ = select.select([listening, sys.stdin, woken], [], [], patience)
            if sys.stdin in ready:
                return
            if woken in ready:
                os.read(woken, 1 << 12)
            if listening in ready:
                connection, _ = listening.accept()
                child, program = start(connection)
                running[child] = program
            bury(running)


def nothing(_: int, __: object) -> None:
    """Handle a signal whose coming is enough."""


def start(connection: socket.socket) -> tuple[int, Running]:
    """Run a program in a fork of this process."""
    with connection.makefile("rb") as stream:
        asked = json.loads(stream.readline())
    stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed once its content is told
    child = os.fork()
    if child == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        become(asked["arguments"], asked["environment"], stderr.fileno())
    return child, Running(connection, time.monotonic() + asked["seconds"], stderr)


def bury(running: dict[int, Running]) -> None:
    """Tell of the programs that have ended, and end those whose time is over."""
    for child, program in list(running.items()):
        ended, status = os.waitpid(child, os.WNOHANG)
        timed_out = not ended and time.monotonic() > program.deadline
        if timed_out:
            os.killpg(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
        if ended or timed_out:
            del running[child]
            program.tell(status, timed_out=timed_out)


def become(arguments: list[str], environment: dict[str, str], stderr: int) -> NoReturn:
    """Run the program as its own main module, and end as it ends."""
    status: object = 0
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(0, 1)
    os.dup2(stderr, 2)
    os.environ.update(environment)
    try:
        if arguments[0] == "-m":
            sys.argv = arguments[1:]
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = arguments
            runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as leaving:
        status = leaving.code
    except BaseException:  # noqa: BLE001 - as the interpreter does at the end of a program
        traceback.print_exc()
        status = 1
    if isinstance(status, str):
        sys.stderr.write(f"{status}\n")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else bool(status))


if __name__ == "__main__":
    wait_for_programs(sys.argv[1], sys.argv[2:])
