"""Our own programs that inspect untrusted files in persistent processes, so a crash of a decoder does not end the runner."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import cast

from pqassay_suite.drivers import written_file
from pqassay_suite.drivers.process import Launcher, Limits
from pqassay_suite.drivers.protocol import adapter
from pqassay_suite.drivers.session import Sessions
from pqassay_suite.drivers.written_file import Inspection, WrittenFile

LIMITS = Limits(seconds=120)
"""Limits for inspecting one file, independent of the limits of the driver."""


def own_program(*arguments: str) -> list[str]:
    """The command of a Python program that can import this package."""
    return ["env", f"PYTHONPATH={os.pathsep.join(filter(None, sys.path))}", sys.executable, *arguments]


class OwnProcess:
    """A program that answers line by line; each thread has its own process, which is started on demand.

    Args:
        command: The command that starts it, without ``--serve``.
        limits: The limits of one answer.
    """

    def __init__(self, command: Sequence[str], limits: Limits) -> None:
        self._launcher = Launcher(limits)
        self._sessions = Sessions(self._launcher, command)

    def ask(self, request: object) -> bytes | str:
        """The answer to a request; if the process ended, a description of its end."""
        said = self._sessions.mine.ask(json.dumps(request), bool)
        if said.lines:
            return said.lines[0]
        why = said.problem or (said.ended.crash if said.ended else "") or "it ended"
        return ": ".join(filter(None, (why, said.stderr.strip().rpartition("\n")[2])))

    def stop(self) -> None:
        """End the processes, and do not start new ones."""
        self._launcher.stop()

    def close(self) -> None:
        """End the processes, and forget them."""
        self.stop()
        self._sessions.close()


class Inspector(OwnProcess):
    """Inspects written files."""

    def __init__(self) -> None:
        super().__init__(own_program("-m", written_file.__name__), LIMITS)

    def inspect(self, wanted: Inspection) -> WrittenFile | str:
        """The result for a file; if the inspecting process ended, a description of its end."""
        answer = self.ask(asdict(wanted))
        return (
            answer
            if isinstance(answer, str)
            else cast("WrittenFile", adapter(WrittenFile).validate_json(answer))
        )
