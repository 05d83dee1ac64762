"""Status by feature: which golden cases prove a feature, and what results say of them.

Which feature a file has is told by the file itself.  Physical types, encodings and compressions are those of the grammar;
``status_features.toml`` names the others with what proves them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Any

from pqassay.errors import UsageError
from pqassay.report.run.model import Operation, RunReport
from pqassay.report.status_table import SCHEMA_VERSION, Aspect, Cell, Row, StatusTable, Tick
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked, Options
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.golden.revision import RevisionError, revision
from pqassay_spec.parquet.schema.types import annotation_of, converted_of
from pqassay_spec.parquet.thrift import CompressionCodec, Encoding, Type
from pqassay_suite.cases.case import GoldenCase, inputs_digest
from pqassay_suite.cases.file_facts import facts_of
from pqassay_suite.drivers.capabilities import missing_capability
from pqassay_suite.running.runner import tasks
from pqassay_suite.running.scanning import CaseFacts

FEATURES = Path(__file__).with_name("status_features.toml")

DEPRECATED = {"compression-lz4": "compression-lz4-deprecated"}
"""Ids of the status page that say more than the name in the grammar."""

CONVERTED_NAMES = {"utf8": "string", "int": "integer", "uint": "integer", "map_key_value": "map"}
"""Names of logical types by those of converted types, where they differ."""

OPERATIONS: Mapping[Aspect, Operation] = {
    "reads": "read",
    "decodes": "decode",
    "writes": "encode",
    "uses": "scan",
}
"""The operation that proves an aspect."""


@dataclass(frozen=True)
class Feature:
    """A feature, and what proves it; see ``status_features.toml``."""

    id: str
    category: str
    name: str
    tags: tuple[str, ...] = ()
    decodes: str = ""
    writes: str = ""
    misled: str = ""

    @property
    def aspects(self) -> list[Aspect]:
        """The aspects that have a row."""
        there: dict[Aspect, bool] = {
            "reads": bool(self.tags),
            "decodes": bool(self.decodes),
            "writes": bool(self.writes),
            "uses": bool(self.misled),
        }
        return [aspect for aspect, has in there.items() if has]


@cache
def features() -> tuple[Feature, ...]:
    """All features: physical types, logical types, encodings, compressions, and the rest."""
    listed: list[dict[str, Any]] = tomllib.loads(FEATURES.read_text("utf-8"))["feature"]
    rows: list[dict[str, Any]] = [{**row, "tags": tuple(row.get("tags", ()))} for row in listed]
    read = [Feature(**row) for row in rows]
    logical = [one for one in read if one.category == "Logical types"]
    return (
        *_of_enum(Type, "physical", "Physical types", "physical"),
        *logical,
        *_of_enum(Encoding, "encoding", "Encodings", "encoding"),
        *_of_enum(CompressionCodec, "compression", "Compressions", "codec"),
        *(one for one in read if one not in logical),
    )


def _of_enum(kind: type[IntEnum], prefix: str, category: str, tag: str) -> Iterator[Feature]:
    for member in kind:
        dashed = member.name.lower().replace("_", "-")
        name = f"{prefix}-{dashed}"
        yield Feature(DEPRECATED.get(name, name), category, member.name, (f"{tag}.{dashed}",))


def tags_of(data: bytes) -> frozenset[str]:
    """What features a file has, logical types by name and physical type included: ``logical.decimal.int32``."""
    return frozenset(facts_of(data).tags) | frozenset(_logical(data))


def _logical(data: bytes) -> list[str]:
    file = FileUnderTest(BytesSource(data), Options("footer"))
    found: list[str] = []
    try:
        for element in file.metadata.schema[1:]:
            annotation = annotation_of(element) or converted_of(element)
            if annotation is None:
                continue
            name = annotation.partition("(")[0].lower()
            name = CONVERTED_NAMES.get(name, name).split("_")[0]
            name = CONVERTED_NAMES.get(name, name)
            found.append(f"logical.{name}")
            if element.type is not None:
                physical = next((one.name for one in Type if int(one) == element.type), "unknown")
                found.append(f"logical.{name}.{physical.lower().replace('_', '-')}")
    except (FormatError, NotApplicable, NotChecked):
        return []
    return found


def proving(cases: Sequence[GoldenCase]) -> dict[tuple[str, Aspect], list[str]]:
    """The ids of the cases that prove each feature and aspect.

    Only valid cases prove that something can be read, and only such as no reader may refuse.  That queries rely on a structure
    is shown by well-formed lies about it.

    Raises:
        CaseError: A golden file is damaged.
    """
    tags: dict[str, frozenset[str]] = {}
    for golden in cases:
        read = golden.case.expect.read
        if golden.case.kind == "valid" and read and (read.rows, read.refusal) == ("own", "never"):
            tags[golden.case.id] = tags_of(golden.content())
    return {
        (feature.id, aspect): [
            golden.case.id for golden in cases if _proves(golden, feature, aspect, tags.get(golden.case.id))
        ]
        for feature in features()
        for aspect in feature.aspects
    }


def _proves(golden: GoldenCase, feature: Feature, aspect: Aspect, tags: frozenset[str] | None) -> bool:
    case = golden.case
    if aspect == "reads":
        return tags is not None and tags.issuperset(feature.tags)
    if aspect == "decodes":
        return (case.kind, case.family, case.expect.decode) == ("valid", feature.decodes, "accept")
    if aspect == "writes":
        return golden.wishes is not None and getattr(golden.wishes, feature.writes) not in (None, False)
    return case.family == feature.misled and case.expect.scan == "exposure"


def asked(report: RunReport, name: str, cases: Sequence[GoldenCase]) -> set[tuple[str, Operation]]:
    """The questions that results are about, as far as the cases are still what they were.

    Args:
        report: The results.
        name: What messages call them.
        cases: All cases of today.

    Raises:
        UsageError: They do not say what was asked, and that cannot be derived; or they are about a revision that is not known.
    """
    if report.asked is None:
        if report.golden_files_sha256 != inputs_digest(cases) or report.driver.capabilities is None:
            raise UsageError(
                f"{name}: these results do not say what was asked, and the golden files are others by now; run "
                "`pqassay suite run` again"
            )
        return _derived(report.driver.capabilities, cases)
    questions: set[tuple[str, Operation]] = set()
    for case, operations in report.asked.items():
        questions.update((case, operation) for operation in operations)
    by = report.scored_by
    if by is None:
        raise UsageError(f"{name}: these results are about cases of somebody's own, which prove no feature")
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


def _derived(capabilities: Sequence[str], cases: Sequence[GoldenCase]) -> set[tuple[str, Operation]]:
    """What a driver with these capabilities is asked, of results that were written before they said so."""
    facts = CaseFacts()
    found: set[tuple[str, Operation]] = set()
    for golden, operation in tasks(cases):
        case, needs = golden.case, facts.of(golden).needs
        if not missing_capability(operation, case.family, case.requires, needs, capabilities):
            found.add((case.id, operation))
    return found


def status(reports: Sequence[RunReport], names: Sequence[str], cases: Sequence[GoldenCase]) -> StatusTable:
    """The status of implementations.

    Args:
        reports: Their results.
        names: What messages call these.
        cases: All cases of today.

    Raises:
        UsageError: See `asked`; or two results are of one implementation and version.
        CaseError: A golden file is damaged.
    """
    labels = [report.driver.label for report in reports]
    for label, name in zip(labels, names, strict=True):
        if labels.count(label) > 1:
            raise UsageError(f"{name}: there are several results of {label}; name one of each version")
    questions = [asked(report, name, cases) for report, name in zip(reports, names, strict=True)]
    proofs = proving(cases)
    rows = [
        Row(
            feature.id,
            feature.category,
            feature.name,
            aspect,
            [
                _cell(report, label, aspect, proofs[feature.id, aspect], of)
                for report, label, of in zip(reports, labels, questions, strict=True)
            ],
            proofs[feature.id, aspect],
        )
        for feature in features()
        for aspect in feature.aspects
    ]
    revisions = sorted({report.scored_by.revision for report in reports if report.scored_by is not None})
    return StatusTable(SCHEMA_VERSION, "status", revisions, labels, rows)


def _cell(
    report: RunReport, label: str, aspect: Aspect, proofs: Sequence[str], of: set[tuple[str, Operation]]
) -> Cell:
    operation = OPERATIONS[aspect]
    mine = [case for case in proofs if (case, operation) in of]
    if not mine:
        return Cell(label, "not asked")
    if aspect == "uses":
        misled = {one.case for one in report.exposures if one.misled}
        shown = [case for case in mine if case in misled]
        return Cell(label, "yes" if shown else "not shown", len(shown), len(mine), shown)
    bad = {
        result.case
        for result in report.results
        if result.operation == operation and result.outcome not in ("passed", "inherited", "exposed")
    }
    failing = [case for case in mine if case in bad]
    passed = len(mine) - len(failing)
    tick: Tick = "yes" if not failing else "partly" if passed else "no"
    return Cell(label, tick, passed, len(mine), mine, failing)
