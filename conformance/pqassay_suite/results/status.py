"""Status by feature: the golden cases that prove a feature, and the results about them.

The features of a column come from the file itself.  Physical types, encodings and compressions are those
of the grammar; ``status_features.toml`` names the others and their proofs.  A case that fails counts against
a feature only if the feature is to blame, see `pqassay_suite.results.blame`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Any

from pqassay.errors import UsageError
from pqassay.report.run.model import Result, RunReport
from pqassay.report.run.outcomes import Operation
from pqassay.report.status_table import SCHEMA_VERSION, Aspect, StatusCell, StatusRow, StatusTable, Tick
from pqassay_spec.golden.revision import RevisionError, revision
from pqassay_spec.parquet.thrift import CompressionCodec, Encoding, Type
from pqassay_suite.cases.case import GoldenCase
from pqassay_suite.results.blame import Judge, Kind, failure_of, kinds, writers_blamed
from pqassay_suite.results.columns import Column, columns_of

FEATURES = Path(__file__).with_name("status_features.toml")

DEPRECATED = {"compression-lz4": "compression-lz4-deprecated"}
"""Ids of the status page that are more specific than the name in the grammar."""

OPERATIONS: Mapping[Aspect, Operation] = {
    "reads": "read",
    "decodes": "decode",
    "writes": "encode",
    "uses": "scan",
    "checks": "read",
}
"""The operation that proves an aspect."""


TELLING_NOTHING = ("inherited", "unstable", "no credit")
"""Outcomes that show nothing about the features of a case."""


WRONG_ROWS = 1
"""The severity of wrong rows from a valid file."""


@dataclass(frozen=True)
class Feature:
    """A feature and its proofs; see ``status_features.toml``."""

    id: str
    category: str
    name: str
    tags: tuple[str, ...] = ()
    decodes: str = ""
    writes: str = ""
    rules: tuple[str, ...] = ()
    misled: str = ""
    lies: tuple[str, ...] = ()
    checked: str = ""
    as_stored: bool = False
    unasked: str = ""

    @property
    def aspects(self) -> list[Aspect]:
        """The aspects with a row; without a proof, a single aspect that is never tested."""
        there: dict[Aspect, bool] = {
            "reads": bool(self.tags) and not self.misled,
            "decodes": bool(self.decodes),
            "writes": bool(self.writes),
            "uses": bool(self.misled),
            "checks": bool(self.checked),
        }
        never: Aspect = "uses" if self.id.startswith("api-") else "reads"
        return [aspect for aspect, has in there.items() if has] or [never]


@cache
def features() -> tuple[Feature, ...]:
    """All features: physical types, logical types, encodings, compressions, and the rest."""
    document = tomllib.loads(FEATURES.read_text("utf-8"))
    listed: list[dict[str, Any]] = document["feature"]
    rows: list[dict[str, Any]] = [
        {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
        for row in listed
    ]
    read = [Feature(**row) for row in rows]
    logical = [one for one in read if one.category == "Logical types"]
    return (
        *_of_enum(Type, "physical", "Physical types", "physical", document["unasked"]),
        *logical,
        *_of_enum(Encoding, "encoding", "Encodings", "encoding", document["unasked"]),
        *_of_enum(CompressionCodec, "compression", "Compressions", "codec", document["unasked"]),
        *(one for one in read if one not in logical),
    )


def _of_enum(
    kind: type[IntEnum], prefix: str, category: str, tag: str, unasked: Mapping[str, str]
) -> Iterator[Feature]:
    for member in kind:
        dashed = member.name.lower().replace("_", "-")
        name = DEPRECATED.get(f"{prefix}-{dashed}", f"{prefix}-{dashed}")
        yield Feature(name, category, member.name, (f"{tag}.{dashed}",), unasked=unasked.get(name, ""))


@dataclass(frozen=True)
class Proofs:
    """The proofs of each feature.

    Attributes:
        cases: Ids of the cases by feature and aspect.
        columns: The columns of each file that no reader may refuse, by case.
        kinds: The features that accompany each feature in these columns.
        writers: The cases of writers.
    """

    cases: dict[tuple[str, Aspect], list[str]]
    columns: dict[str, dict[str, Column]]
    kinds: dict[str, Kind]
    writers: list[GoldenCase] = field(default_factory=list[GoldenCase])


def proving(cases: Sequence[GoldenCase]) -> Proofs:
    """The proofs of each feature.

    Only valid cases that no reader may refuse prove that something can be read.  Well-formed
    lies about a structure show that queries rely on it. Damaged files that break only one rule show that the
    rule is checked.

    Raises:
        CaseError: A golden file is damaged.
    """
    columns: dict[str, dict[str, Column]] = {}
    for golden in cases:
        read = golden.case.expect.read
        if golden.case.kind == "valid" and read and (read.rows, read.refusal) == ("own", "never"):
            columns[golden.case.id] = columns_of(golden.content())
    known = {feature.id: frozenset(feature.tags) for feature in features() if feature.tags}
    return Proofs(
        {
            (feature.id, aspect): [
                golden.case.id
                for golden in cases
                if _proves(golden, feature, aspect, columns.get(_sound(golden), {}).values())
            ]
            for feature in features()
            for aspect in feature.aspects
        },
        columns,
        kinds(known, (column for own in columns.values() for column in own.values())),
        [golden for golden in cases if golden.wishes is not None],
    )


def _sound(golden: GoldenCase) -> str:
    """The id of a valid case: the parent of a damaged case, or the case itself."""
    return golden.case.parent or golden.case.id


def _proves(golden: GoldenCase, feature: Feature, aspect: Aspect, columns: Iterable[Column]) -> bool:
    case = golden.case
    has_it = any(column.tags.issuperset(feature.tags) for column in columns)
    if aspect == "reads":
        return case.kind == "valid" and bool(feature.tags) and has_it
    if aspect == "decodes":
        return (case.kind, case.family, case.expect.decode) == ("valid", feature.decodes, "accept")
    if aspect == "writes":
        return golden.wishes is not None and getattr(golden.wishes, feature.writes) not in (None, False)
    if aspect == "checks":
        return case.rules == [feature.checked] and case.expect.read is not None
    lie = case.mutation.path if case.mutation is not None else ""
    is_about = case.family == feature.misled and any(part in lie for part in feature.lies)
    return is_about and case.expect.scan == "exposure" and (has_it or not feature.tags)


def asked(report: RunReport, name: str, cases: Sequence[GoldenCase]) -> set[tuple[str, Operation]]:
    """The questions of some results, without those whose cases have changed since.

    Args:
        report: The results.
        name: Its name in messages.
        cases: All current cases.

    Raises:
        UsageError: The results do not list the questions, as in old releases; or their revision is not known.
    """
    if report.asked is None:
        raise UsageError(f"{name}: these results do not say what was asked; run `pqassay suite run` again")
    questions: set[tuple[str, Operation]] = set()
    for case, operations in report.asked.items():
        questions.update((case, operation) for operation in operations)
    by = report.scored_by
    if by is None:
        raise UsageError(f"{name}: these results are about private cases, which prove no feature")
    try:
        known = revision(by.revision)
    except RevisionError as error:
        raise UsageError(f"{name}: {error}") from None
    if known.sha256 != by.sha256:
        raise UsageError(
            f"{name}: the cases of revision {by.revision} have changed since; run `pqassay suite run` again"
        )
    digests = {**known.cases, **by.added, **by.changed}
    same = {golden.case.id for golden in cases if digests.get(golden.case.id) == golden.asked_sha256}
    return {question for question in questions if question[0] in same}


def status(reports: Sequence[RunReport], names: Sequence[str], cases: Sequence[GoldenCase]) -> StatusTable:
    """The status of implementations.

    Args:
        reports: Their results.
        names: Their names in messages.
        cases: All current cases.

        Raises:
            UsageError: See `asked`; or two results are for the same implementation and version.
        CaseError: A golden file is damaged.
    """
    labels = [report.driver.label for report in reports]
    for label, name in zip(labels, names, strict=True):
        if labels.count(label) > 1:
            raise UsageError(f"{name}: there are several results of {label}; name one of each version")
    proofs = proving(cases)
    judged = [
        _Judged(report, label, asked(report, name, cases), proofs)
        for report, label, name in zip(reports, labels, names, strict=True)
    ]
    rows = [
        StatusRow(
            feature.id,
            feature.category,
            feature.name,
            aspect,
            [one.cell(feature, aspect) for one in judged],
            proofs.cases[feature.id, aspect],
            feature.unasked,
        )
        for feature in features()
        for aspect in feature.aspects
    ]
    revisions = sorted({report.scored_by.revision for report in reports if report.scored_by is not None})
    return StatusTable(SCHEMA_VERSION, "status", revisions, labels, rows)


class _Judged:
    """One implementation, with its results for each feature."""

    def __init__(
        self, report: RunReport, label: str, questions: set[tuple[str, Operation]], proofs: Proofs
    ) -> None:
        self.report, self.label, self.questions, self.proofs = report, label, questions, proofs
        wrong: dict[Operation, dict[str, Result]] = {"read": {}, "encode": {}, "decode": {}}
        for result in report.results:
            if result.outcome not in ("passed", "exposed") and result.operation in wrong:
                wrong[result.operation][result.case] = result
        self.wrong = wrong
        asked_files = {case: own for case, own in proofs.columns.items() if (case, "read") in questions}
        passed = {case: list(own.values()) for case, own in asked_files.items() if case not in wrong["read"]}
        self.failures = {
            case: failure_of(wrong["read"][case], own)
            for case, own in asked_files.items()
            if case in wrong["read"]
        }
        told = [
            failure
            for case, failure in self.failures.items()
            if wrong["read"][case].outcome not in TELLING_NOTHING
        ]
        judge = Judge(told, passed, proofs.kinds)
        self.blamed = {failure.case: judge.culprits(failure) for failure in told}

    def cell(self, feature: Feature, aspect: Aspect) -> StatusCell:
        """The result for one aspect of a feature."""
        operation = OPERATIONS[aspect]
        mine = [case for case in self.proofs.cases[feature.id, aspect] if (case, operation) in self.questions]
        if not mine:
            return StatusCell(self.label, "not asked")
        if aspect in ("uses", "checks"):
            misled = {exposure.case for exposure in self.report.exposures if exposure.misled}
            refused = {*(self.report.refused or ())} - self.wrong["read"].keys()  # with credit
            shown = [case for case in mine if case in (misled if aspect == "uses" else refused)]
            return StatusCell(self.label, "yes" if shown else "not shown", len(shown), len(mine), shown)
        if aspect == "reads":
            tags = frozenset(feature.tags)
            failing = [case for case in mine if self._is_to_blame(feature, case)]
            unread = {case for case, failure in self.failures.items() if failure.may_be_about(tags)}
            passed = [case for case in mine if case not in unread]
        elif aspect == "writes":
            failing = writers_blamed(
                mine, self.wrong["encode"], self.proofs.writers, feature.writes, feature.rules
            )
            passed = [case for case in mine if case not in self.wrong["encode"]]
        else:
            failing = [case for case in mine if case in self.wrong["decode"]]
            passed = [case for case in mine if case not in failing]
        tick: Tick = ("partly" if passed else "no") if failing else "yes" if passed else "not shown"
        aside = [case for case in mine if case not in passed and case not in failing]
        return StatusCell(self.label, tick, len(passed), len(mine), mine, failing, aside)

    def _is_to_blame(self, feature: Feature, case: str) -> bool:
        """Whether a feature is the reason that a file was not read; rows that a reader has decoded are not a failure."""
        if feature.id not in self.blamed.get(case, ()):
            return False
        return not (feature.as_stored and self.wrong["read"][case].severity == WRONG_ROWS)
