"""Work on files: outcomes, reasons, and retries while other processes use the same file."""

# ruff: noqa: PTH119 - paths stay the text that they are
from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from pqassay_reference.errors import Refused, Undecodable
from pqassay_reference.rewrite.finished_file import ChangedError
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BusyError

PATIENCE_SECONDS = 10.0
"""Seconds that a task waits for another process that writes the same file."""

WORKER_DIED = "the Python worker that read it died twice; is the file damaged, or too large for the memory?"
"""The reason why work on a file was given up."""

Result = TypeVar("Result")


class Outcome(StrEnum):
    """Outcomes: a file has a new or updated index or ``_pm``, already had one, or cannot have one."""

    INDEXED = "indexed"
    GENERATED = "generated"
    UPDATED = "updated"
    FRESH = "fresh"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """The outcome of one file.

    Attributes:
        name: Its path relative to the root.
        outcome: Its outcome.
        reason: Why it was refused; empty otherwise.
    """

    name: str
    outcome: Outcome
    reason: str = ""


def outcomes_of(names: Iterable[str], outcome: Outcome, reason: str = "") -> list[FileOutcome]:
    """The outcome of a file under each of its names."""
    return [FileOutcome(name, outcome, reason) for name in names]


AnyOutcome = TypeVar("AnyOutcome", bound=FileOutcome)


@dataclass(frozen=True)
class Run(Generic[AnyOutcome]):
    """The outcome of a run.

    Attributes:
        root: The folder.
        files: The outcome of each file, by name.
    """

    root: str
    files: list[AnyOutcome]

    def count(self, outcome: Outcome) -> int:
        """The number of files with an outcome."""
        return sum(file.outcome is outcome for file in self.files)

    @property
    def refused(self) -> list[AnyOutcome]:
        """Files that were refused, with their reasons."""
        return [file for file in self.files if file.outcome is Outcome.REFUSED]


def answered(attempt: Callable[[], Result], refused: Callable[[str], Result], path: str) -> Result:
    """Work on one file; convert an exception to a refusal, because the other files must continue.

    Another run, or another attempt of the same task, may use the same file.  The conflict may end soon, so
    the work is retried for a while.

    Args:
        attempt: The work.
        refused: Makes the refusal from a reason in one line.
        path: The file.
    """
    until = time.monotonic() + PATIENCE_SECONDS
    pause = 0.02
    while True:
        try:
            return attempt()
        except (BusyError, ChangedError) as error:
            if time.monotonic() > until:
                return refused(reason_of(error, path))
            time.sleep(pause)
            pause = min(2 * pause, 1.0)
        except Exception as error:  # noqa: BLE001 - one file must not end the work on the others
            return refused(reason_of(error, path))


def reason_of(error: Exception, path: str) -> str:
    """The reason why a file was refused, in one line that does not repeat its path."""
    if isinstance(error, FormatError):
        error.file = None
        reason = str(error)
    elif isinstance(error, (Refused, Undecodable)):
        reason = str(error)
    elif isinstance(error, OSError):
        reason = error.strerror or str(error)
        if isinstance(error.filename, str) and os.path.basename(error.filename) != os.path.basename(path):
            reason = f"{reason}: {error.filename}"
    elif isinstance(error, MemoryError):
        reason = "there is not enough memory for it"
    else:
        reason = f"unexpected {type(error).__name__}: {error}"
    return " ".join(reason.split())
