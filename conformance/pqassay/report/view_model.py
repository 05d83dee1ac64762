"""The classes of a view, which presents a report to people: counts, errors item by item, and untested parts.

`pqassay.report.view` makes them from a check, `pqassay.report.run.view` from a run. HTML is written from both, Markdown only from a check.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from pqassay.report.coverage import Unchecked
from pqassay.report.order import gravity
from pqassay.report.run.model import Exposure
from pqassay_spec.rules.catalogue import VERDICTS, rules

Tone = Literal["good", "bad", "warn", "unknown", "plain"]
"""Colors of counts, outcomes and verdicts."""

VERDICT_TONES: dict[str, Tone] = {"FAIL": "bad", "WARN": "warn", "POLICY": "plain", "INFO": "plain"}

OUTCOME_TONES: dict[str, Tone] = {
    "passed": "good",
    "conformant": "good",
    "conformant where checked": "warn",
    "untrue": "bad",
    "nonconformant": "bad",
    "errored": "unknown",
    "gone": "plain",
    "failed": "bad",
    "crashed": "unknown",
    "protocol error": "unknown",
    "unstable": "bad",
    "no credit": "warn",
    "refused by accident": "warn",
    "inherited": "plain",
    "exposed": "plain",
    "unsupported": "plain",
}


@dataclass(frozen=True)
class Tile:
    """A count with its label."""

    label: str
    count: int
    tone: Tone = "plain"


@dataclass(frozen=True)
class Item:
    """One error: a finding of a check, or a result of a run.

    Attributes:
        where: The file or the case.
        part: The column or the operation; empty for none.
        verdict: Verdict or outcome.
        tone: Its color.
        rule: The rule, if any.
        could: The worst possible effect on users.
        observed: The observed effect on engines in one word, or on the driver in a run; empty for neither.
        message: The error in one line.
        known: Whether it was known before, so that it does not count.
        not_failing: Whether it does not fail the check, since its rule is newer than the pinned release.
        count: The number of places.
        details: Labels and values.
        hexdump: Rows with lines of marks.
        further: Names and lines of multi-line members.
        of: The family of the case, in a run.
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
    not_failing: bool = False
    count: int = 1
    details: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    hexdump: list[str] = field(default_factory=list[str])
    further: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    of: str = ""

    @property
    def effects(self) -> list[tuple[str, str]]:
        """Labels and values of the possible and the observed effects; empty for a run."""
        return [row for row in self.details if row[0] in ("could", "observed")]

    @property
    def family(self) -> str:
        """The family of the case; for a check, the prefix of the rule."""
        return self.of or self.rule.rpartition("-")[0]

    @property
    def sentence(self) -> str:
        """The sentence of the rule."""
        return rules()[self.rule].sentence if self.rule in rules() else ""


@dataclass(frozen=True)
class ItemGroup:
    """The items of one file under its name; in a run, the items with one cause."""

    name: str
    outcome: str
    tone: Tone
    remarks: list[str]
    items: list[Item]

    @property
    def places(self) -> list[str]:
        """The files or cases, without duplicates."""
        return list(dict.fromkeys(item.where for item in self.items))


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
        """Labels and values of the possible and the observed effects."""
        return self.items[0].effects

    @property
    def places(self) -> int:
        """The number of files or cases."""
        return len({item.where for item in self.items})


@dataclass(frozen=True)
class View:
    """The view of a whole report.

    Attributes:
        kind: ``check`` or ``run``.
        title: The heading of the report.
        outcome: Its outcome.
        tone: Its color.
        place: The word for a place: ``file`` or ``case``.
        facts: Labels and values about the whole.
        tiles: Counts.
        groups: Files with something to report; in a run, causes; the most severe first.
        quiet: Names of files without errors.
        scores: Rows of a table, its header first; empty for a check.
        not_failing: A line with the number of findings that do not fail because the check is pinned to a
            release; empty for none.
        alarms: Problems of a baseline or of expectations.
        ignored: Files that were found but not judged.
        unchecked: The rules that were not checked, and the reasons.
        remarks: In a run, lines about questions that were not asked or do not count.
        exposure: Rows of a table of the effects of well-formed lies on a reader, header first; empty if there are none.
        misled: Well-formed lies that a reader did not answer correctly, the most severe first.
        features: Rows of a table of the features of failing files, header first.
        basis: Lines about the basis of the verdicts on a user's own files.
    """

    kind: str
    title: str
    outcome: str
    tone: Tone
    place: str
    facts: list[tuple[str, str]]
    tiles: list[Tile]
    groups: list[ItemGroup]
    quiet: list[str] = field(default_factory=list[str])
    scores: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    not_failing: str = ""
    alarms: list[str] = field(default_factory=list[str])
    ignored: list[str] = field(default_factory=list[str])
    unchecked: list[Unchecked] = field(default_factory=list[Unchecked])
    remarks: list[str] = field(default_factory=list[str])
    exposure: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    misled: list[Exposure] = field(default_factory=list[Exposure])
    features: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    basis: list[str] = field(default_factory=list[str])

    @property
    def items(self) -> list[Item]:
        """All items."""
        return [item for group in self.groups for item in group.items]

    def by_rule(self) -> list[RuleRow]:
        """Every broken rule of a check, the most severe first, then the most frequent; known findings are omitted."""
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


def _by_gravity(row: RuleRow) -> tuple[Any, ...]:
    outcomes = [*VERDICTS, *OUTCOME_TONES]
    outcome = outcomes.index(row.verdict) if row.verdict in outcomes else len(outcomes)
    return outcome, gravity(row.verdict, row.observed, row.could), -len(row.items), row.rule
