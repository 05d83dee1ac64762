"""The classes of a report as people look at it: counts, what is wrong item by item, and what was not looked at.

`pqassay.report.view` makes them of a check, `pqassay.report.run.view` of a run; HTML is written from both, Markdown from that of a check.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from pqassay.report.coverage import Unchecked
from pqassay.report.order import gravity
from pqassay.report.run.model import Exposure
from pqassay_spec.rules.catalogue import VERDICTS, rules

Tone = Literal["good", "bad", "warn", "unknown", "plain"]
"""Colours of counts, outcomes and verdicts."""

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
        tone: Its color.
        rule: The rule, where there is one.
        could: The worst that it can do to users.
        observed: The observed effect on engines in one word, or on the driver in a run; empty for neither.
        message: What is wrong, in one line.
        known: It was known before and does not count.
        not_failing: It does not fail the check, since its rule came after the release to which that is pinned.
        count: In how many places.
        details: Labels and values.
        hexdump: Rows with lines of marks.
        further: Names and lines of members that take several.
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
        """Labels and values of what the breach could do and was seen to do; empty for a run."""
        return [row for row in self.details if row[0] in ("could", "observed")]

    @property
    def family(self) -> str:
        """The family of the case; in a check the prefix of the rule."""
        return self.of or self.rule.rpartition("-")[0]

    @property
    def sentence(self) -> str:
        """The sentence of the rule."""
        return rules()[self.rule].sentence if self.rule in rules() else ""


@dataclass(frozen=True)
class ItemGroup:
    """The items of one file under its name, or in a run those with one cause."""

    name: str
    outcome: str
    tone: Tone
    remarks: list[str]
    items: list[Item]

    @property
    def places(self) -> list[str]:
        """The files or cases, each once."""
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
        """Labels and values of what the breach could do and was seen to do."""
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
        outcome: Its outcome.
        tone: Its color.
        place: What a place is called: ``file`` or ``case``.
        facts: Labels and values about the whole.
        tiles: Counts.
        groups: Files with something to say; in a run causes, the gravest first.
        quiet: Names of files with which nothing is wrong.
        scores: Rows of a table, its header first; empty for a check.
        not_failing: A line with the number of findings that do not fail because the check is pinned to a
            release; empty for none.
        alarms: The problems of a list of known things.
        ignored: Files that were found but not judged.
        unchecked: What was not checked, and why.
        remarks: Lines about what was not asked or does not count, in a run.
        exposure: Rows of a table of the effects of well-formed lies on a reader, header first; empty if none
            was asked.
        misled: Well-formed lies with which a reader did not answer rightly, the gravest first.
        features: Rows of a table of the features of files with which something is wrong, its header first.
        basis: Lines about a user's own files: on what the verdicts rest.
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
        """Every item."""
        return [item for group in self.groups for item in group.items]

    def by_rule(self) -> list[RuleRow]:
        """Every broken rule of a check, the gravest first, then the most frequent; what is known is left out."""
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
