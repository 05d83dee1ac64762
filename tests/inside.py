"""Launchers that start no process: a run over all golden files asks more than a thousand times, and to start Python takes longer.

That a driver is a process of its own, with limits and an exit status, is what the drivers of the shell, of Node.js and of the
reference show, and `test_driver_process`.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import CodeType
from typing import Any, ClassVar

import pytest

from pqassay.suite import written_file
from pqassay.suite.process import Ended, Launcher


class Here(Launcher):
    """Looks at written files in this process."""

    def run(self, command: Sequence[str], *_: Any) -> Ended:
        asked, found = json.loads(command[-2]), Path(command[-1])
        found.write_text(written_file.to_json(written_file.inspect(**asked)))
        return Ended(0, timed_out=False, stderr="")


class Inside(Here):
    """Runs the Python scripts of drivers in this process as well, one at a time. They must leave it alive."""

    _alone: ClassVar = threading.Lock()

    def run(self, command: Sequence[str], *rest: Any) -> Ended:
        script, *arguments = command[1:] if command[0] == sys.executable else command
        if script == "-m":
            return super().run(command, *rest)
        status: object = 0
        said = io.StringIO()
        with (
            self._alone,
            pytest.MonkeyPatch.context() as patch,
            contextlib.redirect_stderr(said),
            warnings.catch_warnings(),
        ):
            patch.setattr(sys, "argv", [script, *arguments])
            # A program may leave its files open when it ends.
            warnings.simplefilter("ignore", ResourceWarning)
            try:
                exec(_program(script), {"__name__": "__main__", "__file__": script})
            except SystemExit as leaving:
                status = leaving.code
            except Exception:  # noqa: BLE001 - as the interpreter does at the end of a program
                traceback.print_exc()
                status = 1
        ended = status if isinstance(status, int) else int(status is not None)
        return Ended(ended, timed_out=False, stderr=said.getvalue())


REQUESTS = """
while IFS= read -r driver && IFS= read -r request && IFS= read -r reply; do
    (set -- "$request" "$reply"; . "$driver") < /dev/null > /dev/null 2> "$reply.stderr"
    echo $?
done
"""
"""A script that runs a driver of the shell for each three lines that it reads, and writes the exit status."""


class InOneShell(Inside):
    """Runs the shell scripts of drivers in one shell, a subshell for each request."""

    @functools.cached_property
    def _shell(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["/bin/sh", "-c", REQUESTS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def run(self, command: Sequence[str], *rest: Any) -> Ended:
        if len(command) != 3:
            return super().run(command, *rest)
        shell = self._shell
        assert shell.stdin is not None
        assert shell.stdout is not None
        with self._alone:
            shell.stdin.write("".join(f"{argument}\n" for argument in command))
            status = int(shell.stdout.readline())
        return Ended(status, timed_out=False, stderr=Path(f"{command[-1]}.stderr").read_text())

    def stop(self) -> None:
        with self._shell as shell:  # whose end is the end of what it reads
            assert shell.stdin is not None
        super().stop()


@functools.cache
def _program(script: str) -> CodeType:
    return compile(Path(script).read_bytes(), script, "exec")
