"""The result of ``pqassay suite run``: the outcome of each request, the scores, and the compared versions.

It belongs to the same family as the report of ``pqassay check``; its JSON Schema in ``schemas/`` is derived from these
classes.  It holds no times and no machine's paths, so that two runs of the same driver give the same bytes.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from pqassay.report.json_form import members_json, schema_of
from pqassay.report.run.files import Collection
from pqassay.report.run.outcomes import (
    BROKEN,
    FOREIGN,
    GOOD,
    PAST_FOREIGN,
    UNCLASSED,
    UNSCORED,
    Blame,
    ExposureVerdict,
    Operation,
    Outcome,
    counts,
)

SCHEMA_VERSION = 2


@dataclass(frozen=True)
class QueryResult:
    """The worst query of a case.

    Attributes:
        predicate: Its predicate.
        columns: The columns that it asked for.
        index: Whether the answer is right without the index; absent where that was not asked.
        asked: How many queries were asked of the case.
        wrong: How many of them failed.
    """

    predicate: list[Any]
    columns: list[str]
    asked: int
    wrong: int
    index: Blame | None = None


@dataclass(frozen=True)
class AnsweredQueries:
    """How many queries of a scan were answered, rightly or not, rather than called unsupported.

    Attributes:
        queries: All queries.
        of: How many there are.
        deciding: Those that compare values of the column that the case is about.
        of_deciding: How many of these there are.
    """

    queries: int
    of: int
    deciding: int
    of_deciding: int


@dataclass(frozen=True)
class Result:
    """Outcome of one operation on one case.

    Attributes:
        case: Id of the case; ``hello`` for the greeting.
        family: The case's family, empty for the greeting.
        operation: What was asked.
        outcome: Its outcome.
        reason: Why, in one line; empty for what passed.
        rules: Rules that the case, or the file that was written, is about.
        reader_rules: Rules for readers that the answer breaks.
        expected: The expected answer.
        actual: The actual answer.
        first_difference: The path of the first member that differs, of a value.
        stderr: The most informative lines of its output if it gave no answer.
        known: An expectation says that this is so.
        title: What the case is about, where something is wrong.
        effect: What a file like this could do to users, where something is wrong.
        severity: The observation, see `SEVERITIES`, where something is wrong.
        cause: The common parts of results with the same cause.
        query: The worst query, of a scan.
        answered: How many queries were answered, of a scan.
        unscored: The case counts in no score: it is not in the revision, or no longer what it was there.
        warnings: What the judge warns of in a file that was written: rule and message, whether the file passed or not.
        pin: The actual answer if it is wrong, in words that only change with the answer; expectations compare
            it.
    """

    case: str
    family: str
    operation: Operation | Literal["hello"]
    outcome: Outcome
    reason: str = ""
    rules: list[str] | None = None
    expected: str | None = None
    actual: str | None = None
    stderr: str | None = None
    known: bool | None = None
    title: str | None = None
    effect: str | None = None
    reader_rules: list[str] | None = None
    first_difference: str | None = None
    severity: int | None = None
    cause: str | None = None
    query: QueryResult | None = None
    answered: AnsweredQueries | None = None
    unscored: bool | None = None
    pin: str | None = None
    warnings: list[str] | None = None

    @property
    def is_good(self) -> bool:
        """True if nothing is wrong."""
        return self.outcome in GOOD


@dataclass(frozen=True)
class Exposure:
    """The effect of a well-formed lie on a reader: shown, never scored.

    Attributes:
        case: Id of the case.
        family: Its family.
        verdict: The worst of its answers.
        asked: How many queries were asked.
        misled: How many answers lack rows or have wrong ones.
        predicate: The query of the worst answer, where it was not right.
        detail: That answer in one line.
    """

    case: str
    family: str
    verdict: ExposureVerdict
    asked: int
    misled: int
    predicate: list[Any] | None = None
    detail: str | None = None


@dataclass(frozen=True)
class NotAsked:
    """Questions that were not asked, since the driver does not declare a capability."""

    capability: str
    count: int


@dataclass(frozen=True)
class Score:
    """Counts of the outcomes of one operation on the cases of one family.

    Attributes:
        asked: Cases about which the driver answered, or should have.
        passed: Cases that it answered rightly.
        outcomes: How many cases have each outcome.
        undeclared: Cases about which it was not asked, since it does not declare what they take.
    """

    family: str
    operation: Operation
    asked: int
    passed: int
    outcomes: dict[str, int]
    undeclared: int = 0

    @property
    def cases(self) -> int:
        """All cases of the family that have the operation, asked or not."""
        return sum(self.outcomes.values()) + self.undeclared

    @property
    def line(self) -> str:
        """What passed in one line: of how many that were asked, and of how many that there are."""
        rest = f", {self.cases} in all" if self.cases != self.asked else ""
        return f"{self.passed} of {self.asked} passed{rest}"

    @property
    def otherwise(self) -> str:
        """The counts of the other outcomes in one line."""
        told = [f"{count} {outcome}" for outcome, count in self.outcomes.items() if outcome != "passed"]
        return ", ".join([*told, *([f"{self.undeclared} not declared"] if self.undeclared else [])])


@dataclass(frozen=True)
class Driver:
    """The program under test: its command, a digest of the files named in it, and what it says about itself.

    Attributes:
        shipped: Its name among the implementations that come with pqassay; ``None`` for another.
    """

    command: list[str]
    sha256: str
    shipped: str | None = None
    name: str | None = None
    version: str | None = None
    language: str | None = None
    capabilities: list[str] | None = None
    lacks: list[str] | None = None
    serve: bool | None = None
    nan: Literal["unordered", "greatest"] | None = None
    zeros: Literal["equal", "apart"] | None = None
    index_off: bool | None = None
    raises: list[str] | None = None

    @property
    def label(self) -> str:
        """Its own name and version; its command, if it says nothing."""
        return " ".join(filter(None, (self.name, self.version))) or shlex.join(self.command)

    @property
    def line(self) -> str:
        """The same with its language."""
        return f"{self.label} ({self.language})" if self.language else self.label

    def reads_past(self, family: str, operation: str) -> bool:
        """Whether the driver does not know the index of a family, so this operation only shows that the bytes do not disturb it.

        >>> Driver([], "", capabilities=["read", "dir.scan"]).reads_past("DIR", "scan")
        True
        """
        if family not in FOREIGN or operation not in PAST_FOREIGN or self.capabilities is None:
            return False
        decodes = f"{family.lower()}.decode"
        return not any(f"{name}.".startswith(f"{decodes}.") for name in self.capabilities)


@dataclass(frozen=True)
class RunLimits:
    """Limits of each request: seconds of processor time, bytes of data; and the queries of a case that were asked at most."""

    seconds: float
    memory: int
    queries: int | None = None


@dataclass(frozen=True)
class Problem:
    """An expectation that does not hold, in one line."""

    entry: str
    problem: str


@dataclass(frozen=True)
class ScoredBy:
    """The revision of the golden cases whose cases a run counts, see `pqassay_spec.golden.revision`.

    Attributes:
        revision: Its number.
        sha256: Digest of its ids and of the digests of its cases.
        cases: How many cases it has.
        chosen: How many of them the run was about, whether they could be asked or not.
        narrowed: Operations were left out, or all but those that were wrong in earlier results.
        added: Cases that it does not have, with their digests: they were asked, and count from the next revision on.
        changed: Cases that it has with another digest, with theirs: they count in no revision.
    """

    revision: str
    sha256: str
    cases: int
    chosen: int
    narrowed: bool | None = None
    added: dict[str, str] = field(default_factory=dict[str, str])
    changed: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def is_whole(self) -> bool:
        """Whether the run was about everything that the revision has, as the revision has it."""
        return self.chosen == self.cases and not self.narrowed


@dataclass(frozen=True)
class RunSummary:
    """Counts over all results.

    Attributes:
        cases: Cases that the run was about.
        results: Results that count.
        outcomes: How many of these have each outcome.
        known: How many of all results were expected.
        unscored: How many other results have each outcome: those about cases that are not in the revision.
        unpinned: How many results were expected without a pin, so that any wrong answer fits.
    """

    cases: int
    results: int
    outcomes: dict[str, int]
    known: int
    unscored: dict[str, int] | None = None
    unpinned: int | None = None


@dataclass(frozen=True)
class Submission:
    """The source of submitted results.

    Attributes:
        url: Where they were published: a run of continuous integration, a release, a pull request.
        by: The name of the submitter.
        date: When they were taken.
        sha256: Digest of the file as it was handed in, what passed included.
    """

    url: str
    by: str
    date: str
    sha256: str


@dataclass(frozen=True)
class RunReport:
    """The result of one run of ``pqassay suite run``.

    Attributes:
        rules_sha256: Digest of the rule catalogue.
        suite_sha256: Digest of the manifests of the cases that were chosen: all, or those that ``--case`` names and their parents.
        golden_files_sha256: Digest of the inputs of these cases, whether the driver could be asked about them or not.
        expectations_sha256: Digest of the file of expectations, where one was given.
        problems: Expectations that do not hold.
        exposures: The effects of well-formed lies on the driver.
        not_asked: The cases that were not asked, by the capability that is missing.
        index_left_aside: Queries that were answered rightly without the index, though they might have used it.
        options: Options of the command without which a request is not repeated.
        date: The day of the run, of results that are kept.
        tools: Versions of the tools that the driver was built and run with, of results that are kept.
        scored_by: The revision of the golden cases; absent where all cases count, as those of a folder that ``--cases`` names.
        asked: The operations that each case was asked for, by its id.
        refused: Ids of the cases whose file was refused, where a reader may refuse it or give its rows; absent in older results.
        submitted: The source of stored results that were produced elsewhere.
        collection: The files that were asked about in place of golden files: on what each verdict rests, and which features fail.
    """

    schema_version: int
    kind: Literal["run"]
    pqassay: str
    protocol: int
    rules_sha256: str
    suite_sha256: str
    golden_files_sha256: str
    driver: Driver
    limits: RunLimits
    results: list[Result]
    scores: list[Score]
    problems: list[Problem]
    summary: RunSummary
    exposures: list[Exposure] = field(default_factory=list[Exposure])
    not_asked: list[NotAsked] = field(default_factory=list[NotAsked])
    index_left_aside: int = 0
    expectations_sha256: str | None = None
    options: list[str] = field(default_factory=list[str])
    date: str | None = None
    tools: dict[str, str] | None = None
    scored_by: ScoredBy | None = None
    asked: dict[str, list[Operation]] | None = None
    refused: list[str] | None = None
    submitted: Submission | None = None
    collection: Collection | None = None

    @property
    def exit_code(self) -> int:
        """0 all well, 1 failures, 2 nothing was tested, 3 stale expectations, 4 crashes or protocol errors.

        The highest wins. Expected results do not count, nor does a case that is not in the revision.
        """
        new = [result.outcome for result in self.scored if not result.known]
        if any(outcome in BROKEN for outcome in new):
            return 4
        if self.problems:
            return 3
        if self.tested_nothing:
            return 2
        return 1 if any(outcome not in GOOD for outcome in new) else 0

    @property
    def tested_nothing(self) -> bool:
        """True if the driver supports nothing of what it was to be asked, unexpectedly."""
        return not (self.exposures or self.summary.outcomes.get("passed")) and all(
            result.outcome == "unsupported" and not result.known for result in self.results
        )

    @property
    def scored(self) -> list[Result]:
        """The results that count."""
        return [result for result in self.results if not result.unscored]

    @property
    def own_scores(self) -> list[Score]:
        """The scores that tell how well the driver does: all but `past_foreign`."""
        return [one for one in self.scores if not self.driver.reads_past(one.family, one.operation)]

    @property
    def past_foreign(self) -> list[Score]:
        """Scores of files with indexes that the driver does not know, which it reads past."""
        return [one for one in self.scores if self.driver.reads_past(one.family, one.operation)]

    @property
    def causes(self) -> list[list[Result]]:
        """Unexpected failures that count, by cause: the gravest first, then the most frequent."""
        return _by_cause(self.scored)

    @property
    def unscored_causes(self) -> list[list[Result]]:
        """The same of cases that do not count yet."""
        return _by_cause([result for result in self.results if result.unscored])

    @property
    def asked_about(self) -> frozenset[str]:
        """Ids of the cases that results and exposures name."""
        return frozenset({one.case for one in self.results} | {one.case for one in self.exposures})

    @property
    def by_family(self) -> dict[str, list[Result]]:
        """The results of each family, the greeting's under ``hello``."""
        families: dict[str, list[Result]] = {}
        for result in self.results:
            families.setdefault(result.family or "hello", []).append(result)
        return families

    def to_json(self, indent: int | None = 2) -> str:
        """The result as JSON text in ASCII. Members that are ``None`` are left out."""
        return members_json(self, indent)


def _by_cause(results: Sequence[Result]) -> list[list[Result]]:
    found: dict[str, list[Result]] = {}
    for result in results:
        if not result.is_good and not result.known:
            found.setdefault(result.cause or result.reason, []).append(result)
    by_gravity = ((cause, sorted(group, key=_gravity)) for cause, group in found.items())
    return [
        group
        for _, group in sorted(by_gravity, key=lambda item: (_gravity(item[1][0]), -len(item[1]), item[0]))
    ]


def _gravity(result: Result) -> int:
    return result.severity or UNCLASSED


def scores(
    results: Sequence[Result], undeclared: Mapping[tuple[str, Operation], int] | None = None
) -> list[Score]:
    """Count outcomes by family and operation, in the order of `Operation`. Exposed, unsupported and unscored results are not scored.

    Args:
        results: The results.
        undeclared: By family and operation the cases that were not asked, since the driver does not declare what they take.
    """
    counted: list[Score] = []
    missing = undeclared or {}
    results = [result for result in results if not result.unscored]
    for family in sorted(
        {result.family for result in results if result.family} | {name for name, _ in missing}
    ):
        for operation in get_args(Operation):
            outcomes: list[Outcome] = [
                result.outcome
                for result in results
                if (result.family, result.operation) == (family, operation)
            ]
            count = missing.get((family, operation), 0)
            if outcomes or count:
                counted.append(
                    Score(
                        family,
                        operation,
                        asked=sum(outcome not in UNSCORED for outcome in outcomes),
                        passed=outcomes.count("passed"),
                        outcomes=counts(outcomes),
                        undeclared=count,
                    )
                )
    return counted


def json_schema() -> dict[str, Any]:
    """JSON Schema of `RunReport.to_json`."""
    return schema_of(RunReport)
