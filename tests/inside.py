"""Drivers and inspectors that start no process: a run over golden files asks more than a thousand times, and to start Python takes longer.

That a driver is a process of its own, with limits and an exit status, is what the drivers of the shell, of Node.js and of the
reference show, and `test_driver_process` and `test_session`.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import sys
import threading
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import CodeType
from typing import Any, ClassVar

import pytest

from pqassay_reader.cli.driver import respond
from pqassay_suite.drivers import protocol, written_file
from pqassay_suite.drivers.driver import Reply
from pqassay_suite.drivers.inspector import Inspector
from pqassay_suite.drivers.process import Ended, Launcher
from pqassay_suite.drivers.protocol import Answer, read_answer
from pqassay_suite.drivers.written_file import Inspection, WrittenFile


class Here(Inspector):
    """Looks at written files in this process."""

    def __init__(self) -> None:
        pass

    def close(self) -> None:
        pass

    def inspect(self, wanted: Inspection) -> WrittenFile | str:
        return written_file.inspect(wanted)


class ReferenceHere:
    """The reference, asked in this process, in the place of `pqassay_suite.drivers.driver.DriverUnderTest`."""

    serves = True

    def __init__(self) -> None:
        self.inspector = Here()

    def ask(self, request: protocol.CaseRequest) -> Answer:
        return self._answers(request)[0]

    def ask_queries(self, request: protocol.ScanRequest, _: Path) -> list[Reply]:
        return [*self._answers(request)]

    def may_ask_again(self) -> bool:
        return False

    def _answers(self, request: protocol.CaseRequest) -> list[Answer]:
        lines = respond(json.loads(protocol.to_json(request)))
        return [read_answer(json.dumps(line).encode(), request.op, strict=True) for line in lines]


class Inside(Launcher):
    """Runs the Python scripts of drivers in this process, one at a time. They must leave it alive."""

    _alone: ClassVar = threading.Lock()

    def run(self, command: Sequence[str], *_: Any, **__: Any) -> Ended:
        script, *arguments = command[1:] if command[0] == sys.executable else command
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


@functools.cache
def _program(script: str) -> CodeType:
    return compile(Path(script).read_bytes(), script, "exec")
