"""Facts about a user's file before a driver is asked about it: the judge's verdict, its columns and its features.

The file may be damaged in any way, so it is read in a separate process: ``python -m pqassay_suite.own_files.file_survey --serve``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TextIO

from pqassay.judge.checker import check
from pqassay_suite.cases.file_facts import FileFacts, facts_of
from pqassay_suite.drivers.inspector import OwnProcess, own_program
from pqassay_suite.drivers.process import Limits

LIMITS = Limits(seconds=60)
"""Limits for reading one file, independent of the limits of a driver."""


@dataclass(frozen=True)
class Survey:
    """Facts about a file.

    Attributes:
        judged: The outcome of ``pqassay check`` at tier ``values``; ``errored`` if there is none.
        rules: The rules that it breaks.
        error: Why it could not be judged.
        names, needs, tags, values: See `FileFacts`.
        decoded: Whether the judge decoded all its values, which confirms their number in the footer.
    """

    judged: str
    rules: list[str] = field(default_factory=list[str])
    error: str = ""
    names: list[str] = field(default_factory=list[str])
    needs: list[str] = field(default_factory=list[str])
    tags: list[str] = field(default_factory=list[str])
    values: int = 0
    decoded: bool = False

    @property
    def facts(self) -> FileFacts:
        """The facts that are needed for a read."""
        return FileFacts(
            needs=tuple(self.needs), names=tuple(self.names), tags=tuple(self.tags), values=self.values
        )

    @property
    def is_sound(self) -> bool:
        """Whether the judge found no error."""
        return self.judged not in ("untrue", "nonconformant", "errored")


def survey(path: str) -> Survey:
    """Determine the facts about a file."""
    (file,) = check([], literal=[path], tier="values", crc=True).files
    broken = dict.fromkeys(found.rule for found in file.findings if found.verdict == "FAIL")
    facts = facts_of(Path(path).read_bytes())
    return Survey(
        file.outcome,
        list(broken),
        file.error or "",
        list(facts.names),
        list(facts.needs),
        list(facts.tags),
        facts.values,
        decoded=file.outcome != "errored" and not file.gaps,
    )


class Surveyor(OwnProcess):
    """Determines facts about files in a separate process."""

    def __init__(self) -> None:
        super().__init__(own_program("-m", "pqassay_suite.own_files.file_survey"), LIMITS)

    def survey(self, path: Path) -> Survey:
        """Facts about a file; if the process crashes, this file has no verdict and no features."""
        answer = self.ask(str(path))
        return Survey("errored", error=answer) if isinstance(answer, str) else Survey(**json.loads(answer))


def serve(requests: Iterable[str], answers: TextIO) -> None:
    """Determine the facts for each line, the path of a file as JSON."""
    for line in requests:
        print(json.dumps(asdict(survey(json.loads(line)))), file=answers, flush=True)


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
