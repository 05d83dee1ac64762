"""Ask a driver about files from the future: what it reads of each, and whether it keeps the promise of the format."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from pqassay_spec.golden.literals import Value
from pqassay_suite.drivers import protocol
from pqassay_suite.drivers.driver import DriverUnderTest, NoAnswer
from pqassay_suite.drivers.protocol import Accept, Reject
from pqassay_suite.future.files import FutureFile
from pqassay_suite.judging.row_answers import are_rows

Outcome: TypeAlias = Literal[
    "reads", "refuses the column", "refuses the file", "wrong rows", "crash", "not today"
]
"""The result for a file; ``crash`` includes a timeout, and ``not today`` means that the driver does not read the twin either."""

GRAVE: frozenset[Outcome] = frozenset({"wrong rows", "crash"})
"""Results for which the command exits with 1; a refusal is not one, because users notice it."""

_Came: TypeAlias = Literal["reads", "refuses", "wrong rows", "crash"]


@dataclass(frozen=True)
class Survival:
    """The result of a driver for a file from the future.

    Attributes:
        id: The kind of the file.
        outcome: The result.
        is_kept: Whether this keeps the promise of the format, or the twin is not read either.
        details: The message of the refusal or crash, or the wrong rows; empty if everything is read.
    """

    id: str
    outcome: Outcome
    is_kept: bool
    details: str = ""


def survivals(driver: DriverUnderTest, files: Sequence[FutureFile]) -> list[Survival]:
    """Test a driver with each file, after its twin.

    Args:
        driver: A driver that has answered ``hello``.
        files: The files.

    Raises:
        CannotStartError: The driver's program no longer exists.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        asker = _Asker(driver, Path(folder))
        return [asker.survival(file) for file in files]


class _Asker:
    """Asks a driver about files, each under a different name, so that no answer comes from a cache."""

    def __init__(self, driver: DriverUnderTest, folder: Path) -> None:
        self._driver, self._folder = driver, folder
        self._asked = 0
        self._twins: dict[bytes, _Came] = {}

    def survival(self, file: FutureFile) -> Survival:
        """The outcome for a file."""
        if file.twin not in self._twins:
            self._twins[file.twin] = self._read(file, file.twin, file.names)[0]
        if self._twins[file.twin] != "reads":
            return Survival(file.id, "not today", True)
        came, details = self._read(file, file.data, file.names)
        if came == "refuses":
            outcome, others = self._without(file)
            details = others or details
        else:
            outcome = came
        kept = outcome == "reads" or (outcome == "refuses the column" and file.promise == "column")
        return Survival(file.id, outcome, kept, details)

    def _without(self, file: FutureFile) -> tuple[Outcome, str]:
        """The result for a file that is refused as a whole: the columns are requested one by one."""
        unaffected = [name for name in file.names if name not in file.affected]
        outcome: Outcome = "refuses the column" if unaffected else "refuses the file"
        for name in file.names:
            came, details = self._read(file, file.data, [name])
            if came in ("wrong rows", "crash"):
                return came, f"{name}: {details}"
            if came == "refuses" and name in unaffected:
                outcome = "refuses the file"
        return outcome, ""

    def _read(self, file: FutureFile, data: bytes, names: Sequence[str]) -> tuple[_Came, str]:
        self._asked += 1
        path = self._folder / f"{self._asked}.parquet"
        path.write_bytes(data)
        types = {name: file.types[name] for name in names if name in file.types}
        request = protocol.ReadRequest(protocol.PROTOCOL, "read", str(path), list(names), types)
        reply = self._driver.ask(request, self._folder)
        path.unlink(missing_ok=True)
        if isinstance(reply, NoAnswer):
            return ("refuses" if reply.outcome == "unsupported" else "crash"), reply.reason
        if isinstance(reply, Reject):
            return "refuses", reply.message.replace(str(path), "data.parquet")
        if not isinstance(reply, Accept):
            return "refuses", "not supported"
        places = [list(file.names).index(name) for name in names]
        return _compared(reply, [_selected(rows, places) for rows in (file.rows, file.also) if rows])


def _selected(rows: Sequence[Sequence[Value]], places: Sequence[int]) -> list[list[Value]]:
    return [[row[place] for place in places] for row in rows]


def _compared(answer: Accept, right: Sequence[Sequence[Sequence[Value]]]) -> tuple[_Came, str]:
    """The result of an answer with rows: whether they are among the right ones."""
    if any(are_rows(answer, each) for each in right):
        return "reads", ""
    return "wrong rows", f"{len(answer.rows or ())} rows, not those of the twin"
