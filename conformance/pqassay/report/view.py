"""A report as people look at it: counts, what is wrong item by item, and what was not looked at.

The formats for reading, Markdown and HTML, are made from it, for a check and for a run alike.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from pqassay.report import run_text
from pqassay.report.coverage import Unchecked, unchecked
from pqassay.report.details import details, further
from pqassay.report.model import FileReport, Finding, Report, counts
from pqassay.report.order import gravest_first, gravity, observed_effect
from pqassay.report.rules import judged_against_line
from pqassay.report.run_model import BROKEN, Result, RunReport
from pqassay_spec.rules.catalogue import VERDICTS, rules

Tone = Literal["good", "bad", "warn", "unknown", "plain"]
"""Colours of counts, outcomes and verdicts."""

VERDICT_TONES: dict[str, Tone] = {"FAIL": "bad", "WARN": "warn", "POLICY": "plain", "INFO": "plain"}

OUTCOME_TONES: dict[str, Tone] = {
    "passed": "good",
    "conformant": "good",
    "conformant where checked": "warn",
    "nonconformant": "bad",
    "errored": "unknown",
    "failed": "bad",
    "crashed": "unknown",
    "protocol error": "unknown",
    "no credit": "warn",
    "refused by accident": "warn",
    "inherited": "plain",
    "unsupported": "plain",
}


@dataclass(frozen=True)
class Tile:
    """A count, and what it counts."""

    label: str
    count: int
    tone: Tone = "plain"


@dataclass(frozen=True)
class Item:
    """One thing that is wrong: a finding of a check, or a result of a run.

    Attributes:
        where: The file or the case.
        part: The column or the operation; empty for none.
        verdict: Verdict or outcome.
        tone: Its colour.
        rule: The rule, where there is one.
        could: The worst that it can do to users.
        observed: What engines were seen to do with it, in one word; empty where that is not asked, as in a run.
        message: What is wrong, in one line.
        known: It was known before and does not count.
        count: In how many places.
        details: Labels and values.
        hexdump: Rows with lines of marks.
        further: Names and lines of members that take several.
    """

    where: str
    part: str
    verdict: str
    tone: Tone
    rule: str
    could: str
    observed: str
    message: str
    known: bool = False
    count: int = 1
    details: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    hexdump: list[str] = field(default_factory=list[str])
    further: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    @property
    def effects(self) -> list[tuple[str, str]]:
        """Labels and values of what the breach could do and was seen to do; empty for a run."""
        return [row for row in self.details if row[0] in ("could", "observed")]

    @property
    def family(self) -> str:
        """The prefix of the rule."""
        return self.rule.rpartition("-")[0]

    @property
    def sentence(self) -> str:
        """The sentence of the rule."""
        return rules()[self.rule].sentence if self.rule in rules() else ""


@dataclass(frozen=True)
class Group:
    """The items of one file or one case family, under its name."""

    name: str
    outcome: str
    tone: Tone
    remarks: list[str]
    items: list[Item]


@dataclass(frozen=True)
class RuleRow:
    """The items about one broken rule."""

    rule: str
    verdict: str
    tone: Tone
    could: str
    observed: str
    sentence: str
    items: list[Item]

    @property
    def effects(self) -> list[tuple[str, str]]:
        """Labels and values of what the breach could do and was seen to do; empty for a run."""
        return self.items[0].effects

    @property
    def places(self) -> int:
        """In how many files or cases."""
        return len({item.where for item in self.items})


@dataclass(frozen=True)
class View:
    """A whole report.

    Attributes:
        kind: ``check`` or ``run``.
        title: What was done.
        outcome: What came of it.
        tone: Its colour.
        place: What a place is called: ``file`` or ``case``.
        facts: Labels and values about the whole.
        tiles: Counts.
        groups: Files or families with something to say.
        quiet: Names of files with which nothing is wrong.
        scores: Rows of a table, its header first; empty for a check.
        alarms: What is wrong with a list of known things.
        ignored: What was met and not judged.
        unchecked: What was not checked, and why.
    """

    kind: str
    title: str
    outcome: str
    tone: Tone
    place: str
    facts: list[tuple[str, str]]
    tiles: list[Tile]
    groups: list[Group]
    quiet: list[str] = field(default_factory=list[str])
    scores: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    alarms: list[str] = field(default_factory=list[str])
    ignored: list[str] = field(default_factory=list[str])
    unchecked: list[Unchecked] = field(default_factory=list[Unchecked])

    @property
    def items(self) -> list[Item]:
        """Every item."""
        return [item for group in self.groups for item in group.items]

    def by_rule(self) -> list[RuleRow]:
        """Every broken rule, the gravest first, then the most frequent; what is known is left out."""
        grouped: dict[tuple[str, str], list[Item]] = {}
        for item in self.items:
            if item.rule and not item.known:
                grouped.setdefault((item.rule, item.verdict), []).append(item)
        rows = [
            RuleRow(
                rule,
                verdict,
                items[0].tone,
                items[0].could,
                items[0].observed,
                items[0].sentence,
                items,
            )
            for (rule, verdict), items in grouped.items()
        ]
        return sorted(rows, key=_by_gravity)


def view(report: Report | RunReport) -> View:
    """A report as people look at it."""
    return _of_check(report) if isinstance(report, Report) else _of_run(report)


def _by_gravity(row: RuleRow) -> tuple[Any, ...]:
    outcomes = [*VERDICTS, *OUTCOME_TONES]
    outcome = outcomes.index(row.verdict) if row.verdict in outcomes else len(outcomes)
    return outcome, gravity(row.verdict, row.observed, row.could), -len(row.items), row.rule


def _of_check(report: Report) -> View:
    summary = report.summary
    outcome = next(
        (
            outcome
            for outcome, count in (
                ("errored", summary.errored),
                ("nonconformant", summary.nonconformant),
                ("conformant where checked", summary.conformant_where_checked),
            )
            if count
        ),
        "conformant",
    )
    stale = report.baseline.stale if report.baseline is not None else []
    loud = gravest_first(file for file in report.files if not _is_quiet(file))
    facts = [
        ("pqassay", report.pqassay),
        ("tier", ", ".join(_tiers(report))),
        ("counted", _counted(report)),
        ("profile", report.profile and f"{report.profile}: some rules are reported as more than they say"),
        ("rules", f"sha256 {report.rules_sha256[:16]}"),
        ("judged against", judged_against_line(report.judged_against)),
        ("baseline", report.baseline and report.baseline.line),
    ]
    tiles = [
        Tile("files", summary.files),
        Tile("conformant", summary.conformant, "good" if summary.conformant else "plain"),
        *(
            [Tile("conformant where checked", summary.conformant_where_checked, "warn")]
            if summary.conformant_where_checked
            else []
        ),
        Tile("nonconformant", summary.nonconformant, "bad" if summary.nonconformant else "plain"),
        Tile("errored", summary.errored, "unknown" if summary.errored else "plain"),
        *(
            Tile(verdict, count, VERDICT_TONES.get(verdict, "plain"))
            for verdict, count in summary.findings.items()
        ),
        *([Tile("known", summary.known)] if summary.known else []),
    ]
    return View(
        kind="check",
        title="pqassay check",
        outcome=outcome,
        tone=OUTCOME_TONES[outcome],
        place="file",
        facts=[(label, value) for label, value in facts if value],
        tiles=tiles,
        groups=[_file(file, report) for file in loud],
        quiet=[file.path for file in report.files if _is_quiet(file)],
        alarms=[f"stale: {entry.line}" for entry in stale],
        ignored=[
            f"{entry.count:,} ({entry.reason}), for example {entry.examples[0]}" for entry in report.ignored
        ],
        unchecked=unchecked(report),
    )


def _counted(report: Report) -> str:
    counted = "FAIL" if report.threshold == "must" else "FAIL and WARN"
    return f"{counted}, and what could not be checked" if report.complete else counted


def _tiers(report: Report) -> Iterable[str]:
    used = {file.coverage for file in report.files}
    return dict.fromkeys(coverage.tier for key, coverage in report.coverages.items() if key in used)


def _file(file: FileReport, report: Report) -> Group:
    remarks = [f"not judged: {file.error}"] if file.error else []
    remarks += [f"note: {note}" for note in file.notes]
    remarks += [f"{'known: ' if gap.known else ''}{gap.line}" for gap in file.gaps]
    if file.created_by:
        remarks.append(f"created by {file.created_by}")
    items = [_finding(finding, is_counted=counts(finding, report.threshold)) for finding in file.findings]
    return Group(file.path, file.outcome, OUTCOME_TONES[file.outcome], remarks, items)


def _finding(finding: Finding, *, is_counted: bool) -> Item:
    return Item(
        where=finding.path,
        part=finding.column if finding.column is not None else "",
        verdict=finding.verdict,
        tone="bad" if is_counted else VERDICT_TONES[finding.verdict],
        rule=finding.rule,
        could=finding.could,
        observed=observed_effect(finding),
        message=finding.message,
        known=finding.known,
        count=finding.count,
        details=[row for row in details(finding) if row[0] not in ("found", "more")],
        hexdump=finding.hexdump,
        further=further(finding),
    )


def _of_run(report: RunReport) -> View:
    driver, summary = report.driver, report.summary
    new = [result for result in report.results if not result.is_good and not result.known]
    broken = any(result.outcome in BROKEN for result in new)
    outcome = "crashed" if broken else "failed" if new or report.problems else "passed"
    if report.tested_nothing:
        outcome = "nothing asked"
    wrong = {
        family: [_result(result, report) for result in results if not result.is_good]
        for family, results in report.by_family.items()
    }
    header = ("family", "operation", "asked", "passed", "otherwise")
    scores = [
        (score.family, score.operation, str(score.asked), str(score.passed), score.otherwise)
        for score in report.scores
    ]
    return View(
        kind="run",
        title="pqassay run",
        outcome="nothing was tested" if report.tested_nothing else outcome,
        tone=OUTCOME_TONES[outcome],
        place="case",
        facts=[
            ("driver", driver.line),
            ("command", shlex.join(driver.command)),
            ("pqassay", f"{report.pqassay}, protocol {report.protocol}"),
            (
                "limits",
                f"{report.limits.seconds:g} s and {report.limits.memory / (1 << 30):g} GiB for each request",
            ),
            ("cases", f"sha256 {report.suite_sha256[:16]}"),
            ("golden files", f"sha256 {report.golden_files_sha256[:16]}"),
        ],
        tiles=[
            Tile("cases", summary.cases),
            *(
                Tile(name, count, OUTCOME_TONES.get(name, "plain"))
                for name, count in summary.outcomes.items()
            ),
            *([Tile("known", summary.known)] if summary.known else []),
        ],
        groups=[
            Group(name, f"{len(items)} not passed", _worst(items), [], items)
            for name, items in wrong.items()
            if items
        ],
        scores=[header, *scores] if scores else [],
        alarms=[f"expectation {problem.entry}: {problem.problem}" for problem in report.problems],
    )


def _worst(items: list[Item]) -> Tone:
    if all(item.known for item in items):
        return "plain"
    found = Counter(item.tone for item in items if not item.known)
    return "unknown" if found["unknown"] else "bad"


def _result(result: Result, report: RunReport) -> Item:
    rule = (result.rules or [""])[0]
    elsewhere = ["rule", "more", "because", "stderr", *([] if rule in rules() else ["effect"])]
    rows = [
        ("to users" if label == "effect" else label, value)
        for label, value in run_text.details(result, report)
        if label not in elsewhere
    ]
    others = [("also about", other) for other in (result.rules or [])[1:]]
    before_last = len(rows) - (result.operation != "hello")
    rows[before_last:before_last] = others
    return Item(
        where=result.case,
        part=result.operation,
        verdict=result.outcome,
        tone=OUTCOME_TONES[result.outcome],
        rule=rule,
        could=rules()[rule].could if rule in rules() else result.effect or "",
        observed="",
        message=result.reason or result.title or result.outcome,
        known=bool(result.known),
        details=rows,
        further={"stderr": result.stderr.splitlines()} if result.stderr else {},
    )


def _is_quiet(file: FileReport) -> bool:
    """True if there is nothing to say about a file but that it is conformant."""
    return file.outcome == "conformant" and not (file.findings or file.notes or file.gaps)
