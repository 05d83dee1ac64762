"""What a rule says, where it comes from and what it costs to break it, as text."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Iterator

from pqassay_spec.catalogue import Rule, families, family_of, rules

WIDTH = 100
LABEL = 12


def explain(rule_id: str) -> Iterator[str]:
    """Yield the lines that explain one rule. Raises `KeyError` for an unknown id."""
    rule, family = rules()[rule_id], family_of(rule_id)
    yield f"{rule.id}  {family.title}"
    yield ""
    yield from textwrap.wrap(rule.sentence, WIDTH, initial_indent="  ", subsequent_indent="  ")
    yield ""
    origin = {"stated": "stated in", "inferred": "inferred from", "ours": "added by this specification, see"}
    rows = [
        ("level", f"{rule.level} for the {'writer and the reader' if rule.role == 'both' else rule.role}"),
        ("reported as", rule.verdict),
        ("when broken", rule.effect),
        ("origin", f'{origin[rule.origin.kind]} {rule.origin.document}, "{rule.origin.section}"'),
        ("field", rule.field),
        ("tier", f"{rule.tier}  (pqassay check --tier {rule.tier} FILE)"),
        ("since", rule.since),
        ("practice", rule.practice),
        ("reading", rule.reading),
        ("excluded", rule.excluded),
        ("chapter", f"spec/chapters/{family.chapter}#{rule.id.lower()}"),
    ]
    for label, value in rows:
        if value:
            head = f"  {label:<{LABEL}}"
            yield from textwrap.wrap(value, WIDTH, initial_indent=head, subsequent_indent=" " * len(head))


def overview(prefix: str | None = None) -> Iterator[str]:
    """Yield one line for every rule, or for those of one family."""
    for family in families():
        if prefix in (None, family.prefix):
            yield f"{family.prefix}  {family.title}"
            for rule in family.rules:
                yield f"  {rule.id:<10} {rule.verdict:<7}{rule.tier:<8}{_cut(rule)}"
            yield ""


def prefixes() -> list[str]:
    """The prefix of every family."""
    return [family.prefix for family in families()]


def nearest(rule_id: str) -> list[str]:
    """Ids that look like a mistyped one."""
    return difflib.get_close_matches(rule_id.upper(), [*rules(), *prefixes()], n=3, cutoff=0.6)


def _cut(rule: Rule) -> str:
    return textwrap.shorten(rule.sentence, WIDTH - 27, placeholder=" …")
