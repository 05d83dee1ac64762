"""Rules for readers, and the rules that a decision to skip rests on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from pages.markup import Link, case_link, rule_link, table
from pages.places import GOLDEN_FILES
from pages.rule_tables import obligation, rule_cell
from pqassay_spec.golden.case import MANIFEST
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
    families = _families_of_cases()
    found = cases_of(rule_id, families)
    shown = [case_link(case, families[case], link) for case in found[:CASES_SHOWN]]
    more = [f"and {len(found) - CASES_SHOWN:,} more"] if len(found) > CASES_SHOWN else []
    return "<br>".join(f"<small>{line}</small>" for line in (*shown, *more))


@cache
def _families_of_cases() -> Mapping[str, str]:
    """Every golden case by its id, with its family."""
    manifests = (json.loads(path.read_text("utf-8")) for path in sorted(GOLDEN_FILES.rglob(MANIFEST)))
    return {case["id"]: case["family"] for case in manifests}


def relied_on(ids: Sequence[str], link: Link) -> Iterator[str]:
    """Yield a table of rules that have to be kept for a decision to be right."""
    rows = (
        (rule_link(rule.id, link), rule.sentence, rule.could)
        for rule in (catalogue.rules()[rule_id] for rule_id in ids)
    )
    yield from table(("Relies on", "What has to be true", "If it is not, there could be"), rows)
