"""The stored behavior of engines on false claims of golden tables, measured by ``tools/write_table_engines.py --ask``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pages.places import ROOT
from pqassay.proof.queries import COUNT

MEASURED = ROOT / "benchmarks" / "table_engines.json"

NOT_COMPARABLE = "not comparable"

SIGNS: Mapping[str, str] = {NOT_COMPARABLE: "≈"}
"""Signs for verdicts that only answers about tables have."""

MEANINGS: Mapping[str, str] = {
    NOT_COMPARABLE: "there are no true rows to compare with: the engine reads the same claim in the copy that should show them, or takes no such query"
}

LEGEND = ("right", "rows lost", "wrong rows", "crashed", "refused", NOT_COMPARABLE, "not asked")
"""The verdicts of answers about tables."""

SILENT = ("rows lost", "wrong rows")
"""Verdicts that go unnoticed, the most severe first."""

HARM = (*SILENT, "crashed", "refused", NOT_COMPARABLE, "right", "not asked")
"""Verdicts, the most severe first."""

BAD = frozenset(HARM[:4])
"""Verdicts that mean an error."""


class Engine(NamedTuple):
    """An engine of one version; if several versions were asked, the column lists all."""

    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


@dataclass(frozen=True)
class TableAnswer:
    """The answer of an engine to a query.

    Attributes:
        verdict: One of `HARM`.
        rows: The number of returned rows; ``None`` without an answer.
        lost: The number of missing rows.
        wrong: The number of false rows.
        is_count: Whether the query counts rows; then ``rows`` is the count.
    """

    verdict: str
    rows: int | None = None
    lost: int = 0
    wrong: int = 0
    is_count: bool = False

    @property
    def summary(self) -> str:
        """The answer in a few words.

        >>> TableAnswer("rows lost", 8, 2).summary, TableAnswer("right", 8).summary, TableAnswer("refused").summary
        ('8 rows, 2 lost', '8 rows', 'refused')
        >>> TableAnswer("rows lost", 8, 8, is_count=True).summary, TableAnswer("wrong rows", 17, wrong=1, is_count=True).summary
        ('8 counted, 8 too few', '17 counted, 1 too many')
        """
        if self.rows is None:
            return self.verdict
        if self.is_count:
            counted = f"{self.rows:,} counted"
            too_few = f", {self.lost:,} too few" if self.lost else ""
            return f"{counted}{too_few}{f', {self.wrong:,} too many' if self.wrong else ''}"
        rows = f"{self.rows:,} {'row' if self.rows == 1 else 'rows'}"
        if self.lost:
            return f"{rows}, {self.lost:,} lost"
        return rows if self.verdict == "right" else f"{rows}, {self.verdict}"


@dataclass(frozen=True)
class Trial:
    """A query to engines because of a finding about a golden table.

    Attributes:
        rule: The rule of the finding.
        table: The id of the golden table.
        query: The query.
        true_rows: The number of its true rows.
        command: The command that repeats it, from the root folder of the repository.
        answers: The answer of each engine.
    """

    rule: str
    table: str
    query: str
    true_rows: int
    command: str
    answers: Mapping[Engine, TableAnswer]

    def answer_of(self, name: str) -> TableAnswer | None:
        """The answer of an engine of any version; ``None`` if it was not asked."""
        return next((answer for engine, answer in self.answers.items() if engine.name == name), None)

    @property
    def worst(self) -> str:
        """The most severe verdict."""
        return min((answer.verdict for answer in self.answers.values()), key=HARM.index, default="not asked")

    def hurt(self) -> Sequence[tuple[str, Engine]]:
        """The verdict of each engine with a wrong answer, the most severe first."""
        found = [(answer.verdict, engine) for engine, answer in self.answers.items() if answer.verdict in BAD]
        return sorted(found, key=lambda one: (HARM.index(one[0]), one[1]))


def measured(path: Path = MEASURED) -> Sequence[Trial]:
    """All stored measurements."""
    entries: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return [
        Trial(
            entry["rule"],
            entry["golden"],
            entry["query"],
            entry["true_rows"],
            entry["command"],
            {
                Engine(answer["engine"], answer["version"]): TableAnswer(
                    answer["verdict"],
                    answer.get("rows"),
                    answer.get("lost", 0),
                    answer.get("wrong", 0),
                    COUNT in entry["query"],
                )
                for answer in entry["engines"]
            },
        )
        for entry in entries
    ]


def engines_of(trials: Iterable[Trial]) -> Sequence[Engine]:
    """The asked engines without duplicates, in the order of their first occurrence."""
    versions: dict[str, set[str]] = {}
    for trial in trials:
        for engine in trial.answers:
            versions.setdefault(engine.name, set()).add(engine.version)
    return [Engine(name, "/".join(sorted(found))) for name, found in versions.items()]
