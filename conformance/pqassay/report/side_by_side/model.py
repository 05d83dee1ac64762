"""Results of several implementations side by side: an overview of each, and cases x implementations.

The matrix has a row for each question (a case and an operation) that at least one implementation did not
answer rightly.  Well-formed lies have separate rows: they are never scored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from pqassay.errors import UsageError
from pqassay.report.json_form import encodable, members_json
from pqassay.report.model import Report
from pqassay.report.run.model import Exposure, Result, RunReport, Score
from pqassay.report.run.observed import observed_counts, observed_words, sign_of, sign_words
from pqassay.report.run.outcomes import GOOD, UNCLASSED, ExposureVerdict, Operation

SCHEMA_VERSION = 1

NOT_ASKED = "not asked"
NOT_TOLD = "passed or not asked"
"""The results of a question that a report does not list; the second is for a report without passed results."""

SEVERITY_MARKS: dict[str, str] = {
    "1": "W",
    "2": "C",
    "3": "R",
    "4": "w",
    "5": "c",
    "6": "a",
    "7": "x",
    "8": "r",
    "9": "m",
    "w1": "F",
    "w2": "E",
    "w3": "D",
}
"""Marks of observed severities, by key: capital letters are about valid files, and about written files."""

OUTCOME_MARKS: dict[str, str] = {
    "passed": "✓",
    "failed": "f",
    "crashed": "c",
    "refused by accident": "a",
    "protocol error": "p",
    "unstable": "s",
    "no credit": "n",
    "inherited": "i",
    "exposed": "e",
    "unsupported": "u",
    NOT_TOLD: "-",
    NOT_ASKED: "·",
}
"""Marks of outcomes without a severity."""

EXPOSURE_MARKS: dict[str, str] = {
    "right": "(✓)",
    "rows lost": "(L)",
    "wrong rows": "(W)",
    "refused": "(R)",
    "crashed": "(C)",
    "unsupported": "(u)",
}
"""Marks of answers to a well-formed lie; parentheses mean that they are not scored."""

QUIET_MARKS = frozenset(
    {OUTCOME_MARKS[name] for name in (*GOOD, NOT_TOLD, NOT_ASKED)}
    | {EXPOSURE_MARKS["right"], EXPOSURE_MARKS["unsupported"]}
)
"""Marks without an error."""

EXPOSED: tuple[ExposureVerdict, ...] = get_args(ExposureVerdict)

LIE_GRAVITY = ("rows lost", "wrong rows", "crashed", "refused")
"""Answers to a well-formed lie that are not right, the most severe first."""


@dataclass(frozen=True)
class Cell:
    """The result of one implementation for one question.

    Attributes:
        mark: A letter or a sign, in parentheses if it is not scored.
        meaning: The meaning of the mark.
        severity: The observed severity, see `SEVERITIES`, if something is wrong.
        detail: The reason in one line.
    """

    mark: str
    meaning: str
    severity: int | None = None
    detail: str | None = None


@dataclass(frozen=True)
class Row:
    """One question, and a cell for each implementation.

    Attributes:
        case: Id of the case.
        family: Its family.
        operation: The operation.
        scored: False for a well-formed lie.
        cells: The cells, in the order of the implementations.
        title: The title of the case.
    """

    case: str
    family: str
    operation: str
    scored: bool
    cells: list[Cell]
    title: str | None = None


@dataclass(frozen=True)
class Implementation:
    """The overview of one result.

    Attributes:
        label: Its unique label: name and version, and a number if another has the same.
        name: Its own name, or the command if it gives none.
        version: Its version.
        language: Its language.
        pqassay: The version of pqassay in the run.
        cases: The number of asked cases.
        questions: The number of possible results: scored, unsupported and not declared.
        asked: The number of scored results.
        passed: The number of passed results.
        past_foreign: The number of further passed results for files with indexes that it does not know and ignores.
        severities: The number of results with each severity, by its number; severities of writers have the prefix ``w``.
        otherwise: The number of results with each outcome that has no severity, except passed.
        scores: Counts by family and operation.
        exposure: The effects of well-formed lies, which are never scored.
        not_asked: The number of questions that were not asked since a capability is not declared.
        golden_files_sha256: Digest of the golden files in the run.
    """

    label: str
    name: str
    version: str | None
    language: str | None
    pqassay: str
    cases: int
    questions: int
    asked: int
    passed: int
    past_foreign: int
    severities: dict[str, int]
    otherwise: dict[str, int]
    scores: list[Score]
    exposure: dict[str, int]
    not_asked: int
    golden_files_sha256: str


@dataclass(frozen=True)
class Column:
    """A mark, its meaning, and its count for each implementation."""

    mark: str
    meaning: str
    counts: list[int]


@dataclass(frozen=True)
class SideBySide:
    """Several results side by side; ``remarks`` name limits of the comparison."""

    schema_version: int
    kind: Literal["side by side"]
    implementations: list[Implementation]
    rows: list[Row]
    remarks: list[str] = field(default_factory=list[str])

    @property
    def families(self) -> list[str]:
        """The families of the rows, sorted."""
        return sorted({row.family for row in self.rows}, key=encodable)

    @property
    def questions(self) -> list[tuple[str, Operation]]:
        """Family and operation of every score with asked questions, in the order of families and operations."""
        asked_about: set[tuple[str, Operation]] = {
            (score.family, score.operation)
            for each in self.implementations
            for score in each.scores
            if score.outcomes
        }
        operations = get_args(Operation)
        return sorted(asked_about, key=lambda asked: (encodable(asked[0]), operations.index(asked[1])))

    def passed_of_asked(self, family: str, operation: str) -> list[str]:
        """The score of each implementation as ``71/72``, or as ``71/72 of 80`` cases; for unasked questions, the mark of the matrix."""
        found = [
            next((one for one in each.scores if (one.family, one.operation) == (family, operation)), None)
            for each in self.implementations
        ]
        return [_passed(one) if one and one.outcomes else OUTCOME_MARKS[NOT_ASKED] for one in found]

    @property
    def counted(self) -> list[Column]:
        """The marks that are counted for each implementation beside passed cases, the most severe first."""
        columns = [
            Column(
                SEVERITY_MARKS.get(sign, sign),
                sign_words(sign),
                [each.severities.get(sign, 0) for each in self.implementations],
            )
            for sign in SEVERITY_MARKS
        ]
        columns += [
            Column(mark, outcome, [each.otherwise.get(outcome, 0) for each in self.implementations])
            for outcome, mark in OUTCOME_MARKS.items()
        ]
        columns += [
            Column(
                EXPOSURE_MARKS[verdict],
                verdict,
                [each.exposure.get(verdict, 0) for each in self.implementations],
            )
            for verdict in (*LIE_GRAVITY, "right", "unsupported")
        ]
        return [column for column in columns if any(column.counts)]

    @property
    def legend(self) -> tuple[dict[str, str], dict[str, str]]:
        """The marks that occur with their meanings, the most severe first: scored marks, and marks of lies."""
        meanings = {cell.mark: cell.meaning for row in self.rows for cell in row.cells}
        meanings |= {column.mark: column.meaning for column in self.counted}
        lies = [EXPOSURE_MARKS[verdict] for verdict in (*LIE_GRAVITY, "right", "unsupported")]
        scored = dict.fromkeys([*SEVERITY_MARKS.values(), *OUTCOME_MARKS.values(), *meanings])
        return (
            {mark: meanings[mark] for mark in scored if mark in meanings and mark not in lies},
            {mark: meanings[mark] for mark in lies if mark in meanings},
        )

    def to_json(self, indent: int | None = 2) -> str:
        """The results side by side as ASCII JSON."""
        return members_json(self, indent)


def side_by_side(reports: Sequence[Report | RunReport], names: Sequence[str]) -> SideBySide:
    """Put results of runs side by side.

    Args:
        reports: The results.
        names: The names of the results in messages: their files.

    Raises:
        UsageError: A report is of a check.
    """
    runs: list[RunReport] = []
    for report, name in zip(reports, names, strict=True):
        if not isinstance(report, RunReport):
            raise UsageError(
                f"{name}: this is a report of pqassay check; only results of pqassay suite run are put side by side"
            )
        runs.append(report)
    implementations = [_implementation(run, label) for run, label in zip(runs, _labels(runs), strict=True)]
    rows = sorted(_rows(runs), key=_gravity)
    return SideBySide(
        SCHEMA_VERSION, "side by side", implementations, rows, list(_remarks(runs, implementations))
    )


def _labels(runs: Sequence[RunReport]) -> list[str]:
    """The unique labels of the implementations."""
    given = [run.driver.label for run in runs]
    return [
        label if given.count(label) == 1 else f"{label} ({given[: place + 1].count(label)})"
        for place, label in enumerate(given)
    ]


def _passed(score: Score) -> str:
    rest = f" of {score.cases}" if score.cases != score.asked else ""
    return f"{score.passed}/{score.asked}{rest}"


def _implementation(run: RunReport, label: str) -> Implementation:
    driver = run.driver
    otherwise: Counter[str] = Counter(
        result.outcome for result in run.scored if result.severity is None and result.outcome != "passed"
    )
    exposure = Counter(one.verdict for one in run.exposures)
    return Implementation(
        label=label,
        name=driver.name or driver.label,
        version=driver.version,
        language=driver.language,
        pqassay=run.pqassay,
        cases=run.summary.cases,
        asked=sum(score.asked for score in run.own_scores),
        questions=sum(score.cases for score in run.own_scores),
        passed=sum(score.passed for score in run.own_scores),
        past_foreign=sum(score.passed for score in run.past_foreign),
        severities=observed_counts(run.scored),
        otherwise={name: otherwise[name] for name in OUTCOME_MARKS if name in otherwise},
        scores=run.scores,
        exposure={verdict: exposure[verdict] for verdict in EXPOSED if exposure[verdict]},
        not_asked=sum(one.count for one in run.not_asked),
        golden_files_sha256=run.golden_files_sha256,
    )


def _rows(runs: Sequence[RunReport]) -> Iterator[Row]:
    """Yield a row for each question that at least one result did not answer correctly, scored or lie."""
    results = [{(result.case, result.operation): result for result in run.results} for run in runs]
    wrong = (result for run in runs for result in run.scored if result.outcome not in GOOD and result.family)
    for case, operation in dict.fromkeys((result.case, result.operation) for result in wrong):
        of = [found.get((case, operation)) for found in results]
        family = next(result.family for result in of if result is not None)
        title = next((result.title for result in of if result is not None and result.title), None)
        cells = [_cell(result, run, family, operation) for result, run in zip(of, runs, strict=True)]
        yield Row(case, family, operation, scored=True, cells=cells, title=title)
    lies = [{one.case: one for one in run.exposures} for run in runs]
    misled = (one for run in runs for one in run.exposures if one.verdict in LIE_GRAVITY)
    for case, family in dict.fromkeys((one.case, one.family) for one in misled):
        answers = [_exposed(found.get(case)) for found in lies]
        yield Row(case, family, "scan", scored=False, cells=answers)


def _cell(result: Result | None, run: RunReport, family: str, operation: str) -> Cell:
    if result is None:
        asked = any(
            score.outcomes and (score.family, score.operation) == (family, operation) for score in run.scores
        )
        leaves_out = run.summary.results > len(run.scored)
        meaning = NOT_TOLD if asked and leaves_out else NOT_ASKED
        return Cell(OUTCOME_MARKS[meaning], meaning)
    meaning = observed_words(result) or result.outcome
    mark = OUTCOME_MARKS[result.outcome]
    if result.severity is not None:
        mark = SEVERITY_MARKS.get(sign_of(result), str(result.severity))
    return Cell(mark, meaning, result.severity, result.reason or None)


def _exposed(one: Exposure | None) -> Cell:
    if one is None:
        return Cell(OUTCOME_MARKS[NOT_ASKED], NOT_ASKED)
    return Cell(EXPOSURE_MARKS[one.verdict], one.verdict, detail=one.detail)


def _gravity(row: Row) -> tuple[str, bool, int, int, str, str]:
    """A sort key: by family, scored rows before lies, the most severe first, then by the number of implementations."""
    wrong = [cell for cell in row.cells if cell.mark not in QUIET_MARKS]
    if row.scored:
        gravest = min((cell.severity or UNCLASSED for cell in wrong), default=UNCLASSED)
    else:
        marks = [EXPOSURE_MARKS[name] for name in LIE_GRAVITY]
        gravest = min((marks.index(cell.mark) for cell in wrong), default=len(marks))
    return encodable(row.family), not row.scored, gravest, -len(wrong), encodable(row.case), row.operation


def _remarks(runs: Sequence[RunReport], implementations: Sequence[Implementation]) -> Iterator[str]:
    """Yield limits of the comparison, one per line."""
    labels = [each.label for each in implementations]
    by_files: dict[str, list[str]] = {}
    for run, label in zip(runs, labels, strict=True):
        by_files.setdefault(run.golden_files_sha256, []).append(label)
    if len(by_files) > 1:
        named = "; ".join(f"{digest[:8]} {', '.join(of)}" for digest, of in by_files.items())
        same_cases = len({run.asked_about for run in runs}) == 1
        why = (
            ""
            if same_cases
            else " (or the same files with different cases: capabilities decide what is asked)"
        )
        yield f"the results name different golden files{why}: {named}"
    for what, values in (
        ("rules", [run.rules_sha256[:8] for run in runs]),
        (
            "revisions of the golden cases",
            [f"{by.revision} {by.sha256[:8]}" if (by := run.scored_by) else "of none" for run in runs],
        ),
        ("versions of pqassay", [run.pqassay for run in runs]),
    ):
        if len(set(values)) > 1:
            named = ", ".join(f"{label} {value}" for label, value in zip(labels, values, strict=True))
            yield f"the results name different {what}: {named}"
