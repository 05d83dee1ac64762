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
from typing import Any, NoReturn

from pqassay.driver_process import Ended, Launcher, Limits


class WarmLauncher(Launcher):
    """Starts Python programs as forks of a warm process; see `warm`."""

    place: Path

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
            connection.connect(str(self.place))
            connection.sendall(json.dumps(asked).encode() + b"\n")
            with connection.makefile("rb") as answer:
                return Ended(**json.loads(answer.read()))


@contextlib.contextmanager
def warm(*modules: str) -> Generator[type[WarmLauncher]]:
    """A launcher whose programs find these modules loaded."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / "socket"
        command = [sys.executable, __file__, str(place), *modules]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert b"ready\n" == process.stdout.readline()
            yield type("Warm", (WarmLauncher,), {"place": place})
            process.communicate()


def wait_for_programs(place: str, modules: Sequence[str]) -> None:
    """Load modules, then run each program that somebody asks for, until stdin ends."""
    for module in modules:
        importlib.import_module(module)
    if threading.active_count() > 1:
        raise RuntimeError("something that was loaded started a thread: forks would lack it")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system buries the attendants
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            ready, _, _ = select.select([listening, sys.stdin], [], [])
            if sys.stdin in ready:
                return
            connection, _ = listening.accept()
            if os.fork() == 0:
                attend(connection)
            connection.close()


def attend(connection: socket.socket) -> NoReturn:
    """Run one program in a fork of this process, and tell how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with connection, connection.makefile("rb") as stream, tempfile.TemporaryFile() as stderr:
        asked = json.loads(stream.readline())
        child = os.fork()
        if child == 0:
            become(asked["arguments"], asked["environment"], stderr.fileno())
        deadline = time.monotonic() + asked["seconds"]
        status, timed_out = 0, False
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                break
            if time.monotonic() > deadline:
                timed_out = True
                os.killpg(child, signal.SIGKILL)
                _, status = os.waitpid(child, 0)
                break
            time.sleep(0.002)
        stderr.seek(0)
        told: dict[str, Any] = {
            "status": os.waitstatus_to_exitcode(status),
            "timed_out": timed_out,
            "stderr": stderr.read().decode("utf-8", "replace"),
        }
        connection.sendall(json.dumps(told).encode())
    os._exit(0)


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
