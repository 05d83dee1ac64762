"""The report: the findings of a check, and what it tested.

Every renderer and every consumer works on these classes; `to_json` and the JSON Schema in ``schemas/`` are derived from them.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pqassay.report.baseline_state import BaselineState
from pqassay.report.bounds import Sampled
from pqassay.report.gate import Gate
from pqassay.report.json_form import members_json, schema_of
from pqassay.report.pin import Pin
from pqassay.report.weighing import Weighing
from pqassay_spec.base.mistakes import SOFTWARE
from pqassay_spec.rules.catalogue import Effect, Level, OriginKind, Tier, Verdict, broken_outcome
from pqassay_spec.rules.observed import Observed

SCHEMA_VERSION = 2

Outcome = Literal["conformant", "conformant where checked", "untrue", "nonconformant", "errored", "gone"]
"""The outcome of a file.

``conformant where checked``: every tested rule is kept, but there are `Gap`s. ``nonconformant``: a rule that a document states is broken.
``untrue``: only rules that follow from a document, or are ours, are broken, so the file contradicts itself or its values. ``errored``: the
file could not be judged, without a proven fault; this is never a kind of pass. ``gone``: the file was deleted after its folder was listed,
as by a vacuum.
"""

BROKEN: frozenset[Outcome] = frozenset({"untrue", "nonconformant"})
"""Outcomes of files with counting findings."""

UNJUDGED: frozenset[Outcome] = frozenset({"errored", "gone"})
"""Outcomes of files that could not be judged."""

GONE = "removed after its folder was listed"
"""The `FileReport.error` of a deleted file."""

MISTAKE = "a mistake in pqassay, please report it"
"""The beginning of `FileReport.error` for a file that was not judged because of a mistake in pqassay."""

Obstacle = Literal["file", "key", "tool", "request", "another rule"]
"""The kind of obstacle that prevents the test of a rule.

The ``file`` lacks necessary parts, or has parts without a defined meaning. A ``key`` is unknown to pqassay. A ``tool``, pqassay itself or a
library, cannot read something or has reached its limit. The ``request`` did not include the rule. Or ``another rule`` is broken, whose
finding explains the problem.
"""

GAP = "gap:"
"""The prefix of gaps in a baseline, where findings have rule ids."""

HIDING: tuple[Obstacle, ...] = ("file", "key", "tool")
"""Obstacles that may hide an error, without a choice of the user or another finding about it."""

Threshold = Literal["must", "should"]
"""The lowest verdict that counts: ``must``: FAIL; ``should``: FAIL and WARN."""

COUNTED: dict[Threshold, tuple[Verdict, ...]] = {"must": ("FAIL",), "should": ("FAIL", "WARN")}

FIRST_POSITIONS = 3
"""The number of positions that a finding lists; the others are counted."""

MOST_FILES = 10_000
"""The number of files that a finding about a table lists; if there are more, the first ones."""


@dataclass(frozen=True)
class Position:
    """One place where a rule is broken.

    ``field`` is a grammar path, ``offset`` and ``length`` are bytes of the file (-1 and 0 if the thing is absent), ``expected`` and
    ``actual`` are for people. A path that begins with ``data.`` belongs to the ``data.parquet`` beside a ``_pm`` file, and so does the
    offset. For a claim of a table, ``file`` is the table's file with the bytes.
    """

    field: str
    offset: int
    length: int
    expected: str
    actual: str
    row_group: int | None = None
    page: int | None = None
    file: str | None = None


EngineVerdict = Literal[
    "right", "rows lost", "wrong rows", "refused", "crashed", "not comparable", "not installed"
]
"""The outcome of a query: the true rows; only some true rows; rows that are not true; an error; no answer.

An answer is ``not comparable`` if the engine cannot run the query, or gives the same answer to a healthy copy of the values.
"""

ProofOutcome = Literal["misled", "refused", "not misled", "not provable"]
"""The worst outcome of the shown query: a wrong answer of an engine, an error, neither; or no query."""


@dataclass(frozen=True)
class EngineAnswer:
    """The answer of an engine to a query.

    ``rows`` is the number of returned rows, ``lost`` the number of true rows that are missing, ``wrong`` the number of returned rows that
    are not true. ``error`` is the reason for a missing answer. ``reproduce`` is a shell line that prints ``rows``, and the number of
    occurrences of the first wrong row.
    """

    engine: str
    verdict: EngineVerdict
    version: str | None = None
    rows: int | None = None
    lost: int = 0
    wrong: int = 0
    error: str | None = None
    reproduce: str | None = None


@dataclass(frozen=True)
class Proof:
    """A query that shows the effect of a finding on readers.

    ``true_rows`` is the number of result rows according to the values in the pages, without any index or engine. ``predicate`` is a tree in
    the form of the protocol, ``None`` for all rows. ``tried`` is the number of queries from which this one was chosen. A query without
    ``columns`` asks for the number of rows. Then ``rows`` of an answer is the engine's number, and ``lost`` or ``wrong`` is the amount by
    which it is too low or too high. ``reason`` says why there is no query.
    """

    outcome: ProofOutcome
    tried: int = 0
    query: str | None = None
    columns: list[str] = field(default_factory=list[str])
    predicate: list[Any] | None = None
    true_rows: int | None = None
    engines: list[EngineAnswer] = field(default_factory=list[EngineAnswer])
    reason: str | None = None

    @property
    def is_count(self) -> bool:
        """Whether the query counts rows."""
        return self.query is not None and not self.columns


@dataclass(frozen=True)
class Finding:
    """One rule broken in one column of one file.

    ``could`` is the worst effect that breaking the rule can have on a reader. ``observed`` is the effect on engines of golden files that
    break it in the same ``shape`` (`pqassay.judge.shapes`), or ``None`` without such files. ``hexdump`` shows the bytes at the first
    position with carets under them, so that a report can be rendered without the file. ``remedy`` is a command that repairs the file, or
    another instruction; INFO has none. ``known`` is true if the baseline lists the finding: then it does not count for the outcome.
    ``explanation`` names a known defect of the file's writer that causes the finding. ``proof`` shows the behavior of engines with this
    file, if requested. ``files`` are the files of a finding about a table, relative to the table, `MOST_FILES` at most. ``also`` are other
    rules that the same damage breaks; they are not checked at these places. ``compares_values`` is true if a claim contradicts values, and
    either may be wrong; ``weighed`` says which is more likely. ``basis`` is the source of the rule: the document states it, it follows from
    the document, or this specification adds it.
    """

    rule: str
    level: Level
    verdict: Verdict
    could: Effect
    path: str
    count: int
    at: list[Position]
    message: str
    column: str | None = None
    remedy: str | None = None
    hexdump: list[str] = field(default_factory=list[str])
    known: bool = False
    explanation: str | None = None
    proof: Proof | None = None
    observed: Observed | None = None
    files: list[str] = field(default_factory=list[str])
    compares_values: bool = False
    also: list[str] = field(default_factory=list[str])
    weighed: Weighing | None = None
    shape: str = ""
    basis: OriginKind = "stated"

    @property
    def times(self) -> str:
        """The number of places in words, to follow other words; empty for one place."""
        return f" ({self.count:,} times)" if self.count > 1 else ""


@dataclass(frozen=True)
class Untested:
    """The reason why a rule was not tested, and further reasons for other parts of the file."""

    obstacle: Obstacle
    reason: str
    further: tuple[str, ...] = ()


@dataclass(frozen=True)
class Coverage:
    """The rules that were tested on a file, the rules that were not and why, and the rules without a subject in it."""

    tier: Tier
    checked: list[str]
    not_checked: dict[str, Untested]
    not_applicable: list[str]

    @property
    def reasons(self) -> dict[str, str]:
        """The reasons why rules were not tested, in words."""
        return {rule: why.reason for rule, why in self.not_checked.items()}

    @property
    def identity(self) -> Hashable:
        """The key that equal coverages share, and with it one entry of `Report.coverages`."""
        return (
            self.tier,
            tuple(self.checked),
            tuple(self.not_checked.items()),
            tuple(self.not_applicable),
        )


@dataclass(frozen=True)
class Gap:
    """The requested part of a file that could not be checked because of one obstacle.

    ``reason`` is the first of several. ``rules`` could not be tested, at least somewhere; ``columns`` are the affected columns, if any, out
    of ``of_columns``. ``known`` is true if the baseline lists the gap: then it does not count for the outcome.
    """

    obstacle: Obstacle
    reason: str
    rules: list[str]
    columns: list[str]
    of_columns: int
    known: bool = False

    @property
    def name(self) -> str:
        """Its name in a baseline."""
        return f"{GAP}{self.obstacle}"

    @property
    def count(self) -> int:
        """The number of columns; for a gap that does not concern columns, the number of rules."""
        return len(self.columns) or len(self.rules)

    @property
    def extent(self) -> str:
        """The extent of the gap, in words.

        >>> Gap("key", "pqassay has no keys", [], ["a", "b"], 40).extent
        '2 of 40 columns'
        """
        if self.columns:
            return f"{len(self.columns):,} of {self.of_columns:,} column{'s' * (self.of_columns != 1)}"
        return f"{len(self.rules):,} rule{'s' * (len(self.rules) != 1)}"

    @property
    def line(self) -> str:
        """The gap in one line."""
        return f"{self.extent} not checked, because {self.reason}"


@dataclass(frozen=True)
class FileReport:
    """The verdict on one file.

    ``coverage`` is a key of `Report.coverages`; files often share one. ``size`` is in bytes, -1 if unknown. ``kind`` is ``"parquet"``,
    ``"pm"`` for a ``_pm`` file, or ``"folder"`` for a folder that could not be listed, ``"delta"`` or ``"iceberg"`` for a table, whose
    ``size`` is the size of its metadata that were read. ``error`` says why an errored file could not be judged. ``created_by`` is the
    writer's name in the footer of a Parquet file, shortened. ``notes`` name parts that no rule judges, such as a signature or the content
    of extensions. ``gaps`` are parts that could not be checked, at most one for each obstacle. ``throttled`` counts requests that its store
    refused as too many, and that were repeated.
    """

    path: str
    kind: str
    size: int
    outcome: Outcome
    coverage: str
    findings: list[Finding]
    error: str | None = None
    created_by: str | None = None
    notes: list[str] = field(default_factory=list[str])
    gaps: list[Gap] = field(default_factory=list[Gap])
    throttled: int = 0


@dataclass(frozen=True)
class Ignored:
    """Files and folders that were seen but not judged, for one reason; the first of them are ``examples``."""

    reason: str
    count: int
    examples: list[str]


@dataclass(frozen=True)
class Summary:
    """Counts over all files.

    ``findings`` counts the findings that are not ``known``, by verdict; ``known`` also counts gaps.
    """

    files: int
    conformant: int
    nonconformant: int
    errored: int
    findings: dict[str, int]
    known: int = 0
    ignored: int = 0
    conformant_where_checked: int = 0
    untrue: int = 0
    gone: int = 0
    throttled: int = 0

    @property
    def broken(self) -> int:
        """The number of files with counting findings."""
        return self.untrue + self.nonconformant

    @property
    def broken_words(self) -> str:
        """The number of broken files by outcome, such as ``2 untrue, 1 nonconformant``; untrue files are omitted if there are none."""
        return (f"{self.untrue:,} untrue, " if self.untrue else "") + f"{self.nonconformant:,} nonconformant"


@dataclass(frozen=True)
class Revision:
    """A document that is the source of rules, at the revision used for judging.

    ``date`` is the date of the ``commit``, or of publication if the commit is unknown.
    """

    document: str
    date: str
    commit: str | None = None


@dataclass(frozen=True, repr=False)
class Report:
    """The result of one run of ``pqassay check``.

    ``profile`` is the profile that raised some verdicts. ``threshold`` is the lowest verdict that counted, and ``complete`` says whether
    gaps counted. ``gate`` selects the counting findings that fail the check, and ``pin`` is the release whose rules fail it; without them,
    all do. ``sample`` has conclusions about the other files if only some were judged. ``judged_against`` are the source documents of the
    rules for these kinds of files.
    """

    schema_version: int
    kind: Literal["check"]
    pqassay: str
    rules_sha256: str
    coverages: dict[str, Coverage]
    files: list[FileReport]
    summary: Summary
    ignored: list[Ignored] = field(default_factory=list[Ignored])
    baseline: BaselineState | None = None
    profile: str | None = None
    threshold: Threshold = "must"
    complete: bool = False
    judged_against: list[Revision] = field(default_factory=list[Revision])
    gate: Gate | None = None
    pin: Pin | None = None
    sample: Sampled | None = None

    def __repr__(self) -> str:
        """The number of files, and their outcomes."""
        summary = self.summary
        partly = summary.conformant_where_checked
        where_checked = f"{partly:,} conformant where checked, " if partly else ""
        return (
            f"<Report: {summary.files:,} file{'s' * (summary.files != 1)}, {summary.conformant:,} conformant, {where_checked}"
            f"{summary.broken_words}, {summary.errored:,} errored>"
        )

    @property
    def exit_code(self) -> int:
        """The exit code of the check.

        It is the highest of: 0 conformant, 1 nonconformant or untrue, 3 stale entries in the baseline, 4 not all could be judged, 70 only
        mistakes in pqassay prevented a judgment.

        With ``complete``, files that are gone or that `is_partly_checked` names count as not judged. With a ``gate``, the gate decides
        between 1 and 0. With a ``pin``, findings of later rules do not lead to 1.
        """
        if self.summary.errored:
            mistaken = sum(1 for file in self.files if (file.error or "").startswith(MISTAKE))
            return SOFTWARE if mistaken == self.summary.errored else 4
        if self.complete and (self.summary.gone or any(map(self.is_partly_checked, self.files))):
            return 4
        if self.baseline is not None and self.baseline.stale:
            return 3
        if self.gate is not None:
            return 0 if self.gate.passed else 1
        return 1 if self.summary.broken and self._fails else 0

    @property
    def _fails(self) -> bool:
        return any(self.is_counted(finding) for file in self.files for finding in file.findings)

    def is_counted(self, finding: Finding) -> bool:
        """Whether a finding counts for the exit code, ignoring the number of files that may have findings."""
        return self.may_fail(finding) and (self.gate is None or self.gate.concerns(finding))

    def may_fail(self, finding: Finding) -> bool:
        """Whether a finding counts for the exit code, if the gate includes it."""
        return self._would_fail(finding) and (self.pin is None or finding.rule not in self.pin.later)

    def _would_fail(self, finding: Finding) -> bool:
        """Whether a finding would count for the exit code without a pin to a release."""
        return counts(finding, self.threshold) or (self.gate is not None and self.gate.has_seen(finding))

    def is_partly_checked(self, file: FileReport) -> bool:
        """Whether a file has gaps but no finding that fails the check; findings of rules after the pin do not fail it."""
        has_gaps = file.outcome not in UNJUDGED and not all(gap.known for gap in file.gaps)
        return has_gaps and not any(map(self.may_fail, file.findings))

    def is_not_failing(self, finding: Finding) -> bool:
        """Whether a finding does not count for the exit code only because of the pin to a release."""
        is_concerned = self.gate is None or self.gate.concerns(finding)
        return is_concerned and self._would_fail(finding) and not self.may_fail(finding)

    @property
    def not_failing(self) -> str:
        """A line with the number of findings that do not fail the check since their rules are newer than its pin; empty if none."""
        if self.pin is None:
            return ""
        return self.pin.line(one for file in self.files for one in file.findings if self.is_not_failing(one))

    def at(self, gate: Gate | None) -> Report:
        """The report with a gate, for which its files are counted."""
        if gate is None:
            return self
        gated = dataclasses.replace(self, gate=gate)
        counted = ([one for one in file.findings if gated.may_fail(one)] for file in self.files)
        return dataclasses.replace(self, gate=gate.after(counted))

    def to_json(self, indent: int | None = 2) -> str:
        """The report as ASCII JSON. Optional members with their default value are omitted."""
        return members_json(self, indent)


def counts(finding: Finding, threshold: Threshold) -> bool:
    """Whether a finding makes its file nonconformant or untrue."""
    return finding.verdict in COUNTED[threshold] and not finding.known


def outcome_of(findings: Iterable[Finding], gaps: Iterable[Gap], level: Threshold) -> Outcome:
    """The outcome of a judged file; known findings and known gaps do not count."""
    if bases := {finding.basis for finding in findings if counts(finding, level)}:
        return broken_outcome(bases)
    return "conformant where checked" if any(not gap.known for gap in gaps) else "conformant"


def summarise(files: Sequence[FileReport], ignored: Sequence[Ignored] = ()) -> Summary:
    """Count outcomes and verdicts."""
    outcomes = Counter(file.outcome for file in files)
    findings = [finding for file in files for finding in file.findings]
    gaps = [gap for file in files for gap in file.gaps]
    verdicts = Counter(finding.verdict for finding in findings if not finding.known)
    return Summary(
        files=len(files),
        conformant=outcomes["conformant"],
        nonconformant=outcomes["nonconformant"],
        errored=outcomes["errored"],
        findings={verdict: verdicts[verdict] for verdict in sorted(verdicts)},
        known=sum(finding.known for finding in findings) + sum(gap.known for gap in gaps),
        ignored=sum(entry.count for entry in ignored),
        conformant_where_checked=outcomes["conformant where checked"],
        untrue=outcomes["untrue"],
        gone=outcomes["gone"],
        throttled=sum(file.throttled for file in files),
    )


def json_schema() -> dict[str, Any]:
    """JSON Schema of `Report.to_json`."""
    return schema_of(Report)
