"""Help on rules for the readers of a report: the address of a rule's page, and what stands there."""

from __future__ import annotations

from pqassay_spec.rules import documents
from pqassay_spec.rules.catalogue import Rule, family_of
from pqassay_spec.rules.profiles import profiles
from pqassay_spec.rules.quirks import quirks_of


def obligation(rule: Rule) -> list[tuple[str, str]]:
    """Members of a rule beside its sentence: labels and values."""
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
        *(
            (f"for {found.name}", f"{promotion.verdict}: {promotion.reason}")
            for found in profiles().values()
            if (promotion := found.promotion_of(rule)) is not None
        ),
        *(("known", quirk.sentence) for quirk in quirks_of(rule.id)),
        ("excluded", rule.excluded),
    ]
    return [(label, value) for label, value in rows if value]


def address(rule: Rule, site: str | None = None) -> str | None:
    """Address of more about a rule.

    Args:
        rule: The rule.
        site: Address of a site that ``make docs`` built; ``None`` if there is none.

    Returns:
        Its place on the site; without one, the document that it comes from; ``None`` if that is a chapter of ours.
    """
    if site is not None:
        chapter = family_of(rule.id).chapter.removesuffix(".md")
        return f"{site.rstrip('/')}/spec/{chapter}.html#{rule.id.lower()}"
    return documents.address(rule.origin.document)


def text(rule: Rule) -> str:
    """The rule and all that belongs to it, a line each."""
    rows = [f"{label}: {value}" for label, value in obligation(rule)]
    return "\n".join([rule.sentence, *rows, f"more: pqassay explain {rule.id}"])


def markdown(rule: Rule, site: str | None = None) -> str:
    """The same as Markdown."""
    rows = [f"- **{label}**: {value}" for label, value in obligation(rule)]
    target = address(rule, site)
    link = [f"[{rule.id}]({target})"] if target else []
    return "\n\n".join(
        [rule.sentence, "\n".join(rows), *link, f"`pqassay explain {rule.id}` shows an example."]
    )
