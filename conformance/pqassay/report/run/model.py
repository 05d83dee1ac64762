"""The result of ``pqassay suite run``: the outcome of each request, the scores, and the compared versions.

It belongs to the same family as the report of ``pqassay check``; its JSON Schema in ``schemas/`` is derived from these classes. It has no
times and no machine paths, so two runs of the same driver give the same bytes.
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
        columns: The requested columns.
        index: Whether the answer is right without the index; absent if that was not asked.
        asked: The number of queries asked about the case.
        wrong: The number of failed queries.
    """

    predicate: list[Any]
    columns: list[str]
    asked: int
    wrong: int
    index: Blame | None = None


@dataclass(frozen=True)
class AnsweredQueries:
    """The numbers of answered queries of a scan, right or wrong; unsupported queries are not answered.

    Attributes:
        queries: The number of answered queries.
        of: The number of all queries.
        deciding: The number of answered queries that compare values of the case's column.
        of_deciding: The number of all queries that compare values of the case's column.
    """

    queries: int
    of: int
    deciding: int
    of_deciding: int

    @property
    def unless_all(self) -> str:
        """The numbers in words; empty if every query was answered."""
        if self.queries == self.of:
            return ""
        return f"{self.queries} of {self.of} queries, {self.deciding} of {self.of_deciding} that decide"


@dataclass(frozen=True)
class Result:
    """The outcome of one operation on one case.

    Attributes:
        case: Id of the case; ``hello`` for the greeting, ``hello/type.uuid`` for a capability that it lacks.
        family: The case's family, empty for the greeting.
        operation: The operation.
        outcome: Its outcome.
        reason: The reason in one line; empty if it passed.
        rules: The rules that the case, or the written file, is about.
        reader_rules: Rules for readers that the answer breaks.
        expected: The expected answer.
        actual: The actual answer.
        first_difference: For a value, the path of the first member that differs.
        stderr: The most informative lines of stderr if there was no answer.
        known: Whether an expectation lists this outcome.
        title: The title of the case, if something is wrong.
        effect: The possible effect of such a file on users, if something is wrong.
        severity: The observed severity, see `SEVERITIES`, if something is wrong.
        cause: The common parts of results with the same cause.
        query: For a scan, the worst query.
        answered: For a scan, the numbers of answered queries.
        unscored: Whether the case counts in no score, because it is not in the revision or has changed since.
        warnings: The judge's warnings about a written file, by rule, whether the file passed or not.
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
        """Whether the result is passed or neutral."""
        return self.outcome in GOOD


@dataclass(frozen=True)
class Exposure:
    """The effect of a well-formed lie on a reader: shown, never scored.

    Attributes:
        case: Id of the case.
        family: Its family.
        verdict: The worst of its answers.
        asked: The number of asked queries.
        misled: The number of answers that lack rows or have wrong rows.
        predicate: The query of the worst answer, if it was not right.
        detail: The worst answer in one line.
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
    """The number of questions that were not asked since the driver does not declare a capability."""

    capability: str
    count: int


@dataclass(frozen=True)
class Score:
    """Counts of the outcomes of one operation on the cases of one family.

    Attributes:
        asked: The number of cases about which the driver answered, or should have.
        passed: The number of cases that it answered correctly.
        outcomes: The number of cases with each outcome.
        undeclared: The number of cases that were not asked, since it does not declare a needed capability.
    """

    family: str
    operation: Operation
    asked: int
    passed: int
    outcomes: dict[str, int]
    undeclared: int = 0

    @property
    def cases(self) -> int:
        """The number of all cases of the family with the operation, asked or not."""
        return sum(self.outcomes.values()) + self.undeclared

    @property
    def line(self) -> str:
        """The number of passed cases in one line, out of the asked cases and out of all cases."""
        rest = f", {self.cases} in all" if self.cases != self.asked else ""
        return f"{self.passed} of {self.asked} passed{rest}"

    @property
    def otherwise(self) -> str:
        """The counts of the other outcomes in one line."""
        told = [f"{count} {outcome}" for outcome, count in self.outcomes.items() if outcome != "passed"]
        return ", ".join([*told, *([f"{self.undeclared} not declared"] if self.undeclared else [])])


@dataclass(frozen=True)
class Driver:
    """The program under test: its command, a digest of the files named in it, and its own declarations.

    Attributes:
        shipped: Its name among the implementations that come with pqassay; ``None`` if it is not one of them.
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
        """Its own name and version; its command if it declares none."""
        return " ".join(filter(None, (self.name, self.version))) or shlex.join(self.command)

    @property
    def line(self) -> str:
        """Its name, version and language."""
        return f"{self.label} ({self.language})" if self.language else self.label

    def reads_past(self, family: str, operation: str) -> bool:
        """Whether the driver does not know the index of a family.

        Then this operation only shows that it ignores the bytes of the index.

        >>> Driver([], "", capabilities=["read", "dir.scan"]).reads_past("DIR", "scan")
        True
        """
        if family not in FOREIGN or operation not in PAST_FOREIGN or self.capabilities is None:
            return False
        decodes = f"{family.lower()}.decode"
        return not any(f"{name}.".startswith(f"{decodes}.") for name in self.capabilities)


@dataclass(frozen=True)
class RunLimits:
    """The limits of each request in seconds of processor time and bytes of data, and the limit of queries per case."""

    seconds: float
    memory: int
    queries: int | None = None


@dataclass(frozen=True)
class Problem:
    """An expectation that does not hold, with the reason in one line."""

    entry: str
    problem: str


@dataclass(frozen=True)
class ScoredBy:
    """The revision of the golden cases whose cases a run counts, see `pqassay_spec.golden.revision`.

    Attributes:
        revision: Its number.
        sha256: Digest of its ids and of the digests of its cases.
        cases: The number of its cases.
        chosen: The number of its cases in the run, whether they could be asked or not.
        narrowed: Whether the run omitted operations, or repeated only those that were wrong in earlier results.
        added: Asked cases that it does not have, with their digests; they count from the next revision on.
        changed: Asked cases whose digest differs from the revision, with the new digests; they count in no revision.
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
        """Whether the run included the complete and unchanged revision."""
        return self.chosen == self.cases and not self.narrowed


@dataclass(frozen=True)
class RunSummary:
    """Counts over all results.

    Attributes:
        cases: The number of cases in the run.
        results: The number of counting results.
        outcomes: The number of counting results with each outcome.
        known: The number of expected results, among all.
        unscored: The number of results with each outcome about cases that are not in the revision.
        unpinned: The number of results that were expected without a pin, so that any wrong answer matches.
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
        date: The date of the run.
        sha256: The digest of the submitted file, including passed results.
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
        suite_sha256: Digest of the manifests of the chosen cases: all, or the cases of ``--case`` and their parents.
        golden_files_sha256: Digest of the inputs of these cases, whether the driver could be asked about them or not.
        expectations_sha256: Digest of the file of expectations, if any.
        problems: Expectations that do not hold.
        exposures: The effects of well-formed lies on the driver.
        not_asked: The number of cases that were not asked, by missing capability.
        index_left_aside: The number of queries that were answered correctly without the index, though they might have used it.
        options: Options of the command that are needed to repeat a request.
        date: The day of the run, for stored results.
        tools: Versions of the tools with which the driver was built and run, for stored results.
        scored_by: The revision of the golden cases; absent if all cases count, as for a folder of ``--cases``.
        asked: The operations asked about each case, by case id.
        refused: Ids of cases whose file was refused although a reader may also return its rows; absent in older results.
        submitted: The source of stored results that were produced elsewhere.
        collection: The user's files that replaced golden files: the basis of each verdict, and the failing features.
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
        """The exit code of the run: 0 success, 1 failures, 2 nothing was tested, 3 stale expectations, 4 crashes or protocol errors.

        The highest applicable code is used. Expected results do not count, nor do cases that are not in the revision.
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
        """Whether the driver unexpectedly supports none of the requests."""
        return not (self.exposures or self.summary.outcomes.get("passed")) and all(
            result.outcome == "unsupported" and not result.known for result in self.results
        )

    @property
    def scored(self) -> list[Result]:
        """The counting results."""
        return [result for result in self.results if not result.unscored]

    @property
    def own_scores(self) -> list[Score]:
        """The scores of the driver's own abilities: all but `past_foreign`."""
        return [one for one in self.scores if not self.driver.reads_past(one.family, one.operation)]

    @property
    def past_foreign(self) -> list[Score]:
        """Scores for files with indexes that the driver does not know and ignores."""
        return [one for one in self.scores if self.driver.reads_past(one.family, one.operation)]

    @property
    def causes(self) -> list[list[Result]]:
        """Unexpected counting failures, grouped by cause: the most severe first, then the most frequent."""
        return _by_cause(self.scored)

    @property
    def unscored_causes(self) -> list[list[Result]]:
        """Unexpected failures of cases that do not count yet, grouped by cause."""
        return _by_cause([result for result in self.results if result.unscored])

    @property
    def asked_about(self) -> frozenset[str]:
        """The ids of the cases in results and exposures."""
        about = [one.case for one in self.results if one.operation != "hello"]
        return frozenset([*about, *(one.case for one in self.exposures)])

    @property
    def by_family(self) -> dict[str, list[Result]]:
        """The results of each family; the greeting is under ``hello``."""
        families: dict[str, list[Result]] = {}
        for result in self.results:
            families.setdefault(result.family or "hello", []).append(result)
        return families

    def to_json(self, indent: int | None = 2) -> str:
        """The result as ASCII JSON. Members that are ``None`` are omitted."""
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
        undeclared: The cases that were not asked since the driver does not declare a capability, by family and operation.
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
