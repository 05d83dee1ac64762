"""The answers about false facts: how clearly each was found, why some were not, and their tables.

`recall` tests the structures of files, and `table_recall` the metadata of tables.
"""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from rich.progress import track

from pqassay.report.model import Report

DATA = Path(__file__).resolve().parent.parent / "docs" / "data"

UNSEEN = "unseen"
STRENGTH = ("FAIL", "errored", "WARN", "POLICY", "INFO", "not checked", UNSEEN)
"""The possible answers about a mutation, the clearest first. A kind has the weakest answer at its places."""

MOST_RULES = 3
"""The number of rules that are stored of one answer."""


class Answer(NamedTuple):
    """The answer about a kind in the files of a writer.

    Attributes:
        name: One of `STRENGTH`.
        rules: The first of the rules with findings.
        findings: The number of rules that FAIL beyond the good file; for a table and its files, the largest number in one report.
    """

    name: str
    rules: list[str]
    findings: int = 0

    @classmethod
    def read(cls, cell: str) -> Answer:
        """The answer in a stored text: its name, its findings if not the default of the name, and its rules."""
        name = next(name for name in STRENGTH if cell.startswith(name))
        words = cell.removeprefix(name).split()
        findings = int(words.pop(0)) if words and words[0].isdigit() else int(name == STRENGTH[0])
        return cls(name, words, findings)

    def __str__(self) -> str:
        counted = [str(self.findings)] if self.findings != int(self.name == STRENGTH[0]) else []
        return " ".join([self.name, *counted, *self.rules])


class Kind(NamedTuple):
    """A field, or an element of a list, and its change."""

    field: str
    change: str


Answers = Mapping[Kind, Mapping[str, Answer]]
"""The answers by kind and writer."""


@dataclass(frozen=True)
class Judged:
    """The result of a check: findings by rule, place and verdict, rules that were not checked, whether it gave up, and the failures by file."""

    findings: Counter[tuple[str, str | None, str]]
    not_checked: frozenset[str]
    error: bool
    failing: Counter[tuple[str, str]]


def judged_of(report: Report) -> Judged:
    """The result in a report, about any of its files."""
    findings = Counter[tuple[str, str | None, str]]()
    failing = Counter[tuple[str, str]]()
    not_checked: set[str] = set()
    for file in report.files:
        for one in file.findings:
            findings[one.rule, one.column, one.verdict] += one.count
            if one.verdict == "FAIL":
                failing[Path(file.path).name, one.rule] += one.count
        not_checked.update(report.coverages[file.coverage].not_checked)
    given_up = any(file.error is not None for file in report.files)
    return Judged(findings, frozenset(not_checked), given_up, failing)


def in_parallel(
    function: Callable[[Any], Any], items: Sequence[Any], what: str, chunk: int = 16
) -> Iterator[Any]:
    """Yield the results of a function for each item, in order, with one process per processor."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(function, items, chunksize=chunk)
        yield from track(results, what, len(items), disable=not sys.stderr.isatty())


def compared(before: Judged, after: Judged) -> Answer:
    """The answer from the findings about a file with a false fact beyond those about the good file."""
    new = after.findings - before.findings
    verdict = next((name for name in STRENGTH if any(name == key[2] for key in new)), UNSEEN)
    rules = sorted({key[0] for key in new if key[2] == verdict})
    if verdict != "FAIL" and after.error and not before.error:
        return Answer("errored", [])
    if verdict == UNSEEN and (unchecked := after.not_checked - before.not_checked):
        return Answer("not checked", sorted(unchecked)[:MOST_RULES])
    by_file = Counter(name for name, _ in after.failing - before.failing)
    return Answer(verdict, rules[:MOST_RULES], max(by_file.values(), default=0))


def weakest(answers: Sequence[Answer]) -> Answer:
    """The weakest of some answers, with the largest number of findings."""
    least = max(answers, key=lambda answer: STRENGTH.index(answer.name))
    return least._replace(findings=max(answer.findings for answer in answers))


# ----------------------------------------------------------------------------------------------------------- reasons


@dataclass(frozen=True)
class Reason:
    """Why a kind has no finding, or more than one.

    Attributes:
        field: A pattern of fields.
        reason: The reason, in a sentence.
        change: A pattern of changes.
        valid: Whether the change keeps the file valid, so that there is nothing to find.
    """

    field: str
    reason: str
    change: str = "*"
    valid: bool = False

    def fits(self, kind: Kind) -> bool:
        """Whether the reason applies to a kind."""
        name, pattern = (one.replace("[", "<") for one in (kind.field, self.field))  # brackets are literal
        return fnmatchcase(name, pattern) and fnmatchcase(kind.change, self.change)


def reason_of(kind: Kind, reasons: Sequence[Reason]) -> Reason | None:
    """The reason why a kind is not found; ``None`` if there is none."""
    return next((one for one in reasons if one.fits(kind)), None)


def unseen(answers: Answers) -> list[Kind]:
    """The kinds that are not found in the files of at least one writer."""
    return [
        kind for kind, writers in answers.items() if any(answer.name == UNSEEN for answer in writers.values())
    ]


def several(answers: Answers) -> list[Kind]:
    """The kinds with more than one finding in the files of at least one writer."""
    return [
        kind for kind, writers in answers.items() if any(answer.findings > 1 for answer in writers.values())
    ]


def share_of_several(answers: Answers) -> float:
    """The share of kinds with more than one finding among those that FAIL."""
    failing = [
        kind for kind, writers in answers.items() if any(answer.findings for answer in writers.values())
    ]
    return len(several(answers)) / len(failing)


def without_reason(answers: Answers, reasons: Sequence[Reason]) -> list[Kind]:
    """The kinds that are neither found nor have a reason."""
    return [kind for kind in unseen(answers) if reason_of(kind, reasons) is None]


def for_nothing(answers: Answers, reasons: Sequence[Reason]) -> list[Reason]:
    """Reasons that no kind needs, since the kind is found or the field does not exist."""
    used = {reason_of(kind, reasons) for kind in unseen(answers)}
    return [one for one in reasons if one not in used]


# ---------------------------------------------------------------------------------------------------- stored answers


@dataclass(frozen=True)
class Kept:
    """The answers that are stored below ``docs/data``, and the reasons why some kinds are not found.

    Attributes:
        name: The name of the file of answers, which is also the prefix of the file of reasons.
    """

    name: str

    @property
    def data(self) -> Path:
        """The file of the answers."""
        return DATA / f"{self.name}.json"

    @cached_property
    def record(self) -> Any:
        """The stored content; empty if nothing was measured."""
        return json.loads(self.data.read_text("utf-8")) if self.data.exists() else {"kinds": []}

    @property
    def answers(self) -> dict[Kind, dict[str, Answer]]:
        """The answers by kind and writer."""
        return {
            Kind(field, change): {writer: Answer.read(cell) for writer, cell in writers.items()}
            for field, change, writers in self.record["kinds"]
        }

    @property
    def damages(self) -> int:
        """The number of tried random damages."""
        count: int = self.record.get("damages", 0)
        return count

    @cached_property
    def reasons(self) -> list[Reason]:
        """The reasons, in the order of the file; the first match is used."""
        text = (DATA / f"{self.name}_reasons.toml").read_text("utf-8")
        return [Reason(**row) for row in tomllib.loads(text)["reason"]]

    @cached_property
    def reasons_of_several(self) -> list[Reason]:
        """The reasons why some kinds have more than one finding."""
        text = (DATA / f"{self.name}_reasons.toml").read_text("utf-8")
        return [Reason(**row) for row in tomllib.loads(text)["several"]]

    def keep(self, answers: Answers, damages: int = 0) -> None:
        """Store answers by writer, a line for each kind, and the number of random damages."""
        rows = [
            json.dumps([*kind, {writer: str(answer) for writer, answer in writers.items()}])
            for kind, writers in answers.items()
        ]
        lines = ",\n".join(rows)
        head = f'"damages": {damages},\n' if damages else ""
        self.data.write_text(f'{{{head}"kinds": [\n{lines}\n]}}\n', encoding="utf-8")


OF_FILES, OF_TABLES = Kept("recall"), Kept("table_recall")
"""The stored answers about files, and about the metadata of tables."""


# ------------------------------------------------------------------------------------------------------------ tables

SHOWN = ("FAIL", "errored", "WARN", "POLICY", "INFO", "not checked", "valid", UNSEEN)
SEVERAL = "several findings"


def class_of(kind: Kind, answer: Answer, reasons: Sequence[Reason]) -> str:
    """The name of an answer, or *valid* if the change keeps the file valid."""
    why = reason_of(kind, reasons) if answer.name == UNSEEN else None
    return "valid" if why is not None and why.valid else answer.name


def counts_by_writer(
    answers_by_kind: Answers, reasons: Sequence[Reason], writers: Sequence[str]
) -> dict[str, Counter[str]]:
    """The number of kinds with each answer, and with several findings, by writer."""
    counts: dict[str, Counter[str]] = {writer: Counter() for writer in writers}
    for kind, answers in answers_by_kind.items():
        for writer, one in answers.items():
            counts[writer][class_of(kind, one, reasons)] += 1
            counts[writer][SEVERAL] += one.findings > 1
    return counts
