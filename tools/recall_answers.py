"""What came of false facts: how clearly each was found, why some were not, and the tables that say so.

`recall` asks about the structures of files, and `table_recall` about the metadata of tables.
"""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
"""What can come of a mutation, the clearest answer first. A kind counts by the weakest answer at its places."""

MOST_RULES = 3
"""Rules that are stored of one answer."""

Answer = tuple[str, list[str]]
"""What came of a kind in the files of a writer, and the rules that said so."""


class Kind(NamedTuple):
    """A field, or an element of a list, and what happens to it."""

    field: str
    change: str


Found = Mapping[Kind, Mapping[str, Answer]]
"""By kind and writer, what came of it."""


@dataclass(frozen=True)
class Judged:
    """What a check says: findings by rule, place and verdict, rules that were not checked, and whether it gave up."""

    findings: Counter[tuple[str, str | None, str]]
    not_checked: frozenset[str]
    error: bool


def judged_of(report: Report) -> Judged:
    """What a report says, whichever of its files it is about."""
    findings = Counter[tuple[str, str | None, str]]()
    not_checked: set[str] = set()
    for file in report.files:
        for one in file.findings:
            findings[one.rule, one.column, one.verdict] += one.count
        not_checked.update(report.coverages[file.coverage].not_checked)
    return Judged(findings, frozenset(not_checked), any(file.error is not None for file in report.files))


def in_parallel(
    function: Callable[[Any], Any], items: Sequence[Any], what: str, chunk: int = 16
) -> Iterator[Any]:
    """The results of a function for each item, in their order, by as many processes as there are processors."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(function, items, chunksize=chunk)
        yield from track(results, what, len(items), disable=not sys.stderr.isatty())


def compared(before: Judged, after: Judged) -> Answer:
    """What is said of a file with a false fact beyond what is said of the good one."""
    new = after.findings - before.findings
    verdict = next((name for name in STRENGTH if any(name == key[2] for key in new)), UNSEEN)
    rules = sorted({key[0] for key in new if key[2] == verdict})
    if verdict != "FAIL" and after.error and not before.error:
        return "errored", []
    if verdict == UNSEEN and (unchecked := after.not_checked - before.not_checked):
        return "not checked", sorted(unchecked)[:MOST_RULES]
    return verdict, rules[:MOST_RULES]


def weakest(answers: Iterable[Answer]) -> Answer | None:
    """The weakest of some answers; ``None`` without any."""
    return max(answers, key=lambda one: STRENGTH.index(one[0]), default=None)


# ----------------------------------------------------------------------------------------------------------- reasons


@dataclass(frozen=True)
class Reason:
    """Why nothing is found.

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
        """Whether it is about a kind."""
        name, pattern = (one.replace("[", "<") for one in (kind.field, self.field))  # brackets are no pattern
        return fnmatchcase(name, pattern) and fnmatchcase(kind.change, self.change)


def reason_of(kind: Kind, given: Sequence[Reason]) -> Reason | None:
    """The reason why a kind is not found; ``None`` where none is given."""
    return next((one for one in given if one.fits(kind)), None)


def unseen(found: Found) -> list[Kind]:
    """The kinds that are not found in the files of some writer."""
    return [kind for kind, writers in found.items() if any(one == UNSEEN for one, _ in writers.values())]


def without_reason(found: Found, given: Sequence[Reason]) -> list[Kind]:
    """The kinds that are not found, and for which no reason is given."""
    return [kind for kind in unseen(found) if reason_of(kind, given) is None]


def for_nothing(found: Found, given: Sequence[Reason]) -> list[Reason]:
    """Reasons that no kind needs: what they excuse is found by now, or there is no such field."""
    used = {reason_of(kind, given) for kind in unseen(found)}
    return [one for one in given if one not in used]


# ---------------------------------------------------------------------------------------------------- stored answers


@dataclass(frozen=True)
class Kept:
    """The answers that are stored below ``docs/data``, and the reasons why some kinds are not found.

    Attributes:
        name: Name of the file of the answers; that of the reasons begins with it.
    """

    name: str

    @property
    def data(self) -> Path:
        """The file of the answers."""
        return DATA / f"{self.name}.json"

    @cached_property
    def record(self) -> Any:
        """What is stored; nothing where nothing was measured."""
        return json.loads(self.data.read_text("utf-8")) if self.data.exists() else {"kinds": []}

    @property
    def found(self) -> dict[Kind, dict[str, Answer]]:
        """The answers by kind and writer."""
        return {
            Kind(field, change): {writer: _answer(cell) for writer, cell in writers.items()}
            for field, change, writers in self.record["kinds"]
        }

    @property
    def damages(self) -> int:
        """How many random damages were tried."""
        count: int = self.record.get("damages", 0)
        return count

    @cached_property
    def reasons(self) -> list[Reason]:
        """The reasons, in the order of the file; the first that fits counts."""
        text = (DATA / f"{self.name}_reasons.toml").read_text("utf-8")
        return [Reason(**row) for row in tomllib.loads(text)["reason"]]

    def keep(self, found: Found, damages: int = 0) -> None:
        """Store answers, a line for each kind: by writer the answer and its rules. And how many random damages were tried."""
        rows = [
            json.dumps([*kind, {writer: " ".join([one, *rules]) for writer, (one, rules) in writers.items()}])
            for kind, writers in found.items()
        ]
        lines = ",\n".join(rows)
        head = f'"damages": {damages},\n' if damages else ""
        self.data.write_text(f'{{{head}"kinds": [\n{lines}\n]}}\n', encoding="utf-8")


def _answer(cell: str) -> Answer:
    name = next(name for name in STRENGTH if cell.startswith(name))
    return name, cell.removeprefix(name).split()


# ------------------------------------------------------------------------------------------------------------ tables

SHOWN = ("FAIL", "errored", "WARN", "POLICY", "INFO", "not checked", "valid", UNSEEN)


def _class(kind: Kind, one: Answer, given: Sequence[Reason]) -> str:
    """The answer, with what need not be found told apart."""
    why = reason_of(kind, given) if one[0] == UNSEEN else None
    return "valid" if why is not None and why.valid else one[0]


def by_writer(found: Found, given: Sequence[Reason], writers: Sequence[str], of: str) -> Iterator[str]:
    """How many kinds got which answer, a row for each writer."""
    counts: dict[str, Counter[str]] = {writer: Counter() for writer in writers}
    for kind, answers in found.items():
        for writer, one in answers.items():
            counts[writer][_class(kind, one, given)] += 1
    yield from (row(of, *SHOWN), row(*["---"] * (len(SHOWN) + 1)))
    for writer, counted in counts.items():
        yield row(writer, *(f"{counted[name]:,}" if counted[name] else "" for name in SHOWN))
    whole = sum(counts.values(), Counter[str]())
    yield row("all", *(f"{whole[name]:,}" for name in SHOWN))
    yield ""


def unseen_table(found: Found, given: Sequence[Reason], *, valid: bool) -> Iterator[str]:
    """What is not found and why: of what should be, or of what keeps a file valid."""
    by_reason: dict[str, list[Kind]] = defaultdict(list)
    for kind in unseen(found):
        why = reason_of(kind, given)
        if (why is not None and why.valid) == valid:
            by_reason["" if why is None else why.reason].append(kind)
    yield from (row("Field", "Change", "Reason"), row("---", "---", "---"))
    for reason, kinds in by_reason.items():
        changes: dict[str, list[str]] = defaultdict(list)
        for kind in kinds:
            changes[kind.field].append(kind.change)
        for field, names in changes.items():
            yield row(f"`{field}`", ", ".join(names), reason)
    yield ""


def by_field(found: Found, given: Sequence[Reason], writers: Sequence[str]) -> Iterator[str]:
    """How many changes of a field got which answer, a column for each writer."""
    letters = dict(zip(SHOWN, "FEWPInvu", strict=True))
    fields: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    rules: dict[str, Counter[str]] = defaultdict(Counter)
    for kind, answers in found.items():
        for writer, one in answers.items():
            fields[kind.field][writer][_class(kind, one, given)] += 1
            rules[kind.field].update(one[1])
    yield from (row("Field", *writers, "Rules"), row(*["---"] * (len(writers) + 2)))
    for field, counted in fields.items():
        cells = (
            " ".join(f"{counted[writer][name]}{letters[name]}" for name in SHOWN if counted[writer][name])
            for writer in writers
        )
        most = ", ".join(
            rule for rule, _ in sorted(rules[field].items(), key=lambda item: (-item[1], item[0]))[:4]
        )
        yield row(f"`{field}`", *cells, most)


def row(*cells: str) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |".replace("  ", " ")
