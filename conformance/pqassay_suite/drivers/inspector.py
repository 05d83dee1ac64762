"""Looks at files that writers wrote, in processes that go on, so that no decoder takes the runner along."""

from __future__ import annotations

import json
from dataclasses import asdict

from pqassay_suite.drivers import written_file
from pqassay_suite.drivers.process import Launcher, Limits
from pqassay_suite.drivers.session import Sessions
from pqassay_suite.drivers.written_file import Inspection, WrittenFile

LIMITS = Limits(seconds=120)
"""Limits of looking at one file, however little the driver may take."""


class Inspector:
    """Inspects written files; of several threads each has a process of its own, started when it is needed."""

    def __init__(self) -> None:
        self._launcher = Launcher(LIMITS)
        self._sessions = Sessions(self._launcher, written_file.COMMAND, written_file.environment())

    def inspect(self, wanted: Inspection) -> WrittenFile | str:
        """What is found of a file; or, in words, how the process ended that looked at it."""
        said = self._sessions.mine.ask(json.dumps(asdict(wanted)), bool)
        if said.lines:
            return written_file.from_json(said.lines[0])
        last = said.stderr.strip().rpartition("\n")[2]
        why = said.problem or (said.ended.crash if said.ended else "") or "it ended"
        return f"{why}: {last}"

    def close(self) -> None:
        """End the processes."""
        self._launcher.stop()
        self._sessions.close()
