"""Tables of rules for readers, and of rules that a decision to skip relies on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pages.markup import Link, rule_link, table
from pages.rules.rule_boxes import boxes
from pqassay_spec.rules import catalogue


def reader_rules(prefix: str, link: Link) -> Iterator[str]:
    """Yield one family's rules for readers. Raises `LookupError` if it has none."""
    mine = [rule for rule in catalogue.reader_rules().values() if rule.id.startswith(f"{prefix}-")]
    if not mine:
        raise LookupError(f"no rules for readers in {prefix}")
    yield from boxes(mine, link)


def relied_on(ids: Sequence[str], link: Link) -> Iterator[str]:
    """Yield a table of rules that must be kept so that a decision is right."""
    rows = (
        (rule_link(rule.id, link), rule.sentence, rule.could)
        for rule in (catalogue.rules()[rule_id] for rule_id in ids)
    )
    yield from table(("Relies on", "What has to be true", "If it is not, there could be"), rows)
