"""What a reader of a report may want to know of a rule: where its page is, and what stands there."""

from __future__ import annotations

from pqassay.explain import obligation
from pqassay_spec import documents
from pqassay_spec.catalogue import Rule, family_of


def address(rule: Rule, site: str | None = None) -> str | None:
    """Where more about a rule can be read.

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
