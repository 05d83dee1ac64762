"""Rules that a report did not test: on how many files, and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pqassay.report.model import Obstacle, Report, Untested
from pqassay_spec.rules.catalogue import rules

DEEPER = "needs tier "
"""Beginning of the reason where only the tier kept a rule from being tested."""


@dataclass(frozen=True)
class Unchecked:
    """Rules that were not checked for one reason.

    Attributes:
        obstacle: The reason why they were not checked.
        reason: Why.
        rules: Their ids, sorted.
        files: On how many files at least one of them was not checked.
    """

    obstacle: Obstacle
    reason: str
    rules: list[str]
    files: int


CRC = "row_groups.columns.pages.header.crc"
"""What the rule about the CRCs of pages is about."""


def without_crc(report: Report) -> int:
    """Files whose values were looked at and whose pages have no CRC: damage that no claim contradicts is not seen in them."""
    about_crc = [rule.id for rule in rules().values() if rule.field == CRC and rule.judges_files]
    blind = {
        key
        for key, coverage in report.coverages.items()
        if not set(about_crc).isdisjoint(coverage.not_applicable)
        and any(rules()[rule].tier == "values" for rule in coverage.checked if rule in rules())
    }
    return sum(file.coverage in blind for file in report.files)


def unchecked(report: Report) -> list[Unchecked]:
    """Reasons for which rules were not checked, the one with most files first.

    Rules that no version of this kit can test, on whatever file, are left out, as in the text.
    """
    files = Counter(file.coverage for file in report.files)
    by_reason: dict[Untested, set[str]] = {}
    seen: Counter[Untested] = Counter()
    for key, coverage in report.coverages.items():
        left = {rule: why for rule, why in coverage.not_checked.items() if not is_excluded(rule, why)}
        each = [
            (rule, Untested(why.obstacle, reason))
            for rule, why in left.items()
            for reason in (why.reason, *why.further)
        ]
        for rule, why in each:
            by_reason.setdefault(why, set()).add(rule)
        for why in {why for _, why in each}:
            seen[why] += files[key]
    found = [
        Unchecked(why.obstacle, why.reason, sorted(ids), seen[why])
        for why, ids in by_reason.items()
        if seen[why]
    ]
    return sorted(found, key=lambda entry: (-entry.files, entry.reason))


def is_excluded(rule: str, why: Untested) -> bool:
    """Whether no version of this kit can test a rule, on whatever file."""
    return rule in rules() and why.reason == rules()[rule].excluded
