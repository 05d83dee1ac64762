"""Rules for readers, and the rules that a decision to skip rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pages.markup import Link, case_link, rule_link, table
from pages.page import shared_site
from pages.rules.rule_tables import obligation, rule_cell
from pqassay_spec.rules import catalogue
from pqassay_spec.rules.reader_cases import cases_of

CASES_SHOWN = 8
"""Golden files that the table of rules for readers names beside each."""


def reader_rules(prefix: str, link: Link) -> Iterator[str]:
    """Yield one family's rules for readers. Raises `LookupError` if it has none."""
    mine = [rule for rule in catalogue.reader_rules().values() if rule.id.startswith(f"{prefix}-")]
    if not mine:
        raise LookupError(f"no rules for readers in {prefix}")
    rows = (
        (
            rule_cell(rule, link),
            obligation(rule),
            f"<small>could: {rule.could}</small>",
            _tested_by(rule.id, link),
        )
        for rule in mine
    )
    yield from table(("Rule", "Obligation", "Could", "Tested by"), rows)


def _tested_by(rule_id: str, link: Link) -> str:
    found = cases_of(rule_id, tuple(shared_site().cases))
    shown = [case_link(case, link) for case in found[:CASES_SHOWN]]
    more = [f"and {len(found) - CASES_SHOWN:,} more"] if len(found) > CASES_SHOWN else []
    return "<br>".join(f"<small>{line}</small>" for line in (*shown, *more))


def relied_on(ids: Sequence[str], link: Link) -> Iterator[str]:
    """Yield a table of rules that have to be kept for a decision to be right."""
    rows = (
        (rule_link(rule.id, link), rule.sentence, rule.could)
        for rule in (catalogue.rules()[rule_id] for rule_id in ids)
    )
    yield from table(("Relies on", "What has to be true", "If it is not, there could be"), rows)
