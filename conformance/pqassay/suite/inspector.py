"""Looks at files that writers wrote, in processes that go on, so that no decoder takes the runner along."""

from __future__ import annotations

import json
import tempfile
import threading
from dataclasses import asdict
from pathlib import Path

from pqassay.suite import written_file
from pqassay.suite.process import Launcher, Limits
from pqassay.suite.session import Session
from pqassay.suite.written_file import Inspection, WrittenFile

LIMITS = Limits(seconds=120)
"""Limits of looking at one file, however little the driver may take."""


class Inspector:
    """Inspects written files; of several threads each has a process of its own, started when it is needed."""

    def __init__(self) -> None:
        self._launcher = Launcher(LIMITS)
        self._sessions: list[Session] = []
        self._mine = threading.local()
        self._lock = threading.Lock()
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)

    def inspect(self, wanted: Inspection) -> WrittenFile | str:
        """What is found of a file; or, in words, how the process ended that looked at it."""
        said = self._session.ask(json.dumps(asdict(wanted)), bool)
        if said.lines:
            return written_file.from_json(said.lines[0])
        last = said.stderr.strip().rpartition("\n")[2]
        why = said.problem or (said.ended.crash if said.ended else "") or "it ended"
        return f"{why}: {last}"

    def close(self) -> None:
        """End the processes."""
        self._launcher.stop()
        for session in self._sessions:
            session.close()
        self._folder.cleanup()

    @property
    def _session(self) -> Session:
        if not hasattr(self._mine, "session"):
            command, environment = written_file.COMMAND, written_file.environment()
            with self._lock:
                self._mine.session = Session(self._launcher, command, Path(self._folder.name), environment)
                self._sessions.append(self._mine.session)
        session: Session = self._mine.session
        return session
