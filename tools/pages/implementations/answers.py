"""The answer of an implementation about a golden case, as one word with a sign, for every page of the site."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kept_results import Kept

from pqassay.report.run.model import Exposure, Result

SIGNS: Mapping[str, str] = {
    "right": "✓",
    "rows lost": "\N{MINUS SIGN}",
    "wrong rows": "≠",
    "wrong answer": "◇",
    "crashed": "!",
    "accepted": "▽",
    "refused": "\N{MULTIPLICATION SIGN}",
    "unsupported": "○",
    "not asked": "·",
}
"""A sign for each verdict, so that color alone never shows a verdict."""

MEANINGS: Mapping[str, str] = {
    "right": "the true rows in every query, or the refusal that is due; also of a reader that does not use what is false",
    "rows lost": "rows are missing in at least one query, without a word",
    "wrong rows": "at least one query gives rows that do not belong there, without a word",
    "wrong answer": "the structure is not read as it is, or not written as wished",
    "crashed": "a panic, a signal, exhausted memory or the time limit in at least one query, whatever the others give",
    "accepted": "what has to be refused was read",
    "refused": "an error in at least one query of a file that should be read, or an accidental one where a refusal is due",
    "unsupported": "the library does not have what the query takes, and says so",
    "not asked": "the driver does not declare what the file takes, or the file is newer than the answers",
}

HARM = (
    "rows lost",
    "wrong rows",
    "crashed",
    "wrong answer",
    "accepted",
    "refused",
    "unsupported",
    "right",
    "not asked",
)
"""Verdicts, the most severe first."""

BAD = frozenset(HARM[:6])
"""Verdicts that mean an error."""

REFUSALS = (3, 6, 8)
"""Severities of wrong refusals."""

ACCEPTED = 7
"""The severity of reading an input that must be refused."""


@dataclass(frozen=True)
class Answer:
    """The answer of one version of an implementation to one operation on one case.

    Attributes:
        name: Name of the implementation.
        version: Its version.
        case: Id of the case.
        operation: The operation: ``read``, ``scan``, ``decode``, ``lint``, ``encode``.
        verdict: One of `SIGNS`.
        reason: The reason in a few words; empty if the answer is right.
        actual: The actual answer in one line.
        expected: The expected answer in one line.
        query: For a scan, the predicate of the worst query as JSON.
        asked: For a failed scan, the number of asked queries.
        wrong: For a failed scan, the number of failed queries.
        severity: See ``SEVERITIES`` of `pqassay.report.run.model`.
        is_lie: Whether the case is a well-formed lie, so that the answer counts in no score.
        stderr: The driver's stderr, if it gave no answer.
    """

    name: str
    version: str
    case: str
    operation: str
    verdict: str
    reason: str = ""
    actual: str = ""
    expected: str = ""
    query: str = ""
    asked: int = 0
    wrong: int = 0
    severity: int | None = None
    is_lie: bool = False
    stderr: str = ""

    @property
    def command(self) -> str:
        """The command that repeats the question."""
        return f"pqassay suite run --driver {self.name} --case {self.case} --operation {self.operation}"

    @property
    def summary(self) -> str:
        """All of it in one line of plain text."""
        parts = (self.query, self.reason, self.actual, self.stderr.partition("\n")[0])
        return ": ".join(part for part in parts if part) or self.verdict


def answers(kept: Kept) -> Mapping[str, Sequence[Answer]]:
    """The answers in stored results about each case, by case id, in the order of operations."""
    report = kept.report
    wrong = {(result.case, result.operation): result for result in report.results}
    lies = {exposure.case: exposure for exposure in report.exposures}
    by_case: dict[str, list[Answer]] = {}
    for case, operations in (report.asked or {}).items():
        for operation in operations:
            result = wrong.get((case, operation))
            if result is not None:
                answer = _of_result(kept, result)
            elif operation == "scan" and case in lies:
                answer = _of_lie(kept, lies[case])
            else:
                answer = Answer(kept.name, kept.version, case, operation, "right")
            by_case.setdefault(case, []).append(answer)
    return by_case


def worst(answers_given: Sequence[Answer]) -> str:
    """The most severe verdict of some answers; ``not asked`` if there are none."""
    return min((answer.verdict for answer in answers_given), key=HARM.index, default="not asked")


def counted(answers_given: Sequence[Answer]) -> Iterator[tuple[str, int]]:
    """Yield the number of answers with each verdict, the most severe first."""
    counts = Counter(answer.verdict for answer in answers_given)
    return ((verdict, counts[verdict]) for verdict in HARM if counts[verdict])


def _of_lie(kept: Kept, lie: Exposure) -> Answer:
    return Answer(
        kept.name,
        kept.version,
        lie.case,
        "scan",
        lie.verdict,
        actual=lie.detail or "",
        query=_json(lie.predicate),
        asked=lie.asked,
        wrong=lie.misled,
        is_lie=True,
    )


def _of_result(kept: Kept, result: Result) -> Answer:
    query = result.query
    return Answer(
        kept.name,
        kept.version,
        result.case,
        result.operation,
        _verdict(result),
        reason=result.reason,
        actual=result.actual or "",
        expected=result.expected or "",
        query=_json(query.predicate) if query else "",
        asked=query.asked if query else 0,
        wrong=query.wrong if query else 0,
        severity=result.severity,
        stderr=result.stderr or "",
    )


def _verdict(result: Result) -> str:
    """The verdict on a result that is not simply right."""
    actual = result.actual or ""
    if result.outcome == "unsupported":
        verdict = "unsupported"
    elif result.outcome in ("crashed", "protocol error"):
        verdict = "crashed"
    elif (
        result.operation in ("decode", "lint", "encode", "update", "snapshot", "prune", "plan")
        and result.severity != ACCEPTED
    ):
        verdict = "wrong answer"
    elif result.severity == ACCEPTED:
        verdict = "accepted"
    elif result.outcome == "refused by accident" or result.severity in REFUSALS:
        verdict = "refused"
    elif result.outcome == "no credit":
        verdict = "right"
    elif "missing" in actual and "too many" not in actual:
        verdict = "rows lost"
    else:
        verdict = "wrong rows"
    return verdict


def _json(predicate: object) -> str:
    return json.dumps(predicate, ensure_ascii=False) if predicate is not None else ""
