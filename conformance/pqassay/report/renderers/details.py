"""The details of a finding, as labels and values: all of them, or the most important ones for a terminal."""

from __future__ import annotations

import re

from pqassay.report.model import Finding, Position
from pqassay.report.rules import COMPARE, basis, compare_first
from pqassay.report.weighing import VERDICTS_ON
from pqassay_spec.grammar.hexdump import is_line_of_marks
from pqassay_spec.rules.catalogue import rules


def gist(finding: Finding) -> list[tuple[str, str]]:
    """The problem, its effect and the remedy, as labels and values of one line each."""
    rule = rules().get(finding.rule)
    rows = [("found", finding.message)] if rule is None or finding.message != rule.sentence else []
    if finding.column is not None and not is_column_named(finding):
        rows.append(("column", finding.column))
    if not gist_of_bytes(finding.hexdump):
        rows.append(("at", place(finding.at[0])))
    seen = (
        None
        if finding.observed is None or finding.proof is not None
        else finding.observed.gist(finding.could)
    )
    rows.append(("could", f"{finding.could}, {seen}" if seen else finding.could))
    if finding.explanation:
        rows.append(("known", finding.explanation))
    if _first(finding):
        likelier = f"; likelier: {VERDICTS_ON[finding.weighed.wrong]}" if finding.weighed else ""
        rows.append(("first", f"{COMPARE}{likelier}"))
    if finding.remedy:
        rows.append(("remedy", finding.remedy))
    return rows


def _first(finding: Finding) -> str:
    return compare_first(compares_values=finding.compares_values, remedy=finding.remedy)


def is_column_named(finding: Finding) -> bool:
    """Whether the message of a finding names its column, if it has one."""
    name = re.escape(finding.column or "")
    return finding.column is None or re.search(rf"\bcolumn {name}(?![\w.])", finding.message) is not None


def gist_of_bytes(rows: list[str]) -> list[str]:
    """The first hexdump row with marks, and its marks; empty if no byte is marked."""
    marks = next((number for number, line in enumerate(rows) if is_line_of_marks(line)), 0)
    return rows[marks - 1 : marks + 1] if marks else []


def details(finding: Finding) -> list[tuple[str, str]]:
    """Labels and values in display order."""
    rule = rules().get(finding.rule)  # a report of another release may have other rules
    # Without values, the message is the sentence of the rule.
    rows = [("found", finding.message)] if rule is None or finding.message != rule.sentence else []
    if finding.column is not None:
        rows.append(("column", finding.column))
    position = finding.at[0]
    rows.append(("at", place(position)))
    if position.expected:
        rows.append(("expected", position.expected))
    if position.actual:
        rows.append(("actual", position.actual))
    rows += effects(finding)
    if finding.also:
        rows.append(("also", f"breaks {', '.join(finding.also)}"))
    if finding.explanation:
        rows.append(("known", finding.explanation))
    if finding.weighed is not None:
        rows.append(("likelier", finding.weighed.sentence))
    if first := _first(finding):
        rows.append(("first", first))
    if finding.remedy:
        rows.append(("remedy", finding.remedy))
    if rule is not None:
        rows.append(("basis", basis(rule)))
    rows.append(("more", f"pqassay explain {finding.rule}"))
    return rows


def effects(finding: Finding) -> list[tuple[str, str]]:
    """The possible and the observed effects of the violation."""
    rows: list[tuple[str, str]] = [("could", finding.could)]
    if finding.observed is not None and finding.proof is None:
        of_shape = "" if finding.observed.effect == "not asked" else "on a similar file: "
        rows.append(("observed", f"{of_shape}{finding.observed.sentence}"))
    return rows


def place(position: Position) -> str:
    """A position in words: its field and its bytes, if they exist."""
    if position.offset < 0:
        return position.field
    length = f", {position.length} bytes" if position.length > 1 else ""
    return f"{position.field}, offset {position.offset}{length}"


def further(finding: Finding) -> dict[str, list[str]]:
    """Multi-line members by name."""
    if finding.proof is None:
        return {}
    from pqassay.report.renderers.proof_text import plain_lines  # noqa: PLC0415 - rich, and few reports have proofs

    return {"proof": plain_lines(finding.proof)}
